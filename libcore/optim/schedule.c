/* schedule.c - learning rates over a run. */
#include "optim/weir_schedule.h"

#include <math.h>

enum { SCALE_NONE, SCALE_LINEAR, SCALE_SQRT };

const weir_opt weir_schedule_opts[] = {
    WEIR_OPT_ENUM(weir_schedule_cfg, shape, 0, "constant|step|exponential|cosine|polynomial|mlperf",
                  "learning-rate decay after warm-up; mlperf: schedule of MLPerf HPC's CosmoFlow, "
                  "one rate per epoch"),
    WEIR_OPT_REAL(weir_schedule_cfg, lr, 1e-3, 0.0, 1e6, "1",
                  "learning rate after warm-up (Kingma and Ba 2015: 0.001)"),
    WEIR_OPT_REAL(weir_schedule_cfg, lr_min, 0.0, 0.0, 1e6, "1",
                  "minimum learning rate; final value of cosine and polynomial"),
    WEIR_OPT_ENUM(weir_schedule_cfg, unit, 0, "steps|epochs", "unit of warmup, every and at"),
    WEIR_OPT_REAL(weir_schedule_cfg, warmup, 0.0, 0.0, 1e12, "steps or epochs",
                  "length of linear warm-up; mlperf: from lr to its peak (scale)"),
    WEIR_OPT_REAL(weir_schedule_cfg, warmup_start, 0.0, 0.0, 1.0, "1",
                  "initial learning rate of warm-up, as a fraction of lr; ignored by mlperf"),
    WEIR_OPT_REAL(weir_schedule_cfg, factor, 0.1, 1e-9, 1.0, "1",
                  "step, exponential, mlperf: decay factor"),
    WEIR_OPT_REAL(weir_schedule_cfg, every, 0.0, 0.0, 1e12, "steps or epochs",
                  "step: interval between changes; exponential: time in which the learning rate "
                  "decays by factor"),
    WEIR_OPT_REAL(weir_schedule_cfg, power, 1.0, 0.01, 16.0, "1",
                  "polynomial: exponent; 1: linear decay"),
    WEIR_OPT_REAL_LIST(
        weir_schedule_cfg, at, "", 0.0, 1e12, "steps or epochs",
        "step: times of the changes, ascending, instead of every; mlperf: epochs after which a "
        "change takes effect: with at: 32 from epoch 33 on, where the first epoch is 0"),
    WEIR_OPT_REAL_LIST(weir_schedule_cfg, factors, "", 1e-9, 1.0, "1",
                       "step, mlperf: factor of lr from each of `at` on; empty: powers of factor"),
    WEIR_OPT_ENUM(
        weir_schedule_cfg, scale, SCALE_NONE, "none|linear|sqrt",
        "scaling of lr with the samples per update (batch times accumulate): linear: by their "
        "ratio to batch; sqrt: by its square root; mlperf warms up to the scaled rate"),
    WEIR_OPT_INT(weir_schedule_cfg, batch, 64, 1, 1e12, "1",
                 "reference number of samples per update for scale (MLPerf HPC: 64 for linear, 32 "
                 "for sqrt)"),
    WEIR_OPT_END,
};

static double in_steps(const weir_schedule_cfg *c, double length, int64_t per_epoch)
{
  return c->unit == 0 ? length : length * (double)per_epoch;
}

static weir_status check_changes(const weir_schedule_cfg *c)
{
  for (int64_t i = 1; i < c->at.count; i++) {
    if (c->at.items[i] <= c->at.items[i - 1]) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "schedule: at: %g follows %g: list the times in ascending order",
                       c->at.items[i], c->at.items[i - 1]);
    }
  }
  if (c->factors.count > 0 && c->factors.count != c->at.count) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "schedule: factors has %lld entries and at has %lld: give one factor for each",
                     (long long)c->factors.count, (long long)c->at.count);
  }
  const bool needs =
      c->shape == WEIR_SCHEDULE_EXPONENTIAL || (c->shape == WEIR_SCHEDULE_STEP && c->at.count == 0);

  if (needs && c->every <= 0) {
    return weir_fail(
        WEIR_ERR_CONFIG, "schedule: every is 0, which would change the rate without end: %s",
        c->shape == WEIR_SCHEDULE_STEP ? "set every or at" : "exponential needs a time");
  }
  return WEIR_OK;
}

