/* emos.c - statistical corrections that end in a distribution: EMOS (baseline/emos.h), with
 * a bias and a factor alone as one of its forms, and after a regression of the mean on EOFs. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "baseline/dependence.h"
#include "baseline/emos_file.h"
#include "baseline/eof.h"
#include "baseline/training.h"
#include "data/samples/members.h"
#include "eval/forecast_model.h"

enum { PATH = 4096, KEPT_BYTES = 1 << 26 /* of windows that were fitted: their dates and sets */ };
typedef enum output { OUTPUT_DISTRIBUTION, OUTPUT_MEMBERS } output;

typedef struct emos_opts {
  int64_t members, first;
  wx_emos_opts fit;
  wx_eof_opts eofs;
  wx_dates_opts dates;
  bool anomalies;
  int output;
  wx_dependence_opts couple;
  const char *load, *save;
} emos_opts;

static const weir_opt options[] = {
    WEIR_OPT_INT(emos_opts, members, 0, 0, 1e6, "1", "how many members; 0: all from the first on"),
    WEIR_OPT_INT(emos_opts, first, WX_FIRST_MEMBER, 0, 1e6, "1", WX_FIRST_MEMBER_HELP),
    WEIR_OPT_TABLE(emos_opts, fit, wx_emos_options, "coefficients"),
    WEIR_OPT_TABLE(emos_opts, eofs, wx_eof_options,
                   "regression of the mean's error on the state of the field, before the "
                   "coefficients are fitted; over all training initialisation times, also with "
                   "dates.kind season"),
    WEIR_OPT_TABLE(emos_opts, dates, wx_dates_options,
                   "training initialisation times for a forecast"),
    WEIR_OPT_BOOL(
        emos_opts, anomalies, false,
        "mean and truth are counted from the mean of the truth at each point over the "
        "training initialisation times, so that beta is not that of the climate's pattern"),
    WEIR_OPT_ENUM(emos_opts, output, OUTPUT_DISTRIBUTION, "distribution|members",
                  "distributions, or members made of them",
                  .choice_aliases = "normal=distribution"),
    WEIR_OPT_TABLE(emos_opts, couple, wx_dependence_options, "output members: how"),
    WEIR_OPT_PATH(emos_opts, load, "",
                  "folder of coefficients emos_QUANTITY_LEADh.nc, as IMPROVER or save writes them, "
                  "in place of a fit; empty: they are fitted"),
    WEIR_OPT_PATH(emos_opts, save, "",
                  "folder that they are written to, made with its parents where there is none; "
                  "empty: nowhere"),
    WEIR_OPT_END,
};

/* The sets of a window of dates: the same day of another year often has the same window. */
typedef struct window {
  int64_t n, *row;
  wx_emos *set;
} window;

typedef struct own {
  wx_training_of of;
  wx_training data;
  wx_eof eof;
  wx_emos *set;
  int64_t n_sets, *row, *chosen, n_chosen; /* row: dates that the sets are of, chosen: scratch */
  float *scratch;                          /* [3, dates, cells]: of windows                 */
  window *kept;                            /* [n_kept]                                      */
  int64_t n_kept, kept_capacity, kept_bytes;
  float *mean, *variance, *mu, *sigma; /* [cells]                                       */
  float *usual;                        /* [cells] what anomalies are counted from, or 0 */
  float *member;                       /* [members, cells]                              */
} own;

static weir_status refuse(const wx_model *m, const char *with)
{
  return weir_fail(WEIR_ERR_CONFIG,
                   "eval.models: %s: %s: take one of them, or each in a model of its own",
                   m->name[0] != 0 ? m->name : m->desc->name, with);
}

