/* samples_file.c - a file of samples, opened: all that is known of it without reading a field. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/date.h"
#include "data/samples_priv.h"

enum { TEXT = 512 };
#define FILL_OF_LIBRARY 9.9692099683868690e+36 /* what is never written reads as this */
#define FAR 4e6                                /* days: years of four digits */

static const char layout[] =
    "[sample, channel, lat, lon] or [sample, channel, level, lat, lon], f32 or f64";

/* Text attribute of a variable, or a refusal that says what it is for. */
static weir_status need_text(const wx_samples *s, int var, const char *of, const char *name,
                             const char *why, char **out)
{
  *out = NULL;
  if (!weir_netcdf_has(s->nc, var, name) ||
      weir_netcdf_get_text(s->nc, var, name, out) != WEIR_OK) {
    return weir_fail(WEIR_ERR_DATA, "%s: variable %s has no text attribute '%s': set it to %s",
                     s->name, of, name, why);
  }
  return WEIR_OK;
}

/* One text a channel: their names, or units. channel: [WX_CHANNELS]. */
static weir_status take_words(wx_samples *s, wx_side side, bool units, wx_channel *channel)
{
  const char *const name = units ? "units" : "channels";
  const char *const what = units ? "the units of its channels, such as \"K, m2 s-2\""
                                 : "the names of its channels, such as \"t, z\"";
  char *text = NULL;

  WEIR_TRY(need_text(s, s->variable[side].var, wx_side_name[side], name, what, &text));
  const int64_t n = wx_channels_parse(text, units, channel);

  weir_free(&text);
  if (n != s->facts.n_channels[side]) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: attribute '%s' of variable %s does not have a text of 1 to %d characters "
                     "for each of its %lld channels, with commas between",
                     s->name, name, wx_side_name[side], WX_NAME - 1,
                     (long long)s->facts.n_channels[side]);
  }
  return WEIR_OK;
}

static weir_status check_names(const wx_samples *s, wx_side side)
{
  for (int64_t i = 0; i < s->facts.n_channels[side]; i++) {
    for (int64_t k = 0; k < i; k++) {
      if (strcmp(s->channel[side][i].name, s->channel[side][k].name) == 0) {
        return weir_fail(WEIR_ERR_DATA, "%s: variable %s has two channels of the name %s: rename",
                         s->name, wx_side_name[side], s->channel[side][i].name);
      }
    }
  }
  return WEIR_OK;
}

/* Numbers that stand for no value, rounded as the data are. Packed variables are refused. */
static weir_status take_missing(wx_samples *s, wx_side side)
{
  static const char *const names[] = {"_FillValue", "missing_value"};
  static const char *const packed[] = {"scale_factor", "add_offset"};
  wx_variable *v = &s->variable[side];
  bool filled = false;

  for (int i = 0; i < 2; i++) {
    if (weir_netcdf_has(s->nc, v->var, packed[i])) {
      return weir_fail(WEIR_ERR_DATA, "%s: variable %s is packed (%s): unpack it first", s->name,
                       wx_side_name[side], packed[i]);
    }
    if (weir_netcdf_has(s->nc, v->var, names[i])) {
      WEIR_TRY(weir_netcdf_get_numbers(s->nc, v->var, names[i], &v->missing[v->n_missing++], 1));
      filled = filled || i == 0;
    }
  }
  if (!filled) {
    v->missing[v->n_missing++] = FILL_OF_LIBRARY;
  }
  for (int i = 0; i < v->n_missing && v->dtype == WEIR_F32; i++) {
    v->missing[i] = (double)(float)v->missing[i];
  }
  return WEIR_OK;
}

/* "[3, 2, 16, 32]" */
static void shape_text(const weir_netcdf_shape *shape, char *text, size_t size)
{
  size_t n = (size_t)snprintf(text, size, "[");

  for (int d = 0; d < shape->n_dims && n < size; d++) {
    n += (size_t)snprintf(text + n, size - n, "%s%lld", d > 0 ? ", " : "",
                          (long long)shape->lengths[d]);
  }
  (void)snprintf(text + (n < size ? n : size - 1), n < size ? size - n : 1, "]");
}

