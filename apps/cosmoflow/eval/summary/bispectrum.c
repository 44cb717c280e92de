/* bispectrum.c - see bispectrum.h. */
#include "eval/summary/bispectrum.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "ops/fft/weir_fft_plan.h"

const weir_opt cf_bispectrum_options[] = {
    WEIR_OPT_INT(cf_bispectrum_opts, width, 1, 1, 4096, "1",
                 "width of the shells of k, in fundamental wave numbers of the sample"),
    WEIR_OPT_REAL(cf_bispectrum_opts, reach, 0.6667, 0.01, 0.6667, "Nyquist",
                  "largest k; 0.6667, two thirds of the Nyquist wave number of an axis, is the "
                  "largest at which the transforms count no triangle that does not close"),
    WEIR_OPT_INT(cf_bispectrum_opts, squeezed, 1, 0, 4096, "1",
                 "shells of smallest k that are one side of squeezed triangles; 0: only "
                 "equilateral triangles"),
    WEIR_OPT_REAL(cf_bispectrum_opts, ratio, 3, 1, 4096, "1",
                  "smallest ratio of the other two sides of a squeezed triangle to that one, from "
                  "the middles of their shells"),
    WEIR_OPT_END,
};

/* ---- shells and triangles ---- */

static double middle(const cf_bispectrum *s, int64_t shell)
{
  return 0.5 + ((double)shell + 0.5) * (double)s->width;
}

static weir_status set_shells(const cf_bispectrum_opts *o, cf_bispectrum *s)
{
  const double end = fmin(o->reach * (double)s->n / 2, (double)s->n / 3);

  s->shells = (int64_t)floor((end - 0.5) / (double)s->width + 1e-9);
  if (s->shells < 1) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "summaries.bispectrum: samples of %lld^3 voxels have no shell %lld fundamental "
        "wave numbers wide up to %.4g of them: a smaller width, a larger reach, or no "
        "bispectrum",
        (long long)s->n, (long long)s->width, end);
  }
  WEIR_TRY(weir_alloc(cf_mesh_squares(s->n), sizeof *s->shell, (void **)&s->shell));
  for (int64_t square = 0; square < cf_mesh_squares(s->n); square++) {
    const int64_t at = (int64_t)floor((sqrt((double)square) - 0.5) / (double)s->width);

    s->shell[square] = square > 0 && at < s->shells ? (int32_t)at : -1;
  }
  return WEIR_OK;
}

static weir_status set_triangles(const cf_bispectrum_opts *o, cf_bispectrum *s)
{
  s->longest = o->squeezed < s->shells ? o->squeezed : s->shells;
  WEIR_TRY(weir_alloc(s->shells * (1 + s->longest), sizeof *s->triangle, (void **)&s->triangle));
  for (int64_t k = 0; k < s->shells; k++) {
    s->triangle[s->n_triangles++] = (cf_triangle){k, k};
  }
  for (int64_t first = 0; first < s->longest; first++) {
    for (int64_t k = first + 1; k < s->shells; k++) {
      if (middle(s, k) >= o->ratio * middle(s, first)) {
        s->triangle[s->n_triangles++] = (cf_triangle){first, k};
      }
    }
  }
  return WEIR_OK;
}

/* Calls visit(context, index of the real part, |w|^2, waves) for the coefficients of a shell; -1:
 * of all. */
static void each_wave(const cf_bispectrum *s, int64_t shell,
                      void (*visit)(void *context, int64_t at, int64_t square, double waves),
                      void *context)
{
  const int64_t n = s->n, pitch = cf_mesh_pitch(s->mesh);

  for (int64_t row = 0; row < n * n; row++) {
    const int64_t wx = cf_wave(row / n, n), wy = cf_wave(row % n, n);

    for (int64_t z = 0; z <= n / 2; z++) {
      const int64_t square = wx * wx + wy * wy + z * z;
      const int32_t at = s->shell[square];

      if (at >= 0 && (shell < 0 || at == shell)) {
        visit(context, row * pitch + 2 * z, square, z == 0 ? 1 : 2); /* z < n / 3 */
      }
    }
  }
}

