/* eager.c - eager SGD, Li et al., "Taming unbalanced training workloads in deep learning with
 * partial collective operations" (PPoPP 2020, arXiv:1908.04207).
 *
 * Gradients are summed by an allreduce that does not wait for all ranks: the first rank that has
 * its gradient begins it on all (solo), or a rank drawn for the step (majority), or as many ranks
 * as the method's analysis asks to be in time, its quorum Q. A rank that is late gives
 * what it has kept of earlier steps, or zeros; its gradient is added to what it gives next, and it
 * takes the sums of all versions that were over meanwhile together. So every gradient is in one
 * sum, and every rank applies every sum, once. (The published program overwrites what late ranks
 * missed and lets replicas drift apart.) */
#include "optim/exchange/eager/eager_priv.h"

#include <inttypes.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_lock.h"
#include "base/weir_random.h"
#include "comm/weir_schedule.h"
#include "optim/exchange_buffer.h"

static const weir_opt options[] = {
    WEIR_OPT_ENUM(struct eager_opts, mode, EAGER_MAJORITY, "solo|majority|quorum",
                  "who begins the exchange of a step: the first rank that has its gradient; a rank "
                  "drawn for each step, so that half of the others are expected to be ready; or "
                  "the last of a number of ranks, whichever these are"),
    WEIR_OPT_INT(struct eager_opts, quorum, 0, 0, 1e6, "ranks",
                 "ranks that have their gradient before an exchange of mode quorum begins; 0: more "
                 "than half of all"),
    WEIR_OPT_INT(struct eager_opts, period, 0, 0, 1e9, "1",
                 "every so many exchanges wait for all ranks; 0: none does"),
    WEIR_OPT_INT(struct eager_opts, seed, 1, 0, 1e9, "1", "seed of the draws of majority"),
    WEIR_OPT_END,
};

/* kept and results are shared with the thread that progresses versions. */
typedef struct eager {
  exchange_buffer b;
  struct eager_opts opts;
  weir_lock lock;
  void *kept;               /* [count] gradients of this rank that no version has taken */
  void *moving;             /* [count] that the version sums up, in place               */
  void *results;            /* [count] sums that this rank has not applied              */
  void *rest;               /* [count] what is left in the end, and its sum, while other ranks may
                               begin the next version */
  weir_request *sum, *last; /* of a version; of the rest                                */
  weir_schedule *schedule;
  int64_t first; /* version 0 of the schedule is that of the policy */
  int64_t steps, versions, fresh, stale, max_age;
  int64_t oldest; /* step of the first gradient in kept, -1: none is */
} eager;

static int initiator(void *context, int64_t version)
{
  const eager *x = context;
  const int64_t number = x->first + version;

  if (x->opts.period > 0 && number % x->opts.period == x->opts.period - 1) {
    return WEIR_ALL_RANKS;
  }
  if (x->opts.mode != EAGER_MAJORITY) {
    return x->opts.mode == EAGER_SOLO ? WEIR_ANY_RANK : WEIR_QUORUM;
  }
  const int ranks = weir_comm_size(x->b.group);
  const double at = weir_random_uniform((uint64_t)x->opts.seed, 0, 0, (uint64_t)number);

  return (int)(at * ranks);
}

/* Takes what is kept, with the lock: none of it is lost or counted twice. */
static void take(eager *x, void *into)
{
  const size_t bytes = (size_t)x->b.count * x->b.sum->size;

  memcpy(into, x->kept, bytes);
  memset(x->kept, 0, bytes);
  x->oldest = -1;
}

/* Whether the gradient of the version is in what it takes: it may be there before it is posted. */
static void begin(void *context, int64_t version, bool posted)
{
  eager *x = context;

  (void)posted;
  weir_lock_take(&x->lock);
  const bool fresh = x->steps > version;
  const int64_t age = x->oldest < 0 ? 0 : version - x->oldest;

  x->fresh += fresh;
  x->stale += !fresh && x->oldest >= 0;
  x->max_age = age > x->max_age ? age : x->max_age;
  take(x, x->moving);
  weir_lock_give(&x->lock);
}

static void end(void *context, int64_t version)
{
  eager *x = context;

  weir_lock_take(&x->lock);
  x->b.sum->merge(x->results, x->moving, x->b.count);
  x->versions = version + 1;
  weir_lock_give(&x->lock);
}

static void close_eager(void **state)
{
  eager *x = *state;

  if (x != NULL) {
    weir_schedule_destroy(&x->schedule);
    weir_request_destroy(&x->sum);
    weir_request_destroy(&x->last);
    weir_free(&x->kept);
    weir_free(&x->moving);
    weir_free(&x->results);
    weir_free(&x->rest);
    exchange_buffer_close(&x->b);
  }
  weir_free(state);
}

