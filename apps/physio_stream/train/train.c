/* train.c - fits the classifier of beats to annotated records, tests it on other patients, and
 * writes its weights, tables and a page. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "commands.h"
#include "data/checksums.h"
#include "eval/classes.h"
#include "io/weir_record.h"
#include "records/records_list.h"
#include "report/weir_report.h"

enum { CONFUSION = 2 + PS_CLASSES, SCORES = 6 };
static const char *const confusion_head[CONFUSION] = {"record", "annotated", "N", "S", "V", "F"};
static const char *const scores_head[SCORES] = {"class", "beats", "se", "ppv", "fpr", "learnt"};

typedef struct session {
  ps_records records, test;
  ps_labelled_list beats; /* of records, then of test */
  int64_t n_train;        /* beats of records         */
  ps_confusion *each, all;
  int64_t learnt[PS_CLASSES];
  double weights[PS_CLASS_WEIGHTS];
  weir_table confusion, scores;
} session;

static weir_status read_record(const ps_cfg *cfg, const ps_record *r, int64_t index, session *e)
{
  char file[PS_PATH], features[PS_PATH], annotations[PS_PATH];
  weir_record_clock clock;
  int64_t unmatched = 0;
  const int64_t before = e->beats.n;

  (void)snprintf(file, sizeof file, "%s/%s", r->name, cfg->beats.file);
  WEIR_TRY(weir_path_join(cfg->beats.folder, file, features, sizeof features));
  (void)snprintf(annotations, sizeof annotations, "%.*s.%s", ps_record_stem(r->path), r->path,
                 cfg->beats.annotator);
  WEIR_TRY(ps_checksums_verify_file(ps_input_checksums(&cfg->input, r->path), annotations));
  WEIR_TRY(weir_record_read_clock(r->path, &clock));
  WEIR_TRY(ps_labelled_read(features, annotations, (double)clock.fs_num / (double)clock.fs_den,
                            cfg->eval.window, index, &e->beats, &unmatched));
  weir_info("train", "%s: %lld beats, %lld annotated ones without features", r->name,
            (long long)(e->beats.n - before), (long long)unmatched);
  return WEIR_OK;
}

static weir_status read_all(const ps_cfg *cfg, session *e)
{
  WEIR_TRY(
      ps_records_list("beats.records", &cfg->beats.records, cfg->input.physionet, &e->records));
  if (cfg->beats.test.count > 0) {
    WEIR_TRY(ps_records_list("beats.test", &cfg->beats.test, cfg->input.physionet, &e->test));
  }
  for (int64_t i = 0; i < e->records.count; i++) {
    for (int64_t k = 0; k < e->test.count; k++) {
      if (strcmp(e->records.items[i].name, e->test.items[k].name) == 0) {
        return weir_fail(WEIR_ERR_CONFIG,
                         "%s is in beats.records and in beats.test: a patient to test on must not "
                         "be learnt from",
                         e->test.items[k].name);
      }
    }
    WEIR_TRY(read_record(cfg, &e->records.items[i], i, e));
  }
  e->n_train = e->beats.n;
  for (int64_t i = 0; i < e->test.count; i++) {
    WEIR_TRY(read_record(cfg, &e->test.items[i], e->records.count + i, e));
  }
  return weir_alloc(e->records.count + e->test.count, sizeof *e->each, (void **)&e->each);
}

/* Adds the beats of record i, as `weights` class them. */
static void test_record(session *e, int64_t i, const double *weights)
{
  for (int64_t k = 0; k < e->beats.n; k++) {
    const ps_labelled *b = &e->beats.v[k];

    if (b->record == i) {
      const int found = ps_discriminant_class(weights, b->x);

      e->each[i].n[b->kind][found]++;
      e->all.n[b->kind][found]++;
    }
  }
}

/* Of test records by the weights of all others; without, of each record by those of the others. */
static weir_status fit_and_test(const ps_cfg *cfg, session *e)
{
  const int64_t min_beats = cfg->beats.min_beats;

  memset(e->each, 0, (size_t)(e->records.count + e->test.count) * sizeof *e->each);
  WEIR_TRY(ps_discriminant_fit(e->beats.v, e->n_train, -1, min_beats, e->weights));
  for (int64_t k = 0; k < e->n_train; k++) {
    e->learnt[e->beats.v[k].kind]++;
  }
  for (int c = 0; c < PS_CLASSES; c++) { /* of a class with fewer, nothing is learnt */
    e->learnt[c] = e->learnt[c] >= min_beats ? e->learnt[c] : 0;
  }
  for (int64_t i = 0; i < e->test.count; i++) {
    test_record(e, e->records.count + i, e->weights);
  }
  for (int64_t i = 0; i < e->records.count && e->test.count == 0 && e->records.count > 1; i++) {
    double weights[PS_CLASS_WEIGHTS];

    WEIR_TRY(ps_discriminant_fit(e->beats.v, e->n_train, i, min_beats, weights));
    test_record(e, i, weights);
  }
  return WEIR_OK;
}

