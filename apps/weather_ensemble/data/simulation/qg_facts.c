/* qg_facts.c - what the archives of a simulation hold: times, members, quantities, grid. */
#include <math.h>
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_sort.h"
#include "data/date.h"
#include "data/simulation/qg_ensemble_priv.h"

#define DAY 86400.0
#define HOUR 3600.0

weir_status qg_steps_of(const wx_qg_ensemble *e, double seconds, const char *key, int64_t *n)
{
  const double steps = seconds / e->seconds;

  *n = llround(steps);
  if (fabs(steps - (double)*n) > 1e-6) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: %.8g s are no whole number of the simulation's steps of %.8g s (step x "
                     "scale.length / scale.wind)",
                     key, seconds, e->seconds);
  }
  return WEIR_OK;
}

static weir_status list_quantities(wx_qg_ensemble *e)
{
  const int64_t n = e->o->quantities.count;
  wx_quantity *quantity = NULL;

  if (n < 1 || e->o->leads.count < 1) {
    return weir_fail(WEIR_ERR_CONFIG, "simulate: leads and quantities have to name at least one");
  }
  WEIR_TRY(weir_alloc(n, sizeof *e->kinds, (void **)&e->kinds));
  WEIR_TRY(weir_alloc(n, sizeof *quantity, (void **)&quantity));
  e->forecasts.quantity = e->true_facts.quantity = quantity;
  e->forecasts.n_quantities = e->true_facts.n_quantities = n;
  for (int64_t q = 0; q < n; q++) {
    WEIR_TRY(wx_qg_quantity_find(e->o->quantities.items[q], &e->kinds[q]));
    wx_qg_quantity(e->kinds[q], &quantity[q]);
    for (int64_t other = 0; other < q; other++) {
      if (e->kinds[other] == e->kinds[q]) {
        return weir_fail(WEIR_ERR_CONFIG, "simulate.quantities: %s is there twice",
                         e->o->quantities.items[q]);
      }
    }
  }
  return WEIR_OK;
}

/* Labels: a circle of latitude, 40 degrees to both sides of 45 N. All cells have the same area. */
static weir_status lay_grid(wx_qg_ensemble *e)
{
  const int64_t n_lat = e->o->lat, n_lon = e->o->lon;
  double *lat = NULL, *lon = NULL, *weight = NULL;

  WEIR_TRY(weir_alloc(n_lat, sizeof *lat, (void **)&lat));
  e->forecasts.grid = (wx_grid){.kind = WX_GRID_LATLON,
                                .n_lat = n_lat,
                                .n_lon = n_lon,
                                .lat = lat,
                                .units = {"degrees_north", "degrees_east"},
                                .wraps = true};
  WEIR_TRY(weir_alloc(n_lon, sizeof *lon, (void **)&lon));
  e->forecasts.grid.lon = lon;
  WEIR_TRY(weir_alloc(n_lat * n_lon, sizeof *weight, (void **)&weight));
  e->forecasts.grid.weight = weight;
  for (int64_t j = 0; j < n_lat; j++) {
    lat[n_lat - 1 - j] = 45 + 80 * ((double)j / (double)n_lat - 0.5);
  }
  for (int64_t i = 0; i < n_lon; i++) {
    lon[i] = 360 * (double)i / (double)n_lon;
  }
  for (int64_t c = 0; c < n_lat * n_lon; c++) {
    weight[c] = 1;
  }
  e->true_facts.grid = e->forecasts.grid;
  return WEIR_OK;
}

