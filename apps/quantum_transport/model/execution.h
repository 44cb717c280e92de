/* execution.h - the device that runs plans, for all that plan. */
#ifndef QT_EXECUTION_H
#define QT_EXECUTION_H
#include "exec/weir_plan.h"

typedef struct qt_exec_opts {
  const char *device;                 /* as weir_exec_cfg */
  const char *kernel_dir;             /* as weir_exec_cfg */
  bool explain;                       /* as weir_exec_cfg */
  const char *predict, *predict_from; /* as weir_exec_cfg */
} qt_exec_opts;
extern const weir_opt qt_exec_options[];

/* Sets the defaults of a plan's options, on the device of `chosen` (NULL: cpu); borrows its texts.
 */
void qt_execution(const qt_exec_opts *chosen, weir_exec_cfg *out);
#endif
