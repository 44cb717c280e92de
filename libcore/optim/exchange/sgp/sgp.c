/* sgp.c - stochastic gradient push, Assran et al., "Stochastic gradient push for distributed deep
 * learning" (ICML 2019, arXiv:1811.10792), algorithms 1 and 2.
 *
 * Replicas average by push-sum (Kempe et al., FOCS 2003): of its weights x and its push-sum weight
 * w, 1 at first, each rank keeps a share, sends as large a share to each of its out-neighbours, and
 * adds what comes in. Sums of x and of w over all ranks, with what is under way, never change; z =
 * x / w is what a rank trains with. Out-neighbours of version v are 2^((v + q) mod p) ranks
 * further, q = 0 .. peers - 1, with p the number of powers of two below the number of ranks: a
 * directed exponential graph. On 2^p ranks without late messages, p versions with one peer give all
 * ranks the mean.
 *
 * An update is applied to x as it is, x <- x + (z' - z), as in the paper. (The program published
 * with it scales the update by w; another one sets x = z and keeps w, which is right for w = 1
 * alone.) */
#include "optim/exchange/sgp/sgp_priv.h"

#include <string.h>

#include "base/weir_alloc.h"
#include "comm/weir_request.h"
#include "optim/exchange_buffer.h"

static const weir_opt options[] = {
    WEIR_OPT_INT(struct sgp_opts, peers, 1, 1, SGP_MAX_PEERS, "ranks",
                 "ranks to which each rank sends its weights, at most as many as there are powers "
                 "of 2 below the number of ranks"),
    WEIR_OPT_INT(struct sgp_opts, overlap, 0, 0, 1e6, "steps",
                 "steps from one message to the next, and that it may take before a rank waits for "
                 "it; 0: every step sends messages and waits for them"),
    WEIR_OPT_END,
};

enum { MAX_PHASES = 31 };

typedef struct sgp {
  exchange_buffer b;
  int64_t overlap;
  int peers, phases;               /* out-neighbours; versions until they repeat, 0: one rank */
  weir_request *phase[MAX_PHASES]; /* [phases] messages of a version */
  weir_request *under_way;         /* the one that is active, or NULL */
  void *x, *z;                     /* [count] weights to be divided by w, and what the parts had */
  double w;                        /* push-sum weight */
  void *out, *in[SGP_MAX_PEERS];   /* messages: [count] of x, and at `weight_at` of w */
  size_t weight_at, bytes;
  weir_request *sum_x, *sum_w;
  int64_t steps, version;
  int64_t begun, next; /* steps of the version under way and of the one after it */
  weir_exchange_counts counts;
} sgp;

static void close_sgp(void **state)
{
  sgp *x = *state;

  if (x != NULL) {
    for (int p = 0; p < x->phases; p++) {
      weir_request_destroy(&x->phase[p]);
    }
    weir_request_destroy(&x->sum_x);
    weir_request_destroy(&x->sum_w);
    weir_free(&x->x);
    weir_free(&x->z);
    weir_free(&x->out);
    for (int q = 0; q < SGP_MAX_PEERS; q++) {
      weir_free(&x->in[q]);
    }
    exchange_buffer_close(&x->b);
  }
  weir_free(state);
}

static weir_status create_buffers(sgp *x)
{
  const size_t size = x->b.sum->size * (size_t)x->b.count;

  x->weight_at = (size + sizeof(double) - 1) / sizeof(double) * sizeof(double);
  x->bytes = x->weight_at + sizeof(double);
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->x));
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->z));
  WEIR_TRY(weir_alloc((int64_t)x->bytes, 1, &x->out));
  for (int q = 0; q < x->peers; q++) {
    WEIR_TRY(weir_alloc((int64_t)x->bytes, 1, &x->in[q]));
  }
  exchange_buffer_get(&x->b, x->x);
  exchange_buffer_get(&x->b, x->z);
  return WEIR_OK;
}

static weir_status create_phase(sgp *x, int phase)
{
  weir_comm *const c = x->b.group;
  const int ranks = weir_comm_size(c), rank = weir_comm_rank(c);
  const int64_t bytes = (int64_t)x->bytes;
  weir_message list[2 * SGP_MAX_PEERS];

  for (int q = 0; q < x->peers; q++) {
    const int gap = 1 << (phase + q) % x->phases;

    list[2 * q] = (weir_message){(rank + ranks - gap) % ranks, true, x->in[q], bytes};
    list[2 * q + 1] = (weir_message){(rank + gap) % ranks, false, x->out, bytes};
  }
  return weir_messages_create(c, "weights pushed to neighbours", list, (int64_t)2 * x->peers,
                              &x->phase[phase]);
}

static weir_status create_phases(sgp *x)
{
  for (int p = 0; p < x->phases; p++) {
    WEIR_TRY(create_phase(x, p));
  }
  return WEIR_OK;
}

