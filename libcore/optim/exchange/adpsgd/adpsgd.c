/* adpsgd.c - asynchronous decentralised parallel SGD, Lian et al., "Asynchronous decentralized
 * parallel stochastic gradient descent" (ICML 2018, arXiv:1710.06952).
 *
 * While a rank computes a gradient, its weights x are averaged with those of other ranks, pair by
 * pair; the update is then applied to what x has become. Ranks of even number are active: each
 * sends its x to a partner drawn at random, and adds half of the difference to the answer. Those of
 * odd number are passive: each answers with its x and at once takes the mean of both. So all waits
 * are of active ranks for passive ones, which wait for nobody, and there is no deadlock, for any
 * number of ranks; each average leaves the sum of all weights as it was. Partners are 1 or 1 + 2^k
 * ranks away, in both directions: a ring, or on an odd number of ranks, where both ends are active,
 * a path, and chords of it. */
#include "optim/exchange/adpsgd/adpsgd_priv.h"

#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_lock.h"
#include "base/weir_random.h"
#include "comm/weir_schedule.h"
#include "optim/exchange_buffer.h"

static const weir_opt options[] = {
    WEIR_OPT_INT(struct adpsgd_opts, partners, 4, 0, 1e6, "ranks",
                 "ranks with which one averages its weights, the nearest ones: 2 is a ring; 0: all "
                 "at distances of 1 and 1 + 2^k"),
    WEIR_OPT_INT(struct adpsgd_opts, staleness, 4, 1, 1e9, "steps",
                 "steps after which an active rank waits for the answer of its partner"),
    WEIR_OPT_INT(struct adpsgd_opts, seed, 1, 0, 1e9, "1", "seed of the draws of partners"),
    WEIR_OPT_END,
};

enum { MAX_PAIRS = 64 };

struct adpsgd;

/* A partner. Versions 2 k of the schedule are messages of the active rank, 2 k + 1 the answers. */
typedef struct pair {
  struct adpsgd *of;
  weir_comm *group; /* of both ranks, NULL: no partner at this distance */
  int active;       /* rank in the group */
  void *out, *in;   /* [count] */
  weir_request *question, *answer;
  weir_schedule *schedule;
  int64_t versions; /* that this rank has posted */
} pair;

/* What follows the lock is shared with the thread that progresses versions. */
typedef struct adpsgd {
  exchange_buffer b;
  struct adpsgd_opts opts;
  pair pair[MAX_PAIRS]; /* [n] in an order that is the same on all ranks */
  int n;
  bool is_active;
  void *given, *rest; /* [count] what the parts had after the last step; the sum of settle */
  weir_request *sum, *end;
  int64_t all_have; /* of `end` */
  pair *asked;      /* the partner whose answer is to come, or NULL */
  int64_t steps, asked_at;
  weir_lock lock;
  void *x; /* [count] */
  weir_exchange_counts counts;
} adpsgd;

static int initiator(void *context, int64_t version)
{
  (void)version;
  return ((const pair *)context)->active;
}

static weir_request *body_of(void *context, int64_t version)
{
  const pair *p = context;

  return version % 2 == 0 ? p->question : p->answer;
}

static void begin(void *context, int64_t version, bool posted)
{
  pair *p = context;
  adpsgd *x = p->of;

  (void)posted;
  if (x->is_active && version % 2 == 0) {
    weir_lock_take(&x->lock);
    memcpy(p->out, x->x, (size_t)x->b.count * x->b.sum->size);
    weir_lock_give(&x->lock);
  }
}

/* The passive rank has a question: its answer is x, and x becomes the mean. */
static void average_passive(adpsgd *x, pair *p)
{
  memcpy(p->out, x->x, (size_t)x->b.count * x->b.sum->size);
  exchange_mean(x->b.dtype, x->x, 1, p->in, x->b.count);
  x->counts.versions++;
  x->counts.fresh++; /* answers are with its newest weights */
}

/* The active rank has the answer: what it sent becomes the mean, and x moves as far. */
static void average_active(adpsgd *x, pair *p)
{
  exchange_mean(x->b.dtype, p->in, 1, p->out, x->b.count);
  exchange_add_change(x->b.dtype, p->in, p->out, x->x, x->b.count);
}

static void end(void *context, int64_t version)
{
  pair *p = context;
  adpsgd *x = p->of;

  weir_lock_take(&x->lock);
  if (!x->is_active && version % 2 == 0) {
    average_passive(x, p);
  } else if (x->is_active && version % 2 == 1) {
    average_active(x, p);
  }
  weir_lock_give(&x->lock);
}

