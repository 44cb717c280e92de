/* exchange_buffer.c - see exchange_buffer.h. */
#include "optim/exchange_buffer.h"

#include <string.h>

#include "base/weir_alloc.h"

static weir_status check(const weir_exchange_args *a, const char *policy)
{
  for (int i = 1; i < a->n; i++) {
    if (a->part[i].dtype != a->part[0].dtype || a->part[i].dims != a->part[0].dims) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "%s: weights are sharded over ranks in several ways, or have several dtypes",
                       policy);
    }
  }
  const bool known = a->n > 0 && (a->part[0].dtype == WEIR_F32 || a->part[0].dtype == WEIR_F64 ||
                                  a->part[0].dtype == WEIR_I64);

  return known ? WEIR_OK
               : weir_fail(WEIR_ERR_UNSUPPORTED, "%s: exchanges f32, f64 or i64, not %s", policy,
                           a->n > 0 ? weir_dtype_name(a->part[0].dtype) : "nothing");
}

weir_status exchange_buffer_open(const weir_exchange_args *a, const char *policy,
                                 exchange_buffer *out)
{
  weir_status status = check(a, policy);

  *out = (exchange_buffer){.n = 0};
  if (status == WEIR_OK) {
    status = weir_alloc(a->n, sizeof *out->part, (void **)&out->part);
  }
  WEIR_TRY(weir_comm_agree(a->comm, status));
  memcpy(out->part, a->part, (size_t)a->n * sizeof *out->part);
  out->n = a->n;
  out->dtype = a->part[0].dtype;
  out->sum = weir_reducer_of(WEIR_REDUCE_SUM, out->dtype);
  for (int i = 0; i < a->n; i++) {
    out->count += a->part[i].count;
  }
  return weir_grid_sub(a->grid, a->comm, a->part[0].dims, &out->group);
}

void exchange_buffer_close(exchange_buffer *b)
{
  weir_comm_close(&b->group);
  weir_free(&b->part);
}

weir_status exchange_buffer_alloc(const exchange_buffer *b, void **out)
{
  return weir_alloc(b->count, b->sum->size, out);
}

weir_status exchange_buffer_rounds(const exchange_buffer *b, const char *policy)
{
  return b->dtype != WEIR_I64 ? WEIR_OK
                              : weir_fail(WEIR_ERR_UNSUPPORTED,
                                          "%s: approximates f32 or f64, not whole numbers", policy);
}

void exchange_buffer_clear(const exchange_buffer *b, void *data)
{
  if (b->count > 0) {
    memset(data, 0, (size_t)b->count * b->sum->size);
  }
}

void exchange_buffer_get(const exchange_buffer *b, void *to)
{
  char *at = to;

  for (int i = 0; i < b->n; i++) {
    const size_t bytes = (size_t)b->part[i].count * b->sum->size;

    if (bytes > 0) {
      memcpy(at, b->part[i].data, bytes);
    }
    at += bytes;
  }
}

void exchange_buffer_put(const exchange_buffer *b, const void *from)
{
  const char *at = from;

  for (int i = 0; i < b->n; i++) {
    const size_t bytes = (size_t)b->part[i].count * b->sum->size;

    if (bytes > 0) {
      memcpy(b->part[i].data, at, bytes);
    }
    at += bytes;
  }
}

void exchange_buffer_add(const exchange_buffer *b, void *into)
{
  char *at = into;

  for (int i = 0; i < b->n; i++) {
    b->sum->merge(at, b->part[i].data, b->part[i].count);
    at += (size_t)b->part[i].count * b->sum->size;
  }
}

void exchange_buffer_clear_parts(const exchange_buffer *b)
{
  for (int i = 0; i < b->n; i++) {
    if (b->part[i].count > 0) {
      memset(b->part[i].data, 0, (size_t)b->part[i].count * b->sum->size);
    }
  }
}

void exchange_buffer_scatter(const exchange_buffer *b, const void *value, const uint32_t *index,
                             int64_t n)
{
  const char *from = value;
  int64_t first = 0;
  int part = 0;

  for (int64_t i = 0; i < n; i++) {
    while (index[i] - first >= b->part[part].count) {
      first += b->part[part++].count;
    }
    b->sum->merge((char *)b->part[part].data + (size_t)(index[i] - first) * b->sum->size,
                  from + (size_t)i * b->sum->size, 1);
  }
}

void exchange_buffer_add_range(const exchange_buffer *b, const void *value, int64_t lo, int64_t hi)
{
  const int64_t begin = lo;
  const size_t size = b->sum->size;
  int64_t first = 0;

  for (int i = 0; i < b->n && lo < hi; i++) {
    const int64_t end = first + b->part[i].count < hi ? first + b->part[i].count : hi;

    if (lo < end) {
      b->sum->merge((char *)b->part[i].data + (size_t)(lo - first) * size,
                    (const char *)value + (size_t)(lo - begin) * size, end - lo);
      lo = end;
    }
    first += b->part[i].count;
  }
}

