/* onnx_priv.h - the state of a parse; tensors are parsed in tensor.c, the rest in read.c. */
#ifndef WEIR_ONNX_PRIV_H
#define WEIR_ONNX_PRIV_H
#include "io/protobuf/fields.h"
#include "io/onnx/weir_onnx.h"

/* Reads a model of `size` bytes in memory as weir_onnx_read does; they are borrowed, and so is
 * `where`, a name for messages. */
weir_status weir_onnx_parse(const void *bytes, int64_t size, const char *where,
                            weir_onnx *out) WEIR_CHECKED;

typedef struct onnx_parse {
  weir_onnx *m;
  const uint8_t *begin;
  const char *where;
} onnx_parse;

/* Returns a failure that names file and byte. */
weir_status onnx_wrong(const onnx_parse *p, const uint8_t *at, const char *why);
/* Fails unless the field has that wire type. */
weir_status onnx_expect(const onnx_parse *p, const protobuf_field *f, int wire) WEIR_CHECKED;
/* Takes the text of a field. Fails: WEIR_ERR_DATA for control characters and texts over 4096 bytes.
 */
weir_status onnx_text(const onnx_parse *p, const protobuf_field *f,
                      weir_onnx_text *out) WEIR_CHECKED;
/* Takes the integers of a repeated field, packed or one of them, of which `n` of at most `max` are
 * there already. */
weir_status onnx_ints(const onnx_parse *p, const protobuf_field *f, int64_t *out, int max,
                      int *n) WEIR_CHECKED;
/* Parses a TensorProto. */
weir_status onnx_tensor(const onnx_parse *p, protobuf_span s, weir_onnx_tensor *out) WEIR_CHECKED;
#endif
