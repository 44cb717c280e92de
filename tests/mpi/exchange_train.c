/* exchange_train.c - trainings under exchange policies: those of one rank where every exchange
 * waits for all; late ranks; what ranks report; resumption; what is refused.
 *
 *   mpi_exchange_train RANKS FOLDER   FOLDER is empty and that of all ranks */
#include <stdio.h>
#include <time.h>

#include "report/weir_run_log.h"
#include "train_session.h"

#define APART(policy)                                                                   \
  "steps=20", "batch=4", "validate_every=2", "optim.schedule.lr=0.01", "agree_every=3", \
      "checkpoint.every=5", "keep_best=false", "optim.rule={momentum: {}}",             \
      "optim.exchange=" policy

/* Weights and state of the optimiser. */
static void compare_weights(const char *what, const session *a, const session *b, double within)
{
  const weir_tolerance t = {within, within};

  for (int64_t i = 0; i < weir_store_count(a->store); i++) {
    const char *name = weir_store_name(a->store, i);

    if (strncmp(name, "train.", 6) == 0) {
      continue; /* numbers of the run, and gradients that only some runs keep */
    }
    const weir_tensor *x = check_stored(a->store, name), *y = check_stored(b->store, name);

    if (weir_dtype_is_real(x->dtype)) {
      assert_int_equal(weir_compare(what, x->dtype, y->data, x->data, weir_tensor_numel(x), t), 0);
    }
  }
}

/* Where every exchange waits for all ranks, a rule that is linear in the gradient makes of all
 * ranks what one has. */
static void waiting_for_all_is_training_as_one_rank(void **state)
{
  const char *const *const sets[] = {SETS(APART("{local: {period: 1}}")),
                                     SETS(APART("{eager: {period: 1}}")),
                                     SETS(APART("{wagma: {period: 1}}"))};
  int n = 0;
  const weir_grid *grid = grids_of(weir_comm_size(comm), &n);
  volume v = usual(WEIR_F64);

  v.dropout = 0; /* masks are those of a sample's number in the batch of its rank */
  for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
    session alone = train_alone(&v, 16, sets[k]), s = train_on(&grid[0], &v, 16, sets[k]);

    assert_ok(alone.status);
    assert_ok(s.status);
    compare_weights("apart", &alone, &s, 1e-10);
    assert_true(fabs(s.result.loss / alone.result.loss - 1) < 1e-10);
    assert_true(fabs(s.result.valid_loss / alone.result.valid_loss - 1) < 1e-10);
    close_session(&alone);
    close_session(&s);
  }
}

/* Samples with weights: the weighted mean of each rank counts as its share of the samples, whether
 * gradients or weights are exchanged. */
static void weighted_samples_count_among_those_of_their_rank(void **state)
{
  int n = 0;
  const weir_grid *grid = grids_of(weir_comm_size(comm), &n);
  volume v = usual(WEIR_F64);

  v.dropout = 0;
  v.weighs = true;
  session gradients = train_on(&grid[0], &v, 16, SETS(APART("{eager: {period: 1}}")));
  session weights = train_on(&grid[0], &v, 16, SETS(APART("{local: {period: 1}}")));

  assert_ok(gradients.status);
  assert_ok(weights.status);
  compare_weights("weighted", &gradients, &weights, 1e-10);
  assert_true(fabs(gradients.result.valid_loss / weights.result.valid_loss - 1) < 1e-10);
  close_session(&gradients);
  close_session(&weights);
}

/* Ranks that compute every step together and leave something out of each sum: weights stay equal,
 * and the network learns four fifths at least of what it learns by whole sums. */
static void compressed_gradients_train(void **state)
{
  const char *const *const sets[] = {
      SETS(APART("allreduce"), "steps=200"), SETS(APART("{powersgd: {}}"), "steps=200"),
      SETS(APART("{onebit: {freeze_step: 40, momentum: 0.9, block: 64}}"), "steps=200")};
  double whole = 0;
  int n = 0;
  const weir_grid *grid = grids_of(weir_comm_size(comm), &n);
  volume v = usual(WEIR_F32);
  session untrained = train_alone(&v, 16, SETS(APART("allreduce"), "optim.schedule.lr=1e-30"));

  assert_ok(untrained.status);
  for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
    session s = train_on(&grid[0], &v, 16, sets[k]);
    const double learnt = untrained.result.valid_loss - s.result.valid_loss;

    assert_ok(s.status);
    assert_int_equal(s.result.step, 200);
    if (weir_comm_rank(comm) == 0) {
      print_message("%s: validation loss %.6g\n", sets[k][8], s.result.valid_loss);
    }
    whole = k == 0 ? learnt : whole;
    assert_true(learnt > 0 && learnt >= 0.8 * whole);
    close_session(&s);
  }
  close_session(&untrained);
}
#define OKTOPK "{oktopk: {density: 0.1, threshold_period: 4, region_period: 6}}"
#define GTOPK "{gtopk: {density: 0.05, dense_steps: 3}}"

