/* grid_share.c - see grid_share.h: a row as numbers, summed over ranks. */
#include "place/grid_share.h"

#include <string.h>

#include "base/weir_alloc.h"
#include "comm/weir_request.h"

enum { NUMBERS = 12 + WEIR_ALONG_DIMS }; /* of a row */

static void to_numbers(const weir_grid_candidate *row, double x[NUMBERS])
{
  const weir_cost *c = &row->cost;
  const double all[NUMBERS] = {c->seconds,
                               c->compute_s,
                               c->waited_s,
                               c->flops,
                               (double)c->halo_bytes,
                               (double)c->sum_bytes,
                               (double)c->messages,
                               (double)c->arena,
                               (double)c->untimed,
                               row->refused,
                               row->fits,
                               (double)row->tried};

  memcpy(x, all, sizeof all);
  for (int d = 0; d < WEIR_ALONG_DIMS; d++) {
    x[NUMBERS - WEIR_ALONG_DIMS + d] = (double)row->replicate_below[d];
  }
}

static void from_numbers(const double x[NUMBERS], weir_grid_candidate *row)
{
  row->cost = (weir_cost){.seconds = x[0],
                          .compute_s = x[1],
                          .waited_s = x[2],
                          .flops = x[3],
                          .halo_bytes = (int64_t)x[4],
                          .sum_bytes = (int64_t)x[5],
                          .messages = (int64_t)x[6],
                          .arena = (int64_t)x[7],
                          .untimed = (int64_t)x[8]};
  row->refused = x[9] != 0;
  row->fits = x[10] != 0;
  row->tried = (int64_t)x[11];
  for (int d = 0; d < WEIR_ALONG_DIMS; d++) {
    row->replicate_below[d] = (int64_t)x[NUMBERS - WEIR_ALONG_DIMS + d];
  }
}

weir_status place_share_rows(weir_comm *comm, weir_grid_choice *p)
{
  weir_request *request = NULL;
  double *x = NULL;
  weir_status status = weir_alloc(p->n * NUMBERS, sizeof *x, (void **)&x);

  WEIR_TRY_GOTO(weir_comm_agree(comm, status), done);
  for (int64_t i = 0; i < p->n; i++) {
    to_numbers(&p->row[i], x + i * NUMBERS);
  }
  WEIR_TRY_GOTO(weir_allreduce_create(comm, "predictions",
                                      weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F64), x, p->n * NUMBERS,
                                      &request),
                done);
  WEIR_TRY_GOTO(weir_request_run_once(&request), done);
  for (int64_t i = 0; i < p->n; i++) {
    from_numbers(x + i * NUMBERS, &p->row[i]);
  }
done:
  weir_free(&x);
  return status;
}
