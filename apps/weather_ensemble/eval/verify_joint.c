/* verify_joint.c - several quantities as one vector at the points of a square: energy and variogram
 * score (eval/ensemble.h) of their dependence. Numbers of a quantity are divided by a scale of
 * theirs: otherwise units would decide which one counts. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "eval/verify_priv.h"

static wx_model *model_of(const wx_verify *v, int64_t quantity, int64_t m)
{
  return &v->joint.model[quantity * WX_MODELS + m];
}

static void close_models(wx_verify *v)
{
  for (int64_t k = 0; k < v->joint.n * WX_MODELS && v->joint.model != NULL; k++) {
    wx_model_close(&v->joint.model[k]);
  }
  weir_free(&v->joint.model);
}

/* Of each quantity a model of its own, fitted: a model has one fit at a time. Those without members
 * or without a forecast of a quantity are absent. */
static weir_status open_models(wx_verify *v)
{
  static const wx_model_row all_raw = {.name = "", .use = {.name = "raw"}};
  const wx_model_row *const row = v->opts->models.count > 0 ? v->opts->models.items : &all_raw;
  int64_t there = 0;

  WEIR_TRY(weir_alloc(v->joint.n * WX_MODELS, sizeof *v->joint.model, (void **)&v->joint.model));
  for (int64_t m = 0; m < v->n_models; m++) {
    wx_model *const main = &v->model[m];

    main->absent = main->gives == 0;
    main->lead = main->quantity = -1; /* fitted anew where it is asked for alone */
    for (int64_t q = 0; q < v->joint.n && main->gives > 0; q++) {
      WEIR_TRY(wx_model_open(&row[m], v->data, model_of(v, q, m)));
      WEIR_TRY(wx_model_fit(model_of(v, q, m), v->data, v->at_lead, v->joint.quantity[q]));
      main->absent = main->absent || model_of(v, q, m)->absent;
    }
    there += !main->absent;
  }
  return there > 0 ? WEIR_OK
                   : weir_fail(WEIR_ERR_DATA,
                               "eval.joint: no model that gives members has a forecast of all of "
                               "%s at %g h",
                               v->joint.name, v->data->facts->lead[v->at_lead]);
}

/* Sums of truth and of its squares at each point, from a first value on: [cells]. */
typedef struct deviation {
  double *first, *sum, *square, *count;
} deviation;

static weir_status add_truth(wx_verify *v, int64_t start, int64_t quantity, const deviation *d)
{
  const float *truth;

  WEIR_TRY(wx_eval_data_truth(v->data, start, v->at_lead, quantity, &truth));
  for (int64_t i = 0; i < v->data->cells && truth != NULL; i++) {
    const double y = (double)truth[i];

    if (isfinite(y)) {
      d->first[i] = d->count[i] > 0 ? d->first[i] : y;
      d->sum[i] += y - d->first[i];
      d->square[i] += (y - d->first[i]) * (y - d->first[i]);
      d->count[i]++;
    }
  }
  return WEIR_OK;
}

/* Root of the mean over points, by area, of the variance of the truth at each (n - 1). */
static double deviation_of(const wx_verify *v, const deviation *d)
{
  const double *const weight = v->data->facts->grid.weight;
  double sum = 0, all = 0;

  for (int64_t i = 0; i < v->data->cells; i++) {
    const double w = weight != NULL ? weight[i] : 1, n = d->count[i];

    if (n > 1) {
      sum += w * fmax(0, d->square[i] - d->sum[i] * d->sum[i] / n) / (n - 1);
      all += w;
    }
  }
  return sqrt(sum / all);
}

static weir_status find_scale(wx_verify *v, int64_t k)
{
  const double given = ((const wx_joint_row *)v->opts->joint.items)[k].scale;
  const int64_t cells = v->data->cells, quantity = v->joint.quantity[k];
  double *sums = NULL;
  weir_status status = WEIR_OK;

  v->joint.scale[k] = given;
  if (given > 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(4 * cells, sizeof *sums, (void **)&sums));
  const deviation d = {sums, sums + cells, sums + 2 * cells, sums + 3 * cells};

  for (int64_t i = 0; i < v->n_init_times; i++) {
    WEIR_TRY_GOTO(add_truth(v, v->start[i], quantity, &d), done);
  }
  v->joint.scale[k] = deviation_of(v, &d);
  if (!(v->joint.scale[k] > 0)) {
    status = weir_fail(WEIR_ERR_DATA,
                       "eval.joint: the truth of %s at %g h is the same in all of %lld "
                       "initialisation times, or there is one: its standard deviation is no "
                       "scale: set eval.joint[%lld].scale",
                       v->data->facts->quantity[quantity].name, v->data->facts->lead[v->at_lead],
                       (long long)v->n_init_times, (long long)k);
  }
done:
  weir_free(&sums);
  return status;
}

