/* family_crps_test.c - the CRPS of every family as a graph: values and derivatives of
 * eval/score/distribution.h and of integrals with 40 digits (slopes_known.h), and finite ones where
 * a distance or the scale is extreme. */
#include "model/family_crps.h"
#include <math.h>
#include <stdio.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "nn/weir_loss.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"
#include "support/weather_ensemble/slopes_known.h"

enum { MADE = 1 + WX_OF_TRUTH };
static const char *const in_name[WX_OF] = {"location", "scale", "lower", "extra", "truth"};
static const char *const made_name[MADE] = {"crps", "by_location", "by_scale", "by_lower",
                                            "by_extra"};

/* N distributions with their truths, of which n count; what the graph makes of them. */
enum { N = 1000 };
typedef struct trial {
  int64_t n;
  weir_tensor in[WX_OF], made[MADE];
} trial;

static void start(trial *t, weir_dtype dtype, int64_t n)
{
  const int64_t all = N;

  assert_true(n <= N);
  t->n = n;
  for (int k = 0; k < WX_OF; k++) {
    assert_ok(weir_tensor_init(&t->in[k], dtype, 1, &all));
    assert_ok(weir_tensor_init(&t->made[k], dtype, 1, &all));
  }
}

/* The families, and those between two bounds after them. */
enum { KINDS = WX_FAMILIES + 2 };

static bool is_between(int kind)
{
  return kind >= WX_FAMILIES;
}

static wx_family family_of(int kind)
{
  static const wx_family between[] = {WX_CENSORED_NORMAL, WX_CENSORED_LOGISTIC};

  return is_between(kind) ? between[kind - WX_FAMILIES] : (wx_family)kind;
}

static void put(trial *t, int64_t i, const wx_distribution *d, double y)
{
  const double value[WX_OF] = {d->location, d->scale, d->lower, d->shift + d->width, y};

  for (int k = 0; k < WX_OF; k++) {
    weir_dtype_store_real(t->in[k].dtype, t->in[k].data, i, value[k]);
  }
}

static double get(const weir_tensor *t, int64_t i)
{
  return weir_dtype_load_real(t->dtype, t->data, i);
}

/* As the tensors have it: f32 rounds. */
static wx_distribution own_of(const trial *t, int kind, int64_t i)
{
  const double extra = get(&t->in[WX_OF_EXTRA], i);

  return (wx_distribution){family_of(kind),
                           get(&t->in[WX_OF_LOCATION], i),
                           get(&t->in[WX_OF_SCALE], i),
                           get(&t->in[WX_OF_LOWER], i),
                           is_between(kind) ? 0 : extra,
                           is_between(kind) ? extra : 0};
}

/* How many of location, scale, bound and extra a kind has. */
static int numbers_of(int kind)
{
  return is_between(kind) || kind == WX_CENSORED_SHIFTED_GAMMA ? 4
         : wx_family_is_bounded(family_of(kind))               ? 3
                                                               : 2;
}

/* A plan of each kind and dtype, made once: that takes longer than to run it. */
static struct {
  weir_graph *g;
  weir_plan *plan;
} made_of[KINDS][2];

static void make(int kind, weir_dtype dtype)
{
  weir_value in[WX_OF], made[MADE];
  weir_graph *g = NULL;
  weir_exec_cfg cfg;

  assert_ok(weir_graph_create(&g));
  for (int k = 0; k < WX_OF; k++) {
    in[k] = weir_input(g, in_name[k], &(weir_array_desc){.dtype = dtype, .rank = 1, .shape = {N}});
  }
  if (!is_between(kind) && kind != WX_CENSORED_SHIFTED_GAMMA) {
    in[WX_OF_EXTRA] = WEIR_NO_VALUE;
  }
  made[0] = wx_family_crps(g, family_of(kind), in);
  const weir_value sum = weir_reduce_dim_at(g, WEIR_COMBINE_SUM, made[0], -1, WEIR_WHERE);
  const int by = numbers_of(kind);

  assert_ok(weir_graph_status(g));
  assert_ok(weir_gradients(g, sum, in, by, made + 1));
  for (int k = 0; k <= by; k++) {
    weir_output(g, made_name[k], weir_scale(g, made[k], 1));
  }
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1},
                             &made_of[kind][dtype == WEIR_F64].plan));
  made_of[kind][dtype == WEIR_F64].g = g;
}

static void run(trial *t, int kind)
{
  const weir_dtype dtype = t->in[0].dtype;
  weir_binding b[WX_OF + MADE];

  if (made_of[kind][dtype == WEIR_F64].plan == NULL) {
    make(kind, dtype);
  }
  for (int k = 0; k < WX_OF; k++) {
    b[k] = (weir_binding){in_name[k], &t->in[k]};
  }
  for (int k = 0; k < MADE; k++) {
    b[WX_OF + k] = (weir_binding){made_name[k], &t->made[k]};
  }
  assert_ok(weir_plan_run(made_of[kind][dtype == WEIR_F64].plan, b, WX_OF + 1 + numbers_of(kind)));
}

