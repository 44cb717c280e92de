/* exchange_butterfly.c - see exchange_butterfly.h: segments that are under way at once. */
#include "optim/exchange_butterfly.h"

#include <math.h>

#include "base/weir_alloc.h"
#include "optim/exchange_segment.h"

enum { MAX_SEGMENTS = 32, SEGMENT_BYTES = 512 << 10, MAX_TAGS = 8192 };

struct exchange_butterfly {
  weir_comm *comm;
  int n; /* segments */
  exchange_segment *segment[MAX_SEGMENTS];
  bool ended[MAX_SEGMENTS];
  exchange_share *share; /* [n, ranks] */
};

void exchange_butterfly_destroy(exchange_butterfly **b)
{
  for (int i = 0; *b != NULL && i < (*b)->n; i++) {
    exchange_segment_destroy(&(*b)->segment[i]);
  }
  if (*b != NULL) {
    weir_free(&(*b)->share);
  }
  weir_free(b);
}

/* A segment has two requests for each pair of ranks, each with a tag: MPI may have only 32768. */
static int count_segments(const exchange_butterfly_spec *spec)
{
  const int64_t ranks = weir_comm_size(spec->comm), pairs = ranks > 1 ? ranks * (ranks - 1) : 1;
  const int64_t each = spec->segment_bytes > 0 ? spec->segment_bytes : SEGMENT_BYTES;
  const int64_t max = MAX_TAGS / (2 * pairs) < MAX_SEGMENTS ? MAX_TAGS / (2 * pairs) : MAX_SEGMENTS;
  const int64_t n = spec->count * (int64_t)weir_dtype_size(spec->dtype) / ranks / each;

  return n <= 1 || max <= 1 ? 1 : (int)(n < max ? n : max);
}

/* Elements of a rank's share that are in the segments before segment i of n. */
static int64_t before(const exchange_butterfly_spec *spec, int rank, int i, int n)
{
  const int64_t ranks = weir_comm_size(spec->comm);
  const int64_t share = spec->shares != NULL ? spec->shares[rank]
                                             : spec->count / ranks + (rank < spec->count % ranks);

  return share / n * i + share % n * i / n;
}

static weir_status create_segment(exchange_butterfly *b, const exchange_butterfly_spec *spec,
                                  int64_t *shares, int i)
{
  const int ranks = weir_comm_size(spec->comm);
  exchange_segment_spec one = {.comm = spec->comm,
                               .dtype = spec->dtype,
                               .shares = shares,
                               .timeout_s = spec->timeout_s,
                               .late = (double)i / b->n};

  for (int r = 0; r < ranks; r++) {
    one.begin += before(spec, r, i, b->n);
    shares[r] = before(spec, r, i + 1, b->n) - before(spec, r, i, b->n);
    one.count += shares[r];
  }
  return exchange_segment_create(&one, b->share + (int64_t)i * ranks, &b->segment[i]);
}

weir_status exchange_butterfly_create(const exchange_butterfly_spec *spec, exchange_butterfly **out)
{
  const int ranks = weir_comm_size(spec->comm);
  exchange_butterfly *b = NULL;
  int64_t *shares = NULL;
  weir_status status = weir_alloc(1, sizeof *b, (void **)&b);

  *out = NULL;
  if (status == WEIR_OK) {
    b->comm = spec->comm;
    b->n = count_segments(spec);
    status = weir_alloc((int64_t)b->n * ranks, sizeof *b->share, (void **)&b->share);
  }
  if (status == WEIR_OK) {
    status = weir_alloc(ranks, sizeof *shares, (void **)&shares);
  }
  WEIR_TRY_GOTO(weir_comm_agree(spec->comm, status), done);
  for (int i = 0; i < b->n; i++) {
    WEIR_TRY_GOTO(create_segment(b, spec, shares, i), done);
  }
  *out = b;
  b = NULL;
done:
  weir_free(&shares);
  exchange_butterfly_destroy(&b);
  return status;
}

const exchange_share *exchange_butterfly_shares(const exchange_butterfly *b, int *n)
{
  *n = b->n * weir_comm_size(b->comm);
  return b->share;
}

void exchange_butterfly_expect(exchange_butterfly *b, int rank)
{
  for (int i = 0; i < b->n; i++) {
    exchange_segment_expect(b->segment[i], rank);
  }
}

weir_status exchange_butterfly_look(exchange_butterfly *b, int64_t *newest)
{
  *newest = -1;
  WEIR_TRY(weir_requests_pause(b->comm, 0));
  for (int i = 0; i < b->n; i++) {
    int64_t one = -1;

    WEIR_TRY(exchange_segment_look(b->segment[i], &one));
    *newest = one > *newest ? one : *newest;
  }
  return WEIR_OK;
}

weir_status exchange_butterfly_run(exchange_butterfly *b, int64_t version, const void *given,
                                   double weight, void *mean)
{
  int left = b->n;

  for (int i = 0; i < b->n; i++) {
    b->ended[i] = false;
    exchange_segment_begin(b->segment[i], version);
  }
  for (;;) {
    double until = INFINITY, at = INFINITY;

    for (int i = 0; i < b->n; i++) {
      const exchange_segment *const before = i > 0 ? b->segment[i - 1] : NULL;

      if (!b->ended[i]) {
        WEIR_TRY(
            exchange_segment_step(b->segment[i], before, given, weight, mean, &b->ended[i], &at));
        left -= b->ended[i];
        until = !b->ended[i] && at < until ? at : until;
      }
    }
    if (left == 0) {
      break;
    }
    WEIR_TRY(weir_requests_pause(b->comm, until));
  }
  for (int i = 0; i < b->n; i++) {
    WEIR_TRY(exchange_segment_end(b->segment[i]));
  }
  return WEIR_OK;
}

weir_status exchange_butterfly_drain(exchange_butterfly *b, int64_t *newest)
{
  *newest = -1;
  for (int i = 0; i < b->n; i++) {
    int64_t one = -1;

    WEIR_TRY(exchange_segment_drain(b->segment[i], &one));
    *newest = one > *newest ? one : *newest;
  }
  return WEIR_OK;
}
