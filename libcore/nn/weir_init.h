/* weir_init.h - weight initialisation.
 *
 * Number i of a parameter is a function of (seed, the parameter's name, i) alone: it
 * does not depend on other parameters. */
#ifndef WEIR_INIT_H
#define WEIR_INIT_H
#include <stdint.h>
#include "conf/weir_opt.h"
#include "tensor/weir_tensor.h"
#ifdef __cplusplus
extern "C" {
#endif

/* fan in and fan out: the number of inputs a weight's output sums over, and the number of outputs
 * each input contributes to. */
typedef enum weir_init_kind {
  WEIR_INIT_DEFAULT,        /* default of the layer */
  WEIR_INIT_GLOROT_UNIFORM, /* U(-a, a), a^2 = 6 / (in + out): Glorot and Bengio, AISTATS 2010   */
  WEIR_INIT_GLOROT_NORMAL,  /* N(0, 2 / (in + out))                                              */
  WEIR_INIT_HE_UNIFORM,     /* U(-a, a), a^2 = 6 / in: He et al., ICCV 2015                      */
  WEIR_INIT_HE_NORMAL,      /* N(0, 2 / in)                                                      */
  WEIR_INIT_ORTHOGONAL,     /* orthonormal columns, or rows if there are fewer: Saxe et al. 2014 */
  WEIR_INIT_ZEROS,
  WEIR_INIT_CONSTANT, /* `value` everywhere */
  WEIR_INIT_KINDS
} weir_init_kind;
/* The kinds in order, for option rows without options. */
#define WEIR_INIT_CHOICES \
  "default|glorot_uniform|glorot_normal|he_uniform|he_normal|orthogonal|zeros|constant"

typedef struct weir_init {
  weir_init_kind kind;
  double value;            /* of constant                                       */
  double gain;             /* factor of the drawn values; 0: 1 */
  int64_t fan_in, fan_out; /* 0: from a shape [kernel size.., channels in, channels out] */
} weir_init;

/* Initialises a contiguous tensor of floats. Fails: WEIR_ERR_CONFIG (an unknown kind, or default),
 * WEIR_ERR_MEMORY. */
weir_status weir_init_fill(const weir_init *init, uint64_t seed, const char *name,
                           weir_tensor *t) WEIR_CHECKED;
/* Returns the 64-bit hash of a name, for keys of random numbers. */
uint64_t weir_init_hash(const char *name);

#ifdef __cplusplus
}
#endif
#endif
