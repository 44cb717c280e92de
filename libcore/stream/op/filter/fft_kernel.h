/* fft_kernel.h - the transforms, for the compiler to vectorise. Before it, a source defines TABLE.
 */
#include <string.h>
#include "stream/op/filter/fft_priv.h"

/* The four elements of a butterfly are `apart` from each other. Twiddle k of element j: twiddle[2 k
 * wide + step j] and the same + wide. */
typedef struct butterfly {
  int64_t n, apart, wide, step;
} butterfly;

/* Butterflies of n elements, decimation in frequency. */
static inline __attribute__((always_inline)) void
radix4_dif_rows(butterfly g, float *restrict re, float *restrict im, float *restrict b,
                float *restrict bi, float *restrict c, float *restrict ci, float *restrict d,
                float *restrict di, const float *restrict twiddle)
{
  for (int64_t j = 0; j < g.n; j++) {
    const float *w = twiddle + g.step * j;
    const float sum = re[j] + c[j], sum_i = im[j] + ci[j];
    const float far = re[j] - c[j], far_i = im[j] - ci[j];
    const float odd = b[j] + d[j], odd_i = bi[j] + di[j];
    const float gap = b[j] - d[j], gap_i = bi[j] - di[j];
    const float u = far + gap_i, u_i = far_i - gap, v = sum - odd, v_i = sum_i - odd_i;
    const float x = far - gap_i, x_i = far_i + gap;

    re[j] = sum + odd;
    im[j] = sum_i + odd_i;
    b[j] = u * w[0] - u_i * w[g.wide];
    bi[j] = u * w[g.wide] + u_i * w[0];
    c[j] = v * w[2 * g.wide] - v_i * w[3 * g.wide];
    ci[j] = v * w[3 * g.wide] + v_i * w[2 * g.wide];
    d[j] = x * w[4 * g.wide] - x_i * w[5 * g.wide];
    di[j] = x * w[5 * g.wide] + x_i * w[4 * g.wide];
  }
}

static inline __attribute__((always_inline)) void radix4_dif(butterfly g, float *re, float *im,
                                                             const float *twiddle)
{
  const int64_t n = g.apart;

  radix4_dif_rows(g, re, im, re + n, im + n, re + 2 * n, im + 2 * n, re + 3 * n, im + 3 * n,
                  twiddle);
}

/* The inverse of `radix4_dif`, times 4; decimation in time. */
static inline __attribute__((always_inline)) void
radix4_dit_rows(butterfly g, float *restrict re, float *restrict im, float *restrict b,
                float *restrict bi, float *restrict c, float *restrict ci, float *restrict d,
                float *restrict di, const float *restrict twiddle)
{
  for (int64_t j = 0; j < g.n; j++) {
    const float *w = twiddle + g.step * j;
    const float u = b[j] * w[0] + bi[j] * w[g.wide], u_i = bi[j] * w[0] - b[j] * w[g.wide];
    const float v = c[j] * w[2 * g.wide] + ci[j] * w[3 * g.wide];
    const float v_i = ci[j] * w[2 * g.wide] - c[j] * w[3 * g.wide];
    const float x = d[j] * w[4 * g.wide] + di[j] * w[5 * g.wide];
    const float x_i = di[j] * w[4 * g.wide] - d[j] * w[5 * g.wide];
    const float sum = re[j] + v, sum_i = im[j] + v_i, far = re[j] - v, far_i = im[j] - v_i;
    const float odd = u + x, odd_i = u_i + x_i, gap = u - x, gap_i = u_i - x_i;

    re[j] = sum + odd;
    im[j] = sum_i + odd_i;
    c[j] = sum - odd;
    ci[j] = sum_i - odd_i;
    b[j] = far - gap_i;
    bi[j] = far_i + gap;
    d[j] = far + gap_i;
    di[j] = far_i - gap;
  }
}

