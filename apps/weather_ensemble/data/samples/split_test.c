/* split_test.c - subsets never touch: any ranges and gap leave them apart, whatever the order of
 * the samples; so do folds. */
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "data/date.h"
#include "data/samples/split.h"

enum { N = 200 };

static wx_times times_of(const double *start, const double *end, int64_t n)
{
  return (wx_times){"samples", n, start, end};
}

/* From the valid time of one to the start of the other, whichever is first. */
static bool is_apart(const wx_times *t, int64_t i, int64_t k, double gap)
{
  return t->start[i] - t->end[k] >= gap || t->start[k] - t->end[i] >= gap;
}

static void subsets_are_apart(const wx_times *f, const wx_split *s, double gap)
{
  for (int p = 0; p < WX_SUBSETS; p++) {
    for (int q = p + 1; q < WX_SUBSETS; q++) {
      for (int64_t i = 0; i < s->n[p]; i++) {
        for (int64_t k = 0; k < s->n[q]; k++) {
          assert_true(s->sample[p][i] != s->sample[q][k]);
          assert_true(is_apart(f, s->sample[p][i], s->sample[q][k], gap));
        }
      }
    }
  }
}

static void any_split_keeps_the_gap(void **state)
{
  for (uint32_t round = 0; round < 60; round++) {
    const double gap = 10 * weir_random_uniform(2, round, 0, 0);
    double time[N], end[N], border[3];
    char from[32], middle[32], to[32];
    wx_split s;

    for (uint64_t i = 0; i < N; i++) { /* in no order */
      time[i] = floor(4 * 300 * weir_random_uniform(2, round, 1, i)) / 4;
      end[i] = time[i] + 1 + (double)(i % 2);
    }
    for (uint64_t k = 0; k < 3; k++) {
      border[k] = 100 * (double)k + floor(99 * weir_random_uniform(2, round, 2, k));
    }
    wx_date_text(border[0], from, sizeof from);
    wx_date_text(border[1], middle, sizeof middle);
    wx_date_text(border[2], to, sizeof to);
    const wx_split_opts o = {
        .train = {"", ""}, .valid = {from, middle}, .test = {middle, to}, .gap = gap};
    const wx_times f = times_of(time, end, N);

    assert_ok(wx_split_create(&o, &f, &s));
    subsets_are_apart(&f, &s, gap);
    assert_int_equal(s.n[WX_TRAIN] + s.n[WX_VALID] + s.n[WX_TEST] + s.left_out, N);
    assert_true(s.n[WX_TRAIN] > 0 && s.n[WX_TEST] > 0); /* those of test all stay */
    wx_split_fini(&s);
  }
}

static void limits_are_half_open(void **state)
{
  const double time[] = {0, 1, 2, 3, 4, 5};
  const wx_times f = times_of(time, time, 6);
  const wx_split_opts o = {.train = {"", "1970-01-03"},
                           .valid = {"1970-01-03", "1970-01-05"},
                           .test = {"1970-01-06", ""}};
  wx_split s;

  assert_ok(wx_split_create(&o, &f, &s));
  assert_true(s.n[WX_TRAIN] == 2 && s.n[WX_VALID] == 2 && s.n[WX_TEST] == 1 && s.left_out == 1);
  assert_true(s.sample[WX_VALID][0] == 2 && s.last[WX_VALID] == 3 && s.first[WX_TEST] == 5);
  wx_split_fini(&s);
}

/* Every training sample is tested once, by a fold whose training keeps the gap to it. */
static void folds_do_not_see_what_they_correct(void **state)
{
  enum { FOLDS = 5 };
  const wx_split_opts o = {.train = {"", "1970-06-01"},
                           .valid = {"1970-06-01", "1970-08-01"},
                           .test = {"", ""},
                           .gap = 3};
  double time[N], end[N];
  int times_seen[N] = {0};
  wx_split s, fold;

  for (int i = 0; i < N; i++) {
    time[i] = i / 2; /* two leads */
    end[i] = time[i] + 1 + i % 2;
  }
  const wx_times t = times_of(time, end, N);

  assert_ok(wx_split_create(&o, &t, &s));
  for (int k = 0; k < FOLDS; k++) {
    assert_ok(wx_split_fold(&o, &t, &s, k, FOLDS, &fold));
    subsets_are_apart(&t, &fold, o.gap);
    assert_true(fold.n[WX_VALID] == s.n[WX_VALID]);
    for (int64_t i = 0; i < fold.n[WX_TEST]; i++) {
      times_seen[fold.sample[WX_TEST][i]]++;
    }
    wx_split_fini(&fold);
  }
  for (int64_t i = 0; i < s.n[WX_TRAIN]; i++) {
    assert_int_equal(times_seen[s.sample[WX_TRAIN][i]], 1);
  }
  assert_int_equal(wx_split_fold(&o, &t, &s, 0, 1, &fold), WEIR_ERR_CONFIG);
  wx_split_fini(&s);
}

static void refused(wx_split_opts o, const char *message)
{
  const double time[] = {0, 1};
  const wx_times f = times_of(time, time, 2);
  wx_split s;

  assert_int_equal(wx_split_create(&o, &f, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), message));
}

static void wrong_ranges_are_refused(void **state)
{
  refused((wx_split_opts){.train = {"", "soon"}, .valid = {"", ""}, .test = {"", ""}},
          "data.split.train.to: 'soon' is no date");
  refused(
      (wx_split_opts){.train = {"", ""}, .valid = {"2000-01-02", "2000-01-02"}, .test = {"", ""}},
      "data.split.valid: it ends");
  refused(
      (wx_split_opts){.train = {"", "2000-01-03"}, .valid = {"2000-01-02", ""}, .test = {"", ""}},
      "train and valid share times");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_split_keeps_the_gap),
      cmocka_unit_test(limits_are_half_open),
      cmocka_unit_test(folds_do_not_see_what_they_correct),
      cmocka_unit_test(wrong_ranges_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
