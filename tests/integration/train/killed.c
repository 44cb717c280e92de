/* killed.c - trains a small network in a folder and prints the digest of all that it ends with:
 *   train_killed DIR STEPS THREADS */
#include <stdio.h>
#include <stdlib.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "support/train/train_check.h"
#include "support/graph/store_check.h"

/* Array by array: the digest of a digest and what follows. */
static void print_digest(const weir_store *s)
{
  char hex[65] = "", text[65 + 256 + 65];

  for (int64_t i = 0; i < weir_store_count(s); i++) {
    const char *name = weir_store_name(s, i);
    const weir_tensor *t = check_stored(s, name);
    char own[65];

    weir_sha256(t->data, (size_t)weir_tensor_numel(t) * weir_dtype_size(t->dtype), own);
    snprintf(text, sizeof text, "%s %s %s", hex, name, own);
    weir_sha256(text, strlen(text), hex);
  }
  printf("%s\n", hex);
}

static weir_status train(const char *dir, const char *steps, int threads)
{
  toy t = {.noise = true, .hidden = 30};
  const weir_train_task task = toy_task(&t, 70, 20);
  const char *const sets[] = {steps, "batch=8", "checkpoint.every=1", "optim.average.decay=0.99"};
  weir_exec_cfg exec;
  const weir_plan_opts opts = {.exec = &exec, .threads = threads};
  weir_config *config = NULL;
  weir_train_cfg cfg;
  weir_params *params = NULL;
  weir_store *store = NULL;
  weir_train_result result;
  weir_status status;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR; /* no compiler */
  WEIR_TRY(weir_config_load(weir_train_opts, sizeof cfg, NULL, 0, sets, 4, &cfg, &config));
  WEIR_TRY_GOTO(weir_params_create(task.dtype, &params), done);
  WEIR_TRY_GOTO(weir_store_create(&store), done);
  WEIR_TRY_GOTO(weir_train_prepare(&task, cfg.seed, params, store), done);
  WEIR_TRY_GOTO(weir_train_run(&task, &cfg, &opts, params, store, dir, &result), done);
  fprintf(stderr, "began after step %d, ended after step %d\n", (int)result.first,
          (int)result.step);
  print_digest(store);
done:
  weir_params_destroy(&params);
  weir_store_destroy(&store);
  weir_config_destroy(&config);
  return status;
}

int main(int argc, char **argv)
{
  char steps[64];

  if (argc != 4) {
    fprintf(stderr, "train_killed DIR STEPS THREADS\n");
    return 2;
  }
  weir_log_set_level(WEIR_LOG_WARN);
  snprintf(steps, sizeof steps, "steps=%s", argv[2]);
  const weir_status status = train(argv[1], steps, atoi(argv[3]));

  if (status != WEIR_OK) {
    weir_print_trace(stderr);
  }
  return (int)status;
}
