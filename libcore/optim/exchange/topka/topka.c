/* topka.c - sparse sum by an allgather: every rank gives its k largest elements to all others, and
 * adds up those of all (TopkA; Renggli et al., "SparCML: high-performance sparse communication for
 * machine learning", SC 2019, arXiv:1802.08021, section 5.3). With error feedback (Aji and
 * Heafield 2017). The sum has up to k P elements; a rank sends and receives 2 k (P - 1) values and
 * indices. */
#include "base/weir_alloc.h"
#include "optim/exchange_lists.h"

typedef struct topka {
  exchange_sparse x;
  exchange_gather all;
} topka;

static void close_topka(void **state)
{
  topka *t = *state;

  if (t != NULL) {
    exchange_gather_close(&t->all);
    exchange_sparse_close(&t->x);
  }
  weir_free(state);
}

/* Every block has k elements. */
static weir_status place(topka *t)
{
  for (int r = 0; r < weir_comm_size(t->x.b.group); r++) {
    exchange_gather_expect(&t->x, &t->all, r, t->x.k);
  }
  return exchange_gather_place(t->x.b.group, &t->all);
}

static weir_status open_topka(const weir_exchange_args *a, void **state)
{
  topka *t = NULL;
  weir_status status = weir_alloc(1, sizeof *t, (void **)&t);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  WEIR_TRY_GOTO(exchange_sparse_open(a, "topka", a->opts, 1, &t->x), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, exchange_gather_open(t->x.b.group, &t->all)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, place(t)), failed);
  *state = t;
  return WEIR_OK;
failed:
  close_topka((void **)&t);
  return status;
}

static weir_status run(void *state)
{
  topka *t = state;
  exchange_sparse *const x = &t->x;
  bool done = false;

  WEIR_TRY(exchange_sparse_begin(x, &done));
  if (done) {
    return WEIR_OK;
  }
  (void)exchange_sparse_top(x);
  exchange_list_pack(x, &x->own, 0, x->k, t->all.data + t->all.at[weir_comm_rank(x->b.group)]);
  WEIR_TRY(weir_request_run(t->all.request));
  exchange_gather_sum(x, &t->all);
  exchange_sparse_clear(x);
  return WEIR_OK;
}

static int keep(void *state, weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX])
{
  return exchange_sparse_keep(&((topka *)state)->x, kept);
}

const weir_exchange_desc weir_exchange_topka = {
    .name = "topka",
    .cite = "Renggli et al. 2019",
    .help = "sum of the largest elements of each rank's gradient by an allgather; the others are "
            "kept for later steps",
    .opts = exchange_sparse_options,
    .opts_size = sizeof(struct exchange_sparse_opts),
    .what = WEIR_EXCHANGE_GRADIENTS,
    .invariant = WEIR_REPLICAS_EQUAL,
    .open = open_topka,
    .run = run,
    .keep = keep,
    .close = close_topka,
};
