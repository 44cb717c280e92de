/* fft_priv.h - Fourier transforms of 4^k complex f32 for convolutions: forward from natural order
 * into a special order, back from there. Radix 4, sums and products in one order without fused
 * operations, so that every instruction set gives the same bits. */
#ifndef WEIR_FFT_PRIV_H
#define WEIR_FFT_PRIV_H
#include <stdint.h>

enum { FFT_MIN = 1024, FFT_MAX = 16384, FFT_LANES = 16 };

/* For m = n, n/4, ..., 16: cosines and sines of 2 pi k j / m, [k = 1..3][cos, -sin][j < m/4]. */
typedef struct weir_fft {
  int64_t n;
  _Alignas(64) float twiddle[2 * FFT_MAX];
} weir_fft;

/* re[n], im[n] in place; back is not divided by n. */
typedef struct weir_fft_kernels {
  void (*forward)(const weir_fft *f, float *re, float *im);
  void (*back)(const weir_fft *f, float *re, float *im);
  /* re, im times h, element by element */
  void (*multiply)(int64_t n, float *re, float *im, const float *h_re, const float *h_im);
} weir_fft_kernels;

extern const weir_fft_kernels weir_fft_base;
#if defined(__x86_64__)
extern const weir_fft_kernels weir_fft_avx2, weir_fft_avx512;
#endif
/* Those of this processor. */
const weir_fft_kernels *filter_fft_kernels(void);

/* n: a power of 4 from FFT_MIN to FFT_MAX. */
void filter_fft_init(weir_fft *f, int64_t n);
#endif
