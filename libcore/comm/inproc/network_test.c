/* network_test.c - times on a network: of a message, of trees and of recursive halving by their
 * formulas; what ranks wait for; many ranks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "comm/weir_inproc.h"
#include "comm/weir_request.h"
#include "comm/weir_schedule.h"

enum { MAX_RANKS = 64, MAX_BYTES = 1 << 16 };

/* Seconds that are binary fractions, so that sums of them are exact. */
static const weir_network binary = {
    .latency = 32, .overhead = 4, .gap = 2, .link_bw = 8, .eager_max_bytes = 1e9, .reduce_bw = 16};

/* A run: what every rank does, and when it has. */
typedef struct run {
  int64_t bytes;
  int messages;
  double begin_s[MAX_RANKS], end_s[MAX_RANKS], computes_s[MAX_RANKS];
  double next_s[MAX_RANKS];
  weir_comm_count count[MAX_RANKS];
  weir_status status[MAX_RANKS];
} run;

static void perform(const weir_network *n, int ranks, double scale,
                    weir_status (*body)(weir_comm *c, void *context), run *r)
{
  const weir_inproc one = {.ranks = ranks, .network = n, .scale = scale};

  assert_true(ranks <= MAX_RANKS);
  assert_ok(weir_inproc_run(&one, body, r));
}

/* ---- Messages ---- */

/* From rank 0 to rank 1, `messages` of them at once; rank 1 computes before it receives. */
static weir_status send(weir_comm *c, void *context)
{
  run *r = context;
  const int rank = weir_comm_rank(c);
  static char data[2][8][MAX_BYTES];
  weir_message list[8];
  weir_request *q = NULL;
  weir_status status = WEIR_OK;

  for (int k = 0; k < r->messages; k++) {
    memset(data[rank][k], rank == 0 ? k + 1 : 0, sizeof data[0][0]);
    list[k] = (weir_message){1 - rank, rank == 1, data[rank][k], r->bytes};
  }
  WEIR_TRY(weir_messages_create(c, "bytes", list, r->messages, &q));
  r->begin_s[rank] = weir_inproc_clock(c);
  WEIR_TRY_GOTO(weir_inproc_sleep(c, r->computes_s[rank]), done);
  WEIR_TRY_GOTO(weir_request_run(q), done);
  r->end_s[rank] = weir_inproc_clock(c);
  for (int k = 0; k < r->messages; k++) {
    assert_int_equal(data[rank][k][r->bytes - 1], k + 1);
  }
done:
  weir_request_destroy(&q);
  return status;
}

static double transfer_s(const weir_network *n, double bytes)
{
  return 2 * n->overhead + n->latency + (bytes - 1) / n->link_bw;
}

static void a_message_takes_its_time(void **state)
{
  (void)state;
  for (int64_t bytes = 1; bytes <= MAX_BYTES; bytes *= 16) {
    run r = {.bytes = bytes, .messages = 1};

    perform(&binary, 2, 0, send, &r);
    assert_true(r.end_s[0] == binary.overhead);
    assert_true(r.end_s[1] == transfer_s(&binary, (double)bytes));
    run late = {.bytes = bytes, .messages = 1, .computes_s = {0, 1e6}};

    perform(&binary, 2, 0, send, &late);
    assert_true(late.end_s[0] == binary.overhead);
    assert_true(late.end_s[1] == 1e6 + binary.overhead);
  }
}

/* Of several at once, the interface takes one after the other, or the processor does. */
static void messages_of_a_rank_follow_one_another(void **state)
{
  weir_network n = binary;
  run r = {.bytes = 81, .messages = 4};

  (void)state;
  perform(&n, 2, 0, send, &r);
  assert_true(r.end_s[0] == 4 * n.overhead);
  assert_true(r.end_s[1] == transfer_s(&n, 81) + 3 * (n.gap + 80 / n.link_bw));
  n.link_bw = 0;
  perform(&n, 2, 0, send, &r);
  assert_true(r.end_s[1] == 2 * n.overhead + n.latency + 3 * n.overhead);
  n.overhead_per_byte = 0.5;
  perform(&n, 2, 0, send, &r);
  assert_true(r.end_s[0] == 4 * (n.overhead + 40));
  /* The last byte of an overhead is spent at the end that the first byte has left. */
  assert_true(r.end_s[1] == n.overhead + n.latency + 4 * (n.overhead + 40));
}

