/* weir_contract.h - sums of products over named dimensions, as einsum writes them: "ik,kj->ij".
 *
 * A letter names a dimension; one that the output lacks is summed over; one that stands twice in an
 * operand takes its diagonal. Operands have one dtype; the output has the accumulator's. */
#ifndef WEIR_CONTRACT_H
#define WEIR_CONTRACT_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_CONTRACT_OPERANDS 4

typedef struct weir_contract_spec {
  char labels[64];
  int accumulator;    /* 1 + dtype, 0: i64 for integers, else the operands' own */
  uint32_t conjugate; /* bit i: conjugate operand i, which is complex */
} weir_contract_spec;

extern const weir_op_desc weir_op_contract;

/* Adds the operator, for the macros below; `where` is the caller's position. */
weir_value weir_contract_at(weir_graph *g, const weir_contract_spec *spec, const weir_value *in,
                            int n_in, const char *where);
/* Two operands, default accumulator. */
weir_value weir_contract2_at(weir_graph *g, const char *labels, weir_value a, weir_value b,
                             const char *where);
#define weir_contract_n(g, spec, in, n_in) weir_contract_at(g, spec, in, n_in, WEIR_WHERE)
#define weir_contract(g, labels, a, b) weir_contract2_at(g, labels, a, b, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
