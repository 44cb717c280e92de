/* predict.h - state of the command predict: weights, samples and split. Private to its files. */
#ifndef CF_PREDICT_H
#define CF_PREDICT_H
#include "app/weir_job.h"
#include "comm/weir_items.h"
#include "experiment.h"

typedef struct cf_predict {
  const weir_job *job;
  const weir_cli *cli;
  weir_comm *comm; /* ranks that share the samples; NULL: one */
  bool leads;      /* this rank writes */
  bool others;     /* samples of other simulations are expected: no warning of them */
  cf_cfg *cfg;
  cf_weights weights;
  cf_source *source;
  cf_volume_info info; /* of the samples; classes as the weights have them */
  cf_truth truth;      /* that samples come with */
  cf_samples *samples;
  cf_split split;
  cf_estimator estimator;
  cf_predictions *out; /* of networks that estimate */
  weir_plan *plan;
  int64_t batch;
  weir_tensor x, y;
} cf_predict;

/* Opens weights and samples (cfg: predict.weights, source.input) with the subsets that the weights
 * know; cfg changes to what these are. Fails: as cf_weights_read, cf_weights_fit, cf_source_open,
 * WEIR_ERR_CONFIG (which universes were trained on is not known). */
weir_status cf_predict_open(cf_predict *p) WEIR_CHECKED;
/* Creates p->out with a row for each sample, those of predict.part to be predicted. Fails:
 * WEIR_ERR_CONFIG (no sample in the subset), as cf_source_labels. */
weir_status cf_predict_rows(cf_predict *p) WEIR_CHECKED;
/* Predicts them; *done: their number. Collective. Fails: as cf_samples_read and weir_plan_run. */
weir_status cf_predict_all(cf_predict *p, int64_t *done) WEIR_CHECKED;
/* Closes what any of these has opened. */
void cf_predict_close(cf_predict *p);
/* Writes the classes of the voxels of all samples of predict.part to classes.nc, and their scores
 * to classes.csv where the truth is known. Earlier contents of --out are removed by `accept`.
 * Collective: the rank that leads writes.
 * Fails: WEIR_ERR_CONFIG (no sample in the subset), WEIR_ERR_DATA, WEIR_ERR_STOPPED, as builders
 * and plans. */
weir_status cf_predict_maps(cf_predict *p, weir_status (*accept)(void *context),
                            void *context) WEIR_CHECKED;
/* Creates the posteriors of n samples, all NaN, with the weights of a flow, where the network
 * computes any. Fails: WEIR_ERR_MEMORY. */
weir_status cf_predict_posteriors_create(cf_predict *p, int64_t n) WEIR_CHECKED;
/* Stores the outputs made[] of the network for a sample as the posterior of its row. */
void cf_predict_posterior(cf_posteriors *p, int64_t row, const float *made);
/* Checks the options about posteriors. Fails: WEIR_ERR_CONFIG (draws or truncated posteriors of a
 * network that computes none). */
weir_status cf_predict_posteriors_check(const cf_predict *p) WEIR_CHECKED;
/* Returns how many views of each sample its estimate is the mean of, by predict.symmetry. */
int cf_predict_views(const cf_predict *p);
/* Checks predict.symmetry. Fails: WEIR_ERR_CONFIG (of a network that computes posteriors, or
 * classes of voxels; predict.shift without symmetries). */
weir_status cf_predict_views_check(const cf_predict *p) WEIR_CHECKED;
/* Checks that predict.shift suits the samples. p->split is known. Fails: as cf_shift_check. */
weir_status cf_predict_views_fit(const cf_predict *p) WEIR_CHECKED;
/* Runs the network on each view of p->batch samples in `from`, `bytes` each, like p->x; p->y
 * becomes the mean of its outputs. sum: scratch, one for each element of p->y. Fails: as
 * weir_plan_run. */
weir_status cf_predict_run_views(cf_predict *p, const char *from, size_t bytes,
                                 double *sum) WEIR_CHECKED;
/* Computes digests of the weights, of the resolved configuration in --out and of the samples; the
 * caller ends *out. Fails: as weir_origin_file. */
weir_status cf_predict_origin(const cf_predict *p, weir_origin *out) WEIR_CHECKED;
/* Writes a line that describes the samples, the weights and their training data. */
void cf_predict_source(const cf_predict *p, char *text, size_t size);
#endif
