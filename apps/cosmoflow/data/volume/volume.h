/* volume.h - samples: cubes of matter and the parameters of their universe, from files of any
 * format that there is a folder entry for (data/format/).
 *
 * A sample is [depth, height, width, channel], channels last, and `n_labels` parameters mapped to
 * [-1, 1], or a class of every voxel, [depth, height, width], or both. All samples of a set have
 * one shape, and the labels and redshifts of the first file: where another file has the same names
 * or redshifts in another order, its labels and channels are reordered. A set is used by one thread
 * at a time. Invalid contents are refused with WEIR_ERR_DATA, naming file, sample and reason: other
 * shapes, non-finite labels or voxels, missing or invalid classes. */
#ifndef CF_VOLUME_H
#define CF_VOLUME_H
#include <stdbool.h>
#include "base/weir_dtype.h"
#include "base/weir_origin.h"
#include "conf/weir_opt.h"

enum {
  CF_MAX_LABELS = 16,
  CF_MAX_NAME = 32,
  CF_MAX_LOCATION = 4300,
  CF_MAX_CLASSES = 255,
  CF_COSMOLOGY = 5,
  CF_MAX_SIMULATION = 512
};

#define CF_COSMOLOGY_NAMES "omega_m omega_b h n_s sigma_8"

/* Options of reading; the defaults suit self-describing files. */
typedef struct cf_volume_opts {
  const char *volume, *labels; /* key or variable; "": the names in use */
  int64_t channels;            /* of files without a shape; 0: from the length */
  int dtype;                   /* cf_raw, of bytes without a type */
  int64_t per_file;            /* samples of each file; 0: looked up in each */
  int64_t max_bytes;           /* of a sample as it stands in a file */
  const char *segmentation;    /* variable of the classes of voxels; "" or NULL: segmentation */
  const char *axes;            /* letters of "nzyxc", one a dimension; "" or NULL: recognised */
  int64_t classes;             /* how many there are, numbered from 0 */
  int label_scale;             /* cf_label_scale */
  double label_limit;          /* largest magnitude of a label in [-1, 1]; 0: 1 */
  weir_string_list names;      /* of the labels, of files without names */
  weir_real_list range;        /* lo, hi of each label, of files without ranges */
  weir_real_list redshifts;    /* of the channels, of files without redshifts */
  int voxels;                  /* cf_quantity; CF_QUANTITY_AUTO: what the file declares */
  bool labels_optional;        /* no option: labels that options name may be missing (predict) */
} cf_volume_opts;
extern const weir_opt cf_volume_options[];

/* Scale of labels in files: [-1, 1], or the units of the parameters. */
typedef enum cf_label_scale { CF_LABELS_UNIT, CF_LABELS_PHYSICAL } cf_label_scale;
typedef enum cf_raw { CF_RAW_AUTO, CF_RAW_I16, CF_RAW_F32, CF_RAW_F64 } cf_raw;

/* Quantity of voxels: whole particles in a cell, density in units of the mean or any number not
 * below 0, any number. */
typedef enum cf_quantity {
  CF_QUANTITY_AUTO, /* not known */
  CF_QUANTITY_COUNTS,
  CF_QUANTITY_DENSITY,
  CF_QUANTITY_ANY
} cf_quantity;
#define CF_QUANTITY_CHOICES "auto|counts|density|any"
extern const char *const cf_quantity_name[];

/* Properties that all samples of a set share. */
typedef struct cf_volume_info {
  int64_t lengths[4];                          /* depth, height, width, channels */
  weir_dtype dtype;                            /* as stored */
  int64_t n_labels;                            /* 0: there are none */
  char label[CF_MAX_LABELS][CF_MAX_NAME];      /* names, "" where the file has none */
  double lo[CF_MAX_LABELS], hi[CF_MAX_LABELS]; /* the parameters at -1 and 1; equal: not known */
  int64_t n_redshifts;                         /* 0, or one a channel */
  double redshift[CF_MAX_LABELS];
  char layout[128];       /* layout in the file, as text */
  int64_t n_classes;      /* of the voxels; 0: the files have none */
  weir_dtype class_dtype; /* as stored */
  double box, cell;       /* sides of the simulated box and of a voxel in Mpc/h; 0: not known */
  cf_quantity quantity;   /* that the file declares or files.voxels states */
  bool physical;          /* samples have their parameters in their own units (cf_facts) */
  char simulation[CF_MAX_SIMULATION]; /* seed and options of `prepare`, of all files; "": not known
                                       */
} cf_volume_info;

/* Properties of a sample besides its labels; the flag of an unknown one is false. */
typedef struct cf_facts {
  bool has_physical;
  double physical[CF_MAX_LABELS]; /* [n_labels] the parameters in their own units */
  bool has_cosmology;
  double cosmology[CF_COSMOLOGY]; /* CF_COSMOLOGY_NAMES */
  bool has_corner;
  int64_t corner[3]; /* its first voxel in the box */
} cf_facts;

