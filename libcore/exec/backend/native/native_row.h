/* native_row.h - what a compiled kernel is handed: one row of iterations, along one dimension.
 *
 * Included by libweir and pasted, after graph/weir_scalar.h, in front of the emitted C: it needs no
 * other header there. A row is `inside` when no index of its iterations leaves an array; else the
 * kernel `border` runs it, which looks at every index of every iteration. */
#ifndef WEIR_NATIVE_ROW_H
#define WEIR_NATIVE_ROW_H
#ifndef WEIR_SCALAR_FREESTANDING
#include <stdint.h>
#endif

#define NATIVE_ABI 10 /* raise with every change of this file or of what the emitter writes */
#define NATIVE_RANK 10
#define NATIVE_DIMS 16
#define NATIVE_OPERANDS 16
#define NATIVE_OUTPUTS 8
#define NATIVE_TABLES 32
#define NATIVE_ABSENT (-0x7fffffffffffffffll - 1)

/* The same bytes as weir_view. */
typedef struct native_view {
  char *data;
  int32_t dtype, rank;
  int64_t origin[NATIVE_RANK], stride[NATIVE_RANK], extent[NATIVE_RANK];
} native_view;

typedef struct native_row {
  int64_t n;              /* iterations, > 0                                                  */
  int64_t i[NATIVE_DIMS]; /* the first one; it continues upwards, downwards for BACKWARD        */
  const char *p[NATIVE_OPERANDS]; /* element of the first iteration, plainly indexed inputs   */
  int64_t s[NATIVE_OPERANDS];     /* elements from one iteration to the next                  */
  char *q[NATIVE_OUTPUTS];
  int64_t t[NATIVE_OUTPUTS];
  /* unit, strided, even of loops that have a second dimension: m rows, and how far they are apart.
   * An input that is divided along it lies fold_step[k] elements further for every whole division
   * of fold[k] + the coefficient times the row. */
  int64_t m, row_step[NATIVE_OPERANDS], row_step_out[NATIVE_OUTPUTS];
  int64_t fold[NATIVE_OPERANDS], fold_step[NATIVE_OPERANDS];
  const native_view *in, *out;
  int64_t point, point_step; /* position among the parallel dimensions, and from one to the next */
  int64_t at;                /* position among the reduced dimensions, of the first iteration */
  char *acc[3]; /* partial results: 16 lanes; STRIP: of one output, those of a lane side by side */
  int64_t wide; /* STRIP: outputs in a lane                                                   */
  const int64_t *offset; /* small: elements from reduced iteration 0 to r, [r][NATIVE_OPERANDS] */
  char *cells; /* states of the point, `points` cells of 8 bytes apart                       */
  int64_t points;
  /* nest: elements from one iteration to the next along each dimension, but for array dimensions
   * that are looked up: entry numerator - min of a table is where they lie, after division and
   * border rule, or NATIVE_ABSENT. neutral: partial results of no iteration, like a lane. */
  const int64_t (*step)[NATIVE_DIMS];
  const int64_t *table[NATIVE_TABLES];
  int64_t min[NATIVE_TABLES];
  const char *neutral[3];
} native_row;

typedef struct native_kernels {
  void (*unit)(const native_row *w);    /* inside, every step 1 (or 0 where it is known to be) */
  void (*strided)(const native_row *w); /* inside; `border` where that is rare                 */
  void (*even)(const native_row *w);    /* unit, and every upsampled input is at one element      */
  void (*border)(const native_row *w);
  void (*neutral)(char *const *acc, int64_t n);                  /* n partial results           */
  void (*merge)(char *const *acc, char *const *with, int64_t n); /* acc on the left             */
  void (*finish)(const native_row *w);                           /* partial results to outputs  */
  void (*small)(const native_row *w); /* inside, steps 1: all reduced iterations of the outputs */
  void (*nest)(const native_row *w);  /* steps 1: m rows, all reduced iterations of each        */
} native_kernels;

/* A product that is rounded. gcc 12 fuses a product with the sum and the difference that follow it
 * (vfmaddsub) where real and imaginary parts are written side by side, in spite of
 * -ffp-contract=off. */
#define NATIVE_ROUNDED(x) (x)
#if defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
#undef NATIVE_ROUNDED
#define NATIVE_ROUNDED(x) __builtin_assoc_barrier(x)
#endif
#endif

/* Floor division and modulo; b > 0. */
static inline int64_t native_div(int64_t a, int64_t b)
{
  return a / b - (a % b < 0);
}
static inline int64_t native_mod(int64_t a, int64_t b)
{
  const int64_t r = a % b;

  return r < 0 ? r + b : r;
}
/* c ? a : b in whole words: vectors then need no masks of bytes, which not all of them have. */
#define NATIVE_PICK(t, T, U)                           \
  static inline T native_pick_##t(uint8_t c, T a, T b) \
  {                                                    \
    const U mask = (U)0 - (U)(((U)c + 255u) >> 8);     \
    U x, y;                                            \
    __builtin_memcpy(&x, &a, sizeof x);                \
    __builtin_memcpy(&y, &b, sizeof y);                \
    x = (x & mask) | (y & ~mask);                      \
    __builtin_memcpy(&a, &x, sizeof x);                \
    return a;                                          \
  }
NATIVE_PICK(f32, float, uint32_t)
NATIVE_PICK(f64, double, uint64_t)
NATIVE_PICK(i32, int32_t, uint32_t)
NATIVE_PICK(i64, int64_t, uint64_t)
static inline int native_outside(int64_t at, int64_t extent)
{
  return (at < 0) | (at >= extent);
}
/* The element that stands in for one outside; an array without elements has none. */
static inline int64_t native_wrap(int64_t at, int64_t extent)
{
  return native_outside(at, extent) && extent > 0 ? native_mod(at, extent) : at;
}
static inline int64_t native_replicate(int64_t at, int64_t extent)
{
  return at < 0 ? 0 : at >= extent ? extent - 1 : at;
}
static inline int64_t native_reflect(int64_t at, int64_t extent)
{
  if (!native_outside(at, extent)) {
    return at;
  }
  if (extent < 2) {
    return 0;
  }
  const int64_t folded = native_mod(at, 2 * (extent - 1));
  return folded < extent ? folded : 2 * (extent - 1) - folded;
}
#endif
