/* cmd_summaries.c - summary statistics of a sample besides P(k): one_point.csv, peaks.csv,
 * bispectrum.csv, multipoles.csv, scattering.csv, report.html. */
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "eval/summary/sample_summaries.h"
#include "commands.h"

enum { NAME = 80, LONG_NAME = NAME + 32 };

static void name_curve(const cf_sample_summaries *s, int64_t c, double smoothing, char text[NAME])
{
  char channel[NAME / 2];

  (void)snprintf(channel, sizeof channel, isnan(s->redshift[c]) ? "channel %g" : "z = %g",
                 isnan(s->redshift[c]) ? (double)c : s->redshift[c]);
  if (smoothing > 0) {
    (void)snprintf(text, NAME, "%s, smoothed by %g Mpc/h", channel, smoothing);
  } else {
    (void)snprintf(text, NAME, "%s", channel);
  }
}

/* Numbers of the closed bins over their middles, a curve for each channel and smoothing. */
static weir_status add_counts(weir_report *r, const cf_sample_summaries *s, cf_summary_kind which)
{
  static const char *const title[CF_SUMMARIES] = {"One-point distribution", "Peak counts"};
  static const char *const y_label[CF_SUMMARIES] = {"share of voxels in a bin", "peaks in a bin"};
  static const char *const x_label[CF_SUMMARIES] = {"ln(1 + delta)", "height ln(1 + delta)"};
  const cf_count_opts *const o = cf_summary_counts(s->of.opts, which);
  const int64_t scales = o->smoothing.count, curves = s->of.channels * scales, each = o->bins + 2;
  weir_figure_series *series = NULL;
  char(*names)[NAME] = NULL;
  double *middle = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(curves, sizeof *series, (void **)&series), done);
  WEIR_TRY_GOTO(weir_alloc(curves, sizeof *names, (void **)&names), done);
  WEIR_TRY_GOTO(weir_alloc(o->bins, sizeof *middle, (void **)&middle), done);
  for (int64_t b = 0; b < o->bins; b++) {
    double from, to;

    cf_count_edges(o, b + 1, &from, &to);
    middle[b] = 0.5 * (from + to);
  }
  for (int64_t i = 0; i < curves; i++) {
    name_curve(s, i / scales, o->smoothing.items[i % scales], names[i]);
    series[i] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                     .name = names[i],
                                     .n = o->bins,
                                     .x = middle,
                                     .y = s->x[which] + i * each + 1};
  }
  status = weir_report_figure(r, cf_summary_name[which],
                              &(weir_figure){.title = title[which],
                                             .x_label = x_label[which],
                                             .y_label = y_label[which],
                                             .series = series,
                                             .n_series = (int)curves});
done:
  weir_free(&series);
  weir_free(&names);
  weir_free(&middle);
  return status;
}

static const char *name_k(const cf_sample_summaries *s)
{
  return s->of.cell > 0 ? "k (h/Mpc)" : "k (rad/voxel)";
}

/* Q of the equilateral triangles over k, a curve for each channel. */
static weir_status add_bispectrum(weir_report *r, const cf_sample_summaries *s)
{
  const cf_bispectrum *const b = &s->of.bispectrum;
  weir_figure_series series[CF_MAX_LABELS];
  char names[CF_MAX_LABELS][NAME];
  double *k = NULL;

  WEIR_TRY(weir_alloc(b->shells, sizeof *k, (void **)&k));
  for (int64_t i = 0; i < b->shells; i++) {
    k[i] = cf_sample_wave(s, b->k[i]);
  }
  for (int64_t c = 0; c < s->of.channels; c++) {
    name_curve(s, c, 0, names[c]);
    series[c] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                     .name = names[c],
                                     .n = b->shells,
                                     .x = k,
                                     .y = s->q + c * b->n_triangles};
  }
  const weir_status status =
      weir_report_figure(r, "bispectrum",
                         &(weir_figure){.title = "Reduced bispectrum of equilateral triangles",
                                        .x_label = name_k(s),
                                        .y_label = "Q = B / (3 P^2)",
                                        .series = series,
                                        .n_series = (int)s->of.channels});

  weir_free(&k);
  WEIR_TRY(status);
  return weir_report_text(
      r, "Shot noise is not subtracted and no mass-assignment window is divided out. sigma_B in "
         "bispectrum.csv: of a Gaussian field with the P(k) of the sample. The sample is taken as "
         "periodic.");
}

