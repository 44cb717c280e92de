/* run_page.c - see run_page.h. */
#include "page/run_page.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "report/weir_run_log.h"

enum { PATH_SIZE = 4096, WORSE = 512 };

/* Losses of the last stage's epochs, [n] each; one that was run again after a kill counts once. */
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

    if (strcmp(e->name, "stage") == 0) {
      c->n = 0;
    }
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

static weir_status add_summary(weir_report *r, const wx_experiment *e, const wx_stage *stage,
                               const weir_train_result *result)
{
  weir_table c = {0};

  weir_table_add_pair(&c, "data", "%s", e->facts->name);
  weir_table_add_count_pair(&c, "training samples", e->split.n[WX_TRAIN]);
  weir_table_add_count_pair(&c, "validation samples", e->split.n[WX_VALID]);
  weir_table_add_count_pair(&c, "test samples", e->split.n[WX_TEST]);
  weir_table_add_count_pair(&c, "samples left out", e->split.left_out);
  weir_table_add_count_pair(&c, "parameters", weir_params_elements(stage->params));
  weir_table_add_count_pair(&c, "steps", result->step);
  weir_table_add_count_pair(&c, "epochs", result->epoch);
  weir_table_add_real_pair(&c, "loss of the last epoch", result->loss);
  weir_table_add_real_pair(&c, "best validation loss", result->best_loss);
  weir_table_add_count_pair(&c, "epoch of the best validation", result->best_epoch);
  return weir_table_report_pairs(&c, r, "summary");
}

static weir_status write_page(weir_report *r, const char *dir, const wx_experiment *e,
                              const wx_stage *stage, const weir_train_result *result,
                              const char *worse, const weir_table *cells)
{
  static const char *const losses[] = {"mean squared error", "mean absolute error", "CRPS"};

  if (worse[0] != 0) {
    WEIR_TRY(weir_report_text(r, "Warning: %s.", worse));
  }
  WEIR_TRY(add_summary(r, e, stage, result));
  if (cells->count > 0) {
    WEIR_TRY(weir_report_heading(r, "Validation"));
    WEIR_TRY(weir_table_report(cells, r, "validation", WX_VALIDATION_COLUMNS, wx_validation_head));
    WEIR_TRY(weir_report_text(
        r,
        "Raw: Gaussian with the mean and standard deviation of the members. Ratio: spread over "
        "error, for the raw ensemble corrected for its size. %s The weights were chosen by these "
        "validation samples; eval scores the test samples.",
        wx_grid_weighting(&wx_archive_get(e->forecast)->grid)));
  }
  WEIR_TRY(weir_report_heading(r, "Loss"));
  return add_curve(r, dir,
                   stage->is.extremes != NULL ? "CRPS by |EFI|" : losses[stage->model.loss]);
}

weir_status wx_run_page(const char *dir, const wx_experiment *e, const wx_stage *stage,
                        const weir_train_result *result, const wx_validation *v)
{
  weir_report *r = NULL;
  weir_table cells = {0};
  char worse[WORSE] = "";
  weir_status status = WEIR_OK;

  weir_event("run_end", WEIR_INT("steps", result->step), WEIR_INT("epochs", result->epoch),
             WEIR_INT("first", result->first), WEIR_REAL("loss", result->loss),
             WEIR_REAL("best_loss", result->best_loss),
             WEIR_INT("parameters", weir_params_elements(stage->params)));
  if (v->samples > 0) {
    wx_validation_table(v, &cells);
    WEIR_TRY_GOTO(weir_table_write_csv(&cells, dir, "validation.csv", WX_VALIDATION_COLUMNS,
                                       wx_validation_head),
                  done);
    weir_table_print(&cells, WX_VALIDATION_COLUMNS, wx_validation_head, stdout);
    if (wx_validation_worse(v, worse, sizeof worse)) {
      weir_warn("run", "%s: lower the learning rate, or train for longer", worse);
    }
  }
  WEIR_TRY_GOTO(weir_report_open(dir, "weather_ensemble: training", &r), done);
  weir_report_fact(r, "seed", "%lld", (long long)e->train.seed);
  status = weir_report_commit(&r, write_page(r, dir, e, stage, result, worse, &cells));
done:
  weir_table_fini(&cells);
  return status;
}
