/* write.c - a record in any format as an EDF+ or BDF+ file (Kemp and Olivan 2003; BDF by BioSemi).
 * Read twice: once for extremes and gaps, then record by record. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/convert_priv.h"
#include "io/edf/edf_priv.h"
#include "io/edf/write_priv.h"
#include "io/io_priv.h"

enum {
  SLOTS = 65536,
  MAX_PER_FRAME = 1 << 20,
  STAMP = 36,            /* bytes of the time of a record */
  MAX_RECORD = 10 << 20, /* bytes: EDFlib reads no longer ones */
};
#define SECOND INT64_C(1000000000)

typedef struct copy {
  weir_record *r;
  const char *name;
  int bits, n;
  bool continuous; /* data records in gaps too */
  weir_edf_lane *lanes;
  weir_edf_layout layout;
  weir_edf_ranges present, missing; /* frames with a sample; slots without one, of a signal */
  weir_edf_notes notes;
  int64_t shift;                     /* ns from the second of the header to frame 0 */
  int64_t notes_bytes, record_bytes; /* of the annotations of a record, of a record */
  int32_t *raw;                      /* a block or a record of one signal */
  float *values;
  uint8_t *there, *frame_there; /* of slots, of frames */
  uint8_t *bytes;               /* a record */
  weir_convert_facts *facts;
} copy;

/* Labels are cut to 16 characters, and must then still differ. */
static weir_status name_lane(copy *c, int i)
{
  weir_edf_lane *const l = &c->lanes[i];
  const char *const units = strcmp(l->info->units, "NU") == 0 ? "" : l->info->units;

  (void)weir_edf_plain_text(l->info->name, l->label, sizeof l->label);
  if (!weir_edf_plain_text(units, l->units, sizeof l->units)) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "record %s: signal %s: its unit '%.64s' is longer than the 8 characters that "
                     "EDF has for it: write another format",
                     c->name, l->info->name, units);
  }
  for (int k = 0; k < i; k++) {
    if (strcmp(c->lanes[k].label, l->label) == 0) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "record %s: signals %s and %s have the same first 16 characters, all that "
                       "EDF has for a label: write another format",
                       c->name, c->lanes[k].info->name, l->info->name);
    }
  }
  if (strcmp(l->label, "EDF Annotations") == 0 || strcmp(l->label, "BDF Annotations") == 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "record %s: no signal of an EDF file can be named '%s'",
                     c->name, l->label);
  }
  return WEIR_OK;
}

static weir_status find_frames(copy *c)
{
  weir_edf_layout *const f = &c->layout;
  bool good = true;

  f->num = c->lanes[0].info->fs_num;
  f->den = c->lanes[0].info->fs_den;
  for (int i = 1; i < c->n && good; i++) {
    const weir_signal_info *const s = c->lanes[i].info;

    good = weir_convert_common_rate(&f->num, &f->den, s->fs_num, s->fs_den);
  }
  for (int i = 0; i < c->n && good; i++) {
    weir_edf_lane *const l = &c->lanes[i];
    const __int128 n = (__int128)l->info->fs_num * f->den / ((__int128)l->info->fs_den * f->num);

    good = n >= 1 && n <= MAX_PER_FRAME;
    l->per_frame = good ? (int64_t)n : 1;
    const int64_t frames = (l->info->count + l->per_frame - 1) / l->per_frame;

    f->frames = frames > f->frames ? frames : f->frames;
  }
  if (!good) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "record %s: its rates have no common frame of at most %d samples of a "
                     "signal: convert its signals one by one",
                     c->name, MAX_PER_FRAME);
  }
  return WEIR_OK;
}

static weir_status prepare(copy *c)
{
  WEIR_TRY(weir_alloc(c->n, sizeof *c->lanes, (void **)&c->lanes));
  for (int i = 0; i < c->n; i++) {
    weir_edf_lane *const l = &c->lanes[i];

    l->info = weir_record_signal(c->r, i);
    l->real = l->info->bits == 0 || l->info->scale_varies;
    l->min = INFINITY;
    l->max = -INFINITY;
    l->lo = INT32_MAX;
    l->hi = INT32_MIN;
    c->facts->samples += l->info->count;
    WEIR_TRY(name_lane(c, i));
  }
  return find_frames(c);
}

