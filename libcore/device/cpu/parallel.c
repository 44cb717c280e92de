/* parallel.c - weir_parallel: alone or shared with workers, and with how many. */
#include "device/weir_parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "pool.h"
#include "quota.h"

#ifdef _OPENMP
#include <omp.h> /* for what libraries share out: nothing */
#endif

/* What control groups allow, read once. */
static int *quota(void)
{
  static int limit;

  return &limit;
}

static void read_quota(void)
{
  *quota() = quota_processors("");
}

static int processors(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  cpu_set_t set;
  /* sysconf, which reads a file: for more processors than cpu_set_t holds. */
  long n =
      sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);

  (void)pthread_once(&once, read_quota);
  n = *quota() > 0 && *quota() < n ? *quota() : n;
  return n > 0 ? (int)n : 1;
}

/* What weir_threads_set asked for, 0 before that. */
static atomic_int *requested(void)
{
  static atomic_int threads;

  return &threads;
}

void weir_threads_set(int threads)
{
  atomic_store(requested(), threads > 0 ? threads : 0);
}

int weir_threads_get(void)
{
  const int own = pool_own_threads(), threads = own > 0 ? own : atomic_load(requested());

  return threads > 0 ? threads : processors();
}

void weir_threads_spin_set(double seconds)
{
  pool_spin_set(seconds > 0 ? seconds : 0);
}

/* True while this thread runs items of a weir_parallel call, also of one that was too small to be
 * shared: what a nested call does must not depend on the number of items around it. */
static bool *inside(void)
{
  static _Thread_local bool value;

  return &value;
}

/* Threads of an OpenMP region that a library starts from this thread; returns the number before. */
static int set_library_threads(int threads)
{
#ifdef _OPENMP
  const int before = omp_get_max_threads();

  if (before != threads) {
    omp_set_num_threads(threads);
  }
  return before;
#else
  return threads;
#endif
}

weir_status weir_threads_own(int threads)
{
  WEIR_TRY(pool_own(threads));
  *inside() = false;
  return WEIR_OK;
}

void weir_threads_end_own(void)
{
  if (pool_own_threads() > 0) {
    pool_disown();
    *inside() = true;
  }
}

static void run_serial(int64_t n, void (*body)(void *context, int64_t item, int thread),
                       void *context)
{
  for (int64_t item = 0; item < n; item++) {
    body(context, item, 0);
  }
}

/* A worker's whole life is inside. */
static void enter_worker(void)
{
  *inside() = true;
  (void)set_library_threads(1);
}

void weir_parallel(int64_t n, int threads, void (*body)(void *context, int64_t item, int thread),
                   void *context)
{
  weir_parallel_timed(n, threads, body, context, NULL);
}

void weir_parallel_timed(int64_t n, int threads,
                         void (*body)(void *context, int64_t item, int thread), void *context,
                         double *seconds)
{
  bool *const flag = inside();
  const bool before = *flag;
  const int limit = n <= 1 || threads == 1 || before ? 1 : weir_threads_get(); /* asks the system */
  const int wanted = threads > 0 && threads < limit ? threads : limit;
  const int team = n < wanted ? (int)n : wanted;
  const int library = set_library_threads(1);

  *flag = true;
  if (team <= 1 || !pool_run(n, team, body, context, enter_worker, seconds)) {
    run_serial(n, body, context);
  }
  *flag = before;
  (void)set_library_threads(library);
}
