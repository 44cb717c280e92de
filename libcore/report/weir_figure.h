/* weir_figure.h - figures as SVG text: lines with bands, points, bars, histograms. No dependency,
 * and the same bytes for the same numbers, so that figures can be compared. */
#ifndef WEIR_FIGURE_H
#define WEIR_FIGURE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_figure_kind {
  WEIR_FIGURE_LINE,      /* x, y; broken where a value is not finite; lo and hi: a band around it */
  WEIR_FIGURE_POINTS,    /* x, y                                                                 */
  WEIR_FIGURE_BARS,      /* y at equal distances, label[n] below                                 */
  WEIR_FIGURE_HISTOGRAM, /* y[n] counts between the edges x[n + 1]                                */
  WEIR_FIGURE_SPANS /* fractions y[n], 0 to 1, from lo[n] to hi[n] in a separate row labelled by the
                       name: the larger the darker. All series of a figure, or none */
} weir_figure_kind;

/* A data series. All arrays are borrowed. */
typedef struct weir_figure_series {
  weir_figure_kind kind;
  const char *name; /* in the legend and in the CSV; NULL: not in the legend */
  int64_t n;
  const double *x, *y;
  const double *lo, *hi;    /* band of a line, or NULL; ends of spans */
  const char *const *label; /* of bars                 */
  int color; /* 1, 2, ...: the same in all figures of a page; 0: that of its index in this one */
  bool reference; /* what others are compared with, as the 1:1 line: grey, a line dashed */
} weir_figure_series;

typedef struct weir_figure {
  const char *title, *x_label, *y_label; /* with units */
  const weir_figure_series *series;
  int n_series;
  const char *empty; /* said where nothing is to be drawn; NULL: "no data" */
  /* x in s and y in mV, drawn on the paper of electrocardiographs: 25 mm for 1 s, 10 mm for 1 mV,
   * lines every 0.04 s and 0.1 mV, bold ones every 0.2 s and 0.5 mV. Pages scroll
   * over it. What would need more than 600 s or 12 mV of it is drawn on plain axes. */
  bool ecg_paper;
  bool log_x, log_y; /* logarithmic axes: values are above 0 or NaN; neither limits of the y axis
                        nor equal axes then */
  bool equal_axes;   /* x and y have the same range, and the drawing is square */
  int width;         /* width in pixels, at least 200; 0: 760. Not for ECG paper */
  int legend_rows; /* minimum number of legend rows for which space is reserved, to align figures in
                      a row */
  double y_lo,
      y_hi; /* limits of the y axis, which include the values; y_lo >= y_hi: of the values */
} weir_figure;

/* Writes the figure as one <svg> element. Fails: WEIR_ERR_SHAPE (a series lacks an array that its
 * kind needs), WEIR_ERR_DATA when `out` cannot be written. */
weir_status weir_figure_svg(const weir_figure *figure, FILE *out) WEIR_CHECKED;
/* Writes its numbers: a line `series,x,y,lo,hi` each; bars have the label instead of x, histograms
 * both edges as lo and hi. Numbers read back to the same bits. Fails as above. */
weir_status weir_figure_csv(const weir_figure *figure, FILE *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
