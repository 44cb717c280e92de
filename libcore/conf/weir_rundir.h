/* weir_rundir.h - the output folder of a run: empty or to be overwritten, with its event file and
 * its resolved configuration. */
#ifndef WEIR_RUNDIR_H
#define WEIR_RUNDIR_H
#include <stdbool.h>
#include "base/weir_status.h"
#include "conf/weir_cli.h"
#include "conf/weir_opt.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A folder in which a run has begun, until weir_run_dir_commit or weir_run_dir_rollback. Borrows
 * its arguments. */
typedef struct weir_run_dir {
  const weir_cli *cli;
  const weir_config *config;
  const char *owner;
  char log[48];       /* name of the event file before the commit */
  bool waits, cleans; /* before the commit; an earlier run's files are to be removed */
  bool replaces;      /* they may include results */
  bool continues;     /* an earlier run's files and log are kept */
} weir_run_dir;

/* Creates the folder cli->out and its parents, locks it for this process (weir_dir_lock.h; a second
 * run is refused and changes nothing) and opens the event file. Refuses a folder with entries
 * unless --overwrite is given or it contains only logs and configuration of a failed run. `owner`
 * names the kind of results ("run", "site stats"; NULL: never replaced): --overwrite removes only
 * the files recorded in the log of an earlier run of the same owner, then empty folders: files of
 * other commands may be inputs of this one. Refuses to remove a file named by the configuration: it
 * is an input. From then on writers refuse to replace inputs, and files that no log in the folder
 * records. Results are unchanged until weir_run_dir_commit; without earlier results it is called
 * here. Load the configuration first. Fails: WEIR_ERR_CONFIG, naming the folder or the input and
 * the remedy, or where --out is missing; WEIR_ERR_DATA where a file cannot be created. */
weir_status weir_run_dir_begin(const weir_cli *cli, const weir_config *config, const char *owner,
                               weir_run_dir *dir) WEIR_CHECKED;
/* Commits the run, which has results to write: removes the files to be replaced, and creates
 * run.jsonl and resolved.yaml. Does nothing the second time and for NULL. Fails: WEIR_ERR_CONFIG
 * where a file cannot be removed; WEIR_ERR_DATA. */
weir_status weir_run_dir_commit(weir_run_dir *dir) WEIR_CHECKED;
/* Opens the log run-rankN.jsonl of rank `rank` above 0 in the folder that rank 0 has committed: it
 * lists the files that this rank writes, after those of an interrupted run. Writers of this rank
 * refuse what those of rank 0 do. Fails: WEIR_ERR_CONFIG, WEIR_ERR_DATA, WEIR_ERR_SPACE. */
weir_status weir_run_dir_join(const weir_cli *cli, const weir_config *config, const char *owner,
                              int rank) WEIR_CHECKED;
/* Makes committed results permanent. Before this call, a run that fails for lack of space
 * (WEIR_ERR_SPACE) leaves only its log and configuration, and the earlier results unchanged: they
 * are removed when weir_cli_main ends. After it they are gone, and all files this run has committed
 * and will commit stay in any case: for resumable runs, and for parts that are results by
 * themselves. Does nothing without a committed run. */
void weir_run_dir_keep(void);
/* Rolls back a failed run: true if it was not committed and the earlier results are unchanged. */
bool weir_run_dir_rollback(weir_run_dir *dir);
/* Resumes in the folder of an earlier run of the same owner that was stopped or killed, and locks
 * it: its log is appended to after its last complete line, invalid lines are skipped, and commit
 * replaces resolved.yaml; all files stay. Fails: WEIR_ERR_CONFIG where another process holds the
 * folder, or its log is not of such a run; WEIR_ERR_DATA. */
weir_status weir_run_dir_resume(const weir_cli *cli, const weir_config *config, const char *owner,
                                weir_run_dir *dir) WEIR_CHECKED;
/* Resumes if `resume` is true, --overwrite is not given and a run has left files; begins otherwise,
 * also after a run that was killed before it had more than the start of a log. */
weir_status weir_run_dir_start(const weir_cli *cli, const weir_config *config, const char *owner,
                               bool resume, weir_run_dir *dir) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
