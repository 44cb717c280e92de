/* qg_fields.c - see qg_fields.h; docs/science/weather_simulation.md. */
#include "data/simulation/qg_fields.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "data/simulation/qg_priv.h"

#define GAS 287.0          /* J kg-1 K-1, of dry air               */
#define MIDDLE_GEO 54000.0 /* m2 s-2, mean geopotential at 500 hPa */
#define MIDDLE_T 255.0     /* K, mean temperature                  */
#define LAYER 5e4          /* Pa, of each layer                    */
#define GRAVITY 9.80665    /* m s-2                                */
#define LAPSE 6.5e-3       /* K m-1, from the middle of the atmosphere to sea level */
#define CONDENSED 4e-3     /* kg kg-1, of vapour in air that rises through a layer */
#define OVERCAST 0.1 /* Pa s-1: air that rises as fast is overcast, that sinks as fast clear */

/* How a row's field comes from spectra. */
typedef enum kind {
  PSI,
  WIND_X,
  WIND_Y,
  SPEED,
  VORTICITY,
  SHEAR,
  SEA_LEVEL,
  VERTICAL,
  RAIN,
  CLOUD,
  POTENTIAL
} kind;

typedef struct row {
  const char *variable, *units;
  double level; /* hPa; 0: the surface */
  kind kind;
  double upper, lower; /* shares of the layers */
} row;

