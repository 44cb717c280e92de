/* clock_test.c - the clock of a device that drifts, steps, misses marks and invents some. */
#include "support/physio_stream/step_check.h"
#include "stream/weir_flags.h"

extern const weir_series_op ps_step_clock;

enum { RATE = 250 };

/* The device: its marks come `lag` s before those of the reference at first, and later by `ppm` of
 * the time since; from `jump_at` s on by another `jump` s less. */
typedef struct device {
  double lag, ppm, jitter, jump_at, jump;
  bool faults; /* marks that only one of them has */
} device;

static void mark(step_signal *s, double time)
{
  const int64_t t = (int64_t)floor(time * (double)s->rate_num + 0.5);

  if (t >= 0 && t < s->n) {
    s->present[t] = 1;
    s->x[t] = 1;
  }
}

static void draw(const device *d, uint64_t seed, int64_t seconds, int64_t slow, step_signal *in)
{
  double t = 1;

  for (int k = 0; k < 2; k++) {
    const int64_t rate = k == 1 ? RATE / slow : RATE;

    in[k] = step_signal_new(seconds * rate, rate, 1);
    memset(in[k].present, 0, (size_t)in[k].n);
  }
  for (uint64_t k = 0; t < (double)seconds; k++) {
    const double a = d->lag + (t >= d->jump_at ? d->jump : 0), b = 1 + 1e-6 * d->ppm;
    const double at = (t - a) / b + d->jitter * weir_random_normal(seed, 71, 0, k);
    const uint64_t bits = weir_random_bits(seed, 72, 0, k);

    if (!d->faults || bits % 10 != 0) {
      mark(&in[0], t);
    }
    if (!d->faults || bits / 16 % 10 != 0) {
      mark(&in[1], at);
    }
    if (d->faults && bits / 1024 % 20 == 1) {
      mark(&in[1], at + 0.1);
    }
    t += 0.7 + 0.3 * weir_random_uniform(seed, 73, 0, k);
  }
}

static void free_both(step_signal *in)
{
  step_signal_free(&in[0]);
  step_signal_free(&in[1]);
}

/* Last slot of a result that is present. */
static double last_of(const step_result *r, const char *name)
{
  const step_stream *s = step_get(r, name);

  for (int64_t t = s->n - 1; t >= 0; t--) {
    if (s->present[t]) {
      return (double)s->x[t];
    }
  }
  return NAN;
}

static void drift_and_offset_are_found(void **state)
{
  static const device devices[] = {
      {.jump_at = 1e9},
      {.ppm = 50, .jump_at = 1e9},
      {.lag = 0.2, .ppm = -50, .jitter = 0.004, .jump_at = 1e9},
      {.lag = -0.1, .ppm = 50, .jitter = 0.01, .jump_at = 1e9, .faults = true},
  };

  for (size_t c = 0; c < sizeof devices / sizeof devices[0]; c++) {
    const device *d = &devices[c];
    const int64_t seconds = c == 1 ? 930 : 900; /* half a hop at the end is one more */
    step_signal in[2];
    step_result r;

    draw(d, c, seconds, 1, in);
    if (d->faults) {
      step_check_chunks(&ps_step_clock, NULL, in, 2, &r);
    } else {
      step_run(&ps_step_clock, NULL, in, 2, (step_how){0}, &r);
    }
    const double drift = last_of(&r, "drift"), offset = last_of(&r, "offset");
    const double truth = d->lag + 1e-6 * d->ppm * (double)seconds,
                 sigma = hypot(d->jitter, 0.3 / RATE);

    print_message("%g ppm, jitter %g s: drift %.2f ppm, offset %.5f of %.5f s, residual %.5f s\n",
                  d->ppm, d->jitter, drift, offset, truth, last_of(&r, "residual"));
    assert_true(fabs(drift - d->ppm) < 1.5e3 * sigma + 0.1);
    assert_true(fabs(offset - truth) < 0.3 * sigma + 0.5 / RATE);
    assert_true(last_of(&r, "residual") < 1.6 * sigma + 1.0 / RATE);
    assert_int_equal(step_count(step_get(&r, "jump")), 0);
    assert_true(last_of(&r, "pairs") > (d->faults ? 500 : 690) && last_of(&r, "pairs") < 860);
    assert_int_equal(step_get(&r, "drift")->n, c == 1 ? 16 : 15);
    assert_true(step_get(&r, "drift")->present[1]);
    assert_true(step_get(&r, "drift")->present[step_get(&r, "drift")->n - 1]);
    step_result_free(&r);
    free_both(in);
  }
}

