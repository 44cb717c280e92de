/* netcdf_cf.c - attributes of the NetCDF conventions that several files share. */
#include <math.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>
#include "base/weir_alloc.h"
#include "io/weir_netcdf.h"

int64_t weir_netcdf_time_origin(int64_t start_us)
{
  const int64_t limit = INT64_C(1) << 52; /* 142 years, and as many for the recording */

  return start_us < limit && start_us > -limit ? 0 : start_us;
}

weir_status weir_netcdf_put_time(weir_netcdf *nc, int var, int64_t origin_us)
{
  const int64_t fraction_us = (origin_us % 1000000 + 1000000) % 1000000;
  const time_t seconds = (time_t)((origin_us - fraction_us) / 1000000);
  char text[96];
  struct tm at;

  if (gmtime_r(&seconds, &at) == NULL) {
    return weir_fail(WEIR_ERR_DATA, "times since %lld s from 1970 have no date",
                     (long long)seconds);
  }
  const int n =
      snprintf(text, sizeof text, "microseconds since %04d-%02d-%02d %02d:%02d:%02d",
               at.tm_year + 1900, at.tm_mon + 1, at.tm_mday, at.tm_hour, at.tm_min, at.tm_sec);

  if (fraction_us != 0) {
    (void)snprintf(text + n, sizeof text - (size_t)n, ".%06d", (int)fraction_us);
  }
  WEIR_TRY(weir_netcdf_put_text(nc, var, "standard_name", "time"));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "units", text));
  return weir_netcdf_put_text(nc, var, "calendar", "proleptic_gregorian");
}

bool weir_netcdf_holds(weir_dtype stored, weir_dtype declared)
{
  return stored == declared ||
         (declared == WEIR_I64 && (stored == WEIR_F64 || stored == WEIR_I32)) ||
         (declared == WEIR_U8 && stored == WEIR_I8);
}

/* A piece of the box, as stored, to integers. */
static weir_status to_whole(weir_netcdf *nc, int var, weir_dtype dtype, const void *raw, int64_t n,
                            int64_t *out)
{
  char name[260] = "";

  for (int64_t i = 0; i < n; i++) {
    const double x = weir_dtype_is_real(dtype) ? weir_dtype_load_real(dtype, raw, i) : 0;

    if (!(fabs(x) < 0x1p53) || x != floor(x)) {
      WEIR_TRY(weir_netcdf_name(nc, var, name, sizeof name));
      return weir_fail(WEIR_ERR_DATA, "variable %s: %.17g is no whole number below 2^53", name, x);
    }
    out[i] = weir_dtype_is_real(dtype) ? (int64_t)x : weir_dtype_load_int(dtype, raw, i);
  }
  return WEIR_OK;
}

weir_status weir_netcdf_read_whole(weir_netcdf *nc, int var, const weir_netcdf_shape *shape,
                                   const int64_t *start, const int64_t *count, int64_t *out)
{
  void *raw = NULL;
  int64_t n = 1;

  for (int d = 0; d < shape->n_dims; d++) {
    if (count[d] < 0 || !weir_mul_ok(n, count[d], &n)) {
      return weir_fail(WEIR_ERR_SHAPE, "a box of %lld numbers along a dimension",
                       (long long)count[d]);
    }
  }
  WEIR_TRY(weir_alloc(n, weir_dtype_size(shape->dtype), &raw));
  weir_status status = weir_netcdf_read(nc, var, start, count, raw);

  status = status == WEIR_OK ? to_whole(nc, var, shape->dtype, raw, n, out) : status;
  weir_free(&raw);
  return status;
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
                   "%s: variable %s: unsigned integers (attribute _Unsigned) are not supported: "
                   "store signed numbers with more bits",
                   path, name);
}
