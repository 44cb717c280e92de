/* weir_live.h - samples that come now, as sources of a stream run: lines of a wire (io/weir_wire.h)
 * put into slots, late and doubtful ones counted, final after a watermark.
 *
 * The watermark is the newest sample's slot time less the lateness bound: a slot before it is
 * final. Which samples count follows from the lines alone, in their order: neither from when they
 * came nor from how the run is cut into chunks. */
#ifndef WEIR_LIVE_H
#define WEIR_LIVE_H
#include "io/weir_wire.h"
#include "stream/weir_stream.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_LIVE_STREAMS 64

/* What an app's options say of live input. */
typedef struct weir_live_cfg {
  double lateness;       /* s, how far behind the newest sample one may come                    */
  double tolerance;      /* s, how far off its slot; 0: half of the period, so that none is     */
  double max_ahead;      /* s, how far ahead of the newest sample one, or the stated end, may be */
  double timeout;        /* s without any line after which the input has ended; 0: never        */
  int64_t max_bad_lines; /* consecutive unusable lines after which the input is refused; 0: never */
} weir_live_cfg;

/* What became of the lines. samples = kept + late + duplicate + off_grid + ahead + unused. */
typedef struct weir_live_counts {
  int64_t lines, samples;
  int64_t kept;      /* in a slot, those stated as absent included                              */
  int64_t absent;    /* of these, without a value                                               */
  int64_t snapped;   /* kept over a microsecond off their slot                                  */
  int64_t late;      /* older than the watermark, or before slot 0: dropped                     */
  int64_t duplicate; /* the slot had a sample: dropped, the first one counts                    */
  int64_t off_grid;  /* beyond the tolerance: dropped                                           */
  int64_t ahead;  /* beyond max_ahead: dropped                                                    */
  int64_t unused; /* of a stream that the run does not read                                  */
  int64_t malformed; /* lines that are none of the protocol, or of an undeclared stream: dropped */
  int64_t backward;  /* samples before the one before in their stream, whatever became of them  */
} weir_live_counts;

/* A declared stream. Texts live as long as the input. */
typedef struct weir_live_stream {
  const char *name, *unit; /* unit "" where not stated */
  int64_t fs_num, fs_den;
} weir_live_stream;

typedef struct weir_live weir_live;

/* Where lines come from; as weir_wire_next. */
typedef struct weir_live_lines {
  weir_status (*next)(void *context, double wait, weir_wire_event *event, const char **text,
                      int64_t *size);
  void *context;
} weir_live_lines;
/* Those of a wire, which is borrowed. */
weir_live_lines weir_live_wire(weir_wire *wire);

/* An input of these lines; `cfg` is copied. Fails: WEIR_ERR_MEMORY. */
weir_status weir_live_create(const weir_live_cfg *cfg, weir_live_lines lines,
                             weir_live **out) WEIR_CHECKED;
/* Accepts NULL. */
void weir_live_destroy(weir_live **live);
/* Reads up to the first sample: then the streams are known. Fails: as the lines do; WEIR_ERR_DATA
 * where they end before, where one of the #weir and #stream lines is wrong (named with its number),
 * or `max_bad_lines` of them are unusable; WEIR_ERR_STOPPED by a signal. */
weir_status weir_live_begin(weir_live *live) WEIR_CHECKED;

/* Streams declared so far, at most WEIR_LIVE_STREAMS. */
int weir_live_count(const weir_live *live);
/* Stream i in [0, count). Borrowed. */
const weir_live_stream *weir_live_get(const weir_live *live, int i);
/* Name of the recording, "live" where none is given. */
const char *weir_live_name(const weir_live *live);
/* 2 and the microseconds since 1970 of slot 0 where that is a date, else 0. */
int weir_live_start(const weir_live *live, int64_t *us);
/* Makes stream i part of the run: its samples are kept and move the watermark. To be called before
 * the run, after begin; once for each that reads it. Fails: WEIR_ERR_MEMORY; WEIR_ERR_CONFIG where
 * lateness and rate ask for over 2^28 slots. */
weir_status weir_live_use(weir_live *live, int i) WEIR_CHECKED;
/* Takes back a use, before the run. */
void weir_live_leave(weir_live *live, int i);
/* As weir_stream_source.read, of stream i. Slots are final (weir_live_wait) and ascend. */
weir_status weir_live_read(weir_live *live, int i, int64_t lo, int64_t hi, float *values,
                           uint8_t *present) WEIR_CHECKED;
/* As weir_stream_live.wait; context is the weir_live. Fails: as the lines; WEIR_ERR_DATA after
 * `max_bad_lines` consecutive unusable lines, with the reason of the last. */
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
