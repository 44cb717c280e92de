/* class_maps.h - predicted classes of voxels as a file: classes.nc, which predict writes sample by
 * sample (docs/science/cosmoflow.md lists its variables). */
#ifndef CF_CLASS_MAPS_H
#define CF_CLASS_MAPS_H
#include "data/predictions.h"

typedef struct cf_class_maps cf_class_maps;

typedef struct cf_class_maps_spec {
  int64_t n, lengths[3], classes; /* samples; their voxels; at most CF_MAX_CLASSES */
  bool probabilities;
  const char *source; /* for people: weights, network, data */
  const weir_origin *origin;
} cf_class_maps_spec;

/* A row: the prediction of a sample. */
typedef struct cf_class_map {
  int64_t sample, universe; /* its number in the set of files; not negative */
  cf_subset subset;
  const uint8_t *classes;   /* [depth, height, width] */
  const float *probability; /* [depth, height, width, classes], where they are asked for */
} cf_class_map;

/* Creates a file of spec->n rows. Fails: as weir_netcdf_create. */
weir_status cf_class_maps_create(const char *path, const cf_class_maps_spec *spec,
                                 cf_class_maps **out) WEIR_CHECKED;
weir_status cf_class_maps_add(cf_class_maps *m, const cf_class_map *row) WEIR_CHECKED;
/* Commits the file, all rows of which were added; *m is destroyed either way. */
weir_status cf_class_maps_commit(cf_class_maps **m) WEIR_CHECKED;
/* Removes an uncommitted file; accepts NULL. */
void cf_class_maps_destroy(cf_class_maps **m);

/* A file that is read. */
typedef struct cf_read_maps {
  int64_t n, lengths[3];      /* rows; voxels of each */
  int64_t *sample, *universe; /* [n] not negative; no sample twice */
  uint8_t *subset;            /* [n] cf_subset */
  char source[CF_MAX_SOURCE];
  weir_origin origin;
  const char *path; /* borrowed */
  weir_netcdf *nc;
  int classes; /* variable */
} cf_read_maps;

/* Returns whether a file holds classes of voxels. */
bool cf_class_maps_are(const char *path);
/* Opens a file. Fails: WEIR_ERR_DATA, naming file and variable or row; as weir_netcdf_open. */
weir_status cf_class_maps_open(const char *path, cf_read_maps *out) WEIR_CHECKED;
/* Reads planes [d0, d1) of a row, [d1 - d0, height, width]: any bytes. */
weir_status cf_class_maps_read(cf_read_maps *m, int64_t row, int64_t d0, int64_t d1,
                               uint8_t *out) WEIR_CHECKED;
void cf_class_maps_close(cf_read_maps *m);
#endif
