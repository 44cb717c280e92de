/* sliding_priv.h - sums of products whose one factor is read at a sliding position, as the taps of
 * a filter (FIR) pass over a signal:
 *
 *   C[s, x, n] = sum over y, k of (sum over q of A[s, y, k, q]) B[s, x + slope y, k, n]
 *
 * where s, n, k and q each stand for any number of labels: q for those that B does not have, over
 * which taps are summed first. A strip of columns n of B is brought to planar form once for each k,
 * and serves every pair of x and y that reads it. The order of every sum is that of k, of y and of
 * q: never of threads, of how C falls into pieces, or of the instruction set. */
#ifndef SLIDING_PRIV_H
#define SLIDING_PRIV_H
#include <stdbool.h>
#include <stdint.h>

/* Outputs of a register block along x, at most. */
enum { SLIDING_OUTPUTS = 8 };

/* Strips of an array: column j of position p lies at `at` + column[j] + p * step elements, and
 * [strip, position, re | im, lane] numbers lie in planar form, `pitch` of them from strip to strip.
 * joined: columns lie one after the other. */
typedef struct sliding_strips {
  const int64_t *column;
  int64_t columns, step, positions, pitch;
  bool joined, conj;
} sliding_strips;

/* `blocks` register blocks of outputs; output i is summed over taps y, of positions
 * i + slope y of the window. taps: [n_taps] pairs re, im. */
typedef struct sliding_sums {
  const void *window, *taps;
  void *sums;
  int64_t blocks, n_taps, slope;
  /* Meanwhile the strip of the next k comes nearer: two lines at each of so many positions. */
  const char *ahead;
  int64_t n_ahead, step_bytes;
} sliding_sums;

/* Vector code of one dtype and instruction set. */
typedef struct sliding_kernels {
  int64_t lanes, outputs; /* numbers of a vector; outputs of a register block */
  /* To planar form; lanes beyond the columns are 0. */
  void (*pack)(void *planar, const void *at, const sliding_strips *s);
  /* Adds to n taps those at a + at[y] elements; `first`: stores them. */
  void (*merge)(void *taps, const void *a, const int64_t *at, int64_t n, bool first);
  void (*sum)(const sliding_sums *s); /* of one strip: adds to its sums */
  void (*store)(void *at, const void *planar, const sliding_strips *s);
} sliding_kernels;

extern const sliding_kernels weir_sliding_c64_avx2, weir_sliding_c128_avx2;
extern const sliding_kernels weir_sliding_c64_avx512, weir_sliding_c128_avx512;

#endif
