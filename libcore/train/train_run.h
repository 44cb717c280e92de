/* train_run.h - what a run of a training has. */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H
#include "optim/weir_exchange.h"
#include "train/graph.h"
#include "train/grid/distribution.h"

enum { TRAIN_METRICS = 16, TRAIN_TIMED = 15 };

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

/* Memory of these arrays. */
typedef struct train_state {
#define X(name, type, dtype) type *name;
  TRAIN_STATE_LIST(X)
#undef X
} train_state;

/* What the run computes, as digests of graphs that its checkpoints have and its resumption has to
 * have too: arrays "train.<name>" of u8. */
enum { TRAIN_NETWORK, TRAIN_UPDATE, TRAIN_GRAPHS, TRAIN_HEX = 64 };

/* A plan, and what it is of. */
typedef struct train_plan {
  train_kind kind;
  int64_t batch;
  const weir_train_size *size; /* of the samples; NULL: that of the task's inputs */
  weir_plan *plan;
} train_plan;

/* An array of the network (the parameters, a buffer) and its copies. */
typedef struct train_array {
  const char *name, *best; /* of the store; best: NULL, not kept */
} train_array;

/* What a rank does, in the order of train_activity_name. */
typedef enum train_activity {
  TRAIN_PLANS, /* makes a plan, when it is first needed */
  TRAIN_LOADS,
  TRAIN_COMPUTES,  /* plans, with the messages inside */
  TRAIN_EXCHANGES, /* by the policy */
  TRAIN_MEETS,     /* agreement on errors and signals, and averages of replicas */
  TRAIN_SAVES,     /* checkpoints, and comparisons of weights */
  TRAIN_ACTIVITIES
} train_activity;

/* An activity of one rank. */
typedef struct train_interval {
  double begin, end, waited; /* seconds; waited: of them for messages */
  int64_t step, activity;    /* step: the one under way, from 1 */
} train_interval;

/* A time, and the seconds waited for messages until then. */
typedef struct train_moment {
  double time, waited;
} train_moment;

/* Activities of this rank: a ring of the last ones, and sums over the run. */
enum { TRAIN_STAMPS = 9 };
typedef struct train_timeline {
  train_interval *ring; /* [capacity] of which n % capacity is the next */
  int64_t capacity, n;
  double seconds[TRAIN_ACTIVITIES], waited[TRAIN_ACTIVITIES];
  double stamp[TRAIN_STAMPS]; /* times at which all ranks have met, on the clock of this one */
  int64_t sent, sent_bytes;   /* messages of the communicator before the run */
} train_timeline;

/* A run, from train_run_of to train_run_close. Task, cfg, params, store and dir are borrowed. */
typedef struct train_run {
  const weir_train_task *task;
  const weir_train_cfg *cfg;
  weir_plan_opts exec;
  train_ranks ranks;
  train_timeline timeline;
  weir_exchange exchange; /* of gradients or weights; open in a run on several ranks */
  weir_store *kept;       /* rank 0: what the policy keeps, of all ranks, while a checkpoint is
                             written, or from one that was read; else NULL */
  weir_params *params;
  weir_store *store;
  const char *dir, *rule; /* rule: its name */
  int64_t seed;           /* of weights and dropout */
  int64_t model; /* number among networks that train as one graph, from 1; 0: the only one */
  char digest[TRAIN_GRAPHS][TRAIN_HEX + 1];
  char initial[TRAIN_HEX + 1]; /* of the file of initial weights; "": they are random */
  train_graph graph;           /* .size: of the samples of the step that is computed */
  train_state state;
  train_array *array;
  bool keeps;    /* values before this step are kept */
  bool averages; /* a running average of the parameters is kept */
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
  int64_t own;                        /* samples of the last step that its loss is the mean of */
  bool met;                           /* replicas are equal, since the last step */
  double epoch_began;
  double spent_s, timed_s[TRAIN_TIMED]; /* by plans of this step; of those that are timed .. */
  int n_timed;                          /* .. and how many there were                        */
  double step_s;                        /* their median, NaN: not known                      */
} train_run;
#endif
