/* direct.c - the source of each output element, by the words of the operator's header. */
#include "direct.h"

#include <string.h>

#include "ops/broadcast/weir_broadcast.h"
#include "ops/pad/weir_pad.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/shift/weir_shift.h"
#include "ops/slice/weir_slice.h"
#include "ops/transpose/weir_transpose.h"

/* Element `at` of a line of n elements continued by a border rule; -1: a fill. */
static int64_t continued(int64_t at, int64_t n, weir_border border)
{
  while (at < 0 || at >= n) {
    switch (border) {
    case WEIR_BORDER_WRAP:
      at += at < 0 ? n : -n;
      break;
    case WEIR_BORDER_REPLICATE:
      at = at < 0 ? 0 : n - 1;
      break;
    case WEIR_BORDER_REFLECT:
      at = n == 1 ? 0 : at < 0 ? -at : 2 * (n - 1) - at;
      break;
    default:
      return -1;
    }
  }
  return at;
}

static int64_t slice_start(const weir_slice_spec *s, int64_t n)
{
  const bool up = s->step >= 0;
  const int64_t at = s->start < 0 ? s->start + n : s->start;

  return at < 0 ? (up ? 0 : -1) : at >= n ? (up ? n : n - 1) : at;
}

/* Index of the input for index `i` of the output; false: a fill. */
static bool source(const batch_case *k, const int64_t *i, int64_t *from, double *fill)
{
  const void *spec = k->c.spec.bytes;
  const weir_tensor *x = &k->in[0];
  bool inside = true;

  *fill = 0;
  memcpy(from, i, WEIR_MAX_RANK * sizeof *from);
  if (k->op == &weir_op_transpose) {
    for (int d = 0; d < x->rank; d++) {
      from[((const weir_transpose_spec *)spec)->order[d]] = i[d];
    }
  } else if (k->op == &weir_op_slice) {
    const weir_slice_spec *s = spec;

    from[s->dim] = slice_start(s, x->shape[s->dim]) + (s->step == 0 ? 1 : s->step) * i[s->dim];
  } else if (k->op == &weir_op_broadcast) {
    const int skip = ((const weir_broadcast_spec *)spec)->rank - x->rank;

    for (int d = 0; d < x->rank; d++) {
      from[d] = x->shape[d] == 1 ? 0 : i[skip + d];
    }
  } else if (k->op == &weir_op_shift) {
    const weir_shift_spec *s = spec;

    from[s->dim] = continued(i[s->dim] - s->by, x->shape[s->dim], s->border);
    inside = from[s->dim] >= 0;
    *fill = s->border == WEIR_BORDER_VALUE ? s->fill : 0;
  } else {
    const weir_pad_spec *s = spec;

    for (int d = 0; d < x->rank; d++) {
      from[d] = continued(i[d] - s->before[d], x->shape[d], s->border);
      inside = inside && from[d] >= 0;
    }
    *fill = s->border == WEIR_BORDER_VALUE ? s->fill : 0;
  }
  return inside;
}

bool direct_compute(batch_case *k, int tier)
{
  const weir_tensor *x = &k->in[0];
  weir_tensor *y = &k->got[tier][0];
  const size_t size = weir_dtype_size(y->dtype);
  const int64_t n = weir_tensor_numel(y);

  if (k->op == &weir_op_reshape) {
    if (n > 0) {
      memcpy(y->data, x->data, (size_t)n * size);
    }
    return n > 0;
  }
  if (k->op != &weir_op_transpose && k->op != &weir_op_slice && k->op != &weir_op_broadcast &&
      k->op != &weir_op_shift && k->op != &weir_op_pad) {
    return false;
  }
  for (int64_t e = 0; e < n; e++) {
    int64_t i[WEIR_MAX_RANK] = {0}, from[WEIR_MAX_RANK], rest = e, at = 0;
    double fill;

    for (int d = y->rank - 1; d >= 0; d--) {
      i[d] = rest % y->shape[d];
      rest /= y->shape[d];
    }
    if (!source(k, i, from, &fill)) {
      weir_dtype_store_real(y->dtype, y->data, e, fill);
      continue;
    }
    for (int d = 0; d < x->rank; d++) {
      at = at * x->shape[d] + from[d];
    }
    memcpy((char *)y->data + (size_t)e * size, (const char *)x->data + (size_t)at * size, size);
  }
  return true;
}
