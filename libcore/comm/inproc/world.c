/* world.c - see weir_inproc.h: threads, turns and the clock of a run, and meetings of its ranks. */
#include <time.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "base/weir_signal.h"
#include "comm/inproc/inproc_priv.h"
#include "device/weir_parallel.h"
#include "device/weir_worker.h"

enum { MAILBOXES = 16 }; /* a rank */

/* On a network, where a rank's processor of messages is ahead of the events, its own time. */
static double own_time(const inproc_rank *r)
{
  const double now = inproc_now(r->world);

  return r->busy > now ? r->busy : now;
}

double inproc_now(const inproc_world *w)
{
  return w->run->concurrent ? weir_clock() - w->begin : w->now;
}

double weir_inproc_clock(const weir_comm *c)
{
  inproc_world *const w = inproc_self(c)->world;

  weir_lock_take(&w->lock);
  const double now = own_time(inproc_self(c));

  weir_lock_give(&w->lock);
  return now;
}

weir_status inproc_check(const inproc_rank *self)
{
  const inproc_world *w = self->world;

  if (self->life == INPROC_DIED) {
    return weir_fail(WEIR_ERR_EXTERNAL, "rank %d of %d died by a scripted fault", self->number,
                     w->run->ranks);
  }
  if (w->ended_by >= 0) {
    return weir_fail(WEIR_ERR_EXTERNAL, "rank %d of %d ended the run", w->ended_by, w->run->ranks);
  }
  if (w->run->network != NULL && weir_stop_requested()) {
    return weir_fail(WEIR_ERR_STOPPED, "stopped by signal %d during the simulation of %d ranks",
                     weir_stop_signal(), w->run->ranks);
  }
  if (w->lacks_memory) {
    return weir_fail(WEIR_ERR_MEMORY, "no memory for the events of %d ranks", w->run->ranks);
  }
  if (w->stuck) {
    return weir_fail(WEIR_ERR_EXTERNAL, "deadlock: all ranks wait in calls that others are not in");
  }
  return WEIR_OK;
}

void inproc_notify(inproc_world *w)
{
  if (w->run->network != NULL) {
    inproc_network_notify(w);
    return;
  }
  for (int r = 0; r < w->run->ranks; r++) {
    w->rank[r].rest = INPROC_READY;
    if (w->run->concurrent) {
      weir_cond_broadcast(&w->rank[r].wake);
    }
  }
}

static bool is_ready(const inproc_rank *r)
{
  return r->life == INPROC_RUNS && r->rest == INPROC_READY &&
         (r->wakes <= r->world->now || r->listens);
}

static int count_resting(const inproc_world *w, inproc_rest rest)
{
  int n = 0;

  for (int r = 0; r < w->run->ranks; r++) {
    n += w->rank[r].life == INPROC_RUNS && w->rank[r].rest == rest;
  }
  return n;
}

/* The next arrival of a message or end of a sleep; false where there is none. */
static bool next_event(const inproc_world *w, double *at)
{
  bool found = false;

  for (int r = 0; r < w->run->ranks; r++) {
    const inproc_rank *one = &w->rank[r];

    if (one->life == INPROC_RUNS && one->wakes > w->now && (!found || one->wakes < *at)) {
      *at = one->wakes;
      found = true;
    }
  }
  for (int64_t i = 0; i < w->n_mailboxes; i++) {
    for (const inproc_packet *p = w->mailboxes[i].packets; p != NULL; p = p->next) {
      if (p->arrival > w->now && (!found || p->arrival < *at)) {
        *at = p->arrival;
        found = true;
      }
    }
  }
  return found;
}

/* No rank is ready: lets time pass, or those that only test requests go on. Without an event ranks
 * that wait see one second after the other, so that they give up in the end. */
static void pass_time(inproc_world *w)
{
  double at = 0;

  if (next_event(w, &at)) {
    w->now = at;
  } else if (count_resting(w, INPROC_POLLS) == 0) {
    w->stuck = count_resting(w, INPROC_WAITS) == 0;
    w->now += 1;
  }
  inproc_notify(w);
}

/* Which of so many ranks runs next: as the script says, or drawn. */
static int choose(inproc_world *w, int ready)
{
  weir_inproc_script *const script = w->run->script;

  if (script != NULL && script->begins && ready > 1) {
    const int64_t k = script->taken++;

    if (k < script->n) {
      script->ready[k] = ready;
      return script->choice[k];
    }
  }
  return (int)(weir_random_bits(w->run->seed, 0, 0, w->draws++) % (uint64_t)ready);
}