static weir_status check(const wx_model *m)
{
  const emos_opts *const o = m->opts;
  const bool windows = o->dates.kind != WX_DATES_ALL, eofs = o->eofs.count > 0;
  const bool normal = o->fit.family == WX_NORMAL, files = o->load[0] != 0 || o->save[0] != 0;

  if (windows && files) {
    return refuse(m, "coefficients of windows of dates (dates.kind) do not go with load or save");
  }
  if (eofs && o->dates.kind == WX_DATES_PAST) {
    return refuse(m, "the regression of eofs is fitted to all training initialisation times, "
                     "and dates.kind past excludes those after a forecast");
  }
  if (!normal && o->output == OUTPUT_MEMBERS && o->couple.kind == WX_DEPENDENCE_MEMBER) {
    return refuse(m, "couple.kind member keeps the shape of the raw members, not that of "
                     "fit.family: take ecc");
  }
  if (wx_emos_wrong(&o->fit) != NULL) {
    return refuse(m, wx_emos_wrong(&o->fit));
  }
  if (wx_family_is_bounded((wx_family)o->fit.family) && o->anomalies) {
    return refuse(m, "anomalies have no bound at fit.lower: take fit.family normal or logistic");
  }
  return eofs && files ? refuse(m, "load and save know coefficients alone, and not those of eofs")
                       : WEIR_OK;
}

static wx_output output_of(const emos_opts *o)
{
  const bool bounded = wx_family_is_bounded((wx_family)o->fit.family);

  return (wx_output){(wx_family)o->fit.family, bounded ? wx_emos_lower(&o->fit) : 0, o->fit.shift,
                     wx_emos_width(&o->fit)};
}

static weir_status open_model(wx_model *m, wx_eval_data *s)
{
  const emos_opts *const o = m->opts;
  const bool eofs = o->eofs.count > 0;
  own *a = NULL;

  if (s->facts->grid.kind == WX_GRID_SITES && o->fit.pool == WX_EMOS_WINDOW) {
    return refuse(m,
                  "fit.pool window is of neighbouring cells, and stations have none: take point, "
                  "coefficients of each station, or global");
  }
  const char *kind = eofs ? "eof" : o->fit.form == WX_EMOS_SCALE ? "scaled" : "emos";

  WEIR_TRY(weir_alloc(1, sizeof *a, &m->own));
  a = m->own;
  WEIR_TRY(wx_members_choose(s->facts, "eval.models", o->first, o->members, &a->of.at, &a->of.n));
  m->first = a->of.at;
  m->used = a->of.n;
  m->gives = o->output == OUTPUT_MEMBERS ? m->used : 0;
  m->output = output_of(o);
  if (m->name[0] == 0) {
    (void)snprintf(m->name, sizeof m->name, "%s %lld", kind, (long long)m->used);
  }
  WEIR_TRY(weir_alloc(s->cells, sizeof(float), (void **)&a->mean));
  WEIR_TRY(weir_alloc(s->cells, sizeof(float), (void **)&a->variance));
  WEIR_TRY(weir_alloc(s->cells, sizeof(float), (void **)&a->mu));
  WEIR_TRY(weir_alloc(s->cells, sizeof(float), (void **)&a->sigma));
  WEIR_TRY(weir_alloc(s->cells, sizeof(float), (void **)&a->usual));
  return weir_alloc(m->gives * s->cells, sizeof(float), (void **)&a->member);
}

static void forget(own *a)
{
  wx_training_fini(&a->data);
  wx_eof_fini(&a->eof);
  a->eof.count = 0;
  weir_free(&a->set);
  weir_free(&a->row);
  weir_free(&a->chosen);
  weir_free(&a->scratch);
  a->n_chosen = 0;
  for (int64_t k = 0; k < a->n_kept; k++) {
    weir_free(&a->kept[k].row);
    weir_free(&a->kept[k].set);
  }
  weir_free(&a->kept);
  a->n_kept = a->kept_capacity = a->kept_bytes = 0;
}

static weir_status fit_cases(const wx_model *m, const wx_eval_data *s, const wx_cases *cases)
{
  const emos_opts *const o = m->opts;
  own *const a = m->own;
  const wx_grid *const g = &s->facts->grid;
  const wx_emos_grid grid = {.n_lat = g->n_lat, .n_lon = g->n_lon, .wraps = g->wraps};
  int64_t few = 0;

  WEIR_TRY(wx_emos_fit_grid(&o->fit, cases, &grid, a->set, &few));
  if (few > 0) {
    weir_debug("eval",
               "%s: %lld of %lld points have fewer than %lld cases, or a truth that never changes: "
               "they have the "
               "coefficients of all",
               m->name, (long long)few, (long long)s->cells, (long long)o->fit.min_cases);
  }
  return WEIR_OK;
}

