/* tuning_test.c - chosen settings against closed forms, against a search of their own, and within
 * their limits. */
#include <math.h>
#include <string.h>
#include "load/weir_load_tuning.h"
#include "support/load/load_check.h"

enum { MB = 1000000, WEIR = 6 };

static double copies[] = {1, 1e9}, near[] = {1, 5000}, far[] = {1, 50};
static int64_t one[] = {1}, three[] = {1, 2, 4};

/* A machine without an effect of its own but the source: 50 MB/s, however many read. */
static weir_load_cfg machine(void)
{
  return (weir_load_cfg){.memory = {.speed = {copies, 2}},
                         .directory = {.path = "near", .speed = {near, 2}},
                         .source = {{far, 2}}};
}

static weir_load_simulation training(int64_t samples, int64_t epochs, double compute)
{
  return (weir_load_simulation){.samples = samples,
                                .sample_bytes = MB,
                                .batch = 2,
                                .epochs = epochs,
                                .seed = 3,
                                .compute_speed = compute};
}

static void assert_ratio(double is, double expected, double tolerance)
{
  if (!(fabs(is - expected) <= tolerance * fabs(expected))) {
    print_message("%.10g, not %.10g\n", is, expected);
  }
  assert_true(fabs(is - expected) <= tolerance * fabs(expected));
}

/* The first epoch takes F s / t, all others (E - 1) F s / c. With less memory every epoch reads a
 * quarter at least, which takes longer than to compute all. */
static void what_fits_in_memory_is_read_once(void **state)
{
  const weir_load_cfg c = machine();
  const weir_load_simulation s = training(40, 5, 1000);
  weir_load_choice x;

  assert_ok(weir_load_choose(&c, &s, 1, &(weir_load_limits){100 * MB, 0, {one, 1}}, &x));
  assert_ratio(x.best.predicted.seconds, 40 / 50.0 + 1 / 1000.0 + 4 * 40 / 1000.0, 1e-6);
  assert_int_equal(x.best.memory_bytes, 40 * MB);
  assert_int_equal(x.best.staging_bytes, 4 * MB); /* more have no effect */
  assert_int_equal(x.best.predicted.from[WEIR_LOAD_SOURCE], 40);
  assert_int_equal(x.best.predicted.from[WEIR_LOAD_MEMORY], 160);
  assert_int_equal(x.simulated, x.settings);
  assert_true(x.smaller.predicted.seconds > 1.001 * x.best.predicted.seconds);
  assert_int_equal(x.smaller.predicted.from[WEIR_LOAD_SOURCE], 40 + 4 * 10);
}

/* A source that is faster than the computation: no memory is needed, and the search ends there. */
static void what_the_source_does_is_not_cached(void **state)
{
  const weir_load_cfg c = machine();
  const weir_load_simulation s = training(400, 5, 10);
  weir_load_choice x;

  assert_ok(weir_load_choose(&c, &s, 1, &(weir_load_limits){999 * MB, 999 * MB, {three, 3}}, &x));
  assert_ratio(x.best.predicted.seconds, 1 / 50.0 + 2000 / 10.0, 1e-6);
  assert_int_equal(x.best.memory_bytes, 0);
  assert_int_equal(x.best.directory_bytes, 0);
  assert_int_equal(x.best.threads, 1);
  assert_int_equal(x.before, 0);
  assert_int_equal(x.simulated, 1);
}

/* All samples in memory, which threads copy at r_1(p), then to the buffer at w_0(p): s / r + s / w
 * in each later epoch. */
static void as_many_threads_as_are_fastest(void **state)
{
  static double slower[] = {1, 1000, 2, 600, 4, 300}, faster[] = {1, 300, 2, 600, 4, 1000};
  double *const table[] = {slower, faster};

  for (int i = 0; i < 2; i++) {
    weir_load_cfg c = machine();
    const weir_load_simulation s = training(40, 20, 1e6);
    weir_load_choice x;

    c.memory.speed = (weir_real_list){table[i], 6};
    assert_ok(weir_load_choose(&c, &s, 1, &(weir_load_limits){100 * MB, 0, {three, 3}}, &x));
    assert_int_equal(x.best.threads, i == 0 ? 1 : 4);
    assert_int_equal(x.best.memory_bytes, 40 * MB);
    assert_ratio(x.best.predicted.seconds,
                 40 * (1 / 50.0 + 1 / 1000.0) + 19 * 40 * (2 / 1000.0) + 1e-6, 1e-6);
  }
}

/* A directory that is read faster than the source is used for what memory does not hold, a slower
 * one is not. */
