/* schedule.c - see weir_schedule.h.
 *
 * A version is activated as in Li et al., "Taming unbalanced training workloads in deep learning
 * with partial collective operations" (PPoPP 2020), by messages of a few bytes. There only powers
 * of two of ranks are covered, along a binomial tree; here each rank notifies those 2^k before and
 * after it, once a version, so that for any number of ranks all are reached in at most log2 P
 * steps. */
#include "base/weir_alloc.h"
#include "comm/comm_priv.h"

/* Adds a message to each rank 2^k after this one or before it, each rank once. */
static weir_status notify_neighbours(weir_schedule *s)
{
  const int ranks = s->comm->size, rank = s->comm->rank;

  for (int gap = 1; gap < ranks; gap++) {
    const int other = ranks - gap;
    const bool near = (gap & (gap - 1)) == 0 || (other & (other - 1)) == 0;

    if (near) {
      WEIR_TRY(comm_request_message(s->notify, &(comm_message){.peer = (rank + gap) % ranks,
                                                               .data = &s->notified,
                                                               .bytes = sizeof s->notified}));
      s->neighbours++;
    }
  }
  return WEIR_OK;
}

/* Creates the messages of activation: all of one tag, as they are received from any rank. */
static weir_status create_messages(weir_schedule *s, int tag)
{
  if (s->comm->size == 1) {
    return WEIR_OK;
  }
  WEIR_TRY(comm_request_new(s->comm, s->spec.name, WEIR_COMM_ACTIVATION, &s->notify));
  WEIR_TRY(comm_request_new(s->comm, s->spec.name, WEIR_COMM_ACTIVATION, &s->listen));
  WEIR_TRY(notify_neighbours(s));
  WEIR_TRY(comm_request_message(s->listen, &(comm_message){.peer = COMM_ANY,
                                                           .receive = true,
                                                           .data = &s->arrived,
                                                           .bytes = sizeof s->arrived}));
  WEIR_TRY(comm_request_prepare(s->notify, tag));
  WEIR_TRY(comm_request_prepare(s->listen, tag));
  return WEIR_OK;
}

weir_status weir_schedule_create(weir_comm *c, const weir_schedule_spec *spec, weir_schedule **out)
{
  const int tag = comm_take_tag(c);
  weir_schedule *s = NULL;
  weir_status status = weir_alloc(1, sizeof *s, (void **)&s);

  *out = NULL;
  if (status == WEIR_OK) {
    s->comm = c;
    s->spec = *spec;
    status = create_messages(s, tag);
  }
  if (status == WEIR_OK && s->listen != NULL) {
    status = weir_request_start(s->listen);
  }
  if (status == WEIR_OK && spec->background) {
    status = comm_background_start(c);
    s->background = status == WEIR_OK;
  }
  WEIR_TRY_GOTO(weir_comm_agree(c, status), done);
  WEIR_TRY_GOTO(weir_allreduce_create(c, spec->name, weir_reducer_of(WEIR_REDUCE_MAX, WEIR_I64),
                                      &s->last, 1, &s->settle),
                done);
  weir_comm_borrow(c);
  s->next = c->engine->schedules;
  c->engine->schedules = s;
  weir_comm_return(c);
  *out = s;
  s = NULL;
done:
  weir_schedule_destroy(&s);
  return status;
}

static void unlink_schedule(const weir_schedule *s)
{
  weir_schedule **at = &s->comm->engine->schedules;

  while (*at != NULL && *at != s) {
    at = &(*at)->next;
  }
  if (*at == s) {
    *at = s->next;
  }
}

void weir_schedule_destroy(weir_schedule **s)
{
  if (*s == NULL) {
    return;
  }
  weir_comm *const c = (*s)->comm;

  weir_comm_borrow(c);
  unlink_schedule(*s);
  weir_comm_return(c);
  if ((*s)->background) {
    comm_background_stop(c);
  }
  weir_request_destroy(&(*s)->notify);
  weir_request_destroy(&(*s)->listen);
  weir_request_destroy(&(*s)->settle);
  weir_free(s);
}

static int initiator_of(const weir_schedule *s, int64_t version)
{
  return s->spec.initiator == NULL ? WEIR_ANY_RANK : s->spec.initiator(s->spec.context, version);
}

