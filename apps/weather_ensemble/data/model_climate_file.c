/* model_climate_file.c - a climate as a NetCDF-4 file, and back. */
#include <string.h>
#include "base/weir_alloc.h"
#include "data/model_climate.h"
#include "io/weir_netcdf.h"

enum { LEVEL = 1, /* of compression */ MOST_DIMS = 5, MOST = 1 << 24 };

/* Dimensions of the file. */
enum { D_LEAD, D_QUANTITY, D_ROW, D_COLUMN, D_START, D_MEMBER, D_PROBABILITY, D_NAME, DIMS };
static const char *const dim_names[DIMS] = {"forecast_period", "quantity", "row",         "column",
                                            "start",           "member",   "probability", "name"};

/* An array of a climate: where it is, and over what. Some need not be there. */
typedef struct array {
  const char *name, *long_name;
  size_t offset; /* in wx_model_climate */
  weir_dtype dtype;
  int n_dims, dims[MOST_DIMS];
  bool optional;
} array;

/* Maps of cells, and of their quantiles. */
#define MAP(field, text, may_lack)                                \
  {                                                               \
#field, text, offsetof(wx_model_climate, field), WEIR_F32, 4, \
        {D_LEAD, D_QUANTITY, D_ROW, D_COLUMN }, may_lack          \
  }
#define MAPS(field, text)                                           \
  {                                                                 \
#field, text, offsetof(wx_model_climate, field), WEIR_F32, 5,   \
        {D_LEAD, D_QUANTITY, D_PROBABILITY, D_ROW, D_COLUMN }, true \
  }
// clang-format off
static const array arrays[] = {
  {"forecast_period", "lead, hours", offsetof(wx_model_climate, lead), WEIR_F64, 1, {D_LEAD}, false},
  {"quantity_name", "names", offsetof(wx_model_climate, name), WEIR_U8, 2, {D_QUANTITY, D_NAME}, false},
  {"start", "initialisation times of the climate", offsetof(wx_model_climate, start), WEIR_I64, 1, {D_START}, false},
  {"member", "members that the quantiles are of", offsetof(wx_model_climate, member), WEIR_I64, 1, {D_MEMBER}, false},
  {"mean", "mean of the grid by area", offsetof(wx_model_climate, mean), WEIR_F64, 2, {D_LEAD, D_QUANTITY}, false},
  {"sd", "standard deviation of the grid by area", offsetof(wx_model_climate, sd), WEIR_F64, 2, {D_LEAD, D_QUANTITY}, false},
  MAP(cell_mean, "mean of a cell", false),
  MAP(cell_sd, "standard deviation of a cell", false),
  MAP(las_mean, "mean of the surroundings", false),
  MAP(las_sd, "standard deviation of the surroundings", false),
  MAP(truth_mean, "mean of the truth of a cell", true),
  MAP(truth_sd, "standard deviation of the truth of a cell", true),
  MAPS(quantile, "quantiles of a cell"),
  MAPS(truth_quantile, "quantiles of the truth of a cell"),
};
// clang-format on
enum { ARRAYS = sizeof arrays / sizeof arrays[0], LISTS = 4 }; /* lists: what numbers are of */

static void *get(const wx_model_climate *c, const array *a)
{
  void *at = NULL;

  memcpy(&at, (const char *)c + a->offset, sizeof at);
  return at;
}

static void lengths_of(const wx_model_climate *c, int64_t *length)
{
  length[D_LEAD] = c->n_leads;
  length[D_QUANTITY] = c->n_quantities;
  length[D_ROW] = c->n_lat;
  length[D_COLUMN] = c->n_lon;
  length[D_START] = c->n_init_times;
  length[D_MEMBER] = c->n_members;
  length[D_PROBABILITY] = c->n_quantiles + 1;
  length[D_NAME] = WX_SHORT;
}

static weir_status define(weir_netcdf *nc, const array *a, const int64_t *length, const int *dim,
                          int *var)
{
  int dims[MOST_DIMS];
  int64_t chunk[MOST_DIMS];

  for (int d = 0; d < a->n_dims; d++) {
    const bool plane = a->dims[d] == D_ROW || a->dims[d] == D_COLUMN;

    dims[d] = dim[a->dims[d]];
    chunk[d] = plane ? length[a->dims[d]] : 1;
  }
  WEIR_TRY(a->dtype == WEIR_U8 ? weir_netcdf_char_var(nc, a->name, a->n_dims, dims, var)
                               : weir_netcdf_var(nc, a->name, a->dtype, a->n_dims, dims, var));
  WEIR_TRY(weir_netcdf_put_text(nc, *var, "long_name", a->long_name));
  return a->n_dims >= 4 ? weir_netcdf_chunk(nc, *var, chunk, LEVEL) : WEIR_OK;
}

static weir_status write_all(const wx_model_climate *c, weir_netcdf *nc)
{
  const int64_t zero[MOST_DIMS] = {0};
  int64_t length[DIMS];
  int dim[DIMS], var[ARRAYS];

  lengths_of(c, length);
  for (int d = 0; d < DIMS; d++) {
    WEIR_TRY(weir_netcdf_dim(nc, dim_names[d], length[d], &dim[d]));
  }
  for (int k = 0; k < ARRAYS; k++) {
    if (get(c, &arrays[k]) != NULL) {
      WEIR_TRY(define(nc, &arrays[k], length, dim, &var[k]));
    }
  }
  for (int k = 0; k < ARRAYS; k++) {
    int64_t count[MOST_DIMS];

    if (get(c, &arrays[k]) == NULL) {
      continue;
    }
    for (int d = 0; d < arrays[k].n_dims; d++) {
      count[d] = length[arrays[k].dims[d]];
    }
    WEIR_TRY(weir_netcdf_write(nc, var[k], zero, count, get(c, &arrays[k])));
  }
  return WEIR_OK;
}

