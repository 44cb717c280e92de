/* score_tables.h - scores as CSV files, a row a score, and as rows for tables and figures. */
#ifndef CF_SCORE_TABLES_H
#define CF_SCORE_TABLES_H
#include "eval/evaluation.h"
#include "report/weir_report.h"

// clang-format off
/* Mean |x| of a Gaussian number x of deviation 1: sqrt(2 / pi). */
#define CF_MAE_OF_SIGMA 0.79788456080286536

/* The files. */
typedef enum cf_table {
  CF_TABLE_SCORES,   /* every score of every set, model and label, with intervals     */
  CF_TABLE_BINS,     /* bias, error and slope by the truth                            */
  CF_TABLE_AVERAGES, /* errors of means over samples of a universe                    */
  CF_TABLE_RIDGE,    /* what the regressions chose                                    */
  CF_TABLE_BOOSTING, /* the same of boosted trees                                     */
  CF_TABLE_FORECAST, /* the Fisher forecast of a label from the summaries of a regression */
  CF_TABLE_POSTERIOR, /* information and calibration of posteriors                    */
  CF_TABLES
} cf_table;
// clang-format on

/* Scores of a model for a label: in its own unit, slopes without one. Of CF_ALL_LABELS mae and rmse
 * alone, in units of the ranges, [-1, 1]. */
typedef struct cf_score_row {
  int64_t set, label, samples, universes;
  cf_predictor by;
  cf_level level;
  double half; /* half range, in the unit of the label */
  weir_estimate score[CF_SCORES];
  weir_estimate skill_mean; /* 1 - mae / mae of the mean; NaN: not defined, that of the mean */
  weir_estimate skill;      /* 1 - mae / mae of `reference`; NaN: not defined, not of the network */
  cf_predictor reference;   /* the regression with the lowest mae here; CF_BY_MEAN: none */
} cf_score_row;

typedef struct cf_score_tables {
  weir_table cells[CF_TABLES];
  cf_score_row *row;
  int64_t n_rows, capacity;
} cf_score_tables;

/* Scores all sets, models and labels. Fails: WEIR_ERR_MEMORY. */
weir_status cf_score_tables_make(const cf_evaluation *e, cf_score_tables *out) WEIR_CHECKED;
/* Writes the files to a folder. Fails: as weir_table_write_csv. */
weir_status cf_score_tables_write(const cf_score_tables *t, const char *dir) WEIR_CHECKED;
void cf_score_tables_fini(cf_score_tables *t);
/* Returns the row of these, or NULL. Borrowed. */
const cf_score_row *cf_score_tables_find(const cf_score_tables *t, int64_t set, cf_predictor by,
                                         cf_level level, int64_t label);
/* Computes mean absolute and root mean square error of the Fisher bound for a label of the first
 * set, in its own unit. */
void cf_score_bound(const cf_evaluation *e, int64_t label, double *mae, double *rmse);
/* Computes the edges of bin b of a label. */
void cf_score_bin(const cf_evaluation *e, int64_t label, int64_t b, double *lo, double *hi);
/* Scores the cases of a bin; *n: their number. Fails: WEIR_ERR_MEMORY. */
weir_status cf_score_in_bin(const cf_evaluation *e, int64_t set, const cf_cases *c, int64_t label,
                            int64_t b, weir_estimate score[CF_SCORES], int64_t *n) WEIR_CHECKED;
#endif
