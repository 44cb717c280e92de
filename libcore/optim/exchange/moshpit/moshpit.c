/* moshpit.c - Moshpit SGD, Ryabinin et al., "Moshpit SGD: communication-efficient decentralized
 * training on heterogeneous unreliable devices" (NeurIPS 2021, arXiv:2103.03239).
 *
 * Ranks are cells of a grid with M positions along each of d axes. Every `period` steps weights are
 * averaged in groups of at most M ranks, which differ in their position along one axis: axis v mod
 * d in round v. On a full grid, P = M^d, d rounds give all ranks the mean of all. Ranks that are
 * silent are left out of their group (exchange_butterfly.h); one that comes late adds its weights
 * to the mean of the others on its own, and goes on in the newest round.
 *
 * The published program finds groups by a distributed hash table, for peers that come and go in any
 * number; here all ranks are known, and so are their groups. */
#include "optim/exchange/moshpit/moshpit_priv.h"

#include <inttypes.h>

#include "base/weir_alloc.h"
#include "optim/exchange_buffer.h"
#include "optim/exchange_butterfly.h"

static const weir_opt options[] = {
    WEIR_OPT_INT(struct moshpit_opts, group, 0, 0, 1e6, "ranks",
                 "positions along an axis of the grid of ranks, the largest number of ranks in a "
                 "group; 0: the square root of the number of ranks, rounded up"),
    WEIR_OPT_INT(struct moshpit_opts, period, 1, 1, 1e9, "steps",
                 "steps that every rank trains alone from one round to the next"),
    WEIR_OPT_REAL(struct moshpit_opts, timeout, 5, 1e-3, 1e6, "s",
                  "time after which a silent rank is left out of its group; the mean of a share of "
                  "the weights is waited for twice as long"),
    WEIR_OPT_END,
};

enum { MAX_AXES = 31 };

typedef struct moshpit {
  exchange_buffer b;
  int64_t period, side;
  double timeout;
  int axes;
  weir_comm *group[MAX_AXES];         /* [axes] */
  exchange_butterfly *mean[MAX_AXES]; /* [axes] */
  void *own, *other;                  /* [count] weights of this rank; means */
  weir_request *sum;                  /* of `own` over all ranks */
  int64_t steps, round;
  weir_exchange_counts counts;
} moshpit;

static void close_moshpit(void **state)
{
  moshpit *x = *state;

  if (x != NULL) {
    weir_request_destroy(&x->sum);
    for (int a = 0; a < MAX_AXES; a++) {
      exchange_butterfly_destroy(&x->mean[a]);
      weir_comm_close(&x->group[a]);
    }
    weir_free(&x->own);
    weir_free(&x->other);
    exchange_buffer_close(&x->b);
  }
  weir_free(state);
}

/* As few axes as have a cell for each rank. */
static weir_status choose_grid(moshpit *x, int64_t group)
{
  const int64_t ranks = weir_comm_size(x->b.group);

  if (group == 1 || group > ranks) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "optim.exchange.group: %" PRId64 " is not from 2 to the number of replicas, "
                     "%" PRId64,
                     group, ranks);
  }
  for (x->side = group > 0 ? group : 1; group == 0 && x->side * x->side < ranks;) {
    x->side++;
  }
  for (int64_t cells = 1; cells < ranks; cells *= x->side) {
    x->axes++;
  }
  return WEIR_OK;
}

static weir_status create_axis(moshpit *x, int axis)
{
  weir_comm *const c = x->b.group;
  const int64_t group = moshpit_group(weir_comm_rank(c), x->side, axis);

  WEIR_TRY(weir_comm_split(c, (int)group, &x->group[axis]));
  return weir_comm_agree(
      c, exchange_butterfly_create(&(exchange_butterfly_spec){.comm = x->group[axis],
                                                              .dtype = x->b.dtype,
                                                              .count = x->b.count,
                                                              .timeout_s = x->timeout},
                                   &x->mean[axis]));
}

