/* volume_info.h - what samples in files are, and the options of reading them. */
#ifndef CF_VOLUME_INFO_H
#define CF_VOLUME_INFO_H
#include <stdbool.h>
#include "base/weir_dtype.h"
#include "conf/weir_opt.h"

enum {
  CF_MAX_LABELS = 16,
  CF_MAX_NAME = 32,
  CF_MAX_LOCATION = 4300,
  CF_MAX_CLASSES = 255,
  CF_COSMOLOGY = 5,
  CF_MAX_SIMULATION = 2048
};

#define CF_COSMOLOGY_NAMES "omega_m omega_b h n_s sigma_8"

/* The table of the parameters of simulations: parameters.h. */
typedef struct cf_parameters_opts {
  const char *table;        /* path; "" or NULL: none */
  weir_string_list columns; /* names of its columns; none: of its first line, "#Name Omega_m .." */
  weir_string_list labels;  /* columns that become labels; none: all numbers but `seed` */
  weir_real_list range;     /* lo, hi of each label; none: the extremes of its column */
} cf_parameters_opts;
extern const weir_opt cf_parameters_options[];

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
  double unit;                 /* that voxels are divided by; 0: 1 */
  double box; /* Mpc/h, as wide as samples of files that state none; 0: not known */
  cf_parameters_opts parameters; /* of files without labels */
  int64_t samples_per_line;      /* of its table; 0: 1 */
  bool labels_optional;          /* no option: labels that options name may be missing (predict) */
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
  double unit;            /* that voxels are divided by: by files.unit as they are read, or, as the
                             file states, before they were written; 0: 1 */
  cf_quantity quantity;   /* that the file declares or files.voxels states */
  char line_of_sight;     /* 'x', 'y', 'z': first, second, third axis of a sample, along which
                             samples are in redshift space; 0: none, or not known */
  bool physical;          /* samples have their parameters in their own units (cf_facts) */
  char simulation[CF_MAX_SIMULATION]; /* seed and options of `prepare`, of all files; "": not known
                                       */
} cf_volume_info;

/* Returns what voxels are divided by: info->unit, or 1. */
double cf_volume_unit_of(const cf_volume_info *info);
/* Returns whether labels are those of a table of parameters. */
bool cf_volume_has_table(const cf_volume_opts *o);
/* Returns the axis that a word names, 'x', 'y' or 'z'; 0: none of them. */
char cf_axis_letter(const char *word);

/* Properties of a sample besides its labels; the flag of an unknown one is false. */
typedef struct cf_facts {
  bool has_physical;
  double physical[CF_MAX_LABELS]; /* [n_labels] the parameters in their own units */
  bool has_cosmology;
  double cosmology[CF_COSMOLOGY]; /* CF_COSMOLOGY_NAMES */
  bool has_corner;
  int64_t corner[3]; /* its first voxel in the box */
} cf_facts;

/* Labels, classes and properties of a sample that is written. */
typedef struct cf_volume_about {
  const float *labels;    /* [n_labels] */
  int64_t universe;       /* -1: not known */
  const uint8_t *classes; /* [depth, height, width]; of info->n_classes above 0 */
  const cf_facts *facts;  /* NULL: nothing is known; all samples of a file have the same flags */
} cf_volume_about;
#endif
