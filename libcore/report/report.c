/* report.c - the page: text, tables and figures. */
#include "report/weir_report.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_provenance.h"
#include "conf/weir_number.h"
#include "report/report_priv.h"

enum { PATH_SIZE = 4096, MAX_NAME = 64 };

struct weir_report {
  char *dir;
  weir_writer *page;
  FILE *body; /* the page below its contents, in text[size] */
  char *text;
  size_t size;
  char *title;
  weir_table heads, facts; /* of the contents; names and values in the head */
  weir_writer **figures;   /* unfinished SVG and CSV files */
  char **names;            /* of the figures               */
  int64_t n_figures, n_names, figure_capacity, name_capacity;
};

/* Wide tables and figures scroll in the page, which does not; figures stay large enough to read on
 * a narrow screen, and paper with a scale keeps it; they lie on light ground, where the darker is
 * the more. Printed, all is on white and as wide as the paper. */
static const char page_head[] =
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<style>:root{color-scheme:light dark;--ink:#222;--paper:#fff;--line:#ddd;--faint:#666;"
    "--good:#cfe8d8;--bad:#f6d5c3}"
    "@media(prefers-color-scheme:dark){:root{--ink:#ddd;--paper:#16181b;--line:#3a3d42;"
    "--faint:#9a9a9a;--good:#1e4a34;--bad:#5c3418}"
    "figure{background:#ececea;color:#222;border-radius:4px}}"
    "body{font-family:sans-serif;line-height:1.4;max-width:66em;margin:2em auto;padding:0 1em;"
    "color:var(--ink);background:var(--paper);overflow-wrap:break-word}"
    "a{color:inherit}header p,nav{color:var(--faint)}nav li{line-height:1.5}"
    "table{border-collapse:collapse;margin:1em 0;display:block;max-width:100%;overflow-x:auto}"
    "th,td{padding:.2em .8em;border-bottom:1px solid var(--line);text-align:left;"
    "vertical-align:top}td.number{text-align:right;font-variant-numeric:tabular-nums;"
    "white-space:nowrap}td.none{text-align:center;color:var(--faint)}"
    "td.range{white-space:nowrap}sup{line-height:0}td.good{background:var(--good)}td.bad{"
    "background:var(--bad)}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:1em 0;padding:.4em .8em;"
    "border-left:3px solid var(--line)}"
    "figure{margin:1em 0;overflow-x:auto}.row{display:flex;flex-wrap:wrap;gap:0 1em}"
    ".row figure{margin:0;max-width:100%}svg,img{max-width:100%;height:auto}"
    "figure.scale svg,figure.scale img{max-width:none}"
    "@media(max-width:44rem){figure svg,figure img{max-width:none}}"
    "@media print{:root{color-scheme:light;--ink:#000;--paper:#fff;--line:#bbb;--faint:#444;"
    "--good:#cfe8d8;--bad:#f6d5c3}body{margin:0;max-width:none}figure{background:none}"
    "figure,figure.scale{break-inside:avoid;overflow:visible}"
    "figure svg,figure img,figure.scale svg,figure.scale img{max-width:100%}"
    "h1,h2,h3{break-after:avoid}tr{break-inside:avoid}"
    "table{display:table;overflow:visible;font-size:80%}"
    "th,td,td.number,td.range{padding:.1em .3em;white-space:normal;overflow-wrap:anywhere}}</style>"
    "\n";

/* Text made by `put` through a memory stream, appended to a file. */
typedef weir_status (*put_function)(const void *what, FILE *out);

static weir_status add_block(weir_report *r, put_function put, const void *what)
{
  WEIR_TRY(r->facts.status); /* of weir_report_fact, which has none */
  WEIR_TRY(put(what, r->body));
  return ferror(r->body) ? weir_fail(WEIR_ERR_MEMORY, "report: no memory for a part of the page")
                         : WEIR_OK;
}

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

/* The program that made the page, and a table of contents where it has more than two headings. */
static weir_status put_head(const void *what, FILE *out)
{
  const weir_report *const r = what;

  fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", out);
  report_put_escaped(out, r->title);
  fprintf(out, "</title>\n%s</head><body>\n<header><h1>", page_head);
  report_put_escaped(out, r->title);
  fprintf(out, "</h1>\n<p id=\"about\">Weir %s", weir_version());
  for (int64_t i = 0; i + 1 < r->facts.count; i += 2) {
    fputs(" \xc2\xb7 ", out);
    report_put_escaped(out, r->facts.cell[i]);
    fputs(" ", out);
    report_put_typeset(out, r->facts.cell[i + 1], true);
  }
  fputs("</p></header>\n", out);
  if (r->heads.count > 1) {
    fputs("<nav aria-label=\"Contents\"><ul>\n", out);
    for (int64_t i = 0; i < r->heads.count; i++) {
      fprintf(out, "<li><a href=\"#part_%lld\">", (long long)i + 1);
      report_put_escaped(out, r->heads.cell[i]);
      fputs("</a></li>\n", out);
    }
    fputs("</ul></nav>\n", out);
  }
  fputs("<main>\n", out);
  return WEIR_OK;
}

weir_status weir_report_open_page(const char *dir, const char *name, const char *title,
                                  weir_report **out)
{
  weir_report *r = NULL;
  char path[PATH_SIZE];
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_path_join(dir, name, path, sizeof path));
  WEIR_TRY(weir_alloc(1, sizeof *r, (void **)&r));
  WEIR_TRY_GOTO(weir_strdup(dir, &r->dir), done);
  WEIR_TRY_GOTO(weir_writer_open(path, &r->page), done);
  WEIR_TRY_GOTO(weir_strdup(title, &r->title), done);
  r->body = open_memstream(&r->text, &r->size);
  if (r->body == NULL) {
    status = weir_fail(WEIR_ERR_MEMORY, "report: no memory for the page");
    goto done;
  }
  *out = r;
  return WEIR_OK;
done:
  weir_report_destroy(&r);
  return status;
}

