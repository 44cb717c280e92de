/* netcdf_cf.c - attributes of the NetCDF conventions that several files share. */
#include <strings.h>
#include "base/weir_alloc.h"
#include "io/weir_netcdf.h"

weir_status weir_netcdf_put_time(weir_netcdf *nc, int var)
{
  WEIR_TRY(weir_netcdf_put_text(nc, var, "standard_name", "time"));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "units", "microseconds since 1970-01-01 00:00:00"));
  return weir_netcdf_put_text(nc, var, "calendar", "proleptic_gregorian");
}

weir_status weir_netcdf_put_rate(weir_netcdf *nc, int var, int64_t num, int64_t den)
{
  const double rate = (double)num / (double)den;
  const int64_t ratio[] = {num, den};

  WEIR_TRY(weir_netcdf_put_numbers(nc, var, WEIR_NETCDF_RATE, WEIR_F64, &rate, 1));
  return weir_netcdf_put_numbers(nc, var, WEIR_NETCDF_RATIO, WEIR_I64, ratio, 2);
}

weir_status weir_netcdf_refuse_unsigned(weir_netcdf *nc, int var, weir_dtype dtype,
                                        const char *path)
{
  char name[260] = "";
  char *text = NULL;

  if (!weir_dtype_is_whole(dtype) || dtype == WEIR_U8 || !weir_netcdf_has(nc, var, "_Unsigned")) {
    return WEIR_OK;
  }
  const weir_status status = weir_netcdf_get_text(nc, var, "_Unsigned", &text);
  const bool meant = status == WEIR_OK && strcasecmp(text, "true") == 0;

  weir_free(&text);
  if (!meant) {
    return status == WEIR_ERR_DATA ? WEIR_OK : status; /* a number means nothing */
  }
  WEIR_TRY(weir_netcdf_name(nc, var, name, sizeof name));
  return weir_fail(WEIR_ERR_DATA,
                   "%s: variable %s: its attribute _Unsigned says that its integers have no sign, "
                   "which is not read: store it as signed numbers of more bits",
                   path, name);
}
