/* weir_report.h - the HTML page of a run: text, tables and figures in one self-contained file, with
 * each figure also as figures/NAME.svg and its numbers as figures/NAME.csv. */
#ifndef WEIR_REPORT_H
#define WEIR_REPORT_H
#include <stdint.h>
#include <stdio.h>
#include "base/weir_status.h"
#include "report/weir_figure.h"
#include "report/weir_map.h"
#include "report/weir_structure.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_report weir_report;

/* Starts DIR/report.html. No file appears before the commit. Fails: WEIR_ERR_DATA, WEIR_ERR_MEMORY;
 * *out is then NULL. */
weir_status weir_report_open(const char *dir, const char *title, weir_report **out) WEIR_CHECKED;
/* Starts another page, DIR/name, such as "scorecard.html"; as weir_report_open. Pages of one folder
 * share figures/, so that names of figures must differ. */
weir_status weir_report_open_page(const char *dir, const char *name, const char *title,
                                  weir_report **out) WEIR_CHECKED;
/* Commits page and figures where `filled`, the status of filling the page, is WEIR_OK, and returns
 * it otherwise; *r is destroyed in either case (on failure only figures renamed before it remain).
 */
weir_status weir_report_commit(weir_report **r, weir_status filled) WEIR_CHECKED;
/* Removes unfinished files; accepts NULL. */
void weir_report_destroy(weir_report **r);

/* A name and its value for the head of the page, after the version: "seed", "part". A failure is
 * returned by the next function that has a status. */
void weir_report_fact(weir_report *r, const char *name, const char *format, ...) WEIR_PRINTF(3, 4);

/* The functions below append to the page and escape all text; numbers such as 3.9e-07 and nan that
 * stand alone appear as a person reads them. They fail with WEIR_ERR_MEMORY. Headings make the
 * contents of the page. */
weir_status weir_report_heading(weir_report *r, const char *text) WEIR_CHECKED;
/* A heading below it, with an HTML id to link to, which is not in the contents. */
weir_status weir_report_subheading(weir_report *r, const char *id, const char *text) WEIR_CHECKED;
weir_status weir_report_text(weir_report *r, const char *format, ...) WEIR_CHECKED
    WEIR_PRINTF(2, 3);
/* Appends a link to another page of the folder. */
weir_status weir_report_link(weir_report *r, const char *address, const char *text) WEIR_CHECKED;
/* Returns the stream of the page's body, for parts of HTML that these functions do not make: what
 * is written there is not escaped. Borrowed. */
FILE *weir_report_stream(weir_report *r);
/* Appends a text whose blanks and line ends stay as they are, such as a command. */
weir_status weir_report_verbatim(weir_report *r, const char *text) WEIR_CHECKED;
/* Appends a table with the HTML id `id`: head[columns], then cell(row, column) = cells[row *
 * columns + column]; NULL is an empty cell. Numbers are right-aligned. */
weir_status weir_report_table(weir_report *r, const char *id, int columns, const char *const *head,
                              int64_t rows, const char *const *cells) WEIR_CHECKED;
/* The rows of a table whose cells may be shaded, and may be links. All borrowed; [rows * columns].
 */
typedef struct weir_report_rows {
  const char *id;
  int columns;
  int64_t rows;
  const char *const *head, *const *cells;
  const signed char *mark;    /* 1 better, -1 worse, 0 neither; NULL: none is shaded */
  const char *const *address; /* NULL, also of a cell: no link */
} weir_report_rows;
/* The same as weir_report_table for such rows. */
weir_status weir_report_add_rows(weir_report *r, const weir_report_rows *rows) WEIR_CHECKED;
/* Appends what another page of this module shows first, and that is meant to be its main results:
 * its first table (its id begins with `folder` and ':'; of more than WEIR_EXCERPT_ROWS rows a
 * sentence takes its place) and its first two figures, as images that link to their place there.
 * The page is DIR/folder/report.html, where DIR is the folder of this page, and stays as it is; a
 * page without these appends nothing. Fails also: WEIR_ERR_DATA where the page cannot be read. */
