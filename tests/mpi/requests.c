/* requests.c - what requests bring, against what every rank can work out alone: boxes, reductions
 * to the bit, gathered blocks, counters. The argument is how many ranks were started. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "comm/weir_grid.h"
#include "comm/weir_request.h"
#include "all_ranks.h"

enum { MOST_RANKS = 8, DRAWS = 12 };

static const weir_comm_cfg usual = {
    .max_message_bytes = 1 << 20, .tree_max_bytes = 256, .timeout = 60};

/* The same on all ranks: a number of [0, most] that belongs to what a, b, c count. */
static int64_t draw(int64_t most, uint32_t a, uint32_t b, uint64_t c)
{
  return (int64_t)(weir_random_bits(77, a, b, c) % ((uint64_t)most + 1));
}

static double number(uint32_t from, uint32_t what, int64_t i)
{
  return weir_random_uniform(5, from, what, (uint64_t)i) - 0.25;
}

static void finish(weir_request *r)
{
  assert_ok(weir_request_run(r));
}

/* A box of an array of its own, which has elements around the box and other strides than the box.
 */
typedef struct boxed {
  weir_block block;
  double *all;
  int64_t extent[WEIR_BLOCK_DIMS], low[WEIR_BLOCK_DIMS], total;
} boxed;

/* Counts may be 0 and 1; extents and order of dimensions are drawn by `key`, and differ between the
 * sender and the receiver. */
static boxed make_boxed(int dims, const int64_t *count, uint32_t key)
{
  boxed h = {.block = {.size = sizeof(double), .rank = dims}, .total = 1};
  int order[WEIR_BLOCK_DIMS];

  for (int d = 0; d < dims; d++) {
    h.block.count[d] = count[d];
    h.low[d] = draw(2, key, 1, (uint64_t)d);
    h.extent[d] = count[d] + h.low[d] + draw(2, key, 2, (uint64_t)d);
    order[d] = d;
  }
  for (int d = dims - 1; d > 0 && draw(1, key, 4, 0) == 1; d--) { /* shuffled, half the time */
    const int other = (int)draw(d, key, 3, (uint64_t)d), kept = order[d];

    order[d] = order[other];
    order[other] = kept;
  }
  int64_t offset = 0;

  for (int d = dims - 1; d >= 0; d--) {
    h.block.stride[order[d]] = h.total;
    offset += h.low[order[d]] * h.total;
    h.total *= h.extent[order[d]];
  }
  h.all = calloc((size_t)h.total + 1, sizeof *h.all);
  assert_non_null(h.all);
  h.block.data = h.all + (h.total > 0 ? offset : 0);
  return h;
}

/* Row-major over the box: writes number(from, what, i), or counts those that differ. */
static int64_t visit(const boxed *h, bool write, uint32_t from, uint32_t what)
{
  int64_t at[WEIR_BLOCK_DIMS] = {0}, wrong = 0, i = 0, total = 1;

  for (int d = 0; d < h->block.rank; d++) {
    total *= h->block.count[d];
  }
  for (; i < total; i++) {
    double *x = h->block.data;

    for (int d = 0; d < h->block.rank; d++) {
      x += at[d] * h->block.stride[d];
    }
    if (write) {
      *x = number(from, what, i);
    }
    wrong += *x != number(from, what, i);
    for (int d = h->block.rank - 1; d >= 0 && ++at[d] == h->block.count[d]; d--) {
      at[d] = 0;
    }
  }
  return wrong;
}

static int64_t nonzero(const boxed *h)
{
  int64_t n = 0;

  for (int64_t i = 0; i < h->total; i++) {
    n += h->all[i] != 0;
  }
  return n;
}

/* Between every two ranks (and from a rank to itself) up to three boxes of random shape, 0 and 1
 * included, in arrays of different layout, twice; nothing outside the boxes is touched. */
static void random_boxes(uint32_t round, int64_t piece)
{
  enum { MOST = 2 * 3 * MOST_RANKS };
  weir_transfer list[MOST];
  boxed boxes[MOST];
  uint32_t source[MOST], key[MOST];
  weir_comm_cfg cfg = usual;
  weir_request *r;
  int n = 0;

  for (int from = 0; from < ranks; from++) {
    for (int to = 0; to < ranks; to++) {
      const uint32_t pair = (uint32_t)(round * 10000 + (uint32_t)(from * 100 + to) * 3);

      for (int64_t b = draw(3, pair, 9, 0) - 1; b >= 0; b--) {
        const int dims = (int)draw(4, pair, 10, (uint64_t)b);
        int64_t count[WEIR_BLOCK_DIMS] = {0};

        for (int d = 0; d < dims; d++) {
          count[d] = draw(5, pair, 11 + (uint32_t)d, (uint64_t)b);
        }
        for (int side = 0; side < 2; side++) {
          if (rank == (side == 0 ? from : to)) {
            const uint32_t here = 2 * (pair + (uint32_t)b) + (uint32_t)side;

            boxes[n] = make_boxed(dims, count, here);
            list[n] = (weir_transfer){side == 0 ? to : from, side == 1, boxes[n].block};
            source[n] = (uint32_t)from;
            key[n++] = pair + (uint32_t)b;
          }
        }
      }
    }
  }
  cfg.max_message_bytes = piece;
  weir_comm_configure(comm, &cfg);
  assert_ok(weir_exchange_create(comm, "boxes", list, n, &r));
  for (uint32_t again = 0; again < 2; again++) {
    for (int k = 0; k < n; k++) {
      if (!list[k].receive) {
        visit(&boxes[k], true, source[k], key[k] + again);
      }
    }
    finish(r);
    for (int k = 0; k < n; k++) {
      const int64_t before = nonzero(&boxes[k]);
      int64_t inside = 1;

      assert_int_equal(visit(&boxes[k], false, source[k], key[k] + again), 0);
      for (int d = 0; d < boxes[k].block.rank; d++) {
        inside *= boxes[k].block.count[d];
      }
      assert_int_equal(before, inside); /* no number drawn is 0 */
    }
  }
  weir_request_destroy(&r);
  for (int k = 0; k < n; k++) {
    free(boxes[k].all);
  }
}