static weir_status alloc_slots(copy *c, int64_t frames)
{
  int64_t most = 1;

  for (int i = 0; i < c->n; i++) {
    most = c->lanes[i].per_frame > most ? c->lanes[i].per_frame : most;
  }
  if (!weir_mul_ok(most, frames, &most)) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "record %s: its data records are too long", c->name);
  }
  weir_free(&c->raw);
  weir_free(&c->values);
  weir_free(&c->there);
  WEIR_TRY(weir_alloc(most, sizeof *c->raw, (void **)&c->raw));
  WEIR_TRY(weir_alloc(most, sizeof *c->values, (void **)&c->values));
  return weir_alloc(most, 1, (void **)&c->there);
}

/* Slots [start, start + n) of a signal: integers or values, and which are there. */
static weir_status read_lane(copy *c, int i, int64_t start, int64_t n)
{
  const weir_edf_lane *const l = &c->lanes[i];

  if (!l->real) {
    return weir_record_read_raw(c->r, i, start, n, c->raw, c->there);
  }
  WEIR_TRY(weir_record_read(c->r, i, start, n, c->values, c->there));
  for (int64_t k = 0; k < n; k++) {
    c->there[k] = c->there[k] && isfinite((double)c->values[k]);
  }
  return WEIR_OK;
}

/* Extremes, gaps and frames of a block; *gap is the slot where a gap began, -1 outside one. */
static weir_status survey_block(copy *c, int i, int64_t frame, int64_t frames, int64_t *gap)
{
  weir_edf_lane *const l = &c->lanes[i];
  const int64_t start = frame * l->per_frame;

  WEIR_TRY(read_lane(c, i, start, frames * l->per_frame));
  for (int64_t k = 0; k < frames * l->per_frame; k++) {
    if (!c->there[k]) {
      c->facts->absent += start + k < l->info->count;
      *gap = *gap < 0 ? start + k : *gap;
      continue;
    }
    if (*gap >= 0) {
      WEIR_TRY(weir_edf_range_add(&c->missing, i, *gap, start + k));
      *gap = -1;
    }
    c->frame_there[k / l->per_frame] = 1;
    l->any = true;
    if (l->real) {
      l->min = fmin(l->min, (double)c->values[k]);
      l->max = fmax(l->max, (double)c->values[k]);
    } else {
      l->lo = c->raw[k] < l->lo ? c->raw[k] : l->lo;
      l->hi = c->raw[k] > l->hi ? c->raw[k] : l->hi;
    }
  }
  return WEIR_OK;
}

static weir_status add_present(copy *c, int64_t first, int64_t frames)
{
  for (int64_t k = 0; k < frames; k++) {
    const int64_t at = first + k;
    weir_edf_range *const last =
        c->present.count > 0 ? &c->present.items[c->present.count - 1] : NULL;

    if (c->frame_there[k] && last && last->hi == at) {
      last->hi = at + 1;
    } else if (c->frame_there[k]) {
      WEIR_TRY(weir_edf_range_add(&c->present, 0, at, at + 1));
    }
  }
  return WEIR_OK;
}

static weir_status survey(copy *c)
{
  int64_t width = 0, block = 0;
  int64_t *gaps = NULL;
  weir_status status = WEIR_OK;

  for (int i = 0; i < c->n; i++) {
    width += c->lanes[i].per_frame;
  }
  block = SLOTS / width > 0 ? SLOTS / width : 1;
  WEIR_TRY(weir_alloc(c->n, sizeof *gaps, (void **)&gaps));
  WEIR_TRY_GOTO(alloc_slots(c, block), done);
  WEIR_TRY_GOTO(weir_alloc(block, 1, (void **)&c->frame_there), done);
  for (int i = 0; i < c->n; i++) {
    gaps[i] = -1;
  }
  for (int64_t at = 0; at < c->layout.frames; at += block) {
    const int64_t n = c->layout.frames - at < block ? c->layout.frames - at : block;

    memset(c->frame_there, 0, (size_t)block);
    for (int i = 0; i < c->n; i++) {
      WEIR_TRY_GOTO(survey_block(c, i, at, n, &gaps[i]), done);
    }
    WEIR_TRY_GOTO(add_present(c, at, n), done);
  }
  /* After its end a signal is absent. */
  for (int i = 0; i < c->n; i++) {
    const int64_t end = c->layout.frames * c->lanes[i].per_frame;

    WEIR_TRY_GOTO(weir_edf_range_add(&c->missing, i, gaps[i] >= 0 ? gaps[i] : end, INT64_MAX),
                  done);
  }
done:
  weir_free(&gaps);
  return status;
}

/* Time of a slot in ns after the second of the header, to the nearest. */
static int64_t time_of(const copy *c, int64_t slot, int64_t num, int64_t den)
{
  return c->shift + (int64_t)(((__int128)slot * den * SECOND * 2 + num) / (2 * (__int128)num));
}

