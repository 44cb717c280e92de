/* shard_memory.c - what a rank of a training allocates, where the arrays of the update are in
 * shards: as many bytes as `describe` says. */
#include <math.h>
#include <stdlib.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "comm/weir_comm.h"
#include "nn/weir_layer.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "train/weir_train.h"

/* Layers of WIDE x WIDE weights, which are most of the memory, and a few samples. */
enum { WIDE = 1536, LAYERS = 8, SAMPLES = 8, STAGES = 4, PATH = 512 };
#define SETS                                                                        \
  "batch=8", "steps=2", "validate_every=100", "compare_every=0", "keep_best=false", \
      "checkpoint.format=raw", "checkpoint.every=100", "optim.schedule.lr=0.01"

static weir_comm *comm;
static char folder[256];

static weir_status build(weir_net *net, const void *opts, const weir_value *in, weir_value *loss)
{
  const weir_nn_dense_spec layer = {.units = WIDE, .activation = {WEIR_ACTIVATION_LEAKY_RELU, 0.3}};
  weir_value x = in[0];
  char name[32];

  for (int i = 0; i < LAYERS; i++) {
    (void)snprintf(name, sizeof name, "dense%d", i + 1);
    x = weir_nn_dense(net, name, &layer, x);
  }
  *loss = weir_sum(net->graph, weir_square(net->graph, x), -1);
  return weir_graph_status(net->graph);
}

/* context: the bytes allocated between two steps, when all plans are there. */
static weir_status fetch(void *context, const weir_train_batch *want, weir_tensor *const *tensor)
{
  for (int64_t i = 0; i < want->n * WIDE; i++) {
    ((float *)tensor[0]->data)[i] = (float)(i % 7) / 100;
  }
  *(int64_t *)context = weir_alloc_bytes();
  return WEIR_OK;
}

/* A training, and the bytes that it takes and that `describe` says. */
static weir_status train(const char *shard, int64_t *is, weir_train_cost *says)
{
  const char *const sets[] = {SETS, shard};
  const weir_dist dist = {.comm = comm, .grid = {4, {weir_comm_size(comm), 1, 1, 1}}};
  const weir_plan_opts opts = {.threads = 1, .dist = &dist};
  weir_train_input x = {.name = "x", .dtype = WEIR_F32, .rank = 1, .shape = {WIDE}};
  const weir_train_task task = {.name = "wide",
                                .dtype = WEIR_F32,
                                .input = &x,
                                .n_inputs = 1,
                                .n_train = SAMPLES,
                                .build = build,
                                .fetch = fetch,
                                .context = is};
  const int64_t before = weir_alloc_bytes();
  weir_params *params = NULL;
  weir_store *store = NULL;
  weir_config *config = NULL;
  weir_train_result result;
  weir_train_cfg cfg;
  weir_status status;
  char dir[PATH];

  (void)snprintf(dir, sizeof dir, "%s/%s", folder, shard);
  WEIR_TRY_GOTO(weir_config_load(weir_train_opts, sizeof cfg, NULL, 0, sets,
                                 sizeof sets / sizeof sets[0], &cfg, &config),
                done);
  WEIR_TRY_GOTO(weir_train_describe(&task, &cfg, &opts, NULL, says), done);
  WEIR_TRY_GOTO(weir_params_create(task.dtype, &params), done);
  WEIR_TRY_GOTO(weir_store_create(&store), done);
  WEIR_TRY_GOTO(weir_train_prepare(&task, cfg.seed, params, store), done);
  WEIR_TRY_GOTO(weir_train_run(&task, &cfg, &opts, params, store, dir, &result), done);
  *is -= before;
done:
  weir_params_destroy(&params);
  weir_store_destroy(&store);
  weir_config_destroy(&config);
  return status;
}

static void ranks_have_the_memory_that_describe_says(void **state)
{
  static const char *const shards[STAGES] = {"optim.shard=none", "optim.shard=state",
                                             "optim.shard=gradients", "optim.shard=parameters"};
  double bytes[STAGES];

  for (int stage = 0; stage < STAGES; stage++) {
    weir_train_cost cost = {.flops = 0};
    int64_t is = 0;

    assert_ok(train(shards[stage], &is, &cost));
    const double says = (double)(cost.stored_bytes + cost.plan_bytes);

    bytes[stage] = (double)is;
    print_message("%s: %.1f MB, stored %.1f and plans %.1f by describe\n", shards[stage],
                  bytes[stage] / 1e6, (double)cost.stored_bytes / 1e6,
                  (double)cost.plan_bytes / 1e6);
    assert_true(fabs(bytes[stage] / says - 1) < 0.05);
    assert_true(stage < 2 || bytes[stage] < bytes[stage - 1]);
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranks_have_the_memory_that_describe_says),
  };

  if (weir_comm_open(&comm) != WEIR_OK) {
    return 1;
  }
  weir_check_mkdir(folder, sizeof folder);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(folder);
  weir_comm_close(&comm);
  return failed;
}
