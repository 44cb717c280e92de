/* predictions.c - forecasts that were written before: archives of `predict`, or of anybody. One
 * that has z500 and z_spread500 is of normal distributions, or of those that its attribute
 * `distributions` names, with ws_location500 and ws_scale500; else its members are what it gives.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "data/date.h"
#include "data/quantity.h"
#include "data/samples/trained.h"
#include "eval/forecast_model.h"
#include "io/weir_netcdf.h"
#include "model/outputs.h"

typedef struct predictions_opts {
  weir_string_list files;
  int64_t members;
  bool trained;
} predictions_opts;

static const weir_opt options[] = {
    WEIR_OPT_STRING_LIST(predictions_opts, files, "",
                         "archives: of mean and spread, as predict writes them, or of members"),
    WEIR_OPT_INT(predictions_opts, members, 0, 0, 1e6, "1",
                 "raw members that they were made of, for tables; 0: not known"),
    WEIR_OPT_BOOL(predictions_opts, trained, false,
                  "also initialisation times that their weights were trained on, as the files of "
                  "predict say: "
                  "scores of these are too good; otherwise they are refused"),
    WEIR_OPT_END,
};

typedef struct predictions {
  wx_archive *archive;
  const wx_archive_info *facts;
  int64_t lead, mean, spread; /* numbers in the archive; spread -1: members */
  int64_t location, scale;    /* the same, of a distribution that is not normal */
  wx_output output;           /* of the last fit */
  char **distributions;       /* [files] of their attribute; NULL: there is none */
  int64_t n_files;
  float *scratch; /* [members or 4, cells] */
} predictions;

/* The quantity that is the spread of another; -1: there is none. */
static int64_t find_spread(const wx_archive_info *f, const wx_quantity *q)
{
  wx_quantity spread;

  wx_quantity_derive(q, WX_PRODUCT_SPREAD, &spread);
  return wx_archive_find_quantity(f, spread.name);
}

/* A spread is in the units of its quantity: of a variance the root is nowhere taken. Units may also
 * keep it from being known as the spread of its quantity ("t2m_spread" in K2 of "2t"). */
static weir_status check_spread(const wx_archive_info *f, const wx_quantity *q)
{
  wx_quantity spread;

  wx_quantity_derive(q, WX_PRODUCT_SPREAD, &spread);
  for (int64_t k = 0; k < f->n_quantities; k++) {
    const wx_quantity *const is = &f->quantity[k];

    if ((strcmp(is->name, spread.name) == 0 && !wx_quantity_same_units(is->units, q->units)) ||
        wx_quantity_confused(is, &spread)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: %s has units '%s', and %s, of which it is the spread, has '%s': give "
                       "the standard deviation in these units, and state them",
                       f->name, is->name, is->units, q->name, q->units);
    }
  }
  return WEIR_OK;
}

static bool has_spread(const wx_archive_info *f)
{
  for (int64_t k = 0; k < f->n_quantities; k++) {
    if (find_spread(f, &f->quantity[k]) >= 0) {
      return true;
    }
  }
  return false;
}

/* A text attribute of a file, freed by the caller; NULL: there is none. GRIB cannot store it. */
static weir_status read_text(const char *path, const char *name, char **text)
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  *text = NULL;
  if (weir_netcdf_open(path, &nc) != WEIR_OK) { /* the archive read it as something else */
    weir_clear_failure();
    return WEIR_OK;
  }
  if (weir_netcdf_has(nc, WEIR_NETCDF_FILE, name)) {
    status = weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, name, text);
  }
  weir_netcdf_close(&nc);
  return status;
}

