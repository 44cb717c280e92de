/* qg.c - tables of the model; between states and grids. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/simulation/qg_priv.h"

#define PI 3.14159265358979323846
enum { LEAST = 8, MOST = 4096 };

double wx_qg_mean_wind(const wx_qg_params *p)
{
  return 2 * p->width / p->ly * p->jet * tanh(p->ly / (2 * p->width));
}

static void number_columns(wx_qg *m)
{
  for (int64_t c = 0; c <= m->top_x; c++) {
    m->kx[c] = 2 * PI * (double)c / m->p.lx;
  }
  for (int64_t r = 0; r < m->rows; r++) {
    m->ky[r] = 2 * PI * (double)(r <= m->top_y ? r : r - m->rows) / m->p.ly;
  }
}

/* psi_t = -(q1 + q2) / (2 K^2), psi_c = -(q1 - q2) / (2 (K^2 + 2 F)), psi1,2 = psi_t +- psi_c. */
static void fill_inversion(wx_qg *m)
{
  for (int64_t r = 0; r < m->rows; r++) {
    for (int64_t c = 0; c <= m->top_x; c++) {
      const int64_t at = r * m->columns + c;
      const double k2 = m->kx[c] * m->kx[c] + m->ky[r] * m->ky[r];

      m->k2[at] = k2;
      if (r + c > 0) {
        const double mean = -1 / (2 * k2), difference = -1 / (2 * (k2 + 2 * m->p.coupling));

        m->own[at] = mean + difference;
        m->other[at] = mean - difference;
      }
    }
  }
}

/* Distance of two points of a circle. */
static double apart(double a, double b, double length)
{
  const double d = fabs(a - b);

  return fmin(d, length - d);
}

double wx_qg_mountains(const wx_qg_params *p, double x, double y)
{
  const double x1 = apart(x, 0.3 * p->lx, p->lx), x2 = apart(x, 0.75 * p->lx, p->lx);
  const double first = exp(-(x1 * x1 + (y - 1) * (y - 1)) / 8);
  const double second = exp(-x2 * x2 / 18 - (y + 2) * (y + 2) / 8);

  return p->mountain * (first + 0.6 * second);
}

/* Two mountains, their mean removed. */
static void fill_topography(wx_qg *m, wx_qg_workspace *workspace)
{
  const wx_qg_params *const p = &m->p;

  for (int64_t j = 0; j < p->ny; j++) {
    const double y = p->ly * ((double)j / (double)p->ny - 0.5); /* from the jet's axis */

    for (int64_t i = 0; i < p->nx; i++) {
      workspace->grid[j * p->nx + i] = wx_qg_mountains(p, p->lx * (double)i / (double)p->nx, y);
    }
  }
  qg_from_grid(m, workspace, workspace->grid, m->topography);
  m->topography[0] = m->topography[1] = 0;
}

/* psiR(ky) = i S(ky) / ky, S the spectrum of the jet without its mean. */
static void fill_relaxed(wx_qg *m)
{
  const wx_qg_params *const p = &m->p;

  for (int64_t r = 1; r < m->rows; r++) {
    double re = 0, im = 0;

    for (int64_t j = 0; j < p->ny; j++) {
      const double y = p->ly * (double)j / (double)p->ny;
      const double wave = 1 / cosh((y - p->ly / 2) / p->width);

      re += p->jet * wave * wave * cos(m->ky[r] * y) / (double)p->ny;
      im -= p->jet * wave * wave * sin(m->ky[r] * y) / (double)p->ny;
    }
    m->relaxed[2 * r] = -im / m->ky[r];
    m->relaxed[2 * r + 1] = re / m->ky[r];
  }
}

static weir_status make_plans(wx_qg *m)
{
  const int64_t nx = m->p.nx, ny = m->p.ny, half = nx / 2 + 1;
  weir_fft_plan_spec real = {
      .dtype = WEIR_F64, .kind = WEIR_FFT_REAL, .rank = 2, .dim = {{ny, nx, half}, {nx, 1, 1}}};

  WEIR_TRY(weir_fft_plan_create(&real, &m->from_real));
  real.kind = WEIR_FFT_TO_REAL;
  real.dim[0] = (weir_fft_dim){ny, half, nx};
  return weir_fft_plan_create(&real, &m->to_real);
}

