/* congruential.h - the numbers of which tests/bench/cosmo_posterior.py computes reference values.
 * Tests only. */
#ifndef CF_CONGRUENTIAL_H
#define CF_CONGRUENTIAL_H
#include <stdint.h>

/* Sets x[n] to numbers in [-scale, scale) that follow *state, a linear congruential generator of
 * modulus 2^31. */
static inline void congruential(uint32_t *state, int64_t n, double scale, double *x)
{
  for (int64_t i = 0; i < n; i++) {
    *state = (1103515245U * *state + 12345U) & 0x7fffffffU;
    x[i] = scale * (2 * ((double)*state / 2147483648.0) - 1);
  }
}

#endif
