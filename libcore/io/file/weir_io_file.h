/* weir_io_file.h - regular files read at offsets: for formats that are read in pieces. Local calls.
 */
#ifndef WEIR_IO_FILE_H
#define WEIR_IO_FILE_H
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Opens a regular file for reading; the caller closes *fd. Never waits for a pipe. Fails:
 * WEIR_ERR_DATA, naming path and reason. */
weir_status weir_io_open(const char *path, int *fd, int64_t *size) WEIR_CHECKED;
/* Reads exactly `bytes` at `offset`. Fails: WEIR_ERR_DATA (also when the file ends early). */
weir_status weir_io_pread(int fd, const char *path, void *data, size_t bytes,
                          int64_t offset) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
