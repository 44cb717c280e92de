/* job_test.c - what a command is given, and what a failure leaves. */
#include <stdio.h>
#include <string.h>
#include "app/weir_job.h"
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "comm/weir_items.h"
#include "device/weir_parallel.h"

struct options {
  int64_t seed;
  double rate;
};

static const weir_opt rows[] = {
    WEIR_OPT_INT(struct options, seed, 3, 0, 100, "1", "seed"),
    WEIR_OPT_REAL(struct options, rate, 0.5, 0, 1, "1", "rate"),
    WEIR_OPT_END,
};
static const weir_app app = {.name = "demo", .opts = rows, .opts_size = sizeof(struct options)};

static weir_status complete(weir_job *j)
{
  const struct options *const o = j->cfg;

  j->seed = o->seed;
  return o->rate > 0.9 ? weir_fail(WEIR_ERR_CONFIG, "rate %g is too large", o->rate) : WEIR_OK;
}

static const weir_program program = {.complete = complete};
static int calls; /* of the commands below */

static weir_status succeed(weir_job *j)
{
  const struct options *const o = j->cfg;

  calls++;
  assert_int_equal(o->seed, j->seed);
  assert_null(j->comm);
  WEIR_TRY(weir_job_begin(j, "run", false));
  WEIR_TRY(weir_run_dir_commit(&j->dir));
  return weir_job_provenance(j->cli, j->seed, &(weir_provenance){.n_inputs = 0});
}

static weir_status fail_before_results(weir_job *j)
{
  calls++;
  WEIR_TRY(weir_job_begin(j, "run", false));
  assert_true(j->dir.waits);
  return weir_fail(WEIR_ERR_DATA, "no input");
}

/* The status of a command with one --set, or NULL. */
static weir_status perform(const char *set, const char *out, bool overwrite, const char *device,
                           const weir_program *p, weir_status (*work)(weir_job *job))
{
  const weir_cli cli = {.app = &app,
                        .command = "run",
                        .out = out,
                        .overwrite = overwrite,
                        .device = device,
                        .sets = &set,
                        .n_sets = set != NULL};
  struct options o;
  const weir_status status = weir_job_run(&cli, p, &o, work);

  weir_events_close();
  return status;
}

/* Content of a file of the folder; the caller frees it. */
static char *read_file(const char *dir, const char *name)
{
  char path[1024];
  int64_t size = 0;
  char *text = NULL;

  assert_ok(weir_path_join(dir, name, path, sizeof path));
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  return text;
}

static void results_have_program_command_and_seed(void **state)
{
  char dir[512];

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(perform("seed=7", dir, false, NULL, &program, succeed));
  char *log = read_file(dir, "run.jsonl"), *origin = read_file(dir, "provenance.json");

  assert_non_null(strstr(log, "\"event\": \"start\""));
  assert_non_null(strstr(log, "\"program\": \"demo\", \"command\": \"run\", \"seed\": 7"));
  assert_non_null(strstr(origin, "demo run"));
  weir_free(&log);
  weir_free(&origin);
  weir_check_rmdir(dir);
}

static void refused_configuration_performs_nothing(void **state)
{
  char dir[512];

  weir_check_mkdir(dir, sizeof dir);
  calls = 0;
  assert_int_equal(perform("rate=0.95", dir, false, NULL, &program, succeed), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "rate 0.95 is too large"));
  assert_int_equal(perform("rate=2", dir, false, NULL, &program, succeed), WEIR_ERR_CONFIG);
  assert_int_equal(calls, 0);
  assert_false(weir_dir_has_entries(dir));
  weir_check_rmdir(dir);
}

static void failure_keeps_the_earlier_results(void **state)
{
  char dir[512];

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(perform(NULL, dir, false, NULL, &program, succeed));
  char *before = read_file(dir, "run.jsonl");

  assert_int_equal(perform(NULL, dir, true, NULL, &program, fail_before_results), WEIR_ERR_DATA);
  assert_string_equal(weir_last_message(), "no input");
  char *after = read_file(dir, "run.jsonl");

  assert_string_equal(before, after);
  weir_free(&before);
  weir_free(&after);
  weir_check_rmdir(dir);
}

