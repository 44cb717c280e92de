/* emos_file.c - see emos_file.h. */
#include "baseline/emos_file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/weir_netcdf.h"
#include "model/outputs.h"

enum { COEFFICIENTS = 4, NAME = 64 };
static const char *const greek[COEFFICIENTS] = {"alpha", "beta", "gamma", "delta"};

static double *member(wx_emos *e, int k)
{
  double *const at[COEFFICIENTS] = {&e->alpha, &e->beta, &e->gamma, &e->delta};

  return at[k];
}

weir_status wx_emos_path(const char *folder, const wx_emos_about *about, char *path, size_t size)
{
  char name[WX_SHORT + NAME];

  (void)snprintf(name, sizeof name, "emos_%s_%gh.nc", about->quantity->name, about->lead);
  return weir_path_join(folder, name, path, size);
}

/* ---- Writing ---- */

/* "norm", as IMPROVER calls it; others by the text of wx_output_text. */
static void name_distribution(const wx_emos *at, char text[WX_NAME])
{
  const wx_output is = {at->family, at->lower, at->shift, at->width};

  if (is.family == WX_NORMAL) {
    (void)snprintf(text, WX_NAME, "norm");
  } else {
    wx_output_text(&is, text, WX_NAME);
  }
}

static weir_status put_scalar(weir_netcdf *nc, const char *name, weir_dtype dtype,
                              const char *standard_name, const char *units, int *var)
{
  WEIR_TRY(weir_netcdf_var(nc, name, dtype, 0, NULL, var));
  WEIR_TRY(weir_netcdf_put_text(nc, *var, standard_name[0] != 0 ? "standard_name" : "long_name",
                                standard_name[0] != 0 ? standard_name : name));
  return weir_netcdf_put_text(nc, *var, "units", units);
}

static const char seconds[] = "seconds since 1970-01-01 00:00:00";

static weir_status put_times(weir_netcdf *nc, const wx_emos_about *a)
{
  const int64_t zero = 0, two = 2, bounds[2] = {a->first, a->last};
  const int32_t period = (int32_t)lround(a->lead * 3600);
  int dim = 0, var = 0, reference = 0, limits = 0;

  WEIR_TRY(weir_netcdf_dim(nc, "bnds", 2, &dim));
  WEIR_TRY(put_scalar(nc, "forecast_period", WEIR_I32, "forecast_period", "seconds", &var));
  WEIR_TRY(put_scalar(nc, "forecast_reference_time", WEIR_I64, "forecast_reference_time", seconds,
                      &reference));
  WEIR_TRY(weir_netcdf_put_text(nc, reference, "calendar", "standard"));
  WEIR_TRY(weir_netcdf_put_text(nc, reference, "bounds", "forecast_reference_time_bnds"));
  WEIR_TRY(weir_netcdf_var(nc, "forecast_reference_time_bnds", WEIR_I64, 1, &dim, &limits));
  WEIR_TRY(weir_netcdf_write(nc, var, NULL, NULL, &period));
  WEIR_TRY(weir_netcdf_write(nc, reference, NULL, NULL, &a->last));
  return weir_netcdf_write(nc, limits, &zero, &two, bounds);
}

/* The one predictor, the mean of the members. */
static weir_status put_predictor(weir_netcdf *nc, const wx_quantity *q)
{
  const char *const name = q->standard_name[0] != 0 ? q->standard_name : q->variable;
  const int64_t zero = 0, n = (int64_t)strlen(name);
  const int8_t index = 0;
  int dim = 0, var = 0, text = 0;

  WEIR_TRY(put_scalar(nc, "predictor_index", WEIR_I8, "", "1", &var));
  WEIR_TRY(weir_netcdf_dim(nc, "string", n, &dim));
  WEIR_TRY(weir_netcdf_char_var(nc, "predictor_name", 1, &dim, &text));
  WEIR_TRY(weir_netcdf_put_text(nc, text, "long_name", "predictor_name"));
  WEIR_TRY(weir_netcdf_write(nc, var, NULL, NULL, &index));
  return weir_netcdf_write(nc, text, &zero, &n, name);
}

static weir_status put_line(weir_netcdf *nc, const char *name, int dim, int64_t n,
                            const char *units, const double *value)
{
  const int64_t zero = 0;
  int var = 0;

  WEIR_TRY(weir_netcdf_var(nc, name, WEIR_F64, 1, &dim, &var));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "standard_name", name));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "units", units));
  return weir_netcdf_write(nc, var, &zero, &n, value);
}

