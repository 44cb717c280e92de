/* values.c - what numbers and codes of DICOM waveforms mean (PS3.3, C.10.9 and C.10.10). */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "io/dicom/dicom_priv.h"
#include "io/io_priv.h"

#define SECOND INT64_C(1000000000)
#define MAX_SECONDS 1e8 /* three years: offsets, skews and places of annotations */

void weir_dicom_fini(weir_dicom *d)
{
  for (int64_t i = 0; i < d->n_groups; i++) {
    weir_free(&d->groups[i].items);
    weir_free(&d->groups[i].data);
  }
  weir_free(&d->groups);
  weir_record_events_fini(&d->events);
  *d = (weir_dicom){0};
}

weir_status weir_dicom_group_add(const char *path, weir_dicom *d, weir_dicom_group **out)
{
  if (d->n_groups == WEIR_DICOM_GROUPS) {
    return weir_fail(WEIR_ERR_DATA, "%s: more than %d multiplex groups", path, WEIR_DICOM_GROUPS);
  }
  WEIR_TRY(weir_reserve(&d->groups, &d->group_capacity, d->n_groups + 1, sizeof *d->groups));
  *out = &d->groups[d->n_groups++];
  return WEIR_OK;
}

bool weir_dicom_is_derived(const weir_dicom_group *g)
{
  return strcmp(g->originality, "DERIVED") == 0;
}

/* A number that may be left out (0 then). False where it is none, or not within +-MAX_SECONDS. */
static bool take_real(const char *text, double *out)
{
  const char *const plus = text[0] == '+' ? text + 1 : text;

  *out = 0;
  return text[0] == 0 || (weir_io_parse_real(plus, strlen(plus), out) && fabs(*out) <= MAX_SECONDS);
}

static int64_t to_ns(double seconds)
{
  return (int64_t)llround(seconds * (double)SECOND);
}

static bool check_type(const weir_dicom_group *g)
{
  static const struct {
    const char *name;
    int64_t bits;
  } types[] = {{"SB", 8}, {"UB", 8}, {"SS", 16}, {"US", 16}, {"SL", 32}};

  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    if (strcmp(g->interpretation, types[i].name) == 0) {
      return g->bits == types[i].bits;
    }
  }
  return false;
}

weir_status weir_dicom_group_check(const char *path, int64_t index, weir_dicom_group *g)
{
  const long long n = (long long)index + 1;
  double offset = 0;

  if (g->channels < 1 || g->channels > WEIR_DICOM_CHANNELS || g->samples < 1) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: multiplex group %lld: %lld channels of %lld samples: expected 1 to %d of "
                     "1 or more",
                     path, n, (long long)g->channels, (long long)g->samples, WEIR_DICOM_CHANNELS);
  }
  if (strcmp(g->interpretation, "MB") == 0 || strcmp(g->interpretation, "AB") == 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: multiplex group %lld: samples in %s: only linear ones are read (SB, UB, "
                     "SS, US, SL)",
                     path, n, g->interpretation[0] == 'M' ? "mu-law (MB)" : "A-law (AB)");
  }
  if (!check_type(g)) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: multiplex group %lld: samples of type '%s' in %lld bits: expected SB or "
                     "UB in 8, SS or US in 16, SL in 32",
                     path, n, g->interpretation, (long long)g->bits);
  }
  const int64_t bytes = g->channels * g->samples * (g->bits / 8); /* < 2^10 2^32 2^2 */

  if (g->data_bytes != bytes && g->data_bytes != bytes + (bytes & 1)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: multiplex group %lld: its data has %lld bytes: %lld channels of %lld "
                     "samples of %lld bits have %lld",
                     path, n, (long long)g->data_bytes, (long long)g->channels,
                     (long long)g->samples, (long long)g->bits, (long long)bytes);
  }
  if (!weir_io_parse_decimal(g->frequency, strlen(g->frequency), &g->fs_num, &g->fs_den) ||
      g->fs_num <= 0 || g->fs_num > INT64_C(1) << 40 || g->fs_den > INT64_C(1) << 40) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: multiplex group %lld: the sampling frequency is '%s': expected a "
                     "positive number of Hz",
                     path, n, g->frequency);
  }
  if (!take_real(g->offset, &offset)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: multiplex group %lld: the time offset is '%s': expected a number of ms",
                     path, n, g->offset);
  }
  g->offset_ns = to_ns(offset / 1000);
  return WEIR_OK;
}

