/* live_priv.h - the inside of live input: slots that wait to be final. */
#ifndef WEIR_LIVE_PRIV_H
#define WEIR_LIVE_PRIV_H
#include "stream/weir_live.h"

/* What a slot holds. */
enum { LIVE_NOTHING, LIVE_ABSENT, LIVE_VALUE };

/* Slots [base, base + capacity) lie in a ring. */
typedef struct live_ring {
  weir_live_stream facts;
  char name[WEIR_WIRE_TEXT], unit[WEIR_WIRE_TEXT];
  int uses; /* 0: samples are dropped */
  int64_t capacity, base;
  float *value;
  uint8_t *state;
  int64_t before; /* time of the last sample, ns, INT64_MIN: none */
} live_ring;

/* A sample whose slot is not in the ring yet. */
typedef struct live_pending {
  int stream; /* -1: none */
  int64_t slot;
  float value;
  bool present;
} live_pending;

struct weir_live {
  weir_live_cfg cfg;
  weir_live_lines lines;
  live_ring ring[WEIR_LIVE_STREAMS];
  int n_streams;
  char name[WEIR_WIRE_TEXT];
  bool begun, finished; /* the first sample has come; the last line has */
  weir_wire_clock clock;
  int64_t origin;      /* ns of slot 0 on that clock                          */
  int64_t newest, end; /* slot time of the newest sample, stated end; ns from slot 0, -1: none */
  int64_t lateness_ns;
  live_pending pending;
  char first[WEIR_WIRE_LINE + 2]; /* the first sample's line, until the streams are chosen */
  int64_t first_size;             /* -1: none */
  weir_live_counts counts;
  int64_t useless; /* lines in a row */
  const char *reason;
  char refused[256]; /* the first declaration that was refused, with line and reason; "": none */
};

/* First slot at or after ns from slot 0; time of a slot, rounded down. */
int64_t live_slot_at(const live_ring *r, int64_t ns);
int64_t live_time_of(const live_ring *r, int64_t slot);
/* Slots before this time are final: ns from slot 0. */
int64_t live_watermark(const weir_live *l);
/* Puts the pending sample into its slot if that is in the ring now. True when none is pending. */
bool live_store_pending(weir_live *l);
/* One line, its end left out. No other may follow while a sample is pending. */
void live_take(weir_live *l, const char *text, int64_t size);

#endif
