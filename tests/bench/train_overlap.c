/* train_overlap.c - what the exchange of gradients costs a step of a U-Net on 2 ranks over a link
 * of 1 GB/s, and how much of that is taken off where buckets are exchanged while the backward pass
 * goes on. Ranks are threads of this process with one core each; the link is weir_inproc.link_bw.
 * The same steps with the sums inside the plan, parameter by parameter, are printed as well.
 * Weights after all steps are compared before any row is printed: they have to be the same bits.
 *
 *   train_overlap [BUCKET [HEIGHT [FILTERS [describe]]]]   MB, rows of the field, of the first
 * level
 */
#include <string.h>
#include "support/graph/store_check.h"
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "comm/weir_inproc.h"
#include "conf/weir_opt.h"
#include "nn/weir_loss.h"
#include "nn/weir_unet.h"
#include "train/weir_train.h"
#include "weir_bench.h"

enum { RANKS = 2, CHANNELS = 8, TURNS = 2, WAYS = 3, STEPS = 60, SETS = 16, TEXT = 96 };

#define LINK 1e9 /* bytes/s */
#define MB 1e6
#define GOAL 0.5 /* of the exchange */

/* How the sum over ranks is made. */
enum { AFTER, BUCKETS, IN_PLAN };

typedef struct bench {
  double bucket;
  int64_t height, filters;
  weir_train_input input[2];
  char exchange[WAYS][TEXT];
  bool describe;
  int way, turn;
  char dir[80];
  int64_t step; /* of the activities that are read, and when it began */
  double begun_s;
  double step_s[WAYS], exchange_s[WAYS]; /* the least of all steps of rank 0 */
  double complete;                       /* fraction of buckets at the end of the gradient */
  float *weights[WAYS];
  int64_t count;
} bench;

static weir_status build(weir_net *net, const void *opts, const weir_value *in, weir_value *loss)
{
  const bench *b = opts;
  weir_unet_opts unet;

  weir_opts_default(weir_unet_options, sizeof unet, &unet);
  unet.base = b->filters;
  unet.levels = 3;
  *loss = weir_loss_mse(net->graph, weir_unet(net, &unet, 1, in[0]), in[1], WEIR_NO_VALUE);
  return weir_graph_status(net->graph);
}

static weir_status fetch(void *context, const weir_train_batch *want, weir_tensor *const *tensor)
{
  (void)context;
  for (int k = 0; k < 2; k++) {
    const int64_t each = want->n > 0 ? weir_tensor_numel(tensor[k]) / want->n : 0;

    for (int64_t i = 0; i < want->n * each; i++) {
      const uint64_t at = (uint64_t)(want->sample[i / each] * each + i % each);

      ((float *)tensor[k]->data)[i] = (float)weir_random_uniform(3, 0, (uint32_t)k, at);
    }
  }
  return WEIR_OK;
}

static weir_train_task task_of(bench *b)
{
  b->input[0] = (weir_train_input){
      .name = "x", .dtype = WEIR_F32, .rank = 3, .shape = {b->height, 2 * b->height, CHANNELS}};
  b->input[1] = (weir_train_input){
      .name = "y", .dtype = WEIR_F32, .rank = 3, .shape = {b->height, 2 * b->height, 1}};
  return (weir_train_task){.name = "U-Net",
                           .dtype = WEIR_F32,
                           .input = b->input,
                           .n_inputs = 2,
                           .n_train = RANKS * STEPS,
                           .opts = b,
                           .build = build,
                           .fetch = fetch,
                           .context = b};
}

static weir_status train(weir_comm *c, bench *b)
{
  const char *const sets[] = {"batch=2",
                              "steps=60",
                              "timeline=60",
                              "compare_every=0",
                              "check_nan=false",
                              "keep_best=false",
                              "checkpoint.format=raw",
                              "checkpoint.every=1000000",
                              "optim.rule={momentum: {}}",
                              "optim.schedule.lr=0.001",
                              b->exchange[b->way]};
  const weir_train_task task = task_of(b);
  const weir_dist dist = {.comm = c, .grid = {1, {RANKS}}};
  const weir_plan_opts opts = {.threads = 1, .dist = &dist};
  weir_train_result result;
  weir_params *params = NULL;
  weir_store *store = NULL;
  weir_config *config = NULL;
  weir_train_cfg cfg;
  weir_status status;

  WEIR_TRY_GOTO(weir_config_load(weir_train_opts, sizeof cfg, NULL, 0, sets,
                                 (int)(sizeof sets / sizeof sets[0]), &cfg, &config),
                done);
  WEIR_TRY_GOTO(weir_params_create(task.dtype, &params), done);
  WEIR_TRY_GOTO(weir_store_create(&store), done);
  WEIR_TRY_GOTO(weir_train_prepare(&task, cfg.seed, params, store), done);
  if (b->describe) {
    status = weir_train_describe(&task, &cfg, &opts, weir_comm_rank(c) == 0 ? stderr : NULL, NULL);
    goto done;
  }
  WEIR_TRY_GOTO(weir_train_run(&task, &cfg, &opts, params, store, b->dir, &result), done);
  if (weir_comm_rank(c) == 0) {
    const weir_tensor *bank = check_stored(store, WEIR_PARAMS_FLAT);

    b->count = weir_tensor_numel(bank);
    if (b->weights[b->way] == NULL) {
      WEIR_TRY_GOTO(weir_alloc(b->count, sizeof(float), (void **)&b->weights[b->way]), done);
    }
    memcpy(b->weights[b->way], bank->data, weir_tensor_bytes(bank));
  }
done:
  weir_params_destroy(&params);
  weir_store_destroy(&store);
  weir_config_destroy(&config);
  return status;
}

