/* cmd_power.c - the power spectrum of a sample: spectrum.csv, spectrum.nc, report.html. */
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "eval/spectrum.h"
#include "io/weir_netcdf.h"
#include "commands.h"

enum { NAME = 48, CURVES = 2 * CF_MAX_LABELS };

/* Values above 0, NaN in place of others, which a logarithmic axis has not. */
static void put_positive(const double *x, int64_t n, double *out)
{
  for (int64_t i = 0; i < n; i++) {
    out[i] = x[i] > 0 ? x[i] : (double)NAN;
  }
}

static void name_channel(const cf_spectrum *s, int64_t c, const char *what, char text[NAME])
{
  if (isnan(s->redshift[c])) {
    (void)snprintf(text, NAME, "%schannel %lld", what, (long long)c);
  } else {
    (void)snprintf(text, NAME, "%sz = %g", what, s->redshift[c]);
  }
}

enum { POWER = 5, COLUMNS = 8 };

static const char *const *head_of(const cf_spectrum *s)
{
  static const char *const physical[COLUMNS] = {
      "channel", "k from (h/Mpc)", "k to (h/Mpc)",  "mean k (h/Mpc)",
      "modes",   "P(k) (Mpc/h)^3", "sigma of P(k)", "linear P(k)"};
  static const char *const voxels[COLUMNS] = {
      "channel", "k from (rad/voxel)", "k to (rad/voxel)", "mean k (rad/voxel)",
      "modes",   "P(k) (voxel^3)",     "sigma of P(k)",    "linear P(k)"};

  static const char *const physical_map[COLUMNS] = {
      "channel", "k from (h/Mpc)", "k to (h/Mpc)",  "mean k (h/Mpc)",
      "modes",   "P(k) (Mpc/h)^2", "sigma of P(k)", "linear P(k)"};
  static const char *const pixels[COLUMNS] = {
      "channel", "k from (rad/voxel)", "k to (rad/voxel)", "mean k (rad/voxel)",
      "modes",   "P(k) (voxel^2)",     "sigma of P(k)",    "linear P(k)"};

  if (s->depth == 1) {
    return s->physical ? physical_map : pixels;
  }
  return s->physical ? physical : voxels;
}

/* P(k) of every channel, its 1-sigma band, and linear theory. */
static weir_status add_figure(weir_report *r, const cf_spectrum *s)
{
  enum { K, LO, HI, EACH };
  const int64_t n = s->n_bins;
  weir_figure_series series[CURVES];
  char names[CURVES][NAME];
  double *values = NULL;
  int n_series = 0;

  WEIR_TRY(weir_alloc((1 + 4 * s->n_channels) * n, sizeof *values, (void **)&values));
  put_positive(s->k, n, values);
  for (int64_t c = 0; c < s->n_channels; c++) {
    double *const of = values + (1 + 4 * c) * n, *const theory = of + EACH * n;

    put_positive(s->power + c * n, n, of + K * n);
    for (int64_t b = 0; b < n; b++) {
      const double sigma = sqrt(2 / s->modes[b]);

      of[LO * n + b] = of[b] * fmax(1 - sigma, 0.1);
      of[HI * n + b] = of[b] * (1 + sigma);
    }
    put_positive(s->linear + c * n, n, theory);
    name_channel(s, c, "", names[n_series]);
    series[n_series] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                            .name = names[n_series],
                                            .n = n,
                                            .x = values,
                                            .y = of,
                                            .lo = of + LO * n,
                                            .hi = of + HI * n};
    n_series++;
    if (isfinite(s->linear[c * n])) {
      name_channel(s, c, "linear theory, ", names[n_series]);
      series[n_series] = (weir_figure_series){
          .kind = WEIR_FIGURE_LINE, .name = names[n_series], .n = n, .x = values, .y = theory};
      n_series++;
    }
  }
  const weir_status status =
      weir_report_figure(r, "spectrum",
                         &(weir_figure){.title = "Power spectrum",
                                        .x_label = s->physical ? "k (h/Mpc)" : "k (rad/voxel)",
                                        .y_label = head_of(s)[POWER],
                                        .series = series,
                                        .n_series = n_series,
                                        .log_x = true,
                                        .log_y = true});

  weir_free(&values);
  return status;
}

