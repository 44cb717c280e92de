/* qg_f32.c - the steps of the model in f32. */
#include <math.h>
#define REAL float
#define KERNELS qg_kernels_f32
#include "data/simulation/qg_kernel.h"
