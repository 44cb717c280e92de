/* scf_size.c - memory of a self-consistent device, before it is made. */
#include <math.h>

#include "base/weir_alloc.h"
#include "model/electrostatics/scf.h"

/* Of the grid, of the bands of both leads, and of the atoms. */
static double ready_bytes(const qt_system *s, const qt_scf_spec *spec, const qt_grid *g)
{
  const qt_electrostatics_opts *o = spec->opts;
  const double nodes = (double)qt_grid_nodes(g), atoms = (double)s->n_atoms;
  const double cells = (double)(g->cells[0] * g->cells[1] * g->cells[2]);
  const double points = (double)(spec->n_k * (o->band_points + o->band_points % 2));
  double bands = 0;

  for (int c = 0; c < QT_LEADS; c++) {
    bands += points * (double)s->lead[c].n * sizeof(double);
  }
  return bands + cells * sizeof *g->permittivity + nodes * sizeof *g->gate +
         atoms * (sizeof *g->node + sizeof *g->share + sizeof(double) + sizeof(int64_t));
}

/* Of a bias point, without its steps. */
static double point_bytes(const qt_system *s, double nodes)
{
  return sizeof(double) * (nodes + 2 * (double)s->n_atoms);
}

/* What a bias point takes for a while: the Poisson equation's arrays, mixing, and the response. */
static double run_bytes(const qt_system *s, const qt_scf_spec *spec, double nodes)
{
  const double of_poisson = 5 * sizeof(double) + sizeof(int32_t);
  const double of_mixing = 2 * (double)(spec->opts->history + 1) * sizeof(double);

  return nodes * (of_poisson + of_mixing + sizeof(double)) +
         6 * (double)s->n_atoms * sizeof(double);
}

weir_status qt_scf_bytes(const qt_system *s, const qt_scf_spec *spec, int64_t n_points,
                         double drain, double *kept, double *peak)
{
  qt_density_spec of = {.lead = spec->lead,
                        .n_k = spec->n_k,
                        .k = spec->k,
                        .weight = spec->weight,
                        .order = spec->opts->contour_points,
                        .shift = spec->shift,
                        .threads = spec->threads,
                        .comm = spec->comm};
  qt_grid g = {.n_atoms = 0};
  double density = 0;
  const weir_status made = qt_grid_of_device(spec->opts, s, &g);
  const double nodes = made == WEIR_OK ? (double)qt_grid_nodes(&g) : 0;

  *kept = made == WEIR_OK ? ready_bytes(s, spec, &g) : 0;
  qt_grid_fini(&g);
  WEIR_TRY(made);
  *kept += (double)n_points * point_bytes(s, nodes);
  const double shifted = qt_system_bytes(s), before = *kept + run_bytes(s, spec, nodes) + shifted;

  for (int c = 0; c < QT_LEADS; c++) {
    of.reservoir[c] = (qt_reservoir){c == QT_LEFT ? 0 : -drain, spec->temperature};
  }
  of.budget = spec->budget > 0 ? fmax(1, spec->budget - before) : 0;
  WEIR_TRY(qt_density_bytes(s, &of, &density));
  *peak = before + density;
  return WEIR_OK;
}
