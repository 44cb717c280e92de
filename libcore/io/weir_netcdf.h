/* weir_netcdf.h - arrays with attributes in NetCDF-4 files: written to a temporary file and
 * renamed, read back. Local calls; a file is used by one thread at a time, several files by as many
 * threads as there are (the library has global state: its calls wait for each other). Without the
 * library every function fails with WEIR_ERR_UNSUPPORTED. All fail with WEIR_ERR_EXTERNAL, naming
 * file, object and the library's reason, unless said. Files are read by another process,
 * weir_netcdf_reader (docs/decisions/0023-reader-process.md): where the library crashes, does not
 * end or reports a fault in a file, a function that reads fails with WEIR_ERR_DATA. Functions that
 * read take a file of weir_netcdf_open only. */
#ifndef WEIR_NETCDF_H
#define WEIR_NETCDF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_dtype.h"
#include "base/weir_file.h"
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_netcdf weir_netcdf;

enum {
  WEIR_NETCDF_FILE = -1,      /* instead of a variable: attributes of the file */
  WEIR_NETCDF_UNLIMITED = -1, /* length of a dimension that grows */
  WEIR_NETCDF_MAX_DIMS = 8
};

/* True when this build has the library. */
bool weir_netcdf_available(void);

/* Finds the program that files are read by, for a sandbox that has to show it. Fails:
 * WEIR_ERR_EXTERNAL (it is missing). */
weir_status weir_netcdf_reader_path(char *path, size_t size) WEIR_CHECKED;

/* Starts a file. Fails: WEIR_ERR_DATA where it cannot be created; *out is then NULL. */
weir_status weir_netcdf_create(const char *path, weir_netcdf **out) WEIR_CHECKED;
/* The same for data that other programs read by the CF conventions: writes the attributes
 * Conventions (CF-1.8), title (NULL: none) and history (the version), and stores the types that
 * CF 1.8 has. Whole numbers of 64 bits become doubles, unsigned bytes and bool signed bytes;
 * writing 2^53 and more, or 128 and more, fails with WEIR_ERR_UNSUPPORTED. Attributes of 64-bit
 * integers become 32-bit ones or doubles, and stay what they are where neither holds them. Callers
 * hand over what they declared. */
weir_status weir_netcdf_create_cf(const char *path, const char *title,
                                  weir_netcdf **out) WEIR_CHECKED;
/* Completes a created file and renames it into place; *nc is destroyed either way. */
weir_status weir_netcdf_commit(weir_netcdf **nc) WEIR_CHECKED;
/* Completes a created file, which *file, the caller's, renames into place (weir_writer_commit_all);
 * *nc is destroyed either way. *file is NULL on failure. */
weir_status weir_netcdf_finish(weir_netcdf **nc, weir_writer **file) WEIR_CHECKED;
/* Opens a file for reading. Fails: WEIR_ERR_DATA (missing, or not a NetCDF file). */
weir_status weir_netcdf_open(const char *path, weir_netcdf **out) WEIR_CHECKED;
/* Closes; a created file that is not committed is removed. Accepts NULL. */
void weir_netcdf_close(weir_netcdf **nc);

/* Defines a group of a created file, or of another group. It is written to by the functions below
 * like a file, sees the dimensions of what it stands in, and is owned by that: it lives until the
 * file is committed, finished or closed, and is not closed itself. *group is NULL on failure. */
weir_status weir_netcdf_group(weir_netcdf *nc, const char *name, weir_netcdf **group) WEIR_CHECKED;
/* How many groups a file that is read, or a group of it, has in it: 0, 1, ... in the order in which
 * they were made; their content is read by weir_netcdf_open_group alone. */
weir_status weir_netcdf_count_groups(weir_netcdf *nc, int *n) WEIR_CHECKED;
/* Name of group `i`. Fails: WEIR_ERR_DATA where it does not fit `size`, or there is none. */
weir_status weir_netcdf_group_name(weir_netcdf *nc, int i, char *name, size_t size) WEIR_CHECKED;
/* Opens a group of a file that is read, as a file of its own that the caller closes; variables see
 * the dimensions of the file. Fails: WEIR_ERR_DATA where there is none; *group is NULL on failure.
 */
