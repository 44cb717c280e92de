/* train_priv.h - the inside of a run: its plans, its state in the store, its batches. */
#ifndef WEIR_TRAIN_PRIV_H
#define WEIR_TRAIN_PRIV_H
#include "comm/weir_request.h"
#include "train/weir_train_step.h"

enum { TRAIN_INPUTS = 16, TRAIN_METRICS = 16, TRAIN_PATH = 4096, TRAIN_TIMED = 15 };
enum { TRAIN_MAX_SHARDED = 8, TRAIN_MAX_SLICES = 2 * TRAIN_MAX_SHARDED + 1 };

/* The computation of a plan on a batch. */
typedef enum train_kind {
  TRAIN_STEP,     /* loss, gradient, update                                       */
  TRAIN_GRADIENT, /* loss; its gradient, weighted, is added to the bank           */
  TRAIN_APPLY,    /* update by the bank                                           */
  TRAIN_VALID,    /* loss and metrics                                             */
  TRAIN_LOSS,     /* the loss that TRAIN_LOOK derives, alone                      */
  TRAIN_LOOK      /* loss and gradient as results                                 */
} train_kind;

typedef struct train_plan {
  train_kind kind;
  int64_t batch;
  weir_plan *plan;
} train_plan;

/* The slice that an array of the store of slices belongs to. Its name is the store's. */
typedef struct train_slice_array {
  const char *name;
  int slice;
} train_slice_array;

/* The flat buffer in slices: sharded rows, whose weights, gradients and optimiser state are on one
 * rank only, and the rows between them, which are replicated. */
typedef struct train_shards {
  int n;         /* slices, 0: the flat buffer is one array */
  int n_sharded; /* of them */
  weir_flat_slice slice[TRAIN_MAX_SLICES];
  int along[TRAIN_MAX_SLICES];   /* of the grid, 0: replicated */
  int64_t *at[TRAIN_MAX_SLICES]; /* first elements of the shards, and the end of the slice */
  char name[TRAIN_MAX_SLICES][8];
  weir_store *whole, *own;  /* views of the run's arrays: complete ones, from which graphs are
                               built; shards of this rank, which its plans read and write */
  train_slice_array *array; /* of slices in `whole`, [n_arrays] */
  int64_t n_arrays, capacity;
} train_shards;

/* Context of the construction of a graph. */
typedef struct train_graph {
  const weir_train_task *task;
  weir_params *params;
  const weir_store *store;
  const weir_optim_cfg *optim; /* STEP, APPLY */
  const train_shards *shards;  /* NULL: the flat buffer is one array */
  weir_dtype dtype;            /* of inputs that are floats; WEIR_DTYPE_COUNT: their own */
} train_graph;

#define TRAIN_BANK "train.gradient" /* sum of gradients; not in checkpoints */
#define TRAIN_BEST "best." /* before the name of an array: its copy of the best validation */

/* Numbers that a run resumes from: stored arrays "train.<name>". */
// clang-format off
#define TRAIN_STATE_LIST(X)                                             \
  X(step,         int64_t, WEIR_I64) /* updates done                 */ \
  X(epoch,        int64_t, WEIR_I64) /* epochs finished              */ \
  X(position,     int64_t, WEIR_I64) /* samples of this epoch done   */ \
  X(seed,         int64_t, WEIR_I64)                                    \
  X(samples,      int64_t, WEIR_I64)                                    \
  X(batch,        int64_t, WEIR_I64) /* samples of a step            */ \
  X(shuffle,      int64_t, WEIR_I64) /* 0 or 1                       */ \
  X(drop_last,    int64_t, WEIR_I64)                                    \
  X(rate,         double,  WEIR_F64) /* learning rate of the last    */ \
  X(loss_sum,     double,  WEIR_F64) /* over this epoch's samples    */ \
  X(loss,         double,  WEIR_F64) /* of the epoch before          */ \
  X(valid_step,   int64_t, WEIR_I64) /* of the last validation       */ \
  X(valid_loss,   double,  WEIR_F64)                                    \
  X(best_loss,    double,  WEIR_F64)                                    \
  X(best_epoch,   int64_t, WEIR_I64)                                    \
  X(waited,       int64_t, WEIR_I64) /* validations without a better */ \
  X(target,       double,  WEIR_F64) /* value to be reached, as of the last validation */ \
  X(target_of,    int64_t, WEIR_I64) /* number of that metric, -1: none */
