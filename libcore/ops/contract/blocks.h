/* blocks.h - plain matrix products (and stacks of them) by a library, block by block of C: for
 * kernels that call one. Blocks are fixed by the shape, each on one thread: its sums depend on
 * shape alone. */
#ifndef CONTRACT_BLOCKS_H
#define CONTRACT_BLOCKS_H
#include "graph/weir_kernel.h"
#include "ops/contract/matrices.h"

typedef struct contract_blocks {
  contract_matrices of;
  int64_t rows, columns; /* of a block */
  int64_t down, across;  /* blocks of one matrix */
} contract_blocks;

/* A block of C as libraries name its product: row-major, sizes, elements from one row of a stored
 * matrix to the next; turned: A is stored as [k, m], B as [n, k]. */
typedef struct contract_call {
  const void *a, *b;
  void *c;
  int m, n, k, lda, ldb, ldc;
  bool a_turned, b_turned;
} contract_call;

/* Predicted seconds on one thread of a product that reaches this share of the f32 rate of a core.
 */
double contract_blocks_seconds(const contract_matrices *s, double share_of_peak);
/* Slots of a kernel: its arrays A, B (in the order of the node) and C; a contract_blocks. Fails:
 * WEIR_ERR_MEMORY; WEIR_ERR_SHAPE: the group is no such product. */
int contract_blocks_arrays(const weir_graph *g, const weir_group *group, int32_t *list, int n);
weir_status contract_blocks_prepare(const weir_graph *g, const weir_group *group, void **context);
void contract_blocks_release(void *context);
int64_t contract_blocks_pieces(const void *context, int stage);
/* The block of a run's piece. */
contract_call contract_blocks_call(const weir_kernel_run *r);
#endif
