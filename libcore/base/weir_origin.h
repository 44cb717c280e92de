/* weir_origin.h - origin of a result, stored with it: path and SHA-256 of each input file, to
 * verify whether the result belongs to the files that exist now. */
#ifndef WEIR_ORIGIN_H
#define WEIR_ORIGIN_H
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { WEIR_ORIGIN_MAX = 16, WEIR_ORIGIN_NAME = 48 };

/* Attributes in the order in which they were added; {.n = 0} is empty. Texts are owned. */
typedef struct weir_origin {
  struct {
    char name[WEIR_ORIGIN_NAME], *text;
  } line[WEIR_ORIGIN_MAX];
  int n;
} weir_origin;

/* Adds an attribute; copies name and text. After a failure, here and below, the attributes added
 * before remain for weir_origin_fini. Fails: WEIR_ERR_MEMORY. */
weir_status weir_origin_text(weir_origin *o, const char *name, const char *text) WEIR_CHECKED;
/* Adds WHAT_file, the absolute path of the file, and WHAT_sha256 of its bytes. Fails: WEIR_ERR_DATA
 * for an unreadable file, WEIR_ERR_MEMORY. */
weir_status weir_origin_file(weir_origin *o, const char *what, const char *path) WEIR_CHECKED;
/* Adds WHAT_sha256 of several files in their order, independent of their names: for one file its
 * digest, for more the digest of their concatenated hex digests. Fails: as above. */
weir_status weir_origin_files(weir_origin *o, const char *what, const char *const *paths,
                              int64_t n) WEIR_CHECKED;
/* Returns the text of that name, borrowed, or NULL. */
const char *weir_origin_find(const weir_origin *o, const char *name);
/* Frees the texts; *o is then empty. */
void weir_origin_fini(weir_origin *o);

typedef enum weir_belongs {
  WEIR_BELONGS_UNKNOWN, /* the result does not state it, or no readable file is at that path */
  WEIR_BELONGS,
  WEIR_BELONGS_NOT
} weir_belongs;
/* Whether the file named by WHAT_file still has the digest WHAT_sha256. */
weir_belongs weir_origin_check_file(const weir_origin *o, const char *what);
/* Whether WHAT_sha256 is the digest of these files. Fails: as weir_origin_files. */
weir_status weir_origin_check_files(const weir_origin *o, const char *what,
                                    const char *const *paths, int64_t n,
                                    weir_belongs *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
