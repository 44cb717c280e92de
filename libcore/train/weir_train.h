/* weir_train.h - training: a network, its samples and a configuration in, trained weights out.
 *
 * A run is a function of configuration and samples alone: it may be stopped (SIGINT, SIGTERM) or
 * killed at any moment and resumes from its latest checkpoint to the same bits, for any number of
 * threads.
 *
 * On a grid of ranks (weir_plan_opts.spread) the ranks share the samples of a batch and the space
 * of a sample; batch sizes, samples and graphs stay those of the whole, and so do first weights,
 * order of samples and dropout: a run is the same on every grid but for the rounding of sums over
 * ranks, and resumes from a checkpoint on any other grid. Calls are collective there: the same on
 * all ranks, failures too. Rank 0 alone reads and writes files; the caller opens the event file,
 * and lets through more than warnings, there alone. */
#ifndef WEIR_TRAIN_H
#define WEIR_TRAIN_H
#include "conf/weir_opt.h"
#include "exec/weir_plan.h"
#include "load/weir_sampler.h"
#include "nn/weir_net.h"
#include "optim/weir_optim.h"
#include "pass/partition/weir_cost.h"
#include "train/weir_checkpoint.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Rows in weir_train_opts. */
typedef struct weir_train_cfg {
  int64_t epochs, steps; /* steps 0: as many as the epochs have */
  int64_t batch, accumulate;
  int64_t seed;
  bool shuffle, drop_last;
  weir_optim_cfg optim;
  int64_t validate_every, patience;
  double min_delta;
  struct {
    const char *metric; /* of the task; "": none */
    double value;
  } target;
  bool keep_best, check_nan;
  int64_t log_every, compare_every;
  struct {
    int64_t every, keep;
    int format; /* weir_checkpoint_format */
    bool resume;
  } checkpoint;
} weir_train_cfg;
extern const weir_opt weir_train_opts[];

/* Dimensions of a grid of ranks, in its order: a spatial group is neighbours. */
typedef enum weir_along {
  WEIR_ALONG_SAMPLES,
  WEIR_ALONG_DEPTH,
  WEIR_ALONG_HEIGHT,
  WEIR_ALONG_WIDTH,
  WEIR_ALONG_DIMS
} weir_along;

/* Who says what the grid is: the numbers, or the caller by weir_train_select_grid. */
typedef enum weir_grid_by { WEIR_GRID_BY_NUMBERS, WEIR_GRID_BY_AUTO } weir_grid_by;

/* The section `grid:` of a configuration; rows in weir_train_grid_opts. */
typedef struct weir_train_grid_cfg {
  int64_t samples, depth, height, width; /* ranks along each; 0: those that the others leave */
  int by;                                /* weir_grid_by */
  struct {
    int64_t depth, height, width;
  } replicate_below;    /* as in weir_train_task */
  weir_machine machine; /* as weir_machine_measure takes it */
} weir_train_grid_cfg;
extern const weir_opt weir_train_grid_opts[];

/* The ends of cuts by the numbers. */
void weir_train_gather(const weir_train_grid_cfg *cfg, int64_t gather[WEIR_ALONG_DIMS]);
/* The grid of so many ranks by the numbers. Fails: WEIR_ERR_CONFIG (it has another number of ranks,
 * or two dimensions are left open). */
weir_status weir_train_grid(const weir_train_grid_cfg *cfg, int ranks, weir_grid *out) WEIR_CHECKED;

/* One array that the network reads, of every sample. Names of training's own (seed, draw, step, lr,
 * weight, loss, norm, gradient) are refused here, as metrics and as weight. */
typedef struct weir_train_input {
  const char *name;
  weir_dtype dtype;
  int rank;                         /* without the batch */
  int64_t shape[WEIR_MAX_RANK - 1]; /* without the batch */
  /* Dimension of the grid that each one is cut along; 0: it is whole. Cuts fall where the coarsest
   * map of the network has its own, so that pooling needs nothing of other ranks, as long as that
   * leaves the largest share within a quarter of the mean. */
  weir_along along[WEIR_MAX_RANK - 1];
} weir_train_input;

typedef enum weir_train_split { WEIR_TRAIN_SAMPLES, WEIR_VALID_SAMPLES } weir_train_split;

/* What is read at once: n samples of the split, and of input k the elements box[k] of each (without
 * the batch). One rank has the whole of every input; ranks of a grid ask for the samples of their
 * group (weir_sampler_share) and for boxes of their own, the same at every call. */
