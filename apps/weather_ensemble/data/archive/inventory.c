/* inventory.c - see inventory.h. */
#include "data/archive/inventory.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "data/date.h"
#include "data/samples/members.h"

const weir_opt wx_import_options[] = {
    WEIR_OPT_INT(wx_import_opts, members, 0, 0, 100000, "1",
                 "members that every forecast has to have; 0: as many as the files have"),
    WEIR_OPT_ENUM(wx_import_opts, incomplete, WX_INCOMPLETE_REFUSE, WX_INCOMPLETE_CHOICES,
                  "forecasts that lack members, leads or quantities others have: refused, or kept "
                  "with missing values"),
    WEIR_OPT_BOOL(wx_import_opts, convert, true,
                  "write forecast.nc and truth.nc, one file each of all that was read"),
    WEIR_OPT_BOOL(
        wx_import_opts, climate, false,
        "write climate.nc, statistics of the forecasts of the training initialisation times"),
    WEIR_OPT_TABLE(wx_import_opts, grid, wx_target_options,
                   "the grid that forecast.nc and truth.nc are written on; as they are read where "
                   "neither spacing nor file is given"),
    WEIR_OPT_TABLE(wx_import_opts, regrid, wx_regrid_options, "how fields are brought to it"),
    WEIR_OPT_TABLE(wx_import_opts, height, wx_lapse_options,
                   "stations: correction of temperatures for height"),
    WEIR_OPT_END,
};

/* Adds n > 0 values of this mean and sum of squared deviations: Chan, Golub and LeVeque (1983). */
static void merge(wx_inventory_line *l, double *m2, int64_t n, double mean, double square)
{
  const double all = (double)(l->values + n), apart = mean - (l->values > 0 ? l->mean : 0);

  *m2 += square + apart * apart * (double)l->values * (double)n / all;
  l->mean = l->values > 0 ? l->mean + apart * (double)n / all : mean;
  l->values += n;
}

/* Adds the values of a field. */
static void take_values(wx_inventory_line *l, double *m2, const float *x, int64_t n)
{
  double mean = 0, square = 0;
  int64_t seen = 0;

  for (int64_t i = 0; i < n; i++) {
    if (isnan(x[i])) {
      continue;
    }
    seen++;
    mean += (double)x[i];
    l->min = fmin(l->min, (double)x[i]);
    l->max = fmax(l->max, (double)x[i]);
  }
  l->fields++;
  l->missing += n - seen;
  if (seen == 0) {
    return;
  }
  mean /= (double)seen;
  for (int64_t i = 0; i < n; i++) {
    square += isnan(x[i]) ? 0 : ((double)x[i] - mean) * ((double)x[i] - mean);
  }
  merge(l, m2, seen, mean, square);
}

static void note_absent(wx_inventory *s, int64_t start, int64_t lead, int64_t quantity,
                        int64_t member)
{
  s->absent_at[start]++;
  if (s->absent++ == 0) {
    const int64_t first[] = {start, lead, quantity, member};

    memcpy(s->first, first, sizeof first);
  }
}

