/* cmd_eval.c - scores found beats against a reference: a table, scores.csv and a page. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "eval/beats.h"
#include "eval_clock.h"
#include "page/eval_alarms.h"
#include "page/eval_hrv.h"
#include "page/eval_intervals.h"
#include "page/eval_page.h"
#include "page/table_files.h"
#include "comm/weir_items.h"
#include "eval_records.h"
#include "io/weir_record.h"

/* s from the beats of a file, and beats, from which those missed may be out of its range. */
#define APART 5.0
enum { MANY = 3 };

/* Path without the suffix after its last folder. */
static void without_suffix(const char *path, char *out, size_t size)
{
  (void)snprintf(out, size, "%s", path);
  const char *slash = strrchr(out, '/');
  char *dot = strrchr(out, '.');

  if (dot != NULL && (slash == NULL || dot > slash)) {
    *dot = 0;
  }
}

static int64_t end_of(const ps_beats *b)
{
  return b->n > 0 ? b->times[b->n - 1] + 1 : 0;
}

/* Counts, and lists what is missed or false. */
static weir_status score(const ps_cfg *cfg, const ps_beats *reference, const ps_beats *test,
                         ps_scored *out)
{
  const double end = ps_eval_range(cfg, out).end;
  const int64_t last = end_of(reference) > end_of(test) ? end_of(reference) : end_of(test);
  const ps_score_opts opts = {.start = ps_eval_start(cfg), .window = cfg->eval.window};
  ps_score_input in = {.reference = reference->times,
                       .n_reference = reference->n,
                       .test = test->times,
                       .n_test = test->n,
                       .excluded = reference->excluded,
                       .n_excluded = reference->n_excluded,
                       .rate = (double)out->clock.fs_num / (double)out->clock.fs_den,
                       .length = out->end < PS_FAR ? out->end : last};
  int64_t n = 0;

  in.length = (double)in.length > end ? (int64_t)ceil(end) : in.length;
  WEIR_TRY(ps_score_record(&opts, &in, &out->score));
  const int64_t errors = out->score.fn + out->score.fp;

  WEIR_TRY(weir_alloc(errors, sizeof *out->errors, (void **)&out->errors));
  return ps_score_errors(&opts, &in, errors, out->errors, &n);
}

/* The rhythm of an annotation file. */
static weir_status measure_side(const ps_cfg *cfg, ps_scored *s, bool test)
{
  ps_side side = {0};

  WEIR_TRY(ps_side_read(cfg, s, test, &side));
  if (strcmp(side.gaps, PS_GAPS_UNKNOWN) == 0) {
    weir_warn(
        "eval",
        "%s: gaps of the recording are unknown, so intervals across one count as rhythm in "
        "hrv.csv: put the signal of %s next to its annotations, or mark gaps in the file (code "
        "~, subtype -1 where one begins, 0 where it ends)",
        ps_base_name(test ? s->files.test : s->files.reference), ps_base_name(s->record));
  }
  const weir_status status =
      ps_measure_side(&side, (double)s->clock.fs_num / (double)s->clock.fs_den, &s->rhythm[test]);

  ps_side_fini(&side);
  return status;
}

static weir_status need_file(const char *which, const char *path)
{
  static const char *const others[] = {".dat", ".hea", ".edf", ".bdf",  ".nc",   ".csv",
                                       ".txt", ".mat", ".xws", ".json", ".html", ".yaml"};
  const size_t size = strlen(path);

  for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
    const size_t n = strlen(others[k]);

    if (size > n && strcasecmp(path + size - n, others[k]) == 0) {
      return weir_fail(WEIR_ERR_DATA,
                       "eval: %s %s: files %s are no annotation files: name one, with its suffix "
                       "(RECORD.atr, RECORD.qrs)",
                       which, path, others[k]);
    }
  }
  if (weir_file_exists(path)) {
    return WEIR_OK;
  }
  return weir_fail(WEIR_ERR_DATA,
                   "eval: %s %s: there is no such file: an annotation file is wanted, with its "
                   "suffix (RECORD.atr, RECORD.qrs)",
                   which, path);
}

