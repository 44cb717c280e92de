/* optim_shards.c - trainings on ranks that are threads, of which each has a shard of the
 * optimiser's state, or of gradients too: the weights of one rank that has all, memory, checkpoints
 * that any number of ranks goes on from. */
#include <math.h>
#include <stdlib.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "comm/weir_inproc.h"
#include "support/train/ranks_check.h"

enum { SAMPLES = 8, MAX_RANKS = 4, PATH = 512 };

static char folder[256];
static int runs; /* names of folders */

/* A training, and what its ranks came to; each has its own elements. */
typedef struct training {
  weir_grid grid;
  const char *const *sets; /* NULL-terminated */
  int size;                /* voxels of a sample along each dimension */
  bool describes;          /* fills cost */
  char dir[PATH];
  weir_status status[MAX_RANKS];
  char text[MAX_RANKS][256];
  weir_train_result result[MAX_RANKS];
  double *weights[MAX_RANKS];                                     /* [flat] */
  int64_t flat[MAX_RANKS], state[MAX_RANKS], gradient[MAX_RANKS]; /* elements in the store */
  weir_comm_count sent[MAX_RANKS][WEIR_COMM_USES];
  int64_t stored[MAX_RANKS]; /* bytes */
  weir_train_cost cost[MAX_RANKS];
} training;
#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define USUAL                                                                           \
  "batch=8", "steps=6", "compare_every=2", "validate_every=2", "checkpoint.format=raw", \
      "checkpoint.every=3", "optim.schedule.lr=0.01", "keep_best=false"

static const weir_grid one = {4, {1, 1, 1, 1}}, grids[] = {{4, {2, 1, 1, 1}},
                                                           {4, {1, 2, 1, 1}},
                                                           {4, {4, 1, 1, 1}},
                                                           {4, {2, 2, 1, 1}}};
enum { GRIDS = sizeof grids / sizeof grids[0] };

static int ranks_of(const weir_grid *g)
{
  return g->extent[0] * g->extent[1] * g->extent[2] * g->extent[3];
}

static int64_t elements_of(const weir_store *store, const char *name)
{
  const weir_tensor *t = weir_store_find(store, name);

  return t != NULL ? weir_tensor_numel(t) : 0;
}

static weir_status keep(training *t, int rank, const weir_store *store)
{
  const weir_tensor *w = NULL;

  WEIR_TRY(weir_store_read(store, WEIR_PARAMS_FLAT, &w));
  t->flat[rank] = weir_tensor_numel(w);
  t->gradient[rank] = elements_of(store, "train.gradient");
  t->stored[rank] = weir_store_bytes(store);
  for (int64_t i = 0; i < weir_store_count(store); i++) {
    const char *name = weir_store_name(store, i);

    t->state[rank] += strncmp(name, "optim.", 6) == 0 ? elements_of(store, name) : 0;
  }
  WEIR_TRY(weir_alloc(t->flat[rank], sizeof(double), (void **)&t->weights[rank]));
  memcpy(t->weights[rank], w->data, weir_tensor_bytes(w));
  return WEIR_OK;
}

