/* wfdb.c - WFDB records: plain ones, and those of several segments in fixed or variable layout. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "io/io_priv.h"
#include "io/weir_record_format.h"
#include "io/wfdb/wfdb_priv.h"

enum { STORES = 4, WARNINGS = 4, PIECE = 4096 };

/* A segment that is open now. map[i] is the segment's own number of signal i, -1 when it has none.
 */
typedef struct cached {
  weir_wfdb_store *store;
  int64_t segment, used;
  int16_t map[WEIR_WFDB_MAX_SIGNALS];
} cached;

typedef struct wfdb {
  weir_record_opts opts;
  char dir[4096];
  weir_wfdb_block block;
  weir_wfdb_header top;    /* of a record of segments; else empty */
  weir_wfdb_header layout; /* signals of such a record */
  int64_t first;           /* first segment with samples: 1 after a layout header */
  bool variable;           /* signals are matched by name */
  int64_t *starts;         /* [n_segments + 1] first frame of each segment */
  uint8_t *holds;          /* [n_segments, n_signals] bits: which signals a segment may hold */
  int64_t holds_row;       /* bytes of a row */
  bool varies[WEIR_WFDB_MAX_SIGNALS]; /* segments scale the signal in different ways */
  int64_t missing, clock;
  cached open[STORES]; /* a plain record always uses the first one */
  weir_signal_info *infos;
} wfdb;

static weir_status rate_of(const weir_wfdb_header *h, int spf, weir_signal_info *info)
{
  int64_t num = h->fs_num;

  if (!weir_mul_ok(num, (int64_t)spf, &num)) {
    return weir_fail(WEIR_ERR_DATA, "record %s: the sampling rate is too large", h->name);
  }
  info->fs_num = num;
  info->fs_den = h->fs_den;
  weir_io_reduce(&info->fs_num, &info->fs_den);
  return WEIR_OK;
}

/* Infos of `signals`, in a record with the rate and length of `h`. */
static weir_status describe(wfdb *w, const weir_wfdb_header *h, const weir_wfdb_header *signals)
{
  void *memory = NULL;

  WEIR_TRY(weir_alloc(signals->n_listed, sizeof *w->infos, &memory));
  w->infos = memory;
  for (int64_t i = 0; i < signals->n_listed; i++) {
    const weir_wfdb_signal *const s = &signals->signals[i];
    weir_signal_info *const info = &w->infos[i];

    info->name = s->name;
    info->units = s->units;
    info->file = s->file ? s->file : "";
    info->count = h->frames * s->spf;
    info->n_truncated = h == signals ? weir_wfdb_store_truncated(w->open[0].store, (int)i) : 0;
    info->samples_per_frame = s->spf;
    info->skew = s->skew;
    info->gain = s->gain;
    info->baseline = s->baseline;
    info->has_checksum = s->has_checksum && h == signals;
    info->checksum = s->checksum;
    info->format = s->codec->name;
    info->bits = s->codec->bits;
    info->has_invalid = s->codec->has_invalid;
    info->invalid = s->codec->invalid;
    info->scale_varies = w->varies[i];
    WEIR_TRY(rate_of(h, s->spf, info));
  }
  return WEIR_OK;
}

static weir_status open_plain(wfdb *w, weir_wfdb_header *h, weir_record_body *body)
{
  WEIR_TRY(weir_wfdb_store_open(h, w->dir, w->opts.allow_short != 0, &w->block, NULL,
                                &w->open[0].store));
  const weir_wfdb_header *const kept = weir_wfdb_store_header(w->open[0].store);

  for (int i = 0; i < WEIR_WFDB_MAX_SIGNALS; i++) {
    w->open[0].map[i] = (int16_t)i;
  }
  WEIR_TRY(describe(w, kept, kept));
  body->name = kept->name;
  body->comments = kept->comments;
  body->n_signals = (int)kept->n_listed;
  body->start_kind = kept->start_kind;
  body->start_us = kept->start_us;
  return WEIR_OK;
}

