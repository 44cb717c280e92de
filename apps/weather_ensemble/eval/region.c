/* region.c - see region.h. */
#include "eval/region.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"

const weir_opt wx_region_options[] = {
    WEIR_OPT_STRING(wx_region, name, "", "in tables"),
    WEIR_OPT_REAL(wx_region, south, -90, -1e12, 1e12, "degrees",
                  "minimum latitude; y on a plane, in its units"),
    WEIR_OPT_REAL(wx_region, north, 90, -1e12, 1e12, "degrees", "largest latitude; y on a plane"),
    WEIR_OPT_REAL(wx_region, west, -180, -1e12, 1e12, "degrees",
                  "longitude where it begins, going east; x on a plane"),
    WEIR_OPT_REAL(wx_region, east, 180, -1e12, 1e12, "degrees",
                  "longitude where it ends; x on a plane"),
    WEIR_OPT_END,
};

static bool is_within(const wx_region *b, const wx_grid *g, double lat, double lon)
{
  const double slack = 1e-6;

  if (lat < b->south - slack || lat > b->north + slack) {
    return false;
  }
  if (g->kind == WX_GRID_PLANE) {
    return lon >= b->west - slack && lon <= b->east + slack;
  }
  if (b->east - b->west >= 360) {
    return true;
  }
  const double width = fmod(fmod(b->east - b->west, 360) + 360, 360);
  const double east = fmod(fmod(lon - b->west + slack, 360) + 360, 360);

  return east <= width + 2 * slack;
}

static weir_status add(wx_regions *r, const wx_region *b, const wx_grid *g)
{
  const int64_t k = r->n;

  r->name[k] = b->name;
  for (int64_t j = 0; j < g->n_lat; j++) {
    for (int64_t i = 0; i < g->n_lon; i++) {
      const double lat = g->lat == NULL ? 0 : g->lat[g->kind == WX_GRID_SITES ? i : j];

      if (is_within(b, g, lat, g->lon == NULL ? 0 : g->lon[i])) {
        r->mask[j * g->n_lon + i] |= (uint64_t)1 << k;
        r->points[k]++;
      }
    }
  }
  if (r->points[k] == 0) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "eval.regions: no point of the grid lies in %s (%g to %g north, %g to %g east)", b->name,
        b->south, b->north, b->west, b->east);
  }
  r->n++;
  return WEIR_OK;
}

weir_status wx_regions_check(const wx_region *box, int64_t n)
{
  if (n >= WX_REGIONS) {
    return weir_fail(WEIR_ERR_CONFIG, "eval.regions: %lld regions, at most %d fit", (long long)n,
                     WX_REGIONS - 1);
  }
  for (int64_t k = 0; k < n; k++) {
    bool own = box[k].name[0] != 0 && strcmp(box[k].name, "all") != 0;

    for (int64_t i = 0; i < k; i++) {
      own = own && strcmp(box[i].name, box[k].name) != 0;
    }
    if (!own) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "eval.regions: a region needs a name that no other has ('%s'; 'all' is the "
                       "whole grid)",
                       box[k].name);
    }
  }
  return WEIR_OK;
}

weir_status wx_regions_create(const wx_region *box, int64_t n, const wx_grid *grid, wx_regions *out)
{
  const int64_t cells = grid->n_lat * grid->n_lon;
  weir_status status = WEIR_OK;

  *out = (wx_regions){.n = 1, .name = {"all"}, .points = {cells}};
  WEIR_TRY(wx_regions_check(box, n));
  WEIR_TRY(weir_alloc(cells, sizeof *out->mask, (void **)&out->mask));
  for (int64_t i = 0; i < cells; i++) {
    out->mask[i] = 1;
  }
  for (int64_t k = 0; k < n; k++) {
    WEIR_TRY_GOTO(add(out, &box[k], grid), done);
  }
done:
  if (status != WEIR_OK) {
    wx_regions_fini(out);
  }
  return status;
}

void wx_regions_fini(wx_regions *r)
{
  weir_free(&r->mask);
}
