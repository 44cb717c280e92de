/* parse.c - an export of MUSE, element by element. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/io_priv.h"
#include "io/muse/muse_priv.h"
#include "io/xml/weir_xml.h"

enum { FIELD = 48 };

/* Texts of elements, "" where there is none. */
typedef struct fields {
  char type[FIELD], start[FIELD], leads[FIELD], sample_type[FIELD], base[FIELD], exponent[FIELD];
  /* of a lead */
  char bytes[FIELD], offset[FIELD], count[FIELD], scale[FIELD], units[FIELD], id[FIELD];
  char first[FIELD], baseline[FIELD], size[FIELD], crc[FIELD];
  /* of the file, and of a QRS complex */
  char date[FIELD], time[FIELD], qrs_type[FIELD], qrs_time[FIELD];
} fields;

typedef struct parser {
  weir_xml *xml;
  weir_leads *out;
  fields f;
  weir_lead_piece piece; /* samples of the lead that is open */
  uint32_t crc;          /* of its bytes */
  bool has_samples, has_rhythm;
  int64_t n_before; /* leads, when the waveform began */
} parser;

/* Elements whose text is kept. */
static const struct {
  const char *name, *parent;
  size_t at;
} kept[] = {
    {"WaveformType", "Waveform", offsetof(fields, type)},
    {"WaveformStartTime", "Waveform", offsetof(fields, start)},
    {"NumberofLeads", "Waveform", offsetof(fields, leads)},
    {"SampleType", "Waveform", offsetof(fields, sample_type)},
    {"SampleBase", "Waveform", offsetof(fields, base)},
    {"SampleExponent", "Waveform", offsetof(fields, exponent)},
    {"LeadByteCountTotal", "LeadData", offsetof(fields, bytes)},
    {"LeadTimeOffset", "LeadData", offsetof(fields, offset)},
    {"LeadSampleCountTotal", "LeadData", offsetof(fields, count)},
    {"LeadAmplitudeUnitsPerBit", "LeadData", offsetof(fields, scale)},
    {"LeadAmplitudeUnits", "LeadData", offsetof(fields, units)},
    {"LeadID", "LeadData", offsetof(fields, id)},
    {"LeadOffsetFirstSample", "LeadData", offsetof(fields, first)},
    {"FirstSampleBaseline", "LeadData", offsetof(fields, baseline)},
    {"LeadSampleSize", "LeadData", offsetof(fields, size)},
    {"LeadDataCRC32", "LeadData", offsetof(fields, crc)},
    {"AcquisitionDate", "TestDemographics", offsetof(fields, date)},
    {"AcquisitionTime", "TestDemographics", offsetof(fields, time)},
    {"Type", "QRS", offsetof(fields, qrs_type)},
    {"Time", "QRS", offsetof(fields, qrs_time)},
};

uint32_t weir_muse_crc32(const uint8_t *data, int64_t size)
{
  uint32_t table[256];
  uint32_t crc = ~UINT32_C(0);

  for (uint32_t i = 0; i < 256; i++) {
    table[i] = i;
    for (int k = 0; k < 8; k++) {
      table[i] = table[i] >> 1 ^ (UINT32_C(0xedb88320) & (0 - (table[i] & 1)));
    }
  }
  for (int64_t i = 0; i < size; i++) {
    crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xff];
  }
  return ~crc;
}

/* A number that has to be there; false after a refusal. */
static bool take(parser *p, const char *name, const char *text, int64_t lo, int64_t hi,
                 int64_t *out)
{
  if (weir_io_parse_int(text, strlen(text), lo, hi, out)) {
    return true;
  }
  weir_xml_refuse(p->xml, "%s '%s': expected a whole number from %lld to %lld", name, text,
                  (long long)lo, (long long)hi);
  return false;
}

/* What a number other than 0 would mean is not documented. */
static void refuse_shift(parser *p, const char *name, const char *text)
{
  if (text[0] != 0 && strcmp(text, "0") != 0) {
    weir_xml_refuse(p->xml, "%s is '%s': only 0 is understood", name, text);
  }
}

