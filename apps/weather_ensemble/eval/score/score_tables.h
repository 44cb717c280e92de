/* score_tables.h - scores as CSV files, a row a score; and the numbers that figures are drawn of.
 */
#ifndef WX_SCORE_TABLES_H
#define WX_SCORE_TABLES_H
#include "eval/score/scores.h"
#include "eval/verify.h"
#include "report/weir_report.h"

// clang-format off
/* The files. */
typedef enum wx_table {
  WX_TABLE_SCORES,      /* a row per quantity, lead and model                                  */
  WX_TABLE_ALL,         /* every score of every region and weighting, with intervals           */
  WX_TABLE_SKILL,       /* models against references                                           */
  WX_TABLE_RANK, WX_TABLE_PIT, WX_TABLE_HISTOGRAMS,
  WX_TABLE_DECOMPOSITION, /* of the CRPS                                                     */
  WX_TABLE_EVENTS, WX_TABLE_RELIABILITY, WX_TABLE_SPREAD, WX_TABLE_INIT_TIMES,
  WX_TABLES
} wx_table;
// clang-format on

/* Scores of which models are compared with references. */
typedef enum wx_compared {
  WX_COMPARED_CRPS,
  WX_COMPARED_CRPS_FAIR,
  WX_COMPARED_CRPS_GAUSS,
  WX_COMPARED_MSE,
  WX_COMPARED
} wx_compared;

/* A model's scores for a quantity and lead: the whole grid, by area. */
typedef struct wx_score_row {
  int64_t quantity, lead, model, n;
  double n_eff;
  weir_estimate score[WX_SCORES];                /* intervals: where the tables have them */
  wx_comparison against[WX_MODELS][WX_COMPARED]; /* [n_references] */
} wx_score_row;

/* A model's scores of vectors of the quantities of eval.joint, as wx_score_row. */
enum { WX_JOINT_COMPARED = 2 }; /* the energy and the variogram score */
typedef struct wx_joint_score_row {
  int64_t lead, model, n;
  double n_eff, scale[WX_JOINT_QUANTITIES]; /* scale: of this lead, as in wx_joint */
  weir_estimate energy, energy_fair, variogram;
  wx_comparison against[WX_MODELS][WX_JOINT_COMPARED]; /* [n_references]; NaN: none */
} wx_joint_score_row;

typedef struct wx_score_tables {
  weir_table cells[WX_TABLES];
  wx_score_row *row;
  int64_t n_rows, row_capacity;
  wx_joint_score_row *joint;
  int64_t n_joint, joint_capacity;
} wx_score_tables;

/* Adds what was scored last, wx_verify_joint included. Fails: WEIR_ERR_MEMORY. */
weir_status wx_score_tables_add(wx_score_tables *t, const wx_verify *v) WEIR_CHECKED;
/* Writes the files into a folder. Fails: as weir_table_write_csv. */
weir_status wx_score_tables_write(const wx_score_tables *t, const char *dir) WEIR_CHECKED;
void wx_score_tables_fini(wx_score_tables *t);
/* Returns the row of a quantity, lead and model, or NULL. */
const wx_score_row *wx_score_tables_find(const wx_score_tables *t, int64_t quantity, int64_t lead,
                                         int64_t model);
#endif
