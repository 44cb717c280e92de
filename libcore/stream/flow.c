/* flow.c - stages that work on numbered chunks at once. The caller can do everything and waits only
 * where a worker has begun what it needs; a worker that gets no processor is not waited for. */
#include "stream_priv.h"
#include "base/weir_clock.h"
#include "base/weir_lock.h"
#include "device/weir_parallel.h"

/* s after which a call of weir_parallel in which a worker is missing is made again: workers are
 * woken at its start, unless they are let rest just then. */
#define ROUND 5e-3

typedef struct state {
  const stream_flow *flow;
  int team;
  weir_lock lock; /* of all that follows */
  weir_cond changed;
  int64_t done[STREAM_FLOW_STAGES]; /* chunks that a stage has ended */
  bool busy[STREAM_FLOW_STAGES];
  bool full; /* the first stage was as far ahead as it may be, and is more than half of that yet */
  bool waits[STREAM_FLOW_STAGES]; /* by item: it has nothing to do */
  int workers;                    /* that take part in the round   */
  bool round_over;
  double until; /* the caller ends a round without all workers then */
  int64_t end;  /* chunks from here on are not for the stages: there are none, or one failed */
  weir_status status;
  char message[1024]; /* a failure's text is its thread's own */
} state;

static int64_t ahead(const state *f)
{
  return f->done[0] - f->done[f->flow->stages - 1];
}

static bool is_ready(const state *f, int stage)
{
  const int64_t chunk = f->done[stage];

  if (f->busy[stage] || chunk >= f->end) {
    return false;
  }
  return stage > 0 ? chunk < f->done[stage - 1] : ahead(f) < f->flow->depth;
}

/* The stage that a thread is to run, -1: none is ready. The caller takes the oldest chunk, which is
 * in its cache where no worker helps. Worker k has stage k - 1: what a stage keeps stays in one
 * cache. One that reads ahead sleeps until half is used up, for waking it takes time. */
static int choose(const state *f, int64_t item)
{
  if (item > 0) {
    const int stage = (int)item - 1;

    return is_ready(f, stage) && (stage > 0 || !f->full) ? stage : -1;
  }
  for (int stage = f->flow->stages - 1; stage >= 0; stage--) {
    if (is_ready(f, stage)) {
      return stage;
    }
  }
  return -1;
}

/* Chunks before the end continue: they may fail too, and then earlier. */
static bool is_over(const state *f)
{
  bool busy = false;

  for (int stage = 0; stage < f->flow->stages; stage++) {
    busy = busy || f->busy[stage];
  }
  return !busy && f->done[f->flow->stages - 1] >= f->end;
}

static void conclude(state *f, int stage, weir_status status, bool ended)
{
  const int64_t chunk = f->done[stage];

  f->busy[stage] = false;
  if (status != WEIR_OK && chunk >= f->end) { /* one before it has failed since this one began */
    return;
  }
  if (status != WEIR_OK) {
    f->end = chunk;
    f->status = status;
    (void)snprintf(f->message, sizeof f->message, "%s", weir_last_message());
    return;
  }
  f->done[stage]++;
  f->full = ahead(f) > (f->full ? f->flow->depth / 2 : f->flow->depth - 1);
  if (ended && chunk + 1 < f->end) {
    f->end = chunk + 1;
  }
}

/* Wakes those that wait where one has something to do, or no other ever will. */
static void wake(state *f)
{
  bool wanted = is_over(f);

  for (int item = 0; item < STREAM_FLOW_STAGES; item++) {
    wanted = wanted || (f->waits[item] && choose(f, item) >= 0);
  }
  if (wanted) {
    weir_cond_broadcast(&f->changed);
  }
}

static bool goes_on(const state *f, int64_t item)
{
  const bool ends = item == 0 && f->workers < f->team - 1 && weir_clock() > f->until;

  return !is_over(f) && !f->round_over && !ends;
}

/* What a thread does in a round. Item 0 is the caller's, with which the round ends: an item that no
 * worker has taken by then is nothing. */
static void work(void *context, int64_t item, int thread)
{
  state *f = context;

  weir_lock_take(&f->lock);
  f->workers += item > 0;
  while (goes_on(f, item)) {
    const int stage = choose(f, item);

    if (stage < 0) {
      f->waits[item] = true;
      weir_cond_wait(&f->changed, &f->lock);
      f->waits[item] = false;
      continue;
    }
    const int64_t chunk = f->done[stage];
    bool ended = false;

    f->busy[stage] = true;
    weir_lock_give(&f->lock);
    const weir_status status = f->flow->run(f->flow->context, stage, chunk, thread, &ended);

    weir_lock_take(&f->lock);
    conclude(f, stage, status, ended);
    wake(f);
  }
  if (item == 0) {
    f->round_over = true;
    weir_cond_broadcast(&f->changed);
  }
  weir_lock_give(&f->lock);
}

weir_status stream_flow_run(const stream_flow *flow)
{
  state f = {.flow = flow, .lock = WEIR_LOCK_INIT, .changed = WEIR_COND_INIT, .end = INT64_MAX};

  WEIR_ASSERT(flow->stages <= STREAM_FLOW_STAGES);
  f.team = flow->threads < flow->stages ? flow->threads : flow->stages;
  while (!is_over(&f)) {
    f.workers = 0;
    f.round_over = false;
    f.until = weir_clock() + ROUND;
    weir_parallel(f.team, f.team, work, &f);
  }
  return f.status == WEIR_OK ? WEIR_OK : weir_fail(f.status, "%s", f.message);
}
