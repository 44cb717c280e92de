/* weir_train.h - training: a network, its samples and a configuration in, trained weights out.
 *
 * A run is a function of configuration and samples alone: it
 * may be stopped (SIGINT, SIGTERM) or killed at any time and resumes from its latest checkpoint
 * with bitwise identical results, for any number of threads.
 *
 * On a grid of ranks (weir_plan_opts.dist) the ranks share the samples of a batch and the space
 * of a sample; batch
 * sizes, samples and graphs are global, and so are initial weights, sample order and dropout: a run
 * is the same on every grid except for the rounding of reductions over ranks, and resumes from a
 * checkpoint on any other grid. Calls are collective there: the same on all ranks, failures too.
 * Rank 0 alone reads and writes files; the caller opens the event file, and enables messages below
 * warnings, only there. */
#ifndef WEIR_TRAIN_H
#define WEIR_TRAIN_H
#include "conf/weir_opt.h"
#include "exec/weir_plan.h"
#include "load/weir_sampler.h"
#include "nn/weir_net.h"
#include "optim/weir_optim.h"
#include "train/weir_checkpoint.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Rows in weir_train_opts. */
typedef struct weir_train_cfg {
  int64_t epochs, steps; /* steps 0: determined by epochs */
  int64_t batch, accumulate;
  int64_t seed;
  const char *initial_weights; /* file; "": random ones */
  bool shuffle, drop_last;
  /* Networks that train as one graph: seed of the weights and dropout, and initial learning rate
   * (none: optim.schedule.lr) of each; none: one network, of `seed`. */
  struct {
    weir_int_list seeds;
    weir_real_list lr;
  } models;
  weir_optim_cfg optim;
  int64_t validate_every, patience;
  double min_delta;
  struct {
    const char *metric; /* of the task; "": none */
    double value;
  } target;
  bool keep_best, check_nan;
  int64_t log_every, compare_every, agree_every;
  int64_t timeline; /* last steps in the events `activity` */
  struct {
    int64_t every, keep;
    int format; /* weir_checkpoint_format */
    bool resume;
  } checkpoint;
} weir_train_cfg;
extern const weir_opt weir_train_opts[];

/* Dimensions of the process grid, in its order: ranks of a spatial group are neighbours. */
typedef enum weir_along {
  WEIR_ALONG_SAMPLES,
  WEIR_ALONG_DEPTH,
  WEIR_ALONG_HEIGHT,
  WEIR_ALONG_WIDTH,
  WEIR_ALONG_DIMS
} weir_along;
extern const char *const weir_along_names[WEIR_ALONG_DIMS];

/* An array that the network reads, of every sample. Names reserved for training (seed, draw, step,
 * lr, weight, loss, norm, gradient) are refused here, as metrics and as weight. */
typedef struct weir_train_input {
  const char *name;
  weir_dtype dtype;
  int rank;                         /* without the batch */
  int64_t shape[WEIR_MAX_RANK - 1]; /* without the batch */
  /* Dimension of the grid along which each dimension is sharded; 0: it is replicated. Shard
   * boundaries follow those of the coarsest feature map of the network, so that pooling needs no
   * data of other ranks, as long as the largest shard stays within a quarter of the mean. */
  weir_along along[WEIR_MAX_RANK - 1];
} weir_train_input;

typedef enum weir_train_split { WEIR_TRAIN_SAMPLES, WEIR_VALID_SAMPLES } weir_train_split;

/* Samples read at once: n samples of the split, and of input k the elements box[k] of each (without
 * the batch). A single rank has every input completely; ranks of a grid request the samples of
 * their group (weir_sampler_share) and their own boxes, the same at every call. */
typedef struct weir_train_batch {
  weir_train_split split;
  const int64_t *sample;
  int64_t n;
  const weir_box *box;
  int64_t epoch, position; /* position of the global batch in the order (weir_order.h), from which a
                              loader prefetches; -1: not part of it */
  int64_t repeats;         /* arrays of each sample (weir_train_size), else 1 */
} weir_train_batch;

