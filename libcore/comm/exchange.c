/* exchange.c - boxes between ranks: one message a peer and direction; and messages that both ends
 * know of. */
#include "base/weir_alloc.h"
#include "comm/comm_priv.h"

/* A request under construction. from, to: [ranks] bytes that come from each rank and go to it. */
typedef struct making {
  weir_comm *c;
  weir_request *r;
  const weir_transfer *list;
  int64_t n, *from, *to;
} making;

/* Adds up the bytes of every peer. */
static weir_status count(making *m)
{
  for (int64_t i = 0; i < m->n; i++) {
    const weir_transfer *t = &m->list[i];
    int64_t bytes = 0;

    if (t->peer < 0 || t->peer >= m->c->size) {
      return weir_fail(WEIR_ERR_SHAPE, "exchange '%s': rank %d is outside the %d ranks", m->r->name,
                       t->peer, m->c->size);
    }
    int64_t *const sum = t->receive ? &m->from[t->peer] : &m->to[t->peer];

    WEIR_TRY(comm_block_bytes(&t->block, &bytes));
    if (!weir_add_ok(*sum, bytes, sum)) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "exchange '%s': the number of bytes for rank %d exceeds 64 bits", m->r->name,
                       t->peer);
    }
  }
  return WEIR_OK;
}

/* The one box with elements that makes up what goes to the peer (comes from it), when its bytes lie
 * together: it needs no packing. NULL: there is none. */
static const weir_block *dense(const making *m, int peer, bool receive)
{
  const weir_block *found = NULL;

  for (int64_t i = 0; i < m->n; i++) {
    int64_t bytes = 0;

    if (m->list[i].peer != peer || m->list[i].receive != receive ||
        comm_block_bytes(&m->list[i].block, &bytes) != WEIR_OK || bytes == 0) {
      continue;
    }
    if (found != NULL || !comm_block_is_dense(&m->list[i].block)) {
      return NULL;
    }
    found = &m->list[i].block;
  }
  return found;
}

/* Packs or unpacks the boxes of a peer. */
static weir_status add_works(making *m, int peer, bool receive, char *bytes)
{
  for (int64_t i = 0; i < m->n; i++) {
    const weir_transfer *t = &m->list[i];
    comm_work w = {.task = receive ? COMM_UNPACK : COMM_PACK, .round = receive ? 1 : 0};
    int64_t size = 0;

    if (t->peer != peer || t->receive != receive) {
      continue;
    }
    w.block = t->block;
    w.bytes = bytes;
    WEIR_TRY(comm_block_bytes(&t->block, &size));
    if (size > 0) {
      WEIR_TRY(comm_request_work(m->r, &w));
      bytes += size;
    }
  }
  return WEIR_OK;
}

/* Bytes that have to be packed for all peers, or unpacked; of this rank for itself once. */
static weir_status alloc_buffers(making *m)
{
  int64_t sum = 0;
  bool fits = true;

  for (int peer = 0; peer < m->c->size && fits; peer++) {
    const bool own = peer == m->c->rank;

    if (own || dense(m, peer, false) == NULL) {
      fits = weir_add_ok(sum, m->to[peer], &sum);
    }
    if (!own && dense(m, peer, true) == NULL) {
      fits = fits && weir_add_ok(sum, m->from[peer], &sum);
    }
  }
  if (!fits) {
    return weir_fail(WEIR_ERR_MEMORY, "exchange '%s': the number of bytes exceeds 64 bits",
                     m->r->name);
  }
  WEIR_TRY(weir_alloc(sum, 1, (void **)&m->r->scratch));
  return WEIR_OK;
}

/* Messages of one direction, the next rank first so that not all begin with the same one, and their
 * packing. *at: free scratch. */
static weir_status add(making *m, bool receive, char **at)
{
  const int ranks = m->c->size, rank = m->c->rank;

  for (int k = 1; k < ranks; k++) {
    const int peer = (receive ? rank + ranks - k : rank + k) % ranks;
    const int64_t bytes = receive ? m->from[peer] : m->to[peer];
    const weir_block *whole = bytes > 0 ? dense(m, peer, receive) : NULL;
    const comm_message message = {
        .peer = peer, .receive = receive, .data = whole ? whole->data : *at, .bytes = bytes};

    if (whole == NULL && bytes > 0) {
      WEIR_TRY(add_works(m, peer, receive, *at));
      *at += bytes;
    }
    WEIR_TRY(comm_request_message(m->r, &message));
  }
  return WEIR_OK;
}

/* Works have to be added round by round: packing before unpacking; messages of one
 * round, those to receive first. */
static weir_status build(making *m)
{
  WEIR_TRY(alloc_buffers(m));
  char *const own = m->r->scratch, *at = own;

  if (own != NULL) {
    at += m->to[m->c->rank];
  }
  WEIR_TRY(add_works(m, m->c->rank, false, own));
  weir_request receives = {.comm = m->c};
  weir_request *const all = m->r;
  weir_status status = WEIR_OK;

  m->r = &receives;
  status = add(m, true, &at);
  m->r = all;
  for (int64_t i = 0; i < receives.n_messages && status == WEIR_OK; i++) {
    status = comm_request_message(all, &receives.messages[i]);
  }
  if (status == WEIR_OK) {
    status = add(m, false, &at);
  }
  for (int64_t i = 0; i < receives.n_works && status == WEIR_OK; i++) {
    status = comm_request_work(all, &receives.works[i]);
  }
  weir_free(&receives.messages);
  weir_free(&receives.works);
  WEIR_TRY(status);
  WEIR_TRY(add_works(m, m->c->rank, true, own));
  return WEIR_OK;
}

