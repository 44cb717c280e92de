/* annotation_read.c - annotation files into memory: annot(5), reference 9.3. */
#include <string.h>
#include "base/weir_alloc.h"
#include "io/io_priv.h"
#include "io/weir_annotation.h"

enum { WORD_SKIP = 59, WORD_NUM = 60, WORD_SUB = 61, WORD_CHN = 62, WORD_AUX = 63 };
#define MAX_BYTES (INT64_C(64) << 20)

/* Texts are kept in one buffer and found by offset until it stops growing. */
typedef struct store {
  char *text;
  int64_t text_capacity, text_size;
  int64_t item_capacity, type_capacity;
} store;

typedef struct reader {
  const uint8_t *data;
  int64_t size, at;
  const char *where;
  store *store;
  weir_annotations *out;
  int64_t *aux; /* [item_capacity] offset of each item's text, -1 for none */
  int64_t aux_capacity;
  int64_t time;
  int channel, number; /* sticky */
  bool defining;       /* between the notes that define codes */
} reader;

static weir_status cut_short(const reader *r)
{
  return weir_fail(WEIR_ERR_DATA, "%s: byte %lld: the annotation file is truncated", r->where,
                   (long long)r->at);
}

static weir_status take_word(reader *r, uint32_t *word)
{
  if (r->size - r->at < 2) {
    return cut_short(r);
  }
  *word = r->data[r->at] | (uint32_t)r->data[r->at + 1] << 8;
  r->at += 2;
  return WEIR_OK;
}

/* A text ends at its first 0, as C programs read it; *zeros: what follows, where that is only 0. */
static weir_status keep_text(reader *r, const char *text, int64_t size, int64_t *at, int *zeros)
{
  store *const s = r->store;
  const char *const end = memchr(text, 0, (size_t)size);
  const int64_t length = end ? end - text : size;
  int64_t last = size;

  while (last > length && text[last - 1] == 0) {
    last--;
  }
  *zeros = last == length ? (int)(size - length) : 0;
  WEIR_TRY(weir_reserve(&s->text, &s->text_capacity, s->text_size + length + 1, 1));
  memcpy(s->text + s->text_size, text, (size_t)length);
  s->text[s->text_size + length] = 0;
  *at = s->text_size;
  s->text_size += length + 1;
  return WEIR_OK;
}

static weir_status add_item(reader *r, int code)
{
  weir_annotations *const out = r->out;

  WEIR_TRY(weir_reserve(&out->items, &r->store->item_capacity, out->count + 1, sizeof *out->items));
  WEIR_TRY(weir_reserve(&r->aux, &r->aux_capacity, out->count + 1, sizeof *r->aux));
  out->items[out->count] =
      (weir_annotation){.time = r->time, .code = code, .channel = r->channel, .number = r->number};
  r->aux[out->count++] = -1;
  return WEIR_OK;
}

/* SUB, CHN and NUM hold signed bytes (CHN an unsigned one) in their low bits. */
static weir_status take_qualifier(reader *r, uint32_t kind, uint32_t value)
{
  weir_annotation *const last = r->out->count ? &r->out->items[r->out->count - 1] : NULL;
  const int byte = (int)(value & 255);
  const int with_sign = byte < 128 ? byte : byte - 256;

  if (kind == WORD_AUX) {
    const int64_t padded = byte + (byte & 1);

    if (r->size - r->at < padded) {
      return cut_short(r);
    }
    if (last) {
      WEIR_TRY(keep_text(r, (const char *)r->data + r->at, byte, &r->aux[r->out->count - 1],
                         &last->zeros));
    }
    r->at += padded;
  } else if (kind == WORD_SUB && last) {
    last->subtype = with_sign;
  } else if (kind == WORD_NUM) {
    r->number = with_sign;
    if (last) {
      last->number = with_sign;
    }
  } else if (kind == WORD_CHN) {
    r->channel = byte;
    if (last) {
      last->channel = byte;
    }
  }
  return WEIR_OK;
}

