/* flow_test.c - every chunk goes through every stage once and in order, for any threads and depth;
 * the earliest failure is the one that is returned. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_clock.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "stream/stream_priv.h"

enum { CHUNKS = 200, THREADS = 5 };

typedef struct work {
  const stream_flow *flow;
  int64_t chunks;
  uint32_t seed;
  int64_t fails[STREAM_FLOW_STAGES];     /* chunk that a stage fails with, -1: none */
  atomic_llong done[STREAM_FLOW_STAGES]; /* chunks that a stage has ended           */
  atomic_int inside[STREAM_FLOW_STAGES]; /* threads in a stage                      */
  atomic_int wrong;                      /* what must not be */
  int64_t value[STREAM_DEPTH], sum;
} work;

static void check(work *w, bool holds)
{
  if (!holds) {
    atomic_fetch_add(&w->wrong, 1);
  }
}

/* Stages of uneven and random length. */
static void take_time(const work *w, int stage, int64_t chunk)
{
  const uint64_t turns = weir_random_bits(w->seed, 7, (uint32_t)stage, (uint64_t)chunk) % 4000;

  for (volatile uint64_t i = 0; i < turns; i = i + 1) {
  }
}

static weir_status run(void *context, int stage, int64_t chunk, int thread, bool *ended)
{
  work *w = context;
  int64_t *value = &w->value[chunk % w->flow->depth];
  const int last = w->flow->stages - 1;

  check(w, atomic_fetch_add(&w->inside[stage], 1) == 0);
  check(w, thread >= 0 && thread < w->flow->threads);
  check(w, atomic_load(&w->done[stage]) == chunk);
  check(w, stage == 0 || atomic_load(&w->done[stage - 1]) > chunk);
  check(w, chunk - atomic_load(&w->done[last]) < w->flow->depth);
  take_time(w, stage, chunk);
  *value = stage == 0 ? chunk : *value * 3 + stage;
  if (w->fails[stage] == chunk) {
    atomic_fetch_sub(&w->inside[stage], 1);
    return weir_fail(WEIR_ERR_DATA, "stage %d, chunk %lld", stage, (long long)chunk);
  }
  if (stage == last) {
    w->sum += *value * (chunk + 1);
  }
  *ended = stage == 0 && chunk == w->chunks - 1;
  atomic_fetch_sub(&w->inside[stage], 1);
  atomic_fetch_add(&w->done[stage], 1);
  return WEIR_OK;
}

static weir_status run_flow(work *w, const stream_flow *flow)
{
  w->flow = flow;
  for (int i = 0; i < STREAM_FLOW_STAGES; i++) {
    atomic_store(&w->done[i], 0);
    atomic_store(&w->inside[i], 0);
  }
  atomic_store(&w->wrong, 0);
  w->sum = 0;
  return stream_flow_run(flow);
}

static int draw(uint32_t seed, int what, int count)
{
  return (int)(weir_random_bits(seed, 8, 0, (uint64_t)what) % (uint64_t)count);
}

static void every_chunk_goes_through_every_stage_in_order(void **state)
{
  weir_threads_set(THREADS);
  for (uint32_t seed = 1; seed <= 60; seed++) {
    work w = {.seed = seed, .chunks = 1 + draw(seed, 0, CHUNKS), .fails = {-1, -1, -1, -1}};
    stream_flow flow = {.stages = 1 + draw(seed, 1, STREAM_FLOW_STAGES),
                        .depth = 1 + draw(seed, 2, STREAM_DEPTH),
                        .threads = 1,
                        .run = run,
                        .context = &w};

    assert_ok(run_flow(&w, &flow));
    const int64_t alone = w.sum;

    for (flow.threads = 1; flow.threads <= THREADS; flow.threads++) {
      assert_ok(run_flow(&w, &flow));
      assert_int_equal(atomic_load(&w.wrong), 0);
      assert_int_equal(w.sum, alone);
      for (int i = 0; i < flow.stages; i++) {
        assert_int_equal(atomic_load(&w.done[i]), w.chunks);
      }
    }
  }
  weir_threads_set(0);
}

/* As in one thread: earlier chunks are delivered, later ones are not reported. */
static void the_earliest_failure_is_told(void **state)
{
  weir_threads_set(THREADS);
  for (uint32_t seed = 1; seed <= 60; seed++) {
    work w = {.seed = seed, .chunks = CHUNKS, .fails = {-1, -1, -1, -1}};
    stream_flow flow = {
        .stages = 3, .depth = 1 + draw(seed, 2, STREAM_DEPTH), .run = run, .context = &w};
    int64_t first = CHUNKS;
    char text[64];

    for (int i = 0; i < 3; i++) {
      w.fails[i] = 50 + draw(seed, 3 + i, 12);
    }
    for (int i = 2; i >= 0; i--) { /* of one chunk the first stage fails first */
      if (w.fails[i] <= first) {
        first = w.fails[i];
        (void)snprintf(text, sizeof text, "stage %d, chunk %lld", i, (long long)first);
      }
    }
    for (flow.threads = 1; flow.threads <= THREADS; flow.threads++) {
      assert_int_equal(run_flow(&w, &flow), WEIR_ERR_DATA);
      assert_non_null(strstr(weir_last_message(), text));
      assert_int_equal(atomic_load(&w.done[2]), first);
      assert_int_equal(atomic_load(&w.wrong), 0);
    }
  }
  weir_threads_set(0);
}

enum { FIRST_FAILS = 1, LATER_FAILS = 3, TRIES = 20 };

/* Stage 0 is in a later chunk when stage 1 fails, and fails after that. */
typedef struct late {
  atomic_int reading, failures; /* stage 0 is in the later chunk; failures of stage 1 */
} late;

static void wait_for(atomic_int *that, double seconds)
{
  const double until = weir_clock() + seconds;

  while (atomic_load(that) == 0 && weir_clock() < until) {
  }
}

static weir_status fail_late(void *context, int stage, int64_t chunk, int thread, bool *ended)
{
  atomic_int never = 0;
  late *l = context;

  (void)thread;
  *ended = stage == 0 && chunk == CHUNKS;
  if (stage == 0 && chunk == LATER_FAILS) {
    atomic_store(&l->reading, 1);
    wait_for(&l->failures, 0.25);
    wait_for(&never, 0.01); /* until the failure has been noted */
    return weir_fail(WEIR_ERR_DATA, "the later one");
  }
  if (stage == 1 && chunk == FIRST_FAILS) {
    wait_for(&l->reading, 0.05);
    atomic_fetch_add(&l->failures, 1);
    return weir_fail(WEIR_ERR_DATA, "the first one");
  }
  return WEIR_OK;
}

/* A chunk that failed is not run again, whatever fails after it. */
static void a_later_failure_changes_nothing(void **state)
{
  late l = {.reading = 0};
  const stream_flow flow = {
      .stages = 2, .depth = STREAM_DEPTH, .threads = 2, .run = fail_late, .context = &l};

  weir_threads_set(2);
  for (int i = 0; i < TRIES && atomic_load(&l.reading) == 0; i++) { /* a worker may rest */
    atomic_store(&l.failures, 0);
    assert_int_equal(stream_flow_run(&flow), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "the first one"));
    assert_int_equal(atomic_load(&l.failures), 1);
  }
  assert_int_equal(atomic_load(&l.reading), 1);
  weir_threads_set(0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_chunk_goes_through_every_stage_in_order),
      cmocka_unit_test(the_earliest_failure_is_told),
      cmocka_unit_test(a_later_failure_changes_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
