/* weir_shuffle.h - the order in which an epoch visits samples, known at any position without the
 * others: a resumed run needs only where it was. */
#ifndef WEIR_SHUFFLE_H
#define WEIR_SHUFFLE_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* A permutation of [0, n). Seed and epoch say which. */
typedef struct weir_shuffle {
  int64_t n;
  uint64_t seed;
  uint32_t epoch;
  int half; /* bits of each half of a position */
} weir_shuffle;

/* 0 <= n < 2^60. */
weir_shuffle weir_shuffle_of(int64_t n, uint64_t seed, int64_t epoch);
/* Sample at a position of [0, n). */
int64_t weir_shuffle_at(const weir_shuffle *s, int64_t position);

#ifdef __cplusplus
}
#endif
#endif
