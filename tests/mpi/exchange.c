/* exchange.c - every exchange policy of the registry, and trainings that accumulate gradients: they
 * are exchanged once a step, and give the losses and weights of one rank.
 *
 *   mpi_exchange RANKS FOLDER   FOLDER is empty and that of all ranks */
#include "support/graph/store_check.h"
#include "optim/weir_exchange.h"

#include <stdio.h>
#include <time.h>

#include "report/weir_run_log.h"
#include "train_session.h"

enum { COUNT = 1000, PARTS = 3 };

/* Element i of a part on a rank: whole numbers, of which sums have no rounding. */
static double element_of(int rank, int part, int i)
{
  return (double)((rank + 1) * (part + 2) + i % 17);
}

/* What the ranks that differ from this one along `dims` have together. */
static double sum_of(const weir_grid *grid, unsigned dims, int part, int i)
{
  const int me = weir_comm_rank(comm);
  double sum = 0;

  for (int q = 0; q < weir_comm_size(comm); q++) {
    if (weir_grid_sub_id(grid, q, dims) == weir_grid_sub_id(grid, me, dims)) {
      sum += element_of(q, part, i);
    }
  }
  return sum;
}

/* f32 over all ranks, f64 over the samples, and one that no rank shares; twice. */
static void check_sums(const weir_exchange_desc *policy, const weir_grid *grid)
{
  static const unsigned dims[PARTS] = {15, 1, 0};
  const int me = weir_comm_rank(comm);
  static float a[COUNT];
  static double b[COUNT], c[COUNT];
  const weir_exchange_part part[PARTS] = {
      {a, WEIR_F32, COUNT, dims[0]}, {b, WEIR_F64, COUNT, dims[1]}, {c, WEIR_F64, COUNT, dims[2]}};
  const weir_exchange_args args = {.comm = comm, .grid = grid, .part = part, .n = PARTS};
  weir_exchange x;

  assert_ok(weir_exchange_open(policy, &args, &x));
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < COUNT; i++) {
      a[i] = (float)element_of(me, 0, i);
      b[i] = element_of(me, 1, i);
      c[i] = element_of(me, 2, i);
    }
    assert_ok(weir_exchange_run(&x));
    for (int i = 0; i < COUNT; i++) {
      assert_true(a[i] == sum_of(grid, dims[0], 0, i));
      assert_true(b[i] == sum_of(grid, dims[1], 1, i));
      assert_true(c[i] == sum_of(grid, dims[2], 2, i));
    }
  }
  weir_exchange_close(&x);
  weir_exchange_close(&x); /* once more is none */
}

/* Adds what replicas keep of gradients that they have not given, of all ranks along the samples. */
static void add_kept(const weir_exchange *x, const weir_grid *grid, double *sum)
{
  static double kept_sum[COUNT];
  weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX];
  const int n = x->policy->keep != NULL ? x->policy->keep(x->state, kept) : 0;
  weir_comm *group = NULL;
  weir_request *r = NULL;

  memset(kept_sum, 0, sizeof kept_sum);
  for (int k = 0; k < n; k++) {
    assert_true(kept[k].name[strspn(kept[k].name, "abcdefghijklmnopqrstuvwxyz_")] == 0);
    for (int i = 0; i < COUNT && kept[k].kind == WEIR_KEPT_SUMMAND; i++) {
      assert_int_equal(kept[k].count, COUNT);
      kept_sum[i] += ((const double *)kept[k].data)[i];
    }
  }
  assert_ok(weir_grid_sub(grid, comm, 1, &group));
  assert_ok(weir_allreduce_create(group, "kept", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F64),
                                  kept_sum, COUNT, &r));
  assert_ok(weir_request_run_once(&r));
  weir_comm_close(&group);
  for (int i = 0; i < COUNT; i++) {
    sum[i] += kept_sum[i];
  }
}

/* Of gradients: what is returned in all steps and at the end, and what is kept then, adds up to
 * what was given. Where a batch has a target size, an update is as many times the mean of
 * contributions: of equal ones it is known, whoever gave them. */
