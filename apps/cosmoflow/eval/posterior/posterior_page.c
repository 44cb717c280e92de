/* posterior_page.c - see posterior_page.h. */
#include "eval/posterior/posterior_page.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"

enum {
  NAME = 160,
  TITLE = 128,
  IN_ROW = 4,       /* figures side by side */
  WIDTH = 260,      /* of one, pixels */
  STEPS = 50,       /* of a coverage curve */
  CORNER_BINS = 24, /* of a marginal histogram */
  CROSS = 5,        /* points of two lines, between which one is NaN */
  POINTS = 500      /* of a panel */
};

/* What a figure is of: a set of the evaluation. */
typedef struct subject {
  const cf_evaluation *e;
  int64_t set;
  const cf_posterior_scores *s;
  weir_report *r;
} subject;

static const char *label_of(const subject *f, int64_t k)
{
  return f->e->set[0].p->label[k];
}

/* posterior_what_label_set, of the letters that a file name may have. */
static void name_figure(const subject *f, const char *what, const char *label, char *text)
{
  (void)snprintf(text, NAME, "posterior_%s%s%s_%s", what, label[0] != 0 ? "_" : "", label,
                 f->e->set[f->set].opts->name);
  for (char *c = text; *c != 0; c++) {
    *c = (char)(isalnum((unsigned char)*c) || *c == '_' ? *c : '-');
  }
}

/* ---- Rank histograms ---- */

/* Counts relative to a uniform distribution, with the interval of 95 % of the cases. */
typedef struct histogram {
  char name[NAME], title[TITLE];
  double *edge, *share; /* [bins + 1], [bins] */
  double end[2], one[2], lo[2], hi[2];
  weir_figure_series series[2];
} histogram;

static weir_status make_histogram(const subject *f, int64_t k, histogram *h, weir_figure *out)
{
  const cf_posterior_scores *const s = f->s;
  const int64_t bins = s->test[k].bins;
  const double even = (double)s->cases / (double)bins;
  const double half = 1.96 * sqrt((1 - 1 / (double)bins) / even);

  WEIR_TRY(weir_alloc(bins + 1, sizeof *h->edge, (void **)&h->edge));
  WEIR_TRY(weir_alloc(bins, sizeof *h->share, (void **)&h->share));
  cf_uniformity_count(s->rank + k * s->cases, s->cases, s->draws, bins, h->share);
  for (int64_t b = 0; b <= bins; b++) {
    h->edge[b] = (double)b / (double)bins;
    if (b < bins) {
      h->share[b] /= even;
    }
  }
  for (int i = 0; i < 2; i++) {
    h->end[i] = i;
    h->one[i] = 1;
    h->lo[i] = fmax(1 - half, 0);
    h->hi[i] = 1 + half;
  }
  name_figure(f, "ranks", label_of(f, k), h->name);
  (void)snprintf(h->title, TITLE, "Rank histogram, %s", label_of(f, k));
  h->series[0] = (weir_figure_series){
      .kind = WEIR_FIGURE_HISTOGRAM, .n = bins, .x = h->edge, .y = h->share, .color = 1};
  h->series[1] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                      .name = "uniform, 95 %",
                                      .n = 2,
                                      .x = h->end,
                                      .y = h->one,
                                      .lo = h->lo,
                                      .hi = h->hi,
                                      .reference = true};
  *out = (weir_figure){.title = h->title,
                       .x_label = "rank / draws",
                       .y_label = "relative frequency",
                       .series = h->series,
                       .n_series = 2,
                       .width = WIDTH};
  return WEIR_OK;
}

/* Adds those of up to IN_ROW parameters, from the first on. */
static weir_status add_histograms(const subject *f, int64_t first)
{
  histogram h[IN_ROW] = {0};
  weir_figure figure[IN_ROW];
  const char *name[IN_ROW];
  weir_status status = WEIR_OK;
  int n = 0;

  for (int64_t k = first; k < f->s->n_labels && n < IN_ROW; k++, n++) {
    WEIR_TRY_GOTO(make_histogram(f, k, &h[n], &figure[n]), done);
    name[n] = h[n].name;
  }
  status = weir_report_row(f->r, n, name, figure);
done:
  for (int i = 0; i < IN_ROW; i++) {
    weir_free(&h[i].edge);
    weir_free(&h[i].share);
  }
  return status;
}

/* ---- Coverage ---- */

