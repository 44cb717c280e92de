/* axes.h - the meaning of the dimensions of an array of voxels: samples, depth, height, width,
 * channels; and of the array of their classes. */
#ifndef CF_AXES_H
#define CF_AXES_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"

enum { CF_MAX_AXES = 5 };

/* Lengths of an array, slowest first. */
typedef struct cf_extents {
  int n;
  int64_t length[CF_MAX_AXES];
} cf_extents;

/* Indices of dimensions; -1: none. The cube is three consecutive ones, a map two. */
typedef struct cf_axes {
  int sample, channel, cube;
  bool map; /* height and width alone, which letters alone state */
} cf_axes;

/* Known properties of an array of voxels. */
typedef struct cf_axes_known {
  const char *path;              /* for messages */
  const char *letters;           /* files.axes: a letter of "nzyxc" each dimension, of maps
                                    without z, or "" */
  const char *name[CF_MAX_AXES]; /* of the dimensions; NULL, or phony_dim_N as the NetCDF library
                                    names those of HDF5: none */
  cf_extents volume;             /* 3 to CF_MAX_AXES; of maps from 2 */
  const cf_extents *classes;     /* of the array of classes; NULL: there is none */
} cf_axes_known;

/* Determines the dimensions: by the letters; otherwise by the classes, which have no channels;
 * otherwise by their names: sample, n, sim, realization, ... count samples, channel, c, redshift,
 * ... channels, and x, y, z, depth, ... are of the cube. Without names a fifth dimension counts
 * samples, and channels come last unless only the other three lengths are equal. Fails:
 * WEIR_ERR_CONFIG (letters), WEIR_ERR_DATA (no array of classes of these voxels; a first dimension
 * of another name that can count samples or channels), naming the file. */
weir_status cf_axes_find(const cf_axes_known *known, cf_axes *out) WEIR_CHECKED;
#endif