static weir_status open_moshpit(const weir_exchange_args *a, void **state)
{
  const struct moshpit_opts *opts = a->opts;
  moshpit *x = NULL;
  weir_status status = weir_alloc(1, sizeof *x, (void **)&x);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  x->period = opts->period;
  x->timeout = opts->timeout;
  x->steps = a->step;
  x->round = a->step / opts->period;
  WEIR_TRY_GOTO(exchange_buffer_open(a, "moshpit", &x->b), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, choose_grid(x, opts->group)), failed);
  status = exchange_buffer_alloc(&x->b, &x->own);
  if (status == WEIR_OK) {
    status = exchange_buffer_alloc(&x->b, &x->other);
  }
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  for (int k = 0; k < x->axes; k++) {
    WEIR_TRY_GOTO(create_axis(x, k), failed);
  }
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, weir_allreduce_create(x->b.group, "weights", x->b.sum,
                                                               x->own, x->b.count, &x->sum)),
                failed);
  *state = x;
  return WEIR_OK;
failed:
  close_moshpit((void **)&x);
  return status;
}

/* The mean of W others and the own weights become that of W + 1. */
static void add_own(moshpit *x, const exchange_share *s)
{
  const size_t size = x->b.sum->size;
  const int64_t end = s->first + s->count < s->total ? s->first + s->count : s->total;
  const int64_t to_end = end - s->first;
  char *const at = (char *)x->other + (size_t)s->begin * size;
  const char *const own = (const char *)x->own + (size_t)s->begin * size;
  const size_t first = (size_t)s->first * size;

  exchange_mean(x->b.dtype, at + first, s->weight, own + first, to_end);
  exchange_mean(x->b.dtype, at, s->weight, own, s->count - to_end);
}

/* Leaves out rounds that the others of the group have left behind. */
static weir_status choose_round(moshpit *x)
{
  int64_t newest = -1;

  WEIR_TRY(exchange_butterfly_look(x->mean[x->round % x->axes], &newest));
  x->round = newest > x->round ? newest : x->round; /* over the same axis */
  return WEIR_OK;
}

static weir_status average(moshpit *x)
{
  bool fresh = true;

  exchange_buffer_get(&x->b, x->own);
  exchange_buffer_get(&x->b, x->other);
  if (x->axes > 0) {
    WEIR_TRY(choose_round(x));
    const int axis = (int)(x->round % x->axes);
    int n = 0;

    WEIR_TRY(exchange_butterfly_run(x->mean[axis], x->round, x->own, 1, x->other));
    const exchange_share *const share = exchange_butterfly_shares(x->mean[axis], &n);

    for (int i = 0; i < n; i++) {
      const exchange_share *s = &share[i];

      fresh = fresh && (s->outcome == EXCHANGE_TAKEN || s->count == 0);
      if (s->outcome == EXCHANGE_LEFT_OUT) {
        add_own(x, s);
      }
    }
  }
  exchange_buffer_put(&x->b, x->other);
  x->round++;
  x->counts.versions++;
  x->counts.fresh += fresh;
  return WEIR_OK;
}

static weir_status run(void *state)
{
  moshpit *x = state;

  x->steps++;
  return x->steps % x->period == 0 ? average(x) : WEIR_OK;
}

/* The mean of all ranks, which all wait for; late ones go on with the round of the others. */
static weir_status settle(void *state)
{
  moshpit *x = state;

  for (int a = 0; a < x->axes; a++) {
    int64_t newest = -1;

    WEIR_TRY(exchange_butterfly_drain(x->mean[a], &newest));
  }
  WEIR_TRY(exchange_buffer_average(&x->b, x->sum, x->own));
  x->round = x->steps / x->period; /* as in a run that begins here */
  return WEIR_OK;
}

static void count(const void *state, weir_exchange_counts *counts)
{
  *counts = ((const moshpit *)state)->counts;
}

const weir_exchange_desc weir_exchange_moshpit = {
    .name = "moshpit",
    .cite = "Ryabinin et al. 2021",
    .help = "average of the weights in groups along the axes of a grid of ranks in turn, without "
            "silent ranks",
    .opts = options,
    .opts_size = sizeof(struct moshpit_opts),
    .what = WEIR_EXCHANGE_WEIGHTS,
    .invariant = WEIR_REPLICAS_SETTLED,
    .open = open_moshpit,
    .run = run,
    .settle = settle,
    .count = count,
    .close = close_moshpit,
};
