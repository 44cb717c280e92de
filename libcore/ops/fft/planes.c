/* planes.c - transforms of real planes for any processor. */
#include <string.h>

#include "ops/fft/planes_priv.h"

#define REAL float
#define PLANES(name) name##_f32
#include "ops/fft/planes_kernel.h"
#undef REAL
#undef PLANES
#define REAL double
#define PLANES(name) name##_f64
#include "ops/fft/planes_kernel.h"

const planes_code planes_plain[2] = {PLANES_CODE(f32), PLANES_CODE(f64)};
