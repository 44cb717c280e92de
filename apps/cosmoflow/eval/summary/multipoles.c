/* multipoles.c - see multipoles.h. */
#include "eval/summary/multipoles.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "ops/fft/weir_fft_plan.h"

#define PI 3.14159265358979323846

const weir_opt cf_multipole_options[] = {
    WEIR_OPT_ENUM(cf_multipole_opts, line_of_sight, 2, "x|y|z",
                  "axis of a sample (first, second, third) that is the line of sight"),
    WEIR_OPT_INT(cf_multipole_opts, width, 1, 1, 4096, "1",
                 "width of the bins of k, in fundamental wave numbers of the sample"),
    WEIR_OPT_REAL(cf_multipole_opts, from, 0.5, 0.5, 4096, "1",
                  "beginning of the first bin, in fundamental wave numbers: 0.5 has whole numbers "
                  "in the middle of bins of width 1, 1 (the bins of Pylians) at their beginning"),
    WEIR_OPT_REAL(
        cf_multipole_opts, reach, 1, 0.01, 1.7321, "Nyquist",
        "end of the last bin; 1, the Nyquist wave number of an axis, is the largest below "
        "which bins have all directions"),
    WEIR_OPT_ENUM(cf_multipole_opts, window, 0, "none|ngp|cic|tsc",
                  "mass-assignment window that is divided out"),
    WEIR_OPT_END,
};

/* A coefficient: index of its real part, wave, bin. */
typedef struct wave {
  int64_t at, w[3];
  int32_t bin;
  double size, waves; /* |w|; 1 or 2, with -w */
} wave;

/* Calls visit for the coefficients of all bins. */
static void each_wave(const cf_multipoles *s, void (*visit)(void *context, const wave *w),
                      void *context)
{
  const int64_t n = s->n, pitch = cf_mesh_pitch(s->mesh);

  for (int64_t row = 0; row < n * n; row++) {
    wave w = {.w = {cf_wave(row / n, n), cf_wave(row % n, n), 0}};

    for (int64_t z = 0; z <= n / 2; z++) {
      const int64_t square = w.w[0] * w.w[0] + w.w[1] * w.w[1] + z * z;

      w.bin = s->bin[square];
      if (w.bin >= 0) {
        w.at = row * pitch + 2 * z;
        w.w[2] = z;
        w.size = sqrt((double)square);
        w.waves = z == 0 || 2 * z == n ? 1 : 2;
        visit(context, &w);
      }
    }
  }
}

/* Sets (2 l + 1) L_l(mu) of l = 0, 2, 4. */
static void legendre(const cf_multipoles *s, const wave *w, double *mu2, double out[CF_MULTIPOLES])
{
  const double mu = (double)w->w[s->axis] / w->size, m = mu * mu;

  *mu2 = m;
  out[0] = 1;
  out[1] = 5 * (3 * m - 1) / 2;
  out[2] = 9 * (35 * m * m - 30 * m + 3) / 8;
}

static void count_wave(void *context, const wave *w)
{
  const cf_multipoles *const s = context;

  s->modes[w->bin] += w->waves;
  s->k[w->bin] += w->waves * w->size;
}

static weir_status prepare(const cf_multipole_opts *o, cf_multipoles *s)
{
  const int64_t squares = cf_mesh_squares(s->n);
  const double end = fmin(o->reach * (double)s->n / 2, sqrt((double)(squares - 1)) + 0.5);

  s->bins = (int64_t)floor((end - o->from) / (double)s->width + 1e-9);
  if (s->bins < 1) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "summaries.multipoles: samples of %lld^3 voxels have no bin %lld fundamental wave numbers "
        "wide from %.4g to %.4g of them: a smaller width or from, a larger reach, or no multipoles",
        (long long)s->n, (long long)s->width, o->from, end);
  }
  WEIR_TRY(cf_mesh_create(s->n, &s->mesh));
  WEIR_TRY(weir_alloc(squares, sizeof *s->bin, (void **)&s->bin));
  WEIR_TRY(weir_alloc(s->bins, sizeof *s->modes, (void **)&s->modes));
  WEIR_TRY(weir_alloc(s->bins, sizeof *s->k, (void **)&s->k));
  WEIR_TRY(weir_alloc(s->n, sizeof *s->seen, (void **)&s->seen));
  for (int64_t square = 0; square < squares; square++) {
    const double at = floor((sqrt((double)square) - o->from) / (double)s->width);

    s->bin[square] = at >= 0 && at < (double)s->bins ? (int32_t)at : -1;
  }
  for (int64_t i = 0; i < s->n; i++) {
    const double x = PI * (double)cf_wave(i, s->n) / (double)s->n;

    s->seen[i] = i == 0 ? 1 : pow(sin(x) / x, 2 * s->window);
  }
  each_wave(s, count_wave, s);
  for (int64_t b = 0; b < s->bins; b++) {
    s->k[b] /= s->modes[b];
  }
  return WEIR_OK;
}

