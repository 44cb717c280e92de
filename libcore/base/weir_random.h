/* weir_random.h - counter-based random bits: Philox4x32-10 (Salmon et al., SC'11). */
#ifndef WEIR_RANDOM_H
#define WEIR_RANDOM_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Ten rounds of Philox4x32: out[4] from counter[4] and key[2]. Inline: kernels and tests share it.
 */
static inline void weir_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  uint32_t k0 = key[0], k1 = key[1];

  for (int round = 0; round < 10; round++) {
    const uint64_t p0 = (uint64_t)0xD2511F53u * c0;
    const uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;

    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

/* Returns 64 random bits for (seed, purpose, step, index): the only keying rule of Weir. key =
 * seed; counter = (index low, index high, purpose, step). */
static inline uint64_t weir_random_bits(uint64_t seed, uint32_t purpose, uint32_t step,
                                        uint64_t index)
{
  const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), purpose, step};
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  uint32_t out[4];

  weir_philox(counter, key, out);
  return ((uint64_t)out[1] << 32) | out[0];
}

/* Uniform in [0, 1), 53 bits. */
static inline double weir_random_uniform(uint64_t seed, uint32_t purpose, uint32_t step,
                                         uint64_t index)
{
  return (double)(weir_random_bits(seed, purpose, step, index) >> 11) * 0x1p-53;
}

/* Standard normal by Box-Muller from one counter. */
double weir_random_normal(uint64_t seed, uint32_t purpose, uint32_t step, uint64_t index);

#ifdef __cplusplus
}
#endif
#endif
