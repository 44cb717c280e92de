/* cuda_open.h - opening the library that holds the device. */
#ifndef CUDA_OPEN_H
#define CUDA_OPEN_H
#include "device/device_priv.h"

extern const weir_device_row weir_device_row_cuda;
/* Opens the library `path`, for good. Fails: WEIR_ERR_UNSUPPORTED (no such library, or one of
 * another interface). */
weir_status cuda_open_library(const char *path, const device_plugin **out) WEIR_CHECKED;
#endif
