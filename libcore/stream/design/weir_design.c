/* weir_design.c - Butterworth by bilinear transform (Oppenheim and Schafer, Discrete-Time Signal
 * Processing, section 7.1), and the analysis of a cascade of sections. */
#include "stream/design/weir_design.h"
#include <complex.h>
#include <math.h>
#include <stdbool.h>

#define MAX_ROOTS (2 * WEIR_DESIGN_MAX_SECTIONS)
static const double pi = 3.14159265358979323846;

/* Zeros and poles of a filter; those with Im > 0 stand for their pair. */
typedef struct roots {
  double complex pole[MAX_ROOTS], zero[MAX_ROOTS];
  int n_poles, n_zeros;
  double gain;
} roots;

/* Whether each pole of the prototype becomes two. */
static bool is_double(weir_design_band band)
{
  return band == WEIR_DESIGN_BANDPASS || band == WEIR_DESIGN_BANDSTOP;
}

weir_status weir_design_check_band(const char *what, weir_design_band band, double lo, double hi,
                                   double rate)
{
  const bool use_lo = band != WEIR_DESIGN_LOWPASS, use_hi = band != WEIR_DESIGN_HIGHPASS;

  if (use_lo && use_hi && lo >= hi) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: the band edges are in the wrong order: the low one, %g Hz, is not below "
                     "the high one, %g Hz",
                     what, lo, hi);
  }
  if ((use_lo && !(lo > 0 && lo < rate / 2)) || (use_hi && !(hi > 0 && hi < rate / 2))) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: the band %g..%g Hz is not inside 0..%g Hz (half the rate)", what,
                     use_lo ? lo : 0.0, use_hi ? hi : rate / 2, rate / 2);
  }
  return WEIR_OK;
}

static weir_status check_spec(const weir_design_spec *s)
{
  const int poles = is_double(s->band) ? 2 * s->order : s->order;

  if (s->order < 1 || poles > WEIR_DESIGN_MAX_SECTIONS) {
    return weir_fail(WEIR_ERR_CONFIG, "butterworth: order %d has %d poles: 1 to %d are allowed",
                     s->order, poles, WEIR_DESIGN_MAX_SECTIONS);
  }
  if (!(s->rate > 0.0) || !isfinite(s->rate)) {
    return weir_fail(WEIR_ERR_CONFIG, "butterworth: sampling rate %g is not a positive number",
                     s->rate);
  }
  return weir_design_check_band("butterworth", s->band, s->lo, s->hi, s->rate);
}

/* An edge on the analogue axis, for the bilinear transform s = 4 (z - 1)/(z + 1). */
static double warp(double f, double rate)
{
  return 4.0 * tan(pi * f / rate);
}

/* Analogue poles and zeros of the transformed prototype. */
static void analogue_roots(const weir_design_spec *s, roots *r)
{
  const double lo = warp(s->lo, s->rate), hi = warp(s->hi, s->rate);
  const int n = s->order;

  r->n_poles = r->n_zeros = 0;
  for (int k = 0; k < n; k++) {
    /* The middle pole of an odd order is exactly real. */
    const double angle = pi * (double)(2 * k + 1 - n) / (2.0 * n);
    const double complex p = 2 * k + 1 == n ? -1.0 : -cos(angle) - sin(angle) * (double complex)I;

    if (s->band == WEIR_DESIGN_LOWPASS) {
      r->pole[r->n_poles++] = hi * p;
    } else if (s->band == WEIR_DESIGN_HIGHPASS) {
      r->pole[r->n_poles++] = lo / p;
    } else {
      const double complex half = (s->band == WEIR_DESIGN_BANDPASS ? p : 1 / p) * (hi - lo) / 2;
      const double complex root = csqrt(half * half - lo * hi);

      r->pole[r->n_poles++] = half + root;
      r->pole[r->n_poles++] = half - root;
    }
    if (s->band == WEIR_DESIGN_BANDSTOP) {
      r->zero[r->n_zeros++] = sqrt(lo * hi) * (double complex)I;
    } else if (s->band != WEIR_DESIGN_LOWPASS) {
      r->zero[r->n_zeros++] = 0;
    }
  }
  r->gain = s->band == WEIR_DESIGN_LOWPASS    ? pow(hi, n)
            : s->band == WEIR_DESIGN_BANDPASS ? pow(hi - lo, n)
                                              : 1.0;
}

/* z = (4 + s)/(4 - s); poles beyond the zeros bring zeros at z = -1. Returns how many sections that
 * makes. */
static int to_digital(roots *r)
{
  double complex numerator = 1.0, denominator = 1.0;
  int n = 0; /* zeros, each of a pair */

  for (int k = 0; k < r->n_zeros; k++) {
    const double complex s = r->zero[k];

    numerator *= cimag(s) != 0 ? (4.0 - s) * (4.0 - conj(s)) : 4.0 - s;
    r->zero[k] = (4.0 + s) / (4.0 - s);
    n += cimag(s) != 0 ? 2 : 1;
  }
  for (int k = 0; k < r->n_poles; k++) {
    denominator *= 4.0 - r->pole[k];
    r->pole[k] = (4.0 + r->pole[k]) / (4.0 - r->pole[k]);
  }
  r->gain *= creal(numerator) / creal(denominator);
  for (; n < r->n_poles; n++) {
    r->zero[r->n_zeros++] = -1.0;
  }
  if (n % 2 == 1) {
    r->pole[r->n_poles++] = 0.0;
    r->zero[r->n_zeros++] = 0.0;
  }
  return (n + 1) / 2;
}

