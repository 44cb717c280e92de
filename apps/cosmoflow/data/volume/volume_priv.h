/* volume_priv.h - a set of files of samples. */
#ifndef CF_VOLUME_PRIV_H
#define CF_VOLUME_PRIV_H
#include "data/volume/volume.h"
#include "data/volume/volume_format.h"

typedef struct cf_volume_entry {
  char *path;
  const cf_volume_format *format;
  int64_t first; /* number of its first sample in the set */
} cf_volume_entry;

struct cf_volumes {
  cf_volume_opts opts;
  cf_volume_info info;
  cf_volume_entry *entries; /* [n] of capacity */
  int64_t n, capacity, count;
  cf_volume_file file; /* the one that is open */
  int64_t open;        /* its number; -1: none */
  cf_order order;      /* of its labels and channels */
  void *raw;           /* stored voxels before they are converted */
  int64_t raw_bytes;
};

/* Appends a file, the files of a folder by name, or those of a list. Fails: WEIR_ERR_DATA. */
weir_status cf_volumes_add(cf_volumes *v, const char *path) WEIR_CHECKED;
#endif
