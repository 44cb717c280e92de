/* verify_open.c - the options of an evaluation, and what is made of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/samples/split.h"
#include "eval/verify.h"

static const weir_opt window_options[] = {
    WEIR_OPT_STRING(wx_lead_window, name, "", "in tables"),
    WEIR_OPT_REAL(wx_lead_window, from, 0, 0, 1e5, "h", "first lead"),
    WEIR_OPT_REAL(wx_lead_window, to, 0, 0, 1e5, "h", "last lead, which belongs to it"),
    WEIR_OPT_END,
};

static const weir_opt joint_options[] = {
    WEIR_OPT_STRING(wx_joint_row, quantity, "", "one of those that are scored"),
    WEIR_OPT_REAL(wx_joint_row, scale, 0, 0, 1e30, "",
                  "what its numbers are divided by, in its units; 0: the standard deviation of the "
                  "truth about its mean at each point, over the initialisation times that have "
                  "forecast and truth, a mean over points"),
    WEIR_OPT_END,
};

const weir_opt wx_verify_options[] = {
    WEIR_OPT_LIST(wx_verify_opts, models, wx_model_row, wx_model_row_options, WX_MODELS,
                  "what is scored; none: all raw members"),
    WEIR_OPT_STRING_LIST(
        wx_verify_opts, references, "",
        "names of models that all are compared with, the first also in maps; none: "
        "the first model"),
    WEIR_OPT_ENUM(wx_verify_opts, part, WX_TEST, WX_SUBSET_CHOICES "|all",
                  "initialisation times that are scored: of a subset of data.split, or all"),
    WEIR_OPT_STRING_LIST(wx_verify_opts, quantities, "",
                         "as z500; none: all that forecast and truth have"),
    WEIR_OPT_REAL_LIST(wx_verify_opts, leads, "", 0, 1e5, "h", "none: all that have truth"),
    WEIR_OPT_LIST(wx_verify_opts, lead_windows, wx_lead_window, window_options, WX_LEAD_WINDOWS,
                  "leads that are also scored together, in strata.csv, as [{name: days 2 to 4, "
                  "from: 48, to: 96}]"),
    WEIR_OPT_LIST(wx_verify_opts, joint, wx_joint_row, joint_options, WX_JOINT_QUANTITIES,
                  "quantities that the energy and the variogram score also take together, at the "
                  "points of a square (eval.score.patch): dependence between variables, as "
                  "[{quantity: z500}, {quantity: t500}]"),
    WEIR_OPT_ENUM(
        wx_verify_opts, init_times, WX_INIT_TIMES_SAME, "same|all",
        "the same initialisation times for all leads and quantities, or of each all that it has",
        .alias = "starts"),
    WEIR_OPT_ENUM(wx_verify_opts, missing, WX_MISSING_DROP, "drop|count",
                  "points where members are missing: left out, or scored by those that are there, "
                  "at least two"),
    WEIR_OPT_LIST(wx_verify_opts, regions, wx_region, wx_region_options, WX_REGIONS - 1,
                  "boxes that are scored by themselves, as well as the whole grid"),
    WEIR_OPT_REAL_LIST(wx_verify_opts, quantiles, "0.1, 0.9", 0, 1, "1",
                       "events: the truth lies beyond these quantiles of its climate at the point, "
                       "below those under 0.5 and above the others"),
    WEIR_OPT_LIST(wx_verify_opts, events, wx_event_row, wx_event_row_options, WX_EVENTS,
                  "events of fixed thresholds"),
    WEIR_OPT_TABLE(wx_verify_opts, score, wx_score_sums_options, "details of scores"),
    WEIR_OPT_TABLE(wx_verify_opts, climate, wx_climatology_options,
                   "what is usual, from the initialisation times of the training subset"),
    WEIR_OPT_TABLE(wx_verify_opts, bootstrap, wx_bootstrap_options,
                   "intervals: blocks of initialisation times drawn anew"),
    WEIR_OPT_REAL(wx_verify_opts, figure_lead, 48, 0, 1e5, "h",
                  "histograms, maps and the case of the report are of the lead nearest to it"),
    WEIR_OPT_REAL(wx_verify_opts, figure_limit, 3, 1, 1e300, "1",
                  "models whose CRPS is more than that many times the first reference's are in "
                  "tables and histograms, but not in other figures"),
    WEIR_OPT_END,
};

static weir_status refuse_name(int64_t j, int64_t k, const char *name)
{
  return weir_fail(WEIR_ERR_CONFIG,
                   "eval.models: rows %lld and %lld are both called '%s': give one another name",
                   (long long)j, (long long)k, name);
}

static weir_status check_windows(const wx_verify_opts *opts)
{
  const wx_lead_window *const w = opts->lead_windows.items;

  for (int64_t k = 0; k < opts->lead_windows.count; k++) {
    bool own = w[k].name[0] != 0;

    for (int64_t j = 0; j < k; j++) {
      own = own && strcmp(w[j].name, w[k].name) != 0;
    }
    if (!own || w[k].to < w[k].from) {
      return weir_fail(
          WEIR_ERR_CONFIG,
          "eval.lead_windows[%lld]: '%s' from %g to %g h: a window needs a name that no "
          "other has, and may not end before it begins",
          (long long)k, w[k].name, w[k].from, w[k].to);
    }
  }
  return WEIR_OK;
}

static weir_status check_joint(const wx_verify_opts *opts)
{
  if (opts->joint.count == 1) {
    return weir_fail(WEIR_ERR_CONFIG, "eval.joint has one quantity: eval scores it alone anyway; "
                                      "list two or more, or none");
  }
  return opts->joint.count == 0 || opts->score.patch > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "eval.joint takes the points of squares together, and "
                                          "eval.score.patch is 0: set it to 1 or more");
}

weir_status wx_verify_check(const wx_verify_opts *opts)
{
  const wx_model_row *const row = opts->models.items;

  WEIR_TRY(check_joint(opts));
  WEIR_TRY(wx_climatology_check(&opts->climate));
  WEIR_TRY(check_windows(opts));
  WEIR_TRY(wx_regions_check(opts->regions.items, opts->regions.count));
  for (int64_t k = 0; k < opts->models.count; k++) {
    WEIR_TRY(wx_model_check(&row[k]));
    for (int64_t j = 0; j < k && row[k].name[0] != 0; j++) {
      WEIR_TRY(strcmp(row[j].name, row[k].name) == 0 ? refuse_name(j, k, row[k].name) : WEIR_OK);
    }
  }
  if (opts->references.count > WX_MODELS) {
    return weir_fail(WEIR_ERR_CONFIG, "eval.references: more than %d names", WX_MODELS);
  }
  return opts->quantiles.count + opts->events.count <= WX_EVENTS
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "eval.quantiles and eval.events: more than %d events",
                         WX_EVENTS);
}

static weir_status open_models(wx_verify *v)
{
  static const wx_model_row all_raw = {.name = "", .use = {.name = "raw"}};
  const wx_model_row *row = v->opts->models.items;
  const int64_t n = v->opts->models.count;

  for (int64_t k = 0; k < (n > 0 ? n : 1); k++) {
    WEIR_TRY(wx_model_open(n > 0 ? &row[k] : &all_raw, v->data, &v->model[k]));
    v->n_models++;
    for (int64_t j = 0; j < k; j++) {
      if (strcmp(v->model[j].name, v->model[k].name) == 0) {
        return refuse_name(j, k, v->model[k].name);
      }
    }
  }
  return WEIR_OK;
}

static weir_status find_references(wx_verify *v)
{
  const weir_string_list *const names = &v->opts->references;

  v->n_references = names->count > 0 ? names->count : 1;
  for (int64_t r = 0; r < names->count; r++) {
    v->reference[r] = -1;
    for (int64_t k = 0; k < v->n_models; k++) {
      if (strcmp(v->model[k].name, names->items[r]) == 0) {
        v->reference[r] = k;
      }
    }
    if (v->reference[r] < 0) {
      return weir_fail(WEIR_ERR_CONFIG, "eval.references: no model is called '%s'",
                       names->items[r]);
    }
  }
  return WEIR_OK;
}

/* The text of a threshold is its name where it has none. */
static weir_status make_events(wx_verify *v)
{
  const wx_event_row *const row = v->opts->events.items;
  const weir_real_list *const q = &v->opts->quantiles;

  for (int64_t k = 0; k < q->count; k++) {
    wx_event *const e = &v->event[v->n_events++];

    *e = (wx_event){.above = q->items[k] >= 0.5, .quantile = q->items[k], .value = NAN};
    (void)snprintf(e->name, sizeof e->name, "%s p%g", e->above ? "above" : "below",
                   100 * q->items[k]);
  }
  for (int64_t k = 0; k < v->opts->events.count; k++) {
    wx_event *const e = &v->event[v->n_events++];
    const int wrote = snprintf(e->quantity, sizeof e->quantity, "%s", row[k].quantity);

    *e = (wx_event){.above = row[k].above, .quantile = NAN, .value = row[k].value};
    (void)snprintf(e->quantity, sizeof e->quantity, "%s", row[k].quantity);
    if (row[k].name[0] != 0) {
      (void)snprintf(e->name, sizeof e->name, "%s", row[k].name);
    } else {
      (void)snprintf(e->name, sizeof e->name, "%s %g", e->above ? "above" : "below", e->value);
    }
    if (wrote >= (int)sizeof e->quantity ||
        (row[k].quantity[0] != 0 &&
         wx_archive_find_quantity(v->data->facts, row[k].quantity) < 0)) {
      return weir_fail(WEIR_ERR_CONFIG, "eval.events[%lld].quantity: %s has no '%s'", (long long)k,
                       v->data->facts->name, row[k].quantity);
    }
  }
  return WEIR_OK;
}

