/* scattering.c - see scattering.h. Harmonics are real, a unitary change of basis within l that
 * leaves the sum over m as it is: their convolutions with a real field are real. */
#include "eval/summary/scattering.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "ops/fft/weir_fft_plan.h"

#define PI 3.14159265358979323846
/* Weights of a wavelet below it are 0: they add nothing to sums in f32, and products that are
 * smaller than normal numbers take a processor a hundred times as long. */
#define LEAST 1e-20

const weir_opt cf_scattering_options[] = {
    WEIR_OPT_REAL(cf_scattering_opts, sigma, 1, 0.5, 1000, "voxel",
                  "width of the narrowest wavelet: standard deviation of its Gaussian"),
    WEIR_OPT_INT(cf_scattering_opts, scales, 3, 1, CF_MAX_SCALES, "1",
                 "widths of wavelets, each twice the one before; the widest is half the "
                 "side of a sample at most"),
    WEIR_OPT_INT(cf_scattering_opts, orders, 2, 0, 8, "1",
                 "largest l of the spherical harmonics of the wavelets"),
    WEIR_OPT_REAL_LIST(cf_scattering_opts, powers, "0.5, 1, 2", 0.01, 8, "1",
                       "exponents q: a coefficient is the mean of |field * wavelet|^q"),
    WEIR_OPT_END,
};

/* ---- wavelets ---- */

static double factorial(int64_t n)
{
  return tgamma((double)n + 1);
}

/* Real spherical harmonic of a unit vector; m below 0: with sin(|m| phi). l = 0: 1. */
static double harmonic(int64_t l, int64_t m, const double v[3])
{
  const int64_t a = m < 0 ? -m : m;
  double re = 1, im = 0, before = 0, q = 1; /* (x + i y)^a; P_la / sin^a of l - 1 and l */

  for (int64_t k = 1; k <= a; k++) {
    const double next = re * v[0] - im * v[1];

    im = re * v[1] + im * v[0];
    re = next;
    q *= (double)(2 * k - 1);
  }
  for (int64_t k = a + 1; k <= l; k++) {
    const double next =
        ((double)(2 * k - 1) * v[2] * q - (double)(k + a - 1) * before) / (double)(k - a);

    before = q;
    q = next;
  }
  const double norm = sqrt((double)(2 * l + 1) / (4 * PI) * factorial(l - a) / factorial(l + a));

  return l == 0 ? 1 : norm * q * (m == 0 ? 1 : sqrt(2) * (m > 0 ? re : im));
}

/* Mean over both signs of each component at Nyquist's wave. */
static double mean_harmonic(int64_t n, int64_t l, int64_t m, const int64_t w[3])
{
  const double size = sqrt((double)(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]));
  double sum = 0;
  int count = 0;

  if (size <= 0) {
    return l == 0 ? 1 : 0;
  }
  for (int signs = 0; signs < 8; signs++) {
    double v[3];
    bool wanted = true;

    for (int i = 0; i < 3; i++) {
      wanted = wanted && ((signs >> i & 1) == 0 || 2 * w[i] == n);
      v[i] = ((signs >> i & 1) != 0 ? -1 : 1) * (double)w[i] / size;
    }
    sum += wanted ? harmonic(l, m, v) : 0;
    count += wanted;
  }
  return sum / count;
}

static double norm_of(int64_t l)
{
  double odd = 1; /* (l + 1)!! */

  for (int64_t k = l + 1; k > 1; k -= 2) {
    odd *= (double)k;
  }
  return l == 0 ? 1
         : l % 2 == 0
             ? sqrt(2 * PI) / (sqrt((double)l + 0.5) * odd)
             : pow(2 * PI, 1.5) / (pow(2, 0.5 * (double)(l + 3)) * sqrt(PI * (double)(2 * l + 1)) *
                                   factorial((l + 1) / 2));
}