static void check_gradients(const weir_exchange_desc *policy, const weir_grid *grid)
{
  static double a[COUNT], sum[COUNT];
  const weir_exchange_part part = {a, WEIR_F64, COUNT, 1};
  const weir_exchange_args args = {.comm = comm, .grid = grid, .part = &part, .n = 1};
  const int me = weir_comm_rank(comm), turns = 7;
  const bool equal = policy->due != NULL;
  weir_exchange x;

  memset(sum, 0, sizeof sum);
  assert_ok(weir_exchange_open(policy, &args, &x));
  for (int turn = 0; turn <= turns; turn++) {
    for (int i = 0; i < COUNT; i++) {
      a[i] = equal ? element_of(0, 1, i) : (turn + 1) * element_of(me, 1, i);
    }
    assert_ok(turn < turns ? weir_exchange_run(&x) : weir_exchange_settle(&x));
    for (int i = 0; i < COUNT && equal; i++) {
      assert_true(a[i] == (weir_exchange_due(&x) ? grid->extent[0] * element_of(0, 1, i) : 0));
    }
    for (int i = 0; i < COUNT && (turn < turns || policy->settle != NULL); i++) {
      sum[i] += a[i];
    }
  }
  add_kept(&x, grid, sum);
  for (int i = 0; i < COUNT && !equal; i++) {
    const double given = turns * (turns + 1) / 2 * sum_of(grid, 1, 1, i);

    assert_true(fabs(sum[i] - given) <= (policy->keep != NULL ? 1e-12 * given : 0));
  }
  assert_true(weir_exchange_count(&x).versions >= (equal ? 1 : turns));
  weir_exchange_close(&x);
}

/* Of weights: replicas are equal at the end, and their mean stays. */
static void check_weights(const weir_exchange_desc *policy, const weir_grid *grid)
{
  static double a[COUNT];
  const weir_exchange_part part = {a, WEIR_F64, COUNT, 1};
  const weir_exchange_args args = {.comm = comm, .grid = grid, .part = &part, .n = 1};
  const int me = weir_comm_rank(comm), n = grid->extent[0];
  weir_exchange x;

  for (int i = 0; i < COUNT; i++) {
    a[i] = element_of(me, 1, i);
  }
  assert_ok(weir_exchange_open(policy, &args, &x));
  for (int turn = 0; turn < 30; turn++) {
    assert_ok(weir_exchange_run(&x));
  }
  assert_ok(weir_exchange_settle(&x));
  static double low[2 * COUNT];
  weir_request *r = NULL;

  for (int i = 0; i < COUNT; i++) {
    low[i] = a[i];
    low[COUNT + i] = -a[i];
  }
  assert_ok(weir_allreduce_create(comm, "least", weir_reducer_of(WEIR_REDUCE_MIN, WEIR_F64), low,
                                  2 * COUNT, &r));
  assert_ok(weir_request_run_once(&r));
  for (int i = 0; i < COUNT && n == weir_comm_size(comm); i++) {
    assert_true(low[i] == -low[COUNT + i]);
  }
  for (int i = 0; i < COUNT; i++) {
    const double mean = sum_of(grid, 1, 1, i) / n;

    /* what late ranks give a second time shifts it */
    assert_true(fabs(a[i] - mean) < (policy->count == NULL ? 1e-12 * mean : n));
  }
  weir_exchange_close(&x);
}

static void check_policy(const weir_exchange_desc *policy, const weir_grid *grid)
{
  if (policy->invariant == WEIR_REPLICAS_EQUAL && policy->in_plan) {
    check_sums(policy, grid);
  }
  if (policy->what == WEIR_EXCHANGE_GRADIENTS) {
    check_gradients(policy, grid);
  } else {
    check_weights(policy, grid);
  }
}

static void every_policy_on_every_grid(void **state)
{
  int n = 0;
  const weir_grid *grid = grids_of(weir_comm_size(comm), &n);

  for (int k = 0; weir_exchange_table[k] != NULL; k++) {
    const weir_exchange_desc *policy = weir_exchange_table[k];

    assert_true(policy->name[0] != 0 && policy->cite[0] != 0 && policy->help[0] != 0);
    for (int i = 0; i < n; i++) {
      check_policy(policy, &grid[i]);
    }
  }
}

static void an_unknown_policy_is_refused(void **state)
{
  const weir_exchange_desc *policy = NULL;

  assert_int_equal(weir_exchange_find("gossip", &policy), WEIR_ERR_CONFIG);
  assert_null(policy);
  assert_non_null(strstr(weir_last_message(), "choose one of: "));
  for (int k = 0; weir_exchange_table[k] != NULL; k++) {
    assert_non_null(strstr(weir_last_message(), weir_exchange_table[k]->name));
  }
  weir_clear_failure();
}

/* ---- Trainings ---- */

#define ACCUMULATED(n)                                                                          \
  "steps=20", "batch=2", "accumulate=" n, "log_every=1", "compare_every=3", "validate_every=2", \
      "optim.exchange=allreduce", "optim.schedule.lr=0.01",                                     \
      "optim.rule={momentum: {weight_decay: 0.01}}"

/* Moments over the batch and over space are merged in every micro-batch. */
static void batch_norm_in_two(void **state)
{
  volume v = usual(WEIR_F64);

  v.norm = true;
  assert_as_one_rank(v, 1e-10, 1, SETS(ACCUMULATED("2")));
}