/* A rank that is late in every third step. */
static weir_status delay(volume *v)
{
  const struct timespec pause = {0, 5000000};

  if (weir_comm_rank(comm) == 1 && v->fetched % 3 == 0) {
    (void)nanosleep(&pause, NULL);
  }
  return WEIR_OK;
}

/* The event `exchange` of a run, in which something was sent; of ranks that train apart or of a
 * slot between gradient and update alike. */
static void check_event(const session *s)
{
  char path[PATH + 16], line[4096];
  int events = 0;

  (void)snprintf(path, sizeof path, "%s.jsonl", s->dir);
  FILE *f = fopen(path, "r");

  assert_non_null(f);
  while (fgets(line, sizeof line, f) != NULL) {
    const char *bytes = strstr(line, "\"payload_bytes\": ");
    const char *rounds = strstr(line, "\"rounds\": ");
    const char *in_time = strstr(line, "\"in_time\": ");

    if (strstr(line, "\"event\": \"exchange\"") != NULL) {
      assert_true(bytes != NULL && strtod(strchr(bytes, ':') + 1, NULL) > 0);
      assert_true(rounds != NULL && strtod(strchr(rounds, ':') + 1, NULL) > 0);
      /* none waits in vain for one that waits elsewhere */
      assert_true(in_time != NULL);
      assert_true(strstr(line, "dedloc") == NULL || strtod(strchr(in_time, ':') + 1, NULL) > 0.9);
      events++;
    }
  }
  fclose(f);
  assert_int_equal(events, 1);
}

/* Steps enough to learn, whoever was late. */
#define LONG(policy) APART(policy), "steps=40", "checkpoint.every=20"

static void late_ranks_train(void **state)
{
  const char *const *const sets[] = {
      SETS(LONG("{local: {period: 4}}")),
      SETS(LONG("{eager: {mode: solo, period: 2}}")),
      SETS(LONG("{eager: {mode: majority, period: 6}}"), "accumulate=2"),
      SETS(LONG("{wagma: {period: 5}}")),
      SETS(LONG("dpsgd")),
      SETS(LONG("{sgp: {overlap: 2}}")),
      SETS(LONG("moshpit")),
      SETS(LONG("adpsgd")),
      SETS(LONG("dedloc")),
      SETS(LONG("{dedloc: {target: 6}}"), "accumulate=2"),
      SETS(LONG("{local: {}}"), "accumulate=3"),
      SETS(LONG(OKTOPK)),
      SETS(LONG(GTOPK), "accumulate=2"),
      SETS(LONG("{gaussiank: {density: 0.05}}")),
      SETS(LONG("{eager: {mode: quorum}}")),
      SETS(LONG("allreduce"), "accumulate=2")};
  int n = 0;
  const weir_grid *grid = grids_of(weir_comm_size(comm), &n);
  volume v = usual(WEIR_F32);

  v.norm = true;
  session untrained = train_alone(&v, 13, SETS(APART("allreduce"), "optim.schedule.lr=1e-30"));

  assert_ok(untrained.status);
  for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
    v.before = delay;
    session s = train_on(&grid[0], &v, 13, sets[k]);

    v.before = NULL;
    assert_ok(s.status);
    assert_int_equal(s.result.step, 40);
    if (weir_comm_rank(comm) == 0) {
      print_message("%s: validation loss %.4g, untrained %.4g\n", sets[k][8], s.result.valid_loss,
                    untrained.result.valid_loss);
    }
    assert_true(s.result.valid_loss < 0.9 * untrained.result.valid_loss);
    if (weir_comm_rank(comm) == 0 && weir_comm_size(comm) > 1) {
      check_event(&s);
    }
    close_session(&s);
  }
  close_session(&untrained);
}

/* Sums of the events `rank` and spans of the events `activity` of each rank. */
typedef struct told {
  int ranks, activities[8];
  double loading[8], exchange[8], longest[8];
} told;

