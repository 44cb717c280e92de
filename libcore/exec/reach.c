/* reach.c - latency and gap rules of a stream plan, composed from the accesses.
 *
 * Slots of different rates are compared through their ratio to one another: an array that advances
 * num/den slots per slot of an input. */
#include <string.h>
#include "plan_priv.h"

/* What is known of one array while walking from the inputs to the results, in slots of that array.
 */
typedef struct walk {
  bool reached;
  double ratio;  /* slots of this array per slot of the input */
  double behind; /* reach to earlier input slots, in input slots */
  double ahead;  /* reach to later input slots, in input slots   */
  double settle; /* slots of absence until constant, in input slots; < 0: never */
  double hold;   /* slots of absence that scans and calls wait for, in input slots */
} walk;

static bool depends_on_time(const weir_access *a, int loop_time)
{
  for (int32_t i = 0; i < a->body.n; i++) {
    const weir_expr *e = &a->body.exprs[i];

    if (e->code == WEIR_CODE_RANDOM || e->code == WEIR_CODE_REMAINDER ||
        (e->code == WEIR_CODE_INDEX && e->integer == loop_time)) {
      return true;
    }
  }
  return false;
}

static double larger(double a, double b)
{
  return a > b ? a : b;
}

/* Adds what a loop needs of one operand to what its outputs will carry. */
static void through(const exec_loop *loop, int i, const walk *from, walk *to)
{
  const weir_access *a = &loop->loop->access;
  const weir_pace pace = weir_operand_pace(&a->in[i], loop->time);
  weir_box box = weir_iterations(a);
  int64_t least = 0, most = 0;

  if (!from->reached || pace.dim < 0) {
    return;
  }
  box.lo[loop->time] = 0;
  box.hi[loop->time] = 1;
  if (weir_box_empty(&box)) {
    return;
  }
  weir_operand_lag(&a->in[i], loop->time, &box, &least, &most);
  const double lo = (double)least / (double)pace.down, hi = (double)most / (double)pace.down;

  to->ratio = from->ratio * (double)pace.down / (double)pace.up;
  to->behind = larger(to->behind, from->behind - lo / from->ratio);
  to->ahead = larger(to->ahead, from->ahead + hi / from->ratio);
  to->hold = larger(to->hold, from->hold);
  to->settle = from->settle < 0 ? -1 : to->settle;
  if (to->settle >= 0) {
    to->settle = larger(to->settle, from->settle + (larger(-lo, 0) + 1) / from->ratio);
  }
  to->reached = true;
}

static void through_loop(const exec_loop *loop, walk *arrays)
{
  const weir_access *a = &loop->loop->access;
  walk made = {.reached = false};
  const bool scan = a->n_states > 0 || a->maker == WEIR_MADE_BY_CALL;

  for (int i = 0; i < a->n_in; i++) {
    through(loop, i, &arrays[loop->loop->in[i]], &made);
  }
  if (!made.reached) {
    return;
  }
  made.hold += scan ? (double)a->settle / made.ratio : 0;
  if (depends_on_time(a, loop->time) || (scan && a->presence == 0)) {
    made.settle = -1;
  } else if (scan && made.settle >= 0) {
    made.settle += (double)a->settle / made.ratio;
  }
  for (int o = 0; o < a->n_out; o++) {
    arrays[loop->loop->out[o]] = made;
  }
}

static bool walk_from(const weir_plan *p, const char *input, walk *arrays)
{
  bool found = false;

  if (p->n_arrays > EXEC_MAX_ARRAYS) {
    return false;
  }
  memset(arrays, 0, (size_t)p->n_arrays * sizeof(*arrays));
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);

    if (array->kind == WEIR_ARRAY_INPUT && array->desc.time > 0 &&
        strcmp(array->name, input) == 0) {
      arrays[a] = (walk){.reached = true, .ratio = 1};
      found = true;
    }
  }
  for (int32_t i = 0; i < p->n_groups && found; i++) {
    for (int32_t k = 0; k < p->groups[i].n_loops; k++) {
      through_loop(&p->groups[i].loops[k], arrays);
    }
  }
  return found;
}

static int64_t ceiling(double x)
{
  const int64_t n = (int64_t)x;

  return (double)n < x ? n + 1 : n;
}

int64_t weir_plan_settle(const weir_plan *p, const char *input)
{
  walk arrays[EXEC_MAX_ARRAYS];
  double settle = 0;

  if (!walk_from(p, input, arrays)) {
    return -1;
  }
  for (int32_t a = 0; a < p->n_arrays; a++) {
    if (arrays[a].reached && arrays[a].settle < 0) {
      return -1;
    }
    if (arrays[a].reached) {
      /* What waits for later input must have been computed as well. */
      settle = larger(settle, arrays[a].settle + arrays[a].ahead + 1 / arrays[a].ratio + 1);
    }
  }
  return ceiling(settle);
}

int64_t weir_plan_margin(const weir_plan *p, const char *input)
{
  walk arrays[EXEC_MAX_ARRAYS];
  double margin = 0;

  if (!walk_from(p, input, arrays)) {
    return 0;
  }
  for (int32_t a = 0; a < p->n_arrays; a++) {
    if (arrays[a].reached) {
      margin = larger(margin, larger(arrays[a].behind, 0) + larger(arrays[a].ahead, 0) +
                                  arrays[a].hold + 2 / arrays[a].ratio + 2);
    }
  }
  return ceiling(margin);
}

weir_plan_path weir_plan_reach(const weir_plan *p, const char *result, const char *input)
{
  walk arrays[EXEC_MAX_ARRAYS];
  const int32_t n = walk_from(p, input, arrays) ? p->n_arrays : 0;
  weir_plan_path path = {.ratio = 0};

  for (int32_t a = 0; a < n; a++) {
    const char *output = weir_graph_get_array(p->g, a)->output;

    if (output != NULL && strcmp(output, result) == 0 && arrays[a].reached) {
      path = (weir_plan_path){.ratio = arrays[a].ratio,
                              .behind = ceiling(larger(arrays[a].behind, 0)),
                              .ahead = ceiling(larger(arrays[a].ahead, 0))};
    }
  }
  return path;
}
