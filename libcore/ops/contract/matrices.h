/* matrices.h - contractions that are products of two matrices, or of stacks of them; for kernels.
 */
#ifndef CONTRACT_MATRICES_H
#define CONTRACT_MATRICES_H
#include "graph/weir_graph.h"

/* Dimension of each array that each label is; of several labels that are one, the last of them.
 * Row-major C: its last dimension is n. */
typedef struct contract_matrices {
  weir_dtype dtype;
  int64_t m, n, k, stack;
  int a; /* operand that is A; the other is B */
  int am, ak, as, bk, bn, bs, cm, cs, cn;
  bool a_conj, b_conj;
} contract_matrices;

/* True, and *s filled, when the one node of the group is such a product: one label each is shared
 * by A and C (m), B and C (n), A and B (k), at most one stands in all three (the stack), and the
 * last dimension of every array is not the stack's. Labels that follow one another in the same
 * order in both arrays, or in all three, count as one, and labels of one element as none where the
 * others have such a form. Extents and steps between rows are below 2^31. */
bool contract_matrices_of(const weir_graph *g, const weir_group *group, contract_matrices *s);
/* The same of operands in bf16 that are widened, multiplied and summed in f32; the result is f32 or
 * bf16, dtype f32. */
bool contract_matrices_of_bf16(const weir_graph *g, const weir_group *group, contract_matrices *s);
/* Multiplications of real numbers in one matrix product. */
double contract_matrices_work(const contract_matrices *s);
/* Below this many multiplications a call of a library costs more than the loop. */
#define CONTRACT_MIN_WORK 4096.0

#endif
