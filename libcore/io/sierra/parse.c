/* parse.c - a resting ECG of Philips, element by element. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "io/io_priv.h"
#include "io/sierra/sierra_priv.h"
#include "io/xml/weir_xml.h"

enum { FIELD = 48, LABELS = 512, N_LIMB = 6, N_STANDARD = 12 };
#define MAX_SAMPLES (INT64_C(1) << 20)

static const char *const standard[N_STANDARD] = {"I",  "II", "III", "aVR", "aVL", "aVF",
                                                 "V1", "V2", "V3",  "V4",  "V5",  "V6"};

/* Texts of elements and attributes, "" where there is none. Those of the samples stand for those of
 * the acquisition, where both are stated. */
typedef struct fields {
  char kind[FIELD], version[FIELD], date[FIELD], time[FIELD];
  char rate[FIELD], resolution[FIELD], offset[FIELD], is_signed[FIELD], bits[FIELD];
  char channels[FIELD], acquisition[FIELD];
  char own_rate[FIELD], own_resolution[FIELD], own_offset[FIELD], own_signed[FIELD];
  char own_bits[FIELD], encoding[FIELD], is_compressed[FIELD], compression[FIELD];
  char duration[FIELD], leads[FIELD];
  char labels[LABELS];
} fields;

typedef struct parser {
  weir_xml *xml;
  weir_leads *out;
  fields f;
  bool has_samples;
} parser;

/* Elements whose text is kept: the names of 1.03 and of 1.04. */
static const struct {
  const char *name, *parent;
  size_t at;
} kept[] = {
    {"documenttype", "documentinfo", offsetof(fields, kind)},
    {"documentversion", "documentinfo", offsetof(fields, version)},
    {"samplingrate", "signalcharacteristics", offsetof(fields, rate)},
    {"signalresolution", "signalcharacteristics", offsetof(fields, resolution)},
    {"resolution", "signalcharacteristics", offsetof(fields, resolution)},
    {"signaloffset", "signalcharacteristics", offsetof(fields, offset)},
    {"signalsigned", "signalcharacteristics", offsetof(fields, is_signed)},
    {"bitspersample", "signalcharacteristics", offsetof(fields, bits)},
    {"numberchannelsallocated", "signalcharacteristics", offsetof(fields, channels)},
    {"acquisitiontype", "signalcharacteristics", offsetof(fields, acquisition)},
};

/* Attributes of parsedwaveforms, likewise. */
static const struct {
  const char *name;
  size_t at, size;
} attributes[] = {
    {"samplespersecond", offsetof(fields, own_rate), FIELD},
    {"resolution", offsetof(fields, own_resolution), FIELD},
    {"signaloffset", offsetof(fields, own_offset), FIELD},
    {"signalsigned", offsetof(fields, own_signed), FIELD},
    {"bitspersample", offsetof(fields, own_bits), FIELD},
    {"nbitspersample", offsetof(fields, own_bits), FIELD},
    {"dataencoding", offsetof(fields, encoding), FIELD},
    {"compressflag", offsetof(fields, is_compressed), FIELD},
    {"compressmethod", offsetof(fields, compression), FIELD},
    {"compression", offsetof(fields, compression), FIELD},
    {"durationperchannel", offsetof(fields, duration), FIELD},
    {"numberofleads", offsetof(fields, leads), FIELD},
    {"leadlabels", offsetof(fields, labels), LABELS},
};

static const char *either(const char *own, const char *other)
{
  return own[0] != 0 ? own : other;
}

static void check_document(parser *p)
{
  static const char *const versions[] = {"1.03", "1.04", "1.04.01", "1.04.02"};
  bool known = false;

  for (size_t k = 0; k < sizeof versions / sizeof versions[0]; k++) {
    known = known || strcmp(p->f.version, versions[k]) == 0;
  }
  if (!known || (strcmp(p->f.kind, "SierraECG") != 0 && strcmp(p->f.kind, "PhilipsECG") != 0)) {
    weir_xml_refuse(p->xml,
                    "document '%s' of version '%s': expected SierraECG or PhilipsECG 1.03, 1.04, "
                    "1.04.01 or 1.04.02",
                    p->f.kind, p->f.version);
  }
}

