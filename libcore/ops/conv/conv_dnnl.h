/* conv_dnnl.h - a convolution as primitives of oneDNN: what its three kernels share.
 *
 * Chunks are fixed by the form, and each is one primitive on one thread, so that the bits of the
 * result do not depend on threads. Weights are brought into the library's own format, once a run.
 */
#ifndef CONV_DNNL_H
#define CONV_DNNL_H
#include <dnnl.h>

#include "ops/conv/conv_chunks.h"

enum { CONV_MAX_SHAPES = 16 };

/* Dtypes that the library works on: of inner's x, where sums over its borders are f32; of the
 * packed weights, where sums over chunks are. */
static inline weir_dtype conv_dnnl_x(const conv_form *f, bool padded)
{
  return f->kind == CONV_DATA && padded ? WEIR_F32 : f->x_dtype;
}
static inline weir_dtype conv_dnnl_w(const conv_form *f)
{
  return f->kind == CONV_WEIGHTS ? WEIR_F32 : f->w_dtype;
}

/* A primitive, for all chunks of its extents. */
typedef struct conv_shape {
  conv_chunk chunk; /* x_first, y_first, first: of the first chunk that has it */
  dnnl_primitive_desc_t desc;
  dnnl_primitive_t primitive;
  dnnl_memory_desc_t x, y, scratch;
} conv_shape;

/* A chunk: where it begins, and what the library calls memory. */
typedef struct conv_call {
  int shape;
  conv_chunk chunk;
  dnnl_stream_t stream;
  dnnl_memory_t x, y, w, scratch;
} conv_call;

/* Some output channels of the weights, between the array's order and the library's. */
typedef struct conv_block {
  int64_t first, packed; /* channel; bytes into the packed weights */
  dnnl_primitive_t primitive;
  dnnl_stream_t stream;
  dnnl_memory_desc_t from, to;
  dnnl_memory_t source, target;
} conv_block;

/* What a kernel keeps: form as matched, and without borders. */
typedef struct conv_dnnl {
  conv_form form, inner;
  bool padded, by_matrices; /* by_matrices: no direct primitive was found */
  bool mends;               /* the library makes up products (conv_mend_dnnl.c) */
  conv_chunking chunking;
  conv_weight_strides w_strides;
  dnnl_engine_t engine;
  dnnl_memory_desc_t weights; /* the library's format */
  int64_t weight_bytes, padded_bytes, scratch_bytes;
  int n_shapes;
  conv_shape shape[CONV_MAX_SHAPES];
  conv_call *calls; /* [chunking.count] */
  conv_block *blocks;
  int64_t n_blocks;
  char *workspace; /* padded x, then the packed weights (by weights: of every chunk) */
} conv_dnnl;

/* Some tap of some position meets no element: of x, or by data of y. */
bool conv_dnnl_meets_padding(const conv_form *f);
/* The primitive of a chunk, NULL before; false: none that is right and fast (*desc may be set).
 * Says in c->mends what it is like. */
bool conv_dnnl_choose(conv_dnnl *c, const dnnl_convolution_desc_t *op, dnnl_primitive_desc_t *desc);
/* Predicted seconds on one thread when the library takes a convolution of this kind, else -1. */
double conv_dnnl_match(const weir_graph *g, const weir_group *group, conv_kind kind);
/* weir_kernel.prepare, release, workspace, scratch, set_workspace. */
weir_status conv_dnnl_prepare(const weir_graph *g, const weir_group *group,
                              void **context) WEIR_CHECKED;
void conv_dnnl_release(void *context);
int64_t conv_dnnl_workspace(const void *context);
int64_t conv_dnnl_scratch(const void *context);
weir_status conv_dnnl_set_workspace(void *context, void *workspace) WEIR_CHECKED;

/* Steps that the kernels' stages consist of; views: x, y, w. */
void conv_dnnl_pad(const conv_dnnl *c, const void *x, int64_t piece);
/* Row `piece` of x by data, from inner's; scratch: for a row of sums. */
void conv_dnnl_fold(const conv_dnnl *c, void *x, int64_t piece, void *scratch);
/* Block `block` of the weights: into the library's format, or (by weights) out of it. */
void conv_dnnl_reorder(const conv_dnnl *c, int64_t block, void *weights);
/* Chunk `chunk`, by weights; x: inner's. */
void conv_dnnl_chunk(const conv_dnnl *c, int64_t chunk, void *x, void *y, void *scratch);
/* weir_kernel.blocks: whole chunks. */
bool conv_dnnl_blocks(const weir_graph *g, const weir_group *group, weir_kernel_blocks *blocks);
/* Piece r->piece of the stage of chunks, or the chunks of r->block. */
void conv_dnnl_chunks(const conv_dnnl *c, const weir_kernel_run *r);
/* Rows of inner's x (pad) or of x (fold), all samples. */
int64_t conv_dnnl_rows(const conv_form *f);
/* Sums of the chunks' weights, in pairs, then pairs of pairs: block `block` of the packed weights.
 */
int64_t conv_dnnl_merge_blocks(const conv_dnnl *c);
void conv_dnnl_merge(const conv_dnnl *c, int64_t block);
/* Weights of input channel `piece` of all groups' that came out as NaN are summed again,
 * of the elements that meet alone. x: inner's. */
void conv_dnnl_mend(const conv_dnnl *c, int64_t piece, const void *x, const void *y, void *weights);
/* Forward and by data: what a chunk made that is NaN (of f32: where kernel elements meet padding)
 * is summed again, of the elements and weights that meet alone. x, y: where the chunk begins. */
void conv_dnnl_mend_chunk(const conv_dnnl *c, const conv_chunk *s, void *x, void *y,
                          const void *weights);
/* Inner's x: in the workspace, or what the view holds. */
void *conv_dnnl_inner_x(const conv_dnnl *c, const weir_view *x);

#endif