/* Frames per segment summed up, and compared with the total that the record line states. */
static weir_status sum_segments(wfdb *w)
{
  weir_wfdb_header *const top = &w->top;
  void *memory = NULL;
  int64_t total = 0;

  WEIR_TRY(weir_alloc(top->n_segments + 1, sizeof *w->starts, &memory));
  w->starts = memory;
  for (int64_t i = 0; i < top->n_segments; i++) {
    w->starts[i] = total;
    total += top->segments[i].frames;
    if (total > WEIR_WFDB_MAX_FRAMES) {
      return weir_fail(WEIR_ERR_DATA, "record %s: too many frames in its segments", top->name);
    }
  }
  w->starts[top->n_segments] = total;
  if (top->frames != 0 && top->frames != total && !w->opts.allow_short) {
    return weir_fail_option(
        weir_fail(WEIR_ERR_DATA,
                  "record %s: %lld frames declared, its segments have %lld; allow_short takes "
                  "what the segments have",
                  top->name, (long long)top->frames, (long long)total),
        "allow_short");
  }
  top->frames = total;
  return WEIR_OK;
}

/* Reads the header of segment `i`. *missing when there is none; then *h is empty. */
static weir_status segment_header(const wfdb *w, int64_t i, weir_wfdb_header *h, bool *missing)
{
  char path[4096];
  char file[300];

  *h = (weir_wfdb_header){0};
  snprintf(file, sizeof file, "%s.hea", w->top.segments[i].name);
  WEIR_TRY(weir_path_join(w->dir[0] ? w->dir : ".", file, path, sizeof path));
  *missing = access(path, F_OK) != 0 && errno == ENOENT;
  if (*missing) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_wfdb_header_read(path, w->opts.zero_gain != 0, h));
  if (h->n_segments) {
    weir_wfdb_header_fini(h);
    return weir_fail(WEIR_ERR_DATA, "%s: a segment must not itself have segments", path);
  }
  return WEIR_OK;
}

/* Opens segment `i` into a slot of the cache and matches its signals with the record's. */
static weir_status open_segment(wfdb *w, int64_t i, cached *slot, bool *missing)
{
  weir_wfdb_header h;
  const int64_t frames = w->top.segments[i].frames;

  weir_wfdb_store_close(&slot->store);
  WEIR_TRY(segment_header(w, i, &h, missing));
  if (*missing) {
    return WEIR_OK;
  }
  const weir_status status =
      weir_wfdb_store_open(&h, w->dir, w->opts.allow_short != 0, &w->block, missing, &slot->store);

  weir_wfdb_header_fini(&h); /* empty unless nothing could be allocated */
  WEIR_TRY(status);
  if (*missing) {
    return WEIR_OK;
  }
  const weir_wfdb_header *const own = weir_wfdb_store_header(slot->store);

  slot->segment = i;
  if (own->fs_num != w->top.fs_num || own->fs_den != w->top.fs_den) {
    return weir_fail(WEIR_ERR_DATA, "segment %s: its sampling rate differs from that of record %s",
                     w->top.segments[i].name, w->top.name);
  }
  if (own->frames < frames && !w->opts.allow_short) {
    return weir_fail_option(
        weir_fail(WEIR_ERR_DATA, "segment %s: record %s declares %lld frames, it has %lld",
                  w->top.segments[i].name, w->top.name, (long long)frames, (long long)own->frames),
        "allow_short");
  }
  return WEIR_OK;
}

static weir_status match_signals(const wfdb *w, cached *slot)
{
  const weir_wfdb_header *const own = weir_wfdb_store_header(slot->store);
  const weir_wfdb_header *const all = &w->layout;

  if (!w->variable && own->n_listed != all->n_listed) {
    return weir_fail(WEIR_ERR_DATA, "segment %s: %lld signals where record %s has %lld", own->name,
                     (long long)own->n_listed, w->top.name, (long long)all->n_listed);
  }
  for (int64_t i = 0; i < all->n_listed; i++) {
    slot->map[i] = w->variable ? -1 : (int16_t)i;
    for (int64_t j = 0; w->variable && j < own->n_listed && slot->map[i] < 0; j++) {
      if (strcmp(all->signals[i].name, own->signals[j].name) == 0) {
        slot->map[i] = (int16_t)j;
      }
    }
    if (slot->map[i] >= 0 && own->signals[slot->map[i]].spf != all->signals[i].spf) {
      return weir_fail(WEIR_ERR_DATA, "segment %s: signal %s has %d samples a frame, not %d",
                       own->name, all->signals[i].name, own->signals[slot->map[i]].spf,
                       all->signals[i].spf);
    }
  }
  return WEIR_OK;
}

