/* plan_timing.c - where the time goes that making a plan takes. */
#include <string.h>
#include "plan_priv.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"

void exec_phases_begin(weir_plan *p)
{
  p->began = p->phase_end = weir_clock();
}

void exec_phase_end(weir_plan *p, const char *name)
{
  const double now = weir_clock(), seconds = now - p->phase_end;
  int k = 0;

  p->phase_end = now;
  while (k < p->n_phases && strcmp(p->phases[k].name, name) != 0) {
    k++;
  }
  if (k == EXEC_MAX_PHASES) {
    return;
  }
  if (k == p->n_phases) {
    p->phases[p->n_phases++] = (exec_phase){.name = name};
  }
  p->phases[k].seconds += seconds;
  p->phases[k].runs++;
}

void exec_phases_report(const weir_plan *p)
{
  weir_field fields[EXEC_MAX_PHASES + 4];
  int64_t loops = 0;
  int n = 0;

  for (int32_t i = 0; i < p->n_groups; i++) {
    loops += p->groups[i].n_loops;
  }
  fields[n++] = WEIR_REAL("seconds", p->phase_end - p->began);
  fields[n++] = WEIR_INT("groups", p->n_groups);
  fields[n++] = WEIR_INT("loops", loops);
  fields[n++] = WEIR_INT("tier", weir_tier_number(p->tier));
  for (int k = 0; k < p->n_phases; k++) {
    fields[n++] = WEIR_REAL(p->phases[k].name, p->phases[k].seconds);
  }
  weir_event_fields("plan_made", fields, n);
}

void exec_phases_print(const weir_plan *p, FILE *out)
{
  fprintf(out, "== time to make the plan: %.3f s\n", p->phase_end - p->began);
  for (int k = 0; k < p->n_phases; k++) {
    fprintf(out, "%-14s %9.3f s", p->phases[k].name, p->phases[k].seconds);
    if (p->phases[k].runs > 1) {
      fprintf(out, "  in %lld runs", (long long)p->phases[k].runs);
    }
    fprintf(out, "\n");
  }
}
