/* weir_schedule.h - the learning rate of each step of a run, computed on the host in double.
 *
 * Of n steps, s = 1 .. n, the first w are warm-up. With t = (s - w) / (n - w), step s has
 *   constant      lr
 *   step          lr factor^k, k the number of changes before s: `at`, or one after each
 *                 `every`, counted from the start of the run
 *   exponential   lr factor^((s - w) / every)
 *   cosine        lr_min + (lr - lr_min) (1 + cos(pi t)) / 2      (Loshchilov and Hutter 2017)
 *   polynomial    lr_min + (lr - lr_min) (1 - t)^power
 * and at least lr_min. In warm-up s - w and t count as 0, and the rate is multiplied by a
 * ramp that rises linearly from warmup_start to 1 at s = w. `factors` replaces the powers
 * of factor, one for each of `at`.
 *
 *   mlperf        the rule of MLPerf HPC's CosmoFlow: one rate an epoch. Epoch e = 0, 1, .. has
 *                 lr + e (peak - lr) / warmup  while e < warmup, then peak times the factor of the
 *                 last of `at` that is less than e: a change acts one epoch after the one it names
 *
 * `scale`
 * adapts lr to the samples per update: the peak is lr times their ratio to `batch` or its square
 * root. mlperf rises from lr to the peak, the other shapes use it instead of lr. */
#ifndef WEIR_OPTIM_SCHEDULE_H
#define WEIR_OPTIM_SCHEDULE_H
#include "conf/weir_opt.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_schedule_shape {
  WEIR_SCHEDULE_CONSTANT,
  WEIR_SCHEDULE_STEP,
  WEIR_SCHEDULE_EXPONENTIAL,
  WEIR_SCHEDULE_COSINE,
  WEIR_SCHEDULE_POLYNOMIAL,
  WEIR_SCHEDULE_MLPERF
} weir_schedule_shape;

/* Rows in weir_schedule_opts. */
typedef struct weir_schedule_cfg {
  int shape; /* weir_schedule_shape */
  double lr, lr_min;
  int unit; /* of warmup, every and at: steps, epochs */
  double warmup, warmup_start;
  double factor, every, power;
  weir_real_list at, factors;
  int scale; /* none, linear, sqrt */
  int64_t batch;
} weir_schedule_cfg;
extern const weir_opt weir_schedule_opts[];

/* The run of a schedule. */
typedef struct weir_schedule_run {
  int64_t steps, per_epoch; /* total steps, and steps per epoch */
  int64_t samples;          /* samples of an update */
} weir_schedule_run;

/* Checks that the options are consistent with each other and the run. Local. Fails:
 * WEIR_ERR_CONFIG, naming the option. */
weir_status weir_schedule_check(const weir_schedule_cfg *cfg,
                                const weir_schedule_run *run) WEIR_CHECKED;
/* Returns the learning rate of step 1 .. steps (a later step has the rate of the last) of a run for
 * which weir_schedule_check succeeded. Local. */
double weir_schedule_lr(const weir_schedule_cfg *cfg, const weir_schedule_run *run, int64_t step);
/* Returns the peak learning rate of the warm-up. Local. */
double weir_schedule_peak(const weir_schedule_cfg *cfg, const weir_schedule_run *run);

#ifdef __cplusplus
}
#endif
#endif
