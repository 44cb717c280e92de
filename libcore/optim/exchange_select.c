/* exchange_select.c - see exchange_select.h. */
#include "optim/exchange_select.h"

#include <math.h>
#include <string.h>

/* Calls a function of a dtype that is known when it is compiled: loops have no choice in them. */
#define BY_DTYPE(call, dtype, ...)                                     \
  ((dtype) == WEIR_F32   ? call(WEIR_F32, sizeof(float), __VA_ARGS__)  \
   : (dtype) == WEIR_F64 ? call(WEIR_F64, sizeof(double), __VA_ARGS__) \
                         : call(WEIR_I64, sizeof(int64_t), __VA_ARGS__))

static inline uint64_t key_at(weir_dtype dtype, const void *x, int64_t i)
{
  uint32_t narrow;
  uint64_t wide;

  if (dtype == WEIR_F32) {
    memcpy(&narrow, (const float *)x + i, sizeof narrow);
    return narrow & ~(UINT32_C(1) << 31);
  }
  memcpy(&wide, (const uint64_t *)x + i, sizeof wide);
  if (dtype == WEIR_F64) {
    return wide & ~(UINT64_C(1) << 63);
  }
  return wide >> 63 != 0 ? -wide : wide;
}

uint64_t exchange_key(weir_dtype dtype, double magnitude)
{
  const float narrow = (float)magnitude;
  const int64_t whole = magnitude < 9e18 ? (int64_t)ceil(magnitude) : INT64_MAX;

  return dtype == WEIR_F32   ? key_at(dtype, &narrow, 0)
         : dtype == WEIR_F64 ? key_at(dtype, &magnitude, 0)
                             : key_at(dtype, &whole, 0);
}

double exchange_magnitude(weir_dtype dtype, uint64_t key)
{
  const uint32_t bits = (uint32_t)key;
  float narrow;
  double wide;

  memcpy(&narrow, &bits, sizeof narrow);
  memcpy(&wide, &key, sizeof wide);
  return dtype == WEIR_F32 ? (double)narrow : dtype == WEIR_F64 ? wide : (double)key;
}

/* Elements whose bits `mask` of the key are `prefix`, by the 8 bits from `shift` on. */
static inline int count_bins(weir_dtype dtype, size_t size, const void *x, int64_t n, uint64_t mask,
                             uint64_t prefix, int shift, int64_t *bins)
{
  (void)size;
  memset(bins, 0, EXCHANGE_BINS * sizeof *bins);
  for (int64_t i = 0; i < n; i++) {
    const uint64_t key = key_at(dtype, x, i);

    if ((key & mask) == prefix) {
      bins[key >> shift & (EXCHANGE_BINS - 1)]++;
    }
  }
  return 0;
}

weir_status exchange_kth(weir_dtype dtype, const void *x, int64_t n, int64_t k, int64_t *bins,
                         weir_request *sum, uint64_t *key)
{
  uint64_t mask = 0, prefix = 0;

  for (int shift = 8 * (int)weir_dtype_size(dtype) - 8; shift >= 0; shift -= 8) {
    int d = EXCHANGE_BINS - 1;

    (void)BY_DTYPE(count_bins, dtype, x, n, mask, prefix, shift, bins);
    if (sum != NULL) {
      WEIR_TRY(weir_request_run(sum));
    }
    for (; d > 0 && bins[d] < k; d--) {
      k -= bins[d];
    }
    prefix |= (uint64_t)d << shift;
    mask |= (uint64_t)(EXCHANGE_BINS - 1) << shift;
  }
  *key = prefix;
  return WEIR_OK;
}

/* Few elements are sought among many: where a block has none, it is passed over at once, by
 * instructions for several elements. */
enum { BLOCK = 16 };

