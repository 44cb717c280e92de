/* weir_clip.h - gradients whose norm is too long, made shorter; Pascanu, Mikolov and Bengio 2013.
 */
#ifndef WEIR_CLIP_H
#define WEIR_CLIP_H
#include "conf/weir_opt.h"
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Rows in weir_clip_opts. */
typedef struct weir_clip_cfg {
  double max_norm; /* 0: nothing is clipped */
} weir_clip_cfg;
extern const weir_opt weir_clip_opts[];

/* The n arrays of one gradient times norm / max(|grad|, norm), in their place: one that is short
 * enough keeps its bits; a NaN norm makes all of them NaN. *length, if not NULL:
 * |grad|, f64, rank 0, taken in f64 so that squares do not overflow. */
void weir_clip(weir_graph *g, const weir_clip_cfg *cfg, weir_value *grad, int64_t n,
               weir_value *length);

#ifdef __cplusplus
}
#endif
#endif