/* Dimensions of the cells, with coordinates. */
static weir_status put_grid(weir_netcdf *nc, const wx_grid *g, int *dims, int *n_dims)
{
  static const char *const name[2][2] = {{"latitude", "longitude"},
                                         {"projection_y_coordinate", "projection_x_coordinate"}};
  const bool plane = g->kind == WX_GRID_PLANE;

  if (g->kind == WX_GRID_SITES) {
    *n_dims = 1;
    WEIR_TRY(weir_netcdf_dim(nc, "spot_index", g->n_lon, &dims[0]));
    if (g->lat == NULL || g->lon == NULL) {
      return WEIR_OK;
    }
    WEIR_TRY(put_line(nc, name[0][0], dims[0], g->n_lon, "degrees_north", g->lat));
    return put_line(nc, name[0][1], dims[0], g->n_lon, "degrees_east", g->lon);
  }
  *n_dims = 2;
  for (int k = 0; k < 2; k++) {
    const int64_t n = k == 0 ? g->n_lat : g->n_lon;

    WEIR_TRY(weir_netcdf_dim(nc, name[plane][k], n, &dims[k]));
    WEIR_TRY(put_line(nc, name[plane][k], dims[k], n, g->units[k], k == 0 ? g->lat : g->lon));
  }
  return WEIR_OK;
}

static weir_status define(weir_netcdf *nc, const wx_emos_about *a, const char *distribution, int k,
                          const int *dims, int n_dims, int *var)
{
  const wx_quantity *const q = a->quantity;
  const float missing = NAN;
  const bool of_truth = k % 2 == 0; /* alpha and gamma have units of it */
  char name[NAME], text[NAME + WX_LONG];

  (void)snprintf(name, sizeof name, "emos_coefficient_%s", greek[k]);
  WEIR_TRY(weir_netcdf_var(nc, name, WEIR_F32, n_dims, dims, var));
  WEIR_TRY(weir_netcdf_put_numbers(nc, *var, "_FillValue", WEIR_F32, &missing, 1));
  WEIR_TRY(weir_netcdf_put_text(nc, *var, "long_name", name));
  WEIR_TRY(weir_netcdf_put_text(nc, *var, "units", of_truth && q->units[0] != 0 ? q->units : "1"));
  WEIR_TRY(weir_netcdf_put_text(nc, *var, "diagnostic_standard_name",
                                q->standard_name[0] != 0 ? q->standard_name : q->variable));
  WEIR_TRY(weir_netcdf_put_text(nc, *var, "distribution", distribution));
  (void)snprintf(text, sizeof text, "forecast_period forecast_reference_time%s%s",
                 k == 1 ? " predictor_index predictor_name" : "",
                 n_dims == 1 && a->grid->lat != NULL ? " latitude longitude" : "");
  return weir_netcdf_put_text(nc, *var, "coordinates", text);
}

static weir_status write_all(weir_netcdf *nc, const wx_emos_about *a, const wx_emos *at, int64_t n,
                             float *scratch)
{
  int dims[2] = {0}, n_dims = 0, var = 0;

  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "source", "weather_ensemble"));
  WEIR_TRY(put_times(nc, a));
  WEIR_TRY(put_predictor(nc, a->quantity));
  if (n > 1) {
    WEIR_TRY(put_grid(nc, a->grid, dims, &n_dims));
  }
  const int64_t zero[2] = {0}, grid[2] = {a->grid->n_lat, a->grid->n_lon};
  char distribution[WX_NAME];

  name_distribution(&at[0], distribution);
  for (int k = 0; k < COEFFICIENTS; k++) {
    WEIR_TRY(define(nc, a, distribution, k, dims, n_dims, &var));
    for (int64_t i = 0; i < n; i++) {
      wx_emos e = at[i];

      scratch[i] = (float)*member(&e, k);
    }
    WEIR_TRY(weir_netcdf_write(nc, var, zero, n_dims == 1 ? grid + 1 : grid, scratch));
  }
  return WEIR_OK;
}

weir_status wx_emos_write(const char *path, const wx_emos_about *about, const wx_emos *at,
                          int64_t n)
{
  weir_netcdf *nc = NULL;
  float *scratch = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_netcdf_create_cf(path, "Ensemble Model Output Statistics coefficients", &nc));
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *scratch, (void **)&scratch), done);
  WEIR_TRY_GOTO(write_all(nc, about, at, n, scratch), done);
  WEIR_TRY_GOTO(weir_netcdf_commit(&nc), done);
done:
  weir_netcdf_close(&nc);
  weir_free(&scratch);
  return status;
}

/* ---- Reading ---- */

/* Which distribution a variable is of: normal where it does not say. */
static weir_status read_distribution(weir_netcdf *nc, const char *path, const char *name, int var,
                                     wx_output *out)
{
  char *text = NULL;

  *out = (wx_output){.family = WX_NORMAL};
  if (!weir_netcdf_has(nc, var, "distribution")) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_get_text(nc, var, "distribution", &text));
  const bool known = strcmp(text, "norm") == 0 || wx_output_parse(text, out);
  const weir_status status =
      known ? WEIR_OK
            : weir_fail(WEIR_ERR_DATA,
                        "%s: %s is of the distribution '%s': 'norm' and those that save writes are "
                        "applied, such as 'truncated_normal, lower 0'",
                        path, name, text);

  weir_free(&text);
  return status;
}

