/* fft.c - twiddles, and which kernels. */
#include "device/weir_parallel.h"
#include "stream/op/filter/fft_priv.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

const weir_fft_kernels *filter_fft_kernels(void)
{
#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();

  if (cpu->avx512) {
    return &weir_fft_avx512;
  }
  if (cpu->avx2 && cpu->fma) {
    return &weir_fft_avx2;
  }
#endif
  return &weir_fft_base;
}

void filter_fft_init(weir_fft *f, int64_t n)
{
  float *twiddle = f->twiddle;

  f->n = n;
  for (int64_t m = n; m >= FFT_LANES; m /= 4) {
    for (int k = 1; k <= 3; k++) {
      for (int64_t j = 0; j < m / 4; j++) {
        const double angle = 2 * pi * (double)(k * j) / (double)m;

        twiddle[j] = (float)cos(angle);
        twiddle[m / 4 + j] = (float)-sin(angle);
      }
      twiddle += 2 * (m / 4);
    }
  }
}