/* Chooses the rank that runs next: none once all have ended. */
static void pass_turn(inproc_world *w)
{
  int ready = 0, alive = 0;

  for (int r = 0; r < w->run->ranks; r++) {
    alive += w->rank[r].life == INPROC_RUNS;
    ready += is_ready(&w->rank[r]);
  }
  w->turn = -1;
  if (alive == 0) {
    return;
  }
  while (ready == 0) {
    pass_time(w);
    for (int r = 0; r < w->run->ranks; r++) {
      ready += is_ready(&w->rank[r]);
    }
  }
  int left = choose(w, ready);

  for (int r = 0; w->turn < 0; r++) {
    if (is_ready(&w->rank[r]) && left-- == 0) {
      w->turn = r;
    }
  }
  weir_cond_broadcast(&w->rank[w->turn].wake);
}

void inproc_await_turn(inproc_rank *self)
{
  while (self->world->turn != self->number) {
    weir_cond_wait(&self->wake, &self->world->lock);
  }
}

void inproc_pause(inproc_rank *self, inproc_rest rest)
{
  if (self->world->run->concurrent) {
    weir_cond_wait(&self->wake, &self->world->lock);
    return;
  }
  if (self->life != INPROC_RUNS) { /* it keeps its turn until it returns */
    return;
  }
  if (self->world->run->network != NULL) {
    inproc_network_pause(self, rest);
    return;
  }
  self->rest = rest;
  pass_turn(self->world);
  inproc_await_turn(self);
}

void inproc_pause_until(inproc_rank *self, double until)
{
  self->wakes = until;
  self->listens = true;
  inproc_pause(self, INPROC_WAITS);
  self->wakes = 0;
  self->listens = false;
}

/* Sleeps with the lock held, except while it progresses what has background threads elsewhere. */
static weir_status sleep_in_turn(weir_comm *c, inproc_rank *self, double until)
{
  inproc_world *const w = self->world;
  weir_status status = WEIR_OK;

  do {
    bool moved = false;

    if (c->engine->background_users > 0) {
      weir_lock_give(&w->lock);
      weir_comm_borrow(c);
      comm_progress_background(c->engine, &moved);
      weir_comm_return(c);
      weir_lock_take(&w->lock);
    }
    if (!moved) {
      if (c->engine->background_users > 0 && until > w->now) {
        inproc_pause_until(self, until);
      } else {
        self->wakes = until;
        inproc_pause(self, INPROC_READY);
        self->wakes = 0;
      }
      status = inproc_check(self);
    }
  } while (w->now < until && status == WEIR_OK);
  return status;
}

weir_status weir_inproc_sleep(weir_comm *c, double seconds)
{
  inproc_rank *const self = inproc_self(c);
  inproc_world *const w = self->world;

  if (w->run->concurrent && seconds > 0) {
    const struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    (void)nanosleep(&t, NULL);
  }
  weir_lock_take(&w->lock);
  weir_status status = inproc_check(self);

  if (w->run->network != NULL && status == WEIR_OK) {
    status = inproc_network_sleep(c, self, seconds);
  } else if (!w->run->concurrent && status == WEIR_OK) {
    status = sleep_in_turn(c, self, w->now + seconds);
  }
  weir_lock_give(&w->lock);
  return status;
}

weir_status inproc_die(inproc_rank *self)
{
  self->life = INPROC_DIED;
  inproc_notify(self->world);
  return inproc_check(self);
}

weir_status inproc_group_create(inproc_world *w, const int *member, int size, inproc_group **out)
{
  inproc_group *g = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *g, (void **)&g));
  WEIR_TRY_GOTO(weir_alloc(size, sizeof *g->member, (void **)&g->member), done);
  WEIR_TRY_GOTO(weir_alloc(size, sizeof *g->met, (void **)&g->met), done);
  WEIR_TRY_GOTO(weir_alloc(2 * (int64_t)size, sizeof *g->given, (void **)&g->given), done);
  g->world = w;
  g->id = w->groups++;
  g->size = g->users = size;
  g->absent = -1;
  for (int r = 0; r < size; r++) {
    g->member[r] = member[r];
  }
  *out = g;
  g = NULL;
done:
  inproc_group_destroy(&g);
  return status;
}

void inproc_group_destroy(inproc_group **g)
{
  if (*g != NULL) {
    weir_free(&(*g)->member);
    weir_free(&(*g)->met);
    weir_free(&(*g)->given);
    weir_free(g);
  }
}

/* The first rank that can no longer come to the meeting, or -1. */
static int absent_rank(const inproc_group *g)
{
  for (int r = 0; r < g->size; r++) {
    if (g->met[r] == g->meeting && g->world->rank[g->member[r]].life != INPROC_RUNS) {
      return r;
    }
  }
  return -1;
}

/* Comes to the meeting; the last rank opens the next one. Returns its number. */
static int64_t arrive(inproc_group *g, int rank, const void *mine)
{
  const int64_t meeting = g->meeting;

  g->given[meeting % 2 * g->size + rank] = mine;
  g->met[rank] = meeting + 1;
  g->arrived++;
  if (g->arrived == g->size) {
    g->arrived = 0;
    g->meeting++;
    inproc_notify(g->world);
  }
  return meeting;
}

