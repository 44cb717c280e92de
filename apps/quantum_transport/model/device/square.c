/* square.c - a ribbon of the square lattice. */
#include "model/device.h"
#include "model/ribbon.h"

static const weir_opt options[] = {
    QT_RIBBON_OPTIONS("sites across", -1, 1, "square"),
    WEIR_OPT_END,
};

static void locate(int64_t site, double position[2])
{
  position[0] = 0;
  position[1] = (double)site;
}

static const qt_ribbon_lattice lattice = {
    .device = "square", .sites = 1, .period = 1, .area = 1, .symbol = "X", .locate = locate};

static weir_status build(const void *opts, uint64_t seed, qt_system *out)
{
  return qt_ribbon_create(&lattice, opts, seed, out);
}

static int64_t rows(const void *opts)
{
  return ((const qt_ribbon_opts *)opts)->width * lattice.sites;
}

const qt_device qt_device_square = {
    .name = "square",
    .help = "ribbon of a square lattice, one orbital a site",
    .cite = "Datta 1995, section 3.5",
    .opts = options,
    .opts_size = sizeof(qt_ribbon_opts),
    .build = build,
    .rows = rows,
    .row_keys = "width",
};
