/* reports.c - see dedloc_priv.h. Reports are messages of a few bytes from each rank to each; where
 * the last one to a rank has not gone, the next ones are left out. (The published program keeps
 * them in a distributed hash table, for peers that do not know one another.) */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "optim/exchange/dedloc/dedloc_priv.h"

enum { SILENT_STEPS = 3 }; /* without a report a rank is not expected to have another gradient */

typedef struct report {
  int64_t version, contributions;
  int64_t asked; /* how often so far for the state of its receiver */
  int64_t valid; /* its state has all updates before `version` */
  double step_s; /* of a contribution */
} report;

typedef struct peer {
  weir_request *send, *receive, *send_state, *receive_state;
  report out, in, last;  /* last: that arrived */
  double heard_s;        /* time of `last` */
  int64_t asked, served; /* states: of that rank, by this one; of this one, to that rank */
} peer;

/* In front of the bytes of a state. */
typedef struct header {
  int64_t version, bytes;
} header;

struct dedloc_reports {
  weir_comm *comm;
  weir_exchange_part *state; /* [n] */
  int n, ranks, rank;
  peer *peer; /* [ranks] */
  int64_t bytes;
  char *out, *in, *newest; /* header and state, each */
  int asked;               /* rank whose state is to come, -1: none */
  int64_t *asks;           /* [ranks, ranks] states that a rank has asked another one for */
  int64_t bounds[3];       /* newest version; oldest one, negative; whether any is in doubt */
  weir_reducer newer;
  weir_request *gather, *compare, *copy;
};

void dedloc_reports_destroy(dedloc_reports **r)
{
  dedloc_reports *x = *r;

  for (int p = 0; x != NULL && x->peer != NULL && p < x->ranks; p++) {
    weir_request_destroy(&x->peer[p].send);
    weir_request_destroy(&x->peer[p].receive);
    weir_request_destroy(&x->peer[p].send_state);
    weir_request_destroy(&x->peer[p].receive_state);
  }
  if (x != NULL) {
    weir_request_destroy(&x->gather);
    weir_request_destroy(&x->compare);
    weir_request_destroy(&x->copy);
    weir_free(&x->state);
    weir_free(&x->peer);
    weir_free(&x->asks);
    weir_free(&x->out);
    weir_free(&x->in);
    weir_free(&x->newest);
  }
  weir_free(r);
}

static weir_status alloc_arrays(dedloc_reports *r, const weir_exchange_part *state, int n)
{
  WEIR_TRY(weir_alloc(r->ranks, sizeof *r->peer, (void **)&r->peer));
  WEIR_TRY(weir_alloc((int64_t)r->ranks * r->ranks, sizeof *r->asks, (void **)&r->asks));
  WEIR_TRY(weir_alloc(n, sizeof *r->state, (void **)&r->state));
  r->n = n;
  r->bytes = (int64_t)sizeof(header);
  for (int i = 0; i < n; i++) {
    r->state[i] = state[i];
    r->bytes += state[i].count * (int64_t)weir_dtype_size(state[i].dtype);
  }
  WEIR_TRY(weir_alloc(r->bytes, 1, (void **)&r->out));
  WEIR_TRY(weir_alloc(r->bytes, 1, (void **)&r->in));
  for (int p = 0; p < r->ranks; p++) {
    r->peer[p].last.version = -1;
  }
  return weir_alloc(r->bytes, 1, (void **)&r->newest);
}

/* A message from one rank to another, of which this one may be none. */
static weir_status create_request(dedloc_reports *r, const char *name, int from, int to, void *out,
                                  void *in, int64_t bytes, weir_request **send,
                                  weir_request **receive)
{
  const bool sends = from == r->rank, receives = to == r->rank;
  const weir_message m = {sends ? to : from, receives, receives ? in : out, bytes};
  weir_request *none = NULL;

  WEIR_TRY(weir_messages_create(r->comm, name, &m, sends || receives,
                                sends      ? send
                                : receives ? receive
                                           : &none));
  weir_request_destroy(&none);
  return WEIR_OK;
}