static weir_status copy_text(const char *text, char **out)
{
  return text ? weir_strdup(text, out) : WEIR_OK;
}

/* The signals of the record: from a layout header, or from the first segment that is there. */
static weir_status copy_layout(wfdb *w, const weir_wfdb_header *from)
{
  weir_wfdb_header *const to = &w->layout;

  if (from->n_listed != w->top.n_signals) {
    return weir_fail(WEIR_ERR_DATA, "record %s: %d signals declared, %s has %lld", w->top.name,
                     w->top.n_signals, from->name, (long long)from->n_listed);
  }
  WEIR_TRY(weir_reserve(&to->signals, &to->signal_capacity, from->n_listed, sizeof *to->signals));
  for (int64_t i = 0; i < from->n_listed; i++) {
    weir_wfdb_signal *const s = &to->signals[i];

    *s = from->signals[i];
    s->file = s->name = s->units = NULL;
    to->n_listed = i + 1;
    WEIR_TRY(copy_text(from->signals[i].file, &s->file));
    WEIR_TRY(copy_text(from->signals[i].name, &s->name));
    WEIR_TRY(copy_text(from->signals[i].units, &s->units));
  }
  return WEIR_OK;
}

static weir_status find_layout(wfdb *w)
{
  weir_wfdb_header h = {0};
  bool missing = true;

  w->variable = w->top.segments[0].frames == 0 && w->top.segments[0].name;
  w->first = w->variable ? 1 : 0;
  for (int64_t i = 0; i < w->top.n_segments && missing; i++) {
    if (!w->top.segments[i].name) {
      continue;
    }
    WEIR_TRY(segment_header(w, i, &h, &missing));
    if (w->variable && missing) {
      return weir_fail(WEIR_ERR_DATA, "record %s: its layout header %s.hea is missing", w->top.name,
                       w->top.segments[0].name);
    }
  }
  if (missing) {
    return weir_fail(WEIR_ERR_DATA, "record %s: none of its %lld segments exists", w->top.name,
                     (long long)w->top.n_segments);
  }
  const weir_status status = copy_layout(w, &h);

  weir_wfdb_header_fini(&h);
  return status;
}

static void report_missing(wfdb *w, int64_t i)
{
  w->missing++;
  if (w->missing <= WARNINGS) {
    weir_warn("io", "record %s: segment %s is missing: %lld frames become a gap", w->top.name,
              w->top.segments[i].name, (long long)w->top.segments[i].frames);
  }
}

/* Notes that the open segment holds signal `s` of the record, as its signal `local`. */
static void note_signal(wfdb *w, int64_t segment, int64_t s, int local)
{
  const weir_wfdb_signal *const own = &weir_wfdb_store_header(w->open[0].store)->signals[local];
  weir_wfdb_signal *const all = &w->layout.signals[s];

  w->holds[segment * w->holds_row + s / 8] |= (uint8_t)(1 << (s % 8));
  if (all->codec->number == 0) { /* a layout header only says "0" */
    all->codec = own->codec;
  }
  w->varies[s] = w->varies[s] || own->gain != all->gain || own->baseline != all->baseline ||
                 own->codec->has_invalid != all->codec->has_invalid ||
                 own->codec->invalid != all->codec->invalid || own->codec->bits != all->codec->bits;
}

/* Opens every segment once: what is there, what fits, which signals each one holds. */
static weir_status index_segments(wfdb *w)
{
  void *memory = NULL;
  int64_t frames = 0;

  w->holds_row = (w->layout.n_listed + 7) / 8;
  WEIR_TRY(weir_alloc(w->top.n_segments * w->holds_row, 1, &memory));
  w->holds = memory;
  for (int64_t i = w->first; i < w->top.n_segments; i++) {
    bool missing = false;

    if (!w->top.segments[i].name || w->top.segments[i].frames == 0) {
      continue;
    }
    WEIR_TRY(open_segment(w, i, &w->open[0], &missing));
    if (missing) {
      report_missing(w, i);
      frames += w->top.segments[i].frames;
      continue;
    }
    WEIR_TRY(match_signals(w, &w->open[0]));
    for (int64_t s = 0; s < w->layout.n_listed; s++) {
      const int local = w->open[0].map[s];

      if (local >= 0 && weir_wfdb_store_reach(w->open[0].store, local) > 0) {
        note_signal(w, i, s, local);
      }
    }
  }
  if (w->missing > WARNINGS) {
    weir_warn("io", "record %s: %lld segments are missing in all: %lld of %lld frames", w->top.name,
              (long long)w->missing, (long long)frames, (long long)w->top.frames);
  }
  return WEIR_OK;
}

