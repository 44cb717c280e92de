/* weir_score.h - scores with their intervals, and the tables of an evaluation. */
#ifndef WEIR_SCORE_H
#define WEIR_SCORE_H
#include "report/weir_report.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A value and its confidence interval; NaN: undefined. */
typedef struct weir_estimate {
  double value, lo, hi;
} weir_estimate;

/* Returns the percentile of n > 0 numbers in ascending order, between neighbours in proportion.
 * share: 0 to 1; beyond it: that of the nearer end. */
double weir_percentile(const double *sorted, int64_t n, double share);

/* Append cells of a table of scores, which programs read: a number with nine digits, and the three
 * of an estimate times `scale`. NaN: "nan". */
void weir_score_add(weir_table *c, double value);
void weir_score_add_estimate(weir_table *c, const weir_estimate *e, double scale);
/* Writes the table as the file dir/name. head: titles of its columns, then NULL. Fails: as
 * weir_table_write_csv. */
weir_status weir_score_write(const weir_table *c, const char *dir, const char *name,
                             const char *const *head) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
