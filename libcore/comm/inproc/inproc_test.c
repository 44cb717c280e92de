/* inproc_test.c - faults and the clock of ranks that are threads; what they have in common with
 * other ranks: tests/mpi, argument "threads". */
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "comm/weir_inproc.h"
#include "comm/weir_request.h"
#include "device/weir_parallel.h"

enum { MAX_RANKS = 4, STEPS = 8, MAX_TRACE = 4 * MAX_RANKS * STEPS };

/* What ranks report; each rank has its own elements, except of a trace, which ranks write in turn.
 */
typedef struct report {
  double timeout;
  weir_status status[MAX_RANKS], then[MAX_RANKS];
  char text[MAX_RANKS][256];
  double begin[MAX_RANKS], end[MAX_RANKS];
  int64_t got[MAX_RANKS][STEPS];
  int n_trace, trace[MAX_TRACE];
} report;

static void note(report *r, const weir_comm *c, weir_status status)
{
  const int rank = weir_comm_rank(c);

  r->status[rank] = status;
  (void)snprintf(r->text[rank], sizeof r->text[rank], "%s", weir_last_message());
}

/* Every rank but 0 receives `steps` numbers of rank 0: 0, 1, ... */
static weir_status send_numbers(weir_comm *c, int steps, report *r)
{
  const int rank = weir_comm_rank(c), ranks = weir_comm_size(c);
  int64_t number = 0;
  weir_message list[MAX_RANKS];
  weir_request *q = NULL;
  weir_status status = WEIR_OK;
  int n = 0;

  for (int peer = 1; peer < ranks; peer++) {
    if (rank == 0 || rank == peer) {
      list[n++] = (weir_message){rank == 0 ? peer : 0, rank != 0, &number, sizeof number};
    }
  }
  WEIR_TRY(weir_messages_create(c, "numbers", list, n, &q));
  for (int s = 0; s < steps && status == WEIR_OK; s++) {
    number = rank == 0 ? s : -1;
    status = weir_request_start(q);
    if (status == WEIR_OK) {
      status = weir_request_wait(q);
    }
    r->got[rank][s] = number;
  }
  weir_request_destroy(&q);
  return status;
}

static weir_status one_number(weir_comm *c, void *context)
{
  report *r = context;

  r->begin[weir_comm_rank(c)] = weir_inproc_clock(c);
  note(r, c, send_numbers(c, 1, r));
  r->end[weir_comm_rank(c)] = weir_inproc_clock(c);
  return WEIR_OK;
}

/* Delays of two faults add up, for one receiver; the sender does not wait, and no real time passes.
 */
static void delay_is_that_of_the_script(void **state)
{
  const weir_inproc_fault faults[] = {
      {.event = WEIR_INPROC_DELAY, .from = 0, .to = 2, .min_s = 200},
      {.event = WEIR_INPROC_DELAY, .from = -1, .to = 2, .min_s = 50.5},
      {.event = WEIR_INPROC_DELAY, .from = 0, .to = 1, .first = 1, .min_s = 7},
      {.event = WEIR_INPROC_DELAY, .from = 1, .to = -1, .min_s = 7}};
  const weir_inproc run = {.ranks = 3, .faults = faults, .n_faults = 4};
  report r = {0};
  const double before = weir_clock();

  assert_ok(weir_inproc_run(&run, one_number, &r));
  assert_true(weir_clock() - before < 20);
  assert_true(r.end[0] == 0 && r.end[1] == 0 && r.end[2] == 250.5);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(r.status[k], WEIR_OK);
    assert_int_equal(r.got[k][0], 0);
  }
}

/* Ranks at once: delays and sleeps are those of the machine's clock. */
static weir_status sleep_and_send(weir_comm *c, void *context)
{
  report *r = context;

  if (weir_comm_rank(c) == 0) {
    WEIR_TRY(weir_inproc_sleep(c, 0.02));
  }
  WEIR_TRY(one_number(c, r));
  return WEIR_OK;
}

