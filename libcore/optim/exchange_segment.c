/* exchange_segment.c - see exchange_segment.h. */
#include "optim/exchange_segment.h"

#include <string.h>

#include "base/weir_alloc.h"
#include "optim/exchange_buffer.h"

/* In front of the elements of a message. */
typedef struct header {
  int64_t version;
  double weight;    /* of the contribution, or of the mean: 0 where it has none */
  int64_t included; /* mean: the contribution of its receiver is in it */
} header;

/* Messages of one kind between this rank and another. Each direction has one at a time. */
typedef struct channel {
  weir_request *send, *receive;
  char *out, *in;
  int64_t sent, received;
  bool held; /* `in` has a message that was not discarded */
} channel;

enum { CONTRIBUTION, MEAN, KINDS };

typedef struct peer {
  channel of[KINDS];
  bool absent; /* silent since this rank waited for it in vain */
  /* In the version that runs: it is waited for; what was sent to it; its contribution is in. */
  bool expected, sent[KINDS], arrived;
  bool included; /* in the mean: what arrives later is not, though the mean leaves after it */
  bool resolved; /* its mean came, or will not */
} peer;

struct exchange_segment {
  exchange_segment_spec spec;
  const weir_reducer *sum;
  int ranks, rank;
  peer *peer;            /* [ranks], that of this rank unused */
  exchange_share *share; /* [ranks], the caller's */
  int64_t *offset;       /* [ranks + 1] of the shares, before they move on */
  void *own, *reduced;   /* [share of this rank] its contribution; the mean */
  double weight;
  bool is_reduced;
  double start;
  int64_t newest, last; /* versions: of any message, of this rank */
  int64_t *rows;        /* [ranks, row_of()] sent messages and last version of each rank */
  weir_request *gather;
};

static int64_t row_of(const exchange_segment *b)
{
  return (int64_t)KINDS * b->ranks + 1;
}

void exchange_segment_destroy(exchange_segment **b)
{
  exchange_segment *x = *b;

  for (int p = 0; x != NULL && x->peer != NULL && p < x->ranks; p++) {
    for (int k = 0; k < KINDS; k++) {
      weir_request_destroy(&x->peer[p].of[k].send);
      weir_request_destroy(&x->peer[p].of[k].receive);
      weir_free(&x->peer[p].of[k].out);
      weir_free(&x->peer[p].of[k].in);
    }
  }
  if (x != NULL) {
    weir_request_destroy(&x->gather);
    weir_free(&x->peer);
    weir_free(&x->offset);
    weir_free(&x->own);
    weir_free(&x->reduced);
    weir_free(&x->rows);
  }
  weir_free(b);
}

static int64_t elements_of(const exchange_segment *b, int rank)
{
  return b->offset[rank + 1] - b->offset[rank];
}

/* Bytes of a message that has the share of that rank. */
static int64_t bytes_of(const exchange_segment *b, int rank)
{
  return (int64_t)sizeof(header) + elements_of(b, rank) * (int64_t)b->sum->size;
}

static weir_status alloc_arrays(exchange_segment *b, const int64_t *shares)
{
  WEIR_TRY(weir_alloc(b->ranks, sizeof *b->peer, (void **)&b->peer));
  WEIR_TRY(weir_alloc(b->ranks + 1, sizeof *b->offset, (void **)&b->offset));
  WEIR_TRY(weir_alloc(b->ranks * row_of(b), sizeof *b->rows, (void **)&b->rows));
  for (int r = 0; r < b->ranks; r++) {
    b->offset[r + 1] = b->offset[r] + shares[r];
  }
  WEIR_TRY(weir_alloc(elements_of(b, b->rank), b->sum->size, &b->own));
  return weir_alloc(elements_of(b, b->rank), b->sum->size, &b->reduced);
}

/* Contributions have the share of their receiver, means that of their sender. */
static weir_status alloc_channels(exchange_segment *b, int with)
{
  for (int k = 0; k < KINDS; k++) {
    const int64_t of_peer = bytes_of(b, with), own = bytes_of(b, b->rank);
    WEIR_TRY(weir_alloc(k == CONTRIBUTION ? of_peer : own, 1, (void **)&b->peer[with].of[k].out));
    WEIR_TRY(weir_alloc(k == CONTRIBUTION ? own : of_peer, 1, (void **)&b->peer[with].of[k].in));
  }
  return WEIR_OK;
}

