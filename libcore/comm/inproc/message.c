/* message.c - messages between threads: copied at their start, taken at their receipt, with the
 * faults of the script. A prepared message keeps one copy: started again before the last one was
 * received, it waits for that. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "comm/inproc/inproc_priv.h"

/* A prepared message at one of its ends. */
typedef struct end {
  const comm_message *message;
  inproc_channel *channel;
  inproc_packet *packet; /* of a send */
  void *data;
  int64_t bytes, number; /* on its channel, since its last start */
  double delay;
  bool receive, active, launched;
} end;

typedef struct prepared {
  inproc_rank *self;
  const int *member; /* ranks of the run in the group */
  end *ends;
} prepared;

/* Finds or creates a channel of the group of c. */
static weir_status find_channel(weir_comm *c, const comm_message *m, int tag, inproc_channel **out)
{
  const inproc_group *g = c->state;
  const int from = m->receive ? m->peer : c->rank, to = m->receive ? c->rank : m->peer;
  const uint64_t bits = weir_random_bits((uint64_t)g->id, (uint32_t)tag, 0, (uint64_t)to);
  inproc_mailbox *const box = &g->world->mailboxes[bits & (uint64_t)(g->world->n_mailboxes - 1)];
  inproc_channel *one = box->channels;

  while (one != NULL &&
         (one->group != g->id || one->tag != tag || one->from != from || one->to != to)) {
    one = one->next;
  }
  if (one == NULL) {
    WEIR_TRY(weir_alloc(1, sizeof *one, (void **)&one));
    one->group = g->id;
    one->from = from;
    one->to = to;
    one->tag = tag;
    one->mailbox = box;
    one->next = box->channels;
    box->channels = one;
  }
  one->ends++;
  *out = one;
  return WEIR_OK;
}

static void free_packet(inproc_packet **p)
{
  if (*p != NULL) {
    weir_free(&(*p)->bytes);
    weir_free(p);
  }
}

static weir_status make(weir_comm *c, const comm_message *m, int tag, end *out)
{
  WEIR_TRY(find_channel(c, m, tag, &out->channel));
  out->message = m;
  out->receive = m->receive;
  if (!m->receive) {
    const inproc_group *g = c->state;

    WEIR_TRY(weir_alloc(1, sizeof *out->packet, (void **)&out->packet));
    WEIR_TRY(weir_alloc(m->bytes, 1, (void **)&out->packet->bytes));
    out->packet->from = g->member[c->rank];
    out->packet->to = g->member[m->peer];
    out->packet->capacity = m->bytes;
  }
  return WEIR_OK;
}

weir_status inproc_prepare(weir_comm *c, const comm_message *list, int64_t n, int tag,
                           void **messages)
{
  const inproc_group *g = c->state;
  prepared *p = NULL;
  weir_status status = WEIR_OK;

  *messages = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *p, (void **)&p));
  p->self = inproc_self(c);
  p->member = g->member;
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *p->ends, (void **)&p->ends), fail);
  weir_lock_take(&g->world->lock);
  for (int64_t i = 0; i < n && status == WEIR_OK; i++) {
    status = make(c, &list[i], tag, &p->ends[i]);
  }
  weir_lock_give(&g->world->lock);
  WEIR_TRY_GOTO(status, fail);
  *messages = p;
  return WEIR_OK;
fail:
  *messages = p;
  inproc_release(messages, list, p->ends == NULL ? 0 : n);
  return status;
}

/* One end or packet less uses the channel. */
static void leave_channel(inproc_channel *c)
{
  inproc_channel **at = &c->mailbox->channels;

  c->ends--;
  if (c->ends > 0) {
    return;
  }
  while (*at != c) {
    at = &(*at)->next;
  }
  *at = c->next;
  weir_free(&c);
}

void inproc_release(void **messages, const comm_message *list, int64_t n)
{
  prepared *p = *messages;
  inproc_world *const w = p->self->world;

  (void)list;
  weir_lock_take(&w->lock);
  for (int64_t i = 0; i < n; i++) {
    end *const e = &p->ends[i];

    if (e->packet != NULL && e->packet->under_way) {
      e->packet->orphan = true;
    } else {
      free_packet(&e->packet);
    }
    if (e->channel != NULL) {
      leave_channel(e->channel);
    }
  }
  weir_lock_give(&w->lock);
  weir_free(&p->ends);
  weir_free(messages);
}

