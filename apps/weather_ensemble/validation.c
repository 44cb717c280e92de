/* validation.c - see validation.h. */
#include "validation.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "eval/score/crps.h"
#include "eval/sort/sort.h"

enum { RAW, NETWORK, KINDS };

const char *const wx_validation_head[WX_VALIDATION_COLUMNS] = {
    "target",   "units",        "lead_or_level", "rmse_raw",     "rmse_network",
    "crps_raw", "crps_network", "ratio_raw",     "ratio_network"};

/* crps: NaN where there is no distribution. */
static void take(wx_scores *s, double weight, double mean, double sd, double crps, double y)
{
  const double d = mean - y;

  if (!isfinite(d)) {
    return;
  }
  s->weight += weight;
  s->square += weight * d * d;
  s->variance += weight * sd * sd;
  s->crps += weight * crps;
}

/* Fair CRPS of the members that are there at points `at` and up to WX_LANES - 1 behind it of a
 * plane, of y channels and cells; of one member its error. scratch: [members, WX_LANES + 1]. */
static void score_members(const wx_info *f, const float *members, const float *y, int64_t at,
                          double *scratch, double *crps)
{
  const int64_t plane = f->cells / f->depth, left = plane - at % plane;
  const int64_t n = left < WX_LANES ? left : WX_LANES;
  double *const sorted = scratch + f->members * WX_LANES;
  int64_t m[WX_LANES];

  wx_sort_fields(members + at / plane * f->members * plane + at % plane, f->members, plane, n,
                 FLT_MAX, scratch, m);
  for (int64_t l = 0; l < n; l++) {
    wx_lane_copy(scratch, m[l], l, sorted);
    const wx_crps_decomposition score = wx_crps_sorted(sorted, m[l], (double)y[at + l]);

    crps[l] = m[l] == 0 ? (double)NAN : m[l] > 1 ? wx_crps_fair(&score) : wx_crps_empirical(&score);
  }
}

/* CRPS of the distribution that the network makes of y channel c. */
static double crps_of(const wx_predictor *p, int64_t c, int64_t at, double y)
{
  const wx_output *const is = &p->stage->output[c];

  if (is->family == WX_NORMAL) {
    return wx_crps_normal((double)p->mean[at], (double)p->sigma[at], y);
  }
  return wx_distribution_crps(&(wx_distribution){is->family, (double)p->location[at],
                                                 (double)p->scale[at], is->lower, is->shift,
                                                 is->width},
                              y);
}

/* What is compared with y: a mean with its standard deviation, or, where y is a spread, that. */
static void take_sample(wx_validation *v, const wx_predictor *p, int64_t sample,
                        const wx_sample *own, double *scratch)
{
  const wx_info *f = v->e->facts;
  const bool of_spread = v->e->cfg->data.label == WX_LABEL_SPREAD;
  const int64_t plane = f->cells / f->depth;
  double crps_raw[WX_LANES], crps_network[WX_LANES];

  for (int64_t at = 0; at < p->of_y; at++) {
    const int64_t lane = at % plane % WX_LANES;
    const int64_t c = at / f->cells, i = at % f->cells;
    const int64_t group = f->depth > 1 ? i / plane : f->of_lead[sample];
    wx_scores *s = v->score + (c * v->n_groups + group) * KINDS;
    const double w = f->weight[i], y = (double)own->y[at];
    const double sd = p->sigma != NULL ? (double)p->sigma[at] : NAN;

    const double m = (double)own->m[at], spread = (double)own->s[at];
    const bool scores = !of_spread && p->sigma != NULL;

    if (p->members != NULL && lane == 0) {
      score_members(f, own->e, own->y, at, scratch, crps_raw);
      score_members(&p->stage->facts, p->members, own->y, at, scratch, crps_network);
    }
    const double raw = p->members != NULL ? crps_raw[lane]
                       : of_spread        ? (double)NAN
                                          : wx_crps_normal(m, spread, y);
    const double network = !scores              ? (double)NAN
                           : p->members != NULL ? crps_network[lane]
                                                : crps_of(p, c, at, y);

    take(&s[RAW], w, of_spread ? spread : m, of_spread ? NAN : spread, raw, y);
    take(&s[NETWORK], w, of_spread ? sd : (double)p->mean[at], of_spread ? NAN : sd, network, y);
  }
}

