/* simulation_test.c - simulated trainings against closed forms, the loader itself, and what Dryden
 * et al. (SC'21, section 6) report. */
#include <math.h>
#include "support/load/load_check.h"
#include "load/simulation_priv.h"

enum { NAIVE, DOUBLE_BUFFERING, LBANN, SHARDING, LOCALITY_AWARE, NOPFS, WEIR };

/* The small cluster of section 6.1, in MB/s: memory as of Lassen, r_0(8) = 111 GB/s, r_1(4) = 85
 * GB/s, r_2(2) = 4 GB/s. */
static double memory_speed[] = {4, 85000, 8, 111000}, directory_speed[] = {2, 4000},
              source_speed[] = {1, 330, 2, 730, 4, 1540, 8, 2870};
static int64_t some_workers[] = {1, 4};

static weir_load_cfg cluster(int64_t sample)
{
  return (weir_load_cfg){.staging = {.bytes = 40 * sample, .threads = 8},
                         .memory = {0, 4, {memory_speed, 4}},
                         .directory = {"", 0, 2, {directory_speed, 2}, false},
                         .source = {{source_speed, 8}}};
}

static weir_load_simulation training(int64_t samples, int64_t epochs)
{
  return (weir_load_simulation){.workers = {some_workers, 2},
                                .samples = samples,
                                .sample_bytes = 1000000,
                                .batch = 2,
                                .epochs = epochs,
                                .seed = 3,
                                .compute_speed = 64,
                                .preprocess_speed = 200,
                                .network_speed = 24000};
}

static void assert_ratio(double is, double expected, double tolerance)
{
  if (!(fabs(is - expected) <= tolerance * fabs(expected))) {
    print_message("%.10g, not %.10g\n", is, expected);
  }
  assert_true(fabs(is - expected) <= tolerance * fabs(expected));
}

/* Without prefetching, times add up; with it and slow workers none is seen, with fast ones nothing
 * else. */
static void times_without_caches_are_those_of_the_formulas(void **state)
{
  weir_load_simulation s = training(80, 3);
  weir_load_cfg c = cluster(s.sample_bytes);
  weir_load_simulated r;

  assert_ok(weir_load_simulate(&c, &s, NAIVE, 4, &r));
  assert_ratio(r.bound_s, 60 / 64.0, 1e-12);
  assert_ratio(r.seconds, 60 * (1 / 64.0 + 1 / 385.0 + 1 / 200.0), 1e-12);
  assert_ratio(r.stalled_s, r.seconds - r.bound_s, 1e-12);
  assert_int_equal(r.from[WEIR_LOAD_SOURCE], 240);

  const double read = (8 / 385.0 + 1 / 200.0) / 8; /* threads share the 385 MB/s of their worker */

  assert_ok(weir_load_simulate(&c, &s, DOUBLE_BUFFERING, 4, &r));
  assert_ratio(r.seconds, read + 60 / 64.0, 1e-12);
  s.source_per_thread = true;
  assert_ok(weir_load_simulate(&c, &s, DOUBLE_BUFFERING, 4, &r));
  assert_ratio(r.seconds, (1 / 385.0 + 1 / 200.0) / 8 + 60 / 64.0, 1e-12);
  s.source_per_thread = false;
  s.compute_speed = 1e4;
  assert_ok(weir_load_simulate(&c, &s, DOUBLE_BUFFERING, 4, &r));
  assert_ratio(r.seconds, 60 * read + 1e-4, 1e-12);
  c.staging.bytes = s.sample_bytes; /* one slot: it is filled when its sample has been computed */
  assert_ok(weir_load_simulate(&c, &s, DOUBLE_BUFFERING, 4, &r));
  assert_ratio(r.seconds, 60 * (read + 1e-4), 1e-12);
}