static void a_slow_directory_is_not_used(void **state)
{
  static double slow[] = {1, 20};
  weir_load_cfg c = machine();
  const weir_load_simulation s = training(40, 5, 1000);
  const weir_load_limits limits = {24 * MB, 999 * MB, {one, 1}};
  weir_load_choice x;

  assert_ok(weir_load_choose(&c, &s, 1, &limits, &x));
  assert_int_equal(x.best.directory_bytes, 40 * MB);
  assert_int_equal(x.best.memory_bytes, 0); /* from files 40 of 5000 MB/s are no stall */
  assert_int_equal(x.best.predicted.from[WEIR_LOAD_SOURCE], 40);
  c.directory.speed.items = slow;
  assert_ok(weir_load_choose(&c, &s, 1, &limits, &x));
  assert_int_equal(x.best.directory_bytes, 0);
  assert_int_equal(x.best.memory_bytes, 20 * MB); /* what the limit leaves */
  assert_int_equal(x.best.staging_bytes, 4 * MB);
}

/* Two workers cache half of the data set each and send it, where the network is fast enough. */
static void others_send_where_the_network_pays(void **state)
{
  const weir_load_cfg c = machine();
  weir_load_simulation s = training(40, 5, 500);
  const weir_load_limits limits = {28 * MB, 0, {one, 1}};
  weir_load_choice x;

  s.network_speed = 5000;
  assert_ok(weir_load_choose(&c, &s, 2, &limits, &x));
  assert_true(x.best.remote);
  assert_int_equal(x.best.memory_bytes, 20 * MB);
  assert_int_equal(x.best.received_bytes, 4 * MB);
  assert_int_equal(x.best.predicted.from[WEIR_LOAD_SOURCE], 40);
  s.network_speed = 5;
  assert_ok(weir_load_choose(&c, &s, 2, &limits, &x));
  assert_false(x.best.remote);
  s.network_speed = 0;
  assert_ok(weir_load_choose(&c, &s, 2, &limits, &x));
  assert_false(x.best.remote);
}

/* The least time of the grid, by loops of this test. */
static double search(const weir_load_cfg *load, const weir_load_simulation *s, int64_t workers,
                     const weir_load_limits *limits)
{
  const int64_t f = s->samples, room = limits->memory_bytes / MB,
                disk = limits->directory_bytes / MB;
  double least = INFINITY;

  for (int64_t p = 1; p <= 4; p *= 2) {
    for (int64_t staging = 4; staging <= 32; staging *= 2) {
      for (int remote = 0; remote < (workers > 1 ? 2 : 1); remote++) {
        const int64_t left = room - staging - 4 * remote;
        const int64_t memory[] = {0, (f + workers - 1) / workers, f / 4, f / 2, 3 * f / 4, f, left};

        for (int m = remote; m < 7; m++) {
          const int64_t directory[] = {0, f / 4, f / 2, 3 * f / 4, f, disk};

          for (int d = 0; d < 6; d++) {
            weir_load_cfg c = *load;
            weir_load_simulated r;

            c.staging.bytes = staging * MB;
            c.staging.threads = p;
            c.memory.bytes = memory[m] * MB;
            c.directory.bytes = directory[d] * MB;
            c.remote = remote ? WEIR_LOAD_ON : WEIR_LOAD_OFF;
            if (memory[m] <= left && directory[d] <= disk) {
              assert_ok(weir_load_simulate(&c, s, WEIR, workers, &r));
              least = fmin(least, r.seconds);
            }
          }
        }
      }
    }
  }
  return least;
}

/* Of every combination of speeds: nothing in the grid is faster, limits hold, and a simulation with
 * the chosen options has the predicted figures. */
static void nothing_in_the_grid_is_faster(void **state)
{
  static double rates[] = {1, 30, 2, 90, 4, 70};

  for (int i = 0; i < 16; i++) {
    weir_load_cfg c = machine();
    weir_load_simulation s = training(40, 3, (i & 1) != 0 ? 45 : 300);
    const weir_load_limits limits = {38 * MB, 26 * MB, {three, 3}};
    const int64_t workers = (i & 2) != 0 ? 3 : 1;
    weir_load_choice x, again;
    weir_load_simulated r;

    s.network_speed = (i & 4) != 0 ? 20 : 2000;
    if ((i & 8) != 0) {
      c.directory.speed = (weir_real_list){rates, 6};
    }
    assert_ok(weir_load_choose(&c, &s, workers, &limits, &x));
    assert_true(x.best.predicted.seconds <= (1 + WEIR_LOAD_TIE) * search(&c, &s, workers, &limits));
    assert_true(x.best.staging_bytes + x.best.memory_bytes + x.best.received_bytes <= 38 * MB);
    assert_true(x.best.directory_bytes <= 26 * MB);
    c = weir_load_cfg_of(&c, &x.best);
    assert_ok(weir_load_simulate(&c, &s, WEIR, workers, &r));
    assert_memory_equal(&r, &x.best.predicted, sizeof r);
    assert_ok(weir_load_choose(&c, &s, workers, &limits, &again));
    assert_memory_equal(&again, &x, sizeof x);
  }
}

