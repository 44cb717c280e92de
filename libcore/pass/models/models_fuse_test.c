/* models_fuse_test.c - several models as one graph: the numbers of each are bitwise those of its
 * own run, one model changes nothing, and what cannot be fused is named. */
#include "pass/models/weir_models.h"

#include <math.h>
#include <stdio.h>

#include "support/exec/train_nets.h"
#include "support/graph/store_check.h"
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "exec/weir_plan.h"
#include "ops/call/weir_call.h"
#include "ops/fft/weir_fft.h"
#include "ops/random/weir_random_op.h"

enum { STEPS = 3, MAX_MODELS = 5, INPUTS = 4 };

/* A training graph as it is built for one model. */
typedef struct job {
  const char *name;
  weir_status (*build)(train_net *t);
  const char *own[INPUTS]; /* inputs that differ between models */
  int n_own;
} job;

static bool is_own(const job *j, const char *name)
{
  bool is = false;

  for (int k = 0; k < j->n_own; k++) {
    is = is || strcmp(j->own[k], name) == 0;
  }
  return is;
}

static weir_status build_cosmo(train_net *t)
{
  return train_cosmo(t, 2, 16, 8);
}

static weir_status build_unet(train_net *t)
{
  return train_unet(t, 2, 8, 5);
}

/* Dropout of a dense layer with the model's own seed and rate, and a running mean. */
static weir_status build_noise(train_net *t)
{
  WEIR_TRY(train_begin(t));
  weir_graph *g = t->g;
  const weir_value x = weir_input(g, "x", &(weir_array_desc){WEIR_F32, 2, {6, 5}, 0});
  const weir_value seed = weir_input(g, "seed", &(weir_array_desc){.dtype = WEIR_I64});
  const weir_value step = weir_input(g, "step", &(weir_array_desc){.dtype = WEIR_I64});
  const weir_random_spec spec = {.dtype = WEIR_F32, .rank = 2, .shape = {6, 7}};
  const weir_random_spec noise = {
      .kind = WEIR_RANDOM_NORMAL, .dtype = WEIR_F32, .rank = 2, .shape = {6, 7}};

  WEIR_TRY(weir_store_add(t->store, "mean", WEIR_F32, 0, NULL));
  const weir_value mean = weir_stored(g, t->store, "mean");
  weir_value y = train_dense(t, x, 7);

  y = weir_add(g, y, weir_scale(g, weir_random(g, &noise, seed, step), 0.01));
  y = weir_mul(g, y,
               weir_cast(g, WEIR_F32, weir_gt_scalar(g, weir_random(g, &spec, seed, step), 0.3)));
  weir_update(g, mean, weir_add(g, weir_scale(g, mean, 0.9), weir_sum(g, y, -1)));
  train_finish(t, train_leaky(t, train_dense(t, y, 3)));
  WEIR_TRY(t->status);
  return weir_graph_status(g);
}

static const job jobs[] = {
    {"cosmo", build_cosmo, {NULL}, 0},
    {"cosmo, own samples", build_cosmo, {"x", "target"}, 2},
    {"unet", build_unet, {NULL}, 0},
    {"noise", build_noise, {"seed"}, 1},
};
enum { JOBS = sizeof jobs / sizeof jobs[0] };

/* Initial value i of a stored array of model k. */
static float initial(float built, int64_t k, int64_t i)
{
  return built * (1 + 0.25F * (float)k) + 0.01F * (float)((i + k) % 3);
}

/* Element i of an input in a step, of model k or of all (-1). */
static double input_of(const char *name, int64_t k, int64_t step, int64_t i)
{
  if (strcmp(name, "seed") == 0) {
    return (double)(11 + k);
  }
  return strcmp(name, "step") == 0 ? (double)step
                                   : 2 * weir_random_uniform((uint64_t)(7 + k), (uint32_t)name[0],
                                                             (uint32_t)step, (uint64_t)i) -
                                         1;
}

/* The job's graph with a store of `models` (0: those of the graph as it is built, of model k). */
typedef struct running {
  const job *j;
  train_net t;
  weir_store *store;
  weir_plan *plan;
  int64_t models, k;
  int n;
  weir_tensor input[INPUTS];
  weir_binding binding[INPUTS];
} running;