static bool is_real(double complex p)
{
  return fabs(cimag(p)) <= 100 * 2.2204460492503131e-16 * cabs(p);
}

/* Keeps one pole (Im > 0) of each conjugate pair, and real poles as exactly real. */
static void drop_conjugates(roots *r)
{
  int kept = 0;

  for (int k = 0; k < r->n_poles; k++) {
    if (is_real(r->pole[k])) {
      r->pole[kept++] = creal(r->pole[k]);
    } else if (cimag(r->pole[k]) > 0.0) {
      r->pole[kept++] = r->pole[k];
    }
  }
  r->n_poles = kept;
}

/* Removes and returns the pole nearest to the unit circle. */
static double complex take_worst_pole(roots *r, bool real_only)
{
  int worst = -1;

  for (int k = 0; k < r->n_poles; k++) {
    if (real_only && cimag(r->pole[k]) != 0.0) {
      continue;
    }
    if (worst < 0 || fabs(1.0 - cabs(r->pole[k])) < fabs(1.0 - cabs(r->pole[worst]))) {
      worst = k;
    }
  }
  WEIR_ASSERT(worst >= 0); /* real poles come in even number */
  const double complex p = r->pole[worst];

  r->pole[worst] = r->pole[--r->n_poles];
  return p;
}

static double complex take_nearest_zero(roots *r, double complex p)
{
  int nearest = 0;

  for (int k = 1; k < r->n_zeros; k++) {
    if (cabs(r->zero[k] - p) < cabs(r->zero[nearest] - p)) {
      nearest = k;
    }
  }
  const double complex z = r->zero[nearest];

  r->zero[nearest] = r->zero[--r->n_zeros];
  return z;
}

weir_status weir_design_butterworth(const weir_design_spec *spec, weir_sos *sos, int *count)
{
  roots r;

  WEIR_TRY(check_spec(spec));
  analogue_roots(spec, &r);
  const int n = to_digital(&r);

  drop_conjugates(&r);
  for (int k = n - 1; k >= 0; k--) {
    const double complex p1 = take_worst_pole(&r, false);
    const double complex p2 = cimag(p1) != 0.0 ? conj(p1) : take_worst_pole(&r, true);
    const double complex z1 = take_nearest_zero(&r, p1);
    const double complex z2 = cimag(z1) != 0.0 ? conj(z1) : take_nearest_zero(&r, p1);

    sos[k] = (weir_sos){.b0 = 1.0,
                        .b1 = -creal(z1 + z2),
                        .b2 = creal(z1 * z2),
                        .a1 = -creal(p1 + p2),
                        .a2 = creal(p1 * p2)};
  }
  sos[0].b0 *= r.gain;
  sos[0].b1 *= r.gain;
  sos[0].b2 *= r.gain;
  *count = n;
  return WEIR_OK;
}

weir_status weir_design_notch(double f0, double q, double rate, weir_sos *sos)
{
  if (!(f0 > 0.0 && f0 < rate / 2) || !(q > 0.0) || !isfinite(q)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "notch: %g Hz with quality factor %g is not possible at %g samples per second",
                     f0, q, rate);
  }
  const double w0 = 2 * pi * f0 / rate, g = 1.0 / (1.0 + tan(w0 / (2 * q)));

  *sos =
      (weir_sos){.b0 = g, .b1 = -2 * g * cos(w0), .b2 = g, .a1 = -2 * g * cos(w0), .a2 = 2 * g - 1};
  return WEIR_OK;
}

void weir_design_steady_state(const weir_sos *sos, int count, double *zi)
{
  double input = 1.0;

  for (int k = 0; k < count; k++) {
    const weir_sos *s = &sos[k];
    const double output = input * (s->b0 + s->b1 + s->b2) / (1.0 + s->a1 + s->a2);

    zi[2 * k] = output - s->b0 * input;
    zi[2 * k + 1] = s->b2 * input - s->a2 * output;
    input = output;
  }
}

double weir_design_delay(const weir_sos *sos, int count, double f, double rate)
{
  const double complex u = cexp(-2 * pi * f / rate * (double complex)I);
  double delay = 0.0;

  for (int k = 0; k < count; k++) {
    const weir_sos *s = &sos[k];
    const double complex b = s->b0 + u * (s->b1 + u * s->b2), a = 1.0 + u * (s->a1 + u * s->a2);

    if (cabs(b) == 0.0) {
      return NAN;
    }
    delay += creal(u * (s->b1 + 2.0 * u * s->b2) / b) - creal(u * (s->a1 + 2.0 * u * s->a2) / a);
  }
  return delay;
}

double weir_design_radius(const weir_sos *sos, int count)
{
  double radius = 0.0;

  for (int k = 0; k < count; k++) {
    const double complex root = csqrt(sos[k].a1 * sos[k].a1 - 4.0 * sos[k].a2);

    radius = fmax(radius, cabs(-sos[k].a1 + root) / 2);
    radius = fmax(radius, cabs(-sos[k].a1 - root) / 2);
  }
  return radius;
}