static weir_status add_summary(weir_report *r, const cf_spectrum *s)
{
  weir_table t = {0};

  weir_table_add_pair(&t, "sample", "%s", s->where);
  weir_table_add_pair(&t, "field", "%s", cf_field_name[s->field]);
  if (s->physical) {
    weir_table_add_pair(&t, "side of a voxel", "%g Mpc/h", s->cell);
  } else {
    weir_table_add_pair(&t, "side of a voxel", "not stated: units of voxels");
  }
  weir_table_add_pair(&t, "bins", "%lld, one fundamental wave wide", (long long)s->n_bins);
  for (int64_t c = 0; c < s->n_channels; c++) {
    char name[NAME];

    name_channel(s, c, "mean voxel, ", name);
    weir_table_add_real_pair(&t, name, s->mean[c]);
  }
  return weir_table_report_pairs(&t, r, "summary");
}

/* The rows of the files, rounded for readers. */
static void make_rows(const cf_spectrum *s, weir_table *out)
{
  for (int64_t c = 0; c < s->n_channels; c++) {
    for (int64_t b = 0; b < s->n_bins; b++) {
      const double power = s->power[c * s->n_bins + b];
      char name[NAME];

      name_channel(s, c, "", name);
      weir_table_add(out, "%s", name);
      weir_table_add_real(out, s->lo[b]);
      weir_table_add_real(out, s->hi[b]);
      weir_table_add_real(out, s->k[b]);
      weir_table_add_real(out, s->modes[b]);
      weir_table_add_real(out, power);
      weir_table_add_real(out, power * sqrt(2 / s->modes[b]));
      weir_table_add_real(out, s->linear[c * s->n_bins + b]);
    }
  }
}

static weir_status write_page(weir_report *r, const cf_spectrum *s, const weir_table *rows)
{
  WEIR_TRY(add_summary(r, s));
  WEIR_TRY(weir_report_text(
      r,
      "P(k) = %s mean |delta(k)|^2 over the modes of a bin, delta = %s; shot noise is not "
      "subtracted. Bands and sigma: P sqrt(2 / modes), of a Gaussian field.",
      s->depth == 1 ? "A (the area of the map)" : "V",
      s->field == CF_FIELD_OVERDENSITY ? "voxel" : "voxel / mean - 1"));
  if (s->sub_box) {
    WEIR_TRY(weir_report_text(
        r, "The sample is a part of a larger box and not periodic: its edges mix neighbouring wave "
           "numbers, and no window is corrected for."));
  }
  WEIR_TRY(add_figure(r, s));
  return weir_table_report(rows, r, "spectrum", COLUMNS, head_of(s));
}

static weir_status write_files(const weir_cli *cli, const cf_spectrum *s)
{
  char path[CF_PATH];
  weir_table rows = {0};

  cf_spectrum_table(s, &rows);
  const weir_status status = weir_table_write_csv(&rows, cli->out, "spectrum.csv",
                                                  CF_SPECTRUM_COLUMNS, cf_spectrum_head(s));

  weir_table_fini(&rows);
  WEIR_TRY(status);
  if (weir_netcdf_available()) {
    WEIR_TRY(weir_path_join(cli->out, "spectrum.nc", path, sizeof path));
    WEIR_TRY(cf_spectrum_write(s, path));
  } else {
    weir_info("power", "this build has no NetCDF: spectrum.nc is not written");
  }
  return WEIR_OK;
}

static weir_status write_all(const weir_job *j, const cf_spectrum *s, const weir_table *rows)
{
  const weir_cli *const cli = j->cli;
  weir_report *r = NULL;

  WEIR_TRY(write_files(cli, s));
  WEIR_TRY(weir_report_open(cli->out, "cosmoflow: power spectrum", &r));
  WEIR_TRY(weir_report_commit(&r, write_page(r, s, rows)));
  return cf_write_provenance(j, true, "sample", s->where);
}

static weir_status measure(weir_job *j)
{
  cf_cfg *const cfg = j->cfg;
  cf_spectrum s = {.n_bins = 0};
  cf_source *source = NULL;
  weir_table rows = {0};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_job_begin(j, "power", false));
  WEIR_TRY_GOTO(cf_open_input(cfg, &source), done);
  WEIR_TRY_GOTO(cf_spectrum_make(&cfg->power, source, &s), done);
  WEIR_TRY_GOTO(weir_run_dir_commit(&j->dir), done);
  make_rows(&s, &rows);
  WEIR_TRY_GOTO(write_all(j, &s, &rows), done);
  weir_table_print(&rows, COLUMNS, head_of(&s), stdout);
done:
  weir_table_fini(&rows);
  cf_spectrum_fini(&s);
  cf_source_close(&source);
  return status;
}

weir_status cf_cmd_power(const weir_cli *cli)
{
  cf_cfg cfg;

  return weir_job_run(cli, &cf_program, &cfg, measure);
}
