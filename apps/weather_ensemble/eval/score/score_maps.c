/* score_maps.c - see score_maps.h. */
#include "eval/score/score_maps.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/weir_netcdf.h"

enum { LEVEL = 1, DIMS = 5 }; /* of compression; variable, lead, model, lat, lon */

struct wx_score_maps {
  const wx_verify *v;
  weir_netcdf *nc;
  int var[WX_SCORE_MAPS], significant;
  double *map; /* [cells] */
  float *field;
  bool *mark;
};

static const struct {
  const char *name, *long_name, *cell_methods;
  bool units;
} maps[WX_SCORE_MAPS] = {
    [WX_SCORE_MAP_CRPS] = {"crps", "continuous ranked probability score", "time: mean", true},
    [WX_SCORE_MAP_BIAS] = {"bias", "mean of forecast minus truth", "time: mean", true},
    [WX_SCORE_MAP_RMSE] = {"rmse", "root mean square error of the mean", "time: root_mean_square",
                           true},
    [WX_SCORE_MAP_SPREAD] = {"spread", "root of the mean variance of the forecast", "time: mean",
                             true},
    [WX_SCORE_MAP_SKILL] = {"crps_skill", "1 - CRPS / CRPS of the reference", "time: mean", false},
    [WX_SCORE_MAP_P] = {"p_value", "of the test of Diebold and Mariano against the reference",
                        "time: mean", false},
};

void wx_score_map_get(const wx_verify *v, int64_t model, int map, double *out)
{
  const int64_t cells = v->data->cells, reference = v->reference[0];
  const double *const own = v->score_sums[model].map, *const other = v->score_sums[reference].map;
  const double *const n = own + WX_MAP_COUNT * cells;

  if (map == WX_SCORE_MAP_P && model != reference) {
    wx_verify_map_test(v, model, out);
    return;
  }
  for (int64_t i = 0; i < cells; i++) {
    const double crps = own[WX_MAP_CRPS * cells + i];
    const double value = map == WX_SCORE_MAP_CRPS   ? crps / n[i]
                         : map == WX_SCORE_MAP_BIAS ? own[WX_MAP_ERROR * cells + i] / n[i]
                         : map == WX_SCORE_MAP_RMSE ? sqrt(own[WX_MAP_SQUARE * cells + i] / n[i])
                         : map == WX_SCORE_MAP_SPREAD
                             ? sqrt(own[WX_MAP_VARIANCE * cells + i] / n[i])
                         : map == WX_SCORE_MAP_SKILL && model != reference &&
                                 v->score_sums[reference].map[WX_MAP_COUNT * cells + i] > 0
                             ? 1 - crps / other[WX_MAP_CRPS * cells + i]
                             : NAN;

    out[i] = n[i] > 0 ? value : NAN;
  }
}

static weir_status put_names(weir_netcdf *nc, const char *name, int dim, int letters, int *var)
{
  const int dims[] = {dim, letters};

  return weir_netcdf_char_var(nc, name, 2, dims, var);
}

static weir_status define_axis(wx_score_maps *m, const char *name, const char *standard,
                               const char *units, int n_dims, const int *dims, int *var)
{
  WEIR_TRY(weir_netcdf_var(m->nc, name, WEIR_F64, n_dims, dims, var));
  if (standard[0] != 0) {
    WEIR_TRY(weir_netcdf_put_text(m->nc, *var, "standard_name", standard));
  }
  return weir_netcdf_put_text(m->nc, *var, "units", units[0] != 0 ? units : "1");
}

/* The units of all quantities; NULL: they differ, or are not known. */
static const char *common_units(const wx_verify *v)
{
  const wx_quantity *const q = v->data->facts->quantity;
  const char *const first = q[v->quantity[0]].units;

  for (int64_t k = 0; k < v->n_quantities; k++) {
    if (strcmp(q[v->quantity[k]].units, first) != 0) {
      return NULL;
    }
  }
  return first[0] != 0 ? first : NULL;
}

