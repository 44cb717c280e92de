/* samples_plan.c - which fields make a sample, and which samples there are. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/samples/members.h"
#include "data/samples/samples_priv.h"

enum { SECONDS = 86400 };

static weir_status no_quantity(const char *key, const char *name, const wx_archive_info *f)
{
  char known[512] = "", hint[WX_LONG + WX_LONG];
  size_t at = 0;

  for (int64_t q = 0; q < f->n_quantities && at < sizeof known; q++) {
    at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", q > 0 ? ", " : "",
                           f->quantity[q].name);
  }
  wx_archive_hint(f, name, hint, sizeof hint);
  return weir_fail(WEIR_ERR_CONFIG, "data.%s: %s has no quantity '%s'; it has %s%s", key, f->name,
                   name, known, hint);
}

/* The quantity `name`, or the variable `name` on level d of data.levels. */
static int64_t find_quantity(const wx_data_opts *o, const wx_archive_info *f, const char *name,
                             int64_t d)
{
  if (o->depth != WX_DEPTH_LEVEL) {
    return wx_archive_find_quantity(f, name);
  }
  for (int64_t q = 0; q < f->n_quantities; q++) {
    if (strcmp(f->quantity[q].variable, name) == 0 && f->quantity[q].kind == WX_LEVEL_PRESSURE &&
        fabs(f->quantity[q].level - o->levels.items[d]) < 1e-6) {
      return q;
    }
  }
  return -1;
}

static weir_status need_quantity(const wx_samples *s, const char *key, const char *name, int64_t d,
                                 int64_t *q)
{
  const wx_archive_info *f = wx_archive_get(s->forecast);
  char text[WX_SHORT + 32];

  *q = find_quantity(s->opts, f, name, d);
  if (*q >= 0) {
    return WEIR_OK;
  }
  if (s->opts->depth != WX_DEPTH_LEVEL) {
    return no_quantity(key, name, f);
  }
  (void)snprintf(text, sizeof text, "%.*s on %g hPa", WX_SHORT, name, s->opts->levels.items[d]);
  return no_quantity(key, text, f);
}

/* Members that are read of a field at an archive's lead. */
static int64_t members_of(const wx_samples *s, int64_t lead)
{
  const wx_data_opts *o = s->opts;
  const wx_archive_info *f = wx_archive_get(s->forecast);
  const bool early =
      o->early.members > 0 && lead != WX_OF_SAMPLE && f->lead[lead] <= o->early.until;

  return early ? o->early.members : s->members;
}

/* The field of that quantity and lead, made where there is none yet. */
static weir_status take_field(wx_samples *s, bool truth, int64_t quantity, int64_t lead,
                              int64_t depth, wx_field **out)
{
  for (int64_t i = 0; i < s->n_fields; i++) {
    wx_field *f = &s->field[i];

    if (f->truth == truth && f->quantity == quantity && f->lead == lead && f->depth == depth) {
      *out = f;
      return WEIR_OK;
    }
  }
  WEIR_TRY(weir_reserve(&s->field, &s->field_capacity, s->n_fields + 1, sizeof *s->field));
  *out = &s->field[s->n_fields++];
  **out = (wx_field){.truth = truth,
                     .quantity = quantity,
                     .lead = lead,
                     .members = truth ? 1 : members_of(s, lead),
                     .depth = depth,
                     .mean = -1,
                     .sd = -1,
                     .one = -1,
                     .mask = -1,
                     .raw = -1};
  return WEIR_OK;
}

/* What of a field becomes a channel. */
typedef enum role { TRAJECTORY, MEAN, SPREAD, ANALYSIS, MASK, ROLES } role;
static const char *const role_name[ROLES] = {"member", "mean", "spread", "analysis", "missing"};

static void set_role(wx_field *f, role r, int64_t channel)
{
  int64_t *const at[ROLES] = {&f->one, &f->mean, &f->sd, &f->one, &f->mask};

  *at[r] = channel;
}

/* One channel: input `name` in that role at one of the input leads (the analysis has none), for
 * every depth. */
