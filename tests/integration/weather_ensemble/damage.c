/* damage.c - damaged and ill-matched inputs through the commands: each is refused with file,
 * message or variable, and reason, and leaves nothing half written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "data/archive/archive.h"
#include "io/weir_grib.h"
#include "io/weir_netcdf.h"
#include "program.h"

enum { ROWS = 3, COLUMNS = 4, CELLS = ROWS * COLUMNS, MEMBERS = 3, INIT_TIMES = 2, DAY = 86400 };

/* What an archive of these tests holds: `first` is the first start in days. */
typedef struct what {
  int64_t first, members, init_times;
  double north;
  const char *units;
  double leads[2];
} what;

static const what usual = {10, MEMBERS, INIT_TIMES, 60, "K", {24, 48}};

/* Forecasts of 2t, or (leads 0, 0) its truth, of every number a field would have. */
static const char *make(const char *name, const what *is)
{
  const char *const path = in_scratch("%s", name);
  const int64_t n_leads = is->leads[1] > is->leads[0] ? 2 : 1;
  double lat[ROWS], lon[COLUMNS];
  int64_t start[8], member[8];
  float values[8 * CELLS];
  wx_quantity q = {.variable = "t2m", .kind = WX_LEVEL_SURFACE};
  wx_archive_info f = {.name = "",
                       .n_init_times = is->init_times,
                       .n_leads = n_leads,
                       .n_members = is->members,
                       .n_quantities = 1,
                       .start = start,
                       .lead = is->leads,
                       .member = member,
                       .quantity = &q,
                       .grid = {.kind = WX_GRID_LATLON,
                                .n_lat = ROWS,
                                .n_lon = COLUMNS,
                                .units = {"degrees_north", "degrees_east"},
                                .lat = lat,
                                .lon = lon}};
  wx_archive_writer *w = NULL;

  (void)snprintf(q.units, sizeof q.units, "%s", is->units);
  wx_quantity_complete(&q);
  for (int64_t i = 0; i < 8; i++) {
    start[i] = (is->first + i) * DAY;
    member[i] = i;
  }
  for (int j = 0; j < ROWS; j++) {
    lat[j] = is->north - 10 * j;
  }
  for (int i = 0; i < COLUMNS; i++) {
    lon[i] = 10 * i;
  }
  for (int64_t k = 0; k < is->members * CELLS; k++) {
    values[k] = (float)(280 + k % 7);
  }
  assert_ok(wx_archive_create(path, &f, &w));
  for (int64_t k = 0; k < is->init_times * n_leads; k++) {
    assert_ok(wx_archive_write(w, k / n_leads, k % n_leads, 0, 0, is->members, values));
  }
  assert_ok(wx_archive_commit(&w));
  return path;
}

/* The command fails with `status`, says both texts, and leaves nothing but its log. */
static void refused(const char *command, const char *arguments, int status, const char *said,
                    const char *also)
{
  static int n;
  const char *const out = in_scratch("out%d", n++);
  const int found = program("%s %s --out %s", command, arguments, out);

  if (found != status || !strstr(printed(), said) || !strstr(printed(), also)) {
    fprintf(stderr, "%s %s: status %d, not %d, or not '%s', '%s': %s\n", command, arguments, found,
            status, said, also, printed());
    assert_true(false);
  }
  assert_true(only_log(out));
}

/* truth "": none. */
static const char *of(const char *forecast, const char *truth)
{
  static char text[8 * PATH];

  (void)snprintf(text, sizeof text, "--set data.forecast=[%s]%s%s%s", forecast,
                 truth[0] != 0 ? " --set data.truth=[" : "", truth, truth[0] != 0 ? "]" : "");
  return text;
}

static const char *both(const char *one, const char *other)
{
  static char text[4 * PATH];

  (void)snprintf(text, sizeof text, "%s,%s", one, other);
  return text;
}

