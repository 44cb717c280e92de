/* transport_threads.c - energies of a square ribbon on two threads against one. */
#include "base/weir_log.h"
#include "reference.h"
#include "ribbon.h"

enum { ENERGIES = 32, RUNS = 3 };

int main(void)
{
  static ribbon one, two;
  double seconds[2];

  weir_log_set_level(WEIR_LOG_WARN);
  const cpu_set_t allowed = bench_pin();

  if (bench_unpin(&allowed) < 2) {
    fprintf(stderr, "SKIP: two processors are needed\n");
    return REFERENCE_SKIP;
  }
  ribbon_make(50, 100, ENERGIES, &one);
  ribbon_make(50, 100, ENERGIES, &two);
  two.threads = 2;
  bench_best_pair(RUNS, ribbon_run, &one, ribbon_run, &two, seconds);
  bench_row("square ribbon 50 x 100: T(E) on 2 threads", "1 thread", ENERGIES / seconds[0],
            ENERGIES / seconds[1], "energies/s", 1, 1.8);
  ribbon_fini(&one);
  ribbon_fini(&two);
  return 0;
}
