/* norm_test.c - every normalisation against plain loops; running statistics; gradients. */
#include "nn/weir_norm.h"

#include <stdio.h>

#include "support/exec/gradient_check.h"
#include "support/graph/store_check.h"
#include "ops/ops_cases.h"

static weir_value build(weir_net *net, weir_value x, const void *spec)
{
  return weir_nn_norm(net, "n", spec, x);
}

/* Which mean an element contributes to: its number among those of x. */
static int64_t class_of(const weir_nn_norm_spec *s, const weir_array_desc *d, int64_t i)
{
  const int64_t channels = d->shape[d->rank - 1];
  const int64_t groups = s->groups > 0 ? s->groups : 32;
  int64_t per_sample = 1, last = 1;

  for (int k = 1; k < d->rank; k++) {
    per_sample *= d->shape[k];
  }
  for (int64_t k = d->rank - (s->dims > 0 ? s->dims : 1); k < d->rank; k++) {
    last *= d->shape[k];
  }
  const int64_t n = i / per_sample, c = i % channels;

  return s->kind == WEIR_NORM_BATCH      ? c
         : s->kind == WEIR_NORM_INSTANCE ? n * channels + c
         : s->kind == WEIR_NORM_LAYER    ? i / last
                                         : n * groups + c / (channels / groups);
}

/* Mean, variance and count of a class. */
static void measure(const check_net *c, int64_t class, double *mean, double *variance, double *n)
{
  const double *x = check_data(&c->x);
  const int64_t count = weir_tensor_numel(&c->x);

  *mean = *variance = *n = 0;
  for (int64_t i = 0; i < count; i++) {
    if (class_of(c->spec, &c->in, i) == class) {
      *mean += x[i];
      *n += 1;
    }
  }
  *mean /= *n;
  for (int64_t i = 0; i < count; i++) {
    if (class_of(c->spec, &c->in, i) == class) {
      *variance += (x[i] - *mean) * (x[i] - *mean);
    }
  }
  *variance /= *n;
}

static double standard(const check_net *c, double x, double mean, double variance, int64_t i)
{
  const weir_nn_norm_spec *s = c->spec;
  const double y = (x - mean) / sqrt(variance + (s->epsilon > 0 ? s->epsilon : 1e-5));
  const double *scale = s->no_scale ? NULL : check_param(c, "n/scale");
  const double *offset = s->no_offset ? NULL : check_param(c, "n/offset");
  int64_t last = 1;

  for (int64_t k = c->in.rank - (s->kind == WEIR_NORM_LAYER && s->dims > 0 ? s->dims : 1);
       k < c->in.rank; k++) {
    last *= c->in.shape[k];
  }
  return (scale != NULL ? scale[i % last] : 1) * y + (offset != NULL ? offset[i % last] : 0);
}

static void forward(const check_net *c)
{
  static double wanted[4000];
  const int64_t n = weir_tensor_numel(&c->x);

  assert_true(n <= 4000);
  for (int64_t i = 0; i < n; i++) {
    double mean, variance, count;

    measure(c, class_of(c->spec, &c->in, i), &mean, &variance, &count);
    wanted[i] = standard(c, check_data(&c->x)[i], mean, variance, i);
  }
  assert_int_equal(
      weir_compare("norm", WEIR_F64, c->y.data, wanted, n, (weir_tolerance){1e-11, 1e-11}), 0);
}

static weir_nn_norm_spec draw(weir_draw *r, weir_norm_kind kind, check_net *c)
{
  /* A large epsilon keeps the derivatives of variances near 0 within what differences can tell. */
  weir_nn_norm_spec s = {.kind = kind,
                         .epsilon = weir_draw_one_in(r, 2) ? 0.1 : 0.5,
                         .no_scale = weir_draw_one_in(r, 4),
                         .no_offset = weir_draw_one_in(r, 4)};

  c->in.rank = (int)weir_draw_int(r, kind == WEIR_NORM_INSTANCE ? 3 : 2, 5);
  for (int d = 0; d < c->in.rank; d++) {
    c->in.shape[d] = weir_draw_int(r, 1, d == 0 ? 2 : 4);
  }
  if (kind == WEIR_NORM_LAYER) {
    s.dims = weir_draw_int(r, 0, c->in.rank);
  }
  if (kind == WEIR_NORM_GROUP) {
    s.groups = weir_draw_int(r, 1, 3);
    c->in.shape[c->in.rank - 1] = s.groups * weir_draw_int(r, 1, 2);
  }
  return s;
}

