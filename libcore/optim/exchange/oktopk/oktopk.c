/* oktopk.c - near-optimal sparse allreduce, Li and Hoefler, "Near-optimal sparse allreduce for
 * distributed deep learning" (PPoPP 2022, arXiv:2201.07598).
 *
 * A step, algorithms 1 and 2 there:
 *   1. each rank selects the elements of its residual and gradient above a local threshold, k of n;
 *   2. every rank owns a region, and gets what all have selected of it: their sum. Boundaries are
 *      quantiles of the selected indices, so that regions get about as many elements each;
 *   3. sums above a global threshold are the result. They are moved, so that every rank has as many
 *      (within one), and given to all.
 * Both thresholds are those of exactly k elements every `threshold_period` steps, and in between
 * scaled by a factor where they select too few or too many. A rank moves at most about
 * 2 k (P - 1) / P values and as many indices in each of 2, the moves of 3 and the allgather: 6 k
 * (P - 1) / P words.
 *
 * An element's residual becomes 0 where the rank has given it and the result has it; every other
 * one stays. The exact global threshold comes from sums of histograms over the ranks, bit by bit of
 * the magnitude, in place of all sums on all ranks (algorithm 1, line 11): the same threshold for
 * fewer bytes. Ties are broken by index. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "optim/exchange/oktopk/oktopk_priv.h"
#include "optim/exchange_lists.h"

static const weir_opt options[] = {
    EXCHANGE_SPARSE_ROWS(struct oktopk_opts),
    EXCHANGE_RESELECT_ROW(struct oktopk_opts),
    WEIR_OPT_INT(struct oktopk_opts, threshold_period, 32, 1, 1e9, "steps",
                 "steps from one exact selection, local and global, to the next"),
    WEIR_OPT_INT(struct oktopk_opts, region_period, 64, 1, 1e9, "steps",
                 "steps after which the regions are balanced anew"),
    WEIR_OPT_REAL(struct oktopk_opts, local_scale, 1.025, 1, 10, "1",
                  "factor of the local threshold where it selects too few or too many elements"),
    WEIR_OPT_REAL(struct oktopk_opts, global_scale, 1.025, 1, 10, "1",
                  "likewise of the global threshold"),
    WEIR_OPT_REAL(struct oktopk_opts, band, 1.1, 1, 10, "1",
                  "too few are under k / band, too many over k band; 1.25 in the paper, with which "
                  "numbers stay near that limit while magnitudes drift"),
    WEIR_OPT_ENUM(struct oktopk_opts, regions, OKTOPK_BALANCED, "balanced|equal",
                  "boundaries of the regions that ranks own: quantiles of the selected indices, or "
                  "equal numbers of elements"),
    WEIR_OPT_INT(struct oktopk_opts, error_period, 0, 0, 1e9, "steps",
                 "steps from one measurement of the error of the selection to the next, in the "
                 "event exchange_error; each takes two dense sums. 0: none"),
    WEIR_OPT_END,
};

typedef struct oktopk {
  exchange_sparse x;
  struct oktopk_opts opts;
  exchange_split split;
  exchange_numbers counts; /* [ranks, 2] sums above the threshold, and equal to it */
  exchange_gather all;
  oktopk_error error;
  double local, global; /* thresholds, NaN: not known */
  int64_t *region;      /* [ranks + 1] boundaries; the last one 0: not known */
  exchange_list chosen; /* sums of this rank's region that go into the result */
  int64_t *at, *block;  /* [ranks + 1] of the result: where the chosen ones of a rank are, and the
                           blocks after moving */
  char *moved;          /* messages of the moves */
  int64_t moved_capacity;
  weir_varying_message *list;
  weir_request *sum_regions, *sum_bins, *moves;
} oktopk;

static void close_oktopk(void **state)
{
  oktopk *t = *state;

  if (t != NULL) {
    weir_request_destroy(&t->sum_regions);
    weir_request_destroy(&t->sum_bins);
    weir_request_destroy(&t->moves);
    oktopk_error_close(&t->error);
    exchange_numbers_close(&t->counts);
    exchange_gather_close(&t->all);
    exchange_split_close(&t->split);
    weir_free(&t->region);
    weir_free(&t->chosen.value);
    weir_free(&t->chosen.index);
    weir_free(&t->at);
    weir_free(&t->block);
    weir_free(&t->moved);
    weir_free(&t->list);
    exchange_sparse_close(&t->x);
  }
  weir_free(state);
}