/* The first bytes of a file, a share of them. */
static void truncate_to(const char *path, double share, const char *to)
{
  FILE *const in = fopen(path, "rb"), *const out = fopen(to, "wb");
  static char bytes[1 << 20];
  const size_t n = fread(bytes, 1, sizeof bytes, in);

  assert_true(n > 0 && n < sizeof bytes);
  assert_int_equal(fwrite(bytes, 1, (size_t)((double)n * share), out), (size_t)((double)n * share));
  assert_int_equal(fclose(in) + fclose(out), 0);
}

static void files_that_are_cut_are_refused(void **state)
{
  const char *const whole = make("a.nc", &usual), *const truncated = in_scratch("part.nc");
  const what later = {13, MEMBERS, INIT_TIMES, 60, "K", {24, 48}};
  const char *const truth = make("t.nc", &(what){11, 1, 4, 60, "K", {0, 0}});
  char *const pair = strdup(both(make("b.nc", &later), truncated));

  (void)state;
  for (int k = 0; k < 4; k++) {
    truncate_to(whole, (double[]){0, 0.2, 0.7, 0.98}[k], truncated);
    refused("prepare", of(truncated, ""), 3, truncated, k == 0 ? "right file" : "truncated");
  }
  refused("prepare", of(pair, ""), 3, truncated, "truncated");
  refused("eval", of(truncated, truth), 3, truncated, "truncated");
  refused("eval", of(whole, truncated), 3, truncated, "truncated");
  refused("run", of(truncated, truth), 3, truncated, "truncated");
  free(pair);
}

static void files_that_do_not_go_together_are_refused(void **state)
{
  const char *const a = make("a.nc", &usual);
  const char *const north = make("n.nc", &(what){13, MEMBERS, INIT_TIMES, 61, "K", {24, 48}});
  const char *const fahrenheit =
      make("c.nc", &(what){13, MEMBERS, INIT_TIMES, 60, "degF", {24, 48}});
  const char *const fewer = make("f.nc", &(what){13, 2, INIT_TIMES, 60, "K", {24, 48}});
  const char *const gap = make("g.nc", &(what){13, MEMBERS, INIT_TIMES, 60, "K", {24, 72}});
  const char *const truth = make("t.nc", &(what){11, 1, 4, 61, "K", {0, 0}});
  const char *const warm = make("w.nc", &(what){11, 1, 4, 60, "degF", {0, 0}});
  const char *const many = make("m.nc", &(what){11, 2, 4, 60, "K", {0, 0}});

  (void)state;
  refused("prepare", of(both(a, north), ""), 3, "is on another grid", north);
  refused("eval", of(both(a, north), truth), 3, "is on another grid", north);
  refused("prepare", of(both(a, fahrenheit), ""), 3, "'degF'", fahrenheit);
  refused("prepare", of(both(a, a), ""), 3, "is there twice", "leave one out");
  refused("prepare", of(both(a, fewer), ""), 3, "member 2", "import.incomplete");
  refused("prepare", of(both(a, gap), ""), 3, "lead 72 h", "import.incomplete");
  refused("prepare", of(a, truth), 3, "not on the same grid", truth);
  refused("prepare", of(a, many), 3, "a truth has one", many);
  refused("prepare", of(a, warm), 3, "'degF'", "convert");
}

static void what_is_no_file_is_refused(void **state)
{
  const char *const pipe = in_scratch("pipe"), *const text = in_scratch("text.grib");
  FILE *const out = fopen(text, "w");

  (void)state;
  fprintf(out, "not what it is called\n");
  assert_int_equal(fclose(out), 0);
  assert_int_equal(mkfifo(pipe, 0600), 0);
  refused("prepare", of(pipe, ""), 3, pipe, "is no regular file");
  refused("prepare", of(in_scratch("."), ""), 3, "is no regular file", "name the files");
  refused("prepare", of(in_scratch("none.nc"), ""), 3, "none.nc", "No such file");
  refused("prepare", of(text, ""), 3, text, "begins like no file of");
}

