/* report_priv.h - shared between the sources of this module only. */
#ifndef WEIR_REPORT_PRIV_H
#define WEIR_REPORT_PRIV_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "report/weir_figure.h"
#include "report/weir_report.h"
#include "report/weir_run_log.h"

/* Text with the characters that HTML and XML reserve replaced, and control characters left out. */
void report_put_escaped(FILE *out, const char *text);
/* One character of that. */
void report_put_character(FILE *out, char c);
/* The same, numbers and units as a person reads them: "3.9e-07" as 3.9 times a power of ten, "nan"
 * as words, "m s-1" with its power raised.
 * A number is one that stands alone, not part of a path or a setting. `html`: with its elements. */
void report_put_typeset(FILE *out, const char *text, bool html);
/* Puts the digits of a power, raised: in HTML by its element, else by characters of their own. */
void report_put_raised(FILE *out, long power, bool html);
/* Returns the length of a product of units at `text` in which a power is negative ("W m-2",
 * "m2 s**-2"), 0: none; and puts it with its powers raised. */
size_t report_find_unit(const char *text);
void report_put_unit(FILE *out, const char *text, size_t length, bool html);
/* Begins an <svg> element that a screen reader announces by its title. */
void report_put_svg(FILE *out, int width, int height, const char *title);
/* The same as one CSV field, quoted where it has to be. */
void report_put_csv(FILE *out, const char *text);

/* report.c: the folder of the page. Borrowed. */
const char *report_folder(const weir_report *r);

/* A finite range with lo < hi, and the distance of its ticks. */
typedef struct report_axis {
  double lo, hi, step;
  bool log; /* all of log10 of the values */
} report_axis;

/* Ticks at 1, 2 or 5 times a power of ten, about `wanted` of them; `whole` moves the ends to ticks.
 * A range without values becomes [0, 1]. */
void report_round(report_axis *a, int wanted, bool whole);
/* The power of ten, a multiple of 3, that ticks are written in; 0: as they are. */
int report_tick_power(const report_axis *a);
/* Tick k * step in that power. */
void report_tick_text(const report_axis *a, double k, int power, char *text, size_t size);
/* Axes that hold every finite value; [0, 1] where there is none. */
void report_axes(const weir_figure *figure, report_axis *x, report_axis *y);
/* The smallest and the largest finite value of both axes; false where one has none. */
bool report_range(const weir_figure *figure, report_axis *x, report_axis *y);

/* figure.c: rows that the legend of a figure takes. */
int report_legend_rows(const weir_figure *figure);
/* Pixels of a millimetre, as browsers and printers take them. */
#define REPORT_MM (96 / 25.4)
/* The axes of the paper that the figure asks for; false, with nothing changed, where it asks for
 * none or would be drawn on more than 15 m x 120 mm. */
bool report_paper_axes(const weir_figure *figure, report_axis *x, report_axis *y);
/* Pixels that the axes take on paper. */
double report_paper_across(const report_axis *x);
double report_paper_up(const report_axis *y);
/* The paper's lines between four edges in pixels. */
void report_paper_put(FILE *out, double left, double top, double right, double bottom);
/* Position of bar `i` of n on the x axis of bars: 0.5, 1.5, ... */
#define REPORT_BAR_AT(i) ((double)(i) + 0.5)

/* coast.c: coasts of the world as lines of points (longitude, latitude) in hundredths of a degree;
 * each begins with the number of its points. [*size] */
const int16_t *report_coast(int *size);

/* run_log.c: weir_run_log_read of text[size], which weir_alloc made and which is taken in any case,
 * without the warning; `where` is for messages. */
weir_status report_parse_log(char *text, int64_t size, const char *where,
                             weir_run_log *out) WEIR_CHECKED;
#endif
