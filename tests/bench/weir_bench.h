/* weir_bench.h - what the programs of tests/bench share: a pinned thread, repeated timing, rows. */
#ifndef WEIR_BENCH_H
#define WEIR_BENCH_H
#include "base/weir_clock.h"
#include "base/weir_status.h"
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Ends the program, with the trace, unless the call worked. */
static inline void bench_must(weir_status status)
{
  if (status != WEIR_OK) {
    weir_print_trace(stderr);
    exit((int)status);
  }
}

/* Keeps the calling thread on the last processor it may use, so that runs are comparable. Returns
 * the processors that it might use before, for bench_unpin; none where that cannot be known. */
static inline cpu_set_t bench_pin(void)
{
  cpu_set_t allowed, one;

  CPU_ZERO(&allowed);
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return one;
  }
  for (size_t cpu = CPU_SETSIZE; cpu-- > 0;) {
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_SET(cpu, &one);
      break;
    }
  }
  (void)sched_setaffinity(0, sizeof one, &one);
  return allowed;
}

/* For work on several threads; returns how many processors there are. */
static inline int bench_unpin(const cpu_set_t *allowed)
{
  return sched_setaffinity(0, sizeof *allowed, allowed) == 0 ? CPU_COUNT(allowed) : 1;
}

/* Least seconds of k runs of body(context), after one that is not timed: what the work takes when
 * nothing disturbs it. */
static inline double bench_best(int k, void (*body)(void *context), void *context)
{
  double best = INFINITY;

  body(context);
  for (int i = 0; i < k; i++) {
    const double start = weir_clock();

    body(context);
    best = fmin(best, weir_clock() - start);
  }
  return best;
}

/* The same of two bodies whose runs alternate, so that a drift of the machine meets both. */
static inline void bench_best_pair(int k, void (*reference)(void *), void *reference_context,
                                   void (*weir)(void *), void *weir_context, double seconds[2])
{
  seconds[0] = seconds[1] = INFINITY;
  reference(reference_context);
  weir(weir_context);
  for (int i = 0; i < k; i++) {
    const double start = weir_clock();
    reference(reference_context);
    const double middle = weir_clock();
    weir(weir_context);
    seconds[0] = fmin(seconds[0], middle - start);
    seconds[1] = fmin(seconds[1], weir_clock() - middle);
  }
}

/* One row `work,reference,reference_value,weir_value,unit,ratio,goal`; ratio > 1 means that Weir is
 * better. `more_is_better` tells rates from times and sizes. `goal` <= 0 prints an empty goal. For
 * an absolute goal, `reference` is "limit". */
static inline void bench_row(const char *work, const char *reference, double reference_value,
                             double own_value, const char *unit, int more_is_better, double goal)
{
  const double ratio = more_is_better ? own_value / reference_value : reference_value / own_value;

  printf("%s,%s,%.6g,%.6g,%s,%.3f,", work, reference, reference_value, own_value, unit, ratio);
  if (goal > 0) {
    printf("%.3g", goal);
  }
  printf("\n");
  fflush(stdout);
}

/* Highest resident set of this process so far, in bytes. */
static inline int64_t bench_peak_rss(void)
{
  struct rusage usage;

  return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : -1;
}
#endif
