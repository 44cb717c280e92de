/* wagma.c - wait-avoiding group model averaging, Li et al., "Breaking (global) barriers in parallel
 * stochastic optimization with wait-avoiding group averaging" (TPDS 32(7), 2021, arXiv:2005.00124).
 *
 * Weights are averaged in groups of ranks, which change from version to version. The first rank
 * that has finished its step begins a version on all; a rank that is late gives the weights that it
 * gave last, and merges the newest average with its own. Every so many versions an average over all
 * ranks, for which all wait, makes replicas equal and bounds how old weights are.
 *
 * Ranks are a power of two, P = 2^p, groups S = 2^s. Version v averages over the ranks that differ
 * in the bits (v s + r) mod p, r = 0 .. s - 1, of their number: p / s versions without late ranks,
 * rounded up, touch every bit, after which all replicas have the average of all. */
#include "optim/exchange/wagma/wagma_priv.h"

#include <inttypes.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_lock.h"
#include "comm/weir_schedule.h"
#include "optim/exchange_buffer.h"

static const weir_opt options[] = {
    WEIR_OPT_INT(struct wagma_opts, group, 0, 0, 1e6, "ranks",
                 "ranks of a group, a power of 2; 0: about the square root of all ranks"),
    WEIR_OPT_INT(struct wagma_opts, period, 10, 1, 1e9, "1",
                 "every so many averages are over all ranks, and wait for them"),
    WEIR_OPT_ENUM(struct wagma_opts, merge, WAGMA_PAPER, "paper|released",
                  "paper: the average of a group counts as the weights of all ranks that gave "
                  "theirs in time, and late ranks add their own weights to it; released: as the "
                  "published program, all add their own, so that those in time count twice"),
    WEIR_OPT_END,
};

enum { MAX_BITS = 20 };

/* The sum of the newest version of a kind; version -1: none. */
typedef struct sum {
  void *data; /* [count] */
  int64_t version;
} sum;

/* What follows the lock is shared with the thread that progresses versions. */
typedef struct wagma {
  exchange_buffer b;
  struct wagma_opts opts;
  int bits, group_bits, cycle; /* of ranks, of a group; versions until groups repeat */
  weir_comm *group[MAX_BITS];  /* [cycle] */
  weir_request *in_group[MAX_BITS], *of_all, *settle; /* sums, all in `moving` */
  weir_schedule *schedule;
  int64_t first;         /* version 0 of the schedule is that of the policy */
  int64_t steps, merged; /* version that was merged last, -1: none */
  void *own, *rest;      /* [count] what this rank merges; the sum of settle, while other ranks may
                            begin the next version */
  weir_lock lock;
  void *sent, *moving; /* [count] weights of the last step; what a version sums up */
  bool posted;         /* this rank's weights of the same step are in that */
  sum fresh, stale;    /* of versions with such weights of this rank, and without */
  int64_t versions, n_fresh, posts, max_age; /* posts: steps of which `sent` has had the weights */
} wagma;

static bool is_global(const wagma *x, int64_t version)
{
  return (x->first + version) % x->opts.period == x->opts.period - 1;
}

static int initiator(void *context, int64_t version)
{
  return is_global(context, version) ? WEIR_ALL_RANKS : WEIR_ANY_RANK;
}

static weir_request *body_of(void *context, int64_t version)
{
  wagma *x = context;

  return is_global(x, version) ? x->of_all : x->in_group[(x->first + version) % x->cycle];
}

/* Whether weights are those of the version is what `sent` says, not `posted`: a version may begin
 * between the two, and would count these weights twice. */
static void begin(void *context, int64_t version, bool posted)
{
  wagma *x = context;

  (void)posted;
  weir_lock_take(&x->lock);
  const int64_t age = version + 1 - x->posts;

  x->max_age = age > x->max_age ? age : x->max_age;
  memcpy(x->moving, x->sent, (size_t)x->b.count * x->b.sum->size);
  x->posted = age <= 0;
  x->n_fresh += x->posted;
  weir_lock_give(&x->lock);
}

