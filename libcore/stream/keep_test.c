/* keep_test.c - results kept whole, in chunks of any length, small and past the caches. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "stream/weir_stream.h"

enum { MAX = 1 << 20 };

/* Chunks of random lengths, some skipped; `capacity` slots from byte `shift` of the memory on. */
static void check_keep(weir_dtype dtype, int64_t capacity, size_t shift, uint64_t seed)
{
  const size_t size = weir_dtype_size(dtype);
  void *memory = NULL, *chunk = NULL, *wanted = NULL;

  assert_ok(weir_alloc(capacity + 64, size, &memory));
  assert_ok(weir_alloc(capacity + 64, size, &wanted));
  assert_ok(weir_alloc(capacity + 64, size, &chunk));
  for (int64_t i = 0; i < capacity * (int64_t)size; i++) {
    ((uint8_t *)chunk)[i] = (uint8_t)weir_random_bits(seed, 1, 0, (uint64_t)i);
  }
  weir_stream_kept k = {(char *)memory + shift * size, capacity, 0};
  int64_t lo = 0;

  for (uint64_t n = 0; lo < capacity; n++) {
    const int64_t left = capacity - lo, max_n = n % 3 == 0 ? 70 : 1 + capacity / 5;
    int64_t hi = lo + (int64_t)(weir_random_bits(seed, 2, 0, n) % (uint64_t)max_n);

    hi = hi < lo + left ? hi : capacity;
    const weir_view v = {.data = (char *)chunk + (size_t)lo * size,
                         .dtype = dtype,
                         .rank = 1,
                         .origin = {lo},
                         .stride = {1},
                         .extent = {WEIR_UNBOUNDED}};

    if (n % 7 != 3) { /* else it is skipped */
      assert_ok(weir_stream_keep(&k, &v, lo, hi, hi == capacity));
      memcpy((char *)wanted + (shift + (size_t)lo) * size, v.data, (size_t)(hi - lo) * size);
      assert_int_equal(k.n, hi);
    }
    lo = hi > lo ? hi : lo + (n > 100);
  }
  assert_memory_equal(memory, wanted, (size_t)(capacity + 64) * size);
  weir_free(&memory);
  weir_free(&chunk);
  weir_free(&wanted);
}

static void chunks_come_together(void **state)
{
  for (uint64_t seed = 0; seed < 8; seed++) {
    check_keep(WEIR_F32, 1000 + (int64_t)seed, seed, seed);
    check_keep(WEIR_BOOL, 333, 0, seed);
    check_keep(WEIR_F32, MAX - (int64_t)seed, 3 * seed, seed); /* past the caches */
    check_keep(WEIR_F64, MAX / 2 + (int64_t)seed, seed, seed);
  }
}

static void more_than_there_is_room_for_is_refused(void **state)
{
  float x[10] = {1}, y[10] = {0};
  const weir_view v = {.data = x, .dtype = WEIR_F32, .rank = 1, .stride = {1}};
  weir_stream_kept k = {y, 9, 0};

  assert_int_equal(weir_stream_keep(&k, &v, 0, 10, true), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "the buffer holds 9"));
  assert_true(y[0] == 0);
  assert_ok(weir_stream_keep(&k, &v, 0, 9, true));
  assert_true(y[0] == 1 && k.n == 9);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chunks_come_together),
      cmocka_unit_test(more_than_there_is_room_for_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
