/* samples_plain.c - channels that go to the network as they are: where and when a cell is, and
 * what the surface is there. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/date.h"
#include "data/samples/samples_priv.h"

#define LEAD_UNIT 240.0    /* hours: the channel of the lead time is lead / 240 */
#define HEIGHT_UNIT 1000.0 /* m */
#define TURN 6.28318530717958647692
#define RADIANS (TURN / 360)

weir_status wx_samples_channel(wx_samples *s, wx_side side, const char *name, const char *units,
                               int64_t *number)
{
  int64_t *n = &s->facts.n_channels[side];

  if (*n == WX_CHANNELS) {
    return weir_fail(WEIR_ERR_CONFIG, "data: there are more than %d channels: take fewer inputs",
                     WX_CHANNELS);
  }
  wx_channel *c = &s->channel[side][*n];

  *c = (wx_channel){.unstated = units[0] == 0};
  (void)snprintf(c->name, sizeof c->name, "%s", name);
  (void)snprintf(c->units, sizeof c->units, "%s", units[0] != 0 ? units : "1");
  *number = (*n)++;
  return WEIR_OK;
}

/* ---- Which there are ---- */

static weir_status add(wx_samples *s, bool wanted, const char *const *name, int n)
{
  for (int k = 0; k < n && wanted; k++) {
    int64_t channel = 0;

    WEIR_TRY(wx_samples_channel(s, WX_X, name[k], "1", &channel));
    s->channel[WX_X][channel].plain = true;
  }
  return WEIR_OK;
}

/* The fields that channels are made of; a placeholder archive (describe without files) has 0. */
static weir_status take_invariants(wx_samples *s)
{
  const wx_data_opts *const o = s->opts;
  const wx_archive_info *const f = wx_archive_get(s->forecast);
  const bool wanted[WX_INVARIANTS] = {o->orography, o->land_sea_mask};

  for (int k = 0; k < WX_INVARIANTS; k++) {
    if (!wanted[k] || s->invariants.field[k] != NULL) {
      continue;
    }
    if (o->invariants.count == 0 && f->n_files > 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "data.invariants: no file is given, and data.%s needs the %s: give the file "
                       "of the surface of the forecast model",
                       wx_invariant_name[k], wx_invariant_name[k]);
    }
    if (o->invariants.count == 0) {
      WEIR_TRY(
          weir_alloc(s->plane, sizeof *s->invariants.field[k], (void **)&s->invariants.field[k]));
      continue;
    }
    wx_invariants_fini(&s->invariants);
    WEIR_TRY(wx_invariants_read(&o->invariants, &o->grib, &f->grid, NULL, &s->invariants));
    if (s->invariants.field[k] == NULL) {
      return weir_fail(WEIR_ERR_DATA,
                       "data.invariants: %s: has no %s, which data.%s needs: give a file that has",
                       o->invariants.items[0], wx_invariant_name[k], wx_invariant_name[k]);
    }
  }
  return WEIR_OK;
}

static weir_status check_altitude(const wx_samples *s, const wx_grid *g)
{
  if (!s->opts->altitude) {
    return WEIR_OK;
  }
  if (g->height == NULL) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "data.altitude: %s has no stations with an altitude in m: prepare, with "
                     "import.grid.file, brings forecasts to stations",
                     s->facts.name);
  }
  for (int64_t i = 0; i < g->n_lon; i++) {
    if (isnan(g->height[i])) {
      return weir_fail(WEIR_ERR_DATA,
                       "data.altitude: %s: station %lld (from 0), at %g N, %g E, has no altitude: "
                       "fill it in, or leave the station out",
                       s->facts.name, (long long)i, g->lat[i], g->lon[i]);
    }
  }
  return WEIR_OK;
}

