/* case_study.c - see case_study.h. */
#include "eval/case_study.h"
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "eval/score/crps.h"
#include "eval/sort/sort.h"
#include "eval/score/efi.h"
#include "eval/ensemble.h"
#include "eval/given.h"
#include "eval/score/scores.h"

/* The number of the start among those scored. */
static int64_t choose(const wx_verify *v, bool *by_efi)
{
  const wx_score_sums *const t = &v->score_sums[v->reference[0]];
  const double *const crps = wx_score_sums_series(t, 0, WX_BY_AREA, WX_SUM_CRPS);
  const double *const weight = wx_score_sums_series(t, 0, WX_BY_AREA, WX_SUM_WEIGHT);
  int64_t best = 0;
  double max_efi = -1;

  *by_efi = false;
  for (int64_t k = 0; k < v->n_init_times; k++) {
    *by_efi = *by_efi || !isnan(v->efi_mean[k]);
  }
  for (int64_t k = 0; k < v->n_init_times; k++) {
    const double at = *by_efi ? fabs(v->efi_mean[k]) : weight[k] > 0 ? crps[k] / weight[k] : NAN;

    if (at > max_efi) {
      max_efi = at;
      best = k;
    }
  }
  return best;
}

/* Mean and CRPS of a forecast at point i, x[m] ascending where it has members. */
static void score_point(const wx_verify *v, const wx_given *g, int64_t i, const double *x,
                        int64_t m, float *mean, float *crps)
{
  const double y = (double)v->truth[i];

  if (g->members > 0) {
    const wx_crps_decomposition p = wx_crps_sorted(x, m, y);

    *mean = (float)wx_ensemble_moments(x, m, 0).mean;
    *crps = (float)wx_crps_empirical(&p);
  } else {
    const wx_distribution d = wx_given_distribution(g, i);

    *mean = g->mean[i];
    *crps = (float)wx_distribution_crps(&d, y);
  }
}

/* Mean and CRPS of a forecast at each point that is used. scratch: [members, WX_LANES + 1]. */
static void score_field(const wx_verify *v, const wx_given *g, double *scratch, float *mean,
                        float *crps, double *score)
{
  const double *const area = v->data->facts->grid.weight;
  const int64_t cells = v->data->cells;
  double sum = 0, all = 0;
  double *const sorted = scratch + g->members * WX_LANES;
  int64_t m[WX_LANES] = {0};

  for (int64_t i = 0; i < cells; i++) {
    const int64_t lane = i % WX_LANES, n = cells - i < WX_LANES ? cells - i : WX_LANES;
    const double w = area != NULL ? area[i] : 1;

    if (lane == 0 && g->members > 0) {
      wx_sort_fields(g->member + i, g->members, cells, n, FLT_MAX, scratch, m);
    }
    mean[i] = crps[i] = NAN;
    if (!v->use[i]) {
      continue;
    }
    wx_lane_copy(scratch, m[lane], lane, sorted);
    score_point(v, g, i, sorted, m[lane], &mean[i], &crps[i]);
    sum += w * (double)crps[i];
    all += w;
  }
  *score = all > 0 ? sum / all : NAN;
}

/* Index and shift of tails at the point that is most extreme. */
static weir_status look_at_point(wx_verify *v, const float *members, wx_case_study *c)
{
  const wx_climatology *const climate = &v->climate;
  const int64_t cells = v->data->cells;
  double max_efi = -1, *x = NULL;
  int64_t at, n;

  for (int64_t i = 0; i < cells; i++) {
    if (fabs((double)c->efi[i]) > max_efi) {
      max_efi = fabs((double)c->efi[i]);
      c->point = i;
    }
  }
  if (max_efi < 0) {
    return WEIR_OK;
  }
  c->point_efi = (double)c->efi[c->point];
  WEIR_TRY(wx_climatology_members(climate, v->data, &at, &n));
  WEIR_TRY(weir_alloc(n, sizeof *x, (void **)&x));
  for (int64_t k = 0; k < n; k++) {
    x[k] = (double)members[(at + k) * cells + c->point];
  }
  wx_sort(x, n);
  if (climate->efi.steps == 100) {
    const bool upper = c->point_efi >= 0;
    const float *const q = climate->quantile;

    c->point_sot = wx_sot(x, n, (double)q[(upper ? 90 : 10) * cells + c->point],
                          (double)q[(upper ? 99 : 1) * cells + c->point], upper);
  }
  weir_free(&x);
  return WEIR_OK;
}