static weir_status take_tables(wx_qg *m)
{
  const int64_t n = m->rows * m->columns;

  WEIR_TRY(weir_alloc(m->columns, sizeof *m->kx, (void **)&m->kx));
  WEIR_TRY(weir_alloc(m->rows, sizeof *m->ky, (void **)&m->ky));
  WEIR_TRY(weir_alloc(n, sizeof *m->own, (void **)&m->own));
  WEIR_TRY(weir_alloc(n, sizeof *m->other, (void **)&m->other));
  WEIR_TRY(weir_alloc(n, sizeof *m->k2, (void **)&m->k2));
  WEIR_TRY(weir_alloc(2 * n, sizeof *m->topography, (void **)&m->topography));
  return weir_alloc(2 * m->rows, sizeof *m->relaxed, (void **)&m->relaxed);
}

static weir_status fill(wx_qg *m)
{
  wx_qg_workspace *workspace = NULL;

  WEIR_TRY(take_tables(m));
  WEIR_TRY(make_plans(m));
  WEIR_TRY(wx_qg_workspace_create(m, &workspace));
  number_columns(m);
  fill_inversion(m);
  fill_topography(m, workspace);
  fill_relaxed(m);
  wx_qg_workspace_destroy(&workspace);
  return WEIR_OK;
}

weir_status wx_qg_check(const wx_qg_params *p)
{
  if (p->nx < LEAST || p->ny < LEAST || p->nx > MOST || p->ny > MOST || p->nx % 2 != 0 ||
      p->ny % 2 != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "qg: a grid of %lld x %lld points; even numbers from %d to %d do",
                     (long long)p->nx, (long long)p->ny, LEAST, MOST);
  }
  if (!(p->lx > 0) || !(p->ly > 0) || !(p->dt > 0) || !(p->coupling >= 0) || !(p->width > 0)) {
    return weir_fail(WEIR_ERR_CONFIG, "qg: lengths, step and width have to be above 0");
  }
  return WEIR_OK;
}

weir_status wx_qg_create(const wx_qg_params *p, wx_qg **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(wx_qg_check(p));
  WEIR_TRY(weir_alloc(1, sizeof(wx_qg), &memory));
  wx_qg *m = memory;

  m->p = *p;
  m->top_x = (p->nx - 1) / 3; /* |kx| < nx / 3 */
  m->top_y = (p->ny - 1) / 3;
  m->rows = 2 * m->top_y + 1;
  m->columns = m->top_x + 1;
  const weir_status status = fill(m);

  if (status != WEIR_OK) {
    wx_qg_destroy(&m);
    return status;
  }
  *out = m;
  return WEIR_OK;
}

void wx_qg_destroy(wx_qg **m)
{
  if (*m == NULL) {
    return;
  }
  void *const tables[] = {&(*m)->kx, &(*m)->ky,      &(*m)->own,       &(*m)->other,
                          &(*m)->k2, &(*m)->relaxed, &(*m)->topography};

  for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
    weir_free(tables[t]);
  }
  weir_fft_plan_destroy(&(*m)->to_real);
  weir_fft_plan_destroy(&(*m)->from_real);
  weir_free(m);
}

const wx_qg_params *wx_qg_get(const wx_qg *m)
{
  return &m->p;
}

static weir_status allocate(const wx_qg *m, wx_qg_workspace *r)
{
  const int64_t nx = m->p.nx, ny = m->p.ny;

  WEIR_TRY(weir_alloc(ny * (nx / 2 + 1), 2 * sizeof(double), (void **)&r->half));
  WEIR_TRY(weir_alloc(ny * nx, sizeof(double), (void **)&r->grid));
  WEIR_TRY(weir_alloc(5 * m->rows * m->columns, 2 * sizeof(double), (void **)&r->spectra));
  WEIR_TRY(weir_alloc(m->rows * m->columns + ny * nx, 2 * sizeof(double), (void **)&r->extra));
  return weir_alloc(1, (size_t)wx_qg_state_bytes(m), &r->rate);
}

