/* background_test.c - calls of all ranks that progress a schedule in the background, where a rank
 * ends or the schedule fails meanwhile: in turn, at once, and on a network. Without faults:
 * tests/mpi/schedules.c. */
#include <signal.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "comm/weir_inproc.h"
#include "comm/weir_schedule.h"

enum { RANKS = 3, HOSTS = 3, CALLS = 3 };

static const char *const host_name[HOSTS] = {"in turn", "at once", "network"};

/* What rank 0 does while the others are in a call of all, and one of them in the last two. */
typedef enum scene {
  RANK_0_DIES,    /* before its first message, an activation */
  RANK_0_FAILS,   /* and returns */
  RANK_0_ABORTS,  /* the run */
  RANK_0_STOPS,   /* as after a signal */
  RANK_1_DIES,    /* in the call, as it sends its part of the sum that rank 0 waits for */
  SCHEDULE_FAILS, /* on rank 1, in the call: rank 0 sends it more than it expects */
  SCENES
} scene;

/* What ranks report; each has its own elements. */
typedef struct report {
  scene scene;
  int call;
  double timeout;
  weir_status first[RANKS], second[RANKS], then[RANKS]; /* of two calls of all; of a post */
  char text[RANKS][256], then_text[RANKS][256];         /* of the first call; of the post */
} report;

/* A schedule of a rank: a sum, or the exchange between ranks 0 and 1 that does not fit. */
typedef struct replica {
  int64_t sum, data[3];
  weir_varying_message list[2];
  weir_request *body;
  weir_schedule *schedule;
} replica;

static int first_rank(void *context, int64_t version)
{
  (void)context;
  (void)version;
  return 0;
}

static void begin(void *context, int64_t version, bool posted)
{
  replica *r = context;

  (void)posted;
  r->sum = version + 1;
}

static weir_status create_body(weir_comm *c, scene what, replica *r)
{
  const int rank = weir_comm_rank(c);
  const int64_t bytes = sizeof r->data[0];

  if (what != SCHEDULE_FAILS) {
    return weir_allreduce_create(c, "sum", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), &r->sum, 1,
                                 &r->body);
  }
  r->list[0] =
      (weir_varying_message){.peer = 1 - rank, .receive = true, .data = r->data, .bytes = bytes};
  r->list[1] = (weir_varying_message){
      .peer = 1 - rank, .data = r->data + 1, .bytes = rank == 0 ? 2 * bytes : bytes};
  return weir_varying_create(c, "mismatch", r->list, rank < 2 ? 2 : 0, &r->body);
}

static weir_status create(weir_comm *c, scene what, replica *r)
{
  WEIR_TRY(create_body(c, what, r));
  const weir_schedule_spec spec = {.name = "background",
                                   .body = r->body,
                                   .initiator = first_rank,
                                   .begin = begin,
                                   .context = r,
                                   .background = true};

  WEIR_TRY(weir_schedule_create(c, &spec, &r->schedule));
  return WEIR_OK;
}

/* A barrier, an agreement to which rank 1 gives a failure of its own, or the creation of a sum. */
static weir_status call_all(weir_comm *c, int call)
{
  int64_t x = 1;
  weir_request *sum = NULL;

  if (call == 0) {
    return weir_comm_barrier(c);
  }
  if (call == 1) {
    return weir_comm_agree(
        c, weir_comm_rank(c) == 1 ? weir_fail(WEIR_ERR_DATA, "rank 1 has no file") : WEIR_OK);
  }
  const weir_status status =
      weir_allreduce_create(c, "another", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), &x, 1, &sum);

  weir_request_destroy(&sum);
  return status;
}

/* The others have come to the call by then. Fails where rank 0 does not come to it. */
static weir_status lead(weir_comm *c, const report *r, weir_schedule *s)
{
  WEIR_TRY(weir_inproc_sleep(c, 0.02));
  switch (r->scene) {
  case RANK_0_FAILS:
    return weir_fail(WEIR_ERR_NUMERIC, "a NaN loss");
  case RANK_0_ABORTS:
    return weir_comm_abort(c, weir_fail(WEIR_ERR_NUMERIC, "a NaN loss"));
  case RANK_0_STOPS:
    weir_stop_request(SIGTERM);
    return weir_fail(WEIR_ERR_STOPPED, "stopped by signal %d", weir_stop_signal());
  default:
    break;
  }
  WEIR_TRY(weir_schedule_post(s));
  WEIR_TRY(weir_schedule_wait(s, 1));
  return weir_inproc_sleep(c, 0.02);
}

static weir_status run_scene(weir_comm *c, void *context)
{
  report *r = context;
  const int rank = weir_comm_rank(c);
  const weir_comm_cfg cfg = {
      .max_message_bytes = 100, .tree_max_bytes = 100, .timeout = r->timeout};
  replica own = {0};
  weir_status status = WEIR_OK;

  weir_comm_configure(c, &cfg);
  WEIR_TRY_GOTO(create(c, r->scene, &own), done);
  if (rank == 0) {
    WEIR_TRY_GOTO(lead(c, r, own.schedule), done);
  }
  r->first[rank] = call_all(c, r->call);
  (void)snprintf(r->text[rank], sizeof r->text[rank], "%s", weir_last_message());
  r->second[rank] = call_all(c, r->call);
  weir_clear_failure();
  r->then[rank] = weir_schedule_post(own.schedule);
  (void)snprintf(r->then_text[rank], sizeof r->then_text[rank], "%s", weir_last_message());
  weir_clear_failure();
done:
  weir_schedule_destroy(&own.schedule);
  weir_request_destroy(&own.body);
  return status;
}