/* Copies members of quantity q, and marks the points that have all of them. */
static weir_status take_members(wx_verify *v, int64_t m, int64_t q, int64_t start)
{
  const bool some = v->opts->missing == WX_MISSING_COUNT;
  const int64_t cells = v->data->cells, gives = v->model[m].gives;
  wx_given given;

  WEIR_TRY(wx_model_give(model_of(v, q, m), v->data, start, &given));
  if (given.members != gives) {
    return weir_fail(WEIR_ERR_DATA, "eval.joint: %s has %lld members of %s, where %lld were found",
                     v->model[m].name, (long long)given.members,
                     v->data->facts->quantity[v->joint.quantity[q]].name, (long long)gives);
  }
  memcpy(v->joint.member[m] + q * gives * cells, given.member,
         (size_t)(gives * cells) * sizeof(float));
  for (int64_t i = 0; i < cells; i++) {
    v->use[i] = v->use[i] && wx_given_is_whole(&given, cells, i, some);
  }
  return WEIR_OK;
}

static weir_status take_quantity(wx_verify *v, int64_t q, int64_t start, bool *any)
{
  const int64_t cells = v->data->cells;
  const float *truth;

  WEIR_TRY(wx_eval_data_truth(v->data, start, v->at_lead, v->joint.quantity[q], &truth));
  *any = *any && truth != NULL;
  if (!*any) {
    return WEIR_OK;
  }
  memcpy(v->joint.truth + q * cells, truth, (size_t)cells * sizeof *truth);
  for (int64_t i = 0; i < cells; i++) {
    v->use[i] = v->use[i] && isfinite(truth[i]);
  }
  for (int64_t m = 0; m < v->n_models; m++) {
    WEIR_TRY(v->model[m].absent ? WEIR_OK : take_members(v, m, q, start));
  }
  return WEIR_OK;
}

/* Start k of the list, counted as start `at`; *counted: it has a point to score. */
static weir_status take_start(wx_verify *v, int64_t k, int64_t at, bool *counted)
{
  wx_joint_case c = {.n = v->joint.n, .truth = v->joint.truth, .scale = v->joint.scale};
  bool any = true;

  c.use = v->use;
  memset(v->use, 1, (size_t)v->data->cells);
  v->efi_mean[at] = NAN;
  for (int64_t q = 0; q < v->joint.n && any; q++) {
    WEIR_TRY(take_quantity(v, q, v->start[k], &any));
  }
  *counted = any && wx_verify_any_point(v);
  for (int64_t m = 0; m < v->n_models && *counted; m++) {
    c.member = v->joint.member[m];
    c.members = v->model[m].gives;
    WEIR_TRY(v->model[m].absent ? WEIR_OK : wx_score_sums_take_joint(&v->score_sums[m], &c, at));
  }
  return WEIR_OK;
}

static weir_status score_all(wx_verify *v)
{
  const int64_t n = v->n_init_times;
  char what[sizeof v->joint.name + WX_SHORT];
  int64_t kept = 0;

  (void)snprintf(what, sizeof what, "%s %g h", v->joint.name, v->data->facts->lead[v->at_lead]);
  for (int64_t q = 0; q < v->joint.n; q++) {
    WEIR_TRY(find_scale(v, q));
  }
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
  return wx_verify_note_empty(v, n - kept);
}

void wx_verify_joint_scales(const wx_verify *v, const double *scale, char *text, size_t size)
{
  size_t used = 0;

  text[0] = 0;
  for (int64_t k = 0; k < v->joint.n && used < size; k++) {
    const wx_quantity *const q = &v->data->facts->quantity[v->joint.quantity[k]];

    used += (size_t)snprintf(text + used, size - used, "%s%s: %.6g %s", k > 0 ? ", " : "", q->name,
                             scale[k], q->units);
  }
}

weir_status wx_verify_joint(wx_verify *v, int64_t lead)
{
  weir_status status = WEIR_OK;

  v->at_quantity = WX_JOINT;
  v->at_lead = lead;
  wx_verify_clear(v);
  WEIR_TRY(wx_verify_choose_init_times(v));
  WEIR_TRY_GOTO(open_models(v), done);
  WEIR_TRY_GOTO(wx_verify_note_absent(v), done);
  WEIR_TRY_GOTO(score_all(v), done);
done:
  close_models(v);
  return status;
}
