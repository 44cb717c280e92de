/* volume_netcdf.h - finding and writing variables of samples in NetCDF files; private to the format
 * and to files with the same variables. */
#ifndef CF_VOLUME_NETCDF_H
#define CF_VOLUME_NETCDF_H
#include "data/volume/volume_format.h"
#include "io/weir_netcdf.h"

/* The variable of the classes of voxels. */
#define CF_NETCDF_CLASSES "segmentation"

enum { CF_NETCDF_NONE = -1, CF_NETCDF_OTHER = -2 };
/* Finds a variable by name, with its shape and dimensions; CF_NETCDF_NONE: there is none,
 * CF_NETCDF_OTHER: of a type that cannot be read. Fails: as weir_netcdf_look. */
weir_status cf_netcdf_seek(weir_netcdf *nc, const char *name, int *var, weir_netcdf_shape *shape,
                           int *dims) WEIR_CHECKED;
/* The variable of voxels that was found. */
typedef struct cf_netcdf_voxels {
  int var, n_dims;
  const int *dims;
} cf_netcdf_voxels;
/* Finds the variable of labels: files.labels, or one of the names in use; CF_NETCDF_NONE: there is
 * none. Coordinates are no labels: a variable with the name of its dimension (CF 5; dimension
 * scales of HDF5), and `y` along an axis of voxels that are not its companion `x`. Fails:
 * WEIR_ERR_DATA where files.labels names no variable or a coordinate. */
weir_status cf_netcdf_seek_labels(weir_netcdf *nc, const cf_volume_file *f,
                                  const cf_netcdf_voxels *voxels, int *var,
                                  weir_netcdf_shape *shape) WEIR_CHECKED;
/* The variable of the universe of each sample, and the numbers of missing ones: of samples that
 * were never written (weir_netcdf_fill_value), and that of the attribute missing_value (CF 2.5.1).
 */
typedef struct cf_netcdf_universe {
  int var; /* CF_NETCDF_NONE: there is none */
  weir_netcdf_shape shape;
  double missing[2]; /* NaN: there is none */
} cf_netcdf_universe;
/* Finds it. Fails: WEIR_ERR_DATA where it is no integer for each of f->count samples. */
weir_status cf_netcdf_seek_universe(weir_netcdf *nc, const cf_volume_file *f,
                                    cf_netcdf_universe *out) WEIR_CHECKED;
/* Reads the universe of a sample. -1: there is no variable, or the number is missing, NaN or
 * negative, as universes are numbered from 0. Fails: as weir_netcdf_read_whole. */
weir_status cf_netcdf_read_universe(weir_netcdf *nc, const cf_netcdf_universe *u, int64_t sample,
                                    int64_t *out) WEIR_CHECKED;
/* Returns whether a variable can be cubes: numbers over three consecutive equal lengths above 1. */
bool cf_netcdf_is_cubes(const weir_netcdf_shape *s);

/* Write as described in cf_volume_format. */
weir_status cf_netcdf_create(cf_volume_out *o) WEIR_CHECKED;
weir_status cf_netcdf_append(cf_volume_out *o, const void *voxels,
                             const cf_volume_about *about) WEIR_CHECKED;
weir_status cf_netcdf_commit(cf_volume_out *o) WEIR_CHECKED;
void cf_netcdf_destroy(cf_volume_out *o);
/* Writes attributes of the sides of the simulated box and of a voxel in Mpc/h, where they are above
 * 0. */
weir_status cf_netcdf_put_box(weir_netcdf *nc, double box, double cell) WEIR_CHECKED;
/* Writes the attribute of the axis along which samples are in redshift space, unless it is 0. */
weir_status cf_netcdf_put_line_of_sight(weir_netcdf *nc, char axis) WEIR_CHECKED;
/* Reads it; 0: the file has none. Fails: WEIR_ERR_DATA where it is no axis. */
weir_status cf_netcdf_get_line_of_sight(weir_netcdf *nc, const char *path, char *axis) WEIR_CHECKED;
#endif
