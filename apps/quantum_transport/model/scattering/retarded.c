/* retarded.c - the retarded self-energy of self_energy.h. */
#include <math.h>

#include "base/weir_alloc.h"
#include "model/scattering/self_energy.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/fft/weir_fft.h"
#include "ops/pad/weir_pad.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"

/* Sigma of one kind, without the dimension of kinds. */
static weir_value component(weir_graph *g, weir_value sigma, int64_t kind)
{
  const weir_array_desc *d = weir_value_desc(g, sigma);
  weir_reshape_spec flat = {.rank = d != NULL ? d->rank - 1 : 0};

  for (int i = 0; i < flat.rank; i++) {
    flat.shape[i] = d->shape[i + 1];
  }
  return weir_reshape(g, weir_slice(g, sigma, 0, kind, kind + 1, 1), &flat);
}

/* The first power of 2 from 2 n on. */
static int64_t padded_length(int64_t n)
{
  int64_t length = 2;

  while (length < 2 * n) {
    length *= 2;
  }
  return length;
}

/* i / 2 pi times 2 / d at odd distances d from -length / 2 to length / 2, in the order of a
 * transform, over `length` for the way back; shape [1, length, 1, ...]. */
static weir_value kernel(weir_graph *g, int64_t length, int rank)
{
  int64_t shape[WEIR_MAX_RANK];
  weir_c128 *value = NULL;
  weir_value out;

  if (weir_alloc(length, sizeof *value, (void **)&value) != WEIR_OK) {
    return weir_graph_fail(g, WEIR_ERR_MEMORY);
  }
  for (int64_t i = 1; i < length; i += 2) {
    const int64_t distance = i < length / 2 ? i : i - length;

    value[i].im = 1 / (M_PI * (double)distance * (double)length);
  }
  for (int d = 0; d < rank; d++) {
    shape[d] = d == 1 ? length : 1;
  }
  const weir_tensor t = weir_tensor_wrap(value, WEIR_C128, rank, shape);

  out = weir_constant(g, &t);
  weir_free(&value);
  return out;
}

weir_value qt_retarded_build(weir_graph *g, weir_value sigma, qt_retarded kind, qt_shards *shards)
{
  const weir_value change = weir_sub(g, component(g, sigma, 1), component(g, sigma, 0));
  const weir_value half = weir_scale(g, change, 0.5);
  const weir_array_desc *d = weir_value_desc(g, change);

  if (kind == QT_RETARDED_HALF || d == NULL) {
    return half;
  }
  const int64_t n = d->shape[1], length = padded_length(n);
  const weir_fft_spec forward = {.kind = WEIR_FFT_FORWARD, .n_dims = 1, .dim = {1}};
  const weir_fft_spec backward = {.kind = WEIR_FFT_BACKWARD, .n_dims = 1, .dim = {1}};
  weir_pad_spec pad = {.border = WEIR_BORDER_ZERO};

  pad.after[1] = length - n;
  const weir_value padded = weir_pad(g, change, &pad);
  const weir_value longer = weir_fft(g, padded, &forward);
  const weir_value h = weir_fft(g, kernel(g, length, d->rank), &forward);
  const weir_value sum = weir_fft(g, weir_mul(g, longer, h), &backward);

  qt_shard_atoms(shards, g, padded, 2);
  return weir_add(g, half, weir_slice(g, sum, 1, 0, n, 1));
}
