/* eval_page.c - see eval_page.h. */
#include "page/eval_page.h"
#include "page/eval_intervals.h"
#include <string.h>
#include "base/weir_file.h"
#include "report/weir_run_log.h"

/* What the run that found the beats says of itself, where its events lie next to them. */
static weir_status add_run(weir_report *r, const char *test)
{
  static const char *const fields[][2] = {{"record", "record"},
                                          {"signal", "signal"},
                                          {"samples", "samples"},
                                          {"absent", "absent"},
                                          {"beats", "beats"},
                                          {"rr_mean_s", "RR mean (s)"},
                                          {"chunks", "chunks"},
                                          {"skipped", "chunks skipped"},
                                          {"samples_per_s", "samples per second"}};
  static const char *const titles[] = {"quantity", "value"};
  const char *slash = strrchr(test, '/');
  char path[PS_PATH], text[256];
  weir_run_log log = {0};
  weir_table cells = {0};

  (void)snprintf(path, sizeof path, "%.*srun.jsonl", slash == NULL ? 0 : (int)(slash - test) + 1,
                 test);
  if (!weir_file_exists(path)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_run_log_read(path, &log));
  const weir_run_event *end = weir_run_log_last(&log, "run_end");
  weir_status status = WEIR_OK;
  if (end != NULL) {
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
      const weir_field *f = weir_run_event_field(end, fields[i][0]);

      weir_table_add(&cells, "%s", fields[i][1]);
      if (f != NULL && f->kind == 'r') {
        weir_table_add_real(&cells, f->real);
      } else {
        weir_table_add(&cells, "%s", weir_run_event_text(end, fields[i][0], text, sizeof text));
      }
    }
    status = weir_report_heading(r, "The run that found the beats");
    if (status == WEIR_OK) {
      status = weir_table_report(&cells, r, "run", 2, titles);
    }
  }
  weir_table_fini(&cells);
  weir_run_log_fini(&log);
  return status;
}

static weir_status add_records(weir_report *r, const ps_eval_table *records)
{
  WEIR_TRY(weir_report_heading(r, "Records"));
  WEIR_TRY(ps_eval_add_table(r, "records", records));
  return weir_report_text(r, "reference, test: beats of each file; HR: mean heart rate, 60 s over "
                             "the mean of the intervals that count, of the reference and of the "
                             "test; SDNN, RMSSD: their variability, as under Rhythm.");
}

void ps_eval_sentence(const ps_scored *s, int64_t n, char *text, size_t size)
{
  ps_score all = {0};

  for (int64_t i = 0; i < n; i++) {
    all.tp += s[i].score.tp;
    all.fn += s[i].score.fn;
    all.fp += s[i].score.fp;
  }
  const int used =
      snprintf(text, size,
               "%lld of %lld beats of the reference were found (sensitivity %.2f %%); %lld of %lld "
               "detections are no beats of it (positive predictive value %.2f %%)",
               (long long)all.tp, (long long)(all.tp + all.fn), ps_score_sensitivity(&all),
               (long long)all.fp, (long long)(all.tp + all.fp), ps_score_predictivity(&all));
  (void)snprintf(text + used, size - (size_t)used, "%s",
                 all.tp > 0 && all.fn == 0 && all.fp == 0 ? ": no error." : ".");
}

static weir_status explain_scores(weir_report *r)
{
  return weir_report_text(
      r,
      "TP: beats found; FN: missed (false negatives); FP: false positives; Se = TP / (TP + FN): "
      "sensitivity; PPV = TP / (TP + FP): positive predictive value; excluded: beats of either "
      "side within ventricular flutter; RMS RR error: root mean square difference of the intervals "
      "between matched beats. gross: of the beats of all records; average: mean of the records' "
      "figures. FN in gaps: missed beats of the reference that lie where the signal is absent.");
}

static weir_status add_rhythm(weir_report *r, const ps_cfg *cfg, int64_t n,
                              const ps_eval_all *tables)
{
  WEIR_TRY(weir_report_heading(r, "Rhythm"));
  WEIR_TRY(ps_eval_add_table(r, "hrv", &tables->rhythm));
  WEIR_TRY(weir_report_text(
      r,
      "NN: between two consecutive normal beats. Beat types: annotated (the file "
      "has codes other than N), reference (each beat has the type of the reference beat that "
      "it matches; an interval counts if no reference beat lies within it), unknown (all "
      "beats have code N, as a detector writes them: the measures are of RR, not NN "
      "intervals, without those that deviate by more than %g of the median). No interval "
      "crosses a gap; gaps: the source of the gaps; where it is unknown, intervals across a "
      "gap are counted. RMSSD and pNN50: of successive intervals, the latter compared in "
      "samples; VLF 0.003 to 0.04, LF to 0.15, HF to 0.4 Hz; segments: those of "
      "SDANN. " PS_HRV_LIMITS " SD1, SD2: of the Poincaré plot, across and along the "
      "line of identity; MSE index: sum of sample entropy over the scales of mse.csv. Drawn for "
      "the first 8 records; more than 2000 intervals as means of neighbours with "
      "their range, and every k-th pair.",
      cfg->eval.nn.exclude >= 0 ? cfg->eval.nn.exclude : cfg->output.nn.exclude));
  return n <= PS_EVAL_RHYTHMS ? ps_eval_add_table(r, "mse", &tables->mse) : WEIR_OK;
}

static weir_status fill(weir_report *r, const ps_cfg *cfg, const char *range, const ps_scored *s,
                        int64_t n, const ps_eval_all *tables)
{
  WEIR_TRY(weir_report_text(r,
                            "Beats of %s%s scored against %s, %s, with a match "
                            "window of %g s, as ANSI/AAMI EC57 asks and bxb of WFDB does.",
                            ps_base_name(s[0].files.test), n > 1 ? " and others" : "",
                            ps_base_name(s[0].files.reference), range, cfg->eval.window));
  WEIR_TRY(ps_eval_add_table(r, "scores", &tables->scores));
  WEIR_TRY(explain_scores(r));
  if (n > 1) {
    WEIR_TRY(add_records(r, &tables->records));
  }
  WEIR_TRY(ps_eval_strips(r, cfg, s, n));
  WEIR_TRY(add_rhythm(r, cfg, n, tables));
  WEIR_TRY(ps_eval_rhythm(r, cfg, s, n));
  return n == 1 ? add_run(r, s[0].files.test) : WEIR_OK;
}

weir_status ps_eval_page(const char *dir, const ps_cfg *cfg, const ps_scored *s, int64_t n,
                         const ps_eval_all *tables)
{
  weir_report *r = NULL;
  char range[64];

  ps_eval_range_text(cfg, range, sizeof range);
  WEIR_TRY(weir_report_open(dir, "physio_stream: evaluation of beats", &r));
  weir_report_fact(r, "records", "%lld", (long long)n);
  weir_report_fact(r, "scored", "%s", range);
  return weir_report_commit(&r, fill(r, cfg, range, s, n, tables));
}
