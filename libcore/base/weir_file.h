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

/* A file that is written to a temporary file in the folder of its final path. Without space for it
 * (full device, quota, file size limit) all calls fail with WEIR_ERR_SPACE, naming file and folder;
 * otherwise with WEIR_ERR_DATA, naming path and reason. */
typedef struct weir_writer weir_writer;

/* Records why `path` could not be written, from the errno of the failed call: WEIR_ERR_SPACE with
 * the remedy for ENOSPC, EDQUOT and EFBIG, else `other`. Returns the code. */
weir_status weir_write_failed(const char *path, int reason, weir_status other);
/* Records why the standard output of `what` could not be written: WEIR_ERR_SPACE or WEIR_ERR_DATA.
 * Returns the code. */
weir_status weir_output_failed(const char *what, int reason);
/* Records why a file of tmpfile() could not be created or written. Returns the code. */
weir_status weir_temporary_failed(const char *what, int reason);
/* Whether the errno of a write means that there was no space. */
bool weir_no_space(int reason);

/* Creates the temporary file "<path>.tmp-<pid>". */
weir_status weir_writer_open(const char *path, weir_writer **out) WEIR_CHECKED;
weir_status weir_writer_write(weir_writer *w, const void *data, size_t bytes) WEIR_CHECKED;
weir_status weir_writer_printf(weir_writer *w, const char *format, ...) WEIR_CHECKED
    WEIR_PRINTF(2, 3);
/* Flushes, syncs and renames the file to its final path; destroys *w in either case (on failure the
 * temporary file is removed). */
weir_status weir_writer_commit(weir_writer **w) WEIR_CHECKED;
/* Commits n files that belong together, skipping NULL: none is renamed before all are synced, and
 * on failure those already renamed are removed again. */
weir_status weir_writer_commit_all(weir_writer **w, int n) WEIR_CHECKED;
/* Commits a copy of data stored elsewhere: it is not synced and is not recorded as an output of the
 * run. */
weir_status weir_writer_commit_passing(weir_writer **w) WEIR_CHECKED;
/* Removes the temporary file; accepts NULL. */
void weir_writer_destroy(weir_writer **w);
/* Returns the path of the temporary file, for libraries that open files by name (they may reopen
 * it). Borrowed. */
const char *weir_writer_path(const weir_writer *w);
/* Removes all temporary files of this process; async-signal-unsafe, for error exits of `main`. */
void weir_writer_remove_all(void);

/* Protects an existing file: from now on weir_writer_open refuses to replace it, under any path to
 * its folder, with WEIR_ERR_CONFIG, the path and `reason` (borrowed). Does nothing if the file does
 * not exist. Fails: WEIR_ERR_MEMORY. */
weir_status weir_writer_spare(const char *path, const char *reason) WEIR_CHECKED;
/* Removes the protection of all files. */
void weir_writer_spare_none(void);
/* True if weir_writer_open has refused to replace such a file since then. */
bool weir_writer_refused(void);

/* While `on`, records the files that this process commits and the folders that it creates, and
 * keeps what they replace under another name. false removes the replaced files, and folders that
 * are then empty, and clears the record. Off at the start. */
void weir_writer_remember(bool on);
/* Records that the file `path` of an earlier run is named `before` until then. Fails:
 * WEIR_ERR_MEMORY. */
weir_status weir_writer_replaces(const char *path, const char *before) WEIR_CHECKED;
/* Removes all recorded files below `folder` (and folders that are empty) and restores the names of
 * replaced files. Returns the number of removed files. */
int64_t weir_writer_undo(const char *folder);

/* Reads a whole file as bytes plus a terminating 0; refuses files over `limit` bytes. The caller
 * frees *out with weir_free. Fails: WEIR_ERR_DATA (missing, unreadable, a directory, too large),
 * naming path and reason. */
weir_status weir_file_read(const char *path, int64_t limit, char **out, int64_t *size) WEIR_CHECKED;
/* Returns the length of the UTF-8 byte order mark at the start of a text: 3, or 0 without one. */
int weir_text_mark(const char *text, int64_t size);
bool weir_file_exists(const char *path);
/* Reads the size of a file in bytes. Fails: WEIR_ERR_DATA. */
weir_status weir_file_size(const char *path, int64_t *size) WEIR_CHECKED;
/* Creates a directory and its parents. Fails: WEIR_ERR_DATA, WEIR_ERR_SPACE. */
weir_status weir_dir_create(const char *path) WEIR_CHECKED;
/* True when the directory exists and has at least one entry other than the lock of a run
 * (weir_dir_lock.h). */
bool weir_dir_has_entries(const char *path);
/* Writes dir + "/" + name to text. Fails: WEIR_ERR_CONFIG when it does not fit. */
weir_status weir_path_join(const char *dir, const char *name, char *text, size_t size) WEIR_CHECKED;

/* Writes the SHA-256 (FIPS 180-4) as 64 lower-case hex digits plus 0. */
void weir_sha256(const void *data, size_t bytes, char hex[65]);
/* Computes the SHA-256 and size of a file. False when it cannot be read completely. */
bool weir_file_sha256(const char *path, char hex[65], int64_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
