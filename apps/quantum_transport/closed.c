/* closed.c - see closed.h. */
#include "closed.h"

#include "base/weir_log.h"

void qt_closed_warn(const qt_study *s)
{
  static const char *const sides[QT_LEADS] = {"left", "right"};
  const int64_t points = s->n_k * s->n_energies;

  for (int c = 0; c < QT_LEADS; c++) {
    int64_t open = 0;

    for (int64_t i = 0; i < points; i++) {
      open += s->transport.n_modes[c][i] > 0;
    }
    if (open == 0 && points > 0) {
      weir_warn("run",
                "energy.min, energy.max: no mode of the %s lead propagates at any of the %lld "
                "energies from %g to %g eV: they lie in a gap or outside its bands, and the "
                "transmission is 0",
                sides[c], (long long)s->n_energies, s->energy[0], s->energy[s->n_energies - 1]);
    }
  }
}
