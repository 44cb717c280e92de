/* coords.c - values of times, leads, members and levels of a NetCDF file. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "data/format/netcdf/netcdf.h"
#include "data/date.h"

#define YEAR 8766.0 /* hours */
enum { FREE = 1 << 16 };
#define FAR (4e6 * 86400) /* seconds: years of four digits */

weir_status wx_nc_any_values(wx_nc *f, int var, double **out, int64_t *n)
{
  const wx_seen *const s = &f->seen[var];
  int64_t start[WEIR_NETCDF_MAX_DIMS] = {0};
  double scale = 1, offset = 0;
  void *raw = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  *n = 1;
  for (int d = 0; d < s->shape.n_dims; d++) {
    if (!weir_mul_ok(*n, s->shape.lengths[d], n) || *n > WX_MAX_LINE ||
        !wx_nc_can_hold(f, *n, weir_dtype_size(s->shape.dtype), FREE)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: variable %s: %lld values of a coordinate: more than %d, or than its "
                       "bytes can store",
                       f->path, s->name, (long long)*n, WX_MAX_LINE);
    }
  }
  if (weir_netcdf_count_numbers(f->nc, var, "scale_factor") == 1) {
    WEIR_TRY(weir_netcdf_get_numbers(f->nc, var, "scale_factor", &scale, 1));
  }
  if (weir_netcdf_count_numbers(f->nc, var, "add_offset") == 1) {
    WEIR_TRY(weir_netcdf_get_numbers(f->nc, var, "add_offset", &offset, 1));
  }
  WEIR_TRY(weir_alloc(*n, weir_dtype_size(s->shape.dtype), &raw));
  WEIR_TRY_GOTO(weir_alloc(*n, sizeof **out, (void **)out), done);
  WEIR_TRY_GOTO(weir_netcdf_read(f->nc, var, start, s->shape.lengths, raw), done);
  for (int64_t i = 0; i < *n; i++) {
    (*out)[i] = weir_dtype_load_real(s->shape.dtype, raw, i) * scale + offset;
  }
done:
  weir_free(&raw);
  if (status != WEIR_OK) {
    weir_free(out);
  }
  return status;
}

weir_status wx_nc_values(wx_nc *f, int var, double **out, int64_t *n)
{
  WEIR_TRY(wx_nc_any_values(f, var, out, n));
  for (int64_t i = 0; i < *n; i++) {
    if (!isfinite((*out)[i])) {
      weir_free(out);
      return weir_fail(WEIR_ERR_DATA, "%s: variable %s, element %lld (from 0): no number", f->path,
                       f->seen[var].name, (long long)i);
    }
  }
  return WEIR_OK;
}

/* Where the dimensions of `s` stand in `v`; false: one is not there, or is a row or column. */
static bool is_over_dims(const wx_nc *f, const wx_seen *v, const wx_seen *s, wx_coordinate *c)
{
  (void)f;
  for (int d = 0; d < s->shape.n_dims; d++) {
    int at = -1;

    for (int k = 0; k < v->shape.n_dims; k++) {
      at = v->dims[k] == s->dims[d] ? k : at;
    }
    if (at < 0 || d >= 2) {
      return false;
    }
    c->at[d] = at;
    c->length[d] = s->shape.lengths[d];
  }
  c->n_dims = s->shape.n_dims;
  return true;
}

/* True where the attribute `coordinates` of v names s. */
static weir_status is_named(wx_nc *f, int v, const char *name, bool *named)
{
  char text[4096];

  *named = false;
  WEIR_TRY(wx_nc_text(f, v, "coordinates", text, sizeof text));
  for (char *save = NULL, *at = strtok_r(text, " ", &save); at != NULL;
       at = strtok_r(NULL, " ", &save)) {
    *named = *named || strcmp(at, name) == 0;
  }
  return WEIR_OK;
}

weir_status wx_nc_coordinate_of(wx_nc *f, int v, int k, wx_coordinate *out, bool *found)
{
  *out = (wx_coordinate){.of = &f->seen[k], .var = k};
  *found = is_over_dims(f, &f->seen[v], &f->seen[k], out);
  return *found ? wx_nc_values(f, k, &out->value, &out->n) : WEIR_OK;
}

