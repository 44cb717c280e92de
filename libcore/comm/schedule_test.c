/* schedule_test.c - when versions of a schedule begin, on the clock of ranks that are threads, and
 * who may call the library between ranks. What versions sum up: tests/mpi/schedules.c. */
#include <string.h>
#include <time.h>
#include "base/weir_check.h"
#include "comm/weir_inproc.h"
#include "comm/weir_schedule.h"

enum { RANKS = 5, STEPS = 3, SLEEPER = 2 };

static const double asleep_s = 500; /* less than the default of comm.timeout */

/* What ranks report; each has its own elements. */
typedef struct report {
  int initiator;
  double end[RANKS];                                       /* of the steps */
  int64_t posted[RANKS], versions[RANKS], received[RANKS]; /* received: activations */
  bool kept[RANKS];
  bool by_library; /* which does not know the ranks */
} report;

typedef struct replica {
  report *report;
  int rank;
  int64_t sum;
} replica;

static int initiator(void *context, int64_t version)
{
  const replica *r = context;

  (void)version;
  return r->report->initiator;
}

static void begin(void *context, int64_t version, bool posted)
{
  replica *r = context;

  r->sum = version;
  r->report->posted[r->rank] += posted;
}

/* Steps of a second, of which the sleeper's first one takes long. */
static weir_status steps(weir_comm *c, weir_schedule *s, report *r)
{
  const int rank = weir_comm_rank(c);

  for (int step = 0; step < STEPS; step++) {
    WEIR_TRY(weir_inproc_sleep(c, rank == SLEEPER && step == 0 ? asleep_s : 1 + 0.01 * rank));
    WEIR_TRY(weir_schedule_post(s));
    WEIR_TRY(weir_schedule_wait(s, step + 1));
  }
  r->end[rank] = weir_inproc_clock(c);
  WEIR_TRY(weir_schedule_finish(s));
  r->versions[rank] = weir_schedule_completed(s);
  r->received[rank] = weir_comm_counted(c, WEIR_COMM_ACTIVATION).received;
  return WEIR_OK;
}

static weir_status run_steps(weir_comm *c, void *context)
{
  replica r = {.report = context, .rank = weir_comm_rank(c)};
  weir_request *sum = NULL;
  weir_schedule *s = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(
      weir_allreduce_create(c, "sum", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), &r.sum, 1, &sum));
  const weir_schedule_spec spec = {.name = "steps",
                                   .body = sum,
                                   .initiator = initiator,
                                   .begin = begin,
                                   .context = &r,
                                   .background = true};

  WEIR_TRY_GOTO(weir_schedule_create(c, &spec, &s), done);
  status = steps(c, s, context);
done:
  weir_schedule_destroy(&s);
  weir_request_destroy(&sum);
  return status;
}

/* The first post begins a version: nobody waits for the sleeper, which takes part while it sleeps
 * and finds all versions over. Its steps follow one another without a wait. */
static void first_rank_begins(void **state)
{
  const weir_inproc run = {.ranks = RANKS};
  report r = {.initiator = WEIR_ANY_RANK};

  assert_ok(weir_inproc_run(&run, run_steps, &r));
  for (int k = 0; k < RANKS; k++) {
    assert_int_equal(r.versions[k], STEPS);
    assert_true(k == SLEEPER ? weir_near(r.end[k], asleep_s + 2.04, 1e-9) : r.end[k] < 4);
  }
  assert_int_equal(r.posted[0], STEPS); /* the fastest */
  assert_int_equal(r.posted[SLEEPER], 0);
}

static void all_ranks_begin(void **state)
{
  const weir_inproc run = {.ranks = RANKS};
  report r = {.initiator = WEIR_ALL_RANKS};

  assert_ok(weir_inproc_run(&run, run_steps, &r));
  for (int k = 0; k < RANKS; k++) {
    assert_true(r.versions[k] == STEPS && r.posted[k] == STEPS);
    assert_true(r.end[k] > asleep_s);
  }
}

/* The sleeper begins all versions: once it wakes, the others have posted one of them. */
static void one_rank_begins(void **state)
{
  const weir_inproc run = {.ranks = RANKS};
  report r = {.initiator = SLEEPER};

  assert_ok(weir_inproc_run(&run, run_steps, &r));
  for (int k = 0; k < RANKS; k++) {
    assert_int_equal(r.versions[k], STEPS);
    assert_true(r.end[k] > asleep_s);
  }
  assert_int_equal(r.posted[SLEEPER], STEPS);
}

/* An activation that comes after its version has begun begins no new one; the version waits for the
 * data of the same pair of ranks, which the fault delays. */
static void late_activation_is_ignored(void **state)
{
  const weir_inproc_fault fault = {
      .event = WEIR_INPROC_DELAY, .from = 0, .to = 4, .count = 1, .min_s = 100};
  const weir_inproc run = {.ranks = RANKS, .faults = &fault, .n_faults = 1};
  report r = {.initiator = WEIR_ANY_RANK};

  assert_ok(weir_inproc_run(&run, run_steps, &r));
  for (int k = 0; k < RANKS; k++) {
    assert_int_equal(r.versions[k], STEPS);
    assert_true(r.end[k] > 100);
  }
}

