/* beat_weights.h - beats that are easy to tell apart, and a file of weights of a network of beats
 * that was trained on them for some steps. */
#ifndef BEAT_WEIGHTS_H
#define BEAT_WEIGHTS_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "beats/task.h"
#include "train/weir_checkpoint.h"

/* n beats of classes N, S and V, in turn, with their windows [n, samples, leads]: V is wide, S is
 * early; with noise. */
typedef struct beat_examples {
  ps_labelled *beat;
  float *window;
  int64_t *number;
  int64_t n;
} beat_examples;

static inline beat_examples beat_examples_new(int64_t n, const ps_beat_network *is)
{
  const int64_t samples = ps_beat_window_samples(&is->window), size = samples * is->leads;
  beat_examples e = {.beat = calloc((size_t)n, sizeof *e.beat),
                     .window = calloc((size_t)(n * size), sizeof *e.window),
                     .number = calloc((size_t)n, sizeof *e.number),
                     .n = n};

  for (int64_t i = 0; i < n; i++) {
    ps_labelled *const b = &e.beat[i];
    const double width = i % 3 == PS_CLASS_V ? 6 : 2;

    b->kind = (int)(i % 3);
    e.number[i] = i;
    for (int k = 0; k < PS_FEATURES; k++) {
      b->x[k] = 0.1 * weir_random_normal(5, 1, (uint32_t)k, (uint64_t)i);
    }
    b->x[PS_FEATURE_PRE] -= b->kind == PS_CLASS_S ? 0.5 : 0;
    for (int64_t k = 0; k < size; k++) {
      const double u = (double)(k / is->leads - is->window.before) / width;

      e.window[i * size + k] =
          (float)(3 * exp(-u * u / 2) + 0.2 * weir_random_normal(6, 2, (uint32_t)k, (uint64_t)i));
    }
  }
  return e;
}

static inline void beat_examples_free(beat_examples *e)
{
  free(e->beat);
  free(e->window);
  free(e->number);
}

static inline ps_beat_network_opts beat_opts(void)
{
  ps_beat_network_opts o;

  weir_opts_default(ps_beat_network_options, sizeof o, &o);
  o.rate = 64;
  o.before = 0.25;
  o.after = 0.25;
  o.filters = 3;
  o.hidden = 6;
  o.dropout = 0;
  return o;
}

/* Trains on e up to `steps` steps in DIR, from its latest checkpoint if it has one. */
static inline weir_status beat_weights_train(const ps_beat_network_opts *o, const beat_examples *e,
                                             int64_t steps, const char *dir)
{
  const ps_beat_set set = {.beat = e->beat, .window = e->window};
  const ps_beat_split split = {.beat = e->number, .n_train = e->n - 30, .n_valid = 30};
  weir_train_result result;
  weir_train_cfg cfg;
  weir_exec_cfg exec;
  ps_beat_training t;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR; /* no compiler */
  weir_opts_default(weir_train_opts, sizeof cfg, &cfg);
  cfg.batch = 16;
  cfg.steps = steps;
  cfg.optim.schedule.lr = 0.01;
  assert_ok(ps_beat_training_open(o, &set, &split, 2, 1, &t));
  weir_status status = weir_train_run(&t.task, &cfg, &(weir_plan_opts){.exec = &exec, .threads = 1},
                                      t.params, t.store, dir, &result);

  if (status == WEIR_OK) {
    status = ps_beat_training_check(&t);
  }
  ps_beat_training_close(&t);
  return status;
}

/* Trains on e for `steps` steps into DIR/weights.*, whose path is written to `path`. */
static inline void beat_weights_make(const ps_beat_network_opts *o, const beat_examples *e,
                                     int64_t steps, const char *dir, char *path, size_t size)
{
  assert_ok(beat_weights_train(o, e, steps, dir));
  assert_ok(weir_checkpoint_weights(dir, WEIR_CHECKPOINT_AUTO, path, size));
}

#endif
