/* weir_kernel_use.h - a kernel on a node: as it is, or, where the node repeats another one over an
 * outer dimension (weir_derivation.outer), slice by slice.
 *
 * Kernels know nothing of that dimension. One is asked about the node of one slice, in a graph of
 * its own, and its pieces are repeated for all of them: so what a kernel does for one model of
 * several that train together is, bit by bit, what it does for this model alone. */
#ifndef WEIR_KERNEL_USE_H
#define WEIR_KERNEL_USE_H
#include "graph/weir_kernel.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Returns weir_kernel.match of the group, which is one node: of all its slices. -1 also without
 * memory. */
double weir_kernel_seconds(const weir_kernel *k, const weir_graph *g, const weir_group *group);
/* What a group's predicted time is made of: bytes/s and flop/s of its loops, the number that the
 * seconds of its kernels, of one thread, are divided by, and seconds of every group. */
typedef struct weir_group_rates {
  double bandwidth, flop_rate, kernels, overhead;
} weir_group_rates;
/* Returns the predicted seconds of a group: of a loop what it reads and writes, or computes; of
 * kernels what they say of themselves, unless the loops that joined them move more. */
double weir_group_seconds(const weir_graph *g, const weir_group *group, const weir_group_rates *r);
/* Returns weir_kernel.blocks likewise; false also for a kernel that has none. */
bool weir_kernel_in_blocks(const weir_kernel *k, const weir_graph *g, const weir_group *group,
                           weir_kernel_blocks *blocks);

/* A kernel of the CPU prepared for one node. */
typedef struct weir_kernel_use weir_kernel_use;

/* Prepares the kernel. The graph is not read afterwards. Fails: as weir_kernel.prepare. */
weir_status weir_kernel_use_create(const weir_kernel *k, const weir_graph *g,
                                   const weir_group *group, weir_kernel_use **out) WEIR_CHECKED;
/* Releases it; accepts NULL and nulls. */
void weir_kernel_use_destroy(weir_kernel_use **use);
/* Writes the arrays whose views run needs, in its order; returns their number. */
int weir_kernel_use_arrays(const weir_kernel_use *use, int32_t *arrays);
/* Return what the functions of weir_kernel return, for all slices. */
int64_t weir_kernel_use_pieces(const weir_kernel_use *use, int stage);
int64_t weir_kernel_use_workspace(const weir_kernel_use *use);
int64_t weir_kernel_use_scratch(const weir_kernel_use *use);
weir_status weir_kernel_use_set_workspace(weir_kernel_use *use, void *workspace) WEIR_CHECKED;
/* Runs a piece, or the block, of it; r->context is not read. */
void weir_kernel_use_run(const weir_kernel_use *use, const weir_kernel_run *r);

#ifdef __cplusplus
}
#endif
#endif
