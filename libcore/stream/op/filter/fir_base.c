/* fir_base.c - the direct form in plain C. */
#include <math.h>
#define V_LANES 1
#define V_ROWS 8
typedef float V;
#define V_ZERO 0.0f
#define V_SET(x) (x)
#define V_ADD(a, b) ((a) + (b))
#define V_FMA(a, b, c) fmaf(a, b, c)
#define V_LOAD(p) (*(p))
#define V_STORE(p, v) (*(p) = (v))
#define V_LOADN(p, n) (*(p))
#define V_STOREN(p, v, n) (*(p) = (v))
#define TABLE weir_fir_base
#include "stream/op/filter/fir_kernel.h"
