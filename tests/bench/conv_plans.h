/* conv_plans.h - plans of one kernel for convolutions against plans of oneDNN's. */
#ifndef CONV_PLANS_H
#define CONV_PLANS_H
#include <stdbool.h>
#include <stdint.h>

/* A convolution with kernel size 3 and padding 1, one sample, or one of its gradients. */
typedef enum bench_conv_task {
  BENCH_CONV_FORWARD,
  BENCH_CONV_DATA,
  BENCH_CONV_WEIGHTS
} bench_conv_task;

typedef struct bench_conv {
  bench_conv_task task;
  int64_t in, out, extent[3];
  bool half; /* operands are converted to bf16, which is part of the times */
} bench_conv;

/* Prints a row of the least processor times of `runs` runs on one thread, alternating; nothing
 * where a kernel is not in the build. Ends the program where results differ by 1e-4 of the largest,
 * 0.02 of bf16. */
void bench_conv_against(const char *name, const char *kernel, const bench_conv *c, int runs,
                        double goal);
/* Prints a row of the root mean squares of errors, relative to that of the exact results, over some
 * thousand of these. */
void bench_conv_errors(const char *name, const char *kernel, const bench_conv *c);

#endif
