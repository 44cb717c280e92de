/* scf_gap.c - whether the device has states of its own in the band gap of the leads. */
#include <math.h>

#include "base/weir_alloc.h"
#include "model/electrostatics/scf.h"

/* Electrons less holes of every orbital where electrons are counted above an energy. */
static weir_status count_above(const qt_scf *scf, double energy, qt_density *out)
{
  const qt_scf_spec *spec = &scf->spec;
  const qt_reservoir lead = {scf->mu, spec->temperature};

  return qt_density_create(scf->s,
                           &(qt_density_spec){.lead = spec->lead,
                                              .n_k = spec->n_k,
                                              .k = spec->k,
                                              .weight = spec->weight,
                                              .spin = qt_system_spin(scf->s),
                                              .reference = energy,
                                              .reservoir = {lead, lead},
                                              .order = spec->opts->contour_points,
                                              .tolerance = spec->opts->integral_tolerance,
                                              .shift = spec->shift,
                                              .threads = spec->threads,
                                              .comm = spec->comm,
                                              .budget = spec->budget},
                           out);
}

/* A state between both energies, filled by f, counts f electrons above the lower one and 1 - f
 * holes below the upper one: the counts differ by 1 for each. */
static weir_status compare(const qt_scf *scf, const double energy[2], const qt_density count[2])
{
  const double enough = 0.25; /* states; errors of the contours are far below */
  const double spin = qt_system_spin(scf->s);
  const qt_system *s = scf->s;
  double all = 0, highest = 0;
  int64_t atom = 0;

  for (int64_t a = 0; a < s->n_atoms; a++) {
    double states = 0;

    for (int64_t i = s->atom[a].first; i < s->atom[a].first + s->atom[a].n_orbitals; i++) {
      states += (count[0].electrons[i] - count[1].electrons[i]) / spin;
    }
    all += states;
    atom = states > highest ? a : atom;
    highest = fmax(highest, states);
  }
  if (!(fabs(all) > enough)) {
    return WEIR_OK;
  }
  return weir_fail(WEIR_ERR_NUMERIC,
                   "electrostatics: the device has %.2f states between %.4g and %.4g eV, in the "
                   "band gap of the leads, most of them at atom %lld (%s, block %lld, %.2f): "
                   "electrons and holes cannot be distinguished there; passivate dangling bonds, "
                   "leave impurities out, or make the device of what the leads are made of",
                   all, energy[0], energy[1], (long long)atom, s->atom[atom].symbol,
                   (long long)scf->block_of_atom[atom], highest);
}

weir_status qt_scf_check_gap(const qt_scf *scf)
{
  const double margin = 0.15, reach = 2; /* of the gap, off its edges; eV, where it has no end */
  const double mid = scf->spec.opts->mid_gap;
  const double valence = fmax(scf->bands[QT_LEFT].valence, scf->bands[QT_RIGHT].valence);
  const double conduction = fmin(scf->bands[QT_LEFT].conduction, scf->bands[QT_RIGHT].conduction);
  const double lo = isinf(valence) ? fmin(mid, conduction - reach) : valence;
  const double hi = isinf(conduction) ? fmax(mid, valence + reach) : conduction;
  const double off = margin * (hi - lo), energy[2] = {lo + off, hi - off};
  qt_density count[2] = {{.electrons = NULL}, {.electrons = NULL}};
  weir_status status = WEIR_OK;

  if (!(energy[0] < energy[1]) || isinf(lo) || isinf(hi)) { /* no gap in common: qt_scf_solve */
    return WEIR_OK;
  }
  for (int i = 0; i < 2; i++) {
    WEIR_TRY_GOTO(count_above(scf, energy[i], &count[i]), done);
  }
  status = compare(scf, energy, count);
done:
  qt_density_fini(&count[0]);
  qt_density_fini(&count[1]);
  return status;
}
