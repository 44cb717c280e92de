/* eval_verdict.c - what the scores say, in sentences: which model is best, by how much relative to
 * each reference, significance, and whether its spread fits its error. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "page/eval_page_priv.h"

/* Spread over error within which a spread is called right. */
static const double spread_low = 0.9, spread_high = 1.1;

typedef struct verdict {
  const wx_eval_page *p;
  int64_t quantity, lead;
  const wx_score_row *best;
  char *text;
  size_t size;
} verdict;

static void say(verdict *v, const char *format, ...) WEIR_PRINTF(2, 3);
static void say(verdict *v, const char *format, ...)
{
  const size_t used = strlen(v->text);
  va_list more;

  va_start(more, format);
  (void)vsnprintf(v->text + used, v->size - used, format, more);
  va_end(more);
}

/* The model of the lowest Gaussian CRPS, model `but` left out; NULL: there is none. */
static const wx_score_row *best_of(const verdict *v, int64_t but)
{
  const wx_score_row *best = NULL;

  for (int64_t m = 0; m < v->p->v->n_models; m++) {
    const wx_score_row *const row = wx_score_tables_find(v->p->tables, v->quantity, v->lead, m);

    if (row != NULL && m != but && isfinite(row->score[WX_CRPS_GAUSS].value) &&
        (best == NULL || row->score[WX_CRPS_GAUSS].value < best->score[WX_CRPS_GAUSS].value)) {
      best = row;
    }
  }
  return best;
}

/* "10.0 % (95 % interval 8.2 to 11.8) lower than that of EMOS: significantly better". */
static void compare(verdict *v, const wx_score_row *row, int64_t reference)
{
  const wx_verify *const of = v->p->v;
  const wx_comparison *const a = &row->against[reference][WX_COMPARED_CRPS_GAUSS];
  const double confidence = of->opts->bootstrap.confidence;
  const bool lower = a->skill.value >= 0;
  const double sign = lower ? 100 : -100;
  const double lo = sign * (lower ? a->skill.lo : a->skill.hi);
  const double hi = sign * (lower ? a->skill.hi : a->skill.lo);
  const char *const word = lower ? "better" : "worse";

  say(v, "%.1f %% ", fabs(100 * a->skill.value));
  if (isfinite(lo) && isfinite(hi)) {
    say(v, "(%g %% interval %.1f to %.1f) ", 100 * confidence, lo, hi);
  }
  say(v, "%s than that of %s: ", lower ? "lower" : "higher",
      of->model[of->reference[reference]].name);
  if (!isfinite(a->test.p)) {
    say(v, "too few initialisation times to test");
  } else if (a->test.p < 1 - confidence) {
    say(v, "significantly %s", word);
  } else {
    say(v, "not significantly %s (p = %.2g)", word, a->test.p);
  }
}

/* Relative to one reference: the best model or, where that is the reference itself, the best of the
 * others. */
static void relative_to(verdict *v, int64_t reference)
{
  const wx_verify *const of = v->p->v;
  const int64_t model = of->reference[reference];
  const wx_score_row *const row = v->best->model != model ? v->best : best_of(v, model);

  if (row == NULL || !isfinite(row->against[reference][WX_COMPARED_CRPS_GAUSS].skill.value)) {
    return;
  }
  if (row == v->best) {
    say(v, " It is ");
  } else {
    say(v, " That of the next, %s, is ", of->model[row->model].name);
  }
  compare(v, row, reference);
  say(v, ".");
}

static void judge_spread(verdict *v)
{
  const double ratio = v->best->score[WX_SSR].value;

  if (isfinite(ratio)) {
    say(v, " The spread of %s is %.2f of its error: %s.", v->p->v->model[v->best->model].name,
        ratio,
        ratio < spread_low    ? "too small"
        : ratio > spread_high ? "too large"
                              : "about right");
  }
}

void wx_eval_verdict(const wx_eval_page *p, int64_t quantity, char *text, size_t size)
{
  const wx_verify *const of = p->v;
  verdict v = {
      .p = p, .quantity = quantity, .lead = wx_eval_figure_lead(of), .text = text, .size = size};

  text[0] = 0;
  v.best = best_of(&v, -1);
  if (v.best == NULL) {
    return;
  }
  wx_eval_title(p, quantity, v.lead, text, size);
  say(&v, ", %lld initialisation time%s: ", (long long)v.best->n, v.best->n == 1 ? "" : "s");
  if (of->n_models == 1) {
    say(&v, "%s is the only model.", of->model[v.best->model].name);
  } else {
    say(&v, "%s has the lowest Gaussian CRPS.", of->model[v.best->model].name);
  }
  for (int64_t k = 0; k < of->n_references; k++) {
    relative_to(&v, k);
  }
  judge_spread(&v);
}
