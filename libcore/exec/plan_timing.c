/* plan_timing.c - where the time goes that making a plan takes. */
#include <string.h>
#include "plan_priv.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"

void exec_laps_begin(weir_plan *p)
{
  p->began = p->lap = weir_clock();
}

void exec_phase_end(weir_plan *p, const char *name)
{
  const double now = weir_clock(), seconds = now - p->lap;
  int k = 0;

  p->lap = now;
  while (k < p->n_laps && strcmp(p->laps[k].name, name) != 0) {
    k++;
  }
  if (k == EXEC_MAX_LAPS) {
    return;
  }
  if (k == p->n_laps) {
    p->laps[p->n_laps++] = (exec_lap){.name = name};
  }
  p->laps[k].seconds += seconds;
  p->laps[k].runs++;
}

void exec_laps_tell(const weir_plan *p)
{
  weir_field fields[EXEC_MAX_LAPS + 4];
  int64_t loops = 0;
  int n = 0;

  for (int32_t i = 0; i < p->n_groups; i++) {
    loops += p->groups[i].n_loops;
  }
  fields[n++] = WEIR_REAL("seconds", p->lap - p->began);
  fields[n++] = WEIR_INT("groups", p->n_groups);
  fields[n++] = WEIR_INT("loops", loops);
  fields[n++] = WEIR_INT("tier", weir_tier_number(p->tier));
  for (int k = 0; k < p->n_laps; k++) {
    fields[n++] = WEIR_REAL(p->laps[k].name, p->laps[k].seconds);
  }
  weir_event_fields("plan_made", fields, n);
}

void exec_laps_print(const weir_plan *p, FILE *out)
{
  fprintf(out, "== time to make the plan: %.3f s\n", p->lap - p->began);
  for (int k = 0; k < p->n_laps; k++) {
    fprintf(out, "%-14s %9.3f s", p->laps[k].name, p->laps[k].seconds);
    if (p->laps[k].runs > 1) {
      fprintf(out, "  in %lld runs", (long long)p->laps[k].runs);
    }
    fprintf(out, "\n");
  }
}
