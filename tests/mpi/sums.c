/* sums.c - what reductions over ranks bring, against what every rank can work out alone: to the
 * bit, with counters of messages. Arguments: hosts.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "request_checks.h"

/* The tree of the header, by its definition. */
static double tree(const double *x, int n)
{
  int h = 1;

  if (n == 1) {
    return x[0];
  }
  while (2 * h < n) {
    h *= 2;
  }
  return tree(x, h) + tree(x + h, n - h);
}

static float tree_f32(const float *x, int n)
{
  int h = 1;

  if (n == 1) {
    return x[0];
  }
  while (2 * h < n) {
    h *= 2;
  }
  return tree_f32(x, h) + tree_f32(x + h, n - h);
}

static double wanted_sum(uint32_t what, int64_t i)
{
  double x[MOST_RANKS];

  for (int r = 0; r < ranks; r++) {
    x[r] = number((uint32_t)r, what, i);
  }
  return tree(x, ranks);
}

/* All ways, sizes from 0, messages split: the bits of the tree, on every rank, every time. */
static void sums_are_those_of_the_tree(void **state)
{
  static const int64_t counts[] = {0, 1, 2, 3, 5, 31, 33, 1000, 4097};

  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    for (uint32_t way = 0; way < 3; way++) { /* up the tree, by halves or blocks, those in pieces */
      const int64_t n = counts[k];
      weir_comm_cfg cfg = usual;
      weir_request *r;
      double *x = calloc((size_t)n + 1, sizeof *x);

      cfg.tree_max_bytes = way == 0 ? 1 << 30 : 0;
      cfg.max_message_bytes = way == 2 ? 100 : usual.max_message_bytes;
      weir_comm_configure(comm, &cfg);
      assert_ok(
          weir_allreduce_create(comm, "sum", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F64), x, n, &r));
      for (uint32_t again = 0; again < 2; again++) {
        for (int64_t i = 0; i < n; i++) {
          x[i] = number((uint32_t)rank, again, i);
        }
        finish(r);
        for (int64_t i = 0; i < n; i++) {
          const double y = wanted_sum(again, i);

          assert_memory_equal(&x[i], &y, sizeof y);
        }
      }
      weir_request_destroy(&r);
      free(x);
    }
  }
  weir_comm_configure(comm, &usual);
}

/* Both components are summed; nothing else is a merge of complex numbers. */
static void complex_sums(void **state)
{
  enum { N = 31 };
  weir_c128 wide[N];
  weir_c64 narrow[N];
  weir_request *r[2];

  for (int i = 0; i < N; i++) {
    wide[i] = (weir_c128){i + rank, -rank};
    narrow[i] = (weir_c64){(float)rank, (float)(i * rank)};
  }
  assert_ok(weir_allreduce_create(comm, "wide", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_C128), wide,
                                  N, &r[0]));
  assert_ok(weir_allreduce_create(comm, "narrow", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_C64),
                                  narrow, N, &r[1]));
  for (int k = 0; k < 2; k++) {
    assert_ok(weir_request_start(r[k]));
    assert_ok(weir_request_wait(r[k]));
    weir_request_destroy(&r[k]);
  }
  const int all = ranks * (ranks - 1) / 2;

  for (int i = 0; i < N; i++) {
    assert_true(wide[i].re == i * ranks + all && wide[i].im == -all);
    assert_true(narrow[i].re == (float)all && narrow[i].im == (float)(i * all));
  }
  assert_null(weir_reducer_of(WEIR_REDUCE_MAX, WEIR_C64));
  assert_null(weir_reducer_of(WEIR_REDUCE_PROD, WEIR_C128));
}