/* Fails where there is no sense in waiting for the others. */
static weir_status check_meeting(inproc_group *g, const inproc_rank *self)
{
  if (g->world->stuck || self->life != INPROC_RUNS) { /* it may die while it serves others */
    WEIR_TRY(inproc_check(self));
  }
  if (g->absent < 0) {
    g->absent = absent_rank(g);
  }
  if (g->absent >= 0) {
    return weir_fail(WEIR_ERR_EXTERNAL, "rank %d of %d ended, and the others wait for it",
                     g->absent, g->size);
  }
  return WEIR_OK;
}

/* Progresses, with the lock held, what has background threads elsewhere: a rank in a meeting may be
 * what one that is to come waits for. On a network, looks at messages do (look_now). */
static void serve_others(weir_comm *c, inproc_world *w)
{
  bool moved = c->engine->background_users > 0 && !w->run->concurrent && w->run->network == NULL;

  while (moved) {
    moved = false;
    weir_lock_give(&w->lock);
    comm_progress_background(c->engine, &moved);
    weir_lock_take(&w->lock);
  }
}

/* What ended the run is left to the next call, and so is a failure in the background. A rank that
 * fails goes: it may come again. */
static weir_status meet(weir_comm *c, inproc_group *g, inproc_rank *self, const void *mine)
{
  const int64_t meeting = arrive(g, c->rank, mine);

  while (g->meeting == meeting) {
    const weir_status status = check_meeting(g, self);

    if (status != WEIR_OK) {
      g->met[c->rank] = meeting;
      g->arrived--;
      return status;
    }
    serve_others(c, g->world);
    if (g->meeting == meeting) { /* the last one may have come meanwhile */
      inproc_pause(self, INPROC_GATHERS);
    }
  }
  return WEIR_OK;
}

/* Ranks that run at once have a background thread each, which needs the right to progress. */
weir_status inproc_meet(weir_comm *c, const void *mine, const void *const **given)
{
  inproc_group *const g = c->state;
  inproc_rank *const self = inproc_self(c);
  const bool lends = g->world->run->concurrent;

  if (lends) {
    weir_comm_return(c);
  }
  weir_lock_take(&g->world->lock);
  *given = g->given + g->meeting % 2 * g->size;
  weir_status status = inproc_check(self);

  if (status == WEIR_OK) {
    status = meet(c, g, self, mine);
  }
  weir_lock_give(&g->world->lock);
  if (lends) {
    weir_comm_borrow(c);
  }
  WEIR_TRY(status);
  return WEIR_OK;
}

void inproc_meet_again(weir_comm *c, const void *mine, const void *const **given)
{
  inproc_group *const g = c->state;
  inproc_rank *const self = inproc_self(c);

  weir_lock_take(&g->world->lock);
  *given = g->given + g->meeting % 2 * g->size;
  const int64_t meeting = arrive(g, c->rank, mine);

  while (g->meeting == meeting) {
    inproc_pause(self, INPROC_GATHERS);
  }
  weir_lock_give(&g->world->lock);
}

/* Of the ranks that fail: the one that aborted, else the first; or a lower one that fails alike. */
static void note_failure(inproc_world *w, const inproc_rank *self, weir_status status)
{
  const bool aborts = w->aborted && w->ended_by == self->number;
  const bool lower = status == w->status && self->number < w->of;

  if (status == WEIR_OK || !(w->status == WEIR_OK || aborts || lower)) {
    return;
  }
  w->status = status;
  w->of = self->number;
  (void)snprintf(w->text, sizeof w->text, "%s", weir_last_message());
  if (w->run->fails_together && w->ended_by < 0) {
    w->ended_by = self->number;
  }
}

/* The life of a rank, on its thread. */
static weir_status run_rank(void *rank)
{
  inproc_rank *const self = rank;
  inproc_world *const w = self->world;

  if (!w->run->concurrent) {
    weir_lock_take(&w->lock);
    inproc_await_turn(self);
    weir_lock_give(&w->lock);
  }
  const weir_log_level level =
      weir_log_set_thread_level(self->number > 0 ? WEIR_LOG_WARN : WEIR_LOG_DEBUG);
  comm_set_thread(self->comm->engine);
  weir_status status = w->run->threads > 0 ? weir_threads_own(w->run->threads) : WEIR_OK;

  if (status == WEIR_OK) {
    status = w->body(self->comm, w->context);
  }
  weir_threads_end_own();
  comm_set_thread(NULL);
  (void)weir_log_set_thread_level(level);
  weir_comm_close(&self->comm);
  weir_lock_take(&w->lock);
  const bool died = self->life == INPROC_DIED;

  self->life = died ? INPROC_DIED : INPROC_LEFT;
  note_failure(w, self, died ? WEIR_OK : status);
  self->over = true;
  inproc_notify(w);
  if (w->run->network != NULL) {
    inproc_network_pass(w);
  } else if (!w->run->concurrent) {
    pass_turn(w);
  }
  weir_lock_give(&w->lock);
  return died ? WEIR_OK : status;
}

