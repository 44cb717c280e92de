/* qg_ensemble_fields.c - fields of what an ensemble has computed, and observations at stations. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/simulation/qg_ensemble_priv.h"

enum { SECONDS_AN_HOUR = 3600 };

weir_status wx_qg_ensemble_field(wx_qg_ensemble *e, int64_t start, int64_t lead, int64_t quantity,
                                 int64_t member, float *out)
{
  const int64_t i = start - e->ready.first, leads = e->forecasts.n_leads;

  WEIR_ASSERT(i >= 0 && i < e->ready.n);
  WEIR_TRY(wx_qg_field(
      e->model, e->truth, &e->scale, e->workspace, e->fields,
      qg_state_at(e, e->ready.states, (i * leads + lead) * e->forecasts.n_members + member),
      e->kinds[quantity], out));
  if (quantity == e->surfaces.quantity) {
    const double hours = e->forecasts.lead[lead];

    wx_surface_add(&e->surfaces.model, e->forecasts.start[start] + llround(hours * SECONDS_AN_HOUR),
                   out);
  }
  return WEIR_OK;
}

/* Without what the surface adds. */
static weir_status true_field(wx_qg_ensemble *e, int64_t time, int64_t quantity, float *out)
{
  WEIR_ASSERT(time >= 0 && time < e->true_facts.n_init_times);
  return wx_qg_field(e->truth, e->truth, &e->scale, e->workspace, e->true_fields,
                     qg_state_at(e, e->kept, time), e->kinds[quantity], out);
}

weir_status wx_qg_ensemble_true_field(wx_qg_ensemble *e, int64_t time, int64_t quantity, float *out)
{
  WEIR_TRY(true_field(e, time, quantity, out));
  if (quantity == e->surfaces.quantity) {
    wx_surface_add(&e->surfaces.truth, e->true_facts.start[time], out);
  }
  return WEIR_OK;
}

const wx_surface *wx_qg_ensemble_surface(const wx_qg_ensemble *e)
{
  return e->surfaces.quantity >= 0 ? &e->surfaces.model : NULL;
}

const wx_archive_info *wx_qg_ensemble_stations(const wx_qg_ensemble *e)
{
  return e->surfaces.stations.n > 0 ? &e->surfaces.facts : NULL;
}

weir_status wx_qg_ensemble_observe(wx_qg_ensemble *e, int64_t time, float *out)
{
  const qg_surfaces *const s = &e->surfaces;

  WEIR_TRY(true_field(e, time, s->quantity, s->reduced));
  wx_surface_interpolate(wx_qg_get(e->truth), s->reduced, s->station_lat, s->station_lon,
                         s->stations.n, out);
  wx_surface_add(&s->stations, e->true_facts.start[time], out);
  wx_surface_observe(&e->o->surface, e->seed, time, s->stations.n, out);
  return WEIR_OK;
}

/* ---- creation ---- */

weir_status qg_surfaces_check(const wx_qg_opts *o)
{
  for (int64_t q = 0; q < o->quantities.count; q++) {
    if (strcmp(o->quantities.items[q], "2t") == 0) {
      return WEIR_OK;
    }
  }
  return o->surface.stations.count == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "simulate.surface.stations.count: stations observe 2t, which "
                         "simulate.quantities does not name: add it");
}

/* Height and land of n points. */
static weir_status make_heights(const wx_qg_ensemble *e, const wx_qg *m, wx_surface *s)
{
  const wx_qg_params *const p = wx_qg_get(m);

  WEIR_TRY(weir_alloc(s->n, sizeof *s->height, (void **)&s->height));
  WEIR_TRY(weir_alloc(s->n, sizeof *s->land, (void **)&s->land));
  for (int64_t i = 0; i < s->n; i++) {
    s->height[i] =
        wx_surface_height(p, &e->scale, s->lon[i] / 360 * p->lx, (s->lat[i] - 45) / 80 * p->ly);
    s->land[i] = wx_surface_land(&e->o->surface, s->height[i]);
  }
  return WEIR_OK;
}

