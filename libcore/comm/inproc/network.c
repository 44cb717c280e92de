/* network.c - ranks on a network: a simulation of discrete events by the LogGOPS model
 * (weir_inproc.h).
 *
 * The rank whose turn it is runs until it has to wait, and takes no time. Then events happen, on
 * its thread, in the order of their times. Where a message reaches a rank that waits for a request,
 * or has a background thread, the requests of that rank progress right there: a change of threads
 * is needed only where a rank has what it waited for, not for every message. */
#include <math.h>
#include "base/weir_alloc.h"
#include "comm/inproc/inproc_priv.h"

/* Seconds of a look at messages that finds nothing; looks in a row, after which a rank is taken to
 * have nothing else to do. */
#define LOOK_S 1e-7
#define LOOKS 1000

/* ---- Events ---- */

static bool is_before(const inproc_event *a, const inproc_event *b)
{
  return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void announce(inproc_world *w, inproc_event e)
{
  if (weir_reserve(&w->events, &w->event_capacity, w->n_events + 1, sizeof *w->events) != WEIR_OK) {
    w->lacks_memory = true;
    return;
  }
  int64_t at = w->n_events++;

  e.order = w->announced++;
  for (; at > 0 && is_before(&e, &w->events[(at - 1) / 2]); at = (at - 1) / 2) {
    w->events[at] = w->events[(at - 1) / 2];
  }
  w->events[at] = e;
}

/* Takes the first event; false: there is none. */
static bool take_first(inproc_world *w, inproc_event *out)
{
  if (w->n_events == 0) {
    return false;
  }
  *out = w->events[0];
  const inproc_event last = w->events[--w->n_events];
  int64_t at = 0;

  for (;;) {
    int64_t next = 2 * at + 1;

    next += next + 1 < w->n_events && is_before(&w->events[next + 1], &w->events[next]);
    if (next >= w->n_events || is_before(&last, &w->events[next])) {
      break;
    }
    w->events[at] = w->events[next];
    at = next;
  }
  w->events[at] = last;
  return true;
}

static double later(double a, double b)
{
  return a > b ? a : b;
}

static void wake(inproc_world *w, int rank, double at)
{
  announce(
      w, (inproc_event){.at = at, .kind = INPROC_WAKE, .rank = rank, .rest = w->rank[rank].rests});
}

/* When something happens next, but for ranks that only look again; at the latest at that time. */
static double next_change(const inproc_world *w, double latest)
{
  double at = INFINITY;

  for (int64_t i = 0; i < w->n_events; i++) {
    at = w->events[i].kind != INPROC_LOOK_AGAIN && w->events[i].at < at ? w->events[i].at : at;
  }
  return at < latest ? at : latest;
}

static void look(inproc_world *w, int rank, double at)
{
  announce(w, (inproc_event){.at = at, .kind = INPROC_LOOK, .rank = rank});
}

/* ---- Messages ---- */

static double per_byte(double bandwidth)
{
  return bandwidth > 0 ? 1 / bandwidth : 0;
}

/* Bytes after the first one. */
static double rest_of(const inproc_packet *p)
{
  return p->stands_for > 1 ? p->stands_for - 1 : 0;
}

/* Seconds that these take through the interface of a rank. */
static double link_s(const inproc_world *w, int rank, const inproc_packet *p)
{
  const double *const of_rank = w->run->rank_link_bw;

  return rest_of(p) * per_byte(of_rank != NULL ? of_rank[rank] : w->run->network->link_bw);
}

/* The processor of messages spends that long. Returns when it begins. */
static double occupy(inproc_world *w, int rank, double seconds)
{
  const double begin = later(w->now, w->rank[rank].busy);

  w->rank[rank].busy = begin + seconds;
  return begin;
}

/* The interface of the sender takes the bytes, not before `from`. */
static void transmit(inproc_world *w, inproc_packet *p, double from)
{
  const weir_network *n = w->run->network;
  const double seconds = link_s(w, p->from, p);
  double *const is_free = &w->rank[p->from].send_free;
  const double begin = later(from, *is_free);

  *is_free = begin + n->gap + seconds;
  p->left = p->left > 0 ? begin + seconds : 0;
  announce(w,
           (inproc_event){.at = begin + n->latency + p->delay, .kind = INPROC_ARRIVE, .packet = p});
}

void inproc_network_send(inproc_world *w, inproc_packet *p)
{
  const weir_network *n = w->run->network;
  const bool eager = p->stands_for <= n->eager_max_bytes;
  const double begin =
      occupy(w, p->from, n->overhead + (eager ? rest_of(p) * n->overhead_per_byte : 0));

  p->asks = !eager;
  p->left = eager ? 0 : INFINITY;
  p->arrival = INFINITY;
  if (eager) {
    transmit(w, p, begin + n->overhead);
  } else {
    p->arrival = begin + n->overhead + n->latency;
    look(w, p->to, p->arrival);
  }
}

bool inproc_network_receive(inproc_world *w, inproc_packet *p)
{
  const weir_network *n = w->run->network;

  if (p->asks) {
    const double begin = occupy(w, p->to, n->overhead);

    p->asks = false;
    p->arrival = INFINITY;
    announce(w, (inproc_event){
                    .at = begin + n->overhead + n->latency, .kind = INPROC_READ, .packet = p});
    return false;
  }
  (void)occupy(w, p->to, n->overhead + rest_of(p) * n->overhead_per_byte);
  if (p->wanted) {
    p->wanted = false;
    look(w, p->from, w->now);
  }
  return true;
}

/* The first byte is there: the others follow, after those of earlier packets. */
static void arrive(inproc_world *w, inproc_packet *p)
{
  const weir_network *n = w->run->network;
  const double seconds = link_s(w, p->to, p);
  double *const is_free = &w->rank[p->to].receive_free;
  const double begin = later(w->now, *is_free);

  *is_free = begin + n->gap + seconds;
  p->arrival =
      later(begin + seconds, w->now + link_s(w, p->from, p)); /* not before they have left */
  look(w, p->to, p->arrival);
}

/* Its receiver reads a long message. */
static void read_packet(inproc_world *w, inproc_packet *p)
{
  transmit(w, p, w->now);
  look(w, p->from, p->left);
}

/* ---- Ranks ---- */

/* With the lock, which is given back meanwhile. The thread is that of another rank, so that a
 * failure is kept for the next call of its own. Returns whether there is one. */
static bool progress(inproc_world *w, inproc_rank *r, bool *any)
{
  bool moved = true;

  weir_lock_give(&w->lock);
  while (moved) {
    moved = false;
    comm_progress_background(r->comm->engine, &moved);
    *any = *any || moved;
  }
  weir_lock_take(&w->lock);
  return r->comm->engine->background_status != WEIR_OK;
}

/* A message may be there for a rank that is at rest. */
static void look_now(inproc_world *w, inproc_rank *r)
{
  const bool meets = r->rest == INPROC_GATHERS && r->comm->engine->background_users > 0;

  if (r->life != INPROC_RUNS || r->rest == INPROC_READY ||
      (r->done == NULL && !r->listens && !meets)) {
    return; /* it will see for itself */
  }
  if (r->busy > w->now) {
    look(w, r->number, r->busy);
    return;
  }
  bool any = false;
  const bool failed = progress(w, r, &any), paused = r->listens && r->wakes > 0;

  if ((failed && !meets) || (paused && any) || (r->done != NULL && r->done(r->what))) {
    r->rest = INPROC_READY;
    wake(w, r->number, later(w->now, r->busy));
  }
}

/* Lets the event happen; true: it is the turn of a rank. */
static bool happen(inproc_world *w, const inproc_event *e)
{
  w->now = later(w->now, e->at);
  switch (e->kind) {
  case INPROC_WAKE:
  case INPROC_LOOK_AGAIN: {
    inproc_rank *const r = &w->rank[e->rank];

    if (r->rests != e->rest || r->over) {
      return false;
    }
    r->rests++;
    r->rest = INPROC_READY;
    w->turn = e->rank;
    return true;
  }
  case INPROC_LOOK:
    look_now(w, &w->rank[e->rank]);
    break;
  case INPROC_ARRIVE:
    arrive(w, e->packet);
    break;
  case INPROC_READ:
    read_packet(w, e->packet);
    break;
  }
  return false;
}

/* No event is left, or none fits in memory: all ranks go on, and fail. Returns whether there is
 * one. */
static bool wake_all(inproc_world *w)
{
  bool any = false;

  for (int r = 0; r < w->run->ranks; r++) {
    if (!w->rank[r].over) {
      any = true;
      wake(w, r, w->now);
    }
  }
  w->stuck = any;
  return any;
}

void inproc_network_pass(inproc_world *w)
{
  inproc_event e;

  for (;;) {
    if (!take_first(w, &e)) {
      if (!wake_all(w)) {
        w->turn = -1;
        return;
      }
    } else if (happen(w, &e)) {
      weir_cond_broadcast(&w->rank[w->turn].wake);
      return;
    }
  }
}

static void rest(inproc_rank *self, inproc_rest why)
{
  if (why == INPROC_GATHERS && self->comm->engine->background_users > 0) {
    look(self->world, self->number, self->world->now);
  }
  self->looks = why == INPROC_WAITS || why == INPROC_GATHERS ? 0 : self->looks + 1;
  self->rest = why;
  inproc_network_pass(self->world);
  inproc_await_turn(self);
}

void inproc_network_begin(inproc_world *w)
{
  for (int r = 0; r < w->run->ranks; r++) {
    wake(w, r, 0);
  }
  inproc_network_pass(w);
}

void inproc_network_notify(inproc_world *w)
{
  for (int r = 0; r < w->run->ranks; r++) {
    inproc_rank *const one = &w->rank[r];

    if ((one->rest == INPROC_GATHERS || w->ended_by >= 0) && one->notified != one->rests) {
      one->notified = one->rests; /* once: where all leave, each notifies the others */
      wake(w, r, later(w->now, one->busy));
    }
  }
}

/* One that polls goes on after LOOK_S; one that does nothing else, after whatever happens next, or
 * at the time until which it waits. */
void inproc_network_pause(inproc_rank *self, inproc_rest why)
{
  inproc_world *const w = self->world;
  const bool until = why == INPROC_WAITS && self->listens;

  if (until || why == INPROC_READY || why == INPROC_POLLS) {
    const double latest = until ? self->wakes : self->looks >= LOOKS ? w->now + 1 : w->now + LOOK_S;

    announce(w, (inproc_event){.at = later(w->now, next_change(w, latest)),
                               .kind = INPROC_LOOK_AGAIN,
                               .rank = self->number,
                               .rest = self->rests});
  }
  rest(self, why);
}

weir_status inproc_network_sleep(weir_comm *c, inproc_rank *self, double seconds)
{
  inproc_world *const w = self->world;
  const double until = later(w->now, self->busy) + seconds;
  weir_status status = WEIR_OK;

  self->listens = c->engine->background_users > 0;
  if (self->listens) {
    look(w, self->number, w->now);
  }
  while (w->now < until && status == WEIR_OK) {
    wake(w, self->number, until);
    rest(self, INPROC_WAITS);
    status = inproc_check(self);
  }
  self->listens = false;
  return status;
}

weir_status inproc_network_await(weir_comm *c, const void *what, bool (*done)(const void *what))
{
  inproc_rank *const self = inproc_self(c);
  inproc_world *const w = self->world;

  for (;;) {
    bool moved = false;

    WEIR_TRY(comm_progress(c, &moved));
    if (done(what)) {
      return WEIR_OK;
    }
    if (moved) {
      continue;
    }
    weir_lock_take(&w->lock);
    weir_status status = inproc_check(self);

    if (status == WEIR_OK) {
      self->what = what;
      self->done = done;
      rest(self, INPROC_WAITS);
      self->done = NULL;
      status = inproc_check(self);
    }
    weir_lock_give(&w->lock);
    WEIR_TRY(status);
  }
}

void inproc_network_reduced(weir_comm *c, int64_t bytes)
{
  inproc_rank *const self = inproc_self(c);
  inproc_world *const w = self->world;
  const double scale = w->run->scale > 0 ? w->run->scale : 1;

  weir_lock_take(&w->lock);
  (void)occupy(w, self->number, (double)bytes * scale * per_byte(w->run->network->reduce_bw));
  weir_lock_give(&w->lock);
}