static void other_merges(void **state)
{
  enum { N = 77 };
  float most[N], least[N];
  int64_t product[N];
  int32_t sum[N];
  weir_request *r[4];

  for (int i = 0; i < N; i++) {
    most[i] = least[i] = (float)((i + rank) % ranks);
    product[i] = rank + 1;
    sum[i] = (int32_t)((uint32_t)INT32_MAX - (uint32_t)i + (uint32_t)rank); /* sums wrap */
  }
  most[7] = least[8] = rank == ranks - 1 ? NAN : 1;
  assert_ok(weir_allreduce_create(comm, "max", weir_reducer_of(WEIR_REDUCE_MAX, WEIR_F32), most, N,
                                  &r[0]));
  assert_ok(weir_allreduce_create(comm, "min", weir_reducer_of(WEIR_REDUCE_MIN, WEIR_F32), least, N,
                                  &r[1]));
  assert_ok(weir_allreduce_create(comm, "product", weir_reducer_of(WEIR_REDUCE_PROD, WEIR_I64),
                                  product, N, &r[2]));
  assert_ok(weir_allreduce_create(comm, "sum", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I32), sum, N,
                                  &r[3]));
  for (int k = 0; k < 4; k++) { /* all at once, each rank in its own order */
    assert_ok(weir_request_start(r[(k + rank) % 4]));
  }
  for (int k = 0; k < 4; k++) {
    bool done = false;

    while (!done && k % 2 == 0) {
      assert_ok(weir_request_test(r[(3 * k + rank) % 4], &done));
    }
    assert_ok(weir_request_wait(r[(3 * k + rank) % 4]));
  }
  for (int i = 0; i < N; i++) {
    int64_t factorial = 1;
    uint32_t total = 0;

    for (int k = 0; k < ranks; k++) {
      factorial *= k + 1;
      total += (uint32_t)INT32_MAX - (uint32_t)i + (uint32_t)k;
    }
    assert_true(i == 7 ? isnan(most[i]) : i == 8 || most[i] == (float)(ranks - 1));
    assert_true(i == 8 ? isnan(least[i]) : i == 7 || least[i] == 0);
    assert_int_equal(product[i], factorial);
    assert_true(sum[i] == (int32_t)total);
  }
  for (int k = 0; k < 4; k++) {
    weir_request_destroy(&r[k]);
  }
}

/* Blocks of random size, 0 included: reduce-scatter leaves the others as they were, and allgather
 * after it makes an allreduce. */
static void blocks_are_scattered_and_gathered(void **state)
{
  for (uint32_t round = 0; round < DRAWS; round++) {
    int64_t counts[MOST_RANKS], total = 0, first = 0;
    weir_request *scatter, *allgather;

    for (int r = 0; r < ranks; r++) {
      counts[r] = draw(3, round, 50, (uint64_t)r) * draw(40, round, 51, (uint64_t)r);
      first += r < rank ? counts[r] : 0;
      total += counts[r];
    }
    double *x = calloc((size_t)total + 1, sizeof *x);

    assert_ok(weir_reduce_scatter_create(
        comm, "scatter", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F64), x, counts, &scatter));
    assert_ok(weir_allgather_create(comm, "gather", sizeof *x, x, counts, &allgather));
    for (int64_t i = 0; i < total; i++) {
      x[i] = number((uint32_t)rank, round, i);
    }
    finish(scatter);
    for (int64_t i = 0; i < total; i++) {
      const bool mine = i >= first && i < first + counts[rank];

      assert_true(x[i] == (mine ? wanted_sum(round, i) : number((uint32_t)rank, round, i)));
    }
    finish(allgather);
    for (int64_t i = 0; i < total; i++) {
      assert_true(x[i] == wanted_sum(round, i));
    }
    weir_request_destroy(&scatter);
    weir_request_destroy(&allgather);
    free(x);
  }
}

/* By halves, of a power of two of ranks: 2 log2 P messages a rank. By blocks: every rank sends all
 * but its own block, and its own to all others. Up the tree: every rank but 0 sends everything
 * once, and receives it once. */
