/* comm_test.c - a program that was started alone is one rank; a launcher is seen by its variables.
 */
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "comm/comm_priv.h"

static void alone_there_is_one_rank(void **state)
{
  const char mine[] = "abc";
  char *all = NULL;
  int64_t bytes = 0;
  weir_comm *c = NULL;

  assert_ok(weir_comm_open(&c));
  assert_int_equal(weir_comm_rank(c), 0);
  assert_int_equal(weir_comm_size(c), 1);
  assert_false(c->kind->several);
  assert_ok(weir_comm_barrier(c));
  assert_ok(weir_comm_gather(c, mine, 3, (void **)&all, &bytes));
  assert_true(bytes == 3 && memcmp(all, mine, 3) == 0);
  weir_free(&all);
  assert_ok(weir_comm_gather(c, NULL, 0, (void **)&all, &bytes));
  assert_int_equal(bytes, 0);
  weir_free(&all);
  assert_int_equal(weir_comm_agree(c, WEIR_ERR_DATA), WEIR_ERR_DATA);
  weir_comm_close(&c);
  assert_null(c);
  weir_comm_close(&c);
}

/* Where a build lacks MPI, several ranks are refused: each would do all the work. One rank of a
 * launcher, and tasks of a batch script that has no rank, need none. */
static void what_needs_no_other_rank_starts_none(void **state)
{
  static const char *const alone[][2] = {{"OMPI_COMM_WORLD_SIZE", "1"},
                                         {"PMI_SIZE", "1"},
                                         {"SLURM_NTASKS", "16"},
                                         {"OMPI_COMM_WORLD_SIZE", "many"}};
  bool several = false;
  weir_comm *c = NULL;

  for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
    assert_int_equal(setenv(alone[i][0], alone[i][1], 1), 0);
    assert_ok(weir_comm_open(&c));
    assert_false(c->kind->several);
    weir_comm_close(&c);
    unsetenv(alone[i][0]);
  }
  for (const weir_comm_kind *const *k = weir_comm_kind_table; *k != NULL; k++) {
    several = several || (*k)->several;
  }
  if (!several) {
    assert_int_equal(setenv("PMI_SIZE", "4", 1), 0);
    assert_int_equal(weir_comm_open(&c), WEIR_ERR_UNSUPPORTED);
    assert_non_null(strstr(weir_last_message(), "one of 4 ranks"));
    assert_null(c);
    unsetenv("PMI_SIZE");
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(alone_there_is_one_rank),
      cmocka_unit_test(what_needs_no_other_rank_starts_none),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