/* The sender of a long message waits until it is read. */
static void a_long_message_waits_for_its_receiver(void **state)
{
  weir_network n = binary;

  (void)state;
  n.eager_max_bytes = 80;
  for (int64_t bytes = 80; bytes <= 81; bytes++) {
    for (double s = 0; s <= 1000; s += 1000) {
      run r = {.bytes = bytes, .messages = 1, .computes_s = {0, s}};
      const double rest = (double)(bytes - 1) / n.link_bw;
      const double asked = fmax(n.overhead + n.latency, s);

      perform(&n, 2, 0, send, &r);
      if (bytes == 80) {
        assert_true(r.end_s[1] == fmax(n.overhead + n.latency + rest, s) + n.overhead);
      } else {
        const double read = asked + n.overhead + n.latency;

        assert_true(r.end_s[0] == read + rest);
        assert_true(r.end_s[1] == read + n.latency + rest + n.overhead);
        assert_true(s > 0 || r.end_s[1] == 3 * (n.overhead + n.latency) + rest);
      }
    }
  }
}

/* Rank 1 tests instead of waiting: it sees the message at the same time. */
static weir_status test_for_it(weir_comm *c, void *context)
{
  run *r = context;
  const int rank = weir_comm_rank(c);
  char byte = 0;
  const weir_message one = {1 - rank, rank == 1, &byte, 1};
  weir_request *q = NULL;
  weir_status status = WEIR_OK;
  bool done = false;

  WEIR_TRY(weir_messages_create(c, "byte", &one, 1, &q));
  WEIR_TRY_GOTO(weir_inproc_sleep(c, r->computes_s[rank]), done);
  WEIR_TRY_GOTO(weir_request_start(q), done);
  while (!done) {
    WEIR_TRY_GOTO(weir_request_test(q, &done), done);
  }
  r->end_s[rank] = weir_inproc_clock(c);
done:
  weir_request_destroy(&q);
  return status;
}

static void a_test_sees_what_a_wait_sees(void **state)
{
  (void)state;
  for (double s = 0; s < 500; s += 100) {
    run r = {.computes_s = {100, s}};
    const double arrives = 100 + binary.overhead + binary.latency;

    perform(&binary, 2, 0, test_for_it, &r);
    assert_true(r.end_s[1] == fmax(arrives, s) + binary.overhead);
  }
}

/* Rank 1 sends after a pause, in which nothing happens; rank 0 pauses until something does. */
static weir_status pause_for_it(weir_comm *c, void *context)
{
  run *r = context;
  const int rank = weir_comm_rank(c);
  char byte = 0;
  const weir_message one = {1 - rank, rank == 0, &byte, 1};
  weir_request *q = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_messages_create(c, "byte", &one, 1, &q));
  while (rank == 1 && weir_inproc_clock(c) < 100) {
    WEIR_TRY_GOTO(weir_requests_pause(c, 100), done);
  }
  WEIR_TRY_GOTO(weir_request_start(q), done);
  while (!weir_request_is_done(q)) {
    WEIR_TRY_GOTO(weir_requests_pause(c, 1e6), done);
  }
  r->end_s[rank] = weir_inproc_clock(c);
done:
  weir_request_destroy(&q);
  return status;
}

static void a_message_ends_a_pause(void **state)
{
  run r = {.messages = 1};

  (void)state;
  perform(&binary, 2, 0, pause_for_it, &r);
  assert_true(r.end_s[1] == 100 + binary.overhead);
  assert_true(r.end_s[0] == 100 + transfer_s(&binary, 1));
}

/* Looks between pieces of work, while the other rank waits for this one. */
static weir_status look_often(weir_comm *c, void *context)
{
  run *r = context;
  const int rank = weir_comm_rank(c);
  char byte = 0;
  const weir_message one = {1 - rank, rank == 0, &byte, 1};
  weir_request *q = NULL;
  weir_status status = WEIR_OK;
  bool done;

  WEIR_TRY(weir_messages_create(c, "byte", &one, 1, &q));
  for (int k = 0; k < 500 && rank == 0; k++) {
    WEIR_TRY_GOTO(weir_request_test(q, &done), done);
    WEIR_TRY_GOTO(weir_requests_progress(c), done);
  }
  r->end_s[rank] = weir_inproc_clock(c);
  status = weir_comm_barrier(c);
done:
  weir_request_destroy(&q);
  return status;
}

