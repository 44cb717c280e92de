/* spheres.c - STEM [BAD]: writes six volumes with classes of their voxels to STEM.nc, the last of
 * them with a voxel of class BAD; 77 without NetCDF. */
#include <stdlib.h>
#include "../integration/cosmoflow/spheres.h"
#include "io/weir_netcdf.h"

int main(int argc, char **argv)
{
  if (argc < 2) {
    return 2;
  }
  if (!weir_netcdf_available()) {
    return 77;
  }
  spheres_write(argv[1], 8, 0, 6, true, argc > 2 ? atoi(argv[2]) : -1);
  return 0;
}
