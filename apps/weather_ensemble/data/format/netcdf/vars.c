/* vars.c - a variable of a NetCDF file as fields: which start, lead, level and member each
 * of them has. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/format/netcdf/netcdf.h"

#define FILL_OF_LIBRARY 9.9692099683868690e+36 /* what is never written reads as this */

enum { FREE = 1 << 14 };
#define YEAR 8766.0 /* hours */

/* Coordinates of a variable, and the numbers of its quantities. */
typedef struct labels {
  wx_times times;
  wx_coordinate member, level;
  int member_dim, level_dim;
  wx_level kind;
  int64_t *quantity; /* [level.n], or one */
  bool covers;       /* values are of a time, not of an instant: */
  wx_bounds bounds;  /* this one; */
  int64_t period;    /* where there are none: seconds, or WX_PERIOD_UNKNOWN */
} labels;

/* Numbers of an attribute into out[max], *n of them; 0 where it is not there. Another kind or
 * number of values would be a field read wrong: refused. */
static weir_status take_numbers(wx_nc *f, int var, const char *name, int min, int max, double *out,
                                int *n)
{
  const int64_t found = weir_netcdf_count_numbers(f->nc, var, name);

  *n = 0;
  if (!weir_netcdf_has(f->nc, var, name)) {
    return WEIR_OK;
  }
  if (found < min || found > max) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: its attribute '%s' has %lld numbers, not %d: set it, or "
                     "take it out",
                     f->path, f->seen[var].name, name, (long long)found, min);
  }
  *n = (int)found;
  return weir_netcdf_get_numbers(f->nc, var, name, out, found);
}

/* Attributes of packed integers are of what is stored where they are integers themselves, else of
 * the unpacked values (NUG, attribute conventions). */
static bool is_of_values(const wx_nc *f, int var, const wx_nc_var *p, const char *name)
{
  return weir_dtype_is_whole(p->dtype) && (p->scale != 1 || p->offset != 0) &&
         weir_netcdf_is_real(f->nc, var, name);
}

/* A bound, as stored; `side` -1 or 1: rounding leaves the value at the bound inside. */
static double stored_bound(const wx_nc_var *p, double value, int side)
{
  const double stored = (value - p->offset) / p->scale;

  return stored + side * 1e-6 * fmax(1, fabs(stored));
}

static weir_status take_bound(wx_nc *f, int var, const char *name, int count, wx_nc_var *p)
{
  double at[2];
  int n = 0;

  WEIR_TRY(take_numbers(f, var, name, count, count, at, &n));
  if (n == 0) {
    return WEIR_OK;
  }
  const bool low = n == 2 || strcmp(name, "valid_min") == 0,
             high = n == 2 || strcmp(name, "valid_max") == 0;

  if (!is_of_values(f, var, p, name)) {
    p->lo = low ? at[0] : p->lo;
    p->hi = high ? at[n - 1] : p->hi;
    return WEIR_OK;
  }
  const bool turned = p->scale < 0; /* the minimum value is the maximum that is stored */
  const double first = stored_bound(p, at[0], turned ? 1 : -1),
               last = stored_bound(p, at[n - 1], turned ? -1 : 1);

  p->lo = low && !turned ? first : high && turned ? last : p->lo;
  p->hi = high && !turned ? last : low && turned ? first : p->hi;
  return WEIR_OK;
}

static weir_status take_range(wx_nc *f, int var, wx_nc_var *p)
{
  WEIR_TRY(take_bound(f, var, "valid_range", 2, p));
  WEIR_TRY(take_bound(f, var, "valid_min", 1, p));
  WEIR_TRY(take_bound(f, var, "valid_max", 1, p));
  if (!(p->lo <= p->hi)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: valid_min, valid_max or valid_range leave no value: %g to "
                     "%g: set them, or take them out",
                     f->path, f->seen[var].name, p->lo, p->hi);
  }
  return WEIR_OK;
}

