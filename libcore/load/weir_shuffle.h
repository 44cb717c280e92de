/* weir_shuffle.h - random sample order of an epoch with random access: a resumed run needs only its
 * position. */
#ifndef WEIR_SHUFFLE_H
#define WEIR_SHUFFLE_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* A permutation of [0, n), determined by seed and epoch. */
typedef struct weir_shuffle {
  int64_t n;
  uint64_t seed;
  uint32_t epoch;
  int half; /* bits of each half of a position */
} weir_shuffle;

/* 0 <= n < 2^60. */
weir_shuffle weir_shuffle_of(int64_t n, uint64_t seed, int64_t epoch);
/* Returns the sample at a position of [0, n). */
int64_t weir_shuffle_at(const weir_shuffle *s, int64_t position);

#ifdef __cplusplus
}
#endif
#endif