enum { WEIR_EXCERPT_ROWS = 40 };
weir_status weir_report_excerpt(weir_report *r, const char *folder) WEIR_CHECKED;
/* A figure in the page, with the HTML id figure_NAME, and in figures/. `name`: letters, digits, '_'
 * and '-', once a report.
 * Fails also: WEIR_ERR_SHAPE, as weir_figure_svg and for a name that is no file name. */
weir_status weir_report_figure(weir_report *r, const char *name,
                               const weir_figure *figure) WEIR_CHECKED;
/* Appends n figures side by side, with axes at the same height. */
weir_status weir_report_row(weir_report *r, int n, const char *const *names,
                            const weir_figure *figures) WEIR_CHECKED;
/* Appends a map. Fails also as weir_map_svg. */
weir_status weir_report_map(weir_report *r, const char *name, const weir_map *map) WEIR_CHECKED;

/* Appends a structure. Fails also as weir_structure_svg. */
weir_status weir_report_structure(weir_report *r, const char *name,
                                  const weir_structure *structure) WEIR_CHECKED;

/* A value in the unit of an SI prefix, which *prefix says ("u" as the Greek letter, "" for none):
 * 6.9e-6 is 6.9 with micro. What no prefix from atto to tera fits stays as it is. */
double weir_si_scale(double value, const char **prefix);

/* Write an amount for a person into `text`, which they return, with at most four digits: in the
 * unit with an SI prefix ("5.787 Mflop"), bytes in multiples of 1024 ("1.628 MiB"), and seconds
 * also as minutes, hours or days where these are two or more ("57 ms", "3.4 hours"). */
enum { WEIR_AMOUNT_SIZE = 48 };
const char *weir_amount(double value, const char *unit, char text[WEIR_AMOUNT_SIZE]);
const char *weir_amount_bytes(double bytes, char text[WEIR_AMOUNT_SIZE]);
const char *weir_amount_time(double seconds, char text[WEIR_AMOUNT_SIZE]);
/* Writes a number without unit for a person into `text`, which it returns: four significant digits,
 * an integer from 1000 on, without exponent from 1e-4 to 1e15; NaN: "-". */
const char *weir_amount_number(double value, char text[WEIR_AMOUNT_SIZE]);

/* A growing table of texts, for callers that make cells one by one. Owns copies. All zero is empty;
 * the first failure is kept and returned by weir_table_report. */
typedef struct weir_table {
  const char **cell;
  int64_t count, capacity;
  weir_status status;
} weir_table;
/* Appends a cell. */
void weir_table_add(weir_table *c, const char *format, ...) WEIR_PRINTF(2, 3);
/* Appends a number as weir_amount_number. */
void weir_table_add_real(weir_table *c, double value);
/* Appends a number as `format` (of one double) prints it; NaN: `absent`. */
void weir_table_add_number(weir_table *c, const char *format, double value, const char *absent);
/* Append a row of a table of two columns, a quantity and its value: a text, a count in full, or a
 * number as weir_amount_number. */
void weir_table_add_pair(weir_table *c, const char *quantity, const char *format, ...)
    WEIR_PRINTF(3, 4);
void weir_table_add_count_pair(weir_table *c, const char *quantity, int64_t count);
void weir_table_add_real_pair(weir_table *c, const char *quantity, double value);
/* Appends these rows to the page with the head "quantity", "value", and frees the table. Fails: as
 * weir_table_report. */
weir_status weir_table_report_pairs(weir_table *c, weir_report *r, const char *id) WEIR_CHECKED;
/* Appends the cells as weir_report_table; their number must be a multiple of `columns`. Fails: the
 * first failure of weir_table_add, WEIR_ERR_SHAPE. */
weir_status weir_table_report(const weir_table *c, weir_report *r, const char *id, int columns,
                              const char *const *head) WEIR_CHECKED;
/* Writes the table as the file dir/name, columns separated by commas; a text with a comma, a quote
 * or a line end is quoted (RFC 4180). Fails: as weir_table_report; WEIR_ERR_DATA when the file
 * cannot be written. */
weir_status weir_table_write_csv(const weir_table *c, const char *dir, const char *name,
                                 int columns, const char *const *head) WEIR_CHECKED;
/* Prints the table as aligned columns of text. */
void weir_table_print(const weir_table *c, int columns, const char *const *head, FILE *out);
void weir_table_fini(weir_table *c);

#ifdef __cplusplus
}
#endif
#endif
