/* tensor.c - TensorProto: its elements are raw bytes, or a list of its type. */
#include <string.h>
#include "base/weir_alloc.h"
#include "io/onnx/onnx_priv.h"

enum { /* fields of TensorProto */
       DIMS = 1,
       DATA_TYPE = 2,
       SEGMENT = 3,
       FLOAT_DATA = 4,
       INT32_DATA = 5,
       INT64_DATA = 7,
       NAME = 8,
       RAW_DATA = 9,
       DOUBLE_DATA = 10,
       EXTERNAL_DATA = 13,
       DATA_LOCATION = 14,
};

/* TensorProto.DataType: those that are read, and the list that has their elements. */
static const struct {
  int number, list;
  weir_dtype dtype;
  bool packed;
} types[] = {{1, FLOAT_DATA, WEIR_F32, false},
             {6, INT32_DATA, WEIR_I32, true},
             {7, INT64_DATA, WEIR_I64, true},
             {9, INT32_DATA, WEIR_BOOL, true},
             {11, DOUBLE_DATA, WEIR_F64, false}};
enum { TYPES = sizeof types / sizeof types[0] };

/* What a tensor says of itself, before it is put together. */
typedef struct parts {
  uint64_t type;
  protobuf_span data; /* raw, or the list's */
  int64_t from;       /* the field of data, 0: none */
} parts;

static weir_status refuse(const onnx_parse *p, const weir_onnx_tensor *t, const char *what)
{
  return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: tensor \"%.*s\": %s", p->where, t->name.size,
                   t->name.at, what);
}

static weir_status take(const onnx_parse *p, const protobuf_field *f, parts *a, weir_onnx_tensor *t)
{
  switch (f->number) {
  case DIMS:
    return onnx_ints(p, f, t->shape, WEIR_ONNX_DIMS, &t->n_dims);
  case DATA_TYPE:
    a->type = f->varint;
    return onnx_expect(p, f, PROTOBUF_VARINT);
  case NAME:
    return onnx_text(p, f, &t->name);
  case SEGMENT:
    return refuse(p, t, "segments are not supported");
  case EXTERNAL_DATA:
    return refuse(p, t,
                  "its data are in another file: export the network into one file "
                  "(external_data=False)");
  case DATA_LOCATION:
    return f->varint == 0 ? WEIR_OK
                          : refuse(p, t,
                                   "its data are in another file: export the network into "
                                   "one file (external_data=False)");
  case FLOAT_DATA:
  case INT32_DATA:
  case INT64_DATA:
  case RAW_DATA:
  case DOUBLE_DATA:
    if (a->from != 0) {
      return onnx_wrong(p, f->tag, "a tensor has its elements twice, or one by one");
    }
    a->from = f->number;
    a->data = f->body;
    return onnx_expect(p, f, PROTOBUF_BYTES);
  default:
    return WEIR_OK;
  }
}

/* Number of elements of its shape. */
static weir_status count(const onnx_parse *p, const uint8_t *at, weir_onnx_tensor *t)
{
  t->count = 1;
  for (int d = 0; d < t->n_dims; d++) {
    if (t->shape[d] < 0 || !weir_mul_ok(t->count, t->shape[d], &t->count)) {
      return onnx_wrong(p, at, "a tensor has a negative or overflowing extent");
    }
  }
  return WEIR_OK;
}

static bool is_packed_count(protobuf_span s, int64_t want)
{
  int64_t n = 0;
  uint64_t value = 0;

  while (s.at < s.end) {
    if (!protobuf_varint(&s, &value)) {
      return false;
    }
    n++;
  }
  return n == want;
}

weir_status onnx_tensor(const onnx_parse *p, protobuf_span s, weir_onnx_tensor *out)
{
  const uint8_t *const begin = s.at;
  protobuf_why why = {""};
  parts a = {.type = 0};
  protobuf_field f;
  int k = 0;

  *out = (weir_onnx_tensor){.n_dims = 0};
  while (protobuf_next(&s, &f, &why)) {
    WEIR_TRY(take(p, &f, &a, out));
  }
  if (why.text[0] != 0) {
    return onnx_wrong(p, f.tag, why.text);
  }
  while (k < TYPES && (uint64_t)types[k].number != a.type) {
    k++;
  }
  if (k == TYPES) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: tensor \"%.*s\": elements of TensorProto type %llu: only float, double, "
                     "int32, int64 and bool are supported",
                     p->where, out->name.size, out->name.at, (unsigned long long)a.type);
  }
  WEIR_TRY(count(p, begin, out));
  out->dtype = types[k].dtype;
  out->packed = types[k].packed && a.from == types[k].list;
  out->data = a.data.at;
  out->end = a.data.end;
  const int64_t bytes = a.from == 0 ? 0 : a.data.end - a.data.at,
                size = (int64_t)weir_dtype_size(out->dtype);
  const bool sound = a.from == 0   ? out->count == 0
                     : out->packed ? is_packed_count(a.data, out->count)
                                   : (a.from == RAW_DATA || a.from == types[k].list) &&
                                         bytes % size == 0 && bytes / size == out->count;

  return sound ? WEIR_OK
               : onnx_wrong(p, begin, "a tensor has not as many elements as its shape states");
}

/* Bytes of element i in little-endian order. */
static uint64_t bits_of(const weir_onnx_tensor *t, int64_t i)
{
  const int64_t size = (int64_t)weir_dtype_size(t->dtype);
  uint64_t bits = 0;

  for (int64_t k = size - 1; k >= 0; k--) {
    bits = bits << 8 | t->data[i * size + k];
  }
  return bits;
}

void weir_onnx_floats(const weir_onnx_tensor *t, float *out)
{
  for (int64_t i = 0; i < t->count; i++) {
    const uint64_t bits = bits_of(t, i);
    const uint32_t low = (uint32_t)bits;
    double real = 0;

    if (t->dtype == WEIR_F32) {
      memcpy(&out[i], &low, sizeof low);
    } else {
      memcpy(&real, &bits, sizeof bits);
      out[i] = (float)real;
    }
  }
}

void weir_onnx_ints(const weir_onnx_tensor *t, int64_t *out)
{
  protobuf_span s = {t->data, t->end};

  for (int64_t i = 0; i < t->count; i++) {
    uint64_t value = 0;

    if (!t->packed) {
      value = bits_of(t, i);
    } else if (!protobuf_varint(&s, &value)) {
      value = 0;
    }
    out[i] = t->dtype == WEIR_I32 ? (int64_t)(int32_t)(uint32_t)value : (int64_t)value;
  }
}
