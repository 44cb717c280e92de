/* emulated_priv.h - a device whose work is deferred, checked and run on the host thread. */
#ifndef EMULATED_PRIV_H
#define EMULATED_PRIV_H
#include "device/device_priv.h"

enum { SLOTS = WEIR_DEVICE_QUEUES };

/* How much of each queue's work has been done, or must have been. */
typedef struct clocks {
  int64_t at[SLOTS];
} clocks;
void emulated_clocks_join(clocks *c, const clocks *other);
bool emulated_clocks_reach(const int64_t done[SLOTS], const clocks *needed);

/* ---- Memory: whole pages of each array between guard pages (memory.c). ---- */

typedef enum page_access { PAGES_NONE, PAGES_READ, PAGES_WRITE } page_access;
typedef struct pages {
  char *map, *pages; /* with and without the guards */
  int64_t map_bytes, bytes;
  page_access now; /* what the pages allow */
  char *written;   /* DEVICE: for each byte of the array, whether something wrote it */
} pages;

weir_status emulated_pages_create(device_array *array) WEIR_CHECKED;
void emulated_pages_destroy(device_array *array);
void emulated_pages_allow(const device_array *array, page_access access);
/* NaNs of f32 and f64; `which` is 0 or 1, and no byte of one pattern equals that of the other. */
void emulated_pages_fill(char *to, int64_t bytes, int which);

/* ---- Order: which uses of memory are ordered by queues, events and the host (order.c). ---- */

typedef struct record {
  device_array *array;
  int64_t lo, hi;
  int slot;
  int64_t time; /* of that queue */
  bool write;
  char what[48];
} record;

typedef struct timeline {
  clocks queue[SLOTS], host;
  record *records;
  int64_t n, capacity;
} timeline;
/* Returns whether work that uses memory so may be given to the queue. Fails: WEIR_ERR_EXTERNAL,
 * where an earlier use is not ordered before it. */
weir_status emulated_timeline_check(timeline *t, int slot, const device_op *op) WEIR_CHECKED;
/* Notes the uses for the queue's next time, without making it the present. */
weir_status emulated_timeline_note(timeline *t, int slot, const device_op *op) WEIR_CHECKED;
/* The host has seen what these clocks say done. */
void emulated_timeline_seen(timeline *t, const clocks *done);
void emulated_timeline_forget(timeline *t, const weir_device_arena *arena);
/* What a message calls the operation. */
void emulated_describe(const device_op *op, char text[48]);

/* ---- Sequences: work given, and the order in which it runs (run.c). ---- */

typedef struct work {
  device_op *op;                /* owned; NULL: a replay */
  weir_device_capture *capture; /* of it */
  int slot;
  int64_t time;
  clocks needed;
  bool done;
} work;

typedef struct sequence {
  work *works;
  int64_t n, capacity;
  int64_t done[SLOTS]; /* time that each queue has reached */
} sequence;

typedef struct emulated {
  weir_device *device;
  uint64_t seed, drawn;
  timeline line, captured; /* captured: of the capture under way */
  sequence given, recorded;
  weir_status failed; /* every later call fails with the message */
  char message[512];
} emulated;

weir_status emulated_failure(const emulated *e) WEIR_CHECKED;
/* Runs work in an order drawn from the seed until `target` is reached. */
weir_status emulated_sequence_run(emulated *e, sequence *s, const clocks *target) WEIR_CHECKED;
void emulated_sequence_drop_done(sequence *s);
void emulated_sequence_free(sequence *s);
/* Runs one copy or launch, with its memory open meanwhile (execute.c). */
weir_status emulated_execute(emulated *e, const device_op *op) WEIR_CHECKED;
/* Opens and closes memory for the host: device arrays are closed, and staging arrays while work
 * that uses them has not been waited for. */
void emulated_protect(emulated *e);
#endif
