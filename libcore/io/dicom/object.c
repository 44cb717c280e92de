/* object.c - the data set of a waveform of DICOM: modules of its IOD (PS3.3 2024, A.34.3.3),
 * without who was recorded, by whom and where: attributes of type 2 that ask for it have no value.
 */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "io/aecg/aecg_priv.h"
#include "io/dicom/write_priv.h"
#include "io/io_priv.h"
#include "io/weir_annotation.h"

#define SECOND INT64_C(1000000000)
/* A UUID made once, for this writer. */
#define IMPLEMENTATION "2.25.203660851701212517268033011569479241177"
#define EXPLICIT_LITTLE "1.2.840.10008.1.2.1"
enum { ST_SIZE = 1024, LT_SIZE = 10240 }; /* characters of these VRs */

/* "2.25." and a UUID (PS3.5, B.2) of version 8 (RFC 9562): the same for the same recording. */
static void name_uid(const weir_dicom_copy *c, const char *what, char uid[WEIR_DICOM_UID])
{
  char text[96], hex[65], digits[40];
  unsigned __int128 number = 0;
  int at = (int)sizeof digits - 1;

  (void)snprintf(text, sizeof text, "%s %s", c->digest, what);
  weir_sha256(text, strlen(text), hex);
  hex[12] = '8';
  hex[16] = "89ab"[(hex[16] >= 'a' ? hex[16] - 'a' + 10 : hex[16] - '0') % 4];
  for (int i = 0; i < 32; i++) {
    number = number * 16 + (unsigned)(hex[i] >= 'a' ? hex[i] - 'a' + 10 : hex[i] - '0');
  }
  for (digits[at] = 0; number > 0; number /= 10) {
    digits[--at] = (char)('0' + (int)(number % 10));
  }
  (void)snprintf(uid, WEIR_DICOM_UID, "2.25.%s", digits + at);
}

/* Text of at most `characters`: what UTF-8 and DICOM cannot hold becomes a blank. */
static weir_status put_free_text(weir_dicom_copy *c, uint32_t tag, const char *vr, const char *text,
                                 int characters, const char *what)
{
  const size_t size = strlen(text);
  char *clean = NULL;
  int64_t n = 0;

  WEIR_TRY(weir_strdup(text, &clean));
  for (size_t at = 0; at < size; n++) {
    const int bytes = weir_io_character(text + at);

    if (bytes == 0 || (bytes == 1 && text[at] == 0x7f)) {
      clean[at] = text[at] == '\n' ? '\n' : ' ';
    }
    at += bytes > 0 ? (size_t)bytes : 1;
  }
  const weir_status status =
      n > characters ? weir_fail(WEIR_ERR_UNSUPPORTED, "%s: %s has %lld characters: DICOM holds %d",
                                 weir_record_name(c->r), what, (long long)n, characters)
                     : weir_dicom_put_text(c->w, tag, vr, clean);

  weir_free(&clean);
  return status;
}

/* Preamble, and the encoding of what follows (PS3.10, 7.1). */
static weir_status put_meta(weir_dicom_copy *c, const char *instance)
{
  const char *const texts[] = {c->sop_class, instance, EXPLICIT_LITTLE, IMPLEMENTATION};
  const uint32_t tags[] = {0x00020002, 0x00020003, 0x00020010, 0x00020012};
  const uint8_t start[132] = {[128] = 'D', 'I', 'C', 'M'};
  uint32_t length = 12 + 2;

  for (int i = 0; i < 4; i++) {
    const size_t n = strlen(texts[i]);

    length += 8 + (uint32_t)(n + n % 2);
  }
  WEIR_TRY(weir_writer_write(c->w, start, sizeof start));
  WEIR_TRY(weir_dicom_put_int(c->w, 0x00020000, "UL", length));
  WEIR_TRY(weir_dicom_put_head(c->w, 0x00020001, "OB", 2));
  WEIR_TRY(weir_writer_write(c->w, "\0\1", 2));
  for (int i = 0; i < 4; i++) {
    WEIR_TRY(weir_dicom_put_text(c->w, tags[i], "UI", texts[i]));
  }
  return WEIR_OK;
}