weir_status wx_model_climate_write(const wx_model_climate *c, const char *path)
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_netcdf_create_cf(path, "climate of weather_ensemble", &nc));
  WEIR_TRY_GOTO(write_all(c, nc), done);
  WEIR_TRY_GOTO(weir_netcdf_commit(&nc), done);
done:
  weir_netcdf_close(&nc);
  return status;
}

/* Counts of a climate, from the shapes of its arrays. */
static weir_status take_counts(weir_netcdf *nc, const char *path, wx_model_climate *c)
{
  weir_netcdf_shape fields = {0}, init_times = {0}, members = {0}, quantiles = {0};
  int var = 0;
  const bool good = weir_netcdf_find(nc, "cell_mean", &var, &fields) == WEIR_OK &&
                    weir_netcdf_find(nc, "start", &var, &init_times) == WEIR_OK &&
                    weir_netcdf_find(nc, "member", &var, &members) == WEIR_OK &&
                    fields.n_dims == 4 && init_times.n_dims == 1 && members.n_dims == 1;
  const bool has = weir_netcdf_find(nc, "quantile", &var, &quantiles) == WEIR_OK;

  if (!good || (has && (quantiles.n_dims != 5 || quantiles.lengths[2] < 2))) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: no climate: it lacks cell_mean [lead, quantity, row, column], start or "
                     "member: make it with prepare",
                     path);
  }
  c->n_leads = fields.lengths[0];
  c->n_quantities = fields.lengths[1];
  c->n_lat = fields.lengths[2];
  c->n_lon = fields.lengths[3];
  c->n_init_times = init_times.lengths[0];
  c->n_members = members.lengths[0];
  c->n_quantiles = has ? quantiles.lengths[2] - 1 : 0;
  return WEIR_OK;
}

/* An array, of one lead and quantity where `only` says which, [2]; else of all. */
static weir_status read_array(weir_netcdf *nc, const char *path, const array *a,
                              const int64_t *length, const int64_t *only, wx_model_climate *c)
{
  int64_t from[MOST_DIMS] = {0}, count[MOST_DIMS] = {0};
  weir_netcdf_shape shape = {0};
  void *memory = NULL;
  int64_t n = 1;
  int var = 0;

  if (weir_netcdf_find(nc, a->name, &var, &shape) != WEIR_OK) {
    return a->optional ? WEIR_OK
                       : weir_fail(WEIR_ERR_DATA, "%s: no climate: it lacks %s", path, a->name);
  }
  bool good = !shape.text && weir_netcdf_holds(shape.dtype, a->dtype) && shape.n_dims == a->n_dims;

  for (int d = 0; good && d < a->n_dims; d++) {
    const bool one = only != NULL && a->dims[d] <= D_QUANTITY;

    from[d] = one ? only[a->dims[d]] : 0;
    count[d] = one ? 1 : shape.lengths[d];
    good = shape.lengths[d] == length[a->dims[d]] && shape.lengths[d] > 0 &&
           shape.lengths[d] <= MOST && weir_mul_ok(n, count[d], &n);
  }
  if (!good) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s has not the type or shape that belongs to the others: make "
                     "the file again with prepare",
                     path, a->name);
  }
  WEIR_TRY(weir_alloc(n, weir_dtype_size(a->dtype), &memory));
  memcpy((char *)c + a->offset, &memory, sizeof memory);
  return a->dtype == WEIR_I64 ? weir_netcdf_read_whole(nc, var, &shape, from, count, memory)
                              : weir_netcdf_read(nc, var, from, count, memory);
}

/* Where a quantity at a lead is: its numbers. The lists become those of it alone. */
static weir_status choose(const char *path, const char *name, double lead, wx_model_climate *c,
                          int64_t *only)
{
  const int64_t at = wx_model_climate_find(c, name, lead);

  if (at < 0) {
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: it has no climate of %s at %g h: make one of these forecasts with prepare", path, name,
        lead);
  }
  only[D_LEAD] = at / c->n_quantities;
  only[D_QUANTITY] = at % c->n_quantities;
  c->lead[0] = c->lead[only[D_LEAD]];
  memmove(c->name, c->name + only[D_QUANTITY] * WX_SHORT, WX_SHORT);
  c->n_leads = c->n_quantities = 1;
  return WEIR_OK;
}

weir_status wx_model_climate_read(const char *path, const char *name, double lead,
                                  wx_model_climate *out)
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;
  int64_t length[DIMS], only[2] = {0};

  *out = (wx_model_climate){.n_leads = 0};
  WEIR_TRY(weir_netcdf_open(path, &nc));
  WEIR_TRY_GOTO(take_counts(nc, path, out), done);
  lengths_of(out, length);
  for (int k = 0; k < LISTS; k++) {
    WEIR_TRY_GOTO(read_array(nc, path, &arrays[k], length, NULL, out), done);
  }
  for (int64_t k = 0; k < out->n_quantities; k++) {
    out->name[(k + 1) * WX_SHORT - 1] = 0;
  }
  if (name != NULL) {
    WEIR_TRY_GOTO(choose(path, name, lead, out, only), done);
  }
  for (int k = LISTS; k < ARRAYS; k++) {
    WEIR_TRY_GOTO(read_array(nc, path, &arrays[k], length, name != NULL ? only : NULL, out), done);
  }
done:
  weir_netcdf_close(&nc);
  if (status != WEIR_OK) {
    wx_model_climate_fini(out);
  }
  return status;
}
