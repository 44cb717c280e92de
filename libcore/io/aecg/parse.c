/* parse.c - an annotated ECG, element by element. Read are the sequence sets of its
 * series and annotations with a region of time; derived series are counted. Whatever else stands in
 * a sequence set has to be understood, or the file is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/aecg/aecg_priv.h"
#include "io/io_priv.h"
#include "io/xml/weir_xml.h"

enum { NAME = WEIR_XML_NAME, TOKEN = 24 };
#define HL7 "urn:hl7-org:v3"

typedef struct sequence {
  char code[WEIR_LEAD_TEXT], type[NAME];
  char head[WEIR_LEAD_TEXT], head_unit[16], increment[WEIR_LEAD_TEXT], increment_unit[16];
  char origin[WEIR_LEAD_TEXT], origin_unit[WEIR_LEAD_TEXT];
  char scale[WEIR_LEAD_TEXT], scale_unit[WEIR_LEAD_TEXT];
  weir_lead_piece piece;
} sequence;

typedef struct parser {
  weir_xml *xml;
  weir_leads *out;
  int derived;                 /* depth of a derived series, 0 outside */
  sequence now;                /* the sequence that is open */
  sequence clock;              /* of the set */
  bool has_clock, knows_times; /* of the set; some set had one */
  int64_t n_new;               /* sequences of leads in this set wait for its clock */
  sequence *waiting;
  int64_t waiting_capacity;
  char token[TOKEN]; /* digits cut by the end of a piece of text */
  int token_size;
  int64_t n_series, relative_series; /* that have begun; the first with relative times */
  char begin[WEIR_LEAD_TEXT], relative_begin[WEIR_LEAD_TEXT]; /* of this series, of that one */
  char zone[8];
  bool has_zone;
  bool of_time; /* the boundary that is open */
  char note_code[WEIR_LEAD_TEXT], note_value[WEIR_LEAD_TEXT], boundary[WEIR_LEAD_TEXT];
  char note_system[WEIR_LEAD_TEXT]; /* of the value */
  char *note_text;                  /* in its own words */
  int64_t note_size, note_capacity;
  char low[WEIR_LEAD_TEXT], high[WEIR_LEAD_TEXT], low_unit[16], high_unit[16];
} parser;

#define REFUSE(p, format, ...) weir_xml_refuse((p)->xml, format, __VA_ARGS__)

/* xsi:type without the prefix of its namespace. */
static const char *value_type(const char **list)
{
  const char *const type =
      weir_xml_attribute(list, "http://www.w3.org/2001/XMLSchema-instance\ntype");
  const char *const colon = strchr(type, ':');

  return colon != NULL ? colon + 1 : type;
}

static void start_in_sequence(parser *p, const char *name, const char **list)
{
  sequence *const s = &p->now;

  if (weir_xml_in(p->xml, "sequence", NULL)) {
    if (strcmp(name, "code") == 0) {
      weir_xml_copy(s->code, sizeof s->code, weir_xml_attribute(list, "code"));
    } else if (strcmp(name, "value") == 0) {
      weir_xml_copy(s->type, sizeof s->type, value_type(list));
    }
  } else if (weir_xml_in(p->xml, "value", "sequence")) {
    const char *const value = weir_xml_attribute(list, "value");
    const char *const unit = weir_xml_attribute(list, "unit");

    if (strcmp(name, "head") == 0) {
      weir_xml_copy(s->head, sizeof s->head, value);
      weir_xml_copy(s->head_unit, sizeof s->head_unit, unit);
    } else if (strcmp(name, "increment") == 0) {
      weir_xml_copy(s->increment, sizeof s->increment, value);
      weir_xml_copy(s->increment_unit, sizeof s->increment_unit, unit);
    } else if (strcmp(name, "origin") == 0) {
      weir_xml_copy(s->origin, sizeof s->origin, value);
      weir_xml_copy(s->origin_unit, sizeof s->origin_unit, unit);
    } else if (strcmp(name, "scale") == 0) {
      weir_xml_copy(s->scale, sizeof s->scale, value);
      weir_xml_copy(s->scale_unit, sizeof s->scale_unit, unit);
    } else if (strcmp(name, "digits") != 0) {
      REFUSE(p, "element %.40s in the value of a sequence is not understood", name);
    }
  }
}

