/* times.c - the times of a variable of a NetCDF file: which of its coordinates are
 * initialisation times, leads and times of validity, and whether they agree. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/format/netcdf/netcdf.h"
#include "data/date.h"

#define ROUNDING 30.0 /* seconds: times that floats hold */

void wx_times_fini(wx_times *t)
{
  weir_free(&t->start.value);
  weir_free(&t->time.value);
  weir_free(&t->lead.value);
  weir_free(&t->valid.value);
}

bool wx_times_years(const wx_times *t)
{
  return t->start.years || t->time.years;
}

/* Whether dimension `at` of the variable is one of those of a coordinate. */
static bool covers(const wx_coordinate *c, int at)
{
  bool is = false;

  for (int d = 0; d < c->n_dims; d++) {
    is = is || c->at[d] == at;
  }
  return c->value != NULL && is;
}

/* Whether all dimensions that count something are explained by the two coordinates, or are aside;
 * *at: the first that is not. */
static bool explained(const wx_nc_var *p, const int aside[2], const wx_coordinate *a,
                      const wx_coordinate *b, int *at)
{
  for (int d = 0; d < p->n_dims; d++) {
    const bool known = d == p->row || d == p->column || d == aside[0] || d == aside[1] ||
                       p->length[d] == 1 || (a != NULL && covers(a, d)) ||
                       (b != NULL && covers(b, d));

    if (!known) {
      *at = d;
      return false;
    }
  }
  return true;
}

static bool is_named_valid_time(const wx_seen *s)
{
  return strcmp(s->name, "valid_time") == 0 && s->role == WX_ROLE_TIME;
}

/* The variable valid_time, where it is not the coordinate of times that was found. */
static weir_status take_valid(wx_nc *f, int v, wx_times *t)
{
  for (int k = 0; k < f->n_seen; k++) {
    bool found = false;

    if (k != v && t->time.of != &f->seen[k] && is_named_valid_time(&f->seen[k])) {
      WEIR_TRY(wx_nc_coordinate_of(f, v, k, &t->valid, &found));
      t->valid = found ? t->valid : (wx_coordinate){.of = NULL};
    }
  }
  return WEIR_OK;
}

/* A `time` is the initialisation time, whatever CF says, where there are leads too, as GRIB
 * tools write them (step), or a time of validity of its own, or where both are dimensions. */
static bool time_is_start(const wx_nc *f, const wx_times *t)
{
  bool other = false;

  if (t->start.value != NULL || t->time.value == NULL) {
    return false;
  }
  for (int k = 0; k < f->n_seen; k++) {
    other = other || strcmp(f->seen[k].name, "valid_time") == 0;
  }
  return t->lead.value == NULL
             ? t->valid.value != NULL
             : strcmp(t->lead.of->name, "step") == 0 || (other && t->time.n_dims > 0) ||
                   (t->time.n_dims > 0 && t->lead.n_dims > 0 && t->time.at[0] != t->lead.at[0]);
}

/* Which two of start, lead and time of validity give the others. What is left over is compared. */
static weir_status choose(wx_nc *f, int v, const wx_nc_var *p, const int aside[2], wx_times *t)
{
  char dim[WX_NC_NAME];
  int at = -1;

  if (time_is_start(f, t)) {
    t->start = t->time;
    t->time = t->lead.value == NULL ? t->valid : (wx_coordinate){.of = NULL};
    t->valid = t->lead.value == NULL ? (wx_coordinate){.of = NULL} : t->valid;
  }
  const bool start = t->start.value != NULL, lead = t->lead.value != NULL,
             time = t->time.value != NULL;

  if ((start && lead && explained(p, aside, &t->start, &t->lead, &at)) ||
      (start && !lead && !time && explained(p, aside, &t->start, NULL, &at)) ||
      (time && !lead && !start && explained(p, aside, &t->time, NULL, &at))) {
    return WEIR_OK;
  }
  if (start && time && explained(p, aside, &t->start, &t->time, &at)) {
    t->lead_is_rest = true;
    return WEIR_OK;
  }
  if (lead && time && explained(p, aside, &t->lead, &t->time, &at)) {
    t->start_is_rest = true;
    return WEIR_OK;
  }
  if (!start && !time && !lead && wx_index_how(f->index)->invariant &&
      explained(p, aside, NULL, NULL, &at)) {
    return WEIR_OK;
  }
  if (!start && !time) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: no time is known of it: the file needs a variable "
                     "forecast_reference_time (or init, or time) with units such as \"hours since "
                     "2000-01-01 00:00:00\"",
                     f->path, f->seen[v].name);
  }
  WEIR_TRY(weir_netcdf_dim_name(f->nc, f->seen[v].dims[at < 0 ? 0 : at], dim, sizeof dim));
  return weir_fail(WEIR_ERR_DATA,
                   "%s: variable %s: what its dimension %s counts is not known: rename it to "
                   "forecast_reference_time, time, forecast_period, realization, pressure, "
                   "latitude or longitude, or add a variable of coordinates with a standard_name",
                   f->path, f->seen[v].name, dim);
}

