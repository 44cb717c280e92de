/* run_check.h - for tests that run streams: a job from its plan to its end, and columns that keep
 * what came out. Tests only. */
#ifndef WEIR_RUN_CHECK_H
#define WEIR_RUN_CHECK_H
#include <string.h>
#include "base/weir_check.h"
#include "stream/weir_stream.h"

/* A result of the graph, slot by slot; those beyond `capacity` are counted, not kept. */
typedef struct run_column {
  void *slots;
  size_t size; /* bytes of a slot */
  int64_t capacity, n;
} run_column;

/* A sink's `take`; context: run_column. Skipped slots repeat the last one, which has settled. */
static inline weir_status run_take(void *context, const weir_view *v, int64_t lo, int64_t hi,
                                   bool last)
{
  run_column *c = context;
  char *at = c->slots;

  (void)last;
  for (; c->n < lo; c->n++) {
    assert_true(c->n > 0);
    if (c->n < c->capacity) {
      memcpy(at + (size_t)c->n * c->size, at + (size_t)(c->n - 1) * c->size, c->size);
    }
  }
  assert_int_equal(c->n, lo);
  for (; c->n < hi; c->n++) {
    if (c->n < c->capacity) {
      memcpy(at + (size_t)c->n * c->size, weir_view_at(v, &c->n), c->size);
    }
  }
  return WEIR_OK;
}

/* Plans the job and runs it to its end. */
static inline void run_job(weir_stream_job job, weir_tier tier, weir_stream_report *report)
{
  weir_stream *stream = NULL;
  weir_exec_cfg exec;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = (int)tier;
  job.exec = &exec;
  assert_ok(weir_stream_create(&job, &stream));
  assert_ok(weir_stream_run(stream, report));
  weir_stream_destroy(&stream);
}
#endif
