/* weir_fft_plan.h - fast Fourier transforms by FFTW: plans of batched transforms, made once.
 *
 * For
 * the operator `fft` and for code with its own loops (spectral models). Transforms are not scaled:
 * backward after forward multiplies by the number of points. */
#ifndef WEIR_FFT_PLAN_H
#define WEIR_FFT_PLAN_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_dtype.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { WEIR_FFT_DIMS = 3, WEIR_FFT_LOOPS = 2 };

typedef enum weir_fft_kind {
  WEIR_FFT_FORWARD,  /* complex to complex, exp(-i k x)                                     */
  WEIR_FFT_BACKWARD, /* complex to complex, exp(+i k x)                                     */
  WEIR_FFT_REAL,     /* real to the n / 2 + 1 complex of the last dimension, exp(-i k x)    */
  WEIR_FFT_TO_REAL,  /* the inverse; its input is overwritten */
} weir_fft_kind;

/* n points (of the real side), whose strides count elements of input and output: reals on a real
 * side, pairs (re, im) on a complex one. */
typedef struct weir_fft_dim {
  int64_t n, in, out;
} weir_fft_dim;

typedef struct weir_fft_plan_spec {
  weir_dtype dtype; /* WEIR_F32 or WEIR_F64: of a real, or of each half of a complex number */
  weir_fft_kind kind;
  int rank, loops;
  weir_fft_dim dim[WEIR_FFT_DIMS];   /* [rank] transformed, slowest first */
  weir_fft_dim loop[WEIR_FFT_LOOPS]; /* [loops] repeated over             */
  bool in_place;                     /* input and output are one array    */
} weir_fft_plan_spec;

typedef struct weir_fft_plan weir_fft_plan;

/* Returns whether this build has the library. */
bool weir_fft_plan_available(void);
/* Creates a plan; thread-safe. The plan follows from a model of the machine, never from a
 * measurement: bitwise identical results in every run on the same processor with the same library.
 * Fails: WEIR_ERR_SHAPE, WEIR_ERR_MEMORY, WEIR_ERR_UNSUPPORTED (no library); *out is then NULL. */
weir_status weir_fft_plan_create(const weir_fft_plan_spec *spec, weir_fft_plan **out) WEIR_CHECKED;
/* Transforms `in` to `out`, both 16-byte aligned (for FFTW's vector code); thread-safe with
 * separate arrays. Complex input in a separate array is unchanged. */
void weir_fft_plan_run(const weir_fft_plan *plan, void *in, void *out);
void weir_fft_plan_destroy(weir_fft_plan **plan);

#ifdef __cplusplus
}
#endif
#endif
