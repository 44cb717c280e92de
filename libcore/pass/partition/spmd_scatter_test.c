/* spmd_scatter_test.c - sums of which ranks have partial sums: which are made by the readers of
 * their boxes, and the bytes that then move. */
#include "base/weir_check.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/partition/weir_spmd.h"

enum { SUMMED = 12, KEPT = 12, ACROSS = 2, MAX = 6 };

/* y = 2 sum of x over its first dimension, which ranks along the first dimension of the grid have
 * partial sums of; y is sharded along its first dimension over all ranks. */
typedef struct problem {
  weir_graph *g;
  weir_grid grid;
  weir_partition *p;
  int64_t bounds[2][MAX + 1];
  weir_shard shards[3];
  int n;
} problem;

typedef enum variant { BY_SHARDS, BY_ALL, AS_RESULT } variant;

static void even(int64_t extent, int pieces, int64_t *bounds)
{
  for (int q = 0; q <= pieces; q++) {
    bounds[q] = extent * q / pieces;
  }
}

static problem make(int ranks, int copies, variant v)
{
  problem b = {.grid = {copies > 1 ? 2 : 1, {ranks, copies}}};

  assert_ok(weir_graph_create(&b.g));
  const weir_value x =
      weir_input(b.g, "x", &(weir_array_desc){WEIR_C128, 3, {SUMMED, KEPT, ACROSS}, 0});
  const weir_value sum = weir_sum(b.g, x, 0), y = weir_scale(b.g, sum, 2);

  weir_output(b.g, "y", y);
  if (v == AS_RESULT) {
    weir_output(b.g, "sum", sum);
  }
  even(SUMMED, ranks, b.bounds[0]);
  even(KEPT, ranks, b.bounds[1]);
  b.shards[b.n++] = (weir_shard){weir_value_array(b.g, x), 0, 0, b.bounds[0], 0, 0, false};
  b.shards[b.n++] = (weir_shard){.array = weir_value_array(b.g, sum), .dim = -1};
  if (v == BY_ALL) {
    b.shards[b.n++] = (weir_shard){.array = weir_value_array(b.g, y), .dim = -1};
  } else {
    b.shards[b.n++] = (weir_shard){weir_value_array(b.g, y), 0, 0, b.bounds[1], 0, 0, false};
  }
  assert_ok(weir_graph_status(b.g));
  assert_ok(weir_partition_create(b.g, &b.grid, b.shards, b.n, &b.p));
  return b;
}

static void fini(problem *b)
{
  weir_partition_destroy(&b->p);
  weir_graph_destroy(&b->g);
}

/* The only move of a rank. */
static weir_comm_op move_of(const problem *b, int rank, weir_spmd_graph *l)
{
  assert_ok(weir_spmd_lower(b->p, rank, l));
  assert_int_equal(l->n, 1);
  return *l->moves[0];
}

/* Each rank gives all others their shard of its partial sum, and gets as many of its own. */
static void shards_are_summed_where_they_are_read(void **state)
{
  const int64_t row = ACROSS * (int64_t)sizeof(weir_c128);

  (void)state;
  for (int ranks = 2; ranks <= MAX; ranks++) {
    problem b = make(ranks, 1, BY_SHARDS);

    for (int r = 0; r < ranks; r++) {
      weir_spmd_graph l;
      const weir_comm_op m = move_of(&b, r, &l);
      const int64_t own = b.bounds[1][r + 1] - b.bounds[1][r];

      assert_int_equal(m.kind, WEIR_COMM_OP_REDUCE_SCATTER);
      assert_int_equal(m.rank, r);
      assert_int_equal(m.bytes, (KEPT - own) * row);
      assert_int_equal(weir_comm_op_received(&m, -1), (ranks - 1) * own * row);
      assert_int_equal(m.n_messages, 2 * (ranks - 1));
      assert_int_equal(m.to.lo[0], b.bounds[1][r]);
      assert_int_equal(weir_box_volume(&m.to), own * ACROSS);
      weir_spmd_graph_fini(&l);
    }
    fini(&b);
  }
}

/* Ranks that have the same partial sums each serve one group. */
static void copies_stay_among_themselves(void **state)
{
  const int ranks = 3, copies = 2;
  problem b = make(ranks, copies, BY_SHARDS);

  (void)state;
  for (int r = 0; r < ranks * copies; r++) {
    weir_spmd_graph l;
    const weir_comm_op m = move_of(&b, r, &l);

    assert_int_equal(m.kind, WEIR_COMM_OP_REDUCE_SCATTER);
    assert_int_equal(m.n_messages, 2 * (ranks - 1));
    for (int64_t i = 0; i < m.n_messages; i++) {
      assert_int_equal(m.messages[i].peer % copies, r % copies);
    }
    weir_spmd_graph_fini(&l);
  }
  fini(&b);
}

/* What all read, and what is a result itself, is merged. */
static void what_all_read_is_merged(void **state)
{
  static const variant of[] = {BY_ALL, AS_RESULT};

  (void)state;
  for (int i = 0; i < 2; i++) {
    for (int ranks = 2; ranks <= MAX; ranks++) {
      problem b = make(ranks, 1, of[i]);
      weir_spmd_graph l;

      assert_int_equal(move_of(&b, 0, &l).kind, WEIR_COMM_OP_ALLREDUCE);
      weir_spmd_graph_fini(&l);
      fini(&b);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shards_are_summed_where_they_are_read),
      cmocka_unit_test(copies_stay_among_themselves),
      cmocka_unit_test(what_all_read_is_merged),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
