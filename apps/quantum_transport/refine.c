/* refine.c - see refine.h. */
#include "refine.h"

#include <math.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "model/energies.h"

static const double shortest = 1e-9; /* eV, interval of energies, however small energy.shift is */

/* What of a run is integrated over energies, for the caller to free, and how much. */
static weir_status list_integrals(const qt_study *s, qt_integral **out, int *n)
{
  const weir_real_list *list = &s->cfg->contact.conductance_temperatures;
  const bool phonons = s->system.particle == QT_PHONONS;

  *n = phonons ? 1 + (int)list->count : 2;
  WEIR_TRY(weir_alloc(*n, sizeof **out, (void **)out));
  (*out)[0] = (qt_integral){phonons ? QT_PHONON_CURRENT : QT_ELECTRON_CURRENT,
                            {s->reservoir[QT_LEFT], s->reservoir[QT_RIGHT]}};
  if (!phonons) {
    (*out)[1] =
        (qt_integral){QT_ELECTRON_CONDUCTANCE, {{s->mu, s->cfg->contact.temperature}, {0, 0}}};
  }
  for (int i = 1; phonons && i < *n; i++) {
    (*out)[i] = (qt_integral){QT_PHONON_CONDUCTANCE, {{0, list->items[i - 1]}, {0, 0}}};
  }
  return WEIR_OK;
}

/* What is said of the energies that are added to `before`. */
static void tell(const qt_study *s, int64_t before, double min_width, qt_energies_end end)
{
  const qt_energy_opts *o = &s->cfg->energy;

  weir_info("run", "energy.tolerance: %lld energies are added to %lld",
            (long long)(s->n_energies - before), (long long)before);
  if (end == QT_ENERGIES_MAX_POINTS) {
    weir_warn("run",
              "energy.max_points: %lld energies are too few for energy.tolerance %g: currents or "
              "conductances change by more when intervals of the %lld energies are halved",
              (long long)o->max_points, o->tolerance, (long long)s->n_energies);
  }
  if (end == QT_ENERGIES_MIN_WIDTH) {
    weir_warn("run",
              "energy.shift: intervals of the energies narrower than %g eV are not halved, and "
              "currents or conductances depend on them by more than energy.tolerance %g: give %sa "
              "larger energy.tolerance",
              2 * min_width, o->tolerance,
              min_width > shortest ? "a smaller energy.shift, or " : "");
  }
}

weir_status qt_refine(qt_study *s, const qt_transport_spec *spec)
{
  const qt_energy_opts *o = &s->cfg->energy;
  const int64_t before = s->n_energies;
  qt_integral *integral = NULL;
  qt_energies_spec rule = {.tolerance = o->tolerance,
                           .min_width = fmax(2 * o->shift, shortest),
                           .max_points = o->max_points,
                           .weight = s->weight};
  qt_energies_end end = QT_ENERGIES_MET;

  if (o->tolerance == 0 || s->n_energies < 2) {
    return WEIR_OK;
  }
  weir_status status = list_integrals(s, &integral, &rule.n_integrals);

  status = s->comm != NULL ? weir_comm_agree(s->comm, status) : status;
  rule.integral = integral;
  if (status == WEIR_OK) {
    status = qt_energies_refine(&s->system, spec, &rule, &s->energy, &s->n_energies, &s->transport,
                                &end);
  }
  weir_free(&integral);
  if (status == WEIR_ERR_STOPPED) {
    return weir_fail(WEIR_ERR_STOPPED,
                     "stopped while energies were added to the %lld that are "
                     "computed (energy.tolerance): repeat the command to resume it",
                     (long long)before);
  }
  WEIR_TRY(status);
  s->is_refined = end == QT_ENERGIES_MET;
  tell(s, before, rule.min_width, end);
  return WEIR_OK;
}
