/* score_tables.c - see score_tables.h. */
#include "eval/score/score_tables.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/date.h"
#include "eval/score/histogram.h"

static const char *const file[WX_TABLES] = {
    [WX_TABLE_SCORES] = "scores.csv",
    [WX_TABLE_ALL] = "all_scores.csv",
    [WX_TABLE_SKILL] = "skill.csv",
    [WX_TABLE_RANK] = "rank.csv",
    [WX_TABLE_PIT] = "pit.csv",
    [WX_TABLE_HISTOGRAMS] = "histograms.csv",
    [WX_TABLE_DECOMPOSITION] = "crps_decomposition.csv",
    [WX_TABLE_EVENTS] = "events.csv",
    [WX_TABLE_RELIABILITY] = "reliability.csv",
    [WX_TABLE_INIT_TIMES] = "init_times.csv",
    [WX_TABLE_SPREAD] = "spread_skill.csv",
};

enum { COLUMNS = 20 /* at most 19 and NULL */, DAY = 86400 };
static const char *const head[WX_TABLES][COLUMNS] = {
    [WX_TABLE_SCORES] = {"variable", "level", "lead_h", "model", "members", "crps", "crps_fair",
                         "crps_gauss", "rmse", "spread", "ssr", "lo", "hi", "energy_score",
                         "variogram_score"},
    [WX_TABLE_ALL] = {"variable", "level", "lead_h", "model", "members", "region", "weights",
                      "score", "value", "lo", "hi", "starts", "cases"},
    [WX_TABLE_SKILL] = {"variable", "level", "lead_h", "model", "members", "region", "reference",
                        "score", "difference", "lo", "hi", "skill", "skill_lo", "skill_hi", "p",
                        "n_eff"},
    [WX_TABLE_RANK] = {"variable", "level", "lead_h", "model", "members", "region", "rank",
                       "share"},
    [WX_TABLE_PIT] = {"variable", "level", "lead_h", "model", "members", "region", "from", "to",
                      "share"},
    [WX_TABLE_HISTOGRAMS] = {"variable", "level", "lead_h", "model", "members", "region", "kind",
                             "bins", "cases", "n_eff", "delta", "delta_error", "chi2", "slope",
                             "curvature"},
    [WX_TABLE_DECOMPOSITION] = {"variable", "level", "lead_h", "model", "members", "region", "crps",
                                "reliability", "potential"},
    [WX_TABLE_EVENTS] = {"variable", "level", "lead_h", "model", "members", "region", "event",
                         "rate", "brier", "brier_fair", "bss", "reliability", "resolution",
                         "uncertainty", "miscalibration", "discrimination", "roc_area", "twcrps"},
    [WX_TABLE_RELIABILITY] = {"variable", "level", "lead_h", "model", "members", "region", "event",
                              "forecast", "observed", "share", "cases", "lo", "hi"},
    [WX_TABLE_SPREAD] = {"variable", "level", "lead_h", "model", "members", "region", "spread",
                         "rmse", "share", "correlation"},
    [WX_TABLE_INIT_TIMES] = {"variable", "level", "lead_h", "model", "members", "start", "crps",
                             "crps_fair", "crps_gauss", "mse", "variance", "efi"},
};

/* What a row is of. */
typedef struct row_of {
  const wx_verify *v;
  wx_score_tables *t;
  const wx_resamples *resamples;
  int64_t model, region;
  double n_eff;
  double *scratch; /* [n_init_times] */
  double *bins;    /* of reliability */
} row_of;

static bool is_joint(const row_of *p)
{
  return p->v->at_quantity == WX_JOINT;
}

static weir_table *begin(const row_of *p, int table, bool region)
{
  const wx_archive_info *const f = p->v->data->facts;
  const bool joint = is_joint(p);
  weir_table *const c = &p->t->cells[table];

  weir_table_add(c, "%s", joint ? p->v->joint.name : f->quantity[p->v->at_quantity].variable);
  weir_table_add(c, "%.10g", joint ? NAN : f->quantity[p->v->at_quantity].level);
  weir_table_add(c, "%.10g", f->lead[p->v->at_lead]);
  weir_table_add(c, "%s", p->v->model[p->model].name);
  weir_table_add(c, "%lld", (long long)p->v->model[p->model].used);
  if (region) {
    weir_table_add(c, "%s", p->v->regions.name[p->region]);
  }
  return c;
}

/* Points, or vectors where quantities are scored together. */
static double cases(const row_of *p)
{
  return wx_score_sums_total(&p->v->score_sums[p->model], p->region,
                             WX_BY_POINT)[is_joint(p) ? WX_SUM_PATCH : WX_SUM_CELLS];
}