// clang-format on
typedef struct train_state {
#define X(name, type, dtype) type *name;
  TRAIN_STATE_LIST(X)
#undef X
} train_state;

/* What the run computes, as digests of graphs that its checkpoints have and its resumption has to
 * have too: arrays "train.<name>" of u8. */
enum { TRAIN_NETWORK, TRAIN_UPDATE, TRAIN_GRAPHS, TRAIN_HEX = 64 };

/* The ranks of a run: the slice of an input that each has, and the sharding of graphs. */
typedef struct train_ranks {
  weir_dist dist; /* comm NULL: alone, and nothing is sharded */
  int rank, coords[WEIR_GRID_DIMS];
  int64_t *bounds[TRAIN_INPUTS][WEIR_MAX_RANK - 1]; /* of an input's dimension, NULL: replicated */
  int64_t *share;                                   /* of the samples of a batch            */
  int64_t replicate_below[WEIR_ALONG_DIMS];         /* as in weir_train_task                */
  weir_box box[TRAIN_INPUTS];                       /* of this rank, of one sample          */
  train_shards shards;
  weir_request *min_request; /* minimum of `number` over all ranks */
  int64_t number;
} train_ranks;

/* The sharding of a graph. */
typedef struct train_sharding {
  weir_dist dist; /* its cuts are `shard` */
  weir_shard *shard;
  int64_t capacity;
  weir_partition
      *whole; /* if sharding continued to the last layer, NULL: it does; shards borrow from it */
} train_sharding;

/* An array of the network (the parameters, a buffer) and its copies. */
typedef struct train_array {
  const char *name;
  weir_tensor *tensor, *best; /* best: NULL, not kept */
  void *before;               /* its value before this step; NULL: not kept */
} train_array;

typedef struct train_run {
  const weir_train_task *task;
  const weir_train_cfg *cfg;
  weir_plan_opts exec;
  train_ranks ranks;
  weir_exchange exchange; /* of the accumulated gradient; open in a run on several ranks */
  weir_params *params;
  weir_store *store;
  const char *dir, *rule; /* rule: its name */
  char digest[TRAIN_GRAPHS][TRAIN_HEX + 1];
  train_graph graph;
  train_state state;
  train_array *array;
  weir_tensor *bank, *average; /* the parameters; their running average, or NULL */
  int64_t n_arrays, array_capacity;
  weir_checkpoint_slice *slice;
  char **slice_name; /* owned names of slices */
  int64_t n_slices, slice_capacity, name_capacity;
  train_plan *plan;
  int64_t n_plans, plan_capacity;
  weir_tensor input[TRAIN_INPUTS];    /* memory of a batch */
  int64_t *sample;                    /* [batch] */
  int64_t chosen;                     /* position that they begin at */
  int64_t per_step, per_epoch, total; /* samples of a step; steps */
  double norm;                        /* of the last step's gradient, NaN: not known */
  double epoch_began;
  double spent_s, timed_s[TRAIN_TIMED]; /* by plans of this step; of those that are timed .. */
  int n_timed;                          /* .. and how many there were                        */
  double step_s;                        /* their median, NaN: not known                      */
} train_run;

/* Scalar inputs of a plan in addition to samples; each kind reads some. */
typedef struct train_numbers {
  int64_t draw, step; /* key of random numbers; number of the update */
  double lr, weight;  /* of the gradient of this batch; where the task weighs, of the sum */
} train_numbers;

/* run.c: a run that is not begun, and its end, whatever of it was opened. */
train_run train_run_of(const weir_train_task *task, const weir_train_cfg *cfg,
                       const weir_plan_opts *exec, weir_params *params, weir_store *store);
void train_run_close(train_run *r);
/* options.c: refuses a task of too many inputs or dimensions, and where they are asked for one
 * without samples. Refuses what does not fit the task; the steps in all and of an epoch. */
weir_status train_check_task(const weir_train_task *t, bool samples) WEIR_CHECKED;
weir_status train_check_options(train_run *r) WEIR_CHECKED;
/* options.c: number of the metric that the target names, -1: none; the run as schedules see it; the
 * learning rate of a step. */
int train_target(const weir_train_task *t, const weir_train_cfg *c);
weir_schedule_run train_schedule(const train_run *r);
double train_rate(const train_run *r, int64_t step);
/* graph.c: the graph of a kind; and row: the arrays of the parameters that the network reads. The
 * task's network appended to net's graph over fresh inputs of `batch` samples. */
