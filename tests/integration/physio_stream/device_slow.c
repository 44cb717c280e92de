/* device_slow.c - streams on the emulated device: the beats, features and results of a query that
 * the cpu gives, whose generated loops run there too. */
#include <stdio.h>
#include "io/weir_netcdf.h"
#include "program.h"

#define RUN                                                                                     \
  "run --set ecgsyn.duration=20 --set ecgsyn.noise.white=true --set ecgsyn.noise.white_snr=20 " \
  "--set ecgsyn.gaps.missing=0.2 --set ecgsyn.gaps.mean=3 --set stream.window=4 --threads 1 "   \
  "--set exec.tier=vector --set exec.kernel=none "

static void compare(const char *const *files, int n, const char *settings)
{
  static const char *const device[] = {"cpu", "emulated"};

  for (int k = 0; k < 2; k++) {
    assert_int_equal(
        program(RUN "%s --device %s --out %s", settings, device[k], in_scratch("%s", device[k])),
        0);
  }
  for (int k = 0; k < n; k++) {
    assert_true(same_contents(in_scratch("cpu/%s", files[k]), in_scratch("emulated/%s", files[k])));
  }
}

static void beats_and_features_are_those_of_the_cpu(void **state)
{
  static const char *const files[] = {"ecgsyn.qrs", "beats.csv", "features.nc"};
  const bool netcdf = weir_netcdf_available();

  compare(files, 2 + netcdf, netcdf ? "--set output.features=true" : "--set output.features=false");
}

/* Filters, other rates, sums over windows, shifts, detected beats and a join. */
static void a_query_gives_what_it_gives_on_the_cpu(void **state)
{
  static const char *const files[] = {"pair.csv", "level.csv", "local.csv"};

  compare(files, 3,
          "--set 'query={streams: [{name: ecg, signal: ECG}], steps: ["
          "{name: clean, from: [ecg], do: {filter: {kind: bandpass, lo: 0.5, hi: 40}}}, "
          "{name: full, from: [clean], do: {fill_mean: {window: 10, tolerance: 2}}}, "
          "{name: slow, from: [full], do: {resample: {rate: 128, tolerance: 1}}}, "
          "{name: z, from: [slow], do: {normalize: {window: 5}}}, "
          "{name: late, from: [z], do: {shift: {by: 0.25}}}, "
          "{name: level, from: [clean], do: {aggregate: {kind: mean, window: 5, hop: 1}}}, "
          "{name: local, from: [ecg], do: {moving: {kind: max, window: 2}}}, "
          "{name: pair, from: [ecg, late, level], do: join}], "
          "outputs: [{stream: pair, format: csv}, {stream: level, format: csv}, "
          "{stream: local, format: csv}]}'");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(beats_and_features_are_those_of_the_cpu),
      TEST(a_query_gives_what_it_gives_on_the_cpu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