/* Says which samples of data records are absent. Gaps and records both ascend. */
static weir_status note_missing(copy *c)
{
  char text[64];

  for (int64_t k = 0, first = 0; k < c->missing.count; k++) {
    const weir_edf_range *const gap = &c->missing.items[k];
    weir_edf_lane *const l = &c->lanes[gap->signal];
    const weir_edf_ranges *const runs = &c->layout.runs;

    /* Gaps of one signal follow those of another within a block only. */
    while (first > 0 && runs->items[first - 1].hi * l->per_frame > gap->lo) {
      first--;
    }
    while (first < runs->count && runs->items[first].hi * l->per_frame <= gap->lo) {
      first++;
    }
    for (int64_t i = first; i < runs->count && runs->items[i].lo * l->per_frame < gap->hi; i++) {
      const int64_t run_lo = runs->items[i].lo * l->per_frame;
      const int64_t run_hi = runs->items[i].hi * l->per_frame;
      const int64_t lo = gap->lo > run_lo ? gap->lo : run_lo;
      const int64_t hi = gap->hi < run_hi ? gap->hi : run_hi;
      const int64_t from = time_of(c, lo, l->info->fs_num, l->info->fs_den);

      if (lo < hi) {
        l->has_code = true;
        (void)snprintf(text, sizeof text, WEIR_EDF_MISSING_NOTE "%s", l->label);
        WEIR_TRY(weir_edf_note_add(&c->notes, from,
                                   time_of(c, hi, l->info->fs_num, l->info->fs_den) - from, text));
      }
    }
  }
  return WEIR_OK;
}

/* Room for annotations: the time, a list of any length, and a share of all of them. */
static weir_status size_records(copy *c)
{
  const int width = c->bits / 8;
  const int64_t records = c->layout.records;
  const int64_t share = (c->notes.size + records - 1) / records + c->notes.largest;
  int64_t samples = 0;

  c->notes_bytes = (STAMP + share + width - 1) / width * width;
  for (int i = 0; i < c->n; i++) {
    int64_t n = 0;

    if (!weir_mul_ok(c->lanes[i].per_frame, c->layout.record_frames, &n) ||
        !weir_add_ok(samples, n, &samples)) {
      samples = INT64_MAX / 8;
      break;
    }
  }
  if (records > 99999999 || samples > MAX_RECORD / width ||
      c->notes_bytes > MAX_RECORD - samples * width) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "record %s: %lld data records of %s s and %lld samples: EDF has 8 characters "
                     "for their number, and programs read at most 10 MiB each: convert fewer "
                     "signals, or write another format",
                     c->name, (long long)records, c->layout.duration, (long long)samples);
  }
  c->record_bytes = samples * width + c->notes_bytes;
  return WEIR_OK;
}

static weir_status plan(copy *c, const weir_record_events *events, const char *comments,
                        const weir_convert_scale *scale)
{
  int64_t frame_bytes = 0, us = 0;

  WEIR_TRY(prepare(c));
  WEIR_TRY(survey(c));
  for (int i = 0; i < c->n; i++) {
    frame_bytes += c->lanes[i].per_frame * c->bits / 8;
  }
  if (c->layout.frames == 0) {
    return weir_fail(WEIR_ERR_DATA, "record %s has no samples", c->name);
  }
  if (c->continuous) {
    c->present.count = 0;
    WEIR_TRY(weir_edf_range_add(&c->present, 0, 0, c->layout.frames));
  }
  WEIR_TRY(weir_edf_layout_choose(c->name, &c->present, frame_bytes, &c->layout));
  c->shift = weir_record_start(c->r, &us) > 0 ? (us % 1000000 + 1000000) % 1000000 * 1000 : 0;
  WEIR_TRY(weir_edf_notes_add(&c->notes, events, comments, c->shift));
  WEIR_TRY(note_missing(c));
  for (int i = 0; i < c->n; i++) {
    double gain = 0;

    if (c->bits == 16 && c->lanes[i].info->bits == 0 && scale->gain == 0) {
      WEIR_TRY(weir_convert_gain(c->r, i, &gain)); /* refuses a few values far beyond the others */
    }
    WEIR_TRY(weir_edf_scale_choose(c->name, scale, c->bits, &c->lanes[i], c->facts));
  }
  return size_records(c);
}

/* A field of the header, filled with blanks. */
static weir_status put(weir_writer *w, int width, const char *text)
{
  return weir_writer_printf(w, "%-*.*s", width, width, text ? text : "");
}