static weir_status create_sums(sgp *x)
{
  weir_comm *const c = x->b.group;

  WEIR_TRY(weir_allreduce_create(c, "weights", x->b.sum, x->x, x->b.count, &x->sum_x));
  return weir_allreduce_create(c, "push-sum weight", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F64),
                               &x->w, 1, &x->sum_w);
}

static weir_status open_sgp(const weir_exchange_args *a, void **state)
{
  const struct sgp_opts *opts = a->opts;
  sgp *x = NULL;
  weir_status status = weir_alloc(1, sizeof *x, (void **)&x);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  x->overlap = opts->overlap;
  x->steps = x->version = a->step;
  x->w = 1;
  WEIR_TRY_GOTO(exchange_buffer_open(a, "sgp", &x->b), failed);
  while ((int64_t)1 << x->phases < weir_comm_size(x->b.group)) {
    x->phases++;
  }
  x->peers = opts->peers < x->phases ? (int)opts->peers : x->phases;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_buffers(x)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_phases(x)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_sums(x)), failed);
  *state = x;
  return WEIR_OK;
failed:
  close_sgp((void **)&x);
  return status;
}

static double *weight_in(const sgp *x, void *message)
{
  return (double *)(void *)((char *)message + x->weight_at);
}

/* Sends the shares of the neighbours and keeps its own. */
static weir_status begin_version(sgp *x)
{
  exchange_buffer_divide(&x->b, x->x, x->peers + 1);
  x->w /= x->peers + 1;
  memcpy(x->out, x->x, (size_t)x->b.count * x->b.sum->size);
  *weight_in(x, x->out) = x->w;
  x->under_way = x->phase[x->version % x->phases];
  x->begun = x->steps;
  x->next = x->steps + (x->overlap > 0 ? x->overlap : 1);
  return weir_request_start(x->under_way);
}

/* Adds what neighbours sent, if it is there; wait: once it is. */
static weir_status end_version(sgp *x, bool wait)
{
  const int64_t age = x->steps - x->begun;
  bool done = wait;

  WEIR_TRY(wait ? weir_request_wait(x->under_way) : weir_request_test(x->under_way, &done));
  if (!done) {
    return WEIR_OK;
  }
  for (int q = 0; q < x->peers; q++) {
    x->b.sum->merge(x->x, x->in[q], x->b.count);
    x->w += *weight_in(x, x->in[q]);
  }
  x->under_way = NULL;
  x->version++;
  x->counts.versions++;
  x->counts.fresh += age == 0;
  x->counts.max_age = age > x->counts.max_age ? age : x->counts.max_age;
  return WEIR_OK;
}

/* The parts become z = x / w. */
static void put_quotient(sgp *x)
{
  memcpy(x->z, x->x, (size_t)x->b.count * x->b.sum->size);
  exchange_buffer_divide(&x->b, x->z, x->w);
  exchange_buffer_put(&x->b, x->z);
}

static void take_update(sgp *x)
{
  if (x->w == 1) { /* x is z: without rounding */
    exchange_buffer_get(&x->b, x->x);
  } else {
    exchange_buffer_add_change(&x->b, x->z, x->x);
  }
}

static weir_status run(void *state)
{
  sgp *x = state;

  x->steps++;
  if (x->phases == 0) {
    x->counts.versions++;
    x->counts.fresh++;
    return WEIR_OK;
  }
  take_update(x);
  if (x->under_way != NULL) {
    WEIR_TRY(end_version(x, x->steps == x->next));
  }
  if (x->steps >=
      x->next) { /* on all ranks in the same steps: each sends as often as others wait */
    WEIR_TRY(begin_version(x));
    WEIR_TRY(x->overlap == 0 ? end_version(x, true) : WEIR_OK);
  }
  put_quotient(x);
  return WEIR_OK;
}

/* Completes what is under way, and then takes the mean of all. */
static weir_status settle(void *state)
{
  sgp *x = state;

  if (x->phases == 0) {
    return WEIR_OK;
  }
  take_update(x);
  WEIR_TRY(x->under_way != NULL ? end_version(x, true) : WEIR_OK);
  WEIR_TRY(weir_request_run(x->sum_x));
  WEIR_TRY(weir_request_run(x->sum_w));
  put_quotient(x);
  memcpy(x->x, x->z, (size_t)x->b.count * x->b.sum->size);
  x->w = 1;
  x->version = x->steps; /* goes on as a run that begins here */
  x->next = x->steps + 1;
  return WEIR_OK;
}

static void count(const void *state, weir_exchange_counts *counts)
{
  *counts = ((const sgp *)state)->counts;
}

const weir_exchange_desc weir_exchange_sgp = {
    .name = "sgp",
    .cite = "Assran et al. 2019",
    .help = "push-sum averages of the weights along directed edges to ranks at distances of powers "
            "of 2, which may overlap with computation",
    .opts = options,
    .opts_size = sizeof(struct sgp_opts),
    .what = WEIR_EXCHANGE_WEIGHTS,
    .invariant = WEIR_REPLICAS_SETTLED,
    .scales = true,
    .open = open_sgp,
    .run = run,
    .settle = settle,
    .count = count,
    .close = close_sgp,
};