static weir_status take_missing(wx_nc *f, int var, wx_nc_var *p)
{
  int n = 0;

  WEIR_TRY(weir_netcdf_refuse_unsigned(f->nc, var, p->dtype, f->path));
  p->scale = 1;
  p->lo = -INFINITY;
  p->hi = INFINITY;
  WEIR_TRY(take_numbers(f, var, "scale_factor", 1, 1, &p->scale, &n));
  WEIR_TRY(take_numbers(f, var, "add_offset", 1, 1, &p->offset, &n));
  WEIR_TRY(take_numbers(f, var, "_FillValue", 1, 1, p->missing, &p->n_missing));
  WEIR_TRY(take_numbers(f, var, "missing_value", 1, WX_NC_MISSING - 1 - p->n_missing,
                        p->missing + p->n_missing, &n));
  for (int i = 0; i < n && is_of_values(f, var, p, "missing_value"); i++) {
    double *const code = &p->missing[p->n_missing + i];

    *code = round((*code - p->offset) / p->scale);
  }
  p->n_missing += n;
  if (!weir_netcdf_has(f->nc, var, "_FillValue")) {
    p->missing[p->n_missing++] = p->dtype == WEIR_I16   ? -32767
                                 : p->dtype == WEIR_I32 ? -2147483647.0
                                 : p->dtype == WEIR_I64 ? -9223372036854775806.0
                                                        : FILL_OF_LIBRARY;
  }
  for (int i = 0; i < p->n_missing && p->dtype == WEIR_F32; i++) {
    p->missing[i] = (double)(float)p->missing[i];
  }
  WEIR_TRY(take_range(f, var, p));
  if (!isfinite(p->scale) || p->scale == 0 || !isfinite(p->offset)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: scale_factor or add_offset is not "
                     "a finite number",
                     f->path, f->seen[var].name);
  }
  return WEIR_OK;
}

/* Dimensions of members and levels; those without coordinates count from 1. */
static weir_status take_dims(wx_nc *f, int v, labels *l)
{
  const wx_seen *const s = &f->seen[v];

  l->member_dim = l->level_dim = -1;
  for (int d = 0; d < s->shape.n_dims; d++) {
    wx_role role = WX_ROLE_NONE;
    int var = -1;

    WEIR_TRY(wx_nc_dim_role(f, s->dims[d], &role, &var));
    l->member_dim = role == WX_ROLE_MEMBER ? d : l->member_dim;
    l->level_dim = role == WX_ROLE_LEVEL ? d : l->level_dim;
  }
  if (l->level_dim >= 0 && l->level.n_dims != 1) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: its levels have no values: add a variable of "
                     "the name of their dimension, with units hPa, Pa or m",
                     f->path, s->name);
  }
  if (l->level.n_dims > 0 && l->level.at[0] != l->level_dim) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: its levels (%s) are not those of its dimension of levels: "
                     "keep one dimension of levels",
                     f->path, s->name, l->level.of->name);
  }
  return WEIR_OK;
}

/* Years begin on days that are not a whole number of mean years apart. */
static weir_status take_tolerance(wx_nc *f, const wx_times *t)
{
  double hours = wx_times_years(t) ? 24 : 0;

  if (t->start.value != NULL && weir_netcdf_count_numbers(f->nc, t->start.var, "tolerance") == 1) {
    WEIR_TRY(weir_netcdf_get_numbers(f->nc, t->start.var, "tolerance", &hours, 1));
  }
  wx_index_tolerance(f->index, hours >= 0 && hours < YEAR ? hours : 0);
  return WEIR_OK;
}

/* The bounds of times of validity, else of leads. */
static weir_status take_bounds(wx_nc *f, labels *l)
{
  const wx_times *const t = &l->times;
  const bool years = wx_times_years(t);

  WEIR_TRY(wx_nc_bounds(f, &t->time, false, years, &l->bounds));
  if (l->bounds.lo.value == NULL) {
    WEIR_TRY(wx_nc_bounds(f, &t->valid, false, years, &l->bounds));
  }
  return l->bounds.lo.value != NULL ? WEIR_OK : wx_nc_bounds(f, &t->lead, true, years, &l->bounds);
}

static weir_status take_labels(wx_nc *f, int v, const wx_nc_var *p, labels *l)
{
  WEIR_TRY(wx_nc_coordinate(f, v, WX_ROLE_MEMBER, &l->member));
  WEIR_TRY(wx_nc_coordinate(f, v, WX_ROLE_LEVEL, &l->level));
  WEIR_TRY(take_dims(f, v, l));
  WEIR_TRY(wx_nc_times(f, v, p, (int[]){l->member_dim, l->level_dim}, &l->times));
  WEIR_TRY(take_tolerance(f, &l->times));
  WEIR_TRY(take_bounds(f, l));
  return wx_nc_to_levels(f, &l->level, &l->kind);
}

/* Exact names that wx_archive_create left, one a level; others stay. */
static weir_status take_names(wx_nc *f, int v, int64_t level, wx_quantity *q)
{
  char text[4096];
  int64_t i = 0;

  WEIR_TRY(wx_nc_text(f, v, "quantities", text, sizeof text));
  for (char *save = NULL, *at = strtok_r(text, " ", &save); at != NULL;
       at = strtok_r(NULL, " ", &save), i++) {
    if (i == level && strlen(at) < sizeof q->name) {
      memcpy(q->name, at, strlen(at) + 1);
    }
  }
  return WEIR_OK;
}

