/* weir_init.h - how a parameter begins.
 *
 * Number i of a parameter is a function of (seed, the parameter's name, i) alone: it stays the same
 * when other parameters come, go or change. */
#ifndef WEIR_INIT_H
#define WEIR_INIT_H
#include <stdint.h>
#include "conf/weir_opt.h"
#include "tensor/weir_tensor.h"
#ifdef __cplusplus
extern "C" {
#endif

/* fan in and out: how many numbers a weight sums over, and in how many sums each input stands. */
typedef enum weir_init_kind {
  WEIR_INIT_DEFAULT,        /* what the layer says                                               */
  WEIR_INIT_GLOROT_UNIFORM, /* U(-a, a), a^2 = 6 / (in + out): Glorot and Bengio, AISTATS 2010   */
  WEIR_INIT_GLOROT_NORMAL,  /* N(0, 2 / (in + out))                                              */
  WEIR_INIT_HE_UNIFORM,     /* U(-a, a), a^2 = 6 / in: He et al., ICCV 2015                      */
  WEIR_INIT_HE_NORMAL,      /* N(0, 2 / in)                                                      */
  WEIR_INIT_ORTHOGONAL,     /* orthonormal columns, or rows if there are fewer: Saxe et al. 2014 */
  WEIR_INIT_ZEROS,
  WEIR_INIT_CONSTANT, /* `value` everywhere */
  WEIR_INIT_KINDS
} weir_init_kind;
/* The kinds in order, for option rows without options of their own. */
#define WEIR_INIT_CHOICES \
  "default|glorot_uniform|glorot_normal|he_uniform|he_normal|orthogonal|zeros|constant"

typedef struct weir_init {
  weir_init_kind kind;
  double value;            /* of constant                                       */
  double gain;             /* times what is drawn; 0: 1                         */
  int64_t fan_in, fan_out; /* 0: from a shape [taps.., channels in, channels out] */
} weir_init;

/* Fills a contiguous tensor of floats. Fails: WEIR_ERR_CONFIG (a kind that does not exist, or
 * default), WEIR_ERR_MEMORY. */
weir_status weir_init_fill(const weir_init *init, uint64_t seed, const char *name,
                           weir_tensor *t) WEIR_CHECKED;
/* The 64 bits that stand for a name in keys of random numbers. */
uint64_t weir_init_hash(const char *name);

#ifdef __cplusplus
}
#endif
#endif