static void all_kinds_on_random_shapes(void **state)
{
  for (int kind = WEIR_NORM_BATCH; kind < WEIR_NORM_KINDS; kind++) {
    for (uint64_t seed = 1; seed <= 8; seed++) {
      weir_draw r = {.seed = seed};
      check_net c = {.build = build, .seed = seed, .train = true};
      const weir_nn_norm_spec s = draw(&r, (weir_norm_kind)kind, &c);

      c.spec = &s;
      check_open(&c);
      check_run(&c);
      forward(&c);
      check_gradients(&c);
      check_close(&c);
    }
  }
}

/* After each step the stored mean and variance are what the formula says, and the applied graph
 * then normalises by them. */
static void running_statistics_follow_the_formula(void **state)
{
  const weir_nn_norm_spec s = {.kind = WEIR_NORM_BATCH, .momentum = 0.25};
  check_net c = {.build = build, .spec = &s, .seed = 4, .train = true};
  double mean[3] = {0, 0, 0}, variance[3] = {1, 1, 1};

  c.in = (weir_array_desc){.rank = 4, .shape = {2, 3, 1, 3}};
  check_open(&c);
  const double *m = check_data(check_stored(c.store, "n/mean"));
  const double *v = check_data(check_stored(c.store, "n/variance"));

  assert_memory_equal(m, mean, sizeof mean);
  assert_memory_equal(v, variance, sizeof variance);
  for (uint32_t step = 0; step < 7; step++) {
    check_fill(&c.x, 9, step, -3, 5);
    check_run(&c);
    for (int64_t k = 0; k < 3; k++) {
      double mu, sigma, n;

      measure(&c, k, &mu, &sigma, &n);
      mean[k] += 0.25 * (mu - mean[k]);
      variance[k] += 0.25 * (sigma * n / (n - 1) - variance[k]);
      assert_near(m[k], mean[k], 1e-13);
      assert_near(v[k], variance[k], 1e-13);
    }
  }
  check_close(&c);
}

/* Of one element the variance is 0, not 0 / 0. */
static void a_batch_of_one_element_is_finite(void **state)
{
  const weir_nn_norm_spec s = {.kind = WEIR_NORM_BATCH};
  check_net c = {.build = build, .spec = &s, .seed = 4, .train = true};

  c.in = (weir_array_desc){.rank = 2, .shape = {1, 3}};
  check_open(&c);
  check_run(&c);
  for (int k = 0; k < 3; k++) {
    assert_near(check_data(&c.y)[k], check_param(&c, "n/offset")[k], 1e-14);
    assert_near(check_data(check_stored(c.store, "n/variance"))[k], 0.9, 1e-14);
  }
  check_close(&c);
}

static void applied_batch_norm_reads_what_was_kept(void **state)
{
  const weir_nn_norm_spec s = {.kind = WEIR_NORM_BATCH, .epsilon = 1e-3};
  check_net c = {.build = build, .spec = &s, .seed = 6, .train = false};
  double wanted[20];

  c.in = (weir_array_desc){.rank = 3, .shape = {1, 4, 5}};
  check_open(&c);
  double *m = check_data(check_stored(c.store, "n/mean"));
  double *v = check_data(check_stored(c.store, "n/variance"));

  for (int k = 0; k < 5; k++) {
    m[k] = 0.3 * k - 1;
    v[k] = 0.5 + k;
  }
  check_run(&c);
  for (int64_t i = 0; i < 20; i++) {
    wanted[i] = standard(&c, check_data(&c.x)[i], m[i % 5], v[i % 5], i);
  }
  assert_int_equal(
      weir_compare("applied", WEIR_F64, c.y.data, wanted, 20, (weir_tolerance){1e-13, 1e-13}), 0);
  assert_true(m[1] == 0.3 - 1 && v[4] == 4.5); /* a run does not move them */
  check_gradients(&c);
  check_close(&c);
}

