/* scf_size.c - memory of a self-consistent device, before it is made. */
#include <math.h>

#include "base/weir_alloc.h"
#include "model/electrostatics/scf.h"

/* Wave vectors along x that the bands of a lead may have in the end: their first number is doubled
 * where the Fermi level needs it. */
static int64_t max_points(const qt_electrostatics_opts *o)
{
  int64_t points = o->band_points + o->band_points % 2;

  while (o->fermi_level == QT_FERMI_DOPING && 2 * points <= o->max_band_points) {
    points *= 2;
  }
  return points;
}

static double bands_bytes(const qt_scf_spec *spec, const qt_lead *lead, int64_t points)
{
  return (double)(spec->n_k * points) * (double)lead->n * sizeof(double);
}

/* What bands take for a while, the last time that their number is doubled: those before, and those
 * half-way of one transverse wave vector. */
static double doubling_bytes(const qt_system *s, const qt_scf_spec *spec)
{
  const int64_t points = max_points(spec->opts), half = points / 2;
  double max = 0;

  for (int c = 0; c < QT_LEADS && points > spec->opts->band_points + 1; c++) {
    const double of_point = (double)(s->lead[c].n + 1) * sizeof(double) + sizeof(bool);

    max = fmax(max, bands_bytes(spec, &s->lead[c], half) + (double)half * of_point);
  }
  return max;
}

/* Of the grid, of the bands of both leads, and of the atoms. */
static double ready_bytes(const qt_system *s, const qt_scf_spec *spec, const qt_grid *g)
{
  const double nodes = (double)qt_grid_nodes(g), atoms = (double)s->n_atoms;
  const double cells = (double)(g->cells[0] * g->cells[1] * g->cells[2]);
  double bands = 0;

  for (int c = 0; c < QT_LEADS; c++) {
    bands += bands_bytes(spec, &s->lead[c], max_points(spec->opts));
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
         7 * (double)s->n_atoms * sizeof(double);
}

/* Refuses bands that the budget does not hold. */
static weir_status check_bands(const qt_scf_spec *spec, double bytes)
{
  const double mib = 1 << 20, allocated = (double)weir_alloc_bytes();

  return spec->budget <= 0 || allocated + bytes <= spec->budget
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "memory.budget: the device with bands of its leads at up to %lld wave "
                         "vectors along x takes %.4g MiB: give that, or a smaller "
                         "electrostatics.max_band_points",
                         (long long)max_points(spec->opts), (allocated + bytes) / mib);
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
  const double made_ready = *kept + doubling_bytes(s, spec);

  WEIR_TRY(check_bands(spec, made_ready));
  *kept += (double)n_points * point_bytes(s, nodes);
  const double shifted = qt_system_bytes(s), before = *kept + run_bytes(s, spec, nodes) + shifted;

  for (int c = 0; c < QT_LEADS; c++) {
    of.reservoir[c] = (qt_reservoir){c == QT_LEFT ? 0 : -drain, spec->temperature};
  }
  of.budget = spec->budget > 0 ? fmax(1, spec->budget - before) : 0;
  WEIR_TRY(qt_density_bytes(s, &of, &density));
  *peak = fmax(before + density, made_ready);
  return WEIR_OK;
}
