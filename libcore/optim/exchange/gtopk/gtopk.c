/* gtopk.c - global top-k by a tree: pairs of ranks merge their k elements and keep the k largest of
 * the sum, up to rank 0, which gives them to all (Shi et al., "A distributed synchronous SGD
 * algorithm with global top-k sparsification for low bandwidth networks", ICDCS 2019,
 * arXiv:1901.04359). The busiest rank moves 4 k log2 P values and indices.
 *
 * What a merge drops is added to the residual of the rank that merges. (In the paper each rank
 * keeps its own element where the result lacks it: an element that one merge has dropped and the
 * result has through another pair is then lost.) */
#include <string.h>

#include "base/weir_alloc.h"
#include "optim/exchange_sparse.h"

enum { LEVELS = 30 }; /* of a tree over an int of ranks */

typedef struct gtopk {
  exchange_sparse x;
  char *mine, *theirs;  /* messages of k elements */
  exchange_list merged; /* [2 k] */
  int levels;
  weir_varying_message up[LEVELS], down[LEVELS];
  weir_request *up_request[LEVELS], *down_request[LEVELS];
} gtopk;

static void close_gtopk(void **state)
{
  gtopk *t = *state;

  if (t != NULL) {
    for (int l = 0; l < t->levels; l++) {
      weir_request_destroy(&t->up_request[l]);
      weir_request_destroy(&t->down_request[l]);
    }
    weir_free(&t->mine);
    weir_free(&t->theirs);
    weir_free(&t->merged.value);
    weir_free(&t->merged.index);
    exchange_sparse_close(&t->x);
  }
  weir_free(state);
}

static weir_status create_buffers(gtopk *t)
{
  const int64_t bytes = exchange_list_bytes(&t->x, t->x.k);

  WEIR_TRY(weir_alloc(bytes, 1, (void **)&t->mine));
  WEIR_TRY(weir_alloc(bytes, 1, (void **)&t->theirs));
  WEIR_TRY(weir_alloc(2 * t->x.k, t->x.b.sum->size, &t->merged.value));
  return weir_alloc(2 * t->x.k, sizeof *t->merged.index, (void **)&t->merged.index);
}

/* Message of a level of the tree, in which rank r has r + 2^l below it: *n is 1, or 0 where the
 * rank has no part in it. */
static void set_message(gtopk *t, int level, bool up, weir_varying_message *m, int *n)
{
  weir_comm *const c = t->x.b.group;
  const int step = 1 << level, rank = weir_comm_rank(c), place = rank % (2 * step);
  const bool receive = (place == 0) == up;
  const int peer = place == 0 ? rank + step : rank - step;

  *n = (place == 0 && peer < weir_comm_size(c)) || place == step;
  *m = (weir_varying_message){.peer = peer,
                              .receive = receive,
                              .data = up && receive ? t->theirs : t->mine,
                              .bytes = exchange_list_bytes(&t->x, t->x.k),
                              .index_bytes = t->x.k * (int64_t)sizeof(uint32_t)};
}

static weir_status create_requests(gtopk *t)
{
  weir_comm *const c = t->x.b.group;

  while (1 << t->levels < weir_comm_size(c)) {
    t->levels++;
  }
  for (int l = 0; l < t->levels; l++) {
    int up = 0, down = 0;

    set_message(t, l, true, &t->up[l], &up);
    set_message(t, l, false, &t->down[l], &down);
    WEIR_TRY(weir_comm_agree(
        c, weir_varying_create(c, "merge of selected elements", &t->up[l], up, &t->up_request[l])));
    WEIR_TRY(weir_comm_agree(
        c, weir_varying_create(c, "largest elements", &t->down[l], down, &t->down_request[l])));
  }
  return WEIR_OK;
}

static weir_status open_gtopk(const weir_exchange_args *a, void **state)
{
  gtopk *t = NULL;
  weir_status status = weir_alloc(1, sizeof *t, (void **)&t);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  WEIR_TRY_GOTO(exchange_sparse_open(a, "gtopk", a->opts, 1, &t->x), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_buffers(t)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_requests(t)), failed);
  *state = t;
  return WEIR_OK;
