/* live.c - the life of a live input: opened, waited for, read, reported. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "stream/live/live_priv.h"

#define NS 1000000000
/* What is final is handed on once the sender has been quiet for so long. */
#define QUIET_S 0.05
/* A sender that is quiet for longer is spoken of. */
#define SILENT_S 5.0

static weir_status wire_next(void *context, double wait, weir_wire_event *event, const char **text,
                             int64_t *size)
{
  return weir_wire_next(context, wait, event, text, size);
}

weir_live_lines weir_live_wire(weir_wire *wire)
{
  return (weir_live_lines){wire_next, wire};
}

weir_status weir_live_create(const weir_live_cfg *cfg, weir_live_lines lines, weir_live **out)
{
  weir_live *l = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *l, (void **)&l));
  l->cfg = *cfg;
  l->lines = lines;
  l->lateness_ns = (int64_t)(cfg->lateness * NS + 0.5);
  l->newest = l->end = l->first_size = -1;
  l->pending.stream = -1;
  l->reason = "";
  (void)strcpy(l->name, "live");
  *out = l;
  return WEIR_OK;
}

void weir_live_destroy(weir_live **live)
{
  if (*live == NULL) {
    return;
  }
  for (int i = 0; i < (*live)->n_streams; i++) {
    weir_free(&(*live)->ring[i].value);
    weir_free(&(*live)->ring[i].state);
  }
  weir_free(live);
}

static weir_status check_limit(const weir_live *l)
{
  if (l->cfg.max_bad_lines > 0 && l->useless >= l->cfg.max_bad_lines) {
    return weir_fail_option(
        weir_fail(WEIR_ERR_DATA,
                  "live input: %lld lines in a row were rejected, the last (line %lld) because %s",
                  (long long)l->useless, (long long)l->counts.lines, l->reason),
        "max_bad_lines");
  }
  return WEIR_OK;
}

/* Takes the line, or, before the streams are chosen, keeps the first sample's. */
static void take_or_keep(weir_live *l, const char *text, int64_t size, bool choosing)
{
  weir_wire_line line = {.kind = WEIR_WIRE_NOTHING};

  if (choosing && l->n_streams > 0) {
    weir_wire_parse(text, size, &line);
  }
  if (line.kind == WEIR_WIRE_SAMPLE) {
    memcpy(l->first, text, (size_t)size);
    l->first_size = size;
  } else {
    live_take(l, text, size);
  }
}

/* One line, if one comes within QUIET_S; *quiet seconds without one. */
static weir_status next_line(weir_live *l, bool choosing, double *quiet)
{
  weir_wire_event event = WEIR_WIRE_QUIET;
  const char *text = NULL;
  int64_t size = 0;
  const double start = *quiet > 0 ? weir_clock() : 0;

  WEIR_TRY(l->lines.next(l->lines.context, *quiet > 0 ? QUIET_S : 0, &event, &text, &size));
  if (event == WEIR_WIRE_QUIET) {
    /* The first look costs no time: it only says that waiting begins. */
    *quiet += *quiet > 0 ? weir_clock() - start : 1e-9;
    return WEIR_OK;
  }
  *quiet = 0;
  if (event == WEIR_WIRE_ENDED) {
    l->finished = true;
  } else if (event == WEIR_WIRE_LONG) {
    l->counts.lines++;
    l->counts.malformed++;
    l->useless++;
    l->reason = "the line is too long";
  } else {
    take_or_keep(l, text, size, choosing);
  }
  return check_limit(l);
}

/* True when the sender has been quiet for longer than the timeout allows. */
static bool has_timed_out(const weir_live *l, double quiet)
{
  if (l->cfg.timeout <= 0 || quiet <= l->cfg.timeout) {
    return false;
  }
  weir_warn("live", "no data for %.3g s (option `timeout`): the input has ended", quiet);
  return true;
}

weir_status weir_live_begin(weir_live *l)
{
  double quiet = 0;

  while (l->first_size < 0 && !l->finished) {
    WEIR_TRY(next_line(l, true, &quiet));
    if (l->refused[0] != 0) {
      return weir_fail(WEIR_ERR_DATA, "live input, %s", l->refused);
    }
    l->finished = l->finished || has_timed_out(l, quiet);
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "stopped by signal %d before the first sample",
                       weir_stop_signal());
    }
  }
  if (l->n_streams == 0 || l->first_size < 0) {
    return weir_fail(WEIR_ERR_DATA, "live input ended after %lld lines without %s%s%s",
                     (long long)l->counts.lines, l->n_streams == 0 ? "a #stream line" : "a sample",
                     l->reason[0] != 0 ? "; the last rejected line: " : "", l->reason);
  }
  return WEIR_OK;
}

int weir_live_count(const weir_live *l)
{
  return l->n_streams;
}

const weir_live_stream *weir_live_get(const weir_live *l, int i)
{
  return &l->ring[i].facts;
}

const char *weir_live_name(const weir_live *l)
{
  return l->name;
}

int weir_live_start(const weir_live *l, int64_t *us)
{
  *us = l->clock == WEIR_WIRE_DATE ? l->origin / 1000 : 0;
  return l->clock == WEIR_WIRE_DATE ? 2 : 0;
}

