/* ecgsyn_slow.c - acceptance case A10: half an hour of the built-in recording at 24 and 12 dB:
 * every beat is found and nothing else, and its intervals are exact to below a sample; white noise
 * and that of muscles, five seeds each; 6 dB is printed as well. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "program.h"

/* Exact times of R waves, in samples, ascending; *n of them, freed by the caller. */
static double *exact_waves(int64_t *n)
{
  char *text = contents(in_scratch("record/waves.csv"));
  double *r = calloc(strlen(text), sizeof *r);

  assert_non_null(r);
  *n = 0;
  for (const char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    *n += sscanf(line, "R,%lf", &r[*n]) == 1;
  }
  free(text);
  return r;
}

/* Root mean square error, in samples of 256 Hz, of the intervals of beats.csv. */
static double rr_error(void)
{
  int64_t n = 0, last = -1, count = 0;
  double *r = exact_waves(&n), square = 0;
  char *text = contents(in_scratch("run/beats.csv"));

  for (const char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    double sample = 0, rr = 0;
    const int found = sscanf(line, "%lf,%*f,%lf", &sample, &rr);
    int64_t k = last > 0 ? last : 0;

    while (k + 1 < n && fabs(r[k + 1] - sample) < fabs(r[k] - sample)) {
      k++;
    }
    if (found == 2 && last >= 0) {
      square += pow(rr * 256 - (r[k] - r[last]), 2);
      count++;
    }
    last = k;
  }
  assert_true(count > 1700);
  free(text);
  free(r);
  return sqrt(square / (double)count);
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
  static const double snr[] = {6, 12, 24};

  for (int seed = 1; seed <= 5; seed++) {
    for (int k = 0; k < 3; k++) {
      const scores s = score(noise, snr[k], seed);
      const double rr = rr_error();

      printf("%s, %g dB, seed %d: %s %s, RR error %.3f samples\n", noise, snr[k], seed, s.se, s.ppv,
             rr);
      if (snr[k] >= 12) {
        assert_true(rr < 1 && s.tp > 1700 && s.fn == 0 && s.fp == 0);
        assert_string_equal(s.se, "100.00");
        assert_string_equal(s.ppv, "100.00");
      }
    }
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
  const struct CMUnitTest tests[] = {
      TEST(a10_white_noise),
      TEST(a10_noise_of_muscles),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
