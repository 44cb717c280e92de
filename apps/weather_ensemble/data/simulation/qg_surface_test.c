/* qg_surface_test.c - temperature at 2 m by hand, stations on land, interpolation of a plane. */
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "data/simulation/qg_surface.h"

#define PI 3.14159265358979323846
enum { N = 50, NX = 36, NY = 24 };

static const wx_qg_scale scale = {750e3, 25, 1e-4};
static const wx_qg_params params = {.nx = NX, .ny = NY, .lx = 36, .ly = 12, .mountain = 0.8};

static wx_surface_opts defaults(void)
{
  wx_surface_opts o;

  weir_opts_default(wx_surface_options, sizeof o, &o);
  return o;
}

/* h0 f0 h / H = 0.8 U / L of a layer of R T ln 2 / g = 5172.79 m. */
static void mountains_have_their_height(void **state)
{
  const wx_surface_opts o = defaults();
  const double top = wx_surface_height(&params, &scale, 0.3 * 36, 1);

  assert_near(top, 0.8 * 5172.79 * 25 / (1e-4 * 750e3), 10); /* and the foot of the other one */
  assert_true(wx_surface_height(&params, &scale, 20, 5.5) < 20);
  assert_near(wx_surface_land(&o, 25), 0.5, 1e-15);
  assert_true(wx_surface_land(&o, top) == 1 && wx_surface_land(&o, 0) == 0);
}

/* 2001-01-01 12:00 UTC, 30 E: 14 h by the sun; declination -23.44 cos(2 pi (0.5 / 365 + 10 /
 * 365.25)). */
static void temperature_is_that_of_hand_calculation(void **state)
{
  const double lat[3] = {45, 45, 80}, lon[3] = {30, 210, 30};
  double height[3] = {1000, 0, 500}, land[3] = {1, 0, 1};
  const wx_surface s = {.lapse_rate = 5.5e-3,
                        .lapse_season = 1.5e-3,
                        .diurnal_land = 5,
                        .diurnal_sea = 0.5,
                        .n = 3,
                        .lat = lat,
                        .lon = lon,
                        .height = height,
                        .land = land};
  const double year = 0.5 / 365, declination = -23.44 * cos(2 * PI * (year + 10 / 365.25));
  const double noon = cos(PI / 180 * (45 - declination));
  const double lapse = 5.5e-3 - 1.5e-3 * cos(2 * PI * year);
  float t[3] = {280, 280, 280};

  wx_surface_add(&s, (int64_t)(11323.5 * 86400), t);
  assert_near((double)t[0], 280 - 1000 * lapse + 5 * noon, 3e-5);
  assert_near((double)t[1], 280 - 0.5 * noon, 3e-5);
  assert_near((double)t[2], 280 - 500 * lapse, 3e-5); /* the sun does not rise */
}

static void stations_are_on_land(void **state)
{
  wx_surface_opts o = defaults();
  double lat[2][N], lon[2][N], altitude[2][N];
  wx_qg_params sea = params;

  o.stations.count = N;
  for (int i = 0; i < 2; i++) {
    assert_ok(wx_surface_stations(&o, &params, &scale, 3, lat[i], lon[i], altitude[i]));
  }
  assert_memory_equal(lat[0], lat[1], sizeof lat[0]);
  assert_memory_equal(altitude[0], altitude[1], sizeof altitude[0]);
  for (int i = 0; i < N; i++) {
    const double x = lon[0][i] / 10, y = (lat[0][i] - 45) / 80 * 12;

    assert_true(wx_surface_height(&params, &scale, x, y) >= o.land_height);
    assert_true(altitude[0][i] >= 0 && y >= -6 && y <= 6 - 12.0 / NY);
  }
  sea.mountain = 0;
  assert_int_equal(wx_surface_stations(&o, &sea, &scale, 3, lat[0], lon[0], altitude[0]),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "simulate.surface.land_height"));
}

/* A plane in the latitude and waves of a column: what is between rows and columns, and beyond the
 * last column. */
static void fields_come_to_stations(void **state)
{
  static float field[NY * NX];
  const double lat[4] = {45, 45 + 80.0 * 5.25 / NY, 5, 45 + 80.0 * 11 / NY};
  const double lon[4] = {0, 20, 355, 352};
  float out[4];

  for (int i = 0; i < NY * NX; i++) {
    field[i] = (float)(10 * (NY - 1 - i / NX) + (i % NX == 0 ? 1 : 0));
  }
  wx_surface_interpolate(&params, field, lat, lon, 4, out);
  assert_near((double)out[0], 10 * NY / 2 + 1, 1e-4);
  assert_near((double)out[1], 10 * (NY / 2 + 5.25), 1e-4);
  assert_near((double)out[2], 0.5, 1e-4);
  assert_near((double)out[3], 10 * (NY - 1) + 0.2, 1e-4);
}

static void observations_scatter_as_stated(void **state)
{
  enum { TIMES = 400 };
  wx_surface_opts o = defaults();
  float t[N];
  double mean[N] = {0}, square = 0, siting = 0;

  for (int k = 0; k < TIMES; k++) {
    memset(t, 0, sizeof t);
    wx_surface_observe(&o, 1, k, N, t);
    for (int i = 0; i < N; i++) {
      mean[i] += (double)t[i] / TIMES;
      square += (double)t[i] * (double)t[i] / TIMES / N;
    }
  }
  for (int i = 0; i < N; i++) {
    siting += mean[i] * mean[i] / N;
  }
  assert_near(sqrt(square - siting), o.stations.noise, 0.01);
  assert_near(sqrt(siting), o.stations.siting, 0.3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mountains_have_their_height),
      cmocka_unit_test(temperature_is_that_of_hand_calculation),
      cmocka_unit_test(stations_are_on_land),
      cmocka_unit_test(fields_come_to_stations),
      cmocka_unit_test(observations_scatter_as_stated),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
