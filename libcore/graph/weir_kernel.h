/* weir_kernel.h - hand-written or library code that claims a group. One per file under
 * ops/<op>/kernel/. */
#ifndef WEIR_KERNEL_H
#define WEIR_KERNEL_H
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* One piece of a run of a kernel over a box of the anchor's iterations, on one thread. views: in
 * the order of weir_kernel.arrays. */
typedef struct weir_kernel_run {
  void *context; /* what prepare made */
  weir_box box;
  const weir_view *views;
  int n_views;
  int stage;
  int64_t piece;   /* -1: `made` in place of a piece                     */
  weir_box made;   /* elements of the result to make: weir_kernel.boxes */
  void *workspace; /* all pieces of the run share it; what earlier runs left in it is lost */
  void *scratch;   /* the thread's own; lost after the piece */
} weir_kernel_run;

typedef struct weir_kernel {
  const char *name;   /* "contract.cblas"; exec.kernel forces or forbids it by name */
  const char *device; /* "cpu" */
  /* Predicted seconds for the group on one thread, or a negative number when the kernel cannot do
   * it. */
  double (*match)(const weir_graph *g, const weir_group *group);
  /* Arrays whose views run() wants, in its order; returns how many. */
  int (*arrays)(const weir_graph *g, const weir_group *group, int32_t *arrays, int n);
  weir_status (*prepare)(const weir_graph *g, const weir_group *group, void **context);
  void (*release)(void *context);
  /* Into how many pieces a stage (0, 1, ..) falls, 0 after the last one; NULL: one stage of one
   * piece. Pieces of a stage run at the same time and in any order, a stage after the one before.
   * They follow from the graph alone, never from threads: so do the bits of the results. */
  int64_t (*pieces)(const void *context, int stage);
  int64_t (*workspace)(const void *context); /* bytes; NULL: none */
  int64_t (*scratch)(const void *context);   /* bytes for each thread; NULL: none */
  /* Says once, before the first run, where the workspace is; may be NULL. */
  weir_status (*place)(void *context, void *workspace);
  /* True when the kernel makes its one result box by box, so that loops that read it may join its
   * group and run over a box while it is in cache. The stage named is then the last one; it is run
   * for boxes that together hold every element at most once, in place of its pieces, and the views
   * may hold no more of the result than the box. An element has the bits that pieces give it. NULL:
   * never. */
  bool (*boxes)(const weir_graph *g, const weir_group *group, weir_boxes *boxes);
  void (*run)(const weir_kernel_run *run); /* cannot fail */
} weir_kernel;

/* All kernels of this build, sorted by name, NULL at the end: generated. */
extern const weir_kernel *const weir_kernel_table[];

#ifdef __cplusplus
}
#endif
#endif