static void concurrent_ranks_have_the_clock_of_the_machine(void **state)
{
  const weir_inproc_fault fault = {
      .event = WEIR_INPROC_DELAY, .from = 0, .to = 1, .min_s = 0.03, .max_s = 0.04};
  const weir_inproc run = {.ranks = 2, .concurrent = true, .faults = &fault, .n_faults = 1};
  report r = {0};

  assert_ok(weir_inproc_run(&run, sleep_and_send, &r));
  assert_int_equal(r.status[1], WEIR_OK);
  assert_true(r.end[1] >= 0.05);
  assert_true(r.begin[0] >= 0.02);
}

/* Three numbers leave rank 0 one after the other. */
static weir_status send_three(weir_comm *c, void *context)
{
  report *r = context;

  note(r, c, send_numbers(c, 3, r));
  r->end[weir_comm_rank(c)] = weir_inproc_clock(c);
  return WEIR_OK;
}

static void concurrent_ranks_send_at_the_rate_of_their_link(void **state)
{
  const double bytes = (double)sizeof(int64_t);
  const weir_inproc run = {.ranks = 2, .concurrent = true, .link_bw = bytes / 0.02};
  report r = {0};

  assert_ok(weir_inproc_run(&run, send_three, &r));
  assert_int_equal(r.status[1], WEIR_OK);
  assert_true(r.end[1] >= 0.06);
}

/* Every rank but 0 sleeps as long as its number says. */
static weir_status sleep_by_rank(weir_comm *c, void *context)
{
  report *r = context;

  WEIR_TRY(weir_inproc_sleep(c, 10.0 * weir_comm_rank(c)));
  r->begin[weir_comm_rank(c)] = weir_inproc_clock(c);
  WEIR_TRY(weir_comm_barrier(c));
  r->end[weir_comm_rank(c)] = weir_inproc_clock(c);
  return WEIR_OK;
}

static void sleep_ends_on_the_clock_of_the_run(void **state)
{
  const weir_inproc run = {.ranks = 4};
  report r = {0};

  assert_ok(weir_inproc_run(&run, sleep_by_rank, &r));
  for (int k = 0; k < 4; k++) {
    assert_true(r.begin[k] == 10.0 * k && r.end[k] == 30);
  }
}

/* Receivers give up after r->timeout seconds; then all ranks meet. */
static weir_status numbers_until_timeout(weir_comm *c, void *context)
{
  report *r = context;
  const weir_comm_cfg cfg = {
      .max_message_bytes = 100, .tree_max_bytes = 100, .timeout = r->timeout};

  weir_comm_configure(c, &cfg);
  note(r, c, send_numbers(c, 3, r));
  r->end[weir_comm_rank(c)] = weir_inproc_clock(c);
  r->then[weir_comm_rank(c)] = weir_comm_barrier(c);
  return WEIR_OK;
}

/* The receiver of a lost message waits for that one, not for the next. */
static void lost_message_is_waited_for_until_the_timeout(void **state)
{
  const weir_inproc_fault fault = {
      .event = WEIR_INPROC_LOSS, .from = 0, .to = 2, .first = 1, .count = 1};
  const weir_inproc run = {.ranks = 3, .faults = &fault, .n_faults = 1};
  report r = {.timeout = 30};

  assert_ok(weir_inproc_run(&run, numbers_until_timeout, &r));
  assert_int_equal(r.status[0], WEIR_OK);
  assert_int_equal(r.status[1], WEIR_OK);
  assert_int_equal(r.status[2], WEIR_ERR_EXTERNAL);
  assert_non_null(strstr(r.text[2], "timed out after 30 s, waiting for rank 0 (8 bytes"));
  assert_true(r.got[2][0] == 0 && r.got[2][1] == -1);
  assert_true(r.end[2] > 30 && r.end[2] < 33 && r.end[1] == 0);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(r.then[k], WEIR_OK);
  }
}

/* Rank 0 dies before its second message to rank 1: that to rank 2 follows it in the list. */
static void others_notice_a_death(void **state)
{
  const weir_inproc_fault fault = {.event = WEIR_INPROC_DEATH, .from = 0, .to = 1, .first = 1};

  for (int concurrent = 0; concurrent < 2; concurrent++) {
    const weir_inproc run = {
        .ranks = 3, .concurrent = concurrent == 1, .faults = &fault, .n_faults = 1};
    report r = {.timeout = concurrent == 1 ? 2 : 300};

    assert_ok(weir_inproc_run(&run, numbers_until_timeout, &r));
    for (int k = 0; k < 3; k++) {
      assert_int_equal(r.status[k], WEIR_ERR_EXTERNAL);
      assert_int_equal(r.then[k], WEIR_ERR_EXTERNAL);
      assert_non_null(strstr(r.text[k], k == 0 ? "died by a scripted fault" : "timed out"));
      assert_int_equal(r.got[k][0], 0);
    }
  }
}