static weir_status add_coverage(const subject *f)
{
  const cf_posterior_scores *const s = f->s;
  double level[STEPS + 1], share[CF_MAX_LABELS + 1][STEPS + 1];
  weir_figure_series series[CF_MAX_LABELS + 2];
  char name[NAME], title[TITLE];

  for (int64_t k = 0; k <= s->n_labels; k++) {
    for (int i = 0; i <= STEPS; i++) {
      level[i] = (double)i / STEPS;
      share[k][i] = (k < s->n_labels ? cf_coverage_central : cf_coverage_lowest)(
          s->rank + k * s->cases, s->cases, s->draws, level[i]);
    }
    series[k] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                     .name = k < s->n_labels ? label_of(f, k) : "all (TARP)",
                                     .n = STEPS + 1,
                                     .x = level,
                                     .y = share[k]};
  }
  series[s->n_labels + 1] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                                 .name = "1:1 line",
                                                 .n = STEPS + 1,
                                                 .x = level,
                                                 .y = level,
                                                 .reference = true};
  name_figure(f, "coverage", "", name);
  (void)snprintf(title, TITLE, "%s: expected coverage", f->e->set[f->set].opts->name);
  return weir_report_figure(f->r, name,
                            &(weir_figure){.title = title,
                                           .x_label = "credibility level",
                                           .y_label = "share of true values within",
                                           .series = series,
                                           .n_series = (int)s->n_labels + 2,
                                           .equal_axes = true,
                                           .width = 480});
}

/* ---- The corner plot ---- */

/* One posterior: draws in the units of the labels. */
typedef struct corner {
  const subject *f;
  int64_t row, sample, n;
  double *value;               /* [n_labels, n] */
  double truth[CF_MAX_LABELS]; /* likewise */
} corner;

/* A panel of label i over label j, or the histogram of i. */
typedef struct panel {
  char name[NAME], x_label[48], y_label[48];
  double edge[CORNER_BINS + 1], count[CORNER_BINS], x[CROSS], y[CROSS];
  weir_figure_series series[2];
} panel;

/* The least and the largest draw of a label. */
static void ends_of(const corner *c, int64_t label, double *lo, double *hi)
{
  const double *const v = c->value + label * c->n;

  *lo = INFINITY;
  *hi = -INFINITY;
  for (int64_t d = 0; d < c->n; d++) {
    *lo = fmin(*lo, v[d]);
    *hi = fmax(*hi, v[d]);
  }
}

static weir_figure_series truth_line(const panel *p, int64_t n)
{
  return (weir_figure_series){
      .kind = WEIR_FIGURE_LINE, .name = "truth", .n = n, .x = p->x, .y = p->y, .color = 2};
}

static void fill_histogram(const corner *c, int64_t i, panel *p, weir_figure *out)
{
  const double *const v = c->value + i * c->n;
  double lo, hi, max = 0;

  ends_of(c, i, &lo, &hi);
  const double width = (hi - lo) / CORNER_BINS;

  for (int b = 0; b <= CORNER_BINS; b++) {
    p->edge[b] = lo + b * width;
  }
  for (int64_t d = 0; d < c->n; d++) {
    const int b = width > 0 ? (int)((v[d] - lo) / width) : 0;

    p->count[b < CORNER_BINS ? b : CORNER_BINS - 1]++;
  }
  for (int b = 0; b < CORNER_BINS; b++) {
    max = fmax(max, p->count[b]);
  }
  p->x[0] = p->x[1] = c->truth[i];
  p->y[1] = max;
  p->series[0] = (weir_figure_series){
      .kind = WEIR_FIGURE_HISTOGRAM, .n = CORNER_BINS, .x = p->edge, .y = p->count, .color = 1};
  p->series[1] = truth_line(p, 2);
  out->y_label = "draws";
}

static void fill_points(const corner *c, int64_t i, int64_t j, panel *p, weir_figure *out)
{
  p->x[0] = p->x[1] = c->truth[j];
  p->y[3] = p->y[4] = c->truth[i];
  p->x[2] = p->y[2] = (double)NAN;
  ends_of(c, i, &p->y[0], &p->y[1]);
  ends_of(c, j, &p->x[3], &p->x[4]);
  p->series[0] = (weir_figure_series){.kind = WEIR_FIGURE_POINTS,
                                      .n = c->n < POINTS ? c->n : POINTS,
                                      .x = c->value + j * c->n,
                                      .y = c->value + i * c->n,
                                      .color = 1};
  p->series[1] = truth_line(p, CROSS);
  out->y_label = p->y_label;
}

