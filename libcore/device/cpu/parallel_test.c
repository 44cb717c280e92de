/* parallel_test.c - every item once, nesting, callers at once, forks, results that do not depend on
 * threads. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_clock.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"

struct count {
  atomic_int *calls;
  atomic_int bad_thread;
  int threads;
};

static void count_item(void *context, int64_t item, int thread)
{
  struct count *c = context;

  atomic_fetch_add(&c->calls[item], 1);
  if (thread < 0 || thread >= c->threads) {
    atomic_fetch_add(&c->bad_thread, 1);
  }
}

static void every_item_runs_once(void **state)
{
  const int64_t sizes[] = {0, 1, 2, 3, 7, 64, 1000, 20011};

  weir_threads_set(8); /* more than there are processors, on purpose */
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    for (int threads = 0; threads <= 9; threads++) {
      struct count c = {.threads = threads == 0 ? weir_threads_get() : threads};
      assert_ok(weir_alloc(sizes[s], sizeof *c.calls, (void **)&c.calls));
      weir_parallel(sizes[s], threads, count_item, &c);
      for (int64_t i = 0; i < sizes[s]; i++) {
        assert_int_equal(atomic_load(&c.calls[i]), 1);
      }
      assert_int_equal(atomic_load(&c.bad_thread), 0);
      weir_free(&c.calls);
    }
  }
  weir_threads_set(0);
}

enum { OUTER = 9, INNER = 50 };

struct nested {
  atomic_int calls[OUTER * INNER];
  atomic_int wrong_thread;
};
struct inner {
  struct nested *all;
  int64_t row;
  const void *stack; /* a nested call shares the stack of the item around it */
};
static _Thread_local int thread_mark;

static void inner_item(void *context, int64_t item, int thread)
{
  struct inner *in = context;

  atomic_fetch_add(&in->all->calls[in->row * INNER + item], 1);
  if (thread != 0 || in->stack != &thread_mark) {
    atomic_fetch_add(&in->all->wrong_thread, 1);
  }
}

static void outer_item(void *context, int64_t item, int thread)
{
  struct inner in = {.all = context, .row = item, .stack = &thread_mark};

  weir_parallel(INNER, 0, inner_item, &in);
}

static void nested_calls_stay_on_their_thread(void **state)
{
  static struct nested all;

  weir_threads_set(4);
  for (int64_t rows = 1; rows <= OUTER; rows += OUTER - 1) { /* one row: the outer call is serial */
    for (int i = 0; i < OUTER * INNER; i++) {
      atomic_store(&all.calls[i], 0);
    }
    weir_parallel(rows, 0, outer_item, &all);
    for (int64_t i = 0; i < OUTER * INNER; i++) {
      assert_int_equal(atomic_load(&all.calls[i]), i < rows * INNER ? 1 : 0);
    }
  }
  assert_int_equal(atomic_load(&all.wrong_thread), 0);
  weir_threads_set(0);
}

enum { SLABS = 100, SLAB = 1000 };

static void sum_item(void *context, int64_t item, int thread)
{
  float sum = 0;

  for (uint64_t i = 0; i < SLAB; i++) {
    sum += (float)weir_random_normal(4, 0, (uint32_t)item, i);
  }
  ((float *)context)[item] = sum;
}

static void results_do_not_depend_on_threads(void **state)
{
  float one[SLABS], many[SLABS];

  weir_parallel(SLABS, 1, sum_item, one);
  for (int threads = 2; threads <= 5; threads++) {
    weir_threads_set(threads);
    weir_parallel(SLABS, 0, sum_item, many);
    assert_memory_equal(one, many, sizeof one);
  }
  weir_threads_set(0);
}

enum { CALLERS = 4, CALLS = 200, SHARED = 40 };

static void *call_often(void *calls)
{
  for (int i = 0; i < CALLS; i++) {
    struct count c = {.calls = calls, .threads = 1 + i % 4};

    weir_parallel(SHARED, c.threads, count_item, &c);
    if (atomic_load(&c.bad_thread) > 0) {
      return calls;
    }
  }
  return NULL;
}