static void count_wave(void *context, int64_t at, int64_t square, double waves)
{
  const cf_bispectrum *const s = context;
  const int32_t shell = s->shell[square];

  (void)at;
  s->modes[shell] += waves;
  s->k[shell] += waves * sqrt((double)square);
}

/* ---- sums over the mesh ---- */

typedef struct extract {
  const float *from; /* NULL: ones */
  float *to;
} extract;

static void take_wave(void *context, int64_t at, int64_t square, double waves)
{
  const extract *const e = context;

  (void)square;
  (void)waves;
  e->to[at] = e->from != NULL ? e->from[at] : 1;
  e->to[at + 1] = e->from != NULL ? e->from[at + 1] : 0;
}

/* Makes the field of the coefficients of a shell. */
static void make_field(const cf_bispectrum *s, const float *from, int64_t shell, float *to)
{
  extract e = {from, to};

  memset(to, 0, (size_t)(s->n * s->n * cf_mesh_pitch(s->mesh)) * sizeof *to);
  each_wave(s, shell, take_wave, &e);
  cf_mesh_backward(s->mesh, to);
}

/* Mean of a b^2 over the points: the sum over closed triangles of products of coefficients. */
static double mean_product(const cf_bispectrum *s, const float *a, const float *b)
{
  const int64_t n = s->n, pitch = cf_mesh_pitch(s->mesh);
  double sum = 0;

  for (int64_t row = 0; row < n * n; row++) {
    for (int64_t z = row * pitch; z < row * pitch + n; z++) {
      sum += (double)a[z] * (double)b[z] * (double)b[z];
    }
  }
  return sum / (double)(n * n * n);
}

/* Sets out[n_triangles] to the sums over closed triangles of the coefficients, or of ones. */
static void sum_triangles(const cf_bispectrum *s, cf_bispectrum_slot *r, const float *from,
                          double *out)
{
  const size_t bytes = (size_t)(s->n * s->n * cf_mesh_pitch(s->mesh)) * sizeof *r->field;

  for (int64_t k = 0; k < s->shells; k++) {
    make_field(s, from, k, r->field);
    for (int64_t t = 0; t < s->n_triangles; t++) { /* first < other: its field is there */
      const cf_triangle *const of = &s->triangle[t];

      if (of->other == k) {
        out[t] = mean_product(s, of->first == k ? r->field : r->longest[of->first], r->field);
      }
    }
    if (k < s->longest) {
      memcpy(r->longest[k], r->field, bytes);
    }
  }
}

static weir_status count_triangles(cf_bispectrum *s)
{
  cf_bispectrum_slot r;

  WEIR_TRY(cf_bispectrum_slot_init(s, &r));
  sum_triangles(s, &r, NULL, s->closed);
  for (int64_t t = 0; t < s->n_triangles; t++) {
    s->closed[t] = round(s->closed[t]); /* of the rounding of transforms, 0 where there is none */
  }
  cf_bispectrum_slot_fini(s, &r);
  return WEIR_OK;
}

static weir_status prepare(const cf_bispectrum_opts *opts, cf_bispectrum *s)
{
  WEIR_TRY(set_shells(opts, s));
  WEIR_TRY(cf_mesh_create(s->n, &s->mesh));
  WEIR_TRY(set_triangles(opts, s));
  WEIR_TRY(weir_alloc(s->shells, sizeof *s->modes, (void **)&s->modes));
  WEIR_TRY(weir_alloc(s->shells, sizeof *s->k, (void **)&s->k));
  WEIR_TRY(weir_alloc(s->n_triangles, sizeof *s->closed, (void **)&s->closed));
  each_wave(s, -1, count_wave, s);
  for (int64_t k = 0; k < s->shells; k++) {
    s->k[k] /= s->modes[k];
  }
  return count_triangles(s);
}

weir_status cf_bispectrum_init(const cf_bispectrum_opts *opts, int64_t n, cf_bispectrum *out)
{
  *out = (cf_bispectrum){.n = n, .width = opts->width};
  if (!weir_fft_plan_available()) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "bispectrum: this build has no FFTW: leave it out of summaries.use and of "
                     "eval.regressions");
  }
  const weir_status status = prepare(opts, out);

  if (status != WEIR_OK) {
    cf_bispectrum_fini(out);
  }
  return status;
}

