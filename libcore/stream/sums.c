/* sums.c - blocks summed by the kernel of this processor, and a tree over them. */
#include "device/weir_parallel.h"
#include "stream/sums_priv.h"

enum { BLOCK = 4096 };

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
  const sums_kernel of_block = choose_kernel();
  weir_sums waiting[64];
  int depth = 0;

  for (int64_t block = 0; block * BLOCK < n || block == 0; block++) {
    const int64_t left = n - block * BLOCK;

    waiting[depth++] = of_block(x + block * BLOCK, left < BLOCK ? left : BLOCK);
    for (int64_t number = block; (number & 1) != 0; number /= 2, depth--) {
      waiting[depth - 2] = add(waiting[depth - 2], waiting[depth - 1]);
    }
  }
  for (; depth > 1; depth--) {
    waiting[depth - 2] = add(waiting[depth - 2], waiting[depth - 1]);
  }
  return waiting[0];
}
