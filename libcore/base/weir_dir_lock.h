/* weir_dir_lock.h - one process at a time writes into a folder of results. */
#ifndef WEIR_DIR_LOCK_H
#define WEIR_DIR_LOCK_H
#include <stdbool.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The file in the folder that is locked. It names the process that holds it, and goes with it; what
 * a killed process leaves is not locked, and counts as no entry of the folder. */
#define WEIR_DIR_LOCK_NAME ".weir.lock"

/* Locks the folder for this process until weir_dir_lock_release or its end, however it ends: the
 * lock is the kernel's (flock, which NFS has too). `who` is what others are told, such as
 * "cosmoflow run". A folder that this process holds already is fine. `create`: makes the file where
 * there is none; otherwise such a folder stays as it is, unlocked. A file system without locks is
 * warned of once, and not locked. Local. Fails: WEIR_ERR_CONFIG where another process holds it,
 * naming it; WEIR_ERR_DATA, WEIR_ERR_SPACE where the file cannot be made. */
weir_status weir_dir_lock_take(const char *dir, const char *who, bool create) WEIR_CHECKED;
/* Whether this process holds the folder. */
bool weir_dir_lock_held(const char *dir);
/* Gives back all that this process holds. */
void weir_dir_lock_release(void);

#ifdef __cplusplus
}
#endif
#endif
