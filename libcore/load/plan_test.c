/* plan_test.c - tiers against counts by brute force: no sample with a tier is accessed less often
 * than one without, or in a faster class than one that comes more often. */
#include "support/load/load_check.h"

static void tiers_follow_access_counts(void **state)
{
  for (int i = 0; i < 60; i++) {
    const weir_sampler o = {.samples = 40 + i % 7,
                            .batch = 8,
                            .step = 8,
                            .shuffle = i % 5 > 0,
                            .drop_last = i % 2 == 1,
                            .seed = (uint64_t)i};
    const weir_access_stream v = weir_access_stream_of(&o, i % 3, 3);
    const int64_t first = i * 5 % 31, end = first + 5 * v.each,
                  capacity[LOAD_CLASSES] = {i % 13, 9};
    int64_t times[64] = {0}, when[64], again = 0, n[LOAD_CLASSES + 1] = {0};
    load_plan p;

    for (int64_t k = end - 1; k >= first; k--) {
      when[weir_access_stream_sample(&v, k)] = k;
      times[weir_access_stream_sample(&v, k)]++;
    }
    assert_ok(load_plan_make(&v, first, end, capacity, NULL, &p));
    for (int64_t a = 0; a < o.samples; a++) {
      n[p.where[a]]++;
      again += times[a] > 1;
      assert_true(p.where[a] == LOAD_CLASSES || times[a] > 1);
      for (int64_t b = 0; b < o.samples; b++) {
        assert_true(p.where[a] >= p.where[b] || times[a] >= times[b]);
      }
    }
    assert_int_equal(n[0], again < capacity[0] ? again : capacity[0]);
    assert_int_equal(n[1], again - n[0] < capacity[1] ? again - n[0] : capacity[1]);
    for (int c = 0; c < LOAD_CLASSES; c++) {
      assert_int_equal(p.n[c], n[c]);
      for (int64_t k = 0; k < n[c]; k++) { /* the first sample of all is no exception */
        assert_int_equal(p.where[p.order[c][k]], c);
        assert_int_equal(p.slot[p.order[c][k]], k);
        assert_true(k == 0 || when[p.order[c][k]] > when[p.order[c][k - 1]]);
      }
    }
    load_plan_fini(&p);
  }
}

static weir_status make(void *context)
{
  const int64_t capacity[LOAD_CLASSES] = {5, 5};
  load_plan p;

  WEIR_TRY(load_plan_make(context, 0, 60, capacity, NULL, &p));
  load_plan_fini(&p);
  return WEIR_OK;
}

static void every_allocation_may_fail(void **state)
{
  const weir_sampler o = {.samples = 20, .batch = 2, .step = 2, .shuffle = true};
  weir_access_stream v = weir_access_stream_of(&o, 0, 1);

  assert_int_equal(weir_check_faults(make, &v), 5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tiers_follow_access_counts),
      cmocka_unit_test(every_allocation_may_fail),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
