/* weir_checkpoint.h - a store as a file of named arrays, written to a temporary file and renamed,
 * read back atomically.
 *
 * NetCDF-4 where the build has it: one variable per parameter, whose name ncdump shows ("/" of a
 * scope becomes "."), each with the SHA-256 of its elements; elsewhere the checked raw dump of
 * weir_store.h with the same names. The format is detected from the content, not from the name. */
#ifndef WEIR_CHECKPOINT_H
#define WEIR_CHECKPOINT_H
#include "graph/weir_store.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A slice of a one-dimensional stored array that is a separate variable in the file. */
typedef struct weir_checkpoint_slice {
  const char *array; /* of the store                     */
  const char *name;  /* scoped, such as "enc1/conv/bias" */
  int rank;
  int64_t shape[WEIR_MAX_RANK];
  int64_t first; /* its first element in the array   */
} weir_checkpoint_slice;

/* An attribute of the file, for other readers; it is not read back. */
typedef struct weir_note {
  const char *name, *text;
} weir_note;

typedef enum weir_checkpoint_format {
  WEIR_CHECKPOINT_AUTO, /* NetCDF if the build has it, else raw */
  WEIR_CHECKPOINT_NETCDF,
  WEIR_CHECKPOINT_RAW
} weir_checkpoint_format;
#define WEIR_CHECKPOINT_FORMATS "auto|netcdf|raw"

/* Arrays of a store to save. All borrowed. */
typedef struct weir_checkpoint {
  weir_store *store;
  const weir_checkpoint_slice *slice; /* cover the arrays that they name; other arrays are saved as
                                         one variable */
  int64_t n_slices;
  const char *const *exclude; /* arrays that are not saved */
  int n_exclude;
  const weir_note *note;
  int n_notes;
  /* Further arrays, whose names begin with a prefix: of a run and not of its network, so that
   * another run may have others. Save writes those of *extra, which may be NULL; load makes *extra
   * a store of those of the file, which the caller destroys, NULL if there are none. Either is
   * NULL: no such arrays. */
  weir_store **extra;
  const char *extra_prefix;
} weir_checkpoint;

/* Writes the file. Fails: WEIR_ERR_DATA, WEIR_ERR_EXTERNAL (it cannot be written),
 * WEIR_ERR_UNSUPPORTED (no NetCDF in this build), WEIR_ERR_CONFIG (two names that become equal in
 * the file; a name that is too long), WEIR_ERR_SHAPE (slices that do not cover an array; a rank
 * over 8), WEIR_ERR_MEMORY. An existing file is kept on failure. */
weir_status weir_checkpoint_save(const weir_checkpoint *c, weir_checkpoint_format format,
                                 const char *path) WEIR_CHECKED;
/* Fills the store; on failure it is unchanged. more: the file may contain arrays that the store
 * lacks, so that a network can be read from the checkpoint of a training. Fails: WEIR_ERR_DATA (not
 * a checkpoint, or damaged), WEIR_ERR_SHAPE (intact, but of another network or training),
 * WEIR_ERR_UNSUPPORTED (no NetCDF in this build; of a newer version), WEIR_ERR_MEMORY. */
weir_status weir_checkpoint_load(const weir_checkpoint *c, const char *path,
                                 bool more) WEIR_CHECKED;

/* ---- A folder of checkpoints ---- */

/* Writes the path "<dir>/checkpoint-000000120.nc" (raw: ".weir"). Fails: WEIR_ERR_CONFIG when it
 * does not fit. */
weir_status weir_checkpoint_path(const char *dir, int64_t step, weir_checkpoint_format format,
                                 char *path, size_t size) WEIR_CHECKED;
/* Writes the path of the weights of a finished training, "<dir>/weights.nc" (raw: ".weir"). Fails:
 * likewise. */
weir_status weir_checkpoint_weights(const char *dir, weir_checkpoint_format format, char *path,
                                    size_t size) WEIR_CHECKED;
/* Returns the step of the latest checkpoint in the folder, -1: there is none. Fails:
 * WEIR_ERR_MEMORY. */
weir_status weir_checkpoint_newest(const char *dir, int64_t *step) WEIR_CHECKED;
/* Writes the path of the latest checkpoint, whatever its format; "": there is none. Fails: as the
 * functions above. */
weir_status weir_checkpoint_newest_path(const char *dir, char *path, size_t size) WEIR_CHECKED;
/* Loads the latest intact checkpoint: *step, -1 if there is no file. Warns of damaged ones, skips
 * them, and renames them to "<name>.damaged" once an intact one is found. Fails: WEIR_ERR_DATA (all
 * are damaged; one cannot be read), and as weir_checkpoint_load; all files then keep their names.
 */
weir_status weir_checkpoint_resume(const weir_checkpoint *c, const char *dir,
                                   int64_t *step) WEIR_CHECKED;
/* Removes all but the `keep` latest, and unfinished files of processes that no longer exist. Fails:
 * WEIR_ERR_DATA, WEIR_ERR_MEMORY. */
weir_status weir_checkpoint_prune(const char *dir, int64_t keep) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