static weir_status make_stations(wx_qg_ensemble *e, const wx_surface *like)
{
  qg_surfaces *const s = &e->surfaces;
  const int64_t n = e->o->surface.stations.count;

  s->stations = *like;
  s->stations.height = s->stations.land = NULL;
  s->stations.n = n;
  WEIR_TRY(weir_alloc(wx_grid_cells(&e->forecasts.grid), sizeof *s->reduced, (void **)&s->reduced));
  WEIR_TRY(weir_alloc(n, sizeof *s->station_lat, (void **)&s->station_lat));
  WEIR_TRY(weir_alloc(n, sizeof *s->station_lon, (void **)&s->station_lon));
  s->stations.lat = s->station_lat;
  s->stations.lon = s->station_lon;
  WEIR_TRY(weir_alloc(n, sizeof *s->stations.height, (void **)&s->stations.height));
  WEIR_TRY(weir_alloc(n, sizeof *s->stations.land, (void **)&s->stations.land));
  WEIR_TRY(wx_surface_stations(&e->o->surface, wx_qg_get(e->truth), &e->scale, e->seed,
                               s->station_lat, s->station_lon, s->stations.height));
  for (int64_t i = 0; i < n; i++) {
    s->stations.land[i] = 1;
  }
  s->only = e->forecasts.quantity[s->quantity];
  s->facts = e->true_facts;
  s->facts.name = "simulated observations";
  s->facts.quantity = &s->only;
  s->facts.n_quantities = 1;
  s->facts.grid = (wx_grid){.kind = WX_GRID_SITES,
                            .n_lat = 1,
                            .n_lon = n,
                            .lat = s->station_lat,
                            .lon = s->station_lon,
                            .height = s->stations.height,
                            .units = {"degrees_north", "degrees_east"}};
  return WEIR_OK;
}

weir_status qg_surfaces_make(wx_qg_ensemble *e)
{
  const wx_surface_opts *const o = &e->o->surface;
  const wx_grid *const g = &e->forecasts.grid;
  const bool perfect = e->o->forecast.preset == WX_QG_PERFECT;
  const double km = 1e3;
  qg_surfaces *const s = &e->surfaces;

  s->quantity = -1;
  for (int64_t q = 0; q < e->forecasts.n_quantities; q++) {
    s->quantity = wx_qg_quantity_is_surface(e->kinds[q]) ? q : s->quantity;
  }
  WEIR_TRY(qg_surfaces_check(e->o));
  if (s->quantity < 0) {
    return WEIR_OK;
  }
  const int64_t cells = wx_grid_cells(g);

  WEIR_TRY(weir_alloc(cells, sizeof *s->lat, (void **)&s->lat));
  WEIR_TRY(weir_alloc(cells, sizeof *s->lon, (void **)&s->lon));
  for (int64_t i = 0; i < cells; i++) {
    wx_grid_place(g, i, &s->lat[i], &s->lon[i]);
  }
  s->truth = (wx_surface){.lapse_rate = o->lapse_rate / km,
                          .lapse_season = o->lapse_season / km,
                          .diurnal_land = o->diurnal_land,
                          .diurnal_sea = o->diurnal_sea,
                          .n = cells,
                          .lat = s->lat,
                          .lon = s->lon};
  s->model = s->truth;
  if (!perfect) {
    s->model.lapse_rate = o->forecast.lapse_rate / km;
    s->model.lapse_season = 0;
    s->model.diurnal_land = o->forecast.diurnal_land;
  }
  WEIR_TRY(make_heights(e, e->truth, &s->truth));
  WEIR_TRY(make_heights(e, e->model, &s->model));
  return o->stations.count > 0 ? make_stations(e, &s->truth) : WEIR_OK;
}

void qg_surfaces_fini(wx_qg_ensemble *e)
{
  qg_surfaces *const s = &e->surfaces;
  wx_surface *const all[] = {&s->model, &s->truth, &s->stations};

  for (int i = 0; i < 3; i++) {
    weir_free(&all[i]->height);
    weir_free(&all[i]->land);
  }
  weir_free(&s->lat);
  weir_free(&s->lon);
  weir_free(&s->station_lat);
  weir_free(&s->station_lon);
  weir_free(&s->reduced);
}