static const row rows[] = {
    {"z", "m2 s-2", 250, PSI, 1, 0},       {"z", "m2 s-2", 500, PSI, 0.5, 0.5},
    {"z", "m2 s-2", 750, PSI, 0, 1},       {"t", "K", 500, SHEAR, 1, -1},
    {"u", "m s-1", 250, WIND_X, 1, 0},     {"u", "m s-1", 500, WIND_X, 0.5, 0.5},
    {"u", "m s-1", 750, WIND_X, 0, 1},     {"v", "m s-1", 250, WIND_Y, 1, 0},
    {"v", "m s-1", 500, WIND_Y, 0.5, 0.5}, {"v", "m s-1", 750, WIND_Y, 0, 1},
    {"vo", "s-1", 250, VORTICITY, 1, 0},   {"vo", "s-1", 500, VORTICITY, 0.5, 0.5},
    {"vo", "s-1", 750, VORTICITY, 0, 1},   {"pv", "s-1", 250, POTENTIAL, 1, 0},
    {"pv", "s-1", 750, POTENTIAL, 0, 1},   {"w", "Pa s-1", 500, VERTICAL, 1, 1},
    {"ws", "m s-1", 250, SPEED, 1, 0},     {"ws", "m s-1", 500, SPEED, 0.5, 0.5},
    {"ws", "m s-1", 750, SPEED, 0, 1},     {"tprate", "kg m-2 s-1", 0, RAIN, 1, 1},
    {"2t", "K", 0, SEA_LEVEL, 1, -1},      {"tcc", "1", 0, CLOUD, 1, 1},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

int wx_qg_quantities(void)
{
  return N_ROWS;
}

bool wx_qg_quantity_is_surface(int i)
{
  return rows[i].kind == SEA_LEVEL;
}

double wx_qg_layer_height(void)
{
  return GAS * MIDDLE_T / GRAVITY * log(1e5 / LAYER);
}

void wx_qg_quantity(int i, wx_quantity *q)
{
  *q = (wx_quantity){.kind = rows[i].level > 0 ? WX_LEVEL_PRESSURE : WX_LEVEL_SURFACE,
                     .level = rows[i].level};
  (void)snprintf(q->variable, sizeof q->variable, "%s", rows[i].variable);
  (void)snprintf(q->units, sizeof q->units, "%s", rows[i].units);
  wx_quantity_complete(q);
}

weir_status wx_qg_quantity_find(const char *name, int *out)
{
  char names[256] = "";
  size_t used = 0;

  for (int i = 0; i < N_ROWS; i++) {
    wx_quantity q;

    wx_qg_quantity(i, &q);
    if (strcmp(q.name, name) == 0) {
      *out = i;
      return WEIR_OK;
    }
    used += (size_t)snprintf(names + used, sizeof names - used, " %s", q.name);
  }
  return weir_fail(WEIR_ERR_CONFIG, "the simulation has no quantity %s; it has%s", name, names);
}

/* Spectrum s, in place, of its derivative by x (dx) or y. */
static void derive(const wx_qg *m, bool dx, double *s)
{
  for (int64_t i = 0; i < m->rows * m->columns; i++) {
    const double k = dx ? m->kx[i % m->columns] : m->ky[i / m->columns], re = s[2 * i];

    s[2 * i] = -k * s[2 * i + 1];
    s[2 * i + 1] = k * re;
  }
}

/* u1 v2 - v1 u2 = J(psi1, psi2) as a spectrum into s[0]; s: [2] spectra, of psi. */
static void jacobian(const wx_qg *m, wx_qg_workspace *r, double *const s[2], double *product)
{
  const int64_t n = 2 * m->rows * m->columns, cells = m->p.nx * m->p.ny;
  double *const work = r->extra, *const sum = r->extra + n, *const one = sum + cells;

  memset(sum, 0, (size_t)cells * sizeof *sum);
  for (int x = 0; x < 2; x++) { /* psi1_x psi2_y, then less psi1_y psi2_x */
    memcpy(work, s[0], (size_t)n * sizeof *work);
    derive(m, x == 0, work);
    qg_to_grid(m, r, work, one);
    memcpy(work, s[1], (size_t)n * sizeof *work);
    derive(m, x == 1, work);
    qg_to_grid(m, r, work, r->grid);
    for (int64_t i = 0; i < cells; i++) {
      sum[i] += (x == 0 ? 1 : -1) * one[i] * r->grid[i];
    }
  }
  qg_from_grid(m, r, sum, product);
}

/* The stretching of the upper layer, D1 zeta1 / Dt + beta v1 =
 *   F (d(psi1 - psi2)/dt - J(psi1, psi2) + U2 dpsi1/dx - U1 dpsi2/dx) + (psi1 - psi2 - psiR) /
 * tau_d, from which f0 omega / layer: the equation of q1 less what is not vorticity. Into
 * spectra[0]. */
static weir_status stretching(const wx_qg *m, wx_qg_workspace *r, wx_qg_solver *solver,
                              const void *state, double *psi)
{
  const wx_qg_params *const p = &m->p;
  const int64_t n = 2 * m->rows * m->columns;
  double *const s[2] = {psi, psi + n};
  double *const product = psi + 2 * n, *const rate = psi + 3 * n;

  WEIR_TRY(wx_qg_tendency(solver, state, r->rate));
  qg_psi_spectra(m, r->rate, rate); /* [2] spectra */
  jacobian(m, r, s, product);
  for (int64_t i = 0; i < n; i++) {
    rate[i] -= rate[n + i];
    product[i] = p->coupling * (rate[i] - product[i]) + (s[0][i] - s[1][i]) / p->tau_d;
  }
  for (int64_t at = 0; at < m->rows; at++) {
    product[2 * at * m->columns] -= m->relaxed[2 * at] / p->tau_d;
    product[2 * at * m->columns + 1] -= m->relaxed[2 * at + 1] / p->tau_d;
  }
  derive(m, true, s[0]);
  derive(m, true, s[1]);
  for (int64_t i = 0; i < n; i++) {
    s[0][i] = product[i] + p->coupling * (p->u[1] * s[0][i] - p->u[0] * s[1][i]);
  }
  return WEIR_OK;
}

/* The spectrum of a row's field, without units, into r->spectra[0]. */
static weir_status make_spectrum(const wx_qg *m, const wx_qg *climate, wx_qg_workspace *r,
                                 wx_qg_solver *solver, const void *state, const row *w)
{
  const int64_t n = 2 * m->rows * m->columns;
  double *const s = r->spectra;

  if (w->kind == POTENTIAL) {
    qg_widen(m, state, w->upper > 0 ? 0 : 1, s);
    for (int64_t i = 0; i < n && w->lower > 0; i++) {
      s[i] += climate->topography[i];
    }
    return WEIR_OK;
  }
  qg_psi_spectra(m, state, s);
  if (w->kind == VERTICAL || w->kind == RAIN || w->kind == CLOUD) {
    return stretching(m, r, solver, state, s);
  }
  for (int64_t i = 0; i < n; i++) {
    s[i] = w->upper * s[i] + w->lower * s[n + i];
    if (w->kind == VORTICITY) {
      s[i] *= -m->k2[i / 2];
    }
  }
  if (w->kind == WIND_X || w->kind == WIND_Y) {
    derive(m, w->kind == WIND_Y, s);
  }
  return WEIR_OK;
}

/* The field is unit x (the spectrum's + tilt y) + mean, y from the jet's axis. */
typedef struct profile {
  double unit, tilt, mean;
} profile;

static profile profile_of(const wx_qg_params *p, const wx_qg_scale *scale, const row *w)
{
  const double geo = scale->coriolis * scale->wind * scale->length;
  const double rate = scale->wind / scale->length, shear = p->coupling * (p->u[0] - p->u[1]);
  const double wind = w->upper * p->u[0] + w->lower * p->u[1];

  switch (w->kind) {
  case PSI: /* at the mean temperature, 500 hPa / level is a difference in height */
    return (profile){geo, -wind, MIDDLE_GEO + GAS * MIDDLE_T * log(500 / w->level)};
  case SHEAR:
    return (profile){geo / (GAS * log(3)), -wind, MIDDLE_T};
  case SEA_LEVEL:
    return (profile){geo / (GAS * log(3)), -wind, MIDDLE_T + LAPSE * wx_qg_layer_height()};
  case WIND_X:
    return (profile){-scale->wind, 0, scale->wind * wind};
  case WIND_Y:
    return (profile){scale->wind, 0, 0};
  case VORTICITY:
    return (profile){rate, 0, 0};
  case POTENTIAL:
    return (profile){rate, p->beta + (w->upper > 0 ? shear : -shear), scale->coriolis};
  case VERTICAL:
    return (profile){rate * rate * LAYER / scale->coriolis, 0, 0};
  case RAIN: /* of what rises: -w CONDENSED / GRAVITY */
    return (profile){-rate * rate * LAYER / scale->coriolis * CONDENSED / GRAVITY, 0, 0};
  case CLOUD: /* 1/2 - w / (2 OVERCAST) */
    return (profile){-rate * rate * LAYER / scale->coriolis / (2 * OVERCAST), 0, 0.5};
  case SPEED: /* of its two winds */
    break;
  }
  return (profile){0, 0, 0};
}

/* What a field has become so far, and a value of a spectrum: the first of two winds stays as it is,
 * the second makes a speed of both. */
static double combine(kind of, kind part, const float *before, double value)
{
  return of == SPEED && part == WIND_Y ? hypot((double)*before, value)
         : of == RAIN                  ? (value < 0 ? 0 : value)
         : of == CLOUD                 ? (value < 0   ? 0
                                          : value > 1 ? 1
                                                      : value)
                                       : value;
}

static weir_status make_part(const wx_qg *m, const wx_qg *climate, const wx_qg_scale *scale,
                             wx_qg_workspace *r, wx_qg_solver *solver, const void *state,
                             const row *w, kind of, float *out)
{
  const profile f = profile_of(&climate->p, scale, w);
  const int64_t nx = m->p.nx, ny = m->p.ny;

  WEIR_TRY(make_spectrum(m, climate, r, solver, state, w));
  qg_to_grid(m, r, r->spectra, r->grid);
  for (int64_t j = 0; j < ny; j++) {
    const double y = m->p.ly * ((double)j / (double)ny - 0.5);
    float *const to = out + (ny - 1 - j) * nx;

    for (int64_t x = 0; x < nx; x++) {
      to[x] =
          (float)combine(of, w->kind, &to[x], f.unit * (r->grid[j * nx + x] + f.tilt * y) + f.mean);
    }
  }
  return WEIR_OK;
}

weir_status wx_qg_field(const wx_qg *m, const wx_qg *climate, const wx_qg_scale *scale,
                        wx_qg_workspace *r, wx_qg_solver *solver, const void *state, int i,
                        float *out)
{
  const kind of = rows[i].kind;
  row part = rows[i];

  if (of == SPEED) {
    part.kind = WIND_X;
    WEIR_TRY(make_part(m, climate, scale, r, solver, state, &part, of, out));
    part.kind = WIND_Y;
  }
  return make_part(m, climate, scale, r, solver, state, &part, of, out);
}
