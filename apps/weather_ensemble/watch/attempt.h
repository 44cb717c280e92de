/* attempt.h - the prediction of one input of daily operation, by a process of its own: the command
 * that one would give by hand. What it does, a crash included, does not reach the others. */
#ifndef WX_ATTEMPT_H
#define WX_ATTEMPT_H
#include <stddef.h>
#include "base/weir_status.h"
#include "conf/weir_cli.h"

/* Runs `predict` with the configuration of this command line for the file `input`, into the folder
 * `out`, and waits for its end. Its messages go to the file `log`. The process does not answer to
 * SIGTERM, SIGINT and SIGHUP, and ends with this one. *result: WEIR_OK, or the exit status of a
 * process that failed (WEIR_ERR_EXTERNAL where a signal ended it), and `reason` is its message.
 * Fails: WEIR_ERR_EXTERNAL where no process can be started. */
weir_status wx_attempt_run(const weir_cli *cli, const char *input, const char *out, const char *log,
                           weir_status *result, char *reason, size_t size) WEIR_CHECKED;
/* Removes a folder and all in it; what is absent is as it should be. Fails: WEIR_ERR_DATA. */
weir_status wx_attempt_remove(const char *dir) WEIR_CHECKED;
/* Renames a folder when all in it is on the disk. Fails: WEIR_ERR_DATA also where there is one of
 * the new name, WEIR_ERR_SPACE. */
weir_status wx_attempt_publish(const char *from, const char *to) WEIR_CHECKED;
#endif