/* The initialisation times that will be scored and that weights of this file were trained on. */
static weir_status check_file(const char *path, const char *text, const wx_eval_data *s)
{
  char first[32] = "";
  int64_t n = 0;

  for (int64_t i = 0; i < s->n_scored; i++) {
    const double start = (double)s->facts->start[s->scored[i]] / 86400;
    int subset = WX_SUBSETS;

    if (wx_trained_find(text, start, &subset) != WEIR_OK) {
      return weir_fail(WEIR_ERR_DATA, "%s: its attribute %s is no list of subsets", path,
                       WX_TRAINED_NOTE);
    }
    if (subset == WX_TRAIN && n++ == 0) {
      wx_date_text(start, first, sizeof first);
    }
  }
  return n == 0 ? WEIR_OK
                : weir_fail(WEIR_ERR_CONFIG,
                            "%s: its weights were trained on %lld of the %lld initialisation times "
                            "that would be "
                            "scored, %s the first: choose others with eval.part and data.split, or "
                            "set trained: true of this model to score them all the same",
                            path, (long long)n, (long long)s->n_scored, first);
}

/* What a network was trained on says nothing about it. */
static weir_status refuse_trained(const wx_model *m, const wx_eval_data *s)
{
  const predictions_opts *const o = m->opts;

  for (int64_t i = 0; i < o->files.count && !o->trained; i++) {
    const char *const path = o->files.items[i];
    char *text = NULL;

    WEIR_TRY(read_text(path, WX_TRAINED_NOTE, &text));
    const weir_status status = text != NULL ? check_file(path, text, s) : WEIR_OK;

    if (text == NULL) {
      weir_warn("eval",
                "%s: does not say what its weights were trained on (GRIB cannot): scores of "
                "initialisation times "
                "that were are too good, and nothing refuses them",
                path);
    }
    weir_free(&text);
    WEIR_TRY(status);
  }
  return WEIR_OK;
}

/* Which distribution the files say that q has. Fails where they do not agree, where one is damaged,
 * and where its parameters are there without its name or the other way: mean and standard deviation
 * alone would be taken for a normal one. */
static weir_status find_distribution(predictions *p, const char *const *path, const wx_quantity *q)
{
  wx_quantity of = *q;
  bool any = false;

  p->output = (wx_output){.family = WX_NORMAL};
  for (int64_t i = 0; i < p->n_files; i++) {
    wx_output is;
    bool found;

    if (p->distributions[i] == NULL) {
      continue;
    }
    if (!wx_output_find(p->distributions[i], q->name, &is, &found)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: its attribute " WX_DISTRIBUTIONS_NOTE " is no list of distributions: "
                       "'%s'",
                       path[i], p->distributions[i]);
    }
    if (found && any &&
        (is.family != p->output.family || is.lower != p->output.lower ||
         is.shift != p->output.shift || is.width != p->output.width)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: its %s has another distribution than that of the files before it: "
                       "score them as two models",
                       path[i], q->name);
    }
    p->output = found ? is : p->output;
    any = any || found;
  }
  wx_quantity_parameter(q, "_location", &of);
  p->location = wx_archive_find_quantity(p->facts, of.name);
  wx_quantity_parameter(q, "_scale", &of);
  p->scale = wx_archive_find_quantity(p->facts, of.name);
  if ((p->output.family != WX_NORMAL) != (p->location >= 0) ||
      (p->location >= 0) != (p->scale >= 0)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: of %s, the attribute " WX_DISTRIBUTIONS_NOTE ", location and scale are "
                     "not all there: they say which distribution it has that is not normal; give "
                     "the files as predict wrote them",
                     p->facts->name, q->name);
  }
  return WEIR_OK;
}

static weir_status read_distributions(predictions *p, const weir_string_list *files)
{
  WEIR_TRY(weir_alloc(files->count, sizeof *p->distributions, (void **)&p->distributions));
  p->n_files = files->count;
  for (int64_t i = 0; i < files->count; i++) {
    WEIR_TRY(read_text(files->items[i], WX_DISTRIBUTIONS_NOTE, &p->distributions[i]));
  }
  return WEIR_OK;
}

static weir_status check(const wx_model *m)
{
  const predictions_opts *const o = m->opts;

  return o->files.count > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "eval.models: predictions name no file: set files, as in "
                                          "{use: {predictions: {files: [fields/predictions.nc]}}}");
}