/* Row i: label i over the labels before it, then its histogram. */
static weir_status add_corner_row(const corner *c, int64_t i)
{
  const int64_t first = i + 1 > IN_ROW ? i + 1 - IN_ROW : 0;
  const char *name[IN_ROW];
  weir_figure figure[IN_ROW];
  panel *p = NULL;

  WEIR_TRY(weir_alloc(IN_ROW, sizeof *p, (void **)&p));
  for (int64_t j = first; j <= i; j++) {
    panel *const at = &p[j - first];
    char pair[2 * CF_MAX_NAME + 8];

    (void)snprintf(pair, sizeof pair, "%s%s%s", label_of(c->f, i), j < i ? "_" : "",
                   j < i ? label_of(c->f, j) : "");
    name_figure(c->f, "corner", pair, at->name);
    (void)snprintf(at->x_label, sizeof at->x_label, "%s", label_of(c->f, j));
    (void)snprintf(at->y_label, sizeof at->y_label, "%s", label_of(c->f, i));
    figure[j - first] = (weir_figure){
        .title = "", .x_label = at->x_label, .series = at->series, .n_series = 2, .width = WIDTH};
    name[j - first] = at->name;
    if (j < i) {
      fill_points(c, i, j, at, &figure[j - first]);
    } else {
      fill_histogram(c, i, at, &figure[j - first]);
    }
  }
  const weir_status status = weir_report_row(c->f->r, (int)(i + 1 - first), name, figure);

  weir_free(&p);
  return status;
}

/* Draws from the posterior of the corner plot; *drawn: there are any. */
static weir_status draw_corner(corner *c, bool *drawn)
{
  const cf_predictions *const p = c->f->e->set[c->f->set].p;
  const int64_t labels = p->n_labels;
  double *draws = NULL, inside = 1;

  WEIR_TRY(weir_alloc(c->n * labels, sizeof *draws, (void **)&draws));
  const weir_status status = weir_alloc(c->n * labels, sizeof *c->value, (void **)&c->value);

  *drawn = status == WEIR_OK &&
           cf_posterior_draw(p->posterior, c->row, c->f->e->seed, c->sample, c->n, draws, &inside);
  for (int64_t k = 0; k < labels && *drawn; k++) {
    c->truth[k] = cf_predictions_physical(p, k, (double)p->truth[c->row * labels + k]);
    for (int64_t d = 0; d < c->n; d++) {
      c->value[k * c->n + d] = cf_predictions_physical(p, k, draws[d * labels + k]);
    }
  }
  weir_free(&draws);
  return status;
}

static weir_status add_corner(const subject *f)
{
  const cf_eval_set *const t = &f->e->set[f->set];
  const int64_t wanted = f->e->opts->posterior.sample, n = t->level[CF_BY_SAMPLE].n;
  const int64_t i = wanted < n ? wanted : n - 1;
  corner c = {.f = f, .row = t->row[i], .sample = t->sample[i], .n = f->s->draws};
  weir_status status = WEIR_OK;
  bool drawn = false;

  WEIR_TRY_GOTO(draw_corner(&c, &drawn), done);
  if (!drawn) {
    status = weir_report_text(f->r,
                              "No corner plot: the posterior of sample %lld has fewer than 1 in "
                              "1000 draws within the ranges of the parameters.",
                              (long long)c.sample);
    goto done;
  }
  WEIR_TRY_GOTO(weir_report_text(f->r,
                                 "Corner plot: the posterior of sample %lld (universe %lld) of %s, "
                                 "%lld draws, and the true parameters.",
                                 (long long)c.sample, (long long)t->p->universe[c.row],
                                 t->opts->name, (long long)c.n),
                done);
  for (int64_t k = 0; k < f->s->n_labels; k++) {
    WEIR_TRY_GOTO(add_corner_row(&c, k), done);
  }
done:
  weir_free(&c.value);
  return status;
}

/* ---- Text and tables ---- */

static void put_row(weir_table *c, const subject *f, int64_t k)
{
  const cf_posterior_scores *const s = f->s;
  const bool one = k < s->n_labels;
  const cf_uniformity *const u = &s->test[k];

  weir_table_add(c, "%s", f->e->set[f->set].opts->name);
  weir_table_add(c, "%s", one ? label_of(f, k) : "all (TARP)");
  weir_table_add_real(c, one ? s->sd[k] : (double)NAN);
  weir_table_add_real(c, one ? s->square[k] : (double)NAN);
  for (int i = 0; i < CF_LEVELS_OF_COVERAGE; i++) {
    weir_table_add_real(c, (one ? cf_coverage_central : cf_coverage_lowest)(
                               s->rank + k * s->cases, s->cases, s->draws, cf_coverage_level[i]));
  }
  weir_table_add_real(c, u->chi2_p);
  weir_table_add_real(c, u->ks_p);
  weir_table_add_real(c, one ? (double)NAN : u->area);
}

