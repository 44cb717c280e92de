/* cascade_base.c - the block form in plain C. */
#include <math.h>
#define V_LANES 1
typedef double V;
#define V_LOAD(p) (*(p))
#define V_STORE(p, v) (*(p) = (v))
#define V_FROM(p) ((double)*(p))
#define V_TO(p, v) (*(p) = (float)(v))
#define V_SET(x) (x)
#define V_PICK(p, i) (p)[i]
#define V_TURN(v) (v)
#define V_MUL(a, b) ((a) * (b))
#define V_FMA(a, b, c) fma(a, b, c)
#define V_ADD(a, b) ((a) + (b))
#define TABLE weir_cascade_base
#include "stream/op/filter/cascade_kernel.h"
