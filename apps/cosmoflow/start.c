/* start.c - steps that the commands share: configuration, run folder, provenance. */
#include <stdio.h>
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_provenance.h"
#include "check.h"
#include "device/weir_device.h"
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

weir_status cf_configure(const weir_cli *cli, cf_cfg *cfg, weir_config **config)
{
  WEIR_TRY(weir_device_check(cli->device));
  if (cli->threads > 0) {
    weir_threads_set(cli->threads);
  }
  WEIR_TRY(weir_cli_config(cli, cfg, config));
  rename_target(cfg);
  if (cli->n_args > 0) {
    cfg->source.input = (weir_string_list){(const char **)cli->args, cli->n_args};
  }
  weir_status status = cf_check(cli, cfg);

  status = status == WEIR_OK ? weir_cpu_load(cfg->exec.machine) : status;
  if (status != WEIR_OK) {
    weir_config_destroy(config);
  }
  return status;
}

void cf_tell_start(const weir_cli *cli, const cf_cfg *cfg)
{
  weir_event("start", WEIR_TEXT("program", "cosmoflow"), WEIR_TEXT("command", cli->command),
             WEIR_INT("seed", cfg->seed));
}

void cf_abandon(weir_run_dir *dir)
{
  if (weir_run_dir_rollback(dir)) {
    weir_info(dir->cli->command, "the earlier results in %s are unchanged", dir->cli->out);
  }
}

weir_status cf_with_run_dir(const weir_cli *cli,
                            weir_status (*work)(const weir_cli *cli, cf_cfg *cfg,
                                                weir_run_dir *dir))
{
  weir_config *config = NULL;
  weir_run_dir dir = {.cli = cli};
  weir_status status = WEIR_OK;
  cf_cfg cfg;

  WEIR_TRY(cf_configure(cli, &cfg, &config));
  WEIR_TRY_GOTO(weir_run_dir_begin(cli, config, cli->command, &dir), done);
  cf_tell_start(cli, &cfg);
  WEIR_TRY_GOTO(work(cli, &cfg, &dir), done);
done:
  if (status != WEIR_OK) {
    cf_abandon(&dir);
  }
  weir_config_destroy(&config);
  return status;
}

weir_status cf_write_provenance(const weir_cli *cli, const cf_cfg *cfg, const char *key,
                                const char *text)
{
  const weir_provenance_line line = {key, text};
  char program[64], path[CF_PATH];

  (void)snprintf(program, sizeof program, "cosmoflow %s", cli->command);
  WEIR_TRY(weir_path_join(cli->out, "provenance.json", path, sizeof path));
  return weir_provenance_write(path, &(weir_provenance){.program = program,
                                                        .argc = cli->argc,
                                                        .argv = cli->argv,
                                                        .seed = (uint64_t)cfg->seed,
                                                        .threads = weir_threads_get(),
                                                        .lines = &line,
                                                        .n_lines = 1});
}
