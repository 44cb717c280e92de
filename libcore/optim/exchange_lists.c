/* exchange_lists.c - see exchange_lists.h. */
#include "optim/exchange_lists.h"

#include <string.h>

#include "base/weir_alloc.h"

enum { ALIGNMENT = 8, IN_FLIGHT = 4 }; /* messages of a batch */

/* Bytes of a block or message with what follows it up to the next one. */
static int64_t padded(int64_t bytes)
{
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- Allgather ---- */

static weir_status create_gather(weir_comm *c, exchange_gather *g)
{
  const int ranks = weir_comm_size(c), rank = weir_comm_rank(c);

  WEIR_TRY(weir_alloc(2 * ((int64_t)ranks - 1), sizeof *g->list, (void **)&g->list));
  WEIR_TRY(weir_alloc(ranks, sizeof *g->bytes, (void **)&g->bytes));
  WEIR_TRY(weir_alloc(ranks, sizeof *g->index_bytes, (void **)&g->index_bytes));
  WEIR_TRY(weir_alloc(ranks + 1, sizeof *g->at, (void **)&g->at));
  for (int k = 1; k < ranks; k++) {
    g->list[k - 1] = (weir_varying_message){.peer = (rank + ranks - k) % ranks, .receive = true};
    g->list[ranks + k - 2] = (weir_varying_message){.peer = (rank + k) % ranks};
  }
  return WEIR_OK;
}

weir_status exchange_gather_open(weir_comm *c, exchange_gather *out)
{
  *out = (exchange_gather){.list = NULL};
  WEIR_TRY(weir_comm_agree(c, create_gather(c, out)));
  return weir_comm_agree(c,
                         weir_varying_create(c, "selected elements of all ranks", out->list,
                                             2 * ((int64_t)weir_comm_size(c) - 1), &out->request));
}

void exchange_gather_close(exchange_gather *g)
{
  weir_request_destroy(&g->request);
  weir_free(&g->list);
  weir_free(&g->bytes);
  weir_free(&g->index_bytes);
  weir_free(&g->at);
  weir_free(&g->data);
}

weir_status exchange_gather_place(weir_comm *c, exchange_gather *g)
{
  const int ranks = weir_comm_size(c), rank = weir_comm_rank(c);

  for (int r = 0; r < ranks; r++) {
    g->at[r + 1] = g->at[r] + padded(g->bytes[r]);
  }
  WEIR_TRY(weir_reserve(&g->data, &g->capacity, g->at[ranks], 1));
  for (int i = 0; i < 2 * (ranks - 1); i++) {
    weir_varying_message *const m = &g->list[i];
    const int from = m->receive ? m->peer : rank;

    m->data = g->data + g->at[from];
    m->bytes = g->bytes[from];
    m->index_bytes = g->index_bytes[from];
  }
  return WEIR_OK;
}

void exchange_gather_expect(const exchange_sparse *x, exchange_gather *g, int rank, int64_t n)
{
  g->bytes[rank] = exchange_list_bytes(x, n);
  g->index_bytes[rank] = n * (int64_t)sizeof(uint32_t);
}

exchange_list exchange_gather_block(const exchange_sparse *x, const exchange_gather *g, int rank)
{
  return exchange_list_view(x, g->data + g->at[rank],
                            g->index_bytes[rank] / (int64_t)sizeof(uint32_t));
}

void exchange_gather_sum(const exchange_sparse *x, const exchange_gather *g)
{
  exchange_buffer_clear_parts(&x->b);
  for (int r = 0; r < weir_comm_size(x->b.group); r++) {
    const exchange_list one = exchange_gather_block(x, g, r);

    exchange_buffer_scatter(&x->b, one.value, one.index, one.count);
  }
}

/* ---- Numbers ---- */

weir_status exchange_numbers_open(weir_comm *c, int64_t each, exchange_numbers *out)
{
  const int ranks = weir_comm_size(c);
  int64_t *counts = NULL;
  weir_status status = weir_alloc(ranks, sizeof *counts, (void **)&counts);

  *out = (exchange_numbers){.n = NULL};
  status = status == WEIR_OK ? weir_alloc(ranks * each, sizeof *out->n, (void **)&out->n) : status;
  WEIR_TRY_GOTO(weir_comm_agree(c, status), done);
  for (int r = 0; r < ranks; r++) {
    counts[r] = each;
  }
  status = weir_allgather_create(c, "numbers of elements", sizeof *out->n, out->n, counts,
                                 &out->request);
done:
  weir_free(&counts);
  return status;
}

void exchange_numbers_close(exchange_numbers *x)
{
  weir_request_destroy(&x->request);
  weir_free(&x->n);
}

/* ---- Sums by regions ---- */

static weir_status create_split(exchange_split *s)
{
  weir_comm *const c = s->x->b.group;
  const int ranks = weir_comm_size(c), rank = weir_comm_rank(c);

  s->n_batches = (ranks - 1 + IN_FLIGHT - 1) / IN_FLIGHT;
  WEIR_TRY(weir_alloc(ranks + 1, sizeof *s->first, (void **)&s->first));
  WEIR_TRY(weir_alloc(ranks, sizeof *s->give, (void **)&s->give));
  WEIR_TRY(weir_alloc(ranks, sizeof *s->take, (void **)&s->take));
  WEIR_TRY(weir_alloc(ranks, sizeof *s->at, (void **)&s->at));
  WEIR_TRY(weir_alloc(2 * ((int64_t)ranks - 1), sizeof *s->list, (void **)&s->list));
  WEIR_TRY(weir_alloc(s->n_batches, sizeof(weir_request *), (void **)&s->batch));
  for (int r = 0; r <= ranks; r++) {
    s->first[r] = s->x->b.count / ranks * r + s->x->b.count % ranks * r / ranks;
  }
  for (int k = 1; k < ranks; k++) {
    s->list[2 * k - 2] =
        (weir_varying_message){.peer = (rank + ranks - k) % ranks, .receive = true};
    s->list[2 * k - 1] = (weir_varying_message){.peer = (rank + k) % ranks};
  }
  return WEIR_OK;
}

/* Messages with the numbers of elements; their list is needed no longer than this. */
static weir_status create_counts(exchange_split *s)
{
  weir_comm *const c = s->x->b.group;
  const int ranks = weir_comm_size(c), rank = weir_comm_rank(c);
  weir_message *list = NULL;

  weir_status status = weir_alloc(2 * ((int64_t)ranks - 1), sizeof *list, (void **)&list);

  for (int k = 1; k < ranks && status == WEIR_OK; k++) {
    const int from = (rank + ranks - k) % ranks, to = (rank + k) % ranks;

    list[2 * k - 2] = (weir_message){from, true, &s->take[from], sizeof s->take[0]};
    list[2 * k - 1] = (weir_message){to, false, &s->give[to], sizeof s->give[0]};
  }
  WEIR_TRY_GOTO(weir_comm_agree(c, status), done);
  status = weir_comm_agree(c, weir_messages_create(c, "numbers of selected elements", list,
                                                   2 * ((int64_t)ranks - 1), &s->counts));
done:
  weir_free(&list);
  return status;
}

weir_status exchange_split_open(const exchange_sparse *x, exchange_split *out)
{
  weir_comm *const c = x->b.group;
  const int64_t messages = 2 * ((int64_t)weir_comm_size(c) - 1);

  *out = (exchange_split){.x = x};
  WEIR_TRY(weir_comm_agree(c, create_split(out)));
  WEIR_TRY(create_counts(out));
  for (int i = 0; i < out->n_batches; i++) {
    const int64_t at = (int64_t)2 * IN_FLIGHT * i;
    const int64_t n = messages - at < 2 * IN_FLIGHT ? messages - at : 2 * IN_FLIGHT;

    WEIR_TRY(weir_comm_agree(c, weir_varying_create(c, "selected elements by region",
                                                    out->list + at, n, &out->batch[i])));
  }
  return WEIR_OK;
}

void exchange_split_close(exchange_split *s)
{
  for (int i = 0; i < s->n_batches && s->batch != NULL; i++) {
    weir_request_destroy(&s->batch[i]);
  }
  weir_request_destroy(&s->counts);
  weir_free(&s->batch);
  weir_free(&s->first);
  weir_free(&s->give);
  weir_free(&s->take);
  weir_free(&s->at);
  weir_free(&s->list);
  weir_free(&s->out);
  weir_free(&s->in);
  weir_free(&s->sum);
}

int64_t exchange_split_length(const exchange_split *s)
{
  const int rank = weir_comm_rank(s->x->b.group);

  return s->first[rank + 1] - s->first[rank];
}

/* Elements of the list with an index below `end`. */
static int64_t count_below(const exchange_list *list, int64_t end)
{
  int64_t lo = 0, hi = list->count;

  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (list->index[middle] < end) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo;
}

/* Packs what each rank gets. */
static weir_status pack(exchange_split *s)
{
  const exchange_sparse *const x = s->x;
  const int ranks = weir_comm_size(x->b.group);
  int64_t bytes = 0, from = 0;

  for (int r = 0; r < ranks; r++) {
    const int64_t to = count_below(&x->own, s->first[r + 1]);

    s->give[r] = to - from;
    s->at[r] = bytes;
    bytes += padded(exchange_list_bytes(x, to - from));
    from = to;
  }
  WEIR_TRY(weir_reserve(&s->out, &s->out_capacity, bytes, 1));
  from = 0;
  for (int r = 0; r < ranks; r++) {
    exchange_list_pack(x, &x->own, from, s->give[r], s->out + s->at[r]);
    from += s->give[r];
  }
  return WEIR_OK;
}

static void set_message(const exchange_split *s, weir_varying_message *m, int64_t n, void *data)
{
  m->data = data;
  m->bytes = exchange_list_bytes(s->x, n);
  m->index_bytes = n * (int64_t)sizeof(uint32_t);
}

/* Places what comes, of every second batch in the same half of `in`. */
static weir_status place(exchange_split *s)
{
  const int messages = weir_comm_size(s->x->b.group) - 1;
  int64_t most = 0, used = 0;

  for (int k = 0; k < messages; k++) {
    used = k % IN_FLIGHT == 0 ? 0 : used;
    used += padded(exchange_list_bytes(s->x, s->take[s->list[2 * k].peer]));
    most = used > most ? used : most;
  }
  WEIR_TRY(weir_reserve(&s->in, &s->in_capacity, 2 * most, 1));
  for (int k = 0; k < messages; k++) {
    weir_varying_message *const receive = &s->list[2 * k], *const send = receive + 1;

    used = k % IN_FLIGHT == 0 ? k / IN_FLIGHT % 2 * most : used;
    set_message(s, receive, s->take[receive->peer], s->in + used);
    set_message(s, send, s->give[send->peer], s->out + s->at[send->peer]);
    used += padded(receive->bytes);
  }
  return WEIR_OK;
}

static void add(const exchange_split *s, void *bytes, int64_t n)
{
  const exchange_list list = exchange_list_view(s->x, bytes, n);
  const weir_reducer *const sum = s->x->b.sum;
  const int64_t first = s->first[weir_comm_rank(s->x->b.group)];

  for (int64_t i = 0; i < n; i++) {
    sum->merge((char *)s->sum + (size_t)(list.index[i] - first) * sum->size,
               (const char *)list.value + (size_t)i * sum->size, 1);
  }
}

static void add_batch(const exchange_split *s, int batch)
{
  const int messages = weir_comm_size(s->x->b.group) - 1;

  for (int k = batch * IN_FLIGHT; k < messages && k < (batch + 1) * IN_FLIGHT; k++) {
    add(s, s->list[2 * k].data, s->take[s->list[2 * k].peer]);
  }
}

weir_status exchange_split_run(exchange_split *s)
{
  const int rank = weir_comm_rank(s->x->b.group);
  const int64_t length = exchange_split_length(s);

  WEIR_TRY(pack(s));
  WEIR_TRY(weir_request_run(s->counts));
  WEIR_TRY(place(s));
  WEIR_TRY(weir_reserve(&s->sum, &s->sum_capacity, length, s->x->b.sum->size));
  WEIR_TRY(s->n_batches > 0 ? weir_request_start(s->batch[0]) : WEIR_OK);
  if (length > 0) {
    memset(s->sum, 0, (size_t)length * s->x->b.sum->size);
  }
  add(s, s->out + s->at[rank], s->give[rank]);
  for (int i = 0; i < s->n_batches; i++) {
    WEIR_TRY(weir_request_wait(s->batch[i]));
    WEIR_TRY(i + 1 < s->n_batches ? weir_request_start(s->batch[i + 1]) : WEIR_OK);
    add_batch(s, i);
  }
  return WEIR_OK;
}