static weir_status open_model(wx_model *m, wx_eval_data *s)
{
  const predictions_opts *const o = m->opts;
  predictions *p;

  WEIR_TRY(weir_alloc(1, sizeof *p, &m->own));
  p = m->own;
  WEIR_TRY(wx_archive_open(o->files.items, (int)o->files.count, &p->archive));
  p->facts = wx_archive_get(p->archive);
  for (int64_t k = 0; k < o->files.count; k++) {
    WEIR_TRY(wx_model_reads(m, o->files.items[k]));
  }
  const char *const reason = wx_grid_differs(&s->facts->grid, &p->facts->grid);

  if (reason != NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "eval.models: %s is not on the grid of %s: %s",
                     p->facts->name, s->facts->name, reason);
  }
  for (int64_t k = 0; k < p->facts->n_quantities && p->facts->n_members == 1; k++) {
    WEIR_TRY(check_spread(p->facts, &p->facts->quantity[k]));
  }
  m->used = o->members;
  m->gives = p->facts->n_members > 1 || !has_spread(p->facts) ? p->facts->n_members : 0;
  if (m->gives > 0 && p->facts->quantity[0].product == WX_PRODUCT_MEAN) {
    weir_warn("eval",
              "%s: %s is a mean without standard deviation, and scored as a single forecast: of "
              "GRIB predictions name spread.grib too",
              p->facts->name, p->facts->quantity[0].name);
  }
  if (m->name[0] == 0) {
    (void)snprintf(m->name, sizeof m->name, "predictions");
  }
  WEIR_TRY(refuse_trained(m, s));
  WEIR_TRY(read_distributions(p, &o->files));
  return weir_alloc((m->gives > 4 ? m->gives : 4) * s->cells, sizeof *p->scratch,
                    (void **)&p->scratch);
}

static weir_status fit(wx_model *m, wx_eval_data *s)
{
  predictions *const p = m->own;
  const predictions_opts *const o = m->opts;
  const wx_quantity *const q = &s->facts->quantity[m->quantity];

  p->mean = wx_archive_find_quantity(p->facts, q->name);
  p->spread = find_spread(p->facts, q);
  p->lead = wx_archive_find_lead(p->facts, s->facts->lead[m->lead]);
  m->absent = p->mean < 0 || p->lead < 0 || (m->gives == 0 && p->spread < 0);
  if (!m->absent && !wx_quantity_same_units(q->units, p->facts->quantity[p->mean].units)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: %s has units '%s' there and '%s' in %s: convert one, or state its units",
                     p->facts->name, q->name, p->facts->quantity[p->mean].units, q->units,
                     s->facts->name);
  }
  if (!m->absent && m->gives == 0) {
    WEIR_TRY(find_distribution(p, (const char *const *)o->files.items, q));
  }
  return m->absent
             ? WEIR_OK
             : wx_archive_check_period(s->facts, m->quantity, m->lead, p->facts, p->mean, p->lead);
}

static bool covers(const wx_model *m, const wx_eval_data *s, int64_t start, int64_t lead,
                   int64_t quantity)
{
  const predictions *const p = m->own;
  const wx_quantity *const q = &s->facts->quantity[quantity];
  const int64_t mean = wx_archive_find_quantity(p->facts, q->name),
                spread = find_spread(p->facts, q);
  const int64_t at = wx_archive_find_start(p->facts, s->facts->start[start]);
  const int64_t l = wx_archive_find_lead(p->facts, s->facts->lead[lead]);

  if (mean < 0 || l < 0 || (m->gives == 0 && spread < 0)) {
    return true;
  }
  bool any = false;

  for (int64_t k = 0; at >= 0 && k < p->facts->n_members && !any; k++) {
    any = wx_archive_has(p->archive, at, l, mean, k);
  }
  return any && (m->gives > 0 || wx_archive_has(p->archive, at, l, spread, 0));
}

