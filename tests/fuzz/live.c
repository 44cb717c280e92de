/* live.c - fuzz target: lines of live samples. Every sample is counted once, and what is final can
 * be read. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "stream/weir_live.h"
#include "weir_fuzz.h"

enum { SLOTS = 512, WAITS = 200 };

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

typedef struct bytes {
  const char *at, *end;
} bytes;

static weir_status next_line(void *context, double wait, weir_wire_event *event, const char **text,
                             int64_t *size)
{
  bytes *b = context;

  (void)wait;
  *text = b->at;
  if (b->at == b->end) {
    *event = WEIR_WIRE_ENDED;
    return WEIR_OK;
  }
  const char *stop = memchr(b->at, '\n', (size_t)(b->end - b->at));

  *size = (stop != NULL ? stop : b->end) - b->at;
  b->at += *size + (stop != NULL);
  *event = *size > WEIR_WIRE_LINE ? WEIR_WIRE_LONG : WEIR_WIRE_GOT;
  return WEIR_OK;
}

static void check_counts(const weir_live_counts *c)
{
  if (c->samples != c->kept + c->late + c->duplicate + c->off_grid + c->ahead + c->unused ||
      c->absent > c->kept || c->snapped > c->kept || c->backward > c->samples ||
      c->samples + c->malformed > c->lines) {
    abort();
  }
}

static void run(weir_live *l)
{
  static float x[SLOTS];
  static uint8_t present[SLOTS];
  int64_t from = 0, present_slots = 0;
  bool ended = false;

  for (int i = 0; i < weir_live_count(l); i += 2) {
    if (weir_live_use(l, i) != WEIR_OK) {
      return;
    }
  }
  for (int k = 0; k < WAITS && !ended; k++) {
    int64_t final = 0;

    if (weir_live_wait(l, from, from + 1000000000, &final, &ended) != WEIR_OK) {
      return;
    }
    if (final < from || (final == from && !ended)) {
      abort();
    }
    const weir_live_stream *s = weir_live_get(l, 0);
    const int64_t lo = (int64_t)((__int128)from * s->fs_num / s->fs_den / 1000000000);

    if (weir_live_read(l, 0, lo, lo + SLOTS, x, present) != WEIR_OK) {
      abort();
    }
    for (int i = 0; i < SLOTS; i++) {
      present_slots += present[i];
    }
    from = final;
  }
  reached += present_slots > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  bytes b = {(const char *)data, (const char *)data + size};
  const weir_live_cfg cfg = {.lateness = 1, .max_ahead = 100, .max_bad_lines = 100};
  weir_live *l = NULL;

  weir_log_set_level(WEIR_LOG_ERROR);
  if (weir_live_create(&cfg, (weir_live_lines){next_line, &b}, &l) != WEIR_OK) {
    abort();
  }
  if (weir_live_begin(l) == WEIR_OK) {
    run(l);
  }
  check_counts(weir_live_counted(l));
  weir_live_destroy(&l);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
