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
 * would be shorter than 4 pixels, the middle along x is left out, which the drawing says; so are
 * points of a cross-section that alone has more, of which every k-th is drawn. */
enum { WEIR_STRUCTURE_POINTS = 1500 };
typedef struct weir_structure {
  const char *title;
  const char *axis[3]; /* labels of x, y and z, with unit    */
  const char *end[2];  /* said at the ends along x; or NULL  */
  int64_t n_points;
  const double (*position)[3]; /* [n_points] finite */
  const int *kind;             /* [n_points]        */
  int n_kinds;
  const weir_structure_kind *kinds;
  int64_t n_bonds;
  const int64_t (*bond)[2]; /* [n_bonds] points */
} weir_structure;

/* The structure as one <svg> element. Fails: WEIR_ERR_SHAPE (no points, a kind or a point that
 * there is none of, a position that is not finite), WEIR_ERR_MEMORY, WEIR_ERR_DATA when `out` takes
 * no more. */
weir_status weir_structure_svg(const weir_structure *s, FILE *out) WEIR_CHECKED;
/* The points that are drawn, a line `kind,x,y,z` each; numbers read back to the same bits. Fails as
 * above. */
weir_status weir_structure_csv(const weir_structure *s, FILE *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
