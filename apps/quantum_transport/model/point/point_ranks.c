/* point_ranks.c - see point_ranks.h. */
#include "model/point/point_ranks.h"

#include <string.h>

#include "base/weir_alloc.h"

int64_t qt_point_ranks_after(const qt_layout *l, qt_slabs_range own)
{
  const int64_t end = own.first_block + own.n_blocks;

  return end < l->n_blocks ? 2 * qt_layout_rows(l, end - 1) * qt_layout_rows(l, end) : 0;
}

/* Blocks (n - 1, n) and (n, n - 1) of this rank's first block n, with which its banks begin, to the
 * rank before it; those of the rank after it follow its own. */
static weir_status make_neighbours(const qt_layout *l, qt_slabs_range own, int n_banks,
                                   weir_c128 *const *bank, qt_point_ranks *r)
{
  enum { CAPACITY = 8 };
  const int rank = weir_comm_rank(r->comm);
  const int64_t n = own.first_block, size = (int64_t)sizeof **bank;
  const int64_t before = n > 0 ? 2 * qt_layout_rows(l, n - 1) * qt_layout_rows(l, n) : 0;
  const int64_t after = qt_point_ranks_after(l, own);
  weir_message list[CAPACITY];
  int64_t count = 0;

  for (int b = 0; b < n_banks && count + 2 <= CAPACITY; b++) {
    if (bank[b] != NULL && before > 0) {
      list[count++] = (weir_message){rank - 1, false, bank[b], before * size};
    }
    if (bank[b] != NULL && after > 0) {
      list[count++] = (weir_message){rank + 1, true, bank[b] + own.n_elements, after * size};
    }
  }
  return weir_messages_create(r->comm, "blocks of neighbours", list, count, &r->neighbours);
}

weir_status qt_point_ranks_create(weir_comm *comm, const qt_layout *l, qt_slabs_range own,
                                  int n_banks, weir_c128 *const *bank, qt_point_ranks *out)
{
  weir_status status = WEIR_OK;

  *out = (qt_point_ranks){.comm = comm};
  status = make_neighbours(l, own, n_banks, bank, out);
  WEIR_TRY_GOTO(weir_comm_agree(comm, status), failed);
  WEIR_TRY_GOTO(weir_allreduce_create(comm, "open leads",
                                      weir_reducer_of(WEIR_REDUCE_MAX, WEIR_I64), &out->value, 1,
                                      &out->largest),
                failed);
  return WEIR_OK;
failed:
  qt_point_ranks_fini(out);
  return status;
}

void qt_point_ranks_fini(qt_point_ranks *r)
{
  weir_request_destroy(&r->largest);
  weir_request_destroy(&r->neighbours);
  *r = (qt_point_ranks){.comm = NULL};
}

static bool is_shared(const qt_point_ranks *r)
{
  return r != NULL && r->comm != NULL;
}

weir_status qt_point_ranks_agree(const qt_point_ranks *r, weir_status status)
{
  return is_shared(r) ? weir_comm_agree(r->comm, status) : status;
}

/* Others wait for what this rank cannot send: its failure ends all ranks. */
static weir_status run(const qt_point_ranks *r, weir_request *request)
{
  const weir_status status = weir_request_run(request);

  return status == WEIR_OK ? WEIR_OK : weir_comm_abort(r->comm, status);
}

weir_status qt_point_ranks_any(qt_point_ranks *r, bool *is)
{
  if (is_shared(r)) {
    r->value = *is;
    WEIR_TRY(run(r, r->largest));
    *is = r->value != 0;
  }
  return WEIR_OK;
}

weir_status qt_point_ranks_exchange(const qt_point_ranks *r)
{
  return is_shared(r) ? run(r, r->neighbours) : WEIR_OK;
}

weir_status qt_point_ranks_collect(const qt_point_ranks *r, int64_t from, int64_t to, double *array)
{
  void *all = NULL;
  int64_t total = 0;

  if (!is_shared(r)) {
    return WEIR_OK;
  }
  WEIR_TRY(
      weir_comm_gather(r->comm, array + from, (to - from) * (int64_t)sizeof *array, &all, &total));
  if (total > 0) {
    memcpy(array, all, (size_t)total);
  }
  weir_free(&all);
  return WEIR_OK;
}
