/* train_check.h - a small task: y = sin(3 a) b of two numbers, learnt by a small network with noise
 * and a running mean, so that every kind of state takes part. Tests only. */
#ifndef WEIR_TRAIN_CHECK_H
#define WEIR_TRAIN_CHECK_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "support/graph/store_check.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "base/weir_signal.h"
#include "nn/weir_layer.h"
#include "nn/weir_loss.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/random/weir_random_op.h"
#include "ops/reduce/weir_reduce.h"
#include "train/weir_train.h"

/* What differs between tests. 0: the plain task. */
typedef struct toy {
  int64_t hidden;       /* units; 0: 12                                                  */
  bool noise;           /* numbers drawn per step, and a running mean kept               */
  const char *scope;    /* of the first layer, instead of its name                      */
  const char *kernel;   /* exec.kernel; NULL: its default                                  */
  bool grow;            /* the metric is said to grow                                    */
  bool weighted;        /* the loss is a mean by weights that differ between samples     */
  bool contradict;      /* validation wants -y                                           */
  int64_t bad_sample;   /* this training sample and its input ..                         */
  double bad_input;     /* .. are replaced by this number; 0: none                       */
  int64_t stop_at;      /* fetch number after which a stop is asked for; 0: never        */
  int64_t refuse;       /* .. and fetch fails as it is, too: micro-batch of a step from 1   */
  int64_t stop_valid;   /* fetch of validation samples that does both; 0: none            */
  int64_t validated;    /* calls for them                                                 */
  int64_t fetched;      /* calls for training samples                                    */
  int64_t epoch, begun; /* last one of toy_epoch; its calls                             */
  weir_value (*tail)(weir_graph *g, weir_value loss); /* what becomes of the loss, or NULL */
  const char *device;                                 /* that plans run on; NULL: the cpu */
} toy;

static const weir_train_input toy_inputs[] = {
    {.name = "x", .dtype = WEIR_F32, .rank = 1, .shape = {2}},
    {.name = "y", .dtype = WEIR_F32, .rank = 1, .shape = {1}},
};

/* Some of the hidden values is taken away, and their mean is kept. */
static inline weir_value toy_noise(weir_net *net, weir_value x)
{
  weir_graph *g = net->graph;
  const weir_array_desc d = *weir_value_desc(g, x);
  weir_random_spec spec = {.kind = WEIR_RANDOM_UNIFORM, .dtype = d.dtype, .rank = 2};
  const weir_value mean = weir_buffer(net, "mean", 0, (int64_t[]){1}, 0);

  if (!net->train) {
    return x;
  }
  memcpy(spec.shape, d.shape, sizeof spec.shape);
  const weir_value draw = weir_random(g, &spec, weir_net_seed(net), weir_net_step(net));
  const weir_value now = weir_scale(g, weir_sum(g, x, -1), 1.0 / (double)(d.shape[0] * d.shape[1]));

  weir_update(g, mean, weir_add(g, weir_scale(g, mean, 0.9), weir_scale(g, now, 0.1)));
  return weir_mul(g, x, weir_cast(g, d.dtype, weir_gt_scalar(g, draw, 0.1)));
}

static inline weir_status toy_build(weir_net *net, const void *opts, const weir_value *in,
                                    weir_value *loss)
{
  const toy *t = opts;
  weir_graph *g = net->graph;
  const weir_activation tanh_of = {.kind = WEIR_ACTIVATION_TANH};
  weir_value h = weir_nn_dense(
      net, t->scope != NULL ? t->scope : "enter",
      (&(weir_nn_dense_spec){.units = t->hidden ? t->hidden : 12, .activation = tanh_of}), in[0]);

  if (t->noise) {
    weir_net_push(net, "noise");
    h = toy_noise(net, h);
    weir_net_pop(net);
  }
  h = weir_nn_dense(net, "middle", (&(weir_nn_dense_spec){.units = 8, .activation = tanh_of}), h);
  const weir_value y = weir_nn_dense(net, "leave", (&(weir_nn_dense_spec){.units = 1}), h);
  const weir_value error = weir_sub(g, y, in[1]);
  const weir_array_desc *d = weir_value_desc(g, error);

  WEIR_TRY(weir_graph_status(g));
  const double share = 1.0 / (double)d->shape[0];
  weir_value mean = weir_scale(g, weir_sum(g, weir_square(g, error), -1), share);

  if (t->weighted) {
    const weir_value weights = weir_add_scalar(g, weir_square(g, in[1]), 0.01);

    mean = weir_loss_mse(g, y, in[1], weights);
    weir_output(g, "weights", weir_loss_weight(g, in[1], weights));
  }
  mean = weir_label(g, mean, "mean square");
  weir_output(g, "mae", weir_scale(g, weir_sum(g, weir_abs(g, error), -1), share));
  weir_output(g, "bias", weir_scale(g, weir_sum(g, error, -1), share));
  *loss = t->tail != NULL ? t->tail(g, mean) : mean;
  return weir_graph_status(g);
}

static inline weir_status toy_fetch(void *context, const weir_train_batch *want,
                                    weir_tensor *const *tensor)
{
  toy *t = context;
  const bool valid = want->split == WEIR_VALID_SAMPLES;
  float *x = tensor[0]->data, *y = tensor[1]->data;

  t->fetched += !valid;
  t->validated += valid;
  const bool here = valid && t->stop_valid > 0 && t->validated == t->stop_valid;

  if (here || (!valid && t->stop_at > 0 && t->fetched == t->stop_at)) {
    weir_stop_request(15);
    if (here || t->refuse > 0) {
      return weir_fail(WEIR_ERR_STOPPED, "stopped within a sample");
    }
  }
  for (int64_t i = 0; i < want->n; i++) {
    for (uint64_t k = 0; k < 2; k++) {
      x[2 * i + (int64_t)k] =
          (float)(2 * weir_random_uniform(99, valid, 0, 2 * (uint64_t)want->sample[i] + k) - 1);
    }
    y[i] = sinf(3 * x[2 * i]) * x[2 * i + 1] * (valid && t->contradict ? -1 : 1);
    if (!valid && t->bad_input != 0 && want->sample[i] == t->bad_sample) {
      x[2 * i] = (float)t->bad_input;
    }
  }
  return WEIR_OK;
}

