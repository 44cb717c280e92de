/* axes.h - which dimension of an array of voxels is what: samples, depth, height, width, channels;
 * and of the array of their classes beside it. */
#ifndef CF_AXES_H
#define CF_AXES_H
#include <stdint.h>
#include "base/weir_status.h"

enum { CF_MAX_AXES = 5 };

/* Lengths of an array, slowest first. */
typedef struct cf_extents {
  int n;
  int64_t length[CF_MAX_AXES];
} cf_extents;

/* Numbers of dimensions; -1: there is none. The cube is three in a row. */
typedef struct cf_axes {
  int sample, channel, cube;
} cf_axes;

/* What is known of an array of voxels. */
typedef struct cf_axes_known {
  const char *path;          /* for messages */
  const char *letters;       /* files.axes: a letter of "nzyxc" each dimension, or "" */
  const char *first;         /* name of the first dimension; "sample" says what it is */
  cf_extents volume;         /* 3 to CF_MAX_AXES */
  const cf_extents *classes; /* of the array of classes; NULL: there is none */
} cf_axes_known;

/* As the letters have it; else what the classes, which have no channels, leave as possible; else a
 * fifth dimension or one that is called so counts samples, and channels come last unless the other
 * three lengths alone are equal. Fails: WEIR_ERR_CONFIG (letters), WEIR_ERR_DATA (no array of
 * classes of these voxels), naming the file. */
weir_status cf_axes_find(const cf_axes_known *known, cf_axes *out) WEIR_CHECKED;
#endif
