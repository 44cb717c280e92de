/* checksums.h - recordings compared with the SHA256SUMS.txt of their database, and paths of
 * PhysioNet databases. */
#ifndef PS_CHECKSUMS_H
#define PS_CHECKSUMS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"

/* What is compared: files that a list names; all files, and the checksums of a WFDB header; none.
 */
enum { PS_CHECKSUMS_LISTED, PS_CHECKSUMS_REQUIRED, PS_CHECKSUMS_IGNORED };

/* Finds a file in the text of a list as sha256sum writes it: 64 hexadecimal digits, a blank, a
 * blank or '*', and a path from the list's folder. *found is false where it is not named. Fails:
 * WEIR_ERR_DATA as "where:line: reason" for anything else, and for a file with two digests. */
weir_status ps_checksums_find(const char *text, int64_t size, const char *where, const char *name,
                              char hex[65], bool *found) WEIR_CHECKED;
/* Compares every file of the record at `path` with the nearest SHA256SUMS.txt in its folder or one
 * of eight above. Fails: WEIR_ERR_DATA naming file, list and both digests where they differ, and
 * with PS_CHECKSUMS_REQUIRED where there is no list, a file is not listed, or the samples are not
 * those of the header's checksum; as weir_record_files. */
weir_status ps_checksums_verify(int mode, const char *path) WEIR_CHECKED;

/* The same of one file, such as one of annotations. */
weir_status ps_checksums_verify_file(int mode, const char *path) WEIR_CHECKED;

/* Writes the path of a recording: of physionet:DATABASE/VERSION/RECORD it is
 * ROOT/DATABASE/VERSION/RECORD, otherwise the name itself. Fails: WEIR_ERR_CONFIG without a root,
 * for a name that is not complete, has "..", or does not fit; WEIR_ERR_DATA where ROOT has no such
 * database or version, naming what it has and how it is fetched. */
weir_status ps_physionet_path(const char *root, const char *name, char *path,
                              size_t size) WEIR_CHECKED;
#endif
