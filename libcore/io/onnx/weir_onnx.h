/* weir_onnx.h - ONNX files (onnx.proto3 of github.com/onnx/onnx 1.23): the nodes, attributes and
 * tensors of a model as the file states them. What operators mean is for nn/onnx/weir_onnx_graph.h.
 *
 * The whole file is read, and every size in it compared with the bytes that are there. Refused by
 * name: data in other files, sparse tensors, functions, types of elements not listed below. */
#ifndef WEIR_ONNX_H
#define WEIR_ONNX_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_dtype.h"
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

enum {
  WEIR_ONNX_DIMS = 8,        /* maximum number of dimensions */
  WEIR_ONNX_INTS = 16,       /* maximum number of integers of an attribute */
  WEIR_ONNX_TEXTS = 6,       /* maximum number of texts of an attribute */
  WEIR_ONNX_ITEMS = 1 << 16, /* maximum number of nodes, tensors, names and so on of a model */
};

/* Text in the file: no 0 at its end, no control characters. */
typedef struct weir_onnx_text {
  const char *at;
  int size;
} weir_onnx_text;

/* A tensor: f32, f64, i32, i64 or bool, row-major. Its name may be empty. */
typedef struct weir_onnx_tensor {
  weir_onnx_text name;
  weir_dtype dtype;
  int n_dims;
  int64_t shape[WEIR_ONNX_DIMS], count; /* count: elements */
  const uint8_t *data, *end;
  bool packed; /* data are varints, not elements in little-endian order */
} weir_onnx_tensor;

typedef enum weir_onnx_kind { /* AttributeProto.type */
                              WEIR_ONNX_FLOAT = 1,
                              WEIR_ONNX_INT = 2,
                              WEIR_ONNX_STRING = 3,
                              WEIR_ONNX_TENSOR = 4,
                              WEIR_ONNX_LIST = 7,    /* of integers */
                              WEIR_ONNX_STRINGS = 8, /* of texts */
} weir_onnx_kind;

typedef struct weir_onnx_attribute {
  weir_onnx_text name;
  int kind; /* weir_onnx_kind, or another number that the file states and is not read */
  double real;
  int64_t number, ints[WEIR_ONNX_INTS];
  int n_ints;
  weir_onnx_text text, texts[WEIR_ONNX_TEXTS];
  int n_texts;
  int64_t tensor; /* number of the tensor in the model, -1: none */
} weir_onnx_attribute;

/* A node. Names are the names[first_name .. ) of the model: inputs, then outputs. */
typedef struct weir_onnx_node {
  weir_onnx_text name, op, domain;
  int64_t first_name, n_in, n_out, first_attribute, n_attributes;
} weir_onnx_node;

/* An input or output of the graph. extents: -1 where the file states none (a batch of any size).
 */
typedef struct weir_onnx_value {
  weir_onnx_text name;
  bool has_shape;
  int elements; /* TensorProto.DataType; 1: f32 */
  int n_dims;
  int64_t shape[WEIR_ONNX_DIMS];
} weir_onnx_value;

/* An entry of metadata_props: what the file states about the network. */
typedef struct weir_onnx_entry {
  weir_onnx_text key, value;
} weir_onnx_entry;

typedef struct weir_onnx {
  int64_t ir_version, opset; /* opset: version of the operators of domain "" */
  weir_onnx_text producer, producer_version;
  weir_onnx_node *nodes;
  weir_onnx_text *names;
  weir_onnx_attribute *attributes;
  weir_onnx_tensor *tensors; /* the first n_initializers: constants of the graph, by name */
  weir_onnx_value *inputs, *outputs;
  weir_onnx_entry *metadata; /* those whose key and value are texts as above, of up to 4096 bytes */
  int64_t n_nodes, n_names, n_attributes, n_tensors, n_initializers, n_inputs, n_outputs;
  int64_t n_metadata, capacity[7];
  char *bytes; /* of the file */
} weir_onnx;

/* Reads a model; weir_onnx_fini frees it, also after a failure. Fails: WEIR_ERR_DATA, naming file
 * and byte, for what is no such model; WEIR_ERR_UNSUPPORTED, naming what the file contains that is
 * not supported; WEIR_ERR_MEMORY. */
weir_status weir_onnx_read(const char *path, weir_onnx *out) WEIR_CHECKED;
/* Frees what a model holds, and empties it. */
void weir_onnx_fini(weir_onnx *m);

/* Returns whether two texts are equal. */
bool weir_onnx_is(weir_onnx_text a, const char *b);
/* Returns the same of two texts of the file. */
bool weir_onnx_same(weir_onnx_text a, weir_onnx_text b);
/* Returns the attribute of that name, NULL: none. */
const weir_onnx_attribute *weir_onnx_find(const weir_onnx *m, const weir_onnx_node *node,
                                          const char *name);
/* Copies all elements of a tensor of floats, as f32, or of integers and bools, as i64. */
void weir_onnx_floats(const weir_onnx_tensor *t, float *out);
void weir_onnx_ints(const weir_onnx_tensor *t, int64_t *out);

#ifdef __cplusplus
}
#endif
#endif
