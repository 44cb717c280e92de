/* predicted.c - see predicted.h. */
#include "data/predicted.h"
#include <stdio.h>
#include "base/weir_alloc.h"

weir_status cf_predicted_find(weir_netcdf *nc, const char *path, const char *name, weir_dtype dtype,
                              bool chars, int n_dims, const int64_t *lengths, int *var,
                              weir_netcdf_shape *s)
{
  WEIR_TRY(weir_netcdf_find(nc, name, var, s));
  bool same = !s->text && s->chars == chars && (chars || weir_netcdf_holds(s->dtype, dtype)) &&
              s->n_dims == n_dims;

  for (int d = 0; same && d < n_dims; d++) {
    same = s->lengths[d] > 0 && (lengths[d] < 0 || s->lengths[d] == lengths[d]);
  }
  return same ? WEIR_OK
              : weir_fail(WEIR_ERR_DATA,
                          "%s: variable %s is not what cosmoflow predict writes (%d dimensions of "
                          "%s)",
                          path, name, n_dims, chars ? "letters" : weir_dtype_name(dtype));
}

weir_status cf_predicted_text(weir_netcdf *nc, const char *name, char *text, size_t size)
{
  char *found = NULL;

  if (weir_netcdf_has(nc, WEIR_NETCDF_FILE, name)) {
    WEIR_TRY(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, name, &found));
    (void)snprintf(text, size, "%s", found);
    weir_free(&found);
  }
  return WEIR_OK;
}
