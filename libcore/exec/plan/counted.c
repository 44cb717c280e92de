/* counted.c - bytes that a group moved in a run, from the boxes that it ran: what predictions are
 * compared with. */
#include "plan_priv.h"

static bool is_made_inside(const weir_plan *p, const exec_group *group, int32_t array)
{
  return !p->arrays[array].shared && weir_members_writers(group->member, group->n_loops, array) > 0;
}

static double bytes_of(const weir_plan *p, const exec_group *group, const weir_box *boxes,
                       int32_t array, bool write)
{
  return (double)weir_members_distinct(p->g, group->member, group->n_loops, boxes, array, write) *
         (double)weir_dtype_size(weir_graph_get_array(p->g, array)->desc.dtype);
}

double exec_counted_bytes(const weir_plan *p, const exec_group *group, const weir_box *box)
{
  weir_box boxes[EXEC_MAX_LOOPS];
  double bytes = 0;

  boxes[group->n_loops - 1] = *box;
  weir_members_compose(group->member, group->n_loops, boxes);
  for (int32_t k = 0; k < group->n_loops; k++) {
    const exec_loop *loop = &group->loops[k];

    for (int i = 0; i < loop->loop->access.n_in; i++) {
      if (weir_members_first(group->member, k, i, false) &&
          !is_made_inside(p, group, loop->loop->in[i])) {
        bytes += bytes_of(p, group, boxes, loop->loop->in[i], false);
      }
    }
    for (int o = 0; o < loop->loop->access.n_out; o++) {
      if (loop->out_local[o] < 0 && weir_members_first(group->member, k, o, true)) {
        bytes += bytes_of(p, group, boxes, loop->loop->out[o], true);
      }
    }
  }
  return bytes;
}
