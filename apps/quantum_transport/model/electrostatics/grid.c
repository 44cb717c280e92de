/* grid.c - see grid.h. */
#include "model/electrostatics/grid.h"

#include <math.h>

#include "base/weir_alloc.h"

void qt_grid_fini(qt_grid *g)
{
  for (int d = 0; d < 3; d++) {
    weir_free(&g->x[d]);
  }
  weir_free(&g->permittivity);
  weir_free(&g->gate);
  weir_free(&g->node);
  weir_free(&g->share);
  *g = (qt_grid){.n_atoms = 0};
}

int64_t qt_grid_nodes(const qt_grid *g)
{
  return g->n[0] * g->n[1] * g->n[2];
}

/* Nodes of an axis: every breakpoint is one, but the last of a periodic axis. */
static weir_status make_axis(const double *at, int count, bool periodic, double spacing, int64_t *n,
                             double **x)
{
  const double max_lines = 1e6;
  double total = 1;
  int64_t node = 0;

  for (int b = 0; b + 1 < count; b++) {
    total += fmax(1, ceil((at[b + 1] - at[b]) / spacing - 1e-9));
  }
  if (!(total < max_lines)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "electrostatics.spacing %g Angstrom: %.0f nodes along an axis", spacing,
                     total);
  }
  *n = (int64_t)total - periodic;
  WEIR_TRY(weir_alloc(*n, sizeof **x, (void **)x));
  for (int b = 0; b + 1 < count; b++) {
    const int64_t steps = (int64_t)fmax(1, ceil((at[b + 1] - at[b]) / spacing - 1e-9));

    for (int64_t i = 0; i < steps; i++) {
      (*x)[node++] = at[b] + (at[b + 1] - at[b]) * (double)i / (double)steps;
    }
  }
  if (!periodic) {
    (*x)[node] = at[count - 1];
  }
  return WEIR_OK;
}

weir_status qt_grid_create(const double *const breaks[3], const int n_breaks[3],
                           const bool periodic[3], double spacing, qt_grid *out)
{
  const double max_nodes = (double)INT32_MAX / 27; /* elements of the matrix that PETSc counts */
  weir_status status = WEIR_OK;
  double nodes = 1;
  int64_t cells = 1;

  *out = (qt_grid){.n_atoms = 0};
  for (int d = 0; d < 3; d++) {
    out->periodic[d] = periodic[d];
    out->period[d] = breaks[d][n_breaks[d] - 1] - breaks[d][0];
    WEIR_TRY_GOTO(make_axis(breaks[d], n_breaks[d], periodic[d], spacing, &out->n[d], &out->x[d]),
                  failed);
    out->cells[d] = out->n[d] - !periodic[d];
    nodes *= (double)out->n[d];
    cells *= out->cells[d];
  }
  if (nodes > max_nodes) {
    status = weir_fail(WEIR_ERR_CONFIG,
                       "electrostatics.spacing %g Angstrom: %.3g nodes are more than %g", spacing,
                       nodes, max_nodes);
    goto failed;
  }
  WEIR_TRY_GOTO(weir_alloc(cells, sizeof *out->permittivity, (void **)&out->permittivity), failed);
  WEIR_TRY_GOTO(weir_alloc(qt_grid_nodes(out), sizeof *out->gate, (void **)&out->gate), failed);
  for (int64_t i = 0; i < cells; i++) {
    out->permittivity[i] = 1;
  }
  for (int64_t i = 0; i < qt_grid_nodes(out); i++) {
    out->gate[i] = -1;
  }
  return WEIR_OK;
failed:
  qt_grid_fini(out);
  return status;
}

/* Cell of an axis that holds `at`, its two nodes, and the share of the second; false outside. */
static bool find_cell(const qt_grid *g, int d, double at, int64_t node[2], double *second)
{
  const double *x = g->x[d];
  int64_t lo = 0, hi = g->cells[d];

  if (g->periodic[d]) {
    at -= g->period[d] * floor((at - x[0]) / g->period[d]);
  }
  while (hi - lo > 1) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (x[middle] <= at) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  const double end = lo + 1 < g->n[d] ? x[lo + 1] : x[0] + g->period[d];

  node[0] = lo;
  node[1] = lo + 1 < g->n[d] ? lo + 1 : 0;
  *second = (at - x[lo]) / (end - x[lo]);
  return *second >= -1e-9 && *second <= 1 + 1e-9;
}

weir_status qt_grid_assign(qt_grid *g, int64_t count, const double (*point)[3])
{
  weir_free(&g->node);
  weir_free(&g->share);
  g->n_atoms = count;
  WEIR_TRY(weir_alloc(count, sizeof *g->node, (void **)&g->node));
  WEIR_TRY(weir_alloc(count, sizeof *g->share, (void **)&g->share));
  for (int64_t a = 0; a < count; a++) {
    int64_t node[3][2];
    double second[3];

    for (int d = 0; d < 3; d++) {
      if (!find_cell(g, d, point[a][d], node[d], &second[d])) {
        return weir_fail(WEIR_ERR_SHAPE, "point %lld lies at %c = %g Angstrom, outside the grid",
                         (long long)a, "xyz"[d], point[a][d]);
      }
    }
    for (int c = 0; c < QT_NODES_OF_ATOM; c++) {
      const int up[3] = {c & 1, c >> 1 & 1, c >> 2};
      double share = 1;

      for (int d = 0; d < 3; d++) {
        share *= up[d] ? second[d] : 1 - second[d];
      }
      g->node[a][c] = (node[2][up[2]] * g->n[1] + node[1][up[1]]) * g->n[0] + node[0][up[0]];
      g->share[a][c] = share;
    }
  }
  return WEIR_OK;
}

double qt_grid_read(const qt_grid *g, const double *u, int64_t atom)
{
  double sum = 0;

  for (int c = 0; c < QT_NODES_OF_ATOM; c++) {
    sum += g->share[atom][c] * u[g->node[atom][c]];
  }
  return sum;
}

double qt_grid_doping(const qt_grid *g, const qt_electrostatics_opts *o, double x)
{
  const double per_cubic_angstrom = 1e-24; /* of 1 cm^-3 */
  const qt_doping_opts *region = o->doping.items;
  double sum = 0;

  for (int64_t i = 0; i < o->doping.count; i++) {
    if (x - g->origin >= region[i].from && x - g->origin < region[i].to) {
      sum += region[i].concentration * per_cubic_angstrom * g->volume;
    }
  }
  return sum;
}