/* Rank 2 ends; the others lack it in the next calls of all. */
static weir_status leave_early(weir_comm *c, void *context)
{
  report *r = context;

  if (weir_comm_rank(c) == 2) {
    return weir_fail(WEIR_ERR_DATA, "no file");
  }
  note(r, c, weir_comm_agree(c, WEIR_OK));
  r->then[weir_comm_rank(c)] = weir_comm_agree(c, WEIR_OK);
  return WEIR_OK;
}

static void rank_that_ends_is_missed(void **state)
{
  for (int concurrent = 0; concurrent < 2; concurrent++) {
    const weir_inproc run = {.ranks = 3, .concurrent = concurrent == 1};
    report r = {0};

    assert_int_equal(weir_inproc_run(&run, leave_early, &r), WEIR_ERR_DATA);
    assert_string_equal(weir_last_message(), "no file");
    for (int k = 0; k < 2; k++) {
      assert_int_equal(r.status[k], WEIR_ERR_EXTERNAL);
      assert_non_null(strstr(r.text[k], "rank 2 of 3 ended"));
      assert_int_equal(r.then[k], WEIR_ERR_EXTERNAL);
    }
  }
}

/* Rank 1 ends the run, in which the others wait. */
static weir_status abort_run(weir_comm *c, void *context)
{
  if (weir_comm_rank(c) == 1) {
    WEIR_TRY(weir_inproc_sleep(c, 0.01));
    return weir_comm_abort(c, weir_fail(WEIR_ERR_NUMERIC, "a NaN loss"));
  }
  report *r = context;

  note(r, c, send_numbers(c, 2, r));
  return WEIR_OK;
}

static void quiet(void *context, weir_log_level level, const char *module, const char *text)
{
  (void)level;
  (void)module;
  (void)snprintf(context, 256, "%s", text);
}

static void abort_ends_all(void **state)
{
  for (int concurrent = 0; concurrent < 2; concurrent++) {
    const weir_inproc_fault fault = {.event = WEIR_INPROC_LOSS, .from = 0, .to = 2};
    const weir_inproc run = {
        .ranks = 3, .concurrent = concurrent == 1, .faults = &fault, .n_faults = 1};
    char said[256] = "";
    report r = {0};

    weir_log_set_sink(quiet, said);
    assert_int_equal(weir_inproc_run(&run, abort_run, &r), WEIR_ERR_NUMERIC);
    weir_log_set_sink(NULL, NULL);
    assert_string_equal(weir_last_message(), "a NaN loss");
    assert_string_equal(said, "rank 1 of 3 ends the run: a NaN loss");
    assert_int_equal(r.status[2], WEIR_ERR_EXTERNAL);
    assert_non_null(strstr(r.text[2], "rank 1 of 3 ended the run"));
  }
}

/* Rank 1 fails; rank 2 waits for a message of it, rank 0 sleeps and fails later in another way. */
static weir_status fail_while_others_wait(weir_comm *c, void *context)
{
  report *r = context;

  if (weir_comm_rank(c) == 1) {
    WEIR_TRY(weir_inproc_sleep(c, 0.01));
    return weir_fail(WEIR_ERR_DATA, "no file");
  }
  if (weir_comm_rank(c) == 0) {
    WEIR_TRY(weir_inproc_sleep(c, 0.1));
    return weir_fail(WEIR_ERR_EXTERNAL, "rank 0 fails, too");
  }
  note(r, c, send_numbers(c, 2, r));
  return WEIR_OK;
}

