/* weir_curves.h - losses and metrics of a training by epoch, from the events of its run. */
#ifndef WEIR_CURVES_H
#define WEIR_CURVES_H
#include "report/weir_report.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { WEIR_CURVES = 8 };

/* Columns of the events epoch_end; the first is the epoch. */
typedef struct weir_curves {
  int64_t n;               /* epochs */
  double *at[WEIR_CURVES]; /* [n] each */
} weir_curves;

/* Reads the fields key[columns] of the events epoch_end from DIR/run.jsonl; key[0] is "epoch". Of
 * several stages (event `stage`) the last one counts, with its epochs before the run was resumed,
 * and an epoch that was repeated after a kill counts once; of several networks (train.models) the
 * first one counts; a missing field is NaN. *out is for weir_curves_fini in any case. Fails: as
 * weir_run_log_read; WEIR_ERR_MEMORY. */
weir_status weir_curves_read(const char *dir, int columns, const char *const *key,
                             weir_curves *out) WEIR_CHECKED;
void weir_curves_fini(weir_curves *c);

/* The most networks that a figure has a line of. */
enum { WEIR_CURVES_MODELS = 64 };
/* Appends the figure `models`: the field `key` of the events epoch_end by epoch, a line for each
 * network of the last stage; nothing where it trained one. Fails: as weir_curves_read,
 * weir_report_figure. */
weir_status weir_curves_report_models(const char *dir, const char *key, const char *title,
                                      const char *y_label, weir_report *r) WEIR_CHECKED;

/* A figure of one or two columns by epoch. */
typedef struct weir_curves_figure {
  const char *name, *title, *y_label; /* name: as weir_report_figure */
  int column[2];                      /* the second 0: none */
  const char *series[2];              /* their names */
} weir_curves_figure;

/* Appends the figure. Fails: as weir_report_figure. */
weir_status weir_curves_report(const weir_curves *c, const weir_curves_figure *figure,
                               weir_report *r) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
