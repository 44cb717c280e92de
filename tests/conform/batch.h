/* batch.h - random cases of one operator in one graph: made, executed by the oracle and by each
 * engine, compared. */
#ifndef WEIR_CONFORM_BATCH_H
#define WEIR_CONFORM_BATCH_H
#include "exec/weir_tier.h"
#include "graph/weir_graph.h"
#include "ops/ops_cases.h"
#include "oracle.h"

/* A batch is run by engines, from WEIR_TIER_REFERENCE on, without kernels; and by the reference
 * with kernels claiming what they can. */
enum { BATCH_KERNELS = WEIR_TIER_NATIVE + 1, BATCH_TIERS };

typedef struct batch_case {
  const weir_op_desc *op;
  uint64_t seed;
  weir_op_case c;
  int32_t node, n_out;
  const weir_access *access; /* of the node, borrowed from the graph */
  weir_tensor in[WEIR_MAX_OPERANDS], expected[WEIR_MAX_OUTPUTS];
  weir_tensor got[BATCH_TIERS][WEIR_MAX_OUTPUTS];
  double *scale[WEIR_MAX_OUTPUTS];
  uint8_t *in_marks[WEIR_MAX_OPERANDS], *out_marks[WEIR_MAX_OUTPUTS];
} batch_case;

typedef struct batch {
  weir_graph *g;
  batch_case *cases;
  int n;
  int claimed; /* groups that kernels claimed, in all runs */
} batch;

/* n cases with seeds from `seed` on; the oracle has filled `expected` and the marks. */
weir_status batch_make(const weir_op_desc *op, uint64_t seed, int n, batch *b) WEIR_CHECKED;
void batch_fini(batch *b);
/* Other inputs for the case, of its ranges, ties and NaN left out where floats have them. */
void batch_draw(batch_case *k, uint64_t seed);
/* Fills got[tier] of every case through a plan of its own; compiled code is kept in `cache`. Fails:
 * WEIR_ERR_UNSUPPORTED where the engine cannot be had. */
weir_status batch_run(batch *b, int tier, const char *cache) WEIR_CHECKED;
/* Outputs of that engine that differ from the oracle beyond the dtype's thresholds (or at all,
 * where the case says exact); each is printed. */
int64_t batch_wrong(const batch_case *k, int tier);
/* Outputs whose bits differ between two engines (any NaN equals any NaN). */
int64_t batch_differ(const batch_case *k, int tier, int other);
/* Dtype that a row of the table is about. */
weir_dtype batch_dtype(const batch_case *k);

#endif
