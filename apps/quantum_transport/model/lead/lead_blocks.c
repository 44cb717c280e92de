/* lead_blocks.c - blocks of a lead, and norms of them. */
#include <math.h>
#include "base/weir_alloc.h"
#include "graph/weir_complex_scalar.h"
#include "model/lead/lead_priv.h"

weir_status lead_blocks_create(int64_t n, lead_blocks *out)
{
  *out = (lead_blocks){.n = n};
  WEIR_TRY(weir_alloc(n * n, sizeof *out->a0, (void **)&out->a0));
  WEIR_TRY(weir_alloc(n * n, sizeof *out->up, (void **)&out->up));
  return weir_alloc(n * n, sizeof *out->down, (void **)&out->down);
}

void lead_blocks_fini(lead_blocks *b)
{
  weir_free(&b->a0);
  weir_free(&b->up);
  weir_free(&b->down);
}

void lead_remove_component(int64_t count, const weir_c128 *unit, weir_c128 *to)
{
  weir_c128 sum = {0, 0};

  for (int64_t i = 0; i < count; i++) {
    sum = weir_add_c128(sum, weir_mul_c128(weir_conj_c128(unit[i]), to[i]));
  }
  for (int64_t i = 0; i < count; i++) {
    to[i] = weir_sub_c128(to[i], weir_mul_c128(sum, unit[i]));
  }
}

double lead_norm(int64_t count, const weir_c128 *a)
{
  double sum = 0;

  for (int64_t i = 0; i < count; i++) {
    sum += a[i].re * a[i].re + a[i].im * a[i].im;
  }
  return sqrt(sum);
}

int64_t lead_largest(int64_t count, const weir_c128 *a)
{
  int64_t largest = 0;

  for (int64_t i = 1; i < count; i++) {
    largest = weir_abs2_c128(a[i]) > weir_abs2_c128(a[largest]) ? i : largest;
  }
  return largest;
}