void inproc_mailboxes_destroy(inproc_world *w)
{
  for (int64_t i = 0; i < w->n_mailboxes && w->mailboxes != NULL; i++) {
    for (inproc_packet *p = w->mailboxes[i].packets, *next; p != NULL; p = next) {
      next = p->next;
      free_packet(&p);
    }
    for (inproc_channel *c = w->mailboxes[i].channels, *next; c != NULL; c = next) {
      next = c->next;
      weir_free(&c);
    }
  }
  weir_free(&w->mailboxes);
}

/* Message `number` from one rank of the run to another is one of fault f's. */
static bool strikes(const inproc_world *w, int f, int from, int to, int64_t number)
{
  const weir_inproc_fault *one = &w->run->faults[f];
  const uint32_t pair = (uint32_t)(from * w->run->ranks + to);

  if ((one->from >= 0 && one->from != from) || (one->to >= 0 && one->to != to) ||
      number < one->first || (one->count > 0 && number - one->first >= one->count)) {
    return false;
  }
  return one->share <= 0 || weir_random_uniform(w->run->seed, 1 + 2 * (uint32_t)f, pair,
                                                (uint64_t)number) < one->share;
}

/* What the script does to the next message. Fails where the sender dies. */
static weir_status inject_faults(inproc_rank *self, int to, double *delay, bool *lost)
{
  inproc_world *const w = self->world;
  const int from = self->number;

  *delay = 0;
  *lost = false;
  if (w->started == NULL) {
    return WEIR_OK;
  }
  const int64_t number = w->started[from * w->run->ranks + to]++;

  for (int f = 0; f < w->run->n_faults; f++) {
    const weir_inproc_fault *one = &w->run->faults[f];

    if (!strikes(w, f, from, to, number)) {
      continue;
    }
    if (one->event == WEIR_INPROC_DEATH) {
      WEIR_TRY(inproc_die(self));
    }
    *lost = *lost || one->event == WEIR_INPROC_LOSS;
    if (one->event == WEIR_INPROC_DELAY) {
      const uint32_t pair = (uint32_t)(from * w->run->ranks + to);
      const double range = one->max_s > one->min_s ? one->max_s - one->min_s : 0;

      *delay += one->min_s + range * weir_random_uniform(w->run->seed, 2 + 2 * (uint32_t)f, pair,
                                                         (uint64_t)number);
    }
  }
  return WEIR_OK;
}

/* When the last byte of a packet has left its sender, which sends one after the other. */
static double sent(const inproc_world *w, const inproc_packet *p)
{
  inproc_rank *const from = &w->rank[p->from];
  const double now = inproc_now(w);

  if (w->run->link_bw <= 0) {
    return now;
  }
  from->send_free =
      (from->send_free > now ? from->send_free : now) + (double)p->size / w->run->link_bw;
  return from->send_free;
}

/* Copies without the lock, so that concurrent ranks copy at once. The caller sees to it that no
 * other rank has the packet. */
static void copy(inproc_world *w, void *to, const void *from, size_t bytes)
{
  if (w->run->concurrent) {
    weir_lock_give(&w->lock);
  }
  memcpy(to, from, bytes);
  if (w->run->concurrent) {
    weir_lock_take(&w->lock);
  }
}

/* Copies the message, once the copy of its last start was received. */
static weir_status launch(inproc_world *w, end *e)
{
  inproc_packet *const p = e->packet;
  const double scale = w->run->scale;

  if (p->under_way) {
    p->wanted = true;
    return WEIR_OK;
  }
  WEIR_TRY(weir_reserve(&p->bytes, &p->capacity, e->bytes, 1)); /* messages of varying size */
  copy(w, p->bytes, e->data, (size_t)e->bytes);
  p->size = e->bytes;
  p->stands_for = (double)e->bytes * (scale > 0 && !e->message->control ? scale : 1);
  p->number = e->number;
  p->delay = e->delay;
  p->under_way = true;
  p->channel = e->channel;
  p->channel->ends++;
  p->next = p->channel->mailbox->packets;
  p->channel->mailbox->packets = p;
  e->launched = true;
  if (w->run->network != NULL) {
    inproc_network_send(w, p);
  } else {
    p->arrival = sent(w, p) + p->delay;
    inproc_notify(w);
  }
  return WEIR_OK;
}

/* Gets on with a send. */
static weir_status send(inproc_world *w, end *e)
{
  if (!e->launched) {
    WEIR_TRY(launch(w, e));
  }
  e->active = !e->launched || e->packet->left > inproc_now(w);
  return WEIR_OK;
}

