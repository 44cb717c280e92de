/* listing.h - the files of a folder that fills, and since when each is as it is. */
#ifndef WX_LISTING_H
#define WX_LISTING_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "watch/ledger.h"

typedef struct wx_listed {
  char *name;
  char version[WX_VERSION]; /* inode, times of the last change of content and of properties: no
                               program can write to a file and leave all of them */
  int64_t bytes, modified;  /* modified: ns */
  double since;             /* s, when this version was seen first */
  bool handled;             /* set by the caller; of this version */
} wx_listed;

typedef struct wx_listing {
  int64_t n, capacity;
  wx_listed *file; /* [n] ascending names */
} wx_listing;

/* Lists the regular files of a folder whose names match the pattern of glob(7): hidden files and
 * names with control characters are left out. What is known of versions that were there before
 * stays. now: s, of a clock that does not jump. Fails: WEIR_ERR_DATA where the folder cannot be
 * read; the listing is then as before. */
weir_status wx_listing_update(wx_listing *l, const char *dir, const char *pattern,
                              double now) WEIR_CHECKED;
void wx_listing_fini(wx_listing *l);
/* Reads the version of a file; false: it is not there, or no regular file. */
bool wx_listing_version(const char *path, char version[WX_VERSION], int64_t *bytes,
                        int64_t *modified);
/* Returns the file that was modified first of those that are not handled and have been as they are
 * for `settle` s; NULL: none. */
wx_listed *wx_listing_next(const wx_listing *l, double now, double settle);
/* Returns the number of files that are not handled. */
int64_t wx_listing_waiting(const wx_listing *l);
#endif
