/* write.c - a record as an annotated ECG of HL7: a sequence set for each run of samples that the
 * same leads have. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/aecg/aecg_priv.h"
#include "io/convert_priv.h"
#include "io/io_priv.h"

enum { BLOCK = 4096, A_LINE = 20 };
#define SECOND INT64_C(1000000000)
#define MDC "codeSystem=\"2.16.840.1.113883.6.24\" codeSystemName=\"MDC\""

typedef struct lane {
  const weir_signal_info *info;
  bool integers;        /* stored ones are written as they are */
  double origin, scale; /* value = origin + scale * digit */
  double min, max;      /* of values that are rounded */
  char code[2 * WEIR_LEAD_TEXT];
  bool known; /* its code is of MDC */
} lane;

typedef struct copy {
  weir_record *r;
  weir_writer *w;
  weir_convert_facts *facts;
  int n;
  lane *lanes;
  bool absolute;
  char zone[8];            /* of absolute times, as their texts end in; "": unknown */
  int64_t start_us, count; /* slots, of the longest signal */
  char increment[40];
  float values[BLOCK];
  int32_t raw[BLOCK];
  uint8_t present[BLOCK];
  uint8_t in_set[WEIR_LEADS_MAX];
} copy;

/* Text of an element or attribute; what XML cannot hold becomes a blank. */
static weir_status put_text(weir_writer *w, const char *text)
{
  for (const char *at = text; *at != 0;) {
    const int n = weir_io_character(at);

    if (*at == '&' || *at == '<' || *at == '>' || *at == '"') {
      WEIR_TRY(weir_writer_printf(w, "&#%d;", *at));
    } else if (n == 0) {
      WEIR_TRY(weir_writer_write(w, " ", 1));
    } else {
      WEIR_TRY(weir_writer_write(w, at, (size_t)n));
    }
    at += n > 0 ? n : 1;
  }
  return WEIR_OK;
}

/* The code of a lead in ISO/IEEE 11073-10101 where its name is one of these; else its name. */
static void name_code(lane *l)
{
  static const char *const names[] = {"I",   "II",  "III", "aVR", "aVL", "aVF", "V1",  "V2",  "V3",
                                      "V4",  "V5",  "V6",  "V7",  "V8",  "V9",  "V2R", "V3R", "V4R",
                                      "V5R", "V6R", "V7R", "V8R", "V9R", "X",   "Y",   "Z"};
  const char *const name = l->info->name;

  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    if (strcmp(names[k], name) == 0) {
      l->known = true;
      (void)snprintf(l->code, sizeof l->code, "MDC_ECG_LEAD_%s%s", name[0] == 'a' ? "A" : "",
                     name + (name[0] == 'a'));
      return;
    }
  }
  (void)snprintf(l->code, sizeof l->code, "%s", name);
}

static weir_status check_lane(const copy *c, int i)
{
  const weir_signal_info *const s = c->lanes[i].info;
  const weir_signal_info *const first = c->lanes[0].info;

  if (s->fs_num != first->fs_num || s->fs_den != first->fs_den) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "signals %s and %s of %s have different rates: an annotated ECG has one",
                     first->name, s->name, weir_record_name(c->r));
  }
  if (strcmp(s->units, "uV") != 0 && strcmp(s->units, "mV") != 0 && strcmp(s->units, "V") != 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "signal %s of %s is in '%s': leads of an annotated ECG are in uV, mV or V",
                     s->name, weir_record_name(c->r), s->units);
  }
  if (s->name[0] == 0 || strlen(s->name) >= WEIR_LEAD_TEXT || strncmp(s->name, "TIME_", 5) == 0 ||
      strncmp(s->name, "MDC_", 4) == 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "signal '%s' of %s: a lead needs a name of up to %d bytes that does not begin "
                     "with TIME_ or MDC_",
                     s->name, weir_record_name(c->r), WEIR_LEAD_TEXT - 1);
  }
  for (int k = 0; k < i; k++) {
    if (strcmp(s->name, c->lanes[k].info->name) == 0) {
      return weir_fail(WEIR_ERR_UNSUPPORTED, "two signals of %s are named %s",
                       weir_record_name(c->r), s->name);
    }
  }
  return WEIR_OK;
}