static void rest(void)
{
  (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* Rank 1 borrows the connection: its thread leaves messages alone until it is returned. */
static weir_status borrow_and_return(weir_comm *c, weir_schedule *s, report *r)
{
  const int rank = weir_comm_rank(c);
  weir_comm *const known = r->by_library ? NULL : c;

  if (rank == 1) {
    weir_comm_borrow(known);
  }
  WEIR_TRY(weir_comm_barrier(c));
  if (rank == 0) {
    WEIR_TRY(weir_schedule_post(s));
    WEIR_TRY(weir_schedule_wait(s, 1));
    r->end[0] = weir_inproc_clock(c);
    return WEIR_OK;
  }
  for (int k = 0; k < 20; k++) {
    rest();
  }
  r->kept[rank] = weir_schedule_completed(s) == 0;
  r->end[1] = weir_inproc_clock(c);
  weir_comm_return(known);
  for (int k = 0; k < 5000 && weir_schedule_completed(s) == 0; k++) {
    rest();
  }
  return WEIR_OK;
}

static weir_status lend_connection(weir_comm *c, void *context)
{
  replica r = {.report = context, .rank = weir_comm_rank(c)};
  weir_request *sum = NULL;
  weir_schedule *s = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(
      weir_allreduce_create(c, "sum", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), &r.sum, 1, &sum));
  const weir_schedule_spec spec = {
      .name = "lend", .body = sum, .begin = begin, .context = &r, .background = true};

  WEIR_TRY_GOTO(weir_schedule_create(c, &spec, &s), done);
  WEIR_TRY_GOTO(borrow_and_return(c, s, context), done);
  r.report->versions[r.rank] = weir_schedule_completed(s);
  WEIR_TRY_GOTO(weir_schedule_finish(s), done);
done:
  weir_schedule_destroy(&s);
  weir_request_destroy(&sum);
  return status;
}

static void borrowed_connection_is_left_alone(void **state)
{
  const weir_inproc run = {.ranks = 2, .concurrent = true};

  for (int library = 0; library < 2; library++) {
    report r = {.by_library = library == 1};

    assert_ok(weir_inproc_run(&run, lend_connection, &r));
    assert_true(r.kept[1]);
    assert_true(r.end[0] > r.end[1]); /* rank 0 had to wait for the return */
    assert_int_equal(r.versions[0], 1);
    assert_int_equal(r.versions[1], 1); /* by its thread alone */
  }
}

/* A rank dies as it sends its part of a version: the others name the version and the rank. */
static weir_status one_version(weir_comm *c, void *context)
{
  replica r = {.report = context, .rank = weir_comm_rank(c)};
  weir_request *sum = NULL;
  weir_schedule *s = NULL;

  WEIR_TRY(
      weir_allreduce_create(c, "sum", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), &r.sum, 1, &sum));
  const weir_schedule_spec spec = {.name = "mean", .body = sum, .begin = begin, .context = &r};
  weir_status status = weir_schedule_create(c, &spec, &s);

  if (status == WEIR_OK) {
    status = weir_schedule_post(s);
  }
  if (status == WEIR_OK) {
    status = weir_schedule_wait(s, 1);
  }
  weir_schedule_destroy(&s);
  weir_request_destroy(&sum);
  return status;
}

static void timeout_names_version_and_rank(void **state)
{
  /* Messages 0 and 1 of the pair: the activation and its part of the sum. */
  const weir_inproc_fault fault = {
      .event = WEIR_INPROC_DEATH, .from = 1, .to = 0, .first = 1, .count = 1};
  const weir_inproc run = {.ranks = 2, .faults = &fault, .n_faults = 1};
  report r = {0};

  assert_int_equal(weir_inproc_run(&run, one_version, &r), WEIR_ERR_EXTERNAL);
  assert_non_null(strstr(weir_last_message(), "rank 0 of 2: version 0 of 'mean' timed out"));
  assert_non_null(strstr(weir_last_message(), "rank 1 (8 bytes to come)"));
}

/* Rank 3 sends rank 1 nothing but activations, of which the last one comes after all versions are
 * over: five ranks are all neighbours. */
static void finish_receives_late_activations(void **state)
{
  const weir_inproc_fault fault = {
      .event = WEIR_INPROC_DELAY, .from = 3, .to = 1, .first = 2, .count = 1, .min_s = 900};
  const weir_inproc run = {.ranks = RANKS, .faults = &fault, .n_faults = 1};
  report r = {.initiator = WEIR_ANY_RANK};

  assert_ok(weir_inproc_run(&run, run_steps, &r));
  for (int k = 0; k < RANKS; k++) {
    assert_true(r.end[k] < 900);
    assert_int_equal(r.versions[k], STEPS);
    assert_int_equal(r.received[k], STEPS * (RANKS - 1));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(first_rank_begins),
      cmocka_unit_test(all_ranks_begin),
      cmocka_unit_test(one_rank_begins),
      cmocka_unit_test(late_activation_is_ignored),
      cmocka_unit_test(borrowed_connection_is_left_alone),
      cmocka_unit_test(timeout_names_version_and_rank),
      cmocka_unit_test(finish_receives_late_activations),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
