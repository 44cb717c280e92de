/* segment.h - classes of voxels computed from the samples: where the matter of one channel is void,
 * filament or halo, predicted from the other channels. For networks that segment.
 *
 *   density    mean count of the (2 reach + 1)^3 cells around a voxel, inside the sample,
 *              over the mean of the channel of the sample
 *   class      0 up to low, 2 above high, 1 between
 *
 * All of it is part of the graph: a sample distributed over ranks is classified like a whole one.
 */
#ifndef CF_SEGMENT_H
#define CF_SEGMENT_H
#include "conf/weir_opt.h"
#include "graph/weir_graph.h"

enum { CF_CLASSES = 3 };

typedef struct cf_segment_opts {
  int64_t channel, reach;
  double low, high;
} cf_segment_opts;
extern const weir_opt cf_segment_options[];
/* Checks the options. Fails: WEIR_ERR_CONFIG (limits in the wrong order). */
weir_status cf_segment_check(const cf_segment_opts *o) WEIR_CHECKED;

/* counts: [n, depth, height, width, channels] of any real dtype. Both fail in the graph's status:
 * WEIR_ERR_SHAPE (no such channel, or no other). */
/* Appends the classes, i32 [n, depth, height, width]. low above high: WEIR_ERR_CONFIG. */
weir_value cf_segment_truth(weir_graph *g, const cf_segment_opts *o, weir_value counts);
/* Appends the other channels, f32 (f64 of f64), [n, depth, height, width, channels - 1]. */
weir_value cf_segment_seen(weir_graph *g, const cf_segment_opts *o, weir_value counts);

/* Appends the argmax over the last dimension, i32 [..]. */
weir_value cf_segment_classes(weir_graph *g, weir_value logits);
/* Append scores of predicted and true classes, i32 [..], as f32 scalars: the accuracy; the
 * intersection over union of class k (1 without such voxels). */
weir_value cf_segment_accuracy(weir_graph *g, weir_value predicted, weir_value truth);
weir_value cf_segment_iou(weir_graph *g, weir_value predicted, weir_value truth, int k);

#endif