static void close_adpsgd(void **state)
{
  adpsgd *x = *state;

  for (int k = 0; x != NULL && k < MAX_PAIRS; k++) {
    pair *const p = &x->pair[k];

    weir_schedule_destroy(&p->schedule);
    weir_request_destroy(&p->question);
    weir_request_destroy(&p->answer);
    weir_free(&p->out);
    weir_free(&p->in);
    weir_comm_close(&p->group);
  }
  if (x != NULL) {
    weir_request_destroy(&x->sum);
    weir_request_destroy(&x->end);
    weir_free(&x->given);
    weir_free(&x->rest);
    weir_free(&x->x);
    exchange_buffer_close(&x->b);
  }
  weir_free(state);
}

/* The rank at a distance from one: an odd number of ranks is no ring. -1: there is none. */
static int rank_at(int ranks, int rank, int distance)
{
  const int other = rank + distance;

  if (ranks % 2 == 0) {
    return (other % ranks + ranks) % ranks;
  }
  return other >= 0 && other < ranks ? other : -1;
}

/* Odd distances of partners from an active rank: 1, -1, 3, -3, 5, -5, 9 ...; returns how many. */
static int list_distances(int ranks, int64_t most, int distance[MAX_PAIRS])
{
  int n = 0;

  for (int away = 1, step = 1; away < ranks; step *= 2, away = 1 + step) {
    for (int sign = 1; sign >= -1; sign -= 2) {
      bool known = false;

      for (int k = 0; k < n && ranks % 2 == 0; k++) {
        known = known || (distance[k] - sign * away) % ranks == 0;
      }
      if (!known && n < MAX_PAIRS && (most == 0 || n < most)) {
        distance[n++] = sign * away;
      }
    }
  }
  return n;
}

/* Both ways of a pair: what the active rank sends, and what it gets. */
static weir_status create_messages(adpsgd *x, pair *p)
{
  const int64_t bytes = x->b.count * (int64_t)x->b.sum->size;
  const int other = 1 - weir_comm_rank(p->group);

  WEIR_TRY(exchange_buffer_alloc(&x->b, &p->out));
  WEIR_TRY(exchange_buffer_alloc(&x->b, &p->in));
  const weir_message out = {other, false, p->out, bytes}, in = {other, true, p->in, bytes};

  WEIR_TRY(weir_messages_create(p->group, "weights of an active rank", x->is_active ? &out : &in, 1,
                                &p->question));
  return weir_messages_create(p->group, "weights of a passive rank", x->is_active ? &in : &out, 1,
                              &p->answer);
}

/* The ranks at a distance from active ones; collective over all. */
static weir_status create_pair(adpsgd *x, int distance)
{
  weir_comm *const c = x->b.group;
  const int ranks = weir_comm_size(c), rank = weir_comm_rank(c);
  const int other = rank_at(ranks, rank, x->is_active ? distance : -distance);
  pair *const p = &x->pair[x->n++];
  weir_status status = WEIR_OK;

  p->of = x;
  p->active = (rank < other) == x->is_active ? 0 : 1;
  WEIR_TRY(weir_comm_split(c, other < 0 ? -1 : x->is_active ? rank : other, &p->group));
  if (p->group != NULL) {
    status = weir_comm_agree(p->group, create_messages(x, p));
  }
  if (p->group != NULL && status == WEIR_OK) {
    status = weir_schedule_create(p->group,
                                  &(weir_schedule_spec){.name = "weights of a pair",
                                                        .body_of = body_of,
                                                        .initiator = initiator,
                                                        .begin = begin,
                                                        .end = end,
                                                        .context = p,
                                                        .background = true},
                                  &p->schedule);
  }
  return weir_comm_agree(c, status);
}

static weir_status create_buffers(adpsgd *x)
{
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->x));
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->given));
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->rest));
  exchange_buffer_get(&x->b, x->x);
  exchange_buffer_get(&x->b, x->given);
  return WEIR_OK;
}

static weir_status create_sums(adpsgd *x)
{
  weir_comm *const c = x->b.group;

  WEIR_TRY(weir_allreduce_create(c, "weights", x->b.sum, x->rest, x->b.count, &x->sum));
  return weir_allreduce_create(c, "end of a mean", weir_reducer_of(WEIR_REDUCE_MAX, WEIR_I64),
                               &x->all_have, 1, &x->end);
}

static weir_status open_adpsgd(const weir_exchange_args *a, void **state)
{
  adpsgd *x = NULL;
  weir_status status = weir_alloc(1, sizeof *x, (void **)&x);
  int distance[MAX_PAIRS];

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  x->opts = *(const struct adpsgd_opts *)a->opts;
  x->steps = a->step;
  x->lock = (weir_lock)WEIR_LOCK_INIT;
  WEIR_TRY_GOTO(exchange_buffer_open(a, "adpsgd", &x->b), failed);
  x->is_active = weir_comm_rank(x->b.group) % 2 == 0;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_buffers(x)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_sums(x)), failed);
  const int n = list_distances(weir_comm_size(x->b.group), x->opts.partners, distance);

  for (int k = 0; k < n; k++) {
    WEIR_TRY_GOTO(create_pair(x, distance[k]), failed);
  }
  *state = x;
  return WEIR_OK;