static weir_status create_buffers(oktopk *t)
{
  const int ranks = weir_comm_size(t->x.b.group), rank = weir_comm_rank(t->x.b.group);

  WEIR_TRY(weir_alloc(ranks + 1, sizeof *t->region, (void **)&t->region));
  WEIR_TRY(weir_alloc(t->x.capacity, t->x.b.sum->size, &t->chosen.value));
  WEIR_TRY(weir_alloc(t->x.capacity, sizeof *t->chosen.index, (void **)&t->chosen.index));
  WEIR_TRY(weir_alloc(ranks + 1, sizeof *t->at, (void **)&t->at));
  WEIR_TRY(weir_alloc(ranks + 1, sizeof *t->block, (void **)&t->block));
  WEIR_TRY(weir_alloc(2 * ((int64_t)ranks - 1), sizeof *t->list, (void **)&t->list));
  for (int k = 1; k < ranks; k++) {
    t->list[2 * k - 2] =
        (weir_varying_message){.peer = (rank + ranks - k) % ranks, .receive = true};
    t->list[2 * k - 1] = (weir_varying_message){.peer = (rank + k) % ranks};
  }
  return WEIR_OK;
}

static weir_status create_requests(oktopk *t)
{
  weir_comm *const c = t->x.b.group;
  const weir_reducer *const sum = weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64);

  WEIR_TRY(exchange_split_open(&t->x, &t->split));
  WEIR_TRY(exchange_numbers_open(c, 2, &t->counts));
  WEIR_TRY(exchange_gather_open(c, &t->all));
  WEIR_TRY(oktopk_error_open(&t->x, t->opts.error_period, &t->error));
  WEIR_TRY(weir_allreduce_create(c, "boundaries of regions", sum, t->region + 1,
                                 weir_comm_size(c) - 1, &t->sum_regions));
  WEIR_TRY(weir_allreduce_create(c, "histogram of magnitudes", sum, t->x.bins, EXCHANGE_BINS,
                                 &t->sum_bins));
  return weir_comm_agree(c, weir_varying_create(c, "moves of selected elements", t->list,
                                                2 * ((int64_t)weir_comm_size(c) - 1), &t->moves));
}

static weir_status open_oktopk(const weir_exchange_args *a, void **state)
{
  oktopk *t = NULL;
  weir_status status = weir_alloc(1, sizeof *t, (void **)&t);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  t->opts = *(const struct oktopk_opts *)a->opts;
  t->local = t->global = NAN;
  const struct exchange_sparse_opts opts = {t->opts.density, t->opts.dense_steps};

  WEIR_TRY_GOTO(exchange_sparse_open(a, "oktopk", &opts, t->opts.reselect_factor, &t->x), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_buffers(t)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_requests(t)), failed);
  *state = t;
  return WEIR_OK;
failed:
  close_oktopk((void **)&t);
  return status;
}

/* ---- Thresholds ---- */

/* Fewest elements that a threshold may select. */
static int64_t least(const oktopk *t)
{
  return (int64_t)ceil((double)t->x.k / t->opts.reselect_factor);
}

/* Steps are counted from 1 once they have begun. */
static bool is_due(const oktopk *t, int64_t period)
{
  return (t->x.step - 1) % period == 0;
}

/* Whether thresholds are those of exactly k elements: also where these are all. */
static bool is_exact(const oktopk *t)
{
  return is_due(t, t->opts.threshold_period) || t->x.k == t->x.b.count;
}

static void adapt(const oktopk *t, double *threshold, double scale, int64_t selected)
{
  const double n = (double)selected, k = (double)t->x.k;

  if (n * t->opts.band < k) {
    *threshold /= scale;
  } else if (n > k * t->opts.band) {
    *threshold *= scale;
  }
}

static void select_local(oktopk *t)
{
  exchange_sparse *const x = &t->x;

  if (!is_exact(t) && !isnan(t->local) &&
      exchange_sparse_above(x, exchange_key(x->b.dtype, t->local), least(t))) {
    adapt(t, &t->local, t->opts.local_scale, x->own.count);
  } else {
    t->local = exchange_magnitude(x->b.dtype, exchange_sparse_top(x));
  }
}

/* Sums of this rank's region of a larger key and of this one, and those of all ranks; returns how
 * many in all. */
static weir_status count_sums(oktopk *t, uint64_t key, int64_t *above, int64_t *equal)
{
  const int ranks = weir_comm_size(t->x.b.group), rank = weir_comm_rank(t->x.b.group);
  int64_t *const own = t->counts.n + 2 * rank;

  exchange_count(t->x.b.dtype, t->split.sum, exchange_split_length(&t->split), key, &own[0],
                 &own[1]);
  WEIR_TRY(weir_request_run(t->counts.request));
  *above = *equal = 0;
  for (int r = 0; r < ranks; r++) {
    *above += t->counts.n[2 * r];
    *equal += t->counts.n[2 * r + 1];
  }
  return WEIR_OK;
}