/* A size that samples have in some steps of a training, such as smaller parts of each. The network
 * has the same parameters and buffers for all of them. */
typedef struct weir_train_size {
  int64_t side;                  /* of it, in the events `step` */
  const weir_train_input *input; /* as those of the task, but for their shapes */
  double share;                  /* of the steps, relative to the others */
  int64_t batches;               /* in an update, times train.accumulate */
  int64_t repeats; /* arrays made of each sample, which follow one another in a batch */
  double lr;       /* factor of the learning rate */
} weir_train_size;

/* A training task: network, samples, loss. All borrowed. */
enum { WEIR_TRAIN_MOMENTS = 64, WEIR_TRAIN_SIZES = 16 };

typedef struct weir_train_task {
  const char *name; /* of the network, for reports */
  weir_dtype dtype; /* of its parameters: f32 or f64 */
  const weir_train_input *input;
  int n_inputs;
  int64_t n_train, n_valid; /* samples; n_valid 0: no validation */
  const void *opts;         /* of build */
  /* On a process grid, replication thresholds: arrays with at most this many elements along a
   * dimension of the grid are all-gathered along it, and the layers after them run redundantly on
   * all of its ranks, with weight gradients that need no reduction over these; larger arrays after
   * them are sharded again. 0: arrays stay sharded to the last layer. */
  int64_t replicate_below[WEIR_ALONG_DIMS];
  /* Appends the network and its loss: in[k] is input k as [batch, shape...]; *loss is a scalar
   * float, the mean over the batch. Scalars that it marks with weir_output under the names of
   * `metric`, also means, are reported by validation. */
  weir_status (*build)(weir_net *net, const void *opts, const weir_value *in, weir_value *loss);
  const char *const *metric;
  int n_metrics;
  bool metrics_grow; /* true: the metric increases with skill, such as accuracy; false: it is an
                        error */
  /* Names of further scalars that build marks with weir_output in networks that are not trained
   * (net->train false), also means, and the function that is given their values over the validation
   * samples, in this order, on every rank. NULL: none. */
  const char *const *moment;
  int n_moments; /* WEIR_TRAIN_MOMENTS at most */
  void (*validated)(void *context, int64_t step, const double *moment);
  /* Name of the scalar that build marks with weir_output where loss and metrics are weighted means:
   * the weight of the batch relative to others (weir_loss_weight), so that accumulated batches and
   * validation give the weighted mean over all samples. NULL: the number of samples. */
  const char *weight;
  /* Fills tensor k with the requested part of input k: [n * repeats, extents of box[k]...]. An
   * element of a sample is bitwise identical at every call. Local; a failure ends all ranks. */
  weir_status (*fetch)(void *context, const weir_train_batch *want, weir_tensor *const *tensor);
  /* Announces each batch of training samples before it is fetched, on every rank in the same order,
   * also on ranks without a sample of it (n is 0): here ranks may exchange samples. Called again
   * for a repeated batch. Collective; a failure ends all ranks. NULL: not called. */
  weir_status (*batch)(void *context, const weir_train_batch *want);
  void *context;
  /* Announces the number of each epoch, from 0, before its samples are fetched, and when a run
   * resumes, for fetch functions that depend on it, such as augmentation. Within an epoch, samples
   * are bitwise identical at every call. NULL: in all epochs. */
  void (*epoch)(void *context, int64_t epoch);
  /* Mixed sizes: sizes of the training samples, one drawn for each step from the seed and the
   * number of the step, so that runs resume to the same and all ranks draw the same. Ranks of a
   * grid share the samples of a batch alone. Validation has samples of `input`, for which running
   * statistics are measured anew before it, as means over `calibrate` batches of training samples.
   * NULL: all steps have samples of `input`. */
  const weir_train_size *size;
  int n_sizes; /* WEIR_TRAIN_SIZES at most */
  int64_t calibrate;
  double predicted_s; /* predicted time per step without sample loading, reported with the measured
                         one; 0: none */
  const weir_note *note; /* attributes of checkpoints, in addition to those that train writes */
  int n_notes;
} weir_train_task;