weir_status train_build(const train_graph *t, train_kind kind, int64_t batch,
                        weir_graph **out) WEIR_CHECKED;
weir_status train_build_rows(const train_graph *t, train_kind kind, int64_t batch, int32_t *row,
                             weir_graph **out) WEIR_CHECKED;
weir_status train_append(const train_graph *t, weir_net *net, int64_t batch,
                         weir_value *loss) WEIR_CHECKED;
/* ranks.c: Returns the box of a complete input. Finds the bounds of inputs on the grid
 * k->dist.grid. Returns the box of an input at these coordinates. Creates the sharding of a graph
 * for n samples, freed by close. Appends a shard. */
weir_box train_whole(const weir_train_input *x);
weir_status train_shard_inputs(train_ranks *k, const train_graph *t, int64_t batch) WEIR_CHECKED;
weir_box train_box(const train_ranks *k, const weir_train_task *task, int input,
                   const int coords[WEIR_GRID_DIMS]);
weir_status train_sharding_of(const train_ranks *k, const weir_train_task *task,
                              const weir_graph *g, int64_t n, train_sharding *out) WEIR_CHECKED;
void train_sharding_close(train_sharding *c);
weir_status train_add_shard(train_sharding *c, weir_shard shard) WEIR_CHECKED;
/* replicate.c: Appends the arrays that k->replicate_below replicates. Lists the possible
 * thresholds. */
weir_status train_replicate(const train_ranks *k, const weir_train_task *task, const weir_graph *g,
                            train_sharding *c) WEIR_CHECKED;
weir_status train_find_levels(const train_ranks *k, const train_graph *t, int64_t batch,
                              weir_train_levels *out) WEIR_CHECKED;
/* shards.c: Builds the graph of a kind as in plans on the grid of k, and its partition; shards
 * have been viewed. What is not NULL is the caller's, also of a failure. */
weir_status train_shard_graph(const train_ranks *k, const train_graph *t, train_kind kind,
                              int64_t batch, const weir_pass_opts *passes, weir_graph **g,
                              weir_partition **p) WEIR_CHECKED;
/* The ranks of a run, alone where exec.dist is NULL or of one rank; freed by close. Collective,
 * like agree to compare. Whether this one writes files and tells of the run; its samples [*lo, *hi)
 * of n that are computed at once. */
weir_status train_ranks_open(train_run *r) WEIR_CHECKED;
void train_ranks_close(train_ranks *k);
bool train_leads(const train_run *r);
void train_own_samples(const train_run *r, int64_t n, int64_t *lo, int64_t *hi);
/* As weir_comm_agree. Computes the minimum over all ranks. */
weir_status train_agree(const train_run *r, weir_status status) WEIR_CHECKED;
weir_status train_min(train_run *r, int64_t *x) WEIR_CHECKED;
/* Broadcasts the arrays of a checkpoint from rank 0. */
weir_status train_receive(train_run *r) WEIR_CHECKED;
/* Checks that all ranks have the same weights. */
weir_status train_compare(train_run *r) WEIR_CHECKED;
/* shards.c: Finds the rows that can be sharded, by what the nodes of a step read of them where
 * inputs are sharded; freed by close. Returns this rank's elements [*lo, *hi) of a slice; the slice
 * that a stored array belongs to, -1: none. Adds
 * views of the arrays of a store, where there are such rows. Appends the shards of the arrays of a
 * graph. Replicates all shards on all ranks, so that every array of the run is complete on each;
 * collective. */
weir_status train_find_shards(train_ranks *k, const train_graph *t, int64_t batch) WEIR_CHECKED;
void train_shards_close(train_shards *s);
void train_own_shard(const train_ranks *k, int slice, int64_t *lo, int64_t *hi);
int train_slice_of(const train_shards *s, const char *name);
weir_status train_shards_view(train_ranks *k, const weir_store *store,
                              const weir_params *params) WEIR_CHECKED;
weir_status train_shard_slices(const train_shards *s, const weir_graph *g,
                               train_sharding *c) WEIR_CHECKED;
weir_status train_allgather(const train_run *r) WEIR_CHECKED;
/* exchange.c: Returns whether a step has a slot: gradients into the bank, an exchange, an update;
 * else it is one plan. Appends the sums over ranks that the bank stays, in a graph that adds to it.
 * Opens the policy, once the arrays of the run exist; collective, like an exchange. Prints what
 * this rank exchanges. Lists the sums over ranks, of the rank with the largest shards; returns how
 * many. */