static void start_in_annotation(parser *p, const char *name, const char **list)
{
  if (strcmp(name, "code") == 0 && weir_xml_in(p->xml, "annotation", NULL)) {
    weir_xml_copy(p->note_code, sizeof p->note_code, weir_xml_attribute(list, "code"));
  } else if (strcmp(name, "value") == 0 && weir_xml_in(p->xml, "annotation", NULL)) {
    weir_xml_copy(p->note_value, sizeof p->note_value, weir_xml_attribute(list, "code"));
    weir_xml_copy(p->note_system, sizeof p->note_system,
                  weir_xml_attribute(list, "codeSystemName"));
  } else if (strcmp(name, "boundary") == 0) {
    p->of_time = false;
  } else if (strcmp(name, "code") == 0 && weir_xml_in(p->xml, "boundary", NULL)) {
    const char *const code = weir_xml_attribute(list, "code");

    /* Others are of leads. */
    p->of_time = strcmp(code, "TIME_ABSOLUTE") == 0 || strcmp(code, "TIME_RELATIVE") == 0;
    if (p->of_time) {
      weir_xml_copy(p->boundary, sizeof p->boundary, code);
      p->low[0] = p->high[0] = 0;
    }
  } else if (!p->of_time) {
    return;
  } else if (strcmp(name, "low") == 0 && weir_xml_in(p->xml, "value", "boundary")) {
    weir_xml_copy(p->low, sizeof p->low, weir_xml_attribute(list, "value"));
    weir_xml_copy(p->low_unit, sizeof p->low_unit, weir_xml_attribute(list, "unit"));
  } else if (strcmp(name, "high") == 0 && weir_xml_in(p->xml, "value", "boundary")) {
    weir_xml_copy(p->high, sizeof p->high, weir_xml_attribute(list, "value"));
    weir_xml_copy(p->high_unit, sizeof p->high_unit, weir_xml_attribute(list, "unit"));
  }
}

/* The token of digits that is complete. */
static void end_token(parser *p)
{
  weir_lead_piece *const d = &p->now.piece;
  int64_t value = 0;

  if (p->token_size == 0 || p->xml->status != WEIR_OK) {
    return;
  }
  if (!weir_io_parse_int(p->token, (size_t)p->token_size, INT32_MIN, INT32_MAX, &value)) {
    REFUSE(p, "'%.*s' among the digits of %s is no integer of 32 bits", p->token_size, p->token,
           p->now.code);
    return;
  }
  p->token_size = 0;
  if (d->count == INT32_MAX) {
    REFUSE(p, "more than %d samples in a sequence", INT32_MAX);
    return;
  }
  weir_xml_stop(p->xml, weir_reserve(&d->digits, &d->capacity, d->count + 1, sizeof *d->digits));
  if (p->xml->status == WEIR_OK) {
    d->digits[d->count++] = (int32_t)value;
  }
}

static void text(weir_xml *x, const char *data, int size)
{
  parser *const p = x->user;

  if (strcmp(weir_xml_above(x, 0), "originalText") == 0 && weir_xml_in(x, "value", "annotation")) {
    weir_xml_stop(x, weir_reserve(&p->note_text, &p->note_capacity, p->note_size + size, 1));
    if (x->status == WEIR_OK) {
      memcpy(p->note_text + p->note_size, data, (size_t)size);
      p->note_size += size;
    }
    return;
  }
  if (p->derived > 0 || p->xml->status != WEIR_OK ||
      strcmp(weir_xml_above(p->xml, 0), "digits") != 0 ||
      !weir_xml_in(p->xml, "value", "sequence")) {
    return;
  }
  for (int i = 0; i < size; i++) {
    if (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
      end_token(p);
    } else if (p->token_size < TOKEN) {
      p->token[p->token_size++] = data[i];
    } else {
      REFUSE(p, "a number of more than %d characters among the digits", TOKEN);
      return;
    }
  }
}

/* A lead's short name: MDC_ECG_LEAD_AVR is aVR. */
static void name_lead(const char *code, char *name)
{
  static const char prefix[] = "MDC_ECG_LEAD_";
  const bool known = strncmp(code, prefix, sizeof prefix - 1) == 0 && code[sizeof prefix - 1] != 0;
  const char *const own = known ? code + sizeof prefix - 1 : code;

  weir_xml_copy(name, WEIR_LEAD_TEXT, own);
  if (known && strncmp(own, "AV", 2) == 0 && strlen(own) == 3) {
    name[0] = 'a';
  }
}

