/* collect.c - reductions over ranks and what gathers their results.
 *
 * Merges follow one tree of the rank numbers (weir_request.h), whichever way the elements take: up
 * the tree to rank 0 and down again; by halves between neighbours in the tree, and back; or each
 * block straight to the rank that merges it and back to all. The first sends 2 (P - 1) messages of
 * everything, the second 2 P log2 P (P a power of 2), the third 2 P (P - 1) of a P-th. */
#include "base/weir_alloc.h"
#include "comm/comm_priv.h"

/* Blocks of all ranks, one after the other: that of rank r is [at[r], at[r + 1]) elements. */
typedef struct blocks {
  weir_request *r;
  char *data;
  int64_t size, *at;
  char *scratch; /* [space] elements of the caller's, NULL: none */
  int64_t space;
} blocks;

static int64_t elements_of(const blocks *b, int rank)
{
  return b->at[rank + 1] - b->at[rank];
}

static char *block_of(const blocks *b, int rank)
{
  return b->data + b->at[rank] * b->size;
}

/* Takes what the caller lends for scratch, if that is enough, or memory. */
static weir_status take_scratch(blocks *b, int64_t elements)
{
  b->r->lent = b->scratch != NULL && elements <= b->space;
  if (b->r->lent) {
    b->r->scratch = b->scratch;
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(elements, (size_t)b->size, (void **)&b->r->scratch));
  return WEIR_OK;
}

/* Fails: WEIR_ERR_SHAPE. */
static weir_status set_offsets(blocks *b, int ranks, const int64_t *counts)
{
  int64_t bytes = 0;

  for (int r = 0; r < ranks; r++) {
    if (counts[r] < 0 || !weir_add_ok(b->at[r], counts[r], &b->at[r + 1]) ||
        !weir_mul_ok(b->at[r + 1], b->size, &bytes)) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "collective '%s': %lld elements of rank %d: the count is negative, or the "
                       "total is too large",
                       b->r->name, (long long)counts[r], r);
    }
  }
  return WEIR_OK;
}

/* Begins a request over blocks. counts NULL: `count` elements in all, shared evenly. */
static weir_status begin(blocks *b, const int64_t *counts, int64_t count)
{
  const int ranks = b->r->comm->size;

  WEIR_TRY(weir_alloc(ranks + 1, sizeof *b->at, (void **)&b->at));
  if (counts != NULL) {
    WEIR_TRY(set_offsets(b, ranks, counts));
    return WEIR_OK;
  }
  int64_t bytes;

  if (count < 0 || !weir_mul_ok(count, b->size, &bytes)) {
    return weir_fail(
        WEIR_ERR_SHAPE,
        "collective '%s': invalid count of elements or bytes: %lld elements of %lld bytes",
        b->r->name, (long long)count, (long long)b->size);
  }
  for (int r = 0; r <= ranks; r++) {
    b->at[r] = count / ranks * r + (r < count % ranks ? r : count % ranks);
  }
  return WEIR_OK;
}

/* A message; those of no bytes are left out. */
static weir_status move_block(blocks *b, int round, int peer, bool receive, char *data,
                              int64_t elements)
{
  const comm_message m = {
      .round = round, .peer = peer, .receive = receive, .data = data, .bytes = elements * b->size};

  WEIR_TRY(comm_request_message(b->r, &m));
  return WEIR_OK;
}

/* Every rank's own block goes to all, in one round. */
static weir_status allgather(blocks *b, int round)
{
  const weir_comm *c = b->r->comm;

  for (int k = 1; k < c->size; k++) {
    const int peer = (c->rank + c->size - k) % c->size;

    WEIR_TRY(move_block(b, round, peer, true, block_of(b, peer), elements_of(b, peer)));
  }
  for (int k = 1; k < c->size; k++) {
    const int peer = (c->rank + k) % c->size;

    WEIR_TRY(move_block(b, round, peer, false, block_of(b, c->rank), elements_of(b, c->rank)));
  }
  return WEIR_OK;
}

/* The contribution of a rank to the block that this one merges. */
static char *contribution(const blocks *b, int rank)
{
  const int own = b->r->comm->rank;

  return rank == own ? block_of(b, own) : b->r->scratch + rank * elements_of(b, own) * b->size;
}

/* Merges the contributions in a binary tree and copies the result, contribution 0, to this block.
 */
static weir_status merge_tree(blocks *b, const weir_reducer *reducer, int round)
{
  const weir_comm *c = b->r->comm;
  const int64_t count = elements_of(b, c->rank);
  comm_work w = {.task = COMM_MERGE, .round = round, .reducer = reducer, .count = count};

  for (int step = 1; step < c->size; step *= 2) {
    for (int lo = 0; lo + step < c->size; lo += 2 * step) {
      w.into = contribution(b, lo);
      w.bytes = contribution(b, lo + step);
      WEIR_TRY(comm_request_work(b->r, &w));
    }
  }
  if (c->rank != 0) {
    w = (comm_work){.task = COMM_COPY, .round = round, .bytes = contribution(b, 0)};
    w.count = count * b->size;
    w.into = contribution(b, c->rank);
    WEIR_TRY(comm_request_work(b->r, &w));
  }
  return WEIR_OK;
}

