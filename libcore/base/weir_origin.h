/* weir_origin.h - what a result came from, as texts that the result carries: of each file that went
 * into it where it was and its SHA-256, so that whoever reads the result can tell whether it
 * belongs to the files that are there now. */
#ifndef WEIR_ORIGIN_H
#define WEIR_ORIGIN_H
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { WEIR_ORIGIN_MOST = 16, WEIR_ORIGIN_NAME = 48 };

/* Attributes, in the order in which they were added; {.n = 0} is an empty one. Texts are owned. */
typedef struct weir_origin {
  struct {
    char name[WEIR_ORIGIN_NAME], *text;
  } line[WEIR_ORIGIN_MOST];
  int n;
} weir_origin;

/* Adds an attribute; name and text are copied. What was added before a failure stays, here and
 * below, for weir_origin_fini. Fails: WEIR_ERR_MEMORY. */
weir_status weir_origin_text(weir_origin *o, const char *name, const char *text) WEIR_CHECKED;
/* Adds WHAT_file, the absolute path of the file, and WHAT_sha256 of its bytes. Fails: WEIR_ERR_DATA
 * for a file that cannot be read, WEIR_ERR_MEMORY. */
weir_status weir_origin_file(weir_origin *o, const char *what, const char *path) WEIR_CHECKED;
/* Adds WHAT_sha256 of several files in their order, whatever they are called: of one its own, of
 * more that of their digests one after another, as hex. Fails: as above. */
weir_status weir_origin_files(weir_origin *o, const char *what, const char *const *paths,
                              int64_t n) WEIR_CHECKED;
/* The text of that name, borrowed, or NULL. */
const char *weir_origin_find(const weir_origin *o, const char *name);
/* Frees the texts; *o is empty then. */
void weir_origin_fini(weir_origin *o);

typedef enum weir_belongs {
  WEIR_BELONGS_UNKNOWN, /* the result does not say, or no file that can be read is where it was */
  WEIR_BELONGS,
  WEIR_BELONGS_NOT
} weir_belongs;
/* Whether the file that WHAT_file names is still the one of WHAT_sha256. */
weir_belongs weir_origin_check_file(const weir_origin *o, const char *what);
/* Whether WHAT_sha256 is that of these files. Fails: as weir_origin_files. */
weir_status weir_origin_check_files(const weir_origin *o, const char *what,
                                    const char *const *paths, int64_t n,
                                    weir_belongs *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
