/* validation.h - a first look at a trained network: scores of the raw ensemble and of the network
 * on the samples that chose its weights, by target and lead (or depth). Cells count by area. Full
 * verification is the command eval. */
#ifndef WX_VALIDATION_H
#define WX_VALIDATION_H
#include "experiment.h"
#include "predictor.h"
#include "report/weir_report.h"

/* Sums by weight: of errors squared, variances, CRPS (of the raw ensemble as a Gaussian). */
typedef struct wx_scores {
  double weight, square, variance, crps;
} wx_scores;

typedef struct wx_validation {
  int64_t samples, n_groups; /* groups of a target: leads, or depths */
  wx_scores *score;          /* [y channel, group, 2]: raw, network; by the caller's free */
  const wx_experiment *e;    /* borrowed */
  const wx_output *output;   /* [y channel] of the network; borrowed of the stage */
} wx_validation;

/* Looks for a value of every target in the samples of validation, as few of which are read as it
 * takes: weights cannot be chosen by a loss of nothing. No such samples: nothing is looked for.
 * Fails: WEIR_ERR_DATA naming the target; as wx_samples_read. */
weir_status wx_validation_look(const wx_experiment *e) WEIR_CHECKED;
/* Applies the stage to the samples of its validation. Fails: as wx_predictor_create. */
weir_status wx_validate(const wx_experiment *e, const wx_stage *stage, const weir_plan_opts *exec,
                        wx_validation *out) WEIR_CHECKED;
void wx_validation_fini(wx_validation *v);
/* A row for each target and group that was seen: name, units, h or hPa, then RMSE, CRPS and ratio
 * of spread to error of both. Also the events `validation`. */
enum { WX_VALIDATION_COLUMNS = 9 };
extern const char *const wx_validation_head[WX_VALIDATION_COLUMNS];
void wx_validation_table(const wx_validation *v, weir_table *cells);
/* Whether the network is worse than the uncorrected ensemble mean (RMSE) or ensemble (CRPS), or not
 * finite, for most variables and leads; text[size]: a statement with the first of them. */
bool wx_validation_worse(const wx_validation *v, char *text, size_t size);
#endif
