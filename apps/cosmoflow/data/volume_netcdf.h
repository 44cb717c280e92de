/* volume_netcdf.h - how variables of samples are found in NetCDF files, and how they are written;
 * private to the format and to files that say the same of their samples. */
#ifndef CF_VOLUME_NETCDF_H
#define CF_VOLUME_NETCDF_H
#include "data/volume_format.h"
#include "io/weir_netcdf.h"

/* The variable of the classes of voxels. */
#define CF_NETCDF_CLASSES "segmentation"

enum { CF_NETCDF_NONE = -1, CF_NETCDF_OTHER = -2 };
/* A variable by name with its shape and dimensions; CF_NETCDF_NONE: there is none, CF_NETCDF_OTHER:
 * it is there, of a type that cannot be read. Fails: as weir_netcdf_look. */
weir_status cf_netcdf_seek(weir_netcdf *nc, const char *name, int *var, weir_netcdf_shape *shape,
                           int *dims) WEIR_CHECKED;
/* Whether a variable can be cubes: numbers over three equal lengths above 1 in a row. */
bool cf_netcdf_is_cubes(const weir_netcdf_shape *s);

/* Writing, as cf_volume_format has it. */
weir_status cf_netcdf_create(cf_volume_out *o) WEIR_CHECKED;
weir_status cf_netcdf_append(cf_volume_out *o, const void *voxels,
                             const cf_volume_about *about) WEIR_CHECKED;
weir_status cf_netcdf_commit(cf_volume_out *o) WEIR_CHECKED;
void cf_netcdf_destroy(cf_volume_out *o);
/* Attributes of the sides of the simulated box and of a voxel in Mpc/h, where they are above 0. */
weir_status cf_netcdf_put_box(weir_netcdf *nc, double box, double cell) WEIR_CHECKED;
#endif