/* Messages with the bytes that go to each peer; announced: [ranks], received numbers. */
static weir_status announce(making *m, weir_request *r, int64_t *announced)
{
  for (int k = 0; k < 2 * m->c->size; k++) {
    const int peer = k % m->c->size;
    const bool receive = k < m->c->size;
    const comm_message one = {.peer = peer,
                              .receive = receive,
                              .data = receive ? &announced[peer] : &m->to[peer],
                              .bytes = sizeof announced[0]};

    if (peer != m->c->rank) {
      WEIR_TRY(comm_request_message(r, &one));
    }
  }
  announced[m->c->rank] = m->to[m->c->rank];
  return WEIR_OK;
}

/* Fails where a peer sends another number of bytes than this rank waits for. */
static weir_status compare(const making *m, const int64_t *announced)
{
  for (int peer = 0; peer < m->c->size; peer++) {
    if (announced[peer] != m->from[peer]) {
      return weir_fail(
          WEIR_ERR_SHAPE, "exchange '%s': rank %d sends %lld bytes to rank %d, which expects %lld",
          m->r->name, peer, (long long)announced[peer], m->c->rank, (long long)m->from[peer]);
    }
  }
  return WEIR_OK;
}

/* All ranks announce to their peers what they send, so that none waits indefinitely. announced:
 * [ranks], scratch. */
static weir_status check_peers(making *m, int64_t *announced)
{
  weir_request *made = NULL, *r = NULL;
  weir_status status = comm_request_new(m->c, m->r->name, WEIR_COMM_SETUP, &made);

  if (status == WEIR_OK) {
    status = announce(m, made, announced);
  }
  WEIR_TRY(comm_request_seal(m->c, status, &made, &r));
  status = weir_request_run_once(&r);
  return weir_comm_agree(m->c, status == WEIR_OK ? compare(m, announced) : status);
}

static weir_status measure(making *m, int64_t **bytes)
{
  WEIR_TRY(weir_alloc(3 * (int64_t)m->c->size, sizeof **bytes, (void **)bytes));
  m->from = *bytes;
  m->to = *bytes + m->c->size;
  WEIR_TRY(count(m));
  return WEIR_OK;
}

weir_status weir_exchange_create(weir_comm *c, const char *name, const weir_transfer *list,
                                 int64_t n, weir_request **out)
{
  int64_t *bytes = NULL;
  making m = {.c = c, .list = list, .n = n};
  weir_status status = comm_request_new(c, name, WEIR_COMM_EXCHANGE, &m.r);

  *out = NULL;
  if (status == WEIR_OK) {
    status = measure(&m, &bytes);
  }
  WEIR_TRY_GOTO(weir_comm_agree(c, status), done);
  WEIR_TRY_GOTO(check_peers(&m, bytes + 2 * c->size), done);
  WEIR_TRY_GOTO(comm_request_seal(c, build(&m), &m.r, out), done);
done:
  weir_free(&bytes);
  weir_request_destroy(&m.r);
  return status;
}

/* A request of one round whose messages both ends know: fixed ones, or varying ones. */
static weir_status create_known(weir_comm *c, const char *name, const weir_message *fixed,
                                const weir_varying_message *varying, int64_t n, weir_request **out)
{
  const int tag = comm_take_tag(c); /* on all ranks, also where one of them fails below */
  weir_status status = WEIR_OK;
  weir_request *r = NULL;

  *out = NULL;
  WEIR_TRY(comm_request_new(c, name, varying != NULL ? WEIR_COMM_VARYING : WEIR_COMM_EXCHANGE, &r));
  for (int64_t i = 0; i < n; i++) {
    comm_message m = {.varying = varying != NULL ? &varying[i] : NULL};

    if (varying != NULL) {
      m.peer = varying[i].peer;
      m.receive = varying[i].receive;
    } else {
      m.peer = fixed[i].peer;
      m.receive = fixed[i].receive;
      m.data = fixed[i].data;
      m.bytes = fixed[i].bytes;
    }
    WEIR_ASSERT(m.peer >= 0 && m.peer < c->size && m.peer != c->rank);
    WEIR_TRY_GOTO(comm_request_message(r, &m), done);
  }
  WEIR_TRY_GOTO(comm_request_prepare(r, tag), done);
  *out = r;
  r = NULL;
done:
  weir_request_destroy(&r);
  return status;
}

weir_status weir_messages_create(weir_comm *c, const char *name, const weir_message *list,
                                 int64_t n, weir_request **out)
{
  return create_known(c, name, list, NULL, n, out);
}

weir_status weir_varying_create(weir_comm *c, const char *name, const weir_varying_message *list,
                                int64_t n, weir_request **out)
{
  return create_known(c, name, NULL, list, n, out);
}