static weir_status train(weir_comm *c, training *t)
{
  volume v = {.dtype = WEIR_F64, .size = {t->size, t->size, t->size}, .blocks = 1};
  const weir_train_task task = volume_task(&v, SAMPLES, 3);
  const weir_dist dist = {.comm = c, .grid = t->grid};
  const int rank = weir_comm_rank(c);
  weir_params *params = NULL;
  weir_store *store = NULL;
  weir_config *config = NULL;
  weir_train_cfg cfg;
  weir_exec_cfg exec;
  weir_status status;
  int n = 0;

  while (t->sets[n] != NULL) {
    n++;
  }
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR; /* no compiler */
  const weir_plan_opts opts = {.exec = &exec, .threads = 1, .dist = &dist};

  WEIR_TRY_GOTO(weir_config_load(weir_train_opts, sizeof cfg, NULL, 0, t->sets, n, &cfg, &config),
                done);
  if (t->describes) {
    WEIR_TRY_GOTO(weir_train_describe(&task, &cfg, &opts, NULL, &t->cost[rank]), done);
  }
  WEIR_TRY_GOTO(weir_params_create(task.dtype, &params), done);
  WEIR_TRY_GOTO(weir_store_create(&store), done);
  WEIR_TRY_GOTO(weir_train_prepare(&task, cfg.seed, params, store), done);
  v.context = store;
  WEIR_TRY_GOTO(weir_train_run(&task, &cfg, &opts, params, store, t->dir, &t->result[rank]), done);
  for (int u = 0; u < WEIR_COMM_USES; u++) {
    t->sent[rank][u] = weir_comm_counted(c, (weir_comm_use)u);
  }
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
  cfg.tree_max_bytes = 0; /* sums as of large buffers */
  weir_comm_configure(c, &cfg);
  t->status[rank] = train(c, t);
  (void)snprintf(t->text[rank], sizeof t->text[rank], "%s", weir_last_message());
  return WEIR_OK;
}

enum { SMALL = 4, LARGE = 12 };
static int size = SMALL;
static bool describes;

static training try_in(const char *dir, const weir_grid *grid, const char *const *sets)
{
  training t = {.grid = *grid, .sets = sets, .size = size, .describes = describes};

  (void)snprintf(t.dir, sizeof t.dir, "%s", dir);
  assert_ok(weir_inproc_run(&(weir_inproc){.ranks = ranks_of(grid), .seed = 3}, train_on_rank, &t));
  return t;
}

static void new_dir(char dir[PATH])
{
  (void)snprintf(dir, PATH, "%s/run%d", folder, runs++);
}

/* Weights are equal on all ranks to the bit. */
static training trained_in(const char *dir, const weir_grid *grid, const char *const *sets)
{
  training t = try_in(dir, grid, sets);

  for (int r = 0; r < ranks_of(grid); r++) {
    if (t.status[r] != WEIR_OK) {
      fail_msg("rank %d: %s", r, t.text[r]);
    }
    assert_int_equal(t.flat[r], t.flat[0]);
    assert_memory_equal(t.weights[r], t.weights[0], (size_t)t.flat[0] * sizeof(double));
  }
  return t;
}

static training trained(const weir_grid *grid, const char *const *sets)
{
  char dir[PATH];

  new_dir(dir);
  return trained_in(dir, grid, sets);
}

static void end(training *t)
{
  for (int r = 0; r < MAX_RANKS; r++) {
    weir_free(&t->weights[r]);
  }
}

static void assert_same(const char *what, const training *a, const training *b, double within)
{
  assert_int_equal(a->flat[0], b->flat[0]);
  assert_int_equal(weir_compare(what, WEIR_F64, a->weights[0], b->weights[0], a->flat[0],
                                (weir_tolerance){within, within}),
                   0);
  assert_true(fabs(a->result[0].loss - b->result[0].loss) <= within);
  assert_true(fabs(a->result[0].valid_loss - b->result[0].valid_loss) <= within);
}

/* ---- Tests ---- */

/* optim.shard by stage of ZeRO. */
enum { STATE = 1, GRADIENTS, PARAMETERS };
static const char *const stages[] = {"optim.shard=none", "optim.shard=state",
                                     "optim.shard=gradients", "optim.shard=parameters"};

/* Moments and the average, and gradients: each rank has its share of the elements, no more, and as
 * many bytes as `describe` says; parameters and the best ones are complete again after the
 * training, which no longer keeps a copy of its shard. */
static void assert_shares(const training *t, int stage, int states)
{
  const int ranks = ranks_of(&t->grid);

  for (int r = 0; r < ranks; r++) {
    const int64_t share = t->flat[0] / ranks + (r < t->flat[0] % ranks);
    const int64_t more =
        stage == PARAMETERS ? (2 * t->flat[0] - 3 * share) * (int64_t)sizeof(double) : 0;

    assert_true(!t->describes || t->stored[r] == t->cost[r].stored_bytes + more);
    assert_int_equal(t->state[r], states * share);
    assert_int_equal(t->gradient[r], stage >= GRADIENTS ? share : t->flat[0]);
  }
}

