/* start.c - how the commands of the program start (app/weir_job.h), and their provenance. */
#include "check.h"
#include "device/weir_parallel.h"
#include "commands.h"

static weir_status complete(weir_job *j)
{
  const ps_cfg *const cfg = j->cfg;

  j->seed = cfg->seed;
  WEIR_TRY(ps_check(j->cli, cfg, j->config));
  return weir_cpu_load(cfg->exec.machine);
}

const weir_program ps_program = {.complete = complete};

weir_status ps_start(weir_job *j, const char *owner)
{
  WEIR_TRY(weir_job_begin(j, owner, false));
  return weir_run_dir_commit(&j->dir);
}

weir_status ps_write_provenance(const weir_cli *cli, const ps_cfg *cfg, const char *const *inputs,
                                int n)
{
  return weir_job_provenance(cli, cfg->seed, &(weir_provenance){.inputs = inputs, .n_inputs = n});
}
