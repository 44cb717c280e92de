/* microbatch_check.h - graphs in micro-batches without the other passes, and their operators. Tests
 * only. */
#ifndef WEIR_MICROBATCH_CHECK_H
#define WEIR_MICROBATCH_CHECK_H
#include <string.h>
#include "base/weir_check.h"
#include "graph/weir_graph.h"
#include "pass/weir_pass.h"

/* Returns a copy of g in n micro-batches, without groups; the caller destroys it. */
static inline weir_graph *microbatch_copy(const weir_graph *g, int64_t n)
{
  const weir_pass_opts opts = {
      .microbatches = n, .skip = "simplify,recompute,tile", .no_fusion = true};
  weir_graph *out;

  assert_ok(weir_graph_copy(g, &out));
  assert_ok(weir_passes_run(out, &opts, NULL, NULL));
  weir_graph_clear_groups(out); /* a plan makes its own */
  return out;
}

/* Returns how many live nodes of an operator a graph has. */
static inline int64_t microbatch_count(const weir_graph *g, const char *op)
{
  int64_t n = 0;

  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    n += node->op != NULL && !node->dead && strcmp(node->op->name, op) == 0;
  }
  return n;
}
#endif