static weir_status create_requests(dedloc_reports *r)
{
  for (int from = 0; from < r->ranks; from++) {
    for (int to = 0; to < r->ranks; to++) {
      peer *const p = &r->peer[from == r->rank ? to : from];

      if (from != to) {
        WEIR_TRY(create_request(r, "report of progress", from, to, &p->out, &p->in, sizeof p->in,
                                &p->send, &p->receive));
        WEIR_TRY(create_request(r, "state of a rank", from, to, r->out, r->in, r->bytes,
                                &p->send_state, &p->receive_state));
      }
    }
  }
  for (int p = 0; p < r->ranks; p++) {
    WEIR_TRY(p != r->rank ? weir_request_start(r->peer[p].receive) : WEIR_OK);
  }
  return WEIR_OK;
}

/* Reducer of states: the one with the newer version. An element is one of them as a whole. */
static void take_newer(void *into, const void *from, int64_t count)
{
  const header *const a = into, *const b = from;

  if (count > 0 && b->version > a->version) {
    memcpy(into, from, (size_t)b->bytes);
  }
}

weir_status dedloc_reports_create(weir_comm *c, const weir_exchange_part *state, int n_state,
                                  dedloc_reports **out)
{
  dedloc_reports *r = NULL;
  weir_status status = weir_alloc(1, sizeof *r, (void **)&r);

  *out = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(c, status), failed);
  r->comm = c;
  r->ranks = weir_comm_size(c);
  r->rank = weir_comm_rank(c);
  r->asked = -1;
  WEIR_TRY_GOTO(weir_comm_agree(c, alloc_arrays(r, state, n_state)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(c, create_requests(r)), failed);
  WEIR_TRY_GOTO(weir_allreduce_create(c, "asked states", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64),
                                      r->asks, (int64_t)r->ranks * r->ranks, &r->gather),
                failed);
  WEIR_TRY_GOTO(weir_allreduce_create(c, "versions", weir_reducer_of(WEIR_REDUCE_MAX, WEIR_I64),
                                      r->bounds, 3, &r->compare),
                failed);
  r->newer = (weir_reducer){"newer state", (size_t)r->bytes, false, take_newer};
  WEIR_TRY_GOTO(weir_allreduce_create(c, "newest state", &r->newer, r->newest, 1, &r->copy),
                failed);
  *out = r;
  return WEIR_OK;
failed:
  dedloc_reports_destroy(&r);
  return status;
}

/* Sends a report unless the last one to that rank is under way. */
static weir_status send_one(dedloc_reports *r, int to, report what)
{
  peer *const p = &r->peer[to];

  if (!weir_request_is_done(p->send)) {
    return WEIR_OK;
  }
  p->out = what;
  return weir_request_start(p->send);
}

weir_status dedloc_reports_send(dedloc_reports *r, int64_t version, bool valid,
                                int64_t contributions, double step_s)
{
  for (int p = 0; p < r->ranks; p++) {
    if (p != r->rank) {
      WEIR_TRY(send_one(r, p, (report){version, contributions, r->peer[p].asked, valid, step_s}));
    }
  }
  return WEIR_OK;
}

weir_status dedloc_reports_look(dedloc_reports *r)
{
  WEIR_TRY(weir_requests_pause(r->comm, 0));
  for (int i = 0; i < r->ranks; i++) {
    peer *const p = &r->peer[i];

    while (i != r->rank && weir_request_is_done(p->receive)) {
      p->last = p->in;
      p->heard_s = weir_comm_clock(r->comm);
      WEIR_TRY(weir_request_start(p->receive));
    }
  }
  return WEIR_OK;
}

int64_t dedloc_reports_newest(const dedloc_reports *r)
{
  int64_t newest = -1;

  for (int p = 0; p < r->ranks; p++) {
    newest = r->peer[p].last.version > newest ? r->peer[p].last.version : newest;
  }
  return newest;
}

bool dedloc_reports_is_at(const dedloc_reports *r, int rank, int64_t version)
{
  return rank != r->rank && r->peer[rank].last.version == version;
}

int64_t dedloc_reports_of(const dedloc_reports *r, int rank, int64_t version)
{
  return dedloc_reports_is_at(r, rank, version) ? r->peer[rank].last.contributions : 0;
}

int64_t dedloc_reports_expected(const dedloc_reports *r, int rank, int64_t version, double since,
                                double at)
{
  const peer *const p = &r->peer[rank];

  if (rank == r->rank) {
    return 0;
  }
  if (p->last.version < 0) {
    return 1;
  }
  const double begun = p->heard_s > since ? p->heard_s : since,
               steps = (at - begun) / p->last.step_s;

  return dedloc_reports_of(r, rank, version) + (int64_t)fmax(0, floor(steps + 1e-9));
}