/* The window still holds pairs of before, but a hop without a new one says nothing. */
static void silence_gives_no_result(void **state)
{
  step_signal in[2];
  step_result r;

  draw(&(device){.jump_at = 1e9}, 5, 900, 1, in);
  for (int k = 0; k < 2; k++) {
    memset(in[k].present + 400 * RATE, 0, (size_t)(in[k].n - 400 * RATE));
  }
  step_run(&ps_step_clock, NULL, in, 2, (step_how){0}, &r);
  for (int64_t k = 1; k < 15; k++) {
    assert_int_equal(step_get(&r, "drift")->present[k], k * 60 < 400);
  }
  step_result_free(&r);
  free_both(in);
}

static void equal_clocks_have_no_offset(void **state)
{
  static const device same = {.jump_at = 1e9};
  step_signal in[2];
  step_result r;

  draw(&same, 1, 300, 1, in);
  step_run(&ps_step_clock, NULL, in, 2, (step_how){0}, &r);
  assert_int_equal(step_count(step_get(&r, "drift")), 5);
  for (int64_t k = 0; k < 5; k++) {
    assert_true(step_get(&r, "drift")->x[k] == 0 && step_get(&r, "offset")->x[k] == 0);
    assert_true(step_get(&r, "residual")->x[k] == 0);
  }
  step_result_free(&r);
  free_both(in);
}

static void steps_of_the_clock_are_flagged(void **state)
{
  static const double jumps[] = {0.012, -0.02, 0.1, -0.25};

  for (size_t c = 0; c < sizeof jumps / sizeof jumps[0]; c++) {
    const device d = {.lag = 0.05, .ppm = 50, .jump_at = 500, .jump = jumps[c]};
    step_signal in[2];
    step_result r;
    int64_t at = 0;

    draw(&d, c, 900, 1, in);
    step_run(&ps_step_clock, NULL, in, 2, (step_how){.window = 7}, &r);
    const step_stream *jump = step_get(&r, "jump");

    assert_int_equal(step_count(jump), 1);
    while (!jump->present[at]) {
      at++;
    }
    print_message("step of %g s at 500 s: %.4f s at %.2f s\n", jumps[c], (double)jump->x[at],
                  (double)at / RATE);
    assert_true(fabs((double)at / RATE - 500) < 3);
    assert_true(fabs((double)jump->x[at] - jumps[c]) <= 1.01 / RATE);
    assert_true(step_get(&r, "flags")->present[at]);
    assert_true(step_get(&r, "flags")->x[at] == WEIR_FLAG_CLOCK_JUMP);
    /* What was before the step is no part of later windows. */
    assert_true(fabs(last_of(&r, "drift") - 50) < 5);
    assert_true(fabs(last_of(&r, "offset") - (0.05 + jumps[c] + 900 * 50e-6)) < 1.0 / RATE);
    assert_true(last_of(&r, "pairs") < 500);
    step_result_free(&r);
    free_both(in);
  }
}

static void streams_may_have_two_rates(void **state)
{
  const device d = {.lag = 0.2, .ppm = 50, .jitter = 0.004, .jump_at = 1e9};
  step_signal in[2];
  step_result r;

  draw(&d, 9, 900, 2, in);
  step_check_chunks(&ps_step_clock, (const char *const[]){"lag=0.1", NULL}, in, 2, &r);
  assert_true(fabs(last_of(&r, "drift") - 50) < 10);
  assert_true(fabs(last_of(&r, "offset") - 0.245) < 2.0 / RATE);
  step_result_free(&r);
  free_both(in);
}

static void no_input_upsets_it(void **state)
{
  static const char *const sets[] = {"window=20", "hop=5", "min_pairs=4", "reach=1", NULL};
  int64_t seen = 0;

  for (uint64_t seed = 0; seed < 6; seed++) {
    const step_garbage_opts garbage = {
        .n_in = 2, .n = seed == 0 ? 0 : 4000, .rate = 50, .scale = 1, .every = seed == 5 ? 0 : 13};

    seen += step_check_garbage(&ps_step_clock, sets, &garbage, seed);
  }
  assert_true(seen > 0);
}

static void what_cannot_be_compared_is_refused(void **state)
{
  static const char *const sets[][2] = {{"lag=20"}, {"hop=1.001"}, {NULL}};
  step_signal in[2];
  step_frame f;

  for (int c = 0; c < 3; c++) {
    in[0] = step_signal_new(1, RATE, 1);
    in[1] = step_signal_new(1, c == 2 ? 100 : RATE, 1);
    assert_int_equal(step_build(&ps_step_clock, sets[c], in, 2, &f), WEIR_ERR_CONFIG);
    step_frame_fini(&f);
    free_both(in);
  }
  assert_int_equal(weir_opts_incomplete(ps_step_clock.opts), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drift_and_offset_are_found),
      cmocka_unit_test(silence_gives_no_result),
      cmocka_unit_test(equal_clocks_have_no_offset),
      cmocka_unit_test(steps_of_the_clock_are_flagged),
      cmocka_unit_test(streams_may_have_two_rates),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(what_cannot_be_compared_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
