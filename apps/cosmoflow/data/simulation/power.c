/* power.c - see power.h. */
#include "data/simulation/power.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "ops/fft/weir_fft_plan.h"

#define PI 3.14159265358979323846

/* Waves +z and -z share a coefficient, except for those that are their own mirror image. */
static double waves_of(int64_t z, int64_t n)
{
  return z == 0 || 2 * z == n ? 1 : 2;
}

static void number_bins(cf_power *s, int64_t n)
{
  for (int64_t square = 0; square < cf_mesh_squares(n); square++) {
    const int64_t b = llround(sqrt((double)square));

    s->bin[square] = b >= 1 && b <= s->n_bins ? (int32_t)(b - 1) : -1;
  }
}

/* Calls add(context, bin, |w|^2, waves) for all coefficients. */
static void each_wave(const cf_power *s, int64_t n,
                      void (*add)(void *context, int64_t bin, int64_t square, double waves),
                      void *context)
{
  for (int64_t row = 0; row < s->depth * n; row++) {
    const int64_t wx = cf_wave(row / n, n), wy = cf_wave(row % n, n);

    for (int64_t z = 0; z <= n / 2; z++) {
      const int64_t square = wx * wx + wy * wy + z * z;

      if (s->bin[square] >= 0) {
        add(context, s->bin[square], square, waves_of(z, n));
      }
    }
  }
}

static void count_wave(void *context, int64_t bin, int64_t square, double waves)
{
  cf_power *const s = context;

  s->modes[bin] += waves;
  s->k[bin] += waves * 2 * PI / s->box * sqrt((double)square);
}

static weir_status alloc_arrays(cf_power *s, int64_t n)
{
  WEIR_TRY(weir_alloc(s->n_bins, sizeof *s->k, (void **)&s->k));
  WEIR_TRY(weir_alloc(s->n_bins, sizeof *s->modes, (void **)&s->modes));
  WEIR_TRY(weir_alloc(s->n_bins, sizeof *s->p, (void **)&s->p));
  WEIR_TRY(weir_alloc(s->depth * s->n_bins, sizeof *s->partial, (void **)&s->partial));
  WEIR_TRY(weir_alloc(cf_mesh_squares(n), sizeof *s->bin, (void **)&s->bin));
  return weir_alloc(n, sizeof *s->seen, (void **)&s->seen);
}

int64_t cf_power_max_bins(const cf_mesh *m)
{
  const int64_t half = cf_mesh_side(m) / 2;

  return llround(sqrt((double)((cf_mesh_depth(m) == 1 ? 2 : 3) * half * half)));
}

int64_t cf_power_reach(const cf_mesh *m, double reach)
{
  const int64_t bins = llround(reach * (double)cf_mesh_side(m) / 2),
                max_bins = cf_power_max_bins(m);

  return bins < 1 ? 1 : bins > max_bins ? max_bins : bins;
}

weir_status cf_power_init(cf_power *s, const cf_mesh *m, double box, int64_t n_bins)
{
  const int64_t n = cf_mesh_side(m);

  *s = (cf_power){.box = box, .depth = cf_mesh_depth(m), .n_bins = n_bins};
  const weir_status status = alloc_arrays(s, n);

  if (status != WEIR_OK) {
    cf_power_fini(s);
    return status;
  }
  for (int64_t i = 0; i < n; i++) {
    const double x = PI * (double)cf_wave(i, n) / (double)n;

    s->seen[i] = i == 0 ? 1 : x * x / (sin(x) * sin(x));
  }
  number_bins(s, n);
  each_wave(s, n, count_wave, s);
  for (int64_t b = 0; b < s->n_bins; b++) {
    s->k[b] /= s->modes[b];
  }
  return WEIR_OK;
}

void cf_power_fini(cf_power *s)
{
  weir_free(&s->k);
  weir_free(&s->modes);
  weir_free(&s->p);
  weir_free(&s->partial);
  weir_free(&s->bin);
  weir_free(&s->seen);
}

