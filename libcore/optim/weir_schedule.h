/* weir_schedule.h - the learning rate of each step of a run, computed on the host in double.
 *
 * Of n steps, s = 1 .. n, the first w are warm-up. With t = (s - w) / (n - w), step s has
 *   constant      lr
 *   step          lr factor^k, k the number of changes that lie before s: `at`, or one after each
 *                 `every`, counted from the start of the run
 *   exponential   lr factor^((s - w) / every)
 *   cosine        lr_min + (lr - lr_min) (1 + cos(pi t)) / 2      (Loshchilov and Hutter 2017)
 *   polynomial    lr_min + (lr - lr_min) (1 - t)^power
 * and never less than lr_min. In warm-up s - w and t count as 0, and the rate is multiplied by a
 * ramp that rises linearly from warmup_start to 1 at s = w. */
#ifndef WEIR_SCHEDULE_H
#define WEIR_SCHEDULE_H
#include "conf/weir_opt.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Rows in weir_schedule_opts. */
typedef struct weir_schedule_cfg {
  int shape; /* constant, step, exponential, cosine, polynomial */
  double lr, lr_min;
  int unit; /* of warmup, every and at: steps, epochs */
  double warmup, warmup_start;
  double factor, every, power;
  weir_real_list at;
} weir_schedule_cfg;
extern const weir_opt weir_schedule_opts[];

/* Whether the options fit each other and a run of `steps` steps, of which per_epoch make an epoch.
 * Local. Fails: WEIR_ERR_CONFIG, naming the option. */
weir_status weir_schedule_check(const weir_schedule_cfg *cfg, int64_t steps,
                                int64_t per_epoch) WEIR_CHECKED;
/* The learning rate of step 1 .. steps (a later one has that of the last) of a run for which
 * weir_schedule_check succeeded. Local. */
double weir_schedule_lr(const weir_schedule_cfg *cfg, int64_t step, int64_t steps,
                        int64_t per_epoch);

#ifdef __cplusplus
}
#endif
#endif