static weir_status choose_scales(copy *c, const weir_convert_scale *scale)
{
  if (c->n == 0 || c->n > WEIR_LEADS_MAX) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s has %d signals: an annotated ECG has 1 to %d leads",
                     weir_record_name(c->r), c->n, WEIR_LEADS_MAX);
  }
  for (int i = 0; i < c->n; i++) {
    lane *const l = &c->lanes[i];

    l->info = weir_record_signal(c->r, i);
    WEIR_TRY(check_lane(c, i));
    name_code(l);
    l->integers = l->info->bits > 0 && !l->info->scale_varies;
    l->min = INFINITY;
    l->max = -INFINITY;
    double gain = l->integers ? l->info->gain : scale->gain;

    if (!l->integers) {
      c->facts->rescaled += l->info->bits > 0;
      if (!(gain > 0)) {
        WEIR_TRY(weir_convert_gain(c->r, i, &gain));
      }
    }
    l->scale = 1 / gain;
    l->origin = l->integers ? 0 - l->info->baseline / gain : 0;
    c->count = l->info->count > c->count ? l->info->count : c->count;
  }
  return WEIR_OK;
}

/* The period as a decimal number of s or ms that the reader takes back as this rate. */
static weir_status choose_increment(copy *c)
{
  const weir_signal_info *const s = c->lanes[0].info;
  int64_t num = 0, den = 0;
  const double period = (double)s->fs_den / (double)s->fs_num;

  weir_io_real_text(period, c->increment, sizeof c->increment);
  if (strchr(c->increment, 'e') != NULL) {
    (void)snprintf(c->increment, sizeof c->increment, "%.15f", period);
    for (char *at = c->increment; *at != 0; at++) {
      *at = *at == ',' ? '.' : *at;
    }
  }
  if (!weir_aecg_rate(c->increment, "s", &num, &den) || num != s->fs_num || den != s->fs_den) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s has %lld/%lld samples per second: the period, %s s, has no exact decimal "
                     "number, which the increment of an annotated ECG needs",
                     weir_record_name(c->r), (long long)s->fs_num, (long long)s->fs_den,
                     c->increment);
  }
  return WEIR_OK;
}

/* A time, ns after the first sample, in the form of the file. */
static weir_status time_text(const copy *c, int64_t ns, char text[64])
{
  char fraction[16];
  int year = 0, month = 0, day = 0;

  if (!c->absolute) {
    const int64_t size = ns < 0 ? -ns : ns;

    (void)snprintf(text, 64, "%s%lld.%09lld", ns < 0 ? "-" : "", (long long)(size / SECOND),
                   (long long)(size % SECOND));
    return WEIR_OK;
  }
  const __int128 total = (__int128)c->start_us * 1000 + ns;
  const int64_t seconds = (int64_t)((total - ((total % SECOND) + SECOND) % SECOND) / SECOND);
  const int64_t rest = (int64_t)(((total % SECOND) + SECOND) % SECOND);
  const int64_t of_day = (seconds % 86400 + 86400) % 86400;

  weir_io_civil_date((seconds - of_day) * 1000000, &year, &month, &day);
  if (year < 1900 || year > 2189) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: a time in the year %d: expected 1900 to 2189",
                     weir_record_name(c->r), year);
  }
  (void)snprintf(fraction, sizeof fraction, "%09lld", (long long)rest);
  for (int k = 9; k > 3 && fraction[k - 1] == '0'; k--) {
    fraction[k - 1] = 0;
  }
  (void)snprintf(text, 64, "%04d%02d%02d%02lld%02lld%02lld.%s%s", year, month, day,
                 (long long)(of_day / 3600), (long long)(of_day / 60 % 60),
                 (long long)(of_day % 60), fraction, c->zone);
  return WEIR_OK;
}

