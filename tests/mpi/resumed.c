/* resumed.c - a training under every exchange policy, of which one rank dies: it resumes from its
 * checkpoint to the bits of one that was left alone where the policy gives the same results in
 * every run, and else to replicas that are equal. Then other numbers of ranks resume it, and one.
 */
#include <math.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "comm/weir_inproc.h"
#include "support/graph/store_check.h"
#include "support/train/ranks_check.h"

enum { SAMPLES = 24, RANKS = 4, PATH = 512, TEXT = 4096, STEPS = 7, NEVER = 0 };

static char folder[256], warned[TEXT];
static int runs; /* names of folders */

/* A policy of the registry, with options under which few steps show what it keeps. */
static const struct {
  const char *exchange;
  bool same;           /* bits in every run */
  const char *refuses; /* on 3 ranks, part of the message; NULL: it does not */
  const char *dropped; /* arrays that other numbers of ranks drop, one after the other */
} cases[] = {
    {"allreduce", true, NULL, ""},
    {"{topka: {density: 0.05}}", true, NULL, ""},
    {"{topkdsa: {density: 0.05}}", true, NULL, ""},
    {"{gtopk: {density: 0.05, dense_steps: 1}}", true, NULL, ""},
    {"{gaussiank: {density: 0.05}}", true, NULL, ""},
    {"{oktopk: {density: 0.05, threshold_period: 4, region_period: 6}}", true, NULL,
     "oktopk.local_threshold oktopk.regions "},
    {"{powersgd: {rank: 1}}", true, NULL, ""},
    {"{onebit: {freeze_step: 1, momentum: 0.5, block: 64}}", true, NULL, ""},
    {"{local: {period: 3}}", true, NULL, ""},
    {"dpsgd", true, NULL, ""},
    {"{sgp: {overlap: 1}}", true, NULL, ""},
    {"moshpit", true, NULL, ""},
    {"{eager: {period: 1}}", true, NULL, ""},
    {"{eager: {mode: solo}}", false, NULL, ""},
    {"{wagma: {period: 3}}", false, "no power of 2", ""},
    {"{sgp: {overlap: 3}}", false, NULL, ""},
    {"adpsgd", false, NULL, ""},
    {"dedloc", false, NULL, ""},
};

enum { CASES = sizeof cases / sizeof cases[0] };

/* A training, and what its ranks came to; each has its own elements. */
typedef struct training {
  int k, ranks, steps;
  int64_t dies; /* rank 1 does once it has read so many batches; NEVER */
  weir_inproc_fault death;
  char dir[PATH];
  weir_status status[RANKS];
  char text[RANKS][256];
  weir_train_result result[RANKS];
  float *arrays[RANKS]; /* [count] weights and state of the update rule */
  int64_t count[RANKS];
} training;

/* A rank's samples, and its number. */
typedef struct reader {
  volume v;
  training *t;
  int rank;
} reader;

/* From now on the next message of rank 1 is its last. */
static weir_status die_in_time(volume *v)
{
  training *const t = ((reader *)v->context)->t;

  if (((reader *)v->context)->rank == 1 && v->fetched == t->dies) {
    t->death.from = 1;
  }
  return WEIR_OK;
}

static bool is_compared(const weir_store *store, int64_t i)
{
  const char *name = weir_store_name(store, i);

  return check_stored(store, name)->dtype == WEIR_F32 && strncmp(name, "train.", 6) != 0;
}

static weir_status keep(training *t, int rank, const weir_store *store)
{
  int64_t n = 0;

  for (int64_t i = 0; i < weir_store_count(store); i++) {
    n += is_compared(store, i) ? weir_tensor_numel(check_stored(store, weir_store_name(store, i)))
                               : 0;
  }
  WEIR_TRY(weir_alloc(n, sizeof(float), (void **)&t->arrays[rank]));
  for (int64_t i = 0; i < weir_store_count(store); i++) {
    const weir_tensor *x = check_stored(store, weir_store_name(store, i));

    if (is_compared(store, i)) {
      memcpy(t->arrays[rank] + t->count[rank], x->data, weir_tensor_bytes(x));
      t->count[rank] += weir_tensor_numel(x);
    }
  }
  return WEIR_OK;
}

