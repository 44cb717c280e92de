/* predict_files.c - see predict_files.h. */
#include "predict_files.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "baseline/cases.h"
#include "eval/given.h"
#include "eval/sort/sort.h"

enum { PATH_SIZE = 4096 };

static bool is_wanted(const wx_experiment *e, int format)
{
  const int asked = e->cfg->predict.format;

  return asked == WX_PREDICT_BOTH || asked == (format == 0 ? WX_PREDICT_NETCDF : WX_PREDICT_GRIB);
}

static weir_status create(const wx_experiment *e, const wx_predict_request *r,
                          const weir_origin *origin, const char *file, const wx_predictions_of *of,
                          wx_predictions **out)
{
  char path[PATH_SIZE];

  WEIR_TRY(weir_path_join(r->dir, file, path, sizeof path));
  WEIR_TRY(wx_predictions_create(path, e->facts, e->forecast, r->sample, r->n, of, out));
  for (int k = 0; k < origin->n; k++) {
    WEIR_TRY(wx_predictions_put_text(*out, origin->line[k].name, origin->line[k].text));
  }
  return WEIR_OK;
}

/* Says of predictions.nc which of its quantities are not normal. */
static weir_status name_distributions(const wx_experiment *e, const wx_output *output,
                                      wx_predictions *file)
{
  const wx_info *const f = e->facts;
  const wx_quantity *const quantity = wx_archive_get(e->forecast)->quantity;
  const int64_t all = f->n_channels[WX_Y] * f->depth, size = all * (WX_SHORT + WX_NAME + 4) + 1;
  char *list = NULL;

  WEIR_TRY(weir_alloc(size, 1, (void **)&list));
  for (int64_t i = 0; i < all; i++) { /* those of a depth of leads are one quantity */
    const bool again = i % f->depth > 0 && f->target[i] == f->target[i - 1];

    if (output[i / f->depth].family != WX_NORMAL && !again) {
      wx_output_list(&output[i / f->depth], quantity[f->target[i]].name, list, (size_t)size);
    }
  }
  const weir_status status = wx_predictions_put_text(file, WX_DISTRIBUTIONS_NOTE, list);

  weir_free(&list);
  return status;
}

/* Means and standard deviations, with the parameters of distributions that are not normal. */
static weir_status create_distributions(const wx_experiment *e, const wx_predict_request *r,
                                        const weir_origin *origin, wx_predict_files *out)
{
  const int64_t n = e->facts->n_channels[WX_Y];
  bool *parameters = NULL;

  if (is_wanted(e, 1)) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "predict.format: GRIB cannot name distributions that are not normal "
        "(model.distributions, emos.fit.family), and mean and standard deviation would "
        "be read as normal ones: choose netcdf");
  }
  WEIR_TRY(weir_alloc(n, sizeof *parameters, (void **)&parameters));
  for (int64_t c = 0; c < n; c++) {
    parameters[c] = r->output[c].family != WX_NORMAL;
  }
  const wx_predictions_of of = {.spread = true, .parameters = parameters};
  weir_status status = create(e, r, origin, "predictions.nc", &of, &out->fields[0]);

  if (status == WEIR_OK) {
    status = name_distributions(e, r->output, out->fields[0]);
  }
  weir_free(&parameters);
  return status;
}

/* Means and standard deviations. */
static weir_status create_moments(const wx_experiment *e, const wx_predict_request *r,
                                  const weir_origin *origin, wx_predict_files *out)
{
  const wx_predictions_of both = {.spread = r->spread}, mean = {.spread = false}, sd = {.sd = true};

  if (out->output != NULL) {
    return create_distributions(e, r, origin, out);
  }
  if (is_wanted(e, 0)) {
    WEIR_TRY(create(e, r, origin, "predictions.nc", &both, &out->fields[0]));
  }
  if (is_wanted(e, 1)) {
    WEIR_TRY(create(e, r, origin, "predictions.grib", &mean, &out->fields[1]));
  }
  return is_wanted(e, 1) && r->spread ? create(e, r, origin, "spread.grib", &sd, &out->sd)
                                      : WEIR_OK;
}

