/* split_test.c - whole universes on one side, whatever the set; lists; refusals. */
#include "data/split.h"
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "base/weir_random.h"

static cf_split_opts shares(double valid, double test)
{
  return (cf_split_opts){.valid = valid, .test = test, .seed = 3};
}

/* Every sample is in the list of its subset, once and in order; universes are of one subset. */
static void assert_sound(const cf_split *s)
{
  int64_t found = 0;

  for (int p = 0; p < CF_SUBSETS; p++) {
    for (int64_t i = 0; i < s->n[p]; i++) {
      assert_int_equal(s->subset[s->sample[p][i]], p);
      assert_true(i == 0 || s->sample[p][i - 1] < s->sample[p][i]);
    }
    found += s->n[p];
  }
  assert_int_equal(found, s->count);
  for (int64_t i = 0; i < s->count; i++) {
    for (int64_t j = 0; j < i; j++) {
      assert_true(s->universe[i] != s->universe[j] || s->subset[i] == s->subset[j]);
    }
  }
}

static void universes_stay_whole(void **state)
{
  for (uint64_t round = 0; round < 40; round++) {
    const int64_t count = 3 + (int64_t)(weir_random_bits(1, 1, 0, round) % 90);
    const uint64_t of = 4 + weir_random_bits(2, 1, 0, round) % 20;
    int64_t universe[93];
    const cf_split_opts o = shares(0.2, 1);
    cf_split s;

    for (int64_t i = 0; i < count; i++) {
      universe[i] = (int64_t)(weir_random_bits(3, (uint32_t)round, 0, (uint64_t)i) % of) * 7;
    }
    universe[0] = 0;
    universe[1] = 7;
    universe[2] = 14;
    assert_ok(cf_split_create(&o, universe, count, &s));
    assert_sound(&s);
    assert_int_equal(s.universes[CF_TEST], 1);
    assert_true(s.universes[CF_VALID] >= 1 && s.universes[CF_TRAIN] >= 1);
    cf_split_fini(&s);
  }
}

/* Of 100 universes: exact counts, by share or number; another seed draws others. */
static void parts_have_the_size_that_is_asked_for(void **state)
{
  int64_t universe[200];
  cf_split_opts o = shares(0.25, 10);
  cf_split a, b;
  int same = 0;

  for (int64_t i = 0; i < 200; i++) {
    universe[i] = i / 2;
  }
  assert_ok(cf_split_create(&o, universe, 200, &a));
  assert_sound(&a);
  assert_int_equal(a.universes[CF_TRAIN], 65);
  assert_int_equal(a.universes[CF_VALID], 25);
  assert_int_equal(a.n[CF_TEST], 20);
  o.seed = 4;
  assert_ok(cf_split_create(&o, universe, 200, &b));
  for (int64_t i = 0; i < 200; i += 2) {
    same += a.subset[i] == b.subset[i];
  }
  assert_true(same < 80);
  cf_split_fini(&b);
  o = shares(0, 0);
  assert_ok(cf_split_create(&o, universe, 200, &b));
  assert_int_equal(b.n[CF_TRAIN], 200);
  assert_int_equal(b.n[CF_VALID] + b.n[CF_TEST], 0);
  cf_split_fini(&b);
  cf_split_fini(&a);
}

/* Samples in a row where files say nothing; the last ones of the set, by its order. */
static void the_last_universes_of_a_set(void **state)
{
  int64_t universe[24];
  cf_split_opts o = shares(2, 1);
  cf_split s;

  o.order = CF_SPLIT_LAST;
  o.samples_per_universe = 4;
  for (int64_t i = 0; i < 24; i++) {
    universe[i] = -1;
  }
  assert_ok(cf_split_create(&o, universe, 24, &s));
  assert_sound(&s);
  for (int64_t i = 0; i < 24; i++) {
    assert_int_equal(s.samples_per_universe, 4);
    assert_int_equal(s.universe[i], i / 4);
    assert_int_equal(s.subset[i], i < 12 ? CF_TRAIN : i < 20 ? CF_VALID : CF_TEST);
  }
  cf_split_fini(&s);
  for (int64_t i = 0; i < 24; i++) {
    universe[i] = 23 - i;
  }
  assert_ok(cf_split_create(&o, universe, 24,
                            &s)); /* files say their own: samples_per_universe is ignored */
  assert_int_equal(s.samples_per_universe, 0);
  assert_int_equal(s.universe[5], 18);
  assert_int_equal(s.subset[23], CF_TEST);
  assert_int_equal(s.subset[0], CF_TRAIN);
  cf_split_fini(&s);
}

/* The lists of a split make the same split, also of some samples of the set. */
static void lists_carry_a_split(void **state)
{
  int64_t universe[60];
  const cf_split_opts o = shares(0.3, 0.3);
  char *train = NULL, *valid = NULL, *test = NULL;
  cf_split a, b;

  for (int64_t i = 0; i < 60; i++) {
    universe[i] = 1000 + i / 2 + (i > 40 ? 100 : 0);
  }
  assert_ok(cf_split_create(&o, universe, 60, &a));
  assert_ok(cf_split_text(&a, CF_TRAIN, &train));
  assert_ok(cf_split_text(&a, CF_VALID, &valid));
  assert_ok(cf_split_text(&a, CF_TEST, &test));
  assert_ok(cf_split_of_lists(train, valid, 0, universe + 7, 53, &b));
  assert_memory_equal(a.subset + 7, b.subset, 53);
  cf_split_fini(&b);
  assert_ok(cf_split_of_lists(train, test, 0, universe, 60, &b));
  assert_int_equal(b.n[CF_TEST], a.n[CF_VALID]);
  cf_split_fini(&b);
  cf_split_fini(&a);
  weir_free(&train);
  weir_free(&valid);
  weir_free(&test);
  assert_ok(cf_split_of_lists("1000-1003,1100", "", 0, universe, 60, &b));
  assert_int_equal(b.universes[CF_TRAIN], 4);
  assert_ok(cf_split_text(&b, CF_TRAIN, &train));
  assert_string_equal(train, "1000-1003");
  assert_ok(cf_split_text(&b, CF_VALID, &valid));
  assert_string_equal(valid, "");
  weir_free(&train);
  weir_free(&valid);
  cf_split_fini(&b);
}

