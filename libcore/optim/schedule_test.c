/* schedule_test.c - shapes at positions known by hand; warm-up, ends and order for every shape. */
#include "optim/weir_schedule.h"

#include <math.h>
#include <string.h>

#include "base/weir_check.h"

enum { CONSTANT, STEP, EXPONENTIAL, COSINE, POLYNOMIAL, SHAPES, MLPERF = WEIR_SCHEDULE_MLPERF };

static weir_schedule_cfg shaped(int shape)
{
  weir_schedule_cfg c;

  weir_opts_default(weir_schedule_opts, sizeof c, &c);
  c.shape = shape;
  c.lr = 0.4;
  c.every = 25;
  return c;
}

static double rate(const weir_schedule_cfg *c, int64_t step, int64_t steps, int64_t per_epoch)
{
  return weir_schedule_lr(c, &(weir_schedule_run){steps, per_epoch, 8}, step);
}

static weir_status check(const weir_schedule_cfg *c, int64_t steps, int64_t per_epoch)
{
  return weir_schedule_check(c, &(weir_schedule_run){steps, per_epoch, 8});
}

static void places_known_by_hand(void **state)
{
  weir_schedule_cfg c = shaped(CONSTANT);

  assert_near(rate(&c, 1, 100, 1), 0.4, 0);
  assert_near(rate(&c, 100, 100, 1), 0.4, 0);
  c = shaped(STEP);
  assert_near(rate(&c, 25, 100, 1), 0.4, 0);
  assert_near(rate(&c, 26, 100, 1), 0.04, 1e-15);
  assert_near(rate(&c, 51, 100, 1), 0.004, 1e-15);
  c = shaped(EXPONENTIAL);
  assert_near(rate(&c, 50, 100, 1), 0.004, 1e-15);
  c = shaped(COSINE);
  c.lr_min = 0.1;
  assert_near(rate(&c, 25, 100, 1), 0.1 + 0.3 * (0.5 + 0.5 * sqrt(0.5)), 1e-15);
  assert_near(rate(&c, 50, 100, 1), 0.25, 1e-15);
  c = shaped(POLYNOMIAL);
  c.power = 2;
  assert_near(rate(&c, 50, 100, 1), 0.1, 1e-15);
}

static void changes_lie_where_they_are_told(void **state)
{
  double at[] = {2, 5};
  weir_schedule_cfg c = shaped(STEP);

  c.unit = 1; /* epochs of 10 steps */
  c.at = (weir_real_list){at, 2};
  c.factor = 0.5;
  assert_near(rate(&c, 20, 100, 10), 0.4, 0);
  assert_near(rate(&c, 21, 100, 10), 0.2, 0);
  assert_near(rate(&c, 50, 100, 10), 0.2, 0);
  assert_near(rate(&c, 51, 100, 10), 0.1, 0);
  double factors[] = {0.75, 0.5};

  c.factors = (weir_real_list){factors, 2};
  assert_near(rate(&c, 20, 100, 10), 0.4, 0);
  assert_near(rate(&c, 21, 100, 10), 0.3, 1e-16);
  assert_near(rate(&c, 51, 100, 10), 0.2, 0);
}

/* The reference's settings of mlcommons/hpc, epoch by epoch: base 0.001 for 64 samples, here 256.
 */
static void mlperf_is_the_rule_of_the_benchmark(void **state)
{
  double at[] = {32, 64}, factors[] = {0.25, 0.125};
  const weir_schedule_run run = {128 * 10, 10, 256};
  weir_schedule_cfg c = shaped(MLPERF);

  c.lr = 0.001;
  c.unit = 1;
  c.warmup = 4;
  c.at = (weir_real_list){at, 2};
  c.factors = (weir_real_list){factors, 2};
  c.scale = 1;
  assert_ok(weir_schedule_check(&c, &run));
  for (int64_t s = 1; s <= run.steps; s++) {
    const int64_t e = (s - 1) / 10;
    const double wanted = e < 4    ? 0.001 + (double)e * 0.003 / 4
                          : e < 33 ? 0.004
                          : e < 65 ? 0.001
                                   : 0.0005;

    assert_near(weir_schedule_lr(&c, &run, s), wanted, 1e-18);
  }
  c.scale = 2; /* of 32: sqrt(256 / 32) */
  c.batch = 32;
  assert_near(weir_schedule_peak(&c, &run), 0.001 * sqrt(8), 1e-18);
  assert_near(weir_schedule_lr(&c, &run, 41), 0.001 * sqrt(8), 1e-18);
  c.factors.count = 0; /* powers of factor */
  c.factor = 0.5;
  assert_near(weir_schedule_lr(&c, &run, 1280), 0.00025 * sqrt(8), 1e-18);
  c.scale = 0;
  c.warmup = 0;
  assert_near(weir_schedule_lr(&c, &run, 1), 0.001, 0);
  /* A run that is shorter than its warm-up has its first rates. */
  c.warmup = 4;
  c.scale = 1;
  c.batch = 64;
  assert_ok(weir_schedule_check(&c, &(weir_schedule_run){20, 10, 256}));
  assert_near(weir_schedule_lr(&c, &(weir_schedule_run){20, 10, 256}, 20), 0.00175, 1e-18);
}

