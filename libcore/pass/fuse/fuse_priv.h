/* fuse_priv.h - the state of the pass that forms groups. */
#ifndef WEIR_FUSE_PRIV_H
#define WEIR_FUSE_PRIV_H
#include "graph/kernel/weir_kernel_use.h"
#include "pass/weir_depend.h"
#include "pass/weir_pass.h"

/* Members of one group; lowering and driver take up to 64 loops and as many local arrays. */
#define GROUP_MAX_NODES 48
#define GROUP_MAX_LOCALS 64

typedef struct grouping {
  weir_graph *g;
  const weir_pass_opts *opts;
  weir_depend depend;
  weir_users users;
  bool *updates;              /* by array: it is the new value of a stored one     */
  int32_t *order, n;          /* live nodes, topological                           */
  int32_t *group;             /* by node: the anchor of its group; -1: no operator */
  bool *mark;                 /* by node, for searches                             */
  uint64_t *ends;             /* by array: what its length follows from, see group_ends */
  const weir_kernel **kernel; /* by node                                           */
  weir_kernel_blocks *blocks; /* by node: of its kernel                            */
  weir_rate *rates;           /* by array                                          */
  bool *blocked;              /* by node: its kernel is blocked                    */
} grouping;

/* Two groups as one: members in topological order, the anchor last. */
typedef struct candidate {
  int32_t nodes[GROUP_MAX_NODES];
  int64_t n;
} candidate;

/* Fills s->ends: streams with one value end at one slot, whatever the inputs' lengths. Bit k stands
 * for input (or change of rate) number k, the highest bit for all beyond the 63rd; bounded: 0. */
void group_ends(grouping *s);
/* True when tiles of the candidate can serve every edge inside it, and what they do again at their
 * borders is little; those that read what kernels make box by box may join them, and those that
 * make what the last member's kernel reads box by box. Fails: WEIR_ERR_MEMORY. */
weir_status group_fits(const grouping *s, const candidate *c, bool *fits) WEIR_CHECKED;

#endif
