/* weir_random.c - normal numbers from Philox bits. */
#include "base/weir_random.h"

#include <math.h>

/* Box and Muller, Ann. Math. Stat. 29 (1958) 610: both uniforms come from one counter, so that
 * number `index` depends on nothing else. The first lies in (0, 1], where the logarithm is finite.
 */
double weir_random_normal(uint64_t seed, uint32_t purpose, uint32_t step, uint64_t index)
{
  const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), purpose, step};
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  const double two_pi = 6.283185307179586476925;
  uint32_t bits[4];

  weir_philox(counter, key, bits);
  const uint64_t a = ((uint64_t)bits[1] << 32) | bits[0];
  const uint64_t b = ((uint64_t)bits[3] << 32) | bits[2];
  const double u = (double)((a >> 11) + 1) * 0x1p-53;
  const double v = (double)(b >> 11) * 0x1p-53;
  return sqrt(-2.0 * log(u)) * cos(two_pi * v);
}
