/* schedule.c - see weir_schedule.h.
 *
 * A version is activated as in Li et al., "Taming unbalanced training workloads in deep learning
 * with partial collective operations" (PPoPP 2020), by messages of a few bytes. There only powers
 * of two of ranks are covered, along a binomial tree; here each rank notifies those 2^k before and
 * after it, once a version, so that for any number of ranks all are reached in at most log2 P
 * steps.
 *
 * For a quorum, every rank reports its posts to rank 0, which begins a version once it has counted
 * that many; the others learn of it as of any version. A report says how many versions its sender
 * has posted, so that reports may be late, overtake one another or be left out for a newer one:
 * rank 0 never counts a post that was not made, and in the end it knows all. A rank that is counted
 * has its contribution ready before the version begins on any rank, so at least a quorum of
 * contributions is in time. */
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

/* Creates those of a quorum, under another tag. */
static weir_status create_reports(weir_schedule *s, int tag)
{
  const bool counts = s->comm->rank == 0;
  const comm_message from_any = {
      .peer = COMM_ANY, .receive = true, .data = &s->reported, .bytes = sizeof s->reported};
  const comm_message to_first = {.peer = 0, .data = &s->own, .bytes = sizeof s->own};
  weir_request **const r = counts ? &s->count : &s->report;

  if (s->spec.quorum == 0) {
    return WEIR_OK;
  }
  if (counts) {
    WEIR_TRY(weir_alloc(s->comm->size, sizeof *s->posted_by, (void **)&s->posted_by));
  }
  if (s->comm->size == 1) {
    return WEIR_OK;
  }
  WEIR_TRY(comm_request_new(s->comm, s->spec.name, WEIR_COMM_ACTIVATION, r));
  WEIR_TRY(comm_request_message(*r, counts ? &from_any : &to_first));
  WEIR_TRY(comm_request_prepare(*r, tag));
  s->own.rank = s->comm->rank;
  return counts ? weir_request_start(s->count) : WEIR_OK;
}

static void merge_finish(void *into, const void *from, int64_t count)
{
  comm_finish *const a = into;
  const comm_finish *b = from;

  for (int64_t i = 0; i < count; i++) {
    a[i].last = a[i].last > b[i].last ? a[i].last : b[i].last;
    a[i].reports += b[i].reports;
  }
}

static const weir_reducer finish_reducer = {"finish", sizeof(comm_finish), true, merge_finish};

