/* weir_library.h - calls of a device's own libraries: matrix products, convolutions and Fourier
 * transforms.
 *
 * What a call computes is stated by numbers alone, for every device: cuda has cuBLASLt, cuDNN and
 * cuFFT, cpu and emulated loops of their own with sums in double precision. A library that lacks
 * the call, or computes something else (weir_library_create compares it on random numbers), is
 * refused, so that the caller can generate a kernel instead. */
#ifndef WEIR_LIBRARY_H
#define WEIR_LIBRARY_H
#include "base/weir_dtype.h"
#include "device/weir_device.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { WEIR_LIBRARY_DIMS = 3, WEIR_LIBRARY_OPERANDS = 3 };

/* Matrices of a stack: element (i, j) of number s lies i * down + j * across + s * apart elements
 * after the first one; across or down is 1. */
typedef struct weir_library_matrix {
  int64_t down, across, apart;
  bool conjugated;
} weir_library_matrix;

/* c = a b for every number of the stack; a is m x k, b is k x n. Operands: a, b, c. */
typedef struct weir_library_product {
  weir_dtype dtype; /* of all: f32, f64, c64, c128, in which sums are made as well */
  int64_t m, n, k, stack;
  weir_library_matrix a, b, c; /* c: across = 1, without gaps, not conjugated */
} weir_library_product;

/* y[b, p, g out + c] = sum over t, i of x[b, stride p + dilation t - lo, g in + i]
 *                                       w[g out + c, t, i],
 * where elements of x outside its extents are 0; or the gradient of this by x or w. Arrays are
 * row-major: x [n, x_extent.., groups in], w [groups out, taps.., in], y [n, y_extent.., groups
 * out]. Operands: x, w, y. */
typedef struct weir_library_convolution {
  int made;           /* operand that is computed from the other two */
  weir_dtype x, w, y; /* f32 or bf16, with sums in f32; or all f64 */
  int d;              /* spatial dimensions, 1 to WEIR_LIBRARY_DIMS */
  int64_t n, groups, in, out;
  int64_t x_extent[WEIR_LIBRARY_DIMS], y_extent[WEIR_LIBRARY_DIMS], taps[WEIR_LIBRARY_DIMS];
  int64_t stride[WEIR_LIBRARY_DIMS], dilation[WEIR_LIBRARY_DIMS], lo[WEIR_LIBRARY_DIMS];
} weir_library_convolution;

typedef enum weir_library_way {
  WEIR_LIBRARY_FORWARD,  /* complex to complex, exp(-i k x)                                     */
  WEIR_LIBRARY_BACKWARD, /* complex to complex, exp(+i k x)                                     */
  WEIR_LIBRARY_REAL,     /* real to the n / 2 + 1 complex of the last dimension, exp(-i k x)    */
  WEIR_LIBRARY_TO_REAL,  /* the inverse of real, of half a Hermitian array; x is undefined then */
} weir_library_way;

/* y_k = sum over j of x_j exp(-+2 pi i j k / n), along dimensions that lie together in row-major
 * arrays [outer, n.., inner]. Of to_real, imaginary parts that a Hermitian array cannot have are
 * ignored. Operands: x, y. */
typedef struct weir_library_transform {
  weir_library_way kind;
  weir_dtype part; /* f32 or f64: of real numbers, and of each part of complex ones */
  int rank;        /* transformed dimensions, 1 to WEIR_LIBRARY_DIMS */
  int64_t outer, inner;
  int64_t n[WEIR_LIBRARY_DIMS]; /* points, of the real side */
} weir_library_transform;

typedef enum weir_library_kind {
  WEIR_LIBRARY_PRODUCT,
  WEIR_LIBRARY_CONVOLUTION,
  WEIR_LIBRARY_TRANSFORM
} weir_library_kind;

/* A call (weir_library_spec). Set to zero before it is filled: calls are compared byte by byte. */
struct weir_library_spec {
  weir_library_kind kind;
  bool tf32; /* f32 factors may be rounded to 10 bits: on cuda, by tensor cores */
  union {
    weir_library_product product;
    weir_library_convolution convolution;
    weir_library_transform transform;
  };
};

/* Whether sizes, steps and dtypes are those of a call. */
bool weir_library_is_call(const weir_library_spec *spec);
/* The number of elements and the dtype of an operand. */
int64_t weir_library_elements(const weir_library_spec *spec, int operand);
weir_dtype weir_library_dtype(const weir_library_spec *spec, int operand);

typedef struct weir_library_call weir_library_call;

/* Prepares a call for the device. compare: the first call of each spec on a device is made once
 * with random numbers and compared with sums in double precision, every element of small results,
 * samples of large ones. Fails: WEIR_ERR_UNSUPPORTED (the device has no such library, or it lacks
 * or does not pass this call), WEIR_ERR_SHAPE (spec), WEIR_ERR_MEMORY. */
weir_status weir_library_create(weir_device *device, const weir_library_spec *spec, bool compare,
                                weir_library_call **out) WEIR_CHECKED;
/* Destroys the call; waits for all work of the device first. */
void weir_library_destroy(weir_library_call **call);
const weir_library_spec *weir_library_spec_of(const weir_library_call *call);
/* Bytes of device memory that weir_library_run needs in addition to the operands. */
int64_t weir_library_workspace(const weir_library_call *call);
/* Gives the call to the queue. Operands are device memory, in the order of the spec, aligned to 16
 * bytes; entries after the last one are ignored. Fails: WEIR_ERR_SHAPE (memory outside the device's
 * arrays), WEIR_ERR_EXTERNAL. */
weir_status weir_library_run(weir_device_queue *queue, const weir_library_call *call,
                             void *const operand[WEIR_LIBRARY_OPERANDS],
                             void *workspace) WEIR_CHECKED;

/* Asks the libraries of a row for a call on a device that this machine need not have: properties is
 * a description that they know (of cuda: what cuDNN writes of a device). Fails: WEIR_ERR_CONFIG (no
 * such row), WEIR_ERR_UNSUPPORTED (no such library, the library cannot tell, or it lacks the call).
 */
weir_status weir_library_plan(const char *name, const char *properties,
                              const weir_library_spec *spec, int64_t *workspace) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
