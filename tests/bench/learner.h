/* learner.h - a network with its loss, gradients and momentum as one plan on random data: what
 * train_step.c measures, and what
 * tests/integration/networks compares with PyTorch and under each pass. */
#ifndef WEIR_BENCH_LEARNER_H
#define WEIR_BENCH_LEARNER_H
#include "exec/weir_plan.h"
#include "nn/weir_net.h"

/* What is trained, and how. */
typedef struct learner_job {
  weir_value (*build)(weir_net *net, const void *opts, weir_value x); /* the network */
  const void *opts;
  /* Its loss; NULL: the mean squared error. */
  weir_value (*loss)(weir_graph *g, weir_value made, weir_value y);
  weir_array_desc x, y; /* of one batch, f32                */
  double rate;
  uint64_t seed; /* of parameters and data */
  const weir_exec_cfg *exec;
  int threads;
  bool sizes_only; /* the plan does not run */
  int64_t models;  /* that train as one graph (pass/models), model k with seed + k; 0: 1 */
} learner_job;

typedef struct learner {
  weir_graph *graph;     /* as built: forward, loss, gradients, update */
  int32_t forward_nodes; /* the network's own come first */
  weir_store *store;
  weir_params *params;
  weir_plan *plan;
  weir_store *fused;            /* of several models, which the plan is over; else NULL */
  weir_tensor x, y, loss, bank; /* bank: a view of the store's, [models, ..] of several */
  int64_t seed, step;           /* keys of random numbers, where */
  bool draws;                   /* the network draws any         */
} learner;

/* Builds and plans a step of the rule `momentum` with its defaults (share 0.9), which is PyTorch's
 * SGD. Data are uniform in [-1, 1]. Close it whatever is returned. */
weir_status learner_open(const learner_job *job, learner *t) WEIR_CHECKED;
void learner_close(learner *t);
/* Runs the step; its loss is of the parameters before it, of several models that of the first. */
weir_status learner_step(learner *t, double *loss) WEIR_CHECKED;

#endif