static weir_status put_time(copy *c, const char *element, int64_t ns)
{
  char text[64];

  WEIR_TRY(time_text(c, ns, text));
  return weir_writer_printf(c->w, "<%s value=\"%s\"%s/>", element, text,
                            c->absolute ? "" : " unit=\"s\"");
}

/* ns of a slot, to the nearest. */
static int64_t slot_time(const copy *c, int64_t slot)
{
  const weir_signal_info *const s = c->lanes[0].info;
  const __int128 n = (__int128)slot * s->fs_den * SECOND;

  return (int64_t)((2 * n + s->fs_num) / (2 * s->fs_num));
}

/* Slots of one lead: digits in `raw`, and which are there. */
static weir_status read_block(copy *c, int i, int64_t at, int64_t n)
{
  lane *const l = &c->lanes[i];

  if (l->integers) {
    return weir_record_read_raw(c->r, i, at, n, c->raw, c->present);
  }
  WEIR_TRY(weir_record_read(c->r, i, at, n, c->values, c->present));
  for (int64_t k = 0; k < n; k++) {
    const double digit = round((double)c->values[k] / l->scale);

    c->present[k] = c->present[k] && isfinite(c->values[k]);
    if (c->present[k]) {
      if (!(fabs(digit) <= INT32_MAX)) {
        return weir_fail_option(
            weir_fail(WEIR_ERR_CONFIG, "signal %s: %g %s is beyond 32 bits at %g steps per unit",
                      l->info->name, (double)c->values[k], l->info->units, 1 / l->scale),
            "gain");
      }
      l->min = fmin(l->min, (double)c->values[k]);
      l->max = fmax(l->max, (double)c->values[k]);
      c->raw[k] = (int32_t)digit;
    }
  }
  return WEIR_OK;
}

/* The leads that have slot `start`, and the first slot after it that others have. */
static weir_status find_set(copy *c, int64_t start, int64_t *end)
{
  bool changed = false;

  for (int64_t at = start; at < c->count && !changed; at = *end) {
    int64_t n = c->count - at < BLOCK ? c->count - at : BLOCK;

    for (int i = 0; i < c->n; i++) {
      WEIR_TRY(read_block(c, i, at, n));
      if (at == start) {
        c->in_set[i] = c->present[0] != 0;
      }
      for (int64_t k = 0; k < n; k++) {
        if ((c->present[k] != 0) != c->in_set[i]) {
          n = k;
          changed = true;
        }
      }
    }
    *end = at + n;
  }
  return WEIR_OK;
}

static weir_status put_lead(copy *c, int i, int64_t start, int64_t end)
{
  const lane *const l = &c->lanes[i];
  char scale[64], origin[64];

  weir_io_real_text(l->scale, scale, sizeof scale);
  weir_io_real_text(l->origin, origin, sizeof origin);
  WEIR_TRY(weir_writer_printf(c->w, "<component><sequence><code code=\""));
  WEIR_TRY(put_text(c->w, l->code));
  WEIR_TRY(weir_writer_printf(c->w,
                              "\"%s/><value xsi:type=\"SLIST_PQ\"><origin value=\"%s\" "
                              "unit=\"%s\"/><scale value=\"%s\" unit=\"%s\"/><digits>",
                              l->known ? " " MDC : "", origin, l->info->units, scale,
                              l->info->units));
  for (int64_t at = start; at < end; at += BLOCK) {
    const int64_t n = end - at < BLOCK ? end - at : BLOCK;

    WEIR_TRY(read_block(c, i, at, n));
    for (int64_t k = 0; k < n; k++) {
      WEIR_TRY(weir_writer_printf(c->w, (at + k - start) % A_LINE == A_LINE - 1 ? "%d\n" : "%d ",
                                  (int)c->raw[k]));
    }
  }
  return weir_writer_printf(c->w, "</digits></value></sequence></component>\n");
}

