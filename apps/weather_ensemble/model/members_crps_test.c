/* members_crps_test.c - the CRPS of members as a graph: values of scoringrules 0.10.0
 * (crps_ensemble, estimators nrg and fair), of eval/score/crps.h, and derivatives by differences.
 */
#include "model/members_crps.h"
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "eval/score/crps.h"
#include "eval/sort/sort.h"
#include "exec/weir_plan.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/elementwise/weir_elementwise.h"
#include "pass/autodiff/weir_gradients.h"

enum { MAX_M = 9 };

/* members [n, m, 2, cells], truth and crps [n, 2, cells]. */
enum { MEMBERS, TRUTH, CRPS, SLOPE, ARRAYS };
static const char *const name[ARRAYS] = {"members", "truth", "crps", "slope"};
typedef struct trial {
  int64_t n, m, cells;
  weir_tensor t[ARRAYS];
} trial;

static void start(trial *t, weir_dtype dtype, int64_t n, int64_t m, int64_t cells)
{
  *t = (trial){.n = n, .m = m, .cells = cells};
  for (int k = 0; k < ARRAYS; k++) {
    const bool each = k == MEMBERS || k == SLOPE;
    const int64_t shape[] = {n, each ? m : 2, each ? 2 : cells, cells};

    assert_ok(weir_tensor_init(&t->t[k], dtype, each ? 4 : 3, shape));
  }
}

static void end(trial *t)
{
  for (int k = 0; k < ARRAYS; k++) {
    weir_tensor_fini(&t->t[k]);
  }
}

static double get(const trial *t, int k, int64_t i)
{
  return weir_dtype_load_real(t->t[k].dtype, t->t[k].data, i);
}

static void put(trial *t, int k, int64_t i, double value)
{
  weir_dtype_store_real(t->t[k].dtype, t->t[k].data, i, value);
}

/* Where member j of case i (of n * 2 * cells) is. */
static int64_t at(const trial *t, int64_t i, int64_t j)
{
  const int64_t each = 2 * t->cells;

  return i / each * t->m * each + j * each + i % each;
}

static int64_t cases(const trial *t)
{
  return t->n * 2 * t->cells;
}

static void run(trial *t, double alpha)
{
  weir_value in[2];
  weir_value slope = WEIR_NO_VALUE;
  weir_binding b[ARRAYS];
  weir_graph *g = NULL;
  weir_plan *plan = NULL;
  weir_exec_cfg cfg;

  assert_ok(weir_graph_create(&g));
  for (int k = 0; k < ARRAYS; k++) {
    weir_array_desc d = {.dtype = t->t[k].dtype, .rank = t->t[k].rank};

    memcpy(d.shape, t->t[k].shape, sizeof *d.shape * (size_t)d.rank);
    b[k] = (weir_binding){name[k], &t->t[k]};
    if (k <= TRUTH) {
      in[k] = weir_input(g, name[k], &d);
    }
  }
  const weir_value crps = wx_members_crps(g, alpha, in[MEMBERS], in[TRUTH]);

  assert_ok(weir_graph_status(g));
  assert_ok(weir_gradients(g, weir_sum(g, crps, -1), in, 1, &slope));
  weir_output(g, name[CRPS], weir_scale(g, crps, 1));
  weir_output(g, name[SLOPE], weir_scale(g, slope, 1));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &plan));
  assert_ok(weir_plan_run(plan, b, ARRAYS));
  weir_plan_destroy(&plan);
  weir_graph_destroy(&g);
}

static const struct known {
  int64_t m;
  double x[8], y, kernel, fair;
} known[] = {
    {1, {0.831}, -0.005, 0.836, NAN},
    {1, {4950.3}, 4997.723, 47.42299999999977, NAN},
    {2, {0.328, 1.691}, 1.043, 0.34075, 0},
    {2, {4949.6, 5364.4}, 5001.944, 103.6999999999998, 0},
    {3, {-0.042, 0.067, 1.738}, -0.255, 0.4471111111111111, 0.2493333333333333},
    {3, {5063.7, 5213.0, 5208.5}, 4999.47, 129.0855555555552, 112.4966666666663},
    {5, {-0.383, -0.524, 0.279, -0.524, -0.283}, 0.775, 0.9142399999999998, 0.8772999999999997},
    {5, {5037.4, 5032.0, 4734.7, 4822.3, 4925.7}, 5000.36, 52.20399999999994, 35.90199999999994},
    {8,
     {-0.999, 2.639, 0.521, 0.686, 0.48, 1.039, 1.686, -0.526},
     0.521,
     0.2222500000000001,
     0.1366071428571429},
    {8,
     {4913.1, 5107.6, 4999.1, 5005.0, 5130.5, 5060.3, 5271.1, 4953.8},
     5000.516,
     29.52256250000011,
     21.10671428571439},
};
enum { KNOWN = sizeof known / sizeof *known };

