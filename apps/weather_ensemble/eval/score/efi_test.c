/* efi_test.c - the checks of the index, its form in ENS-10, shares of members and tails. */
#include "eval/score/efi.h"
#include <math.h>
#include "base/weir_check.h"
#include "base/weir_random.h"

enum { N = 100 };

static void fill(double power, double *below)
{
  for (int k = 0; k <= N; k++) {
    below[k] = pow((double)k / N, power);
  }
}

static void known_values_of_the_index(void **state)
{
  double below[N + 1] = {0};

  assert_near(wx_efi(below, N), 1, 1e-14);
  fill(0, below);
  assert_near(wx_efi(below, N), -1, 1e-14);
  fill(1, below);
  assert_near(wx_efi(below, N), 0, 1e-14);
  fill(2, below); /* 0.25 but for the straight lines between 101 points */
  assert_near(wx_efi(below, N), 0.24997, 5e-6);
  const double half[] = {0, 0, 1};
  assert_near(wx_efi(half, 2), 1 - 2 / acos(-1), 1e-15); /* exact of any number of points */
}

static void weights_give_the_same_index(void **state)
{
  double weight[N + 2], below[N + 1];

  wx_efi_weights(N, weight);
  for (uint64_t seed = 0; seed < 50; seed++) {
    for (int k = 0; k <= N; k++) {
      below[k] = weir_random_uniform(seed, 1, 0, (uint64_t)k);
    }
    assert_near(wx_efi_weighted(below, N, weight), wx_efi(below, N), 1e-13);
  }
}

static void the_form_of_ens10_saturates(void **state)
{
  double below[21] = {0};

  assert_near(wx_efi_ens10(below, 20), 0.791, 5e-4);
  for (int k = 0; k <= 20; k++) {
    below[k] = 1;
  }
  assert_near(wx_efi_ens10(below, 20), -0.791, 5e-4);
}

static void shares_count_members_at_the_quantile(void **state)
{
  const double climate[] = {0, 1, 2, 3, 4}, x[] = {1, 1, 2.5, 9};
  double below[5];
  float quantile[10];

  wx_efi_shares(x, 4, climate, 4, below);
  assert_true(below[0] == 0 && below[1] == 0.5 && below[2] == 0.5 && below[3] == 0.75 &&
              below[4] == 0.75);
  const double values[] = {0, 10, 20};

  wx_model_climate_quantiles(values, 3, 4, quantile, 2);
  for (int k = 0; k < 5; k++) {
    assert_near(quantile[2 * k], 5.0 * k, 1e-6);
  }
  wx_model_climate_quantiles(values, 1, 4, quantile, 1);
  assert_true(quantile[0] == 0 && quantile[4] == 0);
  wx_model_climate_quantiles(values, 0, 4, quantile, 1);
  assert_true(isnan(quantile[0]) && isnan(quantile[4]));
}

static void tails_shift(void **state)
{
  const double x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, same[] = {5, 5};

  assert_near(wx_sot(x, 11, 7, 8, 1), 1, 1e-12);
  assert_near(wx_sot(x, 11, 3, 2, 0), 1, 1e-12);
  assert_true(wx_sot(x, 11, 1, 1.001, 1) == 10);
  assert_true(isnan(wx_sot(same, 2, 1, 1, 1)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_values_of_the_index),
      cmocka_unit_test(weights_give_the_same_index),
      cmocka_unit_test(the_form_of_ens10_saturates),
      cmocka_unit_test(shares_count_members_at_the_quantile),
      cmocka_unit_test(tails_shift),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
