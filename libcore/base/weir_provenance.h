/* weir_provenance.h - provenance of a result: program, build, machine, command, input digests. */
#ifndef WEIR_PROVENANCE_H
#define WEIR_PROVENANCE_H
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A program-specific line: "key": "text". */
typedef struct weir_provenance_line {
  const char *key, *text;
} weir_provenance_line;

typedef struct weir_provenance {
  const char *program; /* "physio_stream run" */
  int argc;
  const char *const *argv;
  uint64_t seed;
  int threads;
  const char *const
      *inputs; /* paths whose SHA-256 is recorded; missing ones are recorded as such */
  int n_inputs;
  int64_t digest_bytes; /* files after the first so many bytes have their size alone; 0: no limit */
  const weir_provenance_line *lines;
  int n_lines;
} weir_provenance;

/* Writes provenance.json. Fails: WEIR_ERR_DATA, WEIR_ERR_MEMORY. */
weir_status weir_provenance_write(const char *path, const weir_provenance *p) WEIR_CHECKED;
/* Returns version, compiler, build type and dependency table of this build, as text. Static
 * storage. */
const char *weir_build_text(void);
/* Returns the version, such as "0.1.0". */
const char *weir_version(void);

#ifdef __cplusplus
}
#endif
#endif