bool train_has_slot(const train_run *r);
weir_status train_leave_sums(const train_ranks *k, const weir_graph *g,
                             train_sharding *c) WEIR_CHECKED;
weir_status train_open_exchange(train_run *r) WEIR_CHECKED;
weir_status train_exchange(train_run *r) WEIR_CHECKED;
void train_print_exchange(const train_run *r, FILE *out);
int train_list_sums(const train_ranks *k, const weir_params *params,
                    weir_train_sum sum[TRAIN_MAX_SLICES]);
/* plan.c: Allocates the buffer for the samples of a batch of this rank. Reads n samples, chosen in
 * r->sample, into it. Creates
 * the plan of a graph over a store for n samples on these ranks. Finds that of a kind, creating it
 * at the first call; runs it on those samples. Binds names and tensors of all that such a plan
 * reads, where this rank has n of the samples; returns how many. Returns a result of rank 0. */
weir_status train_alloc_batch(train_run *r) WEIR_CHECKED;
weir_status train_fetch(train_run *r, weir_train_split split, int64_t n) WEIR_CHECKED;
weir_status train_create_plan(train_run *r, const weir_graph *g, weir_store *store, int64_t n,
                              const weir_plan_opts *opts, weir_plan **out) WEIR_CHECKED;
weir_status train_find_plan(train_run *r, train_kind kind, int64_t n, weir_plan **out) WEIR_CHECKED;
weir_status train_run_plan(train_run *r, train_kind kind, int64_t n, const train_numbers *x,
                           weir_plan **plan) WEIR_CHECKED;
typedef struct train_bindings {
  weir_tensor tensor[TRAIN_INPUTS + 5];
  weir_binding binding[TRAIN_INPUTS + 5];
  int64_t seed, draw, step;
  double lr, weight;
} train_bindings;
int train_bind(const weir_train_task *task, const weir_tensor *input, int64_t seed, train_kind kind,
               int64_t n, const train_numbers *x, train_bindings *b);
weir_status train_number(const weir_plan *plan, const char *name, double *x) WEIR_CHECKED;
/* step.c: Computes one update and *loss, its mean over the samples; after a failure the network is
 * unchanged. Writes the samples at positions [at, at + n) of the epoch into r->sample. Returns the
 * numbers of a batch of the next step. Computes means over the validation samples. */
weir_status train_step(train_run *r, double *loss) WEIR_CHECKED;
void train_choose(train_run *r, int64_t at, int64_t n);
train_numbers train_numbers_of(const train_run *r, int64_t batch);
int64_t train_step_samples(const train_run *r);
weir_status train_validate(train_run *r, double *loss, double *metric) WEIR_CHECKED;
/* timing.c: a step of n samples, number `done` of this call, is over: its time is kept, and
 * reported once there are enough. train_tell_times reports those that were not. Collective. */
weir_status train_time_step(train_run *r, int64_t n, int64_t done) WEIR_CHECKED;
weir_status train_tell_times(train_run *r) WEIR_CHECKED;
/* nan_trace.c: says which operator made the loss or the gradient of this step NaN or infinite;
 * always fails. */
weir_status train_locate_nan(train_run *r) WEIR_CHECKED;
/* state.c: arrays of the run in the store; copies of the network's before a step and at the best
 * validation. */
weir_status train_state_open(train_run *r) WEIR_CHECKED;
void train_state_close(train_run *r);
void train_keep_before(train_run *r);
void train_take_before(train_run *r);
void train_keep_best(train_run *r);
/* Swaps the parameters and their average, where one is kept. */
void train_swap_average(train_run *r);
/* save.c: a checkpoint; the newest one loaded; best weights into the network where they are kept,
 * and the network into its file. */
weir_status train_save(train_run *r) WEIR_CHECKED;
weir_status train_resume(train_run *r) WEIR_CHECKED;
weir_status train_finish(train_run *r) WEIR_CHECKED;
/* state.c: Adds rows of params as slices of `array`, with names after `prefix`; freed by close.
 * Whether an array of the store is the network's and not of its training; one of the training that
 * this run keeps, and not one that an earlier run on the store left there. */
weir_status train_add_slices(train_run *r, const char *array, const char *prefix) WEIR_CHECKED;
bool train_is_network(const char *array);
bool train_is_own(const train_run *r, const char *array);
extern const char *const train_digests[TRAIN_GRAPHS]; /* names of the arrays */
#endif