/* What the samples are has to be one of the documented kinds. */
static void check_samples(parser *p)
{
  const fields *const f = &p->f;
  const char *const bits = either(f->own_bits, f->bits);
  const char *const is_signed = either(f->own_signed, f->is_signed);

  if (strcmp(f->encoding, "Base64") != 0) {
    weir_xml_refuse(p->xml, "dataencoding is '%s': only Base64 is read", f->encoding);
  } else if (f->is_compressed[0] != 0 && strcmp(f->is_compressed, "True") != 0) {
    weir_xml_refuse(p->xml, "compressflag is '%s': only True is read", f->is_compressed);
  } else if (strcmp(f->compression, "XLI") != 0) {
    weir_xml_refuse(p->xml, "the compression is '%s': only XLI is read", f->compression);
  } else if (strcmp(bits, "16") != 0 || strcmp(is_signed, "True") != 0) {
    weir_xml_refuse(p->xml, "samples of '%s' bits, signed '%s': expected 16 and True", bits,
                    is_signed);
  }
}

static void take_scale(parser *p, double *scale, double *origin)
{
  const char *const resolution = either(p->f.own_resolution, p->f.resolution);
  const char *const offset = either(p->f.own_offset, p->f.offset);
  const char *const rate = either(p->f.own_rate, p->f.rate);
  int64_t shift = 0;

  if (!weir_io_parse_real(resolution, strlen(resolution), scale) || !(*scale > 0)) {
    weir_xml_refuse(p->xml, "the resolution is '%s': expected a number of uV above 0", resolution);
  } else if (offset[0] != 0 &&
             !weir_io_parse_int(offset, strlen(offset), INT16_MIN, INT16_MAX, &shift)) {
    weir_xml_refuse(p->xml, "signaloffset is '%s': expected a whole number of 16 bits", offset);
  } else if (!weir_io_parse_decimal(rate, strlen(rate), &p->out->fs_num, &p->out->fs_den) ||
             p->out->fs_num <= 0 || p->out->fs_num / p->out->fs_den > 1000000) {
    weir_xml_refuse(p->xml, "the sampling rate is '%s': expected up to 1e6 Hz", rate);
  }
  *origin = -(double)shift * *scale;
}

/* Samples of a lead: durationperchannel is in ms. */
static int64_t count_samples(parser *p)
{
  int64_t ms = 0, n = 0;

  if (!weir_io_parse_int(p->f.duration, strlen(p->f.duration), 1, INT32_MAX, &ms) ||
      !weir_mul_ok(ms, p->out->fs_num, &n) || n / p->out->fs_den / 1000 > MAX_SAMPLES ||
      n / p->out->fs_den / 1000 < 2) {
    weir_xml_refuse(p->xml, "durationperchannel is '%s' ms: expected 2 to %lld samples of a lead",
                    p->f.duration, (long long)MAX_SAMPLES);
    return 0;
  }
  return n / p->out->fs_den / 1000;
}

/* The names: leadlabels, else those of the standard twelve. */
static int64_t name_leads(parser *p, char names[][WEIR_LEAD_TEXT], int64_t max)
{
  const char *at = p->f.labels;
  const char *const count = either(p->f.leads, p->f.channels);
  const bool is_standard =
      strcmp(p->f.acquisition, "STD-12") == 0 || strcmp(p->f.acquisition, "10-WIRE") == 0;
  int64_t n = 0, stated = 0;

  if (!weir_io_parse_int(count, strlen(count), N_LIMB, max, &stated)) {
    weir_xml_refuse(p->xml, "'%s' leads: expected %d to %lld", count, N_LIMB, (long long)max);
    return 0;
  }
  for (at += strspn(at, " "); *at != 0 && n < stated; n++, at += strspn(at, " ")) {
    const size_t length = strcspn(at, " ");

    (void)snprintf(names[n], WEIR_LEAD_TEXT, "%.*s", length < WEIR_LEAD_TEXT ? (int)length : 63,
                   at);
    at += length;
  }
  for (; p->f.labels[0] == 0 && is_standard && n < stated && n < N_STANDARD; n++) {
    weir_xml_copy(names[n], WEIR_LEAD_TEXT, standard[n]);
  }
  bool good = n == stated;

  for (int k = 0; k < N_LIMB; k++) {
    good = good && strcmp(names[k], standard[k]) == 0;
  }
  for (int64_t k = 1; k < n; k++) {
    for (int64_t i = 0; i < k; i++) {
      good = good && strcmp(names[i], names[k]) != 0;
    }
  }
  if (!good) {
    weir_xml_refuse(p->xml,
                    "%lld leads, leadlabels '%s', acquisitiontype '%s': expected leads that begin "
                    "with I II III aVR aVL aVF, each once",
                    (long long)stated, p->f.labels, p->f.acquisition);
  }
  return n;
}

