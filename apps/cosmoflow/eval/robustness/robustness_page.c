/* robustness_page.c - robustness.csv and the report: see robustness.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "eval/robustness/robustness.h"

static const char *const posterior_name[CF_POSTERIOR_SCORES] = {"information_gain", "coverage_0.68",
                                                                "reduced_chi2"};

static const char *set_name(const cf_robustness *r, int64_t set)
{
  return ((const cf_robustness_set_opts *)r->opts->sets.items)[set].name;
}

/* ---- robustness.csv ---- */

typedef struct place {
  const cf_robustness *r;
  int64_t row, set, label;
} place;

static void put(weir_table *c, const place *p, const char *score, const char *unit,
                const weir_estimate *value, double scale)
{
  const cf_robustness_row *const row = &p->r->row[p->row];
  const cf_robustness_cell *const cell = cf_robustness_at(p->r, p->row, p->set, p->label);

  weir_table_add(c, "%s", set_name(p->r, row->trained_on));
  weir_table_add(c, "%s", set_name(p->r, p->set));
  weir_table_add(c, "%s", row->model);
  weir_table_add(c, "%s", p->label == 0 ? "all" : p->r->label[p->label - 1]);
  weir_table_add(c, "%s", score);
  weir_table_add(c, "%s", unit);
  weir_score_add_estimate(c, value, scale);
  weir_table_add(c, "%lld", (long long)cell->samples);
  weir_table_add(c, "%lld", (long long)cell->universes);
}

/* The scores of a model on a set, for a label. */
static void put_cell(weir_table *c, const place *p)
{
  const cf_robustness_cell *const cell = cf_robustness_at(p->r, p->row, p->set, p->label);

  for (int s = 0; s < CF_SCORES; s++) {
    const bool error = s == CF_MAE || s == CF_RMSE || s == CF_BIAS;

    if (!isnan(cell->score[s].value)) {
      put(c, p, cf_score_name[s], error ? "range" : "1", &cell->score[s],
          error ? 1 / cell->half : 1);
    }
  }
  for (int s = 0; s < CF_POSTERIOR_SCORES; s++) {
    if (!isnan(cell->posterior[s].value)) {
      put(c, p, posterior_name[s], s == CF_POSTERIOR_GAIN ? "nat" : "1", &cell->posterior[s], 1);
    }
  }
}

static weir_status write_csv(const cf_robustness *r, const char *dir)
{
  static const char *const head[] = {"trained_on", "tested_on", "model",     "parameter",
                                     "score",      "unit",      "value",     "lo",
                                     "hi",         "samples",   "universes", NULL};
  weir_table c = {0};

  for (int64_t row = 0; row < r->n_rows; row++) {
    for (int64_t set = 0; set < r->n_sets; set++) {
      for (int64_t label = 0; label <= r->n_labels; label++) {
        put_cell(&c, &(place){r, row, set, label});
      }
    }
  }
  const weir_status status = weir_score_write(&c, dir, "robustness.csv", head);

  weir_table_fini(&c);
  return status;
}

/* ---- the report ---- */

/* What a matrix shows. */
typedef struct shown {
  const char *id, *title;
  int score;       /* cf_score, or -1 .. */
  int posterior;   /* cf_robustness_posterior */
  bool of_network; /* alone */
} shown;

static const weir_estimate *value_of(const cf_robustness_cell *c, const shown *s, double *scale)
{
  const bool error = s->score == CF_MAE || s->score == CF_RMSE || s->score == CF_BIAS;

  *scale = error ? 1 / c->half : 1;
  return s->score >= 0 ? &c->score[s->score] : &c->posterior[s->posterior];
}

/* Whether an error is at least that of the mean of the same training set. */
static bool is_worthless(const cf_robustness *r, int64_t row, int64_t set, int64_t label)
{
  const double own = cf_robustness_at(r, row, set, label)->score[CF_MAE].value;

  for (int64_t i = 0; i < r->n_rows; i++) {
    if (!r->row[i].network && r->row[i].trained_on == r->row[row].trained_on && i != row &&
        strcmp(r->row[i].model, "mean") == 0) {
      return own >= cf_robustness_at(r, i, set, label)->score[CF_MAE].value;
    }
  }
  return false;
}

static void add_estimate(weir_table *c, const weir_estimate *e, double scale)
{
  const double value = scale * e->value;

  if (isnan(value)) {
    weir_table_add(c, "-");
  } else if (isnan(e->lo)) {
    weir_table_add(c, "%.3f", value);
  } else {
    weir_table_add(c, "%.3f (%.3f to %.3f)", value, scale * e->lo, scale * e->hi);
  }
}

typedef struct matrix {
  weir_table cells;
  const char **head; /* [2 + n_sets] */
  signed char *mark; /* of the cells */
  int64_t rows;
} matrix;

static void matrix_fini(matrix *m)
{
  weir_table_fini(&m->cells);
  weir_free(&m->head);
  weir_free(&m->mark);
}

