/* partition_read_test.c - weights of which every rank reads a shard: a dense layer after
 * a sharded array, and its gradient. */
#include "base/weir_check.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/ops/ops_check.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "pass/autodiff/weir_gradients.h"
#include "pass/partition/partition_priv.h"
#include "pass/partition/weir_spmd.h"

enum { SAMPLES = 4, IN = 8, UNITS = 12, SLABS = 3 };

/* y = x w of samples and inputs that are sharded; w out of a flat bank, its gradient made flat. */
typedef struct dense {
  weir_grid grid;
  weir_graph *g;
  weir_value x, bank, w, grad;
  weir_shard shards[3];
  int64_t share[3], bounds[SLABS + 1], flat[SLABS + 1];
} dense;

static const int64_t even[] = {0, 3, 3, 8}; /* the second rank has none */

static dense make(void)
{
  dense c = {.grid = {2, {2, SLABS}}, .g = new_graph(), .share = {0, 2, SAMPLES}};
  const weir_reshape_spec matrix = {.rank = 2, .shape = {IN, UNITS}};
  const weir_reshape_spec flat = {.rank = 1, .shape = {IN * UNITS}};

  c.x = GIVEN(c.g, "x", WEIR_F64, SAMPLES, IN);
  c.bank = GIVEN(c.g, "bank", WEIR_F64, IN * UNITS);
  c.w = weir_reshape(c.g, c.bank, &matrix);
  const weir_value y = weir_contract2_at(c.g, "mk,kn->mn", c.x, c.w, WEIR_WHERE);
  const weir_value loss = weir_sum(c.g, weir_square(c.g, y), -1);

  assert_ok(weir_gradients(c.g, loss, &c.w, 1, &c.grad));
  c.grad = weir_reshape(c.g, c.grad, &flat);
  weir_output(c.g, "gradient", c.grad);
  assert_ok(weir_graph_status(c.g));
  for (int q = 0; q <= SLABS; q++) {
    c.flat[q] = even[q] * UNITS;
  }
  return c;
}

/* x is sharded, and (flat) so is the flat buffer. */
static weir_partition *shard(dense *c, bool flat)
{
  weir_partition *p;

  c->shards[0] = (weir_shard){weir_value_array(c->g, c->x), 0, 0, c->share, 0, 0, false};
  c->shards[1] = (weir_shard){weir_value_array(c->g, c->x), 1, 1, even, 0, 0, false};
  c->shards[2] = (weir_shard){weir_value_array(c->g, c->bank), 0, 1, c->flat, 0, 0, false};
  assert_ok(weir_partition_create(c->g, &c->grid, c->shards, flat ? 3 : 2, &p));
  return p;
}

static void slabs_are_what_ranks_read(void **state)
{
  dense c = make();
  weir_partition *p = shard(&c, false);
  const int32_t w = weir_value_array(c.g, c.w);

  for (int rank = 0; rank < weir_grid_size(&c.grid); rank++) {
    const weir_box read = partition_read(p, w, rank);
    const int q = rank % SLABS;

    assert_int_equal(weir_box_volume(&read), (even[q + 1] - even[q]) * UNITS);
  }
  assert_true(weir_partition_read_sharding(p, w, 0, 1, c.bounds));
  assert_memory_equal(c.bounds, even, sizeof even);
  assert_false(weir_partition_read_sharding(p, w, 1, 1, c.bounds)); /* all units everywhere */
  assert_false(
      weir_partition_read_sharding(p, w, 0, 0, c.bounds)); /* ranks of other samples, too */
  assert_false(weir_partition_read_sharding(p, weir_value_array(c.g, c.bank), 0, 1, c.bounds));
  weir_partition_destroy(&p);
  /* Somebody reads all of it. */
  weir_output(c.g, "pull", weir_sum(c.g, weir_square(c.g, c.w), -1));
  p = shard(&c, false);
  assert_false(weir_partition_read_sharding(p, w, 0, 1, c.bounds));
  weir_partition_destroy(&p);
  weir_graph_destroy(&c.g);
}

/* More units than inputs: rows of the matrix are shards of the flat buffer nevertheless. The
 * product is partial over shards, the gradient of a shard over samples alone. */
static void sharded_by_reads_nothing_moves(void **state)
{
  dense c = make();
  weir_partition *p = shard(&c, true);
  const int32_t grad = weir_value_array(c.g, c.grad);

  for (int rank = 0; rank < weir_grid_size(&c.grid); rank++) {
    const int64_t rows = even[rank % SLABS + 1] - even[rank % SLABS];
    const weir_box own = weir_partition_owned(p, grad, rank);
    int64_t merged = 0;
    weir_spmd_graph local;

    assert_int_equal(own.lo[0], c.flat[rank % SLABS]);
    assert_int_equal(weir_box_volume(&own), rows * UNITS);
    assert_ok(weir_spmd_lower(p, rank, &local));
    for (int32_t i = 0; i < local.n; i++) {
      assert_int_equal(local.moves[i]->kind, WEIR_COMM_OP_ALLREDUCE);
      merged += local.moves[i]->bytes;
    }
    weir_spmd_graph_fini(&local);
    assert_int_equal(merged, 8 * (2 * UNITS + rows * UNITS + 1)); /* y, shard, sum of squares */
  }
  weir_partition_destroy(&p);
  weir_graph_destroy(&c.g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slabs_are_what_ranks_read),
      cmocka_unit_test(sharded_by_reads_nothing_moves),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
