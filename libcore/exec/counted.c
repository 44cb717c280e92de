/* counted.c - bytes that a group moved in a run, from the boxes that it ran: what predictions are
 * compared with. */
#include "plan_priv.h"

/* All operands of the group's loops on one array. */
typedef struct uses {
  const weir_access *access[EXEC_MAX_LOOPS * 2];
  weir_box box[EXEC_MAX_LOOPS * 2];
  int operand[EXEC_MAX_LOOPS * 2];
  int n;
} uses;

static bool is_made_inside(const weir_plan *p, const exec_group *group, int32_t array)
{
  for (int32_t k = 0; k < group->n_loops && !p->arrays[array].shared; k++) {
    const weir_loop *l = group->loops[k].loop;

    for (int o = 0; o < l->access.n_out; o++) {
      if (l->out[o] == array) {
        return true;
      }
    }
  }
  return false;
}

/* Distinct bytes of what was collected, which is then forgotten. */
static double drain(const weir_plan *p, int32_t array, uses *u)
{
  const size_t size = weir_dtype_size(weir_graph_get_array(p->g, array)->desc.dtype);
  const double bytes =
      (double)weir_distinct_union(u->access, u->operand, u->box, u->n) * (double)size;

  u->n = 0;
  return bytes;
}

static double bytes_of(const weir_plan *p, const exec_group *group, const weir_box *boxes,
                       int32_t array, bool write)
{
  uses u = {.n = 0};
  double bytes = 0;

  for (int32_t k = 0; k < group->n_loops; k++) {
    const weir_loop *l = group->loops[k].loop;
    const int32_t *list = write ? l->out : l->in;

    for (int i = 0; i < (write ? l->access.n_out : l->access.n_in); i++) {
      if (list[i] != array) {
        continue;
      }
      if (u.n == EXEC_MAX_LOOPS * 2) { /* an upper bound: the rest counts by itself */
        bytes += drain(p, array, &u);
      }
      u.access[u.n] = &l->access;
      u.operand[u.n] = write ? -1 - i : i;
      u.box[u.n++] = boxes[k];
    }
  }
  return bytes + drain(p, array, &u);
}

/* The first operand of the group on that array, so that each array counts once. */
static bool is_first(const exec_group *group, int32_t upto, int operand, bool write)
{
  const weir_loop *last = group->loops[upto].loop;
  const int32_t array = write ? last->out[operand] : last->in[operand];

  for (int32_t k = 0; k <= upto; k++) {
    const weir_loop *l = group->loops[k].loop;
    const int32_t *list = write ? l->out : l->in;
    const int n = k == upto ? operand : write ? l->access.n_out : l->access.n_in;

    for (int i = 0; i < n; i++) {
      if (list[i] == array) {
        return false;
      }
    }
  }
  return true;
}

double exec_counted_bytes(const weir_plan *p, const exec_group *group, const weir_box *box)
{
  weir_box boxes[EXEC_MAX_LOOPS];
  double bytes = 0;

  exec_compose(group, box, boxes);
  for (int32_t k = 0; k < group->n_loops; k++) {
    const exec_loop *loop = &group->loops[k];

    for (int i = 0; i < loop->loop->access.n_in; i++) {
      if (is_first(group, k, i, false) && !is_made_inside(p, group, loop->loop->in[i])) {
        bytes += bytes_of(p, group, boxes, loop->loop->in[i], false);
      }
    }
    for (int o = 0; o < loop->loop->access.n_out; o++) {
      if (loop->out_local[o] < 0 && is_first(group, k, o, true)) {
        bytes += bytes_of(p, group, boxes, loop->loop->out[o], true);
      }
    }
  }
  return bytes;
}
