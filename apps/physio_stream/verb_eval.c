/* verb_eval.c - scores found beats against a reference: a table, scores.csv and a page. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "eval/beats.h"
#include "io/weir_record.h"
#include "report/weir_report.h"
#include "report/weir_run_log.h"
#include "verbs.h"

/* Path without the suffix behind its last folder. */
static void without_suffix(const char *path, char *out, size_t size)
{
  (void)snprintf(out, size, "%s", path);
  const char *slash = strrchr(out, '/');
  char *dot = strrchr(out, '.');

  if (dot != NULL && (slash == NULL || dot > slash)) {
    *dot = 0;
  }
}

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash == NULL ? path : slash + 1;
}

static weir_status score(const ps_cfg *cfg, const weir_record_clock *clock,
                         const ps_beats *reference, const ps_beats *test, ps_score *out)
{
  const ps_score_opts opts = {.start = cfg->eval.start, .window = cfg->eval.window};
  const ps_score_input in = {.reference = reference->times,
                             .n_reference = reference->n,
                             .test = test->times,
                             .n_test = test->n,
                             .excluded = reference->excluded,
                             .n_excluded = reference->n_excluded,
                             .rate = (double)clock->fs_num / (double)clock->fs_den,
                             .length = clock->frames};

  return ps_score_record(&opts, &in, out);
}

static weir_status evaluate(const ps_cfg *cfg, const char *record, ps_score *out)
{
  ps_beats reference = {0}, test = {0};
  weir_record_clock clock = {0};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_record_read_clock(record, &clock));
  WEIR_TRY(
      ps_beats_read(cfg->eval.reference, clock.fs_num, clock.fs_den, clock.frames, &reference));
  WEIR_TRY_GOTO(ps_beats_read(cfg->eval.test, clock.fs_num, clock.fs_den, clock.frames, &test),
                done);
  WEIR_TRY_GOTO(score(cfg, &clock, &reference, &test, out), done);
done:
  ps_beats_fini(&reference);
  ps_beats_fini(&test);
  return status;
}

/* Percent with two decimals; what has no value is `nan`. */
static const char *percent(double value, char text[16])
{
  (void)snprintf(text, 16, isnan(value) ? "nan" : "%.2f", value);
  return text;
}

enum { COLUMNS = 6, MORE_COLUMNS = 8 };
static const char *const head[MORE_COLUMNS] = {"record", "tp",  "fn",       "fp",
                                               "se",     "ppv", "excluded", "rr_rms_ms"};

static void add_scores(weir_cells *cells, const char *record, const ps_score *s)
{
  char se[16], ppv[16], rr[16];

  weir_cells_add(cells, "%s", record);
  weir_cells_add(cells, "%lld", (long long)s->tp);
  weir_cells_add(cells, "%lld", (long long)s->fn);
  weir_cells_add(cells, "%lld", (long long)s->fp);
  weir_cells_add(cells, "%s", percent(ps_score_sensitivity(s), se));
  weir_cells_add(cells, "%s", percent(ps_score_predictivity(s), ppv));
  weir_cells_add(cells, "%lld", (long long)s->excluded);
  weir_cells_add(cells, "%s", percent(1000 * ps_score_rr_error(s), rr));
}

/* scores.csv: record, tp, fn, fp, se, ppv. */
static weir_status write_csv(const char *dir, const weir_cells *cells)
{
  char path[PS_PATH];
  weir_writer *w = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(dir, "scores.csv", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &w));
  for (int k = 0; k < COLUMNS; k++) {
    WEIR_TRY_GOTO(weir_writer_printf(w, "%s%s", head[k], k + 1 < COLUMNS ? "," : "\n"), done);
  }
  for (int k = 0; k < COLUMNS; k++) {
    WEIR_TRY_GOTO(weir_writer_printf(w, "%s%s", cells->cell[k], k + 1 < COLUMNS ? "," : "\n"),
                  done);
  }
  return weir_writer_commit(&w);
done:
  weir_writer_destroy(&w);
  return status;
}