static weir_status add_lead(parser *p, const char *name, double scale, double origin, int64_t n)
{
  weir_lead *lead = NULL;
  weir_lead_piece *piece = NULL;

  WEIR_TRY(weir_leads_add(p->out, p->xml->path, name, &lead));
  WEIR_TRY(weir_leads_add_piece(lead, p->xml->path, &piece));
  lead->scale = scale;
  lead->origin = origin;
  memcpy(lead->units, "uV", sizeof "uV");
  WEIR_TRY(weir_alloc(n, sizeof *piece->digits, (void **)&piece->digits));
  piece->count = piece->capacity = n;
  return WEIR_OK;
}

static void expand(parser *p, char names[][WEIR_LEAD_TEXT], int64_t n_leads)
{
  const uint8_t *data = NULL;
  const int64_t size = weir_xml_base64(p->xml, &data);
  double scale = 0, origin = 0;
  int32_t *limb[N_LIMB];
  int64_t at = 0, used = 0, n = 0;

  take_scale(p, &scale, &origin);
  if (p->xml->status == WEIR_OK && size <= 0) {
    weir_xml_refuse(p->xml, "%s", "the text of parsedwaveforms is no base64");
  }
  n = p->xml->status == WEIR_OK ? count_samples(p) : 0;
  for (int64_t i = 0; i < n_leads && p->xml->status == WEIR_OK; i++, at += used) {
    weir_xml_stop(p->xml, add_lead(p, names[i], scale, origin, n));
    if (p->xml->status == WEIR_OK) {
      int32_t *const samples = p->out->leads[i].pieces[0].digits;
      const char *const wrong = weir_sierra_xli(data + at, size - at, samples, n, &used);

      if (wrong != NULL) {
        weir_xml_refuse(p->xml, "lead %s: %s", names[i], wrong);
      }
      if (i < N_LIMB) {
        limb[i] = samples;
      }
    }
  }
  if (p->xml->status == WEIR_OK) {
    weir_sierra_limb_leads(limb, n);
    if (at < size) {
      weir_info("io", "%s: channels after lead %s are not read", p->xml->path, names[n_leads - 1]);
    }
  }
}

static void take_samples(parser *p)
{
  char names[64][WEIR_LEAD_TEXT] = {""};
  int64_t n = 0;

  if (p->has_samples) {
    weir_xml_refuse(p->xml, "%s", "a second parsedwaveforms");
    return;
  }
  p->has_samples = true;
  check_document(p);
  if (p->xml->status == WEIR_OK) {
    check_samples(p);
  }
  if (p->xml->status == WEIR_OK) {
    n = name_leads(p, names, 64);
  }
  if (p->xml->status == WEIR_OK) {
    expand(p, names, n);
  }
}