static void end(void *context, int64_t version)
{
  wagma *x = context;

  weir_lock_take(&x->lock);
  sum *const into = x->posted ? &x->fresh : &x->stale;

  memcpy(into->data, x->moving, (size_t)x->b.count * x->b.sum->size);
  into->version = version;
  x->versions = version + 1;
  weir_lock_give(&x->lock);
}

static void close_wagma(void **state)
{
  wagma *x = *state;

  if (x != NULL) {
    weir_schedule_destroy(&x->schedule);
    weir_request_destroy(&x->of_all);
    weir_request_destroy(&x->settle);
    for (int i = 0; i < MAX_BITS; i++) {
      weir_request_destroy(&x->in_group[i]);
      weir_comm_close(&x->group[i]);
    }
    weir_free(&x->own);
    weir_free(&x->rest);
    weir_free(&x->sent);
    weir_free(&x->moving);
    weir_free(&x->fresh.data);
    weir_free(&x->stale.data);
    exchange_buffer_close(&x->b);
  }
  weir_free(state);
}

static int log2_of(int64_t n)
{
  int bits = 0;

  while ((int64_t)1 << (bits + 1) <= n) {
    bits++;
  }
  return bits;
}

/* Ranks and groups as powers of two. */
static weir_status choose_groups(wagma *x)
{
  const int ranks = weir_comm_size(x->b.group);
  const int64_t group = x->opts.group;

  x->bits = log2_of(ranks);
  x->group_bits = group > 0 ? log2_of(group) : (x->bits + 1) / 2;
  if (ranks != 1 << x->bits || x->bits > MAX_BITS) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "optim.exchange wagma: %d replicas are no power of 2: use another number of "
                     "ranks, or local",
                     ranks);
  }
  if (group > 0 && (group != (int64_t)1 << x->group_bits || group > ranks || group == 1)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "optim.exchange.group: %" PRId64 " is no power of 2 from 2 to the number of "
                     "replicas, %d",
                     group, ranks);
  }
  for (x->cycle = 1; x->bits > 0 && x->cycle * x->group_bits % x->bits != 0;) {
    x->cycle++;
  }
  return WEIR_OK;
}

/* Ranks that differ in the bits of the version are one group; the other bits number it. */
static weir_status create_group(wagma *x, int version)
{
  weir_comm *const c = x->b.group;
  int within = 0;

  for (int r = 0; r < x->group_bits; r++) {
    within |= 1 << (version * x->group_bits + r) % x->bits;
  }
  WEIR_TRY(weir_comm_split(c, weir_comm_rank(c) & ~within, &x->group[version]));
  return weir_comm_agree(c, weir_allreduce_create(x->group[version], "weights of a group", x->b.sum,
                                                  x->moving, x->b.count, &x->in_group[version]));
}

static weir_status create_requests(wagma *x)
{
  weir_comm *const c = x->b.group;

  for (int v = 0; v < x->cycle; v++) {
    WEIR_TRY(create_group(x, v));
  }
  WEIR_TRY(weir_allreduce_create(c, "weights", x->b.sum, x->moving, x->b.count, &x->of_all));
  WEIR_TRY(weir_allreduce_create(c, "last weights", x->b.sum, x->rest, x->b.count, &x->settle));
  return weir_schedule_create(c,
                              &(weir_schedule_spec){.name = "weights",
                                                    .body_of = body_of,
                                                    .initiator = initiator,
                                                    .begin = begin,
                                                    .end = end,
                                                    .context = x,
                                                    .background = true},
                              &x->schedule);
}

/* What late ranks give before their first step: the weights they begin with. */
static weir_status create_buffers(wagma *x)
{
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->own));
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->rest));
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->sent));
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->moving));
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->fresh.data));
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->stale.data));
  exchange_buffer_get(&x->b, x->sent);
  return WEIR_OK;
}