static weir_status open_segments(wfdb *w, weir_wfdb_header *h, weir_record_body *body)
{
  w->top = *h;
  *h = (weir_wfdb_header){0};
  WEIR_TRY(sum_segments(w));
  WEIR_TRY(find_layout(w));
  WEIR_TRY(index_segments(w));
  WEIR_TRY(describe(w, &w->top, &w->layout));
  body->name = w->top.name;
  body->comments = w->top.comments;
  body->n_signals = (int)w->layout.n_listed;
  body->missing_segments = w->missing;
  body->start_kind = w->top.start_kind;
  body->start_us = w->top.start_us;
  return WEIR_OK;
}

static void close_record(void *state)
{
  wfdb *w = state;

  for (int i = 0; i < STORES; i++) {
    weir_wfdb_store_close(&w->open[i].store);
  }
  weir_wfdb_header_fini(&w->top);
  weir_wfdb_header_fini(&w->layout);
  weir_free(&w->starts);
  weir_free(&w->holds);
  weir_free(&w->infos);
  weir_free(&w);
}

static weir_status open_record(const char *path, const weir_record_opts *opts,
                               weir_record_body *body)
{
  char header[4096];
  void *memory = NULL;
  weir_wfdb_header h = {0};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(1, sizeof(wfdb), &memory));
  wfdb *const w = memory;

  w->opts = *opts;
  WEIR_TRY_GOTO(weir_wfdb_split_path(path, w->dir, header, sizeof header), fail);
  WEIR_TRY_GOTO(weir_wfdb_header_read(header, opts->zero_gain != 0, &h), fail);
  WEIR_TRY_GOTO(h.n_segments ? open_segments(w, &h, body) : open_plain(w, &h, body), fail);
  body->state = w;
  body->signals = w->infos;
  return WEIR_OK;
fail:
  weir_wfdb_header_fini(&h);
  close_record(w);
  return status;
}

