/* train.c - fits the classifiers of beats to annotated records, tests them on other patients, and
 * writes their weights, tables and a page. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "commands.h"
#include "data/checksums.h"
#include "io/weir_record.h"
#include "page/table_files.h"
#include "train/session.h"

enum { CONFUSION = 3 + PS_LABELS, SCORES = 9 };
static const char *const classifier_name[PS_CLASSIFIERS] = {"discriminant", "network"};
static const char *const confusion_head[CONFUSION] = {"classifier", "record", "annotated", "N", "S",
                                                      "V",          "F",      "Q",         "O"};
static const char *const scores_head[SCORES] = {
    "classifier", "class", "beats", "se", "ppv", "fpr", "se_average", "ppv_average", "learnt"};

typedef ps_train_session session;

static weir_status read_record(const ps_cfg *cfg, const ps_record *r, int64_t index, session *e)
{
  char file[PS_PATH], features[PS_PATH], annotations[PS_PATH];
  weir_record_clock clock;
  int64_t missed[PS_LABELS], without = 0;
  const int64_t before = e->beats.n;

  (void)snprintf(file, sizeof file, "%s/%s", r->name, cfg->beats.file);
  WEIR_TRY(weir_path_join(cfg->beats.folder, file, features, sizeof features));
  (void)snprintf(annotations, sizeof annotations, "%.*s.%s", ps_record_stem(r->path), r->path,
                 cfg->beats.annotator);
  WEIR_TRY(ps_checksums_verify_file(ps_input_checksums(&cfg->input, r->path), annotations));
  WEIR_TRY(weir_record_read_clock(r->path, &clock));
  WEIR_TRY(ps_labelled_read(features, annotations, (double)clock.fs_num / (double)clock.fs_den,
                            cfg->eval.window, index, &e->beats, missed));
  for (int k = 0; k < PS_LABELS; k++) {
    e->unclassed[index].n[k][PS_LABEL_O] = missed[k];
    without += missed[k];
  }
  weir_info("train", "%s: %lld beats, %lld annotated ones without features", r->name,
            (long long)(e->beats.n - before), (long long)without);
  return WEIR_OK;
}

/* Whether `name` is one of the words of `text`. */
static bool has_word(const char *text, const char *name)
{
  const size_t size = strlen(name);

  for (text += strspn(text, " "); *text != 0; text += strspn(text, " ")) {
    const size_t n = strcspn(text, " ");

    if (n == size && strncmp(text, name, n) == 0) {
      return true;
    }
    text += n;
  }
  return false;
}

static bool same_patient(const ps_cfg *cfg, const char *a, const char *b)
{
  bool same = strcmp(a, b) == 0;

  for (int64_t i = 0; i < cfg->beats.same_patient.count; i++) {
    const char *const names = cfg->beats.same_patient.items[i];

    same = same || (has_word(names, a) && has_word(names, b));
  }
  return same;
}

/* A name in two entries would be of two patients. */
static weir_status check_patients(const weir_string_list *list)
{
  for (int64_t i = 0; i < list->count; i++) {
    for (int64_t k = i + 1; k < list->count; k++) {
      for (const char *at = list->items[i] + strspn(list->items[i], " "); *at != 0;) {
        const size_t n = strcspn(at, " ");
        char name[PS_PATH];

        (void)snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (has_word(list->items[k], name)) {
          return weir_fail(WEIR_ERR_CONFIG,
                           "beats.same_patient: %s is in two entries: write all records of a "
                           "patient in one",
                           name);
        }
        at += n;
        at += strspn(at, " ");
      }
    }
  }
  return WEIR_OK;
}

