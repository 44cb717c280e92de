/* progress.c - the right to progress: who calls the library that connects the ranks, and when. One
 * thread at a time has it: the caller within a function of comm, which progresses everything while
 * it waits, else the background thread, if a schedule needs one.
 *
 * A collective call keeps the right and, while schedules run in the background, progresses itself.
 * Where ranks are threads that run at once, its meeting lends the right to the background thread
 * until all ranks have come (inproc_meet). */
#include <stdatomic.h>
#include <time.h>
#include "base/weir_alloc.h"
#include "comm/comm_priv.h"
#include "device/weir_worker.h"

enum { POLL_NS = 50000 }; /* between two looks of the background thread at messages */

/* Of the run that weir_comm_open started, and of the run that this thread is a rank of. */
static comm_engine *_Atomic program;
static _Thread_local comm_engine *of_thread;

void comm_set_program(comm_engine *e)
{
  atomic_store(&program, e);
}

void comm_set_thread(comm_engine *e)
{
  of_thread = e;
}

void comm_forget(comm_engine *e)
{
  (void)atomic_compare_exchange_strong(&program, &e, NULL);
}

static comm_engine *engine_of(const weir_comm *c)
{
  return c != NULL ? c->engine : of_thread != NULL ? of_thread : atomic_load(&program);
}

void weir_comm_borrow(weir_comm *c)
{
  comm_engine *const e = engine_of(c);

  if (e != NULL) {
    weir_lock_take(&e->right);
  }
}

void weir_comm_return(weir_comm *c)
{
  comm_engine *const e = engine_of(c);

  if (e != NULL) {
    weir_lock_give(&e->right);
  }
}

static weir_status advance_all(comm_engine *e, bool *moved)
{
  for (weir_request *r = e->active, *next; r != NULL; r = next) {
    next = r->next;
    WEIR_TRY(comm_request_advance(r, moved));
  }
  for (weir_schedule *s = e->schedules, *next; s != NULL; s = next) {
    next = s->next;
    WEIR_TRY(comm_schedule_advance(s, moved));
  }
  return WEIR_OK;
}

weir_status comm_progress_check(const weir_comm *c)
{
  const comm_engine *const e = c->engine;

  return e->background_status == WEIR_OK
             ? WEIR_OK
             : weir_fail(e->background_status, "%s", e->background_text);
}

weir_status comm_progress(weir_comm *c, bool *moved)
{
  WEIR_TRY(comm_progress_check(c));
  WEIR_TRY(advance_all(c->engine, moved));
  return WEIR_OK;
}

void comm_progress_background(comm_engine *e, bool *moved)
{
  if (e->background_status != WEIR_OK) {
    return;
  }
  e->background_status = advance_all(e, moved);
  if (e->background_status != WEIR_OK) {
    (void)snprintf(e->background_text, sizeof e->background_text, "%s", weir_last_message());
    weir_clear_failure();
  }
}

/* Polls all messages once; false: the thread is to end. */
static bool poll_once(comm_engine *e, bool *moved)
{
  weir_lock_take(&e->right);
  const bool goes_on = !e->background_stops;

  if (goes_on) {
    comm_progress_background(e, moved);
  }
  weir_lock_give(&e->right);
  return goes_on;
}

static weir_status serve(void *engine)
{
  bool moved = false;

  while (poll_once(engine, &moved)) {
    if (!moved) {
      (void)nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    moved = false;
  }
  return WEIR_OK;
}

weir_status comm_background_start(weir_comm *c)
{
  comm_engine *const e = c->engine;

  if (e->background_users == 0 && e->threads) {
    WEIR_TRY(weir_worker_create(true, &e->background));
    e->background_stops = false;
    weir_worker_start(e->background, serve, e);
  }
  e->background_users++;
  return WEIR_OK;
}

void comm_background_stop(weir_comm *c)
{
  comm_engine *const e = c->engine;

  e->background_users--;
  if (e->background_users == 0 && e->background != NULL) {
    weir_comm_borrow(c);
    e->background_stops = true;
    weir_comm_return(c);
    weir_worker_destroy(&e->background);
  }
}
