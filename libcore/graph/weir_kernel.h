/* weir_kernel.h - hand-written or library code that claims a group. One per file under
 * ops/<op>/kernel/. */
#ifndef WEIR_KERNEL_H
#define WEIR_KERNEL_H
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A run of a kernel over a box of the anchor's iterations. views: in the order of
 * weir_kernel.arrays. */
typedef struct weir_kernel_run {
  void *context; /* what prepare made */
  weir_box box;
  const weir_view *views;
  int n_views;
  void *workspace;
} weir_kernel_run;

typedef struct weir_kernel {
  const char *name;   /* "contract.cblas"; exec.kernel forces or forbids it by name */
  const char *device; /* "cpu" */
  bool fixed_order; /* same bits for any thread count and box; else it runs alone on whole boxes */
  /* Predicted seconds for the group, or a negative number when the kernel cannot do it. */
  double (*match)(const weir_graph *g, const weir_group *group);
  /* Arrays whose views run() wants, in its order; returns how many. */
  int (*arrays)(const weir_graph *g, const weir_group *group, int32_t *arrays, int n);
  weir_status (*prepare)(const weir_graph *g, const weir_group *group, void **context);
  void (*release)(void *context);
  int64_t (*workspace)(const void *context); /* bytes, or NULL */
  void (*run)(const weir_kernel_run *run);   /* cannot fail */
} weir_kernel;

/* All kernels of this build, sorted by name, NULL at the end: generated. */
extern const weir_kernel *const weir_kernel_table[];

#ifdef __cplusplus
}
#endif
#endif
