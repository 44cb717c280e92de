/* trained_test.c - subsets of samples from what weights say of themselves, and the text that tells
 * them. */
#include "data/samples/trained.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "data/date.h"

enum { INIT_TIMES = 90, LEADS = 2, N = INIT_TIMES * LEADS };

static double start[N], end[N];
static const wx_times times = {"a test", N, start, end};

/* Every 12 hours from 2000-01-01 on, to 24 and 48 h; lead by lead. */
static void fill_times(void)
{
  for (int i = 0; i < N; i++) {
    start[i] = 10957 + 0.5 * (i % INIT_TIMES);
    end[i] = start[i] + 1 + i / INIT_TIMES;
  }
}

static char *dates_of(const wx_split *s)
{
  char *text = NULL;

  assert_ok(wx_trained_dates(s, &times, &text));
  return text;
}

/* Test in the middle of training, so that the dates of training alone would not do. */
static const wx_split_opts in_the_middle = {
    .train = {"", ""},
    .valid = {"2000-02-08", "2000-02-11"},
    .test = {"2000-01-20", "2000-01-25"},
    .gap = 1,
};

static void of_split(const wx_split *s, int *subset)
{
  for (int i = 0; i < N; i++) {
    subset[i] = WX_SUBSETS;
  }
  for (int p = 0; p < WX_SUBSETS; p++) {
    for (int64_t i = 0; i < s->n[p]; i++) {
      subset[s->sample[p][i]] = p;
    }
  }
}

static void parts_are_those_of_the_split_of_training(void **state)
{
  wx_split s;
  int subset[N], expected[N], n[WX_SUBSETS + 1] = {0};

  (void)state;
  fill_times();
  assert_ok(wx_split_create(&in_the_middle, &times, &s));
  char *dates = dates_of(&s);

  assert_ok(wx_trained_subsets(&s, &times, dates, subset));
  weir_free(&dates);
  of_split(&s, expected);
  for (int i = 0; i < N; i++) {
    assert_int_equal(subset[i], expected[i]);
    n[subset[i]]++;
  }
  assert_true(n[WX_TRAIN] > 50 && n[WX_VALID] > 3 && n[WX_TEST] > 10 && n[WX_SUBSETS] > 5);
  wx_split_fini(&s);
}

/* Other ranges do not make a sample unseen; what lies outside the dates of training is. */
static void other_ranges_hide_no_training(void **state)
{
  const wx_split_opts hiding = {
      .train = {"", ""}, .valid = {"", ""}, .test = {"2000-01-01", "2000-03-01"}, .gap = 1};
  wx_split s, trained;
  char *dates;
  int subset[N];

  (void)state;
  fill_times();
  assert_ok(wx_split_create(&in_the_middle, &times, &trained));
  assert_ok(wx_split_create(&hiding, &times, &s));
  dates = dates_of(&trained);
  assert_ok(wx_trained_subsets(&s, &times, dates, subset));
  for (int64_t i = 0; i < trained.n[WX_TRAIN]; i++) {
    assert_int_equal(subset[trained.sample[WX_TRAIN][i]], WX_TRAIN);
  }
  for (int i = 0; i < N; i++) {
    start[i] += 400; /* a later archive, which data.split calls train */
    end[i] += 400;
  }
  wx_split_fini(&s);
  assert_ok(wx_split_create(&in_the_middle, &times, &s));
  assert_int_equal(s.n[WX_TRAIN], N);
  assert_ok(wx_trained_subsets(&s, &times, dates, subset));
  for (int i = 0; i < N; i++) {
    assert_int_equal(subset[i], WX_SUBSETS);
  }
  weir_free(&dates);
  wx_split_fini(&s);
  wx_split_fini(&trained);
}

/* Another test in the middle, with the same first and last dates of training: nothing that was
 * trained on becomes a test, and what was tested on or left out is not called trained. */