static void a_failure_ends_all_that_fail_together(void **state)
{
  for (int concurrent = 0; concurrent < 2; concurrent++) {
    const weir_inproc_fault fault = {.event = WEIR_INPROC_LOSS, .from = 1, .to = 2};
    const weir_inproc run = {.ranks = 3,
                             .concurrent = concurrent == 1,
                             .fails_together = true,
                             .faults = &fault,
                             .n_faults = 1};
    const double begin = weir_clock();
    report r = {0};

    assert_int_equal(weir_inproc_run(&run, fail_while_others_wait, &r), WEIR_ERR_DATA);
    assert_string_equal(weir_last_message(), "no file");
    assert_int_equal(r.status[2], WEIR_ERR_EXTERNAL);
    assert_non_null(strstr(r.text[2], "rank 1 of 3 ended the run"));
    assert_true(weir_clock() - begin < 60); /* not comm.timeout */
  }
}

static weir_status count_threads(weir_comm *c, void *context)
{
  ((report *)context)->begin[weir_comm_rank(c)] = weir_threads_get();
  return WEIR_OK;
}

static void ranks_have_threads_of_their_own(void **state)
{
  const weir_inproc run = {.ranks = 3, .concurrent = true, .threads = 2};
  report r = {0};

  assert_ok(weir_inproc_run(&run, count_threads, &r));
  for (int k = 0; k < 3; k++) {
    assert_int_equal((int)r.begin[k], 2);
  }
}

/* Rank 3 ends the run while the others agree in a group without it; begin[3]: it has. */
static weir_status agree_or_abort(weir_comm *c, void *context)
{
  report *r = context;
  const int rank = weir_comm_rank(c);
  weir_comm *sub = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_comm_split(c, rank == 3, &sub));
  if (rank == 3) {
    r->begin[3] = 1;
    status = weir_comm_abort(c, weir_fail(WEIR_ERR_NUMERIC, "a NaN loss"));
  } else {
    note(r, c, weir_comm_agree(sub, WEIR_OK));
    r->end[rank] = r->begin[3];
  }
  weir_comm_close(&sub);
  return status;
}

/* A call that all ranks of a group have begun ends for all of them: what one gave to it is read by
 * the others until then. */
static void abort_from_outside_leaves_no_call_half_done(void **state)
{
  int ended_within = 0, ended_before = 0;
  char said[256] = "";

  weir_log_set_sink(quiet, said);
  for (int seed = 0; seed < 300; seed++) {
    const weir_inproc run = {.ranks = 4, .seed = (uint64_t)seed};
    report r = {0};

    assert_int_equal(weir_inproc_run(&run, agree_or_abort, &r), WEIR_ERR_NUMERIC);
    assert_int_equal(r.status[1], r.status[0]);
    assert_int_equal(r.status[2], r.status[0]);
    ended_before += r.status[0] != WEIR_OK;
    ended_within += r.status[0] == WEIR_OK && r.end[0] + r.end[1] + r.end[2] > 0;
  }
  weir_log_set_sink(NULL, NULL);
  assert_true(ended_before > 0 && ended_within > 0);
}

/* Each rank waits in another group. */
static weir_status meet_in_different_groups(weir_comm *c, void *context)
{
  weir_comm *sub = NULL;

  WEIR_TRY(weir_comm_split(c, 0, &sub));
  note(context, c, weir_comm_barrier(weir_comm_rank(c) == 0 ? c : sub));
  weir_comm_close(&sub);
  return WEIR_OK;
}

static void deadlock_is_found(void **state)
{
  const weir_inproc run = {.ranks = 2};
  report r = {0};

  assert_ok(weir_inproc_run(&run, meet_in_different_groups, &r));
  for (int k = 0; k < 2; k++) {
    assert_int_equal(r.status[k], WEIR_ERR_EXTERNAL);
    assert_non_null(strstr(r.text[k], "deadlock"));
  }
}

