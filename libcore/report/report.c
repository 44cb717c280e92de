/* report.c - the page: text, tables and figures. */
#include "report/weir_report.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "conf/weir_number.h"
#include "report/report_priv.h"

enum { PATH_SIZE = 4096, MOST_NAME = 64 };

struct weir_report {
  char *dir;
  weir_writer *page;
  weir_writer **figures; /* unfinished SVG and CSV files */
  char **names;          /* of the figures               */
  int64_t n_figures, n_names, figure_capacity, name_capacity;
};

static const char page_head[] =
    "<style>body{font-family:sans-serif;max-width:66em;margin:2em auto;color:#222}"
    "table{border-collapse:collapse;margin:1em 0;display:block;overflow-x:auto}"
    "th,td{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:left}"
    "td.number{text-align:right;font-variant-numeric:tabular-nums}"
    ".row{display:flex}.row figure{margin:0}"
    "svg{max-width:100%;height:auto}</style>\n";

/* Text made by `put` through a memory stream, appended to a file. */
typedef weir_status (*put_function)(const void *what, FILE *out);

static weir_status append(weir_writer *w, put_function put, const void *what)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  if (out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "report: out of memory for a part of the page");
  }
  weir_status status = put(what, out);
  if (fclose(out) != 0 && status == WEIR_OK) {
    status = weir_fail(WEIR_ERR_MEMORY, "report: out of memory for a part of the page");
  }
  if (status == WEIR_OK) {
    status = weir_writer_write(w, text, size);
  }
  free(text);
  return status;
}

static weir_status put_title(const void *what, FILE *out)
{
  fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", out);
  report_put_escaped(out, what);
  fprintf(out, "</title>\n%s</head><body>\n<h1>", page_head);
  report_put_escaped(out, what);
  fputs("</h1>\n", out);
  return WEIR_OK;
}

weir_status weir_report_open(const char *dir, const char *title, weir_report **out)
{
  weir_report *r = NULL;
  char path[PATH_SIZE];
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_path_join(dir, "report.html", path, sizeof path));
  WEIR_TRY(weir_alloc(1, sizeof *r, (void **)&r));
  WEIR_TRY_GOTO(weir_strdup(dir, &r->dir), done);
  WEIR_TRY_GOTO(weir_writer_open(path, &r->page), done);
  WEIR_TRY_GOTO(append(r->page, put_title, title), done);
  *out = r;
  return WEIR_OK;
done:
  weir_report_destroy(&r);
  return status;
}

void weir_report_destroy(weir_report **r)
{
  if (*r == NULL) {
    return;
  }
  for (int64_t i = 0; i < (*r)->n_figures; i++) {
    weir_writer_destroy(&(*r)->figures[i]);
  }
  for (int64_t i = 0; i < (*r)->n_names; i++) {
    weir_free(&(*r)->names[i]);
  }
  weir_writer_destroy(&(*r)->page);
  weir_free(&(*r)->figures);
  weir_free(&(*r)->names);
  weir_free(&(*r)->dir);
  weir_free(r);
}

weir_status weir_report_commit(weir_report **r)
{
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_writer_printf((*r)->page, "</body></html>\n"), done);
  for (int64_t i = 0; i < (*r)->n_figures; i++) {
    WEIR_TRY_GOTO(weir_writer_commit(&(*r)->figures[i]), done);
  }
  WEIR_TRY_GOTO(weir_writer_commit(&(*r)->page), done);
done:
  weir_report_destroy(r);
  return status;
}

static weir_status put_heading(const void *what, FILE *out)
{
  fputs("<h2>", out);
  report_put_escaped(out, what);
  fputs("</h2>\n", out);
  return WEIR_OK;
}

weir_status weir_report_heading(weir_report *r, const char *text)
{
  return append(r->page, put_heading, text);
}

static weir_status put_paragraph(const void *what, FILE *out)
{
  fputs("<p>", out);
  report_put_escaped(out, what);
  fputs("</p>\n", out);
  return WEIR_OK;
}

weir_status weir_report_text(weir_report *r, const char *format, ...)
{
  char *text = NULL;
  va_list args;

  va_start(args, format);
  const int n = vasprintf(&text, format, args);
  va_end(args);
  if (n < 0) {
    return weir_fail(WEIR_ERR_MEMORY, "report: out of memory for a paragraph");
  }
  const weir_status status = append(r->page, put_paragraph, text);
  free(text);
  return status;
}

typedef struct table {
  const char *id;
  int columns;
  const char *const *head, *const *cells;
  int64_t rows;
} table;

static void put_cell(FILE *out, const char *text)
{
  double value;
  const bool number = text != NULL && weir_number_real(text, &value) == WEIR_NUMBER_OK;

  fputs(number ? "<td class=\"number\">" : "<td>", out);
  report_put_escaped(out, text);
  fputs("</td>", out);
}

