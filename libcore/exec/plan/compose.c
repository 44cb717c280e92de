/* compose.c - how far a group of a stream can be computed, and what it has to keep. */
#include "plan_priv.h"

weir_box exec_anchor_box(const exec_group *group, int64_t lo, int64_t hi)
{
  const exec_loop *anchor = &group->loops[group->n_loops - 1];
  weir_box box = group->all;

  if (anchor->time >= 0) {
    box.lo[anchor->time] = lo;
    box.hi[anchor->time] = hi;
  }
  return box;
}

int64_t exec_loop_end(const weir_plan *p, const exec_loop *loop)
{
  const weir_access *a = &loop->loop->access;
  int64_t end = WEIR_UNBOUNDED;

  for (int i = 0; i < a->n_in; i++) {
    const weir_step_rate rate = weir_operand_step_rate(&a->in[i], loop->time);
    const exec_array *array = &p->arrays[loop->loop->in[i]];

    if (rate.dim >= 0 && array->time == rate.dim && array->end < WEIR_UNBOUNDED) {
      const int64_t n = weir_step_rate_first(&rate, 0, array->end);

      end = n < end ? n : end;
    }
  }
  return end;
}

void exec_written(const weir_plan *p, int32_t array, int64_t *min, int64_t *max)
{
  *min = WEIR_UNBOUNDED;
  *max = 0;
  for (int32_t i = 0; i < p->n_groups; i++) {
    const exec_group *group = &p->groups[i];

    for (int32_t k = 0; k < group->n_loops; k++) {
      for (int o = 0; o < group->loops[k].loop->access.n_out; o++) {
        if (group->loops[k].loop->out[o] == array) {
          *min = group->front < *min ? group->front : *min;
          *max = group->front > *max ? group->front : *max;
        }
      }
    }
  }
}

void exec_find_lags(exec_loop *loop)
{
  const weir_access *a = &loop->loop->access;
  const weir_box whole = weir_iterations(a);

  for (int i = 0; i < a->n_in; i++) {
    const weir_operand *o = &a->in[i];
    const bool direct = loop->time >= 0 && o->rank == 1 && o->index[0].gather == 0 &&
                        o->index[0].border <= WEIR_BORDER_VALUE &&
                        weir_operand_step_rate(o, loop->time).dim == 0;
    bool empty = false;
    int64_t min;

    for (int k = 0; k < a->n_dims; k++) {
      empty = empty || (k != loop->time && whole.lo[k] >= whole.hi[k]);
    }
    loop->lag[i] = INT64_MAX;
    if (direct && !empty) {
      weir_operand_lag(o, loop->time, &whole, &min, &loop->lag[i]);
    }
  }
}

/* First time iteration of one loop that operand i keeps from being computed. */
static int64_t operand_limit(const weir_plan *p, const exec_loop *loop, int i, int64_t front)
{
  const weir_access *a = &loop->loop->access;
  const weir_operand *o = &a->in[i];
  const exec_array *array = &p->arrays[loop->loop->in[i]];
  const weir_step_rate rate = weir_operand_step_rate(o, loop->time);
  const int d = rate.dim;
  weir_box beyond = {.rank = o->rank};

  if (d < 0 || array->time != d || front >= array->end) {
    return WEIR_UNBOUNDED;
  }
  /* What looks back does not run ahead of the stream either: it may end here. */
  const int64_t max = weir_step_rate_first(&rate, 0, front);

  if (loop->lag[i] != INT64_MAX && array->end >= WEIR_UNBOUNDED) {
    const int64_t first = weir_step_rate_first(&rate, loop->lag[i], front),
                  lo = a->dim[loop->time].lo;

    return first > max || lo > max ? max : first < lo ? lo : first;
  }
  for (int k = 0; k < o->rank; k++) {
    beyond.hi[k] = o->extent[k];
  }
  beyond.lo[d] = front;
  beyond.hi[d] = array->end;
  const weir_box touched = weir_affected(a, i, &beyond);

  return weir_box_empty(&touched) || touched.lo[loop->time] > max ? max : touched.lo[loop->time];
}

int64_t exec_limit(const weir_plan *p, const exec_group *group, const int64_t *front)
{
  int64_t made[EXEC_MAX_LOOPS];
  int64_t limit = 0;

  for (int32_t k = 0; k < group->n_loops; k++) {
    const exec_loop *loop = &group->loops[k];

    limit = exec_loop_end(p, loop);
    for (int i = 0; i < loop->loop->access.n_in; i++) {
      const int32_t array = loop->loop->in[i];
      int64_t here = front[array];

      for (int32_t j = 0; j < k; j++) {
        for (int o = 0; o < group->loops[j].loop->access.n_out; o++) {
          here = group->loops[j].loop->out[o] == array ? made[j] : here;
        }
      }
      const int64_t max = operand_limit(p, loop, i, here);

      limit = max < limit ? max : limit;
    }
    made[k] = limit;
  }
  return limit;
}

void exec_retain(const exec_group *group, int64_t front, int64_t *keep)
{
  weir_box boxes[EXEC_MAX_LOOPS];
  /* All that is to come, not only the next slot: near the start of a stream a border may hide what
   * the slot after it needs. */
  const weir_box rest = exec_anchor_box(group, front, front + EXEC_FAR);

  boxes[group->n_loops - 1] = rest;
  weir_members_compose(group->member, group->n_loops, boxes);
  for (int32_t k = 0; k < group->n_loops; k++) {
    const exec_loop *loop = &group->loops[k];

    for (int i = 0; i < loop->loop->access.n_in && !weir_box_empty(&boxes[k]); i++) {
      const int d = weir_operand_step_rate(&loop->loop->access.in[i], loop->time).dim;

      if (d >= 0 && loop->in_local[i] < 0) {
        const weir_region r = weir_needed(&loop->loop->access, i, &boxes[k]);
        const int32_t array = loop->loop->in[i];

        if (!weir_region_empty(&r) && r.interval[d][0].lo < keep[array]) {
          keep[array] = r.interval[d][0].lo;
        }
      }
    }
  }
}