/* The share of configs/cosmoflow/mlperf.yaml: of the benchmark's universes and of a stand-in's. */
static void a_share_fits_any_set(void **state)
{
  static const int64_t count[] = {9216, 64}, expected[] = {1024, 7};
  cf_split_opts o = shares(0.1111111, 0);
  int64_t universe[9216];
  cf_split s;

  o.order = CF_SPLIT_LAST;
  for (int64_t i = 0; i < 9216; i++) {
    universe[i] = i;
  }
  for (int k = 0; k < 2; k++) {
    assert_ok(cf_split_create(&o, universe, count[k], &s));
    assert_int_equal(s.universes[CF_VALID], expected[k]);
    cf_split_fini(&s);
  }
}

static void what_cannot_be_is_refused(void **state)
{
  static const char *const bad[] = {"x", "1,", "3-2", "1-", "5,4", "1,,2", "-3", "1 2", "3-3"};
  const int64_t one[3] = {5, 5, 5}, unknown[2] = {-1, 4};
  cf_split_opts o = shares(0.1, 0);
  cf_split s;

  assert_int_equal(cf_split_create(&o, one, 3, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "1 universes"));
  assert_null(s.universe);
  assert_int_equal(cf_split_create(&o, unknown, 2, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "data.split.samples_per_universe"));
  o.samples_per_universe = 1;
  assert_int_equal(cf_split_create(&o, unknown, 2, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "1 of 2 samples say which universe"));
  o.samples_per_universe = 2;
  assert_int_equal(cf_split_create(&o, (int64_t[]){-1, -1, -1}, 3, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "3 samples are not a multiple"));
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    assert_int_equal(cf_split_of_lists(bad[k], "", 0, one, 3, &s), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "no list of universes"));
  }
}

/* Samples of a universe share their labels; universes that do are remarked. */
static void labels_are_those_of_universes(void **state)
{
  const float label[8][2] = {{0.1f, 0.2f}, {0.1f, 0.2f}, {0.3f, 0.2f}, {0.3f, 0.2f},
                             {0.5f, 0.2f}, {0.5f, 0.2f}, {0.1f, 0.2f}, {0.1f, 0.2f}};
  int64_t unknown[8], universe[8];
  cf_split_opts o = shares(1, 0);
  cf_split s;

  for (int i = 0; i < 8; i++) {
    unknown[i] = -1;
    universe[i] = i;
  }
  o.samples_per_universe = 4;
  assert_ok(cf_split_create(&o, unknown, 8, &s));
  assert_int_equal(cf_split_check_labels(&s, 2, &label[0][0]), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "data.split.samples_per_universe: samples 1 and 3"));
  cf_split_fini(&s);
  o.samples_per_universe = 2;
  assert_ok(cf_split_create(&o, unknown, 8, &s));
  assert_ok(cf_split_check_labels(&s, 2, &label[0][0]));
  cf_split_fini(&s);
  assert_ok(cf_split_create(&o, universe, 8, &s)); /* those of the files */
  assert_int_equal(s.samples_per_universe, 0);
  assert_ok(cf_split_check_labels(&s, 2, &label[0][0]));
  cf_split_fini(&s);
  universe[7] = 2;
  assert_ok(cf_split_create(&o, universe, 8, &s));
  assert_int_equal(cf_split_check_labels(&s, 2, &label[0][0]), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "universe: samples 3 and 8 are of universe 2"));
  cf_split_fini(&s);
}

static void count_warnings(void *context, weir_log_level level, const char *module,
                           const char *text)
{
  *(int *)context += level == WEIR_LOG_WARN;
}

/* One of several ranks with the same samples warns. */
static void a_quiet_split_does_not_warn(void **state)
{
  const float label[4] = {0.5f, 0.5f, 0.5f, 0.5f};
  const int64_t universe[4] = {0, 1, 2, 3};
  cf_split_opts o = shares(1, 0);
  cf_split s;

  o.samples_per_universe = 2;
  for (int quiet = 0; quiet < 2; quiet++) {
    int warned = 0;

    o.quiet = quiet;
    weir_log_set_sink(count_warnings, &warned);
    assert_ok(cf_split_create(&o, universe, 4, &s)); /* the files contradict the option */
    assert_ok(cf_split_check_labels(&s, 1, label));  /* all share their label */
    weir_log_set_sink(NULL, NULL);
    assert_int_equal(warned, quiet ? 0 : 2);
    cf_split_fini(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(universes_stay_whole),
      cmocka_unit_test(parts_have_the_size_that_is_asked_for),
      cmocka_unit_test(the_last_universes_of_a_set),
      cmocka_unit_test(lists_carry_a_split),
      cmocka_unit_test(a_share_fits_any_set),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(labels_are_those_of_universes),
      cmocka_unit_test(a_quiet_split_does_not_warn),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