static void put_score(const row_of *p, const char *weights, const char *name,
                      const weir_estimate *e)
{
  weir_table *const c = begin(p, WX_TABLE_ALL, true);

  weir_table_add(c, "%s", weights);
  weir_table_add(c, "%s", name);
  weir_score_add_estimate(c, e, 1);
  weir_table_add(c, "%lld", (long long)p->resamples->n);
  weir_table_add(c, "%.0f", cases(p));
}

static const char *weighting(const row_of *p, int w)
{
  const bool sites = p->v->data->facts->grid.kind == WX_GRID_SITES;

  return w != WX_BY_AREA ? "none" : sites ? "equal" : "area";
}

/* Score `s` of a region by weighting w. */
static weir_status add_score(const row_of *p, int w, int s, weir_estimate *out)
{
  const wx_score_sums *const t = &p->v->score_sums[p->model];

  WEIR_TRY(wx_score_estimate(t, p->region, w, s, &p->v->opts->bootstrap, p->resamples, out));
  put_score(p, weighting(p, w), wx_scores[s].name, out);
  return WEIR_OK;
}

/* All scores of a region; row: that of the whole grid, or NULL. */
static weir_status add_scores(const row_of *p, wx_score_row *row)
{
  const wx_score_sums *const t = &p->v->score_sums[p->model];

  for (int w = 0; w < WX_WEIGHTINGS; w++) {
    for (int s = 0; s < WX_SCORES; s++) {
      weir_estimate e;

      WEIR_TRY(add_score(p, w, s, &e));
      if (w == WX_BY_AREA && row != NULL) {
        row->score[s] = e;
      }
    }
    /* No sum over initialisation times, so that resamples of them say nothing about it. */
    put_score(p, weighting(p, w), "bias_local",
              &(weir_estimate){wx_score_sums_local_bias(t, p->region, w), NAN, NAN});
  }
  return WEIR_OK;
}

/* A row of skill.csv, where the reference is another model; *out: what it says. */
static weir_status add_comparison(const row_of *p, int64_t reference, wx_score score,
                                  wx_comparison *out)
{
  const wx_verify *const v = p->v;

  WEIR_TRY(wx_score_compare(&v->score_sums[p->model], &v->score_sums[reference], p->region,
                            WX_BY_AREA, score, &v->opts->bootstrap, p->resamples, p->scratch, out));
  if (reference == p->model) {
    return WEIR_OK;
  }
  weir_table *const c = begin(p, WX_TABLE_SKILL, true);

  weir_table_add(c, "%s", v->model[reference].name);
  weir_table_add(c, "%s", score == WX_RMSE ? "mse" : wx_scores[score].name);
  weir_score_add_estimate(c, &out->difference, 1);
  weir_score_add_estimate(c, &out->skill, 1);
  weir_score_add(c, out->test.p);
  weir_score_add(c, out->test.n_eff);
  return WEIR_OK;
}

static weir_status add_skill(const row_of *p, wx_score_row *row)
{
  static const wx_score compared[WX_COMPARED] = {[WX_COMPARED_CRPS] = WX_CRPS,
                                                 [WX_COMPARED_CRPS_FAIR] = WX_CRPS_FAIR,
                                                 [WX_COMPARED_CRPS_GAUSS] = WX_CRPS_GAUSS,
                                                 [WX_COMPARED_MSE] = WX_RMSE};
  const wx_verify *const v = p->v;

  for (int64_t k = 0; k < v->n_references; k++) {
    const int64_t r = v->reference[k];

    for (int s = 0; s < WX_COMPARED && !v->model[r].absent; s++) {
      wx_comparison a;

      WEIR_TRY(add_comparison(p, r, compared[s], &a));
      if (row != NULL) {
        row->against[k][s] = a;
      }
    }
  }
  return WEIR_OK;
}

static void add_uniformity(const row_of *p, const char *kind, const double *count, int64_t bins)
{
  const wx_uniformity f = wx_histogram_uniformity(count, bins);
  weir_table *const c = begin(p, WX_TABLE_HISTOGRAMS, true);

  weir_table_add(c, "%s", kind);
  weir_table_add(c, "%lld", (long long)bins);
  weir_table_add(c, "%.0f", cases(p));
  weir_score_add(c, p->n_eff);
  weir_score_add(c, f.delta);
  weir_score_add(c, wx_histogram_error(bins, p->n_eff));
  weir_score_add(c, f.chi2);
  weir_score_add(c, f.slope);
  weir_score_add(c, f.curvature);
}