void cf_bispectrum_fini(cf_bispectrum *s)
{
  cf_mesh_destroy(&s->mesh);
  weir_free(&s->shell);
  weir_free(&s->modes);
  weir_free(&s->k);
  weir_free(&s->triangle);
  weir_free(&s->closed);
}

/* ---- a field ---- */

static weir_status alloc_slot(const cf_bispectrum *s, cf_bispectrum_slot *r)
{
  WEIR_TRY(cf_mesh_field(s->mesh, &r->coefficients));
  WEIR_TRY(cf_mesh_field(s->mesh, &r->field));
  WEIR_TRY(weir_alloc(s->longest + 1, sizeof *r->longest, (void **)&r->longest));
  for (int64_t k = 0; k < s->longest; k++) {
    WEIR_TRY(cf_mesh_field(s->mesh, &r->longest[k]));
  }
  WEIR_TRY(weir_alloc(s->shells, sizeof *r->power, (void **)&r->power));
  WEIR_TRY(weir_alloc(s->n_triangles, sizeof *r->b, (void **)&r->b));
  WEIR_TRY(weir_alloc(s->n_triangles, sizeof *r->q, (void **)&r->q));
  return weir_alloc(s->n_triangles, sizeof *r->sigma, (void **)&r->sigma);
}

weir_status cf_bispectrum_slot_init(const cf_bispectrum *s, cf_bispectrum_slot *out)
{
  *out = (cf_bispectrum_slot){.b = NULL};
  const weir_status status = alloc_slot(s, out);

  if (status != WEIR_OK) {
    cf_bispectrum_slot_fini(s, out);
  }
  return status;
}

void cf_bispectrum_slot_fini(const cf_bispectrum *s, cf_bispectrum_slot *r)
{
  for (int64_t k = 0; r->longest != NULL && k < s->longest; k++) {
    weir_free(&r->longest[k]);
  }
  weir_free(&r->coefficients);
  weir_free(&r->field);
  weir_free(&r->longest);
  weir_free(&r->power);
  weir_free(&r->b);
  weir_free(&r->q);
  weir_free(&r->sigma);
}

int64_t cf_bispectrum_slot_bytes(const cf_bispectrum *s)
{
  return (2 + s->longest) * s->n * s->n * cf_mesh_pitch(s->mesh) * (int64_t)sizeof(float);
}

typedef struct powers {
  const cf_bispectrum *s;
  cf_bispectrum_slot *r;
} powers;

static void add_power(void *context, int64_t at, int64_t square, double waves)
{
  const powers *const p = context;
  const float *const c = p->r->coefficients + at;
  const int32_t shell = p->s->shell[square];
  const double volume = (double)(p->s->n * p->s->n * p->s->n);

  p->r->power[shell] += waves / p->s->modes[shell] * volume *
                        ((double)c[0] * (double)c[0] + (double)c[1] * (double)c[1]);
}

void cf_bispectrum_measure(const cf_bispectrum *s, cf_bispectrum_slot *r, const double *rho)
{
  const int64_t n = s->n, pitch = cf_mesh_pitch(s->mesh);
  const double volume = (double)(n * n * n);
  powers p = {s, r};

  for (int64_t i = 0; i < n * n * n; i++) {
    r->coefficients[i / n * pitch + i % n] = (float)(rho[i] - 1);
  }
  cf_mesh_forward(s->mesh, r->coefficients);
  memset(r->power, 0, (size_t)s->shells * sizeof *r->power);
  each_wave(s, -1, add_power, &p);
  sum_triangles(s, r, r->coefficients, r->b);
  for (int64_t t = 0; t < s->n_triangles; t++) {
    const cf_triangle *const of = &s->triangle[t];
    const double a = r->power[of->first], b = r->power[of->other];
    const double orders = of->first == of->other ? 6 : 2; /* of a triangle's sides in the shells */

    r->b[t] = s->closed[t] > 0 ? r->b[t] * volume * volume / s->closed[t] : (double)NAN;
    r->q[t] = r->b[t] / (2 * a * b + b * b);
    r->sigma[t] = sqrt(orders * volume * a * b * b / s->closed[t]);
  }
}