static void device_that_there_is_not_is_refused(void **state)
{
  calls = 0;
  assert_int_equal(perform(NULL, NULL, false, "none", &program, succeed), WEIR_ERR_UNSUPPORTED);
  assert_int_equal(calls, 0);
}

/* ---- On ranks that are threads ---- */

enum { RANKS = 3 };

/* What ranks have seen; each has its own elements. */
static struct {
  const void *cfg[RANKS];
  int threads[RANKS];
  bool begun[RANKS];
} seen;

static weir_status succeed_on_rank(weir_job *j)
{
  const int rank = weir_comm_rank(j->comm);

  seen.cfg[rank] = j->cfg;
  seen.threads[rank] = weir_threads_get();
  seen.begun[rank] = j->seed == 7 && weir_comm_size(j->comm) == RANKS;
  WEIR_TRY(weir_comm_agree(j->comm, rank == 0 ? weir_job_begin(j, "run", false) : WEIR_OK));
  weir_event("told", WEIR_INT("rank", rank));
  return weir_comm_agree(j->comm, rank == 0 ? weir_run_dir_commit(&j->dir) : WEIR_OK);
}

static weir_status fail_on_rank_1(weir_job *j)
{
  const int rank = weir_comm_rank(j->comm);

  WEIR_TRY(weir_comm_agree(j->comm, rank == 0 ? weir_job_begin(j, "run", false) : WEIR_OK));
  return rank == 1 ? weir_fail(WEIR_ERR_DATA, "no input") : weir_comm_barrier(j->comm);
}

/* Which rank fails alone, and where: before the items, in its own, after them. */
static struct {
  int rank, where;
  int64_t taken;
} sharing;

static weir_status fail_here(const weir_job *j, int where)
{
  return sharing.where == where && weir_comm_rank(j->comm) == sharing.rank
             ? weir_fail(WEIR_ERR_DATA, "no input of rank %d", sharing.rank)
             : WEIR_OK;
}

static weir_status share_item(void *context, int64_t i, weir_bytes *out)
{
  WEIR_TRY(fail_here(context, 1));
  return weir_bytes_put(out, &i, sizeof i);
}

static weir_status take_item(void *context, int64_t i, const char *data, int64_t n)
{
  (void)context;
  assert_int_equal(n, sizeof i);
  assert_memory_equal(data, &i, sizeof i);
  sharing.taken++;
  return WEIR_OK;
}

static weir_status share(weir_job *j)
{
  const weir_items w = {.comm = j->comm,
                        .what = "share",
                        .unit = "items",
                        .n = 8,
                        .make = share_item,
                        .take = take_item};

  WEIR_TRY(weir_job_begin(j, "run", false));
  WEIR_TRY(fail_here(j, 0));
  WEIR_TRY(weir_items_run(&w, j));
  WEIR_TRY(weir_job_leads(j) ? weir_run_dir_commit(&j->dir) : WEIR_OK);
  return fail_here(j, 2);
}

static weir_status perform_on_ranks(const char *set, const char *out, bool overwrite, int threads,
                                    weir_status (*work)(weir_job *job))
{
  const weir_cli cli = {.app = &app,
                        .command = "run",
                        .out = out,
                        .overwrite = overwrite,
                        .sets = &set,
                        .n_sets = 1,
                        .threads = threads,
                        .ranks = RANKS};
  const weir_status status =
      (work == share ? weir_job_run_shared : weir_job_run_on_ranks)(&cli, &program, work);

  weir_events_close();
  return status;
}

