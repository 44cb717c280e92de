/* invariants.c - see invariants.h. */
#include "data/invariants.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"

const char *const wx_invariant_name[WX_INVARIANTS] = {"orography", "land_sea_mask"};

#define GRAVITY 9.80665 /* m s-2, CGPM 1901 */

/* What a quantity of the tables is, and its units and range: from below the Dead Sea to above
 * Mount Everest; a mask may be beyond 0 and 1 by the error of packing. */
static const struct {
  const char *variable, *units;
  wx_invariant is;
  double scale, min, max;
} known[] = {
    {"z", "m2 s-2", WX_OROGRAPHY, 1 / GRAVITY, -1000, 9000},
    {"gh", "m", WX_OROGRAPHY, 1, -1000, 9000},
    {"orog", "m", WX_OROGRAPHY, 1, -1000, 9000},
    {"lsm", "1", WX_LAND_SEA_MASK, 1, -1e-3, 1 + 1e-3},
};
enum { N_KNOWN = sizeof known / sizeof known[0] };

static weir_status refuse_units(const wx_archive_info *f, const wx_quantity *q)
{
  return weir_fail(WEIR_ERR_DATA,
                   "data.invariants: %s: %s is in '%s': a height of the surface is in m, its "
                   "geopotential in m2 s-2, a land-sea mask in 1: set its attribute 'units'",
                   f->name, q->name, q->units);
}

/* The row of a quantity, -1: it is none of them. */
static weir_status find_row(const wx_archive_info *f, const wx_quantity *q, int *row)
{
  static const char *const names[] = {"orog", "orography",     "surface_altitude", "z",
                                      "lsm",  "land_sea_mask", "HGT_surface"};

  *row = -1;
  for (int k = 0; k < N_KNOWN && q->kind == WX_LEVEL_SURFACE; k++) {
    if (strcmp(q->variable, known[k].variable) == 0 &&
        wx_quantity_same_units(q->units, known[k].units)) {
      *row = k;
      return WEIR_OK;
    }
  }
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    if (q->kind == WX_LEVEL_SURFACE && strcmp(q->variable, names[k]) == 0) {
      return refuse_units(f, q);
    }
  }
  return WEIR_OK;
}

/* Values as they are given; those of another time have to be the same. */
static weir_status check_values(const wx_archive_info *f, const wx_quantity *q, int row,
                                const float *x, const float *before, int64_t cells)
{
  for (int64_t i = 0; i < cells; i++) {
    const double v = (double)x[i] * known[row].scale;

    if (isnan(x[i])) {
      return weir_fail(WEIR_ERR_DATA,
                       "data.invariants: %s: %s has no value at cell %lld (from 0) of the grid of "
                       "the forecasts: fill it in, or give a file that covers that grid",
                       f->name, q->name, (long long)i);
    }
    if (!(v >= known[row].min && v <= known[row].max)) {
      return weir_fail(WEIR_ERR_DATA,
                       "data.invariants: %s: %s is %g %s at cell %lld (from 0), %s: correct its "
                       "units or values",
                       f->name, q->name, (double)x[i], q->units, (long long)i,
                       known[row].is == WX_OROGRAPHY ? "which is no height of the surface"
                                                     : "which is no share of land");
    }
    if (before != NULL && before[i] != (float)v) {
      return weir_fail(WEIR_ERR_DATA,
                       "data.invariants: %s: %s changes with time: give a file of one time",
                       f->name, q->name);
    }
  }
  return WEIR_OK;
}

/* All fields of a quantity, which are of any times. */
static weir_status take_quantity(wx_archive *a, int64_t quantity, int row, float *x,
                                 wx_invariants *out)
{
  const wx_archive_info *const f = wx_archive_get(a);
  const wx_quantity *const q = &f->quantity[quantity];
  float **const to = &out->field[known[row].is];
  bool first = true;

  if (*to != NULL) {
    return weir_fail(WEIR_ERR_DATA,
                     "data.invariants: %s: %s is the %s, and so is another field: leave one out",
                     f->name, q->name, wx_invariant_name[known[row].is]);
  }
  WEIR_TRY(weir_alloc(out->cells, sizeof **to, (void **)to));
  for (int64_t i = 0; i < f->n_init_times * f->n_leads * f->n_members; i++) {
    const int64_t member = i % f->n_members, lead = i / f->n_members % f->n_leads;
    const int64_t start = i / f->n_members / f->n_leads;

    if (!wx_archive_has(a, start, lead, quantity, member)) {
      continue;
    }
    WEIR_TRY(wx_archive_read(a, start, lead, quantity, member, 1, x));
    WEIR_TRY(check_values(f, q, row, x, first ? NULL : *to, out->cells));
    for (int64_t c = 0; c < out->cells; c++) {
      const double v = (double)x[c] * known[row].scale;

      (*to)[c] = (float)(known[row].is == WX_LAND_SEA_MASK ? fmin(fmax(v, 0), 1) : v);
    }
    first = false;
  }
  return WEIR_OK;
}