static bool has_truth(const wx_verify *v, int64_t quantity, int64_t lead)
{
  for (int64_t k = 0; k < v->n_candidates; k++) {
    if (wx_eval_data_valid(v->data, v->candidate[k], lead, quantity) >= 0) {
      return true;
    }
  }
  return false;
}

static weir_status choose_quantities(wx_verify *v)
{
  const wx_archive_info *const f = v->data->facts;
  const weir_string_list *const names = &v->opts->quantities;

  WEIR_TRY(weir_alloc(names->count > 0 ? names->count : f->n_quantities, sizeof(int64_t),
                      (void **)&v->quantity));
  for (int64_t k = 0; k < names->count; k++) {
    const int64_t q = wx_archive_find_quantity(f, names->items[k]);

    if (q < 0 || wx_archive_find_quantity(v->data->truth_facts, names->items[k]) < 0) {
      char hint[2 * WX_LONG];

      wx_archive_hint(q < 0 ? f : v->data->truth_facts, names->items[k], hint, sizeof hint);
      return weir_fail(WEIR_ERR_CONFIG, "eval.quantities: %s has no '%s'%s",
                       q < 0 ? f->name : v->data->truth_facts->name, names->items[k], hint);
    }
    v->quantity[v->n_quantities++] = q;
  }
  for (int64_t q = 0; q < f->n_quantities && names->count == 0; q++) {
    if (wx_archive_find_quantity(v->data->truth_facts, f->quantity[q].name) >= 0) {
      v->quantity[v->n_quantities++] = q;
    }
  }
  return v->n_quantities > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s has no quantity of %s: nothing to score",
                         v->data->truth_facts->name, f->name);
}