static bool has_width(const wx_bounds *b)
{
  bool has = false;

  for (int64_t i = 0; b->lo.value != NULL && i < b->lo.n; i++) {
    has = has || b->hi.value[i] > b->lo.value[i];
  }
  return has;
}

/* What was made of the values in time: as it is stated; by what the quantity is; else a value of an
 * instant, unless bounds say that it covers a time. */
static weir_status take_method(wx_nc *f, int v, labels *l, wx_quantity *q)
{
  char stated[WX_NC_NAME];
  double hours = 0;
  const char *const own = wx_quantity_method(q, &hours);

  WEIR_TRY(wx_nc_method(f, v, stated, sizeof stated));
  if (stated[0] != 0 && strcmp(stated, "point") != 0) {
    (void)snprintf(q->method, sizeof q->method, "%.*s", WX_SHORT - 1, stated);
  } else if (own != NULL) {
    (void)snprintf(q->method, sizeof q->method, "%s", own);
  } else if (stated[0] == 0 && has_width(&l->bounds)) {
    (void)snprintf(q->method, sizeof q->method, WX_METHOD_UNKNOWN);
  }
  l->covers = q->method[0] != 0;
  l->period = hours > 0 ? (int64_t)(hours * 3600) : WX_PERIOD_UNKNOWN;
  return WEIR_OK;
}

static weir_status take_quantity(wx_nc *f, int v, labels *l, int64_t level, int64_t *number)
{
  wx_quantity q = {.kind = l->kind};
  char methods[WX_NC_NAME], stated[WX_LONG];
  double param = 0;
  wx_naming as;

  WEIR_TRY(wx_nc_text(f, v, "GRIB_shortName", q.variable, sizeof q.variable));
  if (q.variable[0] == 0 || strcmp(q.variable, "unknown") == 0) {
    (void)snprintf(q.variable, sizeof q.variable, "%.*s", WX_SHORT - 1, f->seen[v].name);
  }
  WEIR_TRY(wx_nc_text(f, v, "units", q.units, sizeof q.units));
  WEIR_TRY(wx_nc_text(f, v, "standard_name", q.standard_name, sizeof q.standard_name));
  if (weir_netcdf_count_numbers(f->nc, v, "GRIB_paramId") == 1) {
    WEIR_TRY(weir_netcdf_get_numbers(f->nc, v, "GRIB_paramId", &param, 1));
    q.param = param >= 0 && param < 1e9 ? (int64_t)param : 0;
  }
  WEIR_TRY(wx_nc_text(f, v, "cell_methods", methods, sizeof methods));
  q.product = strstr(methods, "realization: standard_deviation") != NULL ? WX_PRODUCT_SPREAD
              : strstr(methods, "realization: mean") != NULL             ? WX_PRODUCT_MEAN
                                                                         : WX_PRODUCT_MEMBER;
  q.level = l->level.value != NULL ? l->level.value[level] : 0;
  memcpy(stated, q.standard_name, sizeof stated);
  WEIR_TRY(wx_index_name(f->index, f->seen[v].name, &q, &as));
  WEIR_TRY(wx_nc_check_component(f, v, stated, &q));
  WEIR_TRY(take_method(f, v, l, &q));
  if (!as.renamed) {
    WEIR_TRY(take_names(f, v, level, &q));
  }
  return wx_index_quantity(f->index, &q, &as, number);
}

static weir_status take_quantities(wx_nc *f, int v, labels *l)
{
  const int64_t n = l->level_dim >= 0 ? l->level.n : 1;

  WEIR_TRY(weir_alloc(n, sizeof *l->quantity, (void **)&l->quantity));
  for (int64_t i = 0; i < n; i++) {
    WEIR_TRY(take_quantity(f, v, l, i, &l->quantity[i]));
  }
  return WEIR_OK;
}

/* What the field covers. It is valid at the end, wherever the file has its time: in the middle, or
 * at the beginning. */
static void cover(const labels *l, const int64_t *index, wx_field *field)
{
  if (!l->covers) {
    return;
  }
  field->period = l->period;
  if (l->bounds.lo.value == NULL) {
    return;
  }
  const double lo = wx_coordinate_at(&l->bounds.lo, index);
  const double hi = wx_coordinate_at(&l->bounds.hi, index);

  field->period = llround((hi - lo) * (l->bounds.of_lead ? 3600 : 1));
  if (l->bounds.of_lead) {
    field->lead = hi;
  } else if (l->times.start.value == NULL && l->times.lead.value == NULL) {
    field->start = llround(hi); /* a time of validity alone */
  } else {
    field->lead = (hi - (double)field->start) / 3600;
  }
}

