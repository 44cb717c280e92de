/* chain.c - one orbital a site, in a line: the model whose transmission is known in closed form. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "model/device.h"

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

/* One image, (0, 0), of these elements; their memory is freed. */
static weir_status one_image(int64_t n, qt_entries *e, qt_bloch *out)
{
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(1, sizeof *out->image, (void **)&out->image), done);
  WEIR_TRY_GOTO(weir_alloc(1, sizeof *out->matrix, (void **)&out->matrix), done);
  out->count = 1;
  status = qt_sparse_create(n, n, e, &out->matrix[0]);
done:
  qt_entries_fini(e);
  return status;
}

static weir_status build(const void *opts, uint64_t seed, qt_system *out)
{
  const chain_opts *o = opts;
  const weir_c128 t = {o->hopping, 0};
  qt_entries e = {.count = 0};

  (void)seed;
  if (o->hopping == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "device.chain.hopping is 0: sites would not be connected");
  }
  if (o->impurity_site >= o->sites) {
    return weir_fail(WEIR_ERR_CONFIG, "device.chain.impurity_site: %lld of %lld sites",
                     (long long)o->impurity_site, (long long)o->sites);
  }
  out->particle = QT_ELECTRONS;
  out->n = out->n_blocks = out->n_atoms = o->sites;
  WEIR_TRY(weir_alloc(o->sites + 1, sizeof *out->block, (void **)&out->block));
  WEIR_TRY(weir_alloc(o->sites, sizeof *out->atom, (void **)&out->atom));
  for (int64_t i = 0; i < o->sites; i++) {
    out->block[i + 1] = i + 1;
    out->atom[i] = (qt_atom){
        .position = {o->spacing * (double)i, 0, 0}, .first = i, .n_orbitals = 1, .symbol = "X"};
    qt_entries_add(&e, i, i, (weir_c128){o->onsite + (i == o->impurity_site ? o->impurity : 0), 0});
    if (i > 0) {
      qt_entries_add(&e, i, i - 1, t);
      qt_entries_add(&e, i - 1, i, t);
    }
  }
  out->cell[0][0] = o->spacing * (double)o->sites;
  out->cell[1][1] = out->cell[2][2] = o->spacing;
  WEIR_TRY(one_image(o->sites, &e, &out->h));
  for (int c = 0; c < QT_LEADS; c++) {
    out->lead[c].n = 1;
    out->lead[c].length = o->spacing;
    qt_entries_add(&e, 0, 0, (weir_c128){o->onsite, 0});
    WEIR_TRY(one_image(1, &e, &out->lead[c].cell));
    qt_entries_add(&e, 0, 0, t);
    WEIR_TRY(one_image(1, &e, &out->lead[c].next));
  }
  return WEIR_OK;
}

const qt_device qt_device_chain = {
    .name = "chain",
    .help = "sites in a line, one orbital each",
    .cite = "Datta 2005, section 8",
    .opts = options,
    .opts_size = sizeof(chain_opts),
    .build = build,
};
