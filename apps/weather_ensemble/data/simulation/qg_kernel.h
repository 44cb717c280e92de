/* qg_kernel.h - the steps of the model in one dtype. Before it, a source defines REAL and KERNELS.
 *
 * Of the flux form J(psi, q) = d/dx (u q) + d/dy (v q) the grid sees two real fields as one complex
 * one, w = u + i v and q1 + i q2, so that all transforms are complex ones of FFTW's vector code; w
 * q holds both fluxes. Along y, only the columns |kx| <= top_x are transformed; along x, a few rows
 * at a time go to the grid, are multiplied and come back while they are in cache. */
#include "base/weir_alloc.h"
#include "data/simulation/qg_priv.h"

/* The six fields of row `at` (of rows), from q1 and q2'. */
static void write_fields(const wx_qg *m, int64_t at, const REAL *restrict q1,
                         const REAL *restrict q2, REAL *restrict to)
{
  const int64_t n = 2 * m->pitch;
  const REAL *restrict const own = (const REAL *)m->t_own + at * n;
  const REAL *restrict const other = (const REAL *)m->t_other + at * n;
  const REAL *restrict const h = (const REAL *)m->t_topography + at * n;
  const REAL *restrict const kx = m->t_kx;
  const REAL ky = (REAL)m->ky[at];

  for (int64_t i = 0; i < n; i++) {
    const REAL psi1 = own[i] * q1[i] + other[i] * q2[i];
    const REAL psi2 = other[i] * q1[i] + own[i] * q2[i];

    to[i] = -ky * psi1;
    to[n + i] = kx[i] * psi1;
    to[2 * n + i] = q1[i];
    to[3 * n + i] = -ky * psi2;
    to[4 * n + i] = kx[i] * psi2;
    to[5 * n + i] = q2[i] + h[i];
  }
}

static int64_t row_of_grid(const wx_qg *m, int64_t at)
{
  return at <= m->top_y ? at : m->p.ny - m->rows + at;
}

static void write_all_fields(const wx_qg *m, wx_qg_workspace *r, const REAL *state)
{
  const int64_t n = 2 * m->pitch;

  for (int64_t at = 0; at < m->rows; at++) {
    write_fields(m, at, state + at * n, state + (m->rows + at) * n,
                 (REAL *)r->in + row_of_grid(m, at) * QG_TO_GRID * n);
  }
}

/* w = u + i v with u = i a, v = i b (a, b of (y, kx)): i a - b at kx, conj(i a) + i conj(i b) at
 * -kx.
 */
static void fill_wind(const REAL *restrict a, const REAL *restrict b, int64_t top, int64_t nx,
                      REAL *restrict to)
{
  REAL *restrict const mirror = to + 2 * nx;

  to[0] = -a[1] - b[0];
  to[1] = a[0] - b[1];
  for (int64_t k = 1; k <= top; k++) {
    to[2 * k] = -a[2 * k + 1] - b[2 * k];
    to[2 * k + 1] = a[2 * k] - b[2 * k + 1];
  }
  for (int64_t k = 1; k <= top; k++) {
    mirror[-2 * k] = b[2 * k] - a[2 * k + 1];
    mirror[-2 * k + 1] = -a[2 * k] - b[2 * k + 1];
  }
}

/* a + i b at kx, conj(a) + i conj(b) at -kx. */
static void fill_pair(const REAL *restrict a, const REAL *restrict b, int64_t top, int64_t nx,
                      REAL *restrict to)
{
  REAL *restrict const mirror = to + 2 * nx;

  to[0] = a[0] - b[1];
  to[1] = a[1] + b[0];
  for (int64_t k = 1; k <= top; k++) {
    to[2 * k] = a[2 * k] - b[2 * k + 1];
    to[2 * k + 1] = a[2 * k + 1] + b[2 * k];
  }
  for (int64_t k = 1; k <= top; k++) {
    mirror[-2 * k] = a[2 * k] + b[2 * k + 1];
    mirror[-2 * k + 1] = b[2 * k] - a[2 * k + 1];
  }
}

