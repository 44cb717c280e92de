/* dicom.c - waveform objects of DICOM as records: the channels of all multiplex groups that were
 * recorded, each with the rate of its group. Samples are kept in memory as the file has them. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "io/aecg/aecg_priv.h"
#include "io/dicom/dicom_priv.h"
#include "io/io_priv.h"
#include "io/weir_record_format.h"

#define SECOND INT64_C(1000000000)
#define MAX_SLOTS (INT64_C(1) << 40)

typedef struct signal {
  const weir_dicom_group *group;
  int64_t channel, begin, first; /* begin: ns after the acquisition time; slot of sample 0 */
  double scale, offset;
  char name[WEIR_DICOM_NAME], unit[72], filter[4 * WEIR_DICOM_NUMBER];
} signal;

typedef struct dicom {
  weir_dicom file;
  int64_t n_signals, origin; /* origin: ns after the acquisition time, of slot 0 */
  signal *signals;
  weir_signal_info *infos;
  char *name;
} dicom;

static const char *const suffixes[] = {".dcm", ".dicom"};

static bool has_suffix(const char *path, const char *suffix)
{
  const size_t n = strlen(path), m = strlen(suffix);

  return n > m && strcasecmp(path + n - m, suffix) == 0;
}

/* Files on media have no suffix (PS3.10, 8.5), or are named by a UID: the first bytes tell. */
static bool claims(const char *path)
{
  char mark[4] = "";

  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
    if (has_suffix(path, suffixes[i])) {
      return true;
    }
  }
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const bool is = fd >= 0 && pread(fd, mark, sizeof mark, 128) == (ssize_t)sizeof mark &&
                  memcmp(mark, "DICM", sizeof mark) == 0;

  if (fd >= 0) {
    close(fd);
  }
  return is;
}

static void close_dicom(void *state)
{
  dicom *d = state;

  weir_dicom_fini(&d->file);
  weir_free(&d->signals);
  weir_free(&d->infos);
  weir_free(&d->name);
  weir_free(&d);
}

static weir_status parse_set(const char *path, const uint8_t *data, int64_t size, int64_t begin,
                             weir_dicom_syntax syntax, weir_dicom *out)
{
  WEIR_TRY(weir_dicom_walk(path, data, size, begin, syntax));
  WEIR_TRY(weir_dicom_parse(path, data, size, syntax, out));
  for (int64_t i = 0; syntax == WEIR_DICOM_BIG_ENDIAN && i < out->n_groups; i++) {
    if (out->groups[i].bits > 16) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "%s: multiplex group %lld: samples of 32 bits in big endian, which orders "
                       "the bytes of words of 16 only: convert it, as with dcmconv +te",
                       path, (long long)i + 1);
    }
  }
  return WEIR_OK;
}

static weir_status parse(const char *path, weir_dicom *out)
{
  weir_dicom_syntax syntax = WEIR_DICOM_EXPLICIT;
  char *text = NULL;
  uint8_t *inflated = NULL;
  int64_t size = 0, begin = 0, inflated_size = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_io_read(path, WEIR_DICOM_BYTES, &text, &size));
  const uint8_t *const data = (const uint8_t *)text;

  WEIR_TRY_GOTO(weir_dicom_meta(path, data, size, &syntax, &begin), done);
  if (syntax == WEIR_DICOM_DEFLATED) {
    WEIR_TRY_GOTO(weir_dicom_inflate(path, data + begin, size - begin, &inflated, &inflated_size),
                  done);
    weir_free(&text);
    WEIR_TRY_GOTO(parse_set(path, inflated, inflated_size, 0, WEIR_DICOM_EXPLICIT, out), done);
  } else {
    WEIR_TRY_GOTO(parse_set(path, data + begin, size - begin, begin, syntax, out), done);
  }
done:
  weir_free(&text);
  weir_free(&inflated);
  return status;
}

static bool is_taken(const dicom *d, const signal *s)
{
  for (const signal *other = d->signals; other < s; other++) {
    if (strcmp(other->name, s->name) == 0) {
      return true;
    }
  }
  return false;
}

/* A name that an earlier signal has too gets the number of its group; one that has been taken as
 * well, the first number after it that has not. */
static void name_apart(const dicom *d, signal *s)
{
  const size_t fit = weir_record_text_fit(s->name, sizeof s->name - 8);

  for (int64_t number = s->group - d->file.groups + 1; is_taken(d, s); number++) {
    (void)snprintf(s->name + fit, sizeof s->name - fit, "_%lld", (long long)number);
  }
}

