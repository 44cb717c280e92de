/* hosts.h - tests of communication for two hosts: the ranks of mpiexec, as many as the first
 * argument says, or with the argument "threads" 1 to `most` ranks of this process, one at a time
 * and all at once. Tests only. */
#ifndef HOSTS_H
#define HOSTS_H
#undef WEIR_HAVE_CMOCKA /* a failure there jumps into the thread that began the test */
#include <string.h>
#include <time.h>
#include "all_ranks.h"
#include "comm/weir_inproc.h"

typedef struct host_tests {
  const char *name;
  const struct CMUnitTest *tests;
  size_t n;
  int most;
  const weir_comm_cfg *cfg;
} host_tests;

static _Thread_local bool on_threads;

/* Takes that long, as a computation does. */
static inline void compute(double seconds)
{
  if (on_threads) {
    assert_ok(weir_inproc_sleep(comm, seconds));
  } else {
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)(seconds * 1e9)}, NULL);
  }
}

static inline int run_tests(const host_tests *t)
{
  return weir_run_tests(t->name, t->tests, t->n, NULL, NULL);
}

static inline weir_status run_on_thread(weir_comm *c, void *tests)
{
  const host_tests *t = tests;

  comm = c;
  on_threads = true;
  rank = weir_comm_rank(c);
  ranks = weir_comm_size(c);
  weir_comm_configure(c, t->cfg);
  return run_tests(t) == 0 ? WEIR_OK : weir_fail(WEIR_ERR_DATA, "a test failed");
}

/* Returns the exit status of the program. */
static inline int run_on_hosts(int argc, char **argv, host_tests *t)
{
  if (argc > 1 && strcmp(argv[1], "threads") == 0) {
    int failed = 0;

    for (int n = 0; n < 2 * t->most; n++) {
      const weir_inproc run = {.ranks = 1 + n / 2, .concurrent = n % 2 == 1, .seed = (uint64_t)n};

      (void)fprintf(stderr, "%d threads, %s\n", run.ranks, n % 2 == 1 ? "at once" : "in turn");
      if (weir_inproc_run(&run, run_on_thread, t) != WEIR_OK) {
        weir_print_failure(stderr);
        failed++;
      }
    }
    return failed;
  }
  open_all_ranks(argc, argv, t->most, t->cfg);
  const int failed = run_tests(t);

  weir_comm_close(&comm);
  return failed;
}
#endif