typedef struct moment {
  char date[16], time[24], both[48], zone[8]; /* zone: "" where it is unknown */
} moment;

/* When the first sample was taken. Acquisition DateTime and Content Date and Time must have values:
 * the year 1900 alone stands for an unknown time, and is read as one; 1900-01-01 00:00 is its date
 * and time of content, which are not read. */
static weir_status tell_start(const weir_dicom_copy *c, moment *m)
{
  int64_t us = 0;
  int year = 1900, month = 1, day = 1, offset = 0;

  if (weir_record_start(c->r, &us) != 2) {
    weir_warn("io",
              "%s does not state the date and time of its first sample, which DICOM requires: the "
              "year 1900 is written for it",
              weir_record_name(c->r));
    *m = (moment){.date = "19000101", .time = "000000", .both = "1900"};
    return WEIR_OK;
  }
  const int64_t of_day = (us % INT64_C(86400000000) + INT64_C(86400000000)) % INT64_C(86400000000);
  const int64_t seconds = of_day / 1000000;

  weir_io_civil_date(us - of_day, &year, &month, &day);
  if (year < 1900 || year > 2189) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s begins in the year %d: expected 1900 to 2189",
                     weir_record_name(c->r), year);
  }
  (void)snprintf(m->date, sizeof m->date, "%04d%02d%02d", year, month, day);
  (void)snprintf(m->time, sizeof m->time, "%02d%02d%02d.%06d", (int)(seconds / 3600),
                 (int)(seconds / 60 % 60), (int)(seconds % 60), (int)(of_day % 1000000));
  m->zone[0] = 0;
  if (weir_record_utc_offset(c->r, &offset)) {
    weir_aecg_offset_text(offset, m->zone);
  }
  (void)snprintf(m->both, sizeof m->both, "%s%s%s", m->date, m->time, m->zone);
  return WEIR_OK;
}

static weir_status put_head(weir_dicom_copy *c, const char *instance, const moment *m,
                            const char *comments)
{
  char study[WEIR_DICOM_UID], series[WEIR_DICOM_UID], frame[WEIR_DICOM_UID];
  /* A haemodynamic object has the synchronization module (A.34.6.3, C.7.4.2). */
  const bool synchronized = strcmp(c->modality, "HD") == 0;

  name_uid(c, "frame of reference", frame);
  name_uid(c, "study", study);
  name_uid(c, "series", series);
  // clang-format off
  const struct {
    uint32_t tag;
    const char *vr, *text;
  } elements[] = {
      {0x00080005, "CS", "ISO_IR 192"}, /* UTF-8 */
      {0x00080016, "UI", c->sop_class},
      {0x00080018, "UI", instance},
      {0x00080020, "DA", ""}, /* study date */
      {0x00080023, "DA", m->date},
      {0x0008002a, "DT", m->both},
      {0x00080030, "TM", ""},
      {0x00080033, "TM", m->time},
      {0x00080050, "SH", ""}, /* accession number */
      {0x00080060, "CS", c->modality},
      {0x00080070, "LO", ""}, /* manufacturer */
      {0x00080090, "PN", ""}, /* referring physician */
      {0x00080201, "SH", m->zone[0] != 0 ? m->zone : NULL},
      {0x00100010, "PN", ""}, /* name, number, birth and sex of the patient */
      {0x00100020, "LO", ""},
      {0x00100030, "DA", ""},
      {0x00100040, "CS", ""},
      {0x00104000, "LT", comments != NULL && comments[0] != 0 ? comments : NULL},
      {0x0018106a, "CS", synchronized ? "NO TRIGGER" : NULL},
      {0x00181800, "CS", synchronized ? "N" : NULL},
      {0x0020000d, "UI", study},
      {0x0020000e, "UI", series},
      {0x00200010, "SH", ""}, /* numbers of study and series */
      {0x00200011, "IS", ""},
      {0x00200013, "IS", "1"},
      {0x00200200, "UI", synchronized ? frame : NULL},
  };
  // clang-format on

  for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
    if (elements[i].text != NULL && elements[i].tag == 0x00104000) {
      WEIR_TRY(put_free_text(c, 0x00104000, "LT", comments, LT_SIZE,
                             "the comments of its header (convert.comments)"));
    } else if (elements[i].text != NULL) {
      WEIR_TRY(weir_dicom_put_text(c->w, elements[i].tag, elements[i].vr, elements[i].text));
    }
  }
  return weir_dicom_put_head(c->w, 0x00400555, "SQ", 0); /* acquisition context */
}

