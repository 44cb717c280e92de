/* walk.c - the structure of a DICOM file (PS3.5, chapter 7; PS3.10, chapter 7), checked before it
 * is parsed: lengths lie in what encloses them, sequences are not nested without limit. */
#include <stdio.h>
#include <string.h>
#include "io/dicom/dicom_priv.h"

/* UNORDERED: elements with a lower tag than one before. DCMTK looks for the place of each in a
 * list, so that a file of nothing else would take hours. */
enum { PREAMBLE = 128, DEPTH = 24, UNORDERED = 256 };
#define ELEMENTS (INT64_C(1) << 22)
#define UNDEFINED UINT32_MAX
#define TAG(group, element) ((uint32_t)(group) << 16 | (uint32_t)(element))
#define ITEM TAG(0xfffe, 0xe000)
#define ITEM_END TAG(0xfffe, 0xe00d)
#define SEQUENCE_END TAG(0xfffe, 0xe0dd)
#define DATA TAG(0x5400, 0x1010)
#define PADDING TAG(0x5400, 0x100a)
#define SYNTAX TAG(0x0002, 0x0010)

typedef struct walker {
  const char *path;
  const uint8_t *data;
  int64_t begin; /* of data[0] in the file; 0: it was inflated */
  bool big;
  int64_t n_elements, n_unordered;
} walker;

typedef struct element {
  uint32_t tag, length;
  char vr[3]; /* "" where it is not stated */
  int64_t value;
} element;

