/* exchange.c - every exchange policy of the registry on grids of ranks: sums, and what is given is
 * returned or kept.
 *
 *   mpi_exchange RANKS FOLDER   FOLDER is empty and that of all ranks */
#include "optim/weir_exchange.h"
#include "train_session.h"

enum { COUNT = 1000, PARTS = 3 };

/* Element i of a part on a rank: whole numbers, of which sums have no rounding. */
static double element_of(int rank, int part, int i)
{
  return (double)((rank + 1) * (part + 2) + i % 17);
}

/* What the ranks that differ from this one along `dims` have together. */
static double sum_of(const weir_grid *grid, unsigned dims, int part, int i)
{
  const int me = weir_comm_rank(comm);
  double sum = 0;

  for (int q = 0; q < weir_comm_size(comm); q++) {
    if (weir_grid_sub_id(grid, q, dims) == weir_grid_sub_id(grid, me, dims)) {
      sum += element_of(q, part, i);
    }
  }
  return sum;
}

/* f32 over all ranks, f64 over the samples, and one that no rank shares; twice. */
static void check_sums(const weir_exchange_desc *policy, const weir_grid *grid)
{
  static const unsigned dims[PARTS] = {15, 1, 0};
  const int me = weir_comm_rank(comm);
  static float a[COUNT];
  static double b[COUNT], c[COUNT];
  const weir_exchange_part part[PARTS] = {
      {a, WEIR_F32, COUNT, dims[0]}, {b, WEIR_F64, COUNT, dims[1]}, {c, WEIR_F64, COUNT, dims[2]}};
  const weir_exchange_args args = {.comm = comm, .grid = grid, .part = part, .n = PARTS};
  weir_exchange x;

  assert_ok(weir_exchange_open(policy, &args, &x));
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < COUNT; i++) {
      a[i] = (float)element_of(me, 0, i);
      b[i] = element_of(me, 1, i);
      c[i] = element_of(me, 2, i);
    }
    assert_ok(weir_exchange_run(&x));
    for (int i = 0; i < COUNT; i++) {
      assert_true(a[i] == sum_of(grid, dims[0], 0, i));
      assert_true(b[i] == sum_of(grid, dims[1], 1, i));
      assert_true(c[i] == sum_of(grid, dims[2], 2, i));
    }
  }
  weir_exchange_close(&x);
  weir_exchange_close(&x); /* once more is none */
}

/* Adds what replicas keep of gradients that they have not given, of all ranks along the samples. */
static void add_kept(const weir_exchange *x, const weir_grid *grid, double *sum)
{
  static double kept_sum[COUNT];
  weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX];
  const int n = x->policy->keep != NULL ? x->policy->keep(x->state, kept) : 0;
  weir_comm *group = NULL;
  weir_request *r = NULL;

  memset(kept_sum, 0, sizeof kept_sum);
  for (int k = 0; k < n; k++) {
    assert_true(kept[k].name[strspn(kept[k].name, "abcdefghijklmnopqrstuvwxyz_")] == 0);
    for (int i = 0; i < COUNT && kept[k].kind == WEIR_KEPT_SUMMAND; i++) {
      assert_int_equal(kept[k].count, COUNT);
      kept_sum[i] += ((const double *)kept[k].data)[i];
    }
  }
  assert_ok(weir_grid_sub(grid, comm, 1, &group));
  assert_ok(weir_allreduce_create(group, "kept", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F64),
                                  kept_sum, COUNT, &r));
  assert_ok(weir_request_run_once(&r));
  weir_comm_close(&group);
  for (int i = 0; i < COUNT; i++) {
    sum[i] += kept_sum[i];
  }
}

/* Of gradients: what is returned in all steps and at the end, and what is kept then, adds up to
 * what was given. Where a batch has a target size, an update is as many times the mean of
 * contributions: of equal ones it is known, whoever gave them. */