weir_status weir_schedule_create(weir_comm *c, const weir_schedule_spec *spec, weir_schedule **out)
{
  const int tag = comm_take_tag(c), report_tag = comm_take_tag(c);
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
  if (status == WEIR_OK) {
    status = create_reports(s, report_tag);
  }
  if (status == WEIR_OK && spec->background) {
    status = comm_background_start(c);
    s->background = status == WEIR_OK;
  }
  WEIR_TRY_GOTO(weir_comm_agree(c, status), done);
  WEIR_TRY_GOTO(weir_allreduce_create(c, spec->name, &finish_reducer, &s->finish, 1, &s->settle),
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
  weir_request_destroy(&(*s)->report);
  weir_request_destroy(&(*s)->count);
  weir_request_destroy(&(*s)->settle);
  weir_free(&(*s)->posted_by);
  weir_free(s);
}

static int initiator_of(const weir_schedule *s, int64_t version)
{
  return s->spec.initiator == NULL ? WEIR_ANY_RANK : s->spec.initiator(s->spec.context, version);
}

/* Ranks that have posted the version, as rank 0 knows. */
static int count_posts(const weir_schedule *s, int64_t version)
{
  int posts = s->posted > version;

  for (int r = 1; r < s->comm->size; r++) {
    posts += s->posted_by[r] > version;
  }
  return posts;
}

/* This rank knows that the version begins, or begins it by its posts. */
static bool may_begin(const weir_schedule *s, int64_t version)
{
  const int initiator = initiator_of(s, version);

  if (initiator == WEIR_ALL_RANKS) {
    return s->posted > version;
  }
  if (initiator == WEIR_QUORUM && s->posted_by != NULL) {
    return count_posts(s, version) >= s->spec.quorum;
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

/* Takes the reports that arrived, or sends this rank's posts that are new. */
static weir_status exchange_reports(weir_schedule *s, bool *moved)
{
  while (s->count != NULL && !s->count->active) {
    int64_t *const posted = &s->posted_by[s->reported.rank];

    *posted = s->reported.posted > *posted ? s->reported.posted : *posted;
    s->reports_taken++;
    *moved = true;
    WEIR_TRY(comm_request_start(s->count));
  }
  if (s->report != NULL && !s->report->active && s->own.posted < s->posted) {
    s->own.posted = s->posted;
    s->reports++;
    *moved = true;
    WEIR_TRY(comm_request_start(s->report));
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
  WEIR_TRY(exchange_reports(s, moved));
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

/* Ranks that have not posted the version, as rank 0 knows. */
static void list_late(const weir_schedule *s, char *text, size_t size)
{
  size_t at = (size_t)snprintf(text, size, "posts of %d of the ranks",
                               s->spec.quorum - count_posts(s, s->version));

  for (int r = 0; r < s->comm->size && at < size; r++) {
    if ((r == 0 ? s->posted : s->posted_by[r]) <= s->version) {
      at += (size_t)snprintf(text + at, size - at, " %d", comm_run_rank(s->comm, r));
    }
  }
}

static void describe(const void *schedule, char name[COMM_TEXT / 4], char missing[COMM_TEXT / 2])
{
  const weir_schedule *s = schedule;
  const int initiator = initiator_of(s, s->version);

  (void)snprintf(name, COMM_TEXT / 4, "version %lld of '%s'", (long long)s->version, s->spec.name);
  if (s->runs != NULL) {
    comm_request_missing(s->runs, missing, COMM_TEXT / 2);
  } else if (initiator == WEIR_QUORUM && s->posted_by != NULL) {
    list_late(s, missing, COMM_TEXT / 2);
  } else if (initiator >= 0 || initiator == WEIR_QUORUM) {
    (void)snprintf(missing, COMM_TEXT / 2, "rank %d to begin it",
                   comm_run_rank(s->comm, initiator >= 0 ? initiator : 0));
  } else {
    (void)snprintf(missing, COMM_TEXT / 2, "a rank to begin it");
  }
}

static bool is_complete(const void *schedule)
{
  const weir_schedule *s = schedule;

  return s->version >= s->wanted;
}

static weir_status wait_until(weir_schedule *s, bool (*done)(const void *what))
{
  const bool all = s->wanted > 0 && initiator_of(s, s->wanted - 1) == WEIR_ALL_RANKS;

  return comm_wait(s->comm,
                   &(comm_awaited){s, done, describe, &s->waits[all], WEIR_COMM_ACTIVATION});
}

weir_status weir_schedule_wait(weir_schedule *s, int64_t versions)
{
  s->wanted = versions;
  WEIR_TRY(wait_until(s, is_complete));
  return WEIR_OK;
}

static bool is_reported(const void *schedule)
{
  const weir_schedule *s = schedule;

  return s->report == NULL || (s->own.posted == s->posted && !s->report->active);
}

static bool is_settled(const void *schedule)
{
  const weir_schedule *s = schedule;

  return s->version >= s->wanted && s->received == s->expected &&
         (s->count == NULL || s->reports_taken == s->finish.reports) &&
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
  WEIR_TRY(wait_until(s, is_reported));
  for (int64_t before = -1;; before = s->finish.last) {
    s->finish = (comm_finish){versions_to_come(s), s->reports};
    WEIR_TRY(weir_request_run(s->settle));
    if (s->finish.last == before) { /* else posts may begin versions after one that others began */
      return WEIR_OK;
    }
    s->wanted = s->finish.last;
    WEIR_TRY(wait_until(s, is_settled));
  }
}