static weir_status put_number(weir_writer *w, int width, int64_t value)
{
  return weir_writer_printf(w, "%-*lld", width, (long long)value);
}

/* Date and time; what is not known is 01.01.85, or midnight. No names, no codes. */
static weir_status put_start(const copy *c, weir_writer *w)
{
  static const char *const months[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                       "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
  int64_t us = 0;
  const int kind = weir_record_start(c->r, &us);
  const int64_t day = INT64_C(86400000000);
  const int64_t s = kind > 0 ? (us % day + day) % day / 1000000 : 0;
  int year = 1985, month = 1, date = 1;
  char recording[81], short_date[16], year_text[8];

  if (kind == 2) {
    weir_io_civil_date(us, &year, &month, &date);
  }
  if (year < 1985 || year > 9999) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "record %s: it begins in the year %d, and EDF has no dates before 1985: "
                     "write another format",
                     c->name, year);
  }
  (void)snprintf(year_text, sizeof year_text, year > 2084 ? "yy" : "%02d", year % 100);
  (void)snprintf(short_date, sizeof short_date, "%02d.%02d.%s", date, month, year_text);
  if (kind == 2) {
    (void)snprintf(recording, sizeof recording, "Startdate %02d-%s-%04d X X X", date,
                   months[month - 1], year);
  } else {
    (void)snprintf(recording, sizeof recording, "Startdate X X X X");
  }
  WEIR_TRY(put(w, 80, "X X X X"));
  WEIR_TRY(put(w, 80, recording));
  WEIR_TRY(put(w, 8, short_date));
  return weir_writer_printf(w, "%02d.%02d.%02d", (int)(s / 3600), (int)(s / 60 % 60),
                            (int)(s % 60));
}

/* One field of signal i; of i == n that of the annotations. */
static weir_status put_field(const copy *c, weir_writer *w, int field, int i)
{
  const bool notes = i == c->n;
  const weir_edf_lane *const l = notes ? NULL : &c->lanes[i];
  const int64_t limit = INT64_C(1) << (c->bits - 1);
  char text[40] = "";

  switch (field) {
  case 0:
    return put(w, 16, !notes ? l->label : c->bits == 24 ? "BDF Annotations" : "EDF Annotations");
  case 1:
    return put(w, 80, notes ? "" : l->info->transducer);
  case 2:
    return put(w, 8, notes ? "" : l->units);
  case 3:
    return put(w, 8, notes ? "-1" : l->min_text);
  case 4:
    return put(w, 8, notes ? "1" : l->max_text);
  case 5:
    return put_number(w, 8, notes ? -limit : l->digital_min);
  case 6:
    return put_number(w, 8, notes ? limit - 1 : l->digital_max);
  case 7:
    return put(w, 80, notes ? "" : l->info->prefilter);
  case 8:
    return put_number(
        w, 8, notes ? c->notes_bytes * 8 / c->bits : l->per_frame * c->layout.record_frames);
  default:
    if (!notes && l->has_code) {
      (void)snprintf(text, sizeof text, WEIR_EDF_MISSING "%d", l->digital_min - 1);
    }
    return put(w, 32, text);
  }
}

static weir_status put_header(const copy *c, weir_writer *w)
{
  const bool bdf = c->bits == 24;
  char kind[8];

  (void)snprintf(kind, sizeof kind, "%s+%c", bdf ? "BDF" : "EDF",
                 c->layout.runs.count > 1 ? 'D' : 'C');
  WEIR_TRY(weir_writer_write(w,
                             bdf ? "\xFF"
                                   "BIOSEMI"
                                 : "0       ",
                             8));
  WEIR_TRY(put_start(c, w));
  WEIR_TRY(put_number(w, 8, WEIR_EDF_HEAD * (INT64_C(2) + c->n)));
  WEIR_TRY(put(w, 44, kind));
  WEIR_TRY(put_number(w, 8, c->layout.records));
  WEIR_TRY(put(w, 8, c->layout.duration));
  WEIR_TRY(put_number(w, 4, c->n + 1));
  for (int field = 0; field < 10; field++) {
    for (int i = 0; i <= c->n; i++) {
      WEIR_TRY(put_field(c, w, field, i));
    }
  }
  return WEIR_OK;
}

/* The stored integer of a value; one beyond the range, which only a stated gain leaves, is clipped.
 */
static int32_t rounded(copy *c, const weir_edf_lane *l, double value)
{
  const double steps = (double)l->digital_max - l->digital_min;
  const double x = round((value - l->physical_min) / (l->physical_max - l->physical_min) * steps +
                         l->digital_min);

  if (x < l->digital_min || x > l->digital_max) {
    c->facts->clipped++;
    return x < l->digital_min ? l->digital_min : l->digital_max;
  }
  return (int32_t)x;
}