/* The message on the channel of that number; NULL where it has not arrived. */
static inproc_packet **arrived(const inproc_world *w, const inproc_channel *c, int64_t number)
{
  inproc_packet **at = &c->mailbox->packets;

  while (*at != NULL && ((*at)->channel != c || (*at)->number != number)) {
    at = &(*at)->next;
  }
  return *at != NULL && (*at)->arrival <= inproc_now(w) ? at : NULL;
}

/* No earlier message of its channel is under way. */
static bool is_first(const inproc_packet *p)
{
  for (const inproc_packet *q = p->channel->mailbox->packets; q != NULL; q = q->next) {
    if (q->channel == p->channel && q->number < p->number) {
      return false;
    }
  }
  return true;
}

/* Likewise of all ranks that send to this one under its tag: the first that arrived. */
static inproc_packet **arrived_from_any(const inproc_world *w, const inproc_channel *own)
{
  inproc_packet **found = NULL;

  for (inproc_packet **at = &own->mailbox->packets; *at != NULL; at = &(*at)->next) {
    const inproc_channel *c = (*at)->channel;
    const bool fits = c->group == own->group && c->tag == own->tag && c->to == own->to &&
                      (*at)->arrival <= inproc_now(w);

    if (fits &&
        (found == NULL || (*at)->arrival < (*found)->arrival ||
         ((*at)->arrival == (*found)->arrival && c->from < (*found)->channel->from)) &&
        is_first(*at)) {
      found = at;
    }
  }
  return found;
}

/* Takes the message that belongs to this start, if it has arrived. */
static weir_status take(inproc_world *w, end *e)
{
  inproc_packet **const at = e->channel->from == COMM_ANY ? arrived_from_any(w, e->channel)
                                                          : arrived(w, e->channel, e->number);

  if (at == NULL) {
    return WEIR_OK;
  }
  inproc_packet *p = *at;

  if (w->run->network != NULL && !inproc_network_receive(w, p)) {
    return WEIR_OK;
  }
  if (p->size != e->bytes) {
    return weir_fail(WEIR_ERR_EXTERNAL, "rank %d receives %lld bytes where %lld are expected",
                     e->channel->to, (long long)p->size, (long long)e->bytes);
  }
  *at = p->next; /* out of the list, and under way until it is copied: nobody else's */
  copy(w, e->data, p->bytes, (size_t)e->bytes);
  p->under_way = false;
  leave_channel(p->channel);
  if (p->orphan) {
    free_packet(&p);
  }
  e->active = false;
  if (w->run->network == NULL) {
    inproc_notify(w);
  }
  return WEIR_OK;
}

static weir_status start_one(inproc_rank *self, const int *member, end *e)
{
  bool lost = false;

  e->data = comm_message_data(e->message);
  e->bytes = comm_message_bytes(e->message);
  if (e->bytes == 0) {
    return WEIR_OK;
  }
  if (e->receive) {
    e->number = e->channel->received++;
    e->active = true;
    return WEIR_OK;
  }
  if (self->world->run->script != NULL) {
    inproc_pause(self, INPROC_READY); /* what others do before it leaves is a choice of its own */
  }
  WEIR_TRY(inject_faults(self, member[e->channel->to], &e->delay, &lost));
  e->number = e->channel->sent++;
  e->active = !lost;
  e->launched = false;
  return lost ? WEIR_OK : send(self->world, e);
}

weir_status inproc_start(void *messages, int64_t first, int64_t n)
{
  prepared *const p = messages;
  inproc_world *const w = p->self->world;

  weir_lock_take(&w->lock);
  weir_status status = inproc_check(p->self);

  for (int64_t i = first; i < first + n && status == WEIR_OK; i++) {
    status = start_one(p->self, p->member, &p->ends[i]);
  }
  weir_lock_give(&w->lock);
  WEIR_TRY(status);
  return WEIR_OK;
}

weir_status inproc_finished(void *messages, int64_t first, int64_t n, bool *all)
{
  prepared *const p = messages;
  inproc_world *const w = p->self->world;

  weir_lock_take(&w->lock);
  weir_status status = inproc_check(p->self);

  *all = true;
  for (int64_t i = first; i < first + n && status == WEIR_OK; i++) {
    end *const e = &p->ends[i];

    if (e->active && e->receive) {
      status = take(w, e);
    } else if (e->active) {
      status = send(w, e);
    }
    *all = *all && !e->active;
  }
  weir_lock_give(&w->lock);
  WEIR_TRY(status);
  return WEIR_OK;
}
