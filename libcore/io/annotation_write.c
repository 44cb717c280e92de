/* annotation_write.c - annotation files from memory or as the annotations come. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/io_priv.h"
#include "io/weir_annotation.h"

enum { WORD_SKIP = 59, WORD_NUM = 60, WORD_SUB = 61, WORD_CHN = 62, WORD_AUX = 63 };

struct weir_annotation_writer {
  weir_writer *file;
  int64_t time;
  int channel, number;
};

static weir_status put_word(weir_annotation_writer *w, uint32_t kind, uint32_t value)
{
  const uint32_t word = kind << 10 | (value & 1023);
  const uint8_t bytes[2] = {(uint8_t)(word & 255), (uint8_t)(word >> 8)};

  return weir_writer_write(w->file, bytes, sizeof bytes);
}

static weir_status put_skip(weir_annotation_writer *w, int32_t step)
{
  const uint32_t s = (uint32_t)step;
  const uint8_t bytes[4] = {(uint8_t)(s >> 16 & 255), (uint8_t)(s >> 24), (uint8_t)(s & 255),
                            (uint8_t)(s >> 8 & 255)};

  WEIR_TRY(put_word(w, WORD_SKIP, 0));
  return weir_writer_write(w->file, bytes, sizeof bytes);
}

static weir_status put_aux(weir_annotation_writer *w, const char *text, int zeros)
{
  static const char none[WEIR_ANNOTATION_MAX_AUX + 1];
  const size_t length = strlen(text), all = length + (size_t)zeros;

  WEIR_TRY(put_word(w, WORD_AUX, (uint32_t)all));
  WEIR_TRY(weir_writer_write(w->file, text, length));
  return weir_writer_write(w->file, none, (size_t)zeros + (all & 1));
}

/* Moves to `time` by as many skips as it takes; what is left fits the annotation's own word. */
static weir_status put_time(weir_annotation_writer *w, int64_t time, uint32_t code)
{
  int64_t step = 0;

  if (__builtin_sub_overflow(time, w->time, &step)) {
    return weir_fail(WEIR_ERR_SHAPE, "annotation times %lld and %lld are too far apart",
                     (long long)w->time, (long long)time);
  }
  while (step < 0 || step > 1023) {
    const int64_t chunk = step > INT32_MAX ? INT32_MAX : step < INT32_MIN ? INT32_MIN : step;

    WEIR_TRY(put_skip(w, (int32_t)chunk));
    step -= chunk;
  }
  w->time = time;
  return put_word(w, code, (uint32_t)step);
}

static weir_status check(const weir_annotation *a)
{
  if (a->code < 1 || a->code > WEIR_ANNOTATION_MAX) {
    return weir_fail(WEIR_ERR_SHAPE, "annotation code %d is outside [1, 49]", a->code);
  }
  if (a->subtype < -128 || a->subtype > 127 || a->number < -128 || a->number > 127 ||
      a->channel < 0 || a->channel > 255) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "annotation at %lld: subtype %d, channel %d or number %d is out of range",
                     (long long)a->time, a->subtype, a->channel, a->number);
  }
  if (a->zeros < 0 || a->zeros > WEIR_ANNOTATION_MAX_AUX ||
      (a->aux && strlen(a->aux) > (size_t)(WEIR_ANNOTATION_MAX_AUX - a->zeros))) {
    return weir_fail(WEIR_ERR_SHAPE, "annotation at %lld: its text is longer than 255 bytes",
                     (long long)a->time);
  }
  return WEIR_OK;
}

weir_status weir_annotation_writer_append(weir_annotation_writer *w, const weir_annotation *a)
{
  WEIR_TRY(check(a));
  WEIR_TRY(put_time(w, a->time, (uint32_t)a->code));
  if (a->subtype != 0) {
    WEIR_TRY(put_word(w, WORD_SUB, (uint32_t)a->subtype));
  }
  if (a->channel != w->channel) {
    WEIR_TRY(put_word(w, WORD_CHN, (uint32_t)a->channel));
    w->channel = a->channel;
  }
  if (a->number != w->number) {
    WEIR_TRY(put_word(w, WORD_NUM, (uint32_t)a->number));
    w->number = a->number;
  }
  return a->aux ? put_aux(w, a->aux, a->zeros) : WEIR_OK;
}

static weir_status put_note(weir_annotation_writer *w, const char *text)
{
  return weir_annotation_writer_append(w, &(weir_annotation){.code = WEIR_ANN_NOTE, .aux = text});
}

static weir_status put_head(weir_annotation_writer *w, const weir_annotations *head)
{
  char text[WEIR_ANNOTATION_MAX_AUX + 1];
  char rate[64];

  if (head->fs_num > 0) {
    weir_io_rate_text(head->fs_num, head->fs_den, rate, sizeof rate);
    snprintf(text, sizeof text, "## time resolution: %s", rate);
    WEIR_TRY(put_note(w, text));
  }
  if (head->n_types > 0) {
    WEIR_TRY(put_note(w, "## annotation type definitions"));
    for (int64_t i = 0; i < head->n_types; i++) {
      const weir_annotation_type *const t = &head->types[i];

      snprintf(text, sizeof text, "%d %s %s", t->code, t->mnemonic, t->text);
      WEIR_TRY(put_note(w, text));
    }
    WEIR_TRY(put_note(w, "## end of definitions"));
  }
  if (head->fs_num > 0 || head->n_types > 0) {
    /* One step back and an empty word one step on: how WFDB marks the end of these notes. */
    WEIR_TRY(put_skip(w, -1));
    WEIR_TRY(put_word(w, 0, 1));
  }
  return WEIR_OK;
}

weir_status weir_annotation_writer_open(const char *path, const weir_annotations *head,
                                        weir_annotation_writer **out)
{
  void *memory = NULL;
  weir_annotation_writer *w = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *w, &memory));
  w = memory;
  WEIR_TRY_GOTO(weir_writer_open(path, &w->file), fail);
  if (head) {
    WEIR_TRY_GOTO(put_head(w, head), fail);
  }
  *out = w;
  return WEIR_OK;
fail:
  weir_annotation_writer_destroy(&w);
  return status;
}

weir_status weir_annotation_writer_commit(weir_annotation_writer **w)
{
  weir_status status = put_word(*w, 0, 0);

  if (status == WEIR_OK) {
    status = weir_writer_commit(&(*w)->file);
  }
  weir_annotation_writer_destroy(w);
  return status;
}

void weir_annotation_writer_destroy(weir_annotation_writer **w)
{
  if (*w) {
    weir_writer_destroy(&(*w)->file);
    weir_free(w);
  }
}

weir_status weir_annotations_write(const char *path, const weir_annotations *a)
{
  weir_annotation_writer *w = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_annotation_writer_open(path, a, &w));
  for (int64_t i = 0; i < a->count; i++) {
    WEIR_TRY_GOTO(weir_annotation_writer_append(w, &a->items[i]), fail);
  }
  return weir_annotation_writer_commit(&w);
fail:
  weir_annotation_writer_destroy(&w);
  return status;
}
