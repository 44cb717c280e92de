/* network.c - the network of beats: which patients it learns from, its trainings, and what it makes
 * of the beats of others. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "commands.h"
#include "train/session.h"

enum { PURPOSE_VALID = 0x50534254 };
const char *const ps_training_head[PS_TRAINING_COLUMNS] = {
    "left out", "validated on", "weight N", "weight S", "weight V",
    "weight F", "epochs",       "best",     "loss",     "end"};

/* One training. */
typedef struct fold {
  const ps_cfg *cfg;
  ps_train_session *e;
  int64_t left_out; /* patient, -1: none */
  bool *is_valid;   /* [records]: of a patient of the validation */
  int64_t *beat;    /* those learnt from, then those of the validation */
  int64_t n_train, n_valid;
} fold;

const ps_record *ps_train_record(const ps_train_session *e, int64_t i)
{
  return i < e->records.count ? &e->records.items[i] : &e->test.items[i - e->records.count];
}

/* ---- Who is learnt from ---- */

static bool is_left_out(const fold *f, int64_t record)
{
  return f->e->patient[record] == f->left_out;
}

/* Patients are ordered by random numbers; the first ones are those of the validation. */
static void choose_validation(fold *f)
{
  const ps_train_session *const e = f->e;
  const double share = f->cfg->beats.network.valid;
  const uint64_t seed = (uint64_t)f->cfg->seed;
  int64_t patients = 0;

  for (int64_t r = 0; r < e->records.count; r++) {
    patients += e->patient[r] == r && !is_left_out(f, r);
  }
  int64_t wanted = share > 0 && patients > 1 ? llround(share * (double)patients) : 0;

  wanted = share > 0 && patients > 1 && wanted < 1 ? 1 : wanted;
  wanted = wanted > patients - 1 ? patients - 1 : wanted;
  for (int64_t r = 0; r < e->records.count; r++) {
    const int64_t p = e->patient[r];
    const uint64_t own = weir_random_bits(seed, PURPOSE_VALID, 0, (uint64_t)p);
    int64_t before = 0;

    for (int64_t other = 0; other < e->records.count; other++) {
      before += e->patient[other] == other && !is_left_out(f, other) &&
                weir_random_bits(seed, PURPOSE_VALID, 0, (uint64_t)other) < own;
    }
    f->is_valid[r] = !is_left_out(f, r) && before < wanted;
  }
}

static weir_status split(fold *f)
{
  const ps_train_session *const e = f->e;

  WEIR_TRY(weir_alloc(e->records.count, sizeof *f->is_valid, (void **)&f->is_valid));
  WEIR_TRY(weir_alloc(e->n_train, sizeof *f->beat, (void **)&f->beat));
  choose_validation(f);
  for (int valid = 0; valid < 2; valid++) {
    for (int64_t i = 0; i < e->n_train; i++) {
      const int64_t r = e->beats.v[i].record;

      if (e->beats.v[i].kind < PS_CLASSES && !is_left_out(f, r) && f->is_valid[r] == (valid == 1)) {
        f->beat[f->n_train + f->n_valid] = i;
        *(valid == 1 ? &f->n_valid : &f->n_train) += 1;
      }
    }
  }
  return WEIR_OK;
}

/* ---- A training ---- */

static const char *name_of(const fold *f)
{
  return f->left_out < 0 ? "none" : ps_train_record(f->e, f->left_out)->name;
}

static void add_row(const fold *f, const ps_beat_training *t, const weir_train_result *result)
{
  weir_table *const table = &f->e->trainings;
  char names[512] = "";

  for (int64_t r = 0; r < f->e->records.count; r++) {
    const size_t n = strlen(names);

    if (f->is_valid[r]) {
      (void)snprintf(names + n, sizeof names - n, "%s%s", n > 0 ? " " : "",
                     f->e->records.items[r].name);
    }
  }
  weir_table_add(table, "%s", name_of(f));
  weir_table_add(table, "%s", names[0] != 0 ? names : "none");
  for (int c = 0; c < PS_CLASSES; c++) {
    weir_table_add(table, "%.4g", t->class_weight[c]);
  }
  weir_table_add(table, "%lld", (long long)result->epoch);
  weir_table_add(table, "%lld", (long long)(f->n_valid > 0 ? result->best_epoch : result->epoch));
  weir_table_add_number(table, "%.4f", f->n_valid > 0 ? result->best_loss : result->loss, "");
  weir_table_add(table, "%s", weir_train_end_text(result->end));
}

