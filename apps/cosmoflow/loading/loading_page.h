/* loading_page.h - trainings under policies of loading: table, loading.csv, report.html. */
#ifndef CF_LOADING_PAGE_H
#define CF_LOADING_PAGE_H
#include "load/weir_load_simulation.h"
#include "report/weir_report.h"

/* A policy on a number of workers. */
typedef struct cf_loading_row {
  int policy; /* of weir_load_policy_name */
  int64_t workers;
  weir_load_simulated result;
} cf_loading_row;

typedef struct cf_loading {
  const weir_load_cfg *load;
  weir_load_simulation of; /* with samples, bytes and speed as they were used */
  cf_loading_row *row;     /* [n], by policies, then ascending workers */
  int n;
} cf_loading;

/* Prints the table. */
void cf_loading_print(const cf_loading *s, FILE *out);
/* Writes loading.csv and report.html into the folder. Fails: as weir_report_commit. */
weir_status cf_loading_write(const cf_loading *s, const char *dir) WEIR_CHECKED;
#endif
