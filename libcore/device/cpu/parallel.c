/* parallel.c - weir_parallel on OpenMP; serial where the compiler has none. */
#include "device/weir_parallel.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
enum { HAVE_THREADS = 1 };
#else
enum { HAVE_THREADS = 0 };
#endif

static int processors(void)
{
  cpu_set_t set;

  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return CPU_COUNT(&set);
  }
  const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than cpu_set_t holds */
  return online > 0 ? (int)online : 1;
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
  const int threads = atomic_load(requested());

  if (!HAVE_THREADS) {
    return 1;
  }
  return threads > 0 ? threads : processors();
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

static void run_serial(int64_t n, void (*body)(void *context, int64_t item, int thread),
                       void *context)
{
  bool *const flag = inside();
  const bool before = *flag;
  const int library = set_library_threads(1);

  *flag = true;
  for (int64_t item = 0; item < n; item++) {
    body(context, item, 0);
  }
  *flag = before;
  (void)set_library_threads(library);
}

void weir_parallel(int64_t n, int threads, void (*body)(void *context, int64_t item, int thread),
                   void *context)
{
  const int limit = n <= 1 || threads == 1 ? 1 : weir_threads_get(); /* which asks the system */
  const int wanted = threads > 0 && threads < limit ? threads : limit;
  const int team = n < wanted ? (int)n : wanted;

  if (team <= 1 || *inside()) {
    run_serial(n, body, context);
    return;
  }
#ifdef _OPENMP
#pragma omp parallel num_threads(team)
  {
    *inside() = true;
    (void)set_library_threads(1);
    const int thread = omp_get_thread_num();

    if (n <= omp_get_num_threads()) {
      /* An item each: stages of a pipeline stay on their threads, with their data in its cache. */
      if (thread < n) {
        body(context, thread, thread);
      }
    } else {
      /* Dynamic: items such as tiles of a record with gaps differ in cost. */
#pragma omp for schedule(dynamic, 1)
      for (int64_t item = 0; item < n; item++) {
        body(context, item, thread);
      }
    }
    *inside() = false;
  }
#endif
}