static void callers_at_once_have_their_own_items(void **state)
{
  static atomic_int calls[CALLERS][SHARED];
  pthread_t thread[CALLERS];

  weir_threads_set(4);
  for (int spin = 0; spin < 2; spin++) { /* workers sleep at once, or look for work first */
    weir_threads_spin_set(spin * WEIR_THREADS_SPIN);
    for (int k = 0; k < CALLERS; k++) {
      for (int i = 0; i < SHARED; i++) {
        atomic_store(&calls[k][i], 0);
      }
      assert_int_equal(pthread_create(&thread[k], NULL, call_often, calls[k]), 0);
    }
    for (int k = 0; k < CALLERS; k++) {
      void *bad = NULL;

      assert_int_equal(pthread_join(thread[k], &bad), 0);
      assert_null(bad);
      for (int i = 0; i < SHARED; i++) {
        assert_int_equal(atomic_load(&calls[k][i]), CALLS);
      }
    }
  }
  weir_threads_set(0);
}

/* A caller with workers of its own: which of its threads had items. */
struct owner {
  atomic_int *calls; /* [SHARED] */
  atomic_bool took[4];
  int threads;
};

static void note_thread(void *context, int64_t item, int thread)
{
  struct owner *o = context;

  (void)usleep(200);
  atomic_fetch_add(&o->calls[item], 1);
  atomic_store(&o->took[thread], true);
}

static void *call_with_own_threads(void *context)
{
  struct owner *o = context;

  if (weir_threads_own(o->threads) != WEIR_OK || weir_threads_get() != o->threads) {
    return context;
  }
  for (int i = 0; i < CALLS / 10; i++) {
    weir_parallel(SHARED, 0, note_thread, o);
  }
  weir_threads_end_own();
  return NULL;
}

/* None of them takes the workers of another. */
static void callers_share_with_threads_of_their_own(void **state)
{
  static atomic_int calls[CALLERS][SHARED];
  static struct owner owner[CALLERS];
  pthread_t thread[CALLERS];

  for (int k = 0; k < CALLERS; k++) {
    owner[k] = (struct owner){.calls = calls[k], .threads = 1 + k};
    assert_int_equal(pthread_create(&thread[k], NULL, call_with_own_threads, &owner[k]), 0);
  }
  for (int k = 0; k < CALLERS; k++) {
    void *bad = NULL;

    assert_int_equal(pthread_join(thread[k], &bad), 0);
    assert_null(bad);
    for (int i = 0; i < SHARED; i++) {
      assert_int_equal(atomic_load(&calls[k][i]), CALLS / 10);
    }
    for (int t = 0; t < CALLERS; t++) { /* items take longer than waking a thread */
      assert_int_equal(atomic_load(&owner[k].took[t]), t <= k);
    }
  }
}

static void the_child_of_a_fork_shares_work_too(void **state)
{
  float here[SLABS], there[SLABS];
  int ends[2], status = 1;

  weir_threads_set(3);
  weir_parallel(SLABS, 0, sum_item, here);
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();

  if (child == 0) {
    (void)alarm(60); /* a child that waits for threads which it has not got ends by this */
    weir_parallel(SLABS, 0, sum_item, there);
    _exit(write(ends[1], there, sizeof there) == (ssize_t)sizeof there ? 0 : 1);
  }
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(read(ends[0], there, sizeof there), (int)sizeof there);
  assert_memory_equal(here, there, sizeof here);
  (void)close(ends[0]);
  (void)close(ends[1]);
  weir_parallel(SLABS, 0, sum_item, there);
  assert_memory_equal(here, there, sizeof here);
  weir_threads_set(0);
}

/* Threads of a call, as the system numbers them; 0: it had no item. */
struct numbers {
  atomic_int of[4];
  int pause_us;
};

static void note_number(void *context, int64_t item, int thread)
{
  struct numbers *m = context;

  (void)usleep((useconds_t)(thread > 0 ? m->pause_us : 50));
  atomic_store(&m->of[thread], (int)syscall(SYS_gettid));
}