/* What the run that found the beats says of itself, where its events lie beside them. */
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
  weir_cells cells = {0};

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

      weir_cells_add(&cells, "%s", fields[i][1]);
      if (f != NULL && f->kind == 'r') {
        weir_cells_add_real(&cells, f->real);
      } else {
        weir_cells_add(&cells, "%s", weir_run_event_text(end, fields[i][0], text, sizeof text));
      }
    }
    status = weir_report_heading(r, "The run that found the beats");
    if (status == WEIR_OK) {
      status = weir_cells_report(&cells, r, "run", 2, titles);
    }
  }
  weir_cells_fini(&cells);
  weir_run_log_fini(&log);
  return status;
}

static weir_status write_page(const char *dir, const ps_cfg *cfg, const weir_cells *cells)
{
  weir_report *r = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_report_open(dir, "physio_stream: beats scored", &r));
  WEIR_TRY_GOTO(weir_report_text(r,
                                 "Beats of %s scored against %s, from %g s on, with a match window "
                                 "of %g s, as ANSI/AAMI EC57 "
                                 "asks and bxb of WFDB does.",
                                 base_name(cfg->eval.test), base_name(cfg->eval.reference),
                                 cfg->eval.start, cfg->eval.window),
                done);
  WEIR_TRY_GOTO(weir_cells_report(cells, r, "scores", MORE_COLUMNS, head), done);
  WEIR_TRY_GOTO(weir_report_text(r, "tp: beats found; fn: missed; fp: found where none is; se = tp "
                                    "/ (tp + fn) and ppv = tp / (tp + fp) "
                                    "in percent; excluded: beats of either side within ventricular "
                                    "flutter; rr_rms_ms: root mean square difference "
                                    "of the intervals between matched beats."),
                done);
  WEIR_TRY_GOTO(add_run(r, cfg->eval.test), done);
  return weir_report_commit(&r);
done:
  weir_report_destroy(&r);
  return status;
}

/* Beats of another record score badly without any other sign. */
static void compare_names(const ps_cfg *cfg)
{
  char reference[PS_PATH], test[PS_PATH];

  without_suffix(cfg->eval.reference, reference, sizeof reference);
  without_suffix(cfg->eval.test, test, sizeof test);
  if (strcmp(base_name(reference), base_name(test)) != 0) {
    weir_warn("eval",
              "eval.test %s and eval.reference %s have different names: are they beats of the same "
              "record?",
              base_name(cfg->eval.test), base_name(cfg->eval.reference));
  }
}

static weir_status eval(const weir_cli *cli, const ps_cfg *cfg, weir_cells *cells)
{
  const char *const files[] = {cfg->eval.reference, cfg->eval.test};
  char record[PS_PATH];
  ps_score s;

  without_suffix(cfg->eval.reference, record, sizeof record);
  compare_names(cfg);
  WEIR_TRY(evaluate(cfg, record, &s));
  add_scores(cells, base_name(record), &s);
  WEIR_TRY(cells->status);
  WEIR_TRY(write_csv(cli->out, cells));
  WEIR_TRY(write_page(cli->out, cfg, cells));
  WEIR_TRY(ps_write_provenance(cli, cfg, files, 2));
  weir_event("score", WEIR_TEXT("record", base_name(record)), WEIR_INT("tp", s.tp),
             WEIR_INT("fn", s.fn), WEIR_INT("fp", s.fp), WEIR_INT("excluded", s.excluded),
             WEIR_REAL("se", ps_score_sensitivity(&s)), WEIR_REAL("ppv", ps_score_predictivity(&s)),
             WEIR_REAL("rr_rms_s", ps_score_rr_error(&s)));
  weir_cells_print(cells, MORE_COLUMNS, head, stdout);
  printf("scored from %.6g s on, beats matched within %.6g s\n", cfg->eval.start, cfg->eval.window);
  return WEIR_OK;
}

weir_status ps_verb_eval(const weir_cli *cli)
{
  static const char *const outputs[] = {"scores.csv", "report.html", NULL};
  weir_config *config = NULL;
  weir_cells cells = {0};
  ps_cfg cfg;

  WEIR_TRY(ps_start(cli, outputs, &cfg, &config));
  const weir_status status = eval(cli, &cfg, &cells);

  weir_cells_fini(&cells);
  weir_config_destroy(&config);
  return status;
}
