/* weir_rundir.h - the folder a run writes into: empty or told to be replaced, with its event file
 * and its resolved configuration. */
#ifndef WEIR_RUNDIR_H
#define WEIR_RUNDIR_H
#include <stdbool.h>
#include "base/weir_status.h"
#include "conf/weir_cli.h"
#include "conf/weir_opt.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A folder that a run has begun in, until weir_run_dir_commit or weir_run_dir_rollback. Borrows all
 * that it was given. */
typedef struct weir_run_dir {
  const weir_cli *cli;
  const weir_config *config;
  const char *owner;
  char log[48];       /* name of the event file while the run is not accepted */
  bool waits, cleans; /* not yet accepted; an earlier run's files are to go   */
  bool replaces;      /* among them results, perhaps                          */
  bool continues;     /* an earlier run's files and log stay                  */
} weir_run_dir;

/* Makes the folder cli->out and its parents, locks it for this process (weir_dir_lock.h; a second
 * one is refused, and changes nothing) and opens the event file. A folder with entries is refused
 * unless --overwrite is given or it holds only logs and configuration of a run that failed.
 * `owner` names what kind of results these are ("run", "site stats"; NULL: none are ever replaced):
 * --overwrite removes what the log of an earlier run of the same owner notes as its files, then
 * folders that are empty, and nothing else: files of other commands may be the input of this one. A
 * file that would go and that a text of the configuration names is refused: it is an input. From
 * then on writers refuse to replace inputs, and files that no log in the folder notes.
 * Nothing of results is touched before weir_run_dir_commit; where there are none it is called here.
 * Load the configuration first. Fails: WEIR_ERR_CONFIG, naming the folder or the input and what to
 * do, or where --out is missing; WEIR_ERR_DATA where a file cannot be made. */
weir_status weir_run_dir_begin(const weir_cli *cli, const weir_config *config, const char *owner,
                               weir_run_dir *dir) WEIR_CHECKED;
/* The run has results to write: what it replaces goes, run.jsonl and resolved.yaml appear. Does
 * nothing the second time and for NULL. Fails: WEIR_ERR_CONFIG where a file cannot be removed;
 * WEIR_ERR_DATA. */
weir_status weir_run_dir_commit(weir_run_dir *dir) WEIR_CHECKED;
/* A run that fails for want of space (WEIR_ERR_SPACE) leaves nothing but its log and configuration,
 * and the earlier results stand as they were: they are removed when weir_cli_main ends. From this
 * call on they are gone, and what this run has committed, and will, stays whatever happens: for
 * runs that are resumed, and for parts that are results by themselves. Nothing where no run is
 * accepted. */
void weir_run_dir_keep(void);
/* The run failed: true where it was not accepted, and the earlier results stand as they were. */
bool weir_run_dir_rollback(weir_run_dir *dir);
/* Goes on in the folder of an earlier run of the same owner that was stopped or killed, and locks
 * it: its log is appended to after its last complete line, lines that are no events do no harm, and
 * accept replaces resolved.yaml; every file stays. Fails: WEIR_ERR_CONFIG where another process has
 * the folder, or its log is of no such run; WEIR_ERR_DATA. */
weir_status weir_run_dir_resume(const weir_cli *cli, const weir_config *config, const char *owner,
                                weir_run_dir *dir) WEIR_CHECKED;
/* Continues where `resume` is true, --overwrite is not given and a run has left files; begins
 * otherwise, as after a run that was killed before it had more than the beginning of a log. */
weir_status weir_run_dir_start(const weir_cli *cli, const weir_config *config, const char *owner,
                               bool resume, weir_run_dir *dir) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
