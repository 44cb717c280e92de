/* replicas.c - one training on ranks that are threads: sums of gradients inside the plan and by the
 * policy optim.exchange give the weights of one rank, and the same bits on as many ranks, whatever
 * the order in which these run and their messages arrive; a death or a loss ends all ranks.
 *
 *   mpi_replicas                     the tests
 *   mpi_replicas threads RANKS DIR   the digests of the weights on so many threads
 *   mpi_replicas ranks RANKS DIR     the same on the ranks of mpiexec: replicas.sh */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "comm/weir_inproc.h"
#include "support/train/ranks_check.h"
#include "support/graph/store_check.h"

enum { SAMPLES = 8, MAX_RANKS = 4, PATH = 512, STEPS = 5, WAYS = 4, GRIDS = 6 };

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) /* several times as slow */
enum { FEWER = 4 };
#else
enum { FEWER = 1 };
#endif

static char folder[256];
static int runs; /* names of folders */

/* The step is one batch of all samples, or two of half of them. With two batches in a step but
 * samples for one, the gradient of that one is exchanged by the policy; in buckets, while the rest
 * of it is computed. */
static const struct {
  const char *name, *batch, *accumulate, *exchange;
} ways[WAYS] = {
    {"in the plan", "batch=8", "accumulate=1", "optim.exchange=allreduce"},
    {"by the policy", "batch=8", "accumulate=2", "optim.exchange={allreduce: {bucket: 0}}"},
    {"in buckets", "batch=8", "accumulate=1",
     "optim.exchange={allreduce: {bucket: 0.0007, in_plan: false}}"},
    {"in buckets, of two batches", "batch=4", "accumulate=2",
     "optim.exchange={allreduce: {bucket: 0.002}}"}};

static const weir_grid grids[GRIDS] = {{4, {1, 1, 1, 1}}, {4, {2, 1, 1, 1}}, {4, {1, 2, 1, 1}},
                                       {4, {4, 1, 1, 1}}, {4, {2, 2, 1, 1}}, {4, {1, 2, 1, 2}}};

static int ranks_of(const weir_grid *g)
{
  return g->extent[0] * g->extent[1] * g->extent[2] * g->extent[3];
}

/* A training, and what its ranks came to; each has its own elements. */
typedef struct training {
  weir_grid grid;
  int way;
  bool norm; /* moments over the batch: two batches have others than one */
  double timeout;
  char dir[PATH];
  weir_status status[MAX_RANKS];
  char text[MAX_RANKS][256];
  double loss[MAX_RANKS];
  float *weights[MAX_RANKS]; /* [count] with the state of the update rule */
  int64_t count[MAX_RANKS];
} training;

static training begin(const weir_grid *grid, int way, bool norm)
{
  training t = {.grid = *grid, .way = way, .norm = norm, .timeout = 60};

  (void)snprintf(t.dir, sizeof t.dir, "%s/run%d", folder, runs++);
  return t;
}

static void end(training *t)
{
  for (int r = 0; r < MAX_RANKS; r++) {
    weir_free(&t->weights[r]);
  }
}

/* Not the sums of gradients that only the policy has. */
static bool is_kept(const weir_store *store, int64_t i)
{
  const char *name = weir_store_name(store, i);

  return check_stored(store, name)->dtype == WEIR_F32 &&
         strncmp(name, "train.gradient", strlen("train.gradient")) != 0;
}

static weir_status keep(training *t, int rank, const weir_store *store)
{
  int64_t n = 0;

  for (int64_t i = 0; i < weir_store_count(store); i++) {
    const weir_tensor *x = check_stored(store, weir_store_name(store, i));

    t->count[rank] += is_kept(store, i) ? weir_tensor_numel(x) : 0;
  }
  WEIR_TRY(weir_alloc(t->count[rank], sizeof(float), (void **)&t->weights[rank]));
  for (int64_t i = 0; i < weir_store_count(store); i++) {
    const weir_tensor *x = check_stored(store, weir_store_name(store, i));

    if (is_kept(store, i)) {
      memcpy(t->weights[rank] + n, x->data, weir_tensor_bytes(x));
      n += weir_tensor_numel(x);
    }
  }
  return WEIR_OK;
}

