/* weir_bench.h - what the programs of tests/bench share: a pinned thread, repeated timing, rows. */
#ifndef WEIR_BENCH_H
#define WEIR_BENCH_H
#include "base/weir_clock.h"
#include "base/weir_status.h"
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Prints a row `work,reference,version,reference_value,weir_value,unit,ratio,goal,kind` (columns:
 * docs/how-to/add-a-measurement.md); ratio > 1 means that Weir is better. `version`: of the
 * reference, then the form in which it ran, NULL where it has none. `more_is_better` tells rates
 * from times and sizes. `goal`: least ratio that is aimed at, <= 0: none. `kind`: "measured" or
 * "counted". */
static inline void bench_print(const char *kind, const char *work, const char *reference,
                               const char *version, double reference_value, double own_value,
                               const char *unit, int more_is_better, double goal)
{
  const double ratio = more_is_better ? own_value / reference_value : reference_value / own_value;

  if (strchr(work, ',') != NULL || strchr(reference, ',') != NULL ||
      (version != NULL && strchr(version, ',') != NULL)) {
    fprintf(stderr, "bench: a comma in a column of the row \"%s\" against \"%s\"\n", work,
            reference);
    exit(7);
  }
  printf("%s,%s,%s,%.6g,%.6g,%s,%.3f,", work, reference, version != NULL ? version : "",
         reference_value, own_value, unit, ratio);
  if (goal > 0) {
    printf("%.3g", goal);
  }
  printf(",%s\n", kind);
  fflush(stdout);
}

/* A row of times, rates or memory against a library of that version. */
static inline void bench_row_of(const char *work, const char *reference, const char *version,
                                double reference_value, double own_value, const char *unit,
                                int more_is_better, double goal)
{
  bench_print("measured", work, reference, version, reference_value, own_value, unit,
              more_is_better, goal);
}

/* The same against something of this program, which has no version. For an absolute goal,
 * `reference` is "limit". */
static inline void bench_row(const char *work, const char *reference, double reference_value,
                             double own_value, const char *unit, int more_is_better, double goal)
{
  bench_row_of(work, reference, NULL, reference_value, own_value, unit, more_is_better, goal);
}

/* The same where `events` take either side that many seconds. */
static inline void bench_rate(const char *work, const char *reference, double events,
                              double reference_seconds, double own_seconds, double goal)
{
  bench_row(work, reference, events / reference_seconds * 1e-6, events / own_seconds * 1e-6,
            "M events/s", 1, goal);
}

/* A row of what plans or programs count (bytes, flops, reads), so that neither a busy machine nor
 * an allocator changes it; less is better. */
static inline void bench_count(const char *work, const char *reference, double reference_value,
                               double own_value, const char *unit, double goal)
{
  bench_print("counted", work, reference, NULL, reference_value, own_value, unit, 0, goal);
}

/* Whether the one argument is `counts`: a program with rows of counts then prints these alone and
 * times nothing. */
static inline bool bench_counts_only(int argc, char **argv)
{
  return argc == 2 && strcmp(argv[1], "counts") == 0;
}

/* Copies word number k (from 0) of `text`, as the version in what a library says of itself. */
static inline void bench_word(const char *text, int k, char out[32])
{
  text += strspn(text, " v");
  for (; k > 0 && *text != 0; k--) {
    text += strcspn(text, " ");
    text += strspn(text, " v");
  }
  (void)snprintf(out, 32, "%.*s", (int)strcspn(text, " ,"), text);
}

/* Highest resident set of this process so far, in bytes. */
static inline int64_t bench_peak_rss(void)
{
  struct rusage usage;

  return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : -1;
}
#endif
