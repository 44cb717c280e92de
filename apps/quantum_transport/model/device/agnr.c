/* agnr.c - armchair graphene nanoribbon: each row of a cell is a dimer along x, odd rows half a
 * cell further. */
#include <math.h>

#include "model/device.h"
#include "model/ribbon.h"

static const weir_opt options[] = {
    QT_RIBBON_OPTIONS("dimer lines", -2.7, 1.42, "hexagon"),
    WEIR_OPT_END,
};

static void locate(int64_t site, double position[2])
{
  const int64_t row = site / 2;

  position[0] = (double)(site % 2) + (row % 2 ? 1.5 : 0);
  position[1] = sqrt(0.75) * (double)row;
}

static const qt_ribbon_lattice lattice = {.device = "agnr",
                                          .sites = 2,
                                          .period = 3,
                                          .area = 2.598076211353316, /* 3 sqrt(3) / 2 */
                                          .symbol = "C",
                                          .mass = 12.011,
                                          .locate = locate};

static weir_status build(const void *opts, uint64_t seed, qt_system *out)
{
  if (((const qt_ribbon_opts *)opts)->width < 2) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "device.agnr.width is 1: dimers of one line are not connected; give 2 or more");
  }
  return qt_ribbon_create(&lattice, opts, seed, out);
}

static int64_t rows(const void *opts)
{
  return ((const qt_ribbon_opts *)opts)->width * lattice.sites;
}

const qt_device qt_device_agnr = {
    .name = "agnr",
    .help = "armchair graphene nanoribbon, one p_z orbital an atom",
    .cite = "Nakada, Fujita, Dresselhaus, Dresselhaus, PRB 54, 17954 (1996)",
    .opts = options,
    .opts_size = sizeof(qt_ribbon_opts),
    .build = build,
    .rows = rows,
    .row_keys = "width",
};
