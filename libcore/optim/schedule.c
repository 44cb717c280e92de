/* schedule.c - learning rates over a run. */
#include "optim/weir_schedule.h"

#include <math.h>

enum { CONSTANT, STEP, EXPONENTIAL, COSINE, POLYNOMIAL };

const weir_opt weir_schedule_opts[] = {
    WEIR_OPT_ENUM(weir_schedule_cfg, shape, 0, "constant|step|exponential|cosine|polynomial",
                  "how the learning rate falls after warm-up"),
    WEIR_OPT_REAL(weir_schedule_cfg, lr, 1e-3, 0.0, 1e6, "1",
                  "learning rate after warm-up (Kingma and Ba 2015: 0.001)"),
    WEIR_OPT_REAL(weir_schedule_cfg, lr_min, 0.0, 0.0, 1e6, "1",
                  "learning rate below which it does not fall; cosine and polynomial end there"),
    WEIR_OPT_ENUM(weir_schedule_cfg, unit, 0, "steps|epochs", "unit of warmup, every and at"),
    WEIR_OPT_REAL(weir_schedule_cfg, warmup, 0.0, 0.0, 1e12, "steps or epochs",
                  "length of the linear rise at the start"),
    WEIR_OPT_REAL(weir_schedule_cfg, warmup_start, 0.0, 0.0, 1.0, "1",
                  "share of the learning rate from which it rises"),
    WEIR_OPT_REAL(weir_schedule_cfg, factor, 0.1, 1e-9, 1.0, "1",
                  "step, exponential: what each change multiplies by"),
    WEIR_OPT_REAL(weir_schedule_cfg, every, 0.0, 0.0, 1e12, "steps or epochs",
                  "step: from one change to the next; exponential: time in which the learning rate "
                  "falls by factor"),
    WEIR_OPT_REAL(weir_schedule_cfg, power, 1.0, 0.01, 16.0, "1",
                  "polynomial: its exponent; 1 is a straight line"),
    WEIR_OPT_REAL_LIST(weir_schedule_cfg, at, "", 0.0, 1e12, "steps or epochs",
                       "step: the changes, ascending, instead of every"),
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
      return weir_fail(WEIR_ERR_CONFIG, "schedule: at: %g follows %g; it must ascend",
                       c->at.items[i], c->at.items[i - 1]);
    }
  }
  const bool needs = c->shape == EXPONENTIAL || (c->shape == STEP && c->at.count == 0);

  if (needs && c->every <= 0) {
    return weir_fail(WEIR_ERR_CONFIG, "schedule: every: 0 would change the rate without end; %s",
                     c->shape == STEP ? "give it, or at" : "exponential needs a time");
  }
  return WEIR_OK;
}

weir_status weir_schedule_check(const weir_schedule_cfg *c, int64_t steps, int64_t per_epoch)
{
  if (c->lr_min > c->lr) {
    return weir_fail(WEIR_ERR_CONFIG, "schedule: lr_min: %g is above lr, %g", c->lr_min, c->lr);
  }
  if (c->unit != 0 && per_epoch < 1) {
    return weir_fail(WEIR_ERR_CONFIG, "schedule: unit: an epoch of %lld steps",
                     (long long)per_epoch);
  }
  if (in_steps(c, c->warmup, per_epoch) > (double)steps) {
    return weir_fail(WEIR_ERR_CONFIG, "schedule: warmup: %g steps of a run of %lld",
                     in_steps(c, c->warmup, per_epoch), (long long)steps);
  }
  return check_changes(c);
}

/* Changes that lie before step s. */
static double changes(const weir_schedule_cfg *c, double s, int64_t per_epoch)
{
  int64_t n = 0;

  if (c->at.count == 0) {
    return floor((s - 1) / in_steps(c, c->every, per_epoch));
  }
  while (n < c->at.count && in_steps(c, c->at.items[n], per_epoch) < s) {
    n++;
  }
  return (double)n;
}

double weir_schedule_lr(const weir_schedule_cfg *c, int64_t step, int64_t steps, int64_t per_epoch)
{
  const double n = (double)steps, s = fmin((double)step, n);
  const double w = in_steps(c, c->warmup, per_epoch);
  const double after = fmax(s - w, 0), t = n > w ? after / (n - w) : s >= w;
  const double ramp = s < w ? c->warmup_start + (1 - c->warmup_start) * (s / w) : 1;
  double lr = c->lr;

  switch (c->shape) {
  case STEP:
    lr *= pow(c->factor, changes(c, s, per_epoch));
    break;
  case EXPONENTIAL:
    lr *= pow(c->factor, after / in_steps(c, c->every, per_epoch));
    break;
  case COSINE:
    lr = c->lr_min + (c->lr - c->lr_min) * (0.5 + 0.5 * cos(3.14159265358979323846 * t));
    break;
  case POLYNOMIAL:
    lr = c->lr_min + (c->lr - c->lr_min) * pow(1 - t, c->power);
    break;
  default:
    break;
  }
  return ramp * fmax(lr, c->lr_min);
}
