/* curves.c - see weir_curves.h. */
#include <math.h>
#include <string.h>
#include "app/weir_curves.h"
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "report/weir_run_log.h"

enum { PATH_SIZE = 4096 };

static void add_epoch(const weir_run_event *e, int columns, const char *const *key, weir_curves *c)
{
  while (c->n > 0 && !(c->at[0][c->n - 1] < weir_run_event_real(e, key[0], NAN))) {
    c->n--;
  }
  for (int k = 0; k < columns; k++) {
    c->at[k][c->n] = weir_run_event_real(e, key[k], NAN);
  }
  c->n++;
}

weir_status weir_curves_read(const char *dir, int columns, const char *const *key, weir_curves *out)
{
  char path[PATH_SIZE];
  weir_run_log log = {0};
  weir_status status = WEIR_OK;

  WEIR_ASSERT(columns <= WEIR_CURVES);
  *out = (weir_curves){.n = 0};
  WEIR_TRY(weir_path_join(dir, "run.jsonl", path, sizeof path));
  WEIR_TRY(weir_run_log_read(path, &log));
  for (int k = 0; k < columns; k++) {
    WEIR_TRY_GOTO(weir_alloc(log.count, sizeof *out->at[k], (void **)&out->at[k]), done);
  }
  for (int64_t i = 0; i < log.count; i++) {
    const weir_run_event *const e = &log.events[i];

    if (strcmp(e->name, "stage") == 0) {
      out->n = 0;
    } else if (strcmp(e->name, "epoch_end") == 0) {
      add_epoch(e, columns, key, out);
    }
  }
done:
  weir_run_log_fini(&log);
  return status;
}

void weir_curves_fini(weir_curves *c)
{
  for (int k = 0; k < WEIR_CURVES; k++) {
    weir_free(&c->at[k]);
  }
  c->n = 0;
}

weir_status weir_curves_report(const weir_curves *c, const weir_curves_figure *figure,
                               weir_report *r)
{
  weir_figure_series series[2];
  int n = 0;

  for (int k = 0; k < 2 && (k == 0 || figure->column[k] != 0); k++) {
    series[n++] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                       .name = figure->series[k],
                                       .n = c->n,
                                       .x = c->at[0],
                                       .y = c->at[figure->column[k]]};
  }
  return weir_report_figure(r, figure->name,
                            &(weir_figure){.title = figure->title,
                                           .x_label = "epoch",
                                           .y_label = figure->y_label,
                                           .series = series,
                                           .n_series = n,
                                           .empty = "no epoch was finished"});
}
