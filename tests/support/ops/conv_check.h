/* conv_check.h - fields that tests of vector code draw, and their sums in double. Tests only.
 */
#ifndef CONV_CHECK_H
#define CONV_CHECK_H
#include <math.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "ops/ops_cases.h"

/* Numbers from -1 to 1, one of them NaN where asked for; freed by the caller. */
static inline float *new_field(weir_draw *r, int64_t count, bool nan)
{
  void *memory;

  assert_ok(weir_alloc(count, sizeof(float), &memory));
  float *data = memory;

  for (int64_t i = 0; i < count; i++) {
    data[i] = (float)(2 * weir_random_uniform(r->seed, 9, 0, r->n++) - 1);
  }
  if (nan) {
    data[weir_draw_int(r, 0, count - 1)] = NAN;
  }
  return data;
}

/* Steps of a row-major field [batch, extents, pixel]; returns how many elements it has. */
static inline int64_t lay_out(int64_t batch, const int64_t extent[3], int64_t pixel,
                              int64_t step[4])
{
  step[3] = pixel;
  for (int d = 2; d >= 0; d--) {
    step[d] = step[d + 1] * extent[d];
  }
  return step[0] * batch;
}

/* Steps of weights [kernel, in, out], or, turned, [kernel, out, in]; returns how many there are. */
static inline int64_t lay_out_weights(const int64_t kernel_size[3], int64_t in, int64_t out,
                                      bool turned, int64_t step[5])
{
  step[4] = turned ? in : 1;
  step[3] = turned ? 1 : out;
  step[2] = in * out;
  step[1] = step[2] * kernel_size[2];
  step[0] = step[1] * kernel_size[1];
  return step[0] * kernel_size[0];
}

static inline double *zeros(int64_t count)
{
  void *memory;

  assert_ok(weir_alloc(count, sizeof(double), &memory));
  return memory;
}

/* Elements that are sums; what lies between pixels is ignored. */
static inline void compare(const float *actual, const double *expected, int64_t count,
                           int64_t pixel, int64_t channels)
{
  for (int64_t k = 0; k < count; k++) {
    const double e = expected[k], a = (double)actual[k];

    if (k % pixel < channels && !(isnan(e) ? isnan(a) : fabs(a - e) <= 2e-5 * fmax(1, fabs(e)))) {
      print_error("element %lld of %lld: %.9g, expected %.9g\n", (long long)k, (long long)count, a,
                  e);
      assert_true(0);
    }
  }
}
#endif
