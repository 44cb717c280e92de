/* topkdsa.c - sparse sum by regions: every rank gives its k largest elements to the owners of equal
 * regions, which add them up and give the sums to all (dynamic sparse allreduce; Renggli et al.,
 * "SparCML", SC 2019, arXiv:1802.08021, section 5.3.2). A region that has filled up so far that its
 * elements with indices would be longer is sent dense. With error feedback. */
#include <string.h>

#include "base/weir_alloc.h"
#include "optim/exchange_lists.h"

typedef struct topkdsa {
  exchange_sparse x;
  exchange_split split;
  exchange_gather all;
  exchange_numbers filled; /* elements other than 0 of each region */
} topkdsa;

static void close_topkdsa(void **state)
{
  topkdsa *t = *state;

  if (t != NULL) {
    exchange_numbers_close(&t->filled);
    exchange_gather_close(&t->all);
    exchange_split_close(&t->split);
    exchange_sparse_close(&t->x);
  }
  weir_free(state);
}

static weir_status open_topkdsa(const weir_exchange_args *a, void **state)
{
  topkdsa *t = NULL;
  weir_status status = weir_alloc(1, sizeof *t, (void **)&t);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  WEIR_TRY_GOTO(exchange_sparse_open(a, "topkdsa", a->opts, 1, &t->x), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, exchange_split_open(&t->x, &t->split)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, exchange_gather_open(t->x.b.group, &t->all)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, exchange_numbers_open(t->x.b.group, 1, &t->filled)),
                failed);
  *state = t;
  return WEIR_OK;
failed:
  close_topkdsa((void **)&t);
  return status;
}

static int64_t dense_bytes(const topkdsa *t, int rank)
{
  return (t->split.first[rank + 1] - t->split.first[rank]) * (int64_t)t->x.b.sum->size;
}

static bool is_dense(const topkdsa *t, int rank)
{
  return exchange_list_bytes(&t->x, t->filled.n[rank]) >= dense_bytes(t, rank);
}

/* Exchanges how full the regions are, and places them. */
static weir_status place(topkdsa *t)
{
  const int ranks = weir_comm_size(t->x.b.group), rank = weir_comm_rank(t->x.b.group);
  int64_t zeros = 0;

  exchange_count(t->x.b.dtype, t->split.sum, exchange_split_length(&t->split), 0,
                 &t->filled.n[rank], &zeros);
  WEIR_TRY(weir_request_run(t->filled.request));
  for (int r = 0; r < ranks; r++) {
    const bool dense = is_dense(t, r);

    exchange_gather_expect(&t->x, &t->all, r, dense ? 0 : t->filled.n[r]);
    t->all.bytes[r] = dense ? dense_bytes(t, r) : t->all.bytes[r];
  }
  return exchange_gather_place(t->x.b.group, &t->all);
}

/* Writes this rank's region, dense or sparse. */
static void write_own(topkdsa *t)
{
  const int rank = weir_comm_rank(t->x.b.group);
  const int64_t length = exchange_split_length(&t->split);
  char *const to = t->all.data + t->all.at[rank];

  if (!is_dense(t, rank)) {
    exchange_list list = exchange_gather_block(&t->x, &t->all, rank);

    exchange_select(t->x.b.dtype, t->split.sum, length, t->split.first[rank], 0, 0, &list);
  } else if (length > 0) {
    memcpy(to, t->split.sum, (size_t)dense_bytes(t, rank));
  }
}

static weir_status run(void *state)
{
  topkdsa *t = state;
  exchange_sparse *const x = &t->x;
  bool done = false;

  WEIR_TRY(exchange_sparse_begin(x, &done));
  if (done) {
    return WEIR_OK;
  }
  (void)exchange_sparse_top(x);
  WEIR_TRY(exchange_split_run(&t->split));
  WEIR_TRY(place(t));
  write_own(t);
  WEIR_TRY(weir_request_run(t->all.request));
  exchange_buffer_clear_parts(&x->b);
  for (int r = 0; r < weir_comm_size(x->b.group); r++) {
    if (is_dense(t, r)) {
      exchange_buffer_add_range(&x->b, t->all.data + t->all.at[r], t->split.first[r],
                                t->split.first[r + 1]);
    } else {
      const exchange_list one = exchange_gather_block(x, &t->all, r);

      exchange_buffer_scatter(&x->b, one.value, one.index, one.count);
    }
  }
  exchange_sparse_clear(x);
  return WEIR_OK;
}

static int keep(void *state, weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX])
{
  return exchange_sparse_keep(&((topkdsa *)state)->x, kept);
}

const weir_exchange_desc weir_exchange_topkdsa = {
    .name = "topkdsa",
    .cite = "Renggli et al. 2019",
    .help = "as topka, added up by regions on their owners first: fewer bytes where ranks select "
            "the same elements",
    .opts = exchange_sparse_options,
    .opts_size = sizeof(struct exchange_sparse_opts),
    .what = WEIR_EXCHANGE_GRADIENTS,
    .invariant = WEIR_REPLICAS_EQUAL,
    .open = open_topkdsa,
    .run = run,
    .keep = keep,
    .close = close_topkdsa,
};
