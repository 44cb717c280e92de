/* remote.c - samples from the memory of other ranks: what a batch has from them is sent while the
 * batch before it is computed. Both ends work out the messages from the order and from who keeps
 * what, so that there are no questions and no guesses (SC'21, section 5.2, guesses). A message is
 * of a sample that its owner met in an earlier batch; it waits for no thread of another rank. */
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "load/load_priv.h"

/* All groups learn which copies there will be. */
static weir_status tell_copies(load_remote *r, int64_t groups)
{
  int64_t *counts = NULL;
  weir_request *request = NULL;
  weir_status status = weir_alloc(groups, sizeof *counts, (void **)&counts);

  for (int64_t g = 0; counts != NULL && g < groups; g++) {
    counts[g] = r->copies.bytes;
  }
  WEIR_TRY_GOTO(weir_comm_agree(r->peers.comm, status), done);
  WEIR_TRY_GOTO(weir_allgather_create(r->peers.comm, "cached samples of other ranks", 1,
                                      r->copies.wanted, counts, &request),
                done);
  WEIR_TRY_GOTO(weir_request_run_once(&request), done);
done:
  weir_free(&counts);
  return status;
}

weir_status load_remote_open(weir_load *l, int64_t batch, int64_t first)
{
  load_remote *const r = &l->remote;
  const weir_access_stream *const v = &l->visits;
  const weir_sampler *const o = &v->order;

  r->end = r->peers.epoch * load_batches(o) + r->peers.position / o->batch;
  r->next = batch;
  r->share = v->whole > v->tail ? v->whole : v->tail;
  const int64_t capacity = l->cfg.memory.bytes / l->bytes;

  WEIR_TRY(load_owners_make(o, v->of, batch, r->end, capacity, &r->owners));
  WEIR_TRY(load_copies_choose(v, first, &r->owners, l->end, capacity, &r->copies));
  WEIR_TRY(weir_alloc(r->copies.n, (size_t)l->bytes, (void **)&r->copies.data));
  WEIR_TRY(weir_alloc(o->batch, sizeof *r->sample, (void **)&r->sample));
  WEIR_TRY(weir_alloc(o->batch, sizeof *r->message, (void **)&r->message));
  WEIR_TRY(weir_alloc(2 * r->share, (size_t)l->bytes, (void **)&r->received));
  WEIR_TRY(weir_alloc(2 * r->share, sizeof *r->there, (void **)&r->there));
  return WEIR_OK;
}

void load_remote_close(weir_load *l)
{
  load_remote *const r = &l->remote;

  /* Every rank has begun its messages of this batch: they come to an end. */
  if (r->request != NULL && weir_request_wait(r->request) != WEIR_OK) {
    weir_debug("load", "%s", weir_last_message());
  }
  weir_request_destroy(&r->request);
  load_copies_fini(&r->copies);
  load_owners_fini(&r->owners);
  weir_free(&r->sample);
  weir_free(&r->message);
  weir_free(&r->received);
  weir_free(&r->there);
}

int64_t load_visit_batch(const weir_access_stream *v, int64_t visit, int64_t *i)
{
  const int64_t k = visit % v->each, in_batches = v->batches * v->whole;

  *i = k < in_batches ? k % v->whole : k - in_batches;
  return visit / v->each * load_batches(&v->order) + (k < in_batches ? k / v->whole : v->batches);
}

bool load_visit_comes(const weir_load *l, int64_t visit, int64_t sample)
{
  int64_t i;

  return l->remote.used && load_comes(&l->remote.owners, l->visits.at,
                                      load_visit_batch(&l->visits, visit, &i), sample);
}

const char *load_arrived(const weir_load *l, int64_t visit, int64_t sample, weir_load_tier *from)
{
  const load_remote *const r = &l->remote;
  int64_t i;
  const int64_t batch = load_visit_batch(&l->visits, visit, &i), at = batch % 2 * r->share + i;
  const int32_t index = r->copies.index[sample];

  if (batch != r->next - 1) {
    return NULL;
  }
  *from = r->there[at] ? WEIR_LOAD_REMOTE : WEIR_LOAD_MEMORY;
  return index >= 0 ? r->copies.data + index * l->bytes : r->received + at * l->bytes;
}

/* Messages of this rank for a batch, in the order of its positions; samples that it sends are read
 * first. *status: of that; the message is sent all the same. */