/* With clipping by the norm of all ranks and an average. */
static void weights_are_those_of_one_rank(void **state)
{
#define BY_ADAM                                                                                    \
  "batch=8", "steps=6", "compare_every=2", "validate_every=2", "checkpoint.format=raw",            \
      "checkpoint.every=3", "optim.schedule.lr=0.01", "keep_best=true", "optim.clip.max_norm=0.5", \
      "optim.average.decay=0.9"
  training whole = trained(&one, SETS(BY_ADAM));

  for (int g = 0; g < GRIDS; g++) {
    describes = g == 2;
    for (int stage = STATE; stage <= PARAMETERS; stage++) {
      training t = trained(&grids[g], SETS(BY_ADAM, stages[stage]));

      assert_same(stages[stage], &t, &whole, 1e-10);
      assert_shares(&t, stage, 3);
      end(&t);
    }
  }
  describes = false;
  end(&whole);
}

/* Shards cut layers, whose norms some rules need. */
static void every_rule_updates_its_shard(void **state)
{
  for (int k = 0; weir_rule_table[k] != NULL; k++) {
    char rule[64];

    (void)snprintf(rule, sizeof rule, "optim.rule={%s: {}}", weir_rule_table[k]->name);
    training whole = trained(&one, SETS(USUAL, rule));
    const int stage = k % 2 == 0 ? GRADIENTS : PARAMETERS;
    training t = trained(&grids[3], SETS(USUAL, rule, stages[stage]));

    assert_same(rule, &t, &whole, 1e-10);
    assert_shares(&t, stage, weir_rule_table[k]->n_state);
    end(&t);
    end(&whole);
  }
}

/* Two batches in a step. */
static void accumulated_gradients_are_those_of_one_rank(void **state)
{
  training whole = trained(&one, SETS(USUAL, "batch=4", "accumulate=2"));

  for (int g = 0; g < GRIDS; g += 3) {
    for (int stage = STATE; stage <= PARAMETERS; stage++) {
      training t = trained(&grids[g], SETS(USUAL, "batch=4", "accumulate=2", stages[stage]));

      assert_same("accumulated", &t, &whole, 1e-10);
      end(&t);
    }
  }
  end(&whole);
}

/* Bytes that rank 1 sends in a step, whatever for. */
static double sent_bytes(const weir_grid *grid, const char *shard)
{
#define QUIET USUAL, "compare_every=0", "validate_every=100", "checkpoint.every=100"
  training few = trained(grid, SETS(QUIET, shard, "steps=2"));
  training more = trained(grid, SETS(QUIET, shard, "steps=5"));
  double sum = 0;

  for (int u = 0; u < WEIR_COMM_USES; u++) {
    sum += (double)(more.sent[1][u].sent_bytes - few.sent[1][u].sent_bytes) / 3;
  }
  end(&few);
  end(&more);
  return sum;
}

/* A sum is a reduce-scatter and an allgather: that of the gradient, and that of the parameters.
 * Parameters in shards are gathered twice, but for what no derivative needs again. */
static void a_step_sends_as_much_as_a_sum(void **state)
{
  size = LARGE;
  const double sum = sent_bytes(&grids[2], "accumulate=1"),
               of_state = sent_bytes(&grids[2], stages[STATE]),
               of_gradients = sent_bytes(&grids[2], stages[GRADIENTS]),
               of_parameters = sent_bytes(&grids[2], stages[PARAMETERS]);

  size = SMALL;
  print_message("bytes of a step: %.0f, state in shards %.0f, gradients %.0f, parameters %.0f\n",
                sum, of_state, of_gradients, of_parameters);
  assert_true(fabs(of_state / sum - 1) < 0.02);
  assert_true(fabs(of_gradients / sum - 1) < 0.02);
  assert_true(of_parameters / sum < 1.52);
}

