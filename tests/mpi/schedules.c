/* schedules.c - versions of a sum over ranks, begun by posts of different ranks: nothing that was
 * posted is lost or counted twice, whoever is late. Arguments: hosts.h. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_lock.h"
#include "base/weir_random.h"
#include "hosts.h"
#include "comm/weir_schedule.h"

enum { MAX_RANKS = 8, STEPS = 6, N = 5 };

static const weir_comm_cfg usual = {
    .max_message_bytes = 7, .tree_max_bytes = 1 << 14, .timeout = 60};

/* What a rank contributes: posts add to `own`, versions take it away. */
typedef struct replica {
  weir_lock lock;
  int64_t own[N], sum[N], total[N], posted[N];
  int64_t begun, ended, fresh, wrong;
  int ranks, kind; /* of initiators */
} replica;

/* Kinds of initiators: any rank; all; one by turns; mixed; a quorum of more than half; a quorum and
 * all by turns. */
enum { KIND_ANY, KIND_ALL, KIND_ONE, KIND_MIXED, KIND_QUORUM, KIND_QUORUM_MIXED, KINDS };

/* The rank whose post begins a version. */
static int initiator(void *context, int64_t version)
{
  const replica *r = context;
  const int drawn = (int)(weir_random_bits(5, 0, 0, (uint64_t)version) % (uint64_t)r->ranks);

  return r->kind == KIND_ANY      ? WEIR_ANY_RANK
         : r->kind == KIND_ALL    ? WEIR_ALL_RANKS
         : r->kind == KIND_ONE    ? drawn
         : r->kind == KIND_QUORUM ? WEIR_QUORUM
         : version % 3 == 2       ? WEIR_ALL_RANKS
         : r->kind == KIND_MIXED  ? drawn
                                  : WEIR_QUORUM;
}

static void begin(void *context, int64_t version, bool posted)
{
  replica *r = context;

  weir_lock_take(&r->lock);
  r->wrong += r->begun++ != version || r->ended != version;
  r->fresh += posted;
  memcpy(r->sum, r->own, sizeof r->sum);
  memset(r->own, 0, sizeof r->own);
  weir_lock_give(&r->lock);
}

static void end(void *context, int64_t version)
{
  replica *r = context;

  weir_lock_take(&r->lock);
  r->wrong += r->ended++ != version;
  for (int i = 0; i < N; i++) {
    r->total[i] += r->sum[i];
  }
  weir_lock_give(&r->lock);
}

/* Sums, or maxima, over ranks. */
static void over_ranks(weir_reduce_op op, int64_t *x, int64_t n)
{
  weir_request *r;

  assert_ok(weir_allreduce_create(comm, "check", weir_reducer_of(op, WEIR_I64), x, n, &r));
  assert_ok(weir_request_start(r));
  assert_ok(weir_request_wait(r));
  weir_request_destroy(&r);
}

/* Ranks that are notified directly: 2^k before or after this one. */
static int64_t neighbours(void)
{
  int64_t n = 0;

  for (int other = 0; other < ranks; other++) {
    bool near = false;

    for (int step = 1; step < ranks; step *= 2) {
      near = near || (rank + step) % ranks == other || (other + step) % ranks == rank;
    }
    n += near && other != rank;
  }
  return n;
}

static void post_steps(replica *r, weir_schedule *s, bool waits)
{
  for (int step = 0; step < STEPS; step++) {
    compute(0.002 * (double)(weir_random_bits(6, (uint32_t)rank, (uint32_t)step, 0) % 3));
    weir_lock_take(&r->lock);
    for (int i = 0; i < N; i++) {
      const int64_t x =
          1 + (int64_t)(weir_random_bits(7, (uint32_t)rank, (uint32_t)step, (uint64_t)i) % 1000000);

      r->own[i] += x;
      r->posted[i] += x;
    }
    weir_lock_give(&r->lock);
    assert_ok(weir_schedule_post(s));
    if (waits) {
      assert_ok(weir_schedule_wait(s, step + 1));
    }
  }
}