/* One start, lead and quantity: the members that are there. */
static weir_status take_members(wx_archive *a, wx_archive_writer *copy, int64_t start, int64_t lead,
                                int64_t quantity, wx_inventory_line *l, double *m2, float *x)
{
  const wx_archive_info *f = wx_archive_get(a);
  const int64_t cells = wx_grid_cells(&f->grid), n = f->n_members;
  int64_t there = 0;

  for (int64_t m = 0; m < n; m++) {
    there += wx_archive_has(a, start, lead, quantity, m);
  }
  if (there == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(wx_archive_read(a, start, lead, quantity, 0, n, x));
  for (int64_t m = 0; m < n; m++) {
    if (wx_archive_has(a, start, lead, quantity, m)) {
      take_values(l, m2, x + m * cells, cells);
    }
  }
  return copy != NULL ? wx_archive_write(copy, start, lead, quantity, 0, n, x) : WEIR_OK;
}

/* Fields that are not there although another start has that quantity at that lead. */
static void count_absent(const wx_archive *a, wx_inventory *s)
{
  const wx_archive_info *f = wx_archive_get(a);

  for (int64_t i = 0; i < f->n_init_times * s->n; i++) {
    const int64_t start = i / s->n, at = i % s->n;
    wx_inventory_line *const l = &s->line[at];

    l->expected = l->fields > 0 ? f->n_init_times * f->n_members : 0;
    if (l->fields == l->expected) {
      continue;
    }
    for (int64_t m = 0; m < f->n_members; m++) {
      if (!wx_archive_has(a, start, l->lead, l->quantity, m)) {
        note_absent(s, start, l->lead, l->quantity, m);
      }
    }
  }
}

/* Lines without fields, of all leads and quantities. */
static weir_status begin(const wx_archive_info *f, wx_inventory *out)
{
  const int64_t all = f->n_leads * f->n_quantities;

  *out = (wx_inventory){.n = all};
  WEIR_TRY(weir_alloc(f->n_init_times, sizeof *out->absent_at, (void **)&out->absent_at));
  WEIR_TRY(weir_alloc(all, sizeof *out->line, (void **)&out->line));
  for (int64_t i = 0; i < all; i++) {
    out->line[i] = (wx_inventory_line){.quantity = i % f->n_quantities,
                                       .lead = i / f->n_quantities,
                                       .min = INFINITY,
                                       .max = -INFINITY};
  }
  return WEIR_OK;
}

/* m2: sum of squared deviations from the mean. */
static void finish(wx_inventory_line *l, double m2)
{
  l->sd = l->values > 0 ? sqrt(m2 / (double)l->values) : NAN;
  l->mean = l->values > 0 ? l->mean : NAN;
  l->min = l->values > 0 ? l->min : NAN;
  l->max = l->values > 0 ? l->max : NAN;
}

weir_status wx_inventory_take(wx_archive *a, wx_archive_writer *copy, wx_inventory *out)
{
  const wx_archive_info *f = wx_archive_get(a);
  const int64_t all = f->n_leads * f->n_quantities;
  float *x = NULL;
  double *m2 = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(begin(f, out), done);
  WEIR_TRY_GOTO(weir_alloc(all, sizeof *m2, (void **)&m2), done);
  WEIR_TRY_GOTO(weir_alloc(f->n_members * wx_grid_cells(&f->grid), sizeof *x, (void **)&x), done);
  for (int64_t i = 0; i < f->n_init_times * all; i++) {
    wx_inventory_line *const l = &out->line[i % all];

    if (weir_stop_requested()) {
      status = weir_fail(WEIR_ERR_STOPPED, "stopped at initialisation time %lld of %lld of %s",
                         (long long)(i / all), (long long)f->n_init_times, f->name);
      goto done;
    }
    WEIR_TRY_GOTO(take_members(a, copy, i / all, l->lead, l->quantity, l, &m2[i % all], x), done);
    weir_progress("import", i + 1, f->n_init_times * all, "fields of all members");
  }
  for (int64_t i = 0; i < all; i++) {
    finish(&out->line[i], m2[i]);
  }
  count_absent(a, out);
done:
  weir_free(&x);
  weir_free(&m2);
  if (status != WEIR_OK) {
    wx_inventory_fini(out);
  }
  return status;
}

weir_status wx_inventory_count(const wx_archive *a, wx_inventory *out)
{
  const wx_archive_info *f = wx_archive_get(a);
  const weir_status status = begin(f, out);

  if (status != WEIR_OK) {
    wx_inventory_fini(out);
    return status;
  }
  for (int64_t i = 0; i < f->n_init_times * out->n; i++) {
    wx_inventory_line *const l = &out->line[i % out->n];

    for (int64_t m = 0; m < f->n_members; m++) {
      l->fields += wx_archive_has(a, i / out->n, l->lead, l->quantity, m);
    }
  }
  for (int64_t i = 0; i < out->n; i++) {
    finish(&out->line[i], 0);
  }
  count_absent(a, out);
  return WEIR_OK;
}

wx_inventory_line wx_inventory_pool(const wx_inventory *s, int64_t quantity)
{
  wx_inventory_line all = {.quantity = quantity, .lead = -1, .min = INFINITY, .max = -INFINITY};
  double m2 = 0;

  for (int64_t i = 0; i < s->n; i++) {
    const wx_inventory_line *const l = &s->line[i];

    if (l->quantity != quantity) {
      continue;
    }
    all.expected += l->expected;
    all.fields += l->fields;
    all.missing += l->missing;
    if (l->values > 0) {
      all.min = fmin(all.min, l->min);
      all.max = fmax(all.max, l->max);
      merge(&all, &m2, l->values, l->mean, l->sd * l->sd * (double)l->values);
    }
  }
  finish(&all, m2);
  return all;
}

void wx_inventory_fini(wx_inventory *s)
{
  weir_free(&s->line);
  weir_free(&s->absent_at);
}

weir_status wx_inventory_check(const wx_archive_info *f, const wx_inventory *s,
                               const wx_import_opts *opts)
{
  char date[32];

  if (opts->members > 0 && f->n_members != opts->members) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: the forecasts have %lld members (%lld to %lld), import.members asks for "
                     "%lld: give all their files, or set it to %lld",
                     f->name, (long long)f->n_members, (long long)f->member[0],
                     (long long)f->member[f->n_members - 1], (long long)opts->members,
                     (long long)f->n_members);
  }
  if (s->absent == 0 || opts->incomplete == WX_INCOMPLETE_KEEP) {
    return WEIR_OK;
  }
  wx_date_text((double)f->start[s->first[0]] / 86400, date, sizeof date);
  return weir_fail(WEIR_ERR_DATA,
                   "%s: %lld fields are not there that other initialisation times or members have, "
                   "the first: %s "
                   "of initialisation time %s, lead %g h, member %lld; give the files that hold "
                   "them, leave that "
                   "initialisation time out, or set import.incomplete to keep",
                   f->name, (long long)s->absent, f->quantity[s->first[2]].name, date,
                   f->lead[s->first[1]], (long long)f->member[s->first[3]]);
}

