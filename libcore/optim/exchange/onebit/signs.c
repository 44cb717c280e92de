/* signs.c - see signs.h. */
#include "optim/exchange/onebit/signs.h"

#include <math.h>
#include <string.h>

#include "optim/exchange_buffer.h"

enum { CHUNK = 512 }; /* numbers in f64 at once */

static int64_t block_of(const signs *s, int64_t n)
{
  return s->block > 0 ? s->block : n;
}

static int64_t min_of(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* Bytes of the values of all blocks, which precede the bits. */
static int64_t values_bytes(const signs *s, int64_t n)
{
  const int64_t block = block_of(s, n);

  return n > 0 ? (n + block - 1) / block * 2 * (int64_t)sizeof(float) : 0;
}

int64_t signs_bytes(const signs *s, int64_t n)
{
  return values_bytes(s, n) + (n + 7) / 8;
}

static void *at(const signs *s, void *x, int64_t i)
{
  return (char *)x + (size_t)i * weir_dtype_size(s->dtype);
}

/* value: below 0, and from 0 on. */
static void find_values(const signs *s, void *x, int64_t n, float value[2])
{
  double sum[2] = {0, 0}, number[CHUNK];
  int64_t count[2] = {0, 0};

  for (int64_t from = 0; from < n; from += CHUNK) {
    const int64_t m = min_of(CHUNK, n - from);

    exchange_load(s->dtype, at(s, x, from), m, number);
    for (int64_t i = 0; i < m; i++) {
      const int side = number[i] >= 0;

      sum[side] += number[i];
      count[side]++;
    }
  }
  if (s->values == SIGNS_MAGNITUDE) {
    const double mean = (sum[1] - sum[0]) / (double)n;

    value[0] = (float)-mean;
    value[1] = (float)mean;
    return;
  }
  for (int side = 0; side < 2; side++) {
    value[side] = count[side] > 0 ? (float)(sum[side] / (double)count[side]) : 0;
  }
}

/* Bits of numbers [first, first + n), which x then has without their values. */
static void encode_block(const signs *s, void *x, int64_t first, int64_t n, const float value[2],
                         uint8_t *bits)
{
  double number[CHUNK];

  for (int64_t from = first; from < first + n; from += CHUNK) {
    const int64_t m = min_of(CHUNK, first + n - from);

    exchange_load(s->dtype, at(s, x, from), m, number);
    for (int64_t i = 0; i < m; i++) {
      const int side = number[i] >= 0;

      bits[(from + i) / 8] |= (uint8_t)(side << (from + i) % 8);
      number[i] -= (double)value[side];
    }
    exchange_store(s->dtype, number, m, at(s, x, from));
  }
}

void signs_encode(const signs *s, void *x, int64_t n, uint8_t *code)
{
  uint8_t *const bits = code + values_bytes(s, n);
  const int64_t block = block_of(s, n);

  if (n > 0) {
    memset(bits, 0, (size_t)((n + 7) / 8));
  }
  for (int64_t first = 0, b = 0; first < n; first += block, b++) {
    const int64_t m = min_of(block, n - first);
    float value[2];

    find_values(s, at(s, x, first), m, value);
    memcpy(code + b * (int64_t)sizeof value, value, sizeof value);
    encode_block(s, x, first, m, value, bits);
  }
}

void signs_add(const signs *s, const uint8_t *code, int64_t n, void *x)
{
  const uint8_t *const bits = code + values_bytes(s, n);
  const int64_t block = block_of(s, n);
  double number[CHUNK];

  for (int64_t first = 0, b = 0; first < n; first += block, b++) {
    const int64_t end = first + min_of(block, n - first);
    float value[2];

    memcpy(value, code + b * (int64_t)sizeof value, sizeof value);
    for (int64_t from = first; from < end; from += CHUNK) {
      const int64_t m = min_of(CHUNK, end - from);

      exchange_load(s->dtype, at(s, x, from), m, number);
      for (int64_t i = 0; i < m; i++) {
        number[i] += (double)value[bits[(from + i) / 8] >> (from + i) % 8 & 1];
      }
      exchange_store(s->dtype, number, m, at(s, x, from));
    }
  }
}
