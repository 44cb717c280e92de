/* eval_data.c - see eval_data.h. */
#include "eval/eval_data.h"
#include "base/weir_alloc.h"
#include "data/samples/members.h"

enum { NONE = -1 };

static weir_status check_grid(const wx_archive_info *f, const wx_archive_info *t)
{
  const char *const reason = wx_grid_differs(&f->grid, &t->grid);
  char a[WX_LONG], b[WX_LONG];

  if (reason == NULL) {
    return WEIR_OK;
  }
  wx_grid_text(&f->grid, a, sizeof a);
  wx_grid_text(&t->grid, b, sizeof b);
  return weir_fail(WEIR_ERR_SHAPE, "%s (%s) and %s (%s): %s: take forecasts and truth on one grid",
                   f->name, a, t->name, b, reason);
}

weir_status wx_eval_data_open(wx_archive *forecast, wx_archive *truth, wx_eval_data *out)
{
  const wx_archive_info *const f = wx_archive_get(forecast);
  const wx_archive_info *const t = truth != NULL ? wx_archive_get(truth) : NULL;

  *out = (wx_eval_data){.forecast = forecast,
                        .truth = truth,
                        .facts = f,
                        .truth_facts = t,
                        .cells = f->grid.n_lat * f->grid.n_lon,
                        .members = {.start = NONE},
                        .valid = {.start = NONE},
                        .watch = {.facts = f},
                        .truth_watch = {.facts = t}};
  if (t == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(wx_members_check_truth(t, "data.truth"));
  WEIR_TRY(check_grid(f, t));
  for (int64_t q = 0; q < f->n_quantities; q++) {
    const int64_t k = wx_archive_find_quantity(t, f->quantity[q].name);

    if (k >= 0 && !wx_quantity_same_units(f->quantity[q].units, t->quantity[k].units)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: %s has units '%s' in %s and '%s' here: convert one, or state its units",
                       t->name, f->quantity[q].name, f->quantity[q].units, f->name,
                       t->quantity[k].units);
    }
  }
  return WEIR_OK;
}

void wx_eval_data_fini(wx_eval_data *s)
{
  weir_free(&s->members.values);
  weir_free(&s->valid.values);
  wx_watch_fini(&s->watch);
  wx_watch_fini(&s->truth_watch);
}

static bool is_field(const struct wx_eval_data_field *f, int64_t start, int64_t lead,
                     int64_t quantity)
{
  return f->start == start && f->lead == lead && f->quantity == quantity;
}

weir_status wx_eval_data_members(wx_eval_data *s, int64_t start, int64_t lead, int64_t quantity,
                                 const float **out)
{
  struct wx_eval_data_field *const f = &s->members;
  const int64_t n = s->facts->n_members;
  int64_t all;

  *out = NULL;
  if (!weir_mul_ok(n, s->cells, &all)) {
    return weir_fail(WEIR_ERR_MEMORY, "%s: %lld members of %lld points are too many",
                     s->facts->name, (long long)n, (long long)s->cells);
  }
  if (f->values == NULL) {
    WEIR_TRY(weir_alloc(all, sizeof *f->values, (void **)&f->values));
  }
  if (!is_field(f, start, lead, quantity)) {
    f->start = NONE;
    WEIR_TRY(wx_archive_read(s->forecast, start, lead, quantity, 0, n, f->values));
    WEIR_TRY(wx_watch_take(&s->watch, "eval", quantity, lead, f->values, all));
    f->start = start;
    f->lead = lead;
    f->quantity = quantity;
  }
  *out = f->values;
  return WEIR_OK;
}

int64_t wx_eval_data_valid(const wx_eval_data *s, int64_t start, int64_t lead, int64_t quantity)
{
  const wx_archive_info *const f = s->facts, *const t = s->truth_facts;
  const int64_t k = t == NULL ? NONE : wx_archive_find_quantity(t, f->quantity[quantity].name);
  const int64_t time = k < 0 ? NONE : wx_archive_find_truth(t, f, start, lead);

  return time >= 0 && wx_archive_has(s->truth, time, 0, k, 0) ? time : NONE;
}

weir_status wx_eval_data_check_period(const wx_eval_data *s, int64_t lead, int64_t quantity)
{
  const int64_t k = wx_archive_find_quantity(s->truth_facts, s->facts->quantity[quantity].name);

  return k < 0 ? WEIR_OK : wx_archive_check_period(s->facts, quantity, lead, s->truth_facts, k, 0);
}

weir_status wx_eval_data_truth(wx_eval_data *s, int64_t start, int64_t lead, int64_t quantity,
                               const float **out)
{
  struct wx_eval_data_field *const f = &s->valid;
  const int64_t time = wx_eval_data_valid(s, start, lead, quantity);

  *out = NULL;
  if (time < 0) {
    return WEIR_OK;
  }
  WEIR_TRY(wx_eval_data_check_period(s, lead, quantity));
  if (f->values == NULL) {
    WEIR_TRY(weir_alloc(s->cells, sizeof *f->values, (void **)&f->values));
  }
  if (!is_field(f, time, 0, quantity)) {
    const int64_t k = wx_archive_find_quantity(s->truth_facts, s->facts->quantity[quantity].name);

    f->start = NONE;
    WEIR_TRY(wx_archive_read(s->truth, time, 0, k, 0, 1, f->values));
    WEIR_TRY(wx_watch_take(&s->truth_watch, "eval", k, 0, f->values, s->cells));
    f->start = time;
    f->lead = 0;
    f->quantity = quantity;
  }
  *out = f->values;
  return WEIR_OK;
}

weir_status wx_eval_data_climate(const wx_eval_data *s, int64_t lead, int64_t quantity,
                                 wx_model_climate *out)
{
  const wx_grid *const g = &s->facts->grid;

  WEIR_TRY(wx_model_climate_read(s->climate, s->facts->quantity[quantity].name,
                                 s->facts->lead[lead], out));
  if (out->n_lat == g->n_lat && out->n_lon == g->n_lon) {
    return WEIR_OK;
  }
  const weir_status status =
      weir_fail(WEIR_ERR_SHAPE, "%s: a climate of %lld x %lld cells, and %s has %lld x %lld",
                s->climate, (long long)out->n_lat, (long long)out->n_lon, s->facts->name,
                (long long)g->n_lat, (long long)g->n_lon);

  wx_model_climate_fini(out);
  return status;
}
