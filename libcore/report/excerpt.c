/* excerpt.c - what another page shows first, as a part of this one. The other page is text of this
 * module (report.c), so that its table is copied as it is. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "report/report_priv.h"

enum { PATH_SIZE = 4096, MAX_FIGURES = 2 };
#define MAX_PAGE ((int64_t)256 << 20)

/* A part of the page that is read: at[size], not ended by 0. */
typedef struct span {
  const char *at;
  int size;
} span;

/* What stands between `before` and the next `end`, from `text` on; NULL where there is none. */
static span between(const char *text, const char *before, const char *end)
{
  const char *const start = text == NULL ? NULL : strstr(text, before);
  const char *const at = start == NULL ? NULL : start + strlen(before);
  const char *const stop = at == NULL ? NULL : strstr(at, end);

  return stop == NULL || stop - at > INT32_MAX ? (span){NULL, 0} : (span){at, (int)(stop - at)};
}

static void put_span(FILE *out, span s)
{
  (void)fwrite(s.at, 1, (size_t)s.size, out);
}

static int64_t count_rows(span table)
{
  int64_t rows = -1; /* without the head */

  for (const char *at = table.at; (at = strstr(at, "<tr>")) != NULL && at < table.at + table.size;
       at++) {
    rows++;
  }
  return rows;
}

static void put_table(FILE *out, const char *page, const char *folder)
{
  const span table = between(page, "<table id=\"", "</table>");

  if (table.at == NULL) {
    return;
  }
  const int64_t rows = count_rows(table);

  if (rows > WEIR_EXCERPT_ROWS) {
    fprintf(out, "<p>The page has a table of %lld rows.</p>\n", (long long)rows);
    return;
  }
  fputs("<table id=\"", out);
  report_put_escaped(out, folder);
  fputs(":", out);
  put_span(out, table);
  fputs("</table>\n", out);
}

/* The image of a figure that begins at `at`, in the page's folder. */
static void put_figure(FILE *out, const char *at, const char *folder)
{
  const span id = between(at, "<figure id=\"figure_", "\""), kind = between(id.at, "\"", ">"),
             size = between(kind.at, " width=\"", " viewBox="),
             title = between(size.at, "<title>", "</title>");

  if (title.at == NULL) {
    return;
  }
  fputs("<figure", out);
  put_span(out, kind);
  fputs("><a href=\"", out);
  report_put_escaped(out, folder);
  fputs("/report.html#figure_", out);
  put_span(out, id);
  fputs("\"><img loading=\"lazy\" src=\"", out);
  report_put_escaped(out, folder);
  fputs("/figures/", out);
  put_span(out, id);
  fputs(".svg\" width=\"", out);
  put_span(out, size);
  fputs(" alt=\"", out);
  put_span(out, title);
  fputs("\"></a></figure>\n", out);
}

weir_status weir_report_excerpt(weir_report *r, const char *folder)
{
  char path[PATH_SIZE], file[PATH_SIZE];
  FILE *const out = weir_report_stream(r);
  char *page = NULL;
  int64_t size = 0;

  WEIR_TRY(weir_path_join(folder, "report.html", file, sizeof file));
  WEIR_TRY(weir_path_join(report_folder(r), file, path, sizeof path));
  WEIR_TRY(weir_file_read(path, MAX_PAGE, &page, &size));
  put_table(out, page, folder);
  fputs("<div class=\"row\">\n", out);
  const char *at = page;
  for (int i = 0; i < MAX_FIGURES && (at = strstr(at, "<figure id=\"figure_")) != NULL; i++, at++) {
    put_figure(out, at, folder);
  }
  fputs("</div>\n", out);
  weir_free(&page);
  return ferror(out) ? weir_fail(WEIR_ERR_MEMORY, "report: no memory for a part of the page")
                     : WEIR_OK;
}