static weir_status add_input(wx_samples *s, role r, const char *name, int64_t lead)
{
  const bool truth = r == ANALYSIS;
  const wx_archive_info *f = wx_archive_get(truth ? s->truth : s->forecast);
  char text[WX_NAME];
  int64_t channel = 0, q = -1;

  if (truth) {
    for (int64_t d = 0; d < s->facts.depth; d++) {
      if (find_quantity(s->opts, f, name, d) < 0) {
        return WEIR_OK; /* truth need not know all inputs */
      }
    }
    q = find_quantity(s->opts, f, name, 0);
  } else {
    WEIR_TRY(need_quantity(s, "inputs", name, 0, &q));
  }
  if (truth || lead == WX_OF_SAMPLE) {
    (void)snprintf(text, sizeof text, "%.*s %s", WX_SHORT, name, role_name[r]);
  } else {
    (void)snprintf(text, sizeof text, "%.*s %s %gh", WX_SHORT, name, role_name[r], f->lead[lead]);
  }
  WEIR_TRY(wx_samples_channel(s, WX_X, text, r == MASK ? "1" : f->quantity[q].units, &channel));
  s->channel[WX_X][channel].plain = r == MASK;
  for (int64_t d = 0; d < s->facts.depth; d++) {
    wx_field *field = NULL;

    q = find_quantity(s->opts, f, name, d);
    if (q < 0) {
      WEIR_TRY(need_quantity(s, "inputs", name, d, &q));
    }
    WEIR_TRY(take_field(s, truth, q, lead, d, &field));
    set_role(field, r, channel);
  }
  return WEIR_OK;
}

static weir_status add_role(wx_samples *s, role r)
{
  const wx_data_opts *o = s->opts;
  const wx_archive_info *f = wx_archive_get(s->forecast);
  const int64_t all = o->depth == WX_DEPTH_LEVEL ? 0 : f->n_quantities;
  const int64_t n = o->inputs.count > 0 ? o->inputs.count : all;

  for (int64_t l = 0; l < (r == ANALYSIS ? 1 : s->n_input_leads); l++) {
    for (int64_t q = 0; q < n; q++) {
      WEIR_TRY(add_input(s, r, o->inputs.count > 0 ? o->inputs.items[q] : f->quantity[q].name,
                         r == ANALYSIS ? WX_OF_SAMPLE : s->input_lead[l]));
    }
  }
  return WEIR_OK;
}

/* The channel of x that is the raw spread of a target at the lead of every sample; -1: none. */
static int64_t raw_spread(const wx_samples *s, int64_t quantity, int64_t depth)
{
  for (int64_t i = 0; i < s->n_fields; i++) {
    const wx_field *f = &s->field[i];
    const bool lead = f->lead == WX_OF_SAMPLE || (s->n_leads == 1 && f->lead == s->lead[0]);

    if (!f->truth && f->quantity == quantity && f->depth == depth && lead && f->sd >= 0) {
      return f->sd;
    }
  }
  return -1;
}

static weir_status add_target(wx_samples *s, int64_t k)
{
  const wx_archive_info *f = wx_archive_get(s->forecast);
  const wx_archive_info *t = s->truth != NULL ? wx_archive_get(s->truth) : NULL;
  const char *name = s->opts->target.items[k];

  for (int64_t d = 0; d < s->facts.depth; d++) {
    wx_field *field = NULL;
    int64_t q = 0, channel = k;

    WEIR_TRY(need_quantity(s, "target", name, d, &q));
    if (d == 0) {
      WEIR_TRY(wx_samples_channel(s, WX_Y, name, f->quantity[q].units, &channel));
    }
    if ((k + 1) * s->facts.depth > WX_CHANNELS) {
      return weir_fail(WEIR_ERR_CONFIG, "data.target: more than %d fields", WX_CHANNELS);
    }
    WEIR_TRY(take_field(s, false, q, WX_OF_SAMPLE, d, &field));
    field->raw = k;
    s->target[k * s->facts.depth + d] = q;
    s->truth_of[k * s->facts.depth + d] = t != NULL ? find_quantity(s->opts, t, name, d) : -1;
    if (s->facts.carry < 0) {
      s->facts.carry = raw_spread(s, q, d);
    }
    const int64_t of = s->truth_of[k * s->facts.depth + d];

    if (s->y && s->opts->label == WX_LABEL_TRUTH && of < 0) {
      return no_quantity("target", name, t);
    }
    if (of >= 0 && !wx_quantity_same_units(t->quantity[of].units, f->quantity[q].units)) {
      return weir_fail(
          WEIR_ERR_DATA,
          "%s: %s is in '%s', and in '%s' in %s: convert one of them, or state its units", f->name,
          name, f->quantity[q].units, t->quantity[of].units, t->name);
    }
  }
  return WEIR_OK;
}

/* Numbers of leads in hours, which ascend (wx_data_check): each its own, whatever the tolerance. */
static weir_status find_leads(const wx_samples *s, const char *key, const weir_real_list *list,
                              int64_t *number)
{
  const wx_archive_info *f = wx_archive_get(s->forecast);

  for (int64_t i = 0; i < list->count; i++) {
    number[i] = wx_archive_find_lead(f, list->items[i]);
    if (number[i] < 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "data.%s: %s has no lead of %g h; it has %lld from %g to %g", key, f->name,
                       list->items[i], (long long)f->n_leads, f->lead[0], f->lead[f->n_leads - 1]);
    }
    if (i > 0 && number[i] == number[i - 1]) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "data.%s: %.9g h and %.9g h are one lead of %s, %g h: give one of them", key,
                       list->items[i - 1], list->items[i], f->name, f->lead[number[i]]);
    }
  }
  return WEIR_OK;
}