static weir_status open_wagma(const weir_exchange_args *a, void **state)
{
  wagma *x = NULL;
  weir_status status = weir_alloc(1, sizeof *x, (void **)&x);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  x->opts = *(const struct wagma_opts *)a->opts;
  x->first = a->step;
  x->lock = (weir_lock)WEIR_LOCK_INIT;
  x->merged = x->fresh.version = x->stale.version = -1;
  WEIR_TRY_GOTO(exchange_buffer_open(a, "wagma", &x->b), failed);
  status = choose_groups(x);
  if (status == WEIR_OK) {
    status = create_buffers(x);
  }
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_requests(x)), failed);
  *state = x;
  return WEIR_OK;
failed:
  close_wagma((void **)&x);
  return status;
}

/* Takes the sum of the version that had this rank's step, or else the newest one that it has not
 * merged before, as x->own. Returns that version, -1: none; *fresh: which of both. */
static int64_t take(wagma *x, int64_t step, bool *fresh)
{
  int64_t version = -1;

  weir_lock_take(&x->lock);
  *fresh = x->fresh.version == step;
  sum *const from = *fresh ? &x->fresh : &x->stale;

  if (from->version > x->merged) {
    void *const data = from->data;

    version = from->version;
    from->data = x->own;
    x->own = data;
  }
  weir_lock_give(&x->lock);
  return version;
}

static void merge(wagma *x, int64_t step)
{
  bool fresh;
  const int64_t version = take(x, step, &fresh);
  int divisor = 1 << x->group_bits;

  if (version < 0) {
    return;
  }
  x->merged = version;
  if (is_global(x, version)) {
    divisor = weir_comm_size(x->b.group);
  } else if (!fresh || x->opts.merge == WAGMA_RELEASED) {
    exchange_buffer_add(&x->b, x->own);
    divisor++;
  }
  exchange_buffer_divide(&x->b, x->own, divisor);
  exchange_buffer_put(&x->b, x->own);
}

static weir_status run(void *state)
{
  wagma *x = state;
  const int64_t step = x->steps++;

  weir_lock_take(&x->lock);
  exchange_buffer_get(&x->b, x->sent);
  x->posts++;
  weir_lock_give(&x->lock);
  WEIR_TRY(weir_schedule_post(x->schedule));
  WEIR_TRY(weir_schedule_wait(x->schedule, step + 1));
  merge(x, step);
  return WEIR_OK;
}

/* An average of the present weights over all ranks. */
static weir_status settle(void *state)
{
  wagma *x = state;

  WEIR_TRY(weir_schedule_finish(x->schedule));
  x->merged = weir_schedule_completed(x->schedule) - 1;
  WEIR_TRY(exchange_buffer_average(&x->b, x->settle, x->rest));
  weir_lock_take(&x->lock);
  exchange_buffer_get(&x->b, x->sent);
  weir_lock_give(&x->lock);
  return WEIR_OK;
}

static void count(const void *state, weir_exchange_counts *counts)
{
  wagma *x = (wagma *)(uintptr_t)state; /* for the lock */

  weir_lock_take(&x->lock);
  counts->versions = x->versions;
  counts->fresh = x->n_fresh;
  counts->stale = x->versions - x->n_fresh;
  counts->max_age = x->max_age;
  weir_lock_give(&x->lock);
}

const weir_exchange_desc weir_exchange_wagma = {
    .name = "wagma",
    .cite = "Li et al. 2021",
    .help = "average of the weights in groups of ranks, without waiting for late ranks; over all "
            "ranks every so many steps",
    .opts = options,
    .opts_size = sizeof(struct wagma_opts),
    .what = WEIR_EXCHANGE_WEIGHTS,
    .invariant = WEIR_REPLICAS_SETTLED,
    .scales = true,
    .open = open_wagma,
    .run = run,
    .settle = settle,
    .count = count,
    .close = close_wagma,
};
