/* graph.h - the graphs of a training. */
#ifndef TRAIN_GRAPH_H
#define TRAIN_GRAPH_H
#include "optim/weir_optim.h"
#include "train/weir_train.h"

struct train_shards;

enum { TRAIN_INPUTS = 16 };

/* The computation of a plan on a batch. */
typedef enum train_kind {
  TRAIN_STEP,     /* loss, gradient, update                                       */
  TRAIN_GRADIENT, /* loss; its gradient, weighted, is added to the bank           */
  TRAIN_APPLY,    /* update by the bank                                           */
  TRAIN_VALID,    /* loss and metrics                                             */
  TRAIN_LOSS,     /* the loss that TRAIN_LOOK derives, alone                      */
  TRAIN_LOOK,     /* loss and gradient as results                                 */
  TRAIN_CALIBRATE /* running statistics, by the weight "momentum" of the batch    */
} train_kind;

/* Context of the construction of a graph. */
typedef struct train_graph {
  const weir_train_task *task;
  weir_params *params;
  weir_store *store;
  const weir_optim_cfg *optim;       /* STEP, APPLY */
  const struct train_shards *shards; /* NULL: the flat buffer is one array */
  const weir_train_size *size;       /* of the samples; NULL: that of the task's inputs */
  weir_dtype dtype;                  /* of inputs that are floats; WEIR_DTYPE_COUNT: their own */
  bool tiles;                        /* weir_net.tiles */
  bool in_rows; /* GRADIENT: adds parameter by parameter, so that each is there early */
} train_graph;

/* Returns the inputs for samples of a size, or (NULL) of the task, and how many arrays each has. */
static inline const weir_train_input *train_inputs(const weir_train_task *task,
                                                   const weir_train_size *size)
{
  return size != NULL ? size->input : task->input;
}
static inline int64_t train_repeats(const weir_train_size *size)
{
  return size != NULL ? size->repeats : 1;
}

/* Builds the graph of a kind over `batch` samples (APPLY: 0); the caller destroys it. Fails:
 * builders' first error; WEIR_ERR_CONFIG (a parameter that the network does not use, a weight that
 * it does not mark); WEIR_ERR_SHAPE (the loss is no scalar). */
weir_status train_build(const train_graph *t, train_kind kind, int64_t batch,
                        weir_graph **out) WEIR_CHECKED;
/* Builds as train_build, and finds row [parameters]: the arrays of the parameters that the network
 * reads. Fails: likewise. */
weir_status train_build_rows(const train_graph *t, train_kind kind, int64_t batch, int32_t *row,
                             weir_graph **out) WEIR_CHECKED;
/* Appends the task's network to net's graph, over fresh inputs of `batch` samples. Fails: builders'
 * first error; WEIR_ERR_SHAPE. */
weir_status train_append(const train_graph *t, weir_net *net, int64_t batch,
                         weir_value *loss) WEIR_CHECKED;
#endif