static weir_status plan_leads(wx_samples *s)
{
  const wx_data_opts *o = s->opts;
  const wx_archive_info *f = wx_archive_get(s->forecast);

  if (f->n_leads > WX_CHANNELS) {
    return weir_fail(WEIR_ERR_CONFIG, "data.lead: %s has more than %d leads", f->name, WX_CHANNELS);
  }
  WEIR_TRY(find_leads(s, "lead", &o->lead, s->lead));
  WEIR_TRY(find_leads(s, "input_lead", &o->input_lead, s->input_lead));
  s->n_leads = o->lead.count;
  for (int64_t l = 0; l < f->n_leads && o->lead.count == 0; l++) {
    if (f->lead[l] > 0) {
      s->lead[s->n_leads++] = l;
    }
  }
  s->n_input_leads = o->input_lead.count;
  if (s->n_input_leads == 0) {
    s->n_input_leads = 1;
    s->input_lead[0] = WX_OF_SAMPLE;
  }
  return s->n_leads > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "data.lead: %s has no lead above 0 h: give one", f->name);
}

/* Targets are the same thing in forecast and truth at every lead that is learnt. */
static weir_status check_periods(const wx_samples *s)
{
  const wx_archive_info *f = wx_archive_get(s->forecast);
  const bool leads = s->opts->depth == WX_DEPTH_LEAD;

  if (!s->y || s->opts->label == WX_LABEL_SPREAD || s->truth == NULL) {
    return WEIR_OK;
  }
  for (int64_t k = 0; k < s->facts.n_channels[WX_Y] * s->facts.depth; k++) {
    for (int64_t l = 0; l < s->n_leads; l++) {
      if (!leads || l == k % s->facts.depth) {
        WEIR_TRY(wx_archive_check_period(f, s->target[k], s->lead[l], wx_archive_get(s->truth),
                                         s->truth_of[k], 0));
      }
    }
  }
  return WEIR_OK;
}

/* ---- Samples ---- */

static bool is_there(const wx_samples *s, int64_t start, int64_t lead)
{
  const wx_archive_info *f = wx_archive_get(s->forecast);
  const wx_archive_info *t = s->truth != NULL ? wx_archive_get(s->truth) : NULL;
  const int64_t n = s->facts.n_channels[WX_Y] * s->facts.depth;

  if (!s->y || s->opts->label == WX_LABEL_SPREAD) {
    return true;
  }
  const int64_t at = wx_archive_find_truth(t, f, start, lead);
  bool all = at >= 0;

  for (int64_t k = 0; k < n && all; k++) {
    all = wx_archive_has(s->truth, at, 0, s->truth_of[k], 0);
  }
  return all;
}

static bool is_forecast(const wx_samples *s, int64_t start, int64_t lead)
{
  bool all = true;

  for (int64_t k = 0; k < s->facts.n_channels[WX_Y] * s->facts.depth && all; k++) {
    all = wx_archive_has(s->forecast, start, lead, s->target[k], s->facts.first);
  }
  return all;
}

static void add_sample(wx_samples *s, int64_t start, int64_t lead)
{
  const wx_archive_info *f = wx_archive_get(s->forecast);
  const int64_t n = s->facts.n++;

  s->of_start[n] = start;
  s->of_lead[n] = lead;
  s->start[n] = (double)f->start[start] / SECONDS;
  s->time[n] = s->start[n] + f->lead[lead] / 24;
}

/* With a depth of leads a start is a sample, else each of its leads. */
static weir_status plan_samples(wx_samples *s)
{
  const wx_archive_info *f = wx_archive_get(s->forecast);
  const bool together = s->opts->depth == WX_DEPTH_LEAD;
  const int64_t max_samples = f->n_init_times * (together ? 1 : s->n_leads);

  WEIR_TRY(weir_alloc(max_samples, sizeof *s->of_start, (void **)&s->of_start));
  WEIR_TRY(weir_alloc(max_samples, sizeof *s->of_lead, (void **)&s->of_lead));
  WEIR_TRY(weir_alloc(max_samples, sizeof *s->start, (void **)&s->start));
  WEIR_TRY(weir_alloc(max_samples, sizeof *s->time, (void **)&s->time));
  for (int64_t i = 0; i < f->n_init_times; i++) {
    bool all = true, known = true;

    for (int64_t l = 0; l < s->n_leads; l++) {
      const bool here = is_forecast(s, i, s->lead[l]), true_too = is_there(s, i, s->lead[l]);

      all = all && here;
      known = known && true_too;
      s->facts.no_truth += !together && here && !true_too;
      if (!together && here && true_too) {
        add_sample(s, i, s->lead[l]);
      }
    }
    s->facts.no_truth += together && all && !known;
    if (together && all && known) {
      add_sample(s, i, s->lead[s->n_leads - 1]);
    }
  }
  s->facts.of_start = s->of_start;
  s->facts.of_lead = s->of_lead;
  s->facts.start = s->start;
  s->facts.time = s->time;
  return s->facts.n > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: no initialisation time has a lead of data.lead%s: look at both with "
                         "describe",
                         f->name, s->y ? " whose valid time the truth has" : "");
}

