/* matrices.c - a device of matrices that other programs wrote. */
#include "data/matrices.h"
#include "model/device.h"

static weir_status build(const void *opts, uint64_t seed, qt_system *out)
{
  (void)seed;
  return qt_matrices_system(opts, out);
}

const qt_device qt_device_matrices = {
    .name = "matrices",
    .help = "matrices of files: the whole device, or a cell that is repeated",
    .cite = "SIESTA's TSHS, CP2K and OMEN's H_4.bin, Wannier90's ht files, Matrix Market, PETSc",
    .opts = qt_matrices_options,
    .opts_size = sizeof(qt_matrices_opts),
    .build = build,
};