static void looks_take_next_to_no_time(void **state)
{
  run r = {.messages = 1};

  (void)state;
  perform(&binary, 2, 0, look_often, &r);
  assert_true(r.end_s[0] < 1e-3);
}

/* 4 bytes that stand for 400. */
static void bytes_stand_for_many(void **state)
{
  run r = {.bytes = 4, .messages = 1};

  (void)state;
  perform(&binary, 2, 100, send, &r);
  assert_true(r.end_s[1] == transfer_s(&binary, 400));
}

/* ---- Collectives ---- */

/* A sum after a computation, twice. */
static weir_status sum(weir_comm *c, void *context)
{
  run *r = context;
  const int rank = weir_comm_rank(c);
  const int64_t count = r->bytes / 8;
  int64_t *data = NULL;
  weir_request *q = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(count, 8, (void **)&data));
  for (int64_t i = 0; i < count; i++) {
    data[i] = rank + i;
  }
  WEIR_TRY_GOTO(
      weir_allreduce_create(c, "sum", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), data, count, &q),
      done);
  WEIR_TRY_GOTO(weir_inproc_sleep(c, r->computes_s[rank]), done);
  WEIR_TRY_GOTO(weir_request_run(q), done);
  r->end_s[rank] = weir_inproc_clock(c);
  for (int64_t i = 0; i < count; i++) {
    const int64_t ranks = weir_comm_size(c);

    assert_int_equal(data[i], ranks * (ranks - 1) / 2 + ranks * i);
  }
  WEIR_TRY_GOTO(weir_request_run(q), done);
  r->next_s[rank] = weir_inproc_clock(c);
done:
  weir_request_destroy(&q);
  weir_free(&data);
  return status;
}

/* Every step exchanges and reduces half of what the last one had, and then the same backwards:
 * sum over k of 2 (2 o + L) + 2 (M / 2^k - 1) G + M / 2^k gamma. */
static void halving_takes_what_its_steps_take(void **state)
{
  (void)state;
  for (int ranks = 2; ranks <= MAX_RANKS; ranks *= 2) {
    run r = {.bytes = 32768};
    double expected = 0;

    for (int n = 2; n <= ranks; n *= 2) {
      const double half = (double)r.bytes / n;

      expected += 2 * transfer_s(&binary, half) + half / binary.reduce_bw;
    }
    perform(&binary, ranks, 0, sum, &r);
    for (int k = 0; k < ranks; k++) {
      assert_true(r.end_s[k] == expected);
      assert_true(r.next_s[k] == 2 * expected);
    }
  }
}

/* LogP: a rank that has everything at t sends it to those 2^k after it, k descending, one each
 * max(o, g + (s - 1) G). */
static void descend(const weir_network *n, double bytes, int rank, int step, int ranks, double at,
                    double *arrives)
{
  const double each = fmax(n->overhead, n->gap + (bytes - 1) / n->link_bw);
  int sent = 0;

  arrives[rank] = at;
  for (; step > 0; step /= 2) {
    if (rank + step < ranks) {
      descend(n, bytes, rank + step, step / 2, ranks, at + sent * each + transfer_s(n, bytes),
              arrives);
      sent++;
    }
  }
}

static void a_tree_takes_what_logp_says(void **state)
{
  (void)state;
  for (int ranks = 2; ranks <= MAX_RANKS; ranks *= 2) {
    for (int64_t bytes = 8; bytes <= 1024; bytes *= 128) {
      run r = {.bytes = bytes};
      const double s = (double)bytes;
      double arrives[MAX_RANKS], up = 0;

      for (int n = 1; n < ranks; n *= 2) {
        up += transfer_s(&binary, s) + s / binary.reduce_bw;
      }
      descend(&binary, s, 0, ranks / 2, ranks, up, arrives);
      perform(&binary, ranks, 0, sum, &r);
      for (int k = 0; k < ranks; k++) {
        int children = 0;

        /* a rank that has sent to all below it goes on once its processor has */
        for (int step = 1; step < ranks && k % (2 * step) == 0; step *= 2) {
          children += k + step < ranks;
        }
        assert_true(r.end_s[k] == arrives[k] + children * binary.overhead);
      }
    }
  }
}