typedef struct work {
  cf_power *s;
  int64_t n, pitch;
  const float *c;
  int order;
} work;

static void measure_plane(void *context, int64_t x, int thread)
{
  const work *const w = context;
  const cf_power *const s = w->s;
  const int64_t n = w->n, wx = cf_wave(x, n);
  double *const partial = s->partial + x * s->n_bins;

  (void)thread;
  memset(partial, 0, (size_t)s->n_bins * sizeof *partial);
  for (int64_t y = 0; y < n; y++) {
    const int64_t wy = cf_wave(y, n);
    const float *const row = w->c + (x * n + y) * w->pitch;

    for (int64_t z = 0; z <= n / 2; z++) {
      const int32_t bin = s->bin[wx * wx + wy * wy + z * z];
      const double re = (double)row[2 * z], im = (double)row[2 * z + 1];
      const double seen = s->seen[x] * s->seen[y] * s->seen[z];
      double p = waves_of(z, n) * (re * re + im * im);

      for (int k = 0; k < w->order; k++) {
        p *= seen;
      }
      if (bin >= 0) {
        partial[bin] += p;
      }
    }
  }
}

void cf_power_measure(cf_power *s, const cf_mesh *m, const float *c, double mean, int order)
{
  const int64_t n = cf_mesh_side(m);
  const double volume = s->box * s->box * (s->depth == 1 ? 1 : s->box);
  work w = {s, n, cf_mesh_pitch(m), c, order};

  weir_parallel(s->depth, 0, measure_plane, &w);
  for (int64_t b = 0; b < s->n_bins; b++) {
    double sum = 0;

    for (int64_t x = 0; x < s->depth; x++) { /* in this order on any number of threads */
      sum += s->partial[x * s->n_bins + b];
    }
    s->p[b] = sum / s->modes[b] * volume / (mean * mean);
  }
}

typedef struct expected {
  const cf_power *s;
  const cf_linear *l;
  double *out;
} expected;

static void add_expected(void *context, int64_t bin, int64_t square, double waves)
{
  const expected *const e = context;
  const double k = 2 * PI / e->s->box * sqrt((double)square);

  e->out[bin] += waves * cf_linear_power(e->l, k) / e->s->modes[bin];
}

void cf_power_expected(const cf_power *s, const cf_mesh *m, const cf_linear *l, double *out)
{
  expected e = {s, l, out};

  memset(out, 0, (size_t)s->n_bins * sizeof *out);
  each_wave(s, cf_mesh_side(m), add_expected, &e);
}

weir_status cf_power_check(const cf_volume_info *info)
{
  const int64_t *const l = info->lengths;

  if (!weir_fft_plan_available()) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "power spectra: this build has no FFTW");
  }
  if ((l[0] != l[1] && l[0] != 1) || l[1] != l[2] || l[1] < CF_MIN_MESH || l[1] > CF_MAX_MESH) {
    return weir_fail(
        WEIR_ERR_DATA,
        "power spectra: samples are %lld x %lld x %lld; they have to be cubes, or square maps of "
        "depth 1, of %d to %d cells a side",
        (long long)l[0], (long long)l[1], (long long)l[2], CF_MIN_MESH, CF_MAX_MESH);
  }
  return WEIR_OK;
}

weir_status cf_power_mesh(const cf_volume_info *info, cf_mesh **out)
{
  return info->lengths[0] == 1 ? cf_mesh_create_map(info->lengths[1], out)
                               : cf_mesh_create(info->lengths[0], out);
}

double cf_power_field(const cf_mesh *m, const float *voxels, int64_t channels, int64_t c,
                      float *field)
{
  const int64_t n = cf_mesh_side(m), pitch = cf_mesh_pitch(m);
  float lowest = INFINITY;

  for (int64_t line = 0; line < cf_mesh_depth(m) * n; line++) {
    for (int64_t z = 0; z < n; z++) {
      const float value = voxels[(line * n + z) * channels + c];

      field[line * pitch + z] = value;
      lowest = value < lowest ? value : lowest;
    }
  }
  return (double)lowest;
}