static weir_status bring_to(wx_archive *a, const wx_grid *to, const wx_regrid_opts *regrid)
{
  const wx_archive_info *const f = wx_archive_get(a);
  const char *const reason = wx_grid_differs(&f->grid, to);
  char one[WX_LONG], other[WX_LONG];
  wx_weights weights = {.n = 0};
  weir_status status = WEIR_OK;

  if (reason == NULL) {
    return WEIR_OK;
  }
  if (regrid == NULL) {
    wx_grid_text(&f->grid, one, sizeof one);
    wx_grid_text(to, other, sizeof other);
    return weir_fail(WEIR_ERR_DATA,
                     "data.invariants: %s (%s) is not on the grid of the forecasts (%s): %s; "
                     "give the surface of the forecast model, on its grid, or the invariants.nc "
                     "that prepare writes beside forecast.nc",
                     f->name, one, other, reason);
  }
  WEIR_TRY_GOTO(wx_regrid_make(regrid, &f->grid, to, &weights), done);
  WEIR_TRY_GOTO(wx_archive_regrid(a, to, regrid->missing, &weights), done);
done:
  wx_weights_fini(&weights);
  return status;
}

weir_status wx_invariants_read(const weir_string_list *files, const wx_archive_in *how,
                               const wx_grid *to, const wx_regrid_opts *regrid, wx_invariants *out)
{
  wx_archive_in own = *how;
  wx_archive *a = NULL;
  float *x = NULL;
  weir_status status = WEIR_OK;

  *out = (wx_invariants){.cells = wx_grid_cells(to)};
  own.invariant = true;
  own.regrid = true; /* such a grid is told apart below */
  WEIR_TRY_GOTO(wx_archive_open_as(files->items, (int)files->count, &own, &a), done);
  WEIR_TRY_GOTO(bring_to(a, to, regrid), done);
  WEIR_TRY_GOTO(weir_alloc(out->cells, sizeof *x, (void **)&x), done);
  for (int64_t q = 0; q < wx_archive_get(a)->n_quantities; q++) {
    int row = -1;

    WEIR_TRY_GOTO(find_row(wx_archive_get(a), &wx_archive_get(a)->quantity[q], &row), done);
    if (row >= 0) {
      WEIR_TRY_GOTO(take_quantity(a, q, row, x, out), done);
    }
  }
  if (out->field[WX_OROGRAPHY] == NULL && out->field[WX_LAND_SEA_MASK] == NULL) {
    status = weir_fail(WEIR_ERR_DATA,
                       "data.invariants: %s: no field is the height or the geopotential of the "
                       "surface (orog, z), or the land-sea mask (lsm)",
                       wx_archive_get(a)->name);
  }
done:
  weir_free(&x);
  wx_archive_close(&a);
  return status;
}

void wx_invariants_fini(wx_invariants *v)
{
  for (int k = 0; k < WX_INVARIANTS; k++) {
    weir_free(&v->field[k]);
  }
}

weir_status wx_invariants_write(const wx_invariants *v, const wx_archive_info *like,
                                const char *history, const char *path)
{
  static const double zero = 0;
  static const int64_t only = 0;
  wx_quantity quantity[WX_INVARIANTS] = {{.variable = "orog", .units = "m"},
                                         {.variable = "lsm", .units = "1"}};
  wx_archive_info f = {.name = path,
                       .n_init_times = 1,
                       .n_leads = 1,
                       .n_members = 1,
                       .start = like->start,
                       .lead = &zero,
                       .member = &only,
                       .quantity = quantity,
                       .grid = like->grid};
  const float *field[WX_INVARIANTS] = {NULL};
  wx_archive_writer *w = NULL;
  weir_status status = WEIR_OK;

  for (int k = 0; k < WX_INVARIANTS; k++) {
    if (v->field[k] != NULL) {
      wx_quantity_complete(&quantity[k]);
      field[f.n_quantities] = v->field[k];
      quantity[f.n_quantities++] = quantity[k];
    }
  }
  WEIR_TRY(wx_archive_create(path, &f, &w));
  WEIR_TRY_GOTO(wx_archive_put_text(w, "history", history), done);
  for (int64_t q = 0; q < f.n_quantities; q++) {
    WEIR_TRY_GOTO(wx_archive_write(w, 0, 0, q, 0, 1, field[q]), done);
  }
  WEIR_TRY_GOTO(wx_archive_commit(&w), done);
done:
  wx_archive_abandon(&w);
  return status;
}
