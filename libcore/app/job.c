/* job.c - see weir_job.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app/weir_job.h"
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_lock.h"
#include "base/weir_log.h"
#include "comm/weir_inproc.h"
#include "device/weir_device.h"
#include "device/weir_parallel.h"

enum { PATH_SIZE = 4096 };

static weir_status configure(weir_job *j, const weir_program *program)
{
  const weir_cli *const cli = j->cli;

  WEIR_TRY(weir_device_check(cli->device));
  if (cli->threads > 0) {
    weir_threads_set(cli->threads);
  }
  WEIR_TRY(weir_cli_config(cli, j->cfg, &j->config));
  return program->complete(j);
}

static void end(weir_job *j, weir_status status)
{
  if (status != WEIR_OK && weir_run_dir_rollback(&j->dir)) {
    weir_info(j->cli->command, "the earlier results in %s are unchanged", j->cli->out);
  }
  weir_config_destroy(&j->config);
}

weir_status weir_job_run(const weir_cli *cli, const weir_program *program, void *cfg,
                         weir_status (*work)(weir_job *job))
{
  weir_job j = {.cli = cli, .cfg = cfg, .dir = {.cli = cli}};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(configure(&j, program), done);
  WEIR_TRY_GOTO(work(&j), done);
done:
  end(&j, status);
  return status;
}

/* A command on ranks; shared by those that are threads. */
typedef struct command {
  const weir_cli *cli;
  const weir_program *program;
  weir_status (*work)(weir_job *job);
  bool shared;    /* by items: weir_job_run_shared */
  weir_lock lock; /* of what belongs to the program: constants of the processor, inputs that stay */
} command;

/* All ranks have the same configuration: rank 0 warns about it. */
static weir_status configure_rank(command *c, weir_job *j)
{
  const bool leads = weir_comm_rank(j->comm) == 0;

  weir_lock_take(&c->lock);
  const weir_log_level level = weir_log_set_thread_level(leads ? WEIR_LOG_DEBUG : WEIR_LOG_ERROR);
  const weir_status status = configure(j, c->program);

  (void)weir_log_set_thread_level(level);
  weir_lock_give(&c->lock);
  return status;
}

/* A failure of this rank alone meets the others in their next agreement, at the latest here. */
static weir_status work_shared(command *c, weir_job *j)
{
  const weir_log_level level =
      weir_log_set_thread_level(weir_job_leads(j) ? WEIR_LOG_DEBUG : WEIR_LOG_ERROR);
  weir_status status = c->work(j);

  if (weir_comm_agreed(j->comm) == WEIR_OK) {
    status = weir_comm_agree(j->comm, status);
  }
  (void)weir_log_set_thread_level(level);
  return status;
}

static weir_status run_on_rank(weir_comm *comm, void *context)
{
  command *const c = context;
  weir_job j = {.cli = c->cli, .comm = comm, .dir = {.cli = c->cli}};
  weir_status status = weir_alloc((int64_t)c->cli->app->opts_size, 1, &j.cfg);

  WEIR_TRY_GOTO(weir_comm_agree(comm, status), done);
  WEIR_TRY_GOTO(weir_comm_agree(comm, configure_rank(c, &j)), done);
  status = c->shared ? work_shared(c, &j) : c->work(&j);
done:
  end(&j, status);
  weir_free(&j.cfg);
  return status;
}

static weir_status run_on_processes(command *c)
{
  weir_comm *comm = NULL;

  WEIR_TRY(weir_comm_open(&comm));
  if (weir_comm_rank(comm) > 0 && c->cli->log > WEIR_LOG_WARN) {
    weir_log_set_level(WEIR_LOG_WARN);
  }
  const weir_status status = run_on_rank(comm, c);

  weir_comm_close(&comm);
  return status;
}

static weir_status run(command *c)
{
  const weir_cli *const cli = c->cli;

  if (cli->ranks == 0) {
    return run_on_processes(c);
  }
  const int all = weir_threads_get(), share = all > cli->ranks ? all / cli->ranks : 1;
  const weir_inproc threads = {.ranks = cli->ranks,
                               .concurrent = true,
                               .fails_together = true,
                               .threads = cli->threads > 0 ? cli->threads : share};

  return weir_inproc_run(&threads, run_on_rank, c);
}

weir_status weir_job_run_on_ranks(const weir_cli *cli, const weir_program *program,
                                  weir_status (*work)(weir_job *job))
{
  return run(&(command){.cli = cli, .program = program, .work = work, .lock = WEIR_LOCK_INIT});
}

weir_status weir_job_run_shared(const weir_cli *cli, const weir_program *program,
                                weir_status (*work)(weir_job *job))
{
  return run(&(command){
      .cli = cli, .program = program, .work = work, .shared = true, .lock = WEIR_LOCK_INIT});
}

bool weir_job_leads(const weir_job *job)
{
  return job->comm == NULL || weir_comm_rank(job->comm) == 0;
}

void weir_job_tell_start(const weir_cli *cli, int64_t seed)
{
  weir_event("start", WEIR_TEXT("program", cli->app->name), WEIR_TEXT("command", cli->command),
             WEIR_INT("seed", seed));
}

weir_status weir_job_begin(weir_job *job, const char *owner, bool resume)
{
  if (!weir_job_leads(job)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_run_dir_start(job->cli, job->config, owner, resume, &job->dir));
  weir_job_tell_start(job->cli, job->seed);
  return WEIR_OK;
}

/* The thread level of work_shared would drop the first event. */
static weir_status join(const weir_job *job, const char *owner)
{
  const weir_log_level level = weir_log_set_thread_level(WEIR_LOG_DEBUG);
  const weir_status status =
      weir_run_dir_join(job->cli, job->config, owner, weir_comm_rank(job->comm));

  (void)weir_log_set_thread_level(level);
  return status;
}

weir_status weir_job_commit(weir_job *job, const char *owner)
{
  if (job->comm == NULL) {
    return weir_run_dir_commit(&job->dir);
  }
  WEIR_TRY(weir_comm_agree(job->comm, weir_run_dir_commit(&job->dir)));
  return weir_comm_agree(job->comm, weir_job_leads(job) ? WEIR_OK : join(job, owner));
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

weir_status weir_inputs_add(void *inputs, const char *path)
{
  weir_inputs *const in = inputs;

  WEIR_TRY(weir_reserve(&in->path, &in->capacity, in->n + 1, sizeof *in->path));
  WEIR_TRY(weir_strdup(path, &in->path[in->n]));
  in->n++;
  return WEIR_OK;
}

static int by_text(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

void weir_inputs_sort(weir_inputs *in)
{
  int64_t kept = 0;

  if (in->n > 0) {
    qsort(in->path, (size_t)in->n, sizeof *in->path, by_text);
  }
  for (int64_t i = 0; i < in->n; i++) {
    if (kept > 0 && strcmp(in->path[kept - 1], in->path[i]) == 0) {
      weir_free(&in->path[i]);
    } else {
      in->path[kept++] = in->path[i];
    }
  }
  in->n = kept;
}

void weir_inputs_fini(weir_inputs *in)
{
  for (int64_t i = 0; i < in->n; i++) {
    weir_free(&in->path[i]);
  }
  weir_free(&in->path);
  in->n = in->capacity = 0;
}