static int forget(void **state)
{
  (void)state;
  for (int f = 0; f < 2 * KINDS; f++) {
    weir_plan_destroy(&made_of[f / 2][f % 2].plan);
    weir_graph_destroy(&made_of[f / 2][f % 2].g);
  }
  return 0;
}

static void end(trial *t)
{
  for (int k = 0; k < WX_OF; k++) {
    weir_tensor_fini(&t->in[k]);
    weir_tensor_fini(&t->made[k]);
  }
}

/* Location up to `far` scales on either side of the bound, truths at it, above and below it. */
static wx_distribution draw(int64_t i, int kind, double far, double *y)
{
  const uint32_t k = (uint32_t)i;
  wx_distribution d = {.family = family_of(kind)};

  d.lower = 3 * weir_random_normal(7, k, 0, 0);
  d.scale = 0.2 + 3 * weir_random_uniform(7, k, 1, 0);
  d.shift =
      kind == WX_CENSORED_SHIFTED_GAMMA ? d.scale * (0.05 + weir_random_uniform(7, k, 4, 0)) : 0;
  d.width = is_between(kind) ? d.scale * (0.1 + far * weir_random_uniform(7, k, 4, 0)) : 0;
  d.location = d.lower + d.scale * 2 * far * (weir_random_uniform(7, k, 2, 0) - 0.5);
  *y = i % 5 == 0 ? d.lower
       : is_between(kind) && i % 5 == 2
           ? d.lower + d.width * weir_random_uniform(7, k, 5, 0)
           : fmax(d.lower, d.location) + 2 * d.scale * weir_random_normal(7, k, 3, 0);
  return d;
}

/* Values differ in units of the largest distance, derivatives in units of 1. */
static void compare(int kind, weir_dtype dtype, double far, double value, double slope)
{
  trial t;

  start(&t, dtype, N);
  for (int64_t i = 0; i < N; i++) {
    double y;
    const wx_distribution d = draw(i, kind, far, &y);

    put(&t, i, &d, y);
  }
  run(&t, kind);
  for (int64_t i = 0; i < N; i++) {
    const wx_distribution d = own_of(&t, kind, i);
    const double y = get(&t.in[WX_OF_TRUTH], i);
    const wx_crps_slopes is = wx_distribution_crps_slopes(&d, y);
    const double off[3] = {(get(&t.made[0], i) - is.crps) / d.scale, get(&t.made[1], i) - is.m,
                           get(&t.made[2], i) - is.s};
    const double near[3] = {1 + (fabs(y - d.location) + fabs(d.lower - d.location)) / d.scale, 1,
                            1};

    for (int k = 0; k < 3; k++) {
      if (!(fabs(off[k]) / near[k] <= (k == 0 ? value : slope))) {
        printf("kind %d, location %.9g, scale %.9g, bound %.9g, truth %.9g: off by %g %g %g\n",
               kind, d.location, d.scale, d.lower, y, off[0], off[1], off[2]);
        fail();
      }
    }
  }
  end(&t);
}

static void scores_and_slopes_are_those_of_the_distributions(void **state)
{
  for (int f = 0; f < KINDS; f++) {
    compare(f, WEIR_F64, 8, 1e-10, 1e-9);
    compare(f, WEIR_F64, 25, 1e-10, 1e-7);
    compare(f, WEIR_F32, 8, 1e-6, 1e-5);
    compare(f, WEIR_F32, 25, 1e-6, 1e-5);
  }
}

/* In units of the scale. */
static void known_integrals_are_met(int kind, weir_dtype dtype, double tolerance)
{
  enum { CASES = sizeof known_cases / sizeof *known_cases };
  trial t;

  start(&t, dtype, CASES);
  for (int64_t i = 0; i < t.n; i++) {
    put(&t, i, &known_cases[i].d, known_cases[i].y);
  }
  run(&t, kind);
  for (int64_t i = 0; i < t.n; i++) {
    const wx_distribution *const d = &known_cases[i].d;
    const wx_crps_slopes *const is = &known_cases[i].is;
    const double far = 1 + fabs(known_cases[i].y - d->location) / d->scale;

    if (d->family == family_of(kind) && (d->width > 0) == is_between(kind)) {
      assert_near(get(&t.made[0], i) / d->scale, is->crps / d->scale, far * tolerance);
      assert_near(get(&t.made[1], i), is->m, far * tolerance);
      assert_near(get(&t.made[2], i), is->s, far * tolerance);
    }
  }
  end(&t);
}