/* Counts the missed beats that lie in gaps of the signal, where no detector finds one. */
static void count_in_gaps(ps_scored *s)
{
  const ps_breaks *gaps = &s->gaps;

  for (int64_t i = 0; i < s->score.fn + s->score.fp; i++) {
    const double at = (double)s->errors[i].time;
    int64_t lo = 0, hi = gaps->n; /* the last gap that begins at or before `at` is lo - 1 */

    while (lo < hi) {
      const int64_t middle = lo + (hi - lo) / 2;

      if (gaps->v[middle].begin <= at) {
        lo = middle + 1;
      } else {
        hi = middle;
      }
    }
    s->score.fn_in_gaps += s->errors[i].missed && lo > 0 && at < gaps->v[lo - 1].end;
  }
}

/* Warns where many beats are missed before the first or after the last beat of the test: it may
 * cover a part of the record. */
static void warn_of_range(const ps_scored *s, const ps_beats *test)
{
  const double rate = (double)s->clock.fs_num / (double)s->clock.fs_den, apart = APART * rate;
  int64_t n = 0;

  for (int64_t i = 0; test->n > 0 && i < s->score.fn + s->score.fp; i++) {
    const double at = (double)s->errors[i].time;

    n += s->errors[i].missed &&
         (at < (double)test->times[0] - apart || at > (double)test->times[test->n - 1] + apart);
  }
  if (n >= MANY) {
    weir_warn("eval",
              "%s: %lld of the %lld missed beats are before its first or after its last beat, %.6g "
              "and %.6g s: if it is of a run with input.from or input.to, state the same here",
              ps_base_name(s->files.test), (long long)n, (long long)s->score.fn,
              (double)test->times[0] / rate, (double)test->times[test->n - 1] / rate);
  }
}

static weir_status evaluate(const ps_cfg *cfg, ps_scored *s)
{
  ps_beats reference = {0}, test = {0};
  weir_status status = WEIR_OK;

  if (cfg->input.to > 0 && ps_eval_start(cfg) >= cfg->input.to) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "scoring starts at %.6g s (eval.start, input.from) and ends at %.6g s "
                     "(input.to): nothing is between: set eval.start below input.to",
                     ps_eval_start(cfg), cfg->input.to);
  }
  WEIR_TRY(need_file("reference", s->files.reference));
  WEIR_TRY(need_file("test", s->files.test));
  WEIR_TRY(ps_eval_clock(cfg, s));
  WEIR_TRY(ps_beats_read(s->files.reference, &s->clock, s->end, &reference));
  WEIR_TRY_GOTO(ps_beats_read(s->files.test, &s->clock, s->end, &test), done);
  ps_warn_of_beyond(s->files.reference, &reference);
  ps_warn_of_beyond(s->files.test, &test);
  /* Beats before the begin stay: one of them may be the partner of the first that is scored. */
  ps_beats_trim(&reference, -INFINITY, ps_eval_range(cfg, s).end);
  ps_beats_trim(&test, -INFINITY, ps_eval_range(cfg, s).end);
  WEIR_TRY_GOTO(score(cfg, &reference, &test, s), done);
  warn_of_range(s, &test);
  WEIR_TRY_GOTO(ps_eval_gaps(cfg, s), done);
  count_in_gaps(s);
  WEIR_TRY_GOTO(measure_side(cfg, s, false), done);
  WEIR_TRY_GOTO(measure_side(cfg, s, true), done);
done:
  ps_beats_fini(&reference);
  ps_beats_fini(&test);
  return status;
}

enum { COLUMNS = 9 };
static const char *const head[COLUMNS] = {"record", "tp",       "fn",        "fp",        "se",
                                          "ppv",    "excluded", "rr_rms_ms", "fn_in_gaps"};

static void add_scores(weir_table *cells, const char *record, const ps_score *s)
{
  weir_table_add(cells, "%s", record);
  weir_table_add(cells, "%lld", (long long)s->tp);
  weir_table_add(cells, "%lld", (long long)s->fn);
  weir_table_add(cells, "%lld", (long long)s->fp);
  weir_table_add_number(cells, "%.2f", ps_score_sensitivity(s), "");
  weir_table_add_number(cells, "%.2f", ps_score_predictivity(s), "");
  weir_table_add(cells, "%lld", (long long)s->excluded);
  weir_table_add_number(cells, "%.2f", 1000 * ps_score_rr_error(s), "");
  weir_table_add(cells, "%lld", (long long)s->fn_in_gaps);
}

/* The records' scores, and where there are several, of all of them: gross, and the means of the
 * records' figures. */
