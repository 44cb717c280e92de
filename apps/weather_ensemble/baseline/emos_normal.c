/* emos_normal.c - sums of normal distributions for any processor, and which code is the fastest. */
#define NAME emos_normal_sums_plain
#include "baseline/emos_normal_kernel.h"
#include "device/weir_parallel.h"

emos_normal_sums *emos_normal_sums_get(void)
{
#if defined(__x86_64__)
  const weir_cpu *const cpu = weir_cpu_get();

  if (cpu->avx512) {
    return emos_normal_sums_avx512;
  }
  if (cpu->avx2 && cpu->fma) {
    return emos_normal_sums_avx2;
  }
#endif
  return emos_normal_sums_plain;
}
