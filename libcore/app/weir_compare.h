/* weir_compare.h - a network trained under exchange policies on simulated ranks: the validation
 * loss over simulated time. The gradients and the messages are real; a step takes the time that the
 * program says, messages take that of the network. */
#ifndef WEIR_COMPARE_H
#define WEIR_COMPARE_H
#include <stdio.h>
#include "place/weir_scaling.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A training, on one of its ranks. */
typedef struct weir_compare_rank {
  weir_comm *comm;      /* all ranks of the training */
  weir_one_of exchange; /* the policy with its options: for train.optim.exchange */
  int64_t run;          /* of several that differ in what is drawn, from 0: for the seeds */
  const char *dir;      /* for the checkpoints; removed with them in the end */
  double computed_s;    /* so far, by weir_compare_compute */
} weir_compare_rank;

/* What is trained, and under what. All borrowed. */
typedef struct weir_compare_spec {
  const weir_scaling_cfg *cfg; /* ranks, policies (empty: all), runs, network; the rest is unread */
  const weir_one_of *exchange; /* of the configuration: the options of that policy */
  double target; /* validation loss to which times are measured; 0: see weir_compared */
  /* Called once, before the first training, when `folder` is there. NULL: not called. */
  weir_status (*prepare)(void *context);
  /* Trains on a rank by weir_train_run, with the seed of the run. Steps take time where it calls
   * weir_compare_compute, in weir_train_task.batch. Collective; a failure ends all ranks. */
  weir_status (*train)(weir_compare_rank *rank, void *context);
  void *context;
  const char *folder; /* created for the trainings, and removed with its contents */
} weir_compare_spec;

/* A validation of a training. */
typedef struct weir_compared_point {
  int row, run;
  int64_t step, index; /* index: of the validations of its run, from 0 */
  double seconds;      /* on the clock of the simulated ranks */
  double loss;
} weir_compared_point;

/* A rank of a training. */
typedef struct weir_compared_rank {
  int row, run, rank;
  double computed_s; /* by weir_compare_compute */
  double seconds;    /* until its end */
} weir_compared_rank;

/* A policy on a number of ranks. Means over the runs. */
typedef struct weir_compared_row {
  const weir_exchange_desc *policy;
  int ranks;
  double loss, loss_std;      /* of the last validation; std: between runs, NaN of one run */
  double seconds;             /* of a whole training */
  int64_t reached;            /* runs with a validation loss of at most the target .. */
  double reach_s, reach_step; /* .. when they first had it; NaN: none */
  double in_time;             /* fraction of contributions in the exchange of their own step */
  double sent_bytes;          /* by a rank in a step */
  double waiting;             /* fraction of the time of ranks in which they do not compute */
} weir_compared_row;

/* Results; free with weir_compared_fini. */
typedef struct weir_compared {
  weir_int_list ranks; /* borrowed from the configuration */
  int64_t runs;
  weir_compared_row *row; /* [n], by policies, then ranks in the order of the configuration */
  int n;
  weir_compared_point *point; /* [n_points] by rows, runs and steps */
  int64_t n_points, point_capacity;
  weir_compared_rank *rank; /* [n_ranks] by rows, runs and ranks */
  int64_t n_ranks, rank_capacity;
  double target;         /* given; else the mean loss at the end of target_of, plus its standard
                            deviation where there are several runs */
  const char *target_of; /* NULL: it is given */
} weir_compared;

/* Checks that the policies of the section exist. Fails: WEIR_ERR_CONFIG, naming those there are. */
weir_status weir_compare_check(const weir_scaling_cfg *cfg) WEIR_CHECKED;
/* Trains under each policy on each number of ranks, cfg->runs times; a policy that refuses a number
 * of ranks (WEIR_ERR_CONFIG) has no row there, and a warning says why. Emits an event `training`
 * before each, and logs its end. *out: for weir_compared_fini, also after a failure. Local; uses a
 * thread for each rank, of which one runs at a time. Fails: WEIR_ERR_CONFIG (no policy trains),
 * WEIR_ERR_DATA (no validation); as prepare and train; as weir_inproc_run. */
weir_status weir_compare_run(const weir_compare_spec *spec, weir_compared *out) WEIR_CHECKED;
void weir_compared_fini(weir_compared *c);
/* Takes so many seconds of computing on the clock of the ranks. Local. Fails: as weir_inproc_sleep.
 */
weir_status weir_compare_compute(weir_compare_rank *rank, double seconds) WEIR_CHECKED;

/* Prints the rows as a table. */
void weir_compared_print(const weir_compared *c, FILE *out);
/* Writes compare.csv, losses.csv, computing.csv and report.html into the folder. title: of the
 * page; step: what a step takes, "takes each of them 0.1 s". Fails: as weir_report_commit. */
weir_status weir_compared_write(const weir_compared *c, const char *title, const char *step,
                                const char *dir) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