/* A place in time: the number of a sample of the first group if there is one at this ns, else
 * seconds. */
static bool place_of(const weir_dicom_set *set, int64_t ns, uint32_t *position)
{
  const __int128 period = (__int128)set->fs_den * SECOND;
  const __int128 slot = ((__int128)ns * set->fs_num * 2 + period) / (2 * period);

  if (ns < 0 || slot >= set->count || (slot * period * 2 + set->fs_num) / (2 * set->fs_num) != ns) {
    return false;
  }
  *position = (uint32_t)slot + 1;
  return true;
}

static void seconds_text(int64_t ns, char text[2 * WEIR_DICOM_DS])
{
  const int64_t size = ns < 0 ? -ns : ns;
  char full[40];

  (void)snprintf(full, sizeof full, "%s%lld.%09lld", ns < 0 ? "-" : "", (long long)(size / SECOND),
                 (long long)(size % SECOND));
  (void)snprintf(text, WEIR_DICOM_DS, "%.16s", full);
}

static weir_status put_places(weir_dicom_copy *c, const weir_record_event *e)
{
  const int n = e->duration >= 0 ? 2 : 1;
  const uint32_t all[] = {1, 0};
  uint32_t positions[2];
  char text[2 * WEIR_DICOM_DS], end[2 * WEIR_DICOM_DS];

  WEIR_TRY(weir_dicom_put_ints(c->w, 0x0040a0b0, "US", all, 2));
  WEIR_TRY(weir_dicom_put_text(c->w, 0x0040a130, "CS", n == 2 ? "SEGMENT" : "POINT"));
  if (place_of(&c->sets[0], e->time, &positions[0]) &&
      (n == 1 || place_of(&c->sets[0], e->time + e->duration, &positions[1]))) {
    return weir_dicom_put_ints(c->w, 0x0040a132, "UL", positions, n);
  }
  seconds_text(e->time, text);
  if (n == 2) {
    seconds_text(e->time + e->duration, end);
    strcat(strcat(text, "\\"), end);
  }
  return weir_dicom_put_text(c->w, 0x0040a138, "DS", text);
}

/* A code has no text, a text no code (C.10.10): an annotation with both is two of one number. */
static weir_status put_event(weir_dicom_copy *c, const weir_record_event *e, int64_t index)
{
  const bool coded = e->code != WEIR_RECORD_NOTE;
  const bool texted = !coded || (e->text != NULL && e->text[0] != 0);
  weir_dicom_code code;

  weir_dicom_mark_code(e->code, &code);
  for (int part = 0; part < 2; part++) {
    if (part == 0 ? !coded : !texted) {
      continue;
    }
    WEIR_TRY(weir_dicom_begin_item(c->w));
    if (part == 0) {
      WEIR_TRY(weir_dicom_put_code(c->w, 0x0040a043, &code));
    }
    WEIR_TRY(put_places(c, e));
    if (coded && texted) {
      WEIR_TRY(weir_dicom_put_int(c->w, 0x0040a180, "US", (uint32_t)(index % UINT16_MAX) + 1));
    }
    if (part == 1) {
      WEIR_TRY(put_free_text(c, 0x00700006, "ST", e->text != NULL ? e->text : "", ST_SIZE,
                             "an annotation"));
    }
    WEIR_TRY(weir_dicom_end_item(c->w));
  }
  return WEIR_OK;
}

static weir_status put_events(weir_dicom_copy *c, const weir_record_events *events)
{
  if (events == NULL || events->count == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_dicom_begin_sequence(c->w, 0x0040b020));
  for (int64_t i = 0; i < events->count; i++) {
    WEIR_TRY(put_event(c, &events->items[i], i));
  }
  return weir_dicom_end_sequence(c->w);
}