weir_status cf_multipoles_init(const cf_multipole_opts *opts, int64_t n, cf_multipoles *out)
{
  *out = (cf_multipoles){
      .n = n, .width = opts->width, .axis = opts->line_of_sight, .window = opts->window};
  if (!weir_fft_plan_available()) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "multipoles: this build has no FFTW: leave them out of summaries.use and of "
                     "eval.regressions");
  }
  const weir_status status = prepare(opts, out);

  if (status != WEIR_OK) {
    cf_multipoles_fini(out);
  }
  return status;
}

void cf_multipoles_fini(cf_multipoles *s)
{
  cf_mesh_destroy(&s->mesh);
  weir_free(&s->bin);
  weir_free(&s->modes);
  weir_free(&s->k);
  weir_free(&s->seen);
}

weir_status cf_multipoles_slot_init(const cf_multipoles *s, cf_multipoles_slot *out)
{
  *out = (cf_multipoles_slot){.p = NULL};
  weir_status status = cf_mesh_field(s->mesh, &out->coefficients);

  if (status == WEIR_OK) {
    status = weir_alloc(CF_MULTIPOLES * s->bins, sizeof *out->p, (void **)&out->p);
  }
  if (status != WEIR_OK) {
    cf_multipoles_slot_fini(out);
  }
  return status;
}

void cf_multipoles_slot_fini(cf_multipoles_slot *r)
{
  weir_free(&r->coefficients);
  weir_free(&r->p);
}

int64_t cf_multipoles_slot_bytes(const cf_multipoles *s)
{
  return s->n * s->n * cf_mesh_pitch(s->mesh) * (int64_t)sizeof(float);
}

typedef struct sums {
  const cf_multipoles *s;
  const float *c;
  double *p;
} sums;

static void add_power(void *context, const wave *w)
{
  const sums *const of = context;
  const cf_multipoles *const s = of->s;
  const double re = (double)of->c[w->at], im = (double)of->c[w->at + 1];
  const double seen =
      s->seen[(w->w[0] + s->n) % s->n] * s->seen[(w->w[1] + s->n) % s->n] * s->seen[w->w[2]];
  const double power = w->waves * (re * re + im * im) / seen;
  double mu2, by[CF_MULTIPOLES];

  legendre(s, w, &mu2, by);
  for (int l = 0; l < CF_MULTIPOLES; l++) {
    of->p[l * s->bins + w->bin] += by[l] * power;
  }
}

/* Divides sums over waves by their number. */
static void average(const cf_multipoles *s, double scale, double *p)
{
  for (int64_t i = 0; i < CF_MULTIPOLES * s->bins; i++) {
    p[i] *= scale / s->modes[i % s->bins];
  }
}

void cf_multipoles_measure(const cf_multipoles *s, cf_multipoles_slot *r, const double *rho)
{
  const int64_t n = s->n, pitch = cf_mesh_pitch(s->mesh);
  sums of = {s, r->coefficients, r->p};

  for (int64_t i = 0; i < n * n * n; i++) {
    r->coefficients[i / n * pitch + i % n] = (float)(rho[i] - 1);
  }
  cf_mesh_forward(s->mesh, r->coefficients);
  memset(r->p, 0, (size_t)(CF_MULTIPOLES * s->bins) * sizeof *r->p);
  each_wave(s, add_power, &of);
  average(s, (double)(n * n * n), r->p);
}

typedef struct theory {
  const cf_multipoles *s;
  const cf_linear *l;
  double f, box; /* dlnD/dlna */
  double *p;
} theory;

static void add_linear(void *context, const wave *w)
{
  const theory *const t = context;
  double mu2, by[CF_MULTIPOLES];

  legendre(t->s, w, &mu2, by);
  const double power =
      w->waves * cf_linear_power(t->l, 2 * PI / t->box * w->size) * pow(1 + t->f * mu2, 2);

  for (int l = 0; l < CF_MULTIPOLES; l++) {
    t->p[l * t->s->bins + w->bin] += by[l] * power;
  }
}

void cf_multipoles_kaiser(const cf_multipoles *s, const cf_linear *l, double a, double box,
                          double *out)
{
  theory t = {s, l, cf_linear_growth_rate(l, a), box, out};

  memset(out, 0, (size_t)(CF_MULTIPOLES * s->bins) * sizeof *out);
  each_wave(s, add_linear, &t);
  average(s, pow(cf_linear_growth(l, a), 2), out);
}