/* Finds the key of the sums that go into the result, and how many of those with that key do. */
static weir_status find_global(oktopk *t, uint64_t *key, int64_t *ties)
{
  exchange_sparse *const x = &t->x;
  const weir_dtype dtype = x->b.dtype;
  int64_t above = 0, equal = 0;

  if (!is_exact(t) && !isnan(t->global)) {
    const uint64_t kept = exchange_key(dtype, t->global);

    *key = kept > 0 ? kept : 1;
    WEIR_TRY(count_sums(t, *key, &above, &equal));
    if (above + equal <= x->capacity && above + equal >= least(t)) {
      *ties = equal;
      adapt(t, &t->global, t->opts.global_scale, above + equal);
      return WEIR_OK;
    }
  }
  WEIR_TRY(exchange_kth(dtype, t->split.sum, exchange_split_length(&t->split), x->k, x->bins,
                        t->sum_bins, key));
  t->global = exchange_magnitude(dtype, *key);
  *key = *key > 0 ? *key : 1; /* fewer than k are not 0 */
  WEIR_TRY(count_sums(t, *key, &above, &equal));
  *ties = x->k - above < equal ? x->k - above : equal;
  return WEIR_OK;
}

/* Selects the sums of this rank's region that go into the result; those of the key by rank. */
static weir_status select_global(oktopk *t)
{
  const int ranks = weir_comm_size(t->x.b.group), rank = weir_comm_rank(t->x.b.group);
  int64_t ties = 0, own_ties = 0;
  uint64_t key = 0;

  WEIR_TRY(find_global(t, &key, &ties));
  for (int r = 0; r < ranks; r++) {
    const int64_t above = t->counts.n[2 * r], equal = t->counts.n[2 * r + 1];
    const int64_t taken = equal < ties ? equal : ties;

    t->at[r + 1] = t->at[r] + above + taken;
    ties -= taken;
    own_ties = r == rank ? taken : own_ties;
  }
  exchange_select(t->x.b.dtype, t->split.sum, exchange_split_length(&t->split),
                  t->split.first[rank], key, own_ties, &t->chosen);
  return WEIR_OK;
}

/* ---- Regions and blocks ---- */

/* Boundaries of P regions with as many selected elements each: the mean of those of all ranks. */
static weir_status balance_regions(oktopk *t)
{
  const exchange_list *const own = &t->x.own;
  const int ranks = weir_comm_size(t->x.b.group);
  const int64_t n = t->x.b.count;

  if (t->opts.regions == OKTOPK_EQUAL) {
    return WEIR_OK;
  }
  if (is_due(t, t->opts.region_period) || t->region[ranks] == 0) {
    for (int r = 1; r < ranks; r++) {
      t->region[r] = own->count > 0 ? own->index[own->count * r / ranks] : n * r / ranks;
    }
    WEIR_TRY(weir_request_run(t->sum_regions));
    for (int r = 1; r < ranks; r++) {
      t->region[r] /= ranks;
    }
    t->region[ranks] = n;
  }
  memcpy(t->split.first, t->region, ((size_t)ranks + 1) * sizeof *t->region);
  return WEIR_OK;
}

/* Elements of the result that are chosen by one rank and go into the block of another: from *lo. */
static int64_t overlap(const oktopk *t, int from, int to, int64_t *lo)
{
  const int64_t end = t->at[from + 1] < t->block[to + 1] ? t->at[from + 1] : t->block[to + 1];

  *lo = t->at[from] > t->block[to] ? t->at[from] : t->block[to];
  return end > *lo ? end - *lo : 0;
}

/* Message with the overlap of two ranks, at `used` of the moved bytes, which it advances. */
static void set_move(oktopk *t, weir_varying_message *m, int64_t n, int64_t *used)
{
  m->bytes = exchange_list_bytes(&t->x, n);
  m->index_bytes = n * (int64_t)sizeof(uint32_t);
  m->data = t->moved + *used;
  *used += (m->bytes + 7) / 8 * 8;
}

/* Copies a list into another one from element `at` on. */
static void copy_list(const oktopk *t, const exchange_list *from, exchange_list *to, int64_t at)
{
  const size_t size = t->x.b.sum->size;

  if (from->count > 0) {
    memcpy((char *)to->value + (size_t)at * size, from->value, (size_t)from->count * size);
    memcpy(to->index + at, from->index, (size_t)from->count * sizeof *to->index);
  }
}

/* Equal blocks of the result, within one element. */
static weir_status place_blocks(oktopk *t)
{
  weir_comm *const c = t->x.b.group;
  const int ranks = weir_comm_size(c), rank = weir_comm_rank(c);
  const int64_t total = t->at[ranks];

  for (int r = 0; r < ranks; r++) {
    t->block[r + 1] = total * (r + 1) / ranks;
    exchange_gather_expect(&t->x, &t->all, r, t->block[r + 1] - t->block[r]);
  }
  WEIR_TRY(exchange_gather_place(c, &t->all));
  const int64_t most = t->chosen.count + t->block[rank + 1] - t->block[rank];

  return weir_reserve(&t->moved, &t->moved_capacity,
                      exchange_list_bytes(&t->x, most) + 8 * 2 * (int64_t)ranks, 1);
}

