/* weir_job.h - a command at work: its configuration, ranks, run folder and provenance. */
#ifndef WEIR_JOB_H
#define WEIR_JOB_H
#include <stdbool.h>
#include "base/weir_provenance.h"
#include "comm/weir_comm.h"
#include "conf/weir_cli.h"
#include "conf/weir_rundir.h"
#ifdef __cplusplus
extern "C" {
#endif

/* State of a command, from its configuration to its results. */
typedef struct weir_job {
  const weir_cli *cli;
  weir_comm *comm; /* ranks of the command; NULL: weir_job_run, one rank */
  void *cfg;       /* struct that the option table fills */
  weir_config *config;
  int64_t seed; /* for event and provenance */
  weir_run_dir dir;
} weir_job;

/* Properties of a program that the start of its commands depends on. */
typedef struct weir_program {
  /* Completes job->cfg, sets job->seed, and refuses a configuration that no single row can refuse.
   * Local. */
  weir_status (*complete)(weir_job *job);
} weir_program;

/* Performs a command on one rank: checks the device, sets the threads, loads the configuration into
 * `cfg` (cli->app->opts_size bytes, of the caller) and completes it, then calls `work`. After a
 * failure the run folder is rolled back, and a message states that the earlier results are
 * unchanged. Fails: WEIR_ERR_UNSUPPORTED for a device that this build lacks; as weir_cli_config,
 * program->complete and `work`. */
weir_status weir_job_run(const weir_cli *cli, const weir_program *program, void *cfg,
                         weir_status (*work)(weir_job *job)) WEIR_CHECKED;
/* Performs a command on the ranks that mpiexec or srun started, or on cli->ranks threads of this
 * process (comm/weir_inproc.h), as weir_job_run does on each, in agreement. job->cfg is a struct of
 * cli->app->opts_size bytes for each rank. Rank 0 alone opens and commits the folder; only its
 * messages below warnings, and only its warnings about the configuration appear. Threads of this
 * process share its processors in equal numbers unless --threads is given, and a failure of one
 * ends them all, with its message. Collective. Fails: likewise; as weir_comm_open,
 * weir_inproc_run. */
weir_status weir_job_run_on_ranks(const weir_cli *cli, const weir_program *program,
                                  weir_status (*work)(weir_job *job)) WEIR_CHECKED;
/* As weir_job_run_on_ranks, for a command whose items ranks share (comm/weir_items.h). All ranks do
 * `work`; weir_job_leads tells which one writes. Messages of the other ranks appear only while
 * these process their items. A rank may return from `work` with a failure of its own: the others
 * learn of it in their next collective call, which begins with an agreement, or at the end.
 * Collective. Fails: likewise. */
weir_status weir_job_run_shared(const weir_cli *cli, const weir_program *program,
                                weir_status (*work)(weir_job *job)) WEIR_CHECKED;
/* Returns whether this rank opens the folder, writes common results and prints: rank 0, or the only
 * one. Local. */
bool weir_job_leads(const weir_job *job);
/* Opens the run folder as weir_run_dir_start, and emits the event `start`; does nothing on ranks
 * that do not lead. `work` commits the folder. Local. Fails: as weir_run_dir_start. */
weir_status weir_job_begin(weir_job *job, const char *owner, bool resume) WEIR_CHECKED;
/* Commits the folder on the rank that leads (weir_run_dir_commit) before any rank returns. Ranks
 * that do not lead then write their events, which list the files that they write, to
 * run-rankN.jsonl (weir_run_dir_join). Collective. Fails on all ranks: as both. */
weir_status weir_job_commit(weir_job *job, const char *owner) WEIR_CHECKED;
/* Emits the event `start`: program, command, seed. */
void weir_job_tell_start(const weir_cli *cli, int64_t seed);
/* Paths of files that a command has read; {.n = 0} is empty. Owns copies. */
typedef struct weir_inputs {
  char **path;
  int64_t n, capacity;
} weir_inputs;
/* Adds a path; `inputs` is a weir_inputs, as weir_config_files calls it. Fails: WEIR_ERR_MEMORY. */
weir_status weir_inputs_add(void *inputs, const char *path) WEIR_CHECKED;
/* Sorts the paths and leaves one of each. */
void weir_inputs_sort(weir_inputs *inputs);
void weir_inputs_fini(weir_inputs *inputs);

/* Writes provenance.json into --out: program, command line, seed and threads, with the inputs and
 * lines of `of`. Fails: as weir_provenance_write. */
weir_status weir_job_provenance(const weir_cli *cli, int64_t seed,
                                const weir_provenance *of) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