/* The patient of each record: the first record of the same one. None is learnt from and tested. */
static weir_status find_patients(const ps_cfg *cfg, session *e)
{
  const int64_t all = e->records.count + e->test.count;

  WEIR_TRY(check_patients(&cfg->beats.same_patient));
  WEIR_TRY(weir_alloc(all, sizeof *e->patient, (void **)&e->patient));
  for (int64_t i = 0; i < all; i++) {
    const char *const name = ps_train_record(e, i)->name;

    e->patient[i] = i;
    for (int64_t k = i - 1; k >= 0; k--) {
      if (same_patient(cfg, ps_train_record(e, k)->name, name)) {
        e->patient[i] = e->patient[k];
      }
    }
    if (i >= e->records.count && e->patient[i] < e->records.count) {
      const char *const other = ps_train_record(e, e->patient[i])->name;

      return strcmp(name, other) == 0
                 ? weir_fail(WEIR_ERR_CONFIG,
                             "%s is in beats.records and in beats.test: a patient to test on must "
                             "not be learnt from",
                             name)
                 : weir_fail(WEIR_ERR_CONFIG,
                             "%s of beats.test is of the same patient as %s of beats.records "
                             "(beats.same_patient): a patient to test on must not be learnt from",
                             name, other);
    }
  }
  return WEIR_OK;
}

static weir_status read_all(const ps_cfg *cfg, session *e)
{
  WEIR_TRY(
      ps_records_list("beats.records", &cfg->beats.records, cfg->input.physionet, &e->records));
  WEIR_TRY(ps_records_leave_out_missing("beats.records", &cfg->input, &e->records));
  if (cfg->beats.test.count > 0) {
    WEIR_TRY(ps_records_list("beats.test", &cfg->beats.test, cfg->input.physionet, &e->test));
    WEIR_TRY(ps_records_leave_out_missing("beats.test", &cfg->input, &e->test));
  }
  const int64_t all = e->records.count + e->test.count;

  WEIR_TRY(find_patients(cfg, e));
  WEIR_TRY(weir_alloc(all, sizeof *e->unclassed, (void **)&e->unclassed));
  memset(e->unclassed, 0, (size_t)all * sizeof *e->unclassed);
  for (int64_t i = 0; i < all; i++) {
    WEIR_TRY(read_record(cfg, ps_train_record(e, i), i, e));
    e->n_train = i < e->records.count ? e->beats.n : e->n_train;
  }
  for (int64_t k = 0; k < e->beats.n; k++) {
    e->beats.v[k].patient = e->patient[e->beats.v[k].record];
  }
  for (int c = 0; c < PS_CLASSIFIERS; c++) {
    WEIR_TRY(weir_alloc(all, sizeof *e->by[c].each, (void **)&e->by[c].each));
    memset(e->by[c].each, 0, (size_t)all * sizeof *e->by[c].each);
  }
  return WEIR_OK;
}

/* Adds the beats of the patient of record i, as `weights` class them. */
static void test_patient(session *e, int64_t i, const double *weights)
{
  ps_train_result *const r = &e->by[PS_BY_DISCRIMINANT];

  for (int64_t k = 0; k < e->beats.n; k++) {
    const ps_labelled *b = &e->beats.v[k];

    if (b->patient == i) {
      r->each[b->record].n[b->kind][ps_discriminant_class(weights, b->x)]++;
    }
  }
}

/* Of test records by the weights of all others; without, of each patient by those of the others. */
static weir_status fit_and_test(const ps_cfg *cfg, session *e)
{
  const int64_t min_beats = cfg->beats.min_beats;
  int64_t *const learnt = e->by[PS_BY_DISCRIMINANT].learnt;

  WEIR_TRY(ps_discriminant_fit(e->beats.v, e->n_train, -1, min_beats, e->weights));
  for (int64_t k = 0; k < e->n_train; k++) {
    if (e->beats.v[k].kind < PS_CLASSES) {
      learnt[e->beats.v[k].kind]++;
    }
  }
  for (int c = 0; c < PS_CLASSES; c++) { /* of a class with fewer, nothing is learnt */
    learnt[c] = learnt[c] >= min_beats ? learnt[c] : 0;
  }
  for (int64_t i = 0; i < e->test.count; i++) {
    test_patient(e, e->records.count + i, e->weights);
  }
  for (int64_t i = 0; i < e->records.count && e->test.count == 0 && e->records.count > 1; i++) {
    double weights[PS_CLASS_WEIGHTS];

    if (e->patient[i] == i) {
      WEIR_TRY(ps_discriminant_fit(e->beats.v, e->n_train, i, min_beats, weights));
      test_patient(e, i, weights);
    }
  }
  return WEIR_OK;
}

