/* plan_timing.c - where the time goes: of making a plan, and of its runs. */
#include <math.h>
#include <string.h>
#include "plan_priv.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "exec/weir_predict.h"

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

static void log_row(const weir_plan *p, const char *name, const weir_class_time *t)
{
  char predicted[64] = "";

  if (p->predicts) {
    (void)snprintf(predicted, sizeof predicted, " %12.4g %8.3g", t->predicted_s,
                   t->measured_s > 0 ? t->predicted_s / t->measured_s : NAN);
  }
  weir_info("exec", "%-14s %6lld %11.4g %11.4g %11.4g%s", name, (long long)t->groups, t->flops,
            t->bytes, t->measured_s, predicted);
}

static void tell(const weir_plan *p, const char *name, const weir_class_time *t)
{
  weir_event("kernel_class", WEIR_TEXT("plan", p->results), WEIR_REAL("runs", p->runs),
             WEIR_TEXT("class", name), WEIR_INT("groups", t->groups), WEIR_REAL("flops", t->flops),
             WEIR_REAL("bytes", t->bytes), WEIR_REAL("measured_s", t->measured_s),
             WEIR_REAL("predicted_s", p->predicts ? t->predicted_s : NAN));
}

void exec_times_report(const weir_plan *p)
{
  weir_class_time of[WEIR_CLASSES], all = {.groups = 0};

  if (p->runs == 0 || !p->cfg.explain || p->unreported) {
    return;
  }
  weir_plan_class_times(p, of);
  weir_info("exec", "plan of %d groups for %s: seconds a %s, mean of %.6g, %d threads", p->n_groups,
            p->results, p->streaming ? "chunk" : "run", p->runs, p->threads);
  if (p->predicts) {
    weir_info("exec", "predicted: %s, %lld processors; from constants that are %s", p->target,
              (long long)p->there.processors,
              p->here.measured ? "stated"
                               : "built in: exec.predict_from names a file of measured ones");
  }
  weir_info("exec", "%-14s %6s %11s %11s %11s%s", "kernel class", "groups", "flops", "bytes",
            "measured s", p->predicts ? "  predicted s    ratio" : "");
  for (int k = 0; k < WEIR_CLASSES; k++) {
    const char *const name = weir_kernel_class_name((weir_kernel_class)k);

    if (of[k].measured_s > 0) {
      log_row(p, name, &of[k]);
      tell(p, name, &of[k]);
    }
    all.groups += of[k].groups;
    all.flops += of[k].flops;
    all.bytes += of[k].bytes;
    all.measured_s += of[k].measured_s;
    all.predicted_s += of[k].predicted_s;
  }
  log_row(p, "all", &all);
  tell(p, "all", &all);
}
