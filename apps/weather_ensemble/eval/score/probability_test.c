/* probability_test.c - Brier score and Hersbach's terms add up; ROC of pairs; bins lose nothing. */
#include "eval/score/probability.h"
#include <math.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "eval/score/crps.h"
#include "eval/sort/sort.h"
#include "eval/score/hersbach.h"

enum { M = 8, BINS = M + 1, CASES = 400 };

/* Forecast probabilities k / M with some skill, and the event. */
static void draw(uint64_t seed, uint64_t i, double *p, int *o)
{
  const double chance = weir_random_uniform(seed, 1, 0, i);
  int64_t k = 0;

  for (uint64_t j = 0; j < M; j++) {
    k += weir_random_uniform(seed, 2, (uint32_t)j, i) < chance * chance;
  }
  *p = (double)k / M;
  *o = weir_random_uniform(seed, 3, 0, i) < chance;
}

static void brier_is_the_sum_of_its_terms(void **state)
{
  for (uint64_t seed = 0; seed < 20; seed++) {
    wx_reliability_bin bin[BINS] = {{0}};
    double brier = 0, weight = 0, pairs = 0, n = 0;
    double p[CASES] = {0}, w[CASES] = {0};
    int o[CASES] = {0};

    for (uint64_t i = 0; i < CASES; i++) {
      draw(seed, i, &p[i], &o[i]);
      w[i] = 0.5 + weir_random_uniform(seed, 4, 0, i);
      wx_reliability_take(bin, BINS, p[i], o[i], w[i]);
      brier += w[i] * wx_brier(p[i], o[i]);
      weight += w[i];
    }
    const wx_brier_decomposition b = wx_reliability_decompose(bin, BINS);

    assert_near(b.reliability - b.resolution + b.uncertainty, brier / weight, 1e-12);
    for (int i = 0; i < CASES; i++) { /* the area is the chance to tell two cases apart */
      for (int j = 0; j < CASES; j++) {
        if (o[i] == 1 && o[j] == 0) {
          pairs += w[i] * w[j] * (p[i] > p[j] ? 1 : p[i] == p[j] ? 0.5 : 0);
          n += w[i] * w[j];
        }
      }
    }
    assert_near(wx_reliability_roc(bin, BINS), pairs / n, 1e-12);
    double alarm[BINS + 1], hit[BINS + 1], area = 0;

    wx_reliability_roc_curve(bin, BINS, alarm, hit);
    for (int k = 0; k < BINS; k++) {
      area += (alarm[k + 1] - alarm[k]) * (hit[k] + hit[k + 1]) / 2;
    }
    assert_near(area, pairs / n, 1e-12);
    assert_near(hit[BINS], 1, 1e-12);
    assert_true(hit[0] == 0 && alarm[0] == 0);
  }
}

static void recalibration_rises_and_adds_up(void **state)
{
  for (uint64_t seed = 0; seed < 20; seed++) {
    wx_reliability_bin bin[BINS] = {{0}};
    double recalibrated[BINS], brier = 0;

    for (uint64_t i = 0; i < CASES / 4; i++) {
      double p = 0;
      int o = 0;

      draw(seed, i, &p, &o);
      wx_reliability_take(bin, BINS, p, o, 1);
      brier += wx_brier(p, o) / (CASES / 4);
    }
    const wx_corp c = wx_reliability_corp(bin, BINS, recalibrated);
    double last = 0, sum = 0, seen = 0;

    assert_near(c.miscalibration - c.discrimination + c.uncertainty, brier, 1e-12);
    assert_true(c.miscalibration >= 0 && c.discrimination >= 0);
    for (int k = 0; k < BINS; k++) {
      if (bin[k].weight > 0) {
        assert_true(recalibrated[k] >= last);
        last = recalibrated[k];
        sum += bin[k].weight * recalibrated[k];
        seen += bin[k].observed;
      }
    }
    assert_near(sum, seen, 1e-10);
  }
  /* 0.2 rises to 0.7, which falls to 0.3: those two are pooled. */
  const wx_reliability_bin three[] = {
      {10, 1, 2, 10}, {10, 5, 7, 10}, {0, 0, 0, 0}, {20, 18, 6, 20}};
  double recalibrated[4];
  const wx_corp c = wx_reliability_corp(three, 4, recalibrated);

  assert_near(recalibrated[0], 0.2, 1e-15);
  assert_near(recalibrated[1], 13 / 30.0, 1e-15);
  assert_true(isnan(recalibrated[2]) && recalibrated[3] == recalibrated[1]);
  assert_near(c.uncertainty, 15 / 40.0 * 25 / 40.0, 1e-15);
}

