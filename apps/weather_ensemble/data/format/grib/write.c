/* write.c - an archive as GRIB edition 2: a message for every field, made of one of the
 * archive that it is like, so that centre, model and time range stay. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/archive/archive.h"
#include "data/archive/archive_cube.h"
#include "data/format/grib/grib.h"

enum { MEMBER_BITS = 16, STATISTIC_BITS = 24, CORRECTED = 11 /* table 4.3 */ };

typedef struct writer {
  weir_grib_writer *out;
  const wx_archive_info *facts;
  wx_archive_out how;
  weir_grib_grid grid;
  char *path;
} writer;

static void abandon(void **state)
{
  writer *w = *state;

  if (w == NULL) {
    return;
  }
  weir_grib_abandon(&w->out);
  weir_free(&w->path);
  weir_free(state);
}

static weir_status create(const char *path, const wx_archive_info *facts, const wx_archive_out *how,
                          void **state)
{
  const wx_grid *g = &facts->grid;
  writer *w = NULL;
  weir_status status = WEIR_OK;

  if (g->kind != WX_GRID_LATLON) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: GRIB is written of grids of latitudes and longitudes only: write NetCDF, "
                     "to a name that ends in .nc",
                     path);
  }
  WEIR_TRY(weir_alloc(1, sizeof *w, state));
  w = *state;
  w->facts = facts;
  w->how = *how;
  w->grid = (weir_grib_grid){
      .n_lat = g->n_lat, .n_lon = g->n_lon, .lat = g->lat, .lon = g->lon, .wraps = g->wraps};
  WEIR_TRY_GOTO(weir_strdup(path, &w->path), done);
  WEIR_TRY_GOTO(weir_grib_create(path, &w->out), done);
done:
  if (status != WEIR_OK) {
    abandon(state);
  }
  return status;
}

static weir_status put_text(void *state, const char *name, const char *text)
{
  (void)state;
  (void)name;
  (void)text;
  return WEIR_OK;
}

/* The quantity of the other archive that this one is of, or is a statistic of; -1: none. */
static int64_t origin_of(const wx_archive_info *like, const wx_quantity *q)
{
  for (int64_t k = 0; k < like->n_quantities; k++) {
    const wx_quantity *const from = &like->quantity[k];
    const size_t n = strlen(from->variable);
    const bool same = q->param != 0 ? q->param == from->param
                                    : strncmp(q->variable, from->variable, n) == 0 &&
                                          (q->variable[n] == 0 || q->variable[n] == '_');

    if (same && q->kind == from->kind && fabs(q->level - from->level) < 1e-9) {
      return k;
    }
  }
  return -1;
}

/* A message of the same start, lead and quantity: of the member, else of the first that is there.
 * field -1: none. */
static const weir_grib *find_like(const writer *w, int64_t start, int64_t lead, int64_t quantity,
                                  int64_t member, int64_t *field)
{
  const wx_archive_info *f = w->facts, *like = NULL;
  void *state = NULL;

  *field = -1;
  if (w->how.like == NULL) {
    return NULL;
  }
  like = wx_archive_get(w->how.like);
  const int64_t s = wx_archive_find_start(like, f->start[start]);
  const int64_t l = wx_archive_find_lead(like, f->lead[lead]);
  const int64_t q = origin_of(like, &f->quantity[quantity]);

  for (int pass = 0; pass < 2; pass++) {
    for (int64_t m = 0; m < like->n_members; m++) {
      if (pass == 0 && like->member[m] != f->member[member]) {
        continue;
      }
      if (wx_archive_locate(w->how.like, s, l, q, m, &state, field) == &wx_format_grib) {
        return wx_grib_of(state);
      }
    }
  }
  *field = -1;
  return NULL;
}

/* Whether the fields of a message lie as those that are written. */
static bool same_grid(const writer *w, const weir_grib *like, int64_t field)
{
  const int64_t number = weir_grib_field_get(like, field)->grid;

  if (number < 0) {
    return false;
  }
  const weir_grib_grid *const g = weir_grib_grid_get(like, number);
  const wx_grid one = {
      .kind = WX_GRID_LATLON, .n_lat = g->n_lat, .n_lon = g->n_lon, .lat = g->lat, .lon = g->lon};

  return wx_grid_differs(&one, &w->facts->grid) == NULL;
}

static const char *level_type(const wx_quantity *q)
{
  return q->kind == WX_LEVEL_PRESSURE ? "isobaricInhPa"
         : q->kind == WX_LEVEL_HEIGHT ? "heightAboveGround"
         : q->param == 151            ? "meanSea"
                                      : "surface";
}

static weir_status write_one(writer *w, int64_t start, int64_t lead, int64_t quantity,
                             int64_t member, const float *values)
{
  const wx_archive_info *f = w->facts;
  const wx_quantity *q = &f->quantity[quantity];
  const int64_t step = llround(f->lead[lead] * 3600);
  const double period = wx_archive_period(f, quantity, lead) * 3600;
  int64_t field = -1;
  const weir_grib *const like = find_like(w, start, lead, quantity, member, &field);
  const bool members = q->product == WX_PRODUCT_MEMBER;
  weir_grib_out o = {
      .product = members                         ? WEIR_GRIB_MEMBER
                 : q->product == WX_PRODUCT_MEAN ? WEIR_GRIB_MEAN
                                                 : WEIR_GRIB_SPREAD,
      .like = like,
      .like_field = field,
      .grid = like != NULL && same_grid(w, like, field) ? NULL : &w->grid,
      .start = f->start[start],
      .step_seconds = {isnan(period) ? step : step - llround(period), step},
      .step_type = q->method[0] != 0 ? wx_quantity_step_type(q->method) : "instant",
      .number = f->member[member],
      .n_members = members                ? f->n_members
                   : w->how.n_members > 0 ? w->how.n_members
                   : w->how.like != NULL  ? wx_archive_get(w->how.like)->n_members
                                          : 0,
      .process = w->how.corrected ? CORRECTED : 0,
      .param = q->param,
      .level_type = level_type(q),
      .level = q->level,
      .bits = w->how.bits > 0 ? w->how.bits
              : members       ? MEMBER_BITS
                              : STATISTIC_BITS,
  };

  if (like != NULL) {
    memcpy(o.step_seconds, weir_grib_field_get(like, field)->step_seconds, sizeof o.step_seconds);
  } else if (q->param == 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: %s has no paramId and no message to be like: write NetCDF, to a name "
                     "that ends in .nc",
                     w->path, q->name);
  } else if (q->method[0] != 0 && (isnan(period) || o.step_type == NULL || o.step_seconds[0] < 0)) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: %s at lead %g h: its files do not say what time it covers, or no message "
                     "can: write NetCDF, to a name that ends in .nc",
                     w->path, q->name, f->lead[lead]);
  }
  return weir_grib_write(w->out, &o, values);
}

static weir_status write_members(void *state, int64_t start, int64_t lead, int64_t quantity,
                                 int64_t member, int64_t n, const float *values)
{
  writer *const w = state;
  const int64_t cells = wx_grid_cells(&w->facts->grid);

  for (int64_t m = 0; m < n; m++) {
    WEIR_TRY(write_one(w, start, lead, quantity, member + m, values + m * cells));
  }
  return WEIR_OK;
}

static weir_status finish(void **state, weir_writer **file)
{
  writer *const w = *state;
  const weir_status status = weir_grib_finish(&w->out, file);

  abandon(state);
  return status;
}

const wx_sink wx_sink_grib = {
    .create = create,
    .put_text = put_text,
    .write = write_members,
    .finish = finish,
    .abandon = abandon,
};