static void add_stored(running *r, const char *name)
{
  const weir_tensor *from = check_stored(r->t.store, name);
  const int64_t slices = r->models > 0 ? r->models : 1, n = weir_tensor_numel(from);
  int64_t shape[WEIR_MAX_RANK] = {slices};

  memcpy(shape + 1, from->shape, (size_t)from->rank * sizeof *shape);
  assert_ok(weir_store_add(r->store, name, WEIR_F32, from->rank + (r->models > 0),
                           r->models > 0 ? shape : from->shape));
  float *to = check_stored(r->store, name)->data;

  for (int64_t k = 0; k < slices; k++) {
    for (int64_t i = 0; i < n; i++) {
      to[k * n + i] = initial(((const float *)from->data)[i], r->models > 0 ? k : r->k, i);
    }
  }
}

static void open_run(const job *j, int64_t models, int64_t k, const weir_exec_cfg *cfg, running *r)
{
  *r = (running){.j = j, .models = models, .k = k};
  assert_ok(j->build(&r->t));
  assert_ok(weir_store_create(&r->store));
  for (int64_t i = 0; i < weir_store_count(r->t.store); i++) {
    add_stored(r, weir_store_name(r->t.store, i));
  }
  if (models > 0) {
    assert_ok(weir_models_fuse(r->t.g, models, j->own, j->n_own));
  }
  assert_ok(
      weir_plan_create(r->t.g, r->store, &(weir_plan_opts){.exec = cfg, .threads = 2}, &r->plan));
  for (int32_t a = 0; a < weir_graph_arrays(r->t.g); a++) {
    const weir_array *array = weir_graph_get_array(r->t.g, a);

    if (array->kind == WEIR_ARRAY_INPUT) {
      assert_true(r->n < INPUTS);
      assert_ok(weir_tensor_init(&r->input[r->n], array->desc.dtype, array->desc.rank,
                                 array->desc.shape));
      r->binding[r->n] = (weir_binding){array->name, &r->input[r->n]};
      r->n++;
    }
  }
}

static void close_run(running *r)
{
  for (int i = 0; i < r->n; i++) {
    weir_tensor_fini(&r->input[i]);
  }
  weir_plan_destroy(&r->plan);
  weir_store_destroy(&r->store);
  train_fini(&r->t);
}

static void fill_inputs(running *r, int64_t step)
{
  for (int i = 0; i < r->n; i++) {
    const char *name = r->binding[i].name;
    const bool own = is_own(r->j, name);
    const int64_t slices = own && r->models > 0 ? r->models : 1;
    const int64_t n = weir_tensor_numel(&r->input[i]) / slices;

    for (int64_t e = 0; e < n * slices; e++) {
      const int64_t k = !own ? -1 : r->models > 0 ? e / n : r->k;
      const double x = input_of(name, k, step, e % n);

      if (r->input[i].dtype == WEIR_I64) {
        ((int64_t *)r->input[i].data)[e] = (int64_t)x;
      } else {
        ((float *)r->input[i].data)[e] = (float)x;
      }
    }
  }
}

static void run_steps(running *r)
{
  for (int64_t step = 1; step <= STEPS; step++) {
    fill_inputs(r, step);
    assert_ok(weir_plan_run(r->plan, r->binding, r->n));
  }
}

/* Slice k of what is named, in both. */
static void compare_slice(const running *fused, const running *own, const char *what,
                          const void *all, const void *one, int64_t n)
{
  char text[128];

  (void)snprintf(text, sizeof text, "%s: %s of model %d of %d", own->j->name, what, (int)own->k,
                 (int)fused->models);
  assert_int_equal(
      weir_compare(text, WEIR_F32, (const float *)all + own->k * n, one, n, (weir_tolerance){0, 0}),
      0);
}