/* Totals are the same on all ranks, and with what is left they are what was posted. */
static void check_sums(replica *r, weir_schedule *s)
{
  int64_t versions = weir_schedule_completed(s), rest[N], posted[N], least[N], most[N];

  assert_int_equal(r->wrong, 0);
  assert_true(r->begun == versions && r->ended == versions);
  memcpy(rest, r->own, sizeof rest);
  memcpy(posted, r->posted, sizeof posted);
  memcpy(least, r->total, sizeof least);
  memcpy(most, r->total, sizeof most);
  over_ranks(WEIR_REDUCE_SUM, rest, N);
  over_ranks(WEIR_REDUCE_SUM, posted, N);
  over_ranks(WEIR_REDUCE_MIN, least, N);
  over_ranks(WEIR_REDUCE_MAX, most, N);
  for (int i = 0; i < N; i++) {
    assert_true(least[i] == r->total[i] && most[i] == r->total[i]);
    assert_int_equal(r->total[i] + rest[i], posted[i]);
    assert_true(r->kind != KIND_ALL || rest[i] == 0);
  }
  over_ranks(WEIR_REDUCE_MAX, &versions, 1);
  assert_int_equal(versions, STEPS);
  assert_true(r->kind != KIND_ALL || r->fresh == STEPS);
  over_ranks(WEIR_REDUCE_SUM, &r->fresh, 1);
  assert_true(r->kind < KIND_QUORUM || r->fresh >= (int64_t)STEPS * (ranks / 2 + 1));
  assert_true(r->fresh >= STEPS && r->fresh <= (int64_t)STEPS * ranks);
}

/* Reports of posts for a quorum: each rank but 0 sends one of 16 bytes for each post, or for
 * several at once, all of which rank 0 receives. */
static void check_reports(int kind, int64_t sent, int64_t bytes, int64_t received)
{
  assert_int_equal(bytes, 16 * sent);
  assert_true(kind < KIND_QUORUM || rank == 0 ? sent == 0 : sent >= 1 && sent <= STEPS);
  over_ranks(WEIR_REDUCE_SUM, &sent, 1);
  assert_int_equal(received, rank == 0 ? sent : 0);
}

static void run_schedule(int kind, bool background, bool waits)
{
  replica r = {.lock = WEIR_LOCK_INIT, .ranks = ranks, .kind = kind};
  const weir_comm_count before = weir_comm_counted(comm, WEIR_COMM_ACTIVATION);
  weir_request *sum;
  weir_schedule *s;

  assert_ok(weir_allreduce_create(comm, "sum", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), r.sum, N,
                                  &sum));
  const weir_schedule_spec spec = {.name = "versions",
                                   .body = sum,
                                   .initiator = kind == KIND_ANY ? NULL : initiator,
                                   .quorum = kind >= KIND_QUORUM ? ranks / 2 + 1 : 0,
                                   .begin = begin,
                                   .end = end,
                                   .context = &r,
                                   .background = background};

  assert_ok(weir_schedule_create(comm, &spec, &s));
  post_steps(&r, s, waits);
  assert_ok(weir_schedule_finish(s));
  const weir_comm_count after = weir_comm_counted(comm, WEIR_COMM_ACTIVATION);
  const bool mixed = kind == KIND_MIXED || kind == KIND_QUORUM_MIXED;
  const int64_t activated = kind == KIND_ALL ? 0 : mixed ? STEPS - STEPS / 3 : STEPS;

  check_reports(kind, after.sent - before.sent - activated * neighbours(),
                after.sent_bytes - before.sent_bytes - 8 * activated * neighbours(),
                after.received - before.received - activated * neighbours());
  check_sums(&r, s);
  weir_schedule_destroy(&s);
  weir_request_destroy(&sum);
}

static void nothing_posted_is_lost(void **state)
{
  for (int kind = 0; kind < KINDS; kind++) {
    run_schedule(kind, false, true);
    run_schedule(kind, false, false);
  }
}

static void threads_progress_while_ranks_compute(void **state)
{
  for (int kind = 0; kind < KINDS; kind++) {
    run_schedule(kind, true, kind % 2 == 0);
  }
}

static int first_rank(void *context, int64_t version)
{
  (void)context;
  (void)version;
  return 0;
}

/* Rank 0 waits for a sum that needs the others, who post nothing: they are in a call of all ranks,
 * which it has not come to. */
static void ranks_take_part_from_calls_of_all(void **state)
{
  for (int call = 0; call < 3; call++) {
    replica r = {.lock = WEIR_LOCK_INIT, .ranks = ranks};
    weir_request *sum, *other = NULL;
    weir_schedule *s;
    int64_t x = 1;

    assert_ok(weir_allreduce_create(comm, "sum", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), r.sum,
                                    N, &sum));
    const weir_schedule_spec spec = {.name = "from calls",
                                     .body = sum,
                                     .initiator = first_rank,
                                     .begin = begin,
                                     .end = end,
                                     .context = &r,
                                     .background = true};

    assert_ok(weir_schedule_create(comm, &spec, &s));
    r.own[0] = rank + 1;
    if (rank == 0) {
      compute(0.002);
      assert_ok(weir_schedule_post(s));
      assert_ok(weir_schedule_wait(s, 1));
      assert_int_equal(r.total[0], ranks * (ranks + 1) / 2);
    }
    assert_ok(call == 0   ? weir_comm_barrier(comm)
              : call == 1 ? weir_comm_agree(comm, WEIR_OK)
                          : weir_allreduce_create(comm, "another",
                                                  weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), &x, 1,
                                                  &other));
    if (rank > 0) { /* as many posts on all ranks */
      assert_ok(weir_schedule_post(s));
    }
    assert_ok(weir_schedule_finish(s));
    weir_schedule_destroy(&s);
    weir_request_destroy(&other);
    weir_request_destroy(&sum);
  }
}

