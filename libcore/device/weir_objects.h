/* weir_objects.h - the user's folder of compiled objects, which later programs find there. */
#ifndef WEIR_OBJECTS_H
#define WEIR_OBJECTS_H
#include <stdbool.h>
#include <stdint.h>

#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Opens `folder`, made where it is missing (NULL or empty: weir in XDG_CACHE_HOME, or
 * ~/.cache/weir); -1: there is none that may be trusted. The caller closes it. */
int weir_objects_open(const char *folder);
/* Opens the object of this name (64 digits) when every byte of it is right; *fd is -1 when it is
 * not there, or refused. It is followed by a trailer, which dlopen ignores. Fails: WEIR_ERR_MEMORY.
 */
weir_status weir_objects_find(int folder, const char *name, int *fd) WEIR_CHECKED;
/* Reads what was compiled into `fd`, *bytes of it, and puts it there under this name; *kept: it is
 * there. Fails: WEIR_ERR_UNSUPPORTED (no plain file of this user, mode 0600), WEIR_ERR_MEMORY; not
 * where it cannot be kept. */
weir_status weir_objects_keep(int folder, int fd, const char *name, bool *kept,
                              int64_t *bytes) WEIR_CHECKED;
/* Puts a small file of one line there; false, with a warning, where it cannot be written. */
bool weir_objects_note(int folder, const char *file, const char *line);
/* Warns that something of the folder is not used. */
void weir_objects_refuse(const char *what, const char *reason);

#ifdef __cplusplus
}
#endif
#endif
