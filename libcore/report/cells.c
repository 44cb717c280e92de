/* cells.c - tables whose cells are made one by one. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "report/weir_report.h"

static void add(weir_table *c, const char *format, va_list args)
{
  char *text = NULL, *copy = NULL;

  if (c->status != WEIR_OK) {
    return;
  }
  const int n = vasprintf(&text, format, args);
  if (n < 0) {
    c->status = weir_fail(WEIR_ERR_MEMORY, "report: out of memory for a cell");
    return;
  }
  c->status = weir_reserve(&c->cell, &c->capacity, c->count + 1, sizeof *c->cell);
  if (c->status == WEIR_OK) {
    c->status = weir_strdup(text, &copy);
  }
  free(text);
  if (c->status == WEIR_OK) {
    c->cell[c->count++] = copy;
  }
}

void weir_table_add(weir_table *c, const char *format, ...)
{
  va_list args;

  va_start(args, format);
  add(c, format, args);
  va_end(args);
}

void weir_table_add_number(weir_table *c, const char *format, double value, const char *absent)
{
  if (isnan(value)) {
    weir_table_add(c, "%s", absent);
  } else {
    weir_table_add(c, format, value);
  }
}

void weir_table_add_pair(weir_table *c, const char *quantity, const char *format, ...)
{
  va_list args;

  weir_table_add(c, "%s", quantity);
  va_start(args, format);
  add(c, format, args);
  va_end(args);
}

void weir_table_add_count_pair(weir_table *c, const char *quantity, int64_t count)
{
  weir_table_add_pair(c, quantity, "%lld", (long long)count);
}

void weir_table_add_real_pair(weir_table *c, const char *quantity, double value)
{
  weir_table_add(c, "%s", quantity);
  weir_table_add_real(c, value);
}

void weir_table_add_real(weir_table *c, double value)
{
  char text[WEIR_AMOUNT_SIZE];

  weir_table_add(c, "%s", weir_amount_number(value, text));
}

static weir_status check(const weir_table *c, const char *name, int columns)
{
  WEIR_TRY(c->status);
  if (c->count % columns != 0) {
    return weir_fail(WEIR_ERR_SHAPE, "report: %lld cells do not fill %d columns of table %s",
                     (long long)c->count, columns, name);
  }
  return WEIR_OK;
}

weir_status weir_table_report(const weir_table *c, weir_report *r, const char *id, int columns,
                              const char *const *head)
{
  WEIR_TRY(check(c, id, columns));
  return weir_report_table(r, id, columns, head, c->count / columns, c->cell);
}

weir_status weir_table_report_pairs(weir_table *c, weir_report *r, const char *id)
{
  static const char *const head[] = {"quantity", "value"};
  const weir_status status = weir_table_report(c, r, id, 2, head);

  weir_table_fini(c);
  return status;
}

static weir_status put_csv(weir_writer *w, const char *text, char end)
{
  if (strpbrk(text, ",\"\r\n") == NULL) {
    return weir_writer_printf(w, "%s%c", text, end);
  }
  WEIR_TRY(weir_writer_write(w, "\"", 1));
  for (const char *p = text; *p != 0; p++) {
    WEIR_TRY(weir_writer_printf(w, *p == '"' ? "\"%c" : "%c", *p));
  }
  return weir_writer_printf(w, "\"%c", end);
}

weir_status weir_table_write_csv(const weir_table *c, const char *dir, const char *name,
                                 int columns, const char *const *head)
{
  enum { PATH_SIZE = 4096 };
  char path[PATH_SIZE];
  weir_writer *w = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(check(c, name, columns));
  WEIR_TRY(weir_path_join(dir, name, path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &w));
  for (int64_t k = -columns; k < c->count; k++) {
    const int64_t column = (k + columns) % columns;

    WEIR_TRY_GOTO(put_csv(w, k < 0 ? head[column] : c->cell[k], column + 1 < columns ? ',' : '\n'),
                  done);
  }
  return weir_writer_commit(&w);
done:
  weir_writer_destroy(&w);
  return status;
}

void weir_table_print(const weir_table *c, int columns, const char *const *head, FILE *out)
{
  for (int64_t row = -1; row < c->count / columns; row++) {
    for (int k = 0; k < columns; k++) {
      size_t width = strlen(head[k]);

      for (int64_t i = k; i < c->count; i += columns) {
        width = strlen(c->cell[i]) > width ? strlen(c->cell[i]) : width;
      }
      const char *text = row < 0 ? head[k] : c->cell[row * columns + k];
      const int last = k == columns - 1;
      fprintf(out, "%-*s%s", last ? 0 : (int)width, text, last ? "\n" : "  ");
    }
  }
}

void weir_table_fini(weir_table *c)
{
  for (int64_t i = 0; i < c->count; i++) {
    weir_free(&c->cell[i]);
  }
  weir_free(&c->cell);
  *c = (weir_table){0};
}