/* The segment that holds a frame. */
static int64_t segment_at(const wfdb *w, int64_t frame)
{
  int64_t lo = w->first;
  int64_t hi = w->top.n_segments;

  while (hi - lo > 1) {
    const int64_t mid = lo + (hi - lo) / 2;

    if (w->starts[mid] <= frame) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}

static bool has_signal(const wfdb *w, int64_t segment, int signal)
{
  return w->holds[segment * w->holds_row + signal / 8] >> (signal % 8) & 1;
}

/* An open segment, from the cache of the few used last. */
static weir_status get_segment(wfdb *w, int64_t segment, cached **out)
{
  cached *slot = &w->open[0];
  bool missing = false;
  weir_status status = WEIR_OK;

  for (int i = 0; i < STORES; i++) {
    if (w->open[i].store && w->open[i].segment == segment) {
      w->open[i].used = ++w->clock;
      *out = &w->open[i];
      return WEIR_OK;
    }
    if (w->open[i].used < slot->used) {
      slot = &w->open[i];
    }
  }
  WEIR_TRY_GOTO(open_segment(w, segment, slot, &missing), fail);
  if (missing) {
    return weir_fail(WEIR_ERR_DATA, "record %s: segment %s vanished while it was read", w->top.name,
                     w->top.segments[segment].name);
  }
  WEIR_TRY_GOTO(match_signals(w, slot), fail);
  slot->used = ++w->clock;
  *out = slot;
  return WEIR_OK;
fail:
  weir_wfdb_store_close(&slot->store);
  return status;
}

/* A run of slots inside one segment: [start, start + count) of its signal `local`, none when
 * slot is NULL. */
typedef struct run {
  cached *slot;
  int local;
  int64_t start, count;
} run;

/* The longest run from `start` on that one segment serves. */
static weir_status find_run(wfdb *w, int signal, int64_t start, int64_t count, run *out)
{
  *out = (run){.slot = &w->open[0], .local = signal, .start = start, .count = count};
  if (w->top.n_segments == 0) {
    return WEIR_OK;
  }
  const int64_t spf = w->infos[signal].samples_per_frame;
  const int64_t segment = segment_at(w, start / spf);
  const int64_t left = w->starts[segment + 1] * spf - start;

  out->start = start - w->starts[segment] * spf;
  out->count = count < left ? count : left;
  out->slot = NULL;
  if (!has_signal(w, segment, signal)) {
    return WEIR_OK;
  }
  WEIR_TRY(get_segment(w, segment, &out->slot));
  out->local = out->slot->map[signal];
  const weir_wfdb_header *const own = weir_wfdb_store_header(out->slot->store);
  const int64_t exists = own->frames * spf - out->start;

  if (exists <= 0) { /* a segment shorter than declared, allowed by the options */
    out->slot = NULL;
  } else if (out->count > exists) {
    out->count = exists;
  }
  return WEIR_OK;
}

/* Reads a run of at most PIECE slots to `to` from slot `at` on. */
static weir_status read_run(wfdb *w, const run *r, const weir_record_slots *to, int64_t at)
{
  int32_t scratch[PIECE];
  int32_t *const raw = to->raw ? to->raw + at : scratch;
  uint8_t *const present = to->present + at;
  const weir_wfdb_signal *const s = &weir_wfdb_store_header(r->slot->store)->signals[r->local];

  WEIR_TRY(
      weir_wfdb_store_read(r->slot->store, &w->block, r->local, r->start, r->count, raw, present));
  for (int64_t i = 0; to->values && i < r->count; i++) {
    to->values[at + i] = present[i] ? (float)((raw[i] - s->baseline) / s->gain) : 0.0f;
  }
  return WEIR_OK;
}

static weir_status read_slots(void *state, int signal, int64_t start, int64_t count,
                              const weir_record_slots *to)
{
  wfdb *const w = state;

  for (int64_t at = 0; at < count;) {
    run r;

    WEIR_TRY(find_run(w, signal, start + at, count - at, &r));
    if (r.slot) {
      r.count = r.count < PIECE ? r.count : PIECE;
      WEIR_TRY(read_run(w, &r, to, at));
    }
    at += r.count;
  }
  return WEIR_OK;
}

static void next_run(const void *state, int signal, int64_t start, int64_t *lo, int64_t *hi)
{
  const wfdb *const w = state;
  const int64_t spf = w->infos[signal].samples_per_frame;

  if (w->top.n_segments == 0) {
    const int64_t reach = weir_wfdb_store_reach(w->open[0].store, signal);

    if (start < reach) {
      *lo = start;
      *hi = reach;
    }
    return;
  }
  int64_t i = segment_at(w, start / spf);

  while (i < w->top.n_segments && (!has_signal(w, i, signal) || w->top.segments[i].frames == 0)) {
    i++;
  }
  if (i == w->top.n_segments) {
    return;
  }
  *lo = w->starts[i] * spf > start ? w->starts[i] * spf : start;
  while (i < w->top.n_segments && (has_signal(w, i, signal) || w->top.segments[i].frames == 0)) {
    i++;
  }
  *hi = w->starts[i] * spf;
}

static weir_status checksum(void *state, int signal, int *sum)
{
  wfdb *const w = state;

  if (w->top.n_segments) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "record %s: each of its segments has its own checksums",
                     w->top.name);
  }
  return weir_wfdb_store_checksum(w->open[0].store, &w->block, signal, sum);
}

extern const weir_record_format weir_record_format_wfdb;
const weir_record_format weir_record_format_wfdb = {
    .name = "wfdb",
    .help = "a WFDB record, named with or without .hea",
    .claims = weir_wfdb_claims,
    .files = weir_wfdb_files,
    .clock = weir_wfdb_clock,
    .open = open_record,
    .close = close_record,
    .stores_integers = true,
    .read = read_slots,
    .next_run = next_run,
    .checksum = checksum,
};
