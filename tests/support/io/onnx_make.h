/* onnx_make.h - writes small ONNX models in memory, right or wrong ones. Tests only. */
#ifndef ONNX_MAKE_H
#define ONNX_MAKE_H
#include <stdint.h>
#include <string.h>
#include "base/weir_check.h"

enum { ONNX_MAKE_BYTES = 4096 };

/* A protobuf message being written. */
typedef struct onnx_made {
  uint8_t bytes[ONNX_MAKE_BYTES];
  size_t size;
} onnx_made;

static inline void onnx_put(onnx_made *m, const void *data, size_t size)
{
  assert_true(m->size + size <= ONNX_MAKE_BYTES);
  memcpy(m->bytes + m->size, data, size);
  m->size += size;
}

static inline void onnx_put_varint(onnx_made *m, uint64_t v)
{
  for (; v >= 0x80; v >>= 7) {
    const uint8_t low = (uint8_t)(v | 0x80);

    onnx_put(m, &low, 1);
  }
  const uint8_t last = (uint8_t)v;

  onnx_put(m, &last, 1);
}

static inline void onnx_put_int(onnx_made *m, uint64_t field, int64_t v)
{
  onnx_put_varint(m, field << 3);
  onnx_put_varint(m, (uint64_t)v);
}

static inline void onnx_put_bytes(onnx_made *m, uint64_t field, const void *data, size_t size)
{
  onnx_put_varint(m, field << 3 | 2);
  onnx_put_varint(m, size);
  onnx_put(m, data, size);
}

static inline void onnx_put_text(onnx_made *m, uint64_t field, const char *text)
{
  onnx_put_bytes(m, field, text, strlen(text));
}

static inline void onnx_put_message(onnx_made *m, uint64_t field, const onnx_made *message)
{
  onnx_put_bytes(m, field, message->bytes, message->size);
}

/* TensorProto of f32 with raw data, row-major. */
static inline onnx_made onnx_make_floats(const char *name, int n_dims, const int64_t *shape,
                                         const float *data, size_t count)
{
  onnx_made t = {.size = 0};

  for (int d = 0; d < n_dims; d++) {
    onnx_put_int(&t, 1, shape[d]);
  }
  onnx_put_int(&t, 2, 1);
  onnx_put_text(&t, 8, name);
  onnx_put_bytes(&t, 9, data, count * sizeof *data);
  return t;
}

/* TensorProto of i64 with one dimension. */
static inline onnx_made onnx_make_ints(const char *name, const int64_t *data, int64_t count)
{
  onnx_made t = {.size = 0}, packed = {.size = 0};

  for (int64_t k = 0; k < count; k++) {
    onnx_put_varint(&packed, (uint64_t)data[k]);
  }
  onnx_put_int(&t, 1, count);
  onnx_put_int(&t, 2, 7);
  onnx_put_message(&t, 7, &packed);
  onnx_put_text(&t, 8, name);
  return t;
}

/* Adds an attribute to a node: an integer, or a list of them. */
static inline void onnx_put_attribute(onnx_made *node, const char *name, const int64_t *v, int n,
                                      bool list)
{
  onnx_made a = {.size = 0};

  onnx_put_text(&a, 1, name);
  for (int k = 0; k < n; k++) {
    onnx_put_int(&a, list ? 8 : 3, v[k]);
  }
  onnx_put_int(&a, 20, list ? 7 : 2);
  onnx_put_message(node, 5, &a);
}

/* NodeProto called "n"; inputs: names of one letter each. */
static inline onnx_made onnx_make_node(const char *op, const char *inputs, const char *output)
{
  onnx_made n = {.size = 0};

  for (; *inputs != '\0'; inputs++) {
    onnx_put_bytes(&n, 1, inputs, 1);
  }
  onnx_put_text(&n, 2, output);
  onnx_put_text(&n, 3, "n");
  onnx_put_text(&n, 4, op);
  return n;
}

/* ValueInfoProto of f32. */
static inline onnx_made onnx_make_value(const char *name, int n_dims, const int64_t *shape)
{
  onnx_made dims = {.size = 0}, tensor = {.size = 0}, type = {.size = 0}, v = {.size = 0};

  for (int d = 0; d < n_dims; d++) {
    onnx_made dim = {.size = 0};

    if (shape[d] < 0) {
      onnx_put_text(&dim, 2, "open");
    } else {
      onnx_put_int(&dim, 1, shape[d]);
    }
    onnx_put_message(&dims, 1, &dim);
  }
  onnx_put_int(&tensor, 1, 1);
  onnx_put_message(&tensor, 2, &dims);
  onnx_put_message(&type, 1, &tensor);
  onnx_put_text(&v, 1, name);
  onnx_put_message(&v, 2, &type);
  return v;
}

/* ModelProto of a graph. */
static inline onnx_made onnx_make_model(const onnx_made *graph, int64_t opset)
{
  onnx_made set = {.size = 0}, m = {.size = 0};

  onnx_put_int(&set, 2, opset);
  onnx_put_int(&m, 1, 8);
  onnx_put_message(&m, 7, graph);
  onnx_put_message(&m, 8, &set);
  return m;
}
#endif