/* The messages of a kind from one rank to another; of other ranks nothing but the number. */
static weir_status create_request(exchange_segment *b, int kind, int from, int to)
{
  static const char *const name[KINDS] = {"contribution to a mean", "mean of a share"};
  const int64_t bytes = bytes_of(b, kind == CONTRIBUTION ? to : from);
  const bool sends = from == b->rank, receives = to == b->rank;
  weir_request *none = NULL;
  weir_message m = {.bytes = bytes};
  weir_request **out = &none;

  if (sends || receives) {
    channel *const c = &b->peer[sends ? to : from].of[kind];

    m.peer = sends ? to : from;
    m.receive = receives;
    m.data = receives ? c->in : c->out;
    out = receives ? &c->receive : &c->send;
  }
  WEIR_TRY(weir_messages_create(b->spec.comm, name[kind], &m, sends || receives, out));
  weir_request_destroy(&none);
  return WEIR_OK;
}

static weir_status create_requests(exchange_segment *b)
{
  for (int from = 0; from < b->ranks; from++) {
    for (int to = 0; to < b->ranks; to++) {
      for (int k = 0; k < KINDS && from != to; k++) {
        WEIR_TRY(create_request(b, k, from, to));
      }
    }
  }
  for (int p = 0; p < b->ranks; p++) {
    for (int k = 0; k < KINDS && p != b->rank; k++) {
      WEIR_TRY(weir_request_start(b->peer[p].of[k].receive));
    }
  }
  return WEIR_OK;
}

static weir_status create_gather(exchange_segment *b)
{
  int64_t *counts = NULL;
  weir_status status = weir_alloc(b->ranks, sizeof *counts, (void **)&counts);

  WEIR_TRY_GOTO(weir_comm_agree(b->spec.comm, status), done);
  for (int r = 0; r < b->ranks; r++) {
    counts[r] = row_of(b);
  }
  WEIR_TRY_GOTO(weir_allgather_create(b->spec.comm, "messages sent", sizeof *b->rows, b->rows,
                                      counts, &b->gather),
                done);
done:
  weir_free(&counts);
  return status;
}

weir_status exchange_segment_create(const exchange_segment_spec *spec, exchange_share *share,
                                    exchange_segment **out)
{
  exchange_segment *b = NULL;
  weir_status status = weir_alloc(1, sizeof *b, (void **)&b);

  *out = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(spec->comm, status), failed);
  b->spec = *spec;
  b->spec.shares = NULL;
  b->share = share;
  b->sum = weir_reducer_of(WEIR_REDUCE_SUM, spec->dtype);
  b->ranks = weir_comm_size(spec->comm);
  b->rank = weir_comm_rank(spec->comm);
  b->newest = b->last = -1;
  status = alloc_arrays(b, spec->shares);
  for (int p = 0; p < b->ranks && status == WEIR_OK; p++) {
    status = p == b->rank ? WEIR_OK : alloc_channels(b, p);
  }
  WEIR_TRY_GOTO(weir_comm_agree(spec->comm, status), failed);
  WEIR_TRY_GOTO(create_gather(b), failed);
  WEIR_TRY_GOTO(weir_comm_agree(spec->comm, create_requests(b)), failed);
  *out = b;
  return WEIR_OK;
failed:
  exchange_segment_destroy(&b);
  return status;
}

void exchange_segment_expect(exchange_segment *b, int rank)
{
  b->peer[rank].absent = false;
}

/* The message that a channel has of that version or a later one, or NULL. Earlier ones are
 * discarded. */
static weir_status poll(exchange_segment *b, int from, int kind, int64_t version, header **out)
{
  channel *const c = &b->peer[from].of[kind];
  header *const h = (header *)(void *)c->in;

  *out = NULL;
  while (weir_request_is_done(c->receive)) {
    if (!c->held) {
      c->held = true;
      c->received++;
      b->newest = h->version > b->newest ? h->version : b->newest;
      b->peer[from].absent = false;
    }
    if (h->version >= version) {
      *out = h;
      return WEIR_OK;
    }
    c->held = false;
    WEIR_TRY(weir_request_start(c->receive));
  }
  return WEIR_OK;
}

/* Discards all messages up to that version. */
static weir_status discard(exchange_segment *b, int64_t version)
{
  header *ignored = NULL;

  for (int p = 0; p < b->ranks; p++) {
    for (int k = 0; k < KINDS && p != b->rank; k++) {
      WEIR_TRY(poll(b, p, k, version + 1, &ignored));
    }
  }
  return WEIR_OK;
}

weir_status exchange_segment_look(exchange_segment *b, int64_t *newest)
{
  WEIR_TRY(discard(b, b->last));
  *newest = b->newest;
  return WEIR_OK;
}

