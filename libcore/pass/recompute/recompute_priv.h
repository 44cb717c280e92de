/* recompute_priv.h - the state of the pass that chooses what far readers get. */
#ifndef WEIR_RECOMPUTE_PRIV_H
#define WEIR_RECOMPUTE_PRIV_H
#include "pass/weir_depend.h"
#include "pass/weir_pass.h"

#define RECOMPUTE_NEAR 1
#define RECOMPUTE_BARRIER 2
#define RECOMPUTE_MIN_BYTES 4096   /* smaller arrays are not worth a thought */
#define RECOMPUTE_MIN_COSTLY 16384 /* nor these, where it costs a pass over memory */

typedef struct recomputing {
  weir_graph *g;
  weir_depend depend;
  int32_t *order, n_order, n_nodes, n_arrays;
  uint8_t *mark;    /* [nodes]: how a path from the node in question reaches it */
  int32_t *readers; /* [nodes] */
  int64_t *prices;  /* [arrays, depths]: bytes kept so that it can be had far away; -1 unknown */
  int32_t *again;   /* nodes that were added to do again what others did */
  int64_t n_again, again_capacity;
  bool *updates;  /* [arrays that there were at first]: new values of stored ones */
  bool costly;    /* the second round, of opts->recompute_elementwise */
  bool *backward; /* [nodes] in it: of the gradient, or after it */
  int16_t late;   /* weir_node.late of the next copy that is stored */
} recomputing;

/* Far readers of an array: n of them, in s->readers. taken_in: all of them make it where they read
 * it; stored: a near one does not. */
typedef struct recompute_readers {
  int32_t n;
  bool taken_in, stored;
} recompute_readers;
weir_status recompute_far_readers(recomputing *s, int32_t array, recompute_readers *r) WEIR_CHECKED;
/* Order, dependences and rooms again, after nodes were added. */
weir_status recompute_order(recomputing *s) WEIR_CHECKED;
/* Element by element, without gathers and borders. */
bool recompute_is_pointwise(const weir_access *a);

/* recompute_graph.c: a second node that does the same, of the weir_gradients and the micro-batch of
 * that reader; its output's array. The reader reads `to` instead of `from`. */
weir_status recompute_clone(weir_graph *g, int32_t node, int32_t reader,
                            int32_t *made) WEIR_CHECKED;
void recompute_replace(weir_graph *g, int32_t reader, int32_t from, int32_t to);
/* Where every far reader of the array only compares it with constants, one and the same way, the
 * result of that is made in addition to the array and read instead: *done. */
weir_status recompute_compare(recomputing *s, int32_t array, bool *done) WEIR_CHECKED;
#endif
