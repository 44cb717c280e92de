/* report_priv.h - shared between the sources of this room only. */
#ifndef WEIR_REPORT_PRIV_H
#define WEIR_REPORT_PRIV_H
#include <stdio.h>
#include "report/weir_figure.h"

/* Text with the characters that HTML and XML reserve replaced, and control characters left out. */
void report_put_escaped(FILE *out, const char *text);
/* The same as one CSV field, quoted where it has to be. */
void report_put_csv(FILE *out, const char *text);

/* A finite range with lo < hi, and the distance of its ticks. */
typedef struct report_axis {
  double lo, hi, step;
} report_axis;

/* Axes that hold every finite value; [0, 1] where there is none. */
void report_axes(const weir_figure *figure, report_axis *x, report_axis *y);
/* Position of bar `i` of n on the x axis of bars: 0.5, 1.5, ... */
#define REPORT_BAR_AT(i) ((double)(i) + 0.5)
#endif
