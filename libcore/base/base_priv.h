/* base_priv.h - shared between the sources of base only. */
#ifndef WEIR_BASE_PRIV_H
#define WEIR_BASE_PRIV_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/weir_file.h"

/* Writes `text` as a JSON string, quotes included: control characters are escaped, UTF-8 passes,
 * and each byte that is not part of valid UTF-8 becomes U+FFFD. NULL is written as null. */
void base_json_text(FILE *out, const char *text);
/* Shortest of %.15g, %.16g and %.17g that reads back as the same double; null when not finite. */
void base_json_real(FILE *out, double value);

/* Notes in the open event file that this program makes `path`, as an event "file" with its name
 * relative to the folder of the event file; nothing where it lies elsewhere. */
void base_event_file(const char *path);

/* Remembers `path`, a file about to be committed or a new folder, where that is asked for
 * (weir_writer_remember).
 * Fails: WEIR_ERR_MEMORY. */
weir_status base_undo_note(const char *path) WEIR_CHECKED;

/* Fails: WEIR_ERR_CONFIG where the file `path` is there and spared (weir_writer_spare). */
weir_status base_spare_check(const char *path) WEIR_CHECKED;

/* SHA-256 piece by piece, for files larger than memory. */
typedef struct base_sha256 {
  uint32_t hash[8];
  uint64_t bytes;
  unsigned char block[64];
} base_sha256;
void base_sha256_init(base_sha256 *s);
void base_sha256_update(base_sha256 *s, const void *data, size_t bytes);
/* 64 lower-case hex digits plus 0. */
void base_sha256_finish(base_sha256 *s, char hex[65]);
#endif
