/* score_test.c - bxb's own counts on 39 annotation files, and what must hold for any beats. */
#include "base/weir_check.h"
#include <stdlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_random.h"
#include "eval/beats.h"
#include "eval/score.h"

static const ps_score_opts usual = {.start = 300.0, .window = 0.15};

/* The errors listed are those counted: beats of their side, in the order of their side's times, and
 * the first of them where fewer are asked for. */
static void compare_errors(const ps_score_input *in, const ps_score *s)
{
  ps_score_error *all = calloc((size_t)(s->fn + s->fp) + 3, sizeof *all), few[2];
  int64_t n = -1, n_few = -1, at[2] = {0, 0}, count[2] = {0, 0};

  assert_ok(ps_score_errors(&usual, in, s->fn + s->fp + 3, all, &n));
  assert_int_equal(n, s->fn + s->fp);
  for (int64_t i = 0; i < n; i++) {
    const int side = all[i].missed;
    const int64_t *times = side ? in->reference : in->test;
    const int64_t length = side ? in->n_reference : in->n_test;

    while (at[side] < length && times[at[side]] != all[i].time) {
      at[side]++;
    }
    assert_true(at[side]++ < length);
    count[side]++;
  }
  assert_int_equal(count[1], s->fn);
  assert_int_equal(count[0], s->fp);
  assert_ok(ps_score_errors(&usual, in, 2, few, &n_few));
  assert_int_equal(n_few, n < 2 ? n : 2);
  for (int64_t i = 0; i < n_few; i++) {
    assert_true(few[i].time == all[i].time && few[i].missed == all[i].missed);
  }
  free(all);
}

/* As many pairs, missed and false beats as are counted; partners are each other's, within the
 * window. */
static void compare_pairs(const ps_score_input *in, const ps_score *s)
{
  int64_t *of_test = calloc((size_t)in->n_test + 1, sizeof *of_test), pairs = 0, alone[2] = {0, 0};
  int64_t *of_reference = calloc((size_t)in->n_reference + 1, sizeof *of_reference);

  assert_ok(ps_score_pairs(&usual, in, of_test, of_reference));
  for (int64_t j = 0; j < in->n_test; j++) {
    const int64_t i = of_test[j];

    alone[0] += i == PS_SCORE_ALONE;
    pairs += i >= 0;
    assert_true(i < 0 || of_reference[i] == j);
    assert_true(i < 0 || llabs(in->reference[i] - in->test[j]) <= 54);
  }
  for (int64_t i = 0; i < in->n_reference; i++) {
    alone[1] += of_reference[i] == PS_SCORE_ALONE;
    pairs -= of_reference[i] >= 0;
  }
  assert_int_equal(pairs, 0);
  assert_int_equal(alone[0], s->fp);
  assert_int_equal(alone[1], s->fn);
  free(of_test);
  free(of_reference);
}

static ps_score score_of(const ps_beats *ref, const ps_beats *test)
{
  const ps_score_input in = {.reference = ref->times,
                             .n_reference = ref->n,
                             .test = test->times,
                             .n_test = test->n,
                             .excluded = ref->excluded,
                             .n_excluded = ref->n_excluded,
                             .rate = 360.0,
                             .length = 650000};
  ps_score s = {0};

  assert_ok(ps_score_record(&usual, &in, &s));
  compare_errors(&in, &s);
  compare_pairs(&in, &s);
  return s;
}

static void every_count_of_bxb_is_reproduced(void **state)
{
  char path[4096], line[256];
  ps_beats ref = {0}, test = {0};
  int rows = 0, wrong = 0;

  (void)state;
  weir_check_shared(path, sizeof path, "physio/bxb/expected.csv");
  FILE *f = fopen(path, "r");

  assert_non_null(f);
  while (fgets(line, sizeof line, f)) {
    char record[32], annotator[32];
    long tp, fn, fp;

    if (sscanf(line, "%31[^,],%31[^,],%ld,%ld,%ld", record, annotator, &tp, &fn, &fp) != 5) {
      continue;
    }
    weir_check_shared(path, sizeof path, "physio/wfdb/mitdb/%s.atr", record);
    assert_ok(ps_beats_read(path, &(ps_beats_clock){360, 1, 360, 1}, 650000, &ref));
    weir_check_shared(path, sizeof path, "physio/bxb/%s.%s", record, annotator);
    assert_ok(ps_beats_read(path, &(ps_beats_clock){360, 1, 360, 1}, 650000, &test));
    const ps_score s = score_of(&ref, &test);

    if (s.tp != tp || s.fn != fn || s.fp != fp) {
      print_message("%s.%s: %ld %ld %ld, bxb %ld %ld %ld\n", record, annotator, (long)s.tp,
                    (long)s.fn, (long)s.fp, tp, fn, fp);
      wrong++;
    }
    rows++;
    ps_beats_fini(&ref);
    ps_beats_fini(&test);
  }
  fclose(f);
  assert_int_equal(rows, 39);
  assert_int_equal(wrong, 0);
}

static void random_beats(ps_beats *b, uint64_t seed, int64_t n)
{
  int64_t time = 0;

  b->n = n;
  for (int64_t i = 0; i < n; i++) {
    time += 100 + (int64_t)(500.0 * weir_random_uniform(seed, 1, 0, (uint64_t)i));
    b->times[i] = time;
  }
}

