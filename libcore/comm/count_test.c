/* count_test.c - messages are counted in the communicator that sends them, and in those that it was
 * split from. Ranks are threads. */
#include "base/weir_check.h"
#include "comm/weir_inproc.h"
#include "comm/weir_request.h"

enum { RANKS = 3 };

/* What each rank has counted of sums, in the run, in a group and in another one. */
typedef struct report {
  weir_comm_count run[RANKS], group[RANKS], other[RANKS];
} report;

static weir_status sum_once(weir_comm *c)
{
  int64_t x = 1;
  weir_request *r = NULL;

  WEIR_TRY(weir_allreduce_create(c, "sum", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), &x, 1, &r));
  return weir_request_run_once(&r);
}

/* One sum of all ranks, and two of ranks 0 and 2, in a group of a group. */
static weir_status sums(weir_comm *c, void *context)
{
  report *r = context;
  const int rank = weir_comm_rank(c);
  weir_comm *group = NULL, *within = NULL, *other = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_comm_split(c, rank % 2, &group), done);
  WEIR_TRY_GOTO(weir_comm_split(group, 0, &within), done);
  WEIR_TRY_GOTO(weir_comm_split(c, 0, &other), done);
  WEIR_TRY_GOTO(sum_once(c), done);
  WEIR_TRY_GOTO(sum_once(within), done);
  WEIR_TRY_GOTO(sum_once(within), done);
  r->run[rank] = weir_comm_counted(c, WEIR_COMM_REDUCE);
  r->group[rank] = weir_comm_counted(group, WEIR_COMM_REDUCE);
  r->other[rank] = weir_comm_counted(other, WEIR_COMM_REDUCE);
done:
  weir_comm_close(&other);
  weir_comm_close(&within);
  weir_comm_close(&group);
  return status;
}

/* Along the tree rank 0 receives a number of each other rank, and sends it the sum. */
static void groups_count_their_own_messages(void **state)
{
  const weir_inproc run = {.ranks = RANKS};
  report r;

  assert_ok(weir_inproc_run(&run, sums, &r));
  for (int k = 0; k < RANKS; k++) {
    const int64_t in_run = k == 0 ? RANKS - 1 : 1, in_group = k == 1 ? 0 : 2;

    assert_int_equal(r.run[k].sent, in_run + in_group);
    assert_int_equal(r.run[k].sent_bytes, 8 * (in_run + in_group));
    assert_int_equal(r.run[k].received, in_run + in_group);
    assert_int_equal(r.group[k].sent, in_group);
    assert_int_equal(r.group[k].sent_bytes, 8 * in_group);
    assert_int_equal(r.group[k].rounds, 2 * in_group);
    assert_true(r.other[k].sent == 0 && r.other[k].received == 0 && r.other[k].rounds == 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(groups_count_their_own_messages)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