/* ---- Grid ---- */

static weir_status check_grid(const wx_samples *s)
{
  const wx_archive_info *f = wx_archive_get(s->forecast), *t = wx_archive_get(s->truth);
  const char *const reason = wx_grid_differs(&f->grid, &t->grid);

  WEIR_TRY(wx_members_check_truth(t, "data.truth"));
  return reason == NULL ? WEIR_OK
                        : weir_fail(WEIR_ERR_DATA,
                                    "%s is not on the grid of %s: %s; bring one to the other first",
                                    t->name, f->name, reason);
}

static weir_status plan_grid(wx_samples *s)
{
  const wx_data_opts *o = s->opts;
  const wx_grid *g = &wx_archive_get(s->forecast)->grid;
  wx_info *f = &s->facts;

  f->sites = g->kind == WX_GRID_SITES;
  f->depth = o->depth == WX_DEPTH_LEVEL  ? o->levels.count
             : o->depth == WX_DEPTH_LEAD ? s->n_leads
                                         : 1;
  f->rank = o->depth == WX_DEPTH_NONE ? 2 : 3;
  if (f->rank == 3) {
    f->axis[0] = (wx_axis){o->depth == WX_DEPTH_LEVEL ? "level" : "lead", f->depth,
                           o->depth == WX_DEPTH_LEVEL ? o->levels.items : NULL};
  }
  f->axis[f->rank - 2] = (wx_axis){"lat", g->n_lat, g->lat};
  f->axis[f->rank - 1] = (wx_axis){"lon", g->n_lon, g->lon};
  if (!weir_mul_ok(g->n_lat, g->n_lon, &s->plane) || !weir_mul_ok(s->plane, f->depth, &f->cells)) {
    return weir_fail(WEIR_ERR_DATA, "%s: its grid is too large", f->name);
  }
  WEIR_TRY(weir_alloc(f->cells, sizeof *s->weight, (void **)&s->weight));
  for (int64_t i = 0; i < f->cells; i++) {
    s->weight[i] = g->weight != NULL ? g->weight[i % s->plane] : 1;
  }
  f->weight = s->weight;
  return s->truth != NULL ? check_grid(s) : WEIR_OK;
}

static weir_status plan_members(wx_samples *s)
{
  const wx_data_opts *o = s->opts;
  const wx_archive_info *f = wx_archive_get(s->forecast);
  const int64_t wanted[] = {o->early.members, o->label_members};
  static const char *const key[] = {"data.early.members", "data.label_members"};
  int64_t n = 0;

  WEIR_TRY(
      wx_members_choose(f, "data.members", o->first, o->members, &s->facts.first, &s->members));
  for (int k = 0; k < 2; k++) {
    WEIR_TRY(wx_members_choose(f, key[k], o->first, wanted[k], &s->facts.first, &n));
  }
  return WEIR_OK;
}

weir_status wx_samples_plan(wx_samples *s)
{
  const wx_data_opts *o = s->opts;
  const bool wanted[ROLES] = {o->trajectory, o->mean, o->spread, o->analysis,
                              o->missing == WX_MISSING_MASK};

  s->facts.name = wx_archive_get(s->forecast)->name;
  s->facts.carry = -1;
  s->facts.channel[WX_X] = s->channel[WX_X];
  s->facts.channel[WX_Y] = s->channel[WX_Y];
  WEIR_TRY(wx_data_check(o, s->truth != NULL, s->y));
  WEIR_TRY(plan_members(s));
  WEIR_TRY(plan_leads(s));
  s->facts.lead = s->lead;
  s->facts.n_leads = s->n_leads;
  s->facts.target = s->target;
  s->facts.members = s->members;
  WEIR_TRY(plan_grid(s));
  for (int r = 0; r < ROLES; r++) {
    if (wanted[r]) {
      WEIR_TRY(add_role(s, (role)r));
    }
    if (r == TRAJECTORY) {
      s->facts.n_trajectory = s->facts.n_channels[WX_X];
    }
  }
  WEIR_TRY(wx_samples_plan_plain(s));
  for (int64_t k = 0; k < o->target.count; k++) {
    WEIR_TRY(add_target(s, k));
  }
  WEIR_TRY(check_periods(s));
  return plan_samples(s);
}
