/* lower_priv.h - what the sources of lowering share: one loop's expressions within another. */
#ifndef WEIR_LOWER_PRIV_H
#define WEIR_LOWER_PRIV_H
#include "pass/lower/weir_loop.h"

/* Each iteration gives its own outputs, and no element is skipped. */
bool lower_is_pointwise(const weir_access *a);
/* Operands whose REMAINDER is used must keep a separate operand even when the value is at
 * hand. */
bool lower_reads_remainder(const weir_access *a, int operand);

/* How the expressions of one access read in another loop. */
typedef struct lower_merge {
  const weir_loop *from;
  weir_loop *into;
  int dim[WEIR_MAX_DIMS];           /* iteration dimension of `into` per dimension of `from` */
  const weir_operand *via;          /* or its index per dimension of `from`, NULL: none      */
  int operand[WEIR_MAX_OPERANDS];   /* operand of `into`, or -1 when `value` serves           */
  int32_t value[WEIR_MAX_OPERANDS]; /* expression of `into` that already holds the load       */
  int32_t *expr;                    /* expression of `into` per expression of `from`          */
} lower_merge;

/* Appends operands and expressions of `from` to `into` and sets m->expr, which the caller frees;
 * *done is false, and no operand was added, when there was no space. Fails: WEIR_ERR_MEMORY. */
weir_status lower_merge_run(lower_merge *m, bool *done) WEIR_CHECKED;

/* True when the reduction is the only reader of everything that `early` makes. `order` receives,
 * per dimension of `early`, the reduction's dimension; or *via the operand through which windows
 * side by side are read. */
bool lower_feeds_only(const weir_graph *g, const weir_group *group, const weir_loop *early,
                      const weir_loop *reduction, int *order, const weir_operand **via);
/* Rebuilds the reduction with the producer's expressions in front; *done is false, and nothing
 * changed, when there was no space. Fails: WEIR_ERR_MEMORY. */
weir_status lower_absorb(const weir_loop *early, weir_loop *reduction, const int *order,
                         const weir_operand *via, bool *done) WEIR_CHECKED;
#endif