static weir_status configure(const training *t, weir_train_cfg *cfg, weir_config **config)
{
  char steps[32], exchange[128];
  const char *const sets[] = {steps,
                              exchange,
                              "batch=8",
                              "log_every=0",
                              "compare_every=2",
                              "agree_every=2",
                              "checkpoint.format=raw",
                              "checkpoint.every=2",
                              "optim.schedule.lr=0.01",
                              "optim.rule={momentum: {weight_decay: 0.01}}"};

  (void)snprintf(steps, sizeof steps, "steps=%d", t->steps);
  (void)snprintf(exchange, sizeof exchange, "optim.exchange=%s", cases[t->k].exchange);
  return weir_config_load(weir_train_opts, sizeof *cfg, NULL, 0, sets,
                          (int)(sizeof sets / sizeof sets[0]), cfg, config);
}

static weir_status train(weir_comm *c, training *t)
{
  const int rank = weir_comm_rank(c);
  reader own = {.v = {.dtype = WEIR_F32, .size = {2, 2, 3}}, .t = t, .rank = rank};
  const weir_train_task task = volume_task(&own.v, SAMPLES, 0);
  const weir_dist dist = {.comm = c, .grid = {4, {t->ranks, 1, 1, 1}}};
  weir_params *params = NULL;
  weir_store *store = NULL;
  weir_config *config = NULL;
  weir_train_cfg cfg;
  weir_exec_cfg exec;
  weir_status status;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR; /* no compiler */
  const weir_plan_opts opts = {.exec = &exec, .threads = 1, .dist = &dist};

  own.v.before = die_in_time;
  own.v.context = &own;
  WEIR_TRY_GOTO(configure(t, &cfg, &config), done);
  WEIR_TRY_GOTO(weir_params_create(task.dtype, &params), done);
  WEIR_TRY_GOTO(weir_store_create(&store), done);
  WEIR_TRY_GOTO(weir_train_prepare(&task, cfg.seed, params, store), done);
  WEIR_TRY_GOTO(weir_train_run(&task, &cfg, &opts, params, store, t->dir, &t->result[rank]), done);
  status = keep(t, rank, store);
done:
  weir_params_destroy(&params);
  weir_store_destroy(&store);
  weir_config_destroy(&config);
  return status;
}

static weir_status train_on_rank(weir_comm *c, void *context)
{
  training *t = context;
  const int rank = weir_comm_rank(c);
  weir_comm_cfg cfg;

  weir_opts_default(weir_comm_opts, sizeof cfg, &cfg);
  cfg.timeout = 60; /* on the clock of the ranks */
  cfg.stall = WEIR_STALL_IGNORE;
  weir_comm_configure(c, &cfg);
  t->status[rank] = train(c, t);
  (void)snprintf(t->text[rank], sizeof t->text[rank], "%s", weir_last_message());
  return WEIR_OK;
}

static void note_warning(void *context, weir_log_level level, const char *module, const char *text)
{
  const size_t length = strlen(warned);

  (void)context;
  (void)module;
  if (level == WEIR_LOG_WARN) {
    (void)snprintf(warned + length, sizeof warned - length, "%s\n", text);
  }
}

/* Trains in t->dir, from the newest checkpoint there. */
static training run(int k, int ranks, int steps, int64_t dies, const char *dir)
{
  training t = {.k = k, .ranks = ranks, .steps = steps, .dies = dies};
  const weir_inproc how = {.ranks = ranks, .seed = 1, .faults = &t.death, .n_faults = 1};

  t.death = (weir_inproc_fault){.event = WEIR_INPROC_DEATH, .from = RANKS, .to = -1};
  (void)snprintf(t.dir, sizeof t.dir, "%s", dir);
  warned[0] = 0;
  assert_ok(weir_inproc_run(&how, train_on_rank, &t));
  return t;
}

static void end(training *t)
{
  for (int r = 0; r < RANKS; r++) {
    weir_free(&t->arrays[r]);
  }
}

/* Trains to the end, from that step on: all ranks have the same in the end. */
static training completed(int k, int ranks, int steps, int64_t first, const char *dir)
{
  training t = run(k, ranks, steps, NEVER, dir);

  for (int r = 0; r < ranks; r++) {
    if (t.status[r] != WEIR_OK) {
      fail_msg("%s, rank %d of %d: %s", cases[k].exchange, r, ranks, t.text[r]);
    }
    assert_int_equal(t.result[r].first, first);
    assert_int_equal(t.result[r].step, steps);
    assert_true(isfinite(t.result[r].loss));
    assert_true(t.count[r] > 0 && t.count[r] == t.count[0]);
    if (memcmp(t.arrays[r], t.arrays[0], (size_t)t.count[0] * sizeof(float)) != 0) {
      fail_msg("%s: rank %d of %d differs from rank 0", cases[k].exchange, r, ranks);
    }
  }
  return t;
}

