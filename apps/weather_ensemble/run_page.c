/* run_page.c - see run_page.h. */
#include "run_page.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "report/weir_run_log.h"

enum { PATH_SIZE = 4096 };

/* Losses of all epochs, [n] each; an epoch that was run again after a kill counts once. */
typedef struct curve {
  int64_t n;
  double *epoch, *loss, *valid;
} curve;

static weir_status read_curve(const char *dir, curve *c)
{
  char path[PATH_SIZE];
  weir_run_log log = {0};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(dir, "run.jsonl", path, sizeof path));
  WEIR_TRY(weir_run_log_read(path, &log));
  WEIR_TRY_GOTO(weir_alloc(log.count, sizeof *c->epoch, (void **)&c->epoch), done);
  WEIR_TRY_GOTO(weir_alloc(log.count, sizeof *c->loss, (void **)&c->loss), done);
  WEIR_TRY_GOTO(weir_alloc(log.count, sizeof *c->valid, (void **)&c->valid), done);
  for (int64_t i = 0; i < log.count; i++) {
    const weir_run_event *e = &log.events[i];

    if (strcmp(e->name, "epoch_end") != 0) {
      continue;
    }
    const double epoch = weir_run_event_real(e, "epoch", NAN);

    while (c->n > 0 && !(c->epoch[c->n - 1] < epoch)) {
      c->n--;
    }
    c->epoch[c->n] = epoch;
    c->loss[c->n] = weir_run_event_real(e, "loss", NAN);
    c->valid[c->n++] = weir_run_event_real(e, "valid_loss", NAN);
  }
done:
  weir_run_log_fini(&log);
  return status;
}

static weir_status add_curve(weir_report *r, const char *dir, const char *loss)
{
  curve c = {.n = 0};
  char label[64];
  weir_status status = read_curve(dir, &c);

  if (status == WEIR_OK) {
    const weir_figure_series series[] = {
        {.kind = WEIR_FIGURE_LINE, .name = "training", .n = c.n, .x = c.epoch, .y = c.loss},
        {.kind = WEIR_FIGURE_LINE, .name = "validation", .n = c.n, .x = c.epoch, .y = c.valid}};

    (void)snprintf(label, sizeof label, "%s (standardised)", loss);
    status = weir_report_figure(r, "loss",
                                &(weir_figure){.title = "Loss",
                                               .x_label = "epoch",
                                               .y_label = label,
                                               .series = series,
                                               .n_series = 2,
                                               .empty = "no epoch was finished"});
  }
  weir_free(&c.epoch);
  weir_free(&c.loss);
  weir_free(&c.valid);
  return status;
}

static void put_count(weir_cells *c, const char *what, int64_t n)
{
  weir_cells_add(c, "%s", what);
  weir_cells_add(c, "%lld", (long long)n);
}

static void put_real(weir_cells *c, const char *what, double x)
{
  weir_cells_add(c, "%s", what);
  weir_cells_add_real(c, x);
}

static weir_status add_summary(weir_report *r, const wx_experiment *e,
                               const weir_train_result *result)
{
  static const char *const head[] = {"quantity", "value"};
  weir_cells c = {0};

  weir_cells_add(&c, "samples of");
  weir_cells_add(&c, "%s", e->facts.name);
  put_count(&c, "trained on", e->split.n[WX_TRAIN]);
  put_count(&c, "validated on", e->split.n[WX_VALID]);
  put_count(&c, "kept for tests", e->split.n[WX_TEST]);
  put_count(&c, "left out", e->split.left_out);
  put_count(&c, "parameters", weir_params_elements(e->params));
  put_count(&c, "steps", result->step);
  put_count(&c, "epochs", result->epoch);
  put_real(&c, "loss of the last epoch", result->loss);
  put_real(&c, "best validation", result->best_loss);
  put_count(&c, "after epoch", result->best_epoch);
  const weir_status status = weir_cells_report(&c, r, "summary", 2, head);

  weir_cells_fini(&c);
  return status;
}

static weir_status write_page(weir_report *r, const char *dir, const wx_experiment *e,
                              const weir_train_result *result, const weir_cells *errors)
{
  static const char *const losses[] = {"mean squared error", "mean absolute error", "CRPS"};

  WEIR_TRY(add_summary(r, e, result));
  if (errors->count > 0) {
    WEIR_TRY(weir_report_heading(r, "Root mean square error of the validation samples"));
    WEIR_TRY(weir_cells_report(errors, r, "errors", 2 + WX_ERRORS, wx_errors_head));
    WEIR_TRY(weir_report_text(r, "The bias is the mean of truth minus forecast over the training "
                                 "samples. All cells count the same."));
  }
  WEIR_TRY(weir_report_heading(r, "Loss"));
  return add_curve(r, dir, losses[e->cfg->model.loss]);
}

static void tell_end(const wx_experiment *e, const weir_train_result *result,
                     const wx_errors *errors)
{
  for (int64_t c = 0; c < e->standard.n_y && errors->samples > 0; c++) {
    weir_event("errors", WEIR_TEXT("channel", e->facts.channel[WX_Y][c].name),
               WEIR_TEXT("units", e->facts.channel[WX_Y][c].units),
               WEIR_REAL("forecast", wx_errors_rmse(errors, &e->standard, c, WX_ERROR_RAW)),
               WEIR_REAL("unbiased", wx_errors_rmse(errors, &e->standard, c, WX_ERROR_UNBIASED)),
               WEIR_REAL("network", wx_errors_rmse(errors, &e->standard, c, WX_ERROR_NETWORK)));
  }
  weir_event("run_end", WEIR_INT("steps", result->step), WEIR_INT("epochs", result->epoch),
             WEIR_INT("first", result->first), WEIR_REAL("loss", result->loss),
             WEIR_REAL("best_loss", result->best_loss),
             WEIR_INT("parameters", weir_params_elements(e->params)));
}

weir_status wx_run_page(const char *dir, const wx_experiment *e, const weir_train_result *result,
                        const wx_errors *errors)
{
  weir_report *r = NULL;
  weir_cells cells = {0};
  weir_status status = WEIR_OK;

  tell_end(e, result, errors);
  if (errors->samples > 0) {
    wx_errors_table(errors, &e->standard, e->facts.channel[WX_Y], &cells);
    WEIR_TRY_GOTO(weir_cells_write_csv(&cells, dir, "errors.csv", 2 + WX_ERRORS, wx_errors_head),
                  done);
    weir_cells_print(&cells, 2 + WX_ERRORS, wx_errors_head, stdout);
  }
  WEIR_TRY_GOTO(weir_report_open(dir, "weather_ensemble: training", &r), done);
  WEIR_TRY_GOTO(write_page(r, dir, e, result, &cells), done);
  WEIR_TRY_GOTO(weir_report_commit(&r), done);
done:
  weir_report_destroy(&r);
  weir_cells_fini(&cells);
  return status;
}