/* The surest first: that of a dimension of its own name, one that `coordinates` names, any. */
weir_status wx_nc_coordinate(wx_nc *f, int v, wx_role role, wx_coordinate *out)
{
  int best = 0;

  *out = (wx_coordinate){.of = NULL};
  for (int k = 0; k < f->n_seen; k++) {
    const wx_seen *const s = &f->seen[k];
    wx_coordinate c = {.of = s, .var = k};
    char dim[WX_NC_NAME] = "";
    bool named = false;

    if (k == v || s->role != role || !is_over_dims(f, &f->seen[v], s, &c)) {
      continue;
    }
    if (c.n_dims == 1) {
      WEIR_TRY(weir_netcdf_dim_name(f->nc, s->dims[0], dim, sizeof dim));
    }
    WEIR_TRY(is_named(f, v, s->name, &named));
    const int rank = strcmp(dim, s->name) == 0 ? 3 : named ? 2 : 1;

    if (rank > best) {
      best = rank;
      *out = c;
    }
  }
  return out->of != NULL ? wx_nc_values(f, out->var, &out->value, &out->n) : WEIR_OK;
}

double wx_coordinate_at(const wx_coordinate *c, const int64_t *index)
{
  int64_t at = 0;

  for (int d = 0; d < c->n_dims; d++) {
    at = at * c->length[d] + index[c->at[d]];
  }
  return c->value[at];
}

/* Dates are counted in the Gregorian calendar: a time of another one is refused. The standard
 * calendar is the Julian one before 1582-10-15: two days apart in the year 1, from which some
 * count. origin: days since 1970. */
static weir_status check_calendar(wx_nc *f, const wx_coordinate *c, double origin)
{
  static const char *const known[] = {"proleptic_gregorian", "", "standard", "gregorian"};
  static const double reform = -141427; /* 1582-10-15 */
  char text[WX_NC_NAME];

  WEIR_TRY(wx_nc_text(f, c->var, "calendar", text, sizeof text));
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strcasecmp(text, known[i]) == 0 && (i == 0 || origin >= reform)) {
      return WEIR_OK;
    }
    if (strcasecmp(text, known[i]) == 0) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: variable %s: its units count from before 1582-10-15, when the calendar "
                       "'%s' changed: count from a later date, or set its attribute 'calendar' to "
                       "proleptic_gregorian where that is meant",
                       f->path, c->of->name, text[0] != 0 ? text : "standard");
    }
  }
  return weir_fail(WEIR_ERR_DATA,
                   "%s: variable %s: its attribute 'calendar' is '%.64s'; it has to be standard, "
                   "gregorian or proleptic_gregorian",
                   f->path, c->of->name, text);
}

/* Whole numbers that are years of the Gregorian calendar; fields are not counted from there. */
static bool to_years(wx_coordinate *c)
{
  for (int64_t i = 0; i < c->n; i++) {
    if (c->value[i] != floor(c->value[i]) || c->value[i] < 1583 || c->value[i] > 9999) {
      return false;
    }
  }
  for (int64_t i = 0; i < c->n; i++) {
    char text[32];
    double days = 0;

    (void)snprintf(text, sizeof text, "%04d-01-01", (int)c->value[i]);
    if (!wx_date_parse(text, &days)) {
      return false;
    }
    c->value[i] = days * 86400;
  }
  c->years = true;
  return true;
}

weir_status wx_nc_to_seconds(wx_nc *f, wx_coordinate *c)
{
  static const char wanted[] =
      "seconds, minutes, hours or days since a date, such as \"hours since 2000-01-01 00:00:00\"";
  char units[WX_NC_NAME], zone[WX_SHORT];
  double unit = 0, origin = 0;

  if (c->of == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(wx_nc_text(f, c->var, "units", units, sizeof units));
  if (units[0] == 0) {
    WEIR_TRY(check_calendar(f, c, 0));
    return to_years(c) ? WEIR_OK
                       : weir_fail(WEIR_ERR_DATA,
                                   "%s: variable %s has no units, and its values are no years: "
                                   "set its attribute 'units' to %s",
                                   f->path, c->of->name, wanted);
  }
  if (wx_date_zone(units, zone, sizeof zone)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: its units '%.64s' are not in UTC, but in the time zone "
                     "'%s': count from a date in UTC",
                     f->path, c->of->name, units, zone);
  }
  if (!wx_date_units(units, &unit, &origin)) {
    return weir_fail(WEIR_ERR_DATA, "%s: variable %s: its units '%.64s' are not %s", f->path,
                     c->of->name, units, wanted);
  }
  WEIR_TRY(check_calendar(f, c, origin));
  for (int64_t i = 0; i < c->n; i++) {
    c->value[i] = round(c->value[i] * round(unit * 86400) + origin * 86400);
    if (!(fabs(c->value[i]) < FAR)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: variable %s, element %lld (from 0): beyond the year 9999", f->path,
                       c->of->name, (long long)i);
    }
  }
  return WEIR_OK;
}

