/* weir_profile.h - seconds that groups were measured to take, by what they compute
 * (weir_group_digest) and in which setting: how many ranks and threads were at work. Kept in a text
 * file between runs.
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
  char setting[128];    /* what keys are made with in addition to digests            */
  weir_group_time *row; /* [n] by ascending keys, those of other settings too */
  int64_t n, capacity;
} weir_profile;

/* Of the digest and the table's setting. */
uint64_t weir_profile_key(const weir_profile *t, const char digest[65]);
/* Seconds of that key; < 0: it has none. */
double weir_profile_find(const weir_profile *t, uint64_t key);
/* Keeps what is there of the key. Fails: WEIR_ERR_MEMORY. */
weir_status weir_profile_add(weir_profile *t, uint64_t key, double seconds) WEIR_CHECKED;
/* Adds the rows of the file, none where there is no file. Fails: WEIR_ERR_DATA, naming file and
 * line (not such a file, damaged, cut short). */
weir_status weir_profile_read(weir_profile *t, const char *path) WEIR_CHECKED;
/* The whole table, in place of the file. Fails: WEIR_ERR_DATA. */
weir_status weir_profile_write(const weir_profile *t, const char *path) WEIR_CHECKED;
void weir_profile_fini(weir_profile *t);

#ifdef __cplusplus
}
#endif
#endif
