/* weir_structure.h - a structure of atoms (or other points) and bonds as SVG text, in oblique
 * parallel projection: x to the right, y up, z towards the reader. No dependency, and the same
 * bytes for the same numbers. */
#ifndef WEIR_STRUCTURE_H
#define WEIR_STRUCTURE_H
#include <stdint.h>
#include <stdio.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A kind of points. */
typedef struct weir_structure_kind {
  const char *name;  /* in the legend            */
  const char *color; /* as in HTML, "#rrggbb"    */
  double radius;     /* relative to the default  */
} weir_structure_kind;

/* All borrowed. Of more than WEIR_STRUCTURE_POINTS points, or of a structure so long that its bonds
 * would be shorter than 4 pixels, the middle along x is omitted, as noted in the drawing; a
 * cross-section with more points is thinned to every k-th point. */
enum { WEIR_STRUCTURE_POINTS = 1500 };
typedef struct weir_structure {
  const char *title;
  const char *axis[3]; /* labels of x, y and z, with unit    */
  const char *end[2];  /* labels at the ends along x; or NULL */
  int64_t n_points;
  const double (*position)[3]; /* [n_points] finite */
  const int *kind;             /* [n_points]        */
  int n_kinds;
  const weir_structure_kind *kinds;
  int64_t n_bonds;
  const int64_t (*bond)[2]; /* [n_bonds] points */
} weir_structure;

/* Writes the structure as one <svg> element. Fails: WEIR_ERR_SHAPE (no points, an invalid kind or
 * point, a non-finite position), WEIR_ERR_MEMORY, WEIR_ERR_DATA when `out` cannot be written. */
weir_status weir_structure_svg(const weir_structure *s, FILE *out) WEIR_CHECKED;
/* Writes the drawn points, a line `kind,x,y,z` each; numbers read back to the same bits. Fails as
 * above. */
weir_status weir_structure_csv(const weir_structure *s, FILE *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
