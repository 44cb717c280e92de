/* verify.c - see verify.h. */
#include "eval/verify.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "data/date.h"
#include "eval/score/normal.h"
#include "eval/verify_priv.h"

/* Of a sentence, and of a name of quantities with a lead. */
enum { NOTE = 8 * WX_LONG, WHERE = (WX_JOINT_QUANTITIES + 1) * WX_SHORT };

/* Whether the archives have forecast and truth of it. */
static bool is_there(const wx_verify *v, int64_t start, int64_t quantity, int64_t lead)
{
  const wx_eval_data *const s = v->data;

  if (wx_eval_data_valid(s, start, lead, quantity) < 0) {
    return false;
  }
  for (int64_t m = 0; m < s->facts->n_members; m++) {
    if (wx_archive_has(s->forecast, start, lead, quantity, m)) {
      return true;
    }
  }
  return false;
}

/* The first model that has no forecast of a start, -1: all have. */
static int64_t without_forecast(const wx_verify *v, int64_t start, int64_t quantity, int64_t lead)
{
  for (int64_t m = 0; m < v->n_models; m++) {
    const wx_model *const model = &v->model[m];

    if (model->desc->covers != NULL &&
        !model->desc->covers(model, v->data, start, lead, quantity)) {
      return m;
    }
  }
  return -1;
}

/* Why a start is not scored: NOTHING is missing, the archives lack it, or model `*which` does. */
typedef enum lack { NOTHING, FORECAST_OR_TRUTH, MODEL } lack;

static lack lack_at(const wx_verify *v, int64_t start, int64_t quantity, int64_t lead,
                    int64_t *which)
{
  if (!is_there(v, start, quantity, lead)) {
    return FORECAST_OR_TRUTH;
  }
  *which = without_forecast(v, start, quantity, lead);
  return *which < 0 ? NOTHING : MODEL;
}

static lack lack_of(const wx_verify *v, int64_t start, int64_t *which)
{
  if (v->opts->init_times != WX_INIT_TIMES_SAME && v->at_quantity == WX_JOINT) {
    for (int64_t q = 0; q < v->joint.n; q++) {
      const lack l = lack_at(v, start, v->joint.quantity[q], v->at_lead, which);

      if (l != NOTHING) {
        return l;
      }
    }
    return NOTHING;
  }
  if (v->opts->init_times != WX_INIT_TIMES_SAME) {
    return lack_at(v, start, v->at_quantity, v->at_lead, which);
  }
  for (int64_t i = 0; i < v->n_quantities * v->n_leads; i++) {
    const lack l = lack_at(v, start, v->quantity[i / v->n_leads], v->lead[i % v->n_leads], which);

    if (l != NOTHING) {
      return l;
    }
  }
  return NOTHING;
}

/* "z500", or "z500+t500". */
static const char *quantity_name(const wx_verify *v)
{
  return v->at_quantity == WX_JOINT ? v->joint.name : v->data->facts->quantity[v->at_quantity].name;
}

/* " (z500 at 48 h)", or nothing where all quantities and leads have the same initialisation times.
 */
static void where_text(const wx_verify *v, char *text, size_t size)
{
  const wx_archive_info *const f = v->data->facts;

  (void)snprintf(text, size, " (%s at %g h)", quantity_name(v), f->lead[v->at_lead]);
}

/* Initialisation times that are left out: missing[0] have no forecast or truth, missing[1 + m] none
 * of model m; first[]: the first of each. */
static weir_status note_missing(wx_verify *v, const int64_t *missing, const int64_t *first)
{
  char where[WHERE] = "", text[NOTE], date[32];

  if (v->opts->init_times != WX_INIT_TIMES_SAME) {
    where_text(v, where, sizeof where);
  }
  for (int64_t m = -1; m < v->n_models; m++) {
    if (missing[1 + m] == 0) {
      continue;
    }
    wx_date_text((double)v->data->facts->start[first[1 + m]] / 86400, date, sizeof date);
    (void)snprintf(
        text, sizeof text,
        "%lld of %lld initialisation times are left out for all models%s: %s has no forecast%s of "
        "them, the first %s",
        (long long)missing[1 + m], (long long)v->n_candidates, where,
        m < 0 ? "the archive" : v->model[m].name, m < 0 ? " or no truth" : "", date);
    WEIR_TRY(wx_remarks_add(&v->remarks, text));
  }
  return WEIR_OK;
}

