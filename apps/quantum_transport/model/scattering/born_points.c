/* born_points.c - the points of electrons and phonons of a run. */
#include "model/scattering/born_priv.h"

int64_t born_energies(const born_job *j, int particle)
{
  return particle == BORN_ELECTRONS ? j->spec->n_energies : j->spec->opts->phonons.frequencies;
}

int64_t born_points(const born_job *j, int particle)
{
  return j->spec->n_k * born_energies(j, particle);
}

int64_t born_point(const born_job *j, int particle, int64_t own)
{
  const qt_point_box *b = &j->own[particle];
  const int64_t n = b->e[1] - b->e[0];

  return (b->k[0] + own / n) * born_energies(j, particle) + b->e[0] + own % n;
}

bool born_has(const born_job *j, qt_self_energy_array which)
{
  return which < QT_PI_SELF || j->self.spec.phonons;
}
