/* score_tables.h - scores as CSV files, a row a score, and the numbers that tables and figures are
 * made of. */
#ifndef CF_SCORE_TABLES_H
#define CF_SCORE_TABLES_H
#include "eval/evaluation.h"
#include "report/weir_report.h"

// clang-format off
/* The files; cf_table_file names them. */
typedef enum cf_table {
  CF_TABLE_SCORES,   /* every score of every set, model and label, with intervals     */
  CF_TABLE_BINS,     /* bias, error and slope by the truth                            */
  CF_TABLE_AVERAGES, /* errors of means over samples of a universe                    */
  CF_TABLE_RIDGE,    /* what the regressions chose                                    */
  CF_TABLES
} cf_table;
// clang-format on
extern const char *const cf_table_file[CF_TABLES];

enum { CF_ALL_LABELS = -1 };

/* A model's scores for a label: in its own unit, the slopes without one. Of CF_ALL_LABELS mae and
 * rmse alone, in units of the ranges, [-1, 1]. */
typedef struct cf_score_row {
  int64_t set, label, samples, universes;
  cf_predictor by;
  cf_level level;
  double half; /* of the range: what 1 is worth in the label's own unit */
  cf_estimate score[CF_SCORES];
  cf_estimate skill;      /* 1 - mae / that of `over`; NaN: not defined */
  cf_predictor reference; /* the best that needs no network; of those themselves the mean */
} cf_score_row;

typedef struct cf_score_tables {
  weir_table cells[CF_TABLES];
  cf_score_row *row;
  int64_t n_rows, capacity;
} cf_score_tables;

/* Scores everything. Fails: WEIR_ERR_MEMORY. */
weir_status cf_score_tables_make(const cf_evaluation *e, cf_score_tables *out) WEIR_CHECKED;
/* The files into a folder. Fails: as weir_table_write_csv. */
weir_status cf_score_tables_write(const cf_score_tables *t, const char *dir) WEIR_CHECKED;
void cf_score_tables_fini(cf_score_tables *t);
/* The row of these, or NULL. Borrowed. */
const cf_score_row *cf_score_tables_find(const cf_score_tables *t, int64_t set, cf_predictor by,
                                         cf_level level, int64_t label);
/* Mean absolute and root mean square error of the bound for a label of the first set, in its own
 * unit. */
void cf_score_bound(const cf_evaluation *e, int64_t label, double *mae, double *rmse);
/* Ends of bin b of a label. */
void cf_score_bin(const cf_evaluation *e, int64_t label, int64_t b, double *lo, double *hi);
/* Scores of the cases of a bin; *n: how many. Fails: WEIR_ERR_MEMORY. */
weir_status cf_score_in_bin(const cf_evaluation *e, int64_t set, const cf_cases *c, int64_t label,
                            int64_t b, cf_estimate score[CF_SCORES], int64_t *n) WEIR_CHECKED;
#endif
