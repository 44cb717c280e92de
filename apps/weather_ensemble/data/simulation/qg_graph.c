/* qg_graph.c - see qg_graph.h.
 *
 * Of the flux form J(psi, q) = d/dx (u q) + d/dy (v q) the products are made on the grid, between
 * transforms of spectra that are truncated at two thirds. All else is linear: with psi inverted,
 * dq/dt of a layer is (a + i c) q + (b + i d) q' + forcing, q' that of the other layer, with real
 * numbers a, b, c, d of each wave. Spectra are pairs of real arrays: a multiplication by i costs
 * nothing. */
#include "data/simulation/qg_graph.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/fft/weir_fft.h"
#include "ops/slice/weir_slice.h"

/* Spectra of both layers [batch, 1, layers, rows, columns]. */
typedef struct pair {
  weir_value re, im;
} pair;

enum { WIND = 2 };

/* The model's numbers of each wave as constants. */
typedef struct waves {
  const wx_qg *m;
  weir_graph *g;
  weir_value wind_own, wind_other; /* [2, 1, rows, columns]: u, v = i (own q + other q') */
  weir_value a, b, c, d;           /* [layers, rows, columns]                      */
  pair height, force;              /* likewise: 0 and h; the jet                   */
  weir_value kx, ky, decay;        /* [rows, columns]; decay: exp(-nu K^8 dt / 2)  */
} waves;

/* The number of wave (row r, column c) in layer or component l. */
typedef double entry(const wx_qg *m, int64_t l, int64_t r, int64_t c);

static double own_of(const wx_qg *m, int64_t r, int64_t c)
{
  return m->own[r * m->columns + c];
}

static double other_of(const wx_qg *m, int64_t r, int64_t c)
{
  return m->other[r * m->columns + c];
}

static double k2_of(const wx_qg *m, int64_t r, int64_t c)
{
  return m->k2[r * m->columns + c];
}

/* beta and the gradient of q by the shear of the winds. */
static double slope_of(const wx_qg *m, int64_t l)
{
  const double shear = m->p.coupling * (m->p.u[0] - m->p.u[1]);

  return m->p.beta + (l == 0 ? shear : -shear);
}

static double number_own(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  return (l == 0 ? -m->ky[r] : m->kx[c]) * own_of(m, r, c);
}

static double number_other(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  return (l == 0 ? -m->ky[r] : m->kx[c]) * other_of(m, r, c);
}

/* (psi1 - psi2) / tau_d = relax (q1 - q2). */
static double relax(const wx_qg *m, int64_t r, int64_t c)
{
  return (own_of(m, r, c) - other_of(m, r, c)) / m->p.tau_d;
}

static double drag(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  return l == 0 ? 0 : k2_of(m, r, c) / m->p.tau_f;
}

static double number_a(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  return relax(m, r, c) + drag(m, l, r, c) * own_of(m, r, c);
}

static double number_b(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  return -relax(m, r, c) + drag(m, l, r, c) * other_of(m, r, c);
}

static double number_c(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  return -m->kx[c] * (m->p.u[l] + slope_of(m, l) * own_of(m, r, c));
}

static double number_d(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  return -m->kx[c] * slope_of(m, l) * other_of(m, r, c);
}

static double force_part(const wx_qg *m, int64_t l, int64_t r, int64_t c, int part)
{
  const double rate = c > 0 ? 0 : m->relaxed[2 * r + part] / m->p.tau_d;

  return l == 0 ? -rate : rate;
}

static double force_re(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  return force_part(m, l, r, c, 0);
}

static double force_im(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  return force_part(m, l, r, c, 1);
}

static double height_re(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  return l == 0 ? 0 : m->topography[2 * (r * m->columns + c)];
}

static double height_im(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  return l == 0 ? 0 : m->topography[2 * (r * m->columns + c) + 1];
}

static double number_kx(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  (void)l;
  (void)r;
  return m->kx[c];
}

static double number_ky(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  (void)l;
  (void)c;
  return m->ky[r];
}