static weir_status find_lead(parser *p, const char *name, weir_lead **out)
{
  weir_leads *const a = p->out;

  for (int64_t i = 0; i < a->n_leads; i++) {
    if (strcmp(a->leads[i].name, name) == 0) {
      *out = &a->leads[i];
      return WEIR_OK;
    }
  }
  return weir_leads_add(a, p->xml->path, name, out);
}

/* A sequence of a lead with the clock of its set. */
static void add_piece(parser *p, sequence *s, int64_t time)
{
  weir_lead *lead = NULL;
  char name[WEIR_LEAD_TEXT];
  double origin = 0, scale = 0;

  if (strcmp(s->type, "SLIST_PQ") != 0) {
    REFUSE(p, "the values of %s are of type '%s', and only SLIST_PQ is read", s->code, s->type);
  } else if (!weir_io_parse_real(s->origin, strlen(s->origin), &origin) ||
             !weir_io_parse_real(s->scale, strlen(s->scale), &scale) || !(scale > 0 || scale < 0)) {
    REFUSE(p, "origin '%s' and scale '%s' of %s: expected numbers, and a scale that is not 0",
           s->origin, s->scale, s->code);
  } else if (strcmp(s->origin_unit, s->scale_unit) != 0 || s->scale_unit[0] == 0) {
    REFUSE(p, "origin and scale of %s are in '%s' and '%s': expected one unit", s->code,
           s->origin_unit, s->scale_unit);
  } else if (s->piece.count == 0) {
    REFUSE(p, "%s has no digits", s->code);
  } else {
    name_lead(s->code, name);
    weir_xml_stop(p->xml, find_lead(p, name, &lead));
  }
  if (p->xml->status != WEIR_OK) {
    return;
  }
  if (lead->n_pieces > 0 &&
      (lead->origin != origin || lead->scale != scale || strcmp(lead->units, s->scale_unit) != 0)) {
    REFUSE(p, "lead %s has another origin, scale or unit than in an earlier sequence", name);
    return;
  }
  weir_lead_piece *piece = NULL;

  weir_xml_stop(p->xml, weir_leads_add_piece(lead, p->xml->path, &piece));
  if (p->xml->status == WEIR_OK) {
    lead->origin = origin;
    lead->scale = scale;
    weir_xml_copy(lead->units, sizeof lead->units, s->scale_unit);
    *piece = s->piece;
    piece->time = time;
    memset(&s->piece, 0, sizeof s->piece);
  }
}

/* A time as the boundaries and heads of this file state it. */
static bool take_time(parser *p, bool absolute, const char *value, const char *unit, int64_t *ns)
{
  char zone[8];
  double seconds = 0;
  const double factor = strcmp(unit, "s") == 0    ? 1e9
                        : strcmp(unit, "ms") == 0 ? 1e6
                        : strcmp(unit, "us") == 0 ? 1e3
                                                  : 0;

  if (!absolute) {
    if (factor == 0 || !weir_io_parse_real(value, strlen(value), &seconds) ||
        !(seconds * factor < 1e18 && seconds * factor > -1e18)) {
      return false;
    }
    *ns = (int64_t)(seconds * factor + (seconds < 0 ? -0.5 : 0.5));
    return true;
  }
  if (!weir_aecg_time(value, ns, zone) || (p->has_zone && strcmp(zone, p->zone) != 0)) {
    return false;
  }
  memcpy(p->zone, zone, sizeof zone);
  p->has_zone = true;
  return true;
}

/* Relative times count from the begin of their series, which must be that of all of them. */
static void check_series(parser *p)
{
  if (p->relative_series == 0) {
    p->relative_series = p->n_series;
    memcpy(p->relative_begin, p->begin, sizeof p->begin);
  } else if (p->relative_series != p->n_series &&
             (p->begin[0] == 0 || strcmp(p->begin, p->relative_begin) != 0)) {
    REFUSE(p,
           "series with relative times begin at '%s' and '%s': expected one effectiveTime, or "
           "absolute times",
           p->relative_begin, p->begin);
  }
}