static void all_shapes_are_scaled(void **state)
{
  for (int shape = 0; shape < SHAPES; shape++) {
    weir_schedule_cfg c = shaped(shape), more = c;
    const weir_schedule_run run = {100, 10, 32};

    more.scale = 1;
    more.batch = 8;
    more.warmup = c.warmup = 10;
    for (int64_t s = 1; s <= 100; s++) {
      assert_near(weir_schedule_lr(&more, &run, s), 4 * weir_schedule_lr(&c, &run, s), 1e-15);
    }
  }
}

/* From its start the rate rises in equal steps to the full one, and continues from there. */
static void warm_up_is_linear_and_continuous(void **state)
{
  for (int shape = 0; shape < SHAPES; shape++) {
    weir_schedule_cfg c = shaped(shape);

    c.warmup = 20;
    c.warmup_start = 0.1;
    assert_near(rate(&c, 1, 100000, 1), 0.4 * (0.1 + 0.9 / 20), 1e-15);
    for (int64_t s = 2; s <= 20; s++) {
      const double rise = rate(&c, s, 100000, 1) - rate(&c, s - 1, 100000, 1);

      assert_near(rise, 0.4 * 0.9 / 20, 1e-14);
    }
    assert_near(rate(&c, 20, 100000, 1), 0.4, 1e-15);
    c.every = 1e6;
    assert_near(rate(&c, 21, 100000, 1), 0.4, 1e-4);
  }
}

static void rates_never_rise_after_warm_up(void **state)
{
  for (int shape = 0; shape < SHAPES; shape++) {
    weir_schedule_cfg c = shaped(shape);

    c.lr_min = 0.05;
    c.warmup = 30;
    for (int64_t s = 31; s <= 200; s++) {
      const double before = rate(&c, s - 1, 200, 1), now = rate(&c, s, 200, 1);

      assert_true(now <= before);
      assert_true(now >= 0.05);
      assert_true(shape == CONSTANT || shape == STEP || before == 0.05 || now < before);
    }
  }
}

static void the_last_step_has_the_least_rate(void **state)
{
  for (int shape = STEP; shape < SHAPES; shape++) {
    weir_schedule_cfg c = shaped(shape);

    c.lr_min = 0.0625;
    assert_near(rate(&c, 200, 200, 1), 0.0625, 0);
    assert_near(rate(&c, 1000, 200, 1), 0.0625, 0);
  }
}

static void epochs_are_their_steps(void **state)
{
  for (int shape = 0; shape < SHAPES; shape++) {
    weir_schedule_cfg steps = shaped(shape), epochs = shaped(shape);

    steps.warmup = 24;
    steps.every = 16;
    epochs.unit = 1;
    epochs.warmup = 3;
    epochs.every = 2;
    for (int64_t s = 1; s <= 160; s++) {
      assert_near(rate(&epochs, s, 160, 8), rate(&steps, s, 160, 8), 0);
    }
  }
}

/* A run that is all warm-up, and one of a single step. */
static void short_runs_have_rates(void **state)
{
  for (int shape = 0; shape < SHAPES; shape++) {
    weir_schedule_cfg c = shaped(shape);

    assert_true(isfinite(rate(&c, 1, 1, 1)));
    c.warmup = 10;
    assert_ok(check(&c, 10, 1));
    for (int64_t s = 1; s < 10; s++) {
      assert_near(rate(&c, s, 10, 1), 0.04 * (double)s, 1e-15);
    }
    assert_true(isfinite(rate(&c, 10, 10, 1)));
  }
}

static void expect_refusal(const weir_schedule_cfg *c, const char *message)
{
  assert_int_equal(check(c, 100, 0), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), message));
}

static void what_does_not_fit_is_refused_by_name(void **state)
{
  double crossed[] = {5, 5};
  weir_schedule_cfg c = shaped(COSINE);

  assert_int_equal(weir_opts_incomplete(weir_schedule_opts), 0);
  assert_ok(check(&c, 100, 0));
  c.lr_min = 0.5;
  expect_refusal(&c, "lr_min, 0.5, is above lr, 0.4");
  c = shaped(COSINE);
  c.warmup = 101;
  expect_refusal(&c, "warmup: 101 steps exceed the run of 100");
  c = shaped(COSINE);
  c.unit = 1;
  expect_refusal(&c, "unit: an epoch of 0 steps");
  c = shaped(STEP);
  c.every = 0;
  expect_refusal(&c, "every is 0");
  c.at = (weir_real_list){crossed, 2};
  expect_refusal(&c, "at: 5 follows 5");
  c.at.count = 1;
  assert_ok(check(&c, 100, 0));
  c.factors = (weir_real_list){crossed, 2};
  expect_refusal(&c, "factors has 2 entries and at has 1");
  c = shaped(EXPONENTIAL);
  c.every = 0;
  expect_refusal(&c, "every is 0");
  c = shaped(MLPERF);
  expect_refusal(&c, "unit: mlperf");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_known_by_hand),
      cmocka_unit_test(changes_lie_where_they_are_told),
      cmocka_unit_test(mlperf_is_the_rule_of_the_benchmark),
      cmocka_unit_test(all_shapes_are_scaled),
      cmocka_unit_test(warm_up_is_linear_and_continuous),
      cmocka_unit_test(rates_never_rise_after_warm_up),
      cmocka_unit_test(the_last_step_has_the_least_rate),
      cmocka_unit_test(epochs_are_their_steps),
      cmocka_unit_test(short_runs_have_rates),
      cmocka_unit_test(what_does_not_fit_is_refused_by_name),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
