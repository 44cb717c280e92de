/* weir_design_scipy_test.c - every design on random orders, edges and rates against scipy, where
 * /usr/bin/python3 has it: coefficients to 1e-10. */
#include "base/weir_check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_random.h"
#include "support/stream/scipy_check.h"
#include "stream/design/weir_design_fir.h"

enum { SEEDS = 120, LONGEST = 20 * 160 + 1 };

/* Reads a line per design, prints its coefficients: sections row by row, or taps. */
static const char script[] =
    "kinds = ['lowpass', 'highpass', 'bandpass', 'bandstop']\n"
    "for line in cases:\n"
    "  what, a, b, c, lo, hi, rate = line.split()\n"
    "  a, b, c, lo, hi, rate = int(a), int(b), int(c), float(lo), float(hi), float(rate)\n"
    "  edges = [hi, lo, [lo, hi], [lo, hi]][a]\n"
    "  if what == 'butter':\n"
    "    v = s.butter(b, edges, kinds[a], fs=rate, output='sos').ravel()\n"
    "  elif what == 'notch':\n"
    "    v = [x for part in s.iirnotch(lo, b, fs=rate) for x in part]\n"
    "  elif what == 'fir':\n"
    "    v = s.firwin(b, edges, pass_zero=kinds[a], fs=rate, window='hamming')\n"
    "  else:\n"
    "    v = s.firwin(20 * max(b, c) + 1, 1. / max(b, c), window=('kaiser', 5.0)) * b\n"
    "  print(len(v), *['%.17g' % x for x in v])\n";

typedef struct drawn {
  const char *what; /* butter, notch, fir, poly */
  int a, b, c;      /* band; order, quality, taps or up; down */
  double lo, hi, rate;
} drawn;

static int64_t pick(uint64_t seed, uint32_t purpose, int64_t lo, int64_t hi)
{
  return lo + (int64_t)(weir_random_bits(77, purpose, 0, seed) % (uint64_t)(hi - lo + 1));
}

static int64_t divisor(int64_t a, int64_t b)
{
  return b == 0 ? a : divisor(b, a % b);
}

static drawn draw(uint64_t seed)
{
  static const char *const kinds[] = {"butter", "notch", "fir", "poly"};
  drawn d = {.what = kinds[seed % 4], .a = (int)pick(seed, 1, 0, 3)};

  d.rate = 60 + 940 * weir_random_uniform(77, 2, 0, seed);
  d.lo = d.rate * (0.01 + 0.2 * weir_random_uniform(77, 3, 0, seed));
  d.hi = d.lo + (0.49 * d.rate - d.lo) * (0.05 + 0.9 * weir_random_uniform(77, 4, 0, seed));
  d.b = (int)pick(seed, 5, 1, 8);
  if (d.what[0] == 'n') {
    d.b = (int)pick(seed, 5, 1, 60);
  } else if (d.what[0] == 'f') {
    d.b = 2 * (int)pick(seed, 5, 1, 150) + 1;
  } else if (d.what[0] == 'p') {
    do {
      d.b = (int)pick(seed, 5, 1, 160);
      d.c = (int)pick(seed++, 6, 1, 160);
    } while (divisor(d.b, d.c) != 1 || d.b + d.c == 2);
  }
  return d;
}

/* Our coefficients in the order of the script. */
static int64_t ours(const drawn *d, double *v)
{
  weir_sos sos[WEIR_DESIGN_MAX_SECTIONS];
  int n = 1;

  if (d->what[0] == 'f') {
    const weir_fir_spec s = {(weir_design_band)d->a, d->b, d->lo, d->hi, d->rate};

    assert_ok(weir_design_fir(&s, v));
    return d->b;
  }
  if (d->what[0] == 'p') {
    assert_ok(weir_design_polyphase(d->b, d->c, v));
    return weir_design_polyphase_taps(d->b, d->c);
  }
  if (d->what[0] == 'n') {
    assert_ok(weir_design_notch(d->lo, d->b, d->rate, sos));
  } else {
    const weir_design_spec s = {(weir_design_band)d->a, d->b, d->lo, d->hi, d->rate};

    assert_ok(weir_design_butterworth(&s, sos, &n));
  }
  for (int k = 0; k < n; k++) {
    const double row[] = {sos[k].b0, sos[k].b1, sos[k].b2, 1, sos[k].a1, sos[k].a2};

    memcpy(v + 6 * k, row, sizeof row);
  }
  return 6 * n;
}

static void write_cases(FILE *f)
{
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    const drawn d = draw(seed);

    assert_true(fprintf(f, "%s %d %d %d %.17g %.17g %.17g\n", d.what, d.a, d.b, d.c, d.lo, d.hi,
                        d.rate) > 0);
  }
}

static void compare(FILE *answer)
{
  static double v[LONGEST];

  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    const drawn d = draw(seed);
    const int64_t n = ours(&d, v);
    int theirs = 0;

    assert_int_equal(fscanf(answer, "%d", &theirs), 1);
    assert_int_equal(theirs, n);
    for (int64_t k = 0; k < n; k++) {
      double w = NAN;

      assert_int_equal(fscanf(answer, "%lf", &w), 1);
      if (!(fabs(v[k] - w) <= 1e-10)) {
        print_error("%s %d %d %d, %g..%g of %g Hz: coefficient %lld is %.17g, not %.17g\n", d.what,
                    d.a, d.b, d.c, d.lo, d.hi, d.rate, (long long)k, v[k], w);
        fail();
      }
    }
  }
}

static void random_designs_equal_those_of_scipy(void **state)
{
  scipy_compare(script, write_cases, compare);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_designs_equal_those_of_scipy),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