static weir_status fill_matrix(const cf_robustness *r, int64_t label, const shown *s, matrix *m)
{
  const int64_t columns = 2 + r->n_sets;

  WEIR_TRY(weir_alloc(columns, sizeof *m->head, (void **)&m->head));
  WEIR_TRY(weir_alloc(r->n_rows * columns, sizeof *m->mark, (void **)&m->mark));
  m->head[0] = "trained on";
  m->head[1] = "model";
  for (int64_t set = 0; set < r->n_sets; set++) {
    m->head[2 + set] = set_name(r, set);
  }
  for (int64_t row = 0; row < r->n_rows; row++) {
    if (s->of_network && !r->row[row].network) {
      continue;
    }
    weir_table_add(&m->cells, "%s", set_name(r, r->row[row].trained_on));
    weir_table_add(&m->cells, "%s", r->row[row].model);
    for (int64_t set = 0; set < r->n_sets; set++) {
      double scale;
      const weir_estimate *const e = value_of(cf_robustness_at(r, row, set, label), s, &scale);

      add_estimate(&m->cells, e, scale);
      if (s->score == CF_MAE && is_worthless(r, row, set, label)) {
        m->mark[m->rows * columns + 2 + set] = -1;
      }
    }
    m->rows++;
  }
  return m->cells.status;
}

static weir_status add_matrix(const cf_robustness *r, int64_t label, const shown *s, bool print,
                              weir_report *page)
{
  const int columns = 2 + (int)r->n_sets;
  matrix m = {.rows = 0};
  char id[64];
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(fill_matrix(r, label, s, &m), done);
  if (m.rows == 0) {
    goto done;
  }
  (void)snprintf(id, sizeof id, "%s_%lld", s->id, (long long)label);
  WEIR_TRY_GOTO(weir_report_subheading(page, id, s->title), done);
  (void)snprintf(id, sizeof id, "table_%s_%lld", s->id, (long long)label);
  const weir_report_rows rows = {.id = id,
                                 .columns = columns,
                                 .rows = m.rows,
                                 .head = m.head,
                                 .cells = m.cells.cell,
                                 .mark = m.mark};

  WEIR_TRY_GOTO(weir_report_add_rows(page, &rows), done);
  if (print) {
    printf("\n%s, all parameters\n", s->title);
    weir_table_print(&m.cells, columns, m.head, stdout);
  }
done:
  matrix_fini(&m);
  return status;
}

static bool has_posteriors(const cf_robustness *r)
{
  for (int64_t row = 0; row < r->n_rows; row++) {
    for (int64_t set = 0; set < r->n_sets; set++) {
      if (!isnan(cf_robustness_at(r, row, set, 0)->posterior[CF_POSTERIOR_GAIN].value)) {
        return true;
      }
    }
  }
  return false;
}

static weir_status add_label(const cf_robustness *r, int64_t label, weir_report *page)
{
  static const shown of[] = {
      {"mae", "MAE (half ranges)", CF_MAE, 0, false},
      {"r2", "R2", CF_R2, 0, false},
      {"bias", "mean bias (half ranges)", CF_BIAS, 0, false},
      {"slope", "slope of the predictions over the truth", CF_SLOPE, 0, false},
      {"coverage", "share of true values within the central 68 % of the posterior", -1,
       CF_POSTERIOR_COVERAGE, true},
      {"chi2", "reduced chi2 of the posterior", -1, CF_POSTERIOR_CHI2, true},
      {"gain", "information gain (nats)", -1, CF_POSTERIOR_GAIN, true},
  };
  const bool posteriors = has_posteriors(r);

  WEIR_TRY(weir_report_heading(page, label == 0 ? "All parameters" : r->label[label - 1]));
  for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
    const shown *const s = &of[i];
    const bool of_all = s->score == CF_MAE || (s->score < 0 && s->posterior == CF_POSTERIOR_GAIN);
    const bool of_one = s->score >= 0 || s->posterior != CF_POSTERIOR_GAIN;

    if ((label == 0 ? of_all : of_one) && (s->score >= 0 || posteriors)) {
      WEIR_TRY(add_matrix(r, label, s, label == 0 && s->score == CF_MAE, page));
    }
  }
  return WEIR_OK;
}

static weir_status fill(const cf_robustness *r, const cf_eval_opts *o, weir_report *page)
{
  const cf_robustness_cell *const first = cf_robustness_at(r, 0, r->row[0].trained_on, 0);

  WEIR_TRY(weir_report_text(
      page,
      "A row is a model with the set whose training universes it has seen, a column a set that it "
      "is tested on (subset %s, %lld samples of %lld universes of the first row's own set). Along "
      "a "
      "row only the test changes; in a column, compare with the row that is trained on that set: "
      "what is attainable there. Regressions and the mean are fitted on the training universes of "
      "the same set.",
      cf_subset_name[o->part], (long long)first->samples, (long long)first->universes));
  WEIR_TRY(weir_report_text(
      page,
      "Errors are predicted minus true, in half ranges: guessing the centre of a range has a mean "
      "absolute error (MAE) of 0.5. Shaded: not better than the mean of the training universes. In "
      "brackets: %g %% of %lld bootstrap resamples of universes.",
      100 * o->bootstrap.confidence, (long long)o->bootstrap.resamples));
  for (int64_t label = 0; label <= r->n_labels; label++) {
    WEIR_TRY(add_label(r, label, page));
  }
  return WEIR_OK;
}

weir_status cf_robustness_write(const cf_robustness *r, const cf_eval_opts *eval, uint64_t seed,
                                const char *dir)
{
  weir_report *page = NULL;

  WEIR_TRY(write_csv(r, dir));
  WEIR_TRY(weir_report_open(dir, "cosmoflow: robustness", &page));
  weir_report_fact(page, "seed", "%llu", (unsigned long long)seed);
  weir_report_fact(page, "subset", "%s", cf_subset_name[eval->part]);
  return weir_report_commit(&page, fill(r, eval, page));
}
