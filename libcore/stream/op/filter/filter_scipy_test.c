/* filter_scipy_test.c - filters on a record without gaps against scipy in double, where
 * /usr/bin/python3 has it: recursive ones to 1e-10 before their result is rounded to f32. */
#include <stdio.h>
#include <stdlib.h>
#include "support/stream/filter_check.h"
#include "support/stream/scipy_check.h"

enum { SEEDS = 40 };

/* Reads a use and the samples per line, prints the filtered samples. */
static const char script[] =
    "kinds = ['lowpass', 'highpass', 'bandpass', 'bandstop']\n"
    "for line in cases:\n"
    "  words = line.split()\n"
    "  kind, order, taps, both = [int(w) for w in words[:4]]\n"
    "  lo, hi, f0, q = [float(w) for w in words[4:8]]\n"
    "  x = np.array([float(w) for w in words[8:]])\n"
    "  edges = [hi, lo, [lo, hi], [lo, hi]]\n"
    "  if kind > 4:\n"
    "    h = s.firwin(taps, edges[kind - 5], pass_zero=kinds[kind - 5], fs=1)\n"
    "    y = np.convolve(np.r_[np.full(taps - 1, x[0]), x], h, 'valid')\n"
    "  else:\n"
    "    if kind == 4:\n"
    "      sos = np.array([np.r_[s.iirnotch(f0, q, fs=1)]]).reshape(1, 6)\n"
    "    else:\n"
    "      sos = s.butter(order, edges[kind], kinds[kind], fs=1, output='sos')\n"
    "    y = s.sosfiltfilt(sos, x) if both else s.sosfilt(sos, x, zi=s.sosfilt_zi(sos) * x[0])[0]\n"
    "  print(*['%.17g' % v for v in y])\n";

static filter_case f;

static void draw(uint64_t seed)
{
  f.o = filter_defaults();
  f.o.kind = (int)(seed % 9);
  f.o.order = 1 + (int64_t)(weir_random_bits(9, 1, 0, seed) % 5);
  f.o.taps = 3 + 2 * (int64_t)(weir_random_bits(9, 2, 0, seed) % 90);
  f.o.zero_phase = f.o.kind <= FILTER_NOTCH && seed / 9 % 2 == 0;
  f.o.lo = 0.02 + 0.1 * weir_random_uniform(9, 3, 0, seed);
  f.o.hi = f.o.lo + 0.05 + 0.25 * weir_random_uniform(9, 4, 0, seed);
  f.o.f0 = 0.05 + 0.4 * weir_random_uniform(9, 5, 0, seed);
  f.o.q = 0.5 + 10 * weir_random_uniform(9, 6, 0, seed);
  series_draw(&f.c, seed, 0);
}

static void write_cases(FILE *out)
{
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    draw(seed);
    assert_true(fprintf(out, "%d %lld %lld %d %.17g %.17g %.17g %.17g", f.o.kind,
                        (long long)f.o.order, (long long)f.o.taps, (int)f.o.zero_phase, f.o.lo,
                        f.o.hi, f.o.f0, f.o.q) > 0);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      assert_true(fprintf(out, " %.17g", (double)f.c.x[t]) > 0);
    }
    assert_true(fputc('\n', out) == '\n');
  }
}

static void compare(FILE *answer)
{
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    double max_abs = 0, theirs[SERIES_COUNT];

    draw(seed);
    filter_run(&f, 1 + (int64_t)seed * 9);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      assert_int_equal(fscanf(answer, "%lf", &theirs[t]), 1);
      max_abs = fmax(max_abs, fabs(theirs[t]));
    }
    const double lost = f.o.kind <= FILTER_NOTCH ? 1e-10 : 1e-6; /* sums of f32 */

    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      const double rounded = 0x1p-24 * (1 + 1e-6) * fabs(theirs[t]);

      if (!(fabs((double)f.c.y[t] - theirs[t]) <= rounded + lost * max_abs)) {
        print_error("seed %d, kind %d: slot %lld is %.9g, not %.9g\n", (int)seed, f.o.kind,
                    (long long)t, (double)f.c.y[t], theirs[t]);
        fail();
      }
    }
  }
}

static void filtered_records_equal_those_of_scipy(void **state)
{
  scipy_compare(script, write_cases, compare);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(filtered_records_equal_those_of_scipy),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
