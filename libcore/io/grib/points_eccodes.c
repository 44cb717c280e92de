/* points_eccodes.c - where the points of a grid are. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "io/grib/eccodes_priv.h"

enum { FAR = 720 }; /* degrees: longitudes beyond are damage */

/* Longitudes that ascend; those of the globe lie in [0, 360), others in [-180, 360). */
static bool take_lon(const struct weir_grib_shape *s, double *lon, bool *wraps, char *why)
{
  const bool westward = s->scanning & 0x80;
  double west = westward ? s->last[1] : s->first[1], east = westward ? s->first[1] : s->last[1];

  if (!(fabs(west) <= FAR && fabs(east) <= FAR)) {
    snprintf(why, WEIR_GRIB_WHY, "longitudeOfLastGridPoint=%g: the first is %g", s->last[1],
             s->first[1]);
    return false;
  }
  while (east < west) {
    east += 360;
  }
  if (s->n_lon > 1 && east == west) {
    east += 360;
  }
  const double step = s->n_lon > 1 ? (east - west) / (double)(s->n_lon - 1) : 0;

  if (s->step[1] > 0 && fabs(step - s->step[1]) * (double)(s->n_lon - 1) > s->step[1] / 2 &&
      s->n_lon > 1) {
    snprintf(why, WEIR_GRIB_WHY, "iDirectionIncrement=%g: %lld columns from %g to %g are %g apart",
             s->step[1], (long long)s->n_lon, west, east, step);
    return false;
  }
  const double shift = east >= 360 && west >= 180 ? -360 : 0;

  for (int64_t i = 0; i < s->n_lon; i++) {
    lon[i] = west + shift + (east - west) * (double)i / (double)(s->n_lon > 1 ? s->n_lon - 1 : 1);
  }
  *wraps = s->n_lon > 1 && fabs(east - west + step - 360) < step / 2;
  return true;
}

static bool take_rows(const struct weir_grib_shape *s, double *lat, char *why)
{
  const double north = fmax(s->first[0], s->last[0]), south = fmin(s->first[0], s->last[0]);

  if (north > 90 || south < -90 ||
      ((s->scanning & 0x40) ? s->first[0] > s->last[0] : s->first[0] < s->last[0]) ||
      (s->n_lat > 1 && north == south)) {
    snprintf(why, WEIR_GRIB_WHY,
             "latitudeOfLastGridPoint=%g: the first row is at %g, scanning %lld", s->last[0],
             s->first[0], (long long)s->scanning);
    return false;
  }
  const double step = s->n_lat > 1 ? (north - south) / (double)(s->n_lat - 1) : 0;

  if (s->gaussian == 0 && s->step[0] > 0 && s->n_lat > 1 &&
      fabs(step - s->step[0]) * (double)(s->n_lat - 1) > s->step[0] / 2) {
    snprintf(why, WEIR_GRIB_WHY, "jDirectionIncrement=%g: %lld rows from %g to %g are %g apart",
             s->step[0], (long long)s->n_lat, north, south, step);
    return false;
  }
  for (int64_t j = 0; j < s->n_lat; j++) {
    lat[j] = north - (north - south) * (double)j / (double)(s->n_lat > 1 ? s->n_lat - 1 : 1);
  }
  return true;
}

static bool not_gaussian(const struct weir_grib_shape *s, double north, double south, char *why)
{
  snprintf(why, WEIR_GRIB_WHY, "N=%lld: %lld rows from %g to %g are not Gaussian rows",
           (long long)s->gaussian, (long long)s->n_lat, north, south);
  return false;
}

/* Rows of a Gaussian grid are the library's; a part of the globe starts at the nearest. Only where
 * the distances fit are they asked for: the library takes seconds for thousands. */
static bool take_gaussian(const struct weir_grib_shape *s, double *all, double *lat, char *why)
{
  const double north = lat[0], south = lat[s->n_lat - 1];
  const int64_t rows = 2 * s->gaussian;
  const double apart = 180 / (double)rows;
  int64_t from = 0;

  if (s->n_lat > rows ||
      fabs(north - south - apart * (double)(s->n_lat - 1)) > apart * (double)s->n_lat / 4) {
    return not_gaussian(s, north, south, why);
  }
  if (codes_get_gaussian_latitudes((long)s->gaussian, all) != CODES_SUCCESS) {
    snprintf(why, WEIR_GRIB_WHY, "N=%lld: the library has no such Gaussian rows",
             (long long)s->gaussian);
    return false;
  }
  for (int64_t j = 1; j < rows; j++) {
    from = fabs(all[j] - north) < fabs(all[from] - north) ? j : from;
  }
  if (from + s->n_lat > rows || fabs(all[from] - north) > apart / 4 ||
      fabs(all[from + s->n_lat - 1] - south) > apart / 4) {
    return not_gaussian(s, north, south, why);
  }
  memcpy(lat, all + from, (size_t)s->n_lat * sizeof *lat);
  return true;
}

bool weir_grib_points(const struct weir_grib_shape *s, double *lat, double *lon, double *rows,
                      bool *wraps, char *why)
{
  return take_rows(s, lat, why) && (s->gaussian == 0 || take_gaussian(s, rows, lat, why)) &&
         take_lon(s, lon, wraps, why);
}

/* n values of a key; false: there are not that many, or one is beyond +-max. */
static bool take_array(codes_handle *h, const char *key, int64_t n, double max, double *out,
                       char *why)
{
  size_t found = 0, size = (size_t)n;
  char reason[256];
  int code = codes_get_size(h, key, &found);

  if (code == CODES_SUCCESS && found == size) {
    code = codes_get_double_array(h, key, out, &size);
  }
  if (code != CODES_SUCCESS || found != (size_t)n || size != (size_t)n) {
    snprintf(why, WEIR_GRIB_WHY, "%s: %s", key,
             code != CODES_SUCCESS ? weir_grib_reason(code, reason)
                                   : "are not as many as numberOfDataPoints");
    return false;
  }
  for (int64_t i = 0; i < n; i++) {
    if (!(fabs(out[i]) <= max)) {
      snprintf(why, WEIR_GRIB_WHY, "%s: %g is out of range", key, out[i]);
      return false;
    }
  }
  return true;
}

bool weir_grib_reduced_points(const weir_grib_keys *k, double *lat, double *lon, char *why)
{
  codes_handle *const h = codes_handle_new_from_message(NULL, k->bytes, (size_t)k->size);

  if (!h) {
    snprintf(why, WEIR_GRIB_WHY, "identifier=GRIB: the library cannot decode it");
    return false;
  }
  const bool sound = take_array(h, "latitudes", k->shape.points, 90 + 1e-6, lat, why) &&
                     take_array(h, "longitudes", k->shape.points, FAR, lon, why);

  codes_handle_delete(h);
  return sound;
}