/* The four coefficients are of one distribution. */
static weir_status take_distribution(weir_netcdf *nc, const char *path, const char *name, int var,
                                     int k, wx_output *of)
{
  wx_output is;

  WEIR_TRY(read_distribution(nc, path, name, var, &is));
  if (k > 0 && (is.family != of->family || is.lower != of->lower || is.shift != of->shift ||
                is.width != of->width)) {
    return weir_fail(WEIR_ERR_DATA, "%s: %s is of another distribution than alpha", path, name);
  }
  *of = is;
  return WEIR_OK;
}

static weir_status read_one(weir_netcdf *nc, const char *path, int k, int64_t cells, wx_output *of,
                            wx_emos **at, int64_t *n)
{
  const int64_t zero[WEIR_NETCDF_MAX_DIMS] = {0};
  weir_netcdf_shape shape;
  char name[NAME];
  int var = 0;
  int64_t count = 1;
  void *scratch = NULL;
  weir_status status = WEIR_OK;

  (void)snprintf(name, sizeof name, "emos_coefficient_%s", greek[k]);
  WEIR_TRY(weir_netcdf_find(nc, name, &var, &shape));
  WEIR_TRY(take_distribution(nc, path, name, var, k, of));
  for (int d = 0; d < shape.n_dims; d++) {
    if (!weir_mul_ok(count, shape.lengths[d], &count)) {
      count = -1;
      break;
    }
  }
  if (shape.text || (shape.dtype != WEIR_F32 && shape.dtype != WEIR_F64) ||
      (count != 1 && count != cells) || (k > 0 && count != *n)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: %s has %lld numbers: 1 or %lld, one for each point, are wanted, f32 or "
                     "f64, as many as of alpha (the mean of the members as the one predictor)",
                     path, name, (long long)count, (long long)cells);
  }
  if (k == 0) {
    WEIR_TRY(weir_alloc(count, sizeof **at, (void **)at));
    *n = count;
  }
  WEIR_TRY(weir_alloc(count, sizeof(double), &scratch));
  WEIR_TRY_GOTO(weir_netcdf_read(nc, var, zero, shape.lengths, scratch), done);
  for (int64_t i = 0; i < count && status == WEIR_OK; i++) {
    const double v =
        shape.dtype == WEIR_F32 ? (double)((float *)scratch)[i] : ((double *)scratch)[i];

    *member(*at + i, k) = v;
    if (isinf(v) || (isnan(v) && count == 1)) {
      status =
          weir_fail(WEIR_ERR_DATA, "%s: %s: number %lld is not finite", path, name, (long long)i);
    }
  }
done:
  weir_free(&scratch);
  return status;
}

/* A point without coefficients has none of the four; not all points are such. */
static weir_status check_missing(const char *path, wx_emos *at, int64_t n)
{
  int64_t without = 0;

  for (int64_t i = 0; i < n; i++) {
    int missing = 0;

    for (int k = 0; k < COEFFICIENTS; k++) {
      missing += isnan(*member(&at[i], k)) != 0;
    }
    if (missing != 0 && missing != COEFFICIENTS) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: point %lld has %d of %d coefficients: a point has all or none", path,
                       (long long)i, COEFFICIENTS - missing, COEFFICIENTS);
    }
    without += missing != 0;
  }
  return without < n ? WEIR_OK
                     : weir_fail(WEIR_ERR_DATA, "%s: no point has coefficients: all are NaN", path);
}

weir_status wx_emos_read(const char *path, int64_t cells, wx_emos **at, int64_t *n)
{
  weir_netcdf *nc = NULL;
  wx_output of = {.family = WX_NORMAL};
  weir_status status = WEIR_OK;

  *at = NULL;
  *n = 0;
  WEIR_TRY(weir_netcdf_open(path, &nc));
  for (int k = 0; k < COEFFICIENTS && status == WEIR_OK; k++) {
    status = read_one(nc, path, k, cells, &of, at, n);
  }
  for (int64_t i = 0; i < *n && status == WEIR_OK; i++) {
    (*at)[i].family = of.family;
    (*at)[i].lower = of.lower;
    (*at)[i].shift = of.shift;
    (*at)[i].width = of.width;
  }
  status = status == WEIR_OK ? check_missing(path, *at, *n) : status;
  weir_netcdf_close(&nc);
  if (status != WEIR_OK) {
    weir_free(at);
    *n = 0;
  }
  return status;
}
