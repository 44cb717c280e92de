/* smoother.c - see smoother.h. */
#include "eval/summary/smoother.h"
#include <math.h>
#include "base/weir_alloc.h"

static void set_weights(cf_smoother *s, double sigma)
{
  const int64_t r = s->radius;
  double sum = 0;

  for (int64_t d = -r; d <= r; d++) {
    s->weight[d + r] = r == 0 ? 1 : exp(-0.5 * (double)(d * d) / (sigma * sigma));
    sum += s->weight[d + r];
  }
  for (int64_t d = 0; d <= 2 * r; d++) {
    s->weight[d] /= sum;
  }
  for (int64_t i = 0; i < s->n; i++) {
    s->inside[i] = s->periodic ? 1 : 0;
    for (int64_t d = -r; d <= r && !s->periodic; d++) {
      s->inside[i] += i + d >= 0 && i + d < s->n ? s->weight[d + r] : 0;
    }
  }
}

weir_status cf_smoother_init(int64_t n, bool map, bool periodic, double sigma, cf_smoother *out)
{
  *out =
      (cf_smoother){.n = n, .map = map, .periodic = periodic, .radius = (int64_t)(4 * sigma + 0.5)};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(2 * out->radius + 1, sizeof *out->weight, (void **)&out->weight), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *out->inside, (void **)&out->inside), done);
  set_weights(out, sigma);
done:
  if (status != WEIR_OK) {
    cf_smoother_fini(out);
  }
  return status;
}

void cf_smoother_fini(cf_smoother *s)
{
  weir_free(&s->weight);
  weir_free(&s->inside);
}

int64_t cf_smoother_line(const cf_smoother *s)
{
  return s->n + 2 * s->radius;
}

/* Copies a line of the cube with what continues it on both sides: itself or zeros. */
static void take_line(const cf_smoother *s, const double *x, int64_t stride, double *line)
{
  const int64_t n = s->n, r = s->radius;

  for (int64_t i = 0; i < n; i++) {
    line[r + i] = x[i * stride];
  }
  for (int64_t i = 0; i < r; i++) {
    line[r - 1 - i] = s->periodic ? x[(n - 1 - i % n) * stride] : 0;
    line[r + n + i] = s->periodic ? x[i % n * stride] : 0;
  }
}

static void smooth_line(const cf_smoother *s, double *x, int64_t stride, double *line)
{
  take_line(s, x, stride, line);
  for (int64_t i = 0; i < s->n; i++) {
    double sum = 0;

    for (int64_t d = 0; d <= 2 * s->radius; d++) {
      sum += s->weight[d] * line[i + d];
    }
    x[i * stride] = sum / s->inside[i];
  }
}

void cf_smoother_run(const cf_smoother *s, double *x, double *line)
{
  const int64_t n = s->n, strides[] = {n * n, n, 1};

  for (int axis = 1; axis < 3 && s->map && s->radius > 0; axis++) {
    for (int64_t i = 0; i < n; i++) {
      smooth_line(s, x + i * strides[3 - axis], strides[axis], line);
    }
  }
  for (int axis = 0; axis < 3 && !s->map && s->radius > 0; axis++) {
    const int64_t a = strides[(axis + 1) % 3], b = strides[(axis + 2) % 3];

    for (int64_t i = 0; i < n * n; i++) {
      smooth_line(s, x + i / n * a + i % n * b, strides[axis], line);
    }
  }
}
