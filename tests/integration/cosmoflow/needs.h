/* needs.h - tests that this build cannot run are skipped, with the reason. */
#ifndef COSMOFLOW_NEEDS_H
#define COSMOFLOW_NEEDS_H
#include <stdio.h>
#include "base/weir_check.h"
#include "io/weir_netcdf.h"
#include "ops/fft/weir_fft_plan.h"

#define NEEDS_LIBRARIES()                                                                     \
  do {                                                                                        \
    if (!weir_netcdf_available() || !weir_fft_plan_available()) {                             \
      printf("skipped: this build has no %s\n", weir_netcdf_available() ? "FFTW" : "NetCDF"); \
      skip();                                                                                 \
    }                                                                                         \
  } while (0)
/* status: of a program that has to read a file of options. */
#define NEEDS_YAML(status)                            \
  do {                                                \
    if ((status) == 7) {                              \
      printf("skipped: this build has no libyaml\n"); \
      skip();                                         \
    }                                                 \
  } while (0)

#endif