/* 2 x the spectra of the real part (p) and the imaginary part (q) of what z is the spectrum of. */
static void split_pair(const REAL *restrict z, int64_t top, int64_t nx, REAL *restrict p,
                       REAL *restrict q)
{
  const REAL *restrict const mirror = z + 2 * nx;

  p[0] = 2 * z[0];
  q[0] = 2 * z[1];
  p[1] = q[1] = 0;
  for (int64_t k = 1; k <= top; k++) {
    p[2 * k] = z[2 * k] + mirror[-2 * k];
    p[2 * k + 1] = z[2 * k + 1] - mirror[-2 * k + 1];
    q[2 * k] = z[2 * k + 1] + mirror[-2 * k + 1];
    q[2 * k + 1] = mirror[-2 * k] - z[2 * k];
  }
}

/* w1 q1 and w2 q2 of one row: x [QG_PAIRS_TO, nx], out [QG_PAIRS_FROM, nx]. */
static void multiply(int64_t nx, const REAL *restrict x, REAL *restrict out)
{
  const REAL *restrict const w2 = x + 2 * nx, *restrict const q = x + 4 * nx;
  REAL *restrict const out2 = out + 2 * nx;

  for (int64_t i = 0; i < nx; i++) {
    out[2 * i] = x[2 * i] * q[2 * i];
    out[2 * i + 1] = x[2 * i + 1] * q[2 * i];
    out2[2 * i] = w2[2 * i] * q[2 * i + 1];
    out2[2 * i + 1] = w2[2 * i + 1] * q[2 * i + 1];
  }
}

/* Fluxes of (y, kx), for block rows from row y on. */
static void fluxes_of_rows(const wx_qg *m, wx_qg_workspace *r, int64_t y)
{
  const int64_t n = 2 * m->pitch, nx = m->p.nx, top = m->top_x;

  for (int64_t b = 0; b < m->block; b++) {
    const REAL *const f = (const REAL *)r->mixed + (y + b) * QG_TO_GRID * n;
    REAL *const to = (REAL *)r->line_in + b * QG_PAIRS_TO * 2 * nx;

    fill_wind(f, f + n, top, nx, to);
    fill_wind(f + 3 * n, f + 4 * n, top, nx, to + 2 * nx);
    fill_pair(f + 2 * n, f + 5 * n, top, nx, to + 4 * nx);
  }
  weir_fft_plan_run(m->x_back, r->line_in, r->line);
  for (int64_t b = 0; b < m->block; b++) {
    multiply(nx, (const REAL *)r->line + b * QG_PAIRS_TO * 2 * nx,
             (REAL *)r->product + b * QG_PAIRS_FROM * 2 * nx);
  }
  weir_fft_plan_run(m->x_forward, r->product, r->line_out);
  for (int64_t b = 0; b < m->block; b++) {
    const REAL *const z = (const REAL *)r->line_out + b * QG_PAIRS_FROM * 2 * nx;
    REAL *const f = (REAL *)r->flux + (y + b) * QG_FROM_GRID * n;

    split_pair(z, top, nx, f, f + n);
    split_pair(z + 2 * nx, top, nx, f + 2 * n, f + 3 * n);
  }
}

/* Fluxes of (ky, kx) in r->out, not scaled, from the fields in r->in. */
static void make_fluxes(const wx_qg *m, wx_qg_workspace *r)
{
  weir_fft_plan_run(m->y_back, r->in, r->mixed);
  for (int64_t y = 0; y < m->p.ny; y += m->block) {
    fluxes_of_rows(m, r, y);
  }
  weir_fft_plan_run(m->y_forward, r->flux, r->out);
}

/* All but the viscosity, of row `at`, to k1 and k2; turned1 and turned2 are scratch: what is
 * multiplied by i. */