/* Corrects the means of the training dates, each by a regression that left it out, so that the
 * spread which is then fitted to them is not too small. The EOFs and the regression are of all
 * dates, also where the coefficients are of windows of them. */
static weir_status correct_training(const wx_model *m, const wx_eval_data *s)
{
  const emos_opts *const o = m->opts;
  own *const a = m->own;
  const wx_cases cases = wx_training_cases(&a->data, s->facts->grid.weight, NULL, 0, NULL);
  float *left_out = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(cases.rows * cases.columns, sizeof *left_out, (void **)&left_out));
  WEIR_TRY_GOTO(wx_eof_fit(&o->eofs, &cases, &a->eof, left_out), done);
  weir_free(&a->data.mean);
  a->data.mean = left_out;
  left_out = NULL;
done:
  weir_free(&left_out);
  return status;
}

static wx_emos_about about(const wx_model *m, const wx_eval_data *s)
{
  const own *const a = m->own;
  const int64_t n = a->data.n;

  return (wx_emos_about){.quantity = &s->facts->quantity[m->quantity],
                         .grid = &s->facts->grid,
                         .lead = s->facts->lead[m->lead],
                         .first = n > 0 ? a->data.time[0] : 0,
                         .last = n > 0 ? a->data.time[n - 1] : 0};
}

/* That the coefficients are of the distribution that the options name. */
static weir_status check_family(const wx_model *m, const char *path, const wx_emos *set)
{
  const wx_output is = m->output, of = {set->family, set->lower, set->shift, set->width};
  char here[WX_NAME], there[WX_NAME];

  wx_output_text(&is, here, sizeof here);
  wx_output_text(&of, there, sizeof there);
  return strcmp(here, there) == 0
             ? WEIR_OK
             : weir_fail(
                   WEIR_ERR_CONFIG,
                   "%s: its coefficients are of the distribution \"%s\", and fit.family, lower, "
                   "upper and shift of %s name \"%s\": make them those of the file",
                   path, there, m->name, here);
}

static weir_status load(wx_model *m, const wx_eval_data *s)
{
  const emos_opts *const o = m->opts;
  own *const a = m->own;
  const wx_emos_about of = about(m, s);
  char path[PATH];

  WEIR_TRY(wx_emos_path(o->load, &of, path, sizeof path));
  WEIR_TRY(wx_emos_read(path, s->cells, &a->set, &a->n_sets));
  WEIR_TRY(check_family(m, path, &a->set[0]));
  return wx_model_reads(m, path);
}

/* Of anomalies, each point has an alpha of its own for the mean as it is, and none where the
 * truth's mean is not known: its forecasts are missing too. */
static weir_status save(const wx_model *m, const wx_eval_data *s)
{
  const emos_opts *const o = m->opts;
  const own *const a = m->own;
  const wx_emos_about of = about(m, s);
  const int64_t n = o->anomalies ? s->cells : a->n_sets;
  wx_emos *set = NULL;
  char path[PATH];
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(wx_emos_path(o->save, &of, path, sizeof path), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *set, (void **)&set), done);
  for (int64_t i = 0; i < n; i++) {
    set[i] = a->set[a->n_sets > 1 ? i : 0];
    if (isnan(a->usual[i])) {
      set[i].alpha = set[i].beta = set[i].gamma = set[i].delta = NAN;
      continue;
    }
    set[i].alpha += (double)a->usual[i] * (1 - set[i].beta);
  }
  WEIR_TRY_GOTO(wx_emos_write(path, &of, set, n), done);
done:
  weir_free(&set);
  return status;
}

/* Mean of the truth at each point, taken off mean and truth of the training. */
static void take_anomalies(own *a, int64_t cells)
{
  for (int64_t c = 0; c < cells; c++) {
    double sum = 0, n = 0;

    for (int64_t t = 0; t < a->data.n; t++) {
      const double y = (double)a->data.truth[t * cells + c];

      sum += isfinite(y) ? y : 0;
      n += isfinite(y);
    }
    a->usual[c] = (float)(sum / n); /* NaN of none */
    for (int64_t t = 0; t < a->data.n; t++) {
      a->data.mean[t * cells + c] -= a->usual[c];
      a->data.truth[t * cells + c] -= a->usual[c];
    }
  }
}