static weir_status choose_leads(wx_verify *v)
{
  const wx_archive_info *const f = v->data->facts;
  const weir_real_list *const hours = &v->opts->leads;

  WEIR_TRY(
      weir_alloc(hours->count > 0 ? hours->count : f->n_leads, sizeof(int64_t), (void **)&v->lead));
  for (int64_t k = 0; k < hours->count; k++) {
    v->lead[v->n_leads] = wx_archive_find_lead(f, hours->items[k]);
    if (v->lead[v->n_leads++] < 0) {
      return weir_fail(WEIR_ERR_CONFIG, "eval.leads: %s has no lead of %g h", f->name,
                       hours->items[k]);
    }
  }
  for (int64_t l = 0; l < f->n_leads && hours->count == 0; l++) {
    if (has_truth(v, v->quantity[0], l)) {
      v->lead[v->n_leads++] = l;
    }
  }
  return v->n_leads > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s has no truth for any of %lld initialisation times of %s at any lead: "
                         "valid time is initialisation time + lead",
                         v->data->truth_facts->name, (long long)v->n_candidates, f->name);
}

/* The quantities of eval.joint, each once and each scored, and a model with members. */
static weir_status choose_joint(wx_verify *v)
{
  const wx_joint_row *const row = v->opts->joint.items;
  const wx_archive_info *const f = v->data->facts;
  bool members = v->opts->joint.count == 0;
  size_t used = 0;

  for (int64_t k = 0; k < v->opts->joint.count; k++) {
    const int64_t q = wx_archive_find_quantity(f, row[k].quantity);
    bool scored = false, twice = false;

    for (int64_t i = 0; i < v->n_quantities && q >= 0; i++) {
      scored = scored || v->quantity[i] == q;
    }
    for (int64_t i = 0; i < v->joint.n && q >= 0; i++) {
      twice = twice || v->joint.quantity[i] == q;
    }
    if (!scored || twice) {
      return weir_fail(WEIR_ERR_CONFIG, "eval.joint[%lld].quantity: '%s' %s", (long long)k,
                       row[k].quantity,
                       twice ? "is listed twice"
                             : "is not scored: take quantities of eval.quantities that forecast "
                               "and truth have");
    }
    v->joint.quantity[v->joint.n++] = q;
    used += (size_t)snprintf(v->joint.name + used, sizeof v->joint.name - used, "%s%s",
                             k > 0 ? "+" : "", f->quantity[q].name);
    used = used < sizeof v->joint.name ? used : sizeof v->joint.name - 1;
  }
  for (int64_t m = 0; m < v->n_models; m++) {
    members = members || v->model[m].gives > 0;
  }
  return members ? WEIR_OK
                 : weir_fail(WEIR_ERR_CONFIG,
                             "eval.joint: no row of eval.models gives members, and a distribution "
                             "of each quantity says nothing of their dependence: add raw members, "
                             "or EMOS with output: members");
}

