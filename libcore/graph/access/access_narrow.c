/* access_narrow.c - an access over a subset of its iterations, or of its arrays. */
#include "graph/graph_priv.h"

void weir_operand_narrow(weir_operand *x, int d, int64_t lo, int64_t extent)
{
  x->index[d].offset -= lo * weir_index_divisor(&x->index[d]);
  x->extent[d] = extent;
}

weir_status weir_access_narrow(weir_access *a, const weir_box *box)
{
  for (int k = 0; k < a->n_dims; k++) {
    const int64_t shift = box->lo[k] - a->dim[k].lo;

    a->dim[k].hi = a->dim[k].lo + (box->hi[k] - box->lo[k]);
    for (int i = 0; i < a->n_in + a->n_out && shift != 0; i++) {
      weir_operand *x = i < a->n_in ? &a->in[i] : &a->out[i - a->n_in];

      for (int d = weir_operand_first(x); d < x->rank; d++) {
        x->index[d].offset += x->index[d].coef[k] * shift;
      }
    }
    if (shift != 0) {
      WEIR_TRY(weir_access_shift_index(a, k, shift));
    }
  }
  return WEIR_OK;
}
