/* product.c - products of matrices. */
#include "nn/onnx/onnx_net.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"

/* y = alpha x w + beta b: x depends on the input, w and b are constant. */
weir_status onnx_gemm(onnx_net *c, onnx_item *out)
{
  const weir_onnx_tensor *t = NULL;
  weir_value x = WEIR_NO_VALUE, w = WEIR_NO_VALUE, b = WEIR_NO_VALUE;
  const double alpha = onnx_real(c, "alpha", 1), beta = onnx_real(c, "beta", 1);
  const bool turned = onnx_int(c, "transB", 0) != 0;

  if (onnx_int(c, "transA", 0) != 0) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "transA is not supported");
  }
  WEIR_TRY(onnx_data(c, 0, false, &x));
  WEIR_TRY(onnx_weights(c, 1, &t));
  if (onnx_desc(c, x)->rank != 2 || t->n_dims != 2) {
    return onnx_refuse(c, WEIR_ERR_SHAPE,
                       "data of %d dimensions and weights of %d: both must have 2",
                       onnx_desc(c, x)->rank, t->n_dims);
  }
  WEIR_TRY(onnx_constant(c, t, NULL, &w));
  out->v = weir_contract(c->g, turned ? "ik,jk->ij" : "ik,kj->ij", x, w);
  out->v = alpha == 1 ? out->v : weir_scale(c->g, out->v, alpha);
  WEIR_TRY(onnx_status(c));
  if (!onnx_has(c, 2) || beta == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(onnx_weights(c, 2, &t));
  if (t->n_dims > 2 || (t->n_dims == 2 && t->shape[0] != 1)) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "input 2 differs between elements of the batch");
  }
  WEIR_TRY(onnx_constant(c, t, NULL, &b));
  out->v = weir_add(c->g, out->v, beta == 1 ? b : weir_scale(c->g, b, beta));
  return onnx_status(c);
}

weir_status onnx_matmul(onnx_net *c, onnx_item *out)
{
  static const char *const labels[2][2] = {{"ik,kj->ij", "nik,kj->nij"}, {NULL, "nik,nkj->nij"}};
  const onnx_item *in = NULL;
  weir_value x = WEIR_NO_VALUE, w = WEIR_NO_VALUE;

  WEIR_TRY(onnx_any(c, 0, &in));
  out->batch = in->batch;
  x = onnx_ordered(c, in->v, in->last, false);
  WEIR_TRY(onnx_in(c, 1, &in));
  const bool both = in->constant == NULL;

  if (both) {
    WEIR_TRY(onnx_data(c, 0, false, &x)); /* the batch first in both */
    WEIR_TRY(onnx_data(c, 1, false, &w));
  } else {
    WEIR_TRY(onnx_constant(c, in->constant, NULL, &w));
  }
  const int rank = onnx_desc(c, x)->rank, other = onnx_desc(c, w)->rank;

  if (rank < 2 || rank > 3 || other != (both ? 3 : 2) || labels[both][rank - 2] == NULL) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "factors of %d and %d dimensions: 2 or 3 and constant 2, or 3 and 3 are "
                       "supported",
                       rank, other);
  }
  out->v = weir_contract(c->g, labels[both][rank - 2], x, w);
  return onnx_status(c);
}