/* A window of no lead that is scored would be a table that is silently not there. */
static weir_status check_window_leads(const wx_verify *v)
{
  const wx_lead_window *const w = v->opts->lead_windows.items;

  for (int64_t k = 0; k < v->opts->lead_windows.count; k++) {
    bool any = false;

    for (int64_t l = 0; l < v->n_leads; l++) {
      const double hours = v->data->facts->lead[v->lead[l]];

      any = any || (hours >= w[k].from && hours <= w[k].to);
    }
    if (!any) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "eval.lead_windows[%lld]: no lead that is scored lies in '%s', %g to %g h",
                       (long long)k, w[k].name, w[k].from, w[k].to);
    }
  }
  return WEIR_OK;
}

/* Before anything is computed: what is scored is the same in forecast and truth. */
static weir_status check_periods(const wx_verify *v)
{
  for (int64_t k = 0; k < v->n_quantities; k++) {
    for (int64_t l = 0; l < v->n_leads; l++) {
      if (has_truth(v, v->quantity[k], v->lead[l])) {
        WEIR_TRY(wx_eval_data_check_period(v->data, v->lead[l], v->quantity[k]));
      }
    }
  }
  return WEIR_OK;
}

static weir_status allocate(wx_verify *v)
{
  const int64_t cells = v->data->cells, n = v->n_candidates;

  WEIR_TRY(wx_climatology_create(&v->opts->climate, v->event, v->n_events, v->data, v->candidate, n,
                                 &v->climate));
  for (int64_t k = 0; k < v->n_models; k++) {
    wx_pair_map *const p = &v->pair[k];
    double **const at[] = {&p->sum, &p->square, &p->lagged, &p->count};

    WEIR_TRY(wx_score_sums_create(&v->opts->score, &v->data->facts->grid, &v->regions,
                                  v->model[k].gives, v->n_events, n, &v->score_sums[k]));
    for (int i = 0; i < 4; i++) {
      WEIR_TRY(weir_alloc(cells, sizeof(double), (void **)at[i]));
    }
    WEIR_TRY(weir_alloc(cells, sizeof(float), (void **)&p->last));
    WEIR_TRY(weir_alloc(v->joint.n * v->model[k].gives * cells, sizeof(float),
                        (void **)&v->joint.member[k]));
  }
  WEIR_TRY(weir_alloc(v->joint.n * cells, sizeof(float), (void **)&v->joint.truth));
  WEIR_TRY(weir_alloc(n, sizeof(int64_t), (void **)&v->start));
  WEIR_TRY(weir_alloc(n, sizeof(int64_t), (void **)&v->time));
  WEIR_TRY(weir_alloc(n, sizeof(double), (void **)&v->efi_mean));
  WEIR_TRY(weir_alloc(cells, sizeof(float), (void **)&v->truth));
  WEIR_TRY(weir_alloc(cells, sizeof(float), (void **)&v->efi));
  return weir_alloc(cells, 1, (void **)&v->use);
}