static weir_status fill(wx_verify *v, wx_case_study *c, double *scratch)
{
  const int64_t cells = v->data->cells;
  wx_given given[WX_MODELS];
  const float *members;
  bool any;

  WEIR_TRY(wx_climatology_update(&v->climate, v->data, c->start, c->lead, c->quantity));
  WEIR_TRY(wx_eval_data_members(v->data, c->start, c->lead, c->quantity, &members));
  if (v->climate.n > 0) {
    WEIR_TRY(wx_climatology_efi(&v->climate, v->data, members, c->efi));
    memcpy(c->usual, v->climate.mean, (size_t)cells * sizeof *c->usual);
    WEIR_TRY(look_at_point(v, members, c));
  }
  WEIR_TRY(wx_verify_start(v, c->start, given, &any));
  memcpy(c->truth, v->truth, (size_t)cells * sizeof *c->truth);
  for (int64_t k = 0; k < v->n_models; k++) {
    c->score[k] = NAN;
    if (any && !v->model[k].absent) {
      score_field(v, &given[k], scratch, c->mean + k * cells, c->crps + k * cells, &c->score[k]);
    }
  }
  return WEIR_OK;
}

weir_status wx_case_study_allocate(const wx_verify *v, wx_case_study *out)
{
  const int64_t cells = v->data->cells;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(cells, sizeof(float), (void **)&out->truth), done);
  WEIR_TRY_GOTO(weir_alloc(cells, sizeof(float), (void **)&out->efi), done);
  WEIR_TRY_GOTO(weir_alloc(cells, sizeof(float), (void **)&out->usual), done);
  WEIR_TRY_GOTO(weir_alloc(v->n_models * cells, sizeof(float), (void **)&out->mean), done);
  WEIR_TRY_GOTO(weir_alloc(v->n_models * cells, sizeof(float), (void **)&out->crps), done);
  for (int64_t i = 0; i < cells; i++) {
    out->efi[i] = out->usual[i] = NAN;
  }
done:
  if (status != WEIR_OK) {
    wx_case_study_fini(out);
  }
  return status;
}

weir_status wx_case_study_create(wx_verify *v, wx_case_study *out)
{
  double *scratch = NULL;
  int64_t max_members = 1;
  weir_status status = WEIR_OK;

  *out = (wx_case_study){.quantity = v->at_quantity,
                         .lead = v->at_lead,
                         .point = -1,
                         .point_efi = NAN,
                         .point_sot = NAN};
  const int64_t k = choose(v, &out->by_efi);

  out->start = v->start[k];
  out->efi_mean = v->efi_mean[k];
  for (int64_t m = 0; m < v->n_models; m++) {
    max_members = v->model[m].gives > max_members ? v->model[m].gives : max_members;
  }
  WEIR_TRY_GOTO(weir_alloc(max_members, (WX_LANES + 1) * sizeof *scratch, (void **)&scratch), done);
  WEIR_TRY_GOTO(wx_case_study_allocate(v, out), done);
  WEIR_TRY_GOTO(fill(v, out, scratch), done);
done:
  weir_free(&scratch);
  if (status != WEIR_OK) {
    wx_case_study_fini(out);
  }
  return status;
}

void wx_case_study_fini(wx_case_study *c)
{
  weir_free(&c->truth);
  weir_free(&c->efi);
  weir_free(&c->usual);
  weir_free(&c->mean);
  weir_free(&c->crps);
}