/* Batches of other labels count more; the norm of the whole gradient is clipped. */
static void weights_in_three(void **state)
{
  volume v = usual(WEIR_F64);

  v.weighs = true;
  assert_as_one_rank(v, 1e-10, 1, SETS(ACCUMULATED("3"), "optim.clip.max_norm=0.5"));
}

/* The second block and the dense layers are whole on every rank: their gradient counts once. */
static void gathered_maps_in_two(void **state)
{
  volume v = usual(WEIR_F64);

  v.norm = true;
  memcpy(v.replicate_below, (int64_t[]){0, 4, 3, 4}, sizeof v.replicate_below);
  assert_as_one_rank(v, 1e-10, 2, SETS(ACCUMULATED("2"), "optim.average.decay=0.9"));
}

/* ---- Ranks that train apart ---- */

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

static void a_resumed_run_is_the_same(void **state)
{
  check_resumption(SETS(APART("{local: {period: 3}}")),
                   SETS(APART("{local: {period: 3}}"), "steps=10"));
  check_resumption(SETS(APART("dpsgd")), SETS(APART("dpsgd"), "steps=10"));
  check_resumption(SETS(APART("sgp")), SETS(APART("sgp"), "steps=10"));
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

/* Messages of reductions that a rank sends in a training without validation. */
static weir_comm_count reduced(const weir_grid *grid, const char *steps, const char *accumulate)
{
  const weir_comm_count before = weir_comm_counted(comm, WEIR_COMM_REDUCE);
  volume v = usual(WEIR_F32);
  session s = train_on(grid, &v, 16,
                       SETS(steps, accumulate, "batch=4", "validate_every=100", "keep_best=false",
                            "compare_every=0", "checkpoint.every=100"));
  weir_comm_count after = weir_comm_counted(comm, WEIR_COMM_REDUCE);

  assert_ok(s.status);
  close_session(&s);
  after.sent -= before.sent;
  after.sent_bytes -= before.sent_bytes;
  return after;
}

/* Of one step, in three of them. */
static weir_comm_count of_step(const weir_grid *grid, const char *accumulate)
{
  const weir_comm_count two = reduced(grid, "steps=2", accumulate);
  weir_comm_count five = reduced(grid, "steps=5", accumulate);

  five.sent = (five.sent - two.sent) / 3;
  five.sent_bytes = (five.sent_bytes - two.sent_bytes) / 3;
  return five;
}

/* Merged in every micro-batch, it would be sent four times as often as in a step of one batch. */
static void a_gradient_is_sent_once_a_step(void **state)
{
  int n = 0;
  const weir_grid *grid = grids_of(weir_comm_size(comm), &n);

  for (int i = 0; i < n; i++) {
    const weir_comm_count one = of_step(&grid[i], "accumulate=1");
    const weir_comm_count four = of_step(&grid[i], "accumulate=4");
    char what[64];

    if (weir_comm_rank(comm) == 0) {
      print_message("%s: %lld messages, %lld bytes in a step of one batch; of four %lld, %lld\n",
                    grid_text(&grid[i], what, sizeof what), (long long)one.sent,
                    (long long)one.sent_bytes, (long long)four.sent, (long long)four.sent_bytes);
    }
    assert_true(four.sent_bytes < 4 * one.sent_bytes || weir_comm_size(comm) == 1);
    if (grid[i].extent[0] == weir_comm_size(comm)) { /* no sums of maps: the gradient and numbers */
      assert_true(2 * four.sent_bytes <= 3 * one.sent_bytes);
    }
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_policy_on_every_grid),
      cmocka_unit_test(an_unknown_policy_is_refused),
      cmocka_unit_test(batch_norm_in_two),
      cmocka_unit_test(weights_in_three),
      cmocka_unit_test(gathered_maps_in_two),
      cmocka_unit_test(a_gradient_is_sent_once_a_step),
      cmocka_unit_test(waiting_for_all_is_training_as_one_rank),
      cmocka_unit_test(weighted_samples_count_among_those_of_their_rank),
      cmocka_unit_test(compressed_gradients_train),
      cmocka_unit_test(late_ranks_train),
      cmocka_unit_test(ranks_tell_what_they_did),
      cmocka_unit_test(a_resumed_run_is_the_same),
      cmocka_unit_test(what_ranks_cannot_do_apart_is_refused),
  };

  if (argc < 3) {
    fprintf(stderr, "mpi_exchange RANKS FOLDER\n");
    return 2;
  }
  folder = argv[2];
  weir_log_set_level(WEIR_LOG_WARN);
  if (weir_comm_open(&comm) != WEIR_OK) {
    weir_print_trace(stderr);
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
