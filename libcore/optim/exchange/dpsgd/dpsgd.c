/* dpsgd.c - decentralised parallel SGD, Lian et al., "Can decentralized algorithms outperform
 * centralized algorithms?" (NeurIPS 2017, arXiv:1705.09056): replicas form a ring, and after each
 * update the weights of one become the mean of its own and of those of both neighbours. A rank
 * waits for its neighbours alone; bytes of a step do not grow with the number of ranks. */
#include "base/weir_alloc.h"
#include "comm/weir_request.h"
#include "optim/exchange_buffer.h"

enum { LEFT, RIGHT, OWN, BUFFERS };

typedef struct dpsgd {
  exchange_buffer b;
  void *weights[BUFFERS]; /* [count] each */
  int neighbours;         /* 0 to 2: on two ranks both are the same */
  weir_request *exchange, *sum;
} dpsgd;

static void close_dpsgd(void **state)
{
  dpsgd *x = *state;

  if (x != NULL) {
    weir_request_destroy(&x->exchange);
    weir_request_destroy(&x->sum);
    for (int k = 0; k < BUFFERS; k++) {
      weir_free(&x->weights[k]);
    }
    exchange_buffer_close(&x->b);
  }
  weir_free(state);
}

static weir_status create_buffers(dpsgd *x)
{
  for (int k = 0; k < BUFFERS; k++) {
    WEIR_TRY(exchange_buffer_alloc(&x->b, &x->weights[k]));
  }
  return WEIR_OK;
}

/* Between two ranks, messages are in the same order on both sides: of one pair only one each way.
 */
static weir_status create_exchange(dpsgd *x)
{
  weir_comm *const c = x->b.group;
  const int ranks = weir_comm_size(c), rank = weir_comm_rank(c);
  const int peer[] = {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
  const int64_t bytes = x->b.count * (int64_t)x->b.sum->size;
  weir_message list[4];

  x->neighbours = ranks > 2 ? 2 : ranks - 1;
  for (int k = 0; k < x->neighbours; k++) {
    list[2 * k] = (weir_message){peer[k], true, x->weights[k], bytes};
    list[2 * k + 1] = (weir_message){peer[k], false, x->weights[OWN], bytes};
  }
  return weir_messages_create(c, "weights of neighbours", list, (int64_t)2 * x->neighbours,
                              &x->exchange);
}

static weir_status open_dpsgd(const weir_exchange_args *a, void **state)
{
  dpsgd *x = NULL;
  weir_status status = weir_alloc(1, sizeof *x, (void **)&x);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  WEIR_TRY_GOTO(exchange_buffer_open(a, "dpsgd", &x->b), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_buffers(x)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_exchange(x)), failed);
  WEIR_TRY_GOTO(
      weir_comm_agree(a->comm, weir_allreduce_create(x->b.group, "weights", x->b.sum,
                                                     x->weights[OWN], x->b.count, &x->sum)),
      failed);
  *state = x;
  return WEIR_OK;
failed:
  close_dpsgd((void **)&x);
  return status;
}

static weir_status run(void *state)
{
  dpsgd *x = state;

  exchange_buffer_get(&x->b, x->weights[OWN]);
  WEIR_TRY(weir_request_run(x->exchange));
  for (int k = 0; k < x->neighbours; k++) {
    x->b.sum->merge(x->weights[OWN], x->weights[k], x->b.count);
  }
  exchange_buffer_divide(&x->b, x->weights[OWN], x->neighbours + 1);
  exchange_buffer_put(&x->b, x->weights[OWN]);
  return WEIR_OK;
}

static weir_status settle(void *state)
{
  dpsgd *x = state;

  return exchange_buffer_average(&x->b, x->sum, x->weights[OWN]);
}

const weir_exchange_desc weir_exchange_dpsgd = {
    .name = "dpsgd",
    .cite = "Lian et al. 2017",
    .help = "mean of the weights of each rank and its two neighbours in a ring, every step",
    .what = WEIR_EXCHANGE_WEIGHTS,
    .invariant = WEIR_REPLICAS_SETTLED,
    .scales = true,
    .open = open_dpsgd,
    .run = run,
    .settle = settle,
    .close = close_dpsgd,
};
