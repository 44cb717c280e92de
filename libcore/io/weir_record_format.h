/* weir_record_format.h - interface of formats of sampled records. One folder under io/ each. */
#ifndef WEIR_RECORD_FORMAT_H
#define WEIR_RECORD_FORMAT_H
#include <stdbool.h>
#include "io/weir_record.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Result of opening. Strings and infos are owned by `state`. */
typedef struct weir_record_body {
  void *state;
  const char *name;
  const char *comments; /* as weir_record_comments; NULL: none */
  const weir_signal_info *signals;
  int n_signals;
  int64_t missing_segments;
  int start_kind; /* as weir_record_start returns */
  int64_t start_us;
  bool has_utc_offset; /* of start_us, which is local time: */
  int utc_offset;      /* minutes east of UTC */
} weir_record_body;

/* Destination of a read: physical values, or the stored integers; the other one is NULL. */
typedef struct weir_record_slots {
  float *values;
  int32_t *raw;
  uint8_t *present;
} weir_record_slots;

/* A descriptor. The generic code has checked signal and range before it calls `read` and
 * `next_run`: 0 <= start, start + count <= the signal's count; every slot is 0 and absent then. */
typedef struct weir_record_format {
  const char *name; /* equals the folder's name */
  const char *help; /* files searched for, for "no format claims this path" */
  bool (*claims)(const char *path);
  /* As weir_record_files; NULL: the path itself. */
  weir_status (*files)(const char *path, weir_record_paths *out);
  /* Properties stated in the header without its samples, frames 0 if not stated; NULL: the file is
   * opened instead. */
  weir_status (*clock)(const char *path, weir_record_clock *out);
  weir_status (*open)(const char *path, const weir_record_opts *opts, weir_record_body *body);
  void (*close)(void *state);
  bool stores_integers; /* supports reading stored integers */
  bool takes_rate;      /* csv_fs may state the rate that a file does not */
  weir_status (*read)(void *state, int signal, int64_t start, int64_t count,
                      const weir_record_slots *to);
  void (*next_run)(const void *state, int signal, int64_t start, int64_t *lo, int64_t *hi);
  weir_status (*checksum)(void *state, int signal, int *sum);  /* NULL: has none */
  weir_status (*events)(void *state, weir_record_events *out); /* NULL: has none */
} weir_record_format;

/* Every format of this build, NULL-terminated; generated from the folders. */
extern const weir_record_format *const weir_record_format_table[];

#ifdef __cplusplus
}
#endif
#endif