/* Without costs of the network: everybody has the sum once the last one is there. */
static void a_sum_waits_for_the_last_rank(void **state)
{
  const weir_network nothing = {.eager_max_bytes = 1e9};

  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    const int ranks = 2 + (int)seed % 7;
    run r = {.bytes = 8000};
    double last = 0;

    for (int k = 0; k < ranks; k++) {
      r.computes_s[k] = weir_random_uniform(seed, 0, 0, (uint64_t)k);
      last = fmax(last, r.computes_s[k]);
    }
    perform(&nothing, ranks, 0, sum, &r);
    for (int k = 0; k < ranks; k++) {
      assert_true(r.end_s[k] == last && r.next_s[k] == last);
    }
  }
}

/* ---- Schedules, failures ---- */

enum { VERSIONS = 6 };

typedef struct partial {
  run *r;
  int64_t value, sum, fresh, done[VERSIONS];
  weir_request *body;
} partial;

static void begin(void *context, int64_t version, bool posted)
{
  partial *p = context;

  p->sum = posted ? version + 1 : 0;
  p->fresh += posted;
}

static void end(void *context, int64_t version)
{
  partial *p = context;

  p->done[version] = p->sum;
}

/* Of a sum of p, which the caller destroys also after a failure. */
static weir_status create_schedule(weir_comm *c, partial *p, weir_schedule **out)
{
  WEIR_TRY(weir_allreduce_create(c, "sum", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), &p->sum, 1,
                                 &p->body));
  const weir_schedule_spec spec = {.name = "sums",
                                   .body = p->body,
                                   .begin = begin,
                                   .end = end,
                                   .context = p,
                                   .background = true};

  WEIR_TRY(weir_schedule_create(c, &spec, out));
  return WEIR_OK;
}

/* The first rank of a step begins it for all; rank 0 computes three times as long. */
static weir_status solo(weir_comm *c, void *context)
{
  run *r = context;
  const int rank = weir_comm_rank(c);
  partial p = {.r = r};
  weir_schedule *s = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(create_schedule(c, &p, &s), done);
  for (int v = 0; v < VERSIONS; v++) {
    WEIR_TRY_GOTO(weir_inproc_sleep(c, rank == 0 ? 3 : 1), done);
    WEIR_TRY_GOTO(weir_schedule_post(s), done);
    WEIR_TRY_GOTO(weir_schedule_wait(s, v + 1), done);
    r->end_s[rank] = weir_inproc_clock(c);
  }
  r->next_s[rank] = (double)p.fresh;
  WEIR_TRY_GOTO(weir_schedule_finish(s), done);
  for (int v = 0; v < VERSIONS; v++) {
    r->begin_s[v] = (double)p.done[v]; /* the same on all */
  }
  r->count[rank] = weir_comm_counted(c, WEIR_COMM_ACTIVATION);
done:
  weir_schedule_destroy(&s);
  weir_request_destroy(&p.body);
  return status;
}

static void late_ranks_take_part_while_they_compute(void **state)
{
  const weir_network nothing = {.eager_max_bytes = 1e9};

  (void)state;
  for (int ranks = 2; ranks <= 9; ranks++) {
    run r = {.bytes = 8};

    perform(&nothing, ranks, 0, solo, &r);
    for (int k = 1; k < ranks; k++) {
      assert_true(r.end_s[k] == VERSIONS);
      assert_true(r.next_s[k] == VERSIONS);
    }
    assert_true(r.end_s[0] == VERSIONS * 3);
    for (int v = 0; v < VERSIONS; v++) {
      assert_true(r.begin_s[v] == (ranks - 1) * (v + 1.0)); /* without rank 0 */
    }
  }
}