/* Trains until rank 1 dies: no rank gets to the end. */
static void killed(int k, int64_t dies, const char *dir)
{
  training t = run(k, RANKS, STEPS, dies, dir);

  for (int r = 0; r < RANKS; r++) {
    if (t.status[r] != WEIR_ERR_EXTERNAL) {
      fail_msg("%s, rank %d of %d, killed in step %lld: status %d, %s", cases[k].exchange, r, RANKS,
               (long long)dies, (int)t.status[r], t.text[r]);
    }
  }
  end(&t);
}

static void new_dir(char dir[PATH])
{
  (void)snprintf(dir, PATH, "%s/run%d", folder, runs++);
}

/* Rank 1 dies in step 4, before its checkpoint: that of step 2 is the newest one. */
static void resume_killed(int k, const char *dir)
{
  char alone[PATH];

  new_dir(alone);
  training whole = completed(k, RANKS, STEPS, 0, alone);

  killed(k, 4, dir);
  training t = completed(k, RANKS, STEPS, 2, dir);

  if (cases[k].same &&
      (t.result[0].loss != whole.result[0].loss || t.count[0] != whole.count[0] ||
       memcmp(t.arrays[0], whole.arrays[0], (size_t)t.count[0] * sizeof(float)) != 0)) {
    fail_msg("%s: resumed to other bits", cases[k].exchange);
  }
  assert_string_equal(warned, "");
  end(&whole);
  end(&t);
}

/* That exactly these arrays were warned of, with the ranks that have them. */
static void check_warned(int k, const char *dropped)
{
  const char *at = dropped;
  int n = 0;

  for (const char *line = warned; *line != 0; line = strchr(line, '\n') + 1) {
    n++;
  }
  while (*at != 0) {
    const int length = (int)strcspn(at, " ");
    char array[128];

    (void)snprintf(array, sizeof array, "'train.kept.%.*s' of the checkpoint", length, at);
    if (strstr(warned, array) == NULL || strstr(warned, "on 4 ranks") == NULL) {
      fail_msg("%s: no warning has \"%s\": %s", cases[k].exchange, array, warned);
    }
    at += length + 1;
    n--;
  }
  if (n != 0) {
    fail_msg("%s: other warnings: %s", cases[k].exchange, warned);
  }
}

/* One rank drops what any policy keeps, and says so. */
static void check_alone(int k, int writers)
{
  const char *const from = cases[k].exchange + strspn(cases[k].exchange, "{");
  const int length = (int)strcspn(from, ":");
  const weir_exchange_desc *policy = NULL;
  char name[64], array[128];

  (void)snprintf(name, sizeof name, "%.*s", length, from);
  assert_ok(weir_exchange_find(name, &policy));
  if (policy->keep == NULL) {
    assert_string_equal(warned, "");
    return;
  }
  (void)snprintf(array, sizeof array, "'train.kept.%s.residual' of the checkpoint", name);
  assert_non_null(strstr(warned, array));
  assert_non_null(strstr(warned, "a run on one rank exchanges nothing"));
  (void)snprintf(array, sizeof array, "on %d ranks", writers);
  assert_non_null(strstr(warned, array));
}

/* What 3 ranks refuse leaves the checkpoint to 2. */
static void resume_on_others(int k, const char *dir)
{
  const bool refused = cases[k].refuses != NULL;
  training t = {.k = k};

  if (refused) {
    t = run(k, 3, STEPS + 1, NEVER, dir);
    for (int r = 0; r < 3; r++) {
      assert_int_equal(t.status[r], WEIR_ERR_CONFIG);
      assert_non_null(strstr(t.text[r], cases[k].refuses));
    }
  }
  t = completed(k, refused ? 2 : 3, STEPS + 1, STEPS, dir);
  check_warned(k, cases[k].dropped);
  end(&t);
  t = completed(k, 1, STEPS + 2, STEPS + 1, dir);
  check_alone(k, refused ? 2 : 3);
  end(&t);
}

static void killed_runs_resume_on_any_number_of_ranks(void **state)
{
  char dir[PATH];

  for (int k = 0; k < CASES; k++) {
    new_dir(dir);
    resume_killed(k, dir);
    resume_on_others(k, dir);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(killed_runs_resume_on_any_number_of_ranks),
  };

  weir_log_set_level(WEIR_LOG_WARN);
  weir_log_set_sink(note_warning, NULL);
  weir_check_mkdir(folder, sizeof folder);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(folder);
  return failed;
}
