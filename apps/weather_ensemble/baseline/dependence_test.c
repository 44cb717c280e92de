/* dependence_test.c - members with the order of the raw ones and the distribution that was given.
 */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "baseline/dependence.h"
#include "eval/score/normal.h"

enum { M = 7, N = 50 };
static const wx_dependence_opts ecc = {.kind = WX_DEPENDENCE_ECC,
                                       .levels = WX_DEPENDENCE_EQUIDISTANT},
                                middle = {.kind = WX_DEPENDENCE_ECC, .levels = WX_DEPENDENCE_HAZEN},
                                member = {.kind = WX_DEPENDENCE_MEMBER};

typedef struct field {
  float raw[M][N], out[M][N], mu[N], sigma[N];
} field;

static void draw(field *f)
{
  for (int i = 0; i < N; i++) {
    f->mu[i] = (float)(10 + i);
    f->sigma[i] = (float)(0.5 + 0.1 * i);
    for (int m = 0; m < M; m++) {
      f->raw[m][i] = (float)weir_random_normal(1, 0, (uint32_t)m, (uint64_t)i);
    }
  }
}

static wx_dependence_start start_of(const field *f, uint32_t start)
{
  return (wx_dependence_start){.members = M,
                               .n = N,
                               .raw = f->raw[0],
                               .mu = f->mu,
                               .sigma = f->sigma,
                               .seed = 1,
                               .start = start};
}

static void run(const wx_dependence_opts *o, field *f)
{
  const wx_dependence_start s = start_of(f, 2);

  assert_ok(wx_dependence(o, &s, f->out[0]));
}

static void order_of_members_is_kept(void **state)
{
  const wx_dependence_opts *const each[] = {&ecc, &middle, &member};
  field f;

  draw(&f);
  for (int k = 0; k < 3; k++) {
    run(each[k], &f);
    for (int i = 0; i < N; i++) {
      for (int m = 1; m < M; m++) {
        assert_true((f.raw[m][i] > f.raw[0][i]) == (f.out[m][i] > f.out[0][i]));
      }
    }
  }
}

static void quantiles_are_those_of_the_distribution(void **state)
{
  field f;

  draw(&f);
  for (int k = 0; k < 2; k++) {
    run(k == 0 ? &ecc : &middle, &f);
    for (int i = 0; i < N; i++) {
      double sum = 0;

      for (int m = 0; m < M; m++) {
        int below = 0;

        for (int j = 0; j < M; j++) {
          below += f.raw[j][i] < f.raw[m][i];
        }
        const double p = k == 0 ? (below + 1.0) / (M + 1) : (below + 0.5) / M;

        assert_near((double)f.out[m][i],
                    (double)f.mu[i] + (double)f.sigma[i] * wx_normal_quantile(p), 1e-6);
        sum += (double)f.out[m][i];
      }
      assert_near(sum / M, (double)f.mu[i], 1e-6);
    }
  }
}

static void quantiles_of_other_families_keep_the_order(void **state)
{
  field f;

  draw(&f);
  for (int of = 0; of < 2 * WX_FAMILIES; of++) { /* without and with an upper bound */
    const wx_family family = (wx_family)(of / 2);
    wx_dependence_start s = start_of(&f, 2);

    if (of % 2 == 1 && !wx_family_has_upper(family)) {
      continue;
    }
    s.family = family;
    s.lower = family == WX_LOG_NORMAL ? 9 : 12; /* below the mean */
    s.shift = family == WX_CENSORED_SHIFTED_GAMMA ? 3 : 0;
    s.width = of % 2 == 1 ? 20 : 0;
    assert_ok(wx_dependence(&ecc, &s, f.out[0]));
    for (int i = 0; i < N; i++) {
      const wx_distribution d = {s.family, (double)f.mu[i], (double)f.sigma[i],
                                 s.lower,  s.shift,         s.width};

      for (int m = 0; m < M; m++) {
        int rank = 1;

        for (int k = 0; k < M; k++) {
          rank += f.raw[k][i] < f.raw[m][i];
        }
        assert_near((double)f.out[m][i], wx_distribution_quantile(&d, rank / (M + 1.0)), 1e-5);
      }
    }
  }
}

static void moved_members_have_mean_and_spread(void **state)
{
  field f;

  draw(&f);
  run(&member, &f);
  for (int i = 0; i < N; i++) {
    double sum = 0, squares = 0;

    for (int m = 0; m < M; m++) {
      sum += (double)f.out[m][i] / M;
    }
    for (int m = 0; m < M; m++) {
      squares += pow((double)f.out[m][i] - sum, 2) / (M - 1);
    }
    assert_near(sum, (double)f.mu[i], 1e-6);
    assert_near(sqrt(squares), (double)f.sigma[i], 1e-5);
  }
}

/* All equal: one random order, the same at all points; another start has another. */
static void ties_are_of_the_start(void **state)
{
  field f, g;
  int differ = 0;

  draw(&f);
  memset(f.raw, 0, sizeof f.raw);
  run(&ecc, &f);
  for (int i = 1; i < N; i++) {
    for (int m = 0; m < M; m++) {
      assert_near((double)((f.out[m][i] - f.mu[i]) / f.sigma[i]),
                  (double)((f.out[m][0] - f.mu[0]) / f.sigma[0]), 1e-4);
    }
  }
  g = f;
  for (uint32_t start = 3; start < 8; start++) {
    const wx_dependence_start s = start_of(&f, start);

    assert_ok(wx_dependence(&ecc, &s, g.out[0]));
    differ += memcmp(f.out, g.out, sizeof f.out) != 0;
  }
  assert_true(differ >= 4);
  run(&member, &f); /* no direction: the mean */
  assert_true(f.out[3][4] == f.mu[4]);
}

static void missing_members_stay_missing(void **state)
{
  const wx_dependence_opts *const each[] = {&ecc, &member};
  field f;

  for (int k = 0; k < 2; k++) {
    draw(&f);
    f.raw[2][0] = NAN;
    f.mu[2] = NAN;
    for (int m = 0; m < M; m++) {
      f.raw[m][1] = NAN;
    }
    run(each[k], &f);
    double sum = 0;

    for (int m = 0; m < M; m++) {
      assert_true(isnan(f.out[m][0]) == (m == 2));
      assert_true(isnan(f.out[m][1]) && isnan(f.out[m][2]) && !isnan(f.out[m][3]));
      sum += m == 2 ? 0 : (double)f.out[m][0];
    }
    assert_near(sum / (M - 1), (double)f.mu[0], 1e-6);
    f.raw[2][0] = 0;
    const wx_dependence_start s = start_of(&f, 2);

    assert_ok(wx_dependence(each[k], &s, f.raw[0])); /* in place */
    assert_true(isfinite(f.raw[2][0]) && f.raw[1][3] == f.out[1][3]);
  }
}

static weir_status make(void *context)
{
  field f;

  draw(&f);
  const wx_dependence_start s = start_of(&f, 2);

  return wx_dependence(&ecc, &s, f.out[0]);
}

static void lack_of_memory_is_told(void **state)
{
  assert_true(weir_check_faults(make, NULL) == 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_of_members_is_kept),
      cmocka_unit_test(quantiles_are_those_of_the_distribution),
      cmocka_unit_test(quantiles_of_other_families_keep_the_order),
      cmocka_unit_test(moved_members_have_mean_and_spread),
      cmocka_unit_test(ties_are_of_the_start),
      cmocka_unit_test(missing_members_stay_missing),
      cmocka_unit_test(lack_of_memory_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