weir_status dedloc_reports_ask(dedloc_reports *r, int64_t version)
{
  for (int p = 0; p < r->ranks && r->asked < 0; p++) {
    if (dedloc_reports_is_at(r, p, version) && r->peer[p].last.valid) {
      r->asked = p;
      r->peer[p].asked++;
      WEIR_TRY(weir_request_start(r->peer[p].receive_state));
    }
  }
  return WEIR_OK;
}

static void pack(const dedloc_reports *r, int64_t version, char *to)
{
  const header h = {version, r->bytes};

  memcpy(to, &h, sizeof h);
  to += sizeof h;
  for (int i = 0; i < r->n; i++) {
    const size_t bytes = (size_t)r->state[i].count * weir_dtype_size(r->state[i].dtype);

    if (bytes > 0) {
      memcpy(to, r->state[i].data, bytes);
    }
    to += bytes;
  }
}

static void unpack(const dedloc_reports *r, const char *from)
{
  from += sizeof(header);
  for (int i = 0; i < r->n; i++) {
    const size_t bytes = (size_t)r->state[i].count * weir_dtype_size(r->state[i].dtype);

    if (bytes > 0) {
      memcpy(r->state[i].data, from, bytes);
    }
    from += bytes;
  }
}

weir_status dedloc_reports_serve(dedloc_reports *r, int64_t version)
{
  int to = -1;

  for (int p = 0; p < r->ranks; p++) {
    if (p != r->rank && !weir_request_is_done(r->peer[p].send_state)) {
      return WEIR_OK; /* the copy is in use */
    }
    to = r->peer[p].last.asked > r->peer[p].served ? p : to;
  }
  if (to < 0) {
    return WEIR_OK;
  }
  r->peer[to].served++;
  pack(r, version, r->out);
  return weir_request_start(r->peer[to].send_state);
}

weir_status dedloc_reports_adopt(dedloc_reports *r, int64_t version, bool *adopted)
{
  header h;

  *adopted = false;
  if (r->asked < 0 || !weir_request_is_done(r->peer[r->asked].receive_state)) {
    return WEIR_OK;
  }
  memcpy(&h, r->in, sizeof h);
  r->asked = -1;
  *adopted = h.version == version;
  if (*adopted) {
    unpack(r, r->in);
  }
  return WEIR_OK;
}

/* Every state that was asked for is sent and received: nobody needs it now, but its memory must not
 * go while it is under way. */
static weir_status complete_states(dedloc_reports *r)
{
  memset(r->asks, 0, (size_t)r->ranks * (size_t)r->ranks * sizeof *r->asks);
  for (int p = 0; p < r->ranks; p++) {
    r->asks[r->rank * r->ranks + p] = r->peer[p].asked;
  }
  WEIR_TRY(weir_request_run(r->gather));
  for (int p = 0; p < r->ranks; p++) { /* one buffer serves all */
    WEIR_TRY(p != r->rank ? weir_request_wait(r->peer[p].send_state) : WEIR_OK);
  }
  for (int p = 0; p < r->ranks; p++) {
    peer *const one = &r->peer[p];

    if (p != r->rank && r->asks[p * r->ranks + r->rank] > one->served) {
      one->served++;
      pack(r, -1, r->out);
      WEIR_TRY(weir_request_start(one->send_state));
      WEIR_TRY(weir_request_wait(one->send_state));
    }
  }
  if (r->asked >= 0) {
    WEIR_TRY(weir_request_wait(r->peer[r->asked].receive_state));
    r->asked = -1;
  }
  return WEIR_OK;
}

weir_status dedloc_reports_settle(dedloc_reports *r, bool doubt, int64_t *version)
{
  WEIR_TRY(complete_states(r));
  r->bounds[0] = *version;
  r->bounds[1] = -*version;
  r->bounds[2] = doubt;
  WEIR_TRY(weir_request_run(r->compare));
  if (r->bounds[0] == -r->bounds[1] && r->bounds[2] == 0) {
    return WEIR_OK;
  }
  pack(r, *version, r->newest);
  WEIR_TRY(weir_request_run(r->copy));
  unpack(r, r->newest);
  *version = r->bounds[0];
  return WEIR_OK;
}
