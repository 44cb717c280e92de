/* verify.c - see verify.h. */
#include "eval/verify.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "eval/normal.h"

/* Whether the archives have forecast and truth of it. */
static bool is_there(const wx_verify *v, int64_t start, int64_t quantity, int64_t lead)
{
  const wx_scene *const s = v->scene;

  if (wx_scene_valid(s, start, lead, quantity) < 0) {
    return false;
  }
  for (int64_t m = 0; m < s->facts->n_members; m++) {
    if (wx_archive_has(s->forecast, start, lead, quantity, m)) {
      return true;
    }
  }
  return false;
}

static bool is_there_at_all(const wx_verify *v, int64_t start)
{
  for (int64_t q = 0; q < v->n_quantities; q++) {
    for (int64_t l = 0; l < v->n_leads; l++) {
      if (!is_there(v, start, v->quantity[q], v->lead[l])) {
        return false;
      }
    }
  }
  return true;
}

static weir_status choose_starts(wx_verify *v)
{
  const wx_archive_facts *const f = v->scene->facts;

  v->n_starts = 0;
  for (int64_t i = 0; i < v->n_candidates; i++) {
    const int64_t start = v->candidate[i];

    if (v->opts->starts == WX_STARTS_SAME ? is_there_at_all(v, start)
                                          : is_there(v, start, v->at_quantity, v->at_lead)) {
      v->time[v->n_starts] = f->start[start];
      v->start[v->n_starts++] = start;
    }
  }
  return v->n_starts > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: none of %lld starts has forecast and truth of %s at %g h%s: take "
                         "truth of the valid times, or choose eval.leads and eval.quantities",
                         f->name, (long long)v->n_candidates, f->quantity[v->at_quantity].name,
                         f->lead[v->at_lead],
                         v->opts->starts == WX_STARTS_SAME ? " and all else (eval.starts: same)"
                                                           : "");
}

weir_status wx_verify_start(wx_verify *v, int64_t start, wx_given *given, bool *any)
{
  const bool some = v->opts->missing == WX_MISSING_COUNT;
  const int64_t cells = v->scene->cells;
  const float *truth;

  WEIR_TRY(wx_scene_truth(v->scene, start, v->at_lead, v->at_quantity, &truth));
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
    WEIR_TRY(wx_model_give(&v->model[k], v->scene, start, &given[k]));
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

  for (int64_t i = 0; i < v->scene->cells; i++) {
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
  const double *const weight = v->scene->facts->grid.weight;
  double sum = 0, all = 0;

  for (int64_t i = 0; i < v->scene->cells; i++) {
    const double w = weight != NULL ? weight[i] : 1;

    if (isfinite(field[i])) {
      sum += w * (double)field[i];
      all += w;
    }
  }
  return all > 0 ? sum / all : NAN;
}

static weir_status take_start(wx_verify *v, int64_t k)
{
  wx_given given[WX_MODELS];
  const int64_t start = v->start[k], reference = v->reference[0];
  wx_start_case c = {.truth = v->truth,
                     .use = v->use,
                     .climate = &v->climate,
                     .seed = v->seed,
                     .number = (uint32_t)(v->at_quantity * v->scene->facts->n_leads + v->at_lead),
                     .start = start};
  const float *members;
  bool any;

  WEIR_TRY(wx_climatology_update(&v->climate, v->scene, start, v->at_lead, v->at_quantity));
  v->efi_mean[k] = NAN;
  if (v->climate.n > 0) {
    WEIR_TRY(wx_scene_members(v->scene, start, v->at_lead, v->at_quantity, &members));
    WEIR_TRY(wx_climatology_efi(&v->climate, v->scene, members, v->efi));
    v->efi_mean[k] = mean_over(v, v->efi);
    c.efi = v->efi;
  }
  WEIR_TRY(wx_verify_start(v, start, given, &any));
  for (int64_t m = 0; m < v->n_models && any; m++) {
    if (!v->model[m].absent) {
      wx_tally_take(&v->tally[m], &c, &given[m], k);
    }
  }
  for (int64_t m = 0; m < v->n_models && any; m++) {
    if (m != reference && !v->model[m].absent && !v->model[reference].absent) {
      add_pair(&v->pair[m], v->tally[m].crps, v->tally[reference].crps, v->scene->cells);
    }
  }
  return WEIR_OK;
}

static void clear(wx_verify *v)
{
  const int64_t cells = v->scene->cells;

  for (int64_t m = 0; m < v->n_models; m++) {
    wx_pair_map *const p = &v->pair[m];

    wx_tally_clear(&v->tally[m]);
    for (int64_t i = 0; i < cells; i++) {
      p->sum[i] = p->square[i] = p->lagged[i] = p->count[i] = 0;
      p->last[i] = NAN;
    }
  }
}

weir_status wx_verify_lead(wx_verify *v, int64_t quantity, int64_t lead)
{
  const wx_archive_facts *const f = v->scene->facts;
  char what[WX_LONG];

  v->at_quantity = quantity;
  v->at_lead = lead;
  clear(v);
  WEIR_TRY(choose_starts(v));
  for (int64_t m = 0; m < v->n_models; m++) {
    WEIR_TRY(wx_model_fit(&v->model[m], v->scene, lead, quantity));
  }
  (void)snprintf(what, sizeof what, "%s %g h", f->quantity[quantity].name, f->lead[lead]);
  for (int64_t k = 0; k < v->n_starts; k++) {
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "stopped at start %lld of %lld of %s", (long long)k,
                       (long long)v->n_starts, what);
    }
    WEIR_TRY(take_start(v, k));
    weir_progress(what, k + 1, v->n_starts, "starts");
  }
  return WEIR_OK;
}
