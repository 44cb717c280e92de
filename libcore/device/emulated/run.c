/* run.c - the order in which work runs: any that queues and events allow, drawn from the seed. */
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "device/emulated/emulated_priv.h"

weir_status emulated_failure(const emulated *e)
{
  return e->failed == WEIR_OK ? WEIR_OK : weir_fail(e->failed, "%s", e->message);
}

/* Index of work that may run now, drawn among all; -1: none. */
static int64_t draw_ready(emulated *e, const sequence *s)
{
  bool behind[SLOTS] = {false};
  int64_t ready[SLOTS];
  int n = 0;

  for (int64_t i = 0; i < s->n; i++) {
    const work *w = &s->works[i];

    if (!w->done && !behind[w->slot]) {
      behind[w->slot] = true;
      if (emulated_clocks_reach(s->done, &w->needed)) {
        ready[n++] = i;
      }
    }
  }
  return n == 0 ? -1 : ready[weir_random_bits(e->seed, 0, 0, e->drawn++) % (uint64_t)n];
}

static weir_status run_work(emulated *e, work *w)
{
  if (w->op != NULL) {
    WEIR_TRY(emulated_execute(e, w->op));
    return WEIR_OK;
  }
  sequence *s = w->capture->state;
  clocks all = {{0}};

  memset(s->done, 0, sizeof s->done);
  for (int64_t i = 0; i < s->n; i++) {
    s->works[i].done = false;
    all.at[s->works[i].slot] = s->works[i].time;
  }
  WEIR_TRY(emulated_sequence_run(e, s, &all));
  return WEIR_OK;
}

weir_status emulated_sequence_run(emulated *e, sequence *s, const clocks *target)
{
  WEIR_TRY(emulated_failure(e));
  while (!emulated_clocks_reach(s->done, target)) {
    const int64_t i = draw_ready(e, s);

    WEIR_ASSERT(i >= 0); /* work waits for earlier work only */
    const weir_status status = run_work(e, &s->works[i]);
    if (status != WEIR_OK) {
      e->failed = status;
      (void)snprintf(e->message, sizeof e->message, "%s", weir_last_message());
      return weir_trace_at(status, __FILE__, __LINE__, __func__);
    }
    s->works[i].done = true;
    s->done[s->works[i].slot] = s->works[i].time;
  }
  return WEIR_OK;
}

void emulated_sequence_drop_done(sequence *s)
{
  int64_t kept = 0;

  for (int64_t i = 0; i < s->n; i++) {
    if (s->works[i].done) {
      device_op_free(&s->works[i].op);
    } else {
      s->works[kept++] = s->works[i];
    }
  }
  s->n = kept;
}

void emulated_sequence_free(sequence *s)
{
  for (int64_t i = 0; i < s->n; i++) {
    device_op_free(&s->works[i].op);
  }
  weir_free(&s->works);
  s->n = s->capacity = 0;
}
