/* shared_items.c - what ranks that share wave vectors and energies have alike (model/ranks.h), of
 * any number of items, and where memory is missing on one of them. */
#include "model/ranks.h"

#include <string.h>

#include "all_ranks.h"
#include "base/weir_alloc.h"

enum { MOST_RANKS = 4, MOST_ITEMS = 11 };

static int64_t item(int64_t i)
{
  return 1000 * i + 7;
}

static void all_ranks_get_all_items(void **state)
{
  (void)state;
  for (int64_t n = 0; n <= MOST_ITEMS; n++) {
    int64_t value[MOST_ITEMS + 1], first, last, before = 0;

    for (int r = 0; r < ranks; r++) {
      qt_ranks_share(n, r, ranks, &first, &last);
      assert_true(first == before && last >= first && last - first <= n / ranks + 1);
      before = last;
    }
    assert_int_equal(before, n);
    qt_ranks_share(n, rank, ranks, &first, &last);
    for (int64_t i = 0; i <= MOST_ITEMS; i++) {
      value[i] = i >= first && i < last ? item(i) : -1;
    }
    assert_ok(qt_ranks_gather(comm, "items", sizeof *value, n, value));
    for (int64_t i = 0; i <= MOST_ITEMS; i++) {
      assert_int_equal(value[i], i < n ? item(i) : -1);
    }
  }
}

static void rank_0_gives_and_the_least_is_found(void **state)
{
  double given[] = {rank + 0.5, -rank, 3};
  int64_t least = 10 - rank;

  (void)state;
  assert_ok(qt_ranks_broadcast(comm, "numbers", given, 2 * (int64_t)sizeof *given));
  assert_true(given[0] == 0.5 && given[1] == 0 && given[2] == 3);
  assert_ok(qt_ranks_broadcast(comm, "nothing", given, 0));
  assert_ok(qt_ranks_least(comm, &least));
  assert_int_equal(least, 11 - ranks);
  assert_int_equal(qt_ranks_agree(comm, rank == ranks - 1
                                            ? weir_fail(WEIR_ERR_NUMERIC, "the last one")
                                            : WEIR_OK),
                   WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "the last one"));
}

/* The k-th allocation fails on the last rank, for all k: all ranks return that, none waits. */
static void missing_memory_of_one_rank_is_that_of_all(void **state)
{
  int64_t failures = 0;

  (void)state;
  for (int what = 0; what < 3; what++) {
    weir_status status = WEIR_ERR_MEMORY;

    for (int64_t k = 1; status != WEIR_OK; k++) {
      int64_t value[MOST_ITEMS] = {rank};

      assert_true(k < 100);
      weir_alloc_fail_after(rank == ranks - 1 ? k : 0);
      status = what == 0   ? qt_ranks_broadcast(comm, "one", value, sizeof *value)
               : what == 1 ? qt_ranks_least(comm, value)
                           : qt_ranks_gather(comm, "items", sizeof *value, MOST_ITEMS, value);
      weir_alloc_fail_after(0);
      assert_true(status == WEIR_OK || status == WEIR_ERR_MEMORY);
      failures += status != WEIR_OK;
    }
  }
  assert_true(ranks == 1 ? failures == 0 : failures >= 3);
}

int main(int argc, char **argv)
{
  const weir_comm_cfg usual = {.piece = 1 << 20, .tree = 256, .patience = 60};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_ranks_get_all_items),
      cmocka_unit_test(rank_0_gives_and_the_least_is_found),
      cmocka_unit_test(missing_memory_of_one_rank_is_that_of_all),
  };

  open_all_ranks(argc, argv, MOST_RANKS, &usual);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
