/* alarms_slow.c - the shipped query of bedside alarms on recordings whose state is known: what is
 * raised, and what a signal that cannot be trusted does not raise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/weir_netcdf.h"
#include "program.h"

#ifdef HAVE_CONFIG_FILES
enum { KINDS = 5 };
static const char *const kinds[KINDS] = {"asystoles", "bradycardias", "tachycardias",
                                         "hypotensions", "leads"};
/* As the column `reason` counts them. */
static const int reasons[KINDS] = {4, 5, 6, 2, 3};

/* Rows of a file of alarms; each has the reason of its kind. */
static int rows_of(int kind)
{
  char *text = contents(in_scratch("o/%s.csv", kinds[kind]));
  int rows = 0;

  for (const char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    int reason = 0;

    assert_int_equal(sscanf(line, "%*f,1,%d,", &reason), 1);
    assert_int_equal(reason, reasons[kind]);
    rows++;
  }
  free(text);
  return rows;
}

/* Five minutes of ECG and pressure made with `options`, and their alarms; rail: the query is
 * given the end of the recorder's range, mV (0: not known). */
static void watch(const char *options, int rail, int found[KINDS])
{
  assert_int_equal(program("prepare --overwrite --set ecgsyn.duration=300 --set ecgsyn.abp.on=true "
                           "--set ecgsyn.noise.white=true --set ecgsyn.noise.white_snr=20 %s "
                           "--out %s",
                           options, in_scratch("r")),
                   0);
  assert_int_equal(program("run --overwrite --config %s/query_alarms.yaml --set input.record=%s "
                           "--set 'query.streams[0].signal=ECG' "
                           "--set 'query.steps[0].do.artefact.low=-%d' "
                           "--set 'query.steps[0].do.artefact.high=%d' "
                           "--set exec.tier=vector --out %s",
                           CONFIGS, in_scratch("r/ecgsyn"), rail, rail, in_scratch("o")),
                   0);
  for (int k = 0; k < KINDS; k++) {
    found[k] = rows_of(k);
  }
}

/* Gaps of the ECG that last 5 s and longer, which are an alarm of the equipment. */
static int long_gaps(void)
{
  char *text = contents(in_scratch("r/defects.csv"));
  int n = 0;

  for (const char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    double from = 0, to = 0;

    n += sscanf(line, "ECG,gap,%*d,%*d,%lf,%lf", &from, &to) == 2 && to - from >= 5.01;
  }
  free(text);
  return n;
}

/* The model's mean pressure is below 60 mmHg at 35 beats a minute. */
static void rates_and_pressures_beyond_their_limits_are_raised(void **state)
{
  static const struct {
    const char *options;
    int expected[KINDS];
  } cases[] = {
      {"", {0, 0, 0, 0, 0}},
      {"--set ecgsyn.model.heart_rate=35", {0, 1, 0, 1, 0}},
      {"--set ecgsyn.model.heart_rate=150", {0, 0, 1, 0, 0}},
  };
  int found[KINDS];

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    watch(cases[i].options, 5, found);
    for (int k = 0; k < KINDS; k++) {
      assert_int_equal(found[k], cases[i].expected[k]);
    }
  }
}

/* A heart at 60 a minute whose signals are zeroed, missing or at their rail: only the equipment is
 * spoken of. */
static void artefacts_raise_no_alarm_of_the_patient(void **state)
{
  int found[KINDS];

  watch("--set ecgsyn.abp.zero_every=60", 5, found);
  for (int k = 0; k < KINDS; k++) {
    assert_int_equal(found[k], 0);
  }
  watch("--set ecgsyn.gaps.missing=0.2 --set ecgsyn.gaps.mean=8", 5, found);
  assert_true(long_gaps() > 3);
  for (int k = 0; k < KINDS; k++) {
    assert_int_equal(found[k], k == KINDS - 1 ? long_gaps() : 0);
  }
#define SATURATED "--set ecgsyn.saturation.missing=0.2 --set ecgsyn.saturation.mean=6"
  watch(SATURATED, 5, found);
  assert_true(found[0] + found[1] + found[2] + found[3] == 0 && found[4] > 0);
  watch(SATURATED, 0, found); /* a line without beats, as far as is known */
  assert_true(found[0] > 0);
}

int main(void)
{
  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF, which the shipped query writes\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      TEST(rates_and_pressures_beyond_their_limits_are_raised),
      TEST(artefacts_raise_no_alarm_of_the_patient),
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