typedef struct weir_train_batch {
  weir_train_split split;
  const int64_t *sample;
  int64_t n;
  const weir_box *box;
  int64_t epoch, position; /* where the batch of all ranks begins in the order (weir_sampler.h), of
                              which a loader foresees the rest; -1: it is no part of it */
} weir_train_batch;

/* What is trained on what. All borrowed. */
typedef struct weir_train_task {
  const char *name; /* of the network, for reports */
  weir_dtype dtype; /* of its parameters: f32 or f64 */
  const weir_train_input *input;
  int n_inputs;
  int64_t n_train, n_valid; /* samples; n_valid 0: no validation */
  const void *opts;         /* of build */
  /* On a grid of ranks, where cuts of space end: arrays with no more elements along a dimension of
   * the grid are gathered along it, and what is made of such arrays alone is whole on all of its
   * ranks, with gradients of weights that need no sum over these; where arrays have more again,
   * they are cut again. 0: cuts continue to the last layer. */
  int64_t gather[WEIR_ALONG_DIMS];
  /* Appends the network and its loss: in[k] is input k as [batch, shape...]; *loss is a float of
   * rank 0, the mean over the batch. Values that it marks with weir_output under the names of
   * `metric`, rank 0 and means likewise, are reported by validation. */
  weir_status (*build)(weir_net *net, const void *opts, const weir_value *in, weir_value *loss);
  const char *const *metric;
  int n_metrics;
  bool metrics_grow; /* as the network learns, such as hits; false: they are errors */
  /* Where loss and metrics are means by weights: the value that build marks with weir_output under
   * this name, rank 0, is how much the batch counts relative to others (weir_loss_weight), so that
   * accumulated batches and validation make the means of the whole. NULL: its samples count. */
  const char *weight;
  /* Fills tensor k with what is wanted of input k: [n, extents of box[k]...]. The same element of a
   * sample is the same bits at every call. Local; a failure ends all ranks. */
  weir_status (*fetch)(void *context, const weir_train_batch *want, weir_tensor *const *tensor);
  /* Told of each batch of training samples before it is fetched, every rank in the same order, also
   * one that has no sample of it (n is 0) and is asked for none: here ranks may exchange what they
   * have read. Called again for a batch that is looked at again. Collective; a failure ends all
   * ranks. NULL: nothing is to be done. */
  weir_status (*batch)(void *context, const weir_train_batch *want);
  void *context;
  /* Told the number of each epoch, from 0, before its samples are fetched, and so when
   * a run resumes: what of fetch depends on it, such as the side that samples are seen from.
   * Samples are then the same bits at every call of one epoch. NULL: they are so in all of them. */
  void (*epoch)(void *context, int64_t epoch);
  double predicted_s; /* of a step without its samples, reported with the measured time; 0: none */
  const weir_note *note; /* attributes of checkpoints, in addition to those that train writes */
  int n_notes;
} weir_train_task;

typedef enum weir_train_end {
  WEIR_TRAIN_DONE,     /* all steps                        */
  WEIR_TRAIN_PATIENCE, /* validation did not improve again */
  WEIR_TRAIN_TARGET    /* it reached what was asked for    */
} weir_train_end;

/* Losses are NaN where there was none. */
typedef struct weir_train_result {
  weir_train_end end;
  int64_t step, epoch;       /* done */
  double loss;               /* mean over the last epoch that was finished */
  double valid_loss;         /* of the last validation */
  double best_loss;          /* of the best one */
  int64_t best_epoch, first; /* epoch after which it was; step that this call began after */
  double step_s;             /* seconds of the plans of a step: median of the first whole ones but
                                for the very first; of the slowest rank */
} weir_train_result;

/* The order in which a run visits n_train samples. */
weir_sampler weir_train_order(const weir_train_cfg *cfg, int64_t n_train);

/* Declares the task's network, adds its arrays to the store and gives them their first values.
 * params: fresh. Fails: WEIR_ERR_CONFIG (too many inputs or dimensions; names of training's own:
 * inputs, or scopes train, optim and best); the builders' first error;
 * as weir_params_seal. */
weir_status weir_train_prepare(const weir_train_task *task, int64_t seed, weir_params *params,
                               weir_store *store) WEIR_CHECKED;

/* Whether options go together and with a task, of which name, metrics and numbers of samples are
 * read alone; a number below 0 is not known yet, and what depends on it is not judged: for programs
 * that refuse a configuration before they read anything. Fails: WEIR_ERR_CONFIG, with the text of
 * weir_train_run. */
