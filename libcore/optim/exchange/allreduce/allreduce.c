/* allreduce.c - synchronous data parallelism, Chen et al. 2016 (arXiv:1604.00981): every rank gets
 * the sum of all gradients, in one order, so that replicas stay bitwise equal. In buckets, each of
 * which is summed once its elements are there (Li et al., VLDB 2020, arXiv:2006.15704): the order
 * of a sum follows the ranks alone, so buckets change no bit. */
#include "optim/exchange/allreduce/allreduce_priv.h"

#include <math.h>

#include "base/weir_alloc.h"
#include "comm/weir_request.h"

#define MB 1e6

static const weir_opt options[] = {
    WEIR_OPT_REAL(struct allreduce_opts, bucket, 25, 0, 1e6, "MB",
                  "size of the buckets in which gradients are exchanged while the backward pass "
                  "computes the others; 0: all after it"),
    WEIR_OPT_BOOL(struct allreduce_opts, in_plan, true,
                  "in a step of one micro-batch the gradient of each parameter is summed inside "
                  "the plan, without buckets; false: in buckets"),
    WEIR_OPT_END,
};

/* Elements [lo, hi) of a part. */
typedef struct bucket {
  weir_request *request;
  int part;
  int64_t lo, hi, ready; /* ready: elements that are there */
  bool started;
} bucket;

typedef struct allreduce {
  bool overlaps;
  weir_comm *group[1 << WEIR_GRID_DIMS]; /* of ranks that differ in these dimensions, as needed */
  int64_t n, early, complete; /* early: sums begun before `run`; complete: of them over by then */
  bucket buckets[];           /* [n] by part, ascending */
} allreduce;

static void close_sums(void **state)
{
  allreduce *x = *state;

  for (int64_t i = 0; x != NULL && i < x->n; i++) {
    weir_request_destroy(&x->buckets[i].request);
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

/* Buckets of a part, of equal size up to an element; none where no other rank has a summand. */
static int64_t count_buckets(const weir_exchange_args *a, int part)
{
  const struct allreduce_opts *opts = a->opts;
  const int64_t count = a->part[part].count;
  const double bytes = (double)count * (double)weir_dtype_size(a->part[part].dtype);
  const double n = opts->bucket > 0 ? ceil(bytes / (opts->bucket * MB)) : 1;

  return dims_of(a, part) == 0 ? 0 : n <= 1 ? 1 : n > (double)count ? count : (int64_t)n;
}

/* The buckets of a part: as many on all ranks of its group, which then agree in
 * weir_allreduce_create; the other groups, with parts of other sizes, meet them behind. */
static weir_status open_part(const weir_exchange_args *a, int i, allreduce *x)
{
  const weir_exchange_part *part = &a->part[i];
  const weir_reducer *sum = weir_reducer_of(WEIR_REDUCE_SUM, part->dtype);
  const unsigned dims = dims_of(a, i);
  const int64_t n = count_buckets(a, i);
  weir_status status = WEIR_OK;

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
  for (int64_t k = 0; k < n && status == WEIR_OK; k++) {
    bucket *const b = &x->buckets[x->n++];

    *b = (bucket){.part = i, .lo = part->count * k / n, .hi = part->count * (k + 1) / n};
    status = weir_allreduce_create(x->group[dims], "gradient", sum,
                                   (char *)part->data + (size_t)b->lo * sum->size, b->hi - b->lo,
                                   &b->request);
  }
  return weir_comm_agree(a->comm, status);
}

static weir_status open_sums(const weir_exchange_args *a, void **state)
{
  allreduce *x = NULL;
  int64_t n = 0;

  *state = NULL;
  for (int i = 0; i < a->n; i++) {
    n += count_buckets(a, i);
  }
  weir_status status = weir_alloc(1, sizeof *x + (size_t)n * sizeof x->buckets[0], (void **)&x);

  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  for (int i = 0; i < a->n; i++) {
    WEIR_TRY_GOTO(open_part(a, i, x), failed);
  }
  x->overlaps = ((const struct allreduce_opts *)a->opts)->bucket > 0;
  *state = x;
  return WEIR_OK;
failed:
  close_sums((void **)&x);
  return status;
}

static weir_status start(bucket *b)
{
  b->started = true;
  return weir_request_start(b->request);
}

/* Begins the sums of buckets that have the last of their elements. Ranks may differ in the order.
 */
static weir_status ready(void *state, int part, int64_t lo, int64_t hi)
{
  allreduce *x = state;

  for (int64_t i = 0; i < x->n && x->overlaps; i++) {
    bucket *const b = &x->buckets[i];
    const int64_t from = lo > b->lo ? lo : b->lo, to = hi < b->hi ? hi : b->hi;

    if (b->part != part || from >= to) {
      continue;
    }
    b->ready += to - from;
    if (b->ready == b->hi - b->lo && !b->started) {
      x->early++;
      WEIR_TRY(start(b));
    }
  }
  return WEIR_OK;
}

/* The rest of them at once, from the end of the buffer, whose gradients come first. */
static weir_status run(void *state)
{
  allreduce *x = state;

  for (int64_t i = x->n - 1; i >= 0; i--) {
    bucket *const b = &x->buckets[i];

    x->complete += b->started && weir_request_is_done(b->request);
    WEIR_TRY(b->started ? WEIR_OK : start(b));
  }
  for (int64_t i = x->n - 1; i >= 0; i--) {
    bucket *const b = &x->buckets[i];

    WEIR_TRY(weir_request_wait(b->request));
    b->started = false;
    b->ready = 0;
  }
  return WEIR_OK;
}

static bool overlaps(const void *opts)
{
  return ((const struct allreduce_opts *)opts)->bucket > 0;
}

static bool leaves_plan(const void *opts)
{
  return !((const struct allreduce_opts *)opts)->in_plan;
}

static void count(const void *state, weir_exchange_counts *counts)
{
  const allreduce *x = state;

  counts->buckets = counts->versions * x->n;
  counts->early = x->early;
  counts->complete = x->complete;
}

const weir_exchange_desc weir_exchange_allreduce = {
    .name = "allreduce",
    .cite = "Chen et al. 2016; Li et al. 2020",
    .help = "sum of the gradients of all ranks in every step, synchronously",
    .opts = options,
    .opts_size = sizeof(struct allreduce_opts),
    .what = WEIR_EXCHANGE_GRADIENTS,
    .invariant = WEIR_REPLICAS_EQUAL,
    .scales = true,
    .in_plan = true,
    .leaves_plan = leaves_plan,
    .overlaps = overlaps,
    .open = open_sums,
    .ready = ready,
    .run = run,
    .count = count,
    .close = close_sums,
};
