/* chain.c - one orbital a site, in a line: the model whose transmission is known in closed form. */
#include "base/weir_alloc.h"
#include "model/device.h"
#include "model/wire.h"

typedef struct chain_opts {
  int64_t sites, impurity_site;
  double onsite, hopping, impurity, spacing;
} chain_opts;

static const weir_opt options[] = {
    WEIR_OPT_INT(chain_opts, sites, 20, 1, 1e7, "1", "sites between the leads"),
    WEIR_OPT_REAL(chain_opts, onsite, 0, -1e3, 1e3, "eV", "energy of a site"),
    WEIR_OPT_REAL(chain_opts, hopping, -1, -1e3, 1e3, "eV", "hopping between neighbours, not 0"),
    WEIR_OPT_REAL(chain_opts, impurity, 0, -1e3, 1e3, "eV", "energy added to one site"),
    WEIR_OPT_INT(chain_opts, impurity_site, 0, 0, 1e7, "1", "that site, counted from 0"),
    WEIR_OPT_REAL(chain_opts, spacing, 1, 1e-3, 1e3, "Angstrom", "distance of neighbours"),
    WEIR_OPT_END,
};

static weir_status build(const void *opts, uint64_t seed, qt_system *out)
{
  const chain_opts *o = opts;
  qt_wire w = {.particle = QT_ELECTRONS,
               .n = 1,
               .n_atoms = 1,
               .cell = {{o->spacing}, {0, o->spacing}, {0, 0, o->spacing}}};
  double *energy = NULL;
  weir_status status = WEIR_OK;

  (void)seed;
  if (o->hopping == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "device.chain.hopping is 0: sites would not be connected");
  }
  if (o->impurity_site >= o->sites) {
    return weir_fail(WEIR_ERR_CONFIG, "device.chain.impurity_site: %lld is no site: give 0 to %lld",
                     (long long)o->impurity_site, (long long)(o->sites - 1));
  }
  WEIR_TRY_GOTO(weir_alloc(1, sizeof *w.atom, (void **)&w.atom), done);
  WEIR_TRY_GOTO(weir_alloc(o->sites, sizeof *energy, (void **)&energy), done);
  w.atom[0] = (qt_atom){.n_orbitals = 1, .symbol = "X"};
  energy[o->impurity_site] = o->impurity;
  qt_elements_add(&w.elements, 0, 0, (const int64_t[3]){0, 0, 0}, (weir_c128){o->onsite, 0});
  qt_elements_add(&w.elements, 0, 0, (const int64_t[3]){1, 0, 0}, (weir_c128){o->hopping, 0});
  qt_elements_add(&w.elements, 0, 0, (const int64_t[3]){-1, 0, 0}, (weir_c128){o->hopping, 0});
  WEIR_TRY_GOTO(qt_wire_create(&w, o->sites, energy, (const double[QT_LEADS]){0, 0}, out), done);
done:
  weir_free(&energy);
  qt_wire_fini(&w);
  return status;
}

const qt_device qt_device_chain = {
    .name = "chain",
    .help = "sites in a line, one orbital each",
    .cite = "Datta 2005, section 8",
    .opts = options,
    .opts_size = sizeof(chain_opts),
    .build = build,
};
