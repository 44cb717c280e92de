/* onnx_weights.h - weights of an ONNX file in the arrays of Weir's layers of the same names. Tests
 * only. */
#ifndef ONNX_WEIGHTS_H
#define ONNX_WEIGHTS_H
#include <stdio.h>
#include <string.h>
#include "base/weir_check.h"
#include "io/onnx/weir_onnx.h"
#include "nn/weir_net.h"

enum { ONNX_WEIGHTS_MOST = 256 };

/* Writes the elements of the tensor of an array, "conv1/weight": "conv1.weight", last dimensions
 * first: out[count]. */
static inline void onnx_weights_take(const weir_onnx *m, const char *array, int64_t count,
                                     float *out)
{
  char name[WEIR_NET_NAME];
  float from[ONNX_WEIGHTS_MOST];
  int64_t k = 0;

  (void)snprintf(name, sizeof name, "%s", array);
  *strchr(name, '/') = '.';
  while (!weir_onnx_is(m->tensors[k].name, name)) {
    assert_true(++k < m->n_initializers);
  }
  const weir_onnx_tensor *const t = &m->tensors[k];
  const int64_t a = t->shape[0], b = t->n_dims > 1 ? t->shape[1] : 1,
                c = t->n_dims > 2 ? t->shape[2] : 1;

  assert_true(t->count == count && count <= ONNX_WEIGHTS_MOST);
  weir_onnx_floats(t, from);
  for (int64_t i = 0; i < t->count; i++) {
    out[(i % c * b + i / c % b) * a + i / (b * c)] = from[i];
  }
}

/* Writes those of all parameters to flat, which WEIR_PARAMS_FLAT has. */
static inline void onnx_weights_take_all(const weir_onnx *m, const weir_params *params, float *flat)
{
  for (int64_t i = 0; i < weir_params_count(params); i++) {
    const weir_param_row *const row = weir_params_get(params, i);

    onnx_weights_take(m, row->name, row->count, flat + row->first);
  }
}
#endif
