/* absent.c - weir_fft_plan.h where there is no FFTW. */
#include "ops/fft/weir_fft_plan.h"

bool weir_fft_plan_available(void)
{
  return false;
}

weir_status weir_fft_plan_create(const weir_fft_plan_spec *spec, weir_fft_plan **out)
{
  (void)spec;
  *out = NULL;
  return weir_fail(
      WEIR_ERR_UNSUPPORTED,
      "fft: this build has no Fourier transforms: install FFTW (libfftw3-dev) and build again");
}

void weir_fft_plan_run(const weir_fft_plan *plan, void *in, void *out)
{
  (void)plan;
  (void)in;
  (void)out;
}

void weir_fft_plan_destroy(weir_fft_plan **plan)
{
  *plan = NULL;
}
