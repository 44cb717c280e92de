/* weir_file.h - checked files: bounded reads, and writes that appear atomically. */
#ifndef WEIR_FILE_H
#define WEIR_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A file being written to a temporary file in the folder of its final path. Where there is no space
 * for it (a full device, a quota, a limit on the size of a file) all calls fail with
 * WEIR_ERR_SPACE, naming file and folder; otherwise with WEIR_ERR_DATA, naming path and reason. */
typedef struct weir_writer weir_writer;

/* Records why `path` could not be written, from the errno of the failed call: WEIR_ERR_SPACE with
 * what to do for ENOSPC, EDQUOT and EFBIG, else `other`. Returns the code. */
weir_status weir_write_failed(const char *path, int reason, weir_status other);
/* The same of the standard output, for what `what` printed: WEIR_ERR_SPACE or WEIR_ERR_DATA. */
weir_status weir_output_failed(const char *what, int reason);
/* The same of a file that tmpfile() made, or could not make. */
weir_status weir_temporary_failed(const char *what, int reason);
/* True for the errno of a write that found no space. */
bool weir_no_space(int reason);

/* Creates "<path>.tmp-<pid>" for writing. */
weir_status weir_writer_open(const char *path, weir_writer **out) WEIR_CHECKED;
weir_status weir_writer_write(weir_writer *w, const void *data, size_t bytes) WEIR_CHECKED;
weir_status weir_writer_printf(weir_writer *w, const char *format, ...) WEIR_CHECKED
    WEIR_PRINTF(2, 3);
/* Flushes, syncs and renames into place; *w is destroyed either way (on failure the file is
 * removed). */
weir_status weir_writer_commit(weir_writer **w) WEIR_CHECKED;
/* The same for n files that belong together, NULL among them skipped: none is renamed before all
 * are synced, and where one fails, those that were renamed are removed again. */
weir_status weir_writer_commit_all(weir_writer **w, int n) WEIR_CHECKED;
/* The same for a copy of what stands elsewhere: not synced, and no output of the run. */
weir_status weir_writer_commit_passing(weir_writer **w) WEIR_CHECKED;
/* Removes the unfinished file; accepts NULL. */
void weir_writer_destroy(weir_writer **w);
/* Path of the unfinished file, for libraries that open files by name (they may reopen it).
 * Borrowed. */
const char *weir_writer_path(const weir_writer *w);
/* Removes every unfinished file of this process; async-signal-unsafe, for error exits of `main`. */
void weir_writer_remove_all(void);

/* From now on weir_writer_open refuses to replace the file that is there now, in any spelling of
 * its folder: WEIR_ERR_CONFIG with the path and `reason` (borrowed). Nothing where there is none.
 * Fails: WEIR_ERR_MEMORY. */
weir_status weir_writer_spare(const char *path, const char *reason) WEIR_CHECKED;
/* Forgets them. */
void weir_writer_spare_none(void);
/* True where a writer was refused for such a file since then. */
bool weir_writer_refused(void);

/* While `on`, lasting files that this process commits, and folders that it makes, are remembered,
 * and what they replace is kept under another name. false removes that, and folders that are empty
 * then, and forgets. Off at the start. */
void weir_writer_remember(bool on);
/* Remembers that the file `path` of an earlier run is called `before` until then. Fails:
 * WEIR_ERR_MEMORY. */
weir_status weir_writer_replaces(const char *path, const char *before) WEIR_CHECKED;
/* Removes all that is remembered below `folder` (folders where they are empty) and gives what was
 * replaced its name back. Returns how many files that were. */
int64_t weir_writer_undo(const char *folder);

/* Whole file as bytes plus a terminating 0; refuses files over `limit` bytes. Caller frees *out
 * with weir_free. Fails: WEIR_ERR_DATA (missing, unreadable, a directory, too large), naming path
 * and reason. */
weir_status weir_file_read(const char *path, int64_t limit, char **out, int64_t *size) WEIR_CHECKED;
/* Bytes of the byte order mark of UTF-8 that a text begins with, as editors of Windows write it: 3,
 * or 0 without one. */
int weir_text_mark(const char *text, int64_t size);
bool weir_file_exists(const char *path);
/* Size in bytes. Fails: WEIR_ERR_DATA. */
weir_status weir_file_size(const char *path, int64_t *size) WEIR_CHECKED;
/* Makes a directory and its parents. Fails: WEIR_ERR_DATA, WEIR_ERR_SPACE. */
weir_status weir_dir_create(const char *path) WEIR_CHECKED;
/* True when the directory exists and holds at least one entry, the lock of a run aside
 * (weir_dir_lock.h). */
bool weir_dir_has_entries(const char *path);
/* dir + "/" + name into text. Fails: WEIR_ERR_CONFIG when it does not fit. */
weir_status weir_path_join(const char *dir, const char *name, char *text, size_t size) WEIR_CHECKED;

/* SHA-256 (FIPS 180-4) as 64 lower-case hex digits plus 0. */
void weir_sha256(const void *data, size_t bytes, char hex[65]);
/* The same of a file, and its size. False when it cannot be read to its end. */
bool weir_file_sha256(const char *path, char hex[65], int64_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
