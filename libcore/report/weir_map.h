/* weir_map.h - colour maps of a field over a plane or a globe as SVG text. No dependency, and the
 * same bytes for the same numbers. */
#ifndef WEIR_MAP_H
#define WEIR_MAP_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Values [rows, columns] at cell centres, ascending or descending: the largest y is drawn at the
 * top. All borrowed. Fields of more than 180 x 120 values are drawn, and listed, as means of
 * rectangles. */
typedef struct weir_map {
  const char *title, *x_label, *y_label;
  const char *unit; /* below the colour scale */
  int64_t rows, columns;
  const double *x, *y; /* [columns], [rows]; NULL: 0, 1, 2, ... */
  const double *value; /* non-finite values are left white */
  double lo, hi;       /* ends of the scale, beyond which colours stay; lo >= hi: of the values */
  bool degrees;        /* x is longitude, y latitude: ticks of them, and the coasts of the world */
  bool diverging;      /* two hues around 0; ends taken from the values are as far from it */
} weir_map;

/* Writes the map as one <svg> element. Fails: WEIR_ERR_SHAPE (no rows, columns or values),
 * WEIR_ERR_MEMORY, WEIR_ERR_DATA when `out` cannot be written. */
weir_status weir_map_svg(const weir_map *map, FILE *out) WEIR_CHECKED;
/* Writes its numbers, a line `x,y,value` each, that read back to the same bits. Fails as above. */
weir_status weir_map_csv(const weir_map *map, FILE *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