static weir_status add_all(const ps_scored *s, int64_t n, weir_table *cells)
{
  ps_score *all = NULL, gross = {0};

  WEIR_TRY(weir_alloc(n, sizeof *all, (void **)&all));
  for (int64_t i = 0; i < n; i++) {
    add_scores(cells, ps_base_name(s[i].record), &s[i].score);
    ps_score_add(&gross, &s[i].score);
    all[i] = s[i].score;
  }
  if (n > 1) {
    const ps_score_average mean = ps_score_mean(all, n);

    add_scores(cells, "gross", &gross);
    weir_table_add(cells, "average");
    for (int k = 0; k < 3; k++) {
      weir_table_add(cells, "%s", "");
    }
    weir_table_add_number(cells, "%.2f", mean.sensitivity, "");
    weir_table_add_number(cells, "%.2f", mean.predictivity, "");
    weir_table_add(cells, "%s", "");
    weir_table_add_number(cells, "%.2f", 1000 * mean.rr_error, "");
    weir_table_add(cells, "%s", "");
  }
  weir_free(&all);
  return cells->status;
}

/* Every beat that is missed or false, of one record after the other. */
static weir_status write_errors(const char *dir, const ps_scored *s, int64_t n)
{
  static const char *const titles[] = {"record", "sample", "time", "error"};
  weir_table cells = {0};
  char text[32];

  for (int64_t i = 0; i < n; i++) {
    const double rate = (double)s[i].clock.fs_num / (double)s[i].clock.fs_den;

    for (int64_t k = 0; k < s[i].score.fn + s[i].score.fp; k++) {
      const ps_score_error *e = &s[i].errors[k];

      weir_table_add(&cells, "%s", ps_base_name(s[i].record));
      weir_table_add(&cells, "%lld", llround((double)e->time / rate * s[i].sample_rate));
      weir_table_add(&cells, "%s", ps_time_text((double)e->time / rate, text));
      weir_table_add(&cells, "%s", e->missed ? "missed" : "false");
    }
  }
  const weir_status status = ps_table_write(&cells, dir, "errors", 4, titles);

  weir_table_fini(&cells);
  return status;
}

/* Beats of another record score badly without any other sign. */
static void compare_names(const ps_pair *files)
{
  char reference[PS_PATH], test[PS_PATH];

  without_suffix(files->reference, reference, sizeof reference);
  without_suffix(files->test, test, sizeof test);
  if (strcmp(ps_base_name(reference), ps_base_name(test)) != 0) {
    weir_warn("eval",
              "eval.test %s and eval.reference %s have different names: are they beats of the same "
              "record?",
              ps_base_name(files->test), ps_base_name(files->reference));
  }
}

/* Where the results of all pairs are kept. */
typedef struct session {
  ps_scored *s; /* [n] */
  const char **files;
  int64_t n;
  ps_eval_list list; /* of eval.records */
  weir_table cells, rhythm, mse, records;
} session;

static void set_pair(session *e, int64_t i, const ps_pair *files)
{
  e->s[i].files = *files;
  without_suffix(files->reference, e->s[i].record, sizeof e->s[i].record);
}

static weir_status list_pairs(const ps_cfg *cfg, session *e)
{
  const ps_pair *more = cfg->eval.pairs.items;
  const int single = cfg->eval.reference[0] != 0;

  if (cfg->eval.records.count > 0) {
    WEIR_TRY(ps_eval_list_read(cfg, &e->list));
  }
  const int64_t listed = e->list.records.count;

  e->n = listed > 0 ? listed : cfg->eval.pairs.count + single;
  WEIR_TRY(weir_alloc(e->n, sizeof *e->s, (void **)&e->s));
  WEIR_TRY(weir_alloc(2 * e->n, sizeof *e->files, (void **)&e->files));
  for (int64_t i = 0; i < e->n; i++) {
    const ps_pair single_pair = {cfg->eval.reference, cfg->eval.test};
    char *const *paths = e->list.paths + 3 * i;

    if (listed > 0) {
      set_pair(e, i, &(ps_pair){paths[1], paths[2]});
      (void)snprintf(e->s[i].record, sizeof e->s[i].record, "%s", paths[0]);
    } else {
      set_pair(e, i, i < single ? &single_pair : &more[i - single]);
    }
  }
  return WEIR_OK;
}

