/* emos_known_test.c - EMOS coefficients of IMPROVER (Met Office, CC BY 4.0) on its own test data:
 * screen temperature of MOGREPS-UK against analyses of the UKV, and at sites point by point. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "baseline/emos.h"
#include "io/weir_netcdf.h"

enum { PATH = 4096, DAYS = 3 };

typedef struct set {
  int64_t cells;
  float *mean, *variance, *truth; /* [DAYS, cells] */
} set;

/* All numbers of a variable; NULL fails the test. */
static float *read_all(const char *path, const char *name, int64_t *n)
{
  const int64_t zero[WEIR_NETCDF_MAX_DIMS] = {0};
  weir_netcdf *nc = NULL;
  weir_netcdf_shape shape;
  float *out = NULL;
  int var = 0;

  assert_ok(weir_netcdf_open(path, &nc));
  assert_ok(weir_netcdf_find(nc, name, &var, &shape));
  assert_int_equal(shape.dtype, WEIR_F32);
  *n = 1;
  for (int d = 0; d < shape.n_dims; d++) {
    *n *= shape.lengths[d];
  }
  assert_ok(weir_alloc(*n, sizeof *out, (void **)&out));
  assert_ok(weir_netcdf_read(nc, var, zero, shape.lengths, out));
  weir_netcdf_close(&nc);
  return out;
}

static void take_day(set *s, int day, const char *forecast, const char *truth)
{
  int64_t n = 0, cells = 0;
  float *x = read_all(forecast, "air_temperature", &n);
  float *y = read_all(truth, "air_temperature", &cells);
  const int64_t members = n / cells;

  if (s->mean == NULL) {
    s->cells = cells;
    assert_ok(weir_alloc(DAYS * cells, sizeof(float), (void **)&s->mean));
    assert_ok(weir_alloc(DAYS * cells, sizeof(float), (void **)&s->variance));
    assert_ok(weir_alloc(DAYS * cells, sizeof(float), (void **)&s->truth));
  }
  assert_int_equal(cells, s->cells);
  for (int64_t c = 0; c < cells; c++) {
    double mean = 0, m2 = 0;

    for (int64_t m = 0; m < members; m++) {
      mean += (double)x[m * cells + c] / (double)members;
    }
    for (int64_t m = 0; m < members; m++) {
      m2 += ((double)x[m * cells + c] - mean) * ((double)x[m * cells + c] - mean);
    }
    s->mean[day * cells + c] = (float)mean;
    s->variance[day * cells + c] = (float)(m2 / (double)(members - 1));
    s->truth[day * cells + c] = y[c];
  }
  weir_free(&x);
  weir_free(&y);
}

static void fini(set *s)
{
  weir_free(&s->mean);
  weir_free(&s->variance);
  weir_free(&s->truth);
}

static wx_cases cases_of(const set *s)
{
  return (wx_cases){.rows = DAYS,
                    .columns = s->cells,
                    .mean = s->mean,
                    .variance = s->variance,
                    .truth = s->truth};
}

/* IMPROVER's coefficients, [sets]. */
static void read_known(const char *path, int64_t sets, wx_emos *out)
{
  static const char *const name[] = {"alpha", "beta", "gamma", "delta"};
  char text[64];

  for (int k = 0; k < 4; k++) {
    int64_t n = 0;

    (void)snprintf(text, sizeof text, "emos_coefficient_%s", name[k]);
    float *const v = read_all(path, text, &n);

    assert_int_equal(n, sets);
    for (int64_t i = 0; i < n; i++) {
      double *const at[] = {&out[i].alpha, &out[i].beta, &out[i].gamma, &out[i].delta};

      *at[k] = (double)v[i];
    }
    weir_free(&(float *){v});
  }
}

static void begin(void)
{
  if (!weir_netcdf_available()) {
    (void)fprintf(stderr, "no NetCDF in this build\n");
    skip();
  }
}

