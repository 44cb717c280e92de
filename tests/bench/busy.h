/* busy.h - a process that computes without end, and medians of two bodies whose runs alternate. */
#ifndef WEIR_BENCH_BUSY_H
#define WEIR_BENCH_BUSY_H
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "weir_bench.h"

/* Starts `n` processes that occupy a processor each; they end with this one at the latest. */
static inline void busy_start(int n, pid_t *list)
{
  for (int i = 0; i < n; i++) {
    list[i] = fork();
    if (list[i] == 0) {
      volatile uint64_t turns = 0;

      (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) {
        turns = turns + 1;
      }
    }
    if (list[i] < 0) {
      fprintf(stderr, "bench: no busy process can be started\n");
      exit(8);
    }
  }
}

static inline void busy_stop(int n, const pid_t *list)
{
  for (int i = 0; i < n; i++) {
    (void)kill(list[i], SIGKILL);
    (void)waitpid(list[i], NULL, 0);
  }
}

static inline int busy_order(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

enum { BUSY_MOST_RUNS = 99 };

/* Median seconds of k runs of each body (k <= BUSY_MOST_RUNS), after one that is not timed. The
 * runs alternate, so that a drift of the machine meets both. */
static inline void busy_median_pair(int k, void (*one)(void *), void *one_context,
                                    void (*two)(void *), void *two_context, double seconds[2])
{
  static double times[2][BUSY_MOST_RUNS];

  one(one_context);
  two(two_context);
  for (int i = 0; i < k; i++) {
    const double start = weir_clock();
    one(one_context);
    const double middle = weir_clock();
    two(two_context);
    times[0][i] = middle - start;
    times[1][i] = weir_clock() - middle;
  }
  for (int i = 0; i < 2; i++) {
    qsort(times[i], (size_t)k, sizeof(double), busy_order);
    seconds[i] = times[i][k / 2];
  }
}
#endif