weir_status weir_netcdf_open_group(weir_netcdf *nc, const char *name,
                                   weir_netcdf **group) WEIR_CHECKED;
/* Defines a dimension. */
weir_status weir_netcdf_dim(weir_netcdf *nc, const char *name, int64_t length,
                            int *dim) WEIR_CHECKED;
/* Defines a variable over dims[n_dims], slowest first; bool is stored as unsigned bytes. */
weir_status weir_netcdf_var(weir_netcdf *nc, const char *name, weir_dtype dtype, int n_dims,
                            const int *dims, int *var) WEIR_CHECKED;
/* Defines a variable of WEIR_I64 of which no value is beyond +-max: with weir_netcdf_create_cf it
 * is stored as 32-bit integers where that holds them, so that other programs can index by it. */
weir_status weir_netcdf_whole_var(weir_netcdf *nc, const char *name, int64_t max, int n_dims,
                                  const int *dims, int *var) WEIR_CHECKED;
/* Defines a variable of texts. */
weir_status weir_netcdf_text_var(weir_netcdf *nc, const char *name, int n_dims, const int *dims,
                                 int *var) WEIR_CHECKED;
/* Defines a variable of characters, the last dimension along a text; written and read as WEIR_U8.
 * Unlike texts of any length, such variables survive damage: the library checks what it reads. */
weir_status weir_netcdf_char_var(weir_netcdf *nc, const char *name, int n_dims, const int *dims,
                                 int *var) WEIR_CHECKED;
/* Stores a variable in chunks[n_dims], compressed at `level` (0..9, 0: not at all), before its
 * first write. */
weir_status weir_netcdf_chunk(weir_netcdf *nc, int var, const int64_t *chunks,
                              int level) WEIR_CHECKED;
/* Sets an attribute to a text. */
weir_status weir_netcdf_put_text(weir_netcdf *nc, int var, const char *name,
                                 const char *text) WEIR_CHECKED;
/* Sets an attribute to n numbers of `dtype` (`_FillValue`: one, of the variable's dtype). */
weir_status weir_netcdf_put_numbers(weir_netcdf *nc, int var, const char *name, weir_dtype dtype,
                                    const void *values, int64_t n) WEIR_CHECKED;
/* From when on times of a recording that starts at `start_us`, microseconds since 1970, are counted
 * so that a double holds them: 0, which is 1970; `start_us` itself for dates centuries from it, as
 * those of recordings whose dates are shifted to hide them. */
int64_t weir_netcdf_time_origin(int64_t start_us);
#define WEIR_NETCDF_SINCE_1970 "microseconds since 1970-01-01 00:00:00"
/* Attributes of a variable of microseconds since `origin_us` (CF, section 4.4). */
weir_status weir_netcdf_put_time(weir_netcdf *nc, int var, int64_t origin_us) WEIR_CHECKED;
/* Samples per second, as a number and exactly. A variable over one dimension that has them is a
 * signal of the file when it is read as a record (weir_record.h). */
#define WEIR_NETCDF_RATE "sampling_rate"
#define WEIR_NETCDF_RATIO "sampling_rate_ratio"
weir_status weir_netcdf_put_rate(weir_netcdf *nc, int var, int64_t num, int64_t den) WEIR_CHECKED;
/* Writes the box of count[] elements from start[] on, dense, in the variable's dtype. */
weir_status weir_netcdf_write(weir_netcdf *nc, int var, const int64_t *start, const int64_t *count,
                              const void *data) WEIR_CHECKED;
/* The same for a variable of texts. */
weir_status weir_netcdf_write_texts(weir_netcdf *nc, int var, const int64_t *start,
                                    const int64_t *count, const char *const *texts) WEIR_CHECKED;

/* What a variable is; `text` set means dtype does not count, `chars` that its bytes are letters. */
typedef struct weir_netcdf_shape {
  weir_dtype dtype;
  bool text, chars;
  int n_dims;
  int64_t lengths[WEIR_NETCDF_MAX_DIMS];
} weir_netcdf_shape;

/* Finds a variable. Fails: WEIR_ERR_DATA when there is none, or one that this interface cannot
 * hold. */
weir_status weir_netcdf_find(weir_netcdf *nc, const char *name, int *var,
                             weir_netcdf_shape *shape) WEIR_CHECKED;