/* Times that differ from site to site, or from cell to cell, are not those of a field. */
static weir_status refuse_times_of_cells(const wx_nc *f, int v, const wx_nc_var *p,
                                         const wx_times *t)
{
  const wx_coordinate *const all[] = {&t->start, &t->time, &t->lead, &t->valid};

  for (int k = 0; k < 4; k++) {
    if ((p->row >= 0 && covers(all[k], p->row)) || (p->column >= 0 && covers(all[k], p->column))) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: variable %s: %s is another at each of its sites or cells: write one "
                       "time for all of them, with missing values where a site has none "
                       "(orthogonal array representation of CF)",
                       f->path, f->seen[v].name, all[k]->of->name);
    }
  }
  return WEIR_OK;
}

weir_status wx_nc_times(wx_nc *f, int v, const wx_nc_var *p, const int aside[2], wx_times *t)
{
  WEIR_TRY(wx_nc_coordinate(f, v, WX_ROLE_START, &t->start));
  WEIR_TRY(wx_nc_coordinate(f, v, WX_ROLE_TIME, &t->time));
  WEIR_TRY(wx_nc_coordinate(f, v, WX_ROLE_LEAD, &t->lead));
  WEIR_TRY(take_valid(f, v, t));
  WEIR_TRY(refuse_times_of_cells(f, v, p, t));
  WEIR_TRY(choose(f, v, p, aside, t));
  WEIR_TRY(wx_nc_to_seconds(f, &t->start));
  WEIR_TRY(wx_nc_to_seconds(f, &t->time));
  WEIR_TRY(wx_nc_to_seconds(f, &t->valid));
  return wx_nc_to_hours(f, &t->lead, wx_times_years(t));
}

void wx_times_at(const wx_times *t, const int64_t *index, wx_field *field)
{
  const double start = t->start.value != NULL ? wx_coordinate_at(&t->start, index) : 0;
  const double time = t->time.value != NULL ? wx_coordinate_at(&t->time, index) : 0;
  const double lead = t->lead.value != NULL ? wx_coordinate_at(&t->lead, index) : 0;

  field->lead = t->lead_is_rest ? (time - start) / 3600 : lead;
  field->start = llround(t->start_is_rest         ? time - lead * 3600
                         : t->start.value != NULL ? start
                                                  : time);
}

/* A time of validity, as coordinate c has it: it may stand anywhere in what the field covers. */
static weir_status agree(const wx_nc *f, int v, const wx_coordinate *c, double stated,
                         const wx_field *field)
{
  const double end = (double)field->start + field->lead * 3600;
  const double begin = end - (field->period > 0 ? (double)field->period : 0);
  char time[2][32];

  if (stated > begin - ROUNDING && stated < end + ROUNDING) {
    return WEIR_OK;
  }
  wx_date_text(stated / 86400, time[0], sizeof time[0]);
  wx_date_text(end / 86400, time[1], sizeof time[1]);
  return weir_fail(WEIR_ERR_DATA,
                   "%s: variable %s: a field is valid at %s by %s, and at %s by the other times of "
                   "the file: correct the one that is wrong, or remove it",
                   f->path, f->seen[v].name, time[0], c->of->name, time[1]);
}

weir_status wx_times_agree(const wx_nc *f, int v, const wx_times *t, const int64_t *index,
                           const wx_field *field)
{
  const wx_coordinate *const stated[] = {&t->time, &t->valid};

  if (wx_times_years(t)) {
    return WEIR_OK;
  }
  for (int i = 0; i < 2; i++) {
    if (stated[i]->value != NULL && !stated[i]->years) {
      WEIR_TRY(agree(f, v, stated[i], wx_coordinate_at(stated[i], index), field));
    }
  }
  return t->start.value == NULL || t->lead.value == NULL
             ? WEIR_OK
             : agree(f, v, &t->lead,
                     wx_coordinate_at(&t->start, index) + wx_coordinate_at(&t->lead, index) * 3600,
                     field);
}
