/* wait_test.c - waits that last longer than usual: they are reported with what is missing, and end
 * the run where that is asked for. Ranks are threads on a simulated clock. */
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_lock.h"
#include "base/weir_log.h"
#include "comm/weir_inproc.h"
#include "comm/weir_schedule.h"

enum { RANKS = 3, STEPS = 14, LONG_STEP = 12, LATE = 1 };

/* What a run does and reports; ranks have an element each. */
typedef struct stall {
  weir_comm_cfg cfg;
  double late_s; /* of rank LATE in step LONG_STEP */
  int initiator, quorum;
  bool in_groups; /* ranks 1 and 2 alone, by a request */
  weir_status status[RANKS];
  double end_s[RANKS];
  char text[RANKS][512];
} stall;

static weir_lock lock = WEIR_LOCK_INIT;
static char warnings[4096];
static int n_warnings;

static void collect(void *context, weir_log_level level, const char *module, const char *text)
{
  (void)context;
  (void)module;
  weir_lock_take(&lock);
  n_warnings += level == WEIR_LOG_WARN;
  (void)strncat(warnings, text, sizeof warnings - strlen(warnings) - 1);
  weir_lock_give(&lock);
}

static stall usual(int mode)
{
  stall x = {.late_s = 60, .initiator = WEIR_ALL_RANKS};

  weir_opts_default(weir_comm_opts, sizeof x.cfg, &x.cfg);
  x.cfg.stall = mode;
  return x;
}

static int initiator(void *context, int64_t version)
{
  (void)version;
  return ((const stall *)context)->initiator;
}

static void begin(void *context, int64_t version, bool posted)
{
  (void)context;
  (void)version;
  (void)posted;
}

static double step_s(const stall *x, int rank, int step)
{
  return rank == LATE && step == LONG_STEP ? x->late_s : 1 + 0.1 * ((rank + step) % 3);
}

/* Time passes from event to event: others look at the clock every half second. */
static weir_status compute(weir_comm *c, const stall *x, int step)
{
  double left = step_s(x, weir_comm_rank(c), step);

  for (; left > 0; left -= 0.5) {
    WEIR_TRY(weir_inproc_sleep(c, left < 0.5 ? left : 0.5));
  }
  return WEIR_OK;
}

static weir_status versions(weir_comm *c, stall *x)
{
  int64_t sum = 1;
  weir_request *body = NULL;
  weir_schedule *s = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_allreduce_create(c, "gradient", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), &sum, 1,
                                 &body));
  const weir_schedule_spec spec = {.name = "gradient",
                                   .body = body,
                                   .initiator = initiator,
                                   .quorum = x->quorum,
                                   .begin = begin,
                                   .context = x,
                                   .background = true};

  WEIR_TRY_GOTO(weir_schedule_create(c, &spec, &s), done);
  for (int step = 0; step < STEPS; step++) {
    WEIR_TRY_GOTO(compute(c, x, step), done);
    WEIR_TRY_GOTO(weir_schedule_post(s), done);
    WEIR_TRY_GOTO(weir_schedule_wait(s, step + 1), done);
  }
  WEIR_TRY_GOTO(weir_schedule_finish(s), done);
done:
  weir_schedule_destroy(&s);
  weir_request_destroy(&body);
  return status;
}

/* Sums of ranks 1 and 2, which are 0 and 1 of their group. */
static weir_status sums_of_a_group(weir_comm *c, stall *x)
{
  int64_t sum = 1;
  weir_comm *group = NULL;
  weir_request *body = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_comm_split(c, weir_comm_rank(c) > 0 ? 0 : -1, &group));
  if (group == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(weir_allreduce_create(group, "weights", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64),
                                      &sum, 1, &body),
                done);
  for (int step = 0; step < STEPS; step++) {
    WEIR_TRY_GOTO(compute(c, x, step), done);
    WEIR_TRY_GOTO(weir_request_run(body), done);
  }
done:
  weir_request_destroy(&body);
  weir_comm_close(&group);
  return status;
}

