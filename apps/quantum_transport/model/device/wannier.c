/* wannier.c - a Hamiltonian of Wannier90, repeated along one lattice vector. */
#include <stdio.h>
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "data/wannier.h"
#include "model/device.h"

static weir_status build_from(const qt_wannier_opts *o, weir_wannier *w, qt_system *out)
{
  int64_t layer = 0;

  if (o->wsvec && !w->shifted) {
    weir_info("transport",
              "%s_wsvec.dat is not there: hoppings stay at the lattice vectors of the file, which "
              "interpolates bands less well",
              o->seed);
  }
  WEIR_TRY(qt_wannier_truncate(o, w));
  WEIR_TRY(qt_wannier_layer(o, w, &layer));
  WEIR_TRY(qt_wannier_system(o, w, layer, out));
  weir_info("transport",
            "%s: %slayers of %lld cells, %lld functions; %lld layers; %lld transverse images",
            o->seed, out->has_spin ? "functions of both spins; " : "", (long long)layer,
            (long long)out->lead[QT_LEFT].n, (long long)out->n_blocks, (long long)out->h.count);
  return WEIR_OK;
}

/* Fails where neither file of hoppings exists. */
static weir_status find_hoppings(const char *seed)
{
  static const char *const end[] = {"_hr.dat", "_tb.dat"};
  char path[4096];

  for (size_t i = 0; i < sizeof end / sizeof *end; i++) {
    (void)snprintf(path, sizeof path, "%s%s", seed, end[i]);
    if (weir_file_exists(path)) {
      return WEIR_OK;
    }
  }
  return weir_fail(WEIR_ERR_DATA,
                   "device.wannier.seed: neither %s_hr.dat nor %s_tb.dat exists: give the path "
                   "before _hr.dat, relative to the folder that the program is started in",
                   seed, seed);
}

static weir_status build(const void *opts, uint64_t seed, qt_system *out)
{
  const qt_wannier_opts *o = opts;
  weir_wannier w;

  (void)seed;
  if (o->seed[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "device.wannier.seed is empty: give the path before _hr.dat, as in "
                     "'silicon_w90/silicon'");
  }
  WEIR_TRY(find_hoppings(o->seed));
  WEIR_TRY(weir_wannier_read(o->seed, o->wsvec, &w));
  const weir_status status = build_from(o, &w, out);

  weir_wannier_fini(&w);
  return status;
}

const qt_device qt_device_wannier = {
    .name = "wannier",
    .help = "a Hamiltonian of Wannier90 (seed_hr.dat or seed_tb.dat), repeated along one of its "
            "lattice vectors",
    .cite = "Pizzi et al., J. Phys.: Condens. Matter 32, 165902 (2020)",
    .opts = qt_wannier_options,
    .opts_size = sizeof(qt_wannier_opts),
    .build = build,
};
