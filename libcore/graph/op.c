/* op.c - operators by name; how large an array is. */
#include "graph/weir_graph.h"

#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"

int64_t weir_desc_bytes(const weir_array_desc *d)
{
  int64_t bytes = (int64_t)weir_dtype_size(d->dtype);

  for (int k = 0; k < d->rank; k++) {
    bytes = weir_saturating_mul(bytes, d->shape[k]);
  }
  return bytes;
}

weir_status weir_op_find(const char *name, const weir_op_desc **out)
{
  char names[1024] = "";
  size_t used = 0;

  *out = NULL;
  for (int i = 0; weir_op_table[i] != NULL; i++) {
    const char *entry = weir_op_table[i]->name;
    if (strcmp(entry, name) == 0) {
      *out = weir_op_table[i];
      return WEIR_OK;
    }
    if (used < sizeof names) {
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", entry);
    }
  }
  return weir_fail(WEIR_ERR_CONFIG, "no operator '%s'; there are: %s", name, names);
}

weir_status weir_op_run_whole(const weir_node *node, const weir_view *in, const weir_view *out)
{
  const weir_op_desc *op = node->op;
  weir_op_run run = {.spec = node->spec,
                     .access = &node->access,
                     .box = weir_iterations(&node->access),
                     .n_in = node->n_in,
                     .n_out = node->n_out,
                     .in = in,
                     .out = out,
                     .last = true};

  if (op->scratch != NULL) {
    WEIR_TRY(weir_alloc(op->scratch(&node->access), 1, &run.scratch));
  }
  const weir_status status = op->run(&run);

  weir_free(&run.scratch);
  return status;
}
