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
#include "base/weir_origin.h"
#include "data/volume/volume_info.h"

typedef struct cf_volumes cf_volumes;

/* Opens files, folders of files (sorted by name) and lists of files (.lst, a path a line, relative
 * to the list). Fails: WEIR_ERR_DATA, naming the file; also where there is none. */
weir_status cf_volumes_open(const char *const *paths, int64_t n, const cf_volume_opts *opts,
                            cf_volumes **out) WEIR_CHECKED;
/* Calls visit with the path of each of these files, without opening them, until one fails. Fails:
 * as visit; WEIR_ERR_DATA as cf_volumes_open. */
weir_status cf_volumes_list(const char *const *paths, int64_t n,
                            weir_status (*visit)(void *context, const char *path),
                            void *context) WEIR_CHECKED;
/* Returns whether a file is in a folder or below it, under any name. */
bool cf_path_within(const char *path, const char *folder);
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
