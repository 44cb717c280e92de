/* digests.h - files.sha256 of a folder: the SHA-256 of every file that was completed in it, a line
 * each as sha256sum writes and checks them, so that a repeated command resumes after complete
 * files alone. */
#ifndef CF_DIGESTS_H
#define CF_DIGESTS_H
#include "base/weir_status.h"

#define CF_DIGESTS_FILE "files.sha256"

typedef struct cf_digests cf_digests;

typedef enum cf_digested {
  CF_DIGEST_NONE,    /* not listed: written by another program, or not noted before the end */
  CF_DIGEST_MISSING, /* listed, and not there */
  CF_DIGEST_DAMAGED, /* its bytes are not those that were written */
  CF_DIGEST_WHOLE
} cf_digested;

/* Reads the list of the folder; the first file that is listed creates it. made_of: a short line
 * that identifies the contents, "" for none, NULL for any. Fails: WEIR_ERR_CONFIG for a list with
 * another line, naming folder and `what`; WEIR_ERR_DATA, WEIR_ERR_SPACE, WEIR_ERR_MEMORY. */
weir_status cf_digests_open(const char *folder, const char *made_of, const char *what,
                            cf_digests **out) WEIR_CHECKED;
/* Checks that all files of the list exist; a folder without a list passes. Fails: WEIR_ERR_DATA
 * naming the first missing file. */
weir_status cf_digests_complete(const char *folder) WEIR_CHECKED;
/* Adds a file to the line that identifies the contents: its absolute path, size and time of last
 * change. hex: SHA-256 of what was added before, 64 digits. */
void cf_digests_add_input(const char *path, char hex[65]);
/* Closes the list; accepts NULL. */
void cf_digests_close(cf_digests **d);
/* Checks a file, whose name is relative to the folder, against its digest. */
cf_digested cf_digests_check(cf_digests *d, const char *name);
/* Lists a completed file. Fails: WEIR_ERR_DATA, WEIR_ERR_SPACE. */
weir_status cf_digests_add(cf_digests *d, const char *name) WEIR_CHECKED;
#endif
