/* weir_pass.h - a pass: a plain function graph -> graph with a place in the order. One folder each
 * under pass/. */
#ifndef WEIR_PASS_H
#define WEIR_PASS_H
#include "graph/weir_graph.h"
#include "graph/weir_kernel.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_precision { WEIR_PRECISION_F32, WEIR_PRECISION_BF16 } weir_precision;

/* What operands of large sums of products of f64 and c128 are rounded to, which are then made in
 * f32 and c64. */
typedef enum weir_products {
  WEIR_PRODUCTS_F64, /* they stay as they are */
  WEIR_PRODUCTS_F32,
  WEIR_PRODUCTS_BF16,
  WEIR_PRODUCTS_F16
} weir_products;

/* Interiors of nodes that read a halo are computed before it has come: never; where kernels say
 * that the parts take less longer than the halo travels; wherever that is possible. */
typedef enum weir_overlap { WEIR_OVERLAP_OFF, WEIR_OVERLAP_AUTO, WEIR_OVERLAP_ON } weir_overlap;

/* Sums of products of several factors: as they are; every product of the body a node; what a loop
 * does not use no longer repeated in it; and the products in the order of fewest flops. */
typedef enum weir_fission {
  WEIR_FISSION_OFF,
  WEIR_FISSION_PRODUCTS,
  WEIR_FISSION_HOIST,
  WEIR_FISSION_REASSOCIATE
} weir_fission;

/* What passes may need to know. 0 means the default stated here. */
typedef struct weir_pass_opts {
  int64_t cache_bytes; /* memory that the tile-local buffers of a group may fill; default: quarter
                          of L2, half of it after a blocked kernel */
  int64_t slots; /* length that stands for an unbounded dimension in cost models; default 4096   */
  double bandwidth;         /* bytes/s, for cost models; default: built-in */
  double flop_rate;         /* flop/s */
  int64_t parts;            /* micro-batches of a step, each finished before the next; 0, 1: none */
  int64_t min_layout_bytes; /* bytes of an array whose order of dimensions is worth a thought;
                           default 32768 */
  bool no_fusion; /* every node its own group                                                     */
  const char *skip; /* comma-separated passes that are left out, NULL: none; group: as no_fusion */
  weir_precision precision; /* that products of f32 are made in, where a kernel is faster so */
  weir_products products;   /* of f64 and c128 */
  bool unscaled; /* operands are not brought into the range of the format by powers of two */
  weir_overlap overlap;
  weir_fission fission;
  bool window;        /* margins of arrays in place of borders of sums of products */
  const char *kernel; /* "auto", "none", or the one kernel name that may claim groups */
  const weir_kernel *const *kernels; /* table offered to groups, NULL at the end; NULL: none */
} weir_pass_opts;

typedef struct weir_pass {
  const char *name, *cite;
  const char *former; /* name that opts->skip may still give it, NULL: none */
  int order;          /* ascending; then schedule and lower make the plan */
  int again; /* order of a second run, where a pass between took the groups away; 0: none */
  /* How far it may move a result x, of max(1, |x|); 0: every bit stays, but for the rounding of
   * what is stored. */
  double rounding;
  weir_status (*run)(weir_graph *g, const weir_pass_opts *opts);
} weir_pass;

/* All passes of this build, NULL at the end: generated. */
extern const weir_pass *const weir_pass_table[];

/* The kernel that opts offers and that predicts the fewest seconds for the group, NULL: none
 * matches. *seconds: those, or -1. */
const weir_kernel *weir_kernel_best(const weir_graph *g, const weir_group *group,
                                    const weir_pass_opts *opts, double *seconds);

/* One pass alone, unless opts leaves it out. Fails: WEIR_ERR_CONFIG where there is none of that
 * name; what it fails with. */
weir_status weir_pass_run(weir_graph *g, const char *name, const weir_pass_opts *opts) WEIR_CHECKED;
/* Called after each pass with its name; may be NULL. A failure stops the sequence. */
typedef weir_status (*weir_pass_watch)(void *context, const weir_pass *pass, const weir_graph *g);
/* Runs every pass in order but those that opts leaves out, validating the graph after each. Fails:
 * WEIR_ERR_CONFIG for a pass to leave out that does not exist; what a pass or `watch` fails with.
 */
weir_status weir_passes_run(weir_graph *g, const weir_pass_opts *opts, weir_pass_watch watch,
                            void *context) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
