/* marks.c - see marks.h. */
#include "viewer/marks.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_decimal.h"

weir_status ps_marks_read(const char *path, int64_t fs_num, int64_t fs_den, ps_marks *m)
{
  const char *const slash = strrchr(path, '/');

  *m = (ps_marks){.fs_num = fs_num, .fs_den = fs_den};
  (void)snprintf(m->name, sizeof m->name, "%s", slash != NULL ? slash + 1 : path);
  WEIR_TRY(weir_annotations_read(path, &m->a));
  if (m->a.fs_num > 0) {
    m->fs_num = m->a.fs_num;
    m->fs_den = m->a.fs_den;
  }
  return WEIR_OK;
}

void ps_marks_begin(const char *name, int64_t fs_num, int64_t fs_den, ps_marks *m)
{
  *m = (ps_marks){.fs_num = fs_num, .fs_den = fs_den, .a = {.fs_num = fs_num, .fs_den = fs_den}};
  (void)snprintf(m->name, sizeof m->name, "%s", name);
}

weir_status ps_marks_add(ps_marks *m, int64_t time, int code, const char *text)
{
  const size_t all = strlen(text);
  const int64_t n = all < WEIR_ANNOTATION_MAX_AUX ? (int64_t)all : WEIR_ANNOTATION_MAX_AUX;

  WEIR_TRY(weir_reserve(&m->a.items, &m->item_capacity, m->a.count + 1, sizeof *m->a.items));
  WEIR_TRY(weir_reserve(&m->offset, &m->offset_capacity, m->a.count + 1, sizeof *m->offset));
  WEIR_TRY(weir_reserve(&m->text, &m->text_capacity, m->text_size + n + 1, 1));
  m->a.items[m->a.count] = (weir_annotation){.time = time, .code = code};
  m->offset[m->a.count++] = n > 0 ? m->text_size : -1;
  if (n > 0) {
    memcpy(m->text + m->text_size, text, (size_t)n);
    m->text[m->text_size + n] = 0;
    m->text_size += n + 1;
  }
  return WEIR_OK;
}

void ps_marks_end(ps_marks *m)
{
  for (int64_t i = 0; i < m->a.count; i++) {
    m->a.items[i].aux = m->offset[i] >= 0 ? m->text + m->offset[i] : NULL;
  }
}

void ps_marks_fini(ps_marks *m)
{
  weir_annotations_fini(&m->a);
  weir_free(&m->text);
  weir_free(&m->offset);
  *m = (ps_marks){.fs_num = 0};
}

static void put_byte(unsigned char c, FILE *out)
{
  if (c < 32 || c > 126 || strchr("\"\\<>&", c) != NULL) {
    fprintf(out, "\\u%04x", c);
  } else {
    fputc(c, out);
  }
}

static void put_bytes(const char *text, int zeros, FILE *out)
{
  fputc('"', out);
  for (const char *c = text; *c != 0; c++) {
    put_byte((unsigned char)*c, out);
  }
  for (int i = 0; i < zeros; i++) {
    put_byte(0, out);
  }
  fputc('"', out);
}

void ps_marks_put_text(const char *text, FILE *out)
{
  put_bytes(text, 0, out);
}

static void put_times(const weir_annotations *a, FILE *out)
{
  fputs("\"t\":[", out);
  for (int64_t i = 0; i < a->count; i++) {
    const int64_t before = i > 0 ? a->items[i - 1].time : 0;

    fprintf(out, i > 0 ? ",%lld" : "%lld", (long long)(a->items[i].time - before));
  }
  fputs("],\"code\":[", out);
  for (int64_t i = 0; i < a->count; i++) {
    fprintf(out, i > 0 ? ",%d" : "%d", a->items[i].code);
  }
  fputs("]", out);
}

enum { SUBTYPE, CHANNEL, NUMBER, FIELDS };

static int field_of(const weir_annotation *a, int field)
{
  return field == SUBTYPE ? a->subtype : field == CHANNEL ? a->channel : a->number;
}

/* Of the marks where it is not 0. */
static void put_field(const weir_annotations *a, const char *name, int field, FILE *out)
{
  const char *comma = "";

  fprintf(out, ",\"%s\":[", name);
  for (int64_t i = 0; i < a->count; i++) {
    const int value = field_of(&a->items[i], field);

    if (value != 0) {
      fprintf(out, "%s[%lld,%d]", comma, (long long)i, value);
      comma = ",";
    }
  }
  fputs("]", out);
}

static void put_texts(const weir_annotations *a, FILE *out)
{
  const char *comma = "";

  fputs(",\"aux\":[", out);
  for (int64_t i = 0; i < a->count; i++) {
    if (a->items[i].aux != NULL) {
      fprintf(out, "%s[%lld,", comma, (long long)i);
      put_bytes(a->items[i].aux, a->items[i].zeros, out);
      fputs("]", out);
      comma = ",";
    }
  }
  fputs("]", out);
}

static void put_head(const ps_marks *m, FILE *out)
{
  char rate[WEIR_DECIMAL_SIZE] = "";

  if (m->a.fs_num > 0 && m->a.fs_den == 1) {
    (void)snprintf(rate, sizeof rate, "%lld", (long long)m->a.fs_num);
  } else if (m->a.fs_num > 0) {
    (void)snprintf(rate, sizeof rate, "%.15g", (double)m->a.fs_num / (double)m->a.fs_den);
  }
  fputs("{\"name\":", out);
  ps_marks_put_text(m->name, out);
  fprintf(out, ",\"fs\":[%lld,%lld],\"resolution\":\"%s\",\"types\":[", (long long)m->fs_num,
          (long long)m->fs_den, rate);
  for (int64_t i = 0; i < m->a.n_types; i++) {
    fprintf(out, i > 0 ? ",[%d," : "[%d,", m->a.types[i].code);
    ps_marks_put_text(m->a.types[i].mnemonic, out);
    fputs(",", out);
    ps_marks_put_text(m->a.types[i].text, out);
    fputs("]", out);
  }
  fputs("],\n", out);
}

void ps_marks_put(const ps_marks *m, FILE *out)
{
  put_head(m, out);
  put_times(&m->a, out);
  put_field(&m->a, "subtype", SUBTYPE, out);
  put_field(&m->a, "channel", CHANNEL, out);
  put_field(&m->a, "number", NUMBER, out);
  put_texts(&m->a, out);
  fputs("}", out);
}

void ps_marks_put_codes(FILE *out)
{
  static const struct {
    int code;
    const char *mnemonic, *text;
  } rows[] = {
#define X(id, code, mnemonic, beat, text) {code, mnemonic, text},
      WEIR_ANNOTATION_LIST(X)
#undef X
  };

  fputs("\"codes\":[", out);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    fprintf(out, i > 0 ? ",[%d," : "[%d,", rows[i].code);
    ps_marks_put_text(rows[i].mnemonic, out);
    fputs(",", out);
    ps_marks_put_text(rows[i].text, out);
    fputs("]", out);
  }
  fputs("]", out);
}
