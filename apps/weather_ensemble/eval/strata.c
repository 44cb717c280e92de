/* strata.c - see strata.h. */
#include "eval/strata.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/date.h"
#include "eval/score/scores.h"

enum { DAY = 86400, HOUR = 3600, COLUMNS = 17 };

/* Scores of the tables, and the sums that they are made of. */
static const wx_score shown[] = {WX_CRPS, WX_CRPS_FAIR, WX_CRPS_GAUSS, WX_BIAS,
                                 WX_RMSE, WX_SPREAD,    WX_SSR};
static const wx_score compared[] = {WX_CRPS, WX_CRPS_FAIR, WX_CRPS_GAUSS, WX_RMSE};
static const wx_sum kept[] = {WX_SUM_WEIGHT, WX_SUM_CRPS,   WX_SUM_FAIR,     WX_SUM_GAUSS,
                              WX_SUM_ERROR,  WX_SUM_SQUARE, WX_SUM_VARIANCE, WX_SUM_CORRECTED};
enum {
  SHOWN = sizeof shown / sizeof *shown,
  COMPARED = sizeof compared / sizeof *compared,
  KEPT = sizeof kept / sizeof *kept
};
const char *const wx_season_name[WX_SEASONS] = {"all", "DJF", "MAM", "JJA", "SON"};
static const char *const score_head[] = {"variable", "level",   "leads",  "season",
                                         "model",    "members", "score",  "value",
                                         "lo",       "hi",      "starts", NULL};
static const char *const skill_head[] = {"variable", "level",     "leads",    "season",     "model",
                                         "members",  "reference", "score",    "difference", "lo",
                                         "hi",       "skill",     "skill_lo", "skill_hi",   "p",
                                         "n_eff",    NULL};
_Static_assert(sizeof skill_head / sizeof *skill_head == COLUMNS, "columns");

wx_season wx_season_of(double days)
{
  return (wx_season)(WX_SEASON_DJF + wx_date_month_of_year(days) % 12 / 3);
}

static int place_of(wx_sum sum)
{
  int k = 0;

  while (kept[k] != sum) {
    k++;
  }
  return k;
}

/* ---- What is kept ---- */

static void fini_lead(wx_strata_lead *l)
{
  weir_free(&l->start);
  weir_free(&l->valid);
  weir_free(&l->sum);
}

weir_status wx_strata_add(wx_strata *t, const wx_verify *v)
{
  const int64_t n = v->n_init_times, ahead = llround(v->data->facts->lead[v->at_lead] * HOUR);
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_reserve(&t->lead, &t->capacity, t->n + 1, sizeof *t->lead));
  wx_strata_lead *const l = &t->lead[t->n];

  *l = (wx_strata_lead){.quantity = v->at_quantity, .lead = v->at_lead, .n = n};
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *l->start, (void **)&l->start), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *l->valid, (void **)&l->valid), done);
  WEIR_TRY_GOTO(weir_alloc(v->n_models * KEPT * n, sizeof *l->sum, (void **)&l->sum), done);
  for (int64_t i = 0; i < n; i++) {
    l->start[i] = v->start[i];
    l->valid[i] = v->time[i] + ahead;
  }
  for (int64_t m = 0; m < v->n_models; m++) {
    l->absent[m] = v->model[m].absent;
    for (int k = 0; k < KEPT && !l->absent[m]; k++) {
      memcpy(l->sum + (m * KEPT + k) * n,
             wx_score_sums_series(&v->score_sums[m], 0, WX_BY_AREA, kept[k]),
             (size_t)n * sizeof *l->sum);
    }
  }
  t->n++;
done:
  if (status != WEIR_OK) {
    fini_lead(l);
  }
  return status;
}

void wx_strata_fini(wx_strata *t)
{
  for (int64_t k = 0; k < t->n; k++) {
    fini_lead(&t->lead[k]);
  }
  weir_free(&t->lead);
  weir_free(&t->skill);
  *t = (wx_strata){.n = 0};
}

/* ---- A part ---- */

/* Leads of a quantity and a season, as sums of initialisation times. */
typedef struct part {
  wx_strata *t;
  const wx_verify *v;
  int64_t quantity, leads; /* as of wx_strata_skill */
  double from, to;         /* h */
  char name[WX_LONG];
  int season;
  int64_t n;
  int64_t *time;   /* [n] seconds of the initialisation times that count, ascending */
  double *sum;     /* [models, KEPT, n_candidates], the first n filled */
  double *scratch; /* [n_candidates] */
  int64_t *slot;   /* [initialisation times of the archive] */
  bool absent[WX_MODELS];
  weir_table *score, *skill;
} part;

static bool counts(const part *p, const wx_strata_lead *l)
{
  const double hours = p->v->data->facts->lead[l->lead];

  return l->quantity == p->quantity && hours >= p->from && hours <= p->to;
}