/* Standard deviations or scales, quantity k, of a start: NaN is missing, below 0 there is none. */
static weir_status check_deviations(const predictions *p, int64_t k, const float *sd, int64_t n,
                                    int64_t start)
{
  const wx_archive_info *const f = p->facts;
  char date[32];

  for (int64_t i = 0; i < n; i++) {
    if (sd[i] < 0) {
      wx_date_text((double)f->start[start] / 86400, date, sizeof date);
      return weir_fail(
          WEIR_ERR_DATA,
          "%s: %s of initialisation time %s, lead %g h: %g at point %lld (from 0): a standard "
          "deviation is not below 0: write it anew, with missing values where it is "
          "not known",
          f->name, f->quantity[k].name, date, f->lead[p->lead], (double)sd[i], (long long)i);
    }
  }
  return WEIR_OK;
}

/* A start of files of normal distributions beside others. */
static weir_status refuse_without_parameters(const predictions *p, int64_t start)
{
  const wx_archive_info *const f = p->facts;
  char date[32];

  wx_date_text((double)f->start[start] / 86400, date, sizeof date);
  return weir_fail(WEIR_ERR_DATA,
                   "%s: initialisation time %s, lead %g h has mean and standard deviation, and no "
                   "location and scale, which others have: score files of other distributions as "
                   "another model",
                   f->name, date, f->lead[p->lead]);
}

static weir_status give(wx_model *m, wx_eval_data *s, int64_t start, wx_given *out)
{
  predictions *const p = m->own;
  const int64_t at = wx_archive_find_start(p->facts, s->facts->start[start]);
  const int64_t fields = m->gives > 0 ? m->gives : 4;
  float *const sd = p->scratch + s->cells, *const location = sd + s->cells,
               *const scale = location + s->cells;

  *out = m->gives > 0 ? (wx_given){.members = m->gives, .member = p->scratch}
                      : (wx_given){.mean = p->scratch,
                                   .sd = sd,
                                   .family = p->output.family,
                                   .lower = p->output.lower,
                                   .shift = p->output.shift,
                                   .width = p->output.width,
                                   .location = location,
                                   .scale = scale};
  for (int64_t i = 0; i < fields * s->cells && at < 0; i++) {
    p->scratch[i] = NAN;
  }
  if (at < 0) {
    return WEIR_OK;
  }
  if (m->gives > 0) {
    return wx_archive_read(p->archive, at, p->lead, p->mean, 0, m->gives, p->scratch);
  }
  WEIR_TRY(wx_archive_read(p->archive, at, p->lead, p->mean, 0, 1, p->scratch));
  WEIR_TRY(wx_archive_read(p->archive, at, p->lead, p->spread, 0, 1, sd));
  WEIR_TRY(check_deviations(p, p->spread, sd, s->cells, at));
  if (p->output.family == WX_NORMAL) {
    return WEIR_OK;
  }
  if (!wx_archive_has(p->archive, at, p->lead, p->location, 0) ||
      !wx_archive_has(p->archive, at, p->lead, p->scale, 0)) {
    return refuse_without_parameters(p, at);
  }
  WEIR_TRY(wx_archive_read(p->archive, at, p->lead, p->location, 0, 1, location));
  WEIR_TRY(wx_archive_read(p->archive, at, p->lead, p->scale, 0, 1, scale));
  return check_deviations(p, p->scale, scale, s->cells, at);
}

static void close_model(wx_model *m)
{
  predictions *const p = m->own;

  if (p != NULL) {
    wx_archive_close(&p->archive);
    weir_free(&p->scratch);
    for (int64_t i = 0; i < p->n_files; i++) {
      weir_free(&p->distributions[i]);
    }
    weir_free(&p->distributions);
  }
  weir_free(&m->own);
}

const wx_model_desc wx_model_predictions = {
    .name = "predictions",
    .help = "forecasts that were written before, by predict or anybody",
    .cite = "",
    .opts = options,
    .opts_size = sizeof(predictions_opts),
    .check = check,
    .open = open_model,
    .fit = fit,
    .give = give,
    .covers = covers,
    .close = close_model,
};
