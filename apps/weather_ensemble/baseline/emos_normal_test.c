/* emos_normal_test.c - sums of normal distributions next to those of eval/score/distribution.h,
 * with every instruction set. */
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "baseline/emos_priv.h"
#include "device/weir_parallel.h"
#include "eval/score/distribution.h"

enum { N = 1000 };
static float mean[N], truth[N], variance[N];
static double weight[N];
static const double at[EMOS_UNKNOWNS] = {0.1, 1.05, 0.4, 0.7};

/* Those that this processor runs; returns how many. */
static int all_sets(emos_normal_sums **sets)
{
  int n = 0;

  sets[n++] = emos_normal_sums_plain;
#if defined(__x86_64__)
  if (weir_cpu_get()->avx2 && weir_cpu_get()->fma) {
    sets[n++] = emos_normal_sums_avx2;
  }
  if (weir_cpu_get()->avx512) {
    sets[n++] = emos_normal_sums_avx512;
  }
#endif
  return n;
}

/* The sums of one case by the score of a distribution. */
static void add_by_score(const emos_chunk *c, int64_t i, double *sum)
{
  const double x = ((double)c->mean[i] - c->x0) / c->scale, w = c->weight[i];
  const double y = ((double)c->truth[i] - c->y0) / c->scale;
  const double v = ((double)c->variance[i] - c->v0) / (c->scale * c->scale);
  const double u = c->at[EMOS_C] + c->at[EMOS_D] * v, q = 0.5 / sqrt(u);
  const wx_distribution d = {
      .family = WX_NORMAL, .location = c->at[EMOS_A] + c->at[EMOS_B] * x, .scale = sqrt(u)};
  const wx_crps_slopes s = wx_distribution_crps_slopes(&d, y);
  const double uu = s.ss * q * q - s.s * q * 0.5 / u, ms = s.ms * q, su = s.s * q;
  const double gg = fabs(s.ss) * q * q;
  const double one[EMOS_SUMS] = {1,    1 / w,    s.crps,       s.m, s.m * x,   su,     su * v,
                                 s.mm, s.mm * x, s.mm * x * x, ms,  ms * x,    ms * v, ms * x * v,
                                 uu,   uu * v,   uu * v * v,   gg,  gg * v * v};

  for (int k = 0; k < EMOS_SUMS; k++) {
    sum[k] += w * one[k];
  }
}

static emos_chunk draw(void)
{
  for (uint64_t i = 0; i < N; i++) {
    mean[i] = (float)(280 + 8 * weir_random_normal(3, 1, 0, i));
    variance[i] = (float)(0.2 + 3 * weir_random_uniform(3, 1, 1, i));
    truth[i] = mean[i] + (float)(2 * weir_random_normal(3, 1, 2, i));
    weight[i] = 0.5 + weir_random_uniform(3, 1, 3, i);
  }
  return (emos_chunk){.mean = mean,
                      .truth = truth,
                      .variance = variance,
                      .weight = weight,
                      .n = N,
                      .x0 = 280.3,
                      .y0 = 279.9,
                      .scale = 1.7,
                      .at = at};
}

static void sums_are_those_of_the_scores(void **state)
{
  const emos_chunk c = draw();
  double want[EMOS_SUMS] = {0}, have[EMOS_SUMS], size[EMOS_SUMS] = {0};

  emos_normal_sums_get()(&c, have);
  for (int64_t i = 0; i < N; i++) {
    double one[EMOS_SUMS] = {0};

    add_by_score(&c, i, one);
    for (int k = 0; k < EMOS_SUMS; k++) {
      want[k] += one[k];
      size[k] += fabs(one[k]);
    }
  }
  for (int k = 0; k < EMOS_SUMS; k++) {
    assert_near(have[k] / size[k], want[k] / size[k], 2e-15);
  }
}

/* A case at a time, from the centre to where the density underflows. */
static void every_distance_has_its_score(void **state)
{
  static const double unit[EMOS_UNKNOWNS] = {0, 1, 1, 0};
  const float zero = 0;
  const double one = 1;

  for (int i = -400; i <= 400; i++) {
    const float y = (float)i / 8;
    const emos_chunk c = {.mean = &zero,
                          .truth = &y,
                          .variance = &zero,
                          .weight = &one,
                          .n = 1,
                          .scale = 1,
                          .at = unit};
    double want[EMOS_SUMS] = {0}, have[EMOS_SUMS];

    emos_normal_sums_get()(&c, have);
    add_by_score(&c, 0, want);
    assert_near(have[EMOS_F] / want[EMOS_F], 1, 2e-15);
    assert_near(have[EMOS_F_M], want[EMOS_F_M], 5e-16);
    assert_near(have[EMOS_F_U], want[EMOS_F_U], 5e-14); /* h and z h' nearly cancel */
    if (fabs((double)y) <= 37) {
      assert_near(have[EMOS_F_MM] / want[EMOS_F_MM], 1, 5e-14); /* of e^-684 */
    }
  }
}

static void cases_that_are_not_whole_do_not_count(void **state)
{
  emos_chunk c = draw();
  double want[EMOS_SUMS], have[EMOS_SUMS];

  for (int i = 0; i < 6; i++) {
    weight[10 + 7 * i] = 0;
  }
  emos_normal_sums_get()(&c, want);
  assert_true(want[EMOS_COUNT] == N - 6);
  for (int i = 0; i < 6; i++) {
    weight[10 + 7 * i] = i < 5 ? 1 : -1;
  }
  mean[10] = NAN;
  truth[17] = INFINITY;
  variance[24] = NAN;
  variance[31] = -1;
  truth[38] = NAN;
  emos_normal_sums_get()(&c, have);
  assert_memory_equal(have, want, sizeof want);
  c.n = 0;
  emos_normal_sums_get()(&c, have);
  assert_true(have[EMOS_COUNT] == 0 && have[EMOS_F] == 0);
}

static void every_instruction_set_has_the_same_bits(void **state)
{
  emos_chunk c = draw();
  emos_normal_sums *set[3];
  const int n = all_sets(set);
  double want[EMOS_SUMS], have[EMOS_SUMS];

  for (c.n = N; c.n > N - 130; c.n--) {
    set[0](&c, want);
    for (int k = 1; k < n; k++) {
      set[k](&c, have);
      assert_memory_equal(have, want, sizeof want);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_those_of_the_scores),
      cmocka_unit_test(every_distance_has_its_score),
      cmocka_unit_test(cases_that_are_not_whole_do_not_count),
      cmocka_unit_test(every_instruction_set_has_the_same_bits),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