/* Whether one of the elements from `at` on has at least this key. */
static inline bool has_key(weir_dtype dtype, const void *x, int64_t at, uint64_t least)
{
  int32_t narrow = 0;
  bool wide = false;

  if (dtype == WEIR_F32) { /* keys below 2^31: as numbers of 32 bits with a sign */
    for (int64_t i = at; i < at + BLOCK; i++) {
      narrow |= (int32_t)least - 1 - (int32_t)key_at(dtype, x, i);
    }
    return narrow < 0;
  }
  for (int64_t i = at; i < at + BLOCK; i++) {
    wide |= key_at(dtype, x, i) >= least;
  }
  return wide;
}

/* The end of the next elements that are to be looked at one by one, from *at on. */
static inline int64_t next_elements(weir_dtype dtype, const void *x, int64_t n, uint64_t least,
                                    int64_t *at)
{
  while (*at + BLOCK <= n && !has_key(dtype, x, *at, least)) {
    *at += BLOCK;
  }
  return *at + BLOCK < n ? *at + BLOCK : n;
}

static inline int count_elements(weir_dtype dtype, size_t size, const void *x, int64_t n,
                                 uint64_t than, int64_t *above, int64_t *equal)
{
  int64_t larger = 0, same = 0;

  (void)size;
  for (int64_t i = 0; i < n;) {
    for (const int64_t end = next_elements(dtype, x, n, than, &i); i < end; i++) {
      const uint64_t key = key_at(dtype, x, i);

      larger += key > than;
      same += key == than;
    }
  }
  *above = larger;
  *equal = same;
  return 0;
}

void exchange_count(weir_dtype dtype, const void *x, int64_t n, uint64_t key, int64_t *above,
                    int64_t *equal)
{
  (void)BY_DTYPE(count_elements, dtype, x, n, key, above, equal);
}

/* As many as there are; of those only `capacity` are written. */
static inline int64_t select_elements(weir_dtype dtype, size_t size, const void *x, int64_t n,
                                      int64_t first, uint64_t than, int64_t ties, int64_t capacity,
                                      const exchange_list *out)
{
  int64_t count = 0;

  for (int64_t i = 0; i < n && count <= capacity;) {
    for (const int64_t end = next_elements(dtype, x, n, than, &i); i < end; i++) {
      const uint64_t key = key_at(dtype, x, i);

      if (key < than || (key == than && ties-- <= 0)) {
        continue;
      }
      if (count < capacity) {
        memcpy((char *)out->value + (size_t)count * size, (const char *)x + (size_t)i * size, size);
        out->index[count] = (uint32_t)(first + i);
      }
      count++;
    }
  }
  return count;
}

void exchange_select(weir_dtype dtype, const void *x, int64_t n, int64_t first, uint64_t key,
                     int64_t ties, exchange_list *out)
{
  out->count = BY_DTYPE(select_elements, dtype, x, n, first, key, ties, n, out);
}

bool exchange_select_from(weir_dtype dtype, const void *x, int64_t n, uint64_t key,
                          int64_t capacity, exchange_list *out)
{
  out->count = BY_DTYPE(select_elements, dtype, x, n, 0, key, n, capacity, out);
  return out->count <= capacity;
}

static inline double value_at(weir_dtype dtype, const void *x, int64_t i)
{
  return dtype == WEIR_F32   ? (double)((const float *)x)[i]
         : dtype == WEIR_F64 ? ((const double *)x)[i]
                             : (double)((const int64_t *)x)[i];
}

static inline int sum_powers(weir_dtype dtype, size_t size, const void *x, int64_t n, double centre,
                             double *first, double *second)
{
  double a = 0, b = 0;

  (void)size;
  for (int64_t i = 0; i < n; i++) {
    const double d = value_at(dtype, x, i) - centre;

    a += d;
    b += d * d;
  }
  *first = a;
  *second = b;
  return 0;
}

void exchange_moments(weir_dtype dtype, const void *x, int64_t n, double *mean, double *deviation)
{
  double first = 0, second = 0;

  (void)BY_DTYPE(sum_powers, dtype, x, n, 0.0, &first, &second);
  *mean = n > 0 ? first / (double)n : 0;
  (void)BY_DTYPE(sum_powers, dtype, x, n, *mean, &first, &second);
  *deviation = n > 0 ? sqrt(second / (double)n) : 0;
}
