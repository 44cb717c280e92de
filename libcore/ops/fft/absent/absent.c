/* absent.c - weir_fft.h where there is no FFTW. */
#include "ops/fft/weir_fft.h"

bool weir_fft_available(void)
{
  return false;
}

weir_status weir_fft_create(const weir_fft_spec *spec, weir_fft **out)
{
  (void)spec;
  *out = NULL;
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "fft: this build has no Fourier transforms; install FFTW (libfftw3-dev) and "
                   "build again");
}

void weir_fft_run(const weir_fft *plan, void *in, void *out)
{
  (void)plan;
  (void)in;
  (void)out;
}

void weir_fft_destroy(weir_fft **plan)
{
  *plan = NULL;
}
