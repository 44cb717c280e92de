/* reach.c - how results of a plan follow its inputs (graph/weir_path.h), by their names. */
#include <string.h>
#include "exec/feed/feed_priv.h"

weir_plan_need weir_plan_follow(const weir_plan *p, const weir_plan_end *from, int n,
                                weir_plan_end *to, int n_to)
{
  weir_path paths[EXEC_MAX_ARRAYS];
  bool known = true;

  for (int k = 0; k < n_to; k++) {
    to[k].path = (weir_path){.reached = false};
  }
  if (p->n_arrays > EXEC_MAX_ARRAYS) {
    return (weir_plan_need){.settle = -1};
  }
  memset(paths, 0, (size_t)p->n_arrays * sizeof *paths);
  for (int i = 0; i < n; i++) {
    const int32_t a = exec_find_input(p, from[i].name);
    const bool here = a >= 0 && p->arrays[a].time >= 0;

    known = known && here;
    if (here) {
      paths[a] = from[i].path;
    }
  }
  for (int32_t i = 0; i < p->n_groups; i++) {
    for (int32_t k = 0; k < p->groups[i].n_loops; k++) {
      weir_path_through(&p->groups[i].member[k], paths);
    }
  }
  for (int k = 0; k < n_to; k++) {
    const int32_t a = exec_find_result(p, to[k].name);

    to[k].path = a >= 0 ? paths[a] : to[k].path;
  }
  return (weir_plan_need){known ? weir_path_settle(paths, p->n_arrays) : -1,
                          weir_path_margin(paths, p->n_arrays)};
}
