/* number.c - numbers and units as a person reads them: powers typeset, "not computed" in place of
 * NaN, SI prefixes. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report/report_priv.h"
#include "report/weir_report.h"

#define MINUS "\xe2\x88\x92"
#define TIMES "\xc2\xa0\xc3\x97\xc2\xa0" /* between no-break spaces */

double weir_si_scale(double value, const char **prefix)
{
  static const char *const names[] = {"a", "f", "p", "n", "\xc2\xb5", "m", "", "k", "M", "G", "T"};
  enum { UNIT = 6, NAMES = sizeof names / sizeof names[0] };
  const double size = fabs(value);

  *prefix = "";
  if (!isfinite(value) || size == 0) {
    return value;
  }
  for (int i = 0; i < NAMES; i++) {
    const double scaled = value / pow(10, 3 * (i - UNIT));

    /* What four digits round up to 1000 is 1 of the next. */
    if (fabs(scaled) < 999.95 && (fabs(scaled) >= 0.99995 || i == UNIT)) {
      *prefix = i == UNIT ? "" : names[i];
      return i == UNIT ? value : scaled;
    }
    if (i < UNIT && fabs(scaled) < 0.99995) {
      break; /* below the smallest prefix */
    }
  }
  return value;
}

void report_put_raised(FILE *out, long power, bool html)
{
  static const char *const raised[] = {
      "\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
      "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
  char text[32];

  if (html) {
    fprintf(out, "<sup>%s%ld</sup>", power < 0 ? MINUS : "", labs(power));
    return;
  }
  fputs(power < 0 ? "\xe2\x81\xbb" : "", out);
  (void)snprintf(text, sizeof text, "%ld", labs(power));
  for (const char *c = text; *c != 0; c++) {
    fputs(raised[*c - '0'], out);
  }
}

/* The length of a number with an exponent at `text`, *power its exponent and *digits the length of
 * the mantissa; 0: there is none. */
static size_t find_exponent(const char *text, size_t *digits, long *power)
{
  size_t n = text[0] == '-', whole = 0;

  for (; isdigit((unsigned char)text[n]); n++, whole++) {
  }
  if (text[n] == '.') {
    for (n++; isdigit((unsigned char)text[n]); n++) {
    }
  }
  if (whole == 0 || text[n] != 'e') {
    return 0;
  }
  *digits = n++;
  const size_t first = n + (text[n] == '-' || text[n] == '+');
  size_t end = first;

  while (isdigit((unsigned char)text[end])) {
    end++;
  }
  if (end == first || end - first > 3) {
    return 0;
  }
  *power = strtol(text + n, NULL, 10);
  return end;
}

/* Whether a number may begin after the character `before` (0: nothing), and end before `after`. */
static bool may_begin(char before)
{
  return before == 0 || strchr(" \t\n([,;:<>|~\"'", before) != NULL;
}

static bool may_end(const char *after)
{
  if (*after == '.') {
    return after[1] == 0 || isspace((unsigned char)after[1]);
  }
  return *after == 0 || strchr(" \t\n)],;:<>|%\"'", *after) != NULL;
}

/* The length of "nan", "inf" and their negatives at `text`, *words what they mean; 0: none. */
static size_t find_word(const char *text, const char **words)
{
  const size_t sign = text[0] == '-';

  if (strncmp(text + sign, "nan", 3) == 0) {
    *words = "not computed";
    return sign + 3;
  }
  if (strncmp(text + sign, "inf", 3) == 0) {
    *words = sign ? MINUS "\xe2\x88\x9e" : "\xe2\x88\x9e";
    return sign + 3;
  }
  return 0;
}

/* Puts a number with an exponent, `digits` of which stand before it. */
static void put_number(FILE *out, const char *text, size_t digits, long power, bool html)
{
  const bool negative = text[0] == '-';

  fputs(negative ? MINUS : "", out);
  if (digits != (size_t)negative + 1 || text[negative] != '1') {
    fwrite(text + negative, 1, digits - negative, out);
    fputs(TIMES, out);
  }
  fputs("10", out);
  report_put_raised(out, power, html);
}

void report_put_typeset(FILE *out, const char *text, bool html)
{
  char before = 0;

  for (const char *c = text == NULL ? "" : text; *c != 0;) {
    const char *words = NULL;
    size_t digits = 0, unit = 0, n = 0;
    long power = 0;

    if (may_begin(before)) {
      n = find_word(c, &words);
      n = n > 0 ? n : find_exponent(c, &digits, &power);
      n = may_end(c + n) ? n : 0;
      unit = n > 0 ? 0 : report_find_unit(c);
    }
    if (words != NULL && n > 0) {
      fputs(words, out);
    } else if (n > 0) {
      put_number(out, c, digits, power, html);
    } else if (unit > 0) {
      report_put_unit(out, c, unit, html);
      n = unit;
    } else {
      report_put_character(out, *c);
      n = 1;
    }
    before = c[n - 1];
    c += n;
  }
}