static void boxes_arrive_where_they_belong(void **state)
{
  for (uint32_t round = 0; round < DRAWS; round++) {
    random_boxes(round, round % 3 == 0 ? 24 : usual.max_message_bytes);
  }
}

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

static double wanted_sum(uint32_t what, int64_t i)
{
  double x[MOST_RANKS];

  for (int r = 0; r < ranks; r++) {
    x[r] = number((uint32_t)r, what, i);
  }
  return tree(x, ranks);
}

/* Both ways, sizes from 0, messages split: the bits of the tree, on every rank, every time. */
static void sums_are_those_of_the_tree(void **state)
{
  static const int64_t counts[] = {0, 1, 2, 3, 5, 31, 33, 1000, 4097};

  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    for (uint32_t way = 0; way < 3; way++) { /* up the tree, by blocks, by blocks in pieces */
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

static weir_comm_count since(weir_comm_count before, weir_comm_use use)
{
  weir_comm_count now = weir_comm_counted(comm, use);

  now.sent -= before.sent;
  now.sent_bytes -= before.sent_bytes;
  now.received -= before.received;
  now.received_bytes -= before.received_bytes;
  return now;
}

/* By blocks: every rank sends all but its own block, and its own to all others. Up the tree: every
 * rank but 0 sends everything once, and receives it once. */
static void counters_equal_closed_forms(void **state)
{
  enum { EACH = 100 };
  double x[EACH * MOST_RANKS] = {0};
  const int64_t others = ranks - 1, bytes = EACH * (int64_t)sizeof *x;

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

    assert_true(said.tree == (way == 1) && n.sent <= said.steps);
    assert_true(said.tree || n.sent == said.steps);
    if (way == 0) {
      assert_true((double)n.sent_bytes == (double)said.steps * said.bytes);
      assert_int_equal(n.sent, 2 * others);
      assert_int_equal(n.sent_bytes, 2 * others * bytes);
      assert_int_equal(n.received, 2 * others);
      assert_int_equal(n.received_bytes, 2 * others * bytes);
    }
    assert_ok(
        weir_allreduce_create(comm, "all", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), own, 4, &r));
    finish(r);
    weir_request_destroy(&r);
    memcpy(sums, own, sizeof sums);
    assert_int_equal(sums[0], way == 0 ? 2 * others * ranks : 2 * others);
    assert_int_equal(sums[1], 2 * others * ranks * bytes);
    assert_int_equal(sums[0], sums[2]);
    assert_int_equal(sums[1], sums[3]);
  }
  weir_comm_configure(comm, &usual);
}

/* A ring: one message each way, cut into pieces; to itself none. */
static void messages_of_an_exchange(void **state)
{
  char there[1000], here[1000];
  const int next = (rank + 1) % ranks, before_me = (rank + ranks - 1) % ranks;
  const weir_block from = {there, 1, 1, {sizeof there}, {1}}, to = {here, 1, 1, {sizeof here}, {1}};
  const weir_transfer list[] = {{next, false, from}, {before_me, true, to}};
  weir_comm_cfg cfg = usual;
  weir_request *r;

  cfg.max_message_bytes = 300;
  weir_comm_configure(comm, &cfg);
  memset(there, rank + 1, sizeof there);
  memset(here, 0, sizeof here);
  assert_ok(weir_exchange_create(comm, "ring", list, 2, &r));
  const weir_comm_count before = weir_comm_counted(comm, WEIR_COMM_EXCHANGE);

  finish(r);
  const weir_comm_count n = since(before, WEIR_COMM_EXCHANGE);

  assert_int_equal(n.sent, ranks > 1 ? 4 : 0);
  assert_int_equal(n.sent_bytes, ranks > 1 ? 1000 : 0);
  assert_int_equal(n.received, n.sent);
  assert_int_equal(n.received_bytes, n.sent_bytes);
  for (size_t i = 0; i < sizeof here; i++) {
    assert_int_equal(here[i], before_me + 1);
  }
  weir_request_destroy(&r);
  weir_comm_configure(comm, &usual);
}

