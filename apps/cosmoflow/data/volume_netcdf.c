/* volume_netcdf.c - identification of variables of NetCDF files. */
#include "data/volume_netcdf.h"
#include <string.h>

weir_status cf_netcdf_seek(weir_netcdf *nc, const char *name, int *var, weir_netcdf_shape *shape,
                           int *dims)
{
  char found[260];
  bool can = false;
  int n = 0;

  *var = CF_NETCDF_NONE;
  WEIR_TRY(weir_netcdf_count(nc, &n));
  for (int i = 0; i < n; i++) {
    WEIR_TRY(weir_netcdf_name(nc, i, found, sizeof found));
    if (strcmp(found, name) == 0) {
      WEIR_TRY(weir_netcdf_look(nc, i, shape, dims, &can));
      *var = can ? i : CF_NETCDF_OTHER;
    }
  }
  return WEIR_OK;
}

bool cf_netcdf_is_cubes(const weir_netcdf_shape *s)
{
  for (int d = 0; !s->text && !s->chars && d + 2 < s->n_dims && d < 2; d++) {
    if (s->lengths[d] > 1 && s->lengths[d] == s->lengths[d + 1] &&
        s->lengths[d] == s->lengths[d + 2]) {
      return s->n_dims <= 5;
    }
  }
  return false;
}