/* Extents: those of the side that was taken first hold for the other. */
static weir_status take_shape(wx_samples *s, wx_side side, const weir_netcdf_shape *shape)
{
  static const char *const names[] = {"level", "lat", "lon"};
  wx_facts *f = &s->facts;
  const int rank = shape->n_dims - 2;
  char text[TEXT];
  int64_t cells = 1;

  shape_text(shape, text, sizeof text);
  if (shape->text || (shape->dtype != WEIR_F32 && shape->dtype != WEIR_F64) || rank < 2 ||
      rank > WX_SPACE || shape->lengths[1] > WX_CHANNELS) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s is %s%s; it has to be %s, with at most %d channels", s->name,
                     wx_side_name[side], text, shape->text ? " of texts" : "", layout, WX_CHANNELS);
  }
  for (int d = 0; d < shape->n_dims; d++) {
    const int64_t wanted = d == 0 ? f->n : d > 1 ? f->axis[d - 2].length : shape->lengths[d];

    if (shape->lengths[d] < 1 ||
        (side == WX_Y && (rank != f->rank || shape->lengths[d] != wanted))) {
      return weir_fail(WEIR_ERR_DATA, "%s: variable %s is %s: %s", s->name, wx_side_name[side],
                       text,
                       shape->lengths[d] < 1 ? "there is nothing in it"
                                             : "all but its channels have to be those of x");
    }
  }
  f->n = shape->lengths[0];
  f->rank = rank;
  for (int d = 0; d < rank; d++) {
    f->axis[d].name = names[WX_SPACE - rank + d];
    f->axis[d].length = shape->lengths[2 + d];
    if (!weir_mul_ok(cells, shape->lengths[2 + d], &cells)) {
      return weir_fail(WEIR_ERR_DATA, "%s: variable %s is %s: too large", s->name,
                       wx_side_name[side], text);
    }
  }
  f->cells = cells;
  f->n_channels[side] = shape->lengths[1];
  return WEIR_OK;
}

/* The variable x or y. */
static weir_status take_side(wx_samples *s, wx_side side)
{
  weir_netcdf_shape shape = {0};
  wx_variable *v = &s->variable[side];

  if (weir_netcdf_find(s->nc, wx_side_name[side], &v->var, &shape) != WEIR_OK) {
    return weir_fail(WEIR_ERR_DATA, "%s: there is no variable %s: it has to be %s", s->name,
                     wx_side_name[side], layout);
  }
  WEIR_TRY(take_shape(s, side, &shape));
  v->dtype = shape.dtype;
  WEIR_TRY(take_missing(s, side));
  WEIR_TRY(weir_alloc(WX_CHANNELS, sizeof(wx_channel), (void **)&s->channel[side]));
  WEIR_TRY(take_words(s, side, false, s->channel[side]));
  WEIR_TRY(take_words(s, side, true, s->channel[side]));
  s->facts.channel[side] = s->channel[side];
  return check_names(s, side);
}

/* A variable of one number for each of n. */
static weir_status take_line(wx_samples *s, const char *name, int64_t n, int *var, double **out)
{
  weir_netcdf_shape shape = {0};
  void *raw = NULL;
  const int64_t zero = 0;

  WEIR_TRY(weir_netcdf_find(s->nc, name, var, &shape));
  if (shape.text || shape.n_dims != 1 || shape.lengths[0] != n) {
    return weir_fail(WEIR_ERR_DATA, "%s: variable %s has to have one number for each of %lld",
                     s->name, name, (long long)n);
  }
  WEIR_TRY(weir_alloc(n, weir_dtype_size(shape.dtype), &raw));
  weir_status status = weir_alloc(n, sizeof **out, (void **)out);

  if (status == WEIR_OK) {
    status = weir_netcdf_read(s->nc, *var, &zero, &n, raw);
  }
  for (int64_t i = 0; i < n && status == WEIR_OK; i++) {
    (*out)[i] = weir_dtype_load_real(shape.dtype, raw, i);
    if (!isfinite((*out)[i])) {
      status = weir_fail(WEIR_ERR_DATA, "%s: variable %s, element %lld (from 0): no number",
                         s->name, name, (long long)i);
    }
  }
  weir_free(&raw);
  return status;
}

