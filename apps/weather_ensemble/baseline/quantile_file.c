/* quantile_file.c - see quantile_file.h. */
#include "baseline/quantile_file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/weir_netcdf.h"

enum { NAME = 64, MAX_LEVELS = 100000 };
static const char *const side_name[2] = {"forecast_quantile", "truth_quantile"};
static const char *const tails_name[] = {[WX_TAILS_SHIFT] = "shift", [WX_TAILS_LINEAR] = "linear"};

weir_status wx_quantile_path(const char *folder, const wx_quantity *quantity, double lead,
                             char *path, size_t size)
{
  char name[WX_SHORT + NAME];

  (void)snprintf(name, sizeof name, "quantile_%s_%gh.nc", quantity->name, lead);
  return weir_path_join(folder, name, path, size);
}

/* ---- Writing ---- */

static weir_status put_levels(weir_netcdf *nc, int dim, int64_t levels)
{
  const int64_t zero = 0;
  double *p = NULL;
  int var = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_netcdf_var(nc, "probability", WEIR_F64, 1, &dim, &var));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "long_name", "probability of a value below the quantile"));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "units", "1"));
  WEIR_TRY(weir_alloc(levels, sizeof *p, (void **)&p));
  for (int64_t k = 0; k < levels; k++) {
    p[k] = ((double)k + 0.5) / (double)levels;
  }
  WEIR_TRY_GOTO(weir_netcdf_write(nc, var, &zero, &levels, p), done);
done:
  weir_free(&p);
  return status;
}

static weir_status write_all(weir_netcdf *nc, const wx_quantity *q, double lead,
                             const wx_quantile *map)
{
  const float *const value[2] = {map->forecast, map->truth};
  const int64_t zero[2] = {0}, count[2] = {map->cells, map->levels};
  const float missing = NAN;
  int dims[2] = {0}, var = 0;

  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "source", "weather_ensemble"));
  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "quantity", q->name));
  WEIR_TRY(weir_netcdf_put_numbers(nc, WEIR_NETCDF_FILE, "lead_h", WEIR_F64, &lead, 1));
  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "tails", tails_name[map->tails]));
  WEIR_TRY(weir_netcdf_dim(nc, "point", map->cells, &dims[0]));
  WEIR_TRY(weir_netcdf_dim(nc, "level", map->levels, &dims[1]));
  WEIR_TRY(put_levels(nc, dims[1], map->levels));
  for (int k = 0; k < 2; k++) {
    WEIR_TRY(weir_netcdf_var(nc, side_name[k], WEIR_F32, 2, dims, &var));
    WEIR_TRY(weir_netcdf_put_numbers(nc, var, "_FillValue", WEIR_F32, &missing, 1));
    WEIR_TRY(weir_netcdf_put_text(nc, var, "units", q->units[0] != 0 ? q->units : "1"));
    WEIR_TRY(weir_netcdf_write(nc, var, zero, count, value[k]));
  }
  return WEIR_OK;
}

weir_status wx_quantile_write(const char *path, const wx_quantity *quantity, double lead,
                              const wx_quantile *map)
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_netcdf_create_cf(path, "Quantile mapping", &nc));
  WEIR_TRY_GOTO(write_all(nc, quantity, lead, map), done);
  WEIR_TRY_GOTO(weir_netcdf_commit(&nc), done);
done:
  weir_netcdf_close(&nc);
  return status;
}

/* ---- Reading ---- */

static weir_status check_units(weir_netcdf *nc, const char *path, int var, const wx_quantity *q)
{
  const char *const own = q->units[0] != 0 ? q->units : "1";
  char *units = NULL;

  WEIR_TRY(weir_netcdf_get_text(nc, var, "units", &units));
  const weir_status status =
      wx_quantity_same_units(units, own)
          ? WEIR_OK
          : weir_fail(WEIR_ERR_DATA, "%s: quantiles in '%s', and %s has '%s': fit it anew", path,
                      units, q->name, own);

  weir_free(&units);
  return status;
}

/* A point has quantiles in ascending order, or none. */
static weir_status check_order(const char *path, const char *name, const float *value,
                               int64_t cells, int64_t levels)
{
  for (int64_t c = 0; c < cells; c++) {
    const float *const x = value + c * levels;
    bool good = isfinite(x[0]) || isnan(x[0]);

    for (int64_t k = 1; k < levels; k++) {
      good = good && (isnan(x[0]) ? isnan(x[k]) : isfinite(x[k]) && x[k] >= x[k - 1]);
    }
    if (!good) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: %s: point %lld: quantiles are neither finite and ascending nor all "
                       "missing",
                       path, name, (long long)c);
    }
  }
  return WEIR_OK;
}

static weir_status read_side(weir_netcdf *nc, const char *path, int side, const wx_quantity *q,
                             wx_quantile *out)
{
  const char *const name = side_name[side];
  const int64_t zero[2] = {0};
  float **const to = side == 0 ? &out->forecast : &out->truth;
  weir_netcdf_shape shape;
  int var = 0;

  WEIR_TRY(weir_netcdf_find(nc, name, &var, &shape));
  if (shape.text || shape.dtype != WEIR_F32 || shape.n_dims != 2 ||
      shape.lengths[0] != out->cells || shape.lengths[1] < 1 || shape.lengths[1] > MAX_LEVELS ||
      (side > 0 && shape.lengths[1] != out->levels)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: %s: f32 [%lld points, levels] is wanted, as many levels of forecast and "
                     "truth",
                     path, name, (long long)out->cells);
  }
  out->levels = shape.lengths[1];
  WEIR_TRY(check_units(nc, path, var, q));
  WEIR_TRY(weir_alloc(out->cells * out->levels, sizeof **to, (void **)to));
  WEIR_TRY(weir_netcdf_read(nc, var, zero, shape.lengths, *to));
  return check_order(path, name, *to, out->cells, out->levels);
}

static weir_status read_tails(weir_netcdf *nc, const char *path, int *tails)
{
  char *text = NULL;

  WEIR_TRY(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "tails", &text));
  const bool shift = strcmp(text, tails_name[WX_TAILS_SHIFT]) == 0;
  const weir_status status =
      shift || strcmp(text, tails_name[WX_TAILS_LINEAR]) == 0
          ? WEIR_OK
          : weir_fail(WEIR_ERR_DATA, "%s: tails '%s' are neither shift nor linear", path, text);

  *tails = shift ? WX_TAILS_SHIFT : WX_TAILS_LINEAR;
  weir_free(&text);
  return status;
}

weir_status wx_quantile_read(const char *path, const wx_quantity *quantity, int64_t cells,
                             wx_quantile *out)
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  *out = (wx_quantile){.cells = cells};
  WEIR_TRY(weir_netcdf_open(path, &nc));
  WEIR_TRY_GOTO(read_tails(nc, path, &out->tails), done);
  for (int k = 0; k < 2; k++) {
    WEIR_TRY_GOTO(read_side(nc, path, k, quantity, out), done);
  }
done:
  weir_netcdf_close(&nc);
  if (status != WEIR_OK) {
    wx_quantile_fini(out);
  }
  return status;
}