static void rates_of_row(const wx_qg *m, wx_qg_workspace *r, int64_t at, const REAL *restrict q1,
                         const REAL *restrict q2, REAL *restrict k1, REAL *restrict k2)
{
  const int64_t n = 2 * m->pitch;
  const REAL *restrict const own = (const REAL *)m->t_own + at * n;
  const REAL *restrict const other = (const REAL *)m->t_other + at * n;
  const REAL *restrict const drag = (const REAL *)m->t_drag + at * n;
  const REAL *restrict const relaxed = (const REAL *)m->t_relaxed + at * n;
  const REAL *restrict const kx = m->t_kx;
  const REAL *restrict const f = (const REAL *)r->out + row_of_grid(m, at) * QG_FROM_GRID * n;
  REAL *restrict const turned1 = r->row[2], *restrict const turned2 = r->row[3];
  const wx_qg_params *const p = &m->p;
  const double shear = p->coupling * (p->u[0] - p->u[1]);
  const REAL ky = (REAL)m->ky[at], rate = (REAL)(1 / p->tau_d);
  const REAL scale = (REAL)(0.5 / (double)(p->nx * p->ny));
  const REAL u1 = (REAL)p->u[0], u2 = (REAL)p->u[1];
  const REAL slope1 = (REAL)(p->beta + shear), slope2 = (REAL)(p->beta - shear);

  for (int64_t i = 0; i < n; i++) {
    const REAL psi1 = own[i] * q1[i] + other[i] * q2[i];
    const REAL psi2 = other[i] * q1[i] + own[i] * q2[i];
    const REAL warmed = rate * (psi1 - psi2) - relaxed[i];

    turned1[i] = kx[i] * (u1 * q1[i] + slope1 * psi1) + scale * (kx[i] * f[i] + ky * f[n + i]);
    turned2[i] =
        kx[i] * (u2 * q2[i] + slope2 * psi2) + scale * (kx[i] * f[2 * n + i] + ky * f[3 * n + i]);
    k1[i] = warmed;
    k2[i] = drag[i] * psi2 - warmed;
  }
  for (int64_t i = 0; i < n; i += 2) {
    k1[i] += turned1[i + 1];
    k1[i + 1] -= turned1[i];
    k2[i] += turned2[i + 1];
    k2[i + 1] -= turned2[i];
  }
}

/* One of the four stages of a row: `decay` is exp(-nu K^8 dt / 2); next is left alone by the last.
 */
static void stage_of_row(int stage, int64_t n, REAL dt, const REAL *restrict decay,
                         const REAL *restrict k, REAL *restrict q, REAL *restrict sum,
                         REAL *restrict next)
{
  const REAL half = dt / 2, third = dt / 3, sixth = dt / 6;

  if (stage == 0) {
    for (int64_t i = 0; i < n; i++) {
      sum[i] = decay[i] * (decay[i] * (q[i] + sixth * k[i]));
      next[i] = decay[i] * (q[i] + half * k[i]);
    }
  } else if (stage == 1) {
    for (int64_t i = 0; i < n; i++) {
      sum[i] += third * (decay[i] * k[i]);
      next[i] = decay[i] * q[i] + half * k[i];
    }
  } else if (stage == 2) {
    for (int64_t i = 0; i < n; i++) {
      sum[i] += third * (decay[i] * k[i]);
      next[i] = decay[i] * (decay[i] * q[i] + dt * k[i]);
    }
  } else {
    for (int64_t i = 0; i < n; i++) {
      q[i] = sum[i] + sixth * k[i];
    }
  }
}