/* The labels of the field whose dimensions stand at index[]. */
static weir_status label(wx_nc *f, int v, const labels *l, const int64_t *index, wx_field *field)
{
  double member = 0;

  wx_times_at(&l->times, index, field);
  cover(l, index, field);
  WEIR_TRY(wx_times_agree(f, v, &l->times, index, field));
  field->quantity = l->quantity[l->level_dim >= 0 ? index[l->level_dim] : 0];
  if (l->member.value != NULL) {
    member = wx_coordinate_at(&l->member, index);
  } else if (l->member_dim >= 0) {
    member = (double)(index[l->member_dim] + 1);
  }
  field->member = (int64_t)fmax(-1, fmin(member, 1e9));
  if ((double)field->member != member || member < 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: variable %s: member %g: a member's number is 0, 1, ...",
                     f->path, f->seen[v].name, member);
  }
  if (!(field->lead >= 0) || field->lead > WX_MAX_LEAD) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: a lead of %g h: before its initialisation time, or beyond "
                     "what is handled",
                     f->path, f->seen[v].name, field->lead);
  }
  return WEIR_OK;
}

/* Every field of the variable, numbered in the order of its outer dimensions. */
static weir_status tell(wx_nc *f, int v, const labels *l, wx_nc_var *p)
{
  int64_t index[WEIR_NETCDF_MAX_DIMS] = {0};

  for (int64_t k = 0; k < p->fields; k++) {
    wx_field field = {.number = p->base + k};
    int64_t rest = k;

    for (int d = p->n_dims - 1; d >= 0; d--) {
      if (d != p->row && d != p->column) {
        index[d] = rest % p->length[d];
        rest /= p->length[d];
      }
    }
    WEIR_TRY(label(f, v, l, index, &field));
    WEIR_TRY(wx_index_field(f->index, &field));
  }
  return WEIR_OK;
}

static void labels_fini(labels *l)
{
  wx_times_fini(&l->times);
  weir_free(&l->member.value);
  weir_free(&l->level.value);
  weir_free(&l->bounds.lo.value);
  weir_free(&l->bounds.hi.value);
  weir_free(&l->quantity);
}

/* Fields of a variable, and the distance of its members in field numbers. */
static weir_status count_fields(wx_nc *f, int v, int member_dim, wx_nc_var *p)
{
  int64_t stride = 1;

  p->base = f->n_fields;
  p->fields = 1;
  p->member = member_dim;
  p->whole = p->row < p->column || p->row < 0;
  for (int d = p->n_dims - 1; d >= 0; d--) {
    if (d == p->row || d == p->column) {
      p->whole = p->whole && member_dim < d;
      continue;
    }
    p->member_stride = d == member_dim ? stride : p->member_stride;
    if (p->length[d] < 1 || !weir_mul_ok(stride, p->length[d], &stride) || stride > WX_MAX_FIELDS ||
        !wx_nc_can_hold(f, stride, weir_dtype_size(p->dtype), FREE)) {
      return weir_fail(WEIR_ERR_DATA, "%s: variable %s: %s", f->path, f->seen[v].name,
                       p->length[d] < 1
                           ? "there is nothing in it"
                           : "more fields than are handled, or than its bytes can store");
    }
  }
  p->fields = stride;
  return weir_add_ok(f->n_fields, p->fields, &f->n_fields)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: too large", f->path);
}

weir_status wx_nc_add_var(wx_nc *f, int v)
{
  const wx_seen *const s = &f->seen[v];
  wx_nc_var p = {.var = v, .dtype = s->shape.dtype, .n_dims = s->shape.n_dims};
  labels l = {.kind = WX_LEVEL_SURFACE};
  weir_status status = WEIR_OK;

  memcpy(p.length, s->shape.lengths, sizeof p.length);
  WEIR_TRY(wx_nc_plane(f, v, &p.row, &p.column));
  WEIR_TRY(take_missing(f, v, &p));
  WEIR_TRY_GOTO(take_labels(f, v, &p, &l), done);
  WEIR_TRY_GOTO(count_fields(f, v, l.member_dim, &p), done);
  WEIR_TRY_GOTO(take_quantities(f, v, &l), done);
  WEIR_TRY_GOTO(tell(f, v, &l, &p), done);
  WEIR_TRY_GOTO(weir_reserve(&f->vars, &f->var_capacity, f->n_vars + 1, sizeof *f->vars), done);
  f->vars[f->n_vars++] = p;
done:
  labels_fini(&l);
  return status;
}
