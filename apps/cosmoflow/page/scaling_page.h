/* scaling_page.h - steps on many ranks under exchange policies: table, scaling.csv, report.html. */
#ifndef CF_SCALING_PAGE_H
#define CF_SCALING_PAGE_H
#include "place/weir_scaling.h"
#include "report/weir_report.h"

/* A policy on a number of ranks. */
typedef struct cf_scaling_row {
  const weir_exchange_desc *policy;
  int ranks;
  weir_scaling_result mean; /* of the runs */
  double lo, hi;            /* smallest and largest step_s of a run */
  double speedup;           /* step_s of allreduce by this one; NaN: not known */
  double measured;          /* step_s on these ranks; NaN: not measured */
} cf_scaling_row;

typedef struct cf_scaling {
  weir_scaling_cfg cfg; /* with bytes, compute_s and network as they were used */
  const char *network;  /* "given", "measured" */
  cf_scaling_row *row;  /* [n], by policies, then ascending ranks */
  int n;
  bool measured;
} cf_scaling;

/* Prints the table. */
void cf_scaling_print(const cf_scaling *s, FILE *out);
/* Writes scaling.csv and report.html into the folder. Fails: as weir_report_commit. */
weir_status cf_scaling_write(const cf_scaling *s, const char *dir) WEIR_CHECKED;
#endif