static void scores_and_slopes_are_those_of_integrals(void **state)
{
  for (int f = 0; f < KINDS; f++) {
    known_integrals_are_met(f, WEIR_F64, 1e-10);
    known_integrals_are_met(f, WEIR_F32, 2e-6);
  }
}

/* The slopes that training follows, by differences of the graph itself. */
static void gradients_are_those_of_differences(void **state)
{
  enum { EACH = 1 + 2 * WX_OF_TRUTH, CASES = N / EACH };
  const double h = 1e-5;

  for (int f = 0; f < KINDS; f++) {
    trial t;

    start(&t, WEIR_F64, EACH * CASES);
    for (int64_t i = 0; i < t.n; i++) {
      const int64_t k = i % EACH; /* which is moved, and in which direction */
      double y;
      wx_distribution d = draw(5 * (i / EACH) + 1, f, 6, &y); /* none exactly at the bound */
      double *const value[] = {&d.location, &d.scale, &d.lower,
                               is_between(f) ? &d.width : &d.shift};

      if (k > 0) {
        *value[(k - 1) / 2] += k % 2 == 0 ? -h : h;
      }
      put(&t, i, &d, y);
    }
    run(&t, f);
    for (int64_t i = 0; i < t.n; i += EACH) {
      for (int by = 0; by < numbers_of(f); by++) {
        const double more = get(&t.made[0], i + 1 + 2 * by), less = get(&t.made[0], i + 2 + 2 * by);

        assert_near(get(&t.made[1 + by], i), (more - less) / (2 * h), 1e-7);
      }
    }
    end(&t);
  }
}

/* Distances of up to 1e15 and scales down to 0: finite, and the distance to where all of the
 * distribution is. */
static void extremes_are_finite(void **state)
{
  static const double distance[] = {0, 1e-20, 1e-6, 1, 300, 1e6, 1e15},
                      scale[] = {0, 1e-30, 1e-3, 1, 1e6};
  enum { D = sizeof distance / sizeof *distance, S = sizeof scale / sizeof *scale };
  static const weir_dtype dtype[] = {WEIR_F32, WEIR_F64};
  trial t;

  for (int f = 0; f < 2 * KINDS; f++) {
    const int kind = f / 2;

    start(&t, dtype[f % 2], 4 * D * D * S);
    for (int64_t i = 0; i < t.n; i++) {
      const double sign[2] = {i % 2 == 0 ? 1 : -1, i / 2 % 2 == 0 ? 1 : -1};
      const wx_distribution d = {family_of(kind),
                                 sign[0] * distance[i / 4 % D],
                                 scale[i / 4 / D / D],
                                 0,
                                 kind == WX_CENSORED_SHIFTED_GAMMA ? 0.1 : 0,
                                 is_between(kind) ? 0.1 : 0};

      put(&t, i, &d, sign[1] * distance[i / 4 / D % D]);
    }
    run(&t, kind);
    for (int64_t i = 0; i < t.n; i++) {
      const wx_distribution d = own_of(&t, kind, i);
      const double y = get(&t.in[WX_OF_TRUTH], i),
                   far = fabs(y) + fabs(d.location) + d.shift + d.width;
      const double is = wx_distribution_crps(&d, y), made = get(&t.made[0], i);

      for (int k = 0; k <= numbers_of(kind); k++) {
        if (!isfinite(get(&t.made[k], i))) {
          printf("kind %d, location %g, scale %g, truth %g: %s is %g\n", kind, d.location, d.scale,
                 y, made_name[k], get(&t.made[k], i));
          fail();
        }
      }
      if (!(fabs(made - is) <= 1e-6 * (far + d.scale))) {
        printf("kind %d, location %g, scale %g, truth %g: %.9g, not %.9g\n", kind, d.location,
               d.scale, y, made, is);
        fail();
      }
    }
    end(&t);
  }
}

static void a_missing_truth_stays_missing(void **state)
{
  trial t;

  for (int f = 0; f < KINDS; f++) {
    start(&t, WEIR_F32, 1);
    put(&t, 0, &(wx_distribution){family_of(f), 1, 1, 0, 1, 0}, NAN);
    run(&t, f);
    assert_true(isnan(get(&t.made[0], 0)));
    end(&t);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scores_and_slopes_are_those_of_the_distributions),
      cmocka_unit_test(scores_and_slopes_are_those_of_integrals),
      cmocka_unit_test(gradients_are_those_of_differences),
      cmocka_unit_test(extremes_are_finite),
      cmocka_unit_test(a_missing_truth_stays_missing),
  };

  return cmocka_run_group_tests(tests, NULL, forget);
}