weir_status wx_validation_look(const wx_experiment *e)
{
  const wx_info *const f = e->facts;
  const int64_t n = e->split.n[WX_VALID];

  for (int64_t c = 0; c < f->n_channels[WX_Y] && n > 0; c++) {
    bool found = false;

    for (int64_t i = 0; i < n && !found; i++) {
      wx_sample v;

      WEIR_TRY(wx_samples_read(e->samples, e->split.sample[WX_VALID][i], &v));
      for (int64_t k = 0; k < f->cells && !found; k++) {
        found = isfinite(v.y[c * f->cells + k]) != 0;
      }
    }
    if (!found) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: none of %lld validation samples has a value of %s, so that no weights "
                       "can be chosen: give their truth, or change data.split.valid",
                       f->name, (long long)n, f->channel[WX_Y][c].name);
    }
  }
  return WEIR_OK;
}

weir_status wx_validate(const wx_experiment *e, const wx_stage *stage, const weir_plan_opts *exec,
                        wx_validation *out)
{
  const wx_info *f = e->facts;
  const int64_t *sample = e->split.sample[WX_VALID], n = e->split.n[WX_VALID];
  const int64_t of_y = f->n_channels[WX_Y] * f->cells;
  double *scratch = NULL;
  wx_predictor p;
  weir_status status = WEIR_OK;

  *out =
      (wx_validation){.e = e,
                      .output = stage->output,
                      .n_groups = f->depth > 1 ? f->depth : wx_archive_get(e->forecast)->n_leads};
  WEIR_TRY(weir_alloc(f->n_channels[WX_Y] * out->n_groups * KINDS, sizeof *out->score,
                      (void **)&out->score));
  WEIR_TRY_GOTO(weir_alloc(f->members, (WX_LANES + 1) * sizeof *scratch, (void **)&scratch),
                failed);
  WEIR_TRY_GOTO(wx_predictor_create(stage, 1, exec, &p), failed);
  for (int64_t i = 0; i < n; i++) {
    wx_sample v;

    WEIR_TRY_GOTO(wx_samples_read(e->samples, sample[i], &v), done);
    wx_predictor_put(&p, 0, &v);
    for (int64_t k = 0; k < of_y && e->corrected != NULL; k++) {
      p.m[k] = e->corrected[sample[i] * of_y + k];
    }
    WEIR_TRY_GOTO(wx_predictor_run(&p), done);
    take_sample(out, &p, sample[i], &v, scratch);
    out->samples++;
  }
done:
  wx_predictor_fini(&p);
failed:
  weir_free(&scratch);
  if (status != WEIR_OK) {
    wx_validation_fini(out);
  }
  return status;
}

void wx_validation_fini(wx_validation *v)
{
  weir_free(&v->score);
}

static double rmse(const wx_scores *s)
{
  return sqrt(s->square / s->weight);
}

/* sqrt((m + 1) / m mean variance) over RMSE for m members; without m the bare ratio. */
static double ratio(const wx_scores *s, double members)
{
  const double more = members > 0 ? (members + 1) / members : 1;

  return sqrt(more * s->variance / s->square);
}

/* Lead or level of group g. */
static double where_of(const wx_validation *v, int64_t g)
{
  const wx_info *f = v->e->facts;

  return f->depth == 1              ? wx_archive_get(v->e->forecast)->lead[g]
         : f->axis[0].value != NULL ? f->axis[0].value[g]
                                    : (double)g;
}

/* Equal but for rounding is not worse. */
static bool is_worse(double network, double raw)
{
  return isfinite(raw) && !(network <= raw * (1 + 1e-4));
}

/* Errors of a variable and group, of both kinds. */
typedef struct compared {
  double error[KINDS], crps[KINDS];
  bool by_error, worse;
} compared;

