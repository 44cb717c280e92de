/* product.h - whether an access sums products of two operands; for kernels. */
#ifndef CONTRACT_PRODUCT_H
#define CONTRACT_PRODUCT_H
#include "graph/weir_access.h"

/* What is summed is an element of one of the two operands times one of the other, or conjugates of
 * these; there is one result, of the operands' dtype, which is summed in. conj: [2] by operand. */
bool contract_is_product(const weir_access *a, bool *conj);

/* The two operands that are multiplied, in ascending order. */
typedef struct contract_product {
  int operand[2];
  bool conj[2];
} contract_product;

/* The same where further operands are there for indices of the two to be gathered from. */
bool contract_product_of(const weir_access *a, contract_product *p);
/* The same, where the result may be of another dtype than the sum, to which it is rounded, and
 * operands of a sum in f32 may be of bf16. */
bool contract_product_summed(const weir_access *a, contract_product *p);

#endif
