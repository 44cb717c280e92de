/* weir_predict.h - seconds of the groups of a plan by kernel class: measured here, and predicted on
 * another device by wave scaling (perf/weir_wave.h). */
#ifndef WEIR_PREDICT_H
#define WEIR_PREDICT_H
#include "device/weir_constants.h"
#include "exec/weir_plan.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Returns "library kernel", "map", ... */
const char *weir_kernel_class_name(weir_kernel_class k);

/* Predicts the seconds of a run of a group on `there`, from r->measured_s on `here`; both count the
 * processors in use. Peaks are those of r->dtype. r->waited_s, and what stays on the host in a plan
 * of a device (r->on_host), are kept. */
double weir_group_predict(const weir_group_report *r, const weir_constants *here,
                          const weir_constants *there);

/* Means over the runs or chunks so far; all 0 without exec.explain. predicted_s: on the device of
 * exec.predict, without one 0. */
typedef struct weir_class_time {
  int64_t groups;
  double flops, bytes, measured_s, predicted_s;
} weir_class_time;
/* Sums the groups of each class; WEIR_CLASS_OUTSIDE: the rest of the time of a run, which is kept.
 */
void weir_plan_class_times(const weir_plan *p, weir_class_time out[WEIR_CLASSES]);

#ifdef __cplusplus
}
#endif
#endif