/* A loader with a slow source and the chosen options: its accesses come from where they are
 * predicted to come from; with those of the next best setting it reads more. */
static void a_loader_counts_what_is_predicted(void **state)
{
  enum { EPOCHS = 5, SAMPLES = 23, BATCH = 4 };
  const double delay = 5e-4;
  const weir_sampler order = {
      .samples = SAMPLES, .batch = BATCH, .step = BATCH, .shuffle = true, .seed = 3};
  const weir_access_stream v = weir_access_stream_of(&order, 0, 1);
  double slow[] = {1, CHECK_BYTES / 1e6 / delay};
  weir_load_simulation s = training(SAMPLES, EPOCHS, 1e5);
  weir_load_cfg c = machine();
  weir_load_choice x;
  int64_t reads[2];

  s.sample_bytes = CHECK_BYTES;
  s.batch = BATCH;
  c.source.speed.items = slow;
  assert_ok(weir_load_choose(&c, &s, 1, &(weir_load_limits){40 * CHECK_BYTES, 0, {three, 3}}, &x));
  for (int i = 0; i < 2; i++) {
    const weir_load_setting *const setting = i == 0 ? &x.best : &x.smaller;
    const weir_load_cfg chosen = weir_load_cfg_of(&c, setting);
    check_source source;
    weir_load *l = NULL;

    check_source_init(&source, 1, 3, true);
    source.delay = delay;
    assert_ok(weir_load_open(&chosen, &source.source, &v, EPOCHS * v.each, &l));
    assert_ok(weir_load_start(l, 0));
    for (int64_t k = 0; k < EPOCHS * v.each; k++) {
      weir_load_view view;

      assert_ok(weir_load_next(l, &view));
      weir_load_release(l);
    }
    const weir_load_count has = weir_load_counted(l);

    weir_load_close(&l);
    reads[i] = has.reads;
    for (int t = 0; t < WEIR_LOAD_TIERS; t++) {
      assert_int_equal(setting->predicted.from[t], has.from[t]);
    }
  }
  assert_int_equal(reads[0], SAMPLES);
  assert_true(reads[1] > SAMPLES);
}

static void limits_that_hold_nothing_are_refused(void **state)
{
  weir_load_cfg c = machine();
  const weir_load_simulation s = training(40, 5, 100);
  static int64_t none[] = {0};
  weir_load_choice x;

  assert_ok(weir_load_choose(&c, &s, 1, &(weir_load_limits){3 * MB, 0, {one, 1}}, &x));
  assert_int_equal(x.best.staging_bytes, 3 * MB); /* less than two batches */
  assert_int_equal(x.best.memory_bytes, 0);
  assert_int_equal(weir_load_choose(&c, &s, 1, &(weir_load_limits){MB - 1, 0, {one, 1}}, &x),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "is below a sample (1000000 bytes)"));
  assert_int_equal(weir_load_choose(&c, &s, 1, &(weir_load_limits){9 * MB, 0, {one, 0}}, &x),
                   WEIR_ERR_CONFIG);
  assert_int_equal(weir_load_choose(&c, &s, 1, &(weir_load_limits){9 * MB, 0, {none, 1}}, &x),
                   WEIR_ERR_CONFIG);
  c.directory.speed.count = 0;
  assert_int_equal(weir_load_choose(&c, &s, 1, &(weir_load_limits){9 * MB, MB, {one, 1}}, &x),
                   WEIR_ERR_CONFIG);
  c.source.speed.count = 0;
  assert_int_equal(weir_load_choose(&c, &s, 1, &(weir_load_limits){9 * MB, 0, {one, 1}}, &x),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "load.source.speed"));
}

static weir_status choose(void *context)
{
  const weir_load_cfg c = machine();
  const weir_load_simulation s = training(8, 2, 1000);
  weir_load_choice x;

  (void)context;
  return weir_load_choose(&c, &s, 1, &(weir_load_limits){6 * MB, 0, {one, 1}}, &x);
}

static void memory_may_run_out_anywhere(void **state)
{
  assert_true(weir_check_faults(choose, NULL) > 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_fits_in_memory_is_read_once),
      cmocka_unit_test(what_the_source_does_is_not_cached),
      cmocka_unit_test(as_many_threads_as_are_fastest),
      cmocka_unit_test(a_slow_directory_is_not_used),
      cmocka_unit_test(others_send_where_the_network_pays),
      cmocka_unit_test(nothing_in_the_grid_is_faster),
      cmocka_unit_test(a_loader_counts_what_is_predicted),
      cmocka_unit_test(limits_that_hold_nothing_are_refused),
      cmocka_unit_test(memory_may_run_out_anywhere),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
