/* request.c - see weir_request.h: rounds of messages, progressed by any caller. */
#include <string.h>
#include "base/weir_alloc.h"
#include "comm/comm_priv.h"

weir_status comm_request_new(weir_comm *c, const char *name, weir_comm_use use, weir_request **out)
{
  WEIR_TRY(weir_alloc(1, sizeof **out, (void **)out));
  (*out)->comm = c;
  (*out)->name = name;
  (*out)->use = use;
  return WEIR_OK;
}

static weir_status append(weir_request *r, const comm_message *m)
{
  WEIR_ASSERT(r->n_messages == 0 || r->messages[r->n_messages - 1].round <= m->round);
  WEIR_TRY(
      weir_reserve(&r->messages, &r->message_capacity, r->n_messages + 1, sizeof *r->messages));
  r->messages[r->n_messages++] = *m;
  return WEIR_OK;
}

weir_status comm_request_message(weir_request *r, const comm_message *m)
{
  const int64_t piece = r->use == WEIR_COMM_ACTIVATION /* received from any rank: whole */
                            ? m->bytes
                            : r->comm->engine->cfg.max_message_bytes;

  for (int64_t at = 0; at < m->bytes; at += piece) {
    comm_message one = *m;

    one.data = (char *)m->data + at;
    one.bytes = m->bytes - at < piece ? m->bytes - at : piece;
    one.control = r->use == WEIR_COMM_ACTIVATION;
    WEIR_TRY(append(r, &one));
  }
  return m->varying != NULL ? append(r, m) : WEIR_OK;
}

weir_status comm_request_work(weir_request *r, const comm_work *w)
{
  WEIR_ASSERT(r->n_works == 0 || r->works[r->n_works - 1].round <= w->round);
  WEIR_TRY(weir_reserve(&r->works, &r->work_capacity, r->n_works + 1, sizeof *r->works));
  r->works[r->n_works++] = *w;
  return WEIR_OK;
}

int comm_take_tag(weir_comm *c)
{
  const int tag = c->next_tag;

  c->next_tag = (tag + 1) % c->kind->tags(c);
  return tag;
}

weir_status comm_request_prepare(weir_request *r, int tag)
{
  weir_comm *const c = r->comm;
  weir_status status = WEIR_OK;

  if (r->n_messages > 0) {
    weir_comm_borrow(c);
    status = c->kind->prepare(c, r->messages, r->n_messages, tag, &r->prepared);
    weir_comm_return(c);
  }
  return status;
}

weir_status comm_request_seal(weir_comm *c, weir_status status, weir_request **r,
                              weir_request **out)
{
  const int tag = comm_take_tag(c);

  if (status == WEIR_OK) {
    status = comm_request_prepare(*r, tag);
  }
  status = weir_comm_agree(c, status);
  if (status != WEIR_OK) {
    weir_request_destroy(r);
    return status;
  }
  *out = *r;
  *r = NULL;
  return WEIR_OK;
}

static void unlink_active(weir_request *r)
{
  weir_request **at = &r->comm->engine->active;

  while (*at != NULL && *at != r) {
    at = &(*at)->next;
  }
  if (*at == r) {
    *at = r->next;
  }
  r->active = false;
}

void weir_request_destroy(weir_request **r)
{
  if (*r == NULL) {
    return;
  }
  weir_comm *const c = (*r)->comm;

  weir_comm_borrow(c);
  unlink_active(*r);
  if ((*r)->prepared != NULL) {
    c->kind->release(&(*r)->prepared, (*r)->messages, (*r)->n_messages);
  }
  weir_comm_return(c);
  weir_free(&(*r)->messages);
  weir_free(&(*r)->works);
  if (!(*r)->lent) {
    weir_free(&(*r)->scratch);
  }
  weir_free(r);
}

static void run_work(const comm_work *w)
{
  switch (w->task) {
  case COMM_PACK:
    comm_block_pack(&w->block, w->bytes);
    break;
  case COMM_UNPACK:
    comm_block_unpack(&w->block, w->bytes);
    break;
  case COMM_MERGE:
    w->reducer->merge(w->into, w->bytes, w->count);
    break;
  case COMM_COPY:
    memcpy(w->into, w->bytes, (size_t)w->count);
    break;
  }
}

/* Does the work of a round and starts its messages. */
static weir_status enter(weir_request *r)
{
  while (r->next_work < r->n_works && r->works[r->next_work].round <= r->round) {
    const comm_work *w = &r->works[r->next_work++];

    run_work(w);
    if (w->task == COMM_MERGE && r->comm->kind->reduced != NULL) {
      r->comm->kind->reduced(r->comm, w->count * (int64_t)w->reducer->size);
    }
  }
  r->first += r->count;
  r->count = 0;
  while (r->first + r->count < r->n_messages &&
         r->messages[r->first + r->count].round <= r->round) {
    r->count++;
  }
  if (r->count > 0) {
    WEIR_TRY(r->comm->kind->start(r->prepared, r->first, r->count));
  }
  return WEIR_OK;
}

