/* partition_sums_test.c - arrays that stay sums over ranks: which merges are left out, what counts
 * once, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "exec/weir_plan.h"
#include "ops/concat/weir_concat.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "pass/partition/weir_spmd.h"

enum { SAMPLES = 6, SPACE = 4, CHANNELS = 3, COUNT = 2 * CHANNELS, RANKS = 6 };

/* A network of x [samples, space, channels], sharded along the first two, and of p [channels]; the
 * bank [2 channels] stays a sum. */
typedef struct problem {
  weir_store *store;
  weir_graph *g;
  weir_value x, p, bank, weight;
  weir_grid grid;
  int64_t bounds[2][RANKS + 1];
  weir_shard shards[4];
  int n;
  weir_partition *part;
} problem;

static problem start(int samples, int space)
{
  problem b = {.grid = {2, {samples, space}}};

  assert_ok(weir_store_create(&b.store));
  assert_ok(weir_store_add(b.store, "bank", WEIR_F64, 1, (int64_t[]){COUNT}));
  assert_ok(weir_graph_create(&b.g));
  b.x = weir_input(b.g, "x", &(weir_array_desc){WEIR_F64, 3, {SAMPLES, SPACE, CHANNELS}, 0});
  b.p = weir_input(b.g, "p", &(weir_array_desc){WEIR_F64, 1, {CHANNELS}, 0});
  b.weight = weir_input(b.g, "weight", &(weir_array_desc){.dtype = WEIR_F64});
  b.bank = weir_stored(b.g, b.store, "bank");
  for (int d = 0; d < 2; d++) {
    for (int q = 0; q <= b.grid.extent[d]; q++) {
      b.bounds[d][q] = (d == 0 ? SAMPLES : SPACE) * q / b.grid.extent[d];
    }
    b.shards[b.n++] = (weir_shard){weir_value_array(b.g, b.x), d, d, NULL, 0, 0, false};
  }
  b.shards[b.n++] =
      (weir_shard){weir_value_array(b.g, b.bank), WEIR_SHARD_SUM, 0, NULL, 1u << 1, 0, false};
  return b;
}

static void fini(problem *b)
{
  weir_partition_destroy(&b->part);
  weir_graph_destroy(&b->g);
  weir_store_destroy(&b->store);
}

/* Sum over samples and space, [channels]. */
static weir_value slope(const problem *b, weir_value y)
{
  return weir_label(b->g, weir_contract(b->g, "nzc,nzc->c", y, b->x), "slope");
}

static weir_value hidden(const problem *b)
{
  return weir_tanh(b->g, weir_mul(b->g, b->x, b->p));
}

static weir_value join(const problem *b, weir_value first, weir_value second)
{
  const weir_value parts[] = {first, second};

  return weir_concat(b->g, parts, 2, 0);
}

/* bank += weight grad */
static void add_to_bank(const problem *b, weir_value grad)
{
  weir_update(b->g, b->bank, weir_add(b->g, b->bank, weir_mul(b->g, grad, b->weight)));
}

static weir_status partition(problem *b)
{
  assert_ok(weir_graph_status(b->g));
  b->shards[0].bounds = b->bounds[0]; /* where they lie by now */
  b->shards[1].bounds = b->bounds[1];
  return weir_partition_create(b->g, &b->grid, b->shards, b->n, &b->part);
}

static double input_of(int64_t i)
{
  return sin(1 + 0.7 * (double)i);
}

/* Runs a graph without moves on the elements of x in `box`; bank: [COUNT] before and after. */
static void run(const weir_graph *g, const weir_box *box, double *bank)
{
  const int64_t shape[] = {box->hi[0] - box->lo[0], box->hi[1] - box->lo[1], CHANNELS};
  double x[SAMPLES * SPACE * CHANNELS], p[] = {0.5, -1, 0.25}, weight = 0.75;
  weir_store *store = NULL;
  weir_plan *plan = NULL;
  weir_exec_cfg cfg;
  int64_t n = 0;

  for (int64_t s = box->lo[0]; s < box->hi[0]; s++) {
    for (int64_t z = box->lo[1]; z < box->hi[1]; z++) {
      for (int64_t c = 0; c < CHANNELS; c++) {
        x[n++] = input_of((s * SPACE + z) * CHANNELS + c);
      }
    }
  }
  weir_tensor tx = weir_tensor_wrap(x, WEIR_F64, 3, shape);
  weir_tensor tp = weir_tensor_wrap(p, WEIR_F64, 1, (int64_t[]){CHANNELS});
  weir_tensor tw = weir_tensor_wrap(&weight, WEIR_F64, 0, NULL);
  const weir_binding bindings[] = {{"x", &tx}, {"p", &tp}, {"weight", &tw}};
  const weir_tensor stored = weir_tensor_wrap(bank, WEIR_F64, 1, (int64_t[]){COUNT});

  assert_ok(weir_store_create(&store));
  assert_ok(weir_store_add_view(store, "bank", &stored));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR; /* no compiler */
  const weir_plan_opts opts = {.exec = &cfg, .threads = 1};

  assert_ok(weir_plan_create(g, store, &opts, &plan));
  assert_ok(weir_plan_run(plan, bindings, 3));
  weir_plan_destroy(&plan);
  weir_store_destroy(&store);
}