static void add_histograms(const row_of *p)
{
  const wx_score_sums *const t = &p->v->score_sums[p->model];
  const double *const b = wx_score_sums_total(t, p->region, WX_BY_AREA);
  const wx_hersbach h = wx_score_sums_hersbach(t, p->region, WX_BY_AREA);
  double all = 0;

  for (int64_t k = 0; k < t->pit_bins; k++) {
    all += b[t->at.pit + k];
  }
  for (int64_t k = 0; k < t->pit_bins; k++) {
    weir_table *const c = begin(p, WX_TABLE_PIT, true);

    weir_score_add(c, (double)k / (double)t->pit_bins);
    weir_score_add(c, (double)(k + 1) / (double)t->pit_bins);
    weir_score_add(c, b[t->at.pit + k] / all);
  }
  add_uniformity(p, "pit", b + t->at.pit, t->pit_bins);
  if (t->members == 0) {
    return;
  }
  for (int64_t k = 0; k <= t->members; k++) {
    weir_table *const c = begin(p, WX_TABLE_RANK, true);

    weir_table_add(c, "%lld", (long long)k);
    weir_score_add(c, h.weight > 0 ? b[t->at.rank + k] / h.weight : NAN);
  }
  add_uniformity(p, "rank", b + t->at.rank, t->members + 1);
  const wx_hersbach_decomposition crps = wx_hersbach_get(&h);
  weir_table *const c = begin(p, WX_TABLE_DECOMPOSITION, true);

  weir_score_add(c, crps.crps);
  weir_score_add(c, crps.reliability);
  weir_score_add(c, crps.potential);
}

/* Brier score of the climate's own probability; where it is not known, of the rate that came. */
static double brier_of_climate(const wx_event *e, double rate)
{
  const double p = isnan(e->quantile) ? rate : e->above ? 1 - e->quantile : e->quantile;

  return rate * (1 - rate) + (rate - p) * (rate - p);
}

static weir_status add_bins(const row_of *p, int64_t event)
{
  const wx_score_sums *const t = &p->v->score_sums[p->model];
  const wx_reliability_bin *const bin = wx_score_sums_bins(t, p->region, WX_BY_AREA, event);
  double all = 0;

  for (int64_t k = 0; k < t->bins; k++) {
    all += bin[k].weight;
  }
  for (int64_t k = 0; k < t->bins; k++) {
    const double forecast = bin[k].forecast / bin[k].weight, share = bin[k].weight / all;
    weir_estimate e;

    if (bin[k].count == 0) {
      continue;
    }
    WEIR_TRY(wx_score_bin(t, p->region, event, k, &p->v->opts->bootstrap, p->resamples, &e));
    weir_table *const c = begin(p, WX_TABLE_RELIABILITY, true);

    weir_table_add(c, "%s", p->v->event[event].name);
    weir_score_add(c, forecast);
    weir_score_add(c, e.value);
    weir_score_add(c, share);
    weir_table_add(c, "%lld", (long long)bin[k].count);
    weir_score_add(c, e.lo);
    weir_score_add(c, e.hi);
  }
  return WEIR_OK;
}

static weir_status add_events(const row_of *p)
{
  const wx_score_sums *const t = &p->v->score_sums[p->model];
  const double *const b = wx_score_sums_total(t, p->region, WX_BY_AREA);

  for (int64_t e = 0; e < p->v->n_events; e++) {
    const double *const sum = b + wx_score_sums_event(e, 0), weight = sum[WX_EVENT_WEIGHT];
    const wx_reliability_bin *const bin = wx_score_sums_bins(t, p->region, WX_BY_AREA, e);
    const wx_brier_decomposition brier = wx_reliability_decompose(bin, t->bins);
    const wx_corp corp = wx_reliability_corp(bin, t->bins, p->bins);

    if (!(weight > 0)) {
      continue;
    }
    weir_table *const c = begin(p, WX_TABLE_EVENTS, true);

    weir_table_add(c, "%s", p->v->event[e].name);
    weir_score_add(c, brier.rate);
    weir_score_add(c, sum[WX_EVENT_BRIER] / weight);
    weir_score_add(c, sum[WX_EVENT_BRIER_FAIR] / weight);
    weir_score_add(c, 1 - sum[WX_EVENT_BRIER] / weight /
                              brier_of_climate(&p->v->event[e], brier.rate));
    weir_score_add(c, brier.reliability);
    weir_score_add(c, brier.resolution);
    weir_score_add(c, brier.uncertainty);
    weir_score_add(c, corp.miscalibration);
    weir_score_add(c, corp.discrimination);
    weir_score_add(c, wx_reliability_roc(bin, t->bins));
    weir_score_add(c, sum[WX_EVENT_TAIL] / weight);
    WEIR_TRY(add_bins(p, e));
  }
  return WEIR_OK;
}