/* Changes octets of the first message: edition 1, of the shared data. */
static void patch(const char *to, int64_t at, const char *bytes, size_t n)
{
  char ens[PATH];

  weir_check_shared(ens, sizeof ens, "weather/grib/ek_ens_50.grib");
  truncate_to(ens, 1, to);
  FILE *const f = fopen(to, "r+b");

  assert_int_equal(fseek(f, at, SEEK_SET), 0);
  assert_int_equal(fwrite(bytes, 1, n, f), n);
  assert_int_equal(fclose(f), 0);
}

/* Octets counted from 0; each refusal names message and byte. */
static void messages_that_are_damaged_are_refused(void **state)
{
  enum { ONE = 8, TWO = ONE + 106 };
  const char *const to = in_scratch("x.grib");
  static const struct {
    int64_t at;
    const char *bytes;
    size_t n;
    const char *said;
  } rows[] = {
      {0, "BIRG", 4, "begins like no file of"},
      {4, "\0\0\0", 3, "totalLength=0"},
      {4, "\x7f\xff\xff", 3, "totalLength=8388607"},
      {7, "\3", 1, "edition=3"},
      {ONE, "\xff\xff\xff", 3, "section1Length=16777215"},
      {ONE + 13, "\15", 1, "dataDate=201313"},
      {ONE + 17, "\6\xff", 2, "startStep: "},
      {TWO + 5, "\4", 1, "N=10000: there are no such"},
      {TWO + 5, "\62", 1, "gridType=unknown"},
      {TWO + 6, "\xff\xff", 2, "Ni: is missing"},
      {TWO + 6, "\0\4", 2, "iDirectionIncrement=10"},
      {TWO + 10, "\1\x73\x18", 3, "the first row is at 95"},
  };

  (void)state;
  if (!weir_grib_available()) {
    printf("skipped: this build has no ecCodes\n");
    skip();
  }
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    patch(to, rows[k].at, rows[k].bytes, rows[k].n);
    refused("prepare", of(to, ""), 3, k == 0 ? to : "message 1 (byte 0)", rows[k].said);
  }
  patch(to, 0, "GRIB", 4);
  refused("prepare", of(both(to, to), ""), 3, "is there twice", to);
  refused("prepare --set import.members=10", of(to, ""), 3, "51 members", "asks for 10");
  assert_int_equal(truncate(to, 11900), 0);
  refused("prepare", of(to, ""), 3, "is damaged", "data.grib.skip_damaged");
  refused("prepare --set import.members=51 --set data.grib.skip_damaged=true", of(to, ""), 3,
          "asks for 51", "is damaged and skipped");
}

/* Those of the shared data that no command can use. */
static void shared_files_that_are_no_grid_are_refused(void **state)
{
  static const char *const rows[][2] = {{"reduced_gg", "gridType=reduced_gg"},
                                        {"spherical_harmonics", "gridType=sh"},
                                        {"era5-levels-corrupted", "totalLength=1588"}};

  (void)state;
  if (!weir_grib_available()) {
    printf("skipped: this build has no ecCodes\n");
    skip();
  }
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    char path[PATH];

    weir_check_shared(path, sizeof path, "weather/grib/%s.grib", rows[k][0]);
    refused("prepare", of(path, ""), 3, "message 1 (byte 0)", rows[k][1]);
    refused("eval", of(path, path), 3, "message 1 (byte 0)", rows[k][1]);
    refused("run", of(path, path), 3, "message 1 (byte 0)", rows[k][1]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(files_that_are_cut_are_refused),
      TEST(files_that_do_not_go_together_are_refused),
      TEST(what_is_no_file_is_refused),
      TEST(messages_that_are_damaged_are_refused),
      TEST(shared_files_that_are_no_grid_are_refused),
  };

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
