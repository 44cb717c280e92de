/* allreduce.c - synchronous data parallelism, Chen et al. 2016 (arXiv:1604.00981): every rank gets
 * the sum of all gradients, in one order, so that replicas stay bitwise equal. */
#include "optim/exchange/allreduce/allreduce_priv.h"

#include "base/weir_alloc.h"
#include "comm/weir_request.h"

typedef struct allreduce {
  weir_comm *group[1 << WEIR_GRID_DIMS]; /* of ranks that differ in these dimensions, as needed */
  int n;
  weir_request *request[]; /* [n], NULL: nothing to exchange */
} allreduce;

static void close_sums(void **state)
{
  allreduce *x = *state;

  for (int i = 0; x != NULL && i < x->n; i++) {
    weir_request_destroy(&x->request[i]);
  }
  for (int i = 0; x != NULL && i < 1 << WEIR_GRID_DIMS; i++) {
    weir_comm_close(&x->group[i]);
  }
  weir_free(state);
}

/* Dimensions along which there are several ranks. */
static unsigned dims_of(const weir_exchange_args *a, int part)
{
  unsigned dims = a->part[part].dims;

  for (int d = 0; d < WEIR_GRID_DIMS; d++) {
    dims &= d < a->grid->dims && a->grid->extent[d] > 1 ? ~0u : ~(1u << d);
  }
  return dims;
}

static weir_status open_part(const weir_exchange_args *a, int i, allreduce *x)
{
  const weir_exchange_part *part = &a->part[i];
  const weir_reducer *sum = weir_reducer_of(WEIR_REDUCE_SUM, part->dtype);
  const unsigned dims = dims_of(a, i);

  if (dims == 0) {
    return WEIR_OK;
  }
  if (sum == NULL) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "allreduce: %s is not summed over ranks",
                     weir_dtype_name(part->dtype));
  }
  if (x->group[dims] == NULL) {
    WEIR_TRY(weir_grid_sub(a->grid, a->comm, dims, &x->group[dims]));
  }
  /* Ranks of one group agree in there; the other groups would wait for them at the next one. */
  return weir_comm_agree(a->comm, weir_allreduce_create(x->group[dims], "gradient", sum, part->data,
                                                        part->count, &x->request[i]));
}

static weir_status open_sums(const weir_exchange_args *a, void **state)
{
  allreduce *x = NULL;
  weir_status status = weir_alloc(1, sizeof *x + (size_t)a->n * sizeof x->request[0], (void **)&x);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  x->n = a->n;
  for (int i = 0; i < a->n; i++) {
    WEIR_TRY_GOTO(open_part(a, i, x), failed);
  }
  *state = x;
  return WEIR_OK;
failed:
  close_sums((void **)&x);
  return status;
}

/* All of them at once; each rank starts and waits in the same order. */
static weir_status run(void *state)
{
  allreduce *x = state;

  for (int i = 0; i < x->n; i++) {
    WEIR_TRY(x->request[i] != NULL ? weir_request_start(x->request[i]) : WEIR_OK);
  }
  for (int i = 0; i < x->n; i++) {
    WEIR_TRY(x->request[i] != NULL ? weir_request_wait(x->request[i]) : WEIR_OK);
  }
  return WEIR_OK;
}

const weir_exchange_desc weir_exchange_allreduce = {
    .name = "allreduce",
    .cite = "Chen et al. 2016",
    .help = "sum of the gradients of all ranks in every step, synchronously",
    .what = WEIR_EXCHANGE_GRADIENTS,
    .invariant = WEIR_REPLICAS_EQUAL,
    .in_plan = true,
    .open = open_sums,
    .run = run,
    .close = close_sums,
};
