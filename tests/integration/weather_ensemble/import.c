/* import.c - prepare on files of others: what it finds, keeps and refuses. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_file.h"
#include "io/weir_grib.h"
#include "io/weir_netcdf.h"
#include "program.h"

static void needs_grib(void)
{
  if (!weir_grib_available()) {
    printf("skipped: this build has no ecCodes\n");
    skip();
  }
}

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

static const char *const init_times[] = {"20170602T0300", "20170603T0300", "20170604T0300"};
static const char *const times[] = {"20170602T1500", "20170603T1500", "20170604T1500"};

/* The copies are imported again and say the same. */
static void files_become_one_archive(void **state)
{
  const char *forecast = files_of("forecast", "emos_grid", "history", init_times, "PT0012H");
  const char *truth = files_of("truth", "emos_grid", "truth", times, "PT0000H");

  (void)state;
  assert_int_equal(
      program("prepare %s %s --set import.climate=true --out %s", forecast, truth, in_scratch("a")),
      0);
  assert_non_null(
      strstr(printed(), "3 initialisation times, 2017-06-02 03:00 to 2017-06-04 03:00"));
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
  needs_grib();
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

/* The index of a file, in the folder: its name and a sum. */
static int64_t count_indexes(const char *folder)
{
  DIR *const d = opendir(folder);
  int64_t n = 0;

  for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
    n += strncmp(e->d_name, "z500_ens.grib-", 14) == 0;
  }
  if (d != NULL) {
    (void)closedir(d);
  }
  return n;
}

/* The second time it is opened by its index, with the same answers; an index that is damaged is
 * made anew. */
static void an_index_is_kept(void **state)
{
  char ens[PATH];

  (void)state;
  needs_grib();
  weir_check_shared(ens, sizeof ens, "weather/grib/z500_ens.grib");
  for (int k = 0; k < 2; k++) {
    assert_int_equal(program("prepare --set data.forecast=[%s] --set data.grib.index=%s --out %s",
                             ens, in_scratch("kept/here"), in_scratch("%d", k)),
                     0);
    assert_int_equal(count_indexes(in_scratch("kept/here")), 1);
  }
  assert_true(same_contents(in_scratch("0/import.csv"), in_scratch("1/import.csv")));
  assert_true(same_contents(in_scratch("0/forecast.nc"), in_scratch("1/forecast.nc")));
}

/* Two messages of three are left of ERA5 with a truncated one, whose bytes are named. */
static void damage_is_skipped_where_that_is_asked_for(void **state)
{
  char damaged[PATH];

  (void)state;
  needs_grib();
  weir_check_shared(damaged, sizeof damaged, "weather/grib/era5-levels-corrupted.grib");
  assert_int_equal(program("prepare --set data.forecast=[%s] --out %s", damaged, in_scratch("a")),
                   3);
  assert_non_null(strstr(printed(), "message 1 (byte 0) is damaged: totalLength=1588"));
  assert_non_null(strstr(printed(), "repair the file, or set data.grib.skip_damaged"));
  assert_true(only_log(in_scratch("a")));
  assert_int_equal(program("prepare --set data.forecast=[%s] --set data.grib.skip_damaged=true "
                           "--out %s",
                           damaged, in_scratch("b")),
                   0);
  assert_non_null(strstr(printed(), "message 1 (byte 0) is damaged and skipped: totalLength=1588"));
  assert_true(event_number(in_scratch("b"), "import", "starts") == 1);
}

static void what_does_not_go_together_is_refused(void **state)
{
  const char *forecast = files_of("forecast", "emos_grid", "history", init_times, "PT0012H");
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
      TEST(an_index_is_kept),
      TEST(damage_is_skipped_where_that_is_asked_for),
      TEST(what_does_not_go_together_is_refused),
  };

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
