/* class_maps.h - the class that a network says of every voxel, as a file: classes.nc, which predict
 * writes sample by sample (docs/science/cosmoflow.md lists what is in it). */
#ifndef CF_CLASS_MAPS_H
#define CF_CLASS_MAPS_H
#include "data/predictions.h"

typedef struct cf_class_maps cf_class_maps;

typedef struct cf_class_maps_spec {
  int64_t n, lengths[3], classes; /* samples; their voxels; at most CF_CLASSES_MOST */
  bool probabilities;
  const char *source; /* for people: weights, network, data */
} cf_class_maps_spec;

/* A row: what was predicted of a sample. */
typedef struct cf_class_map {
  int64_t sample, universe; /* its number in the set of files; not negative */
  cf_part part;
  const uint8_t *classes;   /* [depth, height, width] */
  const float *probability; /* [depth, height, width, classes], where they are asked for */
} cf_class_map;

/* Starts a file of spec->n rows. Fails: as weir_netcdf_create. */
weir_status cf_class_maps_create(const char *path, const cf_class_maps_spec *spec,
                                 cf_class_maps **out) WEIR_CHECKED;
weir_status cf_class_maps_add(cf_class_maps *m, const cf_class_map *row) WEIR_CHECKED;
/* Completes the file, all rows of which were added; *m is destroyed either way. */
weir_status cf_class_maps_commit(cf_class_maps **m) WEIR_CHECKED;
/* Removes what is not committed; accepts NULL. */
void cf_class_maps_destroy(cf_class_maps **m);
#endif