static void thread_ranks_have_their_own_job_and_one_folder(void **state)
{
  char dir[512];

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(perform_on_ranks("seed=7", dir, false, 2, succeed_on_rank));
  char *log = read_file(dir, "run.jsonl");

  for (int r = 0; r < RANKS; r++) {
    assert_true(seen.begun[r]);
    assert_int_equal(seen.threads[r], 2);
    assert_true(r == 0 || seen.cfg[r] != seen.cfg[0]);
  }
  assert_non_null(strstr(log, "\"told\""));
  assert_null(strstr(strstr(log, "\"told\"") + 1, "\"told\""));
  weir_free(&log);
  weir_threads_set(RANKS * 5);
  assert_ok(perform_on_ranks("seed=7", dir, true, 0, succeed_on_rank));
  assert_int_equal(seen.threads[RANKS - 1], 5);
  weir_threads_set(0);
  weir_check_rmdir(dir);
}

static void failure_of_a_thread_rank_ends_all_with_its_message(void **state)
{
  char dir[512];

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(perform_on_ranks("seed=7", dir, false, 1, succeed_on_rank));
  char *before = read_file(dir, "run.jsonl");

  assert_int_equal(perform_on_ranks("seed=7", dir, true, 1, fail_on_rank_1), WEIR_ERR_DATA);
  assert_string_equal(weir_last_message(), "no input");
  char *after = read_file(dir, "run.jsonl");

  assert_string_equal(before, after);
  assert_int_equal(perform_on_ranks("rate=0.95", dir, true, 1, succeed_on_rank), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "rate 0.95 is too large"));
  weir_free(&before);
  weir_free(&after);
  weir_check_rmdir(dir);
}

static weir_status collect(void *context)
{
  static const char *const paths[] = {"b", "a", "b", "c", "a"};
  weir_inputs *const in = context;
  weir_status status = WEIR_OK;

  *in = (weir_inputs){.n = 0};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0] && status == WEIR_OK; i++) {
    status = weir_inputs_add(in, paths[i]);
  }
  weir_inputs_sort(in);
  if (status != WEIR_OK) {
    weir_inputs_fini(in);
  }
  return status;
}

static weir_status collect_and_free(void *context)
{
  weir_inputs in;

  (void)context;
  WEIR_TRY(collect(&in));
  weir_inputs_fini(&in);
  return WEIR_OK;
}

static void inputs_are_sorted_and_there_once(void **state)
{
  weir_inputs in = {.n = 0};

  weir_inputs_sort(&in);
  assert_int_equal(in.n, 0);
  assert_ok(collect(&in));
  assert_int_equal(in.n, 3);
  assert_string_equal(in.path[0], "a");
  assert_string_equal(in.path[1], "b");
  assert_string_equal(in.path[2], "c");
  weir_inputs_fini(&in);
  assert_true(weir_check_faults(collect_and_free, NULL) >= 5);
}

static void ranks_that_share_items_fail_together(void **state)
{
  char dir[512], text[64];

  (void)state;
  for (int where = 0; where < 3; where++) {
    for (sharing.rank = 0; sharing.rank < RANKS; sharing.rank++) {
      weir_check_mkdir(dir, sizeof dir);
      sharing.where = where;
      sharing.taken = 0;
      assert_int_equal(perform_on_ranks("seed=7", dir, false, 1, share), WEIR_ERR_DATA);
      (void)snprintf(text, sizeof text, "no input of rank %d", sharing.rank);
      assert_non_null(strstr(weir_last_message(), text));
      assert_int_equal(sharing.taken, where == 0 ? 0 : where == 1 ? sharing.rank : 8);
      weir_check_rmdir(dir);
    }
  }
  sharing.where = -1;
  sharing.taken = 0;
  weir_check_mkdir(dir, sizeof dir);
  assert_ok(perform_on_ranks("seed=7", dir, false, 1, share));
  assert_int_equal(sharing.taken, 8);
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_have_program_command_and_seed),
      cmocka_unit_test(refused_configuration_performs_nothing),
      cmocka_unit_test(failure_keeps_the_earlier_results),
      cmocka_unit_test(device_that_there_is_not_is_refused),
      cmocka_unit_test(thread_ranks_have_their_own_job_and_one_folder),
      cmocka_unit_test(inputs_are_sorted_and_there_once),
      cmocka_unit_test(failure_of_a_thread_rank_ends_all_with_its_message),
      cmocka_unit_test(ranks_that_share_items_fail_together),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