static void scores_are_those_of_scoringrules(void **state)
{
  static const double alpha[] = {0, 0.95, 1};

  for (int k = 0; k < KNOWN; k++) {
    const struct known *const is = &known[k];

    for (int a = 0; a < (is->m > 1 ? 3 : 1); a++) {
      const double mixed =
          is->m > 1 ? alpha[a] * is->fair + (1 - alpha[a]) * is->kernel : is->kernel;
      trial t;

      start(&t, WEIR_F64, 1, is->m, 1);
      for (int64_t i = 0; i < cases(&t); i++) {
        for (int64_t j = 0; j < t.m; j++) {
          put(&t, MEMBERS, at(&t, i, j), is->x[j]);
        }
        put(&t, TRUTH, i, is->y);
      }
      run(&t, alpha[a]);
      assert_near(get(&t, CRPS, 0), mixed, 1e-10);
      assert_near(get(&t, CRPS, 1), mixed, 1e-10);
      end(&t);
    }
  }
}

static void draw(trial *t, double base)
{
  for (int64_t i = 0; i < cases(t); i++) {
    put(t, TRUTH, i, base + 2 * weir_random_normal(3, (uint32_t)i, 0, 0));
    for (int64_t j = 0; j < t->m; j++) {
      put(t, MEMBERS, at(t, i, j), base + weir_random_normal(3, (uint32_t)i, 1, (uint32_t)j));
    }
  }
}

/* Every number of members, batches and odd extents: the scores that eval computes. */
static void compare(weir_dtype dtype, double base, double tolerance)
{
  double x[MAX_M];

  for (int64_t m = 1; m <= MAX_M; m++) {
    for (double alpha = 0; alpha <= (m > 1 ? 1 : 0); alpha += 0.5) {
      trial t;

      start(&t, dtype, 3, m, 5);
      draw(&t, base);
      run(&t, alpha);
      for (int64_t i = 0; i < cases(&t); i++) {
        for (int64_t j = 0; j < m; j++) {
          x[j] = get(&t, MEMBERS, at(&t, i, j));
        }
        wx_sort(x, m);
        const wx_crps_decomposition p = wx_crps_sorted(x, m, get(&t, TRUTH, i));

        assert_near(get(&t, CRPS, i),
                    m > 1 ? wx_crps_almost_fair(&p, alpha) : wx_crps_empirical(&p), tolerance);
      }
      end(&t);
    }
  }
}

static void scores_are_those_of_eval(void **state)
{
  compare(WEIR_F64, 0, 1e-13);
  compare(WEIR_F64, 5e4, 1e-10);
  compare(WEIR_F32, 0, 2e-6);
  compare(WEIR_F32, 1000, 2e-6); /* differences of members near 1000 are exact in f32 */
}

/* Batch 0 as drawn; 1 + 2 j and 2 + 2 j with member j moved up and down. */
static void gradients_are_those_of_differences(void **state)
{
  enum { CASES = 40 };
  const double h = 1e-6;

  for (int64_t m = 1; m <= MAX_M; m++) {
    trial t;

    start(&t, WEIR_F64, 1 + 2 * m, m, CASES / 2);
    for (int64_t i = 0; i < cases(&t); i++) {
      const int64_t own = i % CASES, moved = i / CASES - 1;

      put(&t, TRUTH, i, 2 * weir_random_normal(3, (uint32_t)own, 0, 0));
      for (int64_t j = 0; j < m; j++) {
        const double by = moved < 0 || moved / 2 != j ? 0 : moved % 2 == 0 ? h : -h;

        put(&t, MEMBERS, at(&t, i, j), by + weir_random_normal(3, (uint32_t)own, 1, (uint32_t)j));
      }
    }
    run(&t, m > 1 ? 0.95 : 0);
    for (int64_t i = 0; i < CASES; i++) {
      for (int64_t j = 0; j < m; j++) {
        const double up = get(&t, CRPS, i + (1 + 2 * j) * CASES);
        const double down = get(&t, CRPS, i + (2 + 2 * j) * CASES);

        assert_near(get(&t, SLOPE, at(&t, i, j)), (up - down) / (2 * h), 1e-8);
      }
    }
    end(&t);
  }
}

/* Two members about the truth: the fair score is 0 however far they are apart, and nothing holds
 * them; below alpha 1 something does. Equal members do not move apart by themselves. */