/* Rank 0 takes 3 s, and needs the others, who are in a call of all ranks by then. */
static weir_status meet_early(weir_comm *c, void *context)
{
  run *r = context;
  const int rank = weir_comm_rank(c);
  partial p = {.r = r};
  weir_schedule *s = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(create_schedule(c, &p, &s), done);
  if (rank == 0) {
    WEIR_TRY_GOTO(weir_inproc_sleep(c, 3), done);
    WEIR_TRY_GOTO(weir_schedule_post(s), done);
    WEIR_TRY_GOTO(weir_schedule_wait(s, 1), done);
    r->end_s[0] = weir_inproc_clock(c);
  }
  WEIR_TRY_GOTO(weir_comm_barrier(c), done);
  if (rank > 0) { /* as many posts on all ranks */
    WEIR_TRY_GOTO(weir_schedule_post(s), done);
  }
  WEIR_TRY_GOTO(weir_schedule_finish(s), done);
  r->begin_s[0] = (double)p.done[0];
done:
  weir_schedule_destroy(&s);
  weir_request_destroy(&p.body);
  return status;
}

static void ranks_take_part_from_calls_of_all(void **state)
{
  const weir_network nothing = {.eager_max_bytes = 1e9};

  (void)state;
  for (int ranks = 2; ranks <= 5; ranks++) {
    run r = {.bytes = 8};

    perform(&nothing, ranks, 0, meet_early, &r);
    assert_true(r.end_s[0] == 3);
    assert_true(r.begin_s[0] == 1); /* of rank 0 alone */
  }
}

static weir_status wait_in_vain(weir_comm *c, void *context)
{
  run *r = context;
  const int rank = weir_comm_rank(c);
  int64_t number = 0;
  const weir_message one = {1, true, &number, sizeof number};
  weir_request *q = NULL;

  WEIR_TRY(weir_messages_create(c, "nothing", &one, rank == 0, &q));
  r->status[rank] = weir_request_run(q);
  assert_true(rank != 0 || strstr(weir_last_message(), "deadlock") != NULL);
  weir_clear_failure();
  weir_request_destroy(&q);
  r->end_s[rank] = weir_inproc_clock(c);
  return WEIR_OK;
}

static void a_rank_without_events_fails(void **state)
{
  run r = {.bytes = 0};

  (void)state;
  perform(&binary, 3, 0, wait_in_vain, &r);
  assert_int_equal(r.status[0], WEIR_ERR_EXTERNAL);
  assert_true(r.status[1] == WEIR_OK && r.status[2] == WEIR_OK);
}

static void a_rank_may_die(void **state)
{
  const weir_inproc_fault fault = {.event = WEIR_INPROC_DEATH, .from = 1, .to = -1, .first = 2};
  const weir_inproc one = {.ranks = 4, .network = &binary, .faults = &fault, .n_faults = 1};
  run r = {.bytes = 32768};

  (void)state;
  assert_int_equal(weir_inproc_run(&one, sum, &r), WEIR_ERR_EXTERNAL);
  weir_clear_failure();
}

static weir_status make(void *context)
{
  const weir_inproc one = {.ranks = 2, .network = &binary};
  static run r;

  (void)context;
  r = (run){.bytes = 64};
  return weir_inproc_run(&one, sum, &r);
}

static void lack_of_memory_is_reported(void **state)
{
  (void)state;
  assert_true(weir_check_faults(make, NULL) > 5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_message_takes_its_time),
      cmocka_unit_test(messages_of_a_rank_follow_one_another),
      cmocka_unit_test(a_long_message_waits_for_its_receiver),
      cmocka_unit_test(a_test_sees_what_a_wait_sees),
      cmocka_unit_test(a_message_ends_a_pause),
      cmocka_unit_test(looks_take_next_to_no_time),
      cmocka_unit_test(bytes_stand_for_many),
      cmocka_unit_test(halving_takes_what_its_steps_take),
      cmocka_unit_test(a_tree_takes_what_logp_says),
      cmocka_unit_test(a_sum_waits_for_the_last_rank),
      cmocka_unit_test(late_ranks_take_part_while_they_compute),
      cmocka_unit_test(ranks_take_part_from_calls_of_all),
      cmocka_unit_test(a_rank_without_events_fails),
      cmocka_unit_test(a_rank_may_die),
      cmocka_unit_test(lack_of_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
