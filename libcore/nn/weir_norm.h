/* weir_norm.h - normalisation: (x - mean) / sqrt(variance + epsilon) scale + offset, channels last.
 *
 *   batch     mean and variance per channel, over everything else; running ones when applied:
 *             Ioffe and Szegedy, ICML 2015
 *   instance  per sample and channel, over space: Ulyanov et al. 2016
 *   layer     per sample and position, over the last dimensions: Ba et al. 2016
 *   group     per sample and group of channels, over space: Wu and He, ECCV 2018 */
#ifndef WEIR_NORM_H
#define WEIR_NORM_H
#include "nn/weir_activation.h"
#include "nn/weir_net.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_norm_kind {
  WEIR_NORM_NONE,
  WEIR_NORM_BATCH,
  WEIR_NORM_INSTANCE,
  WEIR_NORM_LAYER,
  WEIR_NORM_GROUP,
  WEIR_NORM_KINDS
} weir_norm_kind;
/* The kinds in order, for option rows without options. */
#define WEIR_NORM_CHOICES "none|batch|instance|layer|group"

typedef struct weir_nn_norm_spec {
  weir_norm_kind kind; /* none: only the activation */
  double epsilon;      /* 0: 1e-5                                                            */
  double momentum;     /* batch: weight of a batch in the running statistics; 0: 0.1 */
  int64_t dims;        /* layer: number of trailing dimensions; 0: 1 */
  int64_t groups;      /* group: 0: 32                                                       */
  bool no_scale, no_offset;
  weir_activation activation; /* after it */
} weir_nn_norm_spec;

/* x: [n, .., channels] (layer: any rank). Parameters: scale and offset, [channels] (layer: the last
 * dimensions); batch: buffers mean and variance, [channels], which a run of a training graph moves
 * by momentum towards those of its batch, with the unbiased variance: M2 / (count - 1). */
weir_value weir_nn_norm_at(weir_net *net, const char *name, const weir_nn_norm_spec *spec,
                           weir_value x, const char *where);
#define weir_nn_norm(net, name, spec, x) weir_nn_norm_at(net, name, spec, x, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