static void add_confusion(int by, const char *name, const ps_confusion *c, weir_table *t)
{
  for (int k = 0; k < PS_LABELS; k++) {
    weir_table_add(t, "%s", classifier_name[by]);
    weir_table_add(t, "%s", name);
    weir_table_add(t, "%s", ps_label_name[k]);
    for (int j = 0; j < PS_LABELS; j++) {
      weir_table_add(t, "%lld", (long long)c->n[k][j]);
    }
  }
}

static void add_scores(session *e, int by, int64_t first, int64_t n)
{
  const ps_train_result *const r = &e->by[by];

  static const int rows[] = {PS_CLASS_N, PS_CLASS_S, PS_CLASS_V, PS_CLASS_F, PS_ANY_BEAT};

  for (int i = 0; i <= PS_CLASSES; i++) {
    const int k = rows[i];
    const ps_class_score s = ps_confusion_score(&r->all, k);
    const ps_class_score average = ps_confusion_average(r->each + first, n, k);

    weir_table_add(&e->scores, "%s", classifier_name[by]);
    weir_table_add(&e->scores, "%s", k == PS_ANY_BEAT ? "beat" : ps_label_name[k]);
    weir_table_add(&e->scores, "%lld", (long long)s.beats);
    weir_table_add_number(&e->scores, "%.2f", s.se, "");
    weir_table_add_number(&e->scores, "%.2f", s.ppv, "");
    weir_table_add_number(&e->scores, "%.2f", s.fpr, "");
    weir_table_add_number(&e->scores, "%.2f", average.se, "");
    weir_table_add_number(&e->scores, "%.2f", average.ppv, "");
    if (k < PS_CLASSES) {
      weir_table_add(&e->scores, "%lld", (long long)r->learnt[k]);
    } else {
      weir_table_add(&e->scores, "%s", "");
    }
  }
}