weir_status wx_verify_choose_init_times(wx_verify *v)
{
  const wx_archive_info *const f = v->data->facts;
  int64_t missing[1 + WX_MODELS] = {0}, first[1 + WX_MODELS] = {0};

  v->n_init_times = 0;
  for (int64_t i = 0; i < v->n_candidates; i++) {
    const int64_t start = v->candidate[i];
    int64_t model = -1;
    const lack l = lack_of(v, start, &model);

    if (l == NOTHING) {
      v->time[v->n_init_times] = f->start[start];
      v->start[v->n_init_times++] = start;
    } else {
      const int64_t at = l == MODEL ? 1 + model : 0;

      first[at] = missing[at]++ == 0 ? start : first[at];
    }
  }
  if (v->n_init_times > 0) {
    return note_missing(v, missing, first);
  }
  for (int64_t m = 0; m < v->n_models; m++) {
    if (missing[1 + m] > 0) {
      return weir_fail(
          WEIR_ERR_DATA,
          "eval.models: %s has no forecast of %lld of the %lld initialisation times, and %lld have "
          "no forecast or truth: none is left to score %s at %g h: predict the "
          "initialisation times of eval.part, or choose eval.part, eval.leads and eval.quantities",
          v->model[m].name, (long long)missing[1 + m], (long long)v->n_candidates,
          (long long)missing[0], quantity_name(v), f->lead[v->at_lead]);
    }
  }
  return weir_fail(
      WEIR_ERR_DATA,
      "%s: none of %lld initialisation times has forecast and truth of %s at %g h%s: take "
      "truth of the valid times, or choose eval.leads and eval.quantities",
      f->name, (long long)v->n_candidates, quantity_name(v), f->lead[v->at_lead],
      v->opts->init_times == WX_INIT_TIMES_SAME ? " and all else (eval.init_times: same)" : "");
}

weir_status wx_verify_start(wx_verify *v, int64_t start, wx_given *given, bool *any)
{
  const bool some = v->opts->missing == WX_MISSING_COUNT;
  const int64_t cells = v->data->cells;
  const float *truth;

  WEIR_TRY(wx_eval_data_truth(v->data, start, v->at_lead, v->at_quantity, &truth));
  *any = truth != NULL;
  if (truth == NULL) {
    return WEIR_OK;
  }
  memcpy(v->truth, truth, (size_t)cells * sizeof *truth);
  for (int64_t i = 0; i < cells; i++) {
    v->use[i] = isfinite(v->truth[i]) != 0;
  }
  for (int64_t k = 0; k < v->n_models; k++) {
    if (v->model[k].absent) {
      continue;
    }
    WEIR_TRY(wx_model_give(&v->model[k], v->data, start, &given[k]));
    for (int64_t i = 0; i < cells; i++) {
      v->use[i] = v->use[i] && wx_given_is_whole(&given[k], cells, i, some);
    }
  }
  return WEIR_OK;
}

static void add_pair(wx_pair_map *p, const float *crps, const float *reference, int64_t cells)
{
  for (int64_t i = 0; i < cells; i++) {
    const double d = (double)crps[i] - (double)reference[i];

    if (isnan(d)) {
      p->last[i] = NAN;
      continue;
    }
    p->sum[i] += d;
    p->square[i] += d * d;
    p->lagged[i] += isnan(p->last[i]) ? 0 : d * (double)p->last[i];
    p->count[i]++;
    p->last[i] = (float)d;
  }
}

void wx_verify_map_test(const wx_verify *v, int64_t model, double *p)
{
  const wx_pair_map *const m = &v->pair[model];

  for (int64_t i = 0; i < v->data->cells; i++) {
    const double n = m->count[i], mean = m->sum[i] / n;
    const double variance = m->square[i] / n - mean * mean;
    /* Of the lagged products the mean is taken off as if the ends did not matter. */
    const double r = fmax(0, (m->lagged[i] / n - mean * mean) / variance);

    p[i] = NAN;
    if (n >= 3 && variance > 1e-14 * mean * mean) {
      const double n_eff = fmax(2, n * (1 - r) / (1 + r));
      const double t = mean / sqrt(variance * n / (n - 1) / n_eff);

      p[i] = wx_student_two_sided(t, n_eff - 1);
    }
  }
}

static double mean_over(const wx_verify *v, const float *field)
{
  const double *const weight = v->data->facts->grid.weight;
  double sum = 0, all = 0;

  for (int64_t i = 0; i < v->data->cells; i++) {
    const double w = weight != NULL ? weight[i] : 1;

    if (isfinite(field[i])) {
      sum += w * (double)field[i];
      all += w;
    }
  }
  return all > 0 ? sum / all : NAN;
}

bool wx_verify_any_point(const wx_verify *v)
{
  for (int64_t i = 0; i < v->data->cells; i++) {
    if (v->use[i]) {
      return true;
    }
  }
  return false;
}

