/* partition_index_test.c - shards of outputs that belong together, of indices that wrap and of
 * gathered ones. */
#include "pass/partition/weir_spmd.h"

#include "base/weir_check.h"
#include "ops/gather/weir_gather.h"
#include "support/ops/ops_check.h"
#include "ops/pool/weir_pool.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"

/* A maximum and its argmax come from the same iterations. */
static void outputs_of_a_node_are_sharded_alike(void **state)
{
  static const int64_t shard[][4] = {{0, 0, 3, 3}, {0, 1, 2, 3}, {0, 1, 3, 3}};
  const weir_array_desc desc = {WEIR_F64, 3, {1, 3, 1}, 0};
  weir_graph *g = new_graph();
  const weir_value x = weir_input(g, "x", &desc);
  const weir_value top =
      weir_pool(g, (&(weir_pool_spec){.combine = WEIR_COMBINE_ARGMAX, .kernel_size = {1}}), x);
  const weir_value argmax = {top.node, 1};
  const weir_grid grid = {1, {3}};
  weir_partition *p;

  weir_output(g, "top", top);
  weir_output(g, "place", argmax);
  for (int a = 0; a < 3; a++) {
    for (int b = 0; b < 3; b++) {
      const weir_shard shards[] = {{weir_value_array(g, top), 1, 0, shard[a], 0, 0, false},
                                   {weir_value_array(g, argmax), 1, 0, shard[b], 0, 0, false}};

      assert_int_equal(weir_partition_create(g, &grid, shards, 2, &p),
                       a == b ? WEIR_OK : WEIR_ERR_UNSUPPORTED);
      weir_partition_destroy(&p);
    }
  }
  weir_graph_destroy(&g);
}

/* Rows of a matrix, flat: wherever a rank's own begin, it reads its array from the first element
 * on, and not from as many turns ahead. */
static void indices_that_wrap_begin_within_the_array(void **state)
{
  const int64_t bounds[] = {0, 2, 6};
  weir_graph *g = new_graph();
  const weir_value x = weir_input(g, "x", &(weir_array_desc){WEIR_F64, 2, {6, 8}, 0});
  const weir_value y = weir_reshape(g, x, &((weir_reshape_spec){.rank = 1, .shape = {-1}}));
  const weir_shard shard = {weir_value_array(g, x), 0, 0, bounds, 0, 0, false};
  weir_partition *p;
  weir_spmd_graph local;

  weir_output(g, "y", y);
  assert_ok(weir_partition_create(g, &(weir_grid){1, {2}}, &shard, 1, &p));
  for (int rank = 0; rank < 2; rank++) {
    assert_ok(weir_spmd_lower(p, rank, &local));
    const weir_index *at = weir_graph_node(local.g, y.node)->access.in[0].index;

    assert_int_equal(at[1].border, WEIR_BORDER_WRAP);
    assert_int_equal(at[1].offset, 0);
    weir_spmd_graph_fini(&local);
  }
  weir_partition_destroy(&p);
  weir_graph_destroy(&g);
}

/* y[i] = x[list[i]]: inside are the iterations whose values of the list name elements of the rank.
 */
static void a_constant_list_says_what_stays_inside(void **state)
{
  const int64_t of_x[] = {0, 6, 12}, of_y[] = {0, 4, 8}, inside[][2] = {{0, 3}, {6, 8}};
  int32_t list[] = {0, 5, 2, 7, 8, 3, 11, 9};
  const weir_tensor t = weir_tensor_wrap(list, WEIR_I32, 1, (int64_t[]){8});
  weir_graph *g = new_graph();
  const weir_value x = weir_input(g, "x", &(weir_array_desc){WEIR_F64, 1, {12}, 0});
  const weir_value y = weir_gather(g, x, weir_constant(g, &t), &((weir_gather_spec){.dim = 0}));
  const weir_shard shards[] = {{weir_value_array(g, x), 0, 0, of_x, 0, 0, false},
                               {weir_value_array(g, y), 0, 0, of_y, 0, 0, false}};
  weir_partition *p;

  weir_output(g, "y", y);
  assert_ok(weir_partition_create(g, &(weir_grid){1, {2}}, shards, 2, &p));
  for (int rank = 0; rank < 2; rank++) {
    const weir_box box = weir_partition_interior(p, y.node, rank);

    assert_int_equal(box.lo[0], inside[rank][0]);
    assert_int_equal(box.hi[0], inside[rank][1]);
  }
  weir_partition_destroy(&p);
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_of_a_node_are_sharded_alike),
      cmocka_unit_test(indices_that_wrap_begin_within_the_array),
      cmocka_unit_test(a_constant_list_says_what_stays_inside),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
