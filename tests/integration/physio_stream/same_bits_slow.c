/* same_bits_slow.c - the shipped queries on signals with gaps: the same files for chunks of any
 * length, with gaps passed or left out, on one to three threads, interpreted or compiled. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/weir_netcdf.h"
#include "program.h"

#ifdef HAVE_CONFIG_FILES
/* Five minutes at the rates of MIMIC, a fifth of either signal missing where the other may be. */
static int make_recording(void **state)
{
  (void)make_scratch(state);
  assert_int_equal(program("prepare --set ecgsyn.duration=300 --set ecgsyn.model.rate=500 --set "
                           "ecgsyn.noise.white=true --set ecgsyn.noise.white_snr=20 --set "
                           "ecgsyn.gaps.missing=0.2 --set ecgsyn.gaps.mean=6 --set "
                           "ecgsyn.abp.on=true --set ecgsyn.abp.noise=1 --set "
                           "ecgsyn.abp.gaps.missing=0.2 --set ecgsyn.abp.gaps.mean=6 --set "
                           "ecgsyn.abp.zero_every=60 --out %s",
                           in_scratch("r")),
                   0);
  return 0;
}

static bool is_result(const char *name)
{
  static const char *const other[] = {"report.html", "run.jsonl", "resolved.yaml",
                                      "provenance.json", "figures"};

  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    if (strcmp(name, other[i]) == 0) {
      return false;
    }
  }
  return name[0] != '.';
}

/* Every file of results of folder `base` has its like in `one`. Returns how many there are. */
static int compare(const char *base, const char *one, const char *query, const char *how)
{
  DIR *dir = opendir(in_scratch("%s", base));
  int files = 0;

  assert_non_null(dir);
  for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    if (!is_result(e->d_name)) {
      continue;
    }
    const bool same =
        same_contents(in_scratch("%s/%s", base, e->d_name), in_scratch("%s/%s", one, e->d_name));

    if (!same) {
      printf("%s: %s differs with %s\n", query, e->d_name, how);
    }
    assert_true(same);
    files++;
  }
  (void)closedir(dir);
  return files;
}

static void run(const char *query, const char *streams, const char *how, const char *out)
{
  assert_int_equal(program("run --overwrite --config %s/%s --set 'query.streams=[%s]' --set "
                           "input.record=%s %s --out %s",
                           CONFIGS, query, streams, in_scratch("r/ecgsyn"), how,
                           in_scratch("%s", out)),
                   0);
}

static const char both[] = "{name: ecg, signal: ECG}, {name: abp, signal: ABP}";

static void results_do_not_depend_on_how_they_are_computed(void **state)
{
  static const struct {
    const char *name, *streams;
  } queries[] = {{"query_lifestream.yaml", both},
                 {"query_bedside.yaml", both},
                 {"query_vitals.yaml", both},
                 {"query_alarms.yaml", both},
                 {"query_linezero.yaml", "{name: abp, signal: ABP}"}};
  static const char *const ways[] = {
      "--threads 1 --set exec.tier=vector --set stream.window=1",
      "--threads 1 --set exec.tier=vector --set stream.window=7 --set stream.skip=false",
      "--threads 1 --set exec.tier=vector --set stream.window=60 --set stream.cut_seed=3",
      "--threads 2 --set exec.tier=vector --set stream.window=0",
      "--threads 3 --set exec.tier=auto --set stream.window=60",
  };

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF, which the shipped queries write\n");
    skip();
  }
  for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
    run(queries[q].name, queries[q].streams,
        "--threads 1 --set exec.tier=vector --set stream.window=60", "base");
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
      run(queries[q].name, queries[q].streams, ways[w], "one");
      assert_true(compare("base", "one", queries[q].name, ways[w]) > 0);
    }
    weir_check_rmdir(in_scratch("base"));
    weir_check_rmdir(in_scratch("one"));
  }
}

/* The scalar oracle computes in double precision: the same slots, and values to 1e-6. */
static void the_oracle_agrees_to_rounding(void **state)
{
  static const char pair[] = "--set 'query.outputs=[{stream: pair, format: csv}]'";
  char how[256];

  for (int k = 0; k < 2; k++) {
    (void)snprintf(how, sizeof how, "%s --set exec.tier=%s", pair, k ? "reference" : "vector");
    run("query_lifestream.yaml", both, how, k ? "one" : "base");
  }
  char *a = contents(in_scratch("base/pair.csv")), *b = contents(in_scratch("one/pair.csv"));
  const char *x = strchr(a, '\n') + 1, *y = strchr(b, '\n') + 1;
  int64_t rows = 0;

  for (; *x != 0 && *y != 0; x = strchr(x, '\n') + 1, y = strchr(y, '\n') + 1, rows++) {
    double t[2], ecg[2], abp[2];

    assert_int_equal(sscanf(x, "%lf,%lf,%lf", &t[0], &ecg[0], &abp[0]), 3);
    assert_int_equal(sscanf(y, "%lf,%lf,%lf", &t[1], &ecg[1], &abp[1]), 3);
    assert_true(t[0] == t[1] && fabs(ecg[0] - ecg[1]) <= 1e-6 * (1 + fabs(ecg[0])) &&
                fabs(abp[0] - abp[1]) <= 1e-6 * (1 + fabs(abp[0])));
  }
  assert_true(*x == 0 && *y == 0 && rows > 90000);
  free(a);
  free(b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST_AFTER(make_recording, results_do_not_depend_on_how_they_are_computed),
      TEST_AFTER(make_recording, the_oracle_agrees_to_rounding),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
  printf("skipped: this build reads no YAML\n");
  return 77;
}
#endif
