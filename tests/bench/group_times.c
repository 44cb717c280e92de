/* group_times.c - times of groups taken apart by run, and printed. */
#include "group_times.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

void group_times_take(group_times *t, const weir_plan *plan)
{
  for (int32_t i = 0; i < weir_plan_groups(plan) && i < GROUP_TIMES_MOST; i++) {
    const weir_group_report r = weir_plan_group(plan, i);
    const double total = r.measured_s * (double)r.calls, here = total - t->total[i];

    t->total[i] = total;
    t->best[i] = t->runs == 0 ? INFINITY : fmin(t->best[i], here);
  }
  t->runs++;
}

double group_times_best(const group_times *t, int32_t group)
{
  return group < GROUP_TIMES_MOST && t->runs > 1 ? t->best[group] : 0;
}

bool group_is_dense(const weir_group_report *r)
{
  return strstr(r->members, "conv") != NULL || strstr(r->members, "contract") != NULL;
}

static void print_group(const group_times *t, const weir_plan *plan, int32_t group)
{
  const weir_group_report r = weir_plan_group(plan, group);
  const double s = group_times_best(t, group);

  fprintf(stderr, "%10.3f %10.2f %10.2f %10.2f  %s%s\n", 1e3 * s, 1e-6 * r.bytes,
          1e-9 * r.bytes / s, 1e-9 * r.flops / s, group_is_dense(&r) ? "* " : "", r.members);
}

/* The group with the most seconds below `limit`, -1: none. */
static int32_t slowest_below(const group_times *t, int32_t n, double limit)
{
  double most = -1;
  int32_t at = -1;

  for (int32_t i = 0; i < n; i++) {
    const double s = group_times_best(t, i);

    if (s < limit && s > most) {
      most = s;
      at = i;
    }
  }
  return at;
}

void group_times_print(const group_times *t, const weir_plan *plan, bool slowest_first)
{
  const int32_t n = weir_plan_groups(plan);
  double limit = INFINITY;

  fprintf(stderr, "%10s %10s %10s %10s  %s\n", "ms", "MB", "GB/s", "Gflop/s", "members");
  for (int32_t i = 0; i < n; i++) {
    const int32_t at = slowest_first ? slowest_below(t, n, limit) : i;

    if (at < 0) {
      return;
    }
    limit = group_times_best(t, at);
    print_group(t, plan, at);
  }
}
