/* qg_f64.c - the steps of the model in f64. */
#include <math.h>
#define REAL double
#define KERNELS qg_kernels_f64
#include "data/simulation/qg_kernel.h"
