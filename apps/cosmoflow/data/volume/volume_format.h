/* volume_format.h - formats of samples: a file of data/format/ defines one descriptor
 * cf_volume_format_NAME, and the build lists them. */
#ifndef CF_VOLUME_FORMAT_H
#define CF_VOLUME_FORMAT_H
#include "data/volume/volume_info.h"

/* A file that is read. */
typedef struct cf_volume_file {
  const char *path;           /* the set's */
  const cf_volume_opts *opts; /* the caller's */
  cf_volume_info info;        /* filled by open */
  int64_t count;              /* samples, filled by open */
  bool counted;               /* open counts them, whatever opts->per_file states */
  void *state;                /* the format's own */
} cf_volume_file;

/* A file that is written; `state` is the format's own. */
typedef struct cf_volume_out {
  cf_volume_info info;
  const char *path; /* with the suffix */
  int64_t count;    /* samples to append */
  int64_t done;     /* appended so far */
  int level;        /* of compression, 0 to 9 */
  void *state;
} cf_volume_out;

typedef struct cf_volume_format {
  const char *name, *help;
  const char *suffix;     /* of files that are written */
  const char *companions; /* "a|b" of files that may accompany it; or NULL */
  const char
      *endings; /* of names that are read: ".a|.b"; those of folders are looked for by them */
  bool (*knows)(const uint8_t *head, int64_t n); /* by the first bytes, at most 16; or NULL */
  weir_status (*open)(cf_volume_file *f);        /* on failure, close is not called */
  void (*close)(cf_volume_file *f);
  /* Planes [d0, d1) in the stored dtype, channels last. */
  weir_status (*read)(cf_volume_file *f, int64_t sample, int64_t d0, int64_t d1, void *out);
  weir_status (*labels)(cf_volume_file *f, int64_t sample, double *out); /* as stored */
  /* Sets what the file says; NULL: nothing. */
  weir_status (*facts)(cf_volume_file *f, int64_t sample, cf_facts *out);
  weir_status (*universe)(cf_volume_file *f, int64_t sample, int64_t *out); /* NULL: never known */
  /* Planes [d0, d1) of the classes in info.class_dtype; NULL: has none. */
  weir_status (*classes)(cf_volume_file *f, int64_t sample, int64_t d0, int64_t d1, void *out);
  weir_status (*create)(cf_volume_out *o); /* NULL: such files are read only */
  weir_status (*append)(cf_volume_out *o, const void *voxels, const cf_volume_about *about);
  weir_status (*commit)(cf_volume_out *o); /* destroy is called after it, too */
  void (*destroy)(cf_volume_out *o);
  bool axes;          /* files.axes may state the dimensions */
  bool single;        /* a file that is written has one sample */
  bool holds_classes; /* files that are written may have classes of voxels */
  bool uncounted;     /* the number of samples costs reading the whole file (files.per_file) */
} cf_volume_format;

/* Ended by NULL. */
extern const cf_volume_format *const cf_volume_format_table[];

/* Order of labels and channels of a file: those of the first file. */
typedef struct cf_order {
  int label[CF_MAX_LABELS], channel[CF_MAX_LABELS];
  bool labels_moved, channels_moved;
} cf_order;
/* Compares the properties of a file with the first file of the set, names and redshifts in any
 * order. Fails: WEIR_ERR_DATA, naming file and both. */
weir_status cf_volume_agree(const cf_volume_info *first, const char *first_path,
                            const cf_volume_info *has, const char *path,
                            cf_order *out) WEIR_CHECKED;
/* Sets names, ranges and redshifts from the options, where files do not state them. Fails:
 * WEIR_ERR_CONFIG for lists of other lengths, WEIR_ERR_DATA for names or ranges of labels that the
 * file does not have, unless opts->labels_optional. */
weir_status cf_volume_state(const cf_volume_opts *opts, const char *path,
                            cf_volume_info *info) WEIR_CHECKED;
/* Reorders the channels of n voxels in place. */
void cf_volume_move(const cf_order *order, int64_t channels, int64_t n, size_t size, void *voxels);
/* Converts stored labels to [-1, 1]. Fails: WEIR_ERR_DATA, WEIR_ERR_CONFIG (no range to do so). */
weir_status cf_volume_unit(const cf_volume_opts *opts, const cf_volume_info *info,
                           const char *where, const double *stored, float *unit) WEIR_CHECKED;
/* Checks that labels match parameters in their own units, where ranges are known. Fails:
 * WEIR_ERR_DATA. */
weir_status cf_volume_check_physical(const cf_volume_info *info, const char *where,
                                     const float *unit, const cf_facts *facts) WEIR_CHECKED;
/* Pairs of a label in [-1, 1] and the parameter in its own unit, from which ranges follow. */
typedef struct cf_range_fit {
  double u[CF_MAX_LABELS][2], p[CF_MAX_LABELS][2]; /* of the smallest and the largest label */
  int64_t n;
} cf_range_fit;
void cf_range_fit_add(cf_range_fit *f, int64_t n_labels, const float *unit, const cf_facts *facts);
/* Sets lo and hi of the labels that two different values determine; others are unchanged. */
void cf_range_fit_set(const cf_range_fit *f, cf_volume_info *info);

/* Returns the dtype that files.dtype states of bytes; CF_RAW_AUTO: WEIR_I16. */
weir_dtype cf_volume_raw(int raw);
/* Sets the lengths of the cube that n elements are; channels: files.channels, 0: the only number up
 * to CF_CUBE_CHANNELS with which they are one. False: they are none. */
enum { CF_CUBE_CHANNELS = 7 }; /* 8 channels of side s are as long as one of side 2 s */
bool cf_volume_cube(int64_t n, int64_t channels, int64_t lengths[4]);
/* Converts n voxels to WEIR_I16 or WEIR_F32. Returns the first that is not finite, or that i16 does
 * not represent exactly; -1: none. */
int64_t cf_volume_convert(weir_dtype from, const void *raw, int64_t n, weir_dtype to, void *out);
/* Fails with WEIR_ERR_DATA for a voxel outside that dtype, of the sample at `where`. */
weir_status cf_volume_refuse(const char *where, int64_t voxel, double value,
                             weir_dtype dtype) WEIR_CHECKED;

/* Return the elements of a plane; the voxels, the elements of a sample. */
static inline int64_t cf_volume_plane(const cf_volume_info *info)
{
  return info->lengths[1] * info->lengths[2] * info->lengths[3];
}
static inline int64_t cf_volume_cells(const cf_volume_info *info)
{
  return info->lengths[0] * info->lengths[1] * info->lengths[2];
}
static inline int64_t cf_volume_elements(const cf_volume_info *info)
{
  return info->lengths[0] * cf_volume_plane(info);
}
#endif
