/* unit.c - products of powers of units, as CF and UDUNITS write them: "kg m-2 s-1", "m2 s**-2". */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "report/report_priv.h"

#define NO_BREAK_SPACE "\xc2\xa0"

/* Units whose powers are typeset; other symbols, such as names of runs and members, are not. */
static const char *const units[] = {
    "A",    "C",  "F",  "Hz",  "J",   "K",  "N",   "Pa",  "S",        "T",   "V",
    "W",    "Wb", "cd", "cm",  "d",   "da", "eV",  "g",   "h",        "hPa", "kPa",
    "kHz",  "kJ", "kW", "kg",  "km",  "m",  "mV",  "mW",  "meV",      "mm",  "mmHg",
    "mmol", "ms", "mg", "min", "mol", "nA", "nm",  "pW",  "ps",       "rad", "s",
    "sr",   "uA", "uV", "uW",  "um",  "us", "ohm", "Mpc", "Angstrom",
};

typedef struct term {
  size_t symbol, length; /* bytes of the unit alone, and with its power */
  long power;            /* 1: none is written */
} term;

/* Parses one unit with its power at `text`; false: another word. */
static bool parse_term(const char *text, term *t)
{
  size_t n = 0;
  bool known = false;

  while (isalpha((unsigned char)text[n])) {
    n++;
  }
  for (size_t i = 0; i < sizeof units / sizeof units[0] && !known; i++) {
    known = n > 0 && strlen(units[i]) == n && memcmp(units[i], text, n) == 0;
  }
  *t = (term){n, n, 1};
  if (strncmp(text + n, "**", 2) == 0 || text[n] == '^') {
    n += text[n] == '^' ? 1 : 2;
  }
  const size_t first = n + (text[n] == '-');
  size_t end = first;

  while (isdigit((unsigned char)text[end])) {
    end++;
  }
  if (end > first && end - first <= 2) {
    t->power = strtol(text + n, NULL, 10);
    t->length = end;
  } else if (n > t->symbol) {
    return false; /* a power without its number */
  }
  return known && (text[t->length] == 0 || strchr(" \t\n*)],;:.|", text[t->length]) != NULL);
}

/* Length of what separates two units at `text`: a space or the sign of a product; 0: neither. */
static size_t separator(const char *text)
{
  return *text == ' ' || (*text == '*' && text[1] != '*') ? 1 : 0;
}

size_t report_find_unit(const char *text)
{
  size_t n = 0, end = 0;
  bool negative = false;
  term t;

  while (parse_term(text + n, &t)) {
    end = n + t.length;
    negative = negative || t.power < 0;
    if (separator(text + end) == 0) {
      break;
    }
    n = end + 1;
  }
  return negative ? end : 0;
}

void report_put_unit(FILE *out, const char *text, size_t length, bool html)
{
  size_t n = 0;
  term t;

  while (n < length && parse_term(text + n, &t)) {
    fputs(n > 0 ? NO_BREAK_SPACE : "", out);
    fwrite(text + n, 1, t.symbol, out);
    if (t.power != 1) {
      report_put_raised(out, t.power, html);
    }
    n += t.length;
    n += separator(text + n);
  }
}
