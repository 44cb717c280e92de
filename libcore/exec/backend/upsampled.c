/* upsampled.c - operands that are constant over several iterations, as a slower stream is on a
 * faster clock: index floor((c i + ..) / div). They are expanded over the elements of a row before
 * its kernel runs, which then reads them like any other. */
#include "exec/exec_priv.h"

#include <string.h>

int exec_upsampled_dim(const weir_operand *x, int inner)
{
  const int dim = inner >= 0 ? weir_operand_moves(x, inner) : -1;
  bool yes = dim >= 0 && x->index[dim].coef[inner] > 0 && x->index[dim].div > 1;

  for (int d = 0; d < x->rank; d++) {
    yes = yes && x->index[d].gather == 0;
  }
  return yes ? dim : -1;
}

int64_t exec_upsampled_left(const exec_upsampled *h)
{
  return (h->div - h->rest + h->coef - 1) / h->coef;
}

/* Whole elements, `div` times each: a constant where this is inlined. */
#define REPEAT(T)                                                                           \
  static inline void repeat_##T(T *dst, const T *from, int64_t n, const int64_t div)        \
  {                                                                                         \
    for (int64_t i = 0; i < n; i++) {                                                       \
      for (int64_t j = 0; j < div; j++) {                                                   \
        dst[i * div + j] = from[i];                                                         \
      }                                                                                     \
    }                                                                                       \
  }                                                                                         \
  static int64_t whole_##T(T *dst, const T *from, int64_t n, int64_t div)                   \
  {                                                                                         \
    if (div == 2) {                                                                         \
      repeat_##T(dst, from, n, 2);                                                          \
    } else if (div == 4) {                                                                  \
      repeat_##T(dst, from, n, 4);                                                          \
    } else if (div == 8) {                                                                  \
      repeat_##T(dst, from, n, 8);                                                          \
    } else {                                                                                \
      repeat_##T(dst, from, n, div);                                                        \
    }                                                                                       \
    return n * div;                                                                         \
  }                                                                                         \
  static void expand_##T(void *to, exec_upsampled p, int64_t n)                             \
  {                                                                                         \
    T *dst = to;                                                                            \
    int64_t i = 0;                                                                          \
    while (i < n) {                                                                         \
      if (p.rest == 0 && p.coef == 1 && p.stride == (int64_t)sizeof(T) && n - i >= p.div) { \
        const int64_t elements = (n - i) / p.div;                                           \
        i += whole_##T(dst + i, (const T *)(const void *)p.from, elements, p.div);          \
        p.from += elements * p.stride;                                                      \
        continue;                                                                           \
      }                                                                                     \
      T value;                                                                              \
      memcpy(&value, p.from, sizeof value);                                                 \
      const int64_t left = exec_upsampled_left(&p);                                         \
      const int64_t to_end = n - i, m = left < to_end ? left : to_end;                      \
      for (int64_t j = 0; j < m; j++) {                                                     \
        dst[i + j] = value;                                                                 \
      }                                                                                     \
      i += m;                                                                               \
      p.rest += m * p.coef;                                                                 \
      p.from += p.rest / p.div * p.stride;                                                  \
      p.rest %= p.div;                                                                      \
    }                                                                                       \
  }

REPEAT(uint8_t)
REPEAT(uint16_t)
REPEAT(uint32_t)
REPEAT(uint64_t)

exec_upsampled exec_upsampled_at(const weir_operand *x, const weir_view *v, int inner,
                                 const int64_t *iteration, int n_dims)
{
  const int dim = exec_upsampled_dim(x, inner);
  const int64_t size = (int64_t)weir_dtype_size(x->dtype);
  exec_upsampled h = {.from = v->data};

  for (int d = 0; d < x->rank; d++) {
    const weir_index *map = &x->index[d];
    const int64_t div = weir_index_divisor(map);
    int64_t sum = map->offset;

    for (int k = 0; k < n_dims; k++) {
      sum += map->coef[k] * iteration[k];
    }
    const int64_t at = weir_floor_div(sum, div);

    h.from += (at - v->origin[d]) * v->stride[d] * size;
    if (d == dim) {
      h.stride = v->stride[d] * size;
      h.rest = sum - at * div;
      h.coef = map->coef[inner];
      h.div = div;
    }
  }
  return h;
}

void exec_expand(void *dst, weir_dtype dtype, exec_upsampled h, int64_t n)
{
  switch (weir_dtype_size(dtype)) {
  case 1:
    expand_uint8_t(dst, h, n);
    break;
  case 2:
    expand_uint16_t(dst, h, n);
    break;
  case 4:
    expand_uint32_t(dst, h, n);
    break;
  default:
    expand_uint64_t(dst, h, n);
  }
}