/* The k-th allocation of one rank fails, for all k: all ranks fail alike, and leave nothing. */
static void memory_that_one_rank_lacks(void **state)
{
  replica r = {.lock = WEIR_LOCK_INIT, .ranks = ranks};
  weir_request *sum;
  int64_t faults = 0;

  assert_ok(weir_allreduce_create(comm, "sum", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), r.sum, N,
                                  &sum));
  const weir_schedule_spec spec = {
      .name = "short", .body = sum, .quorum = 1, .begin = begin, .context = &r, .background = true};

  for (bool more = true; more; faults++) {
    weir_schedule *s;

    assert_ok(weir_comm_barrier(comm));
    const int64_t before = weir_alloc_bytes();

    assert_ok(weir_comm_barrier(comm));
    weir_clear_failure();
    weir_alloc_fail_after(rank == ranks - 1 ? faults + 1 : 0);
    const weir_status status = weir_schedule_create(comm, &spec, &s);

    weir_alloc_fail_after(0);
    more = status != WEIR_OK;
    assert_int_equal(status, more ? WEIR_ERR_MEMORY : WEIR_OK);
    weir_schedule_destroy(&s);
    assert_ok(weir_comm_barrier(comm));
    assert_int_equal(weir_alloc_bytes(), before);
    assert_ok(weir_comm_barrier(comm));
  }
  assert_true(faults > 1);
  weir_request_destroy(&sum);
}

/* Rank 0 sends rank 1 more bytes than that expects, and receives what rank 1 sends before it knows.
 */
static void make_mismatch(weir_varying_message list[2], int64_t data[4])
{
  const int64_t bytes = sizeof data[0];

  list[0] = (weir_varying_message){.peer = 1 - rank, .receive = true, .data = data, .bytes = bytes};
  list[1] = (weir_varying_message){
      .peer = 1 - rank, .data = data + 2, .bytes = rank == 0 ? 2 * bytes : bytes};
}

/* The schedule fails on rank 1 while that agrees with the others on a failure of its own: all learn
 * of this one, and rank 1 of the other by its next post. That fails whatever progresses from then
 * on: no test may follow. */
static void failures_in_calls_of_all_are_kept(void **state)
{
  replica r = {.lock = WEIR_LOCK_INIT, .ranks = ranks};
  weir_varying_message list[2];
  int64_t data[4] = {0};
  weir_request *body;
  weir_schedule *s;

  if (ranks == 1) {
    return;
  }
  make_mismatch(list, data);
  assert_ok(weir_varying_create(comm, "body", list, rank < 2 ? 2 : 0, &body));
  const weir_schedule_spec spec = {.name = "fails",
                                   .body = body,
                                   .initiator = first_rank,
                                   .begin = begin,
                                   .context = &r,
                                   .background = true};

  assert_ok(weir_schedule_create(comm, &spec, &s));
  if (rank == 0) {
    compute(0.02);
    assert_ok(weir_schedule_post(s));
    assert_ok(weir_schedule_wait(s, 1));
    compute(0.02);
  }
  const weir_status own = rank == 1 ? weir_fail(WEIR_ERR_DATA, "no file") : WEIR_OK;

  assert_int_equal(weir_comm_agree(comm, own), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "no file"));
  assert_ok(weir_comm_barrier(comm));
  const weir_status kept = rank == 1 ? weir_schedule_post(s) : WEIR_OK;

  assert_int_equal(kept, rank == 1 ? WEIR_ERR_EXTERNAL : WEIR_OK);
  assert_int_equal(weir_comm_agree(comm, kept), WEIR_ERR_EXTERNAL);
  weir_clear_failure();
  weir_schedule_destroy(&s);
  weir_request_destroy(&body);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_posted_is_lost),
      cmocka_unit_test(threads_progress_while_ranks_compute),
      cmocka_unit_test(ranks_take_part_from_calls_of_all),
      cmocka_unit_test(memory_that_one_rank_lacks),
      cmocka_unit_test(failures_in_calls_of_all_are_kept),
  };
  host_tests all = {"schedules", tests, sizeof tests / sizeof *tests, MAX_RANKS, &usual};

  return run_on_hosts(argc, argv, &all);
}