static uint32_t take16(const walker *w, int64_t at)
{
  const uint8_t *const p = w->data + at;

  return w->big ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static uint32_t take32(const walker *w, int64_t at)
{
  const uint32_t a = take16(w, at), b = take16(w, at + 2);

  return w->big ? a << 16 | b : b << 16 | a;
}

static uint32_t take_tag(const walker *w, int64_t at)
{
  return take16(w, at) << 16 | take16(w, at + 2);
}

static weir_status refuse(const walker *w, int64_t at, const char *reason)
{
  return weir_fail(WEIR_ERR_DATA, "%s: byte %lld%s: %s: the file is damaged", w->path,
                   (long long)(w->begin + at), w->begin > 0 ? "" : " when inflated", reason);
}

/* True for the types of values with lengths of four bytes; *known for every type there is. */
static bool is_long(const char *vr, bool *known)
{
  static const char longs[] = "OB OD OF OL OV OW SQ SV UC UN UR UT UV ";
  static const char shorts[] = "AE AS AT CS DA DS DT FD FL IS LO LT PN SH SL SS ST TM UI UL US ";
  char key[4] = {vr[0], vr[1], ' ', 0};
  const bool is = strstr(longs, key) != NULL;

  *known = vr[0] >= 'A' && vr[1] >= 'A' && (is || strstr(shorts, key) != NULL);
  return is;
}

static weir_status take_element(const walker *w, int64_t at, int64_t end, bool explicit_vr,
                                element *e)
{
  bool known = true;

  if (end - at < 8) {
    return refuse(w, at, "an element of less than 8 bytes");
  }
  *e = (element){.tag = take_tag(w, at), .value = at + 8};
  if (e->tag >> 16 == 0xfffe || !explicit_vr) {
    e->length = take32(w, at + 4);
    return WEIR_OK;
  }
  e->vr[0] = (char)w->data[at + 4];
  e->vr[1] = (char)w->data[at + 5];
  const bool is_wide = is_long(e->vr, &known);

  if (!known) {
    return refuse(w, at, "an element of an unknown type (VR)");
  }
  if (!is_wide) {
    e->length = take16(w, at + 6);
    return WEIR_OK;
  }
  if (end - at < 12) {
    return refuse(w, at, "an element of less than 12 bytes");
  }
  e->length = take32(w, at + 8);
  e->value = at + 12;
  return WEIR_OK;
}

static weir_status check_length(const walker *w, int64_t at, int64_t end, const element *e)
{
  char reason[120];

  if (e->length != UNDEFINED && (int64_t)e->length > end - e->value) {
    (void)snprintf(reason, sizeof reason, "(%04x,%04x) has %lld bytes, of which %lld are there",
                   e->tag >> 16, e->tag & 0xffff, (long long)e->length,
                   (long long)(end - e->value));
    return refuse(w, at, reason);
  }
  return WEIR_OK;
}

static weir_status walk_elements(walker *w, int64_t at, int64_t end, bool is_open, bool explicit_vr,
                                 int depth, int64_t *next);

/* Items from `at` on: to `end`, or where the length is not stated to the end of the sequence. */
static weir_status walk_sequence(walker *w, int64_t at, int64_t end, bool is_open, bool explicit_vr,
                                 int depth, int64_t *next)
{
  element e = {0};

  if (depth == DEPTH) {
    return refuse(w, at, "sequences are nested too deeply");
  }
  while (at < end) {
    WEIR_TRY(take_element(w, at, end, explicit_vr, &e));
    if (is_open && e.tag == SEQUENCE_END && e.length == 0) {
      *next = e.value;
      return WEIR_OK;
    }
    if (e.tag != ITEM || ++w->n_elements > ELEMENTS) {
      return refuse(w, at, e.tag == ITEM ? "too many elements" : "expected an item of a sequence");
    }
    WEIR_TRY(check_length(w, at, end, &e));
    const bool open_item = e.length == UNDEFINED;
    const int64_t item_end = open_item ? end : e.value + e.length;

    WEIR_TRY(walk_elements(w, e.value, item_end, open_item, explicit_vr, depth, &at));
  }
  *next = end;
  return is_open ? refuse(w, at, "a sequence without an end") : WEIR_OK;
}

/* Without stated types, what begins with an item is taken for a sequence; samples never are. */
static bool is_sequence(const walker *w, const element *e, bool explicit_vr)
{
  if (e->length == UNDEFINED) {
    return true;
  }
  if (explicit_vr) {
    return strcmp(e->vr, "SQ") == 0;
  }
  return e->tag != DATA && e->tag != PADDING && e->length >= 8 && take_tag(w, e->value) == ITEM;
}

static weir_status walk_elements(walker *w, int64_t at, int64_t end, bool is_open, bool explicit_vr,
                                 int depth, int64_t *next)
{
  element e = {0};
  uint32_t last = 0;

  while (at < end) {
    WEIR_TRY(take_element(w, at, end, explicit_vr, &e));
    if (is_open && e.tag == ITEM_END && e.length == 0) {
      *next = e.value;
      return WEIR_OK;
    }
    if (e.tag >> 16 == 0xfffe || e.tag >> 16 <= 2 || ++w->n_elements > ELEMENTS) {
      return refuse(w, at, "an element that does not belong there, or too many");
    }
    if (e.tag < last && ++w->n_unordered > UNORDERED) {
      return refuse(w, at, "too many elements after one of a higher tag");
    }
    last = e.tag > last ? e.tag : last;
    WEIR_TRY(check_length(w, at, end, &e));
    /* Sequences of an unknown type (UN) have implicit types in little endian (PS3.5, 6.2.2). */
    const bool unknown = strcmp(e.vr, "UN") == 0 && !w->big;

    if (e.length == UNDEFINED && explicit_vr && strcmp(e.vr, "SQ") != 0 && !unknown) {
      return refuse(w, at, "a value without a length");
    }
    if (is_sequence(w, &e, explicit_vr)) {
      const bool open_list = e.length == UNDEFINED;
      const int64_t list_end = open_list ? end : e.value + e.length;

      WEIR_TRY(
          walk_sequence(w, e.value, list_end, open_list, explicit_vr && !unknown, depth + 1, &at));
    } else {
      at = e.value + e.length;
    }
  }
  *next = end;
  return is_open ? refuse(w, at, "an item without an end") : WEIR_OK;
}

weir_status weir_dicom_walk(const char *path, const uint8_t *data, int64_t size, int64_t begin,
                            weir_dicom_syntax syntax)
{
  walker w = {.path = path, .data = data, .begin = begin, .big = syntax == WEIR_DICOM_BIG_ENDIAN};
  int64_t next = 0;

  return walk_elements(&w, 0, size, false, syntax != WEIR_DICOM_IMPLICIT, 0, &next);
}

static weir_status take_syntax(const char *path, const char *uid, weir_dicom_syntax *syntax)
{
  static const char *const uids[] = {
      [WEIR_DICOM_IMPLICIT] = "1.2.840.10008.1.2",
      [WEIR_DICOM_EXPLICIT] = "1.2.840.10008.1.2.1",
      [WEIR_DICOM_DEFLATED] = "1.2.840.10008.1.2.1.99",
      [WEIR_DICOM_BIG_ENDIAN] = "1.2.840.10008.1.2.2",
  };

  for (int i = 0; i < (int)(sizeof uids / sizeof uids[0]); i++) {
    if (strcmp(uid, uids[i]) == 0) {
      *syntax = (weir_dicom_syntax)i;
      return WEIR_OK;
    }
  }
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "%s: transfer syntax '%s': waveforms are read in implicit and explicit little "
                   "endian, deflated, and explicit big endian: convert it, as with dcmconv +te",
                   path, uid);
}

weir_status weir_dicom_meta(const char *path, const uint8_t *data, int64_t size,
                            weir_dicom_syntax *syntax, int64_t *begin)
{
  walker w = {.path = path, .data = data};
  char uid[65] = "";
  element e = {0};

  if (size < PREAMBLE + 4 || memcmp(data + PREAMBLE, "DICM", 4) != 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: no 'DICM' at byte %d: not a DICOM file", path, PREAMBLE);
  }
  for (*begin = PREAMBLE + 4; size - *begin >= 8 && take16(&w, *begin) == 2;
       *begin = e.value + e.length) {
    WEIR_TRY(take_element(&w, *begin, size, true, &e));
    WEIR_TRY(check_length(&w, *begin, size, &e));
    if (e.length == UNDEFINED) {
      return refuse(&w, *begin, "a value without a length");
    }
    if (e.tag == SYNTAX && e.length < sizeof uid) {
      (void)snprintf(uid, sizeof uid, "%.*s", (int)e.length, (const char *)data + e.value);
      uid[strcspn(uid, " ")] = 0;
    }
  }
  if (uid[0] == 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: no transfer syntax (0002,0010): not a DICOM file", path);
  }
  return take_syntax(path, uid, syntax);
}