static void compare_runs(running *fused, running *own)
{
  weir_view all, one;
  int64_t lo, hi;

  for (int64_t i = 0; i < weir_store_count(own->store); i++) {
    const char *name = weir_store_name(own->store, i);
    const weir_tensor *t = check_stored(own->store, name);

    compare_slice(fused, own, name, check_stored(fused->store, name)->data, t->data,
                  weir_tensor_numel(t));
  }
  assert_ok(weir_plan_result(fused->plan, "loss", &all, &lo, &hi));
  assert_ok(weir_plan_result(own->plan, "loss", &one, &lo, &hi));
  assert_int_equal(all.rank, one.rank + 1);
  compare_slice(fused, own, "loss", all.data, one.data, 1);
}

static void compare_job(const job *j, int64_t models, const weir_exec_cfg *cfg)
{
  running fused;

  open_run(j, models, 0, cfg, &fused);
  run_steps(&fused);
  for (int64_t k = 0; k < models; k++) {
    running own;

    open_run(j, 0, k, cfg, &own);
    run_steps(&own);
    compare_runs(&fused, &own);
    close_run(&own);
  }
  close_run(&fused);
}

static weir_exec_cfg config_of(weir_tier tier)
{
  weir_exec_cfg cfg;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = (int)tier;
  return cfg;
}

static void each_model_is_bitwise_its_own_run(void **state)
{
  for (int j = 0; j < JOBS; j++) {
    const weir_exec_cfg cfg = config_of(WEIR_TIER_AUTO);

    compare_job(&jobs[j], j % 2 == 0 ? 3 : 2, &cfg);
  }
}

static void each_model_is_its_own_run_in_other_engines(void **state)
{
  const weir_exec_cfg vector = config_of(WEIR_TIER_VECTOR),
                      reference = config_of(WEIR_TIER_REFERENCE);

  compare_job(&jobs[0], 5, &vector);
  compare_job(&jobs[2], 2, &vector);
  compare_job(&jobs[3], 3, &vector);
  compare_job(&jobs[3], 3, &reference);
}

/* Operands in bf16 where kernels are faster so, and a step in micro-batches. */
static void each_model_is_its_own_run_under_other_passes(void **state)
{
  weir_exec_cfg cfg = config_of(WEIR_TIER_VECTOR);

  cfg.precision = WEIR_PRECISION_BF16;
  compare_job(&jobs[0], 2, &cfg);
  cfg = config_of(WEIR_TIER_VECTOR);
  cfg.memory = 1 << 20;
  compare_job(&jobs[2], 3, &cfg);
}

/* Groups that kernels compute: as many, of the same kernels, in the fused graph. */
static void kernels_claim_what_they_claim_of_one(void **state)
{
  const weir_exec_cfg cfg = config_of(WEIR_TIER_AUTO);
  int claimed[2] = {0, 0};

  for (int i = 0; i < 2; i++) {
    running r;

    open_run(&jobs[0], i == 0 ? 0 : 3, 0, &cfg, &r);
    for (int32_t k = 0; k < weir_plan_groups(r.plan); k++) {
      claimed[i] += weir_plan_group(r.plan, k).kernel_class == WEIR_CLASS_LIBRARY;
    }
    close_run(&r);
  }
  assert_int_equal(claimed[0], claimed[1]);
}

static void one_model_leaves_the_graph(void **state)
{
  char before[65], after[65];
  train_net t;

  assert_ok(build_unet(&t));
  assert_ok(weir_graph_digest(t.g, before));
  assert_ok(weir_models_fuse(t.g, 1, NULL, 0));
  assert_ok(weir_graph_digest(t.g, after));
  assert_string_equal(before, after);
  train_fini(&t);
}