weir_status weir_schedule_check(const weir_schedule_cfg *c, const weir_schedule_run *run)
{
  const double warmup = in_steps(c, c->warmup, run->per_epoch);

  if (c->lr_min > c->lr) {
    return weir_fail(WEIR_ERR_CONFIG, "schedule: lr_min, %g, is above lr, %g: lower it", c->lr_min,
                     c->lr);
  }
  if (c->unit != 0 && run->per_epoch < 1) {
    return weir_fail(WEIR_ERR_CONFIG, "schedule: unit: an epoch of %lld steps",
                     (long long)run->per_epoch);
  }
  if (c->unit == 0 && c->shape == WEIR_SCHEDULE_MLPERF) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "schedule: unit: mlperf has one rate per epoch: set unit to epochs");
  }
  if (warmup > (double)run->steps && c->shape != WEIR_SCHEDULE_MLPERF) {
    const double of = c->unit == 0 ? 1 : (double)run->per_epoch;

    return weir_fail(WEIR_ERR_CONFIG, "schedule: warmup: %g %s exceed the run of %g", c->warmup,
                     c->unit == 0 ? "steps" : "epochs", (double)run->steps / of);
  }
  return check_changes(c);
}

double weir_schedule_peak(const weir_schedule_cfg *c, const weir_schedule_run *run)
{
  const double ratio = (double)run->samples / (double)c->batch;

  return c->lr * (c->scale == SCALE_LINEAR ? ratio : c->scale == SCALE_SQRT ? sqrt(ratio) : 1);
}

/* What `done` changes multiply by. */
static double factor_of(const weir_schedule_cfg *c, int64_t done)
{
  return c->factors.count == 0 ? pow(c->factor, (double)done)
         : done > 0            ? c->factors.items[done - 1]
                               : 1;
}

/* Of the changes that lie before step s. */
static double factor_before(const weir_schedule_cfg *c, double s, int64_t per_epoch)
{
  int64_t n = 0;

  if (c->at.count == 0) {
    return pow(c->factor, floor((s - 1) / in_steps(c, c->every, per_epoch)));
  }
  while (n < c->at.count && in_steps(c, c->at.items[n], per_epoch) < s) {
    n++;
  }
  return factor_of(c, n);
}

/* mlcommons/hpc, cosmoflow/utils/optimizers.py: the rate of epoch e. */
static double mlperf(const weir_schedule_cfg *c, double peak, double e)
{
  int64_t n = 0;

  if (e < c->warmup) {
    return c->lr + e * (peak - c->lr) / c->warmup;
  }
  while (n < c->at.count && c->at.items[n] < e) {
    n++;
  }
  return fmax(peak * factor_of(c, n), c->lr_min);
}

double weir_schedule_lr(const weir_schedule_cfg *c, const weir_schedule_run *run, int64_t step)
{
  const double n = (double)run->steps, s = fmin((double)step, n);
  const double w = in_steps(c, c->warmup, run->per_epoch);
  const double after = fmax(s - w, 0), t = n > w ? after / (n - w) : s >= w;
  const double ramp = s < w ? c->warmup_start + (1 - c->warmup_start) * (s / w) : 1;
  const double peak = weir_schedule_peak(c, run);
  double lr = peak;

  switch ((weir_schedule_shape)c->shape) {
  case WEIR_SCHEDULE_STEP:
    lr *= factor_before(c, s, run->per_epoch);
    break;
  case WEIR_SCHEDULE_EXPONENTIAL:
    lr *= pow(c->factor, after / in_steps(c, c->every, run->per_epoch));
    break;
  case WEIR_SCHEDULE_COSINE:
    lr = c->lr_min + (peak - c->lr_min) * (0.5 + 0.5 * cos(3.14159265358979323846 * t));
    break;
  case WEIR_SCHEDULE_POLYNOMIAL:
    lr = c->lr_min + (peak - c->lr_min) * pow(1 - t, c->power);
    break;
  case WEIR_SCHEDULE_MLPERF:
    return mlperf(c, peak, floor((s - 1) / (double)run->per_epoch));
  default:
    break;
  }
  return ramp * fmax(lr, c->lr_min);
}
