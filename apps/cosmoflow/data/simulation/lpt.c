/* lpt.c - see lpt.h. */
#include "data/simulation/lpt.h"
#include <stddef.h>
#include "device/weir_parallel.h"

#define PI 3.14159265358979323846

/* Input and output of planes: coefficients, fields. */
typedef struct work {
  const cf_mesh *m;
  const float *delta, *source;
  float first, second;
  int i, j; /* of phi_ij; i: axis of a displacement */
  float *const *out;
  float *sum;
} work;

/* out[0], out[1], out[2] = phi_xx, phi_yy, phi_zz. */
static void fill_diagonal(void *context, int64_t x, int thread)
{
  const work *const w = context;
  const int64_t n = cf_mesh_side(w->m), pitch = cf_mesh_pitch(w->m);
  const cf_range slab = cf_mesh_slab(w->m);
  const float kx2 = (float)(cf_wave(x, n) * cf_wave(x, n));

  (void)thread;
  for (int64_t y = slab.first; y < slab.first + slab.count; y++) {
    const int64_t row = (x * slab.count + y - slab.first) * pitch;
    const float ky2 = (float)(cf_wave(y, n) * cf_wave(y, n));
    const float *restrict const d = w->delta + row;
    float *restrict const xx = w->out[0] + row, *restrict const yy = w->out[1] + row;
    float *restrict const zz = w->out[2] + row;

    for (int64_t i = 0; i < n / 2 * 2 + 2; i++) {
      const float kz = (float)(i / 2), k2 = kx2 + ky2 + kz * kz;
      const float phi = k2 > 0 ? d[i] / k2 : 0;

      xx[i] = kx2 * phi;
      yy[i] = ky2 * phi;
      zz[i] = kz * kz * phi;
    }
  }
}

/* sum = phi_xx phi_yy + phi_xx phi_zz + phi_yy phi_zz. */
static void sum_diagonal(void *context, int64_t x, int thread)
{
  const work *const w = context;
  const int64_t n = cf_mesh_side(w->m), plane = n * cf_mesh_pitch(w->m);
  const float *restrict const xx = w->out[0] + x * plane, *restrict const yy =
                                                              w->out[1] + x * plane;
  const float *restrict const zz = w->out[2] + x * plane;
  float *restrict const sum = w->sum + x * plane;

  (void)thread;
  for (int64_t i = 0; i < plane; i++) {
    sum[i] = xx[i] * yy[i] + (xx[i] + yy[i]) * zz[i];
  }
}

/* out[0] = phi_ij, i != j. */
static void fill_mixed(void *context, int64_t x, int thread)
{
  const work *const w = context;
  const int64_t n = cf_mesh_side(w->m), pitch = cf_mesh_pitch(w->m);
  const cf_range slab = cf_mesh_slab(w->m);
  const float kx = (float)cf_wave(x, n), sx = (float)cf_slope(x, n);

  (void)thread;
  for (int64_t y = slab.first; y < slab.first + slab.count; y++) {
    const int64_t row = (x * slab.count + y - slab.first) * pitch;
    const float ky = (float)cf_wave(y, n), sy = (float)cf_slope(y, n);
    const float *restrict const d = w->delta + row;
    float *restrict const out = w->out[0] + row;
    const float known = w->j == 1 ? sx * sy : w->i == 0 ? sx : sy;

    for (int64_t i = 0; i < n / 2 * 2 + 2; i++) {
      const float kz = (float)(i / 2), k2 = kx * kx + ky * ky + kz * kz;
      const float sz = w->j == 1 ? 1 : i / 2 * 2 == n ? 0 : kz;

      out[i] = k2 > 0 ? known * sz * d[i] / k2 : 0;
    }
  }
}

/* sum -= out[0]^2. */
static void subtract_square(void *context, int64_t x, int thread)
{
  const work *const w = context;
  const int64_t n = cf_mesh_side(w->m), plane = n * cf_mesh_pitch(w->m);
  const float *restrict const mixed = w->out[0] + x * plane;
  float *restrict const sum = w->sum + x * plane;

  (void)thread;
  for (int64_t i = 0; i < plane; i++) {
    sum[i] -= mixed[i] * mixed[i];
  }
}