static void another_test_in_the_middle_is_seen(void **state)
{
  wx_split_opts moved = in_the_middle;
  wx_split s, trained;
  int subset[N], was[N], tests = 0;

  (void)state;
  fill_times();
  moved.test = (wx_range){"2000-01-22", "2000-01-28"};
  assert_ok(wx_split_create(&in_the_middle, &times, &trained));
  assert_ok(wx_split_create(&moved, &times, &s));
  for (int p = 0; p < WX_TEST; p++) {
    assert_true(s.first[p] == trained.first[p] && s.last[p] == trained.last[p]);
  }
  char *dates = dates_of(&trained);

  assert_ok(wx_trained_subsets(&s, &times, dates, subset));
  of_split(&trained, was);
  for (int i = 0; i < N; i++) {
    assert_true(was[i] != WX_TRAIN || subset[i] == WX_TRAIN);
    assert_true(was[i] != WX_VALID || subset[i] <= WX_VALID);
    assert_true(subset[i] != WX_TEST || was[i] >= WX_TEST);
    tests += subset[i] == WX_TEST;
  }
  assert_true(tests > 3);
  weir_free(&dates);
  wx_split_fini(&s);
  wx_split_fini(&trained);
}

/* Random subsets of random samples come back, start by start. */
static void texts_tell_every_start(void **state)
{
  (void)state;
  fill_times();
  for (uint32_t round = 0; round < 60; round++) {
    int subset[N], expected[INIT_TIMES];
    int64_t sample[N], n = 0;
    const int spell = 1 + (int)(round % 7); /* neighbours alike */
    char *text = NULL;

    for (int k = 0; k < INIT_TIMES; k++) {
      expected[k] = WX_SUBSETS;
    }
    for (int i = N - 1; i >= 0; i--) { /* not in the order of time */
      const int at = i % INIT_TIMES;

      subset[i] =
          (int)(weir_random_uniform(1, round, 0, (uint64_t)(at / spell)) * (WX_SUBSETS + 1));
      if (i >= INIT_TIMES && weir_random_uniform(1, round, 1, (uint64_t)i) < 0.2) {
        subset[i] = WX_SUBSETS; /* a lead in the gap */
      }
      sample[n++] = i;
      expected[at] = subset[i] < expected[at] ? subset[i] : expected[at];
    }
    assert_ok(wx_trained_text(&times, subset, sample, n, &text));
    for (int k = 0; k < INIT_TIMES; k++) {
      int found = -1;

      assert_ok(wx_trained_find(text, start[k], &found));
      assert_int_equal(found, expected[k]);
    }
    weir_free(&text);
    assert_ok(wx_trained_text(&times, subset, sample, 1, &text)); /* of one */
    assert_int_equal(strcspn(text, ";"), strlen(text));
    weir_free(&text);
  }
}

static void what_is_no_text_of_parts_is_refused(void **state)
{
  static const char *const wrong[] = {"trained: 2000-01-01 to 2000-02-01",
                                      "train",
                                      "train: ",
                                      "train: 2000-01-01",
                                      "train: 2000-01-01 to",
                                      "train: 2000-13-01 to 2000-02-01",
                                      "train: 2000-01-01 to 2000-02-01; ; ",
                                      "train: 2000-01-01; valid: none to none",
                                      ": to "};
  int subset = -1;

  (void)state;
  for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
    assert_int_equal(wx_trained_find(wrong[k], 0, &subset), WEIR_ERR_DATA);
  }
  assert_ok(wx_trained_find("", 0, &subset));
  assert_int_equal(subset, WX_SUBSETS);
  assert_ok(wx_trained_find("train: none to none; valid: 1970-01-01 to 1970-01-02", 0.5, &subset));
  assert_int_equal(subset, WX_VALID);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_are_those_of_the_split_of_training),
      cmocka_unit_test(other_ranges_hide_no_training),
      cmocka_unit_test(another_test_in_the_middle_is_seen),
      cmocka_unit_test(texts_tell_every_start),
      cmocka_unit_test(what_is_no_text_of_parts_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