static void fill_wavelets(cf_scattering *s)
{
  const int64_t n = s->n, squares = cf_mesh_squares(n), row = n / 2 + 1;
  const int64_t l_end = s->opts->orders + 1;

  for (int64_t i = 0; i < s->opts->scales * l_end * squares; i++) {
    const int64_t l = i / squares % l_end, square = i % squares;
    const double width = s->opts->sigma * pow(2, (double)(i / squares / l_end));
    const double x = width * 2 * PI / (double)n * sqrt((double)square);

    const double weight = norm_of(l) * pow(x, (double)l) * exp(-x * x / 2);

    s->radial[i] = weight < LEAST ? 0 : (float)weight;
  }
  for (int64_t l = 0; l < l_end; l++) {
    for (int64_t m = -l; m <= l; m++) {
      float *const out = s->angular + (l * l + l + m) * n * n * row;

      for (int64_t i = 0; i < n * n * row; i++) {
        const int64_t w[3] = {cf_wave(i / row / n, n), cf_wave(i / row % n, n), i % row};

        out[i] = (float)mean_harmonic(n, l, m, w);
      }
    }
  }
}

static weir_status check(const cf_scattering_opts *o, int64_t n)
{
  const double widest = o->sigma * pow(2, (double)(o->scales - 1));

  if (o->powers.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "summaries.scattering.powers is empty: list at least one");
  }
  if (widest > (double)n / 2) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "summaries.scattering: the widest of %lld scales is %g voxels, above "
                     "half a sample of %lld^3: fewer scales, or a smaller sigma",
                     (long long)o->scales, widest, (long long)n);
  }
  return weir_fft_plan_available()
             ? WEIR_OK
             : weir_fail(WEIR_ERR_UNSUPPORTED,
                         "scattering: this build has no FFTW: leave it out of summaries.use and "
                         "of eval.regressions");
}

static weir_status alloc_wavelets(cf_scattering *s)
{
  const int64_t l_end = s->opts->orders + 1;

  WEIR_TRY(cf_mesh_create(s->n, &s->mesh));
  WEIR_TRY(weir_alloc(s->opts->scales * l_end * cf_mesh_squares(s->n), sizeof *s->radial,
                      (void **)&s->radial));
  return weir_alloc(l_end * l_end * s->n * s->n * (s->n / 2 + 1), sizeof *s->angular,
                    (void **)&s->angular);
}

weir_status cf_scattering_init(const cf_scattering_opts *opts, int64_t n, cf_scattering *out)
{
  *out = (cf_scattering){.opts = opts, .n = n};
  WEIR_TRY(check(opts, n));
  const weir_status status = alloc_wavelets(out);

  if (status != WEIR_OK) {
    cf_scattering_fini(out);
    return status;
  }
  fill_wavelets(out);
  for (int64_t j = 0; j < opts->scales; j++) {
    out->path[out->n_paths++] = (cf_scattering_path){j, -1};
  }
  for (int64_t j = 0; j < opts->scales; j++) {
    for (int64_t k = j + 1; k < opts->scales; k++) {
      out->path[out->n_paths++] = (cf_scattering_path){j, k};
    }
  }
  out->n_numbers = out->n_paths * (opts->orders + 1) * opts->powers.count;
  return WEIR_OK;
}

void cf_scattering_fini(cf_scattering *s)
{
  cf_mesh_destroy(&s->mesh);
  weir_free(&s->radial);
  weir_free(&s->angular);
}

/* ---- a field ---- */

weir_status cf_scattering_slot_init(const cf_scattering *s, cf_scattering_slot *out)
{
  float **const field[] = {&out->coefficients, &out->first, &out->field, &out->modulus};
  weir_status status = WEIR_OK;

  *out = (cf_scattering_slot){.s = NULL};
  for (int i = 0; i < 4 && status == WEIR_OK; i++) {
    status = cf_mesh_field(s->mesh, field[i]);
  }
  if (status == WEIR_OK) {
    status = weir_alloc(s->n_numbers, sizeof *out->s, (void **)&out->s);
  }
  if (status != WEIR_OK) {
    cf_scattering_slot_fini(out);
  }
  return status;
}

void cf_scattering_slot_fini(cf_scattering_slot *r)
{
  weir_free(&r->coefficients);
  weir_free(&r->first);
  weir_free(&r->field);
  weir_free(&r->modulus);
  weir_free(&r->s);
}