/* Steps of all initialisation times and of all times of validity, each once. */
static weir_status list_marks(wx_qg_ensemble *e, const int64_t *lead, int64_t every)
{
  const int64_t init_times = e->o->init_times, leads = e->o->leads.count;
  int64_t n = 0, kept = 0;

  if (!weir_mul_ok(init_times, leads + 1, &n)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "simulate: %lld initialisation times of %lld leads are too many",
                     (long long)init_times, (long long)leads);
  }
  WEIR_TRY(weir_alloc(n, sizeof *e->mark, (void **)&e->mark));
  for (int64_t s = 0; s < init_times; s++) {
    e->mark[s * (leads + 1)] = s * every;
    for (int64_t l = 0; l < leads; l++) {
      e->mark[s * (leads + 1) + 1 + l] = s * every + lead[l];
    }
  }
  qsort(e->mark, (size_t)n, sizeof *e->mark, weir_compare_i64);
  for (int64_t i = 0; i < n; i++) {
    if (kept == 0 || e->mark[i] != e->mark[kept - 1]) {
      e->mark[kept++] = e->mark[i];
    }
  }
  e->true_facts.n_init_times = kept;
  WEIR_TRY(weir_alloc(init_times, sizeof *e->start_mark, (void **)&e->start_mark));
  for (int64_t s = 0, i = 0; s < init_times; s++) {
    while (e->mark[i] != s * every) {
      i++;
    }
    e->start_mark[s] = i;
  }
  return WEIR_OK;
}

static weir_status list_leads(wx_qg_ensemble *e)
{
  const wx_qg_opts *const o = e->o;
  int64_t *lead = NULL, every = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(qg_steps_of(e, o->every * HOUR, "simulate.every", &every));
  WEIR_TRY(weir_alloc(o->leads.count, sizeof *lead, (void **)&lead));
  for (int64_t l = 0; l < o->leads.count; l++) {
    WEIR_TRY_GOTO(qg_steps_of(e, o->leads.items[l] * HOUR, "simulate.leads", &lead[l]), done);
    if (l > 0 && lead[l] <= lead[l - 1]) {
      status =
          weir_fail(WEIR_ERR_CONFIG, "simulate.leads: %.8g h after %.8g h; give them ascending",
                    o->leads.items[l], o->leads.items[l - 1]);
      goto done;
    }
  }
  if (every < 1) {
    status = weir_fail(WEIR_ERR_CONFIG, "simulate.every: less than a step");
    goto done;
  }
  WEIR_TRY_GOTO(list_marks(e, lead, every), done);
done:
  weir_free(&lead);
  return status;
}

/* Initialisation times, members and the truth's times. */
static weir_status list_times(wx_qg_ensemble *e)
{
  const wx_qg_opts *const o = e->o;
  int64_t *start = NULL, *member = NULL, *time = NULL;
  double *zero = NULL, begin = 0;

  if (!wx_date_parse(o->begin, &begin)) {
    return weir_fail(WEIR_ERR_CONFIG, "simulate.begin: \"%s\" is no date such as 2000-01-01 12:00",
                     o->begin);
  }
  WEIR_TRY(list_leads(e));
  WEIR_TRY(weir_alloc(o->init_times, sizeof *start, (void **)&start));
  e->forecasts.start = start;
  WEIR_TRY(weir_alloc(o->members, sizeof *member, (void **)&member));
  e->forecasts.member = member;
  WEIR_TRY(weir_alloc(e->true_facts.n_init_times, sizeof *time, (void **)&time));
  e->true_facts.start = time;
  WEIR_TRY(weir_alloc(1, sizeof *zero, (void **)&zero));
  e->true_facts.lead = zero;
  for (int64_t i = 0; i < e->true_facts.n_init_times; i++) {
    time[i] = llround(begin * DAY + (double)e->mark[i] * e->seconds);
  }
  for (int64_t s = 0; s < o->init_times; s++) {
    start[s] = time[e->start_mark[s]];
  }
  for (int64_t m = 0; m < o->members; m++) {
    member[m] = m;
  }
  e->forecasts.name = "simulated forecasts";
  e->forecasts.n_init_times = o->init_times;
  e->forecasts.n_leads = o->leads.count;
  e->forecasts.n_members = o->members;
  e->forecasts.lead = o->leads.items;
  e->true_facts.name = "simulated truth";
  e->true_facts.n_leads = e->true_facts.n_members = 1;
  e->true_facts.member = member;
  return WEIR_OK;
}

weir_status qg_list_facts(wx_qg_ensemble *e)
{
  WEIR_TRY(list_quantities(e));
  WEIR_TRY(list_times(e));
  return lay_grid(e);
}
