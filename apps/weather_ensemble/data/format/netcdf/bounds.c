/* bounds.c - the time that values of a NetCDF file cover (CF 7.1 and 7.3): bounds of times
 * and leads, and what was made of the values in between. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/format/netcdf/netcdf.h"

enum { MOST_TEXT = 4096 };

/* The variable that the attribute names, -1: it has none, or names what is not there. */
static weir_status find_bounds(wx_nc *f, const wx_coordinate *c, int *var)
{
  char name[WX_NC_NAME];

  *var = -1;
  WEIR_TRY(wx_nc_text(f, c->var, "climatology", name, sizeof name));
  if (name[0] != 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: its times are those of a climatology (%.64s), at which "
                     "nothing is valid: leave the variable out, or give its times bounds",
                     f->path, c->of->name, name);
  }
  WEIR_TRY(wx_nc_text(f, c->var, "bounds", name, sizeof name));
  for (int k = 0; k < f->n_seen && name[0] != 0; k++) {
    *var = strcmp(f->seen[k].name, name) == 0 ? k : *var;
  }
  return WEIR_OK;
}

/* Whether it is the coordinate's dimensions and two values each. */
static bool fits(const wx_coordinate *c, const wx_seen *b)
{
  bool is = b->supported && !b->shape.text && !b->shape.chars && b->shape.n_dims == c->n_dims + 1 &&
            b->shape.lengths[c->n_dims] == 2;

  for (int d = 0; is && d < c->n_dims; d++) {
    is = b->dims[d] == c->of->dims[d];
  }
  return is;
}

/* Bounds count in the units of their times, unless they have some of their own. */
static weir_status convert(wx_nc *f, const wx_coordinate *c, int var, bool of_lead, bool years,
                           wx_coordinate *all)
{
  char units[WX_NC_NAME];

  WEIR_TRY(wx_nc_text(f, var, "units", units, sizeof units));
  all->var = units[0] != 0 ? var : c->var;
  return of_lead ? wx_nc_to_hours(f, all, years) : wx_nc_to_seconds(f, all);
}

static weir_status split(wx_nc *f, const wx_coordinate *c, const wx_coordinate *all, wx_bounds *out)
{
  const double second = out->of_lead ? 1.0 / 3600 : 1;

  out->lo = out->hi = *c;
  out->lo.value = out->hi.value = NULL;
  WEIR_TRY(weir_alloc(c->n, sizeof(double), (void **)&out->lo.value));
  WEIR_TRY(weir_alloc(c->n, sizeof(double), (void **)&out->hi.value));
  for (int64_t i = 0; i < c->n; i++) {
    const double lo = all->value[2 * i], hi = all->value[2 * i + 1];

    if (!(lo <= hi) || !(c->value[i] >= lo - second) || !(c->value[i] <= hi + second)) {
      return weir_fail(
          WEIR_ERR_DATA,
          "%s: variable %s, element %lld (from 0): it does not lie between its bounds, "
          "or these are not in order: set them, or their units",
          f->path, c->of->name, (long long)i);
    }
    out->lo.value[i] = lo;
    out->hi.value[i] = hi;
  }
  return WEIR_OK;
}

weir_status wx_nc_bounds(wx_nc *f, const wx_coordinate *c, bool of_lead, bool years, wx_bounds *out)
{
  wx_coordinate all = {.of = c->of};
  int var = -1;

  if (c->value == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(find_bounds(f, c, &var));
  if (var < 0) {
    return WEIR_OK;
  }
  if (!fits(c, &f->seen[var])) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: its bounds %s have to have its dimensions and one of 2",
                     f->path, c->of->name, f->seen[var].name);
  }
  out->of_lead = of_lead;
  WEIR_TRY(wx_nc_values(f, var, &all.value, &all.n));
  weir_status status = convert(f, c, var, of_lead, years, &all);

  if (status == WEIR_OK) {
    status = split(f, c, &all, out);
  }
  weir_free(&all.value);
  return status;
}

/* What stands in parentheses is a comment. */
static void strip_comments(char *text)
{
  char *to = text;
  int depth = 0;

  for (const char *at = text; *at != 0; at++) {
    depth += *at == '(';
    if (depth == 0) {
      *to++ = *at;
    }
    depth -= *at == ')' && depth > 0;
  }
  *to = 0;
}

/* "name: [name: ...] method [where ..] [over ..]": methods of times, one after another. */
static void methods_of_time(const wx_nc *f, char *text, char *method, size_t size)
{
  bool of_time = false, names = false;

  strip_comments(text);
  for (char *save = NULL, *at = strtok_r(text, " \t\n", &save); at != NULL;
       at = strtok_r(NULL, " \t\n", &save)) {
    const size_t n = strlen(at);

    if (at[n - 1] == ':') {
      at[n - 1] = 0;
      of_time = wx_nc_is_time(f, at) || (names && of_time);
      names = true;
    } else {
      const size_t used = strlen(method);

      if (names && of_time) {
        (void)snprintf(method + used, size - used, "%s%s", used > 0 ? " " : "", at);
      }
      names = false; /* what follows says where and over what */
    }
  }
}

weir_status wx_nc_method(wx_nc *f, int v, char *method, size_t size)
{
  char text[MOST_TEXT];

  method[0] = 0;
  WEIR_TRY(wx_nc_text(f, v, "cell_methods", text, sizeof text));
  methods_of_time(f, text, method, size);
  if (method[0] != 0) {
    return WEIR_OK;
  }
  WEIR_TRY(wx_nc_text(f, v, "GRIB_stepType", text, sizeof text));
  if (text[0] != 0) {
    const char *const word = wx_quantity_step_method(text);

    (void)snprintf(method, size, "%.*s", WX_SHORT - 1, word[0] != 0 ? word : "point");
  }
  return WEIR_OK;
}
