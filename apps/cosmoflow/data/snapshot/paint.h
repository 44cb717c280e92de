/* paint.h - snapshots as samples: the density of their matter on meshes, or maps of its projection,
 * in files that data/volume/volume.h reads (samples-00000000.nc, ...). */
#ifndef CF_PAINT_H
#define CF_PAINT_H
#include "data/snapshot/assignment.h"
#include "data/volume/parameters.h"
#include "data/snapshot/snapshot.h"

/* Line of sight of a map. */
typedef enum cf_map_axis { CF_MAP_NONE, CF_MAP_X, CF_MAP_Y, CF_MAP_Z } cf_map_axis;

typedef struct cf_paint_opts {
  weir_int_list types; /* of particles */
  bool separate;       /* a channel for each type, else one of all of them */
  int64_t side;        /* voxels */
  int scheme;          /* cf_scheme - 1 */
  bool interlaced, deconvolve;
  struct {
    int axis;        /* cf_map_axis */
    double from, to; /* Mpc/h; both 0: the whole box */
    double source;   /* redshift of the sources of the lensing convergence; 0: the density */
  } map;
  int64_t deflate;
  cf_parameters_opts parameters;
} cf_paint_opts;
extern const weir_opt cf_paint_options[];

typedef struct cf_painted {
  int64_t samples, kept, damaged; /* written now; there before, whole or written again */
  double particles;
} cf_painted;

/* Checks options that no single row can refuse. Fails: WEIR_ERR_CONFIG. */
weir_status cf_paint_check(const cf_paint_opts *opts) WEIR_CHECKED;
/* Writes a sample for each of n snapshots into the folder, and samples.csv. A file of an earlier,
 * interrupted call is kept where its digest matches (digests.h). One thread, bitwise reproducible.
 * Fails: WEIR_ERR_CONFIG (another input or other options in the folder), WEIR_ERR_STOPPED, as
 * cf_snapshot_open and cf_snapshot_read, cf_parameters_read and cf_parameters_find, cf_density. */
weir_status cf_paint(const cf_paint_opts *opts, const cf_snapshot_opts *snapshot,
                     const char *const *paths, int64_t n, const char *folder,
                     cf_painted *done) WEIR_CHECKED;
#endif