static int64_t list(weir_load *l, int64_t number, weir_status *status)
{
  load_remote *const r = &l->remote;
  const weir_access_stream *const v = &l->visits;
  const load_batch b = load_batch_of(&v->order, number);
  bool *const there = r->there + number % 2 * r->share;
  char *const received = r->received + number % 2 * r->share * l->bytes;
  int64_t n = 0, lo, hi;

  weir_sampler_take(&v->order, b.epoch, b.at, b.n, r->sample);
  for (int64_t g = 0; g < v->of; g++) {
    weir_sampler_share(b.n, g, v->of, &lo, &hi);
    for (int64_t i = lo; i < hi; i++) {
      const int64_t sample = r->sample[i];
      const int owner = r->owners.by[sample];
      const bool mine = g == v->at || owner == v->at;
      const bool comes = mine && load_comes(&r->owners, g, number, sample) &&
                         load_copies_send(&r->copies, g, sample);

      if (g == v->at) {
        there[i - lo] = comes;
      }
      if (comes && g == v->at) {
        const int32_t index = r->copies.index[sample];
        char *const to = index >= 0 ? r->copies.data : received;

        r->message[n++] =
            (weir_message){owner, true, to + (index >= 0 ? index : i - lo) * l->bytes, l->bytes};
      } else if (comes) {
        char *const data = l->memory + l->plan.slot[sample] * l->bytes;
        const weir_status read = load_hold(l, sample);

        *status = *status == WEIR_OK ? read : *status;
        r->message[n++] = (weir_message){(int)g, false, data, l->bytes};
      }
    }
  }
  return n;
}

static void count_sent(weir_load *l, int64_t n)
{
  int64_t sent = 0;

  for (int64_t i = 0; i < n; i++) {
    sent += !l->remote.message[i].receive;
  }
  weir_lock_take(&l->lock);
  l->all.sent += sent;
  l->epoch.sent += sent;
  weir_lock_give(&l->lock);
}

/* Messages for batch `next`. Where they cannot be made, others wait for them: the run ends. */
static weir_status send_next(weir_load *l)
{
  load_remote *const r = &l->remote;
  weir_status status = WEIR_OK;
  const int64_t n = list(l, r->next, &status);
  weir_status made =
      weir_messages_create(r->peers.comm, "samples of other ranks", r->message, n, &r->request);

  if (made == WEIR_OK) {
    made = weir_request_start(r->request);
  }
  if (made != WEIR_OK) {
    return weir_comm_abort(r->peers.comm, made);
  }
  count_sent(l, n);
  return status;
}

/* Receives the samples sent for batch `next`. */
static weir_status receive(weir_load *l)
{
  load_remote *const r = &l->remote;
  bool done = true;

  if (r->request == NULL) {
    return WEIR_OK;
  }
  const double begin = weir_clock();

  WEIR_TRY(weir_request_test(r->request, &done));
  WEIR_TRY(weir_request_wait(r->request));
  weir_request_destroy(&r->request);
  const double waited = done ? 0 : weir_clock() - begin;

  weir_lock_take(&l->lock);
  l->all.waited_s += waited;
  l->epoch.waited_s += waited;
  weir_lock_give(&l->lock);
  return WEIR_OK;
}

bool load_is_remote(const weir_load *l)
{
  return l->remote.used;
}

static weir_status begin(weir_load *l, int64_t batch, int64_t visit)
{
  if (!l->remote.used) {
    return load_begin(l, visit);
  }
  weir_status status = load_remote_open(l, batch, visit);

  if (status == WEIR_OK) {
    status = load_begin(l, visit);
  }
  WEIR_TRY(weir_comm_agree(l->remote.peers.comm, status));
  WEIR_TRY(tell_copies(&l->remote, l->visits.of));
  return WEIR_OK;
}

weir_status weir_load_batch(weir_load *l, int64_t epoch, int64_t position)
{
  load_remote *const r = &l->remote;
  const weir_sampler *const o = &l->visits.order;
  const int64_t batch = epoch * load_batches(o) + position / o->batch;

  if (!l->started) {
    WEIR_TRY(begin(l, batch, weir_access_stream_from(&l->visits, epoch, position)));
  }
  if (!r->used || batch < r->next) {
    return WEIR_OK;
  }
  if (batch > r->next || batch >= r->end) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "load: batch %lld requested, where %lld of %lld is expected: the training "
                     "uses another sample order",
                     (long long)batch, (long long)r->next, (long long)r->end);
  }
  const weir_status received = receive(l);

  if (received != WEIR_OK) { /* others have begun messages that would never be answered */
    return weir_comm_abort(r->peers.comm, received);
  }
  r->next++;
  return r->next < r->end ? send_next(l) : WEIR_OK;
}