weir_status weir_report_open(const char *dir, const char *title, weir_report **out)
{
  return weir_report_open_page(dir, "report.html", title, out);
}

static void close_body(weir_report *r)
{
  if (r->body != NULL) {
    (void)fclose(r->body);
  }
  r->body = NULL;
  free(r->text);
  r->text = NULL;
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
  close_body(*r);
  weir_table_fini(&(*r)->heads);
  weir_table_fini(&(*r)->facts);
  weir_free(&(*r)->title);
  weir_free(&(*r)->figures);
  weir_free(&(*r)->names);
  weir_free(&(*r)->dir);
  weir_free(r);
}

weir_status weir_report_commit(weir_report **r, weir_status filled)
{
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(filled, done);
  WEIR_TRY_GOTO((*r)->heads.status, done);
  WEIR_TRY_GOTO((*r)->facts.status, done);
  if (fflush((*r)->body) != 0) {
    status = weir_fail(WEIR_ERR_MEMORY, "report: no memory for the page");
    goto done;
  }
  WEIR_TRY_GOTO(append((*r)->page, put_head, *r), done);
  WEIR_TRY_GOTO(weir_writer_write((*r)->page, (*r)->text, (*r)->size), done);
  WEIR_TRY_GOTO(weir_writer_printf((*r)->page, "</main></body></html>\n"), done);
  for (int64_t i = 0; i < (*r)->n_figures; i++) {
    WEIR_TRY_GOTO(weir_writer_commit(&(*r)->figures[i]), done);
  }
  WEIR_TRY_GOTO(weir_writer_commit(&(*r)->page), done);
done:
  weir_report_destroy(r);
  return status;
}

static void put_heading(FILE *out, int level, const char *id, const char *text)
{
  fprintf(out, "<h%d id=\"", level);
  report_put_escaped(out, id);
  fputs("\">", out);
  report_put_escaped(out, text);
  fprintf(out, "</h%d>\n", level);
}

weir_status weir_report_heading(weir_report *r, const char *text)
{
  char id[32];

  weir_table_add(&r->heads, "%s", text);
  (void)snprintf(id, sizeof id, "part_%lld", (long long)r->heads.count);
  put_heading(r->body, 2, id, text);
  return r->heads.status;
}

weir_status weir_report_subheading(weir_report *r, const char *id, const char *text)
{
  put_heading(r->body, 3, id, text);
  return r->facts.status;
}

void weir_report_fact(weir_report *r, const char *name, const char *format, ...)
{
  char text[256];
  va_list args;

  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  weir_table_add(&r->facts, "%s", name);
  weir_table_add(&r->facts, "%s", text);
}

static weir_status put_paragraph(const void *what, FILE *out)
{
  fputs("<p>", out);
  report_put_typeset(out, what, true);
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
  const weir_status status = add_block(r, put_paragraph, text);
  free(text);
  return status;
}

static void put_link(FILE *out, const char *address, const char *text)
{
  fputs("<a href=\"", out);
  report_put_escaped(out, address);
  fputs("\">", out);
  report_put_escaped(out, text);
  fputs("</a>", out);
}

weir_status weir_report_link(weir_report *r, const char *address, const char *text)
{
  fputs("<p>", r->body);
  put_link(r->body, address, text);
  fputs("</p>\n", r->body);
  return r->facts.status;
}

weir_status weir_report_verbatim(weir_report *r, const char *text)
{
  fputs("<pre>", r->body);
  report_put_escaped(r->body, text);
  fputs("</pre>\n", r->body);
  return r->facts.status;
}

FILE *weir_report_stream(weir_report *r)
{
  return r->body;
}

const char *report_folder(const weir_report *r)
{
  return r->dir;
}

