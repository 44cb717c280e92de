/* init.c - first values of parameters, from Philox bits keyed by seed and name. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "nn/weir_init.h"

/* FNV-1a, 64 bits. */
uint64_t weir_init_hash(const char *name)
{
  uint64_t h = UINT64_C(0xCBF29CE484222325);

  for (const char *c = name; *c != 0; c++) {
    h = (h ^ (unsigned char)*c) * UINT64_C(0x100000001B3);
  }
  return h;
}

/* The numbers of one parameter: purpose and step of weir_random_bits are its name. */
typedef struct source {
  uint64_t seed;
  uint32_t purpose, step;
} source;

static double uniform(const source *s, int64_t i)
{
  return 2 * weir_random_uniform(s->seed, s->purpose, s->step, (uint64_t)i) - 1;
}

static double normal(const source *s, int64_t i)
{
  return weir_random_normal(s->seed, s->purpose, s->step, (uint64_t)i);
}

/* [kernel size.., in, out]; missing extents are 1. */
static void fans(const weir_init *init, const weir_tensor *t, double *in, double *out)
{
  double window_size = 1;

  for (int d = 0; d < t->rank - 2; d++) {
    window_size *= (double)t->shape[d];
  }
  *in = window_size * (double)(t->rank > 1 ? t->shape[t->rank - 2] : 1);
  *out = window_size * (double)(t->rank > 0 ? t->shape[t->rank - 1] : 1);
  *in = init->fan_in > 0 ? (double)init->fan_in : *in;
  *out = init->fan_out > 0 ? (double)init->fan_out : *out;
}

static double variance(const weir_init *init, const weir_tensor *t)
{
  double in, out;

  fans(init, t, &in, &out);
  return init->kind == WEIR_INIT_HE_UNIFORM || init->kind == WEIR_INIT_HE_NORMAL ? 2 / in
                                                                                 : 2 / (in + out);
}

/* Rows of q, each of n, become orthonormal: Gram and Schmidt, twice over. */
static void orthonormalise(double *q, int64_t rows, int64_t n)
{
  for (int64_t r = 0; r < rows; r++) {
    double *v = q + r * n, norm = 0;

    for (int pass = 0; pass < 2; pass++) {
      for (int64_t k = 0; k < r; k++) {
        const double *u = q + k * n;
        double dot = 0;

        for (int64_t i = 0; i < n; i++) {
          dot += u[i] * v[i];
        }
        for (int64_t i = 0; i < n; i++) {
          v[i] -= dot * u[i];
        }
      }
    }
    for (int64_t i = 0; i < n; i++) {
      norm += v[i] * v[i];
    }
    norm = 1 / sqrt(norm);
    for (int64_t i = 0; i < n; i++) {
      v[i] *= norm;
    }
  }
}

/* The matrix [all but the last dimension, last dimension], or its transpose where that has fewer
 * rows, which then are orthonormal. */
static weir_status orthogonal(const source *s, double gain, weir_tensor *t)
{
  const int64_t count = weir_tensor_numel(t);
  const int64_t b = t->rank > 0 ? t->shape[t->rank - 1] : 1, a = b > 0 ? count / b : 0;
  const bool columns = a >= b;
  const int64_t rows = columns ? b : a, n = columns ? a : b;
  void *memory;

  WEIR_TRY(weir_alloc(count, sizeof(double), &memory));
  double *q = memory;

  for (int64_t i = 0; i < count; i++) {
    q[i] = normal(s, i);
  }
  orthonormalise(q, rows, n);
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t i = 0; i < n; i++) {
      weir_dtype_store_real(t->dtype, t->data, columns ? i * b + r : r * b + i,
                            gain * q[r * n + i]);
    }
  }
  weir_free(&memory);
  return WEIR_OK;
}

weir_status weir_init_fill(const weir_init *init, uint64_t seed, const char *name, weir_tensor *t)
{
  const uint64_t hash = weir_init_hash(name);
  const source s = {seed, (uint32_t)hash, (uint32_t)(hash >> 32)};
  const double gain = init->gain == 0 ? 1 : init->gain;
  const int64_t count = weir_tensor_numel(t);
  const double deviation = gain * sqrt(variance(init, t));

  if (init->kind <= WEIR_INIT_DEFAULT || init->kind >= WEIR_INIT_KINDS) {
    return weir_fail(WEIR_ERR_CONFIG, "'%s': unknown initialiser %d", name, (int)init->kind);
  }
  if (init->kind == WEIR_INIT_ORTHOGONAL) {
    return orthogonal(&s, gain, t);
  }
  for (int64_t i = 0; i < count; i++) {
    double x = init->kind == WEIR_INIT_CONSTANT ? init->value : 0;

    if (init->kind == WEIR_INIT_GLOROT_UNIFORM || init->kind == WEIR_INIT_HE_UNIFORM) {
      x = sqrt(3) * deviation * uniform(&s, i);
    } else if (init->kind == WEIR_INIT_GLOROT_NORMAL || init->kind == WEIR_INIT_HE_NORMAL) {
      x = deviation * normal(&s, i);
    }
    weir_dtype_store_real(t->dtype, t->data, i, x);
  }
  return WEIR_OK;
}
