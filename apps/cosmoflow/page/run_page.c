/* run_page.c - see run_page.h. */
#include "page/run_page.h"
#include <math.h>
#include <stdio.h>
#include "app/weir_curves.h"
#include "app/weir_rank_times.h"
#include "base/weir_log.h"

/* Columns of the curves, by epoch. */
typedef enum column { EPOCH, LOSS, VALID, METRIC, RATE, COLUMNS } column;

/* The first metric of the network: a plot of it, and a line of the summary. */
static const struct metric {
  const char *title, *y, *line, *about;
} metrics[] = {
    [CF_ESTIMATE] = {"Error of the parameters", "mean absolute error (half ranges)",
                     "MAE of that validation (half ranges)",
                     "Errors are of labels in [-1, 1] (half ranges of the prior): predicting the "
                     "centre has a mean absolute error (MAE) of 0.5 and a mean squared error of "
                     "1/3. The weights were chosen by these validation samples; predict and eval "
                     "score the test samples."},
    [CF_SEGMENT] = {"Classes of voxels", "accuracy (share of voxels)",
                    "accuracy of that validation",
                    "Classes of voxels are those of the files (segmentation); where they have "
                    "none, a voxel is void, filament or halo by the density in "
                    "model.segment.channel, and the network sees the other channels. The "
                    "weights were chosen by these validation samples."},
};

static weir_status add_curves(weir_report *r, cf_target target, const weir_curves *c)
{
  const weir_curves_figure figures[] = {
      {"loss", "Loss", "loss, mean over samples", {LOSS, VALID}, {"training", "validation"}},
      {cf_metric[target][0],
       metrics[target].title,
       metrics[target].y,
       {METRIC, EPOCH},
       {"validation", NULL}},
      {"rate",
       "Learning rate",
       "learning rate at the end of the epoch",
       {RATE, EPOCH},
       {"rate", NULL}},
  };

  for (size_t k = 0; k < sizeof figures / sizeof figures[0]; k++) {
    WEIR_TRY(weir_curves_report(c, &figures[k], r));
  }
  return WEIR_OK;
}

static void put_subset(weir_table *c, const char *what, const cf_split *s, cf_subset p)
{
  weir_table_add_pair(c, what, "%lld samples of %lld universes", (long long)s->n[p],
                      (long long)s->universes[p]);
}

/* Of the validation that chose the weights: its first metric. */
static double best_metric(const weir_curves *c, int64_t epoch)
{
  for (int64_t i = 0; i < c->n; i++) {
    if (c->at[EPOCH][i] == (double)epoch) {
      return c->at[METRIC][i];
    }
  }
  return NAN;
}

static weir_status add_summary(weir_report *r, const cf_experiment *e,
                               const weir_train_result *result, double metric)
{
  const cf_net *const net = cf_model_net(&e->cfg->model);
  char samples[CF_NOTE_LINE];
  weir_table c = {0};

  cf_source_summary(e->source, samples, sizeof samples);
  weir_table_add_pair(&c, "samples", "%s", samples);
  weir_table_add_pair(&c, "labels", "%s", e->line[CF_NOTE_labels]);
  put_subset(&c, "training set", &e->split, CF_TRAIN);
  put_subset(&c, "validation set", &e->split, CF_VALID);
  put_subset(&c, "test set", &e->split, CF_TEST);
  weir_table_add_pair(&c, "network", "%s", net->name);
  weir_table_add_pair(&c, "reference", "%s", net->cite);
  weir_table_add_real_pair(&c, "parameters", (double)weir_params_elements(e->estimator.params));
  weir_table_add_pair(&c, "ended by", "%s", weir_train_end_text(result->end));
  weir_table_add_real_pair(&c, "steps", (double)result->step);
  weir_table_add_real_pair(&c, "time per step, without loading (s)", result->step_s);
  if (e->estimator.task.predicted_s > 0) {
    weir_table_add_real_pair(&c, "predicted time per step (s)", e->estimator.task.predicted_s);
  }
  weir_table_add_real_pair(&c, "epochs", (double)result->epoch);
  weir_table_add_real_pair(&c, "loss of the last epoch", result->loss);
  weir_table_add_real_pair(&c, "best validation loss", result->best_loss);
  weir_table_add_real_pair(&c, metrics[net->target].line, metric);
  weir_table_add_real_pair(&c, "epoch of the best validation", (double)result->best_epoch);
  return weir_table_report_pairs(&c, r, "summary");
}

static weir_status write_page(weir_report *r, const char *dir, const cf_experiment *e,
                              const weir_train_result *result, const weir_curves *c, double metric)
{
  const cf_target target = cf_model_net(&e->cfg->model)->target;

  WEIR_TRY(add_summary(r, e, result, metric));
  WEIR_TRY(weir_report_text(r, "%s", metrics[target].about));
  WEIR_TRY(weir_report_heading(r, "Curves"));
  WEIR_TRY(add_curves(r, target, c));
  WEIR_TRY(weir_curves_report_models(dir, "valid_loss", "Validation loss of each network",
                                     "loss, mean over samples", r));
  return weir_rank_times_report(dir, r);
}

weir_status cf_run_page(const char *dir, const cf_experiment *e, const weir_train_result *result)
{
  const cf_target target = cf_model_net(&e->cfg->model)->target;
  weir_report *r = NULL;
  const char *const key[COLUMNS] = {"epoch", "loss", "valid_loss", cf_metric[target][0], "lr"};
  weir_curves c = {.n = 0};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_curves_read(dir, COLUMNS, key, &c), done);
  const double metric = best_metric(&c, result->best_epoch);
  char best[32];

  (void)snprintf(best, sizeof best, "best_%s", cf_metric[target][0]);
  weir_event("run_end", WEIR_INT("steps", result->step), WEIR_INT("epochs", result->epoch),
             WEIR_INT("first", result->first), WEIR_REAL("loss", result->loss),
             WEIR_REAL("best_loss", result->best_loss), WEIR_REAL(best, metric),
             WEIR_INT("parameters", weir_params_elements(e->estimator.params)));
  WEIR_TRY_GOTO(weir_report_open(dir, "cosmoflow: training", &r), done);
  weir_report_fact(r, "seed", "%lld", (long long)e->train.seed);
  status = weir_report_commit(&r, write_page(r, dir, e, result, &c, metric));
done:
  weir_curves_fini(&c);
  return status;
}