weir_status wx_nc_to_hours(wx_nc *f, wx_coordinate *c, bool years)
{
  static const struct {
    const char *name;
    double hours;
  } known[] = {{"seconds", 1.0 / 3600},
               {"second", 1.0 / 3600},
               {"s", 1.0 / 3600},
               {"minutes", 1.0 / 60},
               {"minute", 1.0 / 60},
               {"min", 1.0 / 60},
               {"hours", 1},
               {"hour", 1},
               {"h", 1},
               {"hr", 1},
               {"days", 24},
               {"day", 24},
               {"d", 24},
               {"years", YEAR},
               {"year", YEAR},
               {"nanoseconds", 1 / 3.6e12}};
  char units[WX_NC_NAME];
  double hours = 0;

  if (c->of == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(wx_nc_text(f, c->var, "units", units, sizeof units));
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    hours = strcasecmp(units, known[i].name) == 0 ? known[i].hours : hours;
  }
  hours = units[0] == 0 && years ? YEAR : hours;
  if (hours <= 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: its units '%.64s' are no units of a lead: set its attribute "
                     "'units' to seconds, minutes, hours, days or years",
                     f->path, c->of->name, units);
  }
  for (int64_t i = 0; i < c->n; i++) {
    c->value[i] *= hours;
  }
  c->years = hours >= YEAR;
  return WEIR_OK;
}

weir_status wx_nc_to_levels(wx_nc *f, wx_coordinate *c, wx_level *kind)
{
  static const struct {
    const char *units;
    wx_level kind;
    double factor;
  } known[] = {{"hPa", WX_LEVEL_PRESSURE, 1},       {"mb", WX_LEVEL_PRESSURE, 1},
               {"mbar", WX_LEVEL_PRESSURE, 1},      {"millibar", WX_LEVEL_PRESSURE, 1},
               {"millibars", WX_LEVEL_PRESSURE, 1}, {"Pa", WX_LEVEL_PRESSURE, 0.01},
               {"m", WX_LEVEL_HEIGHT, 1},           {"metre", WX_LEVEL_HEIGHT, 1},
               {"meters", WX_LEVEL_HEIGHT, 1}};
  char units[WX_NC_NAME];
  double factor = 0;

  *kind = WX_LEVEL_SURFACE;
  if (c->of == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(wx_nc_text(f, c->var, "units", units, sizeof units));
  if (units[0] == 0 && strncmp(c->of->name, "isobaricIn", 10) != 0) {
    (void)snprintf(units, sizeof units, "%s", wx_index_level_units(f->index));
  }
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strcasecmp(units, known[i].units) == 0) {
      factor = known[i].factor;
      *kind = known[i].kind;
    }
  }
  if (units[0] == 0 && strncmp(c->of->name, "isobaricIn", 10) == 0) { /* the name says it */
    *kind = WX_LEVEL_PRESSURE;
    factor = strcmp(c->of->name, "isobaricInPa") == 0 ? 0.01 : 1;
  }
  if (factor <= 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: its units '%.64s' are none of a pressure or height: set its "
                     "attribute 'units' to hPa, Pa or m%s",
                     f->path, c->of->name, units,
                     units[0] == 0 ? ", or data.names.level_units" : "");
  }
  for (int64_t i = 0; i < c->n; i++) {
    c->value[i] = factor < 1 ? c->value[i] / 100 : c->value[i];
  }
  return WEIR_OK;
}