static weir_status fill_samples(copy *c, int64_t frame, uint8_t **at)
{
  for (int i = 0; i < c->n; i++) {
    const weir_edf_lane *const l = &c->lanes[i];
    const int64_t n = l->per_frame * c->layout.record_frames;

    WEIR_TRY(read_lane(c, i, frame * l->per_frame, n));
    for (int64_t k = 0; k < n; k++) {
      const int32_t raw = !c->there[k] ? l->digital_min - 1
                          : l->real    ? rounded(c, l, (double)c->values[k])
                                       : c->raw[k];

      for (int b = 0; b < c->bits; b += 8) {
        *(*at)++ = (uint8_t)((uint32_t)raw >> b);
      }
    }
  }
  return WEIR_OK;
}

/* The time of a record, then as many lists as fit; *next is the first that is not written. */
static void fill_notes(const copy *c, int64_t frame, int64_t *next, uint8_t *at)
{
  char stamp[STAMP];
  int64_t used = weir_edf_time_text(time_of(c, frame, c->layout.num, c->layout.den), true, stamp);

  memset(at, 0, (size_t)c->notes_bytes);
  memcpy(at, stamp, (size_t)used);
  memcpy(at + used, "\x14\x14", 3);
  used += 3;
  while (*next < c->notes.count) {
    const int64_t from = *next > 0 ? c->notes.ends[*next - 1] : 0;
    const int64_t size = c->notes.ends[*next] - from;

    if (used + size > c->notes_bytes) {
      break;
    }
    memcpy(at + used, c->notes.bytes + from, (size_t)size);
    used += size;
    ++*next;
  }
}

static weir_status put_records(copy *c, weir_writer *w)
{
  int64_t next = 0;

  WEIR_TRY(alloc_slots(c, c->layout.record_frames));
  WEIR_TRY(weir_alloc(c->record_bytes, 1, (void **)&c->bytes));
  for (int64_t k = 0; k < c->layout.runs.count; k++) {
    const weir_edf_range *const run = &c->layout.runs.items[k];

    for (int64_t frame = run->lo; frame < run->hi; frame += c->layout.record_frames) {
      uint8_t *at = c->bytes;

      WEIR_TRY(fill_samples(c, frame, &at));
      fill_notes(c, frame, &next, at);
      WEIR_TRY(weir_writer_write(w, c->bytes, (size_t)c->record_bytes));
    }
  }
  WEIR_ASSERT(next == c->notes.count);
  return WEIR_OK;
}

static weir_status write_file(copy *c, const weir_record_events *events, const char *comments,
                              const char *path, const weir_convert_scale *scale)
{
  weir_writer *w = NULL;
  weir_status status = WEIR_OK;

  if (c->n == 0 || c->n >= WEIR_EDF_MAX_SIGNALS) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "record %s has %d signals: an EDF file has 1 to %d",
                     c->name, c->n, WEIR_EDF_MAX_SIGNALS - 1);
  }
  WEIR_TRY(plan(c, events, comments, scale));
  WEIR_TRY(weir_writer_open(path, &w));
  WEIR_TRY_GOTO(put_header(c, w), done);
  WEIR_TRY_GOTO(put_records(c, w), done);
  WEIR_TRY_GOTO(weir_convert_check_clipped(c->name, c->facts, scale->max_clipped), done);
  c->facts->n_files = 1;
  return weir_writer_commit(&w);
done:
  weir_writer_destroy(&w);
  return status;
}

weir_status weir_record_to_edf(weir_record *r, const weir_record_events *events,
                               const char *comments, const weir_convert_edf *kind, const char *path,
                               const weir_convert_scale *scale, weir_convert_facts *facts)
{
  copy c = {.r = r,
            .name = weir_record_name(r),
            .bits = kind->bits,
            .continuous = kind->continuous,
            .n = weir_record_signals(r),
            .facts = facts};

  WEIR_ASSERT(c.bits == 16 || c.bits == 24);
  *facts = (weir_convert_facts){0};
  const weir_status status = write_file(&c, events, comments, path, scale);

  weir_edf_notes_fini(&c.notes);
  weir_free(&c.lanes);
  weir_free(&c.layout.runs.items);
  weir_free(&c.present.items);
  weir_free(&c.missing.items);
  weir_free(&c.raw);
  weir_free(&c.values);
  weir_free(&c.there);
  weir_free(&c.frame_there);
  weir_free(&c.bytes);
  return status;
}
