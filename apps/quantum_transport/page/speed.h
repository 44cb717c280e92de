/* speed.h - times of phases, and their rates relative to that of matrix products (zgemm), measured
 * in the same run. */
#ifndef QT_SPEED_H
#define QT_SPEED_H
#include <stdint.h>
#include "base/weir_status.h"
#include "report/weir_report.h"

/* A phase: seconds summed over threads; 0 flops: they are not counted. */
typedef struct qt_speed_phase {
  const char *name;
  double seconds, flops;
} qt_speed_phase;

/* Flops per second of a product of two complex n x n matrices on one of `threads` threads that all
 * multiply at once (0: all), measured for about `seconds`. Fails: WEIR_ERR_MEMORY. */
weir_status qt_speed_zgemm(int64_t n, int threads, double seconds, double *rate) WEIR_CHECKED;

/* A row for each phase (NaN seconds: not measured): name, seconds, Gflop, Gflop/s of a thread,
 * share of `rate`; and one of zgemm at n. */
enum { QT_SPEED_COLUMNS = 5 };
extern const char *const qt_speed_head[QT_SPEED_COLUMNS];
void qt_speed_table(int count, const qt_speed_phase *phases, int64_t n, double rate,
                    weir_table *out);

#endif