static void coefficients_of_a_grid_are_those_of_improver(void **state)
{
  char forecast[PATH], truth[PATH], path[PATH];
  set s = {.cells = 0};
  wx_emos_opts o;
  wx_emos_fit fit;
  wx_emos known;

  begin();
  weir_opts_default(wx_emos_options, sizeof o, &o);
  for (int day = 0; day < DAYS; day++) {
    weir_check_shared(forecast, sizeof forecast,
                      "weather/netcdf/emos_grid/"
                      "history_2017060%dT0300Z-PT0012H-temperature_at_screen_level.nc",
                      day + 2);
    weir_check_shared(truth, sizeof truth,
                      "weather/netcdf/emos_grid/"
                      "truth_2017060%dT1500Z-PT0000H-temperature_at_screen_level.nc",
                      day + 2);
    take_day(&s, day, forecast, truth);
  }
  const wx_cases c = cases_of(&s);

  assert_ok(wx_emos_fit_cases(&o, &c, &fit));
  assert_int_equal(fit.cases, DAYS * 200 * 200);
  assert_near(fit.crps, 0.23229211, 1e-6);
  assert_true(fabs(fit.at.beta - 0.851482) < 1e-3);
  assert_true(fabs(fit.at.alpha / 42.9266 - 1) < 0.01);
  assert_true(fabs(fit.at.gamma - 0.1335138) < 1e-3);
  assert_true(fabs(fit.at.delta - 1.190159) < 1e-3);
  weir_check_shared(path, sizeof path, "weather/netcdf/emos_grid/kgo_coefficients.nc");
  read_known(path, 1, &known);
  const double of_known = wx_emos_crps(&known, &c, NULL);

  assert_near(of_known, 0.23229211, 1e-7);
  assert_true(fit.crps <= of_known + 1e-9); /* f32 rounds alpha */
  fini(&s);
}

/* IMPROVER stops its search early and has no floor. Three days determine little: a function of four
 * unknowns and three cases has more than one minimum, but no site may be much worse. */
static void no_site_is_worse_than_improver(void **state)
{
  enum { SITES = 121 };
  char forecast[PATH], truth[PATH], path[PATH];
  const wx_emos_grid grid = {.n_lat = 1, .n_lon = SITES};
  wx_emos known[SITES], at[SITES];
  set s = {.cells = 0};
  wx_emos_opts o;
  double sum[2] = {0};
  int64_t few = 0;

  begin();
  weir_opts_default(wx_emos_options, sizeof o, &o);
  o.floor = 1e-6;
  o.pool = WX_EMOS_POINT;
  o.least = DAYS;
  for (int day = 0; day < DAYS; day++) {
    weir_check_shared(forecast, sizeof forecast,
                      "weather/netcdf/emos_sites/"
                      "history_202012%02dT1500Z-PT0012H00M-temperature_at_screen_level.nc",
                      day + 9);
    weir_check_shared(truth, sizeof truth,
                      "weather/netcdf/emos_sites/"
                      "truth_202012%02dT1500Z-PT0000H00M-temperature_at_screen_level.nc",
                      day + 9);
    if (day == 0) {
      weir_check_shared(path, sizeof path,
                        "weather/netcdf/emos_sites/kgo_point_by_point_coefficients.nc");
    }
    take_day(&s, day, forecast, truth);
  }
  read_known(path, SITES, known);
  const wx_cases c = cases_of(&s);

  assert_ok(wx_emos_fit_grid(&o, &c, &grid, at, &few));
  assert_int_equal(few, 0);
  for (int64_t i = 0; i < SITES; i++) {
    float day[3][DAYS];

    for (int d = 0; d < DAYS; d++) {
      day[0][d] = s.mean[d * SITES + i];
      day[1][d] = s.variance[d * SITES + i];
      day[2][d] = s.truth[d * SITES + i];
    }
    const wx_cases one = {
        .rows = 1, .columns = DAYS, .mean = day[0], .variance = day[1], .truth = day[2]};

    const double ours = wx_emos_crps(&at[i], &one, NULL);
    const double theirs = wx_emos_crps(&known[i], &one, NULL);

    assert_true(ours <= theirs * 1.001);
    sum[0] += ours;
    sum[1] += theirs;
  }
  assert_true(sum[0] < sum[1]);
  fini(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coefficients_of_a_grid_are_those_of_improver),
      cmocka_unit_test(no_site_is_worse_than_improver),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
