/* beats_test.c - unreadable stretches, time resolution and types of beats, from annotation files.
 */
#include "eval/beats.h"
#include <stdio.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "io/weir_annotation.h"

enum { UNREADABLE = -1, CLEAN = 0, FIRST_NOISY = 1, BOTH_UNREADABLE = 0x33, ONE_UNREADABLE = 0x12 };

static void read(int64_t fs, const weir_annotation *items, int64_t n, ps_beats *out)
{
  const weir_annotations a = {
      .fs_num = fs, .fs_den = fs > 0, .count = n, .items = (weir_annotation *)(uintptr_t)items};
  char dir[4096], path[4200];

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/a.qrs", dir);
  assert_ok(weir_annotations_write(path, &a));
  assert_ok(ps_beats_read(path, &(ps_beats_clock){100, 1, 100, 1}, 10000, out));
  weir_check_rmdir(dir);
}

static weir_annotation beat(int64_t time, int code)
{
  return (weir_annotation){.time = time, .code = code};
}

static weir_annotation noise(int64_t time, int subtype)
{
  return (weir_annotation){.time = time, .code = WEIR_ANN_NOISE, .subtype = subtype};
}

static int64_t intervals_of(const ps_beats *b, const ps_breaks *gaps, ps_interval *v, int64_t *nn)
{
  const int64_t n = ps_beats_intervals(b, gaps, v);

  *nn = 0;
  for (int64_t i = 0; i < n; i++) {
    *nn += v[i].counts;
  }
  return n;
}

/* Each beat is 100 after the one before. */
static void no_interval_crosses_an_unreadable_stretch(void **state)
{
  static const struct {
    int first, second; /* marks at 250 and 450 */
    int64_t n;         /* of five intervals    */
  } cases[] = {
      {UNREADABLE, CLEAN, 2},      /* 200-300, 300-400, 400-500 are broken       */
      {BOTH_UNREADABLE, CLEAN, 2}, /* bits 16 and 32                             */
      {UNREADABLE, FIRST_NOISY, 2},
      {UNREADABLE, ONE_UNREADABLE, 2}, /* bit 16 alone: one signal can be read    */
      {ONE_UNREADABLE, CLEAN, 5},      /* noisy, but signal                      */
      {FIRST_NOISY, CLEAN, 5},
      {UNREADABLE, UNREADABLE, 3}, /* single marks, as in the AHA database: up to the next beat */
  };

  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    const weir_annotation items[] = {beat(100, WEIR_ANN_NORMAL), beat(200, WEIR_ANN_NORMAL),
                                     noise(250, cases[c].first), beat(300, WEIR_ANN_NORMAL),
                                     beat(400, WEIR_ANN_NORMAL), noise(450, cases[c].second),
                                     beat(500, WEIR_ANN_NORMAL), beat(600, WEIR_ANN_NORMAL)};
    ps_interval v[6];
    ps_beats b = {0};
    int64_t nn;

    read(0, items, 8, &b);
    assert_int_equal(b.n, 6);
    assert_int_equal(intervals_of(&b, NULL, v, &nn), cases[c].n);
    ps_beats_fini(&b);
  }
}

static void gaps_of_the_record_break_intervals_exactly(void **state)
{
  const weir_annotation items[] = {beat(100, 1), beat(200, 1), beat(300, 1), beat(400, 1)};
  ps_breaks gaps = {0};
  ps_interval v[4];
  ps_beats b = {0};
  int64_t nn;

  (void)state;
  read(0, items, 4, &b);
  assert_ok(ps_breaks_add(&gaps, 0, 100));      /* ends where the first beat is */
  assert_ok(ps_breaks_add(&gaps, 250, 250.5));  /* less than a sample          */
  assert_ok(ps_breaks_add(&gaps, 400.25, 900)); /* begins after the last       */
  assert_int_equal(intervals_of(&b, &gaps, v, &nn), 2);
  assert_true(v[0].end == 200 && v[1].end == 400 && !v[1].joined);
  weir_free(&gaps.v);
  ps_beats_fini(&b);
}