int32_t weir_dicom_sample(const weir_dicom_group *g, int64_t at)
{
  const uint8_t *const p = g->data + at * (g->bits / 8);

  if (g->bits == 8) {
    return g->interpretation[0] == 'S' ? (int8_t)p[0] : p[0];
  }
  if (g->bits == 16) {
    const uint16_t word = (uint16_t)(p[0] | p[1] << 8);

    return g->interpretation[0] == 'S' ? (int16_t)word : word;
  }
  return (int32_t)((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
                   (uint32_t)p[3] << 24);
}

void weir_dicom_channel_name(const weir_dicom_channel *c, char *name, size_t size)
{
  const char *const lead = weir_dicom_lead_name(&c->source);
  const char *const text = c->label[0]            ? c->label
                           : lead != NULL         ? lead
                           : c->source.meaning[0] ? c->source.meaning
                                                  : c->source.value;

  (void)snprintf(name, size, "%.*s", (int)weir_record_text_fit(text, size - 1), text);
}

/* Symbols of UCUM that are written otherwise here; annotations in braces are no units. */
static const char *unit_name(const weir_dicom_code *c)
{
  static const char *const names[][2] = {{"mm[Hg]", "mmHg"}, {"cm[H2O]", "cmH2O"}, {"Cel", "degC"}};

  if (strcmp(c->scheme, "UCUM") != 0 || c->value[0] == 0 || c->value[0] == '{' ||
      strcmp(c->value, "1") == 0) {
    return "NU";
  }
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(c->value, names[i][0]) == 0) {
      return names[i][1];
    }
  }
  return c->value;
}

weir_status weir_dicom_channel_scale(const char *path, const char *name,
                                     const weir_dicom_channel *c, double *scale, double *offset,
                                     char *unit, size_t size)
{
  double correction = 1;

  *scale = 1;
  *offset = 0;
  (void)snprintf(unit, size, "NU");
  if (c->sensitivity[0] == 0) {
    return WEIR_OK; /* arbitrary units */
  }
  if (!take_real(c->sensitivity, scale) || !take_real(c->baseline, offset) ||
      (c->correction[0] && !take_real(c->correction, &correction)) || *scale * correction == 0 ||
      !isfinite(1 / (*scale * correction))) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: channel %s: sensitivity '%s', correction factor '%s' and baseline '%s': "
                     "expected numbers, the first two not 0",
                     path, name, c->sensitivity, c->correction, c->baseline);
  }
  *scale *= correction;
  if (c->correction[0] == 0) {
    weir_warn(
        "io",
        "%s: channel %s states a sensitivity but no correction factor (003A,0212): its values "
        "are read without a unit; input.unit states it",
        path, name);
    return WEIR_OK;
  }
  (void)snprintf(unit, size, "%s", unit_name(&c->unit));
  if (strcmp(unit, "NU") == 0 && c->unit.value[0] && strcmp(c->unit.scheme, "UCUM") != 0) {
    weir_warn("io", "%s: channel %s: the unit is '%s' of scheme '%s', not of UCUM: it is not read",
              path, name, c->unit.value, c->unit.scheme);
  }
  return WEIR_OK;
}

weir_status weir_dicom_channel_begin(const char *path, const char *name, const weir_dicom_group *g,
                                     const weir_dicom_channel *c, int64_t *ns)
{
  double seconds = 0, samples = 0;

  if (!take_real(c->time_skew, &seconds) || !take_real(c->sample_skew, &samples) ||
      (seconds != 0 && samples != 0)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: channel %s: time skew '%s' s and sample skew '%s': expected one of them, "
                     "a number",
                     path, name, c->time_skew, c->sample_skew);
  }
  seconds += samples * (double)g->fs_den / (double)g->fs_num;
  if (fabs(seconds) > MAX_SECONDS) {
    return weir_fail(WEIR_ERR_DATA, "%s: channel %s: a skew of %g s", path, name, seconds);
  }
  *ns = g->offset_ns + to_ns(seconds);
  return WEIR_OK;
}

/* " NAME:VALUEHz", unless the value is none or 0. */
static void add_filter(char *text, size_t size, const char *name, const char *value)
{
  const size_t used = strlen(text);
  double hz = 0;

  if (take_real(value, &hz) && hz > 0) {
    (void)snprintf(text + used, size - used, "%s%s:%sHz", used > 0 ? " " : "", name, value);
  }
}

