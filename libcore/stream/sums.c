/* sums.c - slabs summed by the kernel of this processor, and a tree over them. */
#include "device/weir_parallel.h"
#include "stream/sums_priv.h"

enum { SLAB = 4096 };

static sums_kernel choose_kernel(void)
{
#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();

  if (cpu->avx512) {
    return weir_sums_avx512;
  }
  if (cpu->avx2 && cpu->fma) {
    return weir_sums_avx2;
  }
#endif
  return weir_sums_base;
}

static weir_sums add(weir_sums a, weir_sums b)
{
  return (weir_sums){a.x + b.x, a.square + b.square};
}

/* Of two neighbours as large as one another the sum is taken as soon as both are there. */
weir_sums weir_sums_of(const float *x, int64_t n)
{
  const sums_kernel of_slab = choose_kernel();
  weir_sums waiting[64];
  int depth = 0;

  for (int64_t slab = 0; slab * SLAB < n || slab == 0; slab++) {
    const int64_t left = n - slab * SLAB;

    waiting[depth++] = of_slab(x + slab * SLAB, left < SLAB ? left : SLAB);
    for (int64_t number = slab; (number & 1) != 0; number /= 2, depth--) {
      waiting[depth - 2] = add(waiting[depth - 2], waiting[depth - 1]);
    }
  }
  for (; depth > 1; depth--) {
    waiting[depth - 2] = add(waiting[depth - 2], waiting[depth - 1]);
  }
  return waiting[0];
}
