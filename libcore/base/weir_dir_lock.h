/* weir_dir_lock.h - exclusive access of one process to a folder of results. */
#ifndef WEIR_DIR_LOCK_H
#define WEIR_DIR_LOCK_H
#include <stdbool.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Name of the lock file in the folder. It names the process that holds the lock and is removed with
 * it; the file of a killed process is unlocked and does not count as an entry of the folder. */
#define WEIR_DIR_LOCK_NAME ".weir.lock"

/* Locks the folder for this process until weir_dir_lock_release or the end of the process: the lock
 * is the kernel's (flock, also on NFS). `who` is shown to other processes, such as "cosmoflow run".
 * Locking a folder twice in one process is allowed. `create`: creates the file if it is missing;
 * otherwise such a folder is left unchanged and unlocked. On a file system without locks, warns
 * once and does not lock. Local. Fails: WEIR_ERR_CONFIG where another process holds the lock,
 * naming it; WEIR_ERR_DATA, WEIR_ERR_SPACE where the file cannot be created. */
weir_status weir_dir_lock_take(const char *dir, const char *who, bool create) WEIR_CHECKED;
/* Whether this process holds the lock of the folder. */
bool weir_dir_is_locked(const char *dir);
/* Releases all locks of this process. */
void weir_dir_lock_release(void);

#ifdef __cplusplus
}
#endif
#endif
