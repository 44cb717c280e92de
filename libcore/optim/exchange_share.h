/* exchange_share.h - the elements of a mean over ranks (exchange_butterfly.h) that one rank
 * reduces, and what became of them. */
#ifndef WEIR_EXCHANGE_SHARE_H
#define WEIR_EXCHANGE_SHARE_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum exchange_outcome {
  EXCHANGE_FAILED,   /* no mean came */
  EXCHANGE_LEFT_OUT, /* a mean without the contribution of this rank */
  EXCHANGE_TAKEN
} exchange_outcome;

/* Of the last version of a mean. */
typedef struct exchange_share {
  int64_t begin, total; /* its segment of all elements */
  int64_t first, count; /* elements begin + (first + i) mod total, i = 0 .. count - 1 */
  exchange_outcome outcome;
  double weight; /* sum of the weights in the mean */
} exchange_share;

/* Copies the elements of `size` bytes of the share between a contiguous buffer and all elements. */
void exchange_share_get(const exchange_share *s, size_t size, const void *all, void *to);
void exchange_share_put(const exchange_share *s, size_t size, const void *from, void *all);
/* Sets its elements of all to zero. */
void exchange_share_clear(const exchange_share *s, size_t size, void *all);

#ifdef __cplusplus
}
#endif
#endif