/* What workers do not have is read again; what they have comes from where they have it. */
static void caches_of_all_policies_hold_what_they_can(void **state)
{
  const weir_load_simulation s = training(80, 10);
  weir_load_cfg c = cluster(s.sample_bytes);
  weir_load_simulated r;

  c.memory.bytes = 20 * s.sample_bytes; /* of 4 workers: all 80 */
  assert_ok(weir_load_simulate(&c, &s, LBANN, 4, &r));
  assert_int_equal(r.from[WEIR_LOAD_SOURCE], 80);
  assert_int_equal(r.from[WEIR_LOAD_MEMORY] + r.from[WEIR_LOAD_REMOTE], 720);
  assert_ok(weir_load_simulate(&c, &s, WEIR, 4, &r));
  assert_int_equal(r.from[WEIR_LOAD_SOURCE], 80);
  assert_ok(weir_load_simulate(&c, &s, LOCALITY_AWARE, 4, &r));
  assert_int_equal(r.from[WEIR_LOAD_SOURCE], 80);
  assert_true(r.from[WEIR_LOAD_MEMORY] > 3 * r.from[WEIR_LOAD_REMOTE]); /* mostly its own */
  assert_true(r.reached == 1);

  c.memory.bytes = 10 * s.sample_bytes;
  assert_int_equal(weir_load_simulate(&c, &s, LBANN, 4, &r), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "its store holds samples in memory alone"));
  assert_ok(weir_load_simulate(&c, &s, SHARDING, 4, &r));
  assert_int_equal(r.from[WEIR_LOAD_MEMORY], 800);
  assert_ratio(r.reached, 0.5, 1e-12); /* 40 of 80: the rest is never trained on */
  assert_ratio(r.staged_s, 10 / 385.0, 1e-12);
  c.directory.bytes = 7 * s.sample_bytes;
  assert_ok(weir_load_simulate(&c, &s, SHARDING, 4, &r));
  assert_ratio(r.reached, 68 / 80.0, 1e-12);
  assert_ok(weir_load_simulate(&c, &s, NOPFS, 4, &r));
  /* 17 of 80 each: more often its own than by chance, because those are its most frequent ones */
  assert_int_equal(r.from[0] + r.from[1] + r.from[2] + r.from[3], 800);
  assert_true(r.from[WEIR_LOAD_MEMORY] + r.from[WEIR_LOAD_DIRECTORY] > 800 * 17 / 80);
  c.memory.bytes = c.directory.bytes = 0;
  assert_int_equal(weir_load_simulate(&c, &s, SHARDING, 4, &r), WEIR_ERR_CONFIG);
}

/* The same accesses from the same places as a real loader counts them. */
static void ours_counts_what_the_loader_counts(void **state)
{
  enum { EPOCHS = 5, SAMPLES = 23 };
  char dir[256];

  weir_check_mkdir(dir, sizeof dir);
  for (int i = 0; i < 6; i++) {
    const weir_sampler order = {
        .samples = SAMPLES, .batch = 4, .step = 4, .shuffle = true, .seed = 3};
    const weir_access_stream v = weir_access_stream_of(&order, 0, 1);
    weir_load_simulation s = training(SAMPLES, EPOCHS);
    weir_load_simulated r;
    check_source source;
    weir_load *l = NULL;

    check_source_init(&source, 1, 3, true);
    weir_load_cfg c = cluster(CHECK_BYTES);

    c.staging.threads = 1;
    c.memory.threads = c.directory.threads = 0;
    c.memory.bytes = i % 3 * 5 * CHECK_BYTES;
    c.directory.bytes = i / 3 * 6 * CHECK_BYTES;
    c.directory.path = dir;
    assert_ok(weir_load_open(&c, &source.source, &v, EPOCHS * v.each, &l));
    assert_ok(weir_load_start(l, 0));
    for (int64_t k = 0; k < EPOCHS * v.each; k++) {
      weir_load_view view;

      assert_ok(weir_load_next(l, &view));
      weir_load_release(l);
    }
    const weir_load_count has = weir_load_counted(l);

    weir_load_close(&l);
    s.batch = 4;
    s.sample_bytes = CHECK_BYTES;
    assert_ok(weir_load_simulate(&c, &s, WEIR, 1, &r));
    for (int t = 0; t < WEIR_LOAD_TIERS; t++) {
      assert_int_equal(r.from[t], has.from[t]);
    }
  }
  weir_check_rmdir(dir);
}

/* Reference values: 1 - (1 - 1 / N)^E for E = 90, and the samples that this loader's order gives.
 */
static void workers_touch_as_many_samples_as_chance_says(void **state)
{
  static const int64_t workers[] = {16, 64, 256, 1024};
  static const double share[] = {0.997, 0.76, 0.30, 0.084};
  weir_load_simulation s = training(4096, 90);
  const weir_load_cfg c = cluster(s.sample_bytes);

  s.batch = 1;
  for (int i = 0; i < 4; i++) {
    const double expected = 1 - pow(1 - 1 / (double)workers[i], 90);
    weir_load_simulated r;

    assert_ratio(expected, share[i], 0.012);
    assert_ok(weir_load_simulate(&c, &s, NAIVE, workers[i], &r));
    assert_ratio(r.touched, expected, 0.003);
  }
}

/* The four regimes of section 6.1 with samples a thousandth in number: 1, 135, 1500 and 4500 of 1
 * MB with 120 in memory and 900 on disk of each of 4 workers. NoPFS and ours are close to the bound
 * in all; naive loading is slower by 1 + c (1 / (t(4) / 4) + 1 / beta) = 1.486, where the paper
 * has 1.7 of its own simulator for MNIST. */
