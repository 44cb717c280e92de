/* qg_surface.h - temperature at 2 m of the simulation: that of the free air above, the height of
 * the surface, the season and the time of day, on the grid and at stations
 * (docs/science/weather_simulation.md, "Temperature at 2 m"). */
#ifndef WX_QG_SURFACE_H
#define WX_QG_SURFACE_H
#include "conf/weir_opt.h"
#include "data/grid.h"
#include "data/simulation/qg_fields.h"

/* Section `simulate.surface`. */
typedef struct wx_surface_opts {
  double lapse_rate, lapse_season;  /* K km-1 */
  double land_height;               /* m */
  double diurnal_land, diurnal_sea; /* K */
  struct {
    double lapse_rate, diurnal_land; /* of the model that forecasts */
  } forecast;
  struct {
    int64_t count;
    double roughness, siting, noise; /* m, K, K */
  } stations;
} wx_surface_opts;
extern const weir_opt wx_surface_options[];

/* The surface of a model: what turns temperature reduced to sea level into that at 2 m. */
typedef struct wx_surface {
  double lapse_rate, lapse_season;  /* K m-1 */
  double diurnal_land, diurnal_sea; /* K */
  int64_t n;
  const double *lat, *lon; /* [n] degrees */
  double *height, *land;   /* [n] m, share; owned by whoever made them */
} wx_surface;

/* Height of the surface, m, at x and y of the model: of a layer of the atmosphere in units of
 * f0 L / U, as the mountains of its potential vorticity; 0 far from them. */
double wx_surface_height(const wx_qg_params *p, const wx_qg_scale *scale, double x, double y);
/* Share of land of a height: 0 at sea level, 1 from land_height on. */
double wx_surface_land(const wx_surface_opts *opts, double height);
/* Adds height, season and time of day to temperatures [n] reduced to sea level (K), at a time in
 * seconds since 1970. */
void wx_surface_add(const wx_surface *s, int64_t time, float *temperature);
/* Draws stations on land, uniform between the outer rows of the grid: lat, lon [n] degrees,
 * altitude [n] m. Fails: WEIR_ERR_CONFIG where hardly any place is land. */
weir_status wx_surface_stations(const wx_surface_opts *opts, const wx_qg_params *p,
                                const wx_qg_scale *scale, uint64_t seed, double *lat, double *lon,
                                double *altitude) WEIR_CHECKED;
/* Interpolates a field of the simulation [ny, nx], rows from north to south, to n stations:
 * bilinear, around the circle. */
void wx_surface_interpolate(const wx_qg_params *p, const float *field, const double *lat,
                            const double *lon, int64_t n, float *out);
/* Adds siting and noise of the observations of number `time` at n stations. */
void wx_surface_observe(const wx_surface_opts *opts, uint64_t seed, int64_t time, int64_t n,
                        float *temperature);
#endif