weir_status weir_live_use(weir_live *l, int i)
{
  live_ring *r = &l->ring[i];
  const double slots =
      (l->cfg.lateness + 2) * (double)r->facts.fs_num / (double)r->facts.fs_den + 8;

  if (slots > 0x1p28) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "lateness: %.6g s of stream '%s' are %.3g samples: at most 2.7e8 samples can be buffered",
        l->cfg.lateness, r->name, slots);
  }
  if (r->uses > 0) {
    r->uses++;
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc((int64_t)slots, sizeof *r->value, (void **)&r->value));
  WEIR_TRY(weir_alloc((int64_t)slots, sizeof *r->state, (void **)&r->state));
  r->capacity = (int64_t)slots;
  r->uses = 1;
  return WEIR_OK;
}

void weir_live_leave(weir_live *l, int i)
{
  live_ring *r = &l->ring[i];

  if (--r->uses == 0) {
    weir_free(&r->value);
    weir_free(&r->state);
  }
}

weir_status weir_live_read(weir_live *l, int i, int64_t lo, int64_t hi, float *values,
                           uint8_t *present)
{
  const live_ring *r = &l->ring[i];
  int64_t at = lo % r->capacity;

  for (int64_t t = lo; t < hi; t++) {
    const bool there = t >= r->base && t < r->base + r->capacity && r->state[at] == LIVE_VALUE;

    present[t - lo] = there;
    values[t - lo] = there ? r->value[at] : 0.0f;
    at = at + 1 < r->capacity ? at + 1 : 0;
  }
  return WEIR_OK;
}

/* Slots before `ns` have been read. */
static void release(weir_live *l, int64_t ns)
{
  for (int i = 0; i < l->n_streams; i++) {
    live_ring *r = &l->ring[i];
    const int64_t base = r->uses > 0 ? live_slot_at(r, ns) : 0;
    const int64_t n = base - r->base < r->capacity ? base - r->base : r->capacity;

    for (int64_t t = r->base; t < r->base + n; t++) {
      r->state[t % r->capacity] = LIVE_NOTHING;
    }
    r->base = base > r->base ? base : r->base;
  }
}

/* Where the recording ends: where it says, but not before its last sample has. */
static int64_t end_of(const weir_live *l)
{
  int64_t end = l->end;

  for (int i = 0; i < l->n_streams && l->newest >= 0; i++) {
    const live_ring *r = &l->ring[i];
    const int64_t after = r->uses > 0 ? live_time_of(r, live_slot_at(r, l->newest) + 1) : 0;

    /* The newest sample is of one of the streams: of that whose slot begins then. */
    if (r->uses > 0 && live_time_of(r, live_slot_at(r, l->newest)) == l->newest && after > end) {
      end = after;
    }
  }
  return end > 0 ? end : 0;
}

weir_status weir_live_wait(void *context, int64_t from, int64_t to, int64_t *final, bool *ended)
{
  weir_live *l = context;
  double quiet = 0, said = SILENT_S;

  release(l, from);
  if (l->first_size >= 0) {
    const int64_t size = l->first_size;

    l->first_size = -1;
    live_take(l, l->first, size);
  }
  for (;;) {
    const bool stored = live_store_pending(l);
    const int64_t now = live_watermark(l) > from ? live_watermark(l) : from;

    *ended = stored && (l->finished || weir_stop_requested());
    if (*ended) {
      *final = l->finished && end_of(l) > from ? end_of(l) : now;
      return WEIR_OK;
    }
    if (now >= to || (now > from && (!stored || quiet >= QUIET_S))) {
      *final = now;
      return WEIR_OK;
    }
    WEIR_TRY(next_line(l, false, &quiet));
    l->finished = l->finished || has_timed_out(l, quiet);
    if (quiet > said) {
      weir_info("live", "no data for %.0f s; %lld samples so far", quiet,
                (long long)l->counts.kept);
      said *= 4;
    }
  }
}

const weir_live_counts *weir_live_counted(const weir_live *l)
{
  return &l->counts;
}

void weir_live_report(const weir_live *l)
{
  const weir_live_counts *c = &l->counts;
  const int64_t dropped = c->late + c->duplicate + c->off_grid + c->ahead + c->malformed;

  weir_event("live_end", WEIR_INT("lines", c->lines), WEIR_INT("samples", c->samples),
             WEIR_INT("kept", c->kept), WEIR_INT("absent", c->absent),
             WEIR_INT("snapped", c->snapped), WEIR_INT("late", c->late),
             WEIR_INT("duplicate", c->duplicate), WEIR_INT("off_grid", c->off_grid),
             WEIR_INT("ahead", c->ahead), WEIR_INT("unused", c->unused),
             WEIR_INT("malformed", c->malformed), WEIR_INT("backward", c->backward),
             WEIR_REAL("lateness_s", l->cfg.lateness));
  weir_info("live",
            "%lld lines: %lld samples kept (%lld snapped, %lld out of order), %lld late, %lld "
            "duplicate, %lld off the grid, %lld ahead, %lld malformed",
            (long long)c->lines, (long long)c->kept, (long long)c->snapped, (long long)c->backward,
            (long long)c->late, (long long)c->duplicate, (long long)c->off_grid,
            (long long)c->ahead, (long long)c->malformed);
  if (dropped > 0) {
    weir_warn("live", "%lld lines were dropped, the last because %s", (long long)dropped,
              l->reason);
  }
}
