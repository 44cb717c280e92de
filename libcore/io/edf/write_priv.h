/* write_priv.h - shared between the sources that write EDF+ and BDF+ files. Units of time: frames,
 * of which each holds a whole number of samples of every signal. */
#ifndef WEIR_EDF_WRITE_PRIV_H
#define WEIR_EDF_WRITE_PRIV_H
#include <stdbool.h>
#include <stdint.h>
#include "io/weir_record.h"
#include "io/weir_record_convert.h"

enum { WEIR_EDF_NUMBER = 9 }; /* bytes of a number of the header, with its end */

/* Consecutive slots without a sample of a signal, or frames with one of any: [lo, hi). */
typedef struct weir_edf_range {
  int64_t lo, hi;
  int signal;
} weir_edf_range;

typedef struct weir_edf_ranges {
  int64_t count, capacity;
  weir_edf_range *items;
} weir_edf_ranges;

/* How a signal is written. */
typedef struct weir_edf_lane {
  const weir_signal_info *info;
  char label[17], units[9];
  int64_t per_frame;
  bool real;       /* values are rounded; otherwise stored integers stay as they are */
  bool any;        /* it has a sample: */
  int64_t lo, hi;  /* the least and the greatest stored integer */
  double min, max; /* and value */
  bool has_code;   /* some samples in data records are absent: digital_min - 1 */
  int32_t digital_min, digital_max;
  double physical_min, physical_max; /* as their text says */
  char min_text[WEIR_EDF_NUMBER], max_text[WEIR_EDF_NUMBER];
} weir_edf_lane;

/* Frames and data records. */
typedef struct weir_edf_layout {
  int64_t num, den;               /* frames per second */
  int64_t frames;                 /* of the recording */
  int64_t record_frames, records; /* frames of a data record, and how many records */
  weir_edf_ranges runs;           /* of frames: adjacent data records */
  char duration[WEIR_EDF_NUMBER]; /* of a record, s */
} weir_edf_layout;

/* Appends a range. Fails: WEIR_ERR_MEMORY; WEIR_ERR_DATA beyond 2^22. */
weir_status weir_edf_range_add(weir_edf_ranges *list, int signal, int64_t lo,
                               int64_t hi) WEIR_CHECKED;
/* Chooses length and places of the data records from the frames that have a sample (`present`):
 * one begins at frame 0, one contains the last frame, others follow where samples do. About 1 s,
 * 0.1 to 10 s so that no record is partly empty, if possible. `frame_bytes` are those of the
 * samples of a frame. Fails: WEIR_ERR_UNSUPPORTED for a rate that no duration of 8 characters
 * allows for, WEIR_ERR_MEMORY. */
weir_status weir_edf_layout_choose(const char *name, const weir_edf_ranges *present,
                                   int64_t frame_bytes, weir_edf_layout *out) WEIR_CHECKED;
/* Chooses digital and physical range of a signal of `bits` (16 or 24) from what is known of its
 * samples. Fails: WEIR_ERR_CONFIG where the steps are coarser than `scale` allows (facts->coarse is
 * set then). */
weir_status weir_edf_scale_choose(const char *name, const weir_convert_scale *scale, int bits,
                                  weir_edf_lane *lane, weir_convert_facts *facts) WEIR_CHECKED;

/* Writes a label or unit in ASCII, as EDF requires: the micro and degree signs are spelled out,
 * what else is no ASCII becomes '?'. False where it does not fit `size` bytes; it is cut then. */
bool weir_edf_plain_text(const char *text, char *out, size_t size);

/* Time-stamped annotation lists, each of one text, one after the other. */
typedef struct weir_edf_notes {
  char *bytes;
  int64_t size, capacity;
  int64_t *ends; /* of each list */
  int64_t count, ends_capacity;
  int64_t largest; /* bytes of a list */
} weir_edf_notes;

/* Writes a time as a TAL has it: seconds with a sign, to the ns. Returns its length; at most 32. */
int weir_edf_time_text(int64_t ns, bool sign, char text[32]);
/* Appends a list; what would end its text becomes a blank. duration: -1 for none.
 * Fails: WEIR_ERR_MEMORY. */
weir_status weir_edf_note_add(weir_edf_notes *notes, int64_t ns, int64_t duration,
                              const char *text) WEIR_CHECKED;
/* Appends the lists of events, named by the mnemonic of their code and their text, and of lines of
 * comments ("# ..."), `shift` ns later. Fails: WEIR_ERR_MEMORY. */
weir_status weir_edf_notes_add(weir_edf_notes *notes, const weir_record_events *events,
                               const char *comments, int64_t shift) WEIR_CHECKED;
void weir_edf_notes_fini(weir_edf_notes *notes);
#endif