/* An offset of 1e4 costs f32 no more than its own rounding. */
static void a_large_mean_keeps_the_digits(void **state)
{
  enum { N = 4096 };
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 2, .shape = {N, 1}};
  const weir_nn_norm_spec s = {.kind = WEIR_NORM_BATCH, .no_scale = true, .no_offset = true};
  static float x[N], y[N];
  weir_tensor tx = weir_tensor_wrap(x, WEIR_F32, 2, d.shape), ty = tx;
  double sum = 0, squares = 0;
  weir_params *p;
  weir_store *store;
  weir_exec_cfg cfg;
  weir_plan *plan;
  weir_graph *g;
  weir_net net;

  ty.data = y;
  assert_ok(weir_params_create(WEIR_F32, &p));
  assert_ok(weir_store_create(&store));
  for (int pass = 0; pass < 2; pass++) {
    assert_ok(weir_graph_create(&g));
    weir_net_init(&net, g, p, true);
    weir_output(g, "y", build(&net, weir_input(g, "x", &d), &s));
    assert_ok(weir_graph_status(g));
    weir_net_fini(&net);
    if (pass == 0) {
      weir_graph_destroy(&g);
      assert_ok(weir_params_seal(p, store));
      assert_ok(weir_params_init(p, store, 1));
    }
  }
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(g, store, &(weir_plan_opts){.exec = &cfg}, &plan));
  for (int i = 0; i < N; i++) {
    x[i] = 1e4f + (float)weir_random_normal(3, 0, 0, (uint64_t)i);
  }
  assert_ok(weir_plan_run(plan, (weir_binding[]){{"x", &tx}, {"y", &ty}}, 2));
  for (int i = 0; i < N; i++) {
    sum += y[i] / N;
    squares += (double)y[i] * y[i] / N;
  }
  assert_true(fabs(sum) < 2e-3); /* x has steps of 1e-3 there */
  assert_true(fabs(squares - 1) < 2e-3);
  weir_plan_destroy(&plan);
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
  weir_params_destroy(&p);
}

static void refuse(const weir_nn_norm_spec *s, int rank, const char *text)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = rank, .shape = {2, 6, 4, 6}};

  assert_int_equal(check_refused(build, s, &d, text, "norm_test.c:"), WEIR_ERR_SHAPE);
}

static void impossible_normalisations_are_refused(void **state)
{
  refuse(&(weir_nn_norm_spec){.kind = WEIR_NORM_BATCH}, 1, "batch takes [n, .., channels]");
  refuse(&(weir_nn_norm_spec){.kind = WEIR_NORM_INSTANCE}, 2, "instance takes");
  refuse(&(weir_nn_norm_spec){.kind = WEIR_NORM_LAYER, .dims = 5}, 4, "more dimensions");
  refuse(&(weir_nn_norm_spec){.kind = WEIR_NORM_GROUP}, 4, "6 channels, 32 groups");
  refuse(&(weir_nn_norm_spec){.kind = WEIR_NORM_KINDS}, 4, "unknown kind");
}

struct choice {
  int norm;
};
static const weir_opt choice_rows[] = {
    WEIR_OPT_ENUM(struct choice, norm, 0, WEIR_NORM_CHOICES, "normalisation"),
    WEIR_OPT_END,
};

static void names_choose(void **state)
{
  static const struct {
    const char *name;
    weir_norm_kind kind;
  } rows[] = {
      {"none", WEIR_NORM_NONE},   {"batch", WEIR_NORM_BATCH}, {"instance", WEIR_NORM_INSTANCE},
      {"layer", WEIR_NORM_LAYER}, {"group", WEIR_NORM_GROUP},
  };
  char set[40];

  assert_int_equal(sizeof rows / sizeof rows[0], WEIR_NORM_KINDS);
  for (int k = 0; k < WEIR_NORM_KINDS; k++) {
    const char *const sets = set;
    weir_config *config = NULL;
    struct choice c;

    snprintf(set, sizeof set, "norm=%s", rows[k].name);
    assert_ok(weir_config_load(choice_rows, sizeof c, NULL, 0, &sets, 1, &c, &config));
    assert_int_equal(c.norm, rows[k].kind);
    weir_config_destroy(&config);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_kinds_on_random_shapes),
      cmocka_unit_test(running_statistics_follow_the_formula),
      cmocka_unit_test(a_batch_of_one_element_is_finite),
      cmocka_unit_test(applied_batch_norm_reads_what_was_kept),
      cmocka_unit_test(a_large_mean_keeps_the_digits),
      cmocka_unit_test(impossible_normalisations_are_refused),
      cmocka_unit_test(names_choose),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
