/* ranks_check.h - a small task in space: two numbers of a volume, learnt by convolutions, pooling,
 * dense layers and dropout, of which each rank reads its own box. Tests only. */
#ifndef WEIR_RANKS_CHECK_H
#define WEIR_RANKS_CHECK_H
#include <stdio.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "nn/weir_layer.h"
#include "nn/weir_loss.h"
#include "nn/weir_norm.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "train/weir_train.h"

enum { VOLUME_CHANNELS = 2, VOLUME_OUTPUTS = 2 };

typedef struct volume {
  weir_dtype dtype;
  int64_t size[3]; /* voxels of a sample along depth, height and width */
  int blocks;      /* convolutions, each with pooling                  */
  bool norm;       /* over the batch in the first, over samples in the others */
  bool weighs;     /* batches count as much as the squares of their labels */
  double dropout;
  int64_t replicate_below[WEIR_ALONG_DIMS]; /* as in weir_train_task */
  int64_t fetched;                          /* calls for training samples                       */
  int64_t bad_sample;                       /* a voxel of this training sample is ..            */
  double bad_voxel;                         /* .. this number; 0: none                          */
  /* Called before training samples are read: for what goes wrong on one rank. */
  weir_status (*before)(struct volume *v);
  void *context;
  weir_train_input input[2];
} volume;

static inline weir_status volume_build(weir_net *net, const void *opts, const weir_value *in,
                                       weir_value *loss)
{
  const volume *v = opts;
  weir_graph *g = net->graph;
  const int64_t n = weir_value_desc(g, in[0])->shape[0];
  weir_value x = in[0];
  char name[32];

  for (int i = 0; i < v->blocks; i++) {
    (void)snprintf(name, sizeof name, "block%d", i + 1);
    weir_net_push(net, name);
    x = weir_nn_conv(net, "conv",
                     (&(weir_nn_conv_spec){.filters = 3 + i,
                                           .kernel_size = {3, 3, 3},
                                           .activation = {WEIR_ACTIVATION_LEAKY_RELU, 0.3},
                                           .no_decay = true}),
                     x);
    x = v->norm
            ? weir_nn_norm(
                  net, "norm",
                  (&(weir_nn_norm_spec){.kind = i == 0 ? WEIR_NORM_BATCH : WEIR_NORM_INSTANCE}), x)
            : x;
    x = weir_pool_max(g, &((weir_pool_spec){.combine = WEIR_COMBINE_MAX, .kernel_size = {2, 2, 2}}),
                      x);
    weir_net_pop(net);
  }
  x = weir_reshape(g, x, &((weir_reshape_spec){.rank = 2, .shape = {n, -1}}));
  x = weir_nn_dense(
      net, "dense1",
      (&(weir_nn_dense_spec){.units = 6, .activation = {WEIR_ACTIVATION_LEAKY_RELU, 0.3}}), x);
  x = weir_nn_dropout(net, "dropout1", (&(weir_nn_dropout_spec){.rate = v->dropout}), x);
  x = weir_nn_dense(net, "dense2", (&(weir_nn_dense_spec){.units = VOLUME_OUTPUTS}), x);
  *loss = weir_label(g, weir_loss_mse(g, x, in[1], WEIR_NO_VALUE), "mean square");
  if (v->weighs) {
    weir_output(g, "importance", weir_sum(g, weir_square(g, in[1]), -1));
  }
  weir_output(g, "mae", weir_loss_mae(g, x, in[1], WEIR_NO_VALUE));
  return weir_graph_status(g);
}

static inline void volume_store(weir_tensor *t, int64_t at, double x)
{
  if (t->dtype == WEIR_F64) {
    ((double *)t->data)[at] = x;
  } else {
    ((float *)t->data)[at] = (float)x;
  }
}

/* Voxels are noise times an amplitude along depth and width; the labels are the amplitudes. */
static inline weir_status volume_fetch(void *context, const weir_train_batch *want,
                                       weir_tensor *const *tensor)
{
  volume *v = context;
  const uint64_t purpose = want->split == WEIR_VALID_SAMPLES;
  const weir_box *box = want->box;
  int64_t at = 0;

  v->fetched += purpose == 0;
  if (v->before != NULL && want->split == WEIR_TRAIN_SAMPLES) {
    WEIR_TRY(v->before(v));
  }
  for (int64_t i = 0; i < want->n; i++) {
    double label[VOLUME_OUTPUTS];

    for (int k = 0; k < VOLUME_OUTPUTS; k++) {
      label[k] = 2 * weir_random_uniform(7, (uint32_t)purpose, 0,
                                         (uint64_t)(want->sample[i] * VOLUME_OUTPUTS + k)) -
                 1;
      volume_store(tensor[1], i * VOLUME_OUTPUTS + k, label[k]);
    }
    for (int64_t z = box->lo[0]; z < box->hi[0]; z++) {
      for (int64_t y = box->lo[1]; y < box->hi[1]; y++) {
        for (int64_t w = box->lo[2]; w < box->hi[2]; w++) {
          for (int64_t c = 0; c < VOLUME_CHANNELS; c++) {
            const int64_t voxel =
                (((want->sample[i] * v->size[0] + z) * v->size[1] + y) * v->size[2] + w) *
                    VOLUME_CHANNELS +
                c;
            double x = weir_random_uniform(8, (uint32_t)purpose, 0, (uint64_t)voxel) +
                       label[0] * (double)(z % 2) + label[1] * (double)(w % 3);

            if (v->bad_voxel != 0 && purpose == 0 && want->sample[i] == v->bad_sample &&
                z == v->size[0] - 1 && y == 0 && w == 0) {
              x = v->bad_voxel;
            }
            volume_store(tensor[0], at++, x);
          }
        }
      }
    }
  }
  return WEIR_OK;
}

static inline weir_train_task volume_task(volume *v, int64_t n_train, int64_t n_valid)
{
  static const char *const metrics[] = {"mae"};

  v->input[0] = (weir_train_input){
      .name = "x",
      .dtype = v->dtype,
      .rank = 4,
      .shape = {v->size[0], v->size[1], v->size[2], VOLUME_CHANNELS},
      .along = {WEIR_ALONG_DEPTH, WEIR_ALONG_HEIGHT, WEIR_ALONG_WIDTH},
  };
  v->input[1] =
      (weir_train_input){.name = "y", .dtype = v->dtype, .rank = 1, .shape = {VOLUME_OUTPUTS}};
  weir_train_task task = {.name = "volume",
                          .dtype = v->dtype,
                          .input = v->input,
                          .n_inputs = 2,
                          .n_train = n_train,
                          .n_valid = n_valid,
                          .opts = v,
                          .build = volume_build,
                          .metric = metrics,
                          .n_metrics = 1,
                          .weight = v->weighs ? "importance" : NULL,
                          .fetch = volume_fetch,
                          .context = v};

  memcpy(task.replicate_below, v->replicate_below, sizeof task.replicate_below);
  return task;
}
#endif
