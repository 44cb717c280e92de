/* cmd_summaries.c - summary statistics of a sample besides P(k): one_point.csv, peaks.csv,
 * bispectrum.csv, report.html. */
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "eval/summary/sample_summaries.h"
#include "commands.h"

enum { NAME = 80 };

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

/* Q of the equilateral triangles over k, a curve for each channel. */
static weir_status add_bispectrum(weir_report *r, const cf_sample_summaries *s)
{
  const cf_bispectrum *const b = &s->of.bispectrum;
  weir_figure_series series[CF_MAX_LABELS];
  char names[CF_MAX_LABELS][NAME];
  double *k = NULL;

  WEIR_TRY(weir_alloc(b->shells, sizeof *k, (void **)&k));
  for (int64_t i = 0; i < b->shells; i++) {
    k[i] = cf_sample_wave(s, i);
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
                                        .x_label = s->of.cell > 0 ? "k (h/Mpc)" : "k (rad/voxel)",
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
      WEIR_TRY(k == CF_SUMMARY_BISPECTRUM ? add_bispectrum(r, s)
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
