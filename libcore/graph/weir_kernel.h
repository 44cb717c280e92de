/* weir_kernel.h - kernels, hand-written or from a library, that claim a group. One per file under
 * ops/<op>/kernel/. */
#ifndef WEIR_KERNEL_H
#define WEIR_KERNEL_H
#include "device/weir_library.h"
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A piece of a kernel run over a box of the anchor's iterations, on one thread. views: in the order
 * of weir_kernel.arrays. */
typedef struct weir_kernel_run {
  void *context; /* context of prepare */
  weir_box box;
  const weir_view *views;
  int n_views;
  int stage;
  int64_t piece;   /* -1: `block` instead of a piece */
  weir_box block;  /* elements of the result to compute, or of the input to read */
  void *workspace; /* shared by all pieces of the run; not preserved between runs */
  void *scratch;   /* private to the thread; not preserved between pieces */
} weir_kernel_run;

/* Launch of a kernel of a device: its blocks, the threads of each, and the bytes that all of them
 * load and store. */
typedef struct weir_kernel_grid {
  int64_t blocks, bytes;
  int threads;
} weir_kernel_grid;

/* What a kernel for other devices is made with. make: a kernel of that text, launched once in every
 * run, which the plan keeps and other groups may share; NULL where the plan does not run. */
typedef struct weir_kernel_maker {
  weir_device *device;
  bool runs; /* the plan does */
  bool tf32; /* exec.tf32 */
  weir_status (*make)(void *plan, const weir_device_source *source, const weir_kernel_grid *launch,
                      const weir_device_kernel **out);
  void *plan;
} weir_kernel_maker;

/* A run of a kernel on another device than the CPU: whole, in the device's memory. */
typedef struct weir_kernel_launch {
  void *context;
  weir_device_queue *queue;
  const weir_view *views; /* in the order of weir_kernel.arrays */
  void *workspace;
} weir_kernel_launch;

/* A kernel is for the CPU, with prepare, pieces and run, or for all other devices, with open and
 * launch. */
typedef struct weir_kernel {
  const char *name;   /* "contract.cblas"; exec.kernel forces or forbids it by name */
  const char *device; /* WEIR_KERNEL_CPU or WEIR_KERNEL_DEVICE */
  /* Multiplies sums of neighbouring elements in place of elements: rounding errors are relative to
   * the largest of them. exec.winograd */
  bool transforms;
  /* Returns the predicted seconds for the group on one thread, or a negative number when the kernel
   * does not support it. */
  double (*match)(const weir_graph *g, const weir_group *group);
  /* Lists the arrays whose views run() needs, in its order; returns their number. */
  int (*arrays)(const weir_graph *g, const weir_group *group, int32_t *arrays, int n);
  /* group: the claimed member alone; with a claim where it is run in blocks, for kernels whose
   * stages differ then. */
  weir_status (*prepare)(const weir_graph *g, const weir_group *group, void **context);
  void (*release)(void *context);
  /* Returns the number of pieces of a stage (0, 1, ..), 0 after the last; NULL: one stage of one
   * piece. Pieces of a stage run concurrently in any order, a stage after the previous one. They
   * depend on the graph only, never on threads, and so do the bits of the results. */
  int64_t (*pieces)(const void *context, int stage);
  int64_t (*workspace)(const void *context); /* bytes; NULL: none */
  int64_t (*scratch)(const void *context);   /* bytes per thread; NULL: none */
  /* Announces the workspace once, before the first run; may be NULL. */
  weir_status (*set_workspace)(void *context, void *workspace);
  /* Whether the kernel computes its single result, or reads its single input, in blocks, so that
   * loops that read the result, or make the input, may join its group and run over a block while it
   * is in cache. The stage named is then the last one, or of an input stage 0; it is run for blocks
   * that together contain every element at most once (of an input: exactly once), instead of its
   * pieces, and the views may contain only the block of the result or of the input. Elements are
   * bitwise identical to those of pieces. NULL: not blocked. */
  bool (*blocks)(const weir_graph *g, const weir_group *group, weir_kernel_blocks *blocks);
  void (*run)(const weir_kernel_run *run); /* cannot fail */
  /* Makes what a group needs on the device, and the bytes of its workspace there. Fails:
   * WEIR_ERR_UNSUPPORTED (the device's library lacks it: the group runs without the kernel). */
  weir_status (*open)(const weir_graph *g, const weir_group *group, const weir_kernel_maker *maker,
                      void **context, int64_t *workspace);
  weir_status (*launch)(const weir_kernel_launch *launch);
  /* The library's call that a context of open has; NULL: it has none. */
  const weir_library_call *(*call)(const void *context);
} weir_kernel;
#define WEIR_KERNEL_CPU "cpu"
#define WEIR_KERNEL_DEVICE "device"

/* All kernels of this build, sorted by name, NULL-terminated: generated. */
extern const weir_kernel *const weir_kernel_table[];

#ifdef __cplusplus
}
#endif
#endif