static weir_status configure(const training *t, weir_train_cfg *cfg, weir_config **config)
{
  const char *const sets[] = {ways[t->way].batch,
                              ways[t->way].accumulate,
                              ways[t->way].exchange,
                              "steps=5",
                              "log_every=1",
                              "compare_every=2",
                              "validate_every=2",
                              "checkpoint.format=raw",
                              "checkpoint.every=3",
                              "optim.schedule.lr=0.01",
                              "optim.rule={momentum: {weight_decay: 0.01}}"};

  return weir_config_load(weir_train_opts, sizeof *cfg, NULL, 0, sets,
                          (int)(sizeof sets / sizeof sets[0]), cfg, config);
}

static weir_status train(weir_comm *c, training *t)
{
  volume v = {.dtype = WEIR_F32, .size = {8, 6, 8}, .blocks = 2, .norm = t->norm};
  const weir_train_task task = volume_task(&v, SAMPLES, 3);
  const weir_dist dist = {.comm = c, .grid = t->grid};
  const int rank = weir_comm_rank(c);
  weir_train_result result = {.loss = 0};
  weir_params *params = NULL;
  weir_store *store = NULL;
  weir_config *config = NULL;
  weir_train_cfg cfg;
  weir_exec_cfg exec;
  weir_status status;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR; /* no compiler */
  const weir_plan_opts opts = {.exec = &exec, .threads = 1, .dist = &dist};

  WEIR_TRY_GOTO(configure(t, &cfg, &config), done);
  WEIR_TRY_GOTO(weir_params_create(task.dtype, &params), done);
  WEIR_TRY_GOTO(weir_store_create(&store), done);
  WEIR_TRY_GOTO(weir_train_prepare(&task, cfg.seed, params, store), done);
  v.context = store;
  WEIR_TRY_GOTO(weir_train_run(&task, &cfg, &opts, params, store, t->dir, &result), done);
  t->loss[rank] = result.loss;
  status = keep(t, rank, store);
done:
  weir_params_destroy(&params);
  weir_store_destroy(&store);
  weir_config_destroy(&config);
  return status;
}

/* The body of a rank; the test judges how it ended. */
static weir_status train_on_rank(weir_comm *c, void *context)
{
  training *t = context;
  const int rank = weir_comm_rank(c);
  weir_comm_cfg cfg;

  weir_opts_default(weir_comm_opts, sizeof cfg, &cfg);
  cfg.timeout = t->timeout;
  weir_comm_configure(c, &cfg);
  t->status[rank] = train(c, t);
  (void)snprintf(t->text[rank], sizeof t->text[rank], "%s", weir_last_message());
  return WEIR_OK;
}

/* Replicas are equal to the bit. */
static training trained(const weir_grid *grid, int way, bool norm, const weir_inproc *how)
{
  training t = begin(grid, way, norm);
  weir_inproc run = *how;

  run.ranks = ranks_of(grid);
  assert_ok(weir_inproc_run(&run, train_on_rank, &t));
  for (int r = 0; r < run.ranks; r++) {
    if (t.status[r] != WEIR_OK) {
      fail_msg("rank %d of %d, %s: %s", r, run.ranks, ways[way].name, t.text[r]);
    }
    assert_true(t.count[r] > 0 && t.count[r] == t.count[0] && t.loss[r] == t.loss[0]);
    assert_memory_equal(t.weights[r], t.weights[0], (size_t)t.count[0] * sizeof(float));
  }
  return t;
}

static void quiet(void *context, weir_log_level level, const char *module, const char *text)
{
  (void)context, (void)level, (void)module, (void)text;
}

/* ---- Tests ---- */

static void weights_are_those_of_one_rank(void **state)
{
  const weir_tolerance within = {1e-5, 1e-5};
  training one = trained(&grids[0], 0, false, &(weir_inproc){.seed = 1});

  for (int g = 0; g < GRIDS; g += FEWER) {
    for (int way = 0; way < WAYS; way++) {
      training t = trained(&grids[g], way, false,
                           &(weir_inproc){.seed = (uint64_t)way, .concurrent = g % 3 == 1});

      assert_int_equal(t.count[0], one.count[0]);
      assert_near(t.loss[0], one.loss[0], 1e-5);
      assert_int_equal(weir_compare(ways[way].name, WEIR_F32, t.weights[0], one.weights[0],
                                    one.count[0], within),
                       0);
      end(&t);
    }
  }
  end(&one);
}

