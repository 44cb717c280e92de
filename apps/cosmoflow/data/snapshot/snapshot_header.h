/* snapshot_header.h - what a file of a snapshot states about itself. */
#ifndef CF_SNAPSHOT_HEADER_H
#define CF_SNAPSHOT_HEADER_H
#include "data/snapshot/snapshot_info.h"
#include "io/weir_netcdf.h"

typedef struct cf_snapshot_header {
  int64_t n_types, files;
  int64_t here[CF_PARTICLE_TYPES], total[CF_PARTICLE_TYPES];
  double each[CF_PARTICLE_TYPES]; /* MassTable */
  double box;                     /* in the unit of length of the file */
  double redshift, h, omega_m;    /* NaN: not stated */
  double unit_cm, unit_g;         /* NaN: not stated */
  bool per_h;                     /* lengths and masses are per h, as Gadget's are */
} cf_snapshot_header;

/* Reads the header of a file. Fails: WEIR_ERR_DATA. */
weir_status cf_snapshot_header_read(weir_netcdf *nc, const char *path,
                                    cf_snapshot_header *out) WEIR_CHECKED;
/* Computes info->length and info->mass from a header and the exponents of h of positions and masses
 * (length_h, mass_h; NaN: as per_h says). Fails: WEIR_ERR_CONFIG as cf_snapshot_open;
 * WEIR_ERR_DATA where h is required and not stated. */
weir_status cf_snapshot_units(const cf_snapshot_header *h, const cf_snapshot_opts *opts,
                              const char *path, double length_h, double mass_h,
                              cf_snapshot_info *info) WEIR_CHECKED;
/* Opens a group of a file; *group is NULL where there is none. Fails: as weir_netcdf_open_group. */
weir_status cf_snapshot_group(weir_netcdf *nc, const char *name, weir_netcdf **group) WEIR_CHECKED;
/* Reads the first number of the first of these attributes that is there (names end in NULL); NaN:
 * none is. Fails: as weir_netcdf_get_numbers. */
weir_status cf_snapshot_number(weir_netcdf *nc, int var, const char *const *names,
                               double *out) WEIR_CHECKED;
#endif