typedef enum weir_train_end {
  WEIR_TRAIN_DONE,     /* all steps */
  WEIR_TRAIN_PATIENCE, /* early stopping: no improvement */
  WEIR_TRAIN_TARGET    /* target metric reached */
} weir_train_end;

/* Returns it in words for reports: "early stopping". Static text. */
const char *weir_train_end_text(weir_train_end end);

/* Results; losses are NaN where they were not computed. */
typedef struct weir_train_result {
  weir_train_end end;
  int64_t step, epoch;       /* done */
  double loss;               /* mean over the last complete epoch */
  double valid_loss;         /* of the last validation */
  double best_loss;          /* of the best one */
  int64_t best_epoch, first; /* epoch of the best validation; step at which this call began */
  double step_s; /* seconds of the plans of a step: median of the first complete steps except the
                    very first; of the slowest rank */
} weir_train_result;

/* The most networks that train as one graph. */
enum { WEIR_TRAIN_MODELS = 64 };

/* Writes the folder of network k, from 0, of a training in `dir`: "DIR/model-1", or `dir` itself
 * where it trains one network. Fails: WEIR_ERR_CONFIG (too long). */
weir_status weir_train_model_dir(const weir_train_cfg *cfg, const char *dir, int64_t k, char *path,
                                 size_t size) WEIR_CHECKED;

/* Returns the order in which a run accesses n_train samples. */
weir_sampler weir_train_order(const weir_train_cfg *cfg, int64_t n_train);
/* Computes the epoch and the position in it at which all steps are done; of cfg->steps, of
 * cfg->epochs (position 0) where these are 0. n_train: above 0. */
void weir_train_last(const weir_train_task *task, const weir_train_cfg *cfg, int64_t n_train,
                     int64_t *epoch, int64_t *position);

/* Declares the task's network, adds its arrays to the store and initialises them. params: newly
 * created. Fails: WEIR_ERR_CONFIG (too many inputs or dimensions; reserved names: inputs, or scopes
 * train, optim and best); the builders' first error; as weir_params_seal. */
weir_status weir_train_prepare(const weir_train_task *task, int64_t seed, weir_params *params,
                               weir_store *store) WEIR_CHECKED;

/* Checks that options are consistent with each other and with a task, of which only name, metrics
 * and numbers of samples are read; a number below 0 is not known yet, and its conditions are not
 * checked: for programs that refuse a configuration before they read data. Fails: WEIR_ERR_CONFIG,
 * with the message of weir_train_run. */
weir_status weir_train_suits(const weir_train_task *task, const weir_train_cfg *cfg) WEIR_CHECKED;

/* Trains the network of weir_train_prepare, from the values that the store has: where
 * cfg->initial_weights is set, those that the caller has read from that file (weir_train_weights),
 * of which checkpoints keep the digest. dir: folder of the checkpoints, created if necessary;
 * checkpoint.resume resumes from its latest intact one. At the end the store has the best
 * weights (keep_best) or the last ones, averages where optim.average keeps them, and so has the
 * file "weights.nc" or "weights.weir" of the folder; after a failure its contents are undefined,
 * with optim.shard=parameters also the number of its elements.
 * exec: as in weir_plan_opts; of exec->dist, communicator and grid (dimensions in the order of
 * weir_along, missing ones 1), the
 * sharding is computed here. The ranks agree after every step on read errors and signals, and
 * compare digests of their weights every cfg->compare_every steps and before each checkpoint. Where
 * cfg->optim.exchange has ranks train apart (optim/weir_exchange.h), each has its share of a batch,
 * and all of this is done where they meet: before validations and checkpoints, and for signals
 * every cfg->agree_every steps; a failure on one rank alone ends all (weir_comm_abort). A lost rank
 * ends the others through comm.timeout or the launcher.
 *
 * Of several networks (cfg->models), which see the same batches, each has its folder
 * (weir_train_model_dir) with the checkpoints and weights of a run of its seed and learning rate
 * alone, bitwise; the store and the file of weights of `dir` are the first one's, and so are
 * *result and all events without the field `model`. Their weights are initialised here. One that
 * was stopped before the others have saved catches up. On one rank and the cpu alone.
 *
 * Events: train_begin, epoch_begin, step (log_every), step_time (once, after the first steps),
 * validation_begin, epoch_end, checkpoint, stop; on several ranks also `exchange`, and at the end
 * one `rank` a rank (times and messages of the whole run) and `activity` (what it did when in the
 * last cfg->timeline steps).
 *
 * Fails: WEIR_ERR_CONFIG (options that do not fit the task; checkpoints in the folder without
 * resume, or of another seed, other samples, another network or other updates; a
 * changed schedule is only reported), WEIR_ERR_NUMERIC (a
 * NaN or infinite loss or gradient: the message names the first operator that made one; with
 * check_nan, a non-finite update, which is not saved), WEIR_ERR_STOPPED (a signal, after a
 * checkpoint), and as fetch, plans and checkpoints. */