/* P_2 / P_0 and P_4 / P_0 over k, a curve for each channel. */
static weir_status add_multipoles(weir_report *r, const cf_sample_summaries *s)
{
  enum { RATIOS = CF_MULTIPOLES - 1 };
  const cf_multipoles *const m = &s->of.multipoles;
  weir_figure_series series[RATIOS * CF_MAX_LABELS];
  char names[RATIOS * CF_MAX_LABELS][LONG_NAME];
  double *buffer = NULL; /* k, then a curve after the other */

  WEIR_TRY(weir_alloc((1 + RATIOS * s->of.channels) * m->bins, sizeof *buffer, (void **)&buffer));
  for (int64_t b = 0; b < m->bins; b++) {
    buffer[b] = cf_sample_wave(s, m->k[b]);
  }
  for (int64_t i = 0; i < RATIOS * s->of.channels; i++) {
    const double *const p = s->x[CF_SUMMARY_MULTIPOLES] + i / RATIOS * CF_MULTIPOLES * m->bins;
    double *const y = buffer + (1 + i) * m->bins;
    char channel[NAME];

    for (int64_t b = 0; b < m->bins; b++) {
      y[b] = p[(1 + i % RATIOS) * m->bins + b] / p[b];
    }
    name_curve(s, i / RATIOS, 0, channel);
    (void)snprintf(names[i], LONG_NAME, "l = %d, %s", 2 + 2 * (int)(i % RATIOS), channel);
    series[i] = (weir_figure_series){
        .kind = WEIR_FIGURE_LINE, .name = names[i], .n = m->bins, .x = buffer, .y = y};
  }
  const weir_status status =
      weir_report_figure(r, "multipoles",
                         &(weir_figure){.title = "Multipoles of the power spectrum",
                                        .x_label = name_k(s),
                                        .y_label = "P_l / P_0",
                                        .series = series,
                                        .n_series = (int)(RATIOS * s->of.channels)});

  weir_free(&buffer);
  WEIR_TRY(status);
  return weir_report_text(
      r,
      "Line of sight: axis %c of the sample; P_2 and P_4 scatter about 0 in real space. Shot "
      "noise is not subtracted. kaiser_P0 to P4 in multipoles.csv: linear theory in redshift space "
      "(Kaiser 1987), where the files state the cosmology. The sample is taken as periodic.",
      "xyz"[m->axis]);
}

/* Coefficients of first order over the width of the wavelet, for the first power, a curve for each
 * channel and l. */
static weir_status add_scattering(weir_report *r, const cf_sample_summaries *s)
{
  const cf_scattering *const of = &s->of.scattering;
  const int64_t l_end = of->opts->orders + 1, scales = of->opts->scales;
  const int64_t powers = of->opts->powers.count, curves = s->of.channels * l_end;
  weir_figure_series *series = NULL;
  char(*names)[LONG_NAME] = NULL;
  double *buffer = NULL; /* log2 of the widths, then a curve after the other */
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(curves, sizeof *series, (void **)&series), done);
  WEIR_TRY_GOTO(weir_alloc(curves, sizeof *names, (void **)&names), done);
  WEIR_TRY_GOTO(weir_alloc((1 + curves) * scales, sizeof *buffer, (void **)&buffer), done);
  for (int64_t i = 0; i < curves; i++) {
    const int64_t c = i / l_end, l = i % l_end;
    char channel[NAME];

    for (int64_t j = 0; j < scales; j++) {
      buffer[j] = log2(of->opts->sigma) + (double)j;
      buffer[(1 + i) * scales + j] =
          log10(s->x[CF_SUMMARY_SCATTERING][c * of->n_numbers + (j * l_end + l) * powers]);
    }
    name_curve(s, c, 0, channel);
    (void)snprintf(names[i], LONG_NAME, "l = %lld, %s", (long long)l, channel);
    series[i] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                     .name = names[i],
                                     .n = scales,
                                     .x = buffer,
                                     .y = buffer + (1 + i) * scales};
  }
  status = weir_report_figure(r, "scattering",
                              &(weir_figure){.title = "Scattering coefficients of first order",
                                             .x_label = "log2(width / voxel)",
                                             .y_label = "log10 S",
                                             .series = series,
                                             .n_series = (int)curves});
