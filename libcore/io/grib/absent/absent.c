/* absent.c - weir_grib.h in a build without the library. */
#include "io/weir_grib.h"

static weir_status refuse(void)
{
  return weir_fail(WEIR_ERR_UNSUPPORTED, "this build has no ecCodes and cannot read or write GRIB: "
                                         "install the library and build again");
}

bool weir_grib_available(void)
{
  return false;
}

weir_status weir_grib_open(const char *const *paths, int64_t n, const weir_grib_opts *opts,
                           weir_grib **out)
{
  (void)paths;
  (void)n;
  (void)opts;
  *out = NULL;
  return refuse();
}

weir_status weir_grib_read(weir_grib *g, int64_t n, const int64_t *fields, float *const *out)
{
  (void)g;
  (void)n;
  (void)fields;
  (void)out;
  return refuse();
}

weir_status weir_grib_create(const char *path, weir_grib_writer **out)
{
  (void)path;
  *out = NULL;
  return refuse();
}

weir_status weir_grib_write(weir_grib_writer *w, const weir_grib_out *what, const float *values)
{
  (void)w;
  (void)what;
  (void)values;
  return refuse();
}

weir_status weir_grib_commit(weir_grib_writer **w)
{
  *w = NULL;
  return refuse();
}

weir_status weir_grib_finish(weir_grib_writer **w, weir_writer **file)
{
  *w = NULL;
  *file = NULL;
  return refuse();
}

void weir_grib_abandon(weir_grib_writer **w)
{
  *w = NULL; /* there never is one */
}
