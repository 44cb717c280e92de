/* import.c - prepare on files of others: what it finds, keeps and refuses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_file.h"
#include "io/weir_grib.h"
#include "io/weir_netcdf.h"
#include "program.h"

/* "--set data.SIDE=[...]" of the three files of a folder of the shared data. */
static const char *files_of(const char *side, const char *folder, const char *name,
                            const char *const *dates, const char *suffix)
{
  static char text[2][4 * PATH];
  char *const to = text[side[0] == 't'];
  size_t n = (size_t)snprintf(to, sizeof text[0], "--set data.%s=[", side);

  for (int i = 0; i < 3; i++) {
    char path[PATH];

    weir_check_shared(path, sizeof path,
                      "weather/netcdf/%s/%s_%sZ-%s-temperature_at_screen_level.nc", folder, name,
                      dates[i], suffix);
    n += (size_t)snprintf(to + n, sizeof text[0] - n, "%s%s", i > 0 ? "," : "", path);
  }
  (void)snprintf(to + n, sizeof text[0] - n, "] ");
  return to;
}

static const char *const starts[] = {"20170602T0300", "20170603T0300", "20170604T0300"};
static const char *const times[] = {"20170602T1500", "20170603T1500", "20170604T1500"};

/* The copies are imported again and say the same. */
static void files_become_one_archive(void **state)
{
  const char *forecast = files_of("forecast", "emos_grid", "history", starts, "PT0012H");
  const char *truth = files_of("truth", "emos_grid", "truth", times, "PT0000H");

  (void)state;
  assert_int_equal(
      program("prepare %s %s --set import.climate=true --out %s", forecast, truth, in_scratch("a")),
      0);
  assert_non_null(strstr(printed(), "3 starts, 2017-06-02 03:00 to 2017-06-04 03:00"));
  assert_non_null(strstr(printed(), "12 members, 0 to 11"));
  assert_true(event_number(in_scratch("a"), "import", "starts") == 3);
  assert_true(weir_file_exists(in_scratch("a/climate.nc")));
  assert_true(weir_file_exists(in_scratch("a/provenance.json")));
  assert_int_equal(program("prepare --set data.forecast=[%s] --set data.truth=[%s] --out %s",
                           in_scratch("a/forecast.nc"), in_scratch("a/truth.nc"), in_scratch("b")),
                   0);
  assert_true(same_contents(in_scratch("a/import.csv"), in_scratch("b/import.csv")));
}

/* GRIB to NetCDF; the analyses of ten members are no truth. */
static void grib_becomes_netcdf(void **state)
{
  char ens[PATH], era5[PATH];

  (void)state;
  if (!weir_grib_available()) {
    printf("skipped: this build has no ecCodes\n");
    skip();
  }
  weir_check_shared(ens, sizeof ens, "weather/grib/z500_ens.grib");
  weir_check_shared(era5, sizeof era5, "weather/grib/era5-levels-members.grib");
  assert_int_equal(program("prepare --set data.forecast=[%s] --out %s", ens, in_scratch("a")), 0);
  assert_non_null(strstr(printed(), "51 members, 0 to 50"));
  assert_int_equal(program("prepare --set data.forecast=[%s] --out %s", in_scratch("a/forecast.nc"),
                           in_scratch("b")),
                   0);
  assert_true(same_contents(in_scratch("a/import.csv"), in_scratch("b/import.csv")));
  assert_int_equal(program("prepare --set data.forecast=[%s] --set data.truth=[%s] --out %s", era5,
                           era5, in_scratch("c")),
                   3);
  assert_non_null(strstr(printed(), "10 members; a truth has one"));
}

static void what_does_not_go_together_is_refused(void **state)
{
  const char *forecast = files_of("forecast", "emos_grid", "history", starts, "PT0012H");
  char sst[PATH];

  (void)state;
  weir_check_shared(sst, sizeof sst,
                    "weather/netcdf/decadal/MPIESM_miklip_baseline1-assim-SST-global.nc");
  assert_int_equal(
      program("prepare %s --set data.truth=[%s] --out %s", forecast, sst, in_scratch("a")), 3);
  assert_non_null(strstr(printed(), "are not on the same grid"));
  assert_int_equal(
      program("prepare %s --set import.members=51 --out %s", forecast, in_scratch("b")), 3);
  assert_non_null(strstr(printed(), "have 12 members (0 to 11), import.members asks for 51"));
  assert_true(only_log(in_scratch("b")));
  assert_int_equal(program("prepare --set data.truth=[%s] --out %s", sst, in_scratch("c")), 2);
  assert_non_null(strstr(printed(), "data.forecast is not"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(files_become_one_archive),
      TEST(grib_becomes_netcdf),
      TEST(what_does_not_go_together_is_refused),
  };

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