/* Moves the chosen elements between ranks, so that each has its block of the result. */
static weir_status move(oktopk *t)
{
  const exchange_sparse *const x = &t->x;
  const int ranks = weir_comm_size(x->b.group), rank = weir_comm_rank(x->b.group);
  exchange_list block;
  int64_t lo = 0, used = 0;

  WEIR_TRY(place_blocks(t));
  block = exchange_gather_block(x, &t->all, rank);
  for (int i = 0; i < 2 * (ranks - 1); i++) {
    weir_varying_message *const m = &t->list[i];
    const int64_t n = m->receive ? overlap(t, m->peer, rank, &lo) : overlap(t, rank, m->peer, &lo);

    set_move(t, m, n, &used);
    if (!m->receive) {
      exchange_list_pack(x, &t->chosen, n > 0 ? lo - t->at[rank] : 0, n, m->data);
    }
  }
  WEIR_TRY(weir_request_run(t->moves));
  for (int i = 0; i < ranks - 1; i++) {
    const int64_t n = overlap(t, t->list[2 * i].peer, rank, &lo);
    const exchange_list came = exchange_list_view(x, t->list[2 * i].data, n);

    copy_list(t, &came, &block, lo - t->block[rank]);
  }
  const int64_t n = overlap(t, rank, rank, &lo);
  const exchange_list own = {.value = (char *)t->chosen.value +
                                      (n > 0 ? (size_t)(lo - t->at[rank]) * x->b.sum->size : 0),
                             .index = t->chosen.index + (n > 0 ? lo - t->at[rank] : 0),
                             .count = n};

  copy_list(t, &own, &block, lo - t->block[rank]);
  return WEIR_OK;
}

/* ---- Steps ---- */

/* Sets the residual to 0 where the result has an element that this rank has given. */
static void clear_applied(oktopk *t)
{
  const exchange_list *const own = &t->x.own;
  const size_t size = t->x.b.sum->size;
  int64_t k = 0;

  for (int r = 0; r < weir_comm_size(t->x.b.group); r++) { /* indices ascend over the blocks */
    const exchange_list block = exchange_gather_block(&t->x, &t->all, r);

    for (int64_t i = 0; i < block.count; i++) {
      while (k < own->count && own->index[k] < block.index[i]) {
        k++;
      }
      if (k < own->count && own->index[k] == block.index[i]) {
        memset((char *)t->x.residual + block.index[i] * size, 0, size);
      }
    }
  }
}

static weir_status run(void *state)
{
  oktopk *t = state;
  exchange_sparse *const x = &t->x;
  bool done = false;

  oktopk_error_gradient(&t->error, x);
  WEIR_TRY(exchange_sparse_begin(x, &done));
  if (done) {
    return WEIR_OK;
  }
  oktopk_error_residual(&t->error, x);
  select_local(t);
  WEIR_TRY(balance_regions(t));
  WEIR_TRY(exchange_split_run(&t->split));
  WEIR_TRY(select_global(t));
  WEIR_TRY(move(t));
  WEIR_TRY(weir_request_run(t->all.request));
  exchange_gather_sum(x, &t->all);
  clear_applied(t);
  return oktopk_error_report(&t->error, x);
}

static int keep(void *state, weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX])
{
  oktopk *t = state;
  int n = exchange_sparse_keep(&t->x, kept);

  kept[n++] = (weir_exchange_kept){
      .name = "local_threshold", .data = &t->local, .dtype = WEIR_F64, .count = 1};
  kept[n - 1].kind = WEIR_KEPT_OWN;
  kept[n++] = (weir_exchange_kept){
      .name = "global_threshold", .data = &t->global, .dtype = WEIR_F64, .count = 1};
  kept[n - 1].kind = WEIR_KEPT_EQUAL;
  kept[n++] = (weir_exchange_kept){.name = "regions",
                                   .data = t->region,
                                   .dtype = WEIR_I64,
                                   .count = weir_comm_size(t->x.b.group) + 1,
                                   .kind = WEIR_KEPT_EQUAL};
  return n;
}

const weir_exchange_desc weir_exchange_oktopk = {
    .name = "oktopk",
    .cite = "Li and Hoefler 2022",
    .help = "the largest elements of the sum of the largest elements of each rank, for at most 6 k "
            "words a rank, whatever the number of ranks; the others are kept for later steps",
    .opts = options,
    .opts_size = sizeof(struct oktopk_opts),
    .what = WEIR_EXCHANGE_GRADIENTS,
    .invariant = WEIR_REPLICAS_EQUAL,
    .open = open_oktopk,
    .run = run,
    .keep = keep,
    .close = close_oktopk,
};