static void assert_same_bits(const training *a, const training *b)
{
  assert_true(a->count[0] == b->count[0] && a->loss[0] == b->loss[0]);
  assert_memory_equal(a->weights[0], b->weights[0], (size_t)b->count[0] * sizeof(float));
}

/* On as many ranks, in turns drawn by other seeds, all at once, and with delays; also in the plan
 * and by the policy: the mean over 8 samples has no rounding, so that it may come before the sum.
 */
static void bits_depend_on_the_ranks_alone(void **state)
{
  const weir_inproc_fault delay = {
      .event = WEIR_INPROC_DELAY, .from = -1, .to = -1, .share = 0.3, .min_s = 0.001, .max_s = 3};
  const weir_inproc_fault brief = {
      .event = WEIR_INPROC_DELAY, .from = -1, .to = -1, .share = 0.1, .max_s = 0.002};
  const weir_inproc hows[] = {{.seed = 3, .faults = &delay, .n_faults = 1},
                              {.seed = 5, .concurrent = true, .faults = &brief, .n_faults = 1}};

  for (int g = 1; g < GRIDS; g += 2 * FEWER) {
    training in_plan = trained(&grids[g], 0, true, &(weir_inproc){.concurrent = true});

    for (int way = 0; way < WAYS; way++) {
      training first = trained(&grids[g], way, true, &(weir_inproc){.seed = 1});

      for (size_t k = 0; k < sizeof hows / sizeof hows[0]; k++) {
        training t = trained(&grids[g], way, true, &hows[k]);

        assert_same_bits(&t, &first);
        end(&t);
      }
      if (way < 3) {
        assert_same_bits(&first, &in_plan);
      }
      end(&first);
    }
    end(&in_plan);
  }
}

/* A number of an event; NAN: it has none of that name. */
static double number_in(const char *line, const char *key)
{
  const char *at = strstr(line, key);

  return at != NULL ? strtod(at + strlen(key), NULL) : NAN;
}

/* Rank 0, as other ranks have no file. Every bucket begins before the plan of the gradient ends. */
static void one_rank_writes_events(void **state)
{
  char path[PATH], line[4096];
  int steps = 0, exchanges = 0;

  (void)snprintf(path, sizeof path, "%s/run.jsonl", folder);
  assert_ok(weir_events_open(path));
  training t = trained(&grids[4], 2, false, &(weir_inproc){.concurrent = true});

  end(&t);
  weir_events_close();
  FILE *f = fopen(path, "r");

  assert_non_null(f);
  while (fgets(line, sizeof line, f) != NULL) {
    steps += strstr(line, "\"event\": \"step\"") != NULL;
    if (strstr(line, "\"event\": \"exchange\"") != NULL) {
      exchanges++;
      assert_true(number_in(line, "\"buckets\": ") >= 3 * STEPS);
      assert_true(number_in(line, "\"early\": ") == 1);
      assert_in_range(100 * number_in(line, "\"complete\": "), 0, 100);
    }
  }
  (void)fclose(f);
  assert_int_equal(steps, STEPS);
  assert_int_equal(exchanges, 1);
}

/* The n-th message from one rank to another is the last of the one, or never arrives: no rank
 * trains to the end, each says why, and nothing of it stays in memory. */
static void assert_all_end(const weir_grid *grid, int way, const weir_inproc *how, double timeout,
                           bool *hit)
{
  training t = begin(grid, way, false);
  weir_inproc run = *how;
  const int64_t before = weir_alloc_bytes();
  int failed = 0;

  run.ranks = ranks_of(grid);
  t.timeout = timeout;
  assert_ok(weir_inproc_run(&run, train_on_rank, &t));
  for (int r = 0; r < run.ranks; r++) {
    failed += t.status[r] != WEIR_OK;
    assert_true(t.status[r] == WEIR_OK || t.status[r] == WEIR_ERR_EXTERNAL);
    assert_true(t.status[r] == WEIR_OK || t.text[r][0] != 0);
  }
  if (failed != 0 && failed != run.ranks) {
    fail_msg("%d of %d ranks failed, %s, message %lld", failed, run.ranks, ways[way].name,
             (long long)run.faults->first);
  }
  *hit = failed > 0;
  end(&t);
  assert_int_equal(weir_alloc_bytes(), before);
}