/* 1000 units a second, 100 samples: intervals of 0.803 and 0.797 s are no 0.8 s. */
static void intervals_keep_the_resolution_of_the_file(void **state)
{
  const weir_annotation items[] = {beat(1000, 1), beat(1803, 1), beat(2600, 1)};
  ps_interval v[3];
  ps_beats b = {0};
  int64_t nn;

  (void)state;
  read(1000, items, 3, &b);
  assert_int_equal(intervals_of(&b, NULL, v, &nn), 2);
  assert_near(v[0].length, 80.3, 1e-12);
  assert_near(v[1].length, 79.7, 1e-12);
  assert_int_equal(b.times[1], 180);
  ps_beats_fini(&b);
}

/* 30/1001 of 11111 Hz: no decimal fraction, written with 17 digits. */
static void a_rate_without_end_is_that_of_the_record(void **state)
{
  enum { NUM = 333330, DEN = 1001, LATE = 1000000000 };
  weir_annotation items[] = {beat(1, 1), beat(LATE, 1)};
  const weir_annotations a = {.fs_num = NUM, .fs_den = DEN, .count = 2, .items = items};
  char dir[4096], path[4200];
  ps_beats b;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/a.qrs", dir);
  assert_ok(weir_annotations_write(path, &a));
  assert_ok(ps_beats_read(path, &(ps_beats_clock){NUM, DEN, NUM, DEN}, INT64_MAX / 8, &b));
  weir_check_rmdir(dir);
  assert_true(b.n == 2 && b.times[1] == LATE && b.position[1] == (double)LATE);
  ps_beats_fini(&b);
}

/* The reference: N V N N N; the test, all N, misses the fourth and has a false one. */
static void types_of_a_reference_are_taken(void **state)
{
  const weir_annotation truth[] = {beat(100, WEIR_ANN_NORMAL), beat(180, WEIR_ANN_PVC),
                                   beat(300, WEIR_ANN_NORMAL), beat(400, WEIR_ANN_NORMAL),
                                   beat(500, WEIR_ANN_NORMAL), beat(600, WEIR_ANN_NORMAL),
                                   beat(700, WEIR_ANN_NORMAL)};
  const weir_annotation found[] = {beat(102, 1), beat(181, 1), beat(299, 1), beat(500, 1),
                                   beat(603, 1), beat(650, 1), beat(700, 1)};
  static const int64_t match[] = {0, 1, 2, 4, 5, -1, 6};
  ps_beats reference = {0}, test = {0}, plain = {0};
  ps_interval v[7];
  int64_t nn;

  (void)state;
  read(0, truth, 7, &reference);
  read(0, found, 7, &test);
  read(0, found, 7, &plain);
  assert_true(reference.typed && !test.typed);
  assert_ok(ps_beats_match(&test, &reference, 15));
  for (int k = 0; k < 7; k++) {
    assert_int_equal(test.match[k], match[k]);
  }
  assert_int_equal(intervals_of(&test, NULL, v, &nn), 6);
  assert_int_equal(nn, 1); /* 500 to 603 */
  assert_true(v[3].counts);
  /* A reference that tells no beats apart has no types to give. */
  assert_ok(ps_beats_match(&test, &plain, 15));
  assert_ok(ps_beats_match(&plain, &plain, 15));
  assert_null(plain.match);
  assert_int_equal(intervals_of(&plain, NULL, v, &nn), 6);
  assert_int_equal(nn, 6);
  ps_beats_fini(&reference);
  ps_beats_fini(&test);
  ps_beats_fini(&plain);
}

static void beats_after_the_end_are_left_out_and_counted(void **state)
{
  const weir_annotation items[] = {beat(9900, 1), beat(10000, 1), beat(10001, WEIR_ANN_PVC),
                                   beat(20000, 1)};
  ps_beats b;

  (void)state;
  read(0, items, 4, &b);
  assert_int_equal(b.n, 2);
  assert_int_equal(b.times[1], 10000);
  assert_int_equal(b.beyond, 2);
  assert_false(b.typed);
  ps_beats_fini(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_interval_crosses_an_unreadable_stretch),
      cmocka_unit_test(gaps_of_the_record_break_intervals_exactly),
      cmocka_unit_test(intervals_keep_the_resolution_of_the_file),
      cmocka_unit_test(a_rate_without_end_is_that_of_the_record),
      cmocka_unit_test(types_of_a_reference_are_taken),
      cmocka_unit_test(beats_after_the_end_are_left_out_and_counted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