/* Every block goes to its rank, which merges: round 0, and works of round 1. */
static weir_status scatter(blocks *b, const weir_reducer *reducer)
{
  const weir_comm *c = b->r->comm;
  const int64_t count = elements_of(b, c->rank), bytes = count * b->size;

  if (bytes > INT64_MAX / c->size) {
    return weir_fail(WEIR_ERR_MEMORY, "collective '%s': the number of bytes exceeds 64 bits",
                     b->r->name);
  }
  WEIR_TRY(take_scratch(b, c->size > 1 ? count * c->size : 0));
  for (int k = 1; k < c->size; k++) {
    const int peer = (c->rank + c->size - k) % c->size;

    if (count > 0) {
      WEIR_TRY(move_block(b, 0, peer, true, b->r->scratch + peer * bytes, count));
    }
  }
  for (int k = 1; k < c->size; k++) {
    const int peer = (c->rank + k) % c->size;

    WEIR_TRY(move_block(b, 0, peer, false, block_of(b, peer), elements_of(b, peer)));
  }
  if (count > 0 && c->size > 1) {
    WEIR_TRY(merge_tree(b, reducer, 1));
  }
  return WEIR_OK;
}

/* Everything goes up the tree to rank 0, merged on its way, and down again. */
static weir_status climb(blocks *b, const weir_reducer *reducer)
{
  const weir_comm *c = b->r->comm;
  const int64_t count = b->at[c->size];
  int round = 0, step = 1;
  bool above = true; /* not yet handed on */

  WEIR_TRY(take_scratch(b, c->size > 1 ? count : 0));
  for (; step < c->size; step *= 2, round++) {
    if (c->rank % (2 * step) == step) {
      WEIR_TRY(move_block(b, round, c->rank - step, false, b->data, count));
      above = false;
      break;
    }
    if (c->rank + step < c->size) {
      const comm_work w = {.task = COMM_MERGE,
                           .round = round + 1,
                           .reducer = reducer,
                           .bytes = b->r->scratch,
                           .into = b->data,
                           .count = count};

      WEIR_TRY(move_block(b, round, c->rank + step, true, b->r->scratch, count));
      WEIR_TRY(comm_request_work(b->r, &w));
    }
  }
  if (!above) {
    WEIR_TRY(move_block(b, ++round, c->rank - step, true, b->data, count));
    round++;
  }
  for (step /= 2; step > 0; step /= 2) {
    if (c->rank + step < c->size) {
      WEIR_TRY(move_block(b, round, c->rank + step, false, b->data, count));
    }
  }
  return WEIR_OK;
}

/* Elements [*lo, *hi) that a rank has after so many halvings: bit k of its number says which half.
 */
static void part_of(const blocks *b, int rank, int halvings, int64_t *lo, int64_t *hi)
{
  *lo = 0;
  *hi = b->at[b->r->comm->size];
  for (int k = 0; k < halvings; k++) {
    const int64_t middle = *lo + (*hi - *lo) / 2;

    *((rank >> k & 1) != 0 ? lo : hi) = middle;
  }
}

/* Merges what came into scratch with elements [lo, hi) of this rank, the lower rank's first where
 * that matters. */
static weir_status merge_part(blocks *b, const weir_reducer *reducer, int round, bool lower,
                              int64_t lo, int64_t hi)
{
  const bool own_first = lower || reducer->commutes;
  char *const own = b->data + lo * b->size, *const came = b->r->scratch;
  comm_work w = {.task = COMM_MERGE,
                 .round = round,
                 .reducer = reducer,
                 .into = own_first ? own : came,
                 .bytes = own_first ? came : own,
                 .count = hi - lo};

  if (hi == lo) {
    return WEIR_OK;
  }
  WEIR_TRY(comm_request_work(b->r, &w));
  if (!own_first) {
    w = (comm_work){.task = COMM_COPY, .round = round, .bytes = came, .into = own};
    w.count = (hi - lo) * b->size;
    WEIR_TRY(comm_request_work(b->r, &w));
  }
  return WEIR_OK;
}

/* A power of two of ranks. In step k, ranks that differ in bit k exchange halves of what they still
 * have, and each merges its half: sums of 2^k neighbours become those of 2^(k + 1), as in the tree.
 * Then the same steps backwards, with results. R. Rabenseifner, ICCS 2004. */