static bool is_of_season(const part *p, int64_t valid)
{
  return p->season == WX_SEASON_ALL || (int)wx_season_of((double)valid / DAY) == p->season;
}

/* Numbers the initialisation times that count, in order of time. */
static void number_starts(part *p)
{
  const wx_archive_info *const f = p->v->data->facts;

  for (int64_t i = 0; i < f->n_init_times; i++) {
    p->slot[i] = -1;
  }
  for (int64_t k = 0; k < p->t->n; k++) {
    const wx_strata_lead *const l = &p->t->lead[k];

    for (int64_t i = 0; i < l->n && counts(p, l); i++) {
      if (is_of_season(p, l->valid[i])) {
        p->slot[l->start[i]] = 0;
      }
    }
  }
  p->n = 0;
  for (int64_t i = 0; i < p->v->n_candidates; i++) {
    const int64_t start = p->v->candidate[i];

    if (p->slot[start] == 0) {
      p->time[p->n] = f->start[start];
      p->slot[start] = p->n++;
    }
  }
}

static double *sum_of(const part *p, int64_t model, int k)
{
  return p->sum + (model * KEPT + k) * p->v->n_candidates;
}

static void add_lead(part *p, const wx_strata_lead *l)
{
  for (int64_t m = 0; m < p->v->n_models; m++) {
    p->absent[m] = p->absent[m] || l->absent[m];
    for (int k = 0; k < KEPT && !l->absent[m]; k++) {
      const double *const from = l->sum + (m * KEPT + k) * l->n;
      double *const to = sum_of(p, m, k);

      for (int64_t i = 0; i < l->n; i++) {
        if (is_of_season(p, l->valid[i])) {
          to[p->slot[l->start[i]]] += from[i];
        }
      }
    }
  }
}

static void fill(part *p)
{
  number_starts(p);
  memset(p->sum, 0, (size_t)(p->v->n_models * KEPT * p->v->n_candidates) * sizeof *p->sum);
  memset(p->absent, 0, sizeof p->absent);
  for (int64_t k = 0; k < p->t->n; k++) {
    if (counts(p, &p->t->lead[k])) {
      add_lead(p, &p->t->lead[k]);
    }
  }
}

/* ---- Tables ---- */

static void begin(const part *p, int64_t model, weir_table *c)
{
  const wx_quantity *const q = &p->v->data->facts->quantity[p->quantity];

  weir_table_add(c, "%s", q->variable);
  weir_table_add(c, "%.10g", q->level);
  weir_table_add(c, "%s", p->name);
  weir_table_add(c, "%s", wx_season_name[p->season]);
  weir_table_add(c, "%s", p->v->model[model].name);
  weir_table_add(c, "%lld", (long long)p->v->model[model].used);
}

static weir_status put_scores(const part *p, int64_t model, const wx_resamples *r)
{
  const wx_bootstrap_opts *const o = &p->v->opts->bootstrap;

  for (int s = 0; s < SHOWN; s++) {
    const wx_score_desc *const d = &wx_scores[shown[s]];
    const wx_ratio ratio = {sum_of(p, model, place_of(d->up)), sum_of(p, model, place_of(d->down))};
    weir_estimate e;

    WEIR_TRY(wx_bootstrap(o, r, d->root ? wx_root_ratio_of : wx_ratio_of, &ratio, &e));
    begin(p, model, p->score);
    weir_table_add(p->score, "%s", d->name);
    weir_score_add_estimate(p->score, &e, 1);
    weir_table_add(p->score, "%lld", (long long)p->n);
  }
  return WEIR_OK;
}

static weir_status keep_skill(const part *p, int64_t model, int64_t k, const wx_comparison *a)
{
  wx_strata *const t = p->t;

  WEIR_TRY(weir_reserve(&t->skill, &t->skill_capacity, t->n_skill + 1, sizeof *t->skill));
  t->skill[t->n_skill++] =
      (wx_strata_skill){p->quantity, p->leads, model, k, p->season, a->skill.value, a->test.p};
  return WEIR_OK;
}