void weir_dicom_channel_filter(const weir_dicom_channel *c, char *text, size_t size)
{
  text[0] = 0;
  add_filter(text, size, "HP", c->low);
  add_filter(text, size, "LP", c->high);
  add_filter(text, size, "N", c->notch);
}

/* Time of place k of an annotation after the acquisition time, ns. Positions count the samples of a
 * channel, the first of which is at `begin`; seconds count from the begin of the group. */
static bool note_time(const weir_dicom_group *g, const weir_dicom_note *note, int64_t k,
                      int64_t begin, int64_t *ns)
{
  if (note->positions == NULL) {
    *ns = isfinite(note->seconds[k]) && fabs(note->seconds[k]) <= MAX_SECONDS
              ? g->offset_ns + to_ns(note->seconds[k])
              : INT64_MAX;
  } else {
    const double seconds = ((double)note->positions[k] - 1) * (double)g->fs_den / (double)g->fs_num;

    *ns = seconds <= MAX_SECONDS ? begin + to_ns(seconds) : INT64_MAX;
  }
  return *ns != INT64_MAX && (note->positions == NULL || note->positions[k] > 0);
}

/* Removes the last event where it lies at the time of `event`, which is its text: a coded
 * annotation has none, and the text is one of the same number (PS3.3, C.10.10). */
static bool take_back(weir_dicom *d, const weir_record_event *event)
{
  weir_record_event *const last = &d->events.items[d->events.count - 1];

  if (last->time != event->time || last->duration != event->duration) {
    return false;
  }
  weir_free(&last->text);
  d->events.count--;
  return true;
}

weir_status weir_dicom_note_add(const char *path, weir_dicom *d, const weir_dicom_note *note)
{
  const bool points = strcmp(note->range, "POINT") == 0 || strcmp(note->range, "MULTIPOINT") == 0;
  const bool ranges =
      strcmp(note->range, "SEGMENT") == 0 || strcmp(note->range, "MULTISEGMENT") == 0;
  const int64_t step = ranges ? 2 : 1;

  if ((!points && !ranges) || note->count == 0 || note->group < 0 || note->group >= d->n_groups ||
      note->channel >= d->groups[note->group].channels ||
      weir_dicom_is_derived(&d->groups[note->group])) {
    d->skipped_notes++;
    return WEIR_OK;
  }
  const weir_dicom_group *const g = &d->groups[note->group];
  int64_t begin = g->offset_ns;

  if (note->channel >= 0) {
    const weir_dicom_channel *const c = &g->items[note->channel];
    char name[WEIR_DICOM_NAME];

    weir_dicom_channel_name(c, name, sizeof name);
    WEIR_TRY(weir_dicom_channel_begin(path, name, g, c, &begin));
  }
  d->note_bytes += (int64_t)strlen(note->text) * note->count; /* < 2^31 2^29 */
  if (d->note_bytes > WEIR_DICOM_TEXTS) {
    return weir_fail(WEIR_ERR_DATA, "%s: annotations of more than %lld bytes", path,
                     (long long)WEIR_DICOM_TEXTS);
  }
  const int64_t joined = note->mark == 0 && note->number > 0 ? d->mark_number : 0;

  d->mark_number = note->mark != 0 && note->count == step ? note->number : 0;
  for (int64_t k = 0; k < note->count; k += step) {
    weir_record_event event = {.duration = -1,
                               .code = note->mark != 0 ? note->mark : WEIR_RECORD_NOTE};
    int64_t end = 0;

    if (note->count - k < step || !note_time(g, note, k, begin, &event.time) ||
        (ranges && (!note_time(g, note, k + 1, begin, &end) || end < event.time))) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: annotation '%.40s': place %lld of %lld of its %s: expected samples "
                       "from 1 on, or seconds, of segments a begin and an end each",
                       path, note->text, (long long)k + 1, (long long)note->count, note->range);
    }
    event.duration = ranges ? end - event.time : -1;
    if (joined > 0 && joined == note->number && note->count == step && take_back(d, &event)) {
      event.code = d->events.items[d->events.count].code;
    }
    WEIR_TRY(weir_record_events_add(&d->events, &event, note->text, (int64_t)strlen(note->text)));
  }
  return WEIR_OK;
}