/* What readers of the file are told. */
static weir_status run(const fold *f, ps_beat_training *t, const char *dir,
                       weir_train_result *result)
{
  const ps_beat_network_opts *const o = &f->cfg->beats.network;
  const weir_plan_opts exec = {.exec = &f->cfg->exec};
  char window[128], leads[512] = "";
  weir_train_cfg train = f->cfg->train;

  for (int64_t k = 0; k < o->signals.count; k++) {
    const size_t n = strlen(leads);

    (void)snprintf(leads + n, sizeof leads - n, "%s%s", n > 0 ? " " : "", o->signals.items[k]);
  }
  (void)snprintf(window, sizeof window, "%lld samples before and %lld from the beat on, %.12g Hz",
                 (long long)t->is.window.before, (long long)t->is.window.after, t->is.window.rate);
  const weir_note note[] = {{"leads", leads[0] != 0 ? leads : "the first in mV"},
                            {"window", window},
                            {"classes", "N S V F (ANSI/AAMI EC57)"}};

  t->task.note = note;
  t->task.n_notes = sizeof note / sizeof note[0];
  train.seed += f->cfg->seed;
  train.patience = f->n_valid > 0 ? train.patience : 0;
  train.target.metric = f->n_valid > 0 ? train.target.metric : "";
  WEIR_TRY(weir_train_run(&t->task, &train, &exec, t->params, t->store, dir, result));
  return ps_beat_training_check(t); /* where it had ended before and read no beat */
}

/* ---- What it makes of other patients ---- */

static weir_status test_beat(const ps_train_session *e, const ps_beat_classifier *c, int64_t i,
                             ps_train_result *r)
{
  const ps_labelled *const beat = &e->beats.v[i];
  const int64_t size = ps_beat_window_samples(&c->is.window) * c->is.leads;

  memcpy(c->x.data, e->window + i * size, (size_t)size * sizeof *e->window);
  for (int64_t k = 0; k < c->is.features; k++) {
    ((float *)c->f.data)[k] = (float)beat->x[k];
  }
  WEIR_TRY(ps_beat_classifier_run(c));
  const int found = ps_beat_classifier_class(c);

  r->each[beat->record].n[beat->kind][found]++;
  return WEIR_OK;
}

/* The beats of records to test, or of the patient that was left out, by the file of weights. */
static weir_status test(const fold *f, const char *dir)
{
  ps_train_session *const e = f->e;
  ps_beat_classifier c;
  char path[PS_PATH];
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_checkpoint_weights(dir, (weir_checkpoint_format)f->cfg->train.checkpoint.format,
                                   path, sizeof path));
  WEIR_TRY_GOTO(ps_beat_classifier_open(path, &c), done);
  for (int64_t i = 0; i < e->beats.n; i++) {
    const int64_t record = e->beats.v[i].record;

    if (f->left_out < 0 ? record >= e->records.count : is_left_out(f, record)) {
      WEIR_TRY_GOTO(test_beat(e, &c, i, &e->by[PS_BY_NETWORK]), done);
    }
  }
done:
  ps_beat_classifier_close(&c);
  return status;
}

static weir_status train_fold(const ps_cfg *cfg, ps_train_session *e, int64_t left_out,
                              const char *dir)
{
  fold f = {.cfg = cfg, .e = e, .left_out = left_out};
  const ps_beat_set set = {.beat = e->beats.v, .window = e->window};
  ps_beat_training t = {.params = NULL};
  weir_train_result result;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(split(&f), done);
  weir_info("train", "network, left out: %s: %lld beats, %lld of the validation", name_of(&f),
            (long long)f.n_train, (long long)f.n_valid);
  WEIR_TRY_GOTO(ps_beat_training_open(&cfg->beats.network, &set,
                                      &(ps_beat_split){f.beat, f.n_train, f.n_valid},
                                      cfg->beats.min_beats, cfg->train.seed + cfg->seed, &t),
                done);
  WEIR_TRY_GOTO(run(&f, &t, dir, &result), done);
  add_row(&f, &t, &result);
  for (int c = 0; c < PS_CLASSES && left_out < 0; c++) {
    e->by[PS_BY_NETWORK].learnt[c] = t.beats[c];
  }
  WEIR_TRY_GOTO(test(&f, dir), done);
done:
  ps_beat_training_close(&t);
  weir_free(&f.is_valid);
  weir_free(&f.beat);
  return status;
}

weir_status ps_train_network(const ps_cfg *cfg, const char *out, ps_train_session *e)
{
  char left_out[PS_PATH], dir[PS_PATH];

  for (int64_t r = 0; r < e->records.count && e->test.count == 0 && e->records.count > 1; r++) {
    if (e->patient[r] == r) {
      WEIR_TRY(weir_path_join(out, "without", left_out, sizeof left_out));
      WEIR_TRY(weir_path_join(left_out, ps_train_record(e, r)->name, dir, sizeof dir));
      WEIR_TRY(train_fold(cfg, e, r, dir));
    }
  }
  return train_fold(cfg, e, -1, out);
}
