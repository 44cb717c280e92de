/* zgnr.c - zigzag graphene nanoribbon: each row of a cell is two atoms of a zigzag chain, the lower
 * one first; odd rows start half a cell further. */
#include <math.h>

#include "model/device.h"
#include "model/ribbon.h"

static const weir_opt options[] = {
    QT_RIBBON_OPTIONS("zigzag chains", -2.7, 1.42, "hexagon"),
    WEIR_OPT_END,
};

static void locate(int64_t site, double position[2])
{
  const int64_t row = site / 2, upper = site % 2;

  position[0] = (row + upper) % 2 ? sqrt(0.75) : 0;
  position[1] = 1.5 * (double)row + 0.5 * (double)upper;
}

static const qt_ribbon_lattice lattice = {.device = "zgnr",
                                          .sites = 2,
                                          .period = 1.7320508075688772, /* sqrt(3) */
                                          .area = 2.598076211353316,    /* 3 sqrt(3) / 2 */
                                          .symbol = "C",
                                          .mass = 12.011,
                                          .locate = locate};

static weir_status build(const void *opts, uint64_t seed, qt_system *out)
{
  return qt_ribbon_create(&lattice, opts, seed, out);
}

static int64_t rows(const void *opts)
{
  return ((const qt_ribbon_opts *)opts)->width * lattice.sites;
}

const qt_device qt_device_zgnr = {
    .name = "zgnr",
    .help = "zigzag graphene nanoribbon, one p_z orbital an atom",
    .cite = "Nakada, Fujita, Dresselhaus, Dresselhaus, PRB 54, 17954 (1996)",
    .opts = options,
    .opts_size = sizeof(qt_ribbon_opts),
    .build = build,
    .rows = rows,
    .row_keys = "width",
};