static double viscous(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  const double k4 = k2_of(m, r, c) * k2_of(m, r, c);

  (void)l;
  return m->p.nu * k4 * k4;
}

static double decay(const wx_qg *m, int64_t l, int64_t r, int64_t c)
{
  return exp(-viscous(m, l, r, c) * m->p.dt / 2);
}

/* A constant [n, rows, columns], [n, 1, rows, columns] where n counts components of the wind. */
static weir_value constant(weir_graph *g, const wx_qg *m, int rank, int64_t n, entry *of)
{
  const int64_t one = m->rows * m->columns;
  const int64_t shape[] = {n, rank == 3 ? n : 1, m->rows, m->columns};
  void *data = NULL;

  if (weir_alloc(n * one, weir_dtype_size(m->p.dtype), &data) != WEIR_OK) {
    return weir_graph_fail(g, WEIR_ERR_MEMORY);
  }
  for (int64_t i = 0; i < n * one; i++) {
    weir_dtype_store_real(m->p.dtype, data, i,
                          of(m, i / one, i % one / m->columns, i % one % m->columns));
  }
  const weir_tensor t = weir_tensor_wrap(data, m->p.dtype, rank, shape + 4 - rank);
  const weir_value v = weir_constant(g, &t);

  weir_free(&data);
  return v;
}

static weir_value of_layers(weir_graph *g, const wx_qg *m, entry *of)
{
  return constant(g, m, 3, WX_QG_LAYERS, of);
}

static weir_value of_waves(weir_graph *g, const wx_qg *m, entry *of)
{
  return constant(g, m, 2, 1, of);
}

static waves make_waves(weir_graph *g, const wx_qg *m)
{
  return (waves){.m = m,
                 .g = g,
                 .wind_own = constant(g, m, 4, WIND, number_own),
                 .wind_other = constant(g, m, 4, WIND, number_other),
                 .a = of_layers(g, m, number_a),
                 .b = of_layers(g, m, number_b),
                 .c = of_layers(g, m, number_c),
                 .d = of_layers(g, m, number_d),
                 .height = {of_layers(g, m, height_re), of_layers(g, m, height_im)},
                 .force = {of_layers(g, m, force_re), of_layers(g, m, force_im)},
                 .kx = of_waves(g, m, number_kx),
                 .ky = of_waves(g, m, number_ky),
                 .decay = of_waves(g, m, decay)};
}

static pair split(weir_graph *g, weir_value z)
{
  return (pair){weir_real(g, z), weir_imag(g, z)};
}

/* Both layers exchanged. */
static pair exchange(weir_graph *g, pair q)
{
  return (pair){weir_slice(g, q.re, 2, -1, WEIR_SLICE_END, -1),
                weir_slice(g, q.im, 2, -1, WEIR_SLICE_END, -1)};
}

/* Fields [lo, hi) of [batch, fields, layers, .., ..]. */
static weir_value fields(weir_graph *g, weir_value x, int64_t lo, int64_t hi)
{
  return weir_slice(g, x, 1, lo, hi, 1);
}

static weir_value to_grid(const waves *w, weir_value spectra)
{
  return weir_fft(w->g, spectra,
                  (&(weir_fft_spec){.kind = WEIR_FFT_TO_REAL,
                                    .n_dims = 2,
                                    .dim = {3, 4},
                                    .extent = {w->m->p.ny, w->m->p.nx}}));
}

static weir_value from_grid(const waves *w, weir_value grid)
{
  return weir_fft(w->g, grid,
                  (&(weir_fft_spec){.kind = WEIR_FFT_REAL,
                                    .n_dims = 2,
                                    .dim = {3, 4},
                                    .extent = {w->m->rows, w->m->columns},
                                    .scale = 1 / (double)(w->m->p.nx * w->m->p.ny)}));
}

/* x a + y b. */
static weir_value sum_of(weir_graph *g, weir_value x, weir_value a, weir_value y, weir_value b)
{
  return weir_add(g, weir_mul(g, x, a), weir_mul(g, y, b));
}