failed:
  close_adpsgd((void **)&x);
  return status;
}

/* Applies the update of this step to x. */
static void take_update(adpsgd *x)
{
  weir_lock_take(&x->lock);
  exchange_buffer_add_change(&x->b, x->given, x->x);
  weir_lock_give(&x->lock);
}

static void give(adpsgd *x)
{
  weir_lock_take(&x->lock);
  memcpy(x->given, x->x, (size_t)x->b.count * x->b.sum->size);
  weir_lock_give(&x->lock);
  exchange_buffer_put(&x->b, x->given);
}

/* Ends the exchange that this active rank asked for, once its answer is there, or waits for it. */
static weir_status end_exchange(adpsgd *x)
{
  const int64_t age = x->steps - x->asked_at;
  weir_schedule *const s = x->asked->schedule;
  const int64_t wanted = x->asked->versions;

  if (age >= x->opts.staleness) {
    WEIR_TRY(weir_schedule_wait(s, wanted));
  }
  if (weir_schedule_completed(s) < wanted) {
    return WEIR_OK;
  }
  x->asked = NULL;
  weir_lock_take(&x->lock);
  x->counts.versions++;
  x->counts.fresh += age == 1;
  x->counts.max_age = age > x->counts.max_age ? age : x->counts.max_age;
  weir_lock_give(&x->lock);
  return WEIR_OK;
}

/* The partner of a step, drawn among those of this rank. */
static pair *draw_partner(adpsgd *x)
{
  pair *partner[MAX_PAIRS];
  int n = 0;

  for (int k = 0; k < x->n; k++) {
    if (x->pair[k].group != NULL) {
      partner[n++] = &x->pair[k];
    }
  }
  const uint32_t rank = (uint32_t)weir_comm_rank(x->b.group);
  const double at = weir_random_uniform((uint64_t)x->opts.seed, rank, 0, (uint64_t)x->steps);

  return n > 0 ? partner[(int)(at * n)] : NULL;
}

/* Sends x, and gets ready for the answer. */
static weir_status begin_exchange(adpsgd *x)
{
  pair *const p = draw_partner(x);

  if (p == NULL) {
    return WEIR_OK;
  }
  p->versions += 2;
  x->asked = p;
  x->asked_at = x->steps;
  WEIR_TRY(weir_schedule_post(p->schedule));
  return weir_schedule_post(p->schedule);
}

static weir_status run(void *state)
{
  adpsgd *x = state;

  x->steps++;
  take_update(x);
  if (x->asked != NULL) {
    WEIR_TRY(end_exchange(x));
  }
  if (x->is_active && x->asked == NULL) {
    WEIR_TRY(begin_exchange(x));
  }
  give(x);
  return WEIR_OK;
}

/* Completes all exchanges; then all take the mean, and none goes on before all have it. */
static weir_status settle(void *state)
{
  adpsgd *x = state;

  take_update(x);
  for (int k = 0; k < x->n; k++) {
    if (x->pair[k].schedule != NULL) {
      WEIR_TRY(weir_schedule_finish(x->pair[k].schedule));
    }
  }
  if (x->asked != NULL) {
    WEIR_TRY(end_exchange(x));
  }
  memcpy(x->rest, x->x, (size_t)x->b.count * x->b.sum->size);
  WEIR_TRY(weir_request_run(x->sum));
  exchange_buffer_divide(&x->b, x->rest, weir_comm_size(x->b.group));
  memcpy(x->x, x->rest, (size_t)x->b.count * x->b.sum->size);
  WEIR_TRY(weir_request_run(x->end));
  memcpy(x->given, x->rest, (size_t)x->b.count * x->b.sum->size);
  exchange_buffer_put(&x->b, x->rest);
  return WEIR_OK;
}

static void count(const void *state, weir_exchange_counts *counts)
{
  adpsgd *x = (adpsgd *)(uintptr_t)state; /* for the lock */

  weir_lock_take(&x->lock);
  *counts = x->counts;
  weir_lock_give(&x->lock);
}

const weir_exchange_desc weir_exchange_adpsgd = {
    .name = "adpsgd",
    .cite = "Lian et al. 2018",
    .help = "averages of the weights of two ranks at a time, while ranks compute",
    .opts = options,
    .opts_size = sizeof(struct adpsgd_opts),
    .what = WEIR_EXCHANGE_WEIGHTS,
    .invariant = WEIR_REPLICAS_SETTLED,
    .scales = true,
    .open = open_adpsgd,
    .run = run,
    .settle = settle,
    .count = count,
    .close = close_adpsgd,
};
