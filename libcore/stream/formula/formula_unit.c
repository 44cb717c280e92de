/* formula_unit.c - the algebra of units: products of symbols with whole powers, nothing converted.
 */
#include "stream/formula/formula_priv.h"
#include <string.h>

enum { HIGHEST = 99 };

/* Multiplies by name^power. */
static bool multiply(formula_unit *u, const char *name, size_t size, int power)
{
  int k = 0;

  while (k < u->n &&
         (strlen(u->factor[k].name) != size || memcmp(u->factor[k].name, name, size) != 0)) {
    k++;
  }
  if (k == FORMULA_UNIT_FACTORS || size >= sizeof u->factor[0].name) {
    return false;
  }
  if (k == u->n) {
    memset(&u->factor[k], 0, sizeof u->factor[k]);
    memcpy(u->factor[k].name, name, size);
    u->n++;
  }
  u->factor[k].power += power;
  if (u->factor[k].power > HIGHEST || u->factor[k].power < -HIGHEST) {
    return false;
  }
  if (u->factor[k].power == 0) {
    memmove(&u->factor[k], &u->factor[k + 1], (size_t)(u->n - k - 1) * sizeof u->factor[0]);
    u->n--;
  }
  return true;
}

bool formula_unit_parse(const char *text, formula_unit *out)
{
  const char *p = text;
  int sign = 1;

  memset(out, 0, sizeof *out);
  out->kind = text[0] == 0 ? FORMULA_UNIT_ANY : FORMULA_UNIT_STATED;
  while (*p != 0) {
    const size_t n = strcspn(p, "*/");
    size_t letters = n;
    int power = 0, digit = 1;

    while (letters > 1 && n - letters < 2 && p[letters - 1] >= '0' && p[letters - 1] <= '9') {
      letters--;
      power += digit * (p[letters] - '0');
      digit *= 10;
    }
    power = letters == n ? 1 : power;
    const bool one = n == 0 || (n == 1 && p[0] == '1');
    if (!one && !multiply(out, p, letters, sign * power)) {
      return false;
    }
    p += n;
    if (*p != 0) {
      sign = *p++ == '/' ? -1 : 1;
    }
  }
  return true;
}

/* Appends; false when it does not fit. */
static bool put(char *out, size_t size, const char *before, const char *name, int power)
{
  const size_t used = strlen(out);
  const int n = power == 1 ? snprintf(out + used, size - used, "%s%s", before, name)
                           : snprintf(out + used, size - used, "%s%s%d", before, name, power);

  return n >= 0 && (size_t)n < size - used;
}

bool formula_unit_text(const formula_unit *u, char *out, size_t size)
{
  bool fits = true;

  out[0] = 0;
  if (u->kind == FORMULA_UNIT_ANY) {
    return true;
  }
  for (int k = 0; k < u->n && fits; k++) {
    if (u->factor[k].power > 0) {
      fits = put(out, size, out[0] == 0 ? "" : "*", u->factor[k].name, u->factor[k].power);
    }
  }
  if (out[0] == 0) {
    fits = put(out, size, "", "1", 1);
  }
  for (int k = 0; k < u->n && fits; k++) {
    if (u->factor[k].power < 0) {
      fits = put(out, size, "/", u->factor[k].name, -u->factor[k].power);
    }
  }
  return fits;
}

bool formula_unit_times(const formula_unit *a, const formula_unit *b, int power, formula_unit *out)
{
  formula_unit u = *a;

  if (a->kind == FORMULA_UNIT_ANY || b->kind == FORMULA_UNIT_ANY) {
    *out = (formula_unit){.kind = FORMULA_UNIT_ANY};
    return true;
  }
  u.kind = a->kind == FORMULA_UNIT_PLAIN ? b->kind : a->kind;
  for (int k = 0; k < b->n; k++) {
    if (!multiply(&u, b->factor[k].name, strlen(b->factor[k].name), power * b->factor[k].power)) {
      return false;
    }
  }
  *out = u;
  return true;
}

bool formula_unit_half_power(const formula_unit *u, int power, formula_unit *out)
{
  formula_unit v = {.kind = u->kind};

  for (int k = 0; k < u->n; k++) {
    const int twice = power * u->factor[k].power;

    if (twice % 2 != 0 || !multiply(&v, u->factor[k].name, strlen(u->factor[k].name), twice / 2)) {
      return false;
    }
  }
  *out = v;
  return true;
}

bool formula_unit_agree(const formula_unit *a, const formula_unit *b, formula_unit *out)
{
  if (a->kind != FORMULA_UNIT_STATED || b->kind != FORMULA_UNIT_STATED) {
    const bool first = a->kind == FORMULA_UNIT_STATED ||
                       (b->kind != FORMULA_UNIT_STATED && a->kind == FORMULA_UNIT_ANY);

    *out = first ? *a : *b;
    return true;
  }
  bool same = a->n == b->n;
  for (int k = 0; same && k < a->n; k++) {
    bool found = false;

    for (int j = 0; j < b->n; j++) {
      found = found || (strcmp(a->factor[k].name, b->factor[j].name) == 0 &&
                        a->factor[k].power == b->factor[j].power);
    }
    same = found;
  }
  *out = *a;
  return same;
}

bool formula_unit_is_none(const formula_unit *u)
{
  return u->kind != FORMULA_UNIT_STATED || u->n == 0;
}