void cf_lpt_source(const cf_mesh *m, const float *delta, float *source, float *const scratch[3])
{
  const int64_t n = cf_mesh_side(m), planes = cf_mesh_slab(m).count;
  work w = {.m = m, .delta = delta, .out = scratch, .sum = source};

  weir_parallel(n, 0, fill_diagonal, &w);
  for (int i = 0; i < 3; i++) {
    cf_mesh_backward(m, scratch[i]);
  }
  weir_parallel(planes, 0, sum_diagonal, &w);
  for (int pair = 0; pair < 3; pair++) {
    w.i = pair == 2;
    w.j = pair == 0 ? 1 : 2;
    weir_parallel(n, 0, fill_mixed, &w);
    cf_mesh_backward(m, scratch[0]);
    weir_parallel(planes, 0, subtract_square, &w);
  }
  cf_mesh_forward(m, source);
}

/* out = i k / k^2 (first delta - second source), times n / 2 pi: of waves to sides of a cell. */
static void fill_displacement(void *context, int64_t x, int thread)
{
  const work *const w = context;
  const int64_t n = cf_mesh_side(w->m), pitch = cf_mesh_pitch(w->m);
  const cf_range slab = cf_mesh_slab(w->m);
  const float kx = (float)cf_wave(x, n), sx = (float)cf_slope(x, n);
  const float cells = (float)((double)n / (2 * PI));

  (void)thread;
  for (int64_t y = slab.first; y < slab.first + slab.count; y++) {
    const int64_t row = (x * slab.count + y - slab.first) * pitch;
    const float ky = (float)cf_wave(y, n), sy = (float)cf_slope(y, n);
    const float *const d = w->delta + row, *const s = w->source != NULL ? w->source + row : d;
    float *restrict const px = w->out[0] + row, *restrict const py = w->out[1] + row;
    float *const pz = w->out[2] + row; /* may be d: each number is read before it is written */

    for (int64_t z = 0; z <= n / 2; z++) {
      const float kz = (float)z, sz = 2 * z == n ? 0 : kz, k2 = kx * kx + ky * ky + kz * kz;
      const float scale = k2 > 0 ? cells / k2 : 0;
      const float re = scale * (w->first * d[2 * z] - w->second * s[2 * z]);
      const float im = scale * (w->first * d[2 * z + 1] - w->second * s[2 * z + 1]);

      px[2 * z] = -sx * im;
      px[2 * z + 1] = sx * re;
      py[2 * z] = -sy * im;
      py[2 * z + 1] = sy * re;
      pz[2 * z] = -sz * im;
      pz[2 * z + 1] = sz * re;
    }
  }
}

/* The same of one axis, w->i, into w->sum. */
static void fill_axis(void *context, int64_t x, int thread)
{
  const work *const w = context;
  const int64_t n = cf_mesh_side(w->m), pitch = cf_mesh_pitch(w->m);
  const cf_range slab = cf_mesh_slab(w->m);
  const float kx = (float)cf_wave(x, n), sx = (float)cf_slope(x, n);
  const float cells = (float)((double)n / (2 * PI));

  (void)thread;
  for (int64_t y = slab.first; y < slab.first + slab.count; y++) {
    const int64_t row = (x * slab.count + y - slab.first) * pitch;
    const float ky = (float)cf_wave(y, n), sy = (float)cf_slope(y, n);
    const float *restrict const d = w->delta + row;
    const float *const s = w->source != NULL ? w->source + row : d;
    float *restrict const out = w->sum + row;

    for (int64_t z = 0; z <= n / 2; z++) {
      const float kz = (float)z, k2 = kx * kx + ky * ky + kz * kz;
      const float slope = w->i == 0 ? sx : w->i == 1 ? sy : 2 * z == n ? 0 : kz;
      const float scale = k2 > 0 ? slope * cells / k2 : 0;

      out[2 * z] = -scale * (w->first * d[2 * z + 1] - w->second * s[2 * z + 1]);
      out[2 * z + 1] = scale * (w->first * d[2 * z] - w->second * s[2 * z]);
    }
  }
}

void cf_lpt_displace_axis(const cf_mesh *m, const float *delta, const float *source, double first,
                          double second, int axis, float *out)
{
  work w = {.m = m,
            .delta = delta,
            .source = source,
            .first = (float)first,
            .second = source != NULL ? (float)second : 0,
            .i = axis,
            .sum = out};

  weir_parallel(cf_mesh_side(m), 0, fill_axis, &w);
  cf_mesh_backward(m, out);
}

void cf_lpt_displace(const cf_mesh *m, const float *delta, const float *source, double first,
                     double second, float *const out[3])
{
  work w = {.m = m,
            .delta = delta,
            .source = source,
            .first = (float)first,
            .second = source != NULL ? (float)second : 0,
            .out = out};

  weir_parallel(cf_mesh_side(m), 0, fill_displacement, &w);
  for (int i = 0; i < 3; i++) {
    cf_mesh_backward(m, out[i]);
  }
}