/* Nothing moves, and the banks of all ranks add up to that of one. */
static void check_sums(problem *b)
{
  const weir_box whole = {3, {0}, {SAMPLES, SPACE, CHANNELS}};
  double alone[COUNT], sum[COUNT] = {0};

  assert_ok(partition(b));
  for (int i = 0; i < COUNT; i++) {
    alone[i] = 3 + i;
  }
  run(b->g, &whole, alone);
  for (int r = 0; r < weir_grid_size(&b->grid); r++) {
    const weir_box box = weir_partition_owned(b->part, weir_value_array(b->g, b->x), r);
    double bank[COUNT] = {0};
    weir_spmd_graph l;

    for (int i = 0; i < COUNT && r == 0; i++) {
      bank[i] = 3 + i;
    }
    assert_ok(weir_spmd_lower(b->part, r, &l));
    assert_int_equal(l.n, 0);
    run(l.g, &box, bank);
    for (int i = 0; i < COUNT; i++) {
      sum[i] += bank[i];
    }
    weir_spmd_graph_fini(&l);
  }
  for (int i = 0; i < COUNT; i++) {
    assert_near(sum[i], alone[i], 1e-12 * (1 + fabs(alone[i])));
  }
}

static const int grids[][2] = {{1, 1}, {2, 1}, {1, 2}, {3, 2}, {6, 1}, {1, 4}};
#define EVERY_GRID(k) for (size_t k = 0; k < sizeof grids / sizeof grids[0]; k++)

static void linear_readers_take_summands(void **state)
{
  EVERY_GRID(k)
  {
    problem b = start(grids[k][0], grids[k][1]);
    const weir_value s = slope(&b, hidden(&b)), total = weir_sum(b.g, hidden(&b), -1);
    const weir_value square =
        weir_reshape(b.g, s, &((weir_reshape_spec){.rank = 2, .shape = {1, CHANNELS}}));
    const weir_value flat = weir_reshape(b.g, weir_cast(b.g, WEIR_F64, square),
                                         &((weir_reshape_spec){.rank = 1, .shape = {CHANNELS}}));

    /* scaled, divided and weighed by what is complete, and a number spread over channels */
    const weir_value more = weir_add(b.g, weir_div(b.g, weir_scale(b.g, s, -2), b.p),
                                     weir_mul(b.g, total, weir_square(b.g, b.p)));

    add_to_bank(&b, join(&b, flat, more));
    check_sums(&b);
    for (int d = 0; d < 2; d++) {
      assert_int_equal(weir_partition_sum_over(b.part, weir_value_array(b.g, s)) >> d & 1,
                       b.grid.extent[d] > 1);
    }
    assert_int_equal(weir_partition_partial(b.part, s.node), 0);
    fini(&b);
  }
}

/* The gradient of a penalty, alone and added to a sum. */
static void what_is_complete_counts_once(void **state)
{
  EVERY_GRID(k)
  {
    problem b = start(grids[k][0], grids[k][1]);
    const weir_value penalty = weir_scale(b.g, b.p, 0.1), s = slope(&b, hidden(&b));

    add_to_bank(&b, join(&b, penalty, weir_add(b.g, s, weir_square(b.g, penalty))));
    check_sums(&b);
    fini(&b);
  }
}

/* A bank that takes a complete value, and nothing of what it was. */
static void a_complete_value_replaces_a_sum(void **state)
{
  EVERY_GRID(k)
  {
    problem b = start(grids[k][0], grids[k][1]);

    weir_update(b.g, b.bank, join(&b, b.p, weir_tanh(b.g, b.p)));
    check_sums(&b);
    fini(&b);
  }
}

/* Merges of the graph of rank 1, of which there are as many as expected. */
static void expect_merges(problem *b, int merges, unsigned dims)
{
  weir_spmd_graph l;

  assert_ok(partition(b));
  assert_ok(weir_spmd_lower(b->part, 1, &l));
  assert_int_equal(l.n, merges);
  for (int m = 0; m < merges; m++) {
    assert_int_equal(l.moves[m]->kind, WEIR_COMM_OP_ALLREDUCE);
    assert_int_equal(l.moves[m]->dims, dims);
  }
  weir_spmd_graph_fini(&l);
}