int64_t cf_scattering_slot_bytes(const cf_scattering *s)
{
  return 4 * s->n * s->n * cf_mesh_pitch(s->mesh) * (int64_t)sizeof(float);
}

/* to = from times a wavelet, whose coefficients are real for even l and imaginary for odd l. */
static void filter(const cf_scattering *s, const float *from, const float *radial,
                   const float *angular, bool odd, float *to)
{
  const int64_t n = s->n, pitch = cf_mesh_pitch(s->mesh), row = n / 2 + 1;

  for (int64_t line = 0; line < n * n; line++) {
    const int64_t wx = cf_wave(line / n, n), wy = cf_wave(line % n, n);
    const float *const a = angular + line * row, *const c = from + line * pitch;
    float *const out = to + line * pitch;

    for (int64_t z = 0; z < row; z++) {
      const float by = radial[wx * wx + wy * wy + z * z] * a[z];

      out[2 * z] = odd ? -by * c[2 * z + 1] : by * c[2 * z];
      out[2 * z + 1] = odd ? by * c[2 * z] : by * c[2 * z + 1];
    }
  }
}

/* modulus = sqrt(sum over m of (from * psi_jlm)^2), of coefficients. */
static void take_modulus(const cf_scattering *s, cf_scattering_slot *r, const float *from,
                         int64_t scale, int64_t l)
{
  const int64_t n = s->n, size = n * n * cf_mesh_pitch(s->mesh);
  const float *const radial = s->radial + (scale * (s->opts->orders + 1) + l) * cf_mesh_squares(n);

  memset(r->modulus, 0, (size_t)size * sizeof *r->modulus);
  for (int64_t m = -l; m <= l; m++) {
    filter(s, from, radial, s->angular + (l * l + l + m) * n * n * (n / 2 + 1), l % 2 != 0,
           r->field);
    cf_mesh_backward(s->mesh, r->field);
    for (int64_t i = 0; i < size; i++) {
      r->modulus[i] += r->field[i] * r->field[i];
    }
  }
  for (int64_t i = 0; i < size; i++) {
    r->modulus[i] = sqrtf(r->modulus[i]);
  }
}

/* Sets out[powers] to the means of the powers of the modulus. */
static void average(const cf_scattering *s, const float *modulus, double *out)
{
  const int64_t n = s->n, pitch = cf_mesh_pitch(s->mesh);

  for (int64_t k = 0; k < s->opts->powers.count; k++) {
    const double q = s->opts->powers.items[k];
    double sum = 0;

    for (int64_t line = 0; line < n * n; line++) {
      for (int64_t z = line * pitch; z < line * pitch + n; z++) {
        const double u = (double)modulus[z];

        sum += q == 1 ? u : q == 2 ? u * u : q == 0.5 ? sqrt(u) : pow(u, q);
      }
    }
    out[k] = sum / (double)(n * n * n);
  }
}

void cf_scattering_measure(const cf_scattering *s, cf_scattering_slot *r, const double *rho)
{
  const int64_t n = s->n, pitch = cf_mesh_pitch(s->mesh), powers = s->opts->powers.count;
  const int64_t scales = s->opts->scales, of_path = (s->opts->orders + 1) * powers;

  for (int64_t i = 0; i < n * n * n; i++) {
    r->coefficients[i / n * pitch + i % n] = (float)(rho[i] - 1);
  }
  cf_mesh_forward(s->mesh, r->coefficients);
  for (int64_t l = 0; l <= s->opts->orders; l++) {
    int64_t pair = scales;

    for (int64_t j = 0; j < scales; j++) {
      take_modulus(s, r, r->coefficients, j, l);
      average(s, r->modulus, r->s + j * of_path + l * powers);
      if (j + 1 < scales) {
        memcpy(r->first, r->modulus, (size_t)(n * n * pitch) * sizeof *r->first);
        cf_mesh_forward(s->mesh, r->first);
      }
      for (int64_t k = j + 1; k < scales; k++) {
        take_modulus(s, r, r->first, k, l);
        average(s, r->modulus, r->s + pair++ * of_path + l * powers);
      }
    }
  }
}