/* A filter as EDF+ states it ("HP:0.05Hz LP:150Hz N:50Hz"): the frequency after `name`. */
static weir_status put_filter(weir_dicom_copy *c, uint32_t tag, const char *prefilter,
                              const char *name)
{
  const char *const at = prefilter != NULL ? strstr(prefilter, name) : NULL;
  const char *const digits = at != NULL ? at + strlen(name) : "";
  const size_t n = strspn(digits, "0123456789.");
  char text[WEIR_DICOM_DS];
  int64_t num = 0, den = 0;

  if (n == 0 || n >= sizeof text || strncmp(digits + n, "Hz", 2) != 0 ||
      (at > prefilter && at[-1] != ' ') || !weir_io_parse_decimal(digits, n, &num, &den)) {
    return WEIR_OK;
  }
  (void)snprintf(text, sizeof text, "%.*s", (int)n, digits);
  return weir_dicom_put_text(c->w, tag, "DS", text);
}

static weir_status put_channel(weir_dicom_copy *c, const weir_dicom_lane *l)
{
  static const char *const units[][3] = {{"uV", "uV", "microvolt"},
                                         {"mV", "mV", "millivolt"},
                                         {"V", "V", "volt"},
                                         {"mmHg", "mm[Hg]", "millimeter of mercury"}};
  weir_dicom_code unit = {.scheme = "UCUM"};
  char scale[WEIR_DICOM_DS], origin[WEIR_DICOM_DS];

  weir_dicom_real_text(l->scale, scale);
  weir_dicom_real_text(l->origin, origin);
  for (int i = 0; i < 4; i++) {
    if (strcmp(units[i][0], l->info->units) == 0) {
      (void)snprintf(unit.value, sizeof unit.value, "%s", units[i][1]);
      (void)snprintf(unit.meaning, sizeof unit.meaning, "%s", units[i][2]);
    }
  }
  WEIR_TRY(weir_dicom_begin_item(c->w));
  WEIR_TRY(weir_dicom_put_text(c->w, 0x003a0203, "SH", l->info->name));
  WEIR_TRY(weir_dicom_put_code(c->w, 0x003a0208, &l->source));
  WEIR_TRY(weir_dicom_put_text(c->w, 0x003a0210, "DS", scale));
  WEIR_TRY(weir_dicom_put_code(c->w, 0x003a0211, &unit));
  WEIR_TRY(weir_dicom_put_text(c->w, 0x003a0212, "DS", "1"));
  WEIR_TRY(weir_dicom_put_text(c->w, 0x003a0213, "DS", origin));
  WEIR_TRY(weir_dicom_put_text(c->w, 0x003a0215, "DS", "0"));
  WEIR_TRY(weir_dicom_put_int(c->w, 0x003a021a, "US", 16));
  WEIR_TRY(put_filter(c, 0x003a0220, l->info->prefilter, "HP:"));
  WEIR_TRY(put_filter(c, 0x003a0221, l->info->prefilter, "LP:"));
  WEIR_TRY(put_filter(c, 0x003a0222, l->info->prefilter, "N:"));
  return weir_dicom_end_item(c->w);
}

/* Samples in turn of the channels, the lower byte first. */
static weir_status put_samples(weir_dicom_copy *c, const weir_dicom_set *set)
{
  for (int64_t at = 0; at < set->count; at += WEIR_DICOM_BLOCK) {
    const int64_t left = set->count - at;
    const int64_t n = left < WEIR_DICOM_BLOCK ? left : WEIR_DICOM_BLOCK;

    for (int i = 0; i < set->n; i++) {
      WEIR_TRY(weir_dicom_read_block(c, &c->lanes[set->lanes[i]], at, n));
      for (int64_t k = 0; k < n; k++) {
        const uint16_t word = (uint16_t)(c->present[k] ? c->digits[k] : set->padding);

        c->words[2 * (k * set->n + i)] = (uint8_t)word;
        c->words[2 * (k * set->n + i) + 1] = (uint8_t)(word >> 8);
      }
    }
    WEIR_TRY(weir_writer_write(c->w, c->words, (size_t)(2 * n * set->n)));
  }
  return WEIR_OK;
}