static weir_status halve(blocks *b, const weir_reducer *reducer)
{
  const weir_comm *c = b->r->comm;
  const int64_t count = b->at[c->size];
  int64_t lo, hi, other_lo, other_hi;
  int k = 0;

  WEIR_TRY(take_scratch(b, c->size > 1 ? count - count / 2 : 0));
  for (; 1 << k < c->size; k++) {
    const int peer = c->rank ^ 1 << k;

    part_of(b, c->rank, k + 1, &lo, &hi);
    part_of(b, peer, k + 1, &other_lo, &other_hi);
    WEIR_TRY(move_block(b, k, peer, true, b->r->scratch, hi - lo));
    WEIR_TRY(move_block(b, k, peer, false, b->data + other_lo * b->size, other_hi - other_lo));
    WEIR_TRY(merge_part(b, reducer, k + 1, c->rank < peer, lo, hi));
  }
  for (int round = k; k > 0; k--, round++) {
    const int peer = c->rank ^ 1 << (k - 1);

    part_of(b, c->rank, k, &lo, &hi);
    part_of(b, peer, k, &other_lo, &other_hi);
    WEIR_TRY(move_block(b, round, peer, true, b->data + other_lo * b->size, other_hi - other_lo));
    WEIR_TRY(move_block(b, round, peer, false, b->data + lo * b->size, hi - lo));
  }
  return WEIR_OK;
}

weir_allreduce_way weir_allreduce_way_of(int ranks, int64_t bytes, int64_t tree)
{
  const bool power = (ranks & (ranks - 1)) == 0;
  weir_allreduce_way way = {.path = bytes <= tree ? WEIR_ALLREDUCE_TREE
                                    : power       ? WEIR_ALLREDUCE_HALVES
                                                  : WEIR_ALLREDUCE_SHARES,
                            .bytes = (double)bytes};

  if (bytes == 0 || ranks == 1) {
    return way;
  }
  for (int step = 1; step < ranks; step *= 2) { /* those of climb() and halve() */
    way.steps += 2;
  }
  if (way.path == WEIR_ALLREDUCE_SHARES) {
    way.steps = 2 * ((int64_t)ranks - 1);
  }
  if (way.path != WEIR_ALLREDUCE_TREE) {
    way.bytes = 2.0 * (ranks - 1) / ranks * (double)bytes / (double)way.steps;
  }
  return way;
}

int64_t weir_allreduce_scratch(int ranks, int64_t count)
{
  const bool power = (ranks & (ranks - 1)) == 0;

  return ranks == 1 ? 0 : power ? count - count / 2 : (count + ranks - 1) / ranks * ranks;
}

weir_status weir_allreduce_create(weir_comm *c, const char *name, const weir_reducer *reducer,
                                  void *data, int64_t count, weir_request **out)
{
  return weir_allreduce_create_in(c, name, reducer, data, count, NULL, out);
}

weir_status weir_allreduce_create_in(weir_comm *c, const char *name, const weir_reducer *reducer,
                                     void *data, int64_t count, void *scratch, weir_request **out)
{
  blocks b = {.data = data, .scratch = scratch, .size = (int64_t)reducer->size};
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY_GOTO(comm_request_new(c, name, WEIR_COMM_REDUCE, &b.r), done);
  WEIR_TRY_GOTO(begin(&b, NULL, count), done);
  b.space = weir_allreduce_scratch(c->size, count);
  const weir_allreduce_path path =
      weir_allreduce_way_of(c->size, count * b.size, c->engine->cfg.tree_max_bytes).path;

  if (count > 0 && path == WEIR_ALLREDUCE_TREE) {
    WEIR_TRY_GOTO(climb(&b, reducer), done);
  } else if (count > 0 && path == WEIR_ALLREDUCE_HALVES) {
    WEIR_TRY_GOTO(halve(&b, reducer), done);
  } else if (count > 0) {
    WEIR_TRY_GOTO(scatter(&b, reducer), done);
    WEIR_TRY_GOTO(allgather(&b, 1), done);
  }
done:
  weir_free(&b.at);
  return comm_request_seal(c, status, &b.r, out);
}

weir_status weir_reduce_scatter_create(weir_comm *c, const char *name, const weir_reducer *reducer,
                                       void *data, const int64_t *counts, weir_request **out)
{
  blocks b = {.data = data, .size = (int64_t)reducer->size};
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY_GOTO(comm_request_new(c, name, WEIR_COMM_REDUCE, &b.r), done);
  WEIR_TRY_GOTO(begin(&b, counts, 0), done);
  WEIR_TRY_GOTO(scatter(&b, reducer), done);
done:
  weir_free(&b.at);
  return comm_request_seal(c, status, &b.r, out);
}

weir_status weir_allgather_create(weir_comm *c, const char *name, size_t size, void *data,
                                  const int64_t *counts, weir_request **out)
{
  blocks b = {.data = data, .size = (int64_t)size};
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY_GOTO(comm_request_new(c, name, WEIR_COMM_ALLGATHER, &b.r), done);
  WEIR_TRY_GOTO(begin(&b, counts, 0), done);
  WEIR_TRY_GOTO(allgather(&b, 0), done);
done:
  weir_free(&b.at);
  return comm_request_seal(c, status, &b.r, out);
}
