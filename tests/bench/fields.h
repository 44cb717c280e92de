/* fields.h - arrays of numbers that vector code is measured on, and the time that a processor
 * takes.
 */
#ifndef BENCH_FIELDS_H
#define BENCH_FIELDS_H
#include <time.h>

#include "weir_bench.h"

static inline void *bench_bytes(int64_t bytes)
{
  void *x = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);

  if (x == NULL) {
    fprintf(stderr, "bench: no memory\n");
    exit(5);
  }
  return x;
}

/* Numbers from -1 to 1. */
static inline float *bench_field(int64_t count)
{
  float *x = bench_bytes(4 * count);

  for (int64_t i = 0; i < count; i++) {
    x[i] = (float)((uint64_t)i * 2654435761u % 65536) * 0x1p-15F - 1;
  }
  return x;
}

/* Steps of a row-major field [1, extents, channels]; returns how many elements it has. */
static inline int64_t bench_steps(const int64_t extent[3], int64_t channels, int64_t step[4])
{
  step[3] = channels;
  for (int d = 2; d >= 0; d--) {
    step[d] = step[d + 1] * extent[d];
  }
  return step[0];
}

static inline double bench_processor_seconds(void)
{
  struct timespec t;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
#endif