static inline __attribute__((always_inline)) void radix4_dit(butterfly g, float *re, float *im,
                                                             const float *twiddle)
{
  const int64_t n = g.apart;

  radix4_dit_rows(g, re, im, re + n, im + n, re + 2 * n, im + 2 * n, re + 3 * n, im + 3 * n,
                  twiddle);
}

/* Rows and columns of 16 x 16 exchanged. */
static inline void transpose(float *restrict to, const float *restrict from)
{
  for (int i = 0; i < FFT_LANES; i++) {
    for (int k = 0; k < FFT_LANES; k++) {
      to[FFT_LANES * i + k] = from[FFT_LANES * k + i];
    }
  }
}

static const float unit_twiddle[6] = {1, 0, 1, 0, 1, 0};
enum { TILE = FFT_LANES * FFT_LANES };

/* 16 transforms of 16 side by side; they stay transposed. */
static void dif_tile(float *re, float *im, const float *twiddle)
{
  _Alignas(64) float t[TILE], u[TILE];

  transpose(t, re);
  transpose(u, im);
  for (int j = 0; j < 4; j++) {
    radix4_dif((butterfly){FFT_LANES, 4 * FFT_LANES, 4, 0}, t + FFT_LANES * j, u + FFT_LANES * j,
               twiddle + j);
  }
  for (int k = 0; k < TILE; k += 4 * FFT_LANES) {
    radix4_dif((butterfly){FFT_LANES, FFT_LANES, 1, 0}, t + k, u + k, unit_twiddle);
  }
  memcpy(re, t, sizeof t);
  memcpy(im, u, sizeof u);
}

static void dit_tile(float *re, float *im, const float *twiddle)
{
  _Alignas(64) float t[TILE], u[TILE];

  memcpy(t, re, sizeof t);
  memcpy(u, im, sizeof u);
  for (int k = 0; k < TILE; k += 4 * FFT_LANES) {
    radix4_dit((butterfly){FFT_LANES, FFT_LANES, 1, 0}, t + k, u + k, unit_twiddle);
  }
  for (int j = 0; j < 4; j++) {
    radix4_dit((butterfly){FFT_LANES, 4 * FFT_LANES, 4, 0}, t + FFT_LANES * j, u + FFT_LANES * j,
               twiddle + j);
  }
  transpose(re, t);
  transpose(im, u);
}

static void forward(const weir_fft *f, float *re, float *im)
{
  const float *twiddle = f->twiddle;

  for (int64_t m = f->n; m > FFT_LANES; twiddle += 6 * (m / 4), m /= 4) {
    for (int64_t i = 0; i < f->n; i += m) {
      radix4_dif((butterfly){m / 4, m / 4, m / 4, 1}, re + i, im + i, twiddle);
    }
  }
  for (int64_t i = 0; i < f->n; i += TILE) {
    dif_tile(re + i, im + i, twiddle);
  }
}

static void back(const weir_fft *f, float *re, float *im)
{
  const float *twiddle = f->twiddle;

  for (int64_t m = f->n; m > FFT_LANES; m /= 4) {
    twiddle += 6 * (m / 4);
  }
  for (int64_t i = 0; i < f->n; i += TILE) {
    dit_tile(re + i, im + i, twiddle);
  }
  for (int64_t m = 4 * FFT_LANES; m <= f->n; m *= 4) {
    twiddle -= 6 * (m / 4);
    for (int64_t i = 0; i < f->n; i += m) {
      radix4_dit((butterfly){m / 4, m / 4, m / 4, 1}, re + i, im + i, twiddle);
    }
  }
}

static void multiply(int64_t n, float *restrict re, float *restrict im, const float *restrict h_re,
                     const float *restrict h_im)
{
  for (int64_t i = 0; i < n; i++) {
    const float x = re[i], y = im[i];

    re[i] = x * h_re[i] - y * h_im[i];
    im[i] = x * h_im[i] + y * h_re[i];
  }
}

const weir_fft_kernels TABLE = {forward, back, multiply};
