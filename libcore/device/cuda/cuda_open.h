/* cuda_open.h - opening the library that holds the device. */
#ifndef CUDA_OPEN_H
#define CUDA_OPEN_H
#include "device/device_priv.h"

extern const weir_device_row weir_device_row_cuda;
/* Opens the device of the library `path`. Fails: WEIR_ERR_UNSUPPORTED (no such library, one of
 * another interface, no driver, no GPU). */
weir_status cuda_open_library(const char *path, weir_device *device,
                              const weir_device_options *options) WEIR_CHECKED;
#endif