static weir_status create_buffers(eager *x)
{
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->kept));
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->moving));
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->results));
  return exchange_buffer_alloc(&x->b, &x->rest);
}

/* Ranks that begin a version; 0: the mode is another one. */
static weir_status choose_quorum(const eager *x, int *quorum)
{
  const int ranks = weir_comm_size(x->b.group);

  if (x->opts.mode != EAGER_QUORUM) {
    *quorum = 0;
    return WEIR_OK;
  }
  if (x->opts.quorum > ranks) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "optim.exchange.quorum: %" PRId64 " ranks are more than the %d replicas: "
                     "choose at most as many, or 0 for more than half of them",
                     x->opts.quorum, ranks);
  }
  *quorum = x->opts.quorum > 0 ? (int)x->opts.quorum : ranks / 2 + 1;
  return WEIR_OK;
}

static weir_status create_requests(eager *x)
{
  weir_comm *const c = x->b.group;
  int quorum = 0;

  WEIR_TRY(choose_quorum(x, &quorum));

  WEIR_TRY(weir_allreduce_create(c, "gradient", x->b.sum, x->moving, x->b.count, &x->sum));
  WEIR_TRY(weir_allreduce_create(c, "last gradient", x->b.sum, x->rest, x->b.count, &x->last));
  return weir_schedule_create(c,
                              &(weir_schedule_spec){.name = "gradient",
                                                    .body = x->sum,
                                                    .initiator = initiator,
                                                    .quorum = quorum,
                                                    .begin = begin,
                                                    .end = end,
                                                    .context = x,
                                                    .background = true},
                              &x->schedule);
}

static weir_status open_eager(const weir_exchange_args *a, void **state)
{
  eager *x = NULL;
  weir_status status = weir_alloc(1, sizeof *x, (void **)&x);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  x->opts = *(const struct eager_opts *)a->opts;
  x->first = a->step;
  x->lock = (weir_lock)WEIR_LOCK_INIT;
  x->oldest = -1;
  WEIR_TRY_GOTO(exchange_buffer_open(a, "eager", &x->b), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_buffers(x)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_requests(x)), failed);
  *state = x;
  return WEIR_OK;
failed:
  close_eager((void **)&x);
  return status;
}

/* The sums that came since the last step become the gradient. */
static void give(eager *x)
{
  weir_lock_take(&x->lock);
  exchange_buffer_put(&x->b, x->results);
  memset(x->results, 0, (size_t)x->b.count * x->b.sum->size);
  weir_lock_give(&x->lock);
}

static weir_status run(void *state)
{
  eager *x = state;

  weir_lock_take(&x->lock);
  exchange_buffer_add(&x->b, x->kept);
  x->oldest = x->oldest < 0 ? x->steps : x->oldest;
  x->steps++;
  weir_lock_give(&x->lock);
  WEIR_TRY(weir_schedule_post(x->schedule));
  WEIR_TRY(weir_schedule_wait(x->schedule, x->steps));
  give(x);
  return WEIR_OK;
}

/* A last sum of what late ranks have kept, for which all wait. */
static weir_status settle(void *state)
{
  eager *x = state;

  WEIR_TRY(weir_schedule_finish(x->schedule));
  weir_lock_take(&x->lock);
  take(x, x->rest);
  weir_lock_give(&x->lock);
  WEIR_TRY(weir_request_run(x->last));
  weir_lock_take(&x->lock);
  x->b.sum->merge(x->results, x->rest, x->b.count);
  weir_lock_give(&x->lock);
  give(x);
  return WEIR_OK;
}

static void count(const void *state, weir_exchange_counts *counts)
{
  eager *x = (eager *)(uintptr_t)state; /* for the lock */

  weir_lock_take(&x->lock);
  counts->versions = x->versions;
  counts->fresh = x->fresh;
  counts->stale = x->stale;
  counts->max_age = x->max_age;
  weir_lock_give(&x->lock);
}

const weir_exchange_desc weir_exchange_eager = {
    .name = "eager",
    .cite = "Li et al. 2020",
    .help = "sum of the gradients that are there, without waiting for late ranks, whose gradients "
            "go into later sums",
    .opts = options,
    .opts_size = sizeof(struct eager_opts),
    .what = WEIR_EXCHANGE_GRADIENTS,
    .invariant = WEIR_REPLICAS_DIFFER,
    .scales = true,
    .open = open_eager,
    .run = run,
    .settle = settle,
    .count = count,
    .close = close_eager,
};