static weir_status fit(wx_model *m, wx_eval_data *s)
{
  const emos_opts *const o = m->opts;
  own *const a = m->own;

  forget(a);
  memset(a->usual, 0, (size_t)s->cells * sizeof *a->usual);
  if (o->load[0] != 0) {
    return load(m, s);
  }
  if (o->save[0] != 0) {
    WEIR_TRY(wx_model_make_folder(m, o->save));
  }
  a->of.lead = m->lead;
  a->of.quantity = m->quantity;
  WEIR_TRY(wx_training_read(s, &a->of, false, &a->data));
  if (a->data.n == 0) {
    m->absent = true;
    return WEIR_OK;
  }
  if (o->anomalies) {
    take_anomalies(a, s->cells);
  }
  if (o->eofs.count > 0) {
    WEIR_TRY(correct_training(m, s));
  }
  a->n_sets = wx_emos_sets(&o->fit, s->cells);
  WEIR_TRY(weir_alloc(a->n_sets, sizeof *a->set, (void **)&a->set));
  if (o->dates.kind != WX_DATES_ALL) { /* fitted when a start is asked for */
    WEIR_TRY(weir_alloc(a->data.n, sizeof *a->row, (void **)&a->row));
    WEIR_TRY(weir_alloc(a->data.n, sizeof *a->chosen, (void **)&a->chosen));
    return weir_alloc(3 * a->data.n * s->cells, sizeof *a->scratch, (void **)&a->scratch);
  }
  const wx_cases cases = wx_training_cases(&a->data, s->facts->grid.weight, NULL, 0, NULL);

  WEIR_TRY(fit_cases(m, s, &cases));
  return o->save[0] != 0 ? save(m, s) : WEIR_OK;
}

/* Whether the n dates a->row were fitted before: a->set is then theirs. */
static bool recall(own *a, int64_t n)
{
  for (int64_t k = 0; k < a->n_kept; k++) {
    const window *const w = &a->kept[k];

    if (w->n == n && memcmp(w->row, a->row, (size_t)n * sizeof *w->row) == 0) {
      memcpy(a->set, w->set, (size_t)a->n_sets * sizeof *w->set);
      return true;
    }
  }
  return false;
}

/* Keeps a->set, of n dates, where there is room. */
static weir_status keep(own *a, int64_t n)
{
  const int64_t bytes =
      (int64_t)sizeof(window) + n * (int64_t)sizeof *a->row + a->n_sets * (int64_t)sizeof *a->set;
  window w = {.n = n};

  if (a->kept_bytes + bytes > KEPT_BYTES) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_reserve(&a->kept, &a->kept_capacity, a->n_kept + 1, sizeof *a->kept));
  WEIR_TRY(weir_alloc(n, sizeof *w.row, (void **)&w.row));
  memcpy(w.row, a->row, (size_t)n * sizeof *w.row);
  const weir_status status = weir_alloc(a->n_sets, sizeof *w.set, (void **)&w.set);

  if (status != WEIR_OK) {
    weir_free(&w.row);
    return status;
  }
  memcpy(w.set, a->set, (size_t)a->n_sets * sizeof *w.set);
  a->kept[a->n_kept++] = w;
  a->kept_bytes += bytes;
  return WEIR_OK;
}

/* The sets of the window of a start; those of a start before where it has the same dates. */
static weir_status fit_window(wx_model *m, const wx_eval_data *s, int64_t start)
{
  const emos_opts *const o = m->opts;
  own *const a = m->own;
  const int64_t n = wx_dates_choose(&o->dates, a->data.time, a->data.n, s->facts->start[start],
                                    s->facts->lead[m->lead], a->chosen, &m->few_dates);

  if (n == a->n_chosen && memcmp(a->row, a->chosen, (size_t)n * sizeof *a->row) == 0) {
    return WEIR_OK;
  }
  memcpy(a->row, a->chosen, (size_t)n * sizeof *a->row);
  a->n_chosen = 0;
  if (!recall(a, n)) {
    const wx_cases cases =
        wx_training_cases(&a->data, s->facts->grid.weight, a->row, n, a->scratch);

    WEIR_TRY(fit_cases(m, s, &cases));
    WEIR_TRY(keep(a, n));
  }
  a->n_chosen = n;
  return WEIR_OK;
}