/* Spectra of u q and v q: [batch, 2, layers, rows, columns]. */
static weir_value fluxes(const waves *w, pair own, pair other)
{
  weir_graph *const g = w->g;
  const weir_value re = sum_of(g, own.re, w->wind_own, other.re, w->wind_other);
  const weir_value im = sum_of(g, own.im, w->wind_own, other.im, w->wind_other);
  const weir_value wind = to_grid(w, weir_make(g, weir_neg(g, im), re));
  const weir_value q = to_grid(
      w, weir_make(g, weir_add(g, own.re, w->height.re), weir_add(g, own.im, w->height.im)));

  return from_grid(w, weir_mul(g, wind, q));
}

/* dq/dt without viscosity. */
static pair rate(const waves *w, pair own)
{
  weir_graph *const g = w->g;
  const pair other = exchange(g, own);
  const weir_value flux = fluxes(w, own, other);
  const pair u = split(g, fields(g, flux, 0, 1)), v = split(g, fields(g, flux, 1, 2));
  const weir_value re =
      weir_sub(g, sum_of(g, own.re, w->a, other.re, w->b), sum_of(g, own.im, w->c, other.im, w->d));
  const weir_value im =
      weir_add(g, sum_of(g, own.im, w->a, other.im, w->b), sum_of(g, own.re, w->c, other.re, w->d));

  return (pair){
      weir_add(g, weir_add(g, re, w->force.re), sum_of(g, u.im, w->kx, v.im, w->ky)),
      weir_sub(g, weir_add(g, im, w->force.im), sum_of(g, u.re, w->kx, v.re, w->ky)),
  };
}

static weir_value axpy(weir_graph *g, weir_value x, double scale, weir_value y)
{
  return weir_add(g, x, weir_scale(g, y, scale));
}

static weir_value damp(const waves *w, weir_value x)
{
  return weir_mul(w->g, w->decay, x);
}

/* Stage s of a Runge-Kutta step of real or imaginary parts: q is the state, k the rate at the
 * stage, sum what is summed so far, next the state of the next stage. */
static void half_stage(const waves *w, int s, weir_value q, weir_value k, weir_value *sum,
                       weir_value *next)
{
  weir_graph *const g = w->g;
  const double dt = w->m->p.dt;

  if (s == 0) {
    *sum = damp(w, damp(w, axpy(g, q, dt / 6, k)));
    *next = damp(w, axpy(g, q, dt / 2, k));
  } else if (s == 1) {
    *sum = axpy(g, *sum, dt / 3, damp(w, k));
    *next = axpy(g, damp(w, q), dt / 2, k);
  } else if (s == 2) {
    *sum = axpy(g, *sum, dt / 3, damp(w, k));
    *next = damp(w, axpy(g, damp(w, q), dt, k));
  } else {
    *next = axpy(g, *sum, dt / 6, k);
  }
}

static pair step(const waves *w, pair q)
{
  pair at = q, sum = {WEIR_NO_VALUE, WEIR_NO_VALUE};

  for (int s = 0; s < 4; s++) {
    const pair k = rate(w, at);

    half_stage(w, s, q.re, k.re, &sum.re, &at.re);
    half_stage(w, s, q.im, k.im, &sum.im, &at.im);
  }
  return at;
}

void qg_graph_steps(weir_graph *g, const wx_qg *m, const weir_store *store, int64_t n)
{
  const weir_value state = weir_stored(g, store, "state");
  const waves w = make_waves(g, m);
  pair q = split(g, state);

  for (int64_t i = 0; i < n; i++) {
    q = step(&w, q);
  }
  weir_update(g, state, weir_make(g, q.re, q.im));
}

void qg_graph_rate(weir_graph *g, const wx_qg *m, const weir_store *store)
{
  const waves w = make_waves(g, m);
  const weir_value viscosity = of_waves(g, m, viscous);
  const pair q = split(g, weir_stored(g, store, "state")), k = rate(&w, q);

  weir_output(g, "rate",
              weir_make(g, weir_sub(g, k.re, weir_mul(g, viscosity, q.re)),
                        weir_sub(g, k.im, weir_mul(g, viscosity, q.im))));
}
