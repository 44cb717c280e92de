/* file_names.h - names of files, and patterns of names, as the files that there are. */
#ifndef WX_FILE_NAMES_H
#define WX_FILE_NAMES_H
#include <stdint.h>
#include "base/weir_status.h"

typedef struct wx_file_names {
  int64_t n, capacity;
  char **path; /* [n] owned */
} wx_file_names;

/* Lists the files of n names: one that has *, ? or [ and is not itself the name of a file is a
 * pattern of glob(7), and stands for all that match it, in the order of their names; any other
 * stays as it is. Fails: WEIR_ERR_DATA naming a pattern that nothing matches; WEIR_ERR_MEMORY. */
weir_status wx_file_names_find(const char *const *names, int64_t n,
                               wx_file_names *out) WEIR_CHECKED;
/* Returns the bytes of all files, of a folder those of the files in it; what cannot be read counts
 * as 0. */
int64_t wx_file_names_bytes(const wx_file_names *f);
void wx_file_names_fini(wx_file_names *f);
#endif