/* Start k of the list, counted as start `at`; *counted: it has a point to score. */
static weir_status take_start(wx_verify *v, int64_t k, int64_t at, bool *counted)
{
  wx_given given[WX_MODELS];
  const int64_t start = v->start[k], reference = v->reference[0];
  wx_start_case c = {.truth = v->truth,
                     .use = v->use,
                     .climate = &v->climate,
                     .seed = v->seed,
                     .number = (uint32_t)(v->at_quantity * v->data->facts->n_leads + v->at_lead),
                     .start = start};
  const float *members;
  bool any;

  WEIR_TRY(wx_climatology_update(&v->climate, v->data, start, v->at_lead, v->at_quantity));
  v->efi_mean[at] = NAN;
  if (v->climate.n > 0) {
    WEIR_TRY(wx_eval_data_members(v->data, start, v->at_lead, v->at_quantity, &members));
    WEIR_TRY(wx_climatology_efi(&v->climate, v->data, members, v->efi));
    v->efi_mean[at] = mean_over(v, v->efi);
    c.efi = v->efi;
  }
  WEIR_TRY(wx_verify_start(v, start, given, &any));
  any = any && wx_verify_any_point(v);
  *counted = any;
  for (int64_t m = 0; m < v->n_models && any; m++) {
    if (!v->model[m].absent) {
      wx_score_sums_take(&v->score_sums[m], &c, &given[m], at);
    }
  }
  for (int64_t m = 0; m < v->n_models && any; m++) {
    if (m != reference && !v->model[m].absent && !v->model[reference].absent) {
      add_pair(&v->pair[m], v->score_sums[m].crps, v->score_sums[reference].crps, v->data->cells);
    }
  }
  return WEIR_OK;
}

void wx_verify_clear(wx_verify *v)
{
  const int64_t cells = v->data->cells;

  wx_remarks_clear(&v->remarks);
  for (int64_t m = 0; m < v->n_models; m++) {
    wx_pair_map *const p = &v->pair[m];

    wx_score_sums_clear(&v->score_sums[m]);
    for (int64_t i = 0; i < cells; i++) {
      p->sum[i] = p->square[i] = p->lagged[i] = p->count[i] = 0;
      p->last[i] = NAN;
    }
  }
}

weir_status wx_verify_note_absent(wx_verify *v)
{
  char where[WHERE], text[NOTE];
  int64_t there = 0;

  where_text(v, where, sizeof where);
  for (int64_t m = 0; m < v->n_models; m++) {
    there += !v->model[m].absent;
  }
  if (there == 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "eval.models: no model has a forecast%s: nothing to score: choose eval.leads "
                     "and eval.quantities, or a subset with training initialisation times",
                     where);
  }
  for (int64_t m = 0; m < v->n_models; m++) {
    const bool of_members = v->at_quantity != WX_JOINT || v->model[m].gives > 0;

    if (v->model[m].absent && of_members) {
      (void)snprintf(text, sizeof text, "%s is not scored: it has no forecast%s", v->model[m].name,
                     where);
      WEIR_TRY(wx_remarks_add(&v->remarks, text));
    }
  }
  return WEIR_OK;
}

/* Initialisation times whose truth or forecasts are missing at every point. */
weir_status wx_verify_note_empty(wx_verify *v, int64_t empty)
{
  char where[WHERE], text[NOTE];

  where_text(v, where, sizeof where);
  if (v->n_init_times == 0) {
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: at none of %lld initialisation times is there a point that the truth and all members "
        "of all models have%s: nothing to score: look for missing values with "
        "prepare, or set eval.missing to count",
        v->data->facts->name, (long long)empty, where);
  }
  if (empty == 0) {
    return WEIR_OK;
  }
  (void)snprintf(text, sizeof text,
                 "%lld of %lld initialisation times are left out for all models%s: they have no "
                 "point that the "
                 "truth and all members of all models have",
                 (long long)empty, (long long)(v->n_init_times + empty), where);
  return wx_remarks_add(&v->remarks, text);
}

static weir_status note_few_dates(wx_verify *v)
{
  char text[NOTE];

  for (int64_t m = 0; m < v->n_models; m++) {
    if (wx_model_few_dates(&v->model[m], v->data, text, sizeof text)) {
      WEIR_TRY(wx_remarks_add(&v->remarks, text));
    }
  }
  return WEIR_OK;
}

weir_status wx_verify_lead(wx_verify *v, int64_t quantity, int64_t lead)
{
  const wx_archive_info *const f = v->data->facts;
  char what[WX_LONG];

  v->at_quantity = quantity;
  v->at_lead = lead;
  wx_verify_clear(v);
  WEIR_TRY(wx_verify_choose_init_times(v));
  for (int64_t m = 0; m < v->n_models; m++) {
    WEIR_TRY(wx_model_fit(&v->model[m], v->data, lead, quantity));
  }
  WEIR_TRY(wx_verify_note_absent(v));
  (void)snprintf(what, sizeof what, "%s %g h", f->quantity[quantity].name, f->lead[lead]);
  const int64_t n = v->n_init_times;
  int64_t kept = 0;

  for (int64_t k = 0; k < n; k++) {
    bool counted = false;

    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "stopped at initialisation time %lld of %lld of %s",
                       (long long)k, (long long)n, what);
    }
    WEIR_TRY(take_start(v, k, kept, &counted));
    v->start[kept] = v->start[k];
    v->time[kept] = v->time[k];
    kept += counted;
    weir_progress(what, k + 1, n, "initialisation times");
  }
  v->n_init_times = kept;
  WEIR_TRY(note_few_dates(v));
  return wx_verify_note_empty(v, n - kept);
}
