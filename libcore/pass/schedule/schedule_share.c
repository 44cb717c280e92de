/* schedule_share.c - results that may lie where an operand of theirs did. */
#include "pass/schedule/schedule_priv.h"

/* How one loop of the group knows the two arrays: *reads, *writes; false where it must not. */
static bool loop_allows(const weir_loop *loop, int32_t read, int32_t made, bool *reads,
                        bool *writes)
{
  const weir_access *a = &loop->access;

  *reads = *writes = false;
  for (int k = 0; k < a->n_in; k++) {
    if (loop->in[k] == made) {
      return false;
    }
    if (loop->in[k] == read) {
      *reads = true;
      if (!loop->aligned || !weir_operand_is_identity(&a->in[k], a)) {
        return false;
      }
    }
    for (int d = 0; d < a->in[k].rank; d++) {
      if (a->in[k].index[d].gather > 0 && loop->in[a->in[k].index[d].gather - 1] == read) {
        return false;
      }
    }
  }
  for (int k = 0; k < a->n_out; k++) {
    if (loop->out[k] == read) {
      return false;
    }
    if (loop->out[k] == made) {
      *writes = true;
      if (!loop->aligned || !weir_access_is_pointwise(a) ||
          !weir_operand_is_identity(&a->out[k], a)) {
        return false;
      }
    }
  }
  return true;
}

weir_status schedule_may_share(const weir_graph *g, schedule_loops *of, int32_t read, int32_t made,
                               bool *yes)
{
  const weir_array *from = weir_graph_get_array(g, read), *to = weir_graph_get_array(g, made);
  bool may = from->desc.dtype == to->desc.dtype && of->group->n_claims == 0 &&
             weir_graph_writers(g, made, NULL, 0) == 1;
  bool written = false, any = false;

  if (may && of->loops == NULL) {
    WEIR_TRY(weir_lower(g, of->group, &of->loops, &of->n));
  }
  for (int32_t i = 0; i < of->n && may; i++) {
    bool reads, writes;

    may = loop_allows(&of->loops[i], read, made, &reads, &writes) && !(reads && written);
    written = written || writes;
    any = any || reads;
  }
  *yes = may && written && any;
  return WEIR_OK;
}