static void end_set(parser *p)
{
  weir_leads *const a = p->out;
  int64_t num = 0, den = 0, time = 0;
  const bool absolute = strcmp(p->clock.code, "TIME_ABSOLUTE") == 0;

  if (!p->has_clock) {
    REFUSE(p, "%s", "a sequence set has no sequence of times (TIME_ABSOLUTE or TIME_RELATIVE)");
    return;
  }
  if (!take_time(p, absolute, p->clock.head, p->clock.head_unit, &time)) {
    REFUSE(p,
           "the first time is '%s' %s: expected YYYYMMDDHHMMSS of one time zone and of the years "
           "1900 to 2189, or of relative times a number in s, ms or us",
           p->clock.head, p->clock.head_unit);
  } else if (!weir_aecg_rate(p->clock.increment, p->clock.increment_unit, &num, &den)) {
    REFUSE(p, "the increment is '%s' %s: expected a number in s, ms or us", p->clock.increment,
           p->clock.increment_unit);
  } else if (p->knows_times && (a->fs_num != num || a->fs_den != den)) {
    REFUSE(p,
           "the increment is '%s' %s, another than in earlier sequence sets: their rates have to "
           "agree",
           p->clock.increment, p->clock.increment_unit);
  } else if (p->knows_times && a->absolute != absolute) {
    REFUSE(p, "%s", "sequence sets have relative and absolute times");
  }
  a->fs_num = num;
  a->fs_den = den;
  a->absolute = absolute;
  p->knows_times = true;
  if (!absolute && p->xml->status == WEIR_OK) {
    check_series(p);
  }
  for (int64_t i = 0; i < p->n_new && p->xml->status == WEIR_OK; i++) {
    add_piece(p, &p->waiting[i], time);
  }
}

static void end_sequence(parser *p)
{
  sequence *const s = &p->now;

  if (strncmp(s->code, "TIME_", 5) == 0) {
    if (p->has_clock ||
        (strcmp(s->code, "TIME_ABSOLUTE") != 0 && strcmp(s->code, "TIME_RELATIVE") != 0) ||
        (strcmp(s->type, "GLIST_TS") != 0 && strcmp(s->type, "GLIST_PQ") != 0)) {
      REFUSE(p,
             "times %s of type '%s': expected one TIME_ABSOLUTE or TIME_RELATIVE of type GLIST_TS "
             "or GLIST_PQ in a set",
             s->code, s->type);
    }
    p->clock = *s;
    p->has_clock = true;
    weir_free(&s->piece.digits);
    memset(s, 0, sizeof *s);
    return;
  }
  weir_xml_stop(p->xml,
                weir_reserve(&p->waiting, &p->waiting_capacity, p->n_new + 1, sizeof *p->waiting));
  if (p->xml->status == WEIR_OK) {
    weir_free(&p->waiting[p->n_new].piece.digits); /* of a set that did not end */
    p->waiting[p->n_new++] = *s;
    memset(s, 0, sizeof *s);
  }
}

/* The code of WFDB that the value of an annotation states, by its mnemonic or, of one without, by
 * its number; 0 for other values. */
static int wfdb_code(const parser *p)
{
  int64_t number = 0;

  if (strcmp(p->note_system, "WFDB") != 0) {
    return 0;
  }
  for (int k = 1; k <= WEIR_ANNOTATION_MAX; k++) {
    const char *const mnemonic = weir_annotation_mnemonic(k);

    if (mnemonic[0] != 0 && strcmp(mnemonic, p->note_value) == 0) {
      return k;
    }
  }
  return weir_io_parse_int(p->note_value, strlen(p->note_value), 1, WEIR_ANNOTATION_MAX, &number)
             ? (int)number
             : 0;
}