static weir_status body(weir_comm *c, void *context)
{
  weir_comm_cfg cfg;

  weir_opts_default(weir_comm_opts, sizeof cfg, &cfg);
  cfg.stall = WEIR_STALL_IGNORE;
  weir_comm_configure(c, &cfg);
  return train(c, context);
}

/* An activity of rank 0: the step ends with its last computation, the update. */
static void take(bench *b, int64_t step, const char *what, double begin_s, double end_s)
{
  if (step != b->step) {
    b->step = step;
    b->begun_s = -1;
  }
  if (strcmp(what, "exchange") == 0) {
    b->exchange_s[b->way] = fmin(b->exchange_s[b->way], end_s - begin_s);
  } else if (strcmp(what, "computing") == 0 && b->begun_s < 0) {
    b->begun_s = begin_s;
  }
  const bool whole = b->way == IN_PLAN ? begin_s == b->begun_s : begin_s > b->begun_s;

  if (strcmp(what, "computing") == 0 && whole && step > 1) {
    b->step_s[b->way] = fmin(b->step_s[b->way], end_s - b->begun_s);
  }
}

static void listen(void *context, const char *name, const weir_field *fields, int n)
{
  bench *b = context;
  double begin_s = 0, end_s = 0;
  int64_t rank = 1, step = 0;
  const char *what = "";

  for (int i = 0; i < n; i++) {
    const weir_field *f = &fields[i];

    rank = strcmp(f->key, "rank") == 0 ? f->integer : rank;
    step = strcmp(f->key, "step") == 0 ? f->integer : step;
    what = strcmp(f->key, "what") == 0 ? f->text : what;
    begin_s = strcmp(f->key, "begin_s") == 0 ? f->real : begin_s;
    end_s = strcmp(f->key, "end_s") == 0 ? f->real : end_s;
    if (strcmp(name, "exchange") == 0 && strcmp(f->key, "complete") == 0) {
      b->complete = f->real;
    }
  }
  if (strcmp(name, "activity") == 0 && rank == 0) {
    take(b, step, what, begin_s, end_s);
  }
}

static void run(bench *b, const char *folder)
{
  const weir_inproc how = {
      .ranks = RANKS, .concurrent = true, .fails_together = true, .link_bw = LINK};

  (void)snprintf(b->dir, sizeof b->dir, "%s/%d", folder, b->turn * WAYS + b->way);
  bench_must(weir_inproc_run(&how, body, b));
}

static void compare(const bench *b)
{
  for (int way = 1; way < WAYS; way++) {
    if (memcmp(b->weights[0], b->weights[way], (size_t)b->count * sizeof(float)) != 0) {
      bench_must(weir_fail(WEIR_ERR_NUMERIC, "weights differ: %s and %s", b->exchange[0],
                           b->exchange[way]));
    }
  }
}

static void row(const bench *b, const char *what, const char *against, double reference, double own,
                int more, double goal)
{
  char work[128];

  (void)snprintf(work, sizeof work, "U-Net %.3g MB on 2 ranks over 1 GB/s: %s",
                 (double)b->count * sizeof(float) / MB, what);
  bench_row(work, against, reference * 1e3, own * 1e3, "ms", more, goal);
}

static void report(const bench *b)
{
  row(b, "exchange taken off a step by overlap", "exchange without", b->exchange_s[AFTER],
      b->step_s[AFTER] - b->step_s[BUCKETS], 1, GOAL);
  row(b, "exchange left after the gradient", "without overlap", b->exchange_s[AFTER],
      b->exchange_s[BUCKETS], 0, 1 / GOAL);
  row(b, "a step in buckets", "without overlap", b->step_s[AFTER], b->step_s[BUCKETS], 0, 0);
  row(b, "a step in buckets", "sums in the plan", b->step_s[IN_PLAN], b->step_s[BUCKETS], 0, 0);
  fprintf(stderr, "train_overlap: %.3g of the buckets complete at the end of the gradient\n",
          b->complete);
}

int main(int argc, char **argv)
{
  char folder[64];
  bench b = {.bucket = argc > 1 ? strtod(argv[1], NULL) : 4,
             .height = argc > 2 ? strtoll(argv[2], NULL, 10) : 16,
             .filters = argc > 3 ? strtoll(argv[3], NULL, 10) : 32,
             .describe = argc > 4};

  weir_check_mkdir(folder, sizeof folder);
  (void)snprintf(b.exchange[AFTER], TEXT,
                 "optim.exchange={allreduce: {bucket: 0, in_plan: false}}");
  (void)snprintf(b.exchange[BUCKETS], TEXT,
                 "optim.exchange={allreduce: {bucket: %g, in_plan: false}}", b.bucket);
  (void)snprintf(b.exchange[IN_PLAN], TEXT, "optim.exchange=allreduce");
  weir_log_set_level(WEIR_LOG_WARN);
  weir_events_subscribe(listen, &b);
  for (int way = 0; way < WAYS; way++) {
    b.step_s[way] = b.exchange_s[way] = INFINITY;
  }
  for (b.turn = 0; b.turn < (b.describe ? 1 : TURNS); b.turn++) {
    for (b.way = 0; b.way < WAYS; b.way++) {
      run(&b, folder);
    }
  }
  if (!b.describe) {
    compare(&b);
    report(&b);
  }
  for (int way = 0; way < WAYS; way++) {
    weir_free(&b.weights[way]);
  }
  weir_check_rmdir(folder);
  return 0;
}