static void forget(ps_scored *s)
{
  weir_free(&s->errors);
  weir_free(&s->gaps.v);
}

/* A pair is scored by the rank whose item it is. */
typedef struct scoring {
  const ps_cfg *cfg;
  session *e;
  int64_t n; /* pairs that are scored, on rank 0 */
} scoring;

/* What became of a pair, and its errors and gaps. */
static weir_status put_scored(const ps_scored *s, const ps_outcome *o, weir_bytes *out)
{
  WEIR_TRY(weir_bytes_put(out, o, sizeof *o));
  if (o->status != WEIR_OK) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_bytes_put(out, s, sizeof *s));
  WEIR_TRY(
      weir_bytes_put(out, s->errors, (s->score.fn + s->score.fp) * (int64_t)sizeof *s->errors));
  return weir_bytes_put(out, s->gaps.v, s->gaps.n * (int64_t)sizeof *s->gaps.v);
}

/* Of eval.records one that fails stops no other. */
static weir_status score_pair(void *context, int64_t i, weir_bytes *out)
{
  const scoring *const c = context;
  ps_scored s = c->e->s[i];
  ps_outcome o;

  memset(&o, 0, sizeof o);
  o.status = evaluate(c->cfg, &s);
  if (o.status != WEIR_OK) {
    (void)snprintf(o.message, sizeof o.message, "%s", weir_last_message());
  }
  const bool stops = o.status != WEIR_OK && c->e->list.records.count == 0;
  const weir_status status = stops ? o.status : put_scored(&s, &o, out);

  forget(&s);
  return status;
}

/* The inverse of put_scored; paths are this rank's. */
static weir_status get_scored(const char *at, const char *end, ps_scored *s)
{
  const ps_pair files = s->files;

  WEIR_TRY(weir_bytes_get(&at, end, s, sizeof *s));
  s->files = files;
  s->errors = NULL;
  s->gaps.v = NULL;
  s->gaps.capacity = s->gaps.n;
  const int64_t errors = s->score.fn + s->score.fp;

  WEIR_TRY(weir_alloc(errors, sizeof *s->errors, (void **)&s->errors));
  WEIR_TRY(weir_alloc(s->gaps.n, sizeof *s->gaps.v, (void **)&s->gaps.v));
  WEIR_TRY(weir_bytes_get(&at, end, s->errors, errors * (int64_t)sizeof *s->errors));
  return weir_bytes_get(&at, end, s->gaps.v, s->gaps.n * (int64_t)sizeof *s->gaps.v);
}

/* Those that are scored stay, in order. */
static weir_status take_pair(void *context, int64_t i, const char *data, int64_t n)
{
  scoring *const c = context;
  session *const e = c->e;
  const char *at = data;
  ps_scored s = e->s[i];
  ps_outcome o;

  WEIR_TRY(weir_bytes_get(&at, data + n, &o, sizeof o));
  if (o.status != WEIR_OK) {
    ps_eval_list_failed(&e->list, i, &o);
    return WEIR_OK;
  }
  const weir_status status = get_scored(at, data + n, &s);

  if (status != WEIR_OK) {
    forget(&s);
    return status;
  }
  e->files[2 * c->n] = s.files.reference;
  e->files[2 * c->n + 1] = s.files.test;
  e->s[c->n++] = s;
  return WEIR_OK;
}

/* Scores every pair, on all ranks; the results are those of rank 0. */
static weir_status evaluate_all(const weir_job *j, session *e)
{
  scoring c = {.cfg = j->cfg, .e = e};
  const weir_status status = weir_items_run(&(weir_items){.comm = j->comm,
                                                          .what = "eval",
                                                          .unit = "records",
                                                          .n = e->n,
                                                          .make = score_pair,
                                                          .take = take_pair},
                                            &c);

  e->n = c.n;
  WEIR_TRY(status);
  return e->n > 0 || !weir_job_leads(j) ? WEIR_OK : ps_eval_list_verdict(&e->list);
}

static void report_score(const ps_scored *s)
{
  weir_event("score", WEIR_TEXT("record", ps_base_name(s->record)), WEIR_INT("tp", s->score.tp),
             WEIR_INT("fn", s->score.fn), WEIR_INT("fp", s->score.fp),
             WEIR_INT("excluded", s->score.excluded), WEIR_INT("fn_in_gaps", s->score.fn_in_gaps),
             WEIR_REAL("se", ps_score_sensitivity(&s->score)),
             WEIR_REAL("ppv", ps_score_predictivity(&s->score)),
             WEIR_REAL("rr_rms_s", ps_score_rr_error(&s->score)));
}

