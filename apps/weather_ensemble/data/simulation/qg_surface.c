/* qg_surface.c - see qg_surface.h. */
#include "data/simulation/qg_surface.h"
#include <math.h>
#include "base/weir_random.h"
#include "data/date.h"

#define PI 3.14159265358979323846
#define DAY 86400.0

enum { PLACES = 0x71670011, ALTITUDES, SITES, NOISE }; /* purposes of random numbers */

const weir_opt wx_surface_options[] = {
    WEIR_OPT_REAL(wx_surface_opts, lapse_rate, 5.5, 0, 20, "K/km",
                  "fall of temperature with the height of the surface, mean of the year"),
    WEIR_OPT_REAL(wx_surface_opts, lapse_season, 1.5, 0, 20, "K/km",
                  "how much it is above that mean in July and below it in January"),
    WEIR_OPT_REAL(wx_surface_opts, land_height, 50, 0.1, 1e4, "m",
                  "height from which on the surface is land; below, a share of it"),
    WEIR_OPT_REAL(wx_surface_opts, diurnal_land, 5, 0, 30, "K",
                  "amplitude of the diurnal cycle on land, where the sun is overhead at noon"),
    WEIR_OPT_REAL(wx_surface_opts, diurnal_sea, 0.5, 0, 30, "K", "amplitude on the sea"),
    WEIR_OPT_REAL(wx_surface_opts, forecast.lapse_rate, 6.5, 0, 20, "K/km",
                  "lapse rate of the model that forecasts, in all seasons"),
    WEIR_OPT_REAL(wx_surface_opts, forecast.diurnal_land, 3.5, 0, 30, "K",
                  "its amplitude of the diurnal cycle on land"),
    WEIR_OPT_INT(wx_surface_opts, stations.count, 0, 0, 1e6, "1",
                 "stations on land, whose observations of 2t are written as stations.nc; 0: none"),
    WEIR_OPT_REAL(wx_surface_opts, stations.roughness, 300, 0, 1e4, "m",
                  "standard deviation of their altitude about the surface of the truth"),
    WEIR_OPT_REAL(wx_surface_opts, stations.siting, 1, 0, 30, "K",
                  "standard deviation of what the place of a station adds at all times"),
    WEIR_OPT_REAL(wx_surface_opts, stations.noise, 0.5, 0, 30, "K",
                  "standard deviation of what an observation adds: instrument, air below the grid"),
    WEIR_OPT_END,
};

double wx_surface_height(const wx_qg_params *p, const wx_qg_scale *scale, double x, double y)
{
  return wx_qg_mountains(p, x, y) * wx_qg_layer_height() * scale->wind /
         (scale->coriolis * scale->length);
}

double wx_surface_land(const wx_surface_opts *opts, double height)
{
  return fmin(fmax(height / opts->land_height, 0), 1);
}

/* Cosine of the sun's distance from the zenith at noon, 0 where it does not rise: declination of
 * -23.44 degrees at the solstice, ten days before the end of the year. */
static double noon(double lat, double year)
{
  const double declination = -23.44 * cos(2 * PI * (year + 10 / 365.25));

  return fmax(0, cos(PI / 180 * (lat - declination)));
}

void wx_surface_add(const wx_surface *s, int64_t time, float *temperature)
{
  const double days = (double)time / DAY, year = wx_date_year_share(days);
  const double hour = 24 * (days - floor(days));
  const double lapse = s->lapse_rate - s->lapse_season * cos(2 * PI * year);

  for (int64_t i = 0; i < s->n; i++) {
    const double size = s->diurnal_sea + s->land[i] * (s->diurnal_land - s->diurnal_sea);
    const double sun = cos(2 * PI * (hour + s->lon[i] / 15 - 14) / 24); /* warmest at two */

    temperature[i] =
        (float)((double)temperature[i] - lapse * s->height[i] + size * noon(s->lat[i], year) * sun);
  }
}

weir_status wx_surface_stations(const wx_surface_opts *opts, const wx_qg_params *p,
                                const wx_qg_scale *scale, uint64_t seed, double *lat, double *lon,
                                double *altitude)
{
  const double width = (double)(p->ny - 1) / (double)p->ny; /* between the outer rows */
  const int64_t n = opts->stations.count, max_draws = 1000 * n;
  int64_t drawn = 0;

  for (int64_t i = 0; i < n; drawn++) {
    const double east = weir_random_uniform(seed, PLACES, 0, (uint64_t)(2 * drawn));
    const double north =
        width * weir_random_uniform(seed, PLACES, 0, (uint64_t)(2 * drawn + 1)) - 0.5;
    const double height = wx_surface_height(p, scale, east * p->lx, north * p->ly);

    if (drawn == max_draws) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "simulate.surface.stations.count: of %lld places only %lld are land: take a "
                       "higher simulate.mountain or a lower simulate.surface.land_height",
                       (long long)max_draws, (long long)i);
    }
    if (height >= opts->land_height) {
      lat[i] = 45 + 80 * north;
      lon[i] = 360 * east;
      altitude[i] = fmax(0, height + opts->stations.roughness *
                                         weir_random_normal(seed, ALTITUDES, 0, (uint64_t)i));
      i++;
    }
  }
  return WEIR_OK;
}

void wx_surface_interpolate(const wx_qg_params *p, const float *field, const double *lat,
                            const double *lon, int64_t n, float *out)
{
  for (int64_t s = 0; s < n; s++) {
    const double column = lon[s] / 360 * (double)p->nx;
    const double row = (double)(p->ny - 1) - ((lat[s] - 45) / 80 + 0.5) * (double)p->ny;
    const int64_t last = p->ny - 2, i = (int64_t)floor(column) % p->nx, next = (i + 1) % p->nx;
    const int64_t above = row < 0 ? 0 : row > (double)last ? last : (int64_t)row;
    const double east = column - floor(column), south = row - (double)above;
    const float *const at = field + above * p->nx;

    out[s] =
        (float)((1 - south) * ((1 - east) * (double)at[i] + east * (double)at[next]) +
                south * ((1 - east) * (double)at[p->nx + i] + east * (double)at[p->nx + next]));
  }
}

void wx_surface_observe(const wx_surface_opts *opts, uint64_t seed, int64_t time, int64_t n,
                        float *temperature)
{
  for (int64_t i = 0; i < n; i++) {
    const double siting = weir_random_normal(seed, SITES, 0, (uint64_t)i);
    const double noise = weir_random_normal(seed, NOISE, (uint32_t)time, (uint64_t)i);

    temperature[i] = (float)((double)temperature[i] + opts->stations.siting * siting +
                             opts->stations.noise * noise);
  }
}