weir_status weir_train_suits(const weir_train_task *task, const weir_train_cfg *cfg) WEIR_CHECKED;

/* Trains what weir_train_prepare made. dir: folder of the checkpoints, made where it is not there;
 * checkpoint.resume resumes from its latest intact one. At the end the store has the best
 * weights (keep_best) or the last ones, averages where optim.average keeps them, and so has the
 * file "weights.nc" or "weights.weir" of the folder; after a failure what it has is not defined.
 * exec: as in weir_plan_opts; of exec->spread, communicator and grid (dimensions in the order of
 * weir_along, missing ones 1), cuts are made here. There, the ranks agree after every step
 * on how reading went and on signals, and compare digests of their weights every
 * cfg->compare_every steps and before each checkpoint. A rank that is gone ends the others as
 * comm.timeout and the launcher have it.
 *
 * Events: train_begin, epoch_begin, step (log_every), step_time (once, after the first steps),
 * validation_begin, epoch_end, checkpoint, stop.
 *
 * Fails: WEIR_ERR_CONFIG (options that do not fit the task; checkpoints in the folder without
 * resume, or of another seed, other samples, another network or other updates; another schedule
 * alone is told), WEIR_ERR_NUMERIC (a
 * NaN or infinite loss or gradient: the message names the first operator that made one; with
 * check_nan, an update that is none, which is not saved), WEIR_ERR_STOPPED (a signal, after a
 * checkpoint), and as fetch, plans and checkpoints. */
weir_status weir_train_run(const weir_train_task *task, const weir_train_cfg *cfg,
                           const weir_plan_opts *exec, weir_params *params, weir_store *store,
                           const char *dir, weir_train_result *result) WEIR_CHECKED;

/* The network alone: reads its weights from a checkpoint or a file of weights. Fails: as
 * weir_checkpoint_load. */
weir_status weir_train_weights(const weir_params *params, weir_store *store,
                               const char *path) WEIR_CHECKED;

/* What an update of batch times accumulate samples takes. */
typedef struct weir_train_cost {
  double flops;         /* forward, backward and update       */
  int64_t plan_bytes;   /* of temporaries, of the larger plan */
  int64_t stored_bytes; /* weights, their copies, the state of the update rule */
} weir_train_cost;

/* Prints the plan of a step of cfg->batch samples, as weir_plan_print does (out NULL: nothing is
 * printed, and nothing kept of the passes); fetches none. cost: NULL, or what the step takes.
 * Fails: as weir_train_run. */
weir_status weir_train_describe(const weir_train_task *task, const weir_train_cfg *cfg,
                                const weir_plan_opts *exec, FILE *out,
                                weir_train_cost *cost) WEIR_CHECKED;

/* Prints what each rank of a grid of four dimensions, in the order of weir_along, has of a batch:
 * samples, boxes of the inputs, its share of the iterations, bytes that come from other ranks and
 * that go into sums over ranks, all of the graph that this processor's run would cut. Needs none of
 * the ranks. Fails: WEIR_ERR_CONFIG, WEIR_ERR_UNSUPPORTED, as weir_train_run does; builders' first
 * error; WEIR_ERR_MEMORY. */
weir_status weir_train_describe_grid(const weir_train_task *task, const weir_train_cfg *cfg,
                                     const weir_plan_opts *exec, const weir_grid *grid,
                                     FILE *out) WEIR_CHECKED;

/* Rows in weir_train_check_opts. */
typedef struct weir_train_check_cfg {
  int64_t probes, seed, batch;
  double step, tolerance;
} weir_train_check_cfg;
extern const weir_opt weir_train_check_opts[];

/* Compares the gradient with central differences at some elements of every parameter, all in f64,
 * and prints a line for each parameter. The inputs that are floats are read as f64. *worst: largest
 * difference, relative to the larger of the two, of 1e-3 of the parameter's largest one and of 1e-5
 * of the largest of all; what rounding of the loss explains is none. Elements at which the loss has
 * a kink within the step (rectifiers), which its values tell without the derivative, are left out,
 * counted, and others taken for them. Fails: WEIR_ERR_NUMERIC where *worst is above the tolerance,
 * where a parameter has no element without a kink, or more are left out than are compared;
 * WEIR_ERR_CONFIG as weir_train_run. */
weir_status weir_train_check(const weir_train_task *task, const weir_train_check_cfg *cfg,
                             const weir_plan_opts *exec, FILE *out, double *worst) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