/* How many variables a file has: 0, 1, ... */
weir_status weir_netcdf_count(weir_netcdf *nc, int *n) WEIR_CHECKED;
/* Name of variable `var`. Fails: WEIR_ERR_DATA where it does not fit `size`. */
weir_status weir_netcdf_name(weir_netcdf *nc, int var, char *name, size_t size) WEIR_CHECKED;
/* The same by number: dims[WEIR_NETCDF_MAX_DIMS] takes the numbers of its dimensions. `supported`
 * is false for a type or rank that this interface cannot hold; the rest is then not filled. */
weir_status weir_netcdf_look(weir_netcdf *nc, int var, weir_netcdf_shape *shape, int *dims,
                             bool *supported) WEIR_CHECKED;
/* Name of a dimension. Fails: WEIR_ERR_DATA where it does not fit `size`. */
weir_status weir_netcdf_dim_name(weir_netcdf *nc, int dim, char *name, size_t size) WEIR_CHECKED;
/* How many attributes a variable (or the file) has: 0, 1, ... */
weir_status weir_netcdf_count_attributes(weir_netcdf *nc, int var, int *n) WEIR_CHECKED;
/* Attribute `i`: its name, how many numbers or characters, and which of both. Fails: WEIR_ERR_DATA
 * where the name does not fit `size`. */
weir_status weir_netcdf_attribute(weir_netcdf *nc, int var, int i, char *name, size_t size,
                                  int64_t *count, bool *text) WEIR_CHECKED;
/* How many numbers attribute `name` has; 0 where there is none, or a text. */
int64_t weir_netcdf_count_numbers(const weir_netcdf *nc, int var, const char *name);
/* True when attribute `name` is of a floating-point type. */
bool weir_netcdf_is_real(const weir_netcdf *nc, int var, const char *name);
/* True when a variable (or the file) has an attribute of that name. */
bool weir_netcdf_has(const weir_netcdf *nc, int var, const char *name);
/* Reads a box in the variable's dtype; the memory is the caller's. */
weir_status weir_netcdf_read(weir_netcdf *nc, int var, const int64_t *start, const int64_t *count,
                             void *data) WEIR_CHECKED;
/* Whether a variable of `stored` numbers can hold what was declared as `declared`: the same type,
 * or the one that weir_netcdf_create_cf stores for it. */
bool weir_netcdf_holds(weir_dtype stored, weir_dtype declared);
/* Reads a box of whole numbers of any type as 64-bit integers: `shape` is that of the variable.
 * Fails: WEIR_ERR_DATA where a number is not whole, or 2^53 and more in a floating-point type. */
weir_status weir_netcdf_read_whole(weir_netcdf *nc, int var, const weir_netcdf_shape *shape,
                                   const int64_t *start, const int64_t *count,
                                   int64_t *out) WEIR_CHECKED;
/* Reads one text of a variable of texts. The caller frees *text with weir_free. */
weir_status weir_netcdf_read_text(weir_netcdf *nc, int var, const int64_t *index,
                                  char **text) WEIR_CHECKED;
/* An attribute as text, of characters or one string; the caller frees *text with weir_free. Fails:
 * WEIR_ERR_DATA when it is not there, no text, or several strings. */
weir_status weir_netcdf_get_text(weir_netcdf *nc, int var, const char *name,
                                 char **text) WEIR_CHECKED;
/* An attribute of exactly n numbers, as doubles. Fails: WEIR_ERR_DATA when it is not. */
weir_status weir_netcdf_get_numbers(weir_netcdf *nc, int var, const char *name, double *values,
                                    int64_t n) WEIR_CHECKED;
/* Returns in *value the number of elements that were never written: the attribute _FillValue, else
 * the default of the type; NaN where there is none (types of 8 bits, texts, filling is off). */
weir_status weir_netcdf_fill_value(weir_netcdf *nc, int var, double *value) WEIR_CHECKED;
/* Refuses a variable of a signed type whose attribute _Unsigned (NetCDF Users Guide) says that its
 * integers have no sign: they would be read with one. `path` is for the message. Fails:
 * WEIR_ERR_DATA. */
weir_status weir_netcdf_refuse_unsigned(weir_netcdf *nc, int var, weir_dtype dtype,
                                        const char *path) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
