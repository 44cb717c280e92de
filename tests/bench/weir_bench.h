/* weir_bench.h - what the programs of tests/bench share: a pinned thread, repeated timing, rows. */
#ifndef WEIR_BENCH_H
#define WEIR_BENCH_H
#include "base/weir_clock.h"
#include "base/weir_status.h"
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { BENCH_RUNS_MAX = 101 };

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

static inline int bench_compare_(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Median of k runs of body(context), in seconds; one run before them is not timed. k is clamped to
 * [1, BENCH_RUNS_MAX]. */
static inline double bench_median(int k, void (*body)(void *context), void *context)
{
  double seconds[BENCH_RUNS_MAX];
  const int n = k < 1 ? 1 : k > BENCH_RUNS_MAX ? BENCH_RUNS_MAX : k;

  body(context);
  for (int i = 0; i < n; i++) {
    const double start = weir_clock();
    body(context);
    seconds[i] = weir_clock() - start;
  }
  qsort(seconds, (size_t)n, sizeof seconds[0], bench_compare_);
  return n % 2 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
}

/* Median seconds of two bodies whose runs alternate, so that a drift of the machine meets both. */
static inline void bench_median_pair(int k, void (*peer)(void *), void *peer_context,
                                     void (*weir)(void *), void *weir_context, double seconds[2])
{
  double times[2][BENCH_RUNS_MAX];
  const int n = k < 1 ? 1 : k > BENCH_RUNS_MAX ? BENCH_RUNS_MAX : k;

  peer(peer_context);
  weir(weir_context);
  for (int i = 0; i < n; i++) {
    const double start = weir_clock();
    peer(peer_context);
    const double middle = weir_clock();
    weir(weir_context);
    times[0][i] = middle - start;
    times[1][i] = weir_clock() - middle;
  }
  for (int which = 0; which < 2; which++) {
    qsort(times[which], (size_t)n, sizeof(double), bench_compare_);
    seconds[which] = times[which][n / 2];
  }
}

/* One row `work,peer,peer_value,weir_value,unit,ratio,goal`; ratio > 1 means that Weir is better.
 * `more_is_better` tells rates from times and sizes. `goal` <= 0 prints an empty goal. For an
 * absolute goal, `peer` is "limit". */
static inline void bench_row(const char *work, const char *peer, double peer_value,
                             double own_value, const char *unit, int more_is_better, double goal)
{
  const double ratio = more_is_better ? own_value / peer_value : peer_value / own_value;

  printf("%s,%s,%.6g,%.6g,%s,%.3f,", work, peer, peer_value, own_value, unit, ratio);
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