static void check_gradients(const weir_exchange_desc *policy, const weir_grid *grid)
{
  static double a[COUNT], sum[COUNT];
  const weir_exchange_part part = {a, WEIR_F64, COUNT, 1};
  const weir_exchange_args args = {.comm = comm, .grid = grid, .part = &part, .n = 1};
  const int me = weir_comm_rank(comm), turns = 7;
  const bool equal = policy->due != NULL;
  weir_exchange x;

  memset(sum, 0, sizeof sum);
  assert_ok(weir_exchange_open(policy, &args, &x));
  for (int turn = 0; turn <= turns; turn++) {
    for (int i = 0; i < COUNT; i++) {
      a[i] = equal ? element_of(0, 1, i) : (turn + 1) * element_of(me, 1, i);
    }
    assert_ok(turn < turns ? weir_exchange_run(&x) : weir_exchange_settle(&x));
    for (int i = 0; i < COUNT && equal; i++) {
      assert_true(a[i] == (weir_exchange_due(&x) ? grid->extent[0] * element_of(0, 1, i) : 0));
    }
    for (int i = 0; i < COUNT && (turn < turns || policy->settle != NULL); i++) {
      sum[i] += a[i];
    }
  }
  add_kept(&x, grid, sum);
  for (int i = 0; i < COUNT && !equal; i++) {
    const double given = turns * (turns + 1) / 2 * sum_of(grid, 1, 1, i);

    assert_true(fabs(sum[i] - given) <= (policy->keep != NULL ? 1e-12 * given : 0));
  }
  assert_true(weir_exchange_count(&x).versions >= (equal ? 1 : turns));
  weir_exchange_close(&x);
}

/* Of weights: replicas are equal at the end, and their mean stays. */
static void check_weights(const weir_exchange_desc *policy, const weir_grid *grid)
{
  static double a[COUNT];
  const weir_exchange_part part = {a, WEIR_F64, COUNT, 1};
  const weir_exchange_args args = {.comm = comm, .grid = grid, .part = &part, .n = 1};
  const int me = weir_comm_rank(comm), n = grid->extent[0];
  weir_exchange x;

  for (int i = 0; i < COUNT; i++) {
    a[i] = element_of(me, 1, i);
  }
  assert_ok(weir_exchange_open(policy, &args, &x));
  for (int turn = 0; turn < 30; turn++) {
    assert_ok(weir_exchange_run(&x));
  }
  assert_ok(weir_exchange_settle(&x));
  static double low[2 * COUNT];
  weir_request *r = NULL;

  for (int i = 0; i < COUNT; i++) {
    low[i] = a[i];
    low[COUNT + i] = -a[i];
  }
  assert_ok(weir_allreduce_create(comm, "least", weir_reducer_of(WEIR_REDUCE_MIN, WEIR_F64), low,
                                  2 * COUNT, &r));
  assert_ok(weir_request_run_once(&r));
  for (int i = 0; i < COUNT && n == weir_comm_size(comm); i++) {
    assert_true(low[i] == -low[COUNT + i]);
  }
  for (int i = 0; i < COUNT; i++) {
    const double mean = sum_of(grid, 1, 1, i) / n;

    /* what late ranks give a second time shifts it */
    assert_true(fabs(a[i] - mean) < (policy->count == NULL ? 1e-12 * mean : n));
  }
  weir_exchange_close(&x);
}

static void check_policy(const weir_exchange_desc *policy, const weir_grid *grid)
{
  if (policy->invariant == WEIR_REPLICAS_EQUAL && policy->in_plan) {
    check_sums(policy, grid);
  }
  if (policy->what == WEIR_EXCHANGE_GRADIENTS) {
    check_gradients(policy, grid);
  } else {
    check_weights(policy, grid);
  }
}

static void every_policy_on_every_grid(void **state)
{
  int n = 0;
  const weir_grid *grid = grids_of(weir_comm_size(comm), &n);

  for (int k = 0; weir_exchange_table[k] != NULL; k++) {
    const weir_exchange_desc *policy = weir_exchange_table[k];

    assert_true(policy->name[0] != 0 && policy->cite[0] != 0 && policy->help[0] != 0);
    for (int i = 0; i < n; i++) {
      check_policy(policy, &grid[i]);
    }
  }
}

static void an_unknown_policy_is_refused(void **state)
{
  const weir_exchange_desc *policy = NULL;

  assert_int_equal(weir_exchange_find("gossip", &policy), WEIR_ERR_CONFIG);
  assert_null(policy);
  assert_non_null(strstr(weir_last_message(), "choose one of: "));
  for (int k = 0; weir_exchange_table[k] != NULL; k++) {
    assert_non_null(strstr(weir_last_message(), weir_exchange_table[k]->name));
  }
  weir_clear_failure();
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_policy_on_every_grid),
      cmocka_unit_test(an_unknown_policy_is_refused),
  };
  const int status = session_open(argc, argv);

  if (status != 0) {
    return status;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
