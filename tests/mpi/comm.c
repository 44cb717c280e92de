/* comm.c - ranks talk: numbers, the worst status, bytes of all on rank 0. Arguments: hosts.h. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "hosts.h"

static void every_rank_has_a_number(void **state)
{
  int *all = NULL, mine = rank;
  int64_t bytes = 0;

  assert_ok(weir_comm_barrier(comm));
  assert_ok(weir_comm_gather(comm, &mine, sizeof mine, (void **)&all, &bytes));
  assert_int_equal(bytes, mine == 0 ? (int64_t)sizeof mine * ranks : 0);
  for (int i = 0; mine == 0 && i < ranks; i++) {
    assert_int_equal(all[i], i);
  }
  weir_free(&all);
}

/* Rank r gives r * r * 1000 bytes of the value r; rank 0 none. */
static void bytes_come_in_the_order_of_ranks(void **state)
{
  const int64_t n = 1000 * (int64_t)rank * rank;
  char *mine = malloc((size_t)n + 1), *all = NULL;
  int64_t bytes = 0, at = 0;

  assert_non_null(mine);
  memset(mine, rank, (size_t)n);
  assert_ok(weir_comm_gather(comm, n > 0 ? mine : NULL, n, (void **)&all, &bytes));
  for (int r = 0; rank == 0 && r < ranks; r++) {
    for (int64_t k = 0; k < 1000 * (int64_t)r * r; k++) {
      assert_int_equal(all[at++], r);
    }
  }
  assert_int_equal(at, bytes);
  weir_free(&all);
  free(mine);
}

static void all_agree_on_the_worst(void **state)
{
  const int last = ranks - 1;

  assert_ok(weir_comm_agree(comm, WEIR_OK));
  const weir_status own = rank == last ? WEIR_ERR_NUMERIC : rank == 0 ? WEIR_ERR_DATA : WEIR_OK;
  const weir_status mine = own == WEIR_OK ? WEIR_OK : weir_fail(own, "my own");

  assert_int_equal(weir_comm_agree(comm, mine), WEIR_ERR_NUMERIC);
  if (rank == last) {
    assert_string_equal(weir_last_message(), "my own");
  } else {
    char text[64];

    (void)snprintf(text, sizeof text, "rank %d of %d failed", last, ranks);
    assert_non_null(strstr(weir_last_message(), text));
  }
  weir_clear_failure();
}

/* Memory that rank 0 lacks is a failure of all, and the ranks continue together. */
static void no_room_fails_alike(void **state)
{
  char mine[100] = "", *all = NULL;
  int64_t bytes = 0;

  if (rank == 0) {
    weir_alloc_fail_after(2); /* after the sizes */
  }
  assert_int_equal(weir_comm_gather(comm, mine, sizeof mine, (void **)&all, &bytes),
                   WEIR_ERR_MEMORY);
  weir_alloc_fail_after(0);
  assert_null(all);
  assert_int_equal(bytes, 0);
  assert_ok(weir_comm_barrier(comm));
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_rank_has_a_number),
      cmocka_unit_test(bytes_come_in_the_order_of_ranks),
      cmocka_unit_test(all_agree_on_the_worst),
      cmocka_unit_test(no_room_fails_alike),
  };

  static const weir_comm_cfg usual = {
      .max_message_bytes = 1 << 30, .tree_max_bytes = 1 << 14, .timeout = 60};
  host_tests all = {"comm", tests, sizeof tests / sizeof *tests, 8, &usual};

  return run_on_hosts(argc, argv, &all);
}
