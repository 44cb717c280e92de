/* scale.c - digital and physical ranges of the signals of a file to be written. EDF states a scale
 * by the physical values of two integers, each in 8 characters. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "io/edf/write_priv.h"
#include "io/io_priv.h"

enum { TRIES = 32768 };
static const double exact_steps = 1e-6, worst_steps = 0.25; /* of a text, in digital steps */

/* Takes blanks and a decimal comma of the locale out of a number, zeros after its point and of its
 * exponent. */
static void tidy(char *text)
{
  char *const e = strchr(text, 'e');
  char exponent[16] = "";

  text[strcspn(text, ",")] = text[strcspn(text, ",")] ? '.' : 0;
  if (e) {
    const bool negative = e[1] == '-';
    const char *digits = e + 1 + (e[1] == '-' || e[1] == '+');

    digits += strspn(digits, "0");
    (void)snprintf(exponent, sizeof exponent, "e%s%.8s", negative ? "-" : "", digits);
    *e = 0;
  }
  if (strchr(text, '.')) {
    size_t n = strlen(text);

    while (text[n - 1] == '0') {
      n--;
    }
    text[n - (text[n - 1] == '.')] = 0;
  }
  strcat(text, exponent);
}

/* The decimal number of at most 8 characters nearest to x; with side -1 or 1 one that is not
 * above or not below it. */
static void number_text(double x, int side, char text[WEIR_EDF_NUMBER], double *value)
{
  double least = INFINITY;

  for (int form = 0; form < 2; form++) {
    for (int digits = 7; digits >= 0; digits--) {
      char full[400];
      double parsed = 0;
      double unit = pow(10, -digits);

      if (form == 1 && x != 0) {
        unit *= pow(10, floor(log10(fabs(x))));
      }
      for (int k = -1; k <= 1; k++) {
        (void)snprintf(full, sizeof full, form == 0 ? "%.*f" : "%.*e", digits, x + k * unit);
        tidy(full);
        const double off = weir_io_parse_real(full, strlen(full), &parsed) ? parsed - x : INFINITY;

        if (strlen(full) < WEIR_EDF_NUMBER && off * side >= 0 && fabs(off) < least) {
          least = fabs(off);
          *value = parsed;
          strcpy(text, full);
        }
      }
    }
  }
}

/* An integer at or beyond `from`, towards `limit`, whose value has an exact text; else the one with
 * the nearest. `nominal` is tried first. Returns its error in steps. */
static double find_end(const weir_signal_info *s, int64_t from, int64_t limit, int64_t nominal,
                       int32_t *digital, char text[WEIR_EDF_NUMBER], double *value)
{
  const int64_t step = limit < from ? -1 : 1;
  double least = INFINITY;

  for (int64_t i = -1; i < TRIES && least > exact_steps; i++) {
    const int64_t d = i < 0 ? nominal : from + i * step;
    char own[WEIR_EDF_NUMBER] = "";
    double parsed = 0;

    if ((d - from) * step < 0 || (limit - d) * step < 0) {
      if (i < 0) {
        continue;
      }
      break;
    }
    const double x = ((double)d - s->baseline) / s->gain;

    number_text(x, 0, own, &parsed);
    if (own[0] && fabs(parsed - x) * fabs(s->gain) < least) {
      least = fabs(parsed - x) * fabs(s->gain);
      *digital = (int32_t)d;
      *value = parsed;
      strcpy(text, own);
    }
  }
  return least;
}

/* Keeps the stored integers; false where they do not fit, or their scale has no text. */
static bool keep_integers(int bits, weir_edf_lane *l)
{
  const weir_signal_info *const s = l->info;
  const int64_t top = (INT64_C(1) << (bits - 1)) - 1;
  const int64_t bottom = -top - !l->has_code;
  const int64_t own = INT64_C(1) << (s->bits - 1);
  const int64_t lo = l->any ? l->lo : 0;
  const int64_t hi = l->any && l->hi > lo ? l->hi : lo + 1;

  if (lo < bottom || hi > top) {
    return false;
  }
  return find_end(s, lo, bottom, -own + (s->has_invalid || l->has_code), &l->digital_min,
                  l->min_text, &l->physical_min) < worst_steps &&
         find_end(s, hi, top, own - 1, &l->digital_max, l->max_text, &l->physical_max) <
             worst_steps &&
         l->physical_min != l->physical_max;
}

/* The extremes of stored integers as values, in f32 as they are read. */
static void find_extremes(weir_edf_lane *l)
{
  const weir_signal_info *const s = l->info;
  const double a = (double)(float)(((double)l->lo - s->baseline) / s->gain);
  const double b = (double)(float)(((double)l->hi - s->baseline) / s->gain);

  l->min = fmin(a, b);
  l->max = fmax(a, b);
}

/* A range of values that contains all of the signal, or that of a stated gain. */
static void cover_values(double gain, int bits, weir_edf_lane *l)
{
  const double top = (double)((INT64_C(1) << (bits - 1)) - 1);
  double min = l->any ? l->min : -1;
  double max = l->any ? l->max : 1;

  l->real = true;
  l->digital_max = (int32_t)top;
  l->digital_min = -l->digital_max;
  if (l->info->bits == 0 && gain > 0) {
    number_text(-top / gain, 0, l->min_text, &l->physical_min);
    number_text(top / gain, 0, l->max_text, &l->physical_max);
    return;
  }
  if (!(max > min)) { /* a constant */
    min -= fabs(min) > 0 ? 0.5 * fabs(min) : 1;
    max += fabs(max) > 0 ? 0.5 * fabs(max) : 1;
  }
  number_text(min, -1, l->min_text, &l->physical_min);
  number_text(max, 1, l->max_text, &l->physical_max);
}

weir_status weir_edf_scale_choose(const char *name, const weir_convert_scale *scale, int bits,
                                  weir_edf_lane *l, weir_convert_facts *facts)
{
  const weir_signal_info *const s = l->info;

  if (!l->real) {
    if (keep_integers(bits, l)) {
      return WEIR_OK;
    }
    facts->rescaled++;
    find_extremes(l);
  }
  cover_values(scale->gain, bits, l);
  WEIR_ASSERT(l->physical_max > l->physical_min); /* rounded away from each other */
  const double step =
      (l->physical_max - l->physical_min) / ((double)l->digital_max - l->digital_min);
  const double range = l->max > l->min ? l->max - l->min : fabs(l->min);
  const double share = l->any && range > 0 ? fmin(1, 0.5 * step / range) : 0;

  if (share > scale->max_rounded) {
    facts->coarse = share;
    return weir_fail(WEIR_ERR_CONFIG,
                     "record %s: signal %s: steps of %g %s would change its values, %g to %g %s, "
                     "by up to %.3g %% of their range, more than %.3g %%: raise the gain, the "
                     "steps per unit, leave it out, or write another format",
                     name, s->name, step, s->units, l->min, l->max, s->units, 100 * share,
                     100 * scale->max_rounded);
  }
  return WEIR_OK;
}
