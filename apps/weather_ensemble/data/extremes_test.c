/* extremes_test.c - the weights of the EECRPS: by hand, by brute force over windows, depths and
 * tiles; and that the climate is of training initialisation times alone. */
#include "data/extremes.h"
#include <stdlib.h>
#include "support/weather_ensemble/samples_check.h"
#include "eval/climatology.h"
#include "eval/score/efi.h"

enum { TRAIN_INIT_TIMES = 7, VALID_INIT_TIMES = 9 }; /* [0, 7), [7, 9), the rest is of tests */

static scene s;

static int set_up(void **state)
{
  scene_open(&s);
  return 0;
}

static int tear_down(void **state)
{
  scene_close(&s);
  return 0;
}

/* Samples of z500, first `members` members after one, and their split. */
typedef struct fixture {
  wx_data_opts data;
  wx_samples *samples;
  const wx_info *facts;
  int64_t number[WX_SUBSETS][2 * S_INIT_TIMES];
  wx_split split;
} fixture;

static void open_fixture(fixture *p, int depth)
{
  static const char *target[] = {"z500"};

  weir_opts_default(wx_data_options, sizeof p->data, &p->data);
  p->data.target = (weir_string_list){target, 1};
  p->data.first = 1;
  p->data.members = 2;
  p->data.depth = depth;
  assert_ok(wx_samples_open(&p->data, s.of_forecast, s.of_truth, true, &p->samples));
  p->facts = wx_samples_get(p->samples);
  p->split = (wx_split){.left_out = 0};
  for (int64_t i = 0; i < p->facts->n; i++) {
    const int64_t start = p->facts->of_start[i];
    const int subset = start < TRAIN_INIT_TIMES   ? WX_TRAIN
                       : start < VALID_INIT_TIMES ? WX_VALID
                                                  : WX_TEST;

    p->number[subset][p->split.n[subset]++] = i;
  }
  for (int k = 0; k < WX_SUBSETS; k++) {
    p->split.sample[k] = p->number[k];
  }
}

static wx_eecrps_opts with_weight(double weight)
{
  wx_eecrps_opts o;

  weir_opts_default(wx_eecrps_options, sizeof o, &o);
  o.weight = weight;
  return o;
}

static void fit(const wx_eecrps_opts *o, const fixture *p, wx_extremes *x)
{
  assert_ok(wx_extremes_fit(o, s.of_forecast, p->facts, p->facts->first, &p->split, x));
}