/* What is typeset stands as it was in data-value, for programs. */
static void put_cell(FILE *out, const char *text, int mark, const char *address)
{
  double value;
  const bool number = text != NULL && weir_number_real(text, &value) == WEIR_NUMBER_OK;
  const char *const kind = mark > 0 ? " good" : mark < 0 ? " bad" : "";
  const bool signs = text != NULL && *text != 0 && strchr("+-0123456789", *text) != NULL;

  if (text != NULL &&
      (strcmp(text, "-") == 0 || strcmp(text, "nan") == 0 || strcmp(text, "-nan") == 0)) {
    fprintf(out, "<td class=\"none\" data-value=\"%s\" title=\"not computed\">\xe2\x80\x93</td>",
            text);
    return;
  }
  if (text != NULL && address != NULL) {
    fprintf(out, mark != 0 ? "<td class=\"%s\">" : "<td>", kind + (mark != 0));
    put_link(out, address, text);
    fputs("</td>", out);
    return;
  }
  if (number && strchr(text, 'e') != NULL) {
    fprintf(out, "<td class=\"number%s\" data-value=\"%s\">", kind, text);
  } else if (number || (mark != 0 && signs)) {
    fprintf(out, "<td class=\"number%s\">", kind);
  } else if (mark != 0) {
    fprintf(out, "<td class=\"%s\">", kind + 1);
  } else {
    /* A number with its interval stays on one line. */
    fputs(text != NULL && strstr(text, " to ") != NULL && strcspn(text, "0123456789") < 2
              ? "<td class=\"range\">"
              : "<td>",
          out);
  }
  report_put_typeset(out, text, true);
  fputs("</td>", out);
}

static weir_status put_table(const void *what, FILE *out)
{
  const weir_report_rows *t = what;

  fputs("<table id=\"", out);
  report_put_escaped(out, t->id);
  fputs("\">\n<tr>", out);
  for (int c = 0; c < t->columns; c++) {
    fputs("<th scope=\"col\">", out);
    report_put_typeset(out, t->head[c], true);
    fputs("</th>", out);
  }
  fputs("</tr>\n", out);
  for (int64_t row = 0; row < t->rows; row++) {
    fputs("<tr>", out);
    for (int c = 0; c < t->columns; c++) {
      const int64_t at = row * t->columns + c;

      put_cell(out, t->cells[at], t->mark != NULL ? t->mark[at] : 0,
               t->address != NULL ? t->address[at] : NULL);
    }
    fputs("</tr>\n", out);
  }
  fputs("</table>\n", out);
  return WEIR_OK;
}

weir_status weir_report_add_rows(weir_report *r, const weir_report_rows *rows)
{
  return add_block(r, put_table, rows);
}

weir_status weir_report_table(weir_report *r, const char *id, int columns, const char *const *head,
                              int64_t rows, const char *const *cells)
{
  const weir_report_rows t = {
      .id = id, .columns = columns, .head = head, .rows = rows, .cells = cells};

  return weir_report_add_rows(r, &t);
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
  char path[PATH_SIZE], file[MAX_NAME + 32];

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

  if (n == 0 || n > MAX_NAME || name[n] != 0) {
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

static weir_status add_drawing(weir_report *r, const char *name, const char *kind, put_function svg,
                               put_function csv, const void *what)
{
  char path[PATH_SIZE];

  WEIR_TRY(check_name(r, name));
  WEIR_TRY(weir_path_join(r->dir, "figures", path, sizeof path));
  WEIR_TRY(weir_dir_create(path));
  WEIR_TRY(add_file(r, name, "svg", svg, what));
  WEIR_TRY(add_file(r, name, "csv", csv, what));
  fprintf(r->body, "<figure id=\"figure_%s\"%s>\n", name, kind);
  WEIR_TRY(add_block(r, svg, what));
  fputs("</figure>\n", r->body);
  return WEIR_OK;
}

weir_status weir_report_figure(weir_report *r, const char *name, const weir_figure *figure)
{
  return add_drawing(r, name, figure->ecg_paper ? " class=\"scale\"" : "", put_svg, put_csv,
                     figure);
}

weir_status weir_report_map(weir_report *r, const char *name, const weir_map *map)
{
  return add_drawing(r, name, "", put_map_svg, put_map_csv, map);
}

weir_status weir_report_row(weir_report *r, int n, const char *const *names,
                            const weir_figure *figures)
{
  int rows = 0;

  for (int i = 0; i < n; i++) {
    const int own = report_legend_rows(&figures[i]);

    rows = own > rows ? own : rows;
  }
  fputs("<div class=\"row\">\n", r->body);
  for (int i = 0; i < n; i++) {
    weir_figure figure = figures[i];

    figure.legend_rows = rows;
    WEIR_TRY(weir_report_figure(r, names[i], &figure));
  }
  fputs("</div>\n", r->body);
  return WEIR_OK;
}

weir_status weir_report_structure(weir_report *r, const char *name, const weir_structure *structure)
{
  return add_drawing(r, name, "", put_structure_svg, put_structure_csv, structure);
}
