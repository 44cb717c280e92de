/* spmd_moves_test.c - which exchanges serve several readers of one array. */
#include <string.h>

#include "base/weir_check.h"
#include "ops/gather/weir_gather.h"
#include "pass/partition/weir_spmd.h"

enum { ROWS = 8, COLUMNS = 8, LISTED = 3, RANKS = 2, MAX = 3 };

/* Three rows of x are read once for each of `first`; two ranks halve the columns of x, and have the
 * results up to that column and from it on. Elements that rank 1 receives, and in how many
 * exchanges; other: the last reader reads other rows. */
static int64_t received(const int64_t *first, int n, bool other, int32_t *exchanges)
{
  static const char *const names[MAX] = {"a", "b", "c"};
  const int64_t halves[] = {0, COLUMNS / 2, COLUMNS}, listed = LISTED;
  const weir_grid grid = {1, {RANKS}};
  int64_t rows[2][LISTED] = {{0, 3, 5}, {1, 3, 6}}, bounds[MAX][RANKS + 1];
  weir_shard shards[MAX + 1] = {{0}};
  weir_partition *p = NULL;
  weir_graph *g = NULL;
  weir_spmd_graph l;
  int64_t bytes = 0;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &(weir_array_desc){WEIR_F64, 2, {ROWS, COLUMNS}, 0});

  shards[0] = (weir_shard){weir_value_array(g, x), 1, 0, halves, 0, 0, false};
  for (int i = 0; i < n; i++) {
    const weir_tensor list = weir_tensor_wrap(rows[other && i == n - 1], WEIR_I64, 1, &listed);
    const weir_value y =
        weir_gather(g, x, weir_constant(g, &list), &((weir_gather_spec){.dim = 0}));

    weir_output(g, names[i], y);
    memcpy(bounds[i], (const int64_t[]){0, first[i], COLUMNS}, sizeof bounds[i]);
    shards[i + 1] = (weir_shard){weir_value_array(g, y), 1, 0, bounds[i], 0, 0, false};
  }
  assert_ok(weir_graph_status(g));
  assert_ok(weir_partition_create(g, &grid, shards, n + 1, &p));
  assert_ok(weir_spmd_lower(p, 1, &l));
  for (int32_t i = 0; i < l.n; i++) {
    bytes += weir_comm_op_received(l.moves[i], -1);
  }
  *exchanges = l.n;
  weir_spmd_graph_fini(&l);
  weir_partition_destroy(&p);
  weir_graph_destroy(&g);
  return bytes / (int64_t)sizeof(double);
}

static void what_several_read_comes_once(void **state)
{
  int32_t n;

  (void)state;
  assert_int_equal(received((const int64_t[]){2, 1}, 2, false, &n), 3 * LISTED);
  assert_int_equal(n, 1);
  assert_int_equal(received((const int64_t[]){3, 1, 2}, 3, false, &n), 3 * LISTED);
  assert_int_equal(n, 1);
}

static void what_one_reads_comes_apart(void **state)
{
  int32_t n;

  (void)state;
  assert_int_equal(received((const int64_t[]){2, 6}, 2, false, &n), 2 * LISTED);
  assert_int_equal(n, 2);
  assert_int_equal(received((const int64_t[]){2, 1}, 2, true, &n), (2 + 3) * LISTED);
  assert_int_equal(n, 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_several_read_comes_once),
      cmocka_unit_test(what_one_reads_comes_apart),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