static weir_status define_fields(wx_score_maps *m, const int *dims, const int64_t *length)
{
  const int64_t chunk[DIMS] = {1, 1, 1, length[3], length[4]};
  const char *const units = common_units(m->v);
  const float missing = NAN;

  for (int k = 0; k < WX_SCORE_MAPS; k++) {
    WEIR_TRY(weir_netcdf_var(m->nc, maps[k].name, WEIR_F32, DIMS, dims, &m->var[k]));
    WEIR_TRY(weir_netcdf_chunk(m->nc, m->var[k], chunk, LEVEL));
    WEIR_TRY(weir_netcdf_put_text(m->nc, m->var[k], "long_name", maps[k].long_name));
    WEIR_TRY(weir_netcdf_put_text(m->nc, m->var[k], "cell_methods", maps[k].cell_methods));
    if (!maps[k].units || units != NULL) {
      WEIR_TRY(weir_netcdf_put_text(m->nc, m->var[k], "units", maps[k].units ? units : "1"));
    } else {
      WEIR_TRY(weir_netcdf_put_text(m->nc, m->var[k], "comment", "in units of variable_units"));
    }
    WEIR_TRY(weir_netcdf_put_numbers(m->nc, m->var[k], "_FillValue", WEIR_F32, &missing, 1));
  }
  WEIR_TRY(weir_netcdf_var(m->nc, "significant", WEIR_U8, DIMS, dims, &m->significant));
  WEIR_TRY(weir_netcdf_chunk(m->nc, m->significant, chunk, LEVEL));
  return weir_netcdf_put_text(m->nc, m->significant, "long_name",
                              "1 where p_value is significant with the false discovery rate of "
                              "Benjamini and Hochberg at 2 (1 - eval.bootstrap.confidence)");
}

static weir_status write_names(weir_netcdf *nc, int var, int64_t k, const char *text)
{
  char letters[WX_SHORT] = {0};
  const int64_t start[] = {k, 0}, count[] = {1, WX_SHORT};

  memcpy(letters, text, strnlen(text, WX_SHORT));
  return weir_netcdf_write(nc, var, start, count, letters);
}

/* Names and coordinates; vars: variable, units, lead, model, lat, lon. */
static weir_status write_axes(wx_score_maps *m, const int *var)
{
  const wx_verify *const v = m->v;
  const wx_archive_info *const f = v->data->facts;
  const wx_grid *const g = &f->grid;
  const int64_t zero = 0, lats = g->kind == WX_GRID_SITES ? g->n_lon : g->n_lat;

  for (int64_t k = 0; k < v->n_quantities; k++) {
    WEIR_TRY(write_names(m->nc, var[0], k, f->quantity[v->quantity[k]].name));
    WEIR_TRY(write_names(m->nc, var[1], k, f->quantity[v->quantity[k]].units));
  }
  for (int64_t k = 0; k < v->n_leads; k++) {
    const int64_t one = 1;

    WEIR_TRY(weir_netcdf_write(m->nc, var[2], &k, &one, &f->lead[v->lead[k]]));
  }
  for (int64_t k = 0; k < v->n_models; k++) {
    WEIR_TRY(write_names(m->nc, var[3], k, v->model[k].name));
  }
  if (g->lat != NULL && g->lon != NULL) {
    WEIR_TRY(weir_netcdf_write(m->nc, var[4], &zero, &lats, g->lat));
    WEIR_TRY(weir_netcdf_write(m->nc, var[5], &zero, &g->n_lon, g->lon));
  }
  return WEIR_OK;
}

