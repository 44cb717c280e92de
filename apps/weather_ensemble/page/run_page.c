/* run_page.c - see run_page.h. */
#include "page/run_page.h"
#include <stdio.h>
#include "app/weir_curves.h"
#include "app/weir_rank_times.h"
#include "base/weir_log.h"

enum { WORSE = 512 };

static weir_status add_curves(weir_report *r, const char *dir, const char *loss)
{
  static const char *const key[] = {"epoch", "loss", "valid_loss", "lr"};
  char label[64];
  const weir_curves_figure figures[] = {
      {"loss", "Loss", label, {1, 2}, {"training", "validation"}},
      {"rate", "Learning rate", "learning rate at the end of the epoch", {3, 0}, {"rate", NULL}}};
  weir_curves c;
  weir_status status = weir_curves_read(dir, 4, key, &c);

  (void)snprintf(label, sizeof label, "%s (standardised)", loss);
  for (int k = 0; k < 2 && status == WEIR_OK; k++) {
    status = weir_curves_report(&c, &figures[k], r);
  }
  weir_curves_fini(&c);
  WEIR_TRY(status);
  return weir_curves_report_models(dir, "valid_loss", "Validation loss of each network", label, r);
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
  for (int64_t k = 0; k < e->facts->n_channels[WX_Y] && stage->model.head == WX_HEAD_GAUSS; k++) {
    char name[WX_NAME + 32], is[WX_NAME];

    (void)snprintf(name, sizeof name, "distribution of %s", e->facts->channel[WX_Y][k].name);
    wx_output_text(&stage->output[k], is, sizeof is);
    weir_table_add_pair(&c, name, "%s", is);
  }
  weir_table_add_count_pair(&c, "parameters", weir_params_elements(stage->params));
  if (stage->is.train->initial_weights[0] != 0) {
    weir_table_add_pair(&c, "fine-tuned from", "%s", stage->is.train->initial_weights);
  }
  weir_table_add_pair(&c, "ended by", "%s", weir_train_end_text(result->end));
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
  static const char of_distribution[] =
      "Raw: Gaussian with the mean and standard deviation of the members. Network: RMSE and ratio "
      "of mean and standard deviation of its distribution.";
  static const char of_members[] =
      "Fair CRPS of the raw members, and of the members that the network corrects one by one; RMSE "
      "and ratio of their mean and standard deviation.";

  if (worse[0] != 0) {
    WEIR_TRY(weir_report_text(r, "Warning: %s.", worse));
  }
  WEIR_TRY(add_summary(r, e, stage, result));
  if (cells->count > 0) {
    WEIR_TRY(weir_report_heading(r, "Validation"));
    WEIR_TRY(weir_table_report(cells, r, "validation", WX_VALIDATION_COLUMNS, wx_validation_head));
    WEIR_TRY(weir_report_text(
        r,
        "%s Ratio: spread over "
        "error, for the raw ensemble corrected for its size. %s The weights were chosen by these "
        "validation samples; eval scores the test samples.",
        stage->model.head == WX_HEAD_MEMBERS ? of_members : of_distribution,
        wx_grid_weighting(&wx_archive_get(e->forecast)->grid)));
  }
  WEIR_TRY(weir_report_heading(r, "Curves"));
  WEIR_TRY(
      add_curves(r, dir, stage->is.extremes != NULL ? "CRPS by |EFI|" : losses[stage->model.loss]));
  return weir_rank_times_report(dir, r);
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
