/* ranks.c - see ranks.h. */
#include "model/ranks.h"

#include "base/weir_alloc.h"
#include "comm/weir_request.h"

int qt_ranks_size(const weir_comm *c)
{
  return c != NULL ? weir_comm_size(c) : 1;
}

int qt_ranks_rank(const weir_comm *c)
{
  return c != NULL ? weir_comm_rank(c) : 0;
}

weir_status qt_ranks_agree(weir_comm *c, weir_status status)
{
  return qt_ranks_size(c) > 1 ? weir_comm_agree(c, status) : status;
}

/* Others wait for what this rank cannot send: its failure ends all. */
static weir_status run(weir_comm *c, weir_request **r)
{
  const weir_status status = weir_request_run_once(r);

  return status == WEIR_OK ? WEIR_OK : weir_comm_abort(c, status);
}

weir_status qt_ranks_min(weir_comm *c, int64_t *value)
{
  weir_request *r = NULL;

  if (qt_ranks_size(c) == 1) {
    return WEIR_OK;
  }
  WEIR_TRY(
      weir_allreduce_create(c, "least", weir_reducer_of(WEIR_REDUCE_MIN, WEIR_I64), value, 1, &r));
  return run(c, &r);
}

static weir_status merge(weir_comm *c, const char *name, weir_reduce_op how, double *values,
                         int64_t n)
{
  weir_request *r = NULL;

  if (qt_ranks_size(c) == 1) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_allreduce_create(c, name, weir_reducer_of(how, WEIR_F64), values, n, &r));
  return run(c, &r);
}

weir_status qt_ranks_sum(weir_comm *c, const char *name, double *values, int64_t n)
{
  return merge(c, name, WEIR_REDUCE_SUM, values, n);
}

weir_status qt_ranks_max(weir_comm *c, const char *name, double *values, int64_t n)
{
  return merge(c, name, WEIR_REDUCE_MAX, values, n);
}

weir_status qt_ranks_allgather_counts(weir_comm *c, const char *name, size_t size,
                                      const int64_t *counts, void *data)
{
  weir_request *r = NULL;

  if (qt_ranks_size(c) == 1) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_allgather_create(c, name, size, data, counts, &r));
  return run(c, &r);
}

/* Counts of all ranks. */
static weir_status make_counts(weir_comm *c, int64_t **counts)
{
  return qt_ranks_agree(c, weir_alloc(qt_ranks_size(c), sizeof **counts, (void **)counts));
}

weir_status qt_ranks_broadcast(weir_comm *c, const char *name, void *data, int64_t bytes)
{
  int64_t *counts = NULL;
  weir_status status = WEIR_OK;

  if (qt_ranks_size(c) == 1) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(make_counts(c, &counts), done);
  counts[0] = bytes;
  status = qt_ranks_allgather_counts(c, name, 1, counts, data);
done:
  weir_free(&counts);
  return status;
}

void qt_ranks_share(int64_t n, int rank, int ranks, int64_t *first, int64_t *last)
{
  *first = n * rank / ranks;
  *last = n * (rank + 1) / ranks;
}

weir_status qt_ranks_allgather(weir_comm *c, const char *name, size_t size, int64_t n, void *data)
{
  int64_t *counts = NULL, first, last;
  weir_status status = WEIR_OK;

  if (qt_ranks_size(c) == 1) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(make_counts(c, &counts), done);
  for (int r = 0; r < qt_ranks_size(c); r++) {
    qt_ranks_share(n, r, qt_ranks_size(c), &first, &last);
    counts[r] = last - first;
  }
  status = qt_ranks_allgather_counts(c, name, size, counts, data);
done:
  weir_free(&counts);
  return status;
}