static told read_told(const char *dir)
{
  char path[PATH + 16];
  weir_run_log log;
  told t = {.ranks = 0};

  (void)snprintf(path, sizeof path, "%s.jsonl", dir);
  assert_ok(weir_run_log_read(path, &log));
  for (int64_t i = 0; i < log.count; i++) {
    const weir_run_event *e = &log.events[i];
    const int rank = (int)weir_run_event_real(e, "rank", 0);
    const double begin = weir_run_event_real(e, "begin_s", 0);
    const double end = weir_run_event_real(e, "end_s", 0);

    if (strcmp(e->name, "rank") == 0) {
      assert_int_equal(rank, t.ranks);
      t.ranks++;
      t.loading[rank] = weir_run_event_real(e, "loading_s", -1);
      t.exchange[rank] = weir_run_event_real(e, "exchange_s", -1);
      assert_true(weir_run_event_real(e, "messages", 0) > 0);
      assert_true(weir_run_event_real(e, "sent_bytes", 0) > 0);
    } else if (strcmp(e->name, "activity") == 0) {
      t.activities[rank]++;
      assert_true(begin > -0.01 && end >= begin); /* clocks of ranks differ by little */
      assert_true(weir_run_event_real(e, "step", 0) > 20 - 7);
      t.longest[rank] = fmax(t.longest[rank], end - begin);
    }
  }
  weir_run_log_fini(&log);
  return t;
}

/* Rank 1 sleeps 5 ms in every third step, as a part of its loading; where all wait for it, the
 * others wait that long. */
static void ranks_tell_what_they_did(void **state)
{
  int n = 0;
  const weir_grid *grid = grids_of(weir_comm_size(comm), &n);
  volume v = usual(WEIR_F32);

  v.before = delay;
  session s = train_on(&grid[0], &v, 16, SETS(APART("{local: {period: 1}}"), "timeline=7"));

  assert_ok(s.status);
  if (weir_comm_rank(comm) == 0 && weir_comm_size(comm) > 1) {
    const told t = read_told(s.dir);

    assert_int_equal(t.ranks, weir_comm_size(comm));
    assert_true(t.loading[1] >= 6 * 0.005);
    assert_true(t.exchange[0] >= 0.005); /* a busy machine makes rank 0 late, too */
    for (int r = 0; r < t.ranks; r++) {
      assert_true(t.activities[r] >= 7 * 3); /* loading, computing, exchange */
    }
    assert_true(t.longest[1] >= 0.005);
  }
  close_session(&s);
}

/* Where nothing depends on who is late, a run that is resumed is one that was not stopped. */
static void check_resumption(const char *const *sets, const char *const *first_half)
{
  int n = 0;
  const weir_grid *grid = grids_of(weir_comm_size(comm), &n);
  volume v = usual(WEIR_F32);
  char dir[PATH];

  new_dir(dir, false);
  session whole = train_on(&grid[0], &v, 16, sets);
  session half = train(comm, &grid[0], dir, &v, 16, first_half);

  assert_ok(whole.status);
  assert_ok(half.status);
  close_session(&half);
  session rest = train(comm, &grid[0], dir, &v, 16, sets);

  assert_ok(rest.status);
  assert_int_equal(rest.result.first, 10);
  compare_weights("resumed", &whole, &rest, 0);
  assert_true(rest.result.loss == whole.result.loss);
  close_session(&whole);
  close_session(&rest);
}

/* Files of both formats; resumed.c has the other policies. */
static void a_resumed_run_is_the_same(void **state)
{
  check_resumption(SETS(APART(OKTOPK)), SETS(APART(OKTOPK), "steps=10"));
  check_resumption(SETS(APART(GTOPK), "checkpoint.format=raw"),
                   SETS(APART(GTOPK), "checkpoint.format=raw", "steps=10"));
}

static void what_ranks_cannot_do_apart_is_refused(void **state)
{
  int n = 0;
  const weir_grid *grid = grids_of(weir_comm_size(comm), &n);
  volume v = usual(WEIR_F32);

  if (weir_comm_size(comm) == 1) {
    return; /* alone there is nothing to exchange */
  }
  session s = train_on(&grid[1], &v, 16, SETS(APART("local")));

  assert_int_equal(s.status, WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "use a grid along the samples alone"));
  close_session(&s);
  v.weighs = true;
  s = train_on(&grid[0], &v, 16, SETS(APART("powersgd")));
  assert_int_equal(s.status, WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "powersgd: '"));
  close_session(&s);
  weir_clear_failure();
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waiting_for_all_is_training_as_one_rank),
      cmocka_unit_test(weighted_samples_count_among_those_of_their_rank),
      cmocka_unit_test(compressed_gradients_train),
      cmocka_unit_test(late_ranks_train),
      cmocka_unit_test(ranks_tell_what_they_did),
      cmocka_unit_test(a_resumed_run_is_the_same),
      cmocka_unit_test(what_ranks_cannot_do_apart_is_refused),
  };
  const int status = session_open(argc, argv);

  if (status != 0) {
    return status;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
