/* netcdf_cf.c - attributes of the Climate and Forecast conventions that several files share. */
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