weir_status wx_samples_plan_plain(wx_samples *s)
{
  static const char *const sphere[] = {"sin lat", "cos lat sin lon", "cos lat cos lon"};
  static const char *const plane[] = {"y", "sin x", "cos x"};
  static const char *const lead[] = {"lead / 240 h"}, *const height[] = {"orography / 1000 m"};
  static const char *const land[] = {"land-sea mask"}, *const above[] = {"altitude / 1000 m"};
  static const char *const day[] = {"sin day of year", "cos day of year"};
  static const char *const hour[] = {"sin local time", "cos local time"};
  const wx_data_opts *const o = s->opts;
  const wx_grid *const g = &wx_archive_get(s->forecast)->grid;
  const bool flat = g->kind == WX_GRID_PLANE;

  if ((o->position && g->lon == NULL) || (o->local_time && (flat || g->lon == NULL))) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "data.%s: %s does not say by latitudes and longitudes where its cells are",
                     o->position && g->lon == NULL ? "position" : "local_time", s->facts.name);
  }
  WEIR_TRY(check_altitude(s, g));
  s->plain = s->facts.n_channels[WX_X];
  WEIR_TRY(take_invariants(s));
  WEIR_TRY(add(s, o->position, flat ? plane : sphere, 3));
  WEIR_TRY(add(s, o->lead_time, lead, 1));
  WEIR_TRY(add(s, o->orography, height, 1));
  WEIR_TRY(add(s, o->land_sea_mask, land, 1));
  WEIR_TRY(add(s, o->altitude, above, 1));
  WEIR_TRY(add(s, o->day_of_year, day, 2));
  return add(s, o->local_time, hour, 2);
}

/* ---- Their values ---- */

static float *put_position(const wx_samples *s, float *to)
{
  const wx_grid *const g = &wx_archive_get(s->forecast)->grid;
  const int64_t cells = s->facts.cells;
  const bool flat = g->kind == WX_GRID_PLANE;

  for (int64_t i = 0; i < cells; i++) {
    const int64_t column = i % g->n_lon, row = i % s->plane / g->n_lon;
    const double lat = RADIANS * g->lat[g->kind == WX_GRID_SITES ? column : row];
    const double lon = RADIANS * g->lon[column];
    const double angle = TURN * (double)column / (double)g->n_lon;

    to[i] = (float)(flat ? 2 * ((double)row + 0.5) / (double)g->n_lat - 1 : sin(lat));
    to[cells + i] = (float)(flat ? sin(angle) : cos(lat) * sin(lon));
    to[2 * cells + i] = (float)(flat ? cos(angle) : cos(lat) * cos(lon));
  }
  return to + 3 * cells;
}

static float *put_field(const wx_samples *s, const float *field, double unit, float *to)
{
  for (int64_t i = 0; i < s->facts.cells; i++) {
    to[i] = (float)((double)field[i % s->plane] / unit);
  }
  return to + s->facts.cells;
}

/* Hours from the start of cell i; with a depth of leads each has its own. */
static double lead_of(const wx_samples *s, int64_t sample, int64_t i)
{
  const wx_archive_info *const f = wx_archive_get(s->forecast);

  return f->lead[s->opts->depth == WX_DEPTH_LEAD ? s->lead[i / s->plane] : s->of_lead[sample]];
}

/* Angles, a turn a year or a day, of the valid time: of the calendar year; of the day of the mean
 * sun, which is as much later as longitudes are east, 15 degrees an hour. */
static float *put_angles(const wx_samples *s, int64_t sample, bool of_day, float *to)
{
  const wx_grid *const g = &wx_archive_get(s->forecast)->grid;
  const int64_t cells = s->facts.cells;

  for (int64_t i = 0; i < cells; i++) {
    const double time = s->start[sample] + lead_of(s, sample, i) / 24;
    const double angle = TURN * (of_day ? time - floor(time) + g->lon[i % g->n_lon] / 360
                                        : wx_date_year_share(time));

    to[i] = (float)sin(angle);
    to[cells + i] = (float)cos(angle);
  }
  return to + 2 * cells;
}

void wx_samples_plain(const wx_samples *s, int64_t sample, float *x)
{
  const wx_data_opts *const o = s->opts;
  float *to = x + s->plain * s->facts.cells;

  if (o->position) {
    to = put_position(s, to);
  }
  for (int64_t i = 0; i < s->facts.cells && o->lead_time; i++) {
    to[i] = (float)(lead_of(s, sample, i) / LEAD_UNIT);
  }
  to += o->lead_time ? s->facts.cells : 0;
  if (o->orography) {
    to = put_field(s, s->invariants.field[WX_OROGRAPHY], HEIGHT_UNIT, to);
  }
  if (o->land_sea_mask) {
    to = put_field(s, s->invariants.field[WX_LAND_SEA_MASK], 1, to);
  }
  for (int64_t i = 0; i < s->facts.cells && o->altitude; i++) {
    to[i] = (float)(wx_archive_get(s->forecast)->grid.height[i % s->plane] / HEIGHT_UNIT);
  }
  to += o->altitude ? s->facts.cells : 0;
  if (o->day_of_year) {
    to = put_angles(s, sample, false, to);
  }
  if (o->local_time) {
    (void)put_angles(s, sample, true, to);
  }
}