static void each_message_may_be_the_last(weir_inproc_event event)
{
  for (int g = 1; g < GRIDS; g += 4 * FEWER) { /* samples; depth and width */
    for (int way = 0; way < WAYS; way++) {
      bool hit = true;
      int64_t n = 0;

      while (hit) {
        const weir_inproc_fault fault = {
            .event = event, .from = 1, .to = 0, .first = n, .count = 1};

        assert_all_end(&grids[g], way, &(weir_inproc){.faults = &fault, .n_faults = 1}, 60, &hit);
        n += hit ? 1 + FEWER * n / 2 : 0;
      }
      assert_true(n > 8); /* messages of all parts of a training */
    }
  }
}

static void a_death_ends_all_ranks(void **state)
{
  each_message_may_be_the_last(WEIR_INPROC_DEATH);
}

static void a_loss_ends_all_ranks(void **state)
{
  each_message_may_be_the_last(WEIR_INPROC_LOSS);
}

/* On the clock of the machine. */
static void ranks_at_once_end_as_well(void **state)
{
  for (int k = 0; k < 4; k++) {
    const weir_inproc_fault fault = {.event = k % 2 == 0 ? WEIR_INPROC_DEATH : WEIR_INPROC_LOSS,
                                     .from = 1,
                                     .to = 0,
                                     .first = 5 + 7 * k,
                                     .count = 1};
    bool hit = false;

    assert_all_end(&grids[k < 2 ? 1 : 4], k % WAYS,
                   &(weir_inproc){.concurrent = true, .faults = &fault, .n_faults = 1}, 0.5, &hit);
    assert_true(hit);
  }
}

/* ---- Digests ---- */

static int print_digests(int ranks, weir_comm *c)
{
  int failed = 0;

  for (int g = 0; g < GRIDS; g++) {
    for (int way = 0; way < WAYS && ranks_of(&grids[g]) == ranks; way++) {
      training t = begin(&grids[g], way, true);
      const weir_inproc run = {.ranks = ranks, .concurrent = true};
      const weir_status status =
          c != NULL ? train_on_rank(c, &t) : weir_inproc_run(&run, train_on_rank, &t);
      const int rank = c != NULL ? weir_comm_rank(c) : 0;
      char hex[65] = "";

      failed += status != WEIR_OK || t.status[rank] != WEIR_OK;
      if (t.status[rank] != WEIR_OK) {
        (void)fprintf(stderr, "%s\n", t.text[rank]);
      } else if (rank == 0) {
        weir_sha256(t.weights[0], (size_t)t.count[0] * sizeof(float), hex);
        printf("grid %d x %d x %d x %d, %s: %s\n", grids[g].extent[0], grids[g].extent[1],
               grids[g].extent[2], grids[g].extent[3], ways[way].name, hex);
      }
      end(&t);
    }
  }
  return failed;
}

static int digests(const char *host, int ranks, const char *dir)
{
  weir_comm *c = NULL;

  (void)snprintf(folder, sizeof folder, "%s", dir);
  if (strcmp(host, "threads") == 0) {
    return print_digests(ranks, NULL);
  }
  if (weir_comm_open(&c) != WEIR_OK) {
    weir_print_trace(stderr);
    return 1;
  }
  const int failed = weir_comm_size(c) == ranks ? print_digests(ranks, c) : 1;

  weir_comm_close(&c);
  return failed;
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_those_of_one_rank),
      cmocka_unit_test(bits_depend_on_the_ranks_alone),
      cmocka_unit_test(one_rank_writes_events),
      cmocka_unit_test(a_death_ends_all_ranks),
      cmocka_unit_test(a_loss_ends_all_ranks),
      cmocka_unit_test(ranks_at_once_end_as_well),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  if (argc > 3) {
    return digests(argv[1], atoi(argv[2]), argv[3]);
  }
  weir_log_set_sink(quiet, NULL); /* ranks that end the run say so */
  weir_check_mkdir(folder, sizeof folder);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(folder);
  return failed;
}