static weir_status check_truth(const wx_archive_info *f, const wx_archive_info *t)
{
  char one[WX_LONG], other[WX_LONG];
  const char *const reason = wx_grid_differs(&f->grid, &t->grid);

  WEIR_TRY(wx_members_check_truth(t, "data.truth"));
  if (t->n_leads != 1) {
    return weir_fail(WEIR_ERR_DATA,
                     "data.truth: %s: leads %g h to %g h; a truth has one, the analysis or the "
                     "shortest forecast: leave the others out",
                     t->name, t->lead[0], t->lead[t->n_leads - 1]);
  }
  if (reason != NULL) {
    wx_grid_text(&f->grid, one, sizeof one);
    wx_grid_text(&t->grid, other, sizeof other);
    return weir_fail(WEIR_ERR_DATA,
                     "%s (%s) and the truth %s (%s) are not on the same grid: %s; bring them onto "
                     "one grid, or to the stations of one, with import.grid.file",
                     f->name, one, t->name, other, reason);
  }
  return WEIR_OK;
}

/* Some lead has to be what the truth is; of the others the truth cannot be used. */
static weir_status check_period(const wx_archive_info *f, int64_t k, const wx_archive_info *t,
                                int64_t of)
{
  char first[1024] = "";
  int64_t other = 0;

  for (int64_t l = 0; l < f->n_leads; l++) {
    if (!wx_archive_same_period(f, k, l, t, of, 0) && other++ == 0 &&
        wx_archive_check_period(f, k, l, t, of, 0) != WEIR_OK) {
      (void)snprintf(first, sizeof first, "%s", weir_last_message());
    }
  }
  if (other == f->n_leads) {
    return weir_fail(WEIR_ERR_DATA, "%s", first);
  }
  if (other > 0) {
    weir_warn("prepare", "%lld of %lld leads: %s", (long long)other, (long long)f->n_leads, first);
  }
  return WEIR_OK;
}

/* A quantity that the truth has under another name. */
static void warn_of_hint(const wx_archive_info *f, int64_t k, const wx_archive_info *t)
{
  char hint[2 * WX_LONG] = "";

  if (wx_archive_find_quantity(t, f->quantity[k].name) < 0) {
    wx_archive_hint(t, f->quantity[k].name, hint, sizeof hint);
  }
  if (hint[0] != 0) {
    weir_warn("prepare", "%s has no %s, which is not scored%s", t->name, f->quantity[k].name, hint);
  }
}

static weir_status check_quantities(const wx_archive_info *f, const wx_archive_info *t)
{
  int64_t common = 0;

  for (int64_t k = 0; k < f->n_quantities; k++) {
    const int64_t at = wx_archive_find_quantity(t, f->quantity[k].name);

    common += at >= 0;
    warn_of_hint(f, k, t);
    if (at >= 0 && !wx_quantity_same_units(f->quantity[k].units, t->quantity[at].units)) {
      return weir_fail(
          WEIR_ERR_DATA,
          "%s is in '%s' in %s, in '%s' in the truth %s: convert one, or state its units",
          f->quantity[k].name, f->quantity[k].units, f->name, t->quantity[at].units, t->name);
    }
    if (at >= 0) {
      WEIR_TRY(check_period(f, k, t, at));
    }
  }
  for (int64_t k = 0; common == 0 && k < f->n_quantities; k++) {
    for (int64_t i = 0; i < t->n_quantities; i++) {
      if (wx_quantity_confused(&f->quantity[k], &t->quantity[i])) {
        return weir_fail(
            WEIR_ERR_DATA,
            "%s is in '%s' in %s, %s in '%s' in the truth %s: convert one, or state its units",
            f->quantity[k].name, f->quantity[k].units, f->name, t->quantity[i].name,
            t->quantity[i].units, t->name);
      }
    }
  }
  return common > 0 ? WEIR_OK
                    : weir_fail(WEIR_ERR_DATA,
                                "%s has %s, the truth %s has %s: no quantity in common: rename one "
                                "(data.names.rename)",
                                f->name, f->quantity[0].name, t->name, t->quantity[0].name);
}