/* Averaged over draws of the members, the fair score is that of their probability. */
static void fair_brier_does_not_depend_on_members(void **state)
{
  const double chance = 0.3;

  for (int64_t m = 2; m < 6; m++) {
    double mean = 0, of = 1;

    for (int64_t k = 0; k <= m; k++) { /* binomial */
      const double p = (double)k / (double)m;

      mean += of * pow(chance, (double)k) * pow(1 - chance, (double)(m - k)) *
              (0.6 * wx_brier_fair(p, 1, m) + 0.4 * wx_brier_fair(p, 0, m));
      of *= (double)(m - k) / (double)(k + 1);
    }
    assert_near(mean, 0.6 * wx_brier(chance, 1) + 0.4 * wx_brier(chance, 0), 1e-13);
  }
  assert_true(isnan(wx_brier_fair(1, 1, 1)));
  assert_true(wx_brier_fair(0.5, 1, 0) == 0.25);
}

static void edges(void **state)
{
  wx_reliability_bin none[3] = {{0}};

  assert_true(isnan(wx_reliability_roc(none, 3)));
  assert_true(isnan(wx_reliability_decompose(none, 3).rate));
  assert_int_equal(wx_reliability_of(1, 11), 10);
  assert_int_equal(wx_reliability_of(0, 11), 0);
  for (int k = 0; k <= 50; k++) {
    assert_int_equal(wx_reliability_of(k / 50.0, 51), k);
  }
}

static void hersbach_parts_add_up_to_the_crps(void **state)
{
  for (uint64_t seed = 0; seed < 20; seed++) {
    double alpha[M + 1] = {0}, beta[M + 1] = {0}, crps = 0, weight = 0;
    wx_hersbach h = {.m = M, .alpha = alpha, .beta = beta};

    for (uint64_t i = 0; i < 100; i++) {
      const double w = 0.1 + weir_random_uniform(seed, 4, 0, i);
      const double y = 2 * weir_random_normal(seed, 1, 0, i);
      double x[M];

      for (uint64_t k = 0; k < M; k++) {
        x[k] = seed % 2 == 0 ? floor(weir_random_normal(seed, 2, (uint32_t)k, i))
                             : weir_random_normal(seed, 2, (uint32_t)k, i);
      }
      wx_sort(x, M);
      wx_hersbach_take(&h, x, y, w);
      const wx_crps_decomposition p = wx_crps_sorted(x, M, y);

      crps += w * wx_crps_empirical(&p);
      weight += w;
    }
    const wx_hersbach_decomposition p = wx_hersbach_get(&h);

    assert_near(p.crps, crps / weight, 1e-12);
    assert_near(p.reliability + p.potential, p.crps, 1e-12);
    assert_true(p.reliability > 0 && p.potential > 0);
  }
  const wx_hersbach none = {.m = 0};

  assert_true(isnan(wx_hersbach_get(&none).crps));
}

/* One member: the CRPS is the distance, and half of the cases should lie on either side. */
static void hersbach_of_one_member(void **state)
{
  double alpha[2] = {0}, beta[2] = {0};
  wx_hersbach h = {.m = 1, .alpha = alpha, .beta = beta};
  const double x[] = {1};

  wx_hersbach_take(&h, x, 3, 1);
  wx_hersbach_take(&h, x, -1, 1);
  assert_near(wx_hersbach_get(&h).crps, 2, 1e-15);
  assert_near(wx_hersbach_get(&h).potential + wx_hersbach_get(&h).reliability, 2, 1e-15);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(brier_is_the_sum_of_its_terms),
      cmocka_unit_test(recalibration_rises_and_adds_up),
      cmocka_unit_test(fair_brier_does_not_depend_on_members),
      cmocka_unit_test(edges),
      cmocka_unit_test(hersbach_parts_add_up_to_the_crps),
      cmocka_unit_test(hersbach_of_one_member),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