weir_status wx_verify_open(const wx_verify_opts *opts, wx_eval_data *s, uint64_t seed,
                           const int64_t *candidate, int64_t n, wx_verify *out)
{
  weir_status status = WEIR_OK;

  memset(out, 0, sizeof *out);
  out->opts = opts;
  out->data = s;
  out->seed = seed;
  out->candidate = candidate;
  out->n_candidates = n;
  s->climate = opts->climate.file[0] != 0 ? opts->climate.file : NULL;
  if (n == 0) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "eval.part: no initialisation time of %s is in it: choose another, or change data.split",
        s->facts->name);
  }
  WEIR_TRY_GOTO(wx_verify_check(opts), done);
  WEIR_TRY_GOTO(
      wx_regions_create(opts->regions.items, opts->regions.count, &s->facts->grid, &out->regions),
      done);
  WEIR_TRY_GOTO(open_models(out), done);
  WEIR_TRY_GOTO(find_references(out), done);
  WEIR_TRY_GOTO(make_events(out), done);
  WEIR_TRY_GOTO(choose_quantities(out), done);
  WEIR_TRY_GOTO(choose_leads(out), done);
  WEIR_TRY_GOTO(choose_joint(out), done);
  WEIR_TRY_GOTO(check_window_leads(out), done);
  WEIR_TRY_GOTO(check_periods(out), done);
  WEIR_TRY_GOTO(allocate(out), done);
done:
  if (status != WEIR_OK) {
    wx_verify_close(out);
  }
  return status;
}

void wx_verify_close(wx_verify *v)
{
  for (int64_t k = 0; k < WX_MODELS; k++) {
    wx_model_close(&v->model[k]);
    wx_score_sums_fini(&v->score_sums[k]);
    weir_free(&v->pair[k].sum);
    weir_free(&v->pair[k].square);
    weir_free(&v->pair[k].lagged);
    weir_free(&v->pair[k].count);
    weir_free(&v->pair[k].last);
    weir_free(&v->joint.member[k]);
  }
  weir_free(&v->joint.truth);
  wx_regions_fini(&v->regions);
  wx_climatology_fini(&v->climate);
  wx_remarks_clear(&v->remarks);
  weir_free(&v->quantity);
  weir_free(&v->lead);
  weir_free(&v->start);
  weir_free(&v->time);
  weir_free(&v->efi_mean);
  weir_free(&v->truth);
  weir_free(&v->efi);
  weir_free(&v->use);
}