/* Both ends must say the same; the ranks fail together and continue together. */
static void ends_that_differ_are_refused(void **state)
{
  char bytes[64] = "";
  const weir_block four = {bytes, 1, 1, {4}, {1}}, more = {bytes + 8, 1, 1, {5}, {1}};
  weir_transfer list[] = {{0, false, four}, {0, true, more}};
  weir_request *r;

  assert_int_equal(weir_exchange_create(comm, "ends", list, rank == 0 ? 2 : 0, &r), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "rank 0 sends 4 bytes to rank 0"));
  assert_null(r);
  list[0].peer = ranks;
  assert_int_equal(weir_exchange_create(comm, "ends", list, rank == ranks - 1 ? 1 : 0, &r),
                   WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "is outside the"));
  list[0] = (weir_transfer){0, false, {bytes, 8, 2, {-1, 3}, {3, 1}}};
  assert_int_equal(weir_exchange_create(comm, "ends", list, 1, &r), WEIR_ERR_SHAPE);
  list[0].block.count[0] = INT64_MAX / 4;
  assert_int_equal(weir_exchange_create(comm, "ends", list, 1, &r), WEIR_ERR_SHAPE);
  assert_int_equal(
      weir_allreduce_create(comm, "no", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F64), bytes, -1, &r),
      WEIR_ERR_SHAPE);
  assert_null(r);
  assert_ok(weir_comm_barrier(comm));
}

/* The k-th allocation of one rank fails, for all k: all ranks fail with its message. */
static void memory_that_one_rank_lacks(void **state)
{
  char bytes[64] = "";
  double x[40] = {0};
  const int next = (rank + 1) % ranks, before_me = (rank + ranks - 1) % ranks;
  const weir_transfer list[] = {{next, false, {bytes, 1, 2, {2, 2}, {4, 1}}},
                                {before_me, true, {bytes + 32, 1, 2, {2, 2}, {4, 1}}}};

  for (int what = 0; what < 3; what++) {
    int64_t faults = 0;

    for (bool more = true; more; faults++) {
      const int64_t before = weir_alloc_bytes();
      weir_request *r = NULL;
      weir_comm *sub = NULL;
      weir_status status;

      weir_clear_failure();
      weir_alloc_fail_after(rank == ranks - 1 ? faults + 1 : 0);
      status = what == 0 ? weir_exchange_create(comm, "short", list, 2, &r)
               : what == 1
                   ? weir_allreduce_create(comm, "short",
                                           weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F64), x, 40, &r)
                   : weir_comm_split(comm, rank % 2, &sub);
      weir_alloc_fail_after(0);
      more = status != WEIR_OK;
      assert_int_equal(status, more ? WEIR_ERR_MEMORY : WEIR_OK);
      if (more && rank < ranks - 1) {
        assert_non_null(strstr(weir_last_message(), "failed: "));
      }
      weir_request_destroy(&r);
      weir_comm_close(&sub);
      assert_int_equal(weir_alloc_bytes(), before);
    }
    assert_true(faults > 1);
  }
}

/* Groups of a grid: the sum over each is that over the ranks which share the other coordinates. */
static void groups_of_a_grid(void **state)
{
  const weir_grid grid = {2, {ranks % 2 == 0 ? 2 : 1, ranks % 2 == 0 ? ranks / 2 : ranks}};

  for (unsigned dims = 0; dims < 4; dims++) {
    int64_t sum = 1 << rank, wanted = 0;
    weir_comm *sub;
    weir_request *r;
    int size = 0, below = 0;

    assert_ok(weir_grid_sub(&grid, comm, dims, &sub));
    for (int other = 0; other < ranks; other++) {
      if (weir_grid_sub_id(&grid, other, dims) == weir_grid_sub_id(&grid, rank, dims)) {
        wanted += 1 << other;
        below += other < rank;
        size++;
      }
    }
    assert_int_equal(weir_comm_size(sub), size);
    assert_int_equal(weir_comm_rank(sub), below);
    assert_ok(weir_allreduce_create(sub, "part", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), &sum,
                                    1, &r));
    finish(r);
    assert_int_equal(sum, wanted);
    weir_request_destroy(&r);
    weir_comm_close(&sub);
  }
  weir_comm *some;

  assert_ok(weir_comm_split(comm, rank == 0 ? -1 : 0, &some));
  assert_int_equal(some != NULL, rank != 0);
  weir_comm_close(&some);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_arrive_where_they_belong),
      cmocka_unit_test(sums_are_those_of_the_tree),
      cmocka_unit_test(other_merges),
      cmocka_unit_test(complex_sums),
      cmocka_unit_test(blocks_are_scattered_and_gathered),
      cmocka_unit_test(counters_equal_closed_forms),
      cmocka_unit_test(messages_of_an_exchange),
      cmocka_unit_test(ends_that_differ_are_refused),
      cmocka_unit_test(memory_that_one_rank_lacks),
      cmocka_unit_test(groups_of_a_grid),
  };

  open_all_ranks(argc, argv, MOST_RANKS, &usual);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
