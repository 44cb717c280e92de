/* eval_page_names.c - names, titles and facts of the page of scores. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include "page/eval_page_priv.h"

int64_t wx_eval_figure_lead(const wx_verify *v)
{
  const double *const hours = v->data->facts->lead;
  int64_t best = v->lead[0];

  for (int64_t l = 1; l < v->n_leads; l++) {
    if (fabs(hours[v->lead[l]] - v->opts->figure_lead) < fabs(hours[best] - v->opts->figure_lead)) {
      best = v->lead[l];
    }
  }
  return best;
}

void wx_eval_title(const wx_eval_page *p, int64_t quantity, int64_t lead, char *text, size_t size)
{
  const wx_archive_info *const f = p->v->data->facts;

  (void)snprintf(text, size, "%s, %g h", f->quantity[quantity].name, f->lead[lead]);
}

void wx_eval_name(char *text, size_t size, const char *what, const char *quantity,
                  const char *model)
{
  (void)snprintf(text, size, "%s_%s%s%s", what, quantity, model[0] != 0 ? "_" : "", model);
  for (char *c = text; *c != 0; c++) {
    *c = (char)(isalnum((unsigned char)*c) || *c == '_' ? *c : '-');
  }
}

bool wx_eval_is_far(const wx_eval_page *p, int64_t quantity, int64_t model)
{
  const int64_t lead = wx_eval_figure_lead(p->v), reference = p->v->reference[0];
  const wx_score_row *const own = wx_score_tables_find(p->tables, quantity, lead, model);
  const wx_score_row *const other = wx_score_tables_find(p->tables, quantity, lead, reference);

  return own != NULL && other != NULL &&
         own->score[WX_CRPS].value > p->v->opts->figure_limit * other->score[WX_CRPS].value;
}

void wx_eval_facts(const wx_eval_page *p, weir_report *r)
{
  static const char *const subsets[] = {"train", "valid", "test", "all"};

  weir_report_fact(r, "seed", "%llu", (unsigned long long)p->v->seed);
  weir_report_fact(r, "subset", "%s", subsets[p->v->opts->part]);
}