/* The gradient of a model against differences of its own loss; those of others do not move. */
static void gradients_are_each_models_own(void **state)
{
  enum { MODELS = 3, PROBES = 6 };
  const weir_exec_cfg cfg = config_of(WEIR_TIER_VECTOR);
  weir_view v;
  int64_t lo, hi;
  running r;

  open_run(&jobs[3], MODELS, 0, &cfg, &r);
  for (int probe = 0; probe < PROBES; probe++) {
    const int64_t k = probe % MODELS, i = 5 * probe;
    const float h = 0x1p-8F;
    double loss[2][MODELS];
    float *w = check_stored(r.store, "w0")->data;
    const int64_t n = weir_tensor_numel(check_stored(r.store, "w0")) / MODELS;
    const float was = w[k * n + i];
    float *kept = NULL;

    assert_ok(weir_alloc(MODELS * n, sizeof *kept, (void **)&kept));
    memcpy(kept, w, (size_t)(MODELS * n) * sizeof *kept);
    for (int side = 0; side < 2; side++) {
      for (int64_t s = 0; s < weir_store_count(r.store); s++) { /* a step has moved them */
        const char *name = weir_store_name(r.store, s);
        const weir_tensor *from = check_stored(r.t.store, name);
        weir_tensor *to = check_stored(r.store, name);
        const int64_t m = weir_tensor_numel(from);

        for (int64_t e = 0; e < MODELS * m; e++) {
          ((float *)to->data)[e] = initial(((const float *)from->data)[e % m], e / m, e % m);
        }
      }
      w = check_stored(r.store, "w0")->data;
      w[k * n + i] = was + (side == 0 ? -h : h);
      fill_inputs(&r, 1);
      assert_ok(weir_plan_run(r.plan, r.binding, r.n));
      assert_ok(weir_plan_result(r.plan, "loss", &v, &lo, &hi));
      for (int m = 0; m < MODELS; m++) {
        loss[side][m] = ((const float *)v.data)[m];
      }
    }
    assert_ok(weir_plan_result(r.plan, "g0", &v, &lo, &hi));
    const double gradient = ((const float *)v.data)[k * n + i];

    for (int m = 0; m < MODELS; m++) {
      const double difference = (loss[1][m] - loss[0][m]) / (2 * (double)h);

      assert_true(m == k || difference == 0);
      assert_true(m != k || fabs(difference - gradient) <= 2e-3 * fmax(1, fabs(gradient)));
    }
    memcpy(check_stored(r.store, "w0")->data, kept, (size_t)(MODELS * n) * sizeof *kept);
    weir_free(&kept);
  }
  close_run(&r);
}

static weir_status nothing(void *context, const weir_op_run *run)
{
  return WEIR_OK;
}

static void refuses(weir_graph *g, const char *text)
{
  assert_ok(weir_graph_status(g));
  assert_int_equal(weir_models_fuse(g, 2, (const char *[]){"x"}, 1), WEIR_ERR_UNSUPPORTED);
  if (strstr(weir_last_message(), text) == NULL) {
    fail_msg("'%s' does not say '%s'", weir_last_message(), text);
  }
  weir_clear_failure();
  weir_graph_destroy(&g);
}

static void what_cannot_be_fused_is_named(void **state)
{
  const weir_array_desc d = {WEIR_F64, 1, {4}, 0};
  const weir_call_spec call = {
      .name = "lookup", .function = nothing, .n_out = 1, .out = {{WEIR_F64, 1, {4}, 0}}};
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  weir_value x = weir_input(g, "x", &d);

  weir_output(g, "y", weir_label(g, weir_call(g, &call, &x, 1), "lookup of ozone"));
  refuses(g, "'call' of 'lookup of ozone'");
  assert_ok(weir_graph_create(&g));
  weir_output(g, "y", weir_input(g, "shared", &d));
  refuses(g, "'shared'");
  assert_ok(weir_graph_create(&g));
  weir_array_desc most = {.dtype = WEIR_F64, .rank = WEIR_MAX_RANK};

  for (int k = 0; k < WEIR_MAX_RANK; k++) {
    most.shape[k] = 2;
  }
  x = weir_input(g, "x", &most);
  weir_output(g, "y", weir_square(g, x));
  refuses(g, "rank");
  assert_ok(weir_graph_create(&g));
  x = weir_input(g, "x", &d);
  weir_output(g, "y", weir_square(g, x));
  assert_int_equal(weir_models_fuse(g, 0, NULL, 0), WEIR_ERR_SHAPE);
  weir_clear_failure();
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_model_is_bitwise_its_own_run),
      cmocka_unit_test(each_model_is_its_own_run_in_other_engines),
      cmocka_unit_test(each_model_is_its_own_run_under_other_passes),
      cmocka_unit_test(kernels_claim_what_they_claim_of_one),
      cmocka_unit_test(one_model_leaves_the_graph),
      cmocka_unit_test(gradients_are_each_models_own),
      cmocka_unit_test(what_cannot_be_fused_is_named),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
