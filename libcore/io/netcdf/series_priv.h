/* series_priv.h - names that the writer and the reader of records in NetCDF share. */
#ifndef WEIR_SERIES_PRIV_H
#define WEIR_SERIES_PRIV_H

#define WEIR_SERIES_COMMENTS "header_comments" /* as weir_record_comments */
#define WEIR_SERIES_ORIGIN "record_start_kind" /* as weir_record_start */
#define WEIR_SERIES_START "record_start_us"
#define WEIR_SERIES_OFFSET "record_utc_offset_minutes" /* as weir_record_utc_offset, if known */
#define WEIR_SERIES_MEANINGS "invalid_sample outside_of_files" /* of the flags */
#define WEIR_SERIES_RUNS "runs" /* [n, 2] slots between which samples may be present */
/* Numbers of an event, one variable each; the last only where an event has any. */
#define WEIR_SERIES_EVENT                                                           \
  {                                                                                 \
    "event_time", "event_duration", "event_code", "event_subtype", "event_channel", \
        "event_number", "event_text_zeros"                                          \
  }

enum {
  WEIR_SERIES_EVENT_TIME = 0,
  WEIR_SERIES_EVENT_DURATION,
  WEIR_SERIES_EVENT_ZEROS = 6,
  WEIR_SERIES_INVALID = 1, /* flags: the file has the code of an absent sample */
  WEIR_SERIES_GAP = 2,     /* no file has the sample */
  WEIR_SERIES_BLOCK = 65536,
  WEIR_SERIES_NAME = 256,
  WEIR_SERIES_MAX_RUNS = 2048,
  WEIR_SERIES_MAX_TEXT = 1024 /* bytes of an event's text that are kept */
};
#endif