/* The test judges how it ended. */
static weir_status run_rank(weir_comm *c, void *context)
{
  stall *x = context;
  const int rank = weir_comm_rank(c);

  (void)weir_log_set_thread_level(WEIR_LOG_DEBUG);
  weir_comm_configure(c, &x->cfg);
  x->status[rank] = x->in_groups ? sums_of_a_group(c, x) : versions(c, x);
  x->end_s[rank] = weir_inproc_clock(c);
  (void)snprintf(x->text[rank], sizeof x->text[rank], "%s", weir_last_message());
  return WEIR_OK;
}

static void run(stall *x)
{
  const weir_inproc how = {.ranks = RANKS, .seed = 1};

  warnings[0] = 0;
  n_warnings = 0;
  weir_log_set_sink(collect, NULL);
  assert_ok(weir_inproc_run(&how, run_rank, x));
  weir_log_set_sink(NULL, NULL);
}

/* Once by each rank that waits; the run goes on. */
static void stall_is_reported_once(void **state)
{
  stall x = usual(WEIR_STALL_REPORT);

  run(&x);
  for (int k = 0; k < RANKS; k++) {
    assert_int_equal(x.status[k], WEIR_OK);
  }
  assert_int_equal(n_warnings, RANKS - 1);
  assert_non_null(strstr(warnings, "rank 0 of 3: version 12 of 'gradient' stalls"));
  assert_non_null(strstr(warnings, "for rank 1 (8 bytes to come) in round 0"));
}

static void usual_waits_are_no_stalls(void **state)
{
  stall x = usual(WEIR_STALL_FAIL);

  x.late_s = 2.5; /* others wait less than the floor of 2 s */
  run(&x);
  for (int k = 0; k < RANKS; k++) {
    assert_int_equal(x.status[k], WEIR_OK);
  }
  assert_int_equal(n_warnings, 0);
}

static void ignored_stall_is_silent(void **state)
{
  stall x = usual(WEIR_STALL_IGNORE);

  run(&x);
  assert_true(x.status[0] == WEIR_OK && n_warnings == 0);
}

/* At about 12 x 1.2 s + 2 x 2 s, long before comm.timeout. */
static void stall_ends_the_run(void **state)
{
  stall x = usual(WEIR_STALL_FAIL);

  run(&x);
  assert_int_equal(n_warnings, RANKS); /* in the end also by the late one, for those that failed */
  for (int k = 0; k < RANKS; k++) {
    assert_int_equal(x.status[k], WEIR_ERR_EXTERNAL);
  }
  assert_true(x.end_s[0] > 16 && x.end_s[0] < 25);
  assert_non_null(strstr(x.text[0], "rank 0 of 3: version 12 of 'gradient' timed out after 4 s, "
                                    "waiting for rank 1 (8 bytes to come) in round 0"));
}

/* comm.timeout is the upper limit. */
static void timeout_comes_first(void **state)
{
  stall x = usual(WEIR_STALL_FAIL);

  x.cfg.timeout = 3;
  run(&x);
  assert_non_null(strstr(x.text[0], "timed out after 3 s"));
  assert_non_null(strstr(x.text[0], "(comm.timeout)"));
}

static void late_posts_of_a_quorum_are_named(void **state)
{
  stall x = usual(WEIR_STALL_FAIL);

  x.initiator = WEIR_QUORUM;
  x.quorum = RANKS;
  run(&x);
  assert_int_equal(x.status[0], WEIR_ERR_EXTERNAL);
  assert_non_null(strstr(warnings, "for posts of 1 of the ranks 1"));
  assert_non_null(strstr(warnings, "for rank 0 to begin it"));
}

static void ranks_of_a_group_are_named_by_the_run(void **state)
{
  stall x = usual(WEIR_STALL_REPORT);

  x.in_groups = true;
  run(&x);
  assert_int_equal(n_warnings, 1);
  assert_non_null(strstr(warnings, "rank 2 of 3: 'weights' stalls"));
  assert_non_null(strstr(warnings, "for rank 1 (8 bytes to come)"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stall_is_reported_once),
      cmocka_unit_test(usual_waits_are_no_stalls),
      cmocka_unit_test(ignored_stall_is_silent),
      cmocka_unit_test(stall_ends_the_run),
      cmocka_unit_test(timeout_comes_first),
      cmocka_unit_test(late_posts_of_a_quorum_are_named),
      cmocka_unit_test(ranks_of_a_group_are_named_by_the_run),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
