/* spheres.c - STEM: writes six volumes with classes of their voxels to STEM.nc; 77 without NetCDF.
 */
#include "../integration/cosmoflow/spheres.h"
#include "io/weir_netcdf.h"

int main(int argc, char **argv)
{
  if (argc != 2) {
    return 2;
  }
  if (!weir_netcdf_available()) {
    return 77;
  }
  spheres_write(argv[1], 8, 0, 6, true, -1);
  return 0;
}
