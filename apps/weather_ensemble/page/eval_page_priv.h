/* eval_page_priv.h - shared between the sources of the evaluation's report. */
#ifndef WX_EVAL_PAGE_PRIV_H
#define WX_EVAL_PAGE_PRIV_H
#include "page/eval_page.h"

/* What figures of a quantity are drawn of, at the lead of the figures. */
typedef struct wx_page_quantity {
  int64_t quantity, lead;
  double *skill[WX_MODELS]; /* [cells] relative to the first reference; NULL: no map     */
  double *block[WX_MODELS]; /* of the sums: the whole grid by area; NULL: absent   */
  double *band[WX_MODELS];  /* [events, bins, 2] of observed frequencies, as block */
  wx_case_study study;
} wx_page_quantity;

struct wx_eval_page {
  const wx_verify *v;
  const wx_score_tables *tables;
  const wx_strata *strata;
  const wx_remarks *remarks;
  wx_page_quantity *item;
  int64_t n, item_capacity;
};

/* Draws histograms, reliability, ROC and maps of one quantity. */
weir_status wx_eval_figures(const wx_eval_page *p, const wx_page_quantity *q,
                            weir_report *r) WEIR_CHECKED;
/* Puts the seed and the subset of initialisation times into the head of a page. */
void wx_eval_facts(const wx_eval_page *p, weir_report *r);
/* Appends a table of skill by variable, model and lead relative to a reference, an index of
 * wx_verify.reference, cells shaded where the test calls them significant; nothing where no skill
 * is known. And the sentences that explain it. */
weir_status wx_eval_scorecard_table(const wx_eval_page *p, int64_t reference, wx_compared score,
                                    weir_report *r) WEIR_CHECKED;
weir_status wx_eval_scorecard_legend(const wx_eval_page *p, weir_report *r) WEIR_CHECKED;
/* Writes scorecard.html into the folder: all scores and references. */
weir_status wx_eval_scorecard_write(const wx_eval_page *p, const char *dir) WEIR_CHECKED;
/* Writes seasons.html into the folder: skill by season, lead and window of leads; nothing where
 * there is one model only. */
weir_status wx_eval_seasons_write(const wx_eval_page *p, const char *dir) WEIR_CHECKED;
/* Appends the scores of the quantities of eval.joint together; nothing where there are none. */
weir_status wx_eval_joint(const wx_eval_page *p, weir_report *r) WEIR_CHECKED;
/* Adds a value with its interval to a table, both times `scale`. */
void wx_eval_put_estimate(weir_table *c, const weir_estimate *e, double scale);
/* Draws the case. */
weir_status wx_eval_case(const wx_eval_page *p, const wx_page_quantity *q,
                         weir_report *r) WEIR_CHECKED;
/* Returns whether a model is so far from the first reference that lines and maps with it would show
 * nothing of the others: by its CRPS at the lead of the figures. */
bool wx_eval_is_far(const wx_eval_page *p, int64_t quantity, int64_t model);
/* Writes sentences about a quantity at the lead of the figures: which model is best, by how much,
 * and whether that is significant; nothing where no model has a score. */
enum { WX_VERDICT_SIZE = 2048 };
void wx_eval_verdict(const wx_eval_page *p, int64_t quantity, char *text, size_t size);
/* Writes a title such as "z500, 48 h". */
void wx_eval_title(const wx_eval_page *p, int64_t quantity, int64_t lead, char *text, size_t size);
/* Writes the name of a figure, of two texts: letters and digits of both, '-' for the others. */
void wx_eval_name(char *text, size_t size, const char *what, const char *quantity,
                  const char *model);
#endif