weir_status weir_train_run(const weir_train_task *task, const weir_train_cfg *cfg,
                           const weir_plan_opts *exec, weir_params *params, weir_store *store,
                           const char *dir, weir_train_result *result) WEIR_CHECKED;

/* Loads the weights of the network from a checkpoint or a file of weights. Fails: as
 * weir_checkpoint_load. */
weir_status weir_train_weights(const weir_params *params, weir_store *store,
                               const char *path) WEIR_CHECKED;

/* Cost of an update of batch times accumulate samples. */
typedef struct weir_train_cost {
  double flops;         /* forward, backward and update       */
  int64_t plan_bytes;   /* temporaries of its plans and between them, all there at once */
  int64_t stored_bytes; /* weights, their copies, the state of the update rule */
} weir_train_cost;

/* Prints the plan of a step of cfg->batch samples, as weir_plan_print does (out NULL: prints
 * nothing, and keeps no graphs of the passes); fetches no samples. cost: NULL, or the cost of the
 * step. Fails: as weir_train_run. */
weir_status weir_train_describe(const weir_train_task *task, const weir_train_cfg *cfg,
                                const weir_plan_opts *exec, FILE *out,
                                weir_train_cost *cost) WEIR_CHECKED;

/* Prints the shard of each rank of a four-dimensional grid, in the order of weir_along: samples,
 * boxes of the inputs, fraction of the iterations, bytes received from other ranks and bytes
 * reduced, of the graph that a run on this processor would shard. Needs none of the ranks. Fails:
 * WEIR_ERR_CONFIG, WEIR_ERR_UNSUPPORTED, as weir_train_run does; builders' first error;
 * WEIR_ERR_MEMORY. */
weir_status weir_train_describe_grid(const weir_train_task *task, const weir_train_cfg *cfg,
                                     const weir_plan_opts *exec, const weir_grid *grid,
                                     FILE *out) WEIR_CHECKED;

/* Rows in weir_train_check_opts. */
typedef struct weir_train_check_cfg {
  int64_t probes, seed, batch;
  double step, tolerance;
} weir_train_check_cfg;
extern const weir_opt weir_train_check_opts[];

/* Compares the gradient with central differences at some elements of every parameter, in f64, and
 * prints a line for each parameter. Float inputs are read as f64. *worst: largest difference,
 * relative to the largest of: the two values, 1e-3 of the parameter's largest gradient, 1e-5 of the
 * largest of all; differences explained by rounding of the loss count as 0. Elements at which the
 * loss has a kink within the step (rectifiers), detected from loss values alone, are excluded,
 * counted and replaced by others. Fails: WEIR_ERR_NUMERIC where *worst is above the tolerance,
 * where all elements of a parameter have a kink, or more are excluded than compared;
 * WEIR_ERR_CONFIG as weir_train_run. */
weir_status weir_train_check(const weir_train_task *task, const weir_train_check_cfg *cfg,
                             const weir_plan_opts *exec, FILE *out, double *worst) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
