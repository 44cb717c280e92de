/* eval_seasons.c - skill of all models by season of the valid date, for each lead and window of
 * leads, relative to each reference. */
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "page/eval_page_priv.h"
#include "report/weir_report.h"

enum { NAMES = 3 }; /* columns before those of the seasons */

static const wx_strata_skill *find(const wx_strata *t, const wx_strata_skill *of)
{
  for (int64_t k = 0; k < t->n_skill; k++) {
    const wx_strata_skill *const s = &t->skill[k];

    if (s->quantity == of->quantity && s->leads == of->leads && s->model == of->model &&
        s->reference == of->reference && s->season == of->season) {
      return s;
    }
  }
  return NULL;
}

/* A row: variable, leads and model, then the seasons from season[0] on; none without any skill. */
static void put_row(const wx_eval_page *p, wx_strata_skill of, const int *season, int n,
                    weir_table *c, signed char *mark)
{
  const wx_verify *const v = p->v;
  const double level = 1 - v->opts->bootstrap.confidence;
  char leads[WX_LONG];

  of.season = WX_SEASON_ALL;
  if (find(p->strata, &of) == NULL) {
    return;
  }
  wx_strata_leads_name(v, of.leads, leads, sizeof leads);
  weir_table_add(c, "%s", v->data->facts->quantity[of.quantity].name);
  weir_table_add(c, "%s", leads);
  weir_table_add(c, "%s", v->model[of.model].name);
  for (int k = 0; k < n; k++) {
    of.season = season[k];
    const wx_strata_skill *const s = find(p->strata, &of);
    const bool known = s != NULL && isfinite(s->skill);

    if (known && s->p < level) {
      mark[c->count] = s->skill > 0 ? 1 : -1;
    }
    weir_table_add(c, known ? "%+.1f" : "-", known ? 100 * s->skill : NAN);
  }
}

/* Seasons that any valid date is in; returns how many. */
static int seasons_of(const wx_strata *t, int *season)
{
  bool there[WX_SEASONS] = {false};
  int n = 0;

  for (int64_t k = 0; k < t->n_skill; k++) {
    there[t->skill[k].season] = true;
  }
  for (int s = 0; s < WX_SEASONS; s++) {
    if (there[s]) {
      season[n++] = s;
    }
  }
  return n;
}

static weir_status add_table(const wx_eval_page *p, int64_t reference, weir_report *r)
{
  const wx_verify *const v = p->v;
  const char *head[NAMES + WX_SEASONS] = {"variable", "leads", "model"};
  int season[WX_SEASONS];
  const int n = seasons_of(p->strata, season), columns = NAMES + n;
  const int64_t leads = v->n_leads + v->opts->lead_windows.count;
  signed char *mark = NULL;
  weir_table c = {0};
  weir_status status = WEIR_OK;
  char id[128];

  WEIR_TRY(
      weir_alloc(v->n_quantities * leads * v->n_models * columns, sizeof *mark, (void **)&mark));
  for (int k = 0; k < n; k++) {
    head[NAMES + k] = wx_season_name[season[k]];
  }
  for (int64_t q = 0; q < v->n_quantities; q++) {
    for (int64_t l = 0; l < leads; l++) {
      for (int64_t m = 0; m < v->n_models; m++) {
        put_row(p,
                (wx_strata_skill){
                    .quantity = v->quantity[q], .leads = l, .model = m, .reference = reference},
                season, n, &c, mark);
      }
    }
  }
  WEIR_TRY_GOTO(c.status, done);
  wx_eval_name(id, sizeof id, "seasons", v->model[v->reference[reference]].name, "");
  WEIR_TRY_GOTO(weir_report_add_rows(r, &(weir_report_rows){.id = id,
                                                            .columns = columns,
                                                            .rows = c.count / columns,
                                                            .head = head,
                                                            .cells = c.cell,
                                                            .mark = mark}),
                done);
done:
  weir_table_fini(&c);
  weir_free(&mark);
  return status;
}

static weir_status fill_page(const wx_eval_page *p, weir_report *r)
{
  const wx_verify *const v = p->v;
  char heading[256];

  WEIR_TRY(weir_report_text(r,
                            "Gaussian CRPS: skill score (%%). Columns: seasons of the valid date, "
                            "and all of them. Positive: better than the reference. Shaded: "
                            "significant at %g %% by the Diebold-Mariano test on means over the "
                            "region (green better, orange worse). Scores, other estimators and "
                            "intervals: strata.csv and strata_skill.csv.",
                            100 * (1 - v->opts->bootstrap.confidence)));
  for (int64_t k = 0; k < v->n_references; k++) {
    (void)snprintf(heading, sizeof heading, "Relative to %s", v->model[v->reference[k]].name);
    WEIR_TRY(weir_report_heading(r, heading));
    WEIR_TRY(add_table(p, k, r));
  }
  return weir_report_link(r, "report.html", "Report of the evaluation");
}

weir_status wx_eval_seasons_write(const wx_eval_page *p, const char *dir)
{
  weir_report *r = NULL;

  if (p->v->n_models < 2) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_report_open_page(dir, "seasons.html", "weather_ensemble: skill by season", &r));
  wx_eval_facts(p, r);
  return weir_report_commit(&r, fill_page(p, r));
}