void exchange_segment_begin(exchange_segment *b, int64_t version)
{
  const int64_t n = b->spec.count, step = (n + b->ranks - 1) / b->ranks;
  const int64_t shift = n > 0 ? version % b->ranks * step % n : 0;

  b->last = version;
  b->is_reduced = false;
  b->start = weir_comm_clock(b->spec.comm);
  for (int p = 0; p < b->ranks; p++) {
    peer *const one = &b->peer[p];

    b->share[p] = (exchange_share){.begin = b->spec.begin,
                                   .total = n,
                                   .first = n > 0 ? (b->offset[p] + shift) % n : 0,
                                   .count = elements_of(b, p)};
    one->expected = p != b->rank && !one->absent;
    one->included = false;
    one->sent[CONTRIBUTION] = one->sent[MEAN] = one->arrived = one->resolved = p == b->rank;
  }
}

/* Starts a message once the last one of its kind to that rank has gone. */
static weir_status send_one(exchange_segment *b, int to, int kind, header h, const void *elements)
{
  channel *const c = &b->peer[to].of[kind];
  const int64_t bytes = bytes_of(b, kind == CONTRIBUTION ? to : b->rank);

  if (b->peer[to].sent[kind] || !weir_request_is_done(c->send)) {
    return WEIR_OK;
  }
  *(header *)(void *)c->out = h;
  if (kind == CONTRIBUTION) {
    exchange_share_get(&b->share[to], b->sum->size, elements, c->out + sizeof h);
  } else if (bytes > (int64_t)sizeof h) {
    memcpy(c->out + sizeof h, elements, (size_t)bytes - sizeof h);
  }
  b->peer[to].sent[kind] = true;
  c->sent++;
  return weir_request_start(c->send);
}

/* The contribution of this version to that rank is gone. */
static bool has_contributed(const exchange_segment *b, int to)
{
  return b->peer[to].sent[CONTRIBUTION] && weir_request_is_done(b->peer[to].of[CONTRIBUTION].send);
}

/* Sends what can be sent, to the next rank first, so that not all send to the same one. */
static weir_status send_all(exchange_segment *b, const exchange_segment *before, const void *given,
                            double weight)
{
  for (int k = 1; k < b->ranks; k++) {
    const int p = (b->rank + k) % b->ranks;
    const header own = {b->last, weight, 0}, mean = {b->last, b->weight, b->peer[p].included};

    if (before == NULL || has_contributed(before, p)) {
      WEIR_TRY(send_one(b, p, CONTRIBUTION, own, given));
    }
    WEIR_TRY(b->is_reduced ? send_one(b, p, MEAN, mean, b->reduced) : WEIR_OK);
  }
  return WEIR_OK;
}

/* Notes the contributions that are there; *missing: some are waited for. */
static weir_status take_contributions(exchange_segment *b, bool *missing)
{
  *missing = false;
  for (int p = 0; p < b->ranks; p++) {
    header *h = NULL;

    if (p == b->rank || b->peer[p].arrived) {
      continue;
    }
    WEIR_TRY(poll(b, p, CONTRIBUTION, b->last, &h));
    b->peer[p].arrived = h != NULL && h->version == b->last;
    b->peer[p].expected = b->peer[p].expected || (b->peer[p].arrived && !b->is_reduced);
    *missing = *missing || (h == NULL && b->peer[p].expected);
  }
  return WEIR_OK;
}

/* The mean of the contributions that are there, in the order of the ranks. */
static void reduce(exchange_segment *b, const void *given, double weight)
{
  const exchange_share *const share = &b->share[b->rank];
  bool first = true;

  exchange_share_get(share, b->sum->size, given, b->own);
  b->weight = 0;
  for (int p = 0; p < b->ranks; p++) {
    const header *const h = (const header *)(const void *)b->peer[p].of[CONTRIBUTION].in;
    const void *const elements = p == b->rank ? b->own : (const void *)(h + 1);

    b->peer[p].included = b->peer[p].arrived;
    if (!b->peer[p].included) {
      continue;
    }
    b->weight += p == b->rank ? weight : h->weight;
    if (first && share->count > 0) {
      memcpy(b->reduced, elements, (size_t)share->count * b->sum->size);
    } else if (!first) {
      b->sum->merge(b->reduced, elements, share->count);
    }
    first = false;
  }
  if (b->weight > 0) {
    exchange_divide(b->spec.dtype, b->reduced, share->count, b->weight);
  }
  b->is_reduced = true;
}

/* Puts the mean of the share of a rank in its place. */
static void accept(exchange_segment *b, int of, const header *h, const void *elements, void *mean)
{
  exchange_share *const s = &b->share[of];

  b->peer[of].resolved = true;
  if (h->weight > 0) {
    s->outcome = h->included ? EXCHANGE_TAKEN : EXCHANGE_LEFT_OUT;
    s->weight = h->weight;
    exchange_share_put(s, b->sum->size, elements, mean);
  }
}

