/* silicon_wire.c - a [100] silicon nanowire with a rectangular cross-section. */
#include "model/device.h"
#include "model/silicon/silicon.h"

static const weir_opt options[] = {
    QT_SILICON_OPTIONS,
    WEIR_OPT_INT(qt_silicon_opts, width, 2, 1, 100, "1", "cubic cells along z, where it is cut"),
    WEIR_OPT_END,
};

static weir_status build(const void *opts, uint64_t seed, qt_system *out)
{
  (void)seed;
  return qt_silicon_create(opts, false, out);
}

static int64_t rows(const void *opts)
{
  return qt_silicon_rows(opts, false);
}

static weir_status gradient(const void *opts, const qt_system *s, qt_gradient *out)
{
  return qt_silicon_gradient(opts, s, out);
}

const qt_device qt_device_silicon_wire = {
    .name = "silicon_wire",
    .help = "[100] silicon nanowire",
    .cite = "Boykin, Klimeck, Oyafuso, PRB 69, 115201 (2004)",
    .phonon_cite = QT_FORCE_CITE,
    .opts = options,
    .opts_size = sizeof(qt_silicon_opts),
    .has_phonons = true,
    .build = build,
    .rows = rows,
    .row_keys = "height, width",
    .gradient = gradient,
};
