/* unit_factor.c - units of one quantity and the factor between them, for products of symbols such
 * as mV, mmHg/s or mV2; see weir_series.h and formula_priv.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "stream/formula/formula_priv.h"

/* What a symbol stands for: `scale` of the quantity `base`, to the power `power`. */
typedef struct symbol {
  const char *text, *base;
  double scale;
  int power;
} symbol;

/* Symbols that take the prefixes of the SI. */
static const symbol plain[] = {
    {"V", "V", 1, 1}, {"A", "A", 1, 1},   {"Pa", "Pa", 1, 1},   {"s", "s", 1, 1},
    {"g", "g", 1, 1}, {"m", "m", 1, 1},   {"L", "L", 1, 1},     {"l", "L", 1, 1},
    {"S", "S", 1, 1}, {"Hz", "s", 1, -1}, {"Ohm", "Ohm", 1, 1}, {"ohm", "Ohm", 1, 1},
};

/* Symbols as they are, first. Lower case where headers of recorders have it, and one meaning. */
static const symbol whole[] = {
    {"mmHg", "Pa", 133.322387415, 1},
    {"mmhg", "Pa", 133.322387415, 1},
    {"MMHG", "Pa", 133.322387415, 1},
    {"cmH2O", "Pa", 98.0665, 1},
    {"min", "s", 60, 1},
    {"h", "s", 3600, 1},
    {"bpm", "s", 1 / 60.0, -1},
    {"%", "1", 0.01, 0},
    {"mv", "V", 1e-3, 1},
    {"uv", "V", 1e-6, 1},
    {"UV", "V", 1e-6, 1},
    {"AuV", "V", 1e-6, 1}, /* UTF-8 of the micro sign, flattened */
    {"MV", "MV", 1, 1},    /* megavolts in writing, but millivolts or nothing in a recorder */
};

static const struct {
  char letter;
  double scale;
} prefixes[] = {{'n', 1e-9}, {'u', 1e-6}, {'m', 1e-3}, {'c', 1e-2},
                {'d', 1e-1}, {'k', 1e3},  {'M', 1e6}};

static const symbol *look_up(const symbol *table, size_t n, const char *text)
{
  for (size_t i = 0; i < n; i++) {
    if (strcmp(table[i].text, text) == 0) {
      return &table[i];
    }
  }
  return NULL;
}

/* A symbol that is not known is a separate quantity. */
static symbol symbol_of(const char *text)
{
  const bool micro = strncmp(text, "\xC2\xB5", 2) == 0 || strncmp(text, "\xCE\xBC", 2) == 0;
  const char *const unprefixed = text + (micro ? 2 : 1);
  const char first = micro ? 'u' : text[0];
  const size_t n_plain = sizeof plain / sizeof *plain;
  const symbol *s = look_up(whole, sizeof whole / sizeof *whole, text);

  s = s == NULL ? look_up(plain, n_plain, text) : s;
  for (size_t k = 0; s == NULL && k < sizeof prefixes / sizeof *prefixes; k++) {
    const symbol *base = first == prefixes[k].letter ? look_up(plain, n_plain, unprefixed) : NULL;

    if (base != NULL) {
      return (symbol){text, base->base, base->scale * prefixes[k].scale, base->power};
    }
  }
  return s != NULL ? *s : (symbol){text, text, 1, 1};
}

/* A unit as a product of quantities, and its size in them. */
static bool reduce(const char *text, formula_unit *out, double *scale)
{
  formula_unit written;

  *scale = 1;
  if (!formula_unit_parse(text, &written)) {
    return false;
  }
  *out = (formula_unit){.kind = FORMULA_UNIT_STATED};
  for (int k = 0; k < written.n; k++) {
    const symbol s = symbol_of(written.factor[k].name);
    formula_unit base;

    *scale *= pow(s.scale, written.factor[k].power);
    if (s.power != 0 && (!formula_unit_parse(s.base, &base) ||
                         !formula_unit_times(out, &base, s.power * written.factor[k].power, out))) {
      return false;
    }
  }
  return true;
}

bool weir_unit_is_stated(const char *unit)
{
  static const char *const none[] = {"", "NU", "n/a", "nd", "adu", "a.u.", "unknown", "?"};

  for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
    if (strcasecmp(unit, none[k]) == 0) {
      return false;
    }
  }
  return true;
}

bool weir_unit_factor(const char *from, const char *to, double *factor)
{
  formula_unit a, b, same;
  double from_scale = 1, to_scale = 1;

  *factor = 1;
  if (strcmp(from, to) == 0) {
    return true;
  }
  if (!weir_unit_is_stated(from) || !weir_unit_is_stated(to) || !reduce(from, &a, &from_scale) ||
      !reduce(to, &b, &to_scale) || !formula_unit_agree(&a, &b, &same)) {
    return false;
  }
  const double ratio = from_scale / to_scale;
  const double power = pow(10, nearbyint(log10(ratio)));

  /* Prefixes alone differ by a power of ten, exactly. */
  *factor = fabs(ratio / power - 1) < 1e-12 ? power : ratio;
  return true;
}

bool formula_unit_factor(const formula_unit *from, const formula_unit *to, double *factor)
{
  char a[2 * WEIR_SERIES_UNIT * FORMULA_UNIT_FACTORS], b[sizeof a];

  return from->kind == FORMULA_UNIT_STATED && to->kind == FORMULA_UNIT_STATED &&
         formula_unit_text(from, a, sizeof a) && formula_unit_text(to, b, sizeof b) &&
         weir_unit_factor(a, b, factor);
}

/* A symbol as 1 or -1 powers of another one; 0 where their quantities differ. */
static int power_of(const char *name, const char *other, double *factor)
{
  char inverse[WEIR_SERIES_UNIT + 2];

  if (weir_unit_factor(name, other, factor)) {
    return 1;
  }
  (void)snprintf(inverse, sizeof inverse, "1/%s", name);
  if (!weir_unit_factor(inverse, other, factor)) {
    return 0;
  }
  *factor = 1 / *factor;
  return -1;
}

bool formula_unit_meet(formula_unit *u, const formula_unit *met, double *factor)
{
  formula_unit out = {.kind = u->kind};
  bool changed = false;
  double all = 1;

  for (int k = 0; k < u->n; k++) {
    const char *name = u->factor[k].name;
    int power = u->factor[k].power;
    formula_unit unit;
    double one = 1;
    int sign = 0;

    for (int j = 0; j < met->n && sign == 0; j++) {
      sign = power_of(name, met->factor[j].name, &one);
      name = sign != 0 ? met->factor[j].name : name;
    }
    all *= sign != 0 ? pow(one, power) : 1;
    power *= sign < 0 ? -1 : 1;
    changed = changed || name != u->factor[k].name;
    if (!formula_unit_parse(name, &unit) || !formula_unit_times(&out, &unit, power, &out)) {
      return false;
    }
  }
  if (!changed) {
    return false;
  }
  *u = out;
  *factor = all;
  return true;
}
