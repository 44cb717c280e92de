/* papers.c - see papers.h. */
#include "model/scattering/papers/papers.h"

const qt_papers_row qt_papers_momenta[QT_PAPERS_ROWS] = {
    {3, 768, 8.45, 52.95, 24.41, 12.38, 32.11, 0.54},
    {5, 1280, 14.12, 88.25, 67.80, 34.19, 89.18, 1.22},
    {7, 1792, 19.77, 123.55, 132.89, 66.85, 174.80, 2.17},
    {9, 2304, 25.42, 158.85, 219.67, 110.36, 288.95, 3.38},
    {11, 2816, 31.06, 194.15, 328.15, 164.71, 431.65, 4.86},
};

const qt_papers_row qt_papers_ranks[QT_PAPERS_ROWS] = {
    {.n_k = 7, .ranks = 224, .original_tib = 108.24, .restructured_tib = 0.95},
    {.n_k = 7, .ranks = 448, .original_tib = 117.75, .restructured_tib = 1.13},
    {.n_k = 7, .ranks = 896, .original_tib = 136.76, .restructured_tib = 1.48},
    {.n_k = 7, .ranks = 1792, .original_tib = 174.80, .restructured_tib = 2.17},
    {.n_k = 7, .ranks = 2688, .original_tib = 212.84, .restructured_tib = 2.87},
};

const qt_papers_node qt_papers_nodes[QT_PAPERS_NODES] = {
    [QT_PAPERS_ORIGINAL] = {"original", 174.0, 144.14, 63.6, 965.45},
    [QT_PAPERS_NUMPY] = {"NumPy", 174.0, 1342.77, 63.6, 30560.13},
    [QT_PAPERS_RESTRUCTURED] = {"restructured", 174.0, 111.25, 31.8, 29.93},
};

qt_recipe_sizes qt_papers_device(int64_t n_k)
{
  return (qt_recipe_sizes){.n_k = n_k,
                           .n_energies = 706,
                           .n_frequencies = 70,
                           .n_atoms = 4864,
                           .n_neighbours = 34,
                           .n_orbitals = 12,
                           .n_directions = 3};
}

qt_recipe_sizes qt_papers_large(void)
{
  qt_recipe_sizes s = qt_papers_device(21);

  s.n_energies = 1000;
  s.n_atoms = 10240;
  return s;
}

int64_t qt_papers_blocks(const qt_recipe_sizes *s)
{
  const int64_t blocks = 40, atoms = 4864;

  return (s->n_atoms * blocks + atoms / 2) / atoms;
}

/* ---- Formulas ---- */

/* Multiplications of nabla_i H_al G_l of all points, atoms, neighbours and directions. */
static double products(const qt_recipe_sizes *s)
{
  const double o = (double)s->n_orbitals;

  return (double)s->n_k * (double)s->n_energies * (double)s->n_atoms * (double)s->n_neighbours *
         (double)s->n_directions * o * o * o;
}

/* Lesser and greater, emission and absorption, 8 flops. */
static const double flops_of_each = 32;

double qt_papers_original_flops(const qt_recipe_sizes *s)
{
  return 2 * flops_of_each * products(s) * (double)s->n_k * (double)s->n_frequencies;
}

double qt_papers_restructured_flops(const qt_recipe_sizes *s)
{
  return flops_of_each * products(s) * ((double)s->n_k * (double)s->n_frequencies + 1);
}

double qt_papers_recursion_flops(double n_blocks, double rows)
{
  return 8 * (26 * n_blocks - 25) * rows * rows * rows;
}

const char *const qt_papers_array_names[QT_PAPERS_ARRAYS] = {
    [QT_PAPERS_GREEN] = "G^<, blocks of atoms",
    [QT_PAPERS_PHONON] = "D^<, atoms and pairs",
    [QT_PAPERS_FISSION] = "nabla H G^< after map fission",
    [QT_PAPERS_HOISTED] = "nabla H G^< after redundancy removal",
    [QT_PAPERS_PAIR] = "nabla H G^< of one pair of atoms",
};

double qt_papers_bytes(const qt_recipe_sizes *s, qt_papers_array which)
{
  const double number = 16, d = (double)s->n_directions, o = (double)s->n_orbitals;
  const double points = (double)s->n_k * (double)s->n_energies, a = (double)s->n_atoms;
  const double phonons = (double)s->n_k * (double)s->n_frequencies;
  const double b = (double)s->n_neighbours, pair = number * points * d * o * o;

  switch (which) {
  case QT_PAPERS_GREEN:
    return number * points * a * o * o;
  case QT_PAPERS_PHONON:
    return number * phonons * a * (b + 1) * d * d;
  case QT_PAPERS_FISSION:
    return pair * phonons * a * b;
  case QT_PAPERS_HOISTED:
    return pair * a * b;
  default:
    return pair;
  }
}

/* ---- Time of an iteration ---- */

qt_papers_time qt_papers_time_of(const qt_papers_load *l, const qt_papers_rates *r)
{
  qt_papers_time t = {.green = l->points * l->point_flops / r->dense,
                      .exchange = l->bytes / r->link + l->messages * r->latency,
                      .self = l->self_flops / r->batch};

  t.total = t.green + t.exchange + t.self;
  return t;
}
