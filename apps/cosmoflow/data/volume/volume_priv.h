/* volume_priv.h - a set of files of samples. */
#ifndef CF_VOLUME_PRIV_H
#define CF_VOLUME_PRIV_H
#include "data/volume/parameters.h"
#include "data/volume/volume.h"
#include "data/volume/volume_format.h"

typedef struct cf_volume_entry {
  char *path;
  const cf_volume_format *format;
  int64_t first; /* number of its first sample in the set */
} cf_volume_entry;

/* A file that stays open while another is read: samples in any order are of a few files in turn,
 * and to open one of 250 universes takes some 20 ms. Fields as in cf_volumes. */
typedef struct cf_volume_kept {
  cf_volume_file file;
  int64_t number; /* of the file; -1: none */
  int64_t used;   /* turns before it was left */
  cf_order order;
  int64_t line;
  double divisor;
} cf_volume_kept;
enum { CF_VOLUMES_KEPT = 15 };

struct cf_volumes {
  cf_volume_opts opts;
  cf_volume_info info;
  cf_volume_entry *entries; /* [n] of capacity */
  int64_t n, capacity, count;
  cf_volume_file file; /* the one that is open */
  int64_t open;        /* its number; -1: none */
  bool agrees;         /* it does with the first file */
  cf_volume_kept kept[CF_VOLUMES_KEPT];
  int64_t turns;  /* changes of files so far */
  cf_order order; /* of its labels and channels */
  void *raw;      /* stored voxels before they are converted */
  int64_t raw_bytes;
  cf_parameters *table; /* of the labels; NULL: files have their own, or none */
  int64_t line;         /* of it, of the first sample of the open file */
  double divisor; /* of the voxels of the open file; 0: 1, or it states that they were divided */
};

/* Reads files.parameters.table, where there is one. Fails: as cf_parameters_read. */
weir_status cf_volumes_table_read(cf_volumes *v) WEIR_CHECKED;
/* Gives the open file the labels of the table: files.samples_per_line samples of each line in their
 * order, or, of one sample, those of the line that its path names. Fails: WEIR_ERR_CONFIG (labels
 * of its own, another number of each line), WEIR_ERR_DATA (no multiple of the lines). */
weir_status cf_volumes_table_apply(cf_volumes *v) WEIR_CHECKED;
/* Returns the line of sample `in` of the open file. */
int64_t cf_volumes_table_line(const cf_volumes *v, int64_t in);

/* Appends a file, the files of a folder by name, or those of a list. Fails: WEIR_ERR_DATA. */
weir_status cf_volumes_add(cf_volumes *v, const char *path) WEIR_CHECKED;
#endif
