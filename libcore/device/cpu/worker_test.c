/* lane_test.c - jobs in order, concurrently with the caller, their failures, and the end of a lane.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "device/weir_worker.h"
#include "device/weir_parallel.h"

/* What a job finds and leaves. */
typedef struct errand {
  int64_t in, out;
  pthread_t thread;
  weir_status status;
  int inner_threads; /* a bit for each thread that a nested call ran on */
  bool blocked;      /* SIGTERM goes to other threads */
  int fd;            /* >= 0: wait for a byte first */
} errand;

static void note_thread(void *context, int64_t item, int thread)
{
  errand *const e = context;

  (void)item;
  e->inner_threads |= 1 << thread;
}

static weir_status work(void *context)
{
  errand *const e = context;
  sigset_t set;
  char byte;

  if (e->fd >= 0) {
    assert_int_equal(read(e->fd, &byte, 1), 1);
  }
  e->thread = pthread_self();
  e->out = 3 * e->in + 1;
  weir_parallel(64, 0, note_thread, e);
  assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &set), 0);
  e->blocked = sigismember(&set, SIGTERM) == 1;
  return e->status == WEIR_OK ? WEIR_OK : weir_fail(e->status, "errand %lld", (long long)e->in);
}

static void jobs_run_one_after_another(void **state)
{
  weir_worker *lane = NULL;

  (void)state;
  weir_threads_set(4);
  for (int own = 0; own < 2; own++) {
    assert_ok(weir_worker_create(own, &lane));
    assert_ok(weir_worker_wait(lane)); /* nothing to wait for */
    int64_t value = 1, expected = 1;

    for (int k = 0; k < 200; k++) {
      errand e = {.in = value, .fd = -1};

      weir_worker_start(lane, work, &e);
      assert_ok(weir_worker_wait(lane));
      expected = (3 * expected + 1) % 1000003;
      value = e.out % 1000003;
      assert_int_equal(value, expected);
      assert_int_equal(e.inner_threads, 1);
      assert_int_equal(e.blocked, own);
      assert_int_equal(pthread_equal(e.thread, pthread_self()) == 0, own);
    }
    weir_worker_destroy(&lane);
    assert_null(lane);
  }
  weir_threads_set(0);
}

/* Both lanes are under way at once, and the caller continues: each waits for a byte that is written
 * later. */
static void lanes_run_beside_the_caller(void **state)
{
  weir_worker *lane[2] = {NULL, NULL};
  errand e[2] = {{.in = 1}, {.in = 2}};
  int ends[2][2];

  (void)state;
  for (int k = 0; k < 2; k++) {
    assert_int_equal(pipe(ends[k]), 0);
    e[k].fd = ends[k][0];
    assert_ok(weir_worker_create(true, &lane[k]));
    weir_worker_start(lane[k], work, &e[k]);
  }
  for (int k = 1; k >= 0; k--) {
    assert_int_equal(write(ends[k][1], "x", 1), 1);
    assert_ok(weir_worker_wait(lane[k]));
    assert_int_equal(e[k].out, 3 * (k + 1) + 1);
    weir_worker_destroy(&lane[k]);
    (void)close(ends[k][0]);
    (void)close(ends[k][1]);
  }
}

static void a_failure_becomes_the_callers(void **state)
{
  weir_worker *lane = NULL;

  (void)state;
  for (int own = 0; own < 2; own++) {
    errand bad = {.in = 7, .status = WEIR_ERR_DATA, .fd = -1}, good = {.in = 8, .fd = -1};

    assert_ok(weir_worker_create(own, &lane));
    weir_worker_start(lane, work, &bad);
    weir_clear_failure();
    assert_int_equal(weir_worker_wait(lane), WEIR_ERR_DATA);
    assert_string_equal(weir_last_message(), "errand 7");
    assert_ok(weir_worker_wait(lane)); /* reported once */
    weir_worker_start(lane, work, &good);
    assert_ok(weir_worker_wait(lane));
    assert_int_equal(good.out, 25);
    weir_worker_start(lane, work, &bad); /* and not waited for */
    weir_worker_destroy(&lane);
  }
  weir_worker_destroy(&lane);
}

static void memory_may_end(void **state)
{
  weir_worker *lane = NULL;
  const int64_t before = weir_alloc_bytes();

  (void)state;
  weir_alloc_fail_after(1);
  assert_int_equal(weir_worker_create(true, &lane), WEIR_ERR_MEMORY);
  weir_alloc_fail_after(0);
  assert_null(lane);
  assert_int_equal(weir_alloc_bytes(), before);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jobs_run_one_after_another),
      cmocka_unit_test(lanes_run_beside_the_caller),
      cmocka_unit_test(a_failure_becomes_the_callers),
      cmocka_unit_test(memory_may_end),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