static void quiet(void *context, weir_log_level level, const char *module, const char *text)
{
  (void)context;
  (void)level;
  (void)module;
  (void)text;
}

/* Returns the status of the run. */
static weir_status perform(int host, const weir_inproc_fault *fault, report *r)
{
  const weir_network network = {.latency = 1e-6, .overhead = 1e-6, .eager_max_bytes = 1e9};
  const weir_inproc run = {.ranks = RANKS,
                           .concurrent = host == 1,
                           .network = host == 2 ? &network : NULL,
                           .seed = (uint64_t)r->call,
                           .faults = fault,
                           .n_faults = fault != NULL};

  print_message("%s, call %d\n", host_name[host], r->call);
  r->timeout = host == 1 ? 0.5 : 300;
  weir_log_set_sink(quiet, NULL);
  const weir_status status = weir_inproc_run(&run, run_scene, r);

  weir_log_set_sink(NULL, NULL);
  return status;
}

static void check_that_others_miss(const report *r, int first, const char *why)
{
  for (int rank = first; rank < RANKS; rank++) {
    assert_int_equal(r->first[rank], WEIR_ERR_EXTERNAL);
    assert_non_null(strstr(r->text[rank], why));
    assert_int_equal(r->second[rank], WEIR_ERR_EXTERNAL);
  }
}

static void ranks_leave_a_call_that_a_dead_rank_does_not_come_to(void **state)
{
  const weir_inproc_fault death = {.event = WEIR_INPROC_DEATH, .from = 0, .to = -1, .first = 0};

  (void)state;
  for (int k = 0; k < HOSTS * CALLS; k++) {
    report r = {.scene = RANK_0_DIES, .call = k % CALLS};

    (void)perform(k / CALLS, &death, &r);
    weir_clear_failure();
    check_that_others_miss(&r, 1, "rank 0 of 3 ended");
  }
}

/* Where a rank ends the run, the others may notice that first. */
static void ranks_leave_a_call_that_a_failed_rank_does_not_come_to(void **state)
{
  (void)state;
  for (int k = 0; k < HOSTS * CALLS; k++) {
    report fails = {.scene = RANK_0_FAILS, .call = k % CALLS};
    report aborts = {.scene = RANK_0_ABORTS, .call = k % CALLS};
    report stops = {.scene = RANK_0_STOPS, .call = k % CALLS};

    assert_int_equal(perform(k / CALLS, NULL, &fails), WEIR_ERR_NUMERIC);
    check_that_others_miss(&fails, 1, "rank 0 of 3 ended");
    assert_int_equal(perform(k / CALLS, NULL, &aborts), WEIR_ERR_NUMERIC);
    check_that_others_miss(&aborts, 1, "rank 0 of 3 ended");
    assert_int_equal(perform(k / CALLS, NULL, &stops), WEIR_ERR_STOPPED);
    weir_stop_request(0);
    for (int rank = 1; rank < RANKS; rank++) {
      assert_int_equal(stops.first[rank], WEIR_ERR_EXTERNAL);
    }
  }
}

static void a_rank_may_die_in_a_call_while_it_serves(void **state)
{
  /* Messages 0 and 1 of the pair: the activation and its part of the sum. */
  const weir_inproc_fault death = {
      .event = WEIR_INPROC_DEATH, .from = 1, .to = 0, .first = 1, .count = 1};

  (void)state;
  for (int k = 0; k < HOSTS * CALLS; k++) {
    report r = {.scene = RANK_1_DIES, .call = k % CALLS};

    assert_int_equal(perform(k / CALLS, &death, &r), WEIR_ERR_EXTERNAL); /* rank 0 lacks it */
    assert_int_equal(r.first[1], WEIR_ERR_EXTERNAL);
    assert_non_null(strstr(r.text[1], "died by a scripted fault"));
    check_that_others_miss(&r, 2, "ended");
  }
}

/* The call ends alike on all ranks; the next one that progresses fails on rank 1. */
static void a_call_ends_alike_where_a_schedule_fails_meanwhile(void **state)
{
  (void)state;
  for (int k = 0; k < HOSTS * CALLS; k++) {
    report r = {.scene = SCHEDULE_FAILS, .call = k % CALLS};
    const weir_status expected = r.call == 1 ? WEIR_ERR_DATA : WEIR_OK;

    assert_ok(perform(k / CALLS, NULL, &r));
    for (int rank = 0; rank < RANKS; rank++) {
      assert_int_equal(r.first[rank], expected);
      assert_int_equal(r.second[rank], expected);
      assert_true(r.call != 1 || strstr(r.text[rank], "rank 1 has no file") != NULL);
      assert_int_equal(r.then[rank], rank == 1 ? WEIR_ERR_EXTERNAL : WEIR_OK);
    }
    assert_non_null(strstr(r.then_text[1], "receives 16 bytes where 8 are expected"));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranks_leave_a_call_that_a_dead_rank_does_not_come_to),
      cmocka_unit_test(ranks_leave_a_call_that_a_failed_rank_does_not_come_to),
      cmocka_unit_test(a_rank_may_die_in_a_call_while_it_serves),
      cmocka_unit_test(a_call_ends_alike_where_a_schedule_fails_meanwhile),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