/* An annotation with a region of time becomes an event; measurements without one are left out. */
static void end_annotation(parser *p)
{
  const bool absolute = strcmp(p->boundary, "TIME_ABSOLUTE") == 0;
  weir_record_event event = {.duration = -1, .code = WEIR_RECORD_NOTE};
  char label[2 * WEIR_LEAD_TEXT + 4];
  int64_t end = 0;

  if (p->xml->status != WEIR_OK || (!absolute && strcmp(p->boundary, "TIME_RELATIVE") != 0) ||
      p->low[0] == 0 || absolute != p->out->absolute) {
    return;
  }
  if (!take_time(p, absolute, p->low, p->low_unit, &event.time) ||
      (p->high[0] != 0 && !take_time(p, absolute, p->high, p->high_unit, &end))) {
    REFUSE(p, "an annotation from '%s' to '%s': expected times as those of the sequences", p->low,
           p->high);
    return;
  }
  event.duration = p->high[0] != 0 && end >= event.time ? end - event.time : -1;
  const int code = wfdb_code(p);

  if (code > 0) {
    event.code = code;
    weir_xml_stop(p->xml,
                  weir_record_events_add(&p->out->events, &event,
                                         p->note_size > 0 ? p->note_text : "", p->note_size));
    return;
  }
  const int n = snprintf(label, sizeof label, "%s%s%s", p->note_code,
                         p->note_code[0] && p->note_value[0] ? " " : "", p->note_value);

  if (n > 0) {
    weir_xml_stop(p->xml, weir_record_events_add(&p->out->events, &event, label, n));
  }
}

static void start_element(weir_xml *x, const char *space, const char *name, const char **list)
{
  parser *const p = x->user;

  if (x->depth == 1 && (strcmp(name, "AnnotatedECG") != 0 || strcmp(space, HL7) != 0)) {
    REFUSE(p, "the root element is %.40s, not AnnotatedECG of " HL7 ": not an annotated ECG", name);
  }
  if (p->derived == 0 && strcmp(name, "derivedSeries") == 0) {
    p->derived = p->xml->depth;
    p->out->skipped++;
  }
  if (p->derived > 0) {
    return;
  }
  if (strcmp(name, "series") == 0) {
    p->n_series++;
    p->begin[0] = 0;
  } else if (strcmp(name, "sequenceSet") == 0) {
    p->has_clock = false;
    p->n_new = 0;
  } else if (strcmp(name, "sequence") == 0) {
    weir_free(&p->now.piece.digits);
    memset(&p->now, 0, sizeof p->now);
  } else if (strcmp(name, "digits") == 0) {
    p->token_size = 0;
  } else if (strcmp(name, "annotation") == 0) {
    end_annotation(p); /* of the one around it, which has its own region */
    p->note_code[0] = p->note_value[0] = p->boundary[0] = p->low[0] = p->high[0] = 0;
    p->note_system[0] = 0;
    p->note_size = 0;
  } else if (strcmp(name, "low") == 0 && weir_xml_in(p->xml, "effectiveTime", "series")) {
    weir_xml_copy(p->begin, sizeof p->begin, weir_xml_attribute(list, "value"));
    if (!p->out->has_start) {
      p->out->has_start = weir_aecg_time(p->begin, &p->out->start, p->zone);
    }
  }
  start_in_sequence(p, name, list);
  start_in_annotation(p, name, list);
}

static void end_element(weir_xml *x, const char *name)
{
  parser *const p = x->user;

  if (p->derived == 0) {
    if (strcmp(name, "digits") == 0) {
      end_token(p);
    } else if (strcmp(name, "sequence") == 0) {
      end_sequence(p);
    } else if (strcmp(name, "sequenceSet") == 0) {
      end_set(p);
    } else if (strcmp(name, "annotation") == 0) {
      end_annotation(p);
      p->boundary[0] = 0; /* that of an annotation around it is an event already */
    }
  }
  p->derived = p->derived == x->depth ? 0 : p->derived;
}

weir_status weir_aecg_parse(const char *path, weir_leads *out)
{
  parser *p = NULL;

  *out = (weir_leads){.format = "aECG", .bits = 32};
  WEIR_TRY(weir_alloc(1, sizeof *p, (void **)&p));
  weir_xml x = {.start = start_element, .end = end_element, .text = text, .user = p};

  p->xml = &x;
  p->out = out;
  const weir_status status = weir_xml_read(&x, path);

  out->has_utc_offset = weir_aecg_offset(p->zone, &out->utc_offset);
  weir_free(&p->now.piece.digits);
  for (int64_t i = 0; i < p->waiting_capacity; i++) {
    weir_free(&p->waiting[i].piece.digits);
  }
  weir_free(&p->waiting);
  weir_free(&p->note_text);
  weir_free(&p);
  WEIR_TRY(status);
  return out->n_leads > 0 ? WEIR_OK
                          : weir_fail(WEIR_ERR_DATA, "%s: no sequence set with a lead", path);
}