/* A stage of all rows, and the fields of the next one. */
static void make_stage(const wx_qg *m, wx_qg_workspace *r, int stage, REAL *state)
{
  const int64_t n = 2 * m->pitch, layer = m->rows * n;
  const REAL *const value = stage == 0 ? state : r->stage;
  REAL *const k1 = r->row[0], *const k2 = r->row[1];
  REAL *const sum = r->sum, *const next = r->stage;
  const REAL dt = (REAL)m->p.dt;

  make_fluxes(m, r);
  for (int64_t at = 0; at < m->rows; at++) {
    const int64_t one = at * n, two = layer + one;
    const REAL *const decay = (const REAL *)m->t_decay + one;
    const REAL *const then = stage == 3 ? state : next;

    rates_of_row(m, r, at, value + one, value + two, k1, k2);
    stage_of_row(stage, n, dt, decay, k1, state + one, sum + one, next + one);
    stage_of_row(stage, n, dt, decay, k2, state + two, sum + two, next + two);
    write_fields(m, at, then + one, then + two,
                 (REAL *)r->in + row_of_grid(m, at) * QG_TO_GRID * n);
  }
}

static void run_steps(const wx_qg *m, wx_qg_workspace *r, void *state, int64_t n)
{
  write_all_fields(m, r, state);
  for (int64_t step = 0; step < n; step++) {
    for (int stage = 0; stage < 4; stage++) {
      make_stage(m, r, stage, state);
    }
  }
}

static void find_tendency(const wx_qg *m, wx_qg_workspace *r, const void *state, void *out)
{
  const int64_t n = 2 * m->pitch, layer = m->rows * n;
  const REAL *const q = state;
  REAL *const k = out;

  write_all_fields(m, r, q);
  make_fluxes(m, r);
  for (int64_t at = 0; at < m->rows; at++) {
    const int64_t one = at * n, two = layer + one;

    rates_of_row(m, r, at, q + one, q + two, k + one, k + two);
    for (int64_t i = 0; i < n; i++) {
      const double k4 = m->k2[at * m->pitch + i / 2] * m->k2[at * m->pitch + i / 2];
      const REAL viscous = (REAL)(m->p.nu * k4 * k4);

      k[one + i] -= viscous * q[one + i];
      k[two + i] -= viscous * q[two + i];
    }
  }
}

static void add_difference(const wx_qg *m, void *to, double scale, const void *a, const void *b)
{
  const int64_t n = WX_QG_LAYERS * m->rows * 2 * m->pitch;
  REAL *restrict const sum = to;
  const REAL *const one = a, *const two = b;
  const REAL s = (REAL)scale;

  for (int64_t i = 0; i < n; i++) {
    sum[i] += s * (one[i] - two[i]);
  }
}

static void widen(const wx_qg *m, const void *state, int64_t layer, double *q)
{
  const int64_t n = m->rows * 2 * m->pitch;
  const REAL *const from = (const REAL *)state + layer * n;

  for (int64_t i = 0; i < n; i++) {
    q[i] = (double)from[i];
  }
}

static void narrow(const wx_qg *m, const double *q, int64_t layer, void *state)
{
  const int64_t n = m->rows * 2 * m->pitch;
  REAL *const to = (REAL *)state + layer * n;

  for (int64_t i = 0; i < n; i++) {
    to[i] = (REAL)q[i];
  }
}

static void make_tables(wx_qg *m)
{
  const int64_t n = m->pitch;

  for (int64_t at = 0; at < m->rows; at++) {
    for (int64_t c = 0; c < 2 * n; c++) {
      const int64_t from = at * n + c / 2, to = at * 2 * n + c;
      const double k4 = m->k2[from] * m->k2[from];

      ((REAL *)m->t_kx)[c] = (REAL)m->kx[c / 2];
      ((REAL *)m->t_own)[to] = (REAL)m->own[from];
      ((REAL *)m->t_other)[to] = (REAL)m->other[from];
      ((REAL *)m->t_drag)[to] = (REAL)(m->k2[from] / m->p.tau_f);
      ((REAL *)m->t_decay)[to] = (REAL)exp(-m->p.nu * k4 * k4 * m->p.dt / 2);
      ((REAL *)m->t_topography)[to] = (REAL)m->topography[to];
      ((REAL *)m->t_relaxed)[to] = (REAL)(c < 2 ? m->relaxed[2 * at + c] / m->p.tau_d : 0);
    }
  }
}

const qg_kernels KERNELS = {run_steps, find_tendency, add_difference, widen, narrow, make_tables};