/* Dates are counted in the Gregorian calendar: a time of another one is refused. */
static weir_status check_calendar(const wx_samples *s, int var)
{
  static const char *const known[] = {"standard", "gregorian", "proleptic_gregorian"};
  static const char accepted[] = "standard, gregorian or proleptic_gregorian";
  char *text = NULL;
  bool good = false;

  if (!weir_netcdf_has(s->nc, var, "calendar")) {
    return WEIR_OK;
  }
  WEIR_TRY(need_text(s, var, "time", "calendar", accepted, &text));
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    good = good || strcmp(text, known[i]) == 0;
  }
  const weir_status status =
      good ? WEIR_OK
           : weir_fail(WEIR_ERR_DATA,
                       "%s: variable time: its attribute 'calendar' is '%.64s'; it has to be %s",
                       s->name, text, accepted);

  weir_free(&text);
  return status;
}

static weir_status take_time(wx_samples *s)
{
  static const char what[] = "such as \"hours since 2000-01-01 00:00:00\"";
  weir_netcdf_shape shape = {0};
  double unit = 0, origin = 0;
  char *text = NULL;
  int var = 0;

  if (weir_netcdf_find(s->nc, "time", &var, &shape) != WEIR_OK) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: there is no variable time: it has to have the time of validity of each "
                     "sample, in units %s",
                     s->name, what);
  }
  WEIR_TRY(take_line(s, "time", s->facts.n, &var, &s->time));
  WEIR_TRY(check_calendar(s, var));
  WEIR_TRY(need_text(s, var, "time", "units", what, &text));
  const bool good = wx_date_units(text, &unit, &origin);

  weir_free(&text);
  if (!good) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable time: its units are not seconds, minutes, hours or days since a "
                     "date, %s",
                     s->name, what);
  }
  for (int64_t i = 0; i < s->facts.n; i++) {
    s->time[i] = origin + s->time[i] * unit;
    if (fabs(s->time[i]) > FAR) {
      return weir_fail(WEIR_ERR_DATA, "%s: variable time, sample %lld: beyond the year 9999",
                       s->name, (long long)i);
    }
  }
  s->facts.time = s->time;
  return WEIR_OK;
}

/* The coordinates that are there. */
static weir_status take_axes(wx_samples *s)
{
  for (int d = 0; d < s->facts.rank; d++) {
    wx_axis *a = &s->facts.axis[d];
    weir_netcdf_shape shape = {0};
    char *text = NULL;
    int var = 0;

    if (weir_netcdf_find(s->nc, a->name, &var, &shape) != WEIR_OK) {
      continue;
    }
    WEIR_TRY(take_line(s, a->name, a->length, &var, &s->axis[d]));
    WEIR_TRY(need_text(s, var, a->name, "units", "its units, such as \"degrees_north\"", &text));
    (void)snprintf(a->units, sizeof a->units, "%s", text);
    weir_free(&text);
    a->value = s->axis[d];
  }
  return WEIR_OK;
}

static weir_status take_row(wx_samples *s)
{
  const wx_facts *f = &s->facts;
  const int64_t most =
      f->n_channels[WX_Y] > f->n_channels[WX_X] ? f->n_channels[WX_Y] : f->n_channels[WX_X];
  int64_t count = 0;

  if (!weir_mul_ok(most, f->cells, &count)) {
    return weir_fail(WEIR_ERR_DATA, "%s: a sample is too large", s->name);
  }
  return weir_alloc(count, sizeof(double), &s->row);
}

weir_status wx_samples_open_file(wx_samples *s, const char *path, bool y)
{
  weir_netcdf_shape shape = {0};
  int var = 0;

  WEIR_TRY(weir_strdup(path, &s->name));
  s->facts.name = s->name;
  WEIR_TRY(weir_netcdf_open(path, &s->nc));
  WEIR_TRY(take_side(s, WX_X));
  if (y || weir_netcdf_find(s->nc, wx_side_name[WX_Y], &var, &shape) == WEIR_OK) {
    WEIR_TRY(take_side(s, WX_Y));
  }
  WEIR_TRY(take_time(s));
  WEIR_TRY(take_axes(s));
  return take_row(s);
}