failed:
  close_gtopk((void **)&t);
  return status;
}

/* Appends an element to the merged ones, or adds it to the last one where that has its index. */
static void append(gtopk *t, const exchange_list *from, int64_t i)
{
  const weir_reducer *const sum = t->x.b.sum;
  exchange_list *const to = &t->merged;
  const char *const value = (const char *)from->value + (size_t)i * sum->size;

  if (to->count > 0 && to->index[to->count - 1] == from->index[i]) {
    sum->merge((char *)to->value + (size_t)(to->count - 1) * sum->size, value, 1);
  } else {
    memcpy((char *)to->value + (size_t)to->count * sum->size, value, sum->size);
    to->index[to->count++] = from->index[i];
  }
}

static void merge(gtopk *t)
{
  const int64_t k = t->x.k;
  const exchange_list a = exchange_list_view(&t->x, t->mine, k),
                      b = exchange_list_view(&t->x, t->theirs, k);

  t->merged.count = 0;
  for (int64_t i = 0, j = 0; i < k || j < k;) {
    const bool first = j == k || (i < k && a.index[i] <= b.index[j]);

    append(t, first ? &a : &b, first ? i++ : j++);
  }
}

/* Keeps the k largest of the merged elements, and the others as residual of this rank. */
static void keep_largest(gtopk *t)
{
  exchange_sparse *const x = &t->x;
  const weir_reducer *const sum = x->b.sum;
  const exchange_list *const m = &t->merged, to = exchange_list_view(x, t->mine, x->k);
  uint64_t key = 0;
  int64_t above = 0, equal = 0, n = 0;

  WEIR_ASSERT(exchange_kth(x->b.dtype, m->value, m->count, x->k, x->bins, NULL, &key) == WEIR_OK);
  exchange_count(x->b.dtype, m->value, m->count, key, &above, &equal);
  exchange_list chosen = {.value = to.value, .index = to.index};

  exchange_select(x->b.dtype, m->value, m->count, 0, key, x->k - above, &chosen);
  for (int64_t i = 0; i < m->count; i++) { /* chosen has places among the merged so far */
    if (n < chosen.count && chosen.index[n] == i) {
      chosen.index[n++] = m->index[i];
    } else {
      sum->merge((char *)x->residual + m->index[i] * sum->size,
                 (const char *)m->value + (size_t)i * sum->size, 1);
    }
  }
}

static weir_status run(void *state)
{
  gtopk *t = state;
  exchange_sparse *const x = &t->x;
  bool done = false;

  WEIR_TRY(exchange_sparse_begin(x, &done));
  if (done) {
    return WEIR_OK;
  }
  (void)exchange_sparse_top(x);
  exchange_sparse_clear(x);
  exchange_list_pack(x, &x->own, 0, x->k, t->mine);
  for (int l = 0; l < t->levels; l++) {
    const weir_varying_message *const m = &t->up[l];

    WEIR_TRY(weir_request_run(t->up_request[l]));
    if (m->receive && m->peer < weir_comm_size(x->b.group)) {
      merge(t);
      keep_largest(t);
    }
  }
  for (int l = t->levels - 1; l >= 0; l--) {
    WEIR_TRY(weir_request_run(t->down_request[l]));
  }
  const exchange_list result = exchange_list_view(x, t->mine, x->k);

  exchange_buffer_clear_parts(&x->b);
  exchange_buffer_scatter(&x->b, result.value, result.index, result.count);
  return WEIR_OK;
}

static int keep(void *state, weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX])
{
  return exchange_sparse_keep(&((gtopk *)state)->x, kept);
}

const weir_exchange_desc weir_exchange_gtopk = {
    .name = "gtopk",
    .cite = "Shi et al. 2019a",
    .help = "the largest elements of the sum of the largest elements of each rank, merged pair by "
            "pair; the others are kept for later steps",
    .opts = exchange_sparse_options,
    .opts_size = sizeof(struct exchange_sparse_opts),
    .what = WEIR_EXCHANGE_GRADIENTS,
    .invariant = WEIR_REPLICAS_EQUAL,
    .open = open_gtopk,
    .run = run,
    .keep = keep,
    .close = close_gtopk,
};