static inline void toy_epoch(void *context, int64_t epoch)
{
  toy *t = context;

  t->epoch = epoch;
  t->begun++;
}

static const char *const toy_metrics[] = {"mae", "bias"};

static inline weir_train_task toy_task(toy *t, int64_t n_train, int64_t n_valid)
{
  return (weir_train_task){.name = "toy",
                           .dtype = WEIR_F32,
                           .input = toy_inputs,
                           .n_inputs = 2,
                           .n_train = n_train,
                           .n_valid = n_valid,
                           .opts = t,
                           .build = toy_build,
                           .metric = toy_metrics,
                           .n_metrics = t->weighted ? 0 : 2,
                           .metrics_grow = t->grow,
                           .weight = t->weighted ? "weights" : NULL,
                           .fetch = toy_fetch,
                           .context = t,
                           .epoch = toy_epoch};
}

/* Parses the text over the defaults. Destroy *config after the last use. */
static inline weir_train_cfg toy_cfg(const char *const *sets, int n, weir_config **config)
{
  weir_train_cfg cfg;

  assert_ok(weir_config_load(weir_train_opts, sizeof cfg, NULL, 0, sets, n, &cfg, config));
  return cfg;
}

/* A folder that is not there yet, in a fresh one of the working directory. */
static inline void toy_dir(char *dir, size_t size)
{
  char made[] = "XXXXXX";

  assert_non_null(mkdtemp(made));
  snprintf(dir, size, "%s/run", made);
}

/* Runs the tests in a separate working directory. */
static inline int toy_tests(int (*tests)(void))
{
  char base[256];

  weir_check_mkdir(base, sizeof base);
  const int failed = chdir(base) == 0 ? tests() : 1;

  weir_check_rmdir(base);
  return failed;
}

/* One training: its network, and how it went. */
typedef struct session {
  weir_params *params;
  weir_store *store;
  weir_train_result result;
  weir_status status;
  char dir[300];
} session;

static inline weir_plan_opts on_threads(int threads, weir_exec_cfg *exec)
{
  weir_opts_default(weir_exec_opts, sizeof *exec, exec);
  exec->tier = WEIR_TIER_VECTOR; /* no compiler */
  return (weir_plan_opts){.exec = exec, .threads = threads};
}

static inline void close_session(session *s)
{
  weir_params_destroy(&s->params);
  weir_store_destroy(&s->store);
}

/* Trains the session's network, a fresh one where it has none, in `dir` (NULL: a new one). */
static inline void train_on(session *s, const char *dir, toy *t, int64_t n_train, int64_t n_valid,
                            int threads, const char *const *sets)
{
  const weir_train_task task = toy_task(t, n_train, n_valid);
  weir_exec_cfg tier;
  const weir_plan_opts exec = on_threads(threads, &tier);
  weir_config *config = NULL;
  int n = 0;

  tier.kernel = t->kernel != NULL ? t->kernel : tier.kernel;
  while (sets[n] != NULL) {
    n++;
  }
  const weir_train_cfg cfg = toy_cfg(sets, n, &config);

  if (dir == NULL) {
    toy_dir(s->dir, sizeof s->dir);
  } else {
    snprintf(s->dir, sizeof s->dir, "%s", dir);
  }
  tier.device = t->device != NULL ? t->device : tier.device;
  t->fetched = t->validated = 0;
  if (s->store == NULL) {
    assert_ok(weir_params_create(task.dtype, &s->params));
    assert_ok(weir_store_create(&s->store));
    assert_ok(weir_train_prepare(&task, cfg.seed, s->params, s->store));
  }
  s->status = weir_train_run(&task, &cfg, &exec, s->params, s->store, s->dir, &s->result);
  weir_config_destroy(&config);
}

static inline session train_in(const char *dir, toy *t, int64_t n_train, int64_t n_valid,
                               int threads, const char *const *sets)
{
  session s = {.status = WEIR_OK};

  train_on(&s, dir, t, n_train, n_valid, threads, sets);
  return s;
}
#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline void refused(session s, weir_status status, const char *message)
{
  if (s.status != status || strstr(weir_last_message(), message) == NULL) {
    fail_msg("status %d: '%s' is not in '%s'", (int)s.status, message, weir_last_message());
  }
  close_session(&s);
}

/* Name of the first array that differs; NULL: the stores hold the same bits. */
static inline const char *first_difference(const weir_store *a, const weir_store *b)
{
  for (int64_t i = 0; i < weir_store_count(a); i++) {
    const char *name = weir_store_name(a, i);
    if (weir_store_find(b, name) == NULL) {
      return name;
    }
    const weir_tensor *x = check_stored(a, name), *y = check_stored(b, name);

    if (memcmp(x->data, y->data, (size_t)weir_tensor_numel(x) * weir_dtype_size(x->dtype)) != 0) {
      return name;
    }
  }
  return weir_store_count(a) == weir_store_count(b) ? NULL : "number of arrays";
}

static inline void assert_same(const session *a, const session *b)
{
  const char *name = first_difference(a->store, b->store);

  if (name != NULL) {
    fail_msg("'%s' differs", name);
  }
}
#endif
