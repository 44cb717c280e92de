/* regrid.c - see regrid.h. */
#include "data/regrid/regrid.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "data/regrid/regrid_priv.h"

const weir_opt wx_target_options[] = {
    WEIR_OPT_REAL(
        wx_target_opts, spacing, 0, 0, 90, "degrees",
        "prepare regrids forecasts and truth to rows and columns so far apart; 0: to none"),
    WEIR_OPT_REAL_LIST(wx_target_opts, area, "", -360, 360, "degrees",
                       "north, west, south, east of that grid; empty: the globe, with both poles"),
    WEIR_OPT_PATH(wx_target_opts, file, "",
                  "instead of spacing: a file of an archive on the grid to regrid to, or of "
                  "observations at stations"),
    WEIR_OPT_END,
};

const weir_opt wx_regrid_options[] = {
    WEIR_OPT_ENUM(wx_regrid_opts, method, WX_REGRID_BILINEAR, WX_REGRID_CHOICES,
                  "bilinear: between the cells around a target; nearest: the nearest cell; "
                  "conservative: the mean over its area; weights: those of a file"),
    WEIR_OPT_PATH(
        wx_regrid_opts, weights, "",
        "file of weights of another program (ESMF or SCRIP, NetCDF), from the grid of the "
        "files that are not on the target grid"),
    WEIR_OPT_REAL(wx_regrid_opts, missing, 0, 0, 1, "1",
                  "greatest share of the weights of a target whose sources may be missing: it is "
                  "the mean of those that are there; beyond it the target is missing"),
    WEIR_OPT_END,
};

bool wx_target_is_set(const wx_target_opts *opts)
{
  return opts->spacing > 0 || opts->file[0] != 0;
}

/* How often spacing fits between two ends; -1: not to a thousandth. */
static int64_t count(double extent, double spacing)
{
  const double n = extent / spacing;

  return n >= 0 && n < WX_MAX_LINE && fabs(n - round(n)) < 1e-3 ? (int64_t)round(n) : -1;
}

weir_status wx_target_make(const wx_target_opts *opts, wx_grid *out, double **lat)
{
  static const double globe[] = {90, 0, -90, 360};
  const double *const area = opts->area.count > 0 ? opts->area.items : globe;
  const double s = opts->spacing;

  *lat = NULL;
  if (opts->area.count != 0 && opts->area.count != 4) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "import.grid.area has %d numbers: give north, west, south and east",
                     (int)opts->area.count);
  }
  const double width = area[3] - area[1];
  const int64_t rows = count(area[0] - area[2], s), columns = count(width, s);

  if (rows < 0 || columns < 0 || area[0] > 90 || area[2] < -90 || width > 360) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "import.grid: %g degrees do not divide %g to %g N, %g to %g E, or this is no "
                     "area: choose a spacing that does, or another import.grid.area",
                     s, area[2], area[0], area[1], area[3]);
  }
  const bool globe_round = fabs(width - 360) < 1e-3 * s;
  wx_grid g = {.kind = WX_GRID_LATLON,
               .n_lat = rows + 1,
               .n_lon = columns + !globe_round,
               .units = {"degrees_north", "degrees_east"}};
  wx_grid_order order;

  WEIR_TRY(weir_alloc(g.n_lat + g.n_lon, sizeof **lat, (void **)lat));
  double *const lon = *lat + g.n_lat;

  for (int64_t j = 0; j < g.n_lat; j++) {
    (*lat)[j] = j == rows ? area[2] : area[0] - (double)j * s;
  }
  for (int64_t i = 0; i < g.n_lon; i++) {
    lon[i] = area[1] + (double)i * s;
  }
  const char *const reason = wx_grid_arrange(&g, *lat, lon, &order);

  g.lat = *lat;
  g.lon = lon;
  *out = g;
  if (reason != NULL) {
    weir_free(lat);
    return weir_fail(WEIR_ERR_CONFIG, "import.grid: %s", reason);
  }
  return WEIR_OK;
}

weir_status wx_regrid_make(const wx_regrid_opts *opts, const wx_grid *from, const wx_grid *to,
                           wx_weights *out)
{
  wx_rows rows = {.n = 0};
  weir_status status = WEIR_OK;

  *out = (wx_weights){.n = 0};
  const bool sites = to->kind == WX_GRID_SITES && to->lat != NULL && to->lon != NULL;

  if (to->kind != WX_GRID_LATLON && !sites) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "import.grid.file: it has neither a grid of latitudes and longitudes nor "
                     "stations with both");
  }
  if (sites && opts->method != WX_REGRID_BILINEAR && opts->method != WX_REGRID_NEAREST) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "import.regrid.method: stations are points: take bilinear or nearest");
  }
  if ((opts->method == WX_REGRID_FILE) != (opts->weights[0] != 0)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "import.regrid: method weights and the file import.regrid.weights belong "
                     "together: set both or neither");
  }
  WEIR_TRY_GOTO(wx_rows_make(from, &rows), done);
  WEIR_TRY_GOTO(wx_weights_start(wx_grid_cells(from), wx_grid_cells(to), out), done);
  switch (opts->method) {
  case WX_REGRID_BILINEAR:
    status = wx_regrid_bilinear(&rows, to, out);
    break;
  case WX_REGRID_NEAREST:
    status = wx_regrid_nearest(&rows, to, out);
    break;
  case WX_REGRID_CONSERVATIVE:
    status = wx_regrid_conservative(&rows, to, out);
    break;
  default:
    status = wx_regrid_file(opts->weights, &rows, to, out);
  }
done:
  wx_rows_fini(&rows);
  return status;
}
