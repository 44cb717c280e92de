/* local.c - local SGD: every replica trains alone, and their weights are averaged now and then
 * (Stich 2019, arXiv:1805.09767); in the first steps after each one (post-local SGD, Lin et al.
 * 2020, arXiv:1808.07217). */
#include "optim/exchange/local/local_priv.h"

#include "base/weir_alloc.h"
#include "optim/exchange_buffer.h"

static const weir_opt options[] = {
    WEIR_OPT_INT(struct local_opts, period, 8, 1, 1e9, "steps",
                 "steps from one average of the weights of all replicas to the next"),
    WEIR_OPT_INT(struct local_opts, first, 0, 0, 1e9, "steps",
                 "steps at the beginning after each of which weights are averaged"),
    WEIR_OPT_END,
};

typedef struct local {
  exchange_buffer b;
  struct local_opts opts;
  void *weights; /* [count] */
  weir_request *sum;
  int64_t steps;
  bool equal; /* the replicas, since the last average */
} local;

static void close_local(void **state)
{
  local *x = *state;

  if (x != NULL) {
    weir_request_destroy(&x->sum);
    weir_free(&x->weights);
    exchange_buffer_close(&x->b);
  }
  weir_free(state);
}

static weir_status open_local(const weir_exchange_args *a, void **state)
{
  local *x = NULL;
  weir_status status = weir_alloc(1, sizeof *x, (void **)&x);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  x->opts = *(const struct local_opts *)a->opts;
  x->steps = a->step;
  WEIR_TRY_GOTO(exchange_buffer_open(a, "local", &x->b), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, exchange_buffer_alloc(&x->b, &x->weights)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, weir_allreduce_create(x->b.group, "weights", x->b.sum,
                                                               x->weights, x->b.count, &x->sum)),
                failed);
  *state = x;
  return WEIR_OK;
failed:
  close_local((void **)&x);
  return status;
}

static weir_status average(local *x)
{
  WEIR_TRY(exchange_buffer_average(&x->b, x->sum, x->weights));
  x->equal = true;
  return WEIR_OK;
}

static weir_status run(void *state)
{
  local *x = state;

  x->steps++;
  x->equal = false;
  return x->steps <= x->opts.first || x->steps % x->opts.period == 0 ? average(x) : WEIR_OK;
}

static weir_status settle(void *state)
{
  local *x = state;

  return x->equal ? WEIR_OK : average(x);
}

const weir_exchange_desc weir_exchange_local = {
    .name = "local",
    .cite = "Stich 2019; Lin et al. 2020",
    .help = "average of the weights of all ranks every so many steps, between which each trains "
            "alone",
    .opts = options,
    .opts_size = sizeof(struct local_opts),
    .what = WEIR_EXCHANGE_WEIGHTS,
    .invariant = WEIR_REPLICAS_SETTLED,
    .scales = true,
    .open = open_local,
    .run = run,
    .settle = settle,
    .close = close_local,
};