static weir_status put_set(copy *c, int64_t start, int64_t end)
{
  WEIR_TRY(
      weir_writer_printf(c->w,
                         "<component><sequenceSet>\n<component><sequence><code code=\"TIME_%s\" "
                         "codeSystem=\"2.16.840.1.113883.5.4\" codeSystemName=\"ActCode\"/><value "
                         "xsi:type=\"GLIST_%s\">",
                         c->absolute ? "ABSOLUTE" : "RELATIVE", c->absolute ? "TS" : "PQ"));
  WEIR_TRY(put_time(c, "head", slot_time(c, start)));
  WEIR_TRY(weir_writer_printf(
      c->w, "<increment value=\"%s\" unit=\"s\"/></value></sequence></component>\n", c->increment));
  for (int i = 0; i < c->n; i++) {
    if (c->in_set[i]) {
      WEIR_TRY(put_lead(c, i, start, end));
      c->facts->samples += end - start;
    }
  }
  return weir_writer_printf(c->w, "</sequenceSet></component>\n");
}

static weir_status put_sets(copy *c)
{
  int64_t n_sets = 0, end = 0;

  for (int64_t at = 0; at < c->count; at = end) {
    WEIR_TRY(find_set(c, at, &end));
    if (memchr(c->in_set, 1, (size_t)c->n) != NULL) {
      if (++n_sets > WEIR_LEAD_PIECES) {
        return weir_fail(WEIR_ERR_UNSUPPORTED, "%s has samples in more than %d runs",
                         weir_record_name(c->r), WEIR_LEAD_PIECES);
      }
      WEIR_TRY(put_set(c, at, end));
    }
  }
  if (n_sets == 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s has no samples", weir_record_name(c->r));
  }
  for (int i = 0; i < c->n; i++) {
    c->facts->absent += c->lanes[i].info->count;
  }
  c->facts->absent -= c->facts->samples;
  c->facts->samples += c->facts->absent;
  return WEIR_OK;
}

/* An annotation: its code of WFDB, as a number where it has no mnemonic, and its text, with a
 * region of time. */
static weir_status put_event(copy *c, const weir_record_event *e)
{
  const char *const mnemonic = weir_annotation_mnemonic(e->code);
  char number[16];

  (void)snprintf(number, sizeof number, "%d", e->code);
  WEIR_TRY(weir_writer_printf(
      c->w, "<component><annotation><code %s/><value xsi:type=\"CE\" code=\"",
      weir_annotation_is_beat(e->code) ? "code=\"MDC_ECG_BEAT\" " MDC : "code=\"ANNOTATION\""));
  WEIR_TRY(put_text(c->w, mnemonic[0] != 0 ? mnemonic : number));
  WEIR_TRY(weir_writer_printf(c->w, "\" codeSystemName=\"WFDB\"><originalText>"));
  WEIR_TRY(put_text(c->w, e->text != NULL ? e->text : ""));
  WEIR_TRY(weir_writer_printf(
      c->w,
      "</originalText></value><support><supportingROI><code code=\"ROIPS\"/><component><boundary>"
      "<code code=\"TIME_%s\"/><value xsi:type=\"IVL_%s\">",
      c->absolute ? "ABSOLUTE" : "RELATIVE", c->absolute ? "TS" : "PQ"));
  WEIR_TRY(put_time(c, "low", e->time));
  if (e->duration >= 0) {
    WEIR_TRY(put_time(c, "high", e->time + e->duration));
  }
  return weir_writer_printf(c->w, "</value></boundary></component></supportingROI></support>"
                                  "</annotation></component>\n");
}

static weir_status put_events(copy *c, const weir_record_events *events)
{
  if (events == NULL || events->count == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_writer_printf(c->w, "<subjectOf><annotationSet>\n"));
  for (int64_t i = 0; i < events->count; i++) {
    WEIR_TRY(put_event(c, &events->items[i]));
  }
  return weir_writer_printf(c->w, "</annotationSet></subjectOf>\n");
}

