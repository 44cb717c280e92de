/* weir_sums.h - sums over ranges of samples, in f64: the same bits on every machine. */
#ifndef WEIR_SUMS_H
#define WEIR_SUMS_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Relative error: at most 256 additions in a row and a tree over blocks of 4096. A
 * variance below this fraction of its squared mean is rounding error. */
#define WEIR_SUMS_ROUNDING 1e-13

typedef struct weir_sums {
  double x, square;
} weir_sums;

/* Computes the sums of x[0] ... x[n - 1] and of their squares; the order of additions depends on n
 * alone. */
weir_sums weir_sums_of(const float *x, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