/* Members, in each format that is asked for. */
static weir_status create_members(const wx_experiment *e, const wx_predict_request *r,
                                  const weir_origin *origin, const wx_predictions_of *of,
                                  wx_predictions **out)
{
  for (int k = 0; k < WX_PREDICT_FORMATS; k++) {
    if (is_wanted(e, k)) {
      WEIR_TRY(create(e, r, origin, k == 0 ? "members.nc" : "members.grib", of, &out[k]));
    }
  }
  return WEIR_OK;
}

/* Quantiles and events, which are of a distribution. */
static weir_status create_chances(const wx_experiment *e, const wx_predict_request *r,
                                  const weir_origin *origin, wx_predict_files *out)
{
  const weir_real_list *const q = &e->cfg->predict.quantiles;
  const weir_struct_list *const v = &e->cfg->predict.events;
  const wx_predictions_of quantiles = {.quantile = q->items, .n_quantiles = q->count};
  const wx_predictions_of events = {.event = v->items, .n_events = v->count};

  if (q->count + v->count > 0 && !r->spread) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: there is no standard deviation to take them of: train a network with "
                     "model.head gauss or spread",
                     q->count > 0 ? "predict.quantiles" : "predict.events");
  }
  for (int64_t i = 1; i < q->count; i++) {
    if (!(q->items[i] > q->items[i - 1])) {
      return weir_fail(WEIR_ERR_CONFIG, "predict.quantiles: %g follows %g: they have to ascend",
                       q->items[i], q->items[i - 1]);
    }
  }
  if (q->count > 0) {
    WEIR_TRY(create(e, r, origin, "quantiles.nc", &quantiles, &out->quantiles));
  }
  return v->count > 0 ? create(e, r, origin, "probabilities.nc", &events, &out->events) : WEIR_OK;
}

weir_status wx_predict_files_create(const wx_experiment *e, const wx_predict_request *r,
                                    const weir_origin *origin, wx_predict_files *out)
{
  const wx_info *const f = e->facts;
  const wx_predictions_of members = {.first = r->first, .members = r->members};
  const int64_t rows = e->cfg->predict.quantiles.count;
  weir_status status = WEIR_OK;

  *out = (wx_predict_files){.e = e};
  if (r->output != NULL && wx_outputs_differ(r->output, f->n_channels[WX_Y])) {
    out->output = r->output;
  }
  WEIR_TRY_GOTO(weir_alloc((rows > 2 ? rows : 2) * (f->cells / f->depth), sizeof *out->scratch,
                           (void **)&out->scratch),
                done);
  WEIR_TRY_GOTO(weir_alloc(r->members, (WX_LANES + 1) * sizeof *out->sorted, (void **)&out->sorted),
                done);
  WEIR_TRY_GOTO(create_moments(e, r, origin, out), done);
  if (e->cfg->predict.members) {
    WEIR_TRY_GOTO(create_members(e, r, origin, &members, out->members), done);
  }
  WEIR_TRY_GOTO(create_chances(e, r, origin, out), done);
done:
  if (status != WEIR_OK) {
    wx_predict_files_abandon(out);
  }
  return status;
}

static weir_status write_chances(const wx_predict_files *f, int64_t sample, int64_t k, int64_t d,
                                 const wx_given *given)
{
  const int64_t plane = f->e->facts->cells / f->e->facts->depth;
  const weir_real_list *const q = &f->e->cfg->predict.quantiles;
  const wx_event_row *const event = f->e->cfg->predict.events.items;

  if (f->quantiles != NULL) {
    wx_given_quantiles(given, plane, q->items, q->count, f->sorted, f->scratch);
    WEIR_TRY(wx_predictions_write_members(f->quantiles, sample, k, d, f->scratch));
  }
  for (int64_t i = 0; f->events != NULL && i < f->e->cfg->predict.events.count; i++) {
    if (wx_predictions_has_event(f->events, k, d, i)) {
      wx_given_chance(given, plane, event[i].value, event[i].above, f->scratch);
      WEIR_TRY(wx_predictions_write_event(f->events, sample, k, d, i, f->scratch));
    }
  }
  return WEIR_OK;
}

