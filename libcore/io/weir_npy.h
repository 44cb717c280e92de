/* weir_npy.h - NumPy's .npy files of one array (numpy.org/doc/stable/reference/generated/
 * numpy.lib.format.html, versions 1 to 3): numbers in C order, either byte order, read in pieces
 * and written to a temporary file and renamed. Local calls. */
#ifndef WEIR_NPY_H
#define WEIR_NPY_H
#include <stddef.h>
#include <stdint.h>
#include "base/weir_dtype.h"
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { WEIR_NPY_MAX_DIMS = 8 };

typedef struct weir_npy weir_npy;
typedef struct weir_npy_shape {
  weir_dtype dtype;
  int n_dims;
  int64_t lengths[WEIR_NPY_MAX_DIMS]; /* slowest first */
} weir_npy_shape;

/* Opens a file and compares its header with its size. Fails: WEIR_ERR_DATA, naming file and reason
 * (Fortran order, unsupported types, more dimensions). */
weir_status weir_npy_open(const char *path, weir_npy **out) WEIR_CHECKED;
/* Closes the file; accepts NULL. */
void weir_npy_close(weir_npy **n);
/* Returns the description of the array, borrowed. */
const weir_npy_shape *weir_npy_get(const weir_npy *n);
/* Reads `count` elements from element `first` on, in the byte order of the machine. Fails:
 * WEIR_ERR_DATA; WEIR_ERR_SHAPE for elements beyond the end. */
weir_status weir_npy_read(weir_npy *n, int64_t first, int64_t count, void *out) WEIR_CHECKED;
/* Writes a whole array. Fails: WEIR_ERR_DATA where it cannot be written. */
weir_status weir_npy_write(const char *path, const weir_npy_shape *shape,
                           const void *data) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
