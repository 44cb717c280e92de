/* start.c - how the commands of the program start (app/weir_job.h), and their provenance. */
#include "base/weir_log.h"
#include "check.h"
#include "device/weir_parallel.h"
#include "estimator.h"
#include "commands.h"

/* Metrics are names of the task, not choices of the table: a former one is replaced here. */
static void rename_target(cf_cfg *cfg)
{
  const char **const metric = &cfg->train.target.metric;
  const char *const present = cf_metric_present_name(*metric);

  if (present != *metric) {
    weir_warn("conf", "the value %s of train.target.metric was renamed to %s", *metric, present);
    *metric = present;
  }
}

static weir_status complete(weir_job *j)
{
  const weir_cli *const cli = j->cli;
  cf_cfg *const cfg = j->cfg;

  j->seed = cfg->seed;
  rename_target(cfg);
  if (cli->n_args > 0) {
    cfg->source.input = (weir_string_list){(const char **)cli->args, cli->n_args};
  }
  WEIR_TRY(cf_check(cli, cfg));
  return weir_cpu_load(cfg->exec.machine);
}

const weir_program cf_program = {.complete = complete};

weir_status cf_write_provenance(const weir_cli *cli, const cf_cfg *cfg, const char *key,
                                const char *text)
{
  const weir_provenance_line line = {key, text};

  return weir_job_provenance(cli, cfg->seed, &(weir_provenance){.lines = &line, .n_lines = 1});
}
