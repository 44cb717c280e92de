/* library.h - NVIDIA's libraries, found at run time: a program runs without them. Files that end in
 * _cuda.c alone include this. */
#ifndef CUDA_LIBRARY_H
#define CUDA_LIBRARY_H
#include "device/cuda/driver.h"

/* Opens the first library of the NULL-terminated list that the machine has. Fails:
 * WEIR_ERR_UNSUPPORTED, naming the first. */
weir_status cuda_library_open(const char *const *names, void **out) WEIR_CHECKED;
/* Finds a function. Fails: WEIR_ERR_UNSUPPORTED. */
weir_status cuda_library_find(void *library, const char *name, void *function,
                              size_t bytes) WEIR_CHECKED;

/* product_cuda.c: cuBLASLt. */
weir_status cuda_product_create(weir_library_call *call) WEIR_CHECKED;
void cuda_product_destroy(weir_library_call *call);
weir_status cuda_product_run(const cuda_state *s, CUstream stream,
                             const device_op *op) WEIR_CHECKED;
void cuda_product_close(cuda_state *s);

/* convolution_cuda.c: cuDNN's back end. */
weir_status cuda_convolution_create(weir_library_call *call) WEIR_CHECKED;
void cuda_convolution_destroy(weir_library_call *call);
weir_status cuda_convolution_run(const cuda_state *s, CUstream stream,
                                 const device_op *op) WEIR_CHECKED;
void cuda_convolution_close(cuda_state *s);
/* Makes a plan for a GPU that is not here, from its properties as cuDNN writes them. */
weir_status cuda_convolution_plan(const char *properties, const weir_library_spec *spec,
                                  int64_t *workspace) WEIR_CHECKED;

/* transform_cuda.c: cuFFT. */
weir_status cuda_transform_create(weir_library_call *call) WEIR_CHECKED;
void cuda_transform_destroy(weir_library_call *call);
weir_status cuda_transform_run(const cuda_state *s, CUstream stream,
                               const device_op *op) WEIR_CHECKED;
void cuda_transform_close(cuda_state *s);

/* library_cuda.c: the row's functions, and the end of all. */
weir_status cuda_call_create(weir_library_call *call) WEIR_CHECKED;
void cuda_call_destroy(weir_library_call *call);
weir_status cuda_call_plan(const char *properties, const weir_library_spec *spec,
                           int64_t *workspace) WEIR_CHECKED;
weir_status cuda_call_run(CUstream stream, const device_op *op) WEIR_CHECKED;
void cuda_libraries_close(cuda_state *s);

/* Most workspace of a call, bytes. */
#define CUDA_WORKSPACE ((int64_t)256 << 20)
#endif