static void count_round(const weir_request *r)
{
  weir_comm_count round = {.rounds = r->count > 0};

  for (int64_t i = r->first; i < r->first + r->count; i++) {
    const comm_message *m = &r->messages[i];
    const int64_t bytes = comm_message_bytes(m);

    *(m->receive ? &round.received : &round.sent) += bytes > 0;
    *(m->receive ? &round.received_bytes : &round.sent_bytes) += bytes;
    *(m->receive ? &round.received_index_bytes : &round.sent_index_bytes) +=
        m->varying != NULL ? m->varying->index_bytes : 0;
  }
  comm_count_add(r->comm, r->use, &round);
}

weir_status comm_request_advance(weir_request *r, bool *moved)
{
  while (r->active) {
    bool all = true;

    if (r->count > 0) {
      WEIR_TRY(r->comm->kind->finished(r->prepared, r->first, r->count, &all));
    }
    if (!all) {
      return WEIR_OK;
    }
    *moved = true;
    count_round(r);
    if (r->next_work == r->n_works && r->first + r->count == r->n_messages) {
      unlink_active(r);
      return WEIR_OK;
    }
    r->round++;
    WEIR_TRY(enter(r));
  }
  return WEIR_OK;
}

weir_status comm_request_start(weir_request *r)
{
  bool moved = false;

  WEIR_ASSERT(!r->active);
  r->round = 0;
  r->first = r->count = r->next_work = 0;
  r->active = true;
  r->next = r->comm->engine->active;
  r->comm->engine->active = r;
  WEIR_TRY(enter(r));
  WEIR_TRY(comm_request_advance(r, &moved)); /* without messages it is done */
  return WEIR_OK;
}

weir_status weir_request_start(weir_request *r)
{
  weir_comm_borrow(r->comm);
  const weir_status status = comm_request_start(r);

  weir_comm_return(r->comm);
  return status;
}

weir_status weir_requests_pause(weir_comm *c, double until)
{
  bool moved = false;

  weir_comm_borrow(c);
  const weir_status status = comm_progress(c, &moved);

  if (!moved && status == WEIR_OK && c->kind->clock(c) < until) {
    if (c->kind->pause_until != NULL) {
      c->kind->pause_until(c, until);
    } else {
      c->kind->pause(c, true);
    }
  }
  weir_comm_return(c);
  return status;
}

/* Progresses everything; *done: the request, if there is one, is complete. */
static weir_status look(weir_comm *c, const weir_request *r, bool *done)
{
  bool moved = false;

  weir_comm_borrow(c);
  const weir_status status = comm_progress(c, &moved);

  *done = r != NULL && !r->active;
  if (!moved &&
      (r != NULL || c->kind->await == NULL)) { /* work goes on: no time passes on a network */
    c->kind->pause(c, false);
  }
  weir_comm_return(c);
  return status;
}

weir_status weir_requests_progress(weir_comm *c)
{
  bool done = false;

  WEIR_TRY(look(c, NULL, &done));
  return WEIR_OK;
}

weir_status weir_request_test(weir_request *r, bool *done)
{
  WEIR_TRY(look(r->comm, r, done));
  return WEIR_OK;
}

bool weir_request_is_done(const weir_request *r)
{
  weir_comm_borrow(r->comm);
  const bool done = !r->active;

  weir_comm_return(r->comm);
  return done;
}

void comm_request_missing(const weir_request *r, char *text, size_t size)
{
  size_t at = 0;

  text[0] = 0;
  for (int64_t i = r->first; i < r->first + r->count && at + 1 < size; i++) {
    const comm_message *m = &r->messages[i];
    bool done = false;

    if (r->comm->kind->finished(r->prepared, i, 1, &done) == WEIR_OK && !done) {
      const int n = snprintf(text + at, size - at, "%srank %d (%lld bytes to %s)",
                             at > 0 ? ", " : "", comm_run_rank(r->comm, m->peer),
                             (long long)comm_message_bytes(m), m->receive ? "come" : "go");
      at += n > 0 ? (size_t)n : 0;
    }
  }
  if (at < size) {
    (void)snprintf(text + at, size - at, " in round %d", r->round);
  }
}

static bool is_complete(const void *request)
{
  return !((const weir_request *)request)->active;
}

static void describe(const void *request, char name[COMM_TEXT / 4], char missing[COMM_TEXT / 2])
{
  const weir_request *r = request;

  (void)snprintf(name, COMM_TEXT / 4, "'%s'", r->name);
  comm_request_missing(r, missing, COMM_TEXT / 2);
}

weir_status weir_request_wait(weir_request *r)
{
  WEIR_TRY(comm_wait(r->comm, &(comm_awaited){r, is_complete, describe, &r->waits, r->use}));
  return WEIR_OK;
}

weir_status weir_request_run(weir_request *r)
{
  WEIR_TRY(weir_request_start(r));
  WEIR_TRY(weir_request_wait(r));
  return WEIR_OK;
}

weir_status weir_request_run_once(weir_request **r)
{
  const weir_status status = weir_request_run(*r);

  weir_request_destroy(r);
  WEIR_TRY(status);
  return WEIR_OK;
}