/* The distribution of a->mean and a->variance, which are then its mean and standard deviation where
 * it is not normal. */
static void correct(const wx_model *m, const wx_eval_data *s)
{
  const emos_opts *const o = m->opts;
  own *const a = m->own;

  for (int64_t c = 0; c < s->cells; c++) {
    a->mean[c] -= a->usual[c];
  }
  if (o->eofs.count > 0) {
    wx_eof_apply(&a->eof, s->facts->grid.weight, a->mean, a->mu);
    memcpy(a->mean, a->mu, (size_t)s->cells * sizeof *a->mean);
  }
  wx_emos_apply(a->set, a->n_sets, a->mean, a->variance, s->cells, a->mu, a->sigma);
  for (int64_t c = 0; c < s->cells; c++) {
    a->mu[c] += a->usual[c];
  }
  for (int64_t c = 0; c < s->cells && o->fit.family != WX_NORMAL; c++) {
    const wx_distribution d = {(wx_family)o->fit.family, (double)a->mu[c], (double)a->sigma[c],
                               wx_emos_lower(&o->fit),   o->fit.shift,     wx_emos_width(&o->fit)};
    double mean, sd;

    wx_distribution_moments(&d, &mean, &sd);
    a->mean[c] = (float)mean;
    a->variance[c] = (float)sd;
  }
}

static weir_status give(wx_model *m, wx_eval_data *s, int64_t start, wx_given *out)
{
  const emos_opts *const o = m->opts;
  own *const a = m->own;
  const float *all = NULL;

  if (a->chosen != NULL) {
    WEIR_TRY(fit_window(m, s, start));
  }
  WEIR_TRY(wx_eval_data_members(s, start, m->lead, m->quantity, &all));
  const float *const raw = all + a->of.at * s->cells;

  wx_cases_moments(raw, a->of.n, s->cells, a->mean, a->variance);
  correct(m, s);
  const bool normal = o->fit.family == WX_NORMAL;

  *out = (wx_given){.mean = normal ? a->mu : a->mean,
                    .sd = normal ? a->sigma : a->variance,
                    .family = (wx_family)o->fit.family,
                    .lower = wx_emos_lower(&o->fit),
                    .shift = o->fit.shift,
                    .width = wx_emos_width(&o->fit),
                    .location = a->mu,
                    .scale = a->sigma};
  if (o->output == OUTPUT_MEMBERS) {
    const wx_dependence_start of = {.members = a->of.n,
                                    .n = s->cells,
                                    .raw = raw,
                                    .mu = a->mu,
                                    .sigma = a->sigma,
                                    .family = (wx_family)o->fit.family,
                                    .lower = wx_emos_lower(&o->fit),
                                    .shift = o->fit.shift,
                                    .width = wx_emos_width(&o->fit),
                                    .seed = s->seed,
                                    .start = (uint32_t)(s->facts->start[start] / 3600)};

    WEIR_TRY(wx_dependence(&o->couple, &of, a->member));
    *out = (wx_given){.members = a->of.n, .member = a->member};
  }
  return WEIR_OK;
}

static void close_model(wx_model *m)
{
  own *const a = m->own;

  if (a != NULL) {
    forget(a);
    weir_free(&a->mean);
    weir_free(&a->variance);
    weir_free(&a->mu);
    weir_free(&a->sigma);
    weir_free(&a->usual);
    weir_free(&a->member);
    weir_free(&m->own);
  }
}

const wx_model_desc wx_model_emos = {
    .name = "emos",
    .help =
        "a distribution whose location and squared scale are linear in mean and variance of the "
        "members, of minimum mean CRPS",
    .cite = "Gneiting et al., MWR 133 (2005) 1098",
    .opts = options,
    .opts_size = sizeof(emos_opts),
    .check = check,
    .open = open_model,
    .fit = fit,
    .give = give,
    .close = close_model,
};