static bool starts_with(const char *text, const char *prefix)
{
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* "15 c calibration pulse": code, mnemonic, text. Others are left out, as readers do. */
static weir_status take_type(reader *r, char *text)
{
  weir_annotations *const out = r->out;
  const size_t digits = strcspn(text, " \t");
  char *const mnemonic = text + digits + strspn(text + digits, " \t");
  const size_t length = strcspn(mnemonic, " \t\r\n");
  char *const words = mnemonic + length + strspn(mnemonic + length, " \t");
  int64_t code = 0;

  if (length == 0 || !weir_io_parse_int(text, digits, 1, WEIR_ANNOTATION_MAX, &code)) {
    return WEIR_OK;
  }
  words[strcspn(words, "\r\n")] = 0;
  if (words != mnemonic + length) {
    mnemonic[length] = 0;
  }
  WEIR_TRY(
      weir_reserve(&out->types, &r->store->type_capacity, out->n_types + 1, sizeof *out->types));
  out->types[out->n_types++] =
      (weir_annotation_type){.code = (int)code, .mnemonic = mnemonic, .text = words};
  return WEIR_OK;
}

/* Takes a note about the file itself; *taken says whether it was one. */
static weir_status take_note(reader *r, const weir_annotation *a, int64_t aux, bool *taken)
{
  static const char resolution[] = "## time resolution:";
  char *const text = aux >= 0 ? r->store->text + aux : NULL;

  *taken = false;
  if (!text || a->code != WEIR_ANN_NOTE || a->time != 0) {
    return WEIR_OK;
  }
  if (starts_with(text, resolution)) {
    const char *const number = text + strlen(resolution) + strspn(text + strlen(resolution), " ");
    const size_t length = strcspn(number, " \r\n");

    if (!weir_io_parse_decimal(number, length, &r->out->fs_num, &r->out->fs_den) ||
        r->out->fs_num <= 0) {
      return weir_fail(WEIR_ERR_DATA, "%s: the time resolution '%.32s' is not a positive number",
                       r->where, number);
    }
    *taken = true;
  } else if (starts_with(text, "## annotation type definitions")) {
    *taken = r->defining = true;
  } else if (starts_with(text, "## end of definitions")) {
    *taken = true;
    r->defining = false;
  } else if (r->defining) {
    *taken = true;
    WEIR_TRY(take_type(r, text));
  }
  return WEIR_OK;
}

/* Sets the texts, now that they stay where they are, and takes out the notes about the file. */
static weir_status finish(reader *r)
{
  weir_annotations *const out = r->out;
  int64_t kept = 0;

  for (int64_t i = 0; i < out->count; i++) {
    weir_annotation a = out->items[i];
    bool taken = false;

    WEIR_TRY(take_note(r, &a, r->aux[i], &taken));
    if (!taken) {
      a.aux = r->aux[i] >= 0 ? r->store->text + r->aux[i] : NULL;
      out->items[kept++] = a;
    }
  }
  out->count = kept;
  return WEIR_OK;
}

static weir_status take_all(reader *r)
{
  for (;;) {
    uint32_t word = 0;

    WEIR_TRY(take_word(r, &word));
    const uint32_t kind = word >> 10;
    const uint32_t value = word & 1023;

    if (word == 0) {
      return finish(r);
    }
    if (kind <= WEIR_ANNOTATION_MAX) {
      r->time += value;
      if (kind != 0) { /* kind 0 only moves the time */
        WEIR_TRY(add_item(r, (int)kind));
      }
    } else if (kind == WORD_SKIP) {
      uint32_t high = 0;
      uint32_t low = 0;

      WEIR_TRY(take_word(r, &high));
      WEIR_TRY(take_word(r, &low));
      r->time += (int32_t)(high << 16 | low);
    } else if (kind >= WORD_NUM) {
      WEIR_TRY(take_qualifier(r, kind, value));
    } else {
      return weir_fail(WEIR_ERR_DATA, "%s: byte %lld: unknown annotation code %u", r->where,
                       (long long)(r->at - 2), (unsigned)kind);
    }
  }
}

weir_status weir_annotations_parse(const void *data, int64_t size, const char *where,
                                   weir_annotations *out)
{
  void *memory = NULL;
  weir_annotations a = {0};
  reader r = {.data = data, .size = size, .where = where, .out = &a};
  weir_status status = WEIR_OK;

  *out = (weir_annotations){0};
  WEIR_TRY(weir_alloc(1, sizeof(store), &memory));
  a.memory = memory;
  r.store = memory;
  status = take_all(&r);
  weir_free(&r.aux);
  if (status != WEIR_OK) {
    weir_annotations_fini(&a);
    return status;
  }
  *out = a;
  return WEIR_OK;
}

weir_status weir_annotations_read(const char *path, weir_annotations *out)
{
  char *data = NULL;
  int64_t size = 0;

  *out = (weir_annotations){0};
  WEIR_TRY(weir_io_read(path, MAX_BYTES, &data, &size));
  const weir_status status = weir_annotations_parse(data, size, path, out);

  weir_free(&data);
  return status;
}

void weir_annotations_fini(weir_annotations *a)
{
  store *s = a->memory;

  if (s) {
    weir_free(&s->text);
  }
  weir_free(&s);
  weir_free(&a->items);
  weir_free(&a->types);
  *a = (weir_annotations){0};
}