/* Workers that have left the caller's processor, too, and those that it was lent to: one that
 * sleeps in its item has no processor while the caller waits. */
static void workers_may_run_where_the_caller_may(void **state)
{
  static struct numbers m;
  cpu_set_t own, mask;

  weir_threads_set(4);
  for (int call = 0; call < 40; call++) {
    m.pause_us = call % 4 < 2 ? 50 : 1000;
    (void)usleep(call % 2 == 0 ? 200 : 0); /* workers sleep, and are woken */
    weir_parallel(8, 0, note_number, &m);
  }
  assert_int_equal(sched_getaffinity(0, sizeof own, &own), 0);
  for (int i = 1; i < 4; i++) {
    const int number = atomic_load(&m.of[i]);

    assert_true(number == 0 ||
                (sched_getaffinity(number, sizeof mask, &mask) == 0 && CPU_EQUAL(&own, &mask)));
  }
  weir_threads_set(0);
}

static void wait_item(void *context, int64_t item, int thread)
{
  const double end = weir_clock() + 100e-6;

  while (weir_clock() < end) {
  }
  if (thread > 0) {
    atomic_fetch_add((atomic_int *)context, 1);
  }
}

/* Seconds are those of all items, on whatever thread; for short ones nobody is woken. */
static void short_calls_wake_nobody(void **state)
{
  int alone = 0;

  weir_threads_set(2);
  for (int call = 0; call < 50; call++) {
    atomic_int elsewhere = 0;
    double seconds = 1e-9;

    weir_parallel(SHARED, 0, wait_item,
                  &elsewhere); /* a worker is woken: what that takes is known */
    (void)usleep(1000);
    atomic_store(&elsewhere, 0);
    weir_parallel_timed(10, 0, wait_item, &elsewhere, &seconds);
    alone += atomic_load(&elsewhere) == 0;
    assert_true(seconds >= 10 * 100e-6);
  }
  assert_true(alone >= 25); /* a worker that is late for the call before may come */
  weir_threads_set(0);
}

static void threads_are_set_and_default_to_the_processors(void **state)
{
  const int all = weir_threads_get();

  assert_true(all >= 1 && all <= weir_cpu_get()->cores);
  weir_threads_set(1);
  assert_int_equal(weir_threads_get(), 1);
  weir_threads_set(0);
  assert_int_equal(weir_threads_get(), all);
}

static void processor_facts_are_plausible(void **state)
{
  const weir_cpu *cpu = weir_cpu_get();

  assert_ptr_equal(cpu, weir_cpu_get());
  assert_true(cpu->model[0] != 0 && cpu->cores >= 1);
  assert_true(cpu->constants.l1_bytes >= 4096 &&
              cpu->constants.l1_bytes <= cpu->constants.l2_bytes);
  assert_true(cpu->constants.l2_bytes <= INT64_C(1) << 30 && cpu->constants.l3_bytes <= INT64_C(1)
                                                                                            << 34);
  assert_true(!cpu->avx512 || cpu->avx2);
  assert_true(cpu->constants.memory_bytes == 0 || cpu->constants.memory_bytes > INT64_C(1) << 24);
  print_message("%s, %d cores, caches %lld %lld %lld, avx2 %d fma %d avx512 %d\n", cpu->model,
                cpu->cores, (long long)cpu->constants.l1_bytes, (long long)cpu->constants.l2_bytes,
                (long long)cpu->constants.l3_bytes, cpu->avx2, cpu->fma, cpu->avx512);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_item_runs_once),
      cmocka_unit_test(nested_calls_stay_on_their_thread),
      cmocka_unit_test(results_do_not_depend_on_threads),
      cmocka_unit_test(callers_at_once_have_their_own_items),
      cmocka_unit_test(callers_share_with_threads_of_their_own),
      cmocka_unit_test(the_child_of_a_fork_shares_work_too),
      cmocka_unit_test(workers_may_run_where_the_caller_may),
      cmocka_unit_test(short_calls_wake_nobody),
      cmocka_unit_test(threads_are_set_and_default_to_the_processors),
      cmocka_unit_test(processor_facts_are_plausible),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
