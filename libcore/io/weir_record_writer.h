/* weir_record_writer.h - incremental writer of WFDB records (header and signal files). */
#ifndef WEIR_RECORD_WRITER_H
#define WEIR_RECORD_WRITER_H
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* raw = round(value * gain + baseline). */
typedef struct weir_record_channel {
  const char *name, *units; /* units without blanks; NULL: mV */
  double gain;              /* > 0, steps per unit */
  int baseline;             /* raw value of 0 units */
  int format;               /* 0: that of the record */
  int samples_per_frame;    /* 1..1024; 0: 1 */
} weir_record_channel;

typedef struct weir_record_spec {
  int64_t fs_num, fs_den; /* frames per second */
  int n_channels;         /* 1..1024 */
  const weir_record_channel *channels;
  int format;     /* 16 (-32767..32767), 212 (-2047..2047), 24, 32, 61, 80, 160, 310 or 311 */
  int start_kind; /* as weir_record_start gives it: 0 nothing, 1 time of day, 2 date too */
  int64_t start_us;
  const char *comment; /* text after '#' at the end of the header, lines by '\n'; may be NULL */
} weir_record_spec;

/* Returns the bits of a sample in a supported format; 0 for any other number. */
int weir_record_format_bits(int format);

typedef struct weir_record_writer weir_record_writer;

/* Starts `path`.dat, or, where neighbours differ in format, `path`_0.dat, `path`_1.dat...; `path`
 * is a folder and a record name (letters, digits, '_', '-') without suffix. Fails: WEIR_ERR_CONFIG
 * (a name, format or number that a header cannot hold), WEIR_ERR_DATA (cannot be created),
 * WEIR_ERR_MEMORY. */
weir_status weir_record_writer_open(const char *path, const weir_record_spec *spec,
                                    weir_record_writer **out) WEIR_CHECKED;
/* Appends frames: values[channel][frame * samples per frame + k], physical. A sample is absent (the
 * format's invalid code) where present[channel][frame] is 0 or the value is NaN; `present` or
 * present[channel] may be NULL. Values beyond the range are clipped, and counted. */
weir_status weir_record_writer_append(weir_record_writer *w, int64_t frames,
                                      const float *const *values,
                                      const uint8_t *const *present) WEIR_CHECKED;
/* Appends frames of stored integers; a value outside the range is stored as the invalid code where
 * it equals it, else clipped. */
weir_status weir_record_writer_append_raw(weir_record_writer *w, int64_t frames,
                                          const int32_t *const *raw) WEIR_CHECKED;
/* Returns the number of samples clipped so far. */
int64_t weir_record_writer_clipped(const weir_record_writer *w);
/* Writes the header with lengths and checksums, and renames all files into place. *w is destroyed
 * in either case. */
weir_status weir_record_writer_commit(weir_record_writer **w) WEIR_CHECKED;
/* Removes the temporary files; accepts NULL. */
void weir_record_writer_destroy(weir_record_writer **w);

#ifdef __cplusplus
}
#endif
#endif
