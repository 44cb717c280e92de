/* random_device.h - a device of random blocks, all full and of one size: what programs on recursive
 * Green's functions share. */
#ifndef WEIR_BENCH_RANDOM_DEVICE_H
#define WEIR_BENCH_RANDOM_DEVICE_H
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "model/rgf/rgf.h"
#include "weir_bench.h"

/* A device of blocks of n rows, all full, and what is computed of it. */
typedef struct random_device {
  int64_t n, n_blocks;
  qt_layout layout;
  weir_c128 *a, *g, *lesser, *greater; /* [layout.count] */
  weir_c128 *corner;                   /* [n, n]         */
  void *scratch;
} random_device;

static inline weir_c128 *random_numbers(int64_t count, uint32_t purpose)
{
  weir_c128 *x = NULL;

  bench_must(weir_alloc(count, sizeof *x, (void **)&x));
  for (int64_t i = 0; i < count; i++) {
    x[i] = (weir_c128){weir_random_uniform(1, purpose, 0, (uint64_t)i) - 0.5,
                       weir_random_uniform(1, purpose, 1, (uint64_t)i) - 0.5};
  }
  return x;
}

static inline void random_device_read(const void *context, int64_t row, int64_t column,
                                      weir_c128 *out)
{
  const random_device *d = context;

  memcpy(out, d->a + qt_layout_at(&d->layout, row, column), (size_t)(d->n * d->n) * sizeof *out);
}

/* The diagonal outweighs the rest, so that every block can be eliminated. */
static inline random_device random_device_of(int64_t n, int64_t n_blocks)
{
  random_device d = {.n = n, .n_blocks = n_blocks};
  int64_t *first = NULL;

  bench_must(weir_alloc(n_blocks + 1, sizeof *first, (void **)&first));
  for (int64_t b = 0; b <= n_blocks; b++) {
    first[b] = b * n;
  }
  bench_must(qt_layout_create(n_blocks, first, &d.layout));
  weir_free(&first);
  d.a = random_numbers(d.layout.count, 1);
  d.g = random_numbers(d.layout.count, 2);
  d.lesser = random_numbers(d.layout.count, 7);
  d.greater = random_numbers(d.layout.count, 8);
  d.corner = random_numbers(n * n, 3);
  for (int64_t b = 0; b < n_blocks; b++) {
    for (int64_t i = 0; i < n; i++) {
      d.a[d.layout.offset[b] + i * (n + 1)].re += 2 * sqrt((double)n);
    }
  }
  bench_must(weir_alloc(qt_rgf_scratch(n, true), 1, &d.scratch));
  return d;
}

static inline void random_device_fini(random_device *d)
{
  qt_layout_fini(&d->layout);
  weir_free(&d->a);
  weir_free(&d->g);
  weir_free(&d->lesser);
  weir_free(&d->greater);
  weir_free(&d->corner);
  weir_free(&d->scratch);
}

#endif