void exchange_add_change(weir_dtype dtype, const void *now, const void *before, void *into,
                         int64_t count)
{
  for (int64_t i = 0; dtype == WEIR_F32 && i < count; i++) {
    ((float *)into)[i] += ((const float *)now)[i] - ((const float *)before)[i];
  }
  for (int64_t i = 0; dtype == WEIR_F64 && i < count; i++) {
    ((double *)into)[i] += ((const double *)now)[i] - ((const double *)before)[i];
  }
  for (int64_t i = 0; dtype == WEIR_I64 && i < count; i++) {
    ((int64_t *)into)[i] += ((const int64_t *)now)[i] - ((const int64_t *)before)[i];
  }
}

void exchange_buffer_add_change(const exchange_buffer *b, const void *before, void *into)
{
  size_t at = 0;

  for (int i = 0; i < b->n; i++) {
    exchange_add_change(b->dtype, b->part[i].data, (const char *)before + at, (char *)into + at,
                        b->part[i].count);
    at += (size_t)b->part[i].count * b->sum->size;
  }
}

static int64_t divide_whole(int64_t x, double divisor)
{
  const int64_t whole = (int64_t)divisor;

  return (double)whole == divisor ? x / whole : (int64_t)((long double)x / divisor);
}

void exchange_divide(weir_dtype dtype, void *data, int64_t count, double divisor)
{
  float *const f = data;
  double *const d = data;
  int64_t *const whole = data;

  for (int64_t i = 0; dtype == WEIR_F32 && i < count; i++) {
    f[i] /= (float)divisor;
  }
  for (int64_t i = 0; dtype == WEIR_F64 && i < count; i++) {
    d[i] /= divisor;
  }
  for (int64_t i = 0; dtype == WEIR_I64 && i < count; i++) {
    whole[i] = divide_whole(whole[i], divisor);
  }
}

void exchange_mean(weir_dtype dtype, void *mean, double weight, const void *one, int64_t count)
{
  for (int64_t i = 0; dtype == WEIR_F32 && i < count; i++) {
    float *const m = (float *)mean + i;

    *m = ((float)weight * *m + ((const float *)one)[i]) / (float)(weight + 1);
  }
  for (int64_t i = 0; dtype == WEIR_F64 && i < count; i++) {
    double *const m = (double *)mean + i;

    *m = (weight * *m + ((const double *)one)[i]) / (weight + 1);
  }
  for (int64_t i = 0; dtype == WEIR_I64 && i < count; i++) {
    int64_t *const m = (int64_t *)mean + i;

    *m = divide_whole((int64_t)weight * *m + ((const int64_t *)one)[i], weight + 1);
  }
}

void exchange_buffer_divide(const exchange_buffer *b, void *data, double divisor)
{
  exchange_divide(b->dtype, data, b->count, divisor);
}

void exchange_load(weir_dtype dtype, const void *from, int64_t count, double *to)
{
  const float *const f = from;
  const double *const d = from;

  for (int64_t i = 0; dtype == WEIR_F32 && i < count; i++) {
    to[i] = (double)f[i];
  }
  for (int64_t i = 0; dtype == WEIR_F64 && i < count; i++) {
    to[i] = d[i];
  }
}

void exchange_store(weir_dtype dtype, const double *from, int64_t count, void *to)
{
  float *const f = to;
  double *const d = to;

  for (int64_t i = 0; dtype == WEIR_F32 && i < count; i++) {
    f[i] = (float)from[i];
  }
  for (int64_t i = 0; dtype == WEIR_F64 && i < count; i++) {
    d[i] = from[i];
  }
}

weir_status exchange_buffer_average(const exchange_buffer *b, weir_request *sum, void *data)
{
  exchange_buffer_get(b, data);
  WEIR_TRY(weir_request_run(sum));
  exchange_buffer_divide(b, data, weir_comm_size(b->group));
  exchange_buffer_put(b, data);
  return WEIR_OK;
}

void exchange_buffer_multiply(const exchange_buffer *b, void *data, int factor)
{
  for (int64_t i = 0; b->dtype == WEIR_F32 && i < b->count; i++) {
    ((float *)data)[i] *= (float)factor;
  }
  for (int64_t i = 0; b->dtype == WEIR_F64 && i < b->count; i++) {
    ((double *)data)[i] *= factor;
  }
  for (int64_t i = 0; b->dtype == WEIR_I64 && i < b->count; i++) {
    ((int64_t *)data)[i] *= factor;
  }
}
