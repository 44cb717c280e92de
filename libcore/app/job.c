/* job.c - see weir_job.h. */
#include <stdio.h>
#include "app/weir_job.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "device/weir_device.h"
#include "device/weir_parallel.h"

enum { PATH_SIZE = 4096 };

static weir_status configure(weir_job *j, const weir_program *program)
{
  const weir_cli *const cli = j->cli;

  WEIR_TRY(program->cpu_only ? weir_device_accept(cli->device, cli->app->name)
                             : weir_device_check(cli->device));
  if (cli->threads > 0) {
    weir_threads_set(cli->threads);
  }
  WEIR_TRY(weir_cli_config(cli, j->cfg, &j->config));
  return program->complete(j);
}

static weir_status agree(const weir_job *j, weir_status status)
{
  return j->comm != NULL ? weir_comm_agree(j->comm, status) : status;
}

weir_status weir_job_run(const weir_cli *cli, const weir_program *program, weir_comm *comm,
                         void *cfg, weir_status (*work)(weir_job *job))
{
  weir_job j = {.cli = cli, .comm = comm, .cfg = cfg, .dir = {.cli = cli}};
  weir_status status = configure(&j, program);

  WEIR_TRY_GOTO(agree(&j, status), done);
  WEIR_TRY_GOTO(work(&j), done);
done:
  if (status != WEIR_OK && weir_run_dir_rollback(&j.dir)) {
    weir_info(cli->command, "the earlier results in %s are unchanged", cli->out);
  }
  weir_config_destroy(&j.config);
  return status;
}

void weir_job_tell_start(const weir_cli *cli, int64_t seed)
{
  weir_event("start", WEIR_TEXT("program", cli->app->name), WEIR_TEXT("command", cli->command),
             WEIR_INT("seed", seed));
}

weir_status weir_job_begin(weir_job *job, const char *owner, bool resume)
{
  WEIR_TRY(weir_run_dir_start(job->cli, job->config, owner, resume, &job->dir));
  weir_job_tell_start(job->cli, job->seed);
  return WEIR_OK;
}

weir_status weir_job_provenance(const weir_cli *cli, int64_t seed, const weir_provenance *of)
{
  char program[64], path[PATH_SIZE];
  weir_provenance p = *of;

  (void)snprintf(program, sizeof program, "%s %s", cli->app->name, cli->command);
  WEIR_TRY(weir_path_join(cli->out, "provenance.json", path, sizeof path));
  p.program = program;
  p.argc = cli->argc;
  p.argv = cli->argv;
  p.seed = (uint64_t)seed;
  p.threads = weir_threads_get();
  return weir_provenance_write(path, &p);
}