/* The head, without who or where: the elements that the schema asks for have no information. */
static weir_status put_head(copy *c, const char *comments)
{
  WEIR_TRY(weir_writer_printf(
      c->w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<AnnotatedECG xmlns=\"urn:hl7-org:v3\" "
            "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n<id nullFlavor=\"NI\"/>"
            "<code code=\"93000\" codeSystem=\"2.16.840.1.113883.6.12\" codeSystemName=\"CPT-4\"/>"
            "\n<text>"));
  WEIR_TRY(put_text(c->w, comments != NULL ? comments : ""));
  WEIR_TRY(weir_writer_printf(
      c->w,
      "</text>\n<effectiveTime nullFlavor=\"NI\"/>\n<componentOf><timepointEvent><componentOf>"
      "<subjectAssignment><subject><trialSubject><id nullFlavor=\"MSK\"/></trialSubject></subject>"
      "<componentOf><clinicalTrial><id nullFlavor=\"NI\"/></clinicalTrial></componentOf>"
      "</subjectAssignment></componentOf></timepointEvent></componentOf>\n<component><series>"
      "<id nullFlavor=\"NI\"/><code code=\"RHYTHM\" codeSystem=\"2.16.840.1.113883.5.4\" "
      "codeSystemName=\"ActCode\"/>\n<effectiveTime>"));
  if (!c->absolute) {
    return weir_writer_printf(c->w, "<low nullFlavor=\"UNK\"/></effectiveTime>\n");
  }
  WEIR_TRY(put_time(c, "low", 0));
  WEIR_TRY(put_time(c, "high", slot_time(c, c->count)));
  return weir_writer_printf(c->w, "</effectiveTime>\n");
}

/* Half a step relative to the range of a signal whose values were rounded. */
static weir_status check_steps(const copy *c, double max_rounded)
{
  for (int i = 0; i < c->n; i++) {
    const lane *const l = &c->lanes[i];
    const double share = l->max > l->min ? 0.5 * l->scale / (l->max - l->min) : 0;

    if (share > max_rounded) {
      c->facts->coarse = share;
      return weir_fail_option(
          weir_fail(WEIR_ERR_CONFIG,
                    "signal %s of %s: steps of %g %s change values by up to %.3g %% of its range",
                    l->info->name, weir_record_name(c->r), l->scale, l->info->units, 100 * share),
          "gain");
    }
  }
  return WEIR_OK;
}

static weir_status write_all(copy *c, const weir_record_events *events, const char *comments,
                             const char *path, const weir_convert_scale *scale)
{
  int offset = 0;

  WEIR_TRY(weir_alloc(c->n > 0 ? c->n : 1, sizeof *c->lanes, (void **)&c->lanes));
  WEIR_TRY(choose_scales(c, scale));
  WEIR_TRY(choose_increment(c));
  c->absolute = weir_record_start(c->r, &c->start_us) == 2;
  if (weir_record_utc_offset(c->r, &offset)) {
    weir_aecg_offset_text(offset, c->zone);
  }
  WEIR_TRY(weir_writer_open(path, &c->w));
  WEIR_TRY(put_head(c, comments));
  WEIR_TRY(put_sets(c));
  WEIR_TRY(put_events(c, events));
  WEIR_TRY(weir_writer_printf(c->w, "</series></component></AnnotatedECG>\n"));
  WEIR_TRY(check_steps(c, scale->max_rounded));
  WEIR_TRY(weir_writer_commit(&c->w));
  c->facts->n_files = 1;
  return WEIR_OK;
}

weir_status weir_record_to_aecg(weir_record *r, const weir_record_events *events,
                                const char *comments, const char *path,
                                const weir_convert_scale *scale, weir_convert_facts *facts)
{
  copy *c = NULL;

  *facts = (weir_convert_facts){0};
  WEIR_TRY(weir_alloc(1, sizeof *c, (void **)&c));
  c->r = r;
  c->facts = facts;
  c->n = weir_record_signals(r);
  const weir_status status = write_all(c, events, comments, path, scale);

  weir_writer_destroy(&c->w);
  weir_free(&c->lanes);
  weir_free(&c);
  return status;
}