static void two_members_and_equal_ones(void **state)
{
  trial t;

  start(&t, WEIR_F64, 1, 2, 1);
  put(&t, MEMBERS, 0, -100);
  put(&t, MEMBERS, 2, 1);
  put(&t, MEMBERS, 1, 2);
  put(&t, MEMBERS, 3, 2);
  put(&t, TRUTH, 1, 5);
  run(&t, 1);
  assert_near(get(&t, CRPS, 0), 0, 0);
  assert_near(get(&t, SLOPE, 0), 0, 0);
  assert_near(get(&t, CRPS, 1), 3, 1e-15);
  assert_near(get(&t, SLOPE, 1), -0.5, 1e-15);
  assert_near(get(&t, SLOPE, 3), -0.5, 1e-15);
  run(&t, 0.95);
  assert_near(get(&t, SLOPE, 0), -0.025 / 2, 1e-12);
  assert_near(get(&t, SLOPE, 2), 0.025 / 2, 1e-12);
  end(&t);
}

/* Normal members of sd 0.5 about the mean of a truth of sd 1, stretched about their own mean to the
 * spread that is calibrated, (1 + 1 / m) spread^2 = mean square of truth less their mean: the mean
 * kernel CRPS has its minimum there, and the fair one asks for more spread (arXiv:2602.15830). */
static void stretched_members_need_the_kernel_score(void **state)
{
  enum { N = 16000 };

  for (int64_t m = 2; m <= 5; m += 3) {
    const double sd = 0.5, n = (double)m;
    const double spread = sqrt((1 + sd * sd / n) / (1 + 1 / n)), f = spread / sd;

    for (int alpha = 0; alpha < 2; alpha++) {
      double sum = 0, squares = 0;
      trial t;

      start(&t, WEIR_F64, 1, m, N / 2);
      for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < N; i++) {
          double x[MAX_M], mean = 0, slope = 0;

          for (int64_t j = 0; j < m; j++) {
            x[j] = sd * weir_random_normal(9, (uint32_t)i, 1, (uint32_t)j);
            mean += x[j] / n;
          }
          for (int64_t j = 0; j < m; j++) {
            put(&t, MEMBERS, at(&t, i, j), mean + f * (x[j] - mean));
            slope += get(&t, SLOPE, at(&t, i, j)) * (x[j] - mean);
          }
          put(&t, TRUTH, i, weir_random_normal(9, (uint32_t)i, 0, 0));
          sum += pass == 1 ? slope : 0;
          squares += pass == 1 ? slope * slope : 0;
        }
        if (pass == 0) {
          run(&t, alpha);
        }
      }
      const double by_stretch = sum / N, error = sqrt(squares) / N;

      assert_true(alpha == 0 ? fabs(by_stretch) < 3 * error : by_stretch < -10 * error);
      end(&t);
    }
  }
}

static void a_missing_value_stays_missing(void **state)
{
  trial t;

  start(&t, WEIR_F32, 1, 3, 2);
  draw(&t, 0);
  put(&t, TRUTH, 0, NAN);
  put(&t, MEMBERS, at(&t, 1, 2), NAN);
  run(&t, 0.95);
  assert_true(isnan(get(&t, CRPS, 0)) && isnan(get(&t, CRPS, 1)));
  assert_true(isfinite(get(&t, CRPS, 2)) && isfinite(get(&t, CRPS, 3)));
  end(&t);
}

static void what_has_no_score_is_refused(void **state)
{
  static const struct {
    int64_t n, m, cells;
    double alpha;
  } bad[] = {{2, 1, 3, 0.5}, {2, 0, 3, 0}, {1, 4, 3, 1}, {2, 4, 2, 1}};

  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    weir_graph *g = NULL;

    assert_ok(weir_graph_create(&g));
    const weir_value x =
        weir_input(g, "x",
                   &(weir_array_desc){
                       .dtype = WEIR_F64, .rank = 3, .shape = {bad[k].n, bad[k].m, bad[k].cells}});
    const weir_value y =
        weir_input(g, "y", &(weir_array_desc){.dtype = WEIR_F64, .rank = 2, .shape = {2, 3}});

    assert_true(wx_members_crps(g, bad[k].alpha, x, y).node < 0);
    assert_int_equal(weir_graph_status(g), WEIR_ERR_SHAPE);
    weir_graph_destroy(&g);
    weir_clear_failure();
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scores_are_those_of_scoringrules),
      cmocka_unit_test(scores_are_those_of_eval),
      cmocka_unit_test(gradients_are_those_of_differences),
      cmocka_unit_test(two_members_and_equal_ones),
      cmocka_unit_test(stretched_members_need_the_kernel_score),
      cmocka_unit_test(a_missing_value_stays_missing),
      cmocka_unit_test(what_has_no_score_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
