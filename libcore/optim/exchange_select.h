/* exchange_select.h - selection of the elements of largest magnitude of an array of f32, f64 or
 * i64.
 *
 * Magnitudes are compared as keys: whole numbers in the same order, for floats the bits without the
 * sign. A NaN has a larger key than any number, so that it is always selected and never hidden. */
#ifndef WEIR_EXCHANGE_SELECT_H
#define WEIR_EXCHANGE_SELECT_H
#include "comm/weir_request.h"

/* Elements with their indices, ascending. The caller owns the memory, [capacity] each. */
typedef struct exchange_list {
  void *value;
  uint32_t *index;
  int64_t count;
} exchange_list;

/* Bins of exchange_kth: elements by 8 bits of their key. */
enum { EXCHANGE_BINS = 256 };

/* Returns the key of a magnitude, rounded to the dtype; and the magnitude of a key. Whole numbers
 * are exact up to 2^53. */
uint64_t exchange_key(weir_dtype dtype, double magnitude);
double exchange_magnitude(weir_dtype dtype, uint64_t key);
/* Finds the key of the k-th largest magnitude, 1 <= k <= n, by radix selection: a pass over x[n]
 * for each byte of an element. sum NULL: of x alone. Else of the arrays of all ranks together,
 * where n may be below k: sum is an allreduce of `bins`, i64 [EXCHANGE_BINS], run once a pass.
 * Collective then. Fails: as weir_request_run. */
weir_status exchange_kth(weir_dtype dtype, const void *x, int64_t n, int64_t k, int64_t *bins,
                         weir_request *sum, uint64_t *key) WEIR_CHECKED;
/* Counts elements with a larger key, and with that key. */
void exchange_count(weir_dtype dtype, const void *x, int64_t n, uint64_t key, int64_t *above,
                    int64_t *equal);
/* Fills the list with the elements of a larger key and the first `ties` of those with that key. The
 * index of x[0] is `first`. */
void exchange_select(weir_dtype dtype, const void *x, int64_t n, int64_t first, uint64_t key,
                     int64_t ties, exchange_list *out);
/* Fills the list with all elements of at least this key, unless these are more than `capacity`:
 * false then, and the list is of no use. */
bool exchange_select_from(weir_dtype dtype, const void *x, int64_t n, uint64_t key,
                          int64_t capacity, exchange_list *out);
/* Returns mean and standard deviation of x[n]. */
void exchange_moments(weir_dtype dtype, const void *x, int64_t n, double *mean, double *deviation);

#endif