static weir_status add_signals(const char *path, dicom *d)
{
  int64_t n = 0, derived = 0;

  for (int64_t i = 0; i < d->file.n_groups; i++) {
    const bool is_derived = weir_dicom_is_derived(&d->file.groups[i]);

    n += is_derived ? 0 : d->file.groups[i].channels;
    derived += is_derived;
  }
  if (derived > 0) {
    weir_info("io", "%s: %lld derived multiplex groups (as median beats) are not read", path,
              (long long)derived);
  }
  if (d->file.skipped_notes > 0) {
    weir_info("io", "%s: %lld annotations without a point or segment in time are not read", path,
              (long long)d->file.skipped_notes);
  }
  if (n == 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: no multiplex group that was recorded (ORIGINAL)", path);
  }
  if (n > WEIR_DICOM_CHANNELS) {
    return weir_fail(WEIR_ERR_DATA, "%s: %lld channels: expected at most %d", path, (long long)n,
                     WEIR_DICOM_CHANNELS);
  }
  WEIR_TRY(weir_alloc(n, sizeof *d->signals, (void **)&d->signals));
  for (int64_t i = 0; i < d->file.n_groups; i++) {
    const weir_dicom_group *const g = &d->file.groups[i];

    for (int64_t k = 0; !weir_dicom_is_derived(g) && k < g->channels; k++) {
      signal *const s = &d->signals[d->n_signals++];

      *s = (signal){.group = g, .channel = k};
      weir_dicom_channel_name(&g->items[k], s->name, sizeof s->name);
      if (s->name[0] == 0) {
        (void)snprintf(s->name, sizeof s->name, "channel_%d", (int)k + 1);
      }
      name_apart(d, s);
      weir_dicom_channel_filter(&g->items[k], s->filter, sizeof s->filter);
      WEIR_TRY(weir_dicom_channel_scale(path, s->name, &g->items[k], &s->scale, &s->offset, s->unit,
                                        sizeof s->unit));
      WEIR_TRY(weir_dicom_channel_begin(path, s->name, g, &g->items[k], &s->begin));
    }
  }
  return WEIR_OK;
}

/* Slots of all signals from the earliest one's begin to the latest one's end. */
static weir_status place(const char *path, dicom *d)
{
  d->origin = INT64_MAX;
  for (int64_t i = 0; i < d->n_signals; i++) {
    d->origin = d->signals[i].begin < d->origin ? d->signals[i].begin : d->origin;
  }
  for (int64_t i = 0; i < d->n_signals; i++) {
    signal *const s = &d->signals[i];
    const __int128 unit = (__int128)s->group->fs_den * SECOND;
    const __int128 first =
        ((__int128)(s->begin - d->origin) * s->group->fs_num * 2 + unit) / (2 * unit);

    if (first > MAX_SLOTS) {
      return weir_fail(WEIR_ERR_DATA, "%s: its channels begin too far apart", path);
    }
    s->first = (int64_t)first;
  }
  return WEIR_OK;
}

/* Slots of a rate until the end of the record: that of the last sample of any signal. */
static weir_status count_slots(const char *path, const dicom *d, const weir_dicom_group *g,
                               int64_t *count)
{
  *count = 0;
  for (int64_t i = 0; i < d->n_signals; i++) {
    const weir_dicom_group *const of = d->signals[i].group;
    const __int128 num = (__int128)(d->signals[i].first + of->samples) * of->fs_den;
    const long double slots = (long double)num * (long double)g->fs_num /
                              ((long double)of->fs_num * (long double)g->fs_den);
    const bool same = of->fs_num == g->fs_num && of->fs_den == g->fs_den;
    const long double exact = same ? (long double)(d->signals[i].first + of->samples) : slots;

    if (exact > (long double)MAX_SLOTS) {
      return weir_fail(WEIR_ERR_DATA, "%s: its sampling frequencies are too far apart", path);
    }
    const int64_t whole = (int64_t)exact;
    const int64_t up = whole + (exact - (long double)whole > 1e-6L);

    *count = up > *count ? up : *count;
  }
  return WEIR_OK;
}

static weir_status describe(const char *path, dicom *d)
{
  WEIR_TRY(weir_alloc(d->n_signals, sizeof *d->infos, (void **)&d->infos));
  for (int64_t i = 0; i < d->n_signals; i++) {
    const signal *const s = &d->signals[i];
    const weir_dicom_group *const g = s->group;

    d->infos[i] = (weir_signal_info){.name = s->name,
                                     .units = s->unit,
                                     .file = "",
                                     .fs_num = g->fs_num,
                                     .fs_den = g->fs_den,
                                     .samples_per_frame = 1,
                                     .gain = 1 / s->scale,
                                     .baseline = -s->offset / s->scale,
                                     .format = "DICOM",
                                     .bits = (int)g->bits,
                                     .prefilter = s->filter[0] ? s->filter : NULL};
    if (i > 0 && d->signals[i - 1].group == g) {
      d->infos[i].count = d->infos[i - 1].count;
    } else {
      WEIR_TRY(count_slots(path, d, g, &d->infos[i].count));
    }
    if (g->padding_bytes > 0) {
      const weir_dicom_group code = {.bits = g->bits,
                                     .data = (uint8_t *)(uintptr_t)g->padding,
                                     .interpretation = {g->interpretation[0]}};

      d->infos[i].has_invalid = 1;
      d->infos[i].invalid = weir_dicom_sample(&code, 0);
    }
  }
  return WEIR_OK;
}

