/* sums_kernel.h - sums of one block in 16 lanes, in vectors as wide as the machine's. Before it, a
 * source defines TABLE. */
#include <string.h>
#if defined(__AVX__)
#include <immintrin.h>
#endif
#include "stream/sums_priv.h"

#if defined(__AVX512F__)
#define WIDE 8
#elif defined(__AVX__)
#define WIDE 4
#else
#define WIDE 2
#endif
enum { LANES = 16, VECTORS = LANES / WIDE };

typedef float samples __attribute__((vector_size(WIDE * sizeof(float))));
typedef double wide __attribute__((vector_size(WIDE * sizeof(double))));

typedef struct lanes {
  wide sum[VECTORS], square[VECTORS];
} lanes;

/* WIDE samples as doubles; the sum with a square, which is exact: fused or not, the same bits. What
 * the compiler makes of the general form takes twice as long. */
static inline __attribute__((always_inline)) wide widened(const float *x)
{
#if defined(__AVX512F__)
  return _mm512_cvtps_pd(_mm256_loadu_ps(x));
#elif defined(__AVX__)
  return _mm256_cvtps_pd(_mm_loadu_ps(x));
#else
  samples s;

  memcpy(&s, x, sizeof s);
  return __builtin_convertvector(s, wide);
#endif
}

static inline __attribute__((always_inline)) wide plus_square(wide sum, wide v)
{
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(v, v, sum);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(v, v, sum);
#else
  return sum + v * v;
#endif
}

static inline __attribute__((always_inline)) void take(lanes *all, const float *x)
{
  for (int k = 0; k < VECTORS; k++) {
    const wide v = widened(x + WIDE * k);

    all->sum[k] += v;
    all->square[k] = plus_square(all->square[k], v);
  }
}

static double total(const wide *vectors)
{
  double lane[LANES];

  memcpy(lane, vectors, sizeof lane);
  for (int half = LANES / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; k++) {
      lane[k] += lane[k + half];
    }
  }
  return lane[0];
}

/* Same order of additions for the same n: the end is filled up with zeros. */
static weir_sums of_block(const float *x, int64_t n)
{
  float end[LANES] = {0};
  lanes all = {{{0}}, {{0}}};
  int64_t i = 0;

  for (; i + LANES <= n; i += LANES) {
    take(&all, x + i);
  }
  if (i < n) {
    memcpy(end, x + i, (size_t)(n - i) * sizeof *end);
    take(&all, end);
  }
  return (weir_sums){total(all.sum), total(all.square)};
}

const sums_kernel TABLE = of_block;
