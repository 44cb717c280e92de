/* weir_dtype.c - the dtype table turned into functions. */
#include "base/weir_dtype.h"

static const struct row {
  const char *name;
  size_t size;
  weir_kind kind;
  weir_dtype component;
} rows[] = {
#define X(id, text, ctype, kind, component) {text, sizeof(ctype), WEIR_KIND_##kind, component},
    WEIR_DTYPE_LIST(X)
#undef X
};

size_t weir_dtype_size(weir_dtype dtype)
{
  return rows[dtype].size;
}

const char *weir_dtype_name(weir_dtype dtype)
{
  return rows[dtype].name;
}

weir_kind weir_dtype_kind(weir_dtype dtype)
{
  return rows[dtype].kind;
}

bool weir_dtype_is_real(weir_dtype dtype)
{
  return rows[dtype].kind == WEIR_KIND_REAL;
}

bool weir_dtype_is_whole(weir_dtype dtype)
{
  return rows[dtype].kind == WEIR_KIND_INTEGER || rows[dtype].kind == WEIR_KIND_BOOL;
}

bool weir_dtype_is_complex(weir_dtype dtype)
{
  return rows[dtype].kind == WEIR_KIND_COMPLEX;
}

weir_dtype weir_dtype_part(weir_dtype dtype)
{
  return rows[dtype].component;
}

int weir_dtype_parts(weir_dtype dtype)
{
  return rows[dtype].kind == WEIR_KIND_COMPLEX ? 2 : 1;
}

weir_dtype weir_dtype_complex(weir_dtype component)
{
  for (int i = 0; i < WEIR_DTYPE_COUNT; i++) {
    if (rows[i].kind == WEIR_KIND_COMPLEX && rows[i].component == component) {
      return (weir_dtype)i;
    }
  }
  return WEIR_DTYPE_COUNT;
}

weir_dtype weir_dtype_compute_type(weir_dtype dtype)
{
  return dtype == WEIR_BF16 || dtype == WEIR_F16 ? WEIR_F32 : dtype;
}

bool weir_dtype_is_storage(weir_dtype dtype)
{
  return weir_dtype_compute_type(dtype) != dtype;
}

double weir_dtype_rounded(weir_dtype dtype, double value)
{
  switch (dtype) {
  case WEIR_F32:
    return (double)(float)value;
  case WEIR_BF16:
    return (double)weir_f32_from_bf16(weir_bf16_from_f32((float)value));
  case WEIR_F16:
    return (double)weir_f32_from_f16(weir_f16_from_f32((float)value));
  default:
    return value;
  }
}

/* C leaves a conversion that does not fit undefined; here it saturates, and NaN becomes 0. */
static int64_t int_from_real(double value, int64_t lo, int64_t hi)
{
  if (value != value) {
    return 0;
  }
  if (value <= (double)lo) {
    return lo;
  }
  if (value >= (double)hi) {
    return hi;
  }
  return (int64_t)value;
}

double weir_dtype_load_real(weir_dtype dtype, const void *data, int64_t index)
{
  switch (dtype) {
#define X(id, text, ctype, kind, component) \
  case id:                                  \
    return (double)((const ctype *)data)[index];
    WEIR_DTYPE_NUMBERS(X)
#undef X
  case WEIR_BF16:
    return (double)weir_f32_from_bf16(((const weir_bf16 *)data)[index]);
  case WEIR_F16:
    return (double)weir_f32_from_f16(((const weir_f16 *)data)[index]);
  default:
    WEIR_ASSERT(!weir_dtype_is_complex(dtype));
    return 0;
  }
}

int64_t weir_dtype_load_int(weir_dtype dtype, const void *data, int64_t index)
{
  if (!weir_dtype_is_whole(dtype)) {
    return int_from_real(weir_dtype_load_real(dtype, data, index), INT64_MIN, INT64_MAX);
  }
  switch (dtype) {
#define X(id, text, ctype, kind, component) \
  case id:                                  \
    return (int64_t)((const ctype *)data)[index];
    WEIR_DTYPE_NUMBERS(X)
#undef X
  default:
    return 0;
  }
}

weir_c128 weir_dtype_load_complex(weir_dtype dtype, const void *data, int64_t index)
{
  switch (dtype) {
#define X(id, text, ctype, kind, component) \
  case id:                                  \
    return (weir_c128){((const ctype *)data)[index].re, ((const ctype *)data)[index].im};
    WEIR_DTYPE_COMPLEX(X)
#undef X
  default:
    return (weir_c128){weir_dtype_load_real(dtype, data, index), 0};
  }
}

void weir_dtype_store_complex(weir_dtype dtype, void *data, int64_t index, weir_c128 value)
{
  WEIR_ASSERT(weir_dtype_is_complex(dtype));
  if (dtype == WEIR_C64) {
    ((weir_c64 *)data)[index] = (weir_c64){(float)value.re, (float)value.im};
  } else {
    ((weir_c128 *)data)[index] = value;
  }
}

void weir_dtype_store_real(weir_dtype dtype, void *data, int64_t index, double value)
{
  switch (dtype) {
  case WEIR_F32:
    ((float *)data)[index] = (float)value;
    break;
  case WEIR_F64:
    ((double *)data)[index] = value;
    break;
  case WEIR_I8:
    ((int8_t *)data)[index] = (int8_t)int_from_real(value, INT8_MIN, INT8_MAX);
    break;
  case WEIR_U8:
    ((uint8_t *)data)[index] = (uint8_t)int_from_real(value, 0, UINT8_MAX);
    break;
  case WEIR_I16:
    ((int16_t *)data)[index] = (int16_t)int_from_real(value, INT16_MIN, INT16_MAX);
    break;
  case WEIR_I32:
    ((int32_t *)data)[index] = (int32_t)int_from_real(value, INT32_MIN, INT32_MAX);
    break;
  case WEIR_I64:
    ((int64_t *)data)[index] = int_from_real(value, INT64_MIN, INT64_MAX);
    break;
  case WEIR_BOOL:
    ((uint8_t *)data)[index] = value != 0;
    break;
  case WEIR_BF16:
    ((weir_bf16 *)data)[index] = weir_bf16_from_f32((float)value);
    break;
  case WEIR_F16:
    ((weir_f16 *)data)[index] = weir_f16_from_f32((float)value);
    break;
  case WEIR_C64:
  case WEIR_C128:
    weir_dtype_store_complex(dtype, data, index, (weir_c128){value, 0});
    break;
  case WEIR_DTYPE_COUNT:
    break;
  }
}

void weir_dtype_store_int(weir_dtype dtype, void *data, int64_t index, int64_t value)
{
  switch (dtype) {
  case WEIR_BOOL:
    ((uint8_t *)data)[index] = value != 0;
    break;
  case WEIR_BF16:
    ((weir_bf16 *)data)[index] = weir_bf16_from_f32((float)value);
    break;
  case WEIR_F16:
    ((weir_f16 *)data)[index] = weir_f16_from_f32((float)value);
    break;
#define X(id, text, ctype, kind, component) \
  case id:                                  \
    ((ctype *)data)[index] = (ctype)value;  \
    break;
    WEIR_DTYPE_NUMBERS_BUT_BOOL(X)
#undef X
  default:
    weir_dtype_store_complex(dtype, data, index, (weir_c128){(double)value, 0});
  }
}