static void the_four_regimes_are_close_to_the_bound(void **state)
{
  static const int64_t samples[] = {80, 135, 1500, 4500};

  for (int i = 0; i < 4; i++) {
    weir_load_simulation s = training(samples[i], 4);
    weir_load_cfg c = cluster(s.sample_bytes);
    weir_load_simulated naive, nopfs, ours;

    s.batch = 16;
    c.memory.bytes = 120 * s.sample_bytes;
    c.directory.bytes = 900 * s.sample_bytes;
    assert_ok(weir_load_simulate(&c, &s, NAIVE, 4, &naive));
    assert_ok(weir_load_simulate(&c, &s, NOPFS, 4, &nopfs));
    assert_ok(weir_load_simulate(&c, &s, WEIR, 4, &ours));
    assert_ratio(naive.seconds / naive.bound_s, 1 + 64 * (1 / 385.0 + 1 / 200.0), 0.002);
    assert_ratio(nopfs.seconds / nopfs.bound_s, 1, 0.01);
    assert_ratio(ours.seconds / ours.bound_s, 1, 0.01);
    assert_true(i == 3 || nopfs.from[WEIR_LOAD_SOURCE] <= 2 * samples[i]);
  }
}

static void what_cannot_be_is_refused_by_name(void **state)
{
  weir_load_simulation s = training(80, 3);
  const char *const unknown[] = {"weir", "dali"};
  const int64_t down[] = {8, 4};
  const weir_load_cfg good = cluster(s.sample_bytes);
  weir_load_cfg c = good;
  weir_load_simulated r;

  assert_ok(weir_load_simulation_check(&c, &s));
  s.policies = (weir_string_list){(const char **)unknown, 2};
  assert_int_equal(weir_load_simulation_check(&c, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "there is no policy 'dali'; there are naive"));
  s.policies.count = 0;
  s.workers = (weir_int_list){(int64_t *)down, 2};
  assert_int_equal(weir_load_simulation_check(&c, &s), WEIR_ERR_CONFIG);
  s.workers.count = 0;
  assert_int_equal(weir_load_simulation_check(&c, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "loading.workers: is empty"));
  c.remote = WEIR_LOAD_ON; /* of a run on several ranks */
  c.memory.bytes = 5 * s.sample_bytes;
  s.workers = (weir_int_list){some_workers, 2};
  assert_ok(weir_load_simulation_check(&c, &s));
  s.workers.count = 1;
  assert_int_equal(weir_load_simulation_check(&c, &s), WEIR_ERR_CONFIG);
  c = good;
  c.source.speed.count = 0;
  assert_int_equal(weir_load_simulation_check(&c, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "load.source.speed: is empty"));
  c = good;
  c.memory.speed.count = 0;
  assert_int_equal(weir_load_simulation_check(&c, &s), WEIR_ERR_CONFIG);
  c = good;
  c.directory.speed.count = 0;
  c.directory.bytes = 5 * s.sample_bytes;
  c.directory.path = "near";
  assert_int_equal(weir_load_simulation_check(&c, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "load.directory.speed"));
  c = good;
  c.memory.bytes = 5 * s.sample_bytes;
  s.network_speed = 0;
  assert_int_equal(weir_load_simulate(&c, &s, WEIR, 4, &r), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "loading.network_speed is 0"));
}

static weir_status all_policies(void *context)
{
  const weir_load_simulation s = training(30, 3);
  weir_load_cfg c = cluster(s.sample_bytes);
  weir_load_simulated r;

  (void)context;
  c.memory.bytes = 16 * s.sample_bytes;
  c.directory.bytes = 4 * s.sample_bytes;
  for (int k = 0; weir_load_policy_name(k); k++) {
    WEIR_TRY(weir_load_simulate(&c, &s, k, 3, &r));
  }
  return WEIR_OK;
}

static void memory_may_run_out_anywhere(void **state)
{
  assert_true(weir_check_faults(all_policies, NULL) > 30);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times_without_caches_are_those_of_the_formulas),
      cmocka_unit_test(caches_of_all_policies_hold_what_they_can),
      cmocka_unit_test(ours_counts_what_the_loader_counts),
      cmocka_unit_test(workers_touch_as_many_samples_as_chance_says),
      cmocka_unit_test(the_four_regimes_are_close_to_the_bound),
      cmocka_unit_test(what_cannot_be_is_refused_by_name),
      cmocka_unit_test(memory_may_run_out_anywhere),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
