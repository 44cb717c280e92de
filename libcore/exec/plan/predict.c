/* predict.c - see weir_predict.h. */
#include <math.h>
#include <string.h>
#include "plan_priv.h"
#include "exec/weir_predict.h"
#include "perf/weir_wave.h"

const char *weir_kernel_class_name(weir_kernel_class k)
{
  static const char *const names[WEIR_CLASSES] = {"library kernel", "map",       "reduction",
                                                  "scan",           "host call", "outside groups"};

  return names[k];
}

static bool is_half(weir_dtype dtype)
{
  return weir_dtype_is_storage(dtype);
}

static double processor_rate(const weir_constants *c, weir_dtype dtype)
{
  return dtype == WEIR_F64 ? c->flop_rate_f64 : is_half(dtype) ? c->flop_rate_bf16 : c->flop_rate;
}

/* blocks: of the work, which so many processors share at most; 0: not known, all do. */
static weir_wave_device wave_device(const weir_constants *c, weir_dtype dtype, int64_t blocks)
{
  const double rate = processor_rate(c, dtype);
  const double processors = (double)(blocks > 0 && blocks < c->processors ? blocks : c->processors);

  return (weir_wave_device){.processors = processors,
                            .resident_blocks = (double)c->resident_blocks,
                            .rate = rate,
                            .bandwidth = fmin(processors * c->bandwidth, c->total_bandwidth),
                            .flop_rate = processors * rate};
}

double weir_group_predict(const weir_group_report *r, const weir_constants *here,
                          const weir_constants *there)
{
  /* Where a processor runs many blocks at a time, work is divided otherwise: then the number of
   * tiles says nothing. */
  const int64_t blocks = here->resident_blocks == there->resident_blocks ? r->blocks : 0;
  const weir_wave_device from = wave_device(here, r->dtype, blocks);
  const weir_wave_device to = wave_device(there, r->dtype, blocks);
  const weir_wave_work work = {.seconds = fmax(r->measured_s - r->waited_s, 0),
                               .flops = r->flops,
                               .bytes = r->bytes,
                               .blocks = (double)blocks};

  return r->on_host ? r->measured_s
                    : fmin(r->waited_s, r->measured_s) + weir_wave_seconds(&work, &from, &to);
}

weir_kernel_class exec_class_of(const exec_group *group)
{
  const weir_access *anchor = &group->loops[group->n_loops - 1].loop->access;

  if (anchor->maker == WEIR_MADE_BY_CALL) {
    return WEIR_CLASS_CALL;
  }
  if (group->n_kernels > 0 || anchor->maker == WEIR_MADE_BY_LIBRARY) {
    return WEIR_CLASS_LIBRARY;
  }
  if (anchor->n_states > 0) {
    return WEIR_CLASS_SCAN;
  }
  for (int d = 0; d < anchor->n_dims; d++) {
    if (anchor->dim[d].kind == WEIR_REDUCED) {
      return WEIR_CLASS_REDUCTION;
    }
  }
  return WEIR_CLASS_MAP;
}

/* Of products in half precision, what they multiply; else what the anchor computes in. */
weir_dtype exec_dtype_of(const exec_group *group)
{
  const bool kernel = group->n_kernels > 0;
  weir_dtype found = WEIR_F32;

  for (int32_t k = group->n_loops - 1; k >= 0; k--) {
    const weir_access *a = &group->loops[k].loop->access;

    for (int i = 0; i < a->n_in + a->n_out; i++) {
      const weir_operand *o = i < a->n_in ? &a->in[i] : &a->out[i - a->n_in];
      const weir_dtype part = weir_dtype_part(o->dtype);

      if (kernel && is_half(part)) {
        return part;
      }
      found = k == group->n_loops - 1 && part == WEIR_F64 ? part : found;
    }
  }
  return found;
}

void weir_plan_class_times(const weir_plan *p, weir_class_time out[WEIR_CLASSES])
{
  double inside = 0;

  for (int k = 0; k < WEIR_CLASSES; k++) {
    out[k] = (weir_class_time){.groups = 0};
  }
  for (int32_t i = 0; i < p->n_groups; i++) {
    const weir_group_report r = weir_plan_group(p, i);
    weir_class_time *t = &out[r.kernel_class];

    t->groups++;
    t->flops += r.flops;
    t->bytes += r.bytes;
    t->measured_s += r.measured_s;
    t->predicted_s += r.elsewhere_s;
    inside += r.measured_s;
  }
  if (p->runs > 0 && p->cfg.explain) {
    weir_class_time *t = &out[WEIR_CLASS_OUTSIDE];

    t->measured_s = fmax(p->seconds / p->runs - inside, 0);
    t->predicted_s = p->predicts ? t->measured_s : 0;
  }
}

weir_status exec_predict_open(weir_plan *p)
{
  const weir_exec_cfg *cfg = &p->cfg;

  if (cfg->predict == NULL || cfg->predict[0] == 0) {
    return WEIR_OK;
  }
  p->here = *p->constants;
  p->here.processors = p->threads;
  if (cfg->predict_from != NULL && cfg->predict_from[0] != 0) {
    WEIR_TRY(weir_constants_read(cfg->predict_from, &p->here));
  } else if (strcmp(cfg->device, "cpu") != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "exec.predict: groups run on %s, whose constants are not known: name a file "
                     "of them (docs/reference/machine.md) in exec.predict_from",
                     cfg->device);
  }
  WEIR_TRY(weir_constants_read(cfg->predict, &p->there));
  (void)snprintf(p->target, sizeof p->target, "%s", cfg->predict);
  p->predicts = p->cfg.explain = true;
  return WEIR_OK;
}