static void others_are_merged_as_before(void **state)
{
  problem b = start(2, 2);
  const weir_value mean = weir_scale(b.g, weir_sum(b.g, b.x, -1), 1.0 / 24);
  const weir_value centred = weir_tanh(b.g, weir_sub(b.g, b.x, mean)), s = slope(&b, centred);

  add_to_bank(&b, join(&b, s, s)); /* the mean alone is merged */
  expect_merges(&b, 1, 3);
  fini(&b);

  b = start(2, 2); /* a result has the sum, too */
  const weir_value shown = slope(&b, hidden(&b));

  weir_output(b.g, "shown", shown);
  add_to_bank(&b, join(&b, shown, shown));
  expect_merges(&b, 1, 3);
  fini(&b);

  b = start(2, 2); /* so has a function that is not linear */
  const weir_value root = slope(&b, hidden(&b));

  add_to_bank(&b, join(&b, root, weir_tanh(b.g, root)));
  expect_merges(&b, 1, 3);
  fini(&b);

  b = start(2, 2); /* the product of two sums: one of them */
  const weir_value one = slope(&b, hidden(&b)), two = slope(&b, b.x);

  add_to_bank(&b, join(&b, weir_mul(b.g, one, two), b.p));
  expect_merges(&b, 1, 3);
  fini(&b);

  b = start(2, 2); /* a constant is added: once */
  add_to_bank(&b, join(&b, weir_add_scalar(b.g, slope(&b, hidden(&b)), 2), b.p));
  expect_merges(&b, 1, 3);
  fini(&b);

  b = start(2, 2); /* a sum along samples alone */
  b.shards[2].also = 0;
  add_to_bank(&b, join(&b, slope(&b, hidden(&b)), b.p));
  expect_merges(&b, 1, 2);
  fini(&b);

  b = start(2, 2); /* no array stays a sum */
  b.n = 2;
  add_to_bank(&b, join(&b, slope(&b, hidden(&b)), slope(&b, b.x)));
  expect_merges(&b, 2, 3);
  fini(&b);
}

static void refuse(problem *b, weir_status status, const char *message)
{
  assert_int_equal(partition(b), status);
  assert_null(b->part);
  if (strstr(weir_last_message(), message) == NULL) {
    fail_msg("\"%s\" does not say \"%s\"", weir_last_message(), message);
  }
  weir_clear_failure();
  fini(b);
}

static void readers_that_are_not_linear_are_refused(void **state)
{
  problem b = start(2, 2);

  weir_update(b.g, b.bank, weir_label(b.g, weir_mul(b.g, b.bank, b.bank), "squared"));
  refuse(&b, WEIR_ERR_UNSUPPORTED,
         "'bank' is a partial sum on each rank, but node 4 'squared' is "
         "not linear in it");
  b = start(2, 2); /* some nodes later */
  weir_update(b.g, b.bank, weir_label(b.g, weir_tanh(b.g, weir_scale(b.g, b.bank, 2)), "bounded"));
  refuse(&b, WEIR_ERR_UNSUPPORTED, "'bounded' is not linear in it");
  b = start(2, 2);
  weir_output(b.g, "twice", weir_label(b.g, weir_scale(b.g, b.bank, 2), "twice"));
  add_to_bank(&b, join(&b, b.p, b.p));
  refuse(&b, WEIR_ERR_UNSUPPORTED, "'twice' makes a complete array of it");
  b = start(2, 2);
  weir_output(b.g, "all", weir_label(b.g, weir_max_over(b.g, b.bank, -1), "largest"));
  refuse(&b, WEIR_ERR_UNSUPPORTED, "'largest' is not linear in it");
}

static void wrong_rows_are_refused(void **state)
{
  problem b = start(2, 2);
  const int64_t halves[] = {0, 2, COUNT};

  b.shards[2].array = weir_value_array(b.g, b.p);
  refuse(&b, WEIR_ERR_CONFIG, "is not stored, or cannot be a sum over dimension 0");
  b = start(2, 2);
  b.shards[2].along = 2;
  refuse(&b, WEIR_ERR_CONFIG, "cannot be a sum over dimension 2");
  b = start(2, 2);
  b.shards[b.n++] = (weir_shard){weir_value_array(b.g, b.bank), 0, 1, halves, 0, 0, false};
  refuse(&b, WEIR_ERR_CONFIG, "is sharded over ranks of which each has a summand");
}

static void without_memory(void **state)
{
  weir_status status = WEIR_ERR_MEMORY;

  for (int64_t k = 1; status != WEIR_OK; k++) {
    problem b = start(2, 2);

    add_to_bank(&b, join(&b, slope(&b, hidden(&b)), b.p));
    weir_alloc_fail_after(k);
    status = partition(&b);
    weir_alloc_fail_after(0);
    assert_true(status == WEIR_OK || status == WEIR_ERR_MEMORY);
    weir_clear_failure();
    fini(&b);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linear_readers_take_summands),
      cmocka_unit_test(what_is_complete_counts_once),
      cmocka_unit_test(a_complete_value_replaces_a_sum),
      cmocka_unit_test(others_are_merged_as_before),
      cmocka_unit_test(readers_that_are_not_linear_are_refused),
      cmocka_unit_test(wrong_rows_are_refused),
      cmocka_unit_test(without_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
