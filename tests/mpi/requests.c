/* requests.c - what requests bring, against what every rank can work out alone: boxes, messages,
 * failures, groups; sums: sums.c. Arguments: hosts.h. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "comm/weir_grid.h"
#include "request_checks.h"

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

/* Bytes allocated while no rank does anything: all may be of one process. */
static int64_t bytes_of_process(void)
{
  assert_ok(weir_comm_barrier(comm));
  const int64_t bytes = weir_alloc_bytes();

  assert_ok(weir_comm_barrier(comm));
  return bytes;
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
      const int64_t before = bytes_of_process();
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
      assert_int_equal(bytes_of_process(), before);
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

/* Elements of a message in a run: none in some. */
static int64_t elements_of(uint32_t from, uint32_t to, uint32_t run)
{
  return draw(1, from, to, run) == 0 ? 0 : draw(300, from, to, 100 + run);
}

/* To every other rank and from it, other numbers of values with their indices in every run, and in
 * other places; messages without any are not sent. */
static void messages_of_varying_size(void **state)
{
  enum { RUNS = 6, MOST = 450 }; /* as 300 values and indices */
  static const int64_t value = sizeof(double), index = sizeof(uint32_t);
  weir_varying_message list[2 * MOST_RANKS];
  double *all = calloc((size_t)2 * MOST * MOST_RANKS * RUNS, sizeof *all);
  const weir_comm_count before = weir_comm_counted(comm, WEIR_COMM_VARYING);
  weir_comm_count expected = {0};
  weir_request *r;
  int n = 0;

  assert_non_null(all);
  for (int k = 1; k < ranks; k++) {
    list[n++] = (weir_varying_message){.peer = (rank + ranks - k) % ranks, .receive = true};
    list[n++] = (weir_varying_message){.peer = (rank + k) % ranks};
  }
  assert_ok(weir_varying_create(comm, "varying", list, n, &r));
  for (uint32_t run = 0; run < RUNS; run++) {
    double *at = all + (size_t)2 * MOST * MOST_RANKS * run;

    for (int k = 0; k < n; k++) {
      const uint32_t peer = (uint32_t)list[k].peer, me = (uint32_t)rank;
      const int64_t count =
          list[k].receive ? elements_of(peer, me, run) : elements_of(me, peer, run);

      list[k].data = at;
      list[k].bytes = count * (value + index);
      list[k].index_bytes = count * index;
      *(list[k].receive ? &expected.received : &expected.sent) += count > 0;
      *(list[k].receive ? &expected.received_bytes : &expected.sent_bytes) += list[k].bytes;
      *(list[k].receive ? &expected.received_index_bytes : &expected.sent_index_bytes) +=
          count * index;
      for (int64_t i = 0; i < count && !list[k].receive; i++) {
        at[i] = number(me, 100 * peer + run, i);
      }
      at += MOST;
    }
    finish(r);
    for (int k = 0; k < n; k++) {
      const double *came = list[k].data;

      for (int64_t i = 0; i < list[k].bytes / (value + index) && list[k].receive; i++) {
        assert_true(came[i] == number((uint32_t)list[k].peer, 100 * (uint32_t)rank + run, i));
      }
    }
  }
  const weir_comm_count after = weir_comm_counted(comm, WEIR_COMM_VARYING);

  assert_int_equal(after.sent - before.sent, expected.sent);
  assert_int_equal(after.sent_bytes - before.sent_bytes, expected.sent_bytes);
  assert_int_equal(after.sent_index_bytes - before.sent_index_bytes, expected.sent_index_bytes);
  assert_int_equal(after.received - before.received, expected.received);
  assert_int_equal(after.received_bytes - before.received_bytes, expected.received_bytes);
  assert_int_equal(after.received_index_bytes - before.received_index_bytes,
                   expected.received_index_bytes);
  weir_request_destroy(&r);
  free(all);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_arrive_where_they_belong),
      cmocka_unit_test(messages_of_an_exchange),
      cmocka_unit_test(messages_of_varying_size),
      cmocka_unit_test(ends_that_differ_are_refused),
      cmocka_unit_test(memory_that_one_rank_lacks),
      cmocka_unit_test(groups_of_a_grid),
  };

  host_tests all = {"requests", tests, sizeof tests / sizeof *tests, MOST_RANKS, &usual};

  return run_on_hosts(argc, argv, &all);
}