/* From a checkpoint of one grid and kind of shards to another; to the same bits on the same. */
static void any_ranks_resume(void **state)
{
#define AVERAGED USUAL, "optim.average.decay=0.9"
  enum { NONE = 0 };
  static const bool tried[4][4] = {[NONE] = {[STATE] = true},
                                   [STATE] = {[GRADIENTS] = true},
                                   [GRADIENTS] = {[NONE] = true, [PARAMETERS] = true},
                                   [PARAMETERS] = {[NONE] = true, [PARAMETERS] = true}};

  for (int from = NONE; from <= PARAMETERS; from++) {
    training straight = trained(&grids[2], SETS(AVERAGED, stages[from]));

    for (int to = NONE; to <= PARAMETERS; to++) {
      if (!tried[from][to]) {
        continue;
      }
      const weir_grid *grid = to == from ? &grids[2] : to == NONE ? &one : &grids[to % 2];
      char dir[PATH];

      new_dir(dir);
      training half = trained_in(dir, &grids[2], SETS(AVERAGED, stages[from], "steps=3"));
      training rest = trained_in(dir, grid, SETS(AVERAGED, stages[to]));

      assert_int_equal(rest.result[0].first, 3);
      assert_same("resumed", &rest, &straight, to == from ? 0 : 1e-10);
      end(&half);
      end(&rest);
    }
    end(&straight);
  }
}

/* Compressed and sparse sums have the gradient of all parameters on every rank; their updates may
 * be sharded. What they keep is in checkpoints beside the state. */
static void state_goes_with_policies_that_leave_ranks_equal(void **state)
{
  static const char *const policies[] = {"optim.exchange={powersgd: {}}",
                                         "optim.exchange={oktopk: {density: 0.2}}"};

  for (size_t k = 0; k < sizeof policies / sizeof policies[0]; k++) {
    char dir[PATH];

    new_dir(dir);
    training whole = trained(&grids[2], SETS(USUAL, policies[k]));
    training t = trained(&grids[2], SETS(USUAL, policies[k], "optim.shard=state"));
    training half =
        trained_in(dir, &grids[2], SETS(USUAL, policies[k], "optim.shard=state", "steps=3"));
    training rest = trained_in(dir, &grids[2], SETS(USUAL, policies[k], "optim.shard=state"));

    assert_same(policies[k], &t, &whole, 1e-10);
    assert_int_equal(rest.result[0].first, 3);
    assert_same(policies[k], &rest, &t, 0);
    end(&rest);
    end(&half);
    end(&t);
    end(&whole);
  }
}

static void other_policies_are_refused(void **state)
{
  static const struct {
    const char *policy, *shard, *text;
  } bad[] = {
      {"optim.exchange={local: {}}", "optim.shard=state", "use none, or the policy allreduce"},
      {"optim.exchange={powersgd: {}}", "optim.shard=gradients", "use state, or allreduce"},
      {"optim.exchange={oktopk: {}}", "optim.shard=parameters", "use state, or allreduce"}};

  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    char dir[PATH];

    new_dir(dir);
    training t = try_in(dir, &grids[0], SETS(USUAL, bad[k].policy, bad[k].shard));

    for (int r = 0; r < 2; r++) {
      assert_int_equal(t.status[r], WEIR_ERR_UNSUPPORTED);
      assert_non_null(strstr(t.text[r], bad[k].text));
    }
    end(&t);
  }
}

static void quiet(void *context, weir_log_level level, const char *module, const char *text)
{
  (void)context, (void)level, (void)module, (void)text;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_those_of_one_rank),
      cmocka_unit_test(accumulated_gradients_are_those_of_one_rank),
      cmocka_unit_test(every_rule_updates_its_shard),
      cmocka_unit_test(a_step_sends_as_much_as_a_sum),
      cmocka_unit_test(any_ranks_resume),
      cmocka_unit_test(state_goes_with_policies_that_leave_ranks_equal),
      cmocka_unit_test(other_policies_are_refused),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_log_set_sink(quiet, NULL); /* ranks that end the run say so */
  weir_check_mkdir(folder, sizeof folder);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(folder);
  return failed;
}
