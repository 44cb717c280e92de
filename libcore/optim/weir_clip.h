/* weir_clip.h - gradient clipping by global norm; Pascanu, Mikolov and Bengio 2013. */
#ifndef WEIR_CLIP_H
#define WEIR_CLIP_H
#include "conf/weir_opt.h"
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Rows in weir_clip_opts. */
typedef struct weir_clip_cfg {
  double max_norm; /* 0: no clipping */
} weir_clip_cfg;
extern const weir_opt weir_clip_opts[];

/* Multiplies the n arrays of one gradient by norm / max(|grad|, norm): a gradient below the norm is
 * bitwise unchanged; a NaN norm makes all arrays NaN. *length, if not NULL: |grad|, a scalar of
 * f64, computed in f64 so that squares do not overflow. */
void weir_clip(weir_graph *g, const weir_clip_cfg *cfg, weir_value *grad, int64_t n,
               weir_value *length);

#ifdef __cplusplus
}
#endif
#endif