static weir_status fill(dicom *d, const char *path)
{
  const char *const slash = strrchr(path, '/');

  WEIR_TRY(weir_strdup(slash ? slash + 1 : path, &d->name));
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
    if (has_suffix(d->name, suffixes[i])) {
      d->name[strlen(d->name) - strlen(suffixes[i])] = 0;
    }
  }
  WEIR_TRY(parse(path, &d->file));
  WEIR_TRY(add_signals(path, d));
  WEIR_TRY(place(path, d));
  return describe(path, d);
}

/* Acquisition DateTime, to the second or finer; times of less are no start. Its offset from UTC is
 * that of Timezone Offset From UTC where it states none (PS3.3, C.12.1.1.8). */
static weir_status take_start(const char *path, const dicom *d, weir_record_body *body)
{
  const char *const text = d->file.acquired;
  char zone[8];
  int64_t ns = 0;

  zone[0] = 0;
  if (strspn(text, "0123456789") < 14) {
    return WEIR_OK;
  }
  if (!weir_aecg_time(text, &ns, zone)) { /* of the same form in HL7 and DICOM */
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: the acquisition time is '%s': expected YYYYMMDDHHMMSS[.FFFFFF][+-ZZXX] of "
        "the years 1900 to 2189",
        path, text);
  }
  body->start_kind = 2;
  body->start_us = (ns + d->origin) / 1000;
  body->has_utc_offset = weir_aecg_offset(zone[0] != 0 ? zone : d->file.zone, &body->utc_offset);
  return WEIR_OK;
}

static weir_status open_dicom(const char *path, const weir_record_opts *opts,
                              weir_record_body *body)
{
  void *memory = NULL;

  (void)opts;
  *body = (weir_record_body){.start_kind = 0};
  WEIR_TRY(weir_alloc(1, sizeof(dicom), &memory));
  dicom *const d = memory;
  weir_status status = fill(d, path);

  if (status == WEIR_OK) {
    status = take_start(path, d, body);
  }
  if (status != WEIR_OK) {
    close_dicom(d);
    return status;
  }
  body->state = d;
  body->name = d->name;
  body->signals = d->infos;
  body->n_signals = (int)d->n_signals;
  return WEIR_OK;
}

static weir_status read_slots(void *state, int signal_index, int64_t start, int64_t count,
                              const weir_record_slots *to)
{
  const dicom *const d = state;
  const signal *const s = &d->signals[signal_index];
  const weir_dicom_group *const g = s->group;
  const weir_signal_info *const info = &d->infos[signal_index];
  const int64_t lo = s->first > start ? s->first : start;
  const int64_t end = s->first + g->samples;
  const int64_t hi = end < start + count ? end : start + count;

  for (int64_t slot = lo; slot < hi; slot++) {
    const int32_t raw = weir_dicom_sample(g, (slot - s->first) * g->channels + s->channel);
    const bool present = !info->has_invalid || raw != info->invalid;

    if (to->raw) {
      to->raw[slot - start] = raw;
    } else if (present) {
      to->values[slot - start] = (float)(s->offset + s->scale * raw);
    }
    to->present[slot - start] = present;
  }
  return WEIR_OK;
}

static void next_run(const void *state, int signal_index, int64_t start, int64_t *lo, int64_t *hi)
{
  const dicom *const d = state;
  const signal *const s = &d->signals[signal_index];
  const int64_t end = s->first + s->group->samples;

  if (end > start) {
    *lo = s->first > start ? s->first : start;
    *hi = end;
  }
}

static weir_status read_events(void *state, weir_record_events *out)
{
  const dicom *const d = state;

  for (int64_t i = 0; i < d->file.events.count; i++) {
    weir_record_event event = d->file.events.items[i];
    const char *const text = event.text;

    event.time -= d->origin;
    WEIR_TRY(weir_record_events_add(out, &event, text, (int64_t)strlen(text)));
  }
  return WEIR_OK;
}

extern const weir_record_format weir_record_format_dicom;
const weir_record_format weir_record_format_dicom = {
    .name = "dicom",
    .help = "a DICOM waveform (.dcm, or without that suffix)",
    .claims = claims,
    .open = open_dicom,
    .close = close_dicom,
    .stores_integers = true,
    .read = read_slots,
    .next_run = next_run,
    .events = read_events,
};