/* YYYY-MM-DD and HH:MM:SS, with a fraction or not; a file without them is of unknown time. */
static void take_start(parser *p)
{
  static const char shape[] = "0000-00-00 00:00:00";
  char text[2 * FIELD + 2];
  int64_t us = 0, d[6] = {0}, fraction = 0;
  int at = 0;

  if (p->f.date[0] == 0 && p->f.time[0] == 0) {
    return;
  }
  (void)snprintf(text, sizeof text, "%s %s", p->f.date, p->f.time);
  bool good = strlen(text) >= sizeof shape - 1;

  for (size_t i = 0; good && i < sizeof shape - 1; i++) {
    good = shape[i] != '0' ? text[i] == shape[i] : text[i] >= '0' && text[i] <= '9';
    if (shape[i] != '0') {
      at++;
    } else {
      d[at] = d[at] * 10 + text[i] - '0';
    }
  }
  const char *const rest = good ? text + sizeof shape - 1 : "";
  int64_t unit = INT64_C(100000000);

  for (size_t i = 1; rest[0] == '.' && rest[i] != 0; i++, unit /= 10) {
    good = good && rest[i] >= '0' && rest[i] <= '9';
    fraction += (rest[i] - '0') * unit;
  }
  good = good && (rest[0] == 0 || rest[0] == '.') && d[0] >= 1900 && d[0] <= 2189 && d[3] < 24 &&
         d[4] < 60 && d[5] < 60 && weir_io_date_us(d[0], d[1], d[2], &us);
  if (!good) {
    weir_xml_refuse(p->xml,
                    "date and time of the acquisition '%s': expected YYYY-MM-DD HH:MM:SS of the "
                    "years 1900 to 2189",
                    text);
    return;
  }
  p->out->has_start = true;
  p->out->start = us * 1000 + ((d[3] * 60 + d[4]) * 60 + d[5]) * INT64_C(1000000000) + fraction;
}

/* A pace pulse at a time in ms; one of unknown time is left out. */
static void take_pulse(parser *p, const char **list)
{
  static const char label[] = "pace pulse";
  const char *const time = weir_xml_attribute(list, "starttime");
  weir_record_event event = {.duration = -1, .code = WEIR_RECORD_NOTE};

  if (weir_io_parse_int(time, strlen(time), 0, INT32_MAX, &event.time)) {
    event.time *= 1000000;
    weir_xml_stop(p->xml, weir_record_events_add(&p->out->events, &event, label, sizeof label - 1));
  }
}

static void start_element(weir_xml *x, const char *space, const char *name, const char **list)
{
  parser *const p = x->user;

  (void)space;
  if (x->depth == 1 && strcmp(name, "restingecgdata") != 0) {
    weir_xml_refuse(x, "the root element is %.40s, not restingecgdata", name);
  } else if (strcmp(name, "dataacquisition") == 0) {
    weir_xml_keep(x, p->f.date, FIELD, weir_xml_attribute(list, "date"));
    weir_xml_keep(x, p->f.time, FIELD, weir_xml_attribute(list, "time"));
    take_start(p);
  } else if (strcmp(name, "pacepulse") == 0) {
    take_pulse(p, list);
  } else if (strcmp(name, "parsedwaveforms") == 0) {
    for (size_t k = 0; k < sizeof attributes / sizeof attributes[0]; k++) {
      const char *const value = weir_xml_attribute(list, attributes[k].name);

      if (value[0] != 0) {
        weir_xml_keep(x, (char *)&p->f + attributes[k].at, attributes[k].size, value);
      }
    }
  }
}

static void end_element(weir_xml *x, const char *name)
{
  parser *const p = x->user;

  if (strcmp(name, "parsedwaveforms") == 0) {
    take_samples(p);
    return;
  }
  for (size_t k = 0; k < sizeof kept / sizeof kept[0]; k++) {
    if (strcmp(name, kept[k].name) == 0 && weir_xml_in(x, kept[k].parent, NULL)) {
      weir_xml_keep(x, (char *)&p->f + kept[k].at, FIELD, weir_xml_trim(x));
    }
  }
}

weir_status weir_sierra_parse(const char *path, weir_leads *out)
{
  parser p = {.out = out};
  weir_xml x = {.start = start_element, .end = end_element, .user = &p};

  *out = (weir_leads){.format = "Philips XML", .bits = 32};
  p.xml = &x;
  WEIR_TRY(weir_xml_read(&x, path));
  return p.has_samples ? WEIR_OK
                       : weir_fail(WEIR_ERR_DATA,
                                   "%s: no parsedwaveforms: leads of unparsedwaveforms and "
                                   "leadwaveforms are not read",
                                   path);
}