/* This rank knows that the version begins, or begins it by its posts. */
static bool may_begin(const weir_schedule *s, int64_t version)
{
  const int initiator = initiator_of(s, version);

  if (initiator == WEIR_ALL_RANKS) {
    return s->posted > version;
  }
  return s->known > version ||
         (s->posted > version && (initiator == WEIR_ANY_RANK || initiator == s->comm->rank));
}

/* Takes the activations that arrived. */
static weir_status take_activations(weir_schedule *s, bool *moved)
{
  while (s->listen != NULL && !s->listen->active) {
    s->known = s->arrived + 1 > s->known ? s->arrived + 1 : s->known;
    s->received++;
    *moved = true;
    WEIR_TRY(comm_request_start(s->listen));
  }
  return WEIR_OK;
}

static weir_status begin(weir_schedule *s)
{
  if (s->notify != NULL && initiator_of(s, s->version) != WEIR_ALL_RANKS) {
    s->notified = s->version;
    s->expected += s->neighbours;
    WEIR_TRY(comm_request_start(s->notify));
  }
  s->spec.begin(s->spec.context, s->version, s->posted > s->version);
  s->runs = s->spec.body_of != NULL ? s->spec.body_of(s->spec.context, s->version) : s->spec.body;
  WEIR_TRY(comm_request_start(s->runs));
  return WEIR_OK;
}

weir_status comm_schedule_advance(weir_schedule *s, bool *moved)
{
  WEIR_TRY(take_activations(s, moved));
  for (;;) {
    if (s->runs != NULL && !s->runs->active) {
      s->runs = NULL;
      if (s->spec.end != NULL) {
        s->spec.end(s->spec.context, s->version);
      }
      s->version++;
    } else if (s->runs == NULL && may_begin(s, s->version) &&
               (s->notify == NULL || !s->notify->active)) {
      WEIR_TRY(begin(s));
    } else {
      return WEIR_OK;
    }
    *moved = true;
  }
}

weir_status weir_schedule_post(weir_schedule *s)
{
  bool moved = false;

  weir_comm_borrow(s->comm);
  weir_status status = comm_progress_check(s->comm);

  if (status == WEIR_OK) {
    s->posted++;
    status = comm_schedule_advance(s, &moved);
  }

  weir_comm_return(s->comm);
  return status;
}

int64_t weir_schedule_completed(const weir_schedule *s)
{
  weir_comm_borrow(s->comm);
  const int64_t versions = s->version;

  weir_comm_return(s->comm);
  return versions;
}

static weir_status give_up(const void *schedule, double timeout)
{
  const weir_schedule *s = schedule;
  char missing[COMM_TEXT / 2] = "a rank to begin it";

  if (s->runs != NULL) {
    comm_request_missing(s->runs, missing, sizeof missing);
  }
  return weir_fail(WEIR_ERR_EXTERNAL,
                   "rank %d of %d: version %lld of '%s' timed out after %g s, waiting for %s "
                   "(comm.timeout)",
                   s->comm->rank, s->comm->size, (long long)s->version, s->spec.name, timeout,
                   missing);
}

static bool is_complete(const void *schedule)
{
  const weir_schedule *s = schedule;

  return s->version >= s->wanted;
}

weir_status weir_schedule_wait(weir_schedule *s, int64_t versions)
{
  s->wanted = versions;
  WEIR_TRY(comm_wait(s->comm, s, is_complete, give_up, WEIR_COMM_ACTIVATION));
  return WEIR_OK;
}

static bool is_settled(const void *schedule)
{
  const weir_schedule *s = schedule;

  return s->version >= s->wanted && s->received == s->expected &&
         (s->notify == NULL || !s->notify->active);
}

/* Versions that begin by what this rank has posted or knows. */
static int64_t versions_to_come(const weir_schedule *s)
{
  weir_comm_borrow(s->comm);
  int64_t last = s->version + (s->runs != NULL);

  while (may_begin(s, last)) {
    last++;
  }
  weir_comm_return(s->comm);
  return last;
}

weir_status weir_schedule_finish(weir_schedule *s)
{
  for (int64_t before = -1;; before = s->last) {
    s->last = versions_to_come(s);
    WEIR_TRY(weir_request_start(s->settle));
    WEIR_TRY(weir_request_wait(s->settle));
    if (s->last == before) { /* else own posts may begin versions after one that others began */
      return WEIR_OK;
    }
    s->wanted = s->last;
    WEIR_TRY(comm_wait(s->comm, s, is_settled, give_up, WEIR_COMM_ACTIVATION));
  }
}