weir_status wx_qg_workspace_create(const wx_qg *m, wx_qg_workspace **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(wx_qg_workspace), &memory));
  wx_qg_workspace *r = memory;
  const weir_status status = allocate(m, r);

  if (status != WEIR_OK) {
    wx_qg_workspace_destroy(&r);
    return status;
  }
  *out = r;
  return WEIR_OK;
}

void wx_qg_workspace_destroy(wx_qg_workspace **r)
{
  if (*r == NULL) {
    return;
  }
  void *const all[] = {&(*r)->half, &(*r)->grid, &(*r)->spectra, &(*r)->extra, &(*r)->rate};

  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    weir_free(all[i]);
  }
  weir_free(r);
}

int64_t wx_qg_state_bytes(const wx_qg *m)
{
  return WX_QG_LAYERS * m->rows * m->columns * 2 * (int64_t)weir_dtype_size(m->p.dtype);
}

void wx_qg_add(const wx_qg *m, void *to, double scale, const void *a, const void *b)
{
  const int64_t n = WX_QG_LAYERS * m->rows * 2 * m->columns;

  for (int64_t i = 0; i < n; i++) {
    const double difference =
        weir_dtype_load_real(m->p.dtype, a, i) - weir_dtype_load_real(m->p.dtype, b, i);

    weir_dtype_store_real(m->p.dtype, to, i,
                          weir_dtype_load_real(m->p.dtype, to, i) + scale * difference);
  }
}

void wx_qg_project(const wx_qg *from, const void *state, const wx_qg *to, void *out)
{
  const size_t pair = 2 * weir_dtype_size(from->p.dtype);
  const int64_t columns = 1 + (from->top_x < to->top_x ? from->top_x : to->top_x);
  const int64_t top = from->top_y < to->top_y ? from->top_y : to->top_y;

  WEIR_ASSERT(from->p.dtype == to->p.dtype);
  memset(out, 0, (size_t)wx_qg_state_bytes(to));
  for (int64_t layer = 0; layer < WX_QG_LAYERS; layer++) {
    for (int64_t ky = -top; ky <= top; ky++) {
      const int64_t source = layer * from->rows + (ky < 0 ? from->rows + ky : ky);
      const int64_t target = layer * to->rows + (ky < 0 ? to->rows + ky : ky);

      memcpy((char *)out + (size_t)(target * to->columns) * pair,
             (const char *)state + (size_t)(source * from->columns) * pair, (size_t)columns * pair);
    }
  }
}

static int64_t row_of_grid(const wx_qg *m, int64_t r)
{
  return r <= m->top_y ? r : m->p.ny - m->rows + r;
}

void qg_to_grid(const wx_qg *m, wx_qg_workspace *r, const double *spectrum, double *grid)
{
  const int64_t half = m->p.nx / 2 + 1;

  memset(r->half, 0, (size_t)(m->p.ny * half) * 2 * sizeof *r->half);
  for (int64_t at = 0; at < m->rows; at++) {
    memcpy(r->half + 2 * row_of_grid(m, at) * half, spectrum + 2 * at * m->columns,
           (size_t)m->columns * 2 * sizeof *spectrum);
  }
  weir_fft_plan_run(m->to_real, r->half, r->grid);
  if (grid != r->grid) {
    memcpy(grid, r->grid, (size_t)(m->p.ny * m->p.nx) * sizeof *grid);
  }
}

void qg_from_grid(const wx_qg *m, wx_qg_workspace *r, const double *grid, double *spectrum)
{
  const int64_t half = m->p.nx / 2 + 1;
  const double scale = 1 / (double)(m->p.ny * m->p.nx);

  if (grid != r->grid) {
    memcpy(r->grid, grid, (size_t)(m->p.ny * m->p.nx) * sizeof *grid);
  }
  weir_fft_plan_run(m->from_real, r->grid, r->half);
  for (int64_t at = 0; at < m->rows; at++) {
    const double *const from = r->half + 2 * row_of_grid(m, at) * half;

    for (int64_t c = 0; c < 2 * m->columns; c++) {
      spectrum[2 * at * m->columns + c] = scale * from[c];
    }
  }
}