/* The correlation of spread and |error| is of all points, and the same in every row. */
static void add_spread(const row_of *p)
{
  const wx_score_sums *const t = &p->v->score_sums[p->model];
  const double *const b = wx_score_sums_total(t, p->region, WX_BY_AREA);

  for (int64_t k = 0; k < WX_SPREAD_BINS; k++) {
    const wx_spread_bin bin = wx_spread_bin_get(t, b, k);

    if (bin.share > 0) {
      weir_table *const c = begin(p, WX_TABLE_SPREAD, true);

      weir_score_add(c, bin.spread);
      weir_score_add(c, bin.rmse);
      weir_score_add(c, bin.share);
      weir_score_add(c, wx_spread_correlation(b));
    }
  }
}

static void add_init_times(const row_of *p)
{
  static const wx_sum shown[] = {WX_SUM_CRPS, WX_SUM_FAIR, WX_SUM_GAUSS, WX_SUM_SQUARE,
                                 WX_SUM_VARIANCE};
  const wx_score_sums *const t = &p->v->score_sums[p->model];
  const double *const weight = wx_score_sums_series(t, 0, WX_BY_AREA, WX_SUM_WEIGHT);

  for (int64_t k = 0; k < p->v->n_init_times; k++) {
    weir_table *const c = begin(p, WX_TABLE_INIT_TIMES, false);
    char text[WX_SHORT];

    wx_date_text((double)p->v->time[k] / DAY, text, sizeof text);
    weir_table_add(c, "%s", text);
    for (size_t s = 0; s < sizeof shown / sizeof shown[0]; s++) {
      weir_score_add(
          c, weight[k] > 0 ? wx_score_sums_series(t, 0, WX_BY_AREA, shown[s])[k] / weight[k] : NAN);
    }
    weir_score_add(c, p->v->efi_mean[k]);
  }
}

/* One of row and joint is NULL; quantities together have NaN in the columns of one. */
static void add_summary(const row_of *p, const wx_score_row *row, const wx_joint_score_row *joint)
{
  static const wx_score shown[] = {WX_CRPS, WX_CRPS_FAIR, WX_CRPS_GAUSS,
                                   WX_RMSE, WX_SPREAD,    WX_SSR};
  weir_table *const c = begin(p, WX_TABLE_SCORES, false);

  for (size_t s = 0; s < sizeof shown / sizeof shown[0]; s++) {
    weir_score_add(c, row != NULL ? row->score[shown[s]].value : NAN);
  }
  weir_score_add(c, row != NULL ? row->score[WX_CRPS].lo : NAN);
  weir_score_add(c, row != NULL ? row->score[WX_CRPS].hi : NAN);
  weir_score_add(c, row != NULL ? row->score[WX_ENERGY].value : joint->energy.value);
  weir_score_add(c, row != NULL ? row->score[WX_VARIOGRAM].value : joint->variogram.value);
}

static const wx_comparison no_comparison = {
    .difference = {NAN, NAN, NAN}, .skill = {NAN, NAN, NAN}, .test = {.n_eff = NAN, .p = NAN}};

/* Quantities together: the rows that tables have of them. */
static weir_status add_joint_region(const row_of *p, wx_joint_score_row *row)
{
  static const wx_score compared[WX_JOINT_COMPARED] = {WX_ENERGY, WX_VARIOGRAM};
  const wx_verify *const v = p->v;

  for (int w = WX_WEIGHTINGS; w-- > 0;) { /* by area last: that of the row */
    WEIR_TRY(add_score(p, w, WX_ENERGY, &row->energy));
    WEIR_TRY(add_score(p, w, WX_ENERGY_FAIR, &row->energy_fair));
    WEIR_TRY(add_score(p, w, WX_VARIOGRAM, &row->variogram));
  }
  for (int64_t k = 0; k < v->n_references; k++) {
    for (int s = 0; s < WX_JOINT_COMPARED; s++) {
      row->against[k][s] = no_comparison;
      WEIR_TRY(v->model[v->reference[k]].absent
                   ? WEIR_OK
                   : add_comparison(p, v->reference[k], compared[s], &row->against[k][s]));
    }
  }
  return WEIR_OK;
}

