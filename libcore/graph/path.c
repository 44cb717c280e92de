/* path.c - see weir_path.h. Slots of different rates are compared through their ratio to one
 * another.
 */
#include "graph/weir_path.h"

static bool depends_on_time(const weir_access *a, int time)
{
  for (int32_t i = 0; i < a->body.n; i++) {
    const weir_expr *e = &a->body.exprs[i];

    if (e->code == WEIR_CODE_RANDOM || e->code == WEIR_CODE_REMAINDER ||
        (e->code == WEIR_CODE_INDEX && e->integer == time)) {
      return true;
    }
  }
  return false;
}

static double larger(double a, double b)
{
  return a > b ? a : b;
}

/* Adds what a member needs of one operand to what its outputs will carry. */
static void read(const weir_access *a, int i, int time, const weir_path *from, weir_path *to)
{
  const weir_step_rate rate = weir_operand_step_rate(&a->in[i], time);
  weir_box box = weir_iterations(a);
  int64_t min = 0, max = 0;

  if (!from->reached || rate.dim < 0) {
    return;
  }
  box.lo[time] = 0;
  box.hi[time] = 1;
  if (weir_box_empty(&box)) {
    return;
  }
  weir_operand_lag(&a->in[i], time, &box, &min, &max);
  const double lo = (double)min / (double)rate.down, hi = (double)max / (double)rate.down;

  to->ratio = from->ratio * (double)rate.down / (double)rate.up;
  to->behind = larger(to->behind, from->behind - lo / from->ratio);
  to->ahead = larger(to->ahead, from->ahead + hi / from->ratio);
  to->hold = larger(to->hold, from->hold);
  to->settle = from->settle < 0 ? -1 : to->settle;
  if (to->settle >= 0) {
    to->settle = larger(to->settle, from->settle + (larger(-lo, 0) + 1) / from->ratio);
  }
  to->reached = true;
}

weir_path weir_path_start(void)
{
  return (weir_path){.reached = true, .ratio = 1};
}

void weir_path_through(const weir_member *m, weir_path *paths)
{
  const weir_access *a = m->access;
  const int time = weir_access_time(a);
  const bool scan = a->n_states > 0 || a->maker == WEIR_MADE_BY_CALL;
  weir_path made = {.reached = false};

  for (int i = 0; i < a->n_in; i++) {
    read(a, i, time, &paths[m->in[i]], &made);
  }
  if (!made.reached) {
    return;
  }
  made.hold += scan ? (double)a->settle / made.ratio : 0;
  if (depends_on_time(a, time) || (scan && a->presence == 0)) {
    made.settle = -1;
  } else if (scan && made.settle >= 0) {
    made.settle += (double)a->settle / made.ratio;
  }
  for (int o = 0; o < a->n_out; o++) {
    paths[m->out[o]] = made;
  }
}

static int64_t ceiling(double x)
{
  const int64_t n = (int64_t)x;

  return (double)n < x ? n + 1 : n;
}

int64_t weir_path_behind(const weir_path *p)
{
  return ceiling(p->behind);
}

int64_t weir_path_ahead(const weir_path *p)
{
  return ceiling(p->ahead);
}

int64_t weir_path_settle(const weir_path *paths, int32_t n)
{
  double settle = 0;

  for (int32_t a = 0; a < n; a++) {
    if (paths[a].reached && paths[a].settle < 0) {
      return -1;
    }
    if (paths[a].reached) {
      /* What waits for later input must have been computed as well. */
      settle = larger(settle, paths[a].settle + paths[a].ahead + 1 / paths[a].ratio + 1);
    }
  }
  return ceiling(settle);
}

int64_t weir_path_margin(const weir_path *paths, int32_t n)
{
  double margin = 0;

  for (int32_t a = 0; a < n; a++) {
    if (paths[a].reached) {
      margin =
          larger(margin, paths[a].behind + paths[a].ahead + paths[a].hold + 2 / paths[a].ratio + 2);
    }
  }
  return ceiling(margin);
}
