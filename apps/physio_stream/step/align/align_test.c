/* align_test.c - a wave that a drifting, stepping clock recorded, moved back; gaps, and refusals.
 */
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_align;

enum { RATE = 125, HOP = 60, SECONDS = 600 };

/* The wave at a time of the reference. */
static double wave(double t)
{
  return sin(2 * acos(-1.0) * 1.2 * t) + 0.3 * sin(2 * acos(-1.0) * 5.3 * t + 1);
}

/* What the device recorded, whose times are those of the reference less lag + ppm t (from jump_at s
 * on less `jump` more); and what `clock` says of it: the relation at the end of each hop. */
static void draw(double lag, double ppm, double jump_at, double jump, step_signal in[3])
{
  in[0] = step_signal_new(RATE * SECONDS, RATE, 1);
  for (int64_t k = 0; k < in[0].n; k++) {
    const double t = (double)k / RATE, by = lag + 1e-6 * ppm * t + (t >= jump_at ? jump : 0);

    in[0].x[k] = (float)wave(t + by);
  }
  for (int i = 1; i < 3; i++) {
    in[i] = step_signal_new(SECONDS / HOP, 1, HOP);
    in[i].unit = i == 1 ? "s" : "ppm";
    for (int64_t h = 0; h < in[i].n; h++) {
      const double end = (double)((h + 1) * HOP);

      in[i].x[h] = (float)(i == 1 ? lag + 1e-6 * ppm * end + (end > jump_at ? jump : 0) : ppm);
    }
  }
}

static void drop(step_signal in[3])
{
  for (int i = 0; i < 3; i++) {
    step_signal_free(&in[i]);
  }
}

/* Root mean square error in [from, to) s; every slot there is present. */
static double error_of(const step_stream *y, double from, double to)
{
  double square = 0;
  int64_t n = 0;

  for (int64_t k = (int64_t)(from * RATE); k < (int64_t)(to * RATE); k++, n++) {
    assert_true(y->present[k]);
    square += pow((double)y->x[k] - wave((double)k / RATE), 2);
  }
  return sqrt(square / (double)n);
}

static void a_drifting_signal_is_where_it_was(void **state)
{
  static const struct {
    double lag, ppm;
  } clocks[] = {{0, 0}, {0.123, 0}, {-0.5, 100}, {1.2, -500}};

  for (int k = 0; k < 4; k++) {
    step_signal in[3];
    step_result r;

    draw(clocks[k].lag, clocks[k].ppm, 1e9, 0, in);
    step_check_chunks(&ps_step_align, NULL, in, 3, &r);
    const step_stream *y = &r.out[0];
    const double error = error_of(y, 3, SECONDS - 3);

    print_message("lag %g s, %g ppm: error %.2g\n", clocks[k].lag, clocks[k].ppm, error);
    assert_int_equal(y->rate_num, RATE);
    assert_true(error < (k == 0 ? 1e-6 : 1e-4));
    for (int64_t t = 0; k == 0 && t < y->n; t++) { /* nothing is moved: the same bits */
      assert_true(y->present[t] && y->x[t] == in[0].x[t]);
    }
    step_result_free(&r);
    drop(in);
  }
}

/* Without the drift the offset of a hop is that at its end, 6 ms late at its begin. */
static void a_drift_is_followed_within_a_hop(void **state)
{
  step_signal in[3];
  step_result with, without;

  draw(0.1, 100, 1e9, 0, in);
  step_run(&ps_step_align, NULL, in, 3, (step_how){0}, &with);
  step_run(&ps_step_align, NULL, in, 2, (step_how){0}, &without);
  assert_true(error_of(&with.out[0], 60, 540) < 0.02 * error_of(&without.out[0], 60, 540));
  step_result_free(&with);
  step_result_free(&without);
  drop(in);
}

/* The relation steps at a border of hops, by 0.2 s: the slot there is absent, and both sides are
 * right. */
static void a_step_opens_a_gap(void **state)
{
  step_signal in[3];
  step_result r;

  draw(0.1, 20, 300, 0.2, in);
  step_check_chunks(&ps_step_align, NULL, in, 3, &r);
  const step_stream *y = &r.out[0];

  assert_true(!y->present[300 * RATE] && y->present[300 * RATE - 1] && y->present[300 * RATE + 1]);
  assert_true(error_of(y, 3, 299) < 2e-4 && error_of(y, 301, SECONDS - 3) < 2e-4);
  step_result_free(&r);
  drop(in);
}

/* Nothing is made in a gap, nor where the relation is not known or beyond the reach. */
static void what_is_not_there_is_not_made(void **state)
{
  static const char *const near[] = {"reach=0.5", NULL};
  step_signal in[3];
  step_result r;

  draw(0.25, 0, 1e9, 0, in);
  memset(in[0].present + 100 * RATE, 0, 10 * RATE);
  in[1].present[5] = 0;
  in[1].x[7] = 0.51f;
  step_check_chunks(&ps_step_align, near, in, 3, &r);
  const step_stream *y = &r.out[0];
  const double from = 100.25, to = 110.25; /* the gap on the reference's clock */

  for (int64_t k = 3 * RATE; k < y->n - 3 * RATE; k++) {
    const double t = (double)k / RATE;
    const int64_t hop = k / (HOP * RATE);
    const bool gap = t > from - 1.01 / RATE && t < to - 1e-9, edge = fabs(t - from) < 0.01;
    const bool step = k % (HOP * RATE) == 0 && hop == 8;

    if (!edge && !step) {
      assert_int_equal(y->present[k], !gap && hop != 5 && hop != 7);
    }
    assert_true(y->present[k] || y->x[k] == 0.0f);
    assert_true(!y->present[k] || fabs((double)y->x[k] - wave(t)) < 0.02);
  }
  step_result_free(&r);
  drop(in);
}

static void no_input_upsets_it(void **state)
{
  int64_t found = 0;

  for (uint64_t seed = 0; seed < 6; seed++) {
    step_signal in[3];
    step_result r;

    draw(0, 0, 1e9, 0, in);
    for (int i = 0; i < 3; i++) {
      step_garbage(&in[i], seed + 10 * (uint64_t)i, i == 2 ? 1e4 : 1.0);
    }
    step_check_chunks(&ps_step_align, NULL, in, 3, &r);
    assert_true(step_is_sound(&r));
    found += step_count(&r.out[0]);
    step_result_free(&r);
    drop(in);
  }
  assert_true(found > 0);
}

static void what_is_no_clock_is_refused(void **state)
{
  step_signal in[3];
  step_frame f;

  draw(0, 0, 1e9, 0, in);
  in[1].unit = "mV";
  assert_int_equal(step_build(&ps_step_align, NULL, in, 3, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "b is in mV"));
  step_frame_fini(&f);
  in[1].unit = "s";
  in[2].rate_den = 30;
  assert_int_equal(step_build(&ps_step_align, NULL, in, 3, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "b and c have different rates"));
  step_frame_fini(&f);
  in[1].rate_num = 7;
  assert_int_equal(step_build(&ps_step_align, NULL, in, 2, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "the period of b is no whole number of slots of a"));
  step_frame_fini(&f);
  assert_int_equal(weir_opts_incomplete(ps_step_align.opts), 0);
  drop(in);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_drifting_signal_is_where_it_was),
      cmocka_unit_test(a_drift_is_followed_within_a_hop),
      cmocka_unit_test(a_step_opens_a_gap),
      cmocka_unit_test(what_is_not_there_is_not_made),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(what_is_no_clock_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