static void counters_equal_closed_forms(void **state)
{
  enum { EACH = 100 };
  double x[EACH * MOST_RANKS] = {0};
  const int64_t others = ranks - 1, bytes = EACH * (int64_t)sizeof *x;
  const bool power = (ranks & others) == 0;
  int64_t each = power ? 0 : 2 * others;

  for (int step = 1; step < ranks && power; step *= 2) {
    each += 2;
  }

  for (int way = 0; way < 2; way++) {
    weir_comm_cfg cfg = usual;
    weir_request *r;
    int64_t sums[4];

    cfg.tree_max_bytes = way == 0 ? 0 : 1 << 30;
    weir_comm_configure(comm, &cfg);
    assert_ok(weir_allreduce_create(comm, "count", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F64), x,
                                    (int64_t)EACH * ranks, &r));
    const weir_comm_count before = weir_comm_counted(comm, WEIR_COMM_REDUCE);

    finish(r);
    weir_request_destroy(&r);
    const weir_comm_count n = since(before, WEIR_COMM_REDUCE);
    int64_t own[4] = {n.sent, n.sent_bytes, n.received, n.received_bytes};

    const weir_allreduce_way said =
        weir_allreduce_way_of(ranks, EACH * ranks * (int64_t)sizeof *x, cfg.tree_max_bytes);

    assert_int_equal(said.path, way == 1 ? WEIR_ALLREDUCE_TREE
                                : power  ? WEIR_ALLREDUCE_HALVES
                                         : WEIR_ALLREDUCE_SHARES);
    assert_true(way == 1 ? n.sent <= said.steps : n.sent == said.steps);
    if (way == 0) {
      assert_near((double)n.sent_bytes, (double)said.steps * said.bytes, 1e-12);
      assert_int_equal(n.sent, each);
      assert_int_equal(n.sent_bytes, 2 * others * bytes);
      assert_int_equal(n.received, each);
      assert_int_equal(n.received_bytes, 2 * others * bytes);
    }
    assert_ok(
        weir_allreduce_create(comm, "all", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), own, 4, &r));
    finish(r);
    weir_request_destroy(&r);
    memcpy(sums, own, sizeof sums);
    assert_int_equal(sums[0], way == 0 ? each * ranks : 2 * others);
    assert_int_equal(sums[1], 2 * others * ranks * bytes);
    assert_int_equal(sums[0], sums[2]);
    assert_int_equal(sums[1], sums[3]);
  }
  weir_comm_configure(comm, &usual);
}

/* Fewer elements than ranks, none and one included: some messages are empty and not sent, and every
 * element is still sent 2 (P - 1) times. f32: the bits of the tree, too. */
static void few_elements(void **state)
{
  weir_comm_cfg cfg = usual;

  cfg.tree_max_bytes = 0;
  weir_comm_configure(comm, &cfg);
  for (int64_t n = 0; n <= 2 * ranks; n++) {
    float x[2 * MOST_RANKS], all[MOST_RANKS];
    const weir_comm_count before = weir_comm_counted(comm, WEIR_COMM_REDUCE);
    weir_request *r;

    for (int64_t i = 0; i < n; i++) {
      x[i] = (float)number((uint32_t)rank, 9, i);
    }
    assert_ok(
        weir_allreduce_create(comm, "few", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F32), x, n, &r));
    finish(r);
    weir_request_destroy(&r);
    const weir_comm_count now = since(before, WEIR_COMM_REDUCE);
    int64_t bytes = now.sent_bytes;

    assert_true(now.sent <= 2 * (ranks - 1) && (n > 0 || now.sent == 0));
    assert_ok(weir_allreduce_create(comm, "bytes", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64),
                                    &bytes, 1, &r));
    finish(r);
    weir_request_destroy(&r);
    assert_int_equal(bytes, 2 * (ranks - 1) * n * (int64_t)sizeof *x);
    for (int64_t i = 0; i < n; i++) {
      for (int k = 0; k < ranks; k++) {
        all[k] = (float)number((uint32_t)k, 9, i);
      }
      const float y = tree_f32(all, ranks);

      assert_memory_equal(&x[i], &y, sizeof y);
    }
  }
  weir_comm_configure(comm, &usual);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_those_of_the_tree),
      cmocka_unit_test(complex_sums),
      cmocka_unit_test(other_merges),
      cmocka_unit_test(blocks_are_scattered_and_gathered),
      cmocka_unit_test(counters_equal_closed_forms),
      cmocka_unit_test(few_elements),
  };
  host_tests all = {"sums", tests, sizeof tests / sizeof *tests, MOST_RANKS, &usual};

  return run_on_hosts(argc, argv, &all);
}
