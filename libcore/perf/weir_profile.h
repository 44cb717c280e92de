/* weir_profile.h - timing profile: measured seconds of operator groups, by their computation
 * (weir_group_digest) and setting (number of ranks and threads). Kept in a text file between runs.
 */
#ifndef WEIR_PROFILE_H
#define WEIR_PROFILE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_group_time {
  uint64_t key;
  double seconds;
} weir_group_time;

/* Zero it first; freed by fini. */
typedef struct weir_profile {
  char setting[128];    /* setting in the keys, in addition to digests */
  weir_group_time *row; /* [n] by ascending keys, including those of other settings */
  int64_t n, capacity;
} weir_profile;

/* Returns the key of a digest in the setting of the profile. */
uint64_t weir_profile_key(const weir_profile *t, const char digest[65]);
/* Returns the seconds of that key; < 0: none. */
double weir_profile_find(const weir_profile *t, uint64_t key);
/* Adds the seconds of a key unless it has some. Fails: WEIR_ERR_MEMORY. */
weir_status weir_profile_add(weir_profile *t, uint64_t key, double seconds) WEIR_CHECKED;
/* Adds the rows of the file, none if there is no file. Fails: WEIR_ERR_DATA, naming file and line
 * (not a profile, damaged, truncated). */
weir_status weir_profile_read(weir_profile *t, const char *path) WEIR_CHECKED;
/* Writes the whole profile, replacing the file. Fails: WEIR_ERR_DATA. */
weir_status weir_profile_write(const weir_profile *t, const char *path) WEIR_CHECKED;
void weir_profile_fini(weir_profile *t);

#ifdef __cplusplus
}
#endif
#endif
