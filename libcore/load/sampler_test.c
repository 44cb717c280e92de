/* sampler_test.c - the visits of all groups are the order, each position once, against one that
 * walks through it; the law of how often a group visits a sample. */
#include "load/weir_sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"

static const weir_sampler orders[] = {
    {.samples = 1, .batch = 1, .step = 1, .shuffle = true},
    {.samples = 5, .batch = 8, .step = 8, .shuffle = true, .seed = 3},
    {.samples = 23, .batch = 4, .step = 4, .shuffle = true, .seed = 4},
    {.samples = 24, .batch = 4, .step = 8, .shuffle = false},
    {.samples = 29, .batch = 4, .step = 12, .shuffle = true, .drop_last = true, .seed = 9},
    {.samples = 29, .batch = 5, .step = 10, .shuffle = true, .seed = 9},
    {.samples = 7, .batch = 9, .step = 9, .shuffle = true, .drop_last = true},
};

/* Walks through batches and shares as training does, and finds the visits of each group in turn. */
static void visits_are_the_order(void **state)
{
  enum { EPOCHS = 3, MAX = 32 };

  for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
    const weir_sampler *const o = &orders[i];
    const int64_t epoch = weir_sampler_epoch(o);

    for (int64_t of = 1; of <= 7; of++) {
      for (int64_t at = 0; at < of; at++) {
        const weir_access_stream v = weir_access_stream_of(o, at, of);
        int64_t visit = 0;

        for (int64_t e = 0; e < EPOCHS; e++) {
          for (int64_t p = 0; p < epoch; p += o->batch) {
            const int64_t n = epoch - p < o->batch ? epoch - p : o->batch;
            int64_t sample[MAX], lo, hi;

            weir_sampler_take(o, e, p, n, sample);
            weir_sampler_share(n, at, of, &lo, &hi);
            assert_int_equal(weir_access_stream_from(&v, e, p), visit);
            for (int64_t k = lo; k < hi; k++, visit++) {
              assert_int_equal(weir_access_stream_position(&v, visit), p + k);
              assert_int_equal(weir_access_stream_sample(&v, visit), sample[k]);
            }
          }
          assert_int_equal(visit, (e + 1) * v.each);
          assert_int_equal(weir_access_stream_from(&v, e, epoch), visit);
        }
      }
    }
  }
}

static void every_sample_comes_once_in_an_epoch(void **state)
{
  for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
    const weir_sampler *const o = &orders[i];
    const int64_t of = 3;

    for (int64_t e = 0; e < 2; e++) {
      int seen[32] = {0};
      int64_t n = 0;

      for (int64_t at = 0; at < of; at++) {
        const weir_access_stream v = weir_access_stream_of(o, at, of);

        for (int64_t k = 0; k < v.each; k++, n++) {
          assert_int_equal(seen[weir_access_stream_sample(&v, e * v.each + k)]++, 0);
        }
      }
      assert_int_equal(n, weir_sampler_epoch(o));
      assert_true(n == o->samples || (o->drop_last && n == o->samples / o->step * o->step));
    }
  }
}

static void shares_are_even_and_whole(void **state)
{
  for (int64_t n = 0; n < 40; n++) {
    for (int64_t of = 1; of < 12; of++) {
      int64_t next = 0;

      for (int64_t at = 0; at < of; at++) {
        int64_t lo, hi;

        weir_sampler_share(n, at, of, &lo, &hi);
        assert_int_equal(lo, next);
        assert_true(hi - lo == n / of || hi - lo == n / of + 1);
        next = hi;
      }
      assert_int_equal(next, n);
    }
  }
}

/* P(X > most) for X of Binomial(e, 1 / n). */
static double above(int e, int n, int most)
{
  double sum = 0;

  for (int k = most + 1; k <= e; k++) {
    sum += exp(lgamma(e + 1) - lgamma(k + 1) - lgamma(e - k + 1) - k * log(n) +
               (e - k) * log1p(-1.0 / n));
  }
  return sum;
}

/* How often one of N groups visits a sample in E epochs (Dryden et al., SC'21, section 3): of
 * 1,281,167 samples 31,635 come more than ten times to one of 16 groups in 90 epochs. */
static void frequencies_follow_the_binomial_law(void **state)
{
  enum { N = 16, E = 90, F = 4096, OFTEN = 10 };
  const weir_sampler o = {.samples = F, .batch = 64, .step = 64, .shuffle = true, .seed = 21};
  static int count[F];
  int64_t often = 0;

  assert_int_equal(llround(1281167 * above(E, N, OFTEN)), 31635);
  for (int64_t at = 0; at < N; at += 5) {
    const weir_access_stream v = weir_access_stream_of(&o, at, N);

    memset(count, 0, sizeof count);
    assert_int_equal(v.each, F / N);
    for (int64_t k = 0; k < E * v.each; k++) {
      count[weir_access_stream_sample(&v, k)]++;
    }
    for (int i = 0; i < F; i++) {
      often += count[i] > OFTEN;
    }
  }
  const double expected = 4 * F * above(E, N, OFTEN); /* of four groups: 405, sigma 20 */

  assert_true(fabs((double)often - expected) < 4 * sqrt(expected));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(visits_are_the_order),
      cmocka_unit_test(every_sample_comes_once_in_an_epoch),
      cmocka_unit_test(shares_are_even_and_whole),
      cmocka_unit_test(frequencies_follow_the_binomial_law),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