static void a_record_scored_with_itself_is_perfect(void **state)
{
  static int64_t times[1500];
  ps_beats b = {.times = times};

  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    random_beats(&b, seed, 1500);
    int64_t scored = 0;

    for (int64_t i = 0; i < b.n; i++) {
      scored += b.times[i] >= 108000;
    }
    const ps_score s = score_of(&b, &b);

    assert_int_equal(s.tp, scored);
    assert_int_equal(s.fn + s.fp, 0);
    assert_near(ps_score_rr_error(&s), 0.0, 0.0);
  }
}

static void a_wandering_test_beat_gives_its_rr_error(void **state)
{
  static int64_t a[1000], b[1000];
  const ps_beats ref = {.times = a, .n = 1000}, test = {.times = b, .n = 1000};

  (void)state;
  for (int64_t i = 0; i < ref.n; i++) {
    ref.times[i] = 108000 + 300 * i;
    test.times[i] = ref.times[i] + (i & 1 ? 9 : 0);
  }
  const ps_score s = score_of(&ref, &test);

  assert_int_equal(s.n_rr, 999);
  assert_near(ps_score_rr_error(&s), 9.0 / 360.0, 1e-12);
}

static void beats_in_excluded_spans_are_counted_apart(void **state)
{
  const int64_t ref[] = {108100, 108500, 109000, 109400}, test[] = {108100, 108700, 109400};
  const ps_span span = {108400, 109100};
  const ps_score_input in = {.reference = ref,
                             .n_reference = 4,
                             .test = test,
                             .n_test = 3,
                             .excluded = &span,
                             .n_excluded = 1,
                             .rate = 360.0,
                             .length = 650000};
  ps_score s;

  (void)state;
  assert_ok(ps_score_record(&usual, &in, &s));
  assert_int_equal(s.tp, 2);
  assert_int_equal(s.fn + s.fp, 0);
  assert_int_equal(s.excluded, 3);
}

static void gross_pools_and_average_does_not(void **state)
{
  const ps_score records[] = {{.tp = 90, .fn = 10, .fp = 0}, {.tp = 300, .fn = 0, .fp = 100}};
  ps_score sum = records[0];

  (void)state;
  ps_score_add(&sum, &records[1]);
  assert_near(ps_score_sensitivity(&sum), 97.5, 1e-12);
  assert_near(ps_score_predictivity(&sum), 100.0 * 390.0 / 490.0, 1e-12);
  assert_near(ps_score_mean(records, 2).sensitivity, 95.0, 1e-12);
  assert_near(ps_score_mean(records, 2).predictivity, 87.5, 1e-12);
  assert_true(isnan(ps_score_mean(records, 0).sensitivity));
}

static void another_time_resolution_is_converted(void **state)
{
  char path[4096];
  ps_beats own = {0}, coarse = {0};

  (void)state;
  /* Made at 500 per second, its record has 125. */
  weir_check_shared(path, sizeof path, "physio/wfdb/mimic/03700181.gqrsh");
  assert_ok(ps_beats_read(path, &(ps_beats_clock){500, 1, 500, 1}, 300000, &own));
  assert_ok(ps_beats_read(path, &(ps_beats_clock){125, 1, 125, 1}, 75000, &coarse));
  assert_true(own.n > 1000 && own.n == coarse.n);
  for (int64_t i = 0; i < own.n; i++) {
    assert_int_equal(coarse.times[i], (own.times[i] + 2) / 4);
  }
  ps_beats_fini(&own);
  ps_beats_fini(&coarse);
}

static void a_record_that_ends_before_the_start_is_refused(void **state)
{
  const int64_t beat = 10;
  ps_score_input in = {.reference = &beat,
                       .n_reference = 1,
                       .test = &beat,
                       .n_test = 1,
                       .rate = 360.0,
                       .length = 5000};
  ps_score s;

  (void)state;
  assert_int_equal(ps_score_record(&usual, &in, &s), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "eval.start"));
  in.rate = NAN;
  assert_int_equal(ps_score_record(&usual, &in, &s), WEIR_ERR_DATA);
}

static void unordered_times_are_refused(void **state)
{
  const int64_t ref[] = {108000, 108300}, test[] = {108300, 108000};
  const ps_score_input in = {.reference = ref,
                             .n_reference = 2,
                             .test = test,
                             .n_test = 2,
                             .rate = 360.0,
                             .length = 650000};
  ps_score s;

  (void)state;
  assert_int_equal(ps_score_record(&usual, &in, &s), WEIR_ERR_DATA);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_count_of_bxb_is_reproduced),
      cmocka_unit_test(a_record_scored_with_itself_is_perfect),
      cmocka_unit_test(a_wandering_test_beat_gives_its_rr_error),
      cmocka_unit_test(beats_in_excluded_spans_are_counted_apart),
      cmocka_unit_test(gross_pools_and_average_does_not),
      cmocka_unit_test(another_time_resolution_is_converted),
      cmocka_unit_test(a_record_that_ends_before_the_start_is_refused),
      cmocka_unit_test(unordered_times_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
