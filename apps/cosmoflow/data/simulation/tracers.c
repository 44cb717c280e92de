/* tracers.c - see tracers.h. */
#include "data/simulation/tracers.h"
#include <math.h>
#include "base/weir_random.h"
#include "device/weir_parallel.h"

#define PI 3.14159265358979323846
enum { TRACER = 3 /* purpose of a seed */, BY_INVERSION = 30 /* means below it */ };

/* ---- feedback ---- */

/* B at z. */
static double gas_share(const cf_feedback_opts *o, double z)
{
  return (0.105 * log10(o->mass) - 1.27) / (1 + pow(z / 2.3, 2.5));
}

double cf_feedback_boost(const cf_feedback_opts *o, double k, double z)
{
  const double b = gas_share(o, z), k_gas = 0.7 * pow(1 - b, 4) * pow(o->ejection, -1.6);
  const double k_stars = 55;

  return (1 - b + b / (1 + pow(k / k_gas, 3))) * (1 + k / k_stars * (k / k_stars));
}

weir_status cf_feedback_check(const cf_feedback_opts *o)
{
  return o->mass == 0 || gas_share(o, 0) > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "simulate.feedback.mass: %g Msun/h: the fit is of 1.3e12 and more; 0: no "
                         "feedback",
                         o->mass);
}

typedef struct filter {
  const cf_feedback_opts *opts;
  const cf_mesh *m;
  double box, z;
  float *density;
} filter;

static void filter_plane(void *context, int64_t x, int thread)
{
  const filter *const w = context;
  const int64_t n = cf_mesh_side(w->m), pitch = cf_mesh_pitch(w->m);
  const cf_range slab = cf_mesh_slab(w->m);
  const double wx = (double)cf_wave(x, n);

  (void)thread;
  for (int64_t y = 0; y < slab.count; y++) {
    const double wy = (double)cf_wave(slab.first + y, n);
    float *const row = w->density + (x * slab.count + y) * pitch;

    for (int64_t z = 0; z <= n / 2; z++) {
      const double k = 2 * PI / w->box * sqrt(wx * wx + wy * wy + (double)z * (double)z);
      const float scale = (float)sqrt(cf_feedback_boost(w->opts, k, w->z));

      row[2 * z] *= scale;
      row[2 * z + 1] *= scale;
    }
  }
}

static void clip_plane(void *context, int64_t x, int thread)
{
  const filter *const w = context;
  const int64_t n = cf_mesh_side(w->m), pitch = cf_mesh_pitch(w->m);

  (void)thread;
  for (int64_t y = 0; y < n; y++) {
    float *const row = w->density + (x * n + y) * pitch;

    for (int64_t z = 0; z < n; z++) {
      row[z] = row[z] > 0 ? row[z] : 0;
    }
  }
}

void cf_feedback_apply(const cf_feedback_opts *o, const cf_mesh *m, double box, double z,
                       float *density)
{
  filter w = {o, m, box, z, density};

  cf_mesh_forward(m, density);
  weir_parallel(cf_mesh_side(m), 0, filter_plane, &w);
  cf_mesh_backward(m, density);
  weir_parallel(cf_mesh_slab(m).count, 0, clip_plane, &w);
}

/* ---- tracers ---- */

/* Sequential search (Devroye 1986, ch. X.3.3). */
static double by_inversion(double mean, double u)
{
  const double most = 1000; /* u, of 53 bits, may be above the rounded sum */
  double p = exp(-mean), n = 0;

  while (u >= p && n < most) {
    u -= p;
    n++;
    p *= mean / n;
  }
  return n;
}

static double by_rejection(double mean, uint64_t seed, uint64_t index)
{
  const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse = 1.1239 + 1.1328 / (b - 3.4), squeeze = 0.9277 - 3.6224 / (b - 2);

  for (uint32_t trial = 0;; trial++) {
    const double u = weir_random_uniform(seed, TRACER, 2 * trial + 1, index) - 0.5;
    const double v = weir_random_uniform(seed, TRACER, 2 * trial + 2, index);
    const double s = 0.5 - fabs(u), n = floor((2 * a / s + b) * u + mean + 0.43);

    if (s >= 0.07 && v <= squeeze) {
      return n;
    }
    if (n >= 0 && !(s < 0.013 && v > s) &&
        log(v * inverse / (a / (s * s) + b)) <= n * log(mean) - mean - lgamma(n + 1)) {
      return n;
    }
  }
}

double cf_poisson(double mean, uint64_t seed, uint64_t index)
{
  if (!(mean > 0)) {
    return 0;
  }
  return mean < BY_INVERSION ? by_inversion(mean, weir_random_uniform(seed, TRACER, 0, index))
                             : by_rejection(mean, seed, index);
}

typedef struct drawing {
  const cf_mesh *m;
  double scale;
  uint64_t seed;
  float *density;
} drawing;

static void draw_plane(void *context, int64_t x, int thread)
{
  const drawing *const w = context;
  const int64_t n = cf_mesh_side(w->m), pitch = cf_mesh_pitch(w->m);
  const int64_t plane = cf_mesh_slab(w->m).first + x;

  (void)thread;
  for (int64_t y = 0; y < n; y++) {
    float *const row = w->density + (x * n + y) * pitch;

    for (int64_t z = 0; z < n; z++) {
      const uint64_t cell = (uint64_t)((plane * n + y) * n + z);

      row[z] = (float)cf_poisson(w->scale * (double)row[z], w->seed, cell);
    }
  }
}

/* Sum over the whole mesh, plane by plane: in the same order on any number of ranks. */
static double sum_of(const cf_mesh *m, const float *density)
{
  const int64_t n = cf_mesh_side(m), pitch = cf_mesh_pitch(m);
  const cf_range slab = cf_mesh_slab(m);
  weir_comm *const comm = cf_mesh_comm(m);
  cf_buffer to[CF_MAX_MESH], from[CF_MAX_MESH];
  double sums[CF_MAX_MESH] = {0}, sum = 0;

  for (int64_t row = 0; row < slab.count * n; row++) {
    for (int64_t z = 0; z < n; z++) {
      sums[slab.first + row / n] += (double)density[row * pitch + z];
    }
  }
  for (int r = 0; comm != NULL && r < weir_comm_size(comm); r++) {
    const cf_range theirs = cf_slab(n, weir_comm_size(comm), r);

    to[r] = (cf_buffer){sums + slab.first, slab.count * (int64_t)sizeof *sums};
    from[r] = (cf_buffer){sums + theirs.first, theirs.count * (int64_t)sizeof *sums};
  }
  if (comm != NULL) {
    cf_slabs_exchange(comm, to, from);
  }
  for (int64_t x = 0; x < n; x++) {
    sum += sums[x];
  }
  return sum;
}

void cf_tracers_draw(const cf_mesh *m, double per_cell, uint64_t seed, float *density)
{
  const double n = (double)cf_mesh_side(m), mean = sum_of(m, density) / (n * n * n);
  drawing w = {m, mean > 0 ? per_cell / mean : 0, seed, density};

  weir_parallel(cf_mesh_slab(m).count, 0, draw_plane, &w);
}