static weir_status add_table(const subject *f)
{
  enum { COLUMNS = 11 };
  static const char *const head[COLUMNS] = {"set",
                                            "parameter",
                                            "mean standard deviation (half ranges)",
                                            "mean (error / standard deviation)^2",
                                            "coverage, 50 % interval",
                                            "coverage, 68 % interval",
                                            "coverage, 90 % interval",
                                            "coverage, 95 % interval",
                                            "p, chi-square of the ranks",
                                            "p, Kolmogorov-Smirnov",
                                            "area to the 1:1 line"};
  char id[64];
  weir_table c = {0};

  for (int64_t k = 0; k <= f->s->n_labels; k++) {
    put_row(&c, f, k);
  }
  (void)snprintf(id, sizeof id, "posterior_%lld", (long long)f->set + 1);
  const weir_status status = weir_table_report(&c, f->r, id, COLUMNS, head);

  printf("\nposteriors\n");
  weir_table_print(&c, COLUMNS, head, stdout);
  weir_table_fini(&c);
  return status;
}

static weir_status add_text(const subject *f)
{
  const cf_posterior_scores *const s = f->s;
  char gain[WEIR_AMOUNT_SIZE], lo[WEIR_AMOUNT_SIZE], hi[WEIR_AMOUNT_SIZE], q[WEIR_AMOUNT_SIZE];

  return weir_report_text(
      f->r,
      "%s: mean log density of the truth %s (parameters in half ranges); expected information gain "
      "over a prior that is uniform over the ranges %s nats (%s to %s, %g %% of the bootstrap "
      "resamples of universes). Probability of the posteriors outside the ranges: %.2g %% on "
      "average. "
      "Calibration: "
      "the truth is ranked among %lld draws from the posterior of one sample of each of %lld "
      "universes. Ranks of calibrated posteriors are uniform (Talts et al. 2018): a U shape tells "
      "of posteriors that are too narrow, a hump of too wide ones, a slope of bias. TARP (Lemos et "
      "al. 2023) ranks the distance to a random point, of all parameters together: an area below 0 "
      "tells of narrow posteriors. A small p speaks against calibration.",
      f->e->set[f->set].opts->name, weir_amount_number(s->log_density.value, q),
      weir_amount_number(s->information.value, gain), weir_amount_number(s->information.lo, lo),
      weir_amount_number(s->information.hi, hi), 100 * f->e->opts->bootstrap.confidence,
      100 * s->outside, (long long)s->draws, (long long)s->cases);
}

static weir_status add_set(const subject *f)
{
  WEIR_TRY(add_text(f));
  if (f->e->set[f->set].p->posterior->moments) {
    WEIR_TRY(weir_report_text(
        f->r,
        "The network estimates mean and covariance of the posteriors, not their shape: densities, "
        "draws and what follows are those of Gaussians with these moments. The mean of (error / "
        "standard deviation)^2 tests the moments alone; it is 1 where they are right."));
  }
  if (f->s->skipped > 0) {
    WEIR_TRY(weir_report_text(
        f->r,
        "%lld of %lld samples are not scored: fewer than 1 in 1000 draws from their "
        "posteriors are within the ranges of the parameters.",
        (long long)f->s->skipped, (long long)(f->s->skipped + f->s->n)));
  }
  WEIR_TRY(add_table(f));
  if (f->s->test[0].bins == 0) {
    WEIR_TRY(weir_report_text(f->r, "No rank histograms: they need at least 10 universes."));
  }
  for (int64_t k = 0; k < f->s->n_labels && f->s->test[0].bins > 0; k += IN_ROW) {
    WEIR_TRY(add_histograms(f, k));
  }
  WEIR_TRY(add_coverage(f));
  return add_corner(f);
}

weir_status cf_posterior_page_add(const cf_evaluation *e, weir_report *r)
{
  bool any = false;

  for (int64_t i = 0; i < e->n_sets; i++) {
    const subject f = {e, i, &e->posterior[i], r};

    if (f.s->n == 0) {
      continue;
    }
    if (!any) {
      WEIR_TRY(weir_report_heading(r, "Posteriors"));
      any = true;
    }
    WEIR_TRY(add_set(&f));
  }
  return WEIR_OK;
}
