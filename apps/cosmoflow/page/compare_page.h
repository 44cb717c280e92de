/* compare_page.h - trainings under exchange policies, compared: table, compare.csv, losses.csv,
 * report.html. */
#ifndef CF_COMPARE_PAGE_H
#define CF_COMPARE_PAGE_H
#include "place/weir_scaling.h"
#include "report/weir_report.h"

/* A validation of a training. */
typedef struct cf_compared_point {
  int row, run;
  int64_t step, index; /* index: of the validations of its run, from 0 */
  double seconds;      /* on the clock of the simulated ranks */
  double loss;
} cf_compared_point;

/* A policy on a number of ranks. Means over the runs. */
typedef struct cf_compared_row {
  const weir_exchange_desc *policy;
  int ranks;
  double loss, loss_std;      /* of the last validation; std: between runs, NaN of one run */
  double seconds;             /* of a whole training */
  int64_t reached;            /* runs with a validation loss of at most the target .. */
  double reach_s, reach_step; /* .. when they first had it; NaN: none */
  double in_time;             /* fraction of contributions in the exchange of their own step */
  double sent_bytes;          /* by a rank in a step */
} cf_compared_row;

typedef struct cf_compared {
  weir_scaling_cfg cfg; /* with compute_s as it was used */
  cf_compared_row *row; /* [n], by policies, then ascending ranks */
  int n;
  cf_compared_point *point; /* [n_points] by rows, runs and steps */
  int64_t n_points, capacity;
  double target;
  const char *target_of; /* policy whose mean loss it is; NULL: it is given */
} cf_compared;

/* Completes the rows by the points: losses, the target where none is given, times to it. */
void cf_compared_summarize(cf_compared *c);
/* Prints the table. */
void cf_compared_print(const cf_compared *c, FILE *out);
/* Writes compare.csv, losses.csv and report.html into the folder. Fails: as weir_report_commit. */
weir_status cf_compared_write(const cf_compared *c, const char *dir) WEIR_CHECKED;
#endif
