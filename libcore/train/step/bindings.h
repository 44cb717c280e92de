/* bindings.h - inputs and results of a plan. */
#ifndef TRAIN_BINDINGS_H
#define TRAIN_BINDINGS_H
#include "train/graph.h"

/* Scalar inputs of a plan in addition to samples; each kind reads some. */
typedef struct train_numbers {
  int64_t draw, step; /* key of random numbers; number of the update */
  double lr, weight;  /* of the gradient of this batch; where the task weighs, of the sum */
  double momentum;    /* weight of the batch in running statistics */
  bool last;          /* of the batches whose gradients are added up: their sum may be exchanged */
} train_numbers;

/* Memory of the bindings of one run of a plan. */
typedef struct train_bindings {
  weir_tensor tensor[TRAIN_INPUTS + 6];
  weir_binding binding[TRAIN_INPUTS + 6];
  int64_t seed, draw, step;
  double lr, weight, momentum;
} train_bindings;

/* Binds all that a plan of that kind reads, where this rank has n of the samples, of a size (NULL:
 * the task's), in input [inputs]; b->binding refers to b and to the samples. Returns the number of
 * bindings. */
int train_bind(const weir_train_task *task, const weir_train_size *size, const weir_tensor *input,
               int64_t seed, train_kind kind, int64_t n, const train_numbers *x, train_bindings *b);
/* Returns the first n samples of input k of a batch, of a size (NULL: that of the tensor), as a
 * view. */
weir_tensor train_first_samples(const weir_tensor *t, const weir_train_size *size, int k,
                                int64_t n);
/* Reads a scalar result. Fails: WEIR_ERR_SHAPE; as weir_plan_result. */
weir_status train_number(const weir_plan *plan, const char *name, double *x) WEIR_CHECKED;
#endif