static float *at(int64_t start, int64_t lead, int64_t q, int64_t m, int64_t i)
{
  return &s.forecast[(((start * S_LEADS + lead) * S_Q + q) * S_M + m) * S_P + i];
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* |EFI| of z500 by its definition: members 1 and 2 relative to members 1 to 3 of training
 * initialisation times that lie within `window` days (0: all). */
static double index_of(int64_t start, int64_t lead, int64_t i, double window, bool ens10)
{
  double value[TRAIN_INIT_TIMES * 3], below[101];
  float q[101];
  const int64_t steps = ens10 ? 20 : 100;
  int64_t n = 0;

  for (int64_t k = 0; k < TRAIN_INIT_TIMES; k++) {
    for (int64_t m = 1; m < S_M && (window == 0 || llabs(k - start) <= (int64_t)window); m++) {
      value[n++] = (double)*at(k, lead, 0, m, i);
    }
  }
  qsort(value, (size_t)n, sizeof *value, ascending);
  wx_model_climate_quantiles(value, n, steps, q, 1);
  for (int64_t k = 0; k <= steps; k++) {
    below[k] = (((double)*at(start, lead, 0, 1, i) <= (double)q[k]) +
                ((double)*at(start, lead, 0, 2, i) <= (double)q[k])) /
               2.0;
  }
  return fabs(ens10 ? wx_efi_ens10(below, steps) : wx_efi(below, steps));
}

static void the_factor_is_one_without_weight(void **state)
{
  assert_true(wx_eecrps_factor(0, 0.3) == 1 && wx_eecrps_factor(0, NAN) == 1);
  assert_true(wx_eecrps_factor(1, -0.25) == 0.25 && wx_eecrps_factor(1, 0) == 0);
  assert_near(wx_eecrps_factor(0.5, -0.25), 0.625, 1e-15);
  assert_true(isnan(wx_eecrps_factor(1, NAN)));
  wx_eecrps_opts o = with_weight(0);
  wx_extremes x;
  fixture p;

  open_fixture(&p, WX_DEPTH_NONE);
  fit(&o, &p, &x);
  assert_null(x.factor);
  wx_samples_close(&p.samples);
}

/* All members above or below the climate: 1, which the sum of ENS-10 does not reach; one without a
 * value: none. */
static void records_count_whole(void **state)
{
  const int64_t start = TRAIN_INIT_TIMES; /* of the validation */
  float kept[2][3];
  fixture p;

  open_fixture(&p, WX_DEPTH_NONE);
  for (int m = 0; m < 2; m++) {
    for (int i = 0; i < 3; i++) {
      kept[m][i] = *at(start, 1, 0, 1 + m, i);
      *at(start, 1, 0, 1 + m, i) = i == 0 ? 1e6F : i == 1 ? -1e6F : m == 0 ? NAN : 0;
    }
  }
  for (int ens10 = 0; ens10 < 2; ens10++) {
    wx_eecrps_opts o = with_weight(1);
    wx_extremes x;

    o.efi = ens10 ? WX_EFI_ENS10 : WX_EFI_EXACT;
    fit(&o, &p, &x);
    const float *f = x.factor + 2 * start * S_P; /* two leads a start */

    assert_near((double)f[0], ens10 ? 0.791 : 1, ens10 ? 5e-4 : 1e-6);
    assert_near((double)f[1], ens10 ? 0.791 : 1, ens10 ? 5e-4 : 1e-6);
    assert_true(isnan(f[2]));
    wx_extremes_fini(&x);
  }
  for (int m = 0; m < 2; m++) {
    for (int i = 0; i < 3; i++) {
      *at(start, 1, 0, 1 + m, i) = kept[m][i];
    }
  }
  wx_samples_close(&p.samples);
}

/* Leads as samples and as a depth, windows, tiles of one point, both forms. */
static void factors_are_those_of_the_definition(void **state)
{
  for (int round = 0; round < 16; round++) {
    const bool deep = round % 2 == 1, ens10 = round / 8 == 1;
    wx_eecrps_opts o = with_weight(round % 3 == 0 ? 1 : 0.7);
    wx_extremes x;
    fixture p;

    o.window = round / 2 % 2 == 1 ? 2 : 0;
    o.memory = round / 4 % 2 == 1 ? 0 : 1;
    o.efi = ens10 ? WX_EFI_ENS10 : WX_EFI_EXACT;
    open_fixture(&p, deep ? WX_DEPTH_LEAD : WX_DEPTH_NONE);
    fit(&o, &p, &x);
    assert_int_equal(x.n, TRAIN_INIT_TIMES);
    assert_near(x.last - x.first, TRAIN_INIT_TIMES - 1, 1e-12);
    for (int64_t k = 0; k < p.facts->n; k++) {
      const int64_t start = p.facts->of_start[k];

      for (int64_t c = 0; c < p.facts->cells; c++) {
        const int64_t lead = deep ? 1 + c / S_P : p.facts->of_lead[k];
        const float f = x.factor[k * p.facts->cells + c];

        if (start >= VALID_INIT_TIMES) {
          assert_true(isnan(f));
        } else {
          assert_near((double)f,
                      wx_eecrps_factor(o.weight, index_of(start, lead, c % S_P, o.window, ens10)),
                      1e-6);
        }
      }
    }
    wx_extremes_fini(&x);
    wx_samples_close(&p.samples);
  }
}

/* Whatever initialisation times of validation and tests hold, factors of training keep their bits;
 * those of the validation are of its own members and the same climate. */
static void the_climate_knows_training_init_times_alone(void **state)
{
  enum { FROM = VALID_INIT_TIMES * S_LEADS * S_Q * S_M * S_P };
  const wx_eecrps_opts o = with_weight(1);
  wx_extremes before, after;
  fixture p;

  open_fixture(&p, WX_DEPTH_NONE);
  fit(&o, &p, &before);
  const size_t train = (size_t)p.split.n[WX_TRAIN] * S_P * sizeof(float);
  const size_t known = train + (size_t)p.split.n[WX_VALID] * S_P * sizeof(float);

  for (int64_t i = FROM; i < S_INIT_TIMES * S_LEADS * S_Q * S_M * S_P; i++) {
    s.forecast[i] = 1e9F;
  }
  fit(&o, &p, &after);
  assert_memory_equal(before.factor, after.factor, known);
  wx_extremes_fini(&after);
  *at(TRAIN_INIT_TIMES, 1, 0, 1, 0) = 1e9F;
  fit(&o, &p, &after);
  assert_memory_equal(before.factor, after.factor, train);
  assert_memory_not_equal(before.factor, after.factor, known);
  wx_extremes_fini(&after);
  *at(0, 1, 0, 3, 0) = -1e9F; /* a member that the network does not see is of the climate */
  fit(&o, &p, &after);
  assert_memory_not_equal(before.factor, after.factor, train);
  wx_extremes_fini(&after);
  wx_extremes_fini(&before);
  wx_samples_close(&p.samples);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_factor_is_one_without_weight),
      cmocka_unit_test(records_count_whole),
      cmocka_unit_test(factors_are_those_of_the_definition),
      cmocka_unit_test(the_climate_knows_training_init_times_alone),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