static weir_status put_set(weir_dicom_copy *c, const weir_dicom_set *set)
{
  const uint16_t padding = (uint16_t)set->padding;
  const uint8_t missing[] = {(uint8_t)padding, (uint8_t)(padding >> 8)};

  WEIR_TRY(weir_dicom_begin_item(c->w));
  WEIR_TRY(weir_dicom_put_text(c->w, 0x003a0004, "CS", "ORIGINAL"));
  WEIR_TRY(weir_dicom_put_int(c->w, 0x003a0005, "US", (uint32_t)set->n));
  WEIR_TRY(weir_dicom_put_int(c->w, 0x003a0010, "UL", (uint32_t)set->count));
  WEIR_TRY(weir_dicom_put_text(c->w, 0x003a001a, "DS", set->frequency));
  WEIR_TRY(weir_dicom_begin_sequence(c->w, 0x003a0200));
  for (int k = 0; k < set->n; k++) {
    WEIR_TRY(put_channel(c, &c->lanes[set->lanes[k]]));
  }
  WEIR_TRY(weir_dicom_end_sequence(c->w));
  WEIR_TRY(weir_dicom_put_int(c->w, 0x54001004, "US", 16));
  WEIR_TRY(weir_dicom_put_text(c->w, 0x54001006, "CS", "SS"));
  if (set->padded) {
    WEIR_TRY(weir_dicom_put_head(c->w, 0x5400100a, "OW", 2));
    WEIR_TRY(weir_writer_write(c->w, missing, 2));
  }
  WEIR_TRY(weir_dicom_put_head(c->w, 0x54001010, "OW", (uint32_t)(2 * set->count * set->n)));
  WEIR_TRY(put_samples(c, set));
  return weir_dicom_end_item(c->w);
}

static void digest_text(weir_dicom_copy *c, const char *text)
{
  const size_t size = text != NULL ? strlen(text) : 0;

  for (size_t at = 0; at < size; at += WEIR_DICOM_BLOCK) {
    weir_dicom_digest(c, text + at, size - at < WEIR_DICOM_BLOCK ? size - at : WEIR_DICOM_BLOCK);
  }
}

/* What the UIDs name apart from the samples. */
static void digest_object(weir_dicom_copy *c, const weir_record_events *events,
                          const char *comments, const moment *m)
{
  char text[256];

  for (int i = 0; i < c->n; i++) {
    const weir_dicom_lane *const l = &c->lanes[i];

    (void)snprintf(text, sizeof text, "%.64s %.16s %lld/%lld %lld %.17g %.17g ", l->info->name,
                   l->info->units, (long long)l->info->fs_num, (long long)l->info->fs_den,
                   (long long)l->info->count, l->scale, l->origin);
    digest_text(c, text);
    digest_text(c, l->info->prefilter);
  }
  for (int64_t i = 0; events != NULL && i < events->count; i++) {
    const weir_record_event *const e = &events->items[i];

    (void)snprintf(text, sizeof text, "%lld %lld %d ", (long long)e->time, (long long)e->duration,
                   e->code);
    digest_text(c, text);
    digest_text(c, e->text);
  }
  digest_text(c, m->both);
  digest_text(c, comments);
}

weir_status weir_dicom_put_object(weir_dicom_copy *c, const weir_record_events *events,
                                  const char *comments)
{
  char instance[WEIR_DICOM_UID];
  moment m;

  WEIR_TRY(tell_start(c, &m));
  digest_object(c, events, comments, &m);
  name_uid(c, "instance", instance);
  WEIR_TRY(put_meta(c, instance));
  WEIR_TRY(put_head(c, instance, &m, comments));
  WEIR_TRY(put_events(c, events));
  WEIR_TRY(weir_dicom_begin_sequence(c->w, 0x54000100));
  for (int k = 0; k < c->n_sets; k++) {
    WEIR_TRY(put_set(c, &c->sets[k]));
  }
  return weir_dicom_end_sequence(c->w);
}
