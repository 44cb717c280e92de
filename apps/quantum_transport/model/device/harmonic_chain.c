/* harmonic_chain.c - masses and springs in a line: the phonons whose transmission is known in
 * closed form. */
#include <math.h>

#include "base/weir_alloc.h"
#include "model/device.h"
#include "model/units.h"
#include "model/wire.h"

typedef struct harmonic_opts {
  int64_t sites, defect_site;
  double spring, mass, defect_mass, spacing;
} harmonic_opts;

static const weir_opt options[] = {
    WEIR_OPT_INT(harmonic_opts, sites, 20, 3, 1e7, "1", "masses between the leads"),
    WEIR_OPT_REAL(harmonic_opts, spring, 50, 1e-3, 1e4, "N/m", "force constant of neighbours"),
    WEIR_OPT_REAL(harmonic_opts, mass, 28.0855, 1e-3, 1e4, "amu", "mass of a site"),
    WEIR_OPT_REAL(harmonic_opts, defect_mass, 0, 0, 1e4, "amu", "mass of one site; 0: as others"),
    WEIR_OPT_INT(harmonic_opts, defect_site, 1, 1, 1e7, "1",
                 "that site, counted from 0; neither the first nor the last"),
    WEIR_OPT_REAL(harmonic_opts, spacing, 1, 1e-3, 1e3, "Angstrom", "distance of neighbours"),
    WEIR_OPT_END,
};

/* Another mass on one site: its row and column carry the root of it. */
static void replace(int64_t site, double old_mass, double new_mass, qt_system *s)
{
  qt_sparse *h = &s->h.matrix[0];
  const double factor = sqrt(old_mass / new_mass);

  for (int64_t r = site - 1; r <= site + 1; r++) {
    for (int64_t i = h->start[r]; i < h->start[r + 1]; i++) {
      h->value[i].re *= (r == site ? factor : 1) * (h->column[i] == site ? factor : 1);
    }
  }
  s->atom[site].mass = new_mass;
}

static weir_status build(const void *opts, uint64_t seed, qt_system *out)
{
  const harmonic_opts *o = opts;
  const double k = QT_VIBRATION * QT_NEWTON * o->spring / o->mass;
  qt_wire w = {.particle = QT_PHONONS,
               .n = 1,
               .n_atoms = 1,
               .cell = {{o->spacing}, {0, o->spacing}, {0, 0, o->spacing}}};
  weir_status status = WEIR_OK;

  (void)seed;
  if (o->defect_site >= o->sites - 1) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "device.harmonic_chain.defect_site: %lld of %lld sites, the last of which "
                     "continues the lead",
                     (long long)o->defect_site, (long long)o->sites);
  }
  WEIR_TRY_GOTO(weir_alloc(1, sizeof *w.atom, (void **)&w.atom), done);
  w.atom[0] = (qt_atom){.n_orbitals = 1, .symbol = "X", .mass = o->mass};
  qt_elements_add(&w.elements, 0, 0, (const int64_t[3]){0, 0, 0}, (weir_c128){2 * k, 0});
  qt_elements_add(&w.elements, 0, 0, (const int64_t[3]){1, 0, 0}, (weir_c128){-k, 0});
  qt_elements_add(&w.elements, 0, 0, (const int64_t[3]){-1, 0, 0}, (weir_c128){-k, 0});
  WEIR_TRY_GOTO(qt_wire_create(&w, o->sites, NULL, (const double[QT_LEADS]){0, 0}, out), done);
  if (o->defect_mass > 0) {
    replace(o->defect_site, o->mass, o->defect_mass, out);
  }
done:
  qt_wire_fini(&w);
  return status;
}

const qt_device qt_device_harmonic_chain = {
    .name = "harmonic_chain",
    .help = "masses in a line, joined by springs, one displacement each",
    .cite = "Mingo, Yang, PRB 68, 245406 (2003)",
    .opts = options,
    .opts_size = sizeof(harmonic_opts),
    .has_phonons = true,
    .build = build,
};