/* member: [members, plane], or NULL. */
static weir_status write_field(const wx_predict_files *f, int64_t sample, int64_t k, int64_t d,
                               const float *mean, const float *sigma, const float *member)
{
  if (f->sd != NULL) {
    WEIR_TRY(wx_predictions_write(f->sd, sample, k, d, mean, sigma));
  }
  for (int i = 0; i < WX_PREDICT_FORMATS; i++) {
    if (f->fields[i] != NULL) {
      WEIR_TRY(wx_predictions_write(f->fields[i], sample, k, d, mean, sigma));
    }
    if (f->members[i] != NULL) {
      WEIR_TRY(wx_predictions_write_members(f->members[i], sample, k, d, member));
    }
  }
  return WEIR_OK;
}

weir_status wx_predict_files_give(const wx_predict_files *f, int64_t sample, int64_t k, int64_t d,
                                  const wx_given *given)
{
  const int64_t plane = f->e->facts->cells / f->e->facts->depth;
  float *const mean = f->scratch, *const sd = f->scratch + plane;

  if (given->members > 0) {
    wx_cases_moments(given->member, given->members, plane, mean, sd);
    for (int64_t c = 0; c < plane; c++) {
      sd[c] = sqrtf(sd[c]);
    }
    WEIR_TRY(write_field(f, sample, k, d, mean, sd, given->member));
  } else {
    WEIR_TRY(write_field(f, sample, k, d, given->mean, given->sd, NULL));
    if (f->output != NULL) {
      WEIR_TRY(wx_predictions_write_parameters(f->fields[0], sample, k, d, given->location,
                                               given->scale));
    }
  }
  return write_chances(f, sample, k, d, given);
}

weir_status wx_predict_files_write(const wx_predict_files *f, int64_t sample,
                                   const wx_predict_values *v)
{
  const wx_info *c = f->e->facts;
  const int64_t plane = c->cells / c->depth;

  for (int64_t i = 0; i < c->n_channels[WX_Y] * c->depth; i++) {
    const int64_t k = i / c->depth, d = i % c->depth, at = i * plane;
    wx_given given = {.mean = v->mean + at, .sd = v->sigma != NULL ? v->sigma + at : NULL};

    if (f->output != NULL) {
      given.family = f->output[k].family;
      given.lower = f->output[k].lower;
      given.shift = f->output[k].shift;
      given.width = f->output[k].width;
      given.location = v->location + at;
      given.scale = v->scale + at;
      WEIR_TRY(
          wx_predictions_write_parameters(f->fields[0], sample, k, d, given.location, given.scale));
    }
    WEIR_TRY(write_field(f, sample, k, d, given.mean, given.sd,
                         v->members != NULL ? v->members + at * c->members : NULL));
    WEIR_TRY(write_chances(f, sample, k, d, &given));
  }
  return WEIR_OK;
}

weir_status wx_predict_files_commit(wx_predict_files *f)
{
  wx_predictions **const all[] = {&f->fields[0], &f->members[0], &f->fields[1], &f->members[1],
                                  &f->quantiles, &f->events,     &f->sd};
  enum { N = sizeof all / sizeof all[0] };
  weir_writer *file[N] = {NULL};
  weir_status status = WEIR_OK;

  for (int k = 0; k < N && status == WEIR_OK; k++) {
    status = *all[k] != NULL ? wx_predictions_finish(all[k], &file[k]) : WEIR_OK;
  }
  if (status == WEIR_OK) {
    return weir_writer_commit_all(file, N);
  }
  for (int k = 0; k < N; k++) {
    weir_writer_destroy(&file[k]);
  }
  return status;
}

void wx_predict_files_abandon(wx_predict_files *f)
{
  for (int k = 0; k < WX_PREDICT_FORMATS; k++) {
    wx_predictions_abandon(&f->fields[k]);
    wx_predictions_abandon(&f->members[k]);
  }
  wx_predictions_abandon(&f->quantiles);
  wx_predictions_abandon(&f->events);
  wx_predictions_abandon(&f->sd);
  weir_free(&f->scratch);
  weir_free(&f->sorted);
}
