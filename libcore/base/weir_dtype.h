/* weir_dtype.h - element types of arrays. */
#ifndef WEIR_DTYPE_H
#define WEIR_DTYPE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_bf16.h"
#include "base/weir_complex.h"
#include "base/weir_f16.h"
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

// clang-format off
/* X(enum, name, C type, kind, dtype of the real part) */
#define WEIR_DTYPE_NUMBERS_BUT_BOOL(X)                 \
  X(WEIR_F32,  "f32",  float,     REAL,    WEIR_F32)   \
  X(WEIR_F64,  "f64",  double,    REAL,    WEIR_F64)   \
  X(WEIR_I8,   "i8",   int8_t,    INTEGER, WEIR_I8)    \
  X(WEIR_U8,   "u8",   uint8_t,   INTEGER, WEIR_U8)    \
  X(WEIR_I16,  "i16",  int16_t,   INTEGER, WEIR_I16)   \
  X(WEIR_I32,  "i32",  int32_t,   INTEGER, WEIR_I32)   \
  X(WEIR_I64,  "i64",  int64_t,   INTEGER, WEIR_I64)
#define WEIR_DTYPE_NUMBERS(X)                          \
  WEIR_DTYPE_NUMBERS_BUT_BOOL(X)                       \
  X(WEIR_BOOL, "bool", uint8_t,   BOOL,    WEIR_BOOL)
#define WEIR_DTYPE_COMPLEX(X)                          \
  X(WEIR_C64,  "c64",  weir_c64,  COMPLEX, WEIR_F32)   \
  X(WEIR_C128, "c128", weir_c128, COMPLEX, WEIR_F64)
#define WEIR_DTYPE_LIST(X)                             \
  WEIR_DTYPE_NUMBERS(X)                                \
  X(WEIR_BF16, "bf16", weir_bf16, REAL,    WEIR_BF16)  \
  X(WEIR_F16,  "f16",  weir_f16,  REAL,    WEIR_F16)   \
  WEIR_DTYPE_COMPLEX(X)
// clang-format on

/* A bool element is one byte, 0 or 1. bf16 and f16 are storage formats: arithmetic on their
 * elements is done in f32 (weir_dtype_compute_type), and files do not store them. */
typedef enum weir_dtype {
#define X(id, name, ctype, kind, component) id,
  WEIR_DTYPE_LIST(X)
#undef X
      WEIR_DTYPE_COUNT
} weir_dtype;

/* Kinds of elements. Code asks for the kind that it means: a dtype that is not real may be an
 * integer, bool or complex. */
typedef enum weir_kind {
  WEIR_KIND_BOOL,
  WEIR_KIND_INTEGER,
  WEIR_KIND_REAL,
  WEIR_KIND_COMPLEX
} weir_kind;

/* Returns the bytes of one element. */
size_t weir_dtype_size(weir_dtype dtype);
/* Returns the name, such as "f32". */
const char *weir_dtype_name(weir_dtype dtype);
weir_kind weir_dtype_kind(weir_dtype dtype);
/* Whether elements are real numbers; whether they are integers or bool, so that sums are exact;
 * whether they are complex numbers. */
bool weir_dtype_is_real(weir_dtype dtype);
bool weir_dtype_is_whole(weir_dtype dtype);
bool weir_dtype_is_complex(weir_dtype dtype);
/* Returns the dtype of the real and imaginary parts; for other kinds than complex, the dtype
 * itself. */
weir_dtype weir_dtype_part(weir_dtype dtype);
/* Returns the number of real numbers per element: 2 for complex dtypes, else 1. */
int weir_dtype_parts(weir_dtype dtype);
/* Returns the complex dtype with that real part; WEIR_DTYPE_COUNT: there is none. */
weir_dtype weir_dtype_complex(weir_dtype component);
/* Returns the compute dtype: f32 for bf16 and f16, else the dtype itself. */
weir_dtype weir_dtype_compute_type(weir_dtype dtype);
/* Whether the compute dtype differs from the dtype: such elements are only loaded, stored, selected
 * and cast. */
bool weir_dtype_is_storage(weir_dtype dtype);
/* Returns `value` rounded to a float dtype. */
double weir_dtype_rounded(weir_dtype dtype, double value);
/* Reads element `index` of the array at `data` as double / int64 (floats truncate; bool 0 or 1).
 * Not for complex dtypes. */
double weir_dtype_load_real(weir_dtype dtype, const void *data, int64_t index);
int64_t weir_dtype_load_int(weir_dtype dtype, const void *data, int64_t index);
/* Stores a value by the conversion rules of C (bf16, f16: through f32); where C leaves a conversion
 * from float to integer undefined it saturates, and NaN gives 0. bool stores value != 0. */
void weir_dtype_store_real(weir_dtype dtype, void *data, int64_t index, double value);
void weir_dtype_store_int(weir_dtype dtype, void *data, int64_t index, int64_t value);
/* Read any dtype (the imaginary part of real numbers is 0); write complex dtypes only. */
weir_c128 weir_dtype_load_complex(weir_dtype dtype, const void *data, int64_t index);
void weir_dtype_store_complex(weir_dtype dtype, void *data, int64_t index, weir_c128 value);

#ifdef __cplusplus
}
#endif
#endif
