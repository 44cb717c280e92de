/* conv_check.h - fields that tests of vector code draw, and their sums in double. Tests only.
 */
#ifndef CONV_CHECK_H
#define CONV_CHECK_H
#include <math.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "ops/conv/unit/conv_unit.h"
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

/* Every product of the relation, added in double to y or w. */
static inline void unit_reference(const conv_unit *s, const float *x, const float *y,
                                  const float *w, bool weights, double *sum)
{
  const int64_t n[] = {s->batch, s->y[0], s->y[1], s->y[2], s->taps[0], s->taps[1], s->taps[2]};

  for (int64_t at = 0; at < n[0] * n[1] * n[2] * n[3] * n[4] * n[5] * n[6]; at++) {
    int64_t i[7], rest = at;
    bool inside = true;

    for (int k = 6; k >= 0; k--) {
      i[k] = rest % n[k];
      rest /= n[k];
    }
    int64_t x_at = i[0] * s->x_step[0], y_at = i[0] * s->y_step[0], w_at = 0;

    for (int d = 0; d < 3; d++) {
      const weir_index rule = {.border = s->border[d]};
      int64_t e = i[1 + d] + i[4 + d] - s->lo[d];
      bool there = e >= 0 && e < s->x[d];

      if (!there && s->border[d] != WEIR_BORDER_ABSENT) {
        e = weir_index_border(&rule, e, s->x[d], &there);
      }
      inside = inside && there;
      x_at += e * s->x_step[d + 1];
      y_at += i[1 + d] * s->y_step[d + 1];
      w_at += i[4 + d] * s->w_step[d];
    }
    for (int64_t c = 0; inside && c < s->read * s->made; c++) {
      const int64_t r = c / s->made, m = c % s->made,
                    k = w_at + r * s->w_step[3] + m * s->w_step[4];

      if (weights) {
        sum[k] += (double)x[x_at + r] * (double)y[y_at + m];
      } else {
        sum[y_at + m] += (double)x[x_at + r] * (double)w[k];
      }
    }
  }
}
#endif
