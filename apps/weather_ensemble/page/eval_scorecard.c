/* eval_scorecard.c - skill of all models by variable and lead time, relative to each reference. */
#include <math.h>
#include "base/weir_alloc.h"
#include "page/eval_page_priv.h"
#include "report/weir_report.h"

static const struct {
  const char *id, *name;
} scores[WX_COMPARED] = {[WX_COMPARED_CRPS] = {"crps", "CRPS"},
                         [WX_COMPARED_CRPS_FAIR] = {"crps_fair", "Fair CRPS"},
                         [WX_COMPARED_CRPS_GAUSS] = {"crps_gauss", "Gaussian CRPS"},
                         [WX_COMPARED_MSE] = {"mse", "Mean square error of the ensemble mean"}};

/* Cells of a table: a row a variable and model, a column a lead; *any: some skill is known. */
static void fill(const wx_eval_page *p, int64_t reference, wx_compared score, weir_table *c,
                 signed char *mark, bool *any)
{
  const wx_verify *const v = p->v;
  const double level = 1 - v->opts->bootstrap.confidence;

  for (int64_t k = 0; k < v->n_quantities * v->n_models; k++) {
    const int64_t q = v->quantity[k / v->n_models], m = k % v->n_models;

    if (m == v->reference[reference]) {
      continue;
    }
    weir_table_add(c, "%s", v->data->facts->quantity[q].name);
    weir_table_add(c, "%s", v->model[m].name);
    for (int64_t l = 0; l < v->n_leads; l++) {
      const wx_score_row *const row = wx_score_tables_find(p->tables, q, v->lead[l], m);
      const wx_comparison *const a = row != NULL ? &row->against[reference][score] : NULL;
      const bool known = a != NULL && isfinite(a->skill.value);

      if (known && a->test.p < level) {
        mark[c->count] = a->skill.value > 0 ? 1 : -1;
      }
      weir_table_add(c, known ? "%+.1f" : "-", known ? 100 * a->skill.value : NAN);
      *any = *any || known;
    }
  }
}

weir_status wx_eval_scorecard_table(const wx_eval_page *p, int64_t reference, wx_compared score,
                                    weir_report *r)
{
  const wx_verify *const v = p->v;
  const int64_t columns = v->n_leads + 2, rows = v->n_quantities * v->n_models;
  weir_table head = {0}, c = {0};
  signed char *mark = NULL;
  weir_status status = WEIR_OK;
  bool any = false;
  char id[128];

  WEIR_TRY(weir_alloc(columns * rows, sizeof *mark, (void **)&mark));
  weir_table_add(&head, "variable");
  weir_table_add(&head, "model");
  for (int64_t l = 0; l < v->n_leads; l++) {
    weir_table_add(&head, "%g h", v->data->facts->lead[v->lead[l]]);
  }
  fill(p, reference, score, &c, mark, &any);
  WEIR_TRY_GOTO(head.status, done);
  WEIR_TRY_GOTO(c.status, done);
  if (any) {
    WEIR_TRY_GOTO(weir_report_text(r, "%s: skill score (%%) relative to %s.", scores[score].name,
                                   v->model[v->reference[reference]].name),
                  done);
    wx_eval_name(id, sizeof id, "scorecard", scores[score].id,
                 v->model[v->reference[reference]].name);
    WEIR_TRY_GOTO(weir_report_add_rows(r, &(weir_report_rows){.id = id,
                                                              .columns = (int)columns,
                                                              .rows = c.count / columns,
                                                              .head = head.cell,
                                                              .cells = c.cell,
                                                              .mark = mark}),
                  done);
  }
done:
  weir_table_fini(&head);
  weir_table_fini(&c);
  weir_free(&mark);
  return status;
}

weir_status wx_eval_scorecard_legend(const wx_eval_page *p, weir_report *r)
{
  return weir_report_text(r,
                          "Rows: variables and models; columns: lead times. Positive: better than "
                          "the reference. Shaded: significant at %g %% by the Diebold-Mariano test "
                          "on means over the region (green better, orange worse).",
                          100 * (1 - p->v->opts->bootstrap.confidence));
}

static weir_status fill_page(const wx_eval_page *p, weir_report *r)
{
  const wx_verify *const v = p->v;
  char heading[256];

  WEIR_TRY(wx_eval_scorecard_legend(p, r));
  for (int64_t k = 0; k < v->n_references; k++) {
    (void)snprintf(heading, sizeof heading, "Relative to %s", v->model[v->reference[k]].name);
    WEIR_TRY(weir_report_heading(r, heading));
    for (int s = 0; s < WX_COMPARED; s++) {
      WEIR_TRY(wx_eval_scorecard_table(p, k, (wx_compared)s, r));
    }
  }
  return weir_report_link(r, "report.html", "Report of the evaluation");
}

weir_status wx_eval_scorecard_write(const wx_eval_page *p, const char *dir)
{
  weir_report *r = NULL;

  WEIR_TRY(weir_report_open_page(dir, "scorecard.html", "weather_ensemble: scorecard", &r));
  wx_eval_facts(p, r);
  return weir_report_commit(&r, fill_page(p, r));
}