typedef struct cf_volumes cf_volumes;

/* Opens files, folders of files (sorted by name) and lists of files (.lst, a path a line, relative
 * to the list). Fails: WEIR_ERR_DATA, naming the file; also where there is none. */
weir_status cf_volumes_open(const char *const *paths, int64_t n, const cf_volume_opts *opts,
                            cf_volumes **out) WEIR_CHECKED;
/* Accepts NULL. */
void cf_volumes_close(cf_volumes **v);
int64_t cf_volumes_count(const cf_volumes *v);
int64_t cf_volumes_files(const cf_volumes *v);
/* Borrowed. */
const cf_volume_info *cf_volumes_info(const cf_volumes *v);
/* Reads voxels of planes [d0, d1) of a sample, [d1 - d0, height, width, channel], as WEIR_I16 or
 * WEIR_F32. Fails also for values that WEIR_I16 does not represent exactly. */
weir_status cf_volumes_read(cf_volumes *v, int64_t sample, int64_t d0, int64_t d1, weir_dtype dtype,
                            void *out) WEIR_CHECKED;
/* Reads labels[n_labels] in [-1, 1] in the order of the first file. Fails also for labels beyond
 * files.label_limit, and for parameters in their own units that contradict these labels. */
weir_status cf_volumes_labels(cf_volumes *v, int64_t sample, float *labels) WEIR_CHECKED;
/* Reads classes of planes [d0, d1), [d1 - d0, height, width], each below n_classes, which is not 0.
 */
weir_status cf_volumes_classes(cf_volumes *v, int64_t sample, int64_t d0, int64_t d1,
                               uint8_t *out) WEIR_CHECKED;
/* Reads the other properties of a sample, labels in the order of the first file. */
weir_status cf_volumes_facts(cf_volumes *v, int64_t sample, cf_facts *out) WEIR_CHECKED;
/* Reads the universe of a sample, by which sets are split. -1: the file does not state it. */
weir_status cf_volumes_universe(cf_volumes *v, int64_t sample, int64_t *universe) WEIR_CHECKED;
/* Returns the first file within a folder or below it, under any name; NULL: none. Borrowed. */
const char *cf_volumes_within(const cf_volumes *v, const char *folder);
/* Computes a digest of 64 hex digits of paths, sizes and times of the files and how they are read.
 */
void cf_volumes_key(const cf_volumes *v, char hex[65]);
/* Adds WHAT_sha256, of the bytes of the files in their order (of a NumPy pair, the voxels), to the
 * origin of a result; compares the files with an origin. Fails: as weir_origin_files. */
weir_status cf_volumes_origin(const cf_volumes *v, const char *what, weir_origin *to) WEIR_CHECKED;
weir_status cf_volumes_belongs(const cf_volumes *v, const char *what, const weir_origin *o,
                               weir_belongs *out) WEIR_CHECKED;
/* Writes "FILE: sample 3", for messages. Always terminated. */
void cf_volumes_locate(const cf_volumes *v, int64_t sample, char *text, size_t size);

/* Writer of a file: samples in order, all of one shape. */
typedef struct cf_volume_writer cf_volume_writer;

/* Labels, classes and properties of a sample that is written. */
typedef struct cf_volume_about {
  const float *labels;    /* [n_labels] */
  int64_t universe;       /* -1: not known */
  const uint8_t *classes; /* [depth, height, width]; of info->n_classes above 0 */
  const cf_facts *facts;  /* NULL: nothing is known; all samples of a file have the same flags */
} cf_volume_about;

/* Creates a file for `count` samples of info->dtype (WEIR_I16 or WEIR_F32); the suffix of the
 * format is appended to the path. Fails: WEIR_ERR_CONFIG, naming the available formats; and for a
 * format without classes of voxels; WEIR_ERR_UNSUPPORTED for one that this build cannot write;
 * WEIR_ERR_DATA. */
weir_status cf_volume_create(const char *format, const char *path, const cf_volume_info *info,
                             int64_t count, int level, cf_volume_writer **out) WEIR_CHECKED;
/* Appends a sample: voxels [depth, height, width, channel] of info->dtype. */
weir_status cf_volume_append(cf_volume_writer *w, const void *voxels,
                             const cf_volume_about *about) WEIR_CHECKED;
/* Commits the file atomically; *w is destroyed either way. */
weir_status cf_volume_commit(cf_volume_writer **w) WEIR_CHECKED;
/* Checks that a format exists. Fails: WEIR_ERR_CONFIG, naming the available formats. */
weir_status cf_volume_format_check(const char *format) WEIR_CHECKED;
/* Writes the endings of the file names of a format, "a|b", of which the first always exists; "" for
 * an unknown format. */
void cf_volume_endings(const char *format, char *text, size_t size);
/* Removes an uncommitted file; accepts NULL. */
void cf_volume_destroy(cf_volume_writer **w);
#endif
