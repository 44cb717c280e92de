/* start.c - what every command begins and ends with. */
#include <stdio.h>
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_provenance.h"
#include "check.h"
#include "device/weir_device.h"
#include "device/weir_parallel.h"
#include "commands.h"

weir_status ps_configure(const weir_cli *cli, ps_cfg *cfg, weir_config **config)
{
  WEIR_TRY(weir_device_check(cli->device));
  if (cli->threads > 0) {
    weir_threads_set(cli->threads);
  }
  WEIR_TRY(weir_cli_config(cli, cfg, config));
  weir_status status = ps_check(cli, cfg, *config);
  status = status == WEIR_OK ? weir_cpu_load(cfg->exec.machine) : status;
  if (status != WEIR_OK) {
    weir_config_destroy(config);
  }
  return status;
}

weir_status ps_begin(const weir_cli *cli, const char *owner, const ps_cfg *cfg,
                     const weir_config *config, weir_run_dir *dir)
{
  WEIR_TRY(weir_run_dir_begin(cli, config, owner, dir));
  weir_event("start", WEIR_TEXT("program", "physio_stream"), WEIR_TEXT("command", cli->command),
             WEIR_INT("seed", cfg->seed));
  return WEIR_OK;
}

void ps_abandon(weir_run_dir *dir)
{
  if (weir_run_dir_rollback(dir)) {
    weir_info(dir->cli->command, "the earlier results in %s are unchanged", dir->cli->out);
  }
}

weir_status ps_start(const weir_cli *cli, const char *owner, ps_cfg *cfg, weir_config **config)
{
  weir_status status = WEIR_OK;
  weir_run_dir dir;

  WEIR_TRY(ps_configure(cli, cfg, config));
  WEIR_TRY_GOTO(ps_begin(cli, owner, cfg, *config, &dir), done);
  WEIR_TRY_GOTO(weir_run_dir_commit(&dir), done);
done:
  if (status != WEIR_OK) {
    weir_config_destroy(config);
  }
  return status;
}

weir_status ps_write_provenance(const weir_cli *cli, const ps_cfg *cfg, const char *const *inputs,
                                int n)
{
  char program[64], path[PS_PATH];

  (void)snprintf(program, sizeof program, "physio_stream %s", cli->command);
  WEIR_TRY(weir_path_join(cli->out, "provenance.json", path, sizeof path));
  return weir_provenance_write(path, &(weir_provenance){.program = program,
                                                        .argc = cli->argc,
                                                        .argv = cli->argv,
                                                        .seed = (uint64_t)cfg->seed,
                                                        .threads = weir_threads_get(),
                                                        .inputs = inputs,
                                                        .n_inputs = n});
}