static weir_status begin(wx_score_maps *m)
{
  const wx_verify *const v = m->v;
  const wx_grid *const g = &v->data->facts->grid;
  const bool sites = g->kind == WX_GRID_SITES, plane = g->kind == WX_GRID_PLANE;
  const char *const name[DIMS] = {"variable", "lead", "model",
                                  plane   ? "y"
                                  : sites ? "row"
                                          : "lat",
                                  plane   ? "x"
                                  : sites ? "site"
                                          : "lon"};
  const int64_t length[DIMS] = {v->n_quantities, v->n_leads, v->n_models, g->n_lat, g->n_lon};
  int dim[DIMS], letters, var[6];

  for (int k = 0; k < DIMS; k++) {
    WEIR_TRY(weir_netcdf_dim(m->nc, name[k], length[k], &dim[k]));
  }
  WEIR_TRY(weir_netcdf_dim(m->nc, "letters", WX_SHORT, &letters));
  WEIR_TRY(
      weir_netcdf_put_text(m->nc, WEIR_NETCDF_FILE, "reference", v->model[v->reference[0]].name));
  WEIR_TRY(put_names(m->nc, "variable_name", dim[0], letters, &var[0]));
  WEIR_TRY(put_names(m->nc, "variable_units", dim[0], letters, &var[1]));
  WEIR_TRY(define_axis(m, "lead", "forecast_period", "hours", 1, &dim[1], &var[2]));
  WEIR_TRY(put_names(m->nc, "model_name", dim[2], letters, &var[3]));
  if (g->lat != NULL && g->lon != NULL) {
    WEIR_TRY(define_axis(m, plane ? "y" : "lat", plane ? "projection_y_coordinate" : "latitude",
                         g->units[0], 1, sites ? &dim[4] : &dim[3], &var[4]));
    WEIR_TRY(define_axis(m, plane ? "x" : "lon", plane ? "projection_x_coordinate" : "longitude",
                         g->units[1], 1, &dim[4], &var[5]));
  }
  WEIR_TRY(define_fields(m, dim, length));
  return write_axes(m, var);
}

weir_status wx_score_maps_create(const char *path, const wx_verify *v, wx_score_maps **out)
{
  wx_score_maps *m = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *m, (void **)&m));
  m->v = v;
  WEIR_TRY_GOTO(weir_alloc(v->data->cells, sizeof *m->map, (void **)&m->map), done);
  WEIR_TRY_GOTO(weir_alloc(v->data->cells, sizeof *m->field, (void **)&m->field), done);
  WEIR_TRY_GOTO(weir_alloc(v->data->cells, sizeof *m->mark, (void **)&m->mark), done);
  WEIR_TRY_GOTO(weir_netcdf_create_cf(path, "weather_ensemble: scores of grid points", &m->nc),
                done);
  WEIR_TRY_GOTO(begin(m), done);
  *out = m;
done:
  if (status != WEIR_OK) {
    wx_score_maps_abandon(&m);
  }
  return status;
}

static int64_t index_of(const int64_t *list, int64_t n, int64_t what)
{
  for (int64_t k = 0; k < n; k++) {
    if (list[k] == what) {
      return k;
    }
  }
  return 0;
}

static weir_status add_model(wx_score_maps *m, int64_t *start, const int64_t *count)
{
  const wx_verify *const v = m->v;
  const int64_t cells = v->data->cells;
  int64_t n;

  for (int k = 0; k < WX_SCORE_MAPS; k++) {
    wx_score_map_get(v, start[2], k, m->map);
    for (int64_t i = 0; i < cells; i++) {
      m->field[i] = (float)m->map[i];
    }
    WEIR_TRY(weir_netcdf_write(m->nc, m->var[k], start, count, m->field));
  }
  wx_score_map_get(v, start[2], WX_SCORE_MAP_P, m->map);
  WEIR_TRY(wx_false_discovery(m->map, cells, 2 * (1 - v->opts->bootstrap.confidence), m->mark, &n));
  return weir_netcdf_write(m->nc, m->significant, start, count, m->mark);
}

weir_status wx_score_maps_add(wx_score_maps *m)
{
  const wx_verify *const v = m->v;
  const wx_grid *const g = &v->data->facts->grid;
  const int64_t count[DIMS] = {1, 1, 1, g->n_lat, g->n_lon};

  for (int64_t k = 0; k < v->n_models; k++) {
    int64_t start[DIMS] = {index_of(v->quantity, v->n_quantities, v->at_quantity),
                           index_of(v->lead, v->n_leads, v->at_lead), k};

    if (!v->model[k].absent) {
      WEIR_TRY(add_model(m, start, count));
    }
  }
  return WEIR_OK;
}

weir_status wx_score_maps_commit(wx_score_maps **m)
{
  const weir_status status = weir_netcdf_commit(&(*m)->nc);

  wx_score_maps_abandon(m);
  return status;
}

void wx_score_maps_abandon(wx_score_maps **m)
{
  if (*m == NULL) {
    return;
  }
  weir_netcdf_close(&(*m)->nc);
  weir_free(&(*m)->map);
  weir_free(&(*m)->field);
  weir_free(&(*m)->mark);
  weir_free(m);
}