static weir_status add_joint(row_of *p)
{
  const wx_verify *const v = p->v;
  wx_joint_score_row *const row = &p->t->joint[p->t->n_joint], other;

  *row = (wx_joint_score_row){.lead = v->at_lead, .model = p->model, .n = v->n_init_times};
  memcpy(row->scale, v->joint.scale, sizeof row->scale);
  wx_score_init_times(&v->score_sums[p->model], 0, WX_BY_AREA, WX_ENERGY, v->n_init_times,
                      p->scratch);
  row->n_eff = wx_effective_count(p->scratch, v->n_init_times);
  for (p->region = 0; p->region < v->regions.n; p->region++) {
    WEIR_TRY(add_joint_region(p, p->region == 0 ? row : &other));
  }
  p->region = 0;
  add_summary(p, NULL, row);
  p->t->n_joint++;
  return WEIR_OK;
}

static weir_status add_model(row_of *p)
{
  const wx_verify *const v = p->v;
  wx_score_row *const row = &p->t->row[p->t->n_rows];

  *row = (wx_score_row){
      .quantity = v->at_quantity, .lead = v->at_lead, .model = p->model, .n = v->n_init_times};
  for (int k = 0; k < WX_MODELS * WX_COMPARED; k++) { /* until a reference is there */
    row->against[k / WX_COMPARED][k % WX_COMPARED] = no_comparison;
  }
  for (p->region = 0; p->region < v->regions.n; p->region++) {
    wx_score_init_times(&v->score_sums[p->model], p->region, WX_BY_AREA, WX_CRPS, v->n_init_times,
                        p->scratch);
    p->n_eff = wx_effective_count(p->scratch, v->n_init_times);
    if (p->region == 0) {
      row->n_eff = p->n_eff;
    }
    WEIR_TRY(add_scores(p, p->region == 0 ? row : NULL));
    WEIR_TRY(add_skill(p, p->region == 0 ? row : NULL));
    add_histograms(p);
    WEIR_TRY(add_events(p));
    add_spread(p);
  }
  p->region = 0;
  add_summary(p, row, NULL);
  add_init_times(p);
  p->t->n_rows++;
  return WEIR_OK;
}

weir_status wx_score_tables_add(wx_score_tables *t, const wx_verify *v)
{
  const wx_bootstrap_opts *const o = &v->opts->bootstrap;
  int64_t block;
  wx_resamples resamples = {.n = 0};
  row_of p = {.v = v, .t = t, .resamples = &resamples};
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_block_length(v->time, v->n_init_times, o->block, &block));
  WEIR_TRY(weir_reserve(&t->row, &t->row_capacity, t->n_rows + v->n_models, sizeof *t->row));
  WEIR_TRY(weir_reserve(&t->joint, &t->joint_capacity, t->n_joint + v->n_models, sizeof *t->joint));
  WEIR_TRY_GOTO(
      wx_resamples_create(o, v->seed + (uint64_t)o->seed, block, v->n_init_times, &resamples),
      done);
  WEIR_TRY_GOTO(weir_alloc(v->n_init_times, sizeof *p.scratch, (void **)&p.scratch), done);
  WEIR_TRY_GOTO(weir_alloc(v->opts->score.bins, sizeof *p.bins, (void **)&p.bins), done);
  for (p.model = 0; p.model < v->n_models; p.model++) {
    if (!v->model[p.model].absent) {
      WEIR_TRY_GOTO(is_joint(&p) ? add_joint(&p) : add_model(&p), done);
    }
  }
done:
  wx_resamples_fini(&resamples);
  weir_free(&p.scratch);
  weir_free(&p.bins);
  return status;
}

weir_status wx_score_tables_write(const wx_score_tables *t, const char *dir)
{
  for (int k = 0; k < WX_TABLES; k++) {
    WEIR_TRY(weir_score_write(&t->cells[k], dir, file[k], head[k]));
  }
  return WEIR_OK;
}

void wx_score_tables_fini(wx_score_tables *t)
{
  for (int k = 0; k < WX_TABLES; k++) {
    weir_table_fini(&t->cells[k]);
  }
  weir_free(&t->row);
  weir_free(&t->joint);
}

const wx_score_row *wx_score_tables_find(const wx_score_tables *t, int64_t quantity, int64_t lead,
                                         int64_t model)
{
  for (int64_t k = 0; k < t->n_rows; k++) {
    const wx_score_row *const r = &t->row[k];

    if (r->quantity == quantity && r->lead == lead && r->model == model) {
      return r;
    }
  }
  return NULL;
}
