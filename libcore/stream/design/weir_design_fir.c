/* weir_design_fir.c - windowed sinc (Oppenheim and Schafer, Discrete-Time Signal Processing,
 * section 7.5), with the Kaiser window of section 7.5.3 for changes of rate. */
#include "stream/design/weir_design_fir.h"
#include <math.h>
#include <stdbool.h>
#include "base/weir_integer.h"

static const double pi = 3.14159265358979323846;

/* Half-length of a polyphase filter in periods of the slower rate, and the shape of its window. */
#define POLYPHASE_HALF 10
#define POLYPHASE_BETA 5.0

static double sinc(double x)
{
  return x == 0 ? 1.0 : sin(pi * x) / (pi * x);
}

static double hamming(int64_t k, int64_t taps)
{
  return 0.54 + 0.46 * cos(pi * (2 * (double)k / (double)(taps - 1) - 1));
}

/* Modified Bessel function of the first kind, order 0, by its power series. */
static double bessel_i0(double x)
{
  double sum = 1, term = 1;

  for (int k = 1; term > 1e-18 * sum; k++) {
    term *= (x / (2.0 * k)) * (x / (2.0 * k));
    sum += term;
  }
  return sum;
}

static double kaiser(int64_t k, int64_t taps)
{
  const double u = 2 * (double)k / (double)(taps - 1) - 1;

  return bessel_i0(POLYPHASE_BETA * sqrt(fmax(0, 1 - u * u))) / bessel_i0(POLYPHASE_BETA);
}

/* Passes left..right (1: half the rate), or what is outside; scaled to `gain` at `unit`. */
typedef struct shape {
  double left, right;
  bool outside;
  double unit, gain;
  double (*window)(int64_t k, int64_t taps);
} shape;

static void make(const shape *s, int64_t taps, double *h)
{
  const double middle = 0.5 * (double)(taps - 1);
  double sum = 0;

  for (int64_t k = 0; k < taps; k++) {
    const double m = (double)k - middle;
    const double inside = s->right * sinc(s->right * m) - s->left * sinc(s->left * m);

    h[k] = (s->outside ? sinc(m) - inside : inside) * s->window(k, taps);
    sum += h[k] * cos(pi * m * s->unit);
  }
  for (int64_t k = 0; k < taps; k++) {
    h[k] *= s->gain / sum;
  }
}

static weir_status check_fir(const weir_fir_spec *s)
{
  if (s->taps < 3 || s->taps > WEIR_DESIGN_MAX_TAPS || s->taps % 2 == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "fir: %lld taps: an odd number from 3 to %d is needed",
                     (long long)s->taps, WEIR_DESIGN_MAX_TAPS);
  }
  if (!(s->rate > 0) || !isfinite(s->rate)) {
    return weir_fail(WEIR_ERR_CONFIG, "fir: sampling rate %g is not a positive number", s->rate);
  }
  return weir_design_check_band("fir", s->band, s->lo, s->hi, s->rate);
}

weir_status weir_design_fir(const weir_fir_spec *spec, double *h)
{
  WEIR_TRY(check_fir(spec));
  const double lo = 2 * spec->lo / spec->rate, hi = 2 * spec->hi / spec->rate;
  const weir_design_band band = spec->band;
  const shape s = {.left = band == WEIR_DESIGN_LOWPASS ? 0 : lo,
                   .right = band == WEIR_DESIGN_HIGHPASS ? 1 : hi,
                   .outside = band == WEIR_DESIGN_BANDSTOP,
                   .unit = band == WEIR_DESIGN_BANDPASS   ? (lo + hi) / 2
                           : band == WEIR_DESIGN_HIGHPASS ? 1
                                                          : 0,
                   .gain = 1,
                   .window = hamming};

  make(&s, spec->taps, h);
  return WEIR_OK;
}

static void reduce(int64_t *up, int64_t *down)
{
  const int64_t common = weir_gcd(*up, *down);

  *up /= common;
  *down /= common;
}

int64_t weir_design_polyphase_taps(int64_t up, int64_t down)
{
  reduce(&up, &down);
  const int64_t max_factor = up > down ? up : down;

  return max_factor == 1 ? 1
         : max_factor > (WEIR_DESIGN_MAX_POLYPHASE - 1) / (2 * POLYPHASE_HALF)
             ? WEIR_DESIGN_MAX_POLYPHASE + 2
             : 2 * POLYPHASE_HALF * max_factor + 1;
}

weir_status weir_design_polyphase(int64_t up, int64_t down, double *h)
{
  if (up < 1 || down < 1) {
    return weir_fail(WEIR_ERR_CONFIG, "polyphase: a rate ratio of %lld/%lld is not possible",
                     (long long)up, (long long)down);
  }
  reduce(&up, &down);
  const int64_t taps = weir_design_polyphase_taps(up, down), max_factor = up > down ? up : down;

  if (taps > WEIR_DESIGN_MAX_POLYPHASE) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "polyphase: a rate ratio of %lld/%lld needs more than %d taps: choose rates "
                     "with a simpler ratio",
                     (long long)up, (long long)down, WEIR_DESIGN_MAX_POLYPHASE);
  }
  if (taps == 1) {
    h[0] = 1;
    return WEIR_OK;
  }
  const shape s = {.right = 1 / (double)max_factor, .gain = (double)up, .window = kaiser};

  make(&s, taps, h);
  return WEIR_OK;
}
