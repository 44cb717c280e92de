/* eval_joint.c - scores of several quantities together, see eval/verify.h. */
#include <math.h>
#include <stdio.h>
#include "page/eval_page_priv.h"

enum { COLUMNS = 10 };
static const char *const head[COLUMNS] = {
    "lead (h)",        "model",     "energy score",           "fair energy score",
    "variogram score", "reference", "energy skill score (%)", "variogram skill score (%)",
    "init. times",     "divided by"};

static void put_row(const wx_eval_page *p, const wx_joint_score_row *row, weir_table *c)
{
  const wx_verify *const v = p->v;
  const bool compared = v->reference[0] != row->model &&
                        !isnan(row->against[0][0].skill.value); /* the reference has members */
  char scales[WX_SCALES_TEXT];

  weir_table_add(c, "%g", v->data->facts->lead[row->lead]);
  weir_table_add(c, "%s", v->model[row->model].name);
  wx_eval_put_estimate(c, &row->energy, 1);
  weir_table_add_real(c, row->energy_fair.value);
  wx_eval_put_estimate(c, &row->variogram, 1);
  weir_table_add(c, "%s", compared ? v->model[v->reference[0]].name : "-");
  for (int s = 0; s < WX_JOINT_COMPARED; s++) {
    if (compared) {
      wx_eval_put_estimate(c, &row->against[0][s].skill, 100);
    } else {
      weir_table_add(c, "-");
    }
  }
  weir_table_add(c, "%lld", (long long)row->n);
  wx_verify_joint_scales(v, row->scale, scales, sizeof scales);
  weir_table_add(c, "%s", scales);
}

weir_status wx_eval_joint(const wx_eval_page *p, weir_report *r)
{
  const wx_verify *const v = p->v;
  const int64_t edge = v->data->facts->grid.kind == WX_GRID_SITES ? 1 : v->opts->score.patch;
  weir_table c = {0};

  if (p->tables->n_joint == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_report_heading(r, v->joint.name));
  WEIR_TRY(weir_report_text(
      r,
      "Dependence between quantities and points: each case is the vector of %lld quantities at "
      "%lld x %lld points. Each quantity is first divided by a scale, the standard deviation of "
      "the "
      "truth at a point at this lead unless eval.joint states another, so that scores have no "
      "units. Lower is better; order of the variogram score: %g.",
      (long long)v->joint.n, (long long)edge, (long long)edge, v->opts->score.order));
  for (int64_t k = 0; k < p->tables->n_joint; k++) {
    put_row(p, &p->tables->joint[k], &c);
  }
  const weir_status status = weir_table_report(&c, r, "joint", COLUMNS, head);

  printf("\njoint-%s\n", v->joint.name);
  weir_table_print(&c, COLUMNS, head, stdout);
  weir_table_fini(&c);
  return status;
}
