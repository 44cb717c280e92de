/* signs.h - numbers as one bit each, with two values for each block of them. */
#ifndef WEIR_SIGNS_H
#define WEIR_SIGNS_H
#include <stdint.h>
#include "base/weir_dtype.h"

/* What the bits of a block stand for. */
typedef enum signs_values {
  SIGNS_MAGNITUDE, /* plus and minus the mean magnitude: Karimireddy et al. 2019 */
  SIGNS_MEANS      /* the mean of the numbers below 0, and that of the others: Seide et al. 2014 */
} signs_values;

/* The code of an array of f32 or f64. */
typedef struct signs {
  weir_dtype dtype;
  int64_t block; /* numbers that share two values; 0: all */
  signs_values values;
} signs;

/* Returns the bytes that n numbers take: two f32 for each block, and n bits. */
int64_t signs_bytes(const signs *s, int64_t n);
/* Writes the code of x, and leaves in x what it leaves out. NaN in a block makes what it stands for
 * NaN. */
void signs_encode(const signs *s, void *x, int64_t n, uint8_t *code);
/* Adds to x the numbers that the code stands for. */
void signs_add(const signs *s, const uint8_t *code, int64_t n, void *x);

#endif