/* Relative to reference k. */
static weir_status put_skill(const part *p, int64_t model, int64_t k, const wx_resamples *r)
{
  const int64_t reference = p->v->reference[k];
  const int weight = place_of(WX_SUM_WEIGHT);

  for (int s = 0; s < COMPARED; s++) {
    const wx_score_desc *const d = &wx_scores[compared[s]];
    const int up = place_of(d->up);
    const wx_pair pair = {sum_of(p, model, up), sum_of(p, model, weight), sum_of(p, reference, up),
                          sum_of(p, reference, weight)};
    wx_comparison a;

    WEIR_TRY(wx_pair_compare(&pair, &p->v->opts->bootstrap, r, p->scratch, &a));
    begin(p, model, p->skill);
    weir_table_add(p->skill, "%s", p->v->model[reference].name);
    weir_table_add(p->skill, "%s", d->root ? "mse" : d->name);
    weir_score_add_estimate(p->skill, &a.difference, 1);
    weir_score_add_estimate(p->skill, &a.skill, 1);
    weir_score_add(p->skill, a.test.p);
    weir_score_add(p->skill, a.test.n_eff);
    if (compared[s] == WX_CRPS_GAUSS) {
      WEIR_TRY(keep_skill(p, model, k, &a));
    }
  }
  return WEIR_OK;
}

static weir_status put_models(const part *p, const wx_resamples *r)
{
  for (int64_t m = 0; m < p->v->n_models; m++) {
    if (p->absent[m]) {
      continue;
    }
    WEIR_TRY(put_scores(p, m, r));
    for (int64_t k = 0; k < p->v->n_references; k++) {
      const int64_t reference = p->v->reference[k];

      if (reference != m && !p->absent[reference]) {
        WEIR_TRY(put_skill(p, m, k, r));
      }
    }
  }
  return WEIR_OK;
}

/* The whole year and its seasons. */
static weir_status put_seasons(part *p)
{
  const wx_bootstrap_opts *const o = &p->v->opts->bootstrap;

  for (p->season = 0; p->season < WX_SEASONS; p->season++) {
    wx_resamples r = {.n = 0};
    int64_t block = 1;
    weir_status status = WEIR_OK;

    fill(p);
    if (p->n == 0) {
      continue;
    }
    WEIR_TRY(wx_block_length(p->time, p->n, o->block, &block));
    WEIR_TRY(wx_resamples_create(o, p->v->seed + (uint64_t)o->seed, block, p->n, &r));
    status = put_models(p, &r);
    wx_resamples_fini(&r);
    WEIR_TRY(status);
  }
  return WEIR_OK;
}

void wx_strata_leads_name(const wx_verify *v, int64_t leads, char *text, size_t size)
{
  const wx_lead_window *const window = v->opts->lead_windows.items;

  if (leads < v->n_leads) {
    (void)snprintf(text, size, "%.10g h", v->data->facts->lead[v->lead[leads]]);
  } else {
    (void)snprintf(text, size, "%s", window[leads - v->n_leads].name);
  }
}

/* Every lead of a quantity, then its windows. */
static weir_status put_quantity(part *p)
{
  const wx_archive_info *const f = p->v->data->facts;
  const wx_lead_window *const window = p->v->opts->lead_windows.items;
  const int64_t n_leads = p->v->n_leads;

  for (p->leads = 0; p->leads < n_leads + p->v->opts->lead_windows.count; p->leads++) {
    const bool one = p->leads < n_leads;

    p->from = one ? f->lead[p->v->lead[p->leads]] : window[p->leads - n_leads].from;
    p->to = one ? p->from : window[p->leads - n_leads].to;
    wx_strata_leads_name(p->v, p->leads, p->name, sizeof p->name);
    WEIR_TRY(put_seasons(p));
  }
  return WEIR_OK;
}

static weir_status make_tables(part *p)
{
  const int64_t n = p->v->n_candidates;

  WEIR_TRY(weir_alloc(n, sizeof *p->time, (void **)&p->time));
  WEIR_TRY(weir_alloc(n, sizeof *p->scratch, (void **)&p->scratch));
  WEIR_TRY(weir_alloc(p->v->data->facts->n_init_times, sizeof *p->slot, (void **)&p->slot));
  WEIR_TRY(weir_alloc(p->v->n_models * KEPT * n, sizeof *p->sum, (void **)&p->sum));
  for (int64_t k = 0; k < p->v->n_quantities; k++) {
    p->quantity = p->v->quantity[k];
    WEIR_TRY(put_quantity(p));
  }
  return WEIR_OK;
}

weir_status wx_strata_write(wx_strata *t, const wx_verify *v, const char *dir)
{
  weir_table score = {0}, skill = {0};
  part p = {.t = t, .v = v, .score = &score, .skill = &skill};
  weir_status status = WEIR_OK;

  t->n_skill = 0;
  WEIR_TRY_GOTO(make_tables(&p), done);
  WEIR_TRY_GOTO(weir_score_write(&score, dir, "strata.csv", score_head), done);
  WEIR_TRY_GOTO(weir_score_write(&skill, dir, "strata_skill.csv", skill_head), done);
done:
  weir_table_fini(&score);
  weir_table_fini(&skill);
  weir_free(&p.time);
  weir_free(&p.scratch);
  weir_free(&p.slot);
  weir_free(&p.sum);
  return status;
}