/* The tables, as files and as a page. */
static weir_status write_all(const weir_cli *cli, const ps_cfg *cfg, session *e)
{
  const ps_eval_table scores = {&e->cells, COLUMNS, head};
  const ps_eval_table rhythm = {&e->rhythm, PS_HRV_COLUMNS, ps_hrv_head};
  const ps_eval_table mse = {&e->mse, PS_MSE_COLUMNS, ps_mse_head};
  const ps_eval_table records = {&e->records, PS_EVAL_COLUMNS, ps_eval_head};

  for (int64_t i = 0; i < e->n; i++) {
    for (int test = 0; test < 2; test++) {
      ps_hrv_add_row(&e->s[i], test == 1, &e->rhythm);
      ps_mse_add_rows(&e->s[i], test == 1, cfg->eval.nn.entropy.scales, &e->mse);
    }
  }
  WEIR_TRY(ps_eval_table_fill(&e->list, e->s, e->n, &e->records));
  WEIR_TRY(ps_table_write(&e->cells, cli->out, "scores", COLUMNS, head));
  WEIR_TRY(ps_table_write(&e->rhythm, cli->out, "hrv", PS_HRV_COLUMNS, ps_hrv_head));
  WEIR_TRY(ps_table_write(&e->mse, cli->out, "mse", PS_MSE_COLUMNS, ps_mse_head));
  WEIR_TRY(ps_table_write(&e->records, cli->out, "records", PS_EVAL_COLUMNS, ps_eval_head));
  WEIR_TRY(write_errors(cli->out, e->s, e->n));
  WEIR_TRY(ps_eval_page(cli->out, cfg, e->s, e->n, &(ps_eval_all){scores, rhythm, mse, records}));
  return ps_write_provenance(cli, cfg, e->files, (int)(2 * e->n));
}

/* Of the rank that leads. */
static weir_status tell_all(weir_job *j, session *e)
{
  const ps_cfg *const cfg = j->cfg;
  char range[64], sentence[PS_EVAL_SENTENCE];

  WEIR_TRY(add_all(e->s, e->n, &e->cells));
  WEIR_TRY(weir_run_dir_commit(&j->dir));
  WEIR_TRY(write_all(j->cli, cfg, e));
  for (int64_t i = 0; i < e->n; i++) {
    report_score(&e->s[i]);
  }
  weir_table_print(&e->cells, COLUMNS, head, stdout);
  ps_eval_range_text(cfg, range, sizeof range);
  printf("scored %s, beats matched within %.6g s\n", range, cfg->eval.window);
  ps_eval_sentence(e->s, e->n, sentence, sizeof sentence);
  printf("%s\n", sentence);
  const weir_status status = ps_eval_list_verdict(&e->list);

  if (status != WEIR_OK) {
    weir_run_dir_keep();
  }
  return status;
}

static weir_status score_all(weir_job *j, session *e)
{
  WEIR_TRY(list_pairs(j->cfg, e));
  for (int64_t i = 0; i < e->n; i++) {
    compare_names(&e->s[i].files);
  }
  WEIR_TRY(evaluate_all(j, e));
  return weir_job_leads(j) ? tell_all(j, e) : WEIR_OK;
}

static weir_status eval(weir_job *j)
{
  session e = {0};

  WEIR_TRY(weir_job_begin(j, "eval", false));
  if (((const ps_cfg *)j->cfg)->eval.alarms.score) {
    return weir_job_leads(j) ? ps_eval_alarms(j) : WEIR_OK;
  }
  const weir_status status = score_all(j, &e);

  weir_table_fini(&e.cells);
  weir_table_fini(&e.rhythm);
  weir_table_fini(&e.mse);
  weir_table_fini(&e.records);
  for (int64_t i = 0; e.s != NULL && i < e.n; i++) {
    forget(&e.s[i]);
  }
  ps_eval_list_fini(&e.list);
  weir_free(&e.files);
  weir_free(&e.s);
  return status;
}

weir_status ps_cmd_eval(const weir_cli *cli)
{
  return weir_job_run_shared(cli, &ps_program, eval);
}