weir_status wx_inventory_pair(const wx_archive_info *forecast, const wx_archive_info *truth,
                              int64_t *found)
{
  char last[32], first[2][32];
  int64_t all = 0;

  WEIR_TRY(check_truth(forecast, truth));
  WEIR_TRY(check_quantities(forecast, truth));
  for (int64_t l = 0; l < forecast->n_leads; l++) {
    found[l] = 0;
    for (int64_t s = 0; s < forecast->n_init_times; s++) {
      found[l] += wx_archive_find_truth(truth, forecast, s, l) >= 0;
    }
    all += found[l];
  }
  if (all > 0) {
    return WEIR_OK;
  }
  wx_date_text((double)forecast->start[0] / 86400 + forecast->lead[0] / 24, first[0],
               sizeof first[0]);
  wx_date_text((double)truth->start[0] / 86400, first[1], sizeof first[1]);
  wx_date_text((double)truth->start[truth->n_init_times - 1] / 86400, last, sizeof last);
  return weir_fail(WEIR_ERR_DATA,
                   "the truth %s has no time that a forecast of %s is valid at: the first is valid "
                   "at %s, the truth is from %s to %s",
                   truth->name, forecast->name, first[0], first[1], last);
}

const char *wx_inventory_doubt(const wx_quantity *q, const wx_inventory_line *l)
{
  static const struct {
    const char *variable;
    double lo, hi;
  } usual[] = {{"z", -2e4, 6e5},   {"t", 100, 400},      {"2t", 150, 350},  {"2d", 100, 350},
               {"sst", 250, 330},  {"skt", 150, 400},    {"u", -200, 200},  {"v", -200, 200},
               {"10u", -120, 120}, {"10v", -120, 120},   {"q", -0.01, 0.1}, {"msl", 8e4, 1.2e5},
               {"sp", 3e4, 1.2e5}, {"tcc", -0.01, 1.01}, {"tcwv", -1, 150}, {"tp", -0.01, 5},
               {"r", -30, 200}};

  if (l->values == 0) {
    return l->fields > 0 ? "no value at all" : NULL;
  }
  if (l->max >= 9.9e8 || fabs(l->max) == 9999 || fabs(l->min) == 9999 || l->min <= -9.9e8) {
    return "values that look like a code for missing ones: state it as _FillValue";
  }
  for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
    if (strcmp(usual[i].variable, q->variable) == 0 &&
        (l->min < usual[i].lo || l->max > usual[i].hi)) {
      return "values out of the range of its name: are its units as stated?";
    }
  }
  return l->sd <= 0 && l->values > 1 ? "all values are the same" : NULL;
}

void wx_inventory_warn(const char *command, const wx_archive_info *f, const wx_inventory_line *l,
                       const char **warned)
{
  const wx_quantity *const q = &f->quantity[l->quantity];
  const char *const doubt = wx_inventory_doubt(q, l);

  if (doubt != NULL && (*warned == NULL || strcmp(doubt, *warned) != 0)) {
    *warned = doubt; /* other leads will have the same */
    weir_warn(command, "%s: %s, lead %g h: %s (%g to %g)", f->name, q->name, f->lead[l->lead],
              doubt, l->min, l->max);
  }
}

static weir_status begin_watch(wx_watch *w)
{
  const int64_t n = w->facts->n_quantities;

  wx_watch_fini(w);
  WEIR_TRY(weir_alloc(n, sizeof *w->line, (void **)&w->line));
  for (int64_t k = 0; k < n; k++) {
    w->line[k] = (wx_inventory_line){
        .quantity = k, .min = INFINITY, .max = -INFINITY, .sd = NAN /* not known */};
  }
  return weir_alloc(n, sizeof *w->warned, (void **)&w->warned);
}

weir_status wx_watch_take(wx_watch *w, const char *command, int64_t quantity, int64_t lead,
                          const float *x, int64_t n)
{
  float min = INFINITY, max = -INFINITY;

  if (w->warned == NULL) {
    WEIR_TRY(begin_watch(w));
  }
  for (int64_t i = 0; i < n && w->warned[quantity] == NULL; i++) { /* NaN compares as neither */
    min = x[i] < min ? x[i] : min;
    max = x[i] > max ? x[i] : max;
  }
  if (min <= max) {
    wx_inventory_line *const l = &w->line[quantity];

    l->lead = lead;
    l->values += n;
    l->min = fmin(l->min, (double)min);
    l->max = fmax(l->max, (double)max);
    wx_inventory_warn(command, w->facts, l, &w->warned[quantity]);
  }
  return WEIR_OK;
}

void wx_watch_fini(wx_watch *w)
{
  weir_free(&w->line);
  weir_free(&w->warned);
}