static void add_confusion(const char *name, const ps_confusion *c, weir_table *t)
{
  for (int k = 0; k < PS_CLASSES; k++) {
    weir_table_add(t, "%s", name);
    weir_table_add(t, "%s", ps_class_name[k]);
    for (int j = 0; j < PS_CLASSES; j++) {
      weir_table_add(t, "%lld", (long long)c->n[k][j]);
    }
  }
}

static void fill_tables(session *e)
{
  for (int64_t i = 0; i < e->records.count; i++) {
    if (e->test.count == 0) {
      add_confusion(e->records.items[i].name, &e->each[i], &e->confusion);
    }
  }
  for (int64_t i = 0; i < e->test.count; i++) {
    add_confusion(e->test.items[i].name, &e->each[e->records.count + i], &e->confusion);
  }
  add_confusion("all", &e->all, &e->confusion);
  for (int k = 0; k < PS_CLASSES; k++) {
    const ps_class_score s = ps_confusion_score(&e->all, k);

    weir_table_add(&e->scores, "%s", ps_class_name[k]);
    weir_table_add(&e->scores, "%lld", (long long)s.beats);
    weir_table_add_number(&e->scores, "%.2f", s.se, "");
    weir_table_add_number(&e->scores, "%.2f", s.ppv, "");
    weir_table_add_number(&e->scores, "%.2f", s.fpr, "");
    weir_table_add(&e->scores, "%lld", (long long)e->learnt[k]);
  }
}

static weir_status write_weights(const char *dir, const double *weights)
{
  char path[PS_PATH];
  weir_writer *w = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(dir, "beat_class.txt", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &w));
  for (int i = 0; i < PS_CLASS_WEIGHTS; i++) {
    WEIR_TRY_GOTO(weir_writer_printf(w, "%.17g\n", weights[i]), failed);
  }
  return weir_writer_commit(&w);
failed:
  weir_writer_destroy(&w);
  return status;
}

static weir_status fill_page(weir_report *r, const session *e)
{
  static const char *const titles[SCORES] = {"class",   "beats",   "Se (%)",
                                             "PPV (%)", "FPR (%)", "beats learnt from"};

  WEIR_TRY(weir_report_text(
      r,
      "Classes of beats (ANSI/AAMI EC57: N normal and bundle branch block, S supraventricular and "
      "V "
      "ventricular ectopic, F fusion) by a linear discriminant of features, %s. Se = TP / (TP + "
      "FN), PPV = TP / (TP + FP), FPR = FP / (FP + TN) of each class against all others.",
      e->test.count > 0      ? "fitted to other records than those tested"
      : e->records.count > 1 ? "each record tested by the discriminant fitted to all others"
                             : "fitted to one record and not tested: state beats.test"));
  WEIR_TRY(weir_table_report(&e->scores, r, "scores", SCORES, titles));
  WEIR_TRY(weir_report_heading(r, "Beats by annotated and found class"));
  return weir_table_report(&e->confusion, r, "confusion", CONFUSION, confusion_head);
}

static weir_status write_all(weir_job *j, session *e)
{
  const char *out = j->cli->out;
  weir_report *r = NULL;

  fill_tables(e);
  WEIR_TRY(weir_run_dir_commit(&j->dir));
  WEIR_TRY(write_weights(out, e->weights));
  WEIR_TRY(weir_table_write_csv(&e->confusion, out, "confusion.csv", CONFUSION, confusion_head));
  WEIR_TRY(weir_table_write_csv(&e->scores, out, "scores.csv", SCORES, scores_head));
  WEIR_TRY(weir_report_open(out, "physio_stream: classifier of beats", &r));
  weir_report_fact(r, "records", "%lld", (long long)(e->records.count + e->test.count));
  WEIR_TRY(weir_report_commit(&r, fill_page(r, e)));
  return ps_write_provenance(j->cli, j->cfg, NULL, 0);
}

static weir_status train(weir_job *j, session *e)
{
  const ps_cfg *cfg = j->cfg;

  if (cfg->beats.records.count == 0 || cfg->beats.folder[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train needs annotated records (beats.records) and the folder of a run with a "
                     "step beat_class over them (beats.folder)");
  }
  WEIR_TRY(read_all(cfg, e));
  WEIR_TRY(fit_and_test(cfg, e));
  WEIR_TRY(write_all(j, e));
  weir_table_print(&e->scores, SCORES, scores_head, stdout);
  return WEIR_OK;
}

static weir_status perform(weir_job *j)
{
  session e = {0};

  WEIR_TRY(weir_job_begin(j, "train", false));
  const weir_status status = train(j, &e);

  weir_table_fini(&e.confusion);
  weir_table_fini(&e.scores);
  weir_free(&e.each);
  ps_labelled_fini(&e.beats);
  ps_records_fini(&e.records);
  ps_records_fini(&e.test);
  return status;
}

weir_status ps_cmd_train(const weir_cli *cli)
{
  ps_cfg cfg;

  return weir_job_run(cli, &ps_program, &cfg, perform);
}