/* Prepares all ranks: communicators, and workers [ranks] that do nothing yet. */
static weir_status create_ranks(inproc_world *w, weir_worker **workers, inproc_group **all)
{
  const int ranks = w->run->ranks;
  int *member = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(ranks, sizeof *member, (void **)&member));
  for (int r = 0; r < ranks; r++) {
    member[r] = r;
  }
  status = inproc_group_create(w, member, ranks, all);
  weir_free(&member);
  WEIR_TRY(status);
  for (int r = 0; r < ranks; r++) {
    inproc_rank *const one = &w->rank[r];

    one->world = w;
    one->number = r;
    one->wake = (weir_cond)WEIR_COND_INIT;
    one->polled_at = -1;
    one->notified = -1;
    WEIR_TRY(comm_new(&w->kind, &one->comm));
    one->comm->rank = r;
    one->comm->size = ranks;
    one->comm->state = *all;
    one->comm->engine->threads = w->run->concurrent;
    WEIR_TRY(weir_worker_create(true, &workers[r]));
  }
  return WEIR_OK;
}

/* Starts all ranks and waits for them. */
static weir_status run_ranks(inproc_world *w, weir_worker **workers)
{
  const int ranks = w->run->ranks;

  w->begin = weir_clock();
  weir_lock_take(&w->lock);
  if (w->run->network != NULL) {
    inproc_network_begin(w);
  } else {
    pass_turn(w);
  }
  weir_lock_give(&w->lock);
  for (int r = 0; r < ranks; r++) {
    weir_worker_start(workers[r], run_rank, &w->rank[r]);
  }
  for (int r = 0; r < ranks; r++) {
    if (weir_worker_wait(workers[r]) != WEIR_OK) { /* note_failure has seen it */
      weir_clear_failure();
    }
  }
  return w->status == WEIR_OK ? WEIR_OK : weir_fail(w->status, "%s", w->text);
}

weir_status weir_inproc_run(const weir_inproc *run,
                            weir_status (*body)(weir_comm *c, void *context), void *context)
{
  inproc_world w = {.run = run,
                    .body = body,
                    .context = context,
                    .lock = WEIR_LOCK_INIT,
                    .turn = -1,
                    .ended_by = -1,
                    .n_mailboxes = 1,
                    .kind = weir_comm_kind_ranks_inproc};
  const int64_t ranks = run->ranks;
  weir_worker **workers = NULL;
  inproc_group *all = NULL;
  weir_status status = WEIR_OK;

  if (ranks < 1) {
    return weir_fail(WEIR_ERR_CONFIG, "%d ranks: at least 1 is needed", run->ranks);
  }
  WEIR_ASSERT(run->network == NULL || !run->concurrent);
  if (run->network != NULL) {
    w.kind.await = inproc_network_await;
    w.kind.reduced = inproc_network_reduced;
  }
  while (w.n_mailboxes < MAILBOXES * ranks) {
    w.n_mailboxes *= 2;
  }
  WEIR_TRY_GOTO(weir_alloc(ranks, sizeof *w.rank, (void **)&w.rank), done);
  if (run->n_faults > 0) {
    WEIR_TRY_GOTO(weir_alloc(ranks, sizeof(int64_t) * (size_t)ranks, (void **)&w.started), done);
  }
  WEIR_TRY_GOTO(weir_alloc(w.n_mailboxes, sizeof *w.mailboxes, (void **)&w.mailboxes), done);
  WEIR_TRY_GOTO(weir_reserve(&w.events, &w.event_capacity, ranks, sizeof *w.events), done);
  WEIR_TRY_GOTO(weir_alloc(ranks, sizeof *workers, (void **)&workers), done);
  WEIR_TRY_GOTO(create_ranks(&w, workers, &all), done);
  all = NULL; /* the last rank frees it */
  WEIR_TRY_GOTO(run_ranks(&w, workers), done);
done:
  for (int64_t r = 0; r < ranks && w.rank != NULL; r++) {
    comm_delete(&w.rank[r].comm);
    if (workers != NULL) {
      weir_worker_destroy(&workers[r]);
    }
  }
  inproc_mailboxes_destroy(&w);
  weir_free(&w.events);
  inproc_group_destroy(&all);
  weir_free(&workers);
  weir_free(&w.started);
  weir_free(&w.rank);
  return status;
}