static compared compare(const wx_validation *v, int64_t at)
{
  const wx_cfg *cfg = v->e->cfg;
  const bool has_sigma = cfg->data.label != WX_LABEL_SPREAD && cfg->model.head != WX_HEAD_MEAN;
  const wx_scores *s = v->score + at * KINDS;
  compared c = {.error = {rmse(&s[RAW]), rmse(&s[NETWORK])},
                .crps = {s[RAW].crps / s[RAW].weight, s[NETWORK].crps / s[NETWORK].weight}};

  c.by_error = is_worse(c.error[NETWORK], c.error[RAW]);
  c.worse =
      s[RAW].weight > 0 && (c.by_error || (has_sigma && is_worse(c.crps[NETWORK], c.crps[RAW])));
  return c;
}

bool wx_validation_worse(const wx_validation *v, char *text, size_t size)
{
  const wx_info *f = v->e->facts;
  const bool of_spread = v->e->cfg->data.label == WX_LABEL_SPREAD;
  int64_t total = 0, worse = 0, first = -1;

  for (int64_t at = 0; at < f->n_channels[WX_Y] * v->n_groups; at++) {
    const bool is = compare(v, at).worse;

    total += v->score[at * KINDS + RAW].weight > 0;
    worse += is;
    first = first < 0 && is ? at : first;
  }
  if (2 * worse <= total) { /* noise alone makes some worse */
    return false;
  }
  const compared c = compare(v, first);
  const wx_channel *channel = &f->channel[WX_Y][first / v->n_groups];

  (void)snprintf(text, size,
                 "the network is worse than the uncorrected ensemble%s in the validation, at %lld "
                 "of %lld variables and %ss: %s (%s %g) has %s %.4g, uncorrected %.4g %s",
                 of_spread    ? " spread"
                 : c.by_error ? " mean"
                              : "",
                 (long long)worse, (long long)total, f->depth > 1 ? f->axis[0].name : "lead",
                 channel->name, f->depth > 1 ? f->axis[0].name : "lead",
                 where_of(v, first % v->n_groups), c.by_error ? "RMSE" : "CRPS",
                 c.by_error ? c.error[NETWORK] : c.crps[NETWORK],
                 c.by_error ? c.error[RAW] : c.crps[RAW], channel->units);
  return true;
}

void wx_validation_table(const wx_validation *v, weir_table *cells)
{
  const wx_info *f = v->e->facts;
  const double members = (double)f->members;
  const bool makes_members = v->e->cfg->model.head == WX_HEAD_MEMBERS;

  for (int64_t at = 0; at < f->n_channels[WX_Y] * v->n_groups; at++) {
    const wx_channel *c = &f->channel[WX_Y][at / v->n_groups];
    const int64_t g = at % v->n_groups;
    const wx_scores *s = v->score + at * KINDS;
    const double where = where_of(v, g);
    char is[WX_NAME];
    const double value[] = {rmse(&s[RAW]),
                            rmse(&s[NETWORK]),
                            s[RAW].crps / s[RAW].weight,
                            s[NETWORK].crps / s[NETWORK].weight,
                            ratio(&s[RAW], members),
                            ratio(&s[NETWORK], makes_members ? members : 0)};

    if (!(s[RAW].weight > 0)) {
      continue;
    }
    if (makes_members) {
      (void)snprintf(is, sizeof is, "members");
    } else {
      wx_output_text(&v->output[at / v->n_groups], is, sizeof is);
    }
    weir_event("validation", WEIR_TEXT("target", c->name), WEIR_REAL("where", where),
               WEIR_REAL("rmse_raw", value[0]), WEIR_REAL("rmse_network", value[1]),
               WEIR_REAL("crps_raw", value[2]), WEIR_REAL("crps_network", value[3]),
               WEIR_REAL("ratio_raw", value[4]), WEIR_REAL("ratio_network", value[5]),
               WEIR_TEXT("distribution", is));
    weir_table_add(cells, "%s", c->name);
    weir_table_add(cells, "%s", c->units);
    weir_table_add_real(cells, where);
    for (int k = 0; k < 6; k++) {
      weir_table_add_real(cells, value[k]);
    }
  }
}
