/* curves.c - see weir_curves.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "app/weir_curves.h"
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "report/weir_run_log.h"

enum { PATH_SIZE = 4096, STAGE_SIZE = 64 };

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

static weir_status open_log(const char *dir, weir_run_log *log)
{
  char path[PATH_SIZE];

  WEIR_TRY(weir_path_join(dir, "run.jsonl", path, sizeof path));
  WEIR_TRY(weir_run_log_read(path, log));
  return WEIR_OK;
}

/* Number of the network that the event is of, from 1. */
static int64_t model_of(const weir_run_event *e)
{
  return (int64_t)weir_run_event_real(e, "model", 1);
}

/* Whether the epochs after this event are those of the stage that the log ends with, by its name: a
 * run that is resumed begins its stages again. */
static bool is_last_stage(const weir_run_log *log, const weir_run_event *e, bool before)
{
  const weir_run_event *const last = weir_run_log_last(log, "stage");
  char name[STAGE_SIZE], last_name[STAGE_SIZE];

  return strcmp(e->name, "stage") != 0
             ? before
             : strcmp(weir_run_event_text(e, "name", name, sizeof name),
                      weir_run_event_text(last, "name", last_name, sizeof last_name)) == 0;
}

/* The epochs of one network. */
static weir_status read_model(const weir_run_log *log, int64_t model, int columns,
                              const char *const *key, weir_curves *out)
{
  for (int k = 0; k < columns; k++) {
    WEIR_TRY(weir_alloc(log->count, sizeof *out->at[k], (void **)&out->at[k]));
  }
  bool counts = true;

  for (int64_t i = 0; i < log->count; i++) {
    const weir_run_event *const e = &log->events[i];

    counts = is_last_stage(log, e, counts);
    if (counts && strcmp(e->name, "epoch_end") == 0 && model_of(e) == model) {
      add_epoch(e, columns, key, out);
    }
  }
  return WEIR_OK;
}

weir_status weir_curves_read(const char *dir, int columns, const char *const *key, weir_curves *out)
{
  weir_run_log log = {0};

  WEIR_ASSERT(columns <= WEIR_CURVES);
  *out = (weir_curves){.n = 0};
  WEIR_TRY(open_log(dir, &log));
  const weir_status status = read_model(&log, 1, columns, key, out);

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

/* Networks of the last stage: the largest number of one. */
static int64_t count_models(const weir_run_log *log)
{
  bool counts = true;
  int64_t n = 0;

  for (int64_t i = 0; i < log->count; i++) {
    const weir_run_event *const e = &log->events[i];

    counts = is_last_stage(log, e, counts);
    if (counts && strcmp(e->name, "epoch_end") == 0 && model_of(e) > n) {
      n = model_of(e);
    }
  }
  return n < WEIR_CURVES_MODELS ? n : WEIR_CURVES_MODELS;
}

weir_status weir_curves_report_models(const char *dir, const char *key, const char *title,
                                      const char *y_label, weir_report *r)
{
  const char *const keys[] = {"epoch", key};
  weir_figure_series series[WEIR_CURVES_MODELS];
  weir_curves c[WEIR_CURVES_MODELS] = {{0}};
  char name[WEIR_CURVES_MODELS][24];
  weir_run_log log = {0};
  weir_status status = WEIR_OK;

  WEIR_TRY(open_log(dir, &log));
  const int64_t n = count_models(&log);

  for (int64_t k = 0; k < n && n > 1; k++) {
    WEIR_TRY_GOTO(read_model(&log, k + 1, 2, keys, &c[k]), done);
    (void)snprintf(name[k], sizeof name[k], "model-%d", (int)(k + 1));
    series[k] = (weir_figure_series){
        .kind = WEIR_FIGURE_LINE, .name = name[k], .n = c[k].n, .x = c[k].at[0], .y = c[k].at[1]};
  }
  if (n > 1) {
    status = weir_report_figure(r, "models",
                                &(weir_figure){.title = title,
                                               .x_label = "epoch",
                                               .y_label = y_label,
                                               .series = series,
                                               .n_series = (int)n,
                                               .empty = "no epoch was finished"});
  }
done:
  for (int64_t k = 0; k < n; k++) {
    weir_curves_fini(&c[k]);
  }
  weir_run_log_fini(&log);
  return status;
}
