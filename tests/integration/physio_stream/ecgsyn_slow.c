/* ecgsyn_slow.c - acceptance case A10: half an hour of the built-in recording at 12 dB: every beat
 * is found and nothing else, white noise and that of muscles, five seeds each; 6 dB is printed
 * beside. */
#include <stdio.h>
#include <string.h>
#include "program.h"

static int make_scratch(void **state)
{
  (void)scratch("ecgsyn");
  return 0;
}

static int drop_scratch(void **state)
{
  (void)scratch(NULL);
  return 0;
}

static scores score(const char *noise, double snr, int seed)
{
  assert_int_equal(program("prepare --overwrite --seed %d --set ecgsyn.noise.%s=true --set "
                           "ecgsyn.noise.%s_snr=%g --out %s",
                           seed, noise, noise, snr, in_scratch("record")),
                   0);
  assert_int_equal(program("run --overwrite --set input.record=%s --out %s",
                           in_scratch("record/ecgsyn"), in_scratch("run")),
                   0);
  assert_int_equal(program("eval --overwrite --set eval.start=0 --set eval.reference=%s --set "
                           "eval.test=%s --out %s",
                           in_scratch("record/ecgsyn.atr"), in_scratch("run/ecgsyn.qrs"),
                           in_scratch("score")),
                   0);
  return read_scores(in_scratch("score"));
}

static void all_beats_are_found(const char *noise)
{
  for (int seed = 1; seed <= 5; seed++) {
    const scores s = score(noise, 12, seed), worse = score(noise, 6, seed);

    printf("%s, seed %d: 12 dB %s %s, 6 dB %s %s\n", noise, seed, s.se, s.ppv, worse.se, worse.ppv);
    assert_true(s.tp > 1700 && s.fn == 0 && s.fp == 0);
    assert_string_equal(s.se, "100.00");
    assert_string_equal(s.ppv, "100.00");
  }
}

static void a10_white_noise(void **state)
{
  all_beats_are_found("white");
}

static void a10_noise_of_muscles(void **state)
{
  all_beats_are_found("emg");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_scratch, drop_scratch)
  const struct CMUnitTest tests[] = {
      TEST(a10_white_noise),
      TEST(a10_noise_of_muscles),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
