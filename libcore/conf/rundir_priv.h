/* rundir_priv.h - shared by the sources of a run's folder. */
#ifndef WEIR_RUNDIR_PRIV_H
#define WEIR_RUNDIR_PRIV_H
#include <dirent.h>
#include <stdbool.h>
#include "base/weir_status.h"
#include "conf/weir_rundir.h"

/* An action on the names that a log notes: one below the open folder fd, of runs of `of`. */
typedef weir_status (*conf_deed)(int fd, const char *name, const char *of, void *context);

/* Logs of earlier runs, and the action on them and the files that they note. */
typedef struct conf_earlier {
  const char *kept;  /* name of this run's own log; NULL: it has none yet */
  const char *owner; /* the runs whose files are meant */
  bool all;          /* those of every run */
  conf_deed act;
  void *context;
  bool logs, noted; /* set where there is a log, and where one notes files */
} conf_earlier;

/* Visits all logs in the folder but this run's own, and the files that they note. Fails: as act. */
weir_status conf_walk_logs(DIR *dir, conf_earlier *e) WEIR_CHECKED;
/* What every run writes at the top of its folder: its logs, and what they do not note. */
bool conf_is_log(const char *name);
/* Returns the text after `key` in a line of a log, which it cuts; NULL where it is absent or
 * escaped, which no name of a run needs. Borrowed. */
char *conf_log_text(char *line, const char *key);
/* Of a run into a folder that holds files: no writer replaces its inputs from now on, nor files
 * that no log there notes (weir_writer_spare). Fails: WEIR_ERR_CONFIG, WEIR_ERR_MEMORY. */
weir_status conf_spare_others(const weir_run_dir *run) WEIR_CHECKED;
/* Notes in the log of this run what earlier logs note and this run leaves, which are replaced by
 * it. Fails: WEIR_ERR_CONFIG, WEIR_ERR_MEMORY. */
weir_status conf_keep_notes(const weir_run_dir *run) WEIR_CHECKED;

/* Removes the file of the plain relative `name` below an open folder, then the folders on its way
 * that are empty. A link is neither followed nor removed. Fails: WEIR_ERR_CONFIG. */
weir_status conf_remove_below(int fd, const char *name) WEIR_CHECKED;

/* Renames the file `name` of an earlier run below `out`, open as fd, until the run ends
 * (weir_writer_remember, weir_writer_undo); one that is absent is skipped. Fails:
 * WEIR_ERR_CONFIG, WEIR_ERR_MEMORY. */
weir_status conf_set_aside(int fd, const char *out, const char *name) WEIR_CHECKED;
#endif