static weir_status put_table(const void *what, FILE *out)
{
  const table *t = what;

  fputs("<table id=\"", out);
  report_put_escaped(out, t->id);
  fputs("\">\n<tr>", out);
  for (int c = 0; c < t->columns; c++) {
    fputs("<th>", out);
    report_put_escaped(out, t->head[c]);
    fputs("</th>", out);
  }
  fputs("</tr>\n", out);
  for (int64_t row = 0; row < t->rows; row++) {
    fputs("<tr>", out);
    for (int c = 0; c < t->columns; c++) {
      put_cell(out, t->cells[row * t->columns + c]);
    }
    fputs("</tr>\n", out);
  }
  fputs("</table>\n", out);
  return WEIR_OK;
}

weir_status weir_report_table(weir_report *r, const char *id, int columns, const char *const *head,
                              int64_t rows, const char *const *cells)
{
  const table t = {.id = id, .columns = columns, .head = head, .rows = rows, .cells = cells};

  return append(r->page, put_table, &t);
}

static weir_status put_svg(const void *what, FILE *out)
{
  return weir_figure_svg(what, out);
}

static weir_status put_csv(const void *what, FILE *out)
{
  return weir_figure_csv(what, out);
}

static weir_status put_map_svg(const void *what, FILE *out)
{
  return weir_map_svg(what, out);
}

static weir_status put_map_csv(const void *what, FILE *out)
{
  return weir_map_csv(what, out);
}

static weir_status put_structure_svg(const void *what, FILE *out)
{
  return weir_structure_svg(what, out);
}

static weir_status put_structure_csv(const void *what, FILE *out)
{
  return weir_structure_csv(what, out);
}

/* An unfinished file figures/NAME.SUFFIX with the text of `put`. */
static weir_status add_file(weir_report *r, const char *name, const char *suffix, put_function put,
                            const void *figure)
{
  char path[PATH_SIZE], file[MOST_NAME + 32];

  (void)snprintf(file, sizeof file, "figures/%s.%s", name, suffix);
  WEIR_TRY(weir_path_join(r->dir, file, path, sizeof path));
  WEIR_TRY(weir_reserve(&r->figures, &r->figure_capacity, r->n_figures + 1, sizeof *r->figures));
  WEIR_TRY(weir_writer_open(path, &r->figures[r->n_figures]));
  r->n_figures++;
  return append(r->figures[r->n_figures - 1], put, figure);
}

static weir_status check_name(weir_report *r, const char *name)
{
  const size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

  if (n == 0 || n > MOST_NAME || name[n] != 0) {
    return weir_fail(WEIR_ERR_SHAPE, "report: '%s' is not a valid name of a figure", name);
  }
  for (int64_t i = 0; i < r->n_names; i++) {
    if (strcmp(r->names[i], name) == 0) {
      return weir_fail(WEIR_ERR_SHAPE, "report: there is already a figure '%s'", name);
    }
  }
  WEIR_TRY(weir_reserve(&r->names, &r->name_capacity, r->n_names + 1, sizeof *r->names));
  WEIR_TRY(weir_strdup(name, &r->names[r->n_names]));
  r->n_names++;
  return WEIR_OK;
}

static weir_status add_drawing(weir_report *r, const char *name, put_function svg, put_function csv,
                               const void *what)
{
  char path[PATH_SIZE];

  WEIR_TRY(check_name(r, name));
  WEIR_TRY(weir_path_join(r->dir, "figures", path, sizeof path));
  WEIR_TRY(weir_dir_create(path));
  WEIR_TRY(add_file(r, name, "svg", svg, what));
  WEIR_TRY(add_file(r, name, "csv", csv, what));
  WEIR_TRY(weir_writer_printf(r->page, "<figure id=\"%s\">\n", name));
  WEIR_TRY(append(r->page, svg, what));
  return weir_writer_printf(r->page, "</figure>\n");
}

weir_status weir_report_figure(weir_report *r, const char *name, const weir_figure *figure)
{
  return add_drawing(r, name, put_svg, put_csv, figure);
}

weir_status weir_report_map(weir_report *r, const char *name, const weir_map *map)
{
  return add_drawing(r, name, put_map_svg, put_map_csv, map);
}

weir_status weir_report_row(weir_report *r, int n, const char *const *names,
                            const weir_figure *figures)
{
  int rows = 0;

  for (int i = 0; i < n; i++) {
    const int own = report_legend_rows(&figures[i]);

    rows = own > rows ? own : rows;
  }
  WEIR_TRY(weir_writer_printf(r->page, "<div class=\"row\">\n"));
  for (int i = 0; i < n; i++) {
    weir_figure figure = figures[i];

    figure.legend_rows = rows;
    WEIR_TRY(weir_report_figure(r, names[i], &figure));
  }
  return weir_writer_printf(r->page, "</div>\n");
}

weir_status weir_report_structure(weir_report *r, const char *name, const weir_structure *structure)
{
  return add_drawing(r, name, put_structure_svg, put_structure_csv, structure);
}
