/* record_time.c - see record_time.h. */
#include "data/record_time.h"

int64_t ps_time_us(const ps_input_info *facts, int64_t rate_num, int64_t rate_den, int64_t slot)
{
  const __int128 num = (__int128)slot * rate_den * 1000000;
  const int64_t us = (int64_t)((num + rate_num / 2) / rate_num);

  return us +
         (facts->start_kind == 2 ? facts->start_us - weir_netcdf_time_origin(facts->start_us) : 0);
}

weir_status ps_time_describe(const ps_input_info *facts, weir_netcdf *nc, int time)
{
  WEIR_TRY(weir_netcdf_put_time(
      nc, time, facts->start_kind == 2 ? weir_netcdf_time_origin(facts->start_us) : 0));
  if (facts->start_kind == 2) {
    return WEIR_OK;
  }
  return weir_netcdf_put_text(nc, time, "comment",
                              "the recording gives no date: its first sample is taken for the "
                              "reference time");
}