done:
  weir_free(&series);
  weir_free(&names);
  weir_free(&buffer);
  return status;
}

static weir_status add_summary(weir_report *r, const cf_sample_summaries *s)
{
  weir_table t = {0};

  weir_table_add_pair(&t, "sample", "%s", s->where);
  weir_table_add_pair(&t, "density", "1 + delta = voxel / mean of the channel of the sample");
  if (s->of.cell > 0) {
    weir_table_add_pair(&t, "side of a voxel", "%g Mpc/h", s->of.cell);
  } else {
    weir_table_add_pair(&t, "side of a voxel", "not stated");
  }
  weir_table_add_pair(&t, "boundary",
                      s->of.periodic ? "periodic"
                                     : "cut: not continued beyond its faces, where no voxel is a "
                                       "peak");
  return weir_table_report_pairs(&t, r, "summary");
}

static weir_status write_page(weir_report *r, const cf_sample_summaries *s)
{
  WEIR_TRY(add_summary(r, s));
  for (int k = 0; k < CF_SUMMARIES; k++) {
    if ((s->which >> k & 1) != 0) {
      WEIR_TRY(k == CF_SUMMARY_BISPECTRUM   ? add_bispectrum(r, s)
               : k == CF_SUMMARY_MULTIPOLES ? add_multipoles(r, s)
               : k == CF_SUMMARY_SCATTERING ? add_scattering(r, s)
                                            : add_counts(r, s, (cf_summary_kind)k));
    }
  }
  return WEIR_OK;
}

/* Writes the file of a summary, and prints it where it is the first. */
static weir_status write_table(const weir_cli *cli, const cf_sample_summaries *s,
                               cf_summary_kind which)
{
  weir_table rows = {0};
  char name[NAME];
  int columns = 0;
  const char *const *const head = cf_sample_summary_head(s, which, &columns);

  (void)snprintf(name, sizeof name, "%s.csv", cf_summary_name[which]);
  cf_sample_summary_table(s, which, &rows);
  printf("\n%s\n", cf_summary_name[which]);
  weir_table_print(&rows, columns, head, stdout);
  const weir_status status = weir_table_write_csv(&rows, cli->out, name, columns, head);

  weir_table_fini(&rows);
  return status;
}

static weir_status write_all(const weir_job *j, const cf_sample_summaries *s)
{
  weir_report *r = NULL;

  for (int k = 0; k < CF_SUMMARIES; k++) {
    if ((s->which >> k & 1) != 0) {
      WEIR_TRY(write_table(j->cli, s, (cf_summary_kind)k));
    }
  }
  WEIR_TRY(weir_report_open(j->cli->out, "cosmoflow: summary statistics", &r));
  WEIR_TRY(weir_report_commit(&r, write_page(r, s)));
  return cf_write_provenance(j, true, "sample", s->where);
}

static weir_status measure(weir_job *j)
{
  cf_cfg *const cfg = j->cfg;
  cf_sample_summaries s = {.of = {.opts = NULL}};
  cf_source *source = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_job_begin(j, "summaries", false));
  WEIR_TRY_GOTO(cf_open_input(cfg, &source), done);
  WEIR_TRY_GOTO(cf_sample_summaries_make(&cfg->summaries, source, &s), done);
  WEIR_TRY_GOTO(weir_run_dir_commit(&j->dir), done);
  WEIR_TRY_GOTO(write_all(j, &s), done);
done:
  cf_sample_summaries_fini(&s);
  cf_source_close(&source);
  return status;
}

weir_status cf_cmd_summaries(const weir_cli *cli)
{
  cf_cfg cfg;

  return weir_job_run(cli, &cf_program, &cfg, measure);
}