/* Ranks pass numbers to all others, and write in turn who completed which step. */
static weir_status trace_steps(weir_comm *c, void *context)
{
  report *r = context;
  const int rank = weir_comm_rank(c), ranks = weir_comm_size(c);
  int64_t out = rank, in[MAX_RANKS] = {0};
  weir_message list[2 * MAX_RANKS];
  weir_request *q = NULL;
  weir_status status = WEIR_OK;
  int n = 0;

  for (int peer = 0; peer < 2 * ranks; peer++) {
    if (peer % ranks != rank) {
      list[n++] =
          (weir_message){peer % ranks, peer < ranks, peer < ranks ? &in[peer] : &out, sizeof out};
    }
  }
  WEIR_TRY(weir_messages_create(c, "all", list, n, &q));
  for (int s = 0; s < STEPS; s++) {
    bool done = false;

    WEIR_TRY_GOTO(weir_request_start(q), done);
    while (!done && s % 2 == 0) {
      WEIR_TRY_GOTO(weir_request_test(q, &done), done);
    }
    WEIR_TRY_GOTO(weir_request_wait(q), done);
    r->trace[r->n_trace++] = rank;
    r->end[rank] = weir_inproc_clock(c);
  }
done:
  weir_request_destroy(&q);
  return status;
}

/* The same script and seed: the same order of events at the same seconds. Other seeds: other runs.
 */
static void seed_determines_the_run(void **state)
{
  const weir_inproc_fault fault = {
      .event = WEIR_INPROC_DELAY, .from = -1, .to = -1, .share = 0.3, .min_s = 1, .max_s = 3};
  report first = {0};
  int different = 0;

  for (int k = 0; k < 8; k++) {
    const weir_inproc run = {
        .ranks = MAX_RANKS, .seed = (uint64_t)k / 2, .faults = &fault, .n_faults = 1};
    report r = {0};

    assert_ok(weir_inproc_run(&run, trace_steps, &r));
    assert_int_equal(r.n_trace, MAX_RANKS * STEPS);
    if (k % 2 == 1) {
      assert_memory_equal(&r, &first, sizeof r);
    } else if (k > 0) {
      different += memcmp(r.trace, first.trace, sizeof r.trace) != 0 && r.end[0] != first.end[0];
    }
    first = r;
  }
  assert_int_equal(different, 3);
}

/* A prepared message that is started again waits for the receipt of its last copy. */
static weir_status send_ahead(weir_comm *c, void *context)
{
  report *r = context;

  if (weir_comm_rank(c) == 1) {
    WEIR_TRY(weir_inproc_sleep(c, 5));
  }
  WEIR_TRY(send_numbers(c, STEPS, r));
  r->end[weir_comm_rank(c)] = weir_inproc_clock(c);
  return WEIR_OK;
}

static void sender_is_one_message_ahead(void **state)
{
  const weir_inproc run = {.ranks = 2};
  report r = {0};

  assert_ok(weir_inproc_run(&run, send_ahead, &r));
  assert_true(r.end[0] == 5 && r.end[1] == 5);
  for (int s = 0; s < STEPS; s++) {
    assert_int_equal(r.got[1][s], s);
  }
}

static weir_status start_and_meet(void *context)
{
  const weir_inproc run = {.ranks = 3};

  (void)context;
  WEIR_TRY(weir_inproc_run(&run, sleep_by_rank, &(report){0}));
  return WEIR_OK;
}

static void failed_starts_leave_nothing(void **state)
{
  const weir_inproc none = {.ranks = 0};

  assert_true(weir_check_faults(start_and_meet, NULL) > 10);
  assert_int_equal(weir_inproc_run(&none, sleep_by_rank, NULL), WEIR_ERR_CONFIG);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(delay_is_that_of_the_script),
      cmocka_unit_test(concurrent_ranks_have_the_clock_of_the_machine),
      cmocka_unit_test(concurrent_ranks_send_at_the_rate_of_their_link),
      cmocka_unit_test(sleep_ends_on_the_clock_of_the_run),
      cmocka_unit_test(lost_message_is_waited_for_until_the_timeout),
      cmocka_unit_test(others_notice_a_death),
      cmocka_unit_test(rank_that_ends_is_missed),
      cmocka_unit_test(abort_ends_all),
      cmocka_unit_test(a_failure_ends_all_that_fail_together),
      cmocka_unit_test(ranks_have_threads_of_their_own),
      cmocka_unit_test(abort_from_outside_leaves_no_call_half_done),
      cmocka_unit_test(deadlock_is_found),
      cmocka_unit_test(seed_determines_the_run),
      cmocka_unit_test(sender_is_one_message_ahead),
      cmocka_unit_test(failed_starts_leave_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