void wx_qg_set_psi(const wx_qg *m, wx_qg_workspace *r, const double *psi, void *state)
{
  const int64_t n = 2 * m->rows * m->columns, cells = m->p.ny * m->p.nx;
  double *const one = r->spectra, *const two = r->spectra + n;

  qg_from_grid(m, r, psi, one);
  qg_from_grid(m, r, psi + cells, two);
  one[0] = one[1] = two[0] = two[1] = 0;
  for (int64_t i = 0; i < n; i++) {
    const double difference = m->p.coupling * (one[i] - two[i]);

    one[i] = -m->k2[i / 2] * one[i] - difference;
    two[i] = -m->k2[i / 2] * two[i] + difference;
  }
  qg_narrow(m, one, 0, state);
  qg_narrow(m, two, 1, state);
}

void qg_widen(const wx_qg *m, const void *state, int64_t layer, double *q)
{
  const int64_t n = m->rows * 2 * m->columns;

  for (int64_t i = 0; i < n; i++) {
    q[i] = weir_dtype_load_real(m->p.dtype, state, layer * n + i);
  }
}

void qg_narrow(const wx_qg *m, const double *q, int64_t layer, void *state)
{
  const int64_t n = m->rows * 2 * m->columns;

  for (int64_t i = 0; i < n; i++) {
    weir_dtype_store_real(m->p.dtype, state, layer * n + i, q[i]);
  }
}

void qg_psi_spectra(const wx_qg *m, const void *state, double *psi)
{
  const int64_t n = 2 * m->rows * m->columns;

  qg_widen(m, state, 0, psi);
  qg_widen(m, state, 1, psi + n);
  for (int64_t i = 0; i < n; i++) {
    const double q1 = psi[i], q2 = psi[n + i];

    psi[i] = m->own[i / 2] * q1 + m->other[i / 2] * q2;
    psi[n + i] = m->other[i / 2] * q1 + m->own[i / 2] * q2;
  }
}

void wx_qg_psi(const wx_qg *m, wx_qg_workspace *r, const void *state, double *psi)
{
  const int64_t n = 2 * m->rows * m->columns, cells = m->p.ny * m->p.nx;

  qg_psi_spectra(m, state, r->spectra);
  qg_to_grid(m, r, r->spectra, psi);
  qg_to_grid(m, r, r->spectra + n, psi + cells);
}

void wx_qg_q(const wx_qg *m, wx_qg_workspace *r, const void *state, double *q)
{
  const int64_t cells = m->p.ny * m->p.nx;

  for (int64_t layer = 0; layer < WX_QG_LAYERS; layer++) {
    qg_widen(m, state, layer, r->spectra);
    qg_to_grid(m, r, r->spectra, q + layer * cells);
  }
}

void wx_qg_invariants(const wx_qg *m, wx_qg_workspace *r, const void *state, double *energy,
                      double *enstrophy)
{
  const int64_t n = 2 * m->rows * m->columns;
  const double *const one = r->spectra, *const two = r->spectra + n;

  *energy = *enstrophy = 0;
  qg_psi_spectra(m, state, r->spectra);
  for (int64_t i = 0; i < n; i++) {
    const double twice = i / 2 % m->columns == 0 ? 1 : 2; /* what stands for kx and -kx */
    const double k2 = m->k2[i / 2], difference = m->p.coupling * (one[i] - two[i]);
    const double q1 = -k2 * one[i] - difference, q2 = -k2 * two[i] + difference;

    *energy +=
        twice * (k2 * (one[i] * one[i] + two[i] * two[i]) / 2 + difference * (one[i] - two[i]) / 2);
    *enstrophy += twice * (q1 * q1 + q2 * q2) / 2;
  }
}
