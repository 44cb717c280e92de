/* weir_live.h - live
 * input as sources of a stream run: lines of a wire (io/weir_wire.h) are put into slots, rejected
 * ones are counted, and slots are final after a watermark.
 *
 * The watermark is the newest sample's slot time less the lateness bound: a slot before it is
 * final. Accepted
 * samples depend only on the lines and their order, not on arrival times or chunking. */
#ifndef WEIR_LIVE_H
#define WEIR_LIVE_H
#include "io/weir_wire.h"
#include "stream/weir_stream.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_LIVE_STREAMS 64

/* Options of live input. */
typedef struct weir_live_cfg {
  double lateness;  /* s, maximum lateness relative to the newest sample */
  double tolerance; /* s, maximum distance from a slot; 0: half of the period, so that none is
                       rejected */
  double max_ahead; /* s, maximum time of a sample or the stated end ahead of the newest sample */
  double timeout;   /* s without any line after which the input ends; 0: never */
  int64_t max_bad_lines; /* consecutive rejected lines after which the input fails; 0: never */
} weir_live_cfg;

/* Counts of lines. samples = kept + late + duplicate + off_grid + ahead + unused. */
typedef struct weir_live_counts {
  int64_t lines, samples;
  int64_t kept;      /* in a slot, those stated as absent included                              */
  int64_t absent;    /* of these, without a value                                               */
  int64_t snapped;   /* kept over a microsecond off their slot                                  */
  int64_t late;      /* older than the watermark, or before slot 0: dropped                     */
  int64_t duplicate; /* the slot had a sample: dropped, the first one is kept */
  int64_t off_grid;  /* beyond the tolerance: dropped                                           */
  int64_t ahead;  /* beyond max_ahead: dropped                                                    */
  int64_t unused; /* of a stream that the run does not read                                  */
  int64_t malformed; /* lines outside the protocol, or of an undeclared stream: dropped */
  int64_t backward;  /* samples earlier than the previous one of their stream, in any category */
} weir_live_counts;

/* A declared stream. Texts live as long as the input. */
typedef struct weir_live_stream {
  const char *name, *unit; /* unit "" where not stated */
  int64_t fs_num, fs_den;
} weir_live_stream;

typedef struct weir_live weir_live;

/* Source of lines; as weir_wire_next. */
typedef struct weir_live_lines {
  weir_status (*next)(void *context, double wait, weir_wire_event *event, const char **text,
                      int64_t *size);
  void *context;
} weir_live_lines;
/* Returns the lines of a wire, which is borrowed. */
weir_live_lines weir_live_wire(weir_wire *wire);

/* Creates an input of these lines; copies `cfg`. Fails: WEIR_ERR_MEMORY. */
weir_status weir_live_create(const weir_live_cfg *cfg, weir_live_lines lines,
                             weir_live **out) WEIR_CHECKED;
/* Destroys the input; accepts NULL. */
void weir_live_destroy(weir_live **live);
/* Reads up to the first sample, when the streams are known. Fails: as the lines do; WEIR_ERR_DATA
 * where they end before, where a #weir or #stream line is invalid (named with its number), or
 * `max_bad_lines` of them are rejected (weir_last_option is "max_bad_lines" then);
 * WEIR_ERR_STOPPED by a signal. */
weir_status weir_live_begin(weir_live *live) WEIR_CHECKED;

/* Returns the number of streams declared so far, at most WEIR_LIVE_STREAMS. */
int weir_live_count(const weir_live *live);
/* Returns stream i in [0, count). Borrowed. */
const weir_live_stream *weir_live_get(const weir_live *live, int i);
/* Returns the name of the recording, "live" if none is given. */
const char *weir_live_name(const weir_live *live);
/* Returns 2 and the microseconds since 1970 of slot 0 if that is a date, else 0. */
int weir_live_start(const weir_live *live, int64_t *us);
/* Adds stream i to the run: its samples are kept and advance the watermark. Call it before the run,
 * after begin; once for each reader. Fails: WEIR_ERR_MEMORY; WEIR_ERR_CONFIG where lateness and
 * rate need over 2^28 slots. */
weir_status weir_live_use(weir_live *live, int i) WEIR_CHECKED;
/* Removes a use, before the run. */
void weir_live_leave(weir_live *live, int i);
/* As weir_stream_source.read, of stream i. Slots are final (weir_live_wait) and ascend. */
weir_status weir_live_read(weir_live *live, int i, int64_t lo, int64_t hi, float *values,
                           uint8_t *present) WEIR_CHECKED;
/* As weir_stream_live.wait; context is the weir_live. Fails: as the lines; WEIR_ERR_DATA after
 * `max_bad_lines` consecutive rejected lines, with the reason of the last. */
weir_status weir_live_wait(void *context, int64_t from, int64_t to, int64_t *final,
                           bool *ended) WEIR_CHECKED;
/* Borrowed; grows while the run reads. */
const weir_live_counts *weir_live_counted(const weir_live *live);
/* Writes the event live_end with the counts, and a warning where samples were dropped. */
void weir_live_report(const weir_live *live);

#ifdef __cplusplus
}
#endif
#endif
