/* weir_fft.h - discrete Fourier transforms along one to three dimensions; the others are a batch.
 *
 * forward: y_k = scale * sum_j x_j exp(-2 pi i j k / n), backward with exp(+...), both of complex
 * arrays; real: forward of real arrays, whose last transformed dimension is kept up to n / 2;
 * to_real:
 * the inverse of real, of half a Hermitian array (imaginary parts that a Hermitian array cannot
 * have are ignored). With scale 1, backward after forward multiplies by the number of points.
 *
 * A spectrum may be truncated: of n points it holds w < n waves, the first (w + 1) / 2 of k = 0, 1,
 * .. and then the last w / 2 of k = n - w / 2, .., n - 1 (of real arrays, along the last dimension,
 * k = 0, .., w - 1). To it, the other waves are left out; from it, they are 0. */
#ifndef WEIR_FFT_H
#define WEIR_FFT_H
#include "ops/fft/weir_fft_plan.h"
#include "ops/weir_batch.h"
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_fft_spec {
  int32_t kind; /* weir_fft_kind */
  int32_t n_dims;
  int32_t dim[WEIR_FFT_DIMS];    /* ascending */
  int32_t odd;                   /* to_real: 1: the last of them gets an odd number of points */
  int64_t extent[WEIR_FFT_DIMS]; /* of the result, 0: all waves, or as many points as waves  */
  double scale;                  /* 0: 1 */
} weir_fft_spec;

extern const weir_op_desc weir_op_fft;

/* Transforms f32 and f64 (real), c64 and c128. Time cannot be transformed. */
weir_value weir_fft_at(weir_graph *g, weir_value x, const weir_fft_spec *spec, const char *where);
#define weir_fft(g, x, spec) weir_fft_at(g, x, spec, WEIR_WHERE)

/* ---- For the reference and kernels ---- */

/* Blocks of one point: the elements along the transformed dimensions, row by row. */
typedef struct weir_fft_block {
  int rank;
  int64_t n[WEIR_FFT_DIMS];  /* points, of the real side             */
  int64_t in[WEIR_FFT_DIMS]; /* elements read, and written */
  int64_t out[WEIR_FFT_DIMS];
  int64_t n_points, n_in, n_out; /* products of these                    */
} weir_fft_block;
weir_fft_block weir_fft_block_of(const weir_fft_spec *spec, const weir_access *a);
/* Returns the wave k of the element `at` of `waves` along transformed dimension `dim` of a spectrum
 * of n points. */
int64_t weir_fft_wave(const weir_fft_spec *spec, int dim, int64_t waves, int64_t n, int64_t at);
/* Returns whether the spectrum of a block lacks waves. */
bool weir_fft_truncated(const weir_fft_spec *spec, const weir_fft_block *b);
/* Returns rows `outer` of the block of operand o at the iteration, along its last two transformed
 * dimensions (one: one row); the first of three has as many of them. */
weir_matrix weir_fft_rows(const weir_fft_spec *spec, const weir_operand *o, int n_dims,
                          const weir_view *v, const int64_t *iteration, int64_t outer);

#ifdef __cplusplus
}
#endif
#endif