static void take_samples(parser *p)
{
  const uint8_t *bytes = NULL;
  const int64_t n = weir_xml_base64(p->xml, &bytes);

  if (n < 2 || n % 2 != 0) {
    weir_xml_refuse(p->xml, "%s", "WaveFormData is no base64 of samples of two bytes");
    return;
  }
  if (p->has_samples) {
    weir_xml_refuse(p->xml, "%s", "a LeadData has two WaveFormData");
    return;
  }
  p->crc = weir_muse_crc32(bytes, n);
  weir_xml_stop(p->xml, weir_alloc(n / 2, sizeof *p->piece.digits, (void **)&p->piece.digits));
  if (p->xml->status != WEIR_OK) {
    return;
  }
  p->piece.count = p->piece.capacity = n / 2;
  for (int64_t i = 0; i < n / 2; i++) {
    p->piece.digits[i] = (int16_t)(uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
  }
  p->has_samples = true;
}

static const char *unit_of(const char *name)
{
  return strcmp(name, "MICROVOLTS") == 0 ? "uV" : strcmp(name, "MILLIVOLTS") == 0 ? "mV" : NULL;
}

/* Limb leads in the letters of the other formats. */
static const char *lead_name(const char *id)
{
  return strcmp(id, "AVR") == 0   ? "aVR"
         : strcmp(id, "AVL") == 0 ? "aVL"
         : strcmp(id, "AVF") == 0 ? "aVF"
                                  : id;
}

static void check_lead(parser *p, double *scale)
{
  const fields *const f = &p->f;
  int64_t n = 0;

  if (!p->has_samples || f->id[0] == 0) {
    weir_xml_refuse(p->xml, "%s", "a LeadData has no LeadID or no WaveFormData");
    return;
  }
  if (!take(p, "LeadSampleCountTotal", f->count, 1, INT32_MAX, &n)) {
    return;
  }
  if (n != p->piece.count) {
    weir_xml_refuse(p->xml, "lead %s has %lld samples, and LeadSampleCountTotal is %lld", f->id,
                    (long long)p->piece.count, (long long)n);
  } else if (f->bytes[0] != 0 && take(p, "LeadByteCountTotal", f->bytes, 2, INT64_MAX, &n) &&
             n != 2 * p->piece.count) {
    weir_xml_refuse(p->xml, "lead %s has %lld bytes, and LeadByteCountTotal is %lld", f->id,
                    (long long)(2 * p->piece.count), (long long)n);
  } else if (strcmp(f->size, "2") != 0) {
    weir_xml_refuse(p->xml, "LeadSampleSize is '%s': only samples of 2 bytes are read", f->size);
  } else if (!weir_io_parse_real(f->scale, strlen(f->scale), scale) || !(*scale > 0)) {
    weir_xml_refuse(p->xml, "LeadAmplitudeUnitsPerBit '%s': expected a number above 0", f->scale);
  } else if (unit_of(f->units) == NULL) {
    weir_xml_refuse(p->xml, "LeadAmplitudeUnits '%s': expected MICROVOLTS or MILLIVOLTS", f->units);
  }
  if (f->crc[0] != 0 && take(p, "LeadDataCRC32", f->crc, 0, UINT32_MAX, &n) &&
      (uint32_t)n != p->crc) {
    weir_xml_refuse(p->xml, "samples of lead %s have the CRC-32 %lu, and LeadDataCRC32 is %s",
                    f->id, (unsigned long)p->crc, f->crc);
  }
  refuse_shift(p, "LeadTimeOffset", f->offset);
  refuse_shift(p, "LeadOffsetFirstSample", f->first);
  refuse_shift(p, "FirstSampleBaseline", f->baseline);
}

static void end_lead(parser *p)
{
  weir_lead *lead = NULL;
  weir_lead_piece *piece = NULL;
  double scale = 0;

  check_lead(p, &scale);
  for (int64_t i = p->n_before; i < p->out->n_leads && p->xml->status == WEIR_OK; i++) {
    if (strcmp(p->out->leads[i].name, lead_name(p->f.id)) == 0) {
      weir_xml_refuse(p->xml, "lead %s stands twice in a waveform", p->f.id);
    }
  }
  if (p->xml->status != WEIR_OK) {
    return;
  }
  weir_xml_stop(p->xml, weir_leads_add(p->out, p->xml->path, lead_name(p->f.id), &lead));
  if (p->xml->status == WEIR_OK) {
    weir_xml_stop(p->xml, weir_leads_add_piece(lead, p->xml->path, &piece));
  }
  if (p->xml->status == WEIR_OK) {
    lead->scale = scale;
    weir_xml_copy(lead->units, sizeof lead->units, unit_of(p->f.units));
    *piece = p->piece;
    memset(&p->piece, 0, sizeof p->piece);
  }
}

/* SampleBase * 10^SampleExponent samples per second. */
static void take_rate(parser *p)
{
  int64_t base = 0, exponent = 0, factor = 1;

  if (!take(p, "SampleBase", p->f.base, 1, 1000000, &base) ||
      !take(p, "SampleExponent", p->f.exponent, -6, 6, &exponent)) {
    return;
  }
  for (int64_t k = 0; k < (exponent < 0 ? -exponent : exponent); k++) {
    factor *= 10;
  }
  p->out->fs_num = exponent < 0 ? base : base * factor;
  p->out->fs_den = exponent < 0 ? factor : 1;
  weir_io_reduce(&p->out->fs_num, &p->out->fs_den);
}

/* A waveform of median beats has no times: its leads are dropped. */
static void end_waveform(parser *p)
{
  weir_leads *const a = p->out;
  int64_t n = 0;

  if (strcmp(p->f.type, "Median") == 0) {
    a->skipped++;
    while (a->n_leads > p->n_before) {
      weir_lead *const lead = &a->leads[--a->n_leads];

      for (int64_t k = 0; k < lead->n_pieces; k++) {
        weir_free(&lead->pieces[k].digits);
      }
      weir_free(&lead->pieces);
    }
    return;
  }
  if (strcmp(p->f.type, "Rhythm") != 0 || p->has_rhythm) {
    weir_xml_refuse(p->xml, "WaveformType '%s': expected Median, or Rhythm once", p->f.type);
  } else if (strcmp(p->f.sample_type, "CONTINUOUS_SAMPLES") != 0) {
    weir_xml_refuse(p->xml, "SampleType '%s': expected CONTINUOUS_SAMPLES", p->f.sample_type);
  } else if (take(p, "NumberofLeads", p->f.leads, 1, WEIR_LEADS_MAX, &n) &&
             n != a->n_leads - p->n_before) {
    weir_xml_refuse(p->xml, "NumberofLeads is %lld, and the waveform has %lld", (long long)n,
                    (long long)(a->n_leads - p->n_before));
  }
  refuse_shift(p, "WaveformStartTime", p->f.start);
  p->has_rhythm = true;
  take_rate(p);
}

/* A QRS complex: its time in ms, and its type as it stands, whose numbers are not documented. */
static void end_qrs(parser *p)
{
  weir_record_event event = {.duration = -1, .code = WEIR_RECORD_NOTE};
  char label[FIELD + 16];
  int64_t ms = 0;

  if (!take(p, "Time of a QRS", p->f.qrs_time, 0, INT32_MAX, &ms)) {
    return;
  }
  event.time = ms * 1000000;
  const int n = snprintf(label, sizeof label, "QRS type %s", p->f.qrs_type);

  weir_xml_stop(p->xml, weir_record_events_add(&p->out->events, &event, label, n));
}

/* MM-DD-YYYY and HH:MM:SS; a file without them is of unknown time. */
static void take_start(parser *p)
{
  static const char shape[] = "00-00-0000 00:00:00";
  char text[2 * FIELD + 2];
  int64_t us = 0, d[6] = {0};
  int at = 0;

  if (p->f.date[0] == 0 && p->f.time[0] == 0) {
    return;
  }
  (void)snprintf(text, sizeof text, "%s %s", p->f.date, p->f.time);
  bool good = strlen(text) == sizeof shape - 1;

  for (size_t i = 0; good && i < sizeof shape - 1; i++) {
    if (shape[i] != '0') {
      good = text[i] == shape[i];
      at++;
    } else {
      good = text[i] >= '0' && text[i] <= '9';
      d[at] = d[at] * 10 + text[i] - '0';
    }
  }
  good = good && d[2] >= 1900 && d[2] <= 2189 && d[3] < 24 && d[4] < 60 && d[5] < 60 &&
         weir_io_date_us(d[2], d[0], d[1], &us);
  if (!good) {
    weir_xml_refuse(p->xml,
                    "AcquisitionDate and AcquisitionTime '%s': expected MM-DD-YYYY HH:MM:SS of the "
                    "years 1900 to 2189",
                    text);
    return;
  }
  p->out->has_start = true;
  p->out->start = us * 1000 + ((d[3] * 60 + d[4]) * 60 + d[5]) * INT64_C(1000000000);
}

static void start_element(weir_xml *x, const char *space, const char *name, const char **list)
{
  parser *const p = x->user;

  (void)space;
  (void)list;
  if (x->depth == 1 && strcmp(name, "RestingECG") != 0) {
    weir_xml_refuse(x, "the root element is %.40s, not RestingECG", name);
  } else if (strcmp(name, "Waveform") == 0) {
    memset(&p->f, 0, offsetof(fields, date));
    p->n_before = p->out->n_leads;
  } else if (strcmp(name, "LeadData") == 0) {
    memset((char *)&p->f + offsetof(fields, bytes), 0,
           offsetof(fields, date) - offsetof(fields, bytes));
    weir_free(&p->piece.digits);
    memset(&p->piece, 0, sizeof p->piece);
    p->has_samples = false;
  } else if (strcmp(name, "QRS") == 0) {
    p->f.qrs_type[0] = p->f.qrs_time[0] = 0;
  }
}

static void end_element(weir_xml *x, const char *name)
{
  parser *const p = x->user;

  if (strcmp(name, "WaveFormData") == 0 && weir_xml_in(x, "LeadData", "Waveform")) {
    take_samples(p);
  } else if (strcmp(name, "LeadData") == 0 && weir_xml_in(x, "Waveform", "RestingECG")) {
    end_lead(p);
  } else if (strcmp(name, "Waveform") == 0 && weir_xml_in(x, "RestingECG", NULL)) {
    end_waveform(p);
  } else if (strcmp(name, "QRS") == 0 && weir_xml_in(x, "QRSTimesTypes", NULL)) {
    end_qrs(p);
  } else if (strcmp(name, "TestDemographics") == 0) {
    take_start(p);
  } else {
    for (size_t k = 0; k < sizeof kept / sizeof kept[0]; k++) {
      if (strcmp(name, kept[k].name) == 0 && weir_xml_in(x, kept[k].parent, NULL)) {
        weir_xml_keep(x, (char *)&p->f + kept[k].at, FIELD, weir_xml_trim(x));
      }
    }
  }
}

weir_status weir_muse_parse(const char *path, weir_leads *out)
{
  parser p = {.out = out};
  weir_xml x = {.start = start_element, .end = end_element, .user = &p, .external_doctype = true};

  *out = (weir_leads){.format = "MUSE XML", .bits = 16};
  p.xml = &x;
  const weir_status status = weir_xml_read(&x, path);

  weir_free(&p.piece.digits);
  WEIR_TRY(status);
  return p.has_rhythm ? WEIR_OK : weir_fail(WEIR_ERR_DATA, "%s: no Waveform of type Rhythm", path);
}