static void fill_tables(const ps_cfg *cfg, session *e)
{
  const int64_t first = e->test.count > 0 ? e->records.count : 0;
  const int64_t end = e->records.count + e->test.count;

  for (int by = 0; by < (cfg->beats.network.use ? PS_CLASSIFIERS : PS_BY_NETWORK); by++) {
    for (int64_t i = first; i < end; i++) {
      if (end > 1) { /* it has been tested */
        ps_confusion_add(&e->by[by].each[i], &e->unclassed[i]);
        ps_confusion_add(&e->by[by].all, &e->by[by].each[i]);
      }
      add_confusion(by, ps_train_record(e, i)->name, &e->by[by].each[i], &e->confusion);
    }
    add_confusion(by, "all", &e->by[by].all, &e->confusion);
    add_scores(e, by, first, end - first);
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

static weir_status fill_network(weir_report *r, const ps_cfg *cfg, const session *e)
{
  WEIR_TRY(weir_report_heading(r, "Trainings of the network"));
  WEIR_TRY(weir_report_text(
      r,
      "A convolutional network of the window of each beat (%g s before, %g s from it on, %g Hz) "
      "and "
      "%s, with the weights of classes that are stated; patients validated on are neither learnt "
      "from nor tested. The first patient of each row is left out, to be tested; weights.nc is of "
      "the last row.",
      cfg->beats.network.before, cfg->beats.network.after, cfg->beats.network.rate,
      cfg->beats.network.features == PS_BEAT_FEATURES_ALL ? "all features" : "three intervals"));
  return weir_table_report(&e->trainings, r, "trainings", PS_TRAINING_COLUMNS, ps_training_head);
}

static weir_status fill_page(weir_report *r, const ps_cfg *cfg, const session *e)
{
  static const char *const titles[SCORES] = {
      "classifier", "class",          "beats",           "Se (%)",           "PPV (%)",
      "FPR (%)",    "average Se (%)", "average PPV (%)", "beats learnt from"};

  WEIR_TRY(weir_report_text(
      r,
      "Classes of beats (ANSI/AAMI EC57: N normal and bundle branch block, S supraventricular and "
      "V ventricular ectopic, F fusion) by a linear discriminant of features%s, %s. Se = TP / (TP "
      "+ FN), PPV = TP / (TP + FP), FPR = FP / (FP + TN); missed beats are FN, false detections "
      "FP. As EC57 asks, fusion beats and those of no class (Q) that are found as V are no FP of "
      "V, and Q found as S no FP of S. EC57 has no scores of N and F: they are against all others. "
      "Row beat: any beat against none. Gross, of all beats, and averages over the records.",
      cfg->beats.network.use ? " and by a network" : "",
      e->test.count > 0      ? "fitted to other patients than those tested"
      : e->records.count > 1 ? "each patient tested by what is fitted to all others"
                             : "fitted to one record and not tested: state beats.test"));
  WEIR_TRY(weir_table_report(&e->scores, r, "scores", SCORES, titles));
  if (cfg->beats.network.use) {
    WEIR_TRY(fill_network(r, cfg, e));
  }
  WEIR_TRY(weir_report_heading(r, "Beats by annotated and found class (Q: no class, O: no beat)"));
  return weir_table_report(&e->confusion, r, "confusion", CONFUSION, confusion_head);
}

static weir_status write_all(weir_job *j, session *e)
{
  const char *out = j->cli->out;
  const ps_cfg *const cfg = j->cfg;
  weir_report *r = NULL;

  fill_tables(cfg, e);
  WEIR_TRY(write_weights(out, e->weights));
  WEIR_TRY(ps_table_write(&e->confusion, out, "confusion", CONFUSION, confusion_head));
  WEIR_TRY(ps_table_write(&e->scores, out, "scores", SCORES, scores_head));
  if (cfg->beats.network.use) {
    WEIR_TRY(
        ps_table_write(&e->trainings, out, "trainings", PS_TRAINING_COLUMNS, ps_training_head));
  }
  WEIR_TRY(weir_report_open(out, "physio_stream: classifiers of beats", &r));
  weir_report_fact(r, "records", "%lld", (long long)(e->records.count + e->test.count));
  WEIR_TRY(weir_report_commit(&r, fill_page(r, cfg, e)));
  return ps_write_provenance(j->cli, cfg, NULL, 0);
}

/* What the network cannot be trained with, before anything is read. */
static weir_status check_network(const ps_cfg *cfg)
{
  const weir_train_task task = ps_beat_task();
  ps_beat_network is;

  WEIR_TRY(ps_beat_network_of(&cfg->beats.network, &is));
  if (cfg->train.initial_weights[0] != 0 || cfg->train.models.seeds.count > 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train.%s: a network of beats starts from random weights of one seed: leave "
                     "it empty",
                     cfg->train.initial_weights[0] != 0 ? "initial_weights" : "models.seeds");
  }
  return weir_train_suits(&task, &cfg->train);
}

static weir_status train(weir_job *j, session *e)
{
  const ps_cfg *cfg = j->cfg;

  if (cfg->beats.records.count == 0 || cfg->beats.folder[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train needs annotated records (beats.records) and the folder of a run with a "
                     "step beat_class over them (beats.folder)");
  }
  if (cfg->beats.network.use) {
    WEIR_TRY(check_network(cfg));
  }
  WEIR_TRY(read_all(cfg, e));
  if (cfg->beats.network.use) {
    WEIR_TRY(ps_train_read_windows(cfg, e));
  }
  WEIR_TRY(fit_and_test(cfg, e));
  WEIR_TRY(weir_run_dir_commit(&j->dir));
  if (cfg->beats.network.use) {
    WEIR_TRY(ps_train_network(cfg, j->cli->out, e));
  }
  WEIR_TRY(write_all(j, e));
  weir_table_print(&e->scores, SCORES, scores_head, stdout);
  return WEIR_OK;
}

static weir_status perform(weir_job *j)
{
  const ps_cfg *const cfg = j->cfg;
  session e = {0};

  WEIR_TRY(weir_job_begin(j, "train", cfg->beats.network.use && cfg->train.checkpoint.resume));
  const weir_status status = train(j, &e);

  weir_table_fini(&e.confusion);
  weir_table_fini(&e.scores);
  weir_table_fini(&e.trainings);
  for (int c = 0; c < PS_CLASSIFIERS; c++) {
    weir_free(&e.by[c].each);
  }
  weir_free(&e.patient);
  weir_free(&e.unclassed);
  weir_free(&e.window);
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
