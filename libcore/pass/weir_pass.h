/* weir_pass.h - passes: functions graph -> graph with a position in the order. One folder each
 * under pass/. */
#ifndef WEIR_PASS_H
#define WEIR_PASS_H
#include "device/weir_constants.h"
#include "graph/weir_graph.h"
#include "graph/weir_kernel.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_precision { WEIR_PRECISION_F32, WEIR_PRECISION_BF16 } weir_precision;

/* Dtype to which operands of large sums of products of f64 and c128 are rounded; these sums are
 * then made in f32 and c64. */
typedef enum weir_products {
  WEIR_PRODUCTS_F64, /* unchanged */
  WEIR_PRODUCTS_F32,
  WEIR_PRODUCTS_BF16,
  WEIR_PRODUCTS_F16,
  WEIR_PRODUCTS_F16X2 /* the sum of two numbers of f16: three products in place of one */
} weir_products;

/* Overlap of computation and halo exchange, by computing interiors first: never; where kernels
 * predict that splitting costs less than it hides; wherever possible. */
typedef enum weir_overlap { WEIR_OVERLAP_OFF, WEIR_OVERLAP_AUTO, WEIR_OVERLAP_ON } weir_overlap;

/* Sums of products of several factors: unchanged; every product of the body is a node; products are
 * also moved out of loops that they do not depend on; and reordered for the fewest flops. */
typedef enum weir_fission {
  WEIR_FISSION_OFF,
  WEIR_FISSION_PRODUCTS,
  WEIR_FISSION_HOIST,
  WEIR_FISSION_REASSOCIATE
} weir_fission;

enum { WEIR_MAX_BLOCKS = 16 };

/* Blocks of the nodes before the gradient, and which of them are made again where the gradient
 * reads their results (pass recompute_blocks, weir_recompute_blocks.h). */
typedef struct weir_block_choice {
  const int8_t *block; /* [n_nodes] of each node before that pass; -1: the last one it reads from */
  int32_t n_nodes;
  uint32_t again;               /* bit b: block b */
  int8_t late[WEIR_MAX_BLOCKS]; /* weir_node.late of nodes that are made again, from 1 */
} weir_block_choice;

/* Options of passes. 0: the default stated here. */
typedef struct weir_pass_opts {
  int64_t cache_bytes; /* maximum size of the tile-local buffers of a group; default: quarter of L2,
                          half of it after a blocked kernel */
  int64_t slots;       /* assumed length of an unbounded dimension in cost models; default 4096 */
  const weir_constants *constants; /* of the device; default: of the cpu; weir_pass_constants */
  int64_t microbatches; /* micro-batches of a step, each finished before the next; 0, 1: none */
  const weir_block_choice *blocks; /* what is made again for the gradient; NULL: none */
  bool recompute_elementwise; /* likewise element-wise results that cost time, to save memory */
  int64_t min_layout_bytes;   /* minimum bytes of an array whose memory layout may change; default
                                 32768 */
  bool no_fusion; /* every node its own group                                                     */
  const char *skip;         /* passes to skip, comma-separated, NULL: none; group: as no_fusion */
  weir_precision precision; /* dtype of products of f32, where a kernel is faster with it */
  weir_products products;   /* of f64 and c128 */
  bool unscaled;            /* do not scale operands by powers of two into the range of the dtype */
  weir_overlap overlap;
  weir_fission fission;
  bool window;                       /* margins of arrays instead of borders of sums of products */
  const char *kernel;                /* "auto", "none", or the only kernel that may claim groups */
  bool plain;                        /* no kernel that multiplies transformed operands, */
  bool plain_half;                   /* or none that rounds them to bf16                */
  const weir_kernel *const *kernels; /* kernels offered to groups, NULL-terminated; NULL: none */
  const char *device; /* whose kernels these are, NULL: the CPU's. Its kernels are also offered for
                         library operators that the device has none for: the host runs those */
} weir_pass_opts;

typedef struct weir_pass {
  const char *name, *cite;
  const char *former; /* name that opts->skip may still give it, NULL: none */
  int order;          /* ascending; then schedule and lower make the plan */
  int again; /* order of a second run, where a pass in between removed the groups; 0: none */
  /* maximum change of a result x, relative to max(1, |x|); 0: bitwise identical, except for the
   * rounding of stored values */
  double rounding;
  weir_status (*run)(weir_graph *g, const weir_pass_opts *opts);
} weir_pass;

/* All passes of this build, NULL-terminated: generated. */
extern const weir_pass *const weir_pass_table[];

/* Returns the constants of the device that opts names, else of the cpu. */
const weir_constants *weir_pass_constants(const weir_pass_opts *opts);

/* Returns the kernel offered by opts with the fewest predicted seconds for the group, NULL: none
 * matches. *seconds: those, or -1. */
const weir_kernel *weir_kernel_best(const weir_graph *g, const weir_group *group,
                                    const weir_pass_opts *opts, double *seconds);

/* Runs one pass, unless opts skips it. Fails: WEIR_ERR_CONFIG for an unknown name; as the pass. */
weir_status weir_pass_run(weir_graph *g, const char *name, const weir_pass_opts *opts) WEIR_CHECKED;
/* Called after each pass with its name; may be NULL. A failure stops the sequence. */
typedef weir_status (*weir_pass_watch)(void *context, const weir_pass *pass, const weir_graph *g);
/* Runs every pass in order except those that opts skips, validating the graph after each. Fails:
 * WEIR_ERR_CONFIG for an unknown pass to skip; as a pass or `watch`. */
weir_status weir_passes_run(weir_graph *g, const weir_pass_opts *opts, weir_pass_watch watch,
                            void *context) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