/* Takes the means that are there; *missing: some are waited for. */
static weir_status take_means(exchange_segment *b, void *mean, bool *missing)
{
  *missing = false;
  for (int p = 0; p < b->ranks; p++) {
    peer *const one = &b->peer[p];
    header *h = NULL, *later = NULL;

    if (one->resolved) {
      continue;
    }
    WEIR_TRY(poll(b, p, MEAN, b->last, &h));
    WEIR_TRY(poll(b, p, CONTRIBUTION, b->last, &later));
    if (h != NULL && h->version == b->last) {
      accept(b, p, h, h + 1, mean);
    } else if (h != NULL || (later != NULL && later->version > b->last)) {
      one->resolved = true; /* it is ahead, and has left this rank out */
    }
    *missing = *missing || (!one->resolved && one->expected);
  }
  return WEIR_OK;
}

/* Whether a rank that is waited for has not taken an earlier message. */
static bool is_sending(const exchange_segment *b)
{
  for (int p = 0; p < b->ranks; p++) {
    const peer *const one = &b->peer[p];

    if (one->expected && !one->resolved && !(one->sent[CONTRIBUTION] && one->sent[MEAN])) {
      return true;
    }
  }
  return false;
}

/* Who has sent no mean in time is not waited for again, until something of it arrives. */
static void note_absent(exchange_segment *b)
{
  for (int p = 0; p < b->ranks; p++) {
    b->peer[p].absent = b->peer[p].absent || (b->peer[p].expected && !b->peer[p].resolved);
  }
}

weir_status exchange_segment_step(exchange_segment *b, const exchange_segment *before,
                                  const void *given, double weight, void *mean, bool *ended,
                                  double *until)
{
  const double timeout = b->spec.timeout_s, contributed = (1 + b->spec.late) * timeout;
  bool contributions = false, means = false;

  WEIR_TRY(send_all(b, before, given, weight));
  WEIR_TRY(take_contributions(b, &contributions));
  const double now = weir_comm_clock(b->spec.comm); /* a sum as in the pause: it may end there */

  if (!b->is_reduced && (!contributions || now >= b->start + contributed)) {
    reduce(b, given, weight);
    accept(b, b->rank, &(header){b->last, b->weight, 1}, b->reduced, mean);
    WEIR_TRY(send_all(b, before, given, weight));
  }
  WEIR_TRY(take_means(b, mean, &means));
  *ended = b->is_reduced && ((!means && !is_sending(b)) || now >= b->start + 2 * timeout);
  *until = b->start + (b->is_reduced ? 2 * timeout : contributed);
  return WEIR_OK;
}

weir_status exchange_segment_end(exchange_segment *b)
{
  note_absent(b);
  return discard(b, b->last);
}

/* Receives what that rank has sent until the drain. All ranks have come to it, and none is silent:
 * messages may take as long as any. */
static weir_status receive_rest(exchange_segment *b, int from)
{
  const int64_t *const sent = b->rows + from * row_of(b) + (int64_t)KINDS * b->rank;

  for (int k = 0; k < KINDS; k++) {
    channel *const c = &b->peer[from].of[k];

    while (c->received < sent[k]) {
      WEIR_TRY(weir_request_wait(c->receive));
      WEIR_TRY(discard(b, INT64_MAX - 1));
    }
  }
  return WEIR_OK;
}

/* What this rank has sent is gone. */
static weir_status send_rest(exchange_segment *b, int to)
{
  for (int k = 0; k < KINDS; k++) {
    WEIR_TRY(weir_request_wait(b->peer[to].of[k].send));
  }
  return WEIR_OK;
}

weir_status exchange_segment_drain(exchange_segment *b, int64_t *newest)
{
  int64_t *const own = b->rows + b->rank * row_of(b);

  for (int p = 0; p < b->ranks; p++) {
    for (int k = 0; k < KINDS; k++) {
      own[KINDS * p + k] = b->peer[p].of[k].sent;
    }
  }
  own[KINDS * b->ranks] = b->last;
  WEIR_TRY(weir_request_run(b->gather));
  *newest = -1;
  for (int p = 0; p < b->ranks; p++) {
    const int64_t last = b->rows[p * row_of(b) + KINDS * b->ranks];

    *newest = last > *newest ? last : *newest;
  }
  WEIR_TRY(discard(b, INT64_MAX - 1));
  for (int p = 0; p < b->ranks; p++) {
    WEIR_TRY(p == b->rank ? WEIR_OK : receive_rest(b, p));
  }
  for (int p = 0; p < b->ranks; p++) {
    WEIR_TRY(p == b->rank ? WEIR_OK : send_rest(b, p));
  }
  b->newest = b->last = -1; /* the caller may begin its versions anew */
  return WEIR_OK;
}
