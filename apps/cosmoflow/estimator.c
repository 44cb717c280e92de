/* estimator.c - see estimator.h. */
#include "estimator.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_log.h"
#include "model/mmd.h"
#include "nn/weir_loss.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"

const char *const cf_metric[][CF_MAX_METRICS] = {
    [CF_ESTIMATE] = {"mae", "mse"},
    [CF_SEGMENT] = {"accuracy", "mean_iou", "iou_0", "iou_1", "iou_2", "iou_3", "iou_4", "iou_5",
                    "iou_6", "iou_7", "iou_8", "iou_9", "iou_10", "iou_11", "iou_12", "iou_13"},
};

const char *cf_metric_present_name(const char *name)
{
  static const char former[] = "overlap"; /* followed by _k for a class */
  const char *const suffix = name + sizeof former - 1;

  if (strncmp(name, former, sizeof former - 1) != 0) {
    return name;
  }
  for (int k = 1; k < CF_MAX_METRICS; k++) {
    const char *const is = cf_metric[CF_SEGMENT][k];

    if (k == 1 ? *suffix == 0 : strcmp(suffix, is + strlen("iou")) == 0) {
      return is;
    }
  }
  return name;
}

/* Returns the mean of each sample x, of shape d: [n, 1, 1, 1, 1]. */
static weir_value mean_of_sample(weir_graph *g, const weir_array_desc *d, weir_value x)
{
  const weir_reduce_spec sample = {
      .combine = WEIR_COMBINE_SUM, .n_dims = 4, .dim = {1, 2, 3, 4}, .keep = true};
  const double n = (double)(d->shape[1] * d->shape[2] * d->shape[3] * d->shape[4]);

  return weir_scale(g, weir_reduce(g, &sample, x), 1 / n);
}

/* Counts as the network is given them, [n, depth, height, width, channels], f32 (f64 where the
 * gradient is checked). */
static weir_value scaled(weir_graph *g, int scale, weir_value x)
{
  const weir_array_desc *const d = weir_value_desc(g, x);

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  x = weir_dtype_is_real(d->dtype) ? x : weir_cast(g, WEIR_F32, x);
  switch ((cf_scale)scale) {
  case CF_SCALE_LOG:
    return weir_log(g, weir_add_scalar(g, x, 1));
  case CF_SCALE_MEAN:
    return weir_div(g, x, mean_of_sample(g, d, x));
  case CF_SCALE_LOG_DENSITY:
    return weir_sub(g, weir_log(g, weir_add_scalar(g, x, 1)),
                    weir_log(g, weir_add_scalar(g, mean_of_sample(g, d, x), 1)));
  default:
    return x;
  }
}

cf_truth cf_truth_of(const cf_model_opts *model, const cf_volume_info *info)
{
  return cf_model_net(model)->target != CF_SEGMENT ? CF_TRUTH_LABELS
         : info->n_classes > 0                     ? CF_TRUTH_CLASSES
                                                   : CF_TRUTH_NONE;
}

static cf_truth truth_of(const cf_estimator_spec *is)
{
  return cf_truth_of(is->model, is->info);
}

int64_t cf_estimator_classes(const cf_estimator_spec *is)
{
  return truth_of(is) == CF_TRUTH_CLASSES ? is->info->n_classes : CF_CLASSES;
}

/* Appends the output of the network for samples. */
static cf_made make(weir_net *net, const cf_estimator_spec *is, weir_value x)
{
  const int scale = is->scaled ? CF_SCALE_RAW : is->scale;
  int64_t outputs = is->info->n_labels;

  if (truth_of(is) != CF_TRUTH_LABELS) {
    outputs = cf_estimator_classes(is);
  }
  if (truth_of(is) == CF_TRUTH_NONE) {
    x = cf_segment_seen(net->graph, &is->model->segment, x);
  }
  return cf_model_apply(net, is->model, outputs, scaled(net->graph, scale, x));
}

/* Metrics of classes: [0] accuracy, [1] the mean IoU, then those of the classes. */
static void score_classes(weir_graph *g, const cf_estimator *e, weir_value made, weir_value truth)
{
  const char *const *const metric = cf_metric[CF_SEGMENT];
  const int classes = (int)cf_estimator_classes(&e->is);
  const weir_value predicted = cf_segment_classes(g, made);
  weir_value sum = weir_scalar(g, WEIR_F32, 0);

  weir_output(g, metric[0], cf_segment_accuracy(g, predicted, truth));
  for (int k = 0; k < classes; k++) {
    const weir_value iou = cf_segment_iou(g, predicted, truth, k);

    if (CF_METRICS + k < CF_MAX_METRICS) {
      weir_output(g, metric[CF_METRICS + k], iou);
    }
    sum = weir_add(g, sum, iou);
  }
  weir_output(g, metric[1], weir_scale(g, sum, 1.0 / classes));
}

/* Means over the samples of each label and its prediction, and of their squares: CF_MOMENTS for
 * each label. */
static const char *const moment[] = {
#define X(k) "predicted_" #k, "predicted2_" #k, "true_" #k, "true2_" #k
    X(0), X(1), X(2),  X(3),  X(4),  X(5),  X(6),  X(7),
    X(8), X(9), X(10), X(11), X(12), X(13), X(14), X(15),
#undef X
};
_Static_assert(sizeof moment / sizeof moment[0] == CF_MOMENTS * CF_MAX_LABELS, "of each label");

static weir_value mean_of(weir_graph *g, weir_value x, int64_t labels)
{
  return weir_scale(g, weir_loss_mean(g, x, WEIR_NO_VALUE), (double)labels);
}

/* Marks them; y, truth: [batch, labels]. */
static weir_status put_moments(weir_graph *g, const cf_estimator *e, weir_value y, weir_value truth)
{
  const weir_array_desc *const d = weir_value_desc(g, y);
  const int64_t labels = e->is.info->n_labels;
  weir_tensor mask;

  if (d == NULL) {
    return weir_graph_status(g);
  }
  const weir_dtype dtype = d->dtype; /* f64 where the gradient is checked */

  for (int64_t k = 0; k < labels; k++) {
    WEIR_TRY(weir_tensor_init(&mask, WEIR_F32, 1, &labels));
    for (int64_t i = 0; i < labels; i++) {
      ((float *)mask.data)[i] = i == k ? 1 : 0;
    }
    const weir_value one = weir_cast(g, dtype, weir_constant(g, &mask)), of[] = {y, truth};

    weir_tensor_fini(&mask);
    for (int i = 0; i < 2; i++) {
      const weir_value x = weir_mul(g, of[i], one);

      weir_output(g, moment[CF_MOMENTS * k + 2 * i], mean_of(g, x, labels));
      weir_output(g, moment[CF_MOMENTS * k + 2 * i + 1], mean_of(g, weir_mul(g, x, x), labels));
    }
  }
  return WEIR_OK;
}

/* Metrics of the estimates. */
static weir_status score_labels(weir_graph *g, const cf_estimator *e, const cf_made *made,
                                weir_value truth, bool train)
{
  const char *const *const metric = cf_metric[CF_ESTIMATE];
  const weir_value y = cf_model_estimate(g, e->is.model, e->is.info->n_labels, made);

  weir_output(g, metric[0], weir_loss_mae(g, y, truth, WEIR_NO_VALUE));
  weir_output(g, metric[1], weir_loss_mse(g, y, truth, WEIR_NO_VALUE));
  return train ? WEIR_OK : put_moments(g, e, y, truth);
}

static weir_status build(weir_net *net, const void *opts, const weir_value *in, weir_value *loss)
{
  const cf_estimator *const e = opts;
  const cf_estimator_spec *const is = &e->is;
  weir_graph *g = net->graph;
  const bool adapts = is->adapt != NULL && net->train;
  cf_made made = make(net, is, adapts ? cf_mmd_join(g, in[0], in[2]) : in[0]);
  const weir_value joined = made.y;
  weir_value truth = in[1];

  made.y = adapts ? cf_mmd_source(g, joined) : joined;

  switch (truth_of(is)) {
  case CF_TRUTH_LABELS:
    WEIR_TRY(score_labels(g, e, &made, truth, net->train));
    break;
  case CF_TRUTH_CLASSES:
    truth = weir_cast(g, WEIR_I32, truth);
    score_classes(g, e, made.y, truth);
    break;
  default:
    truth = cf_segment_truth(g, &is->model->segment, in[0]);
    score_classes(g, e, made.y, truth);
  }
  *loss = cf_model_loss(g, is->model, &made, truth, WEIR_NO_VALUE);
  if (adapts) {
    const weir_real_list *const b = &is->adapt->bandwidths;

    *loss = weir_add(
        g, *loss, weir_scale(g, cf_mmd_square(g, b->items, b->count, joined), is->adapt->weight));
  }
  return weir_graph_status(g);
}

static bool is_constant(const double m[CF_MOMENTS])
{
  const double predicted = m[1] - m[0] * m[0], truth = m[3] - m[2] * m[2];

  /* Above the rounding of f32 sums; labels that hardly vary have predictions that hardly do. */
  return predicted < 4e-6 * (1 + m[0] * m[0]) && truth > 2.5e-3;
}

void cf_estimator_warn(const cf_volume_info *info, int64_t step, const double *moments,
                       bool warned[CF_MAX_LABELS])
{
  for (int64_t k = 0; k < info->n_labels; k++) {
    const double *const m = moments + CF_MOMENTS * k;
    char name[CF_MAX_NAME];

    if (!is_constant(m) || warned[k]) {
      continue;
    }
    (void)snprintf(name, sizeof name, "label %lld", (long long)k + 1);
    weir_warn("train",
              "step %lld: the predictions of %s are the same for all validation samples (%.4g in "
              "[-1, 1]), whose labels vary: the network has learnt nothing of it; lower "
              "train.optim.schedule.lr if this persists, or set train.optim.clip.max_norm",
              (long long)step, info->label[k][0] != 0 ? info->label[k] : name, m[0]);
    warned[k] = true;
  }
}

weir_train_task cf_estimator_task(const cf_model_opts *model)
{
  const cf_net *const net = cf_model_net(model);

  return (weir_train_task){.name = net->name,
                           .metric = cf_metric[net->target],
                           .n_metrics = net->target == CF_SEGMENT ? CF_MAX_METRICS : CF_METRICS,
                           .n_train = -1,
                           .n_valid = -1};
}

static void set_inputs(cf_estimator *e)
{
  const cf_volume_info *const info = e->is.info;
  weir_train_input *const x = &e->input[0], *const y = &e->input[1];

  *x = (weir_train_input){.name = "x", .dtype = e->is.dtype, .rank = 4};
  memcpy(x->shape, info->lengths, sizeof info->lengths);
  for (int d = 0; d < 3; d++) {
    x->along[d] = (weir_along)(WEIR_ALONG_DEPTH + d);
  }
  *y = (weir_train_input){.name = "y", .dtype = WEIR_F32, .rank = 1, .shape = {info->n_labels}};
  if (truth_of(&e->is) == CF_TRUTH_CLASSES) {
    *y = *x;
    y->name = "y";
    y->dtype = WEIR_U8;
    y->rank = 3;
  }
  e->input[2] = *x;
  e->input[2].name = "target";
}

/* The sizes of the training; inputs are those of whole samples but for their side. */
static void set_sizes(cf_estimator *e)
{
  const cf_sizes_opts *const o = e->is.sizes;

  for (int64_t i = 0; cf_sizes_mixed(o) && i < o->sides.count; i++) {
    memcpy(e->size_input[i], e->input, sizeof e->input);
    e->size[i] = cf_sizes_of(o, i, e->is.info->lengths[0]);
    e->size[i].input = e->size_input[i];
    for (int d = 0; d < 3; d++) {
      e->size_input[i][0].shape[d] = e->size[i].side;
    }
  }
}

/* The first row in which two networks differ, or NULL. */
static const weir_param_row *other_row(const weir_params *a, const weir_params *b)
{
  for (int64_t i = 0; i < weir_params_count(a); i++) {
    const weir_param_row *const x = weir_params_get(a, i);
    const int64_t j = weir_params_find(b, x->name);
    const weir_param_row *const y = j >= 0 ? weir_params_get(b, j) : NULL;

    if (y == NULL || y->rank != x->rank || memcmp(y->shape, x->shape, sizeof x->shape) != 0) {
      return x;
    }
  }
  return NULL;
}

/* Checks that the network has the same weights for cubes of that side. */
static weir_status check_size(const cf_estimator *e, int64_t side)
{
  cf_volume_info info = *e->is.info;
  cf_estimator_spec spec = e->is;
  cf_estimator small;

  info.lengths[0] = info.lengths[1] = info.lengths[2] = side;
  spec.info = &info;
  spec.sizes = NULL;
  WEIR_TRY(cf_estimator_open(&spec, 0, &small));
  const weir_param_row *row = other_row(small.params, e->params);

  row = row == NULL ? other_row(e->params, small.params) : row;
  const weir_status status =
      row == NULL
          ? WEIR_OK
          : weir_fail(WEIR_ERR_CONFIG,
                      "data.sizes.sides: %lld: the network %s has other weights (%s) on cubes of "
                      "that side than on samples of %lld: model.net.%s needs global_mean: true, "
                      "and a number of blocks or pools",
                      (long long)side, e->task.name, row->name, (long long)e->is.info->lengths[0],
                      e->task.name);

  cf_estimator_close(&small);
  return status;
}

static void ignore_moments(void *context, int64_t step, const double *moments)
{
  (void)context;
  (void)step;
  (void)moments;
}

static int count_metrics(const cf_estimator *e)
{
  const int64_t classes = truth_of(&e->is) == CF_TRUTH_LABELS ? 0 : cf_estimator_classes(&e->is);

  return (int)(CF_METRICS + classes < CF_MAX_METRICS ? CF_METRICS + classes : CF_MAX_METRICS);
}

static weir_status set_up(cf_estimator *e, int64_t seed)
{
  static const char *const name[] = {
#define X(name) #name,
      CF_NOTE_LIST(X)
#undef X
  };
  const cf_net *const net = cf_model_net(e->is.model);
  cf_loss loss;

  WEIR_TRY(cf_model_loss_kind(e->is.model, &loss));
  set_inputs(e);
  for (int k = 0; k < CF_NOTES; k++) {
    e->note[k] = (weir_note){name[k], e->is.note[k]};
  }
  e->task = (weir_train_task){
      .name = net->name,
      .dtype = WEIR_F32,
      .input = e->input,
      .n_inputs = truth_of(&e->is) == CF_TRUTH_NONE ? 1
                  : e->is.adapt == NULL             ? 2
                                                    : 3,
      .opts = e,
      .build = build,
      .metric = cf_metric[net->target],
      .n_metrics = count_metrics(e),
      .metrics_grow = net->target == CF_SEGMENT,
      .moment = moment,
      .n_moments = truth_of(&e->is) == CF_TRUTH_LABELS ? CF_MOMENTS * (int)e->is.info->n_labels : 0,
      .validated = ignore_moments,
      .note = e->note,
      .n_notes = e->is.note[0] != NULL ? CF_NOTES : 0};
  WEIR_TRY(weir_params_create(WEIR_F32, &e->params));
  WEIR_TRY(weir_store_create(&e->store));
  WEIR_TRY(weir_train_prepare(&e->task, seed, e->params, e->store));
  if (!cf_sizes_mixed(e->is.sizes)) {
    return WEIR_OK;
  }
  set_sizes(e);
  e->task.size = e->size;
  e->task.n_sizes = (int)e->is.sizes->sides.count;
  e->task.calibrate = e->is.sizes->calibrate;
  for (int i = 0; i < e->task.n_sizes; i++) {
    WEIR_TRY(check_size(e, e->size[i].side));
  }
  return WEIR_OK;
}

weir_status cf_estimator_open(const cf_estimator_spec *spec, int64_t seed, cf_estimator *out)
{
  *out = (cf_estimator){.is = *spec};
  const weir_status status = set_up(out, seed);

  if (status != WEIR_OK) {
    cf_estimator_close(out);
  }
  return status;
}

void cf_estimator_close(cf_estimator *e)
{
  weir_params_destroy(&e->params);
  weir_store_destroy(&e->store);
}

/* The network on the input x, which *x becomes. */
static weir_value append(const cf_estimator *e, int64_t batch, weir_graph *g, weir_value *x)
{
  weir_array_desc d = {.dtype = e->is.dtype, .rank = 5, .shape = {batch}};
  weir_net net;

  memcpy(d.shape + 1, e->is.info->lengths, sizeof e->is.info->lengths);
  weir_net_init(&net, g, e->params, false);
  *x = weir_input(g, "x", &d);
  const weir_value y = make(&net, &e->is, *x).y;

  weir_net_fini(&net);
  return y;
}

weir_status cf_estimator_append(const cf_estimator *e, int64_t batch, weir_graph *g)
{
  weir_value x;
  const weir_value y = append(e, batch, g, &x);

  if (y.node >= 0) {
    weir_output(g, "y", y);
  }
  return weir_graph_status(g);
}

/* Numbers of classes as they are written. */
static void put_classes(weir_graph *g, const char *name, weir_value classes)
{
  if (weir_value_desc(g, classes) != NULL) {
    weir_output(g, name, weir_cast(g, WEIR_U8, classes));
  }
}

static void put_probability(weir_graph *g, weir_value logits)
{
  weir_reduce_spec over = {.combine = WEIR_COMBINE_MAX, .n_dims = 1, .dim = {4}, .keep = true};
  const weir_value max = weir_reduce(g, &over, logits);
  const weir_value shifted = weir_exp(g, weir_sub(g, logits, max));

  over.combine = WEIR_COMBINE_SUM;
  weir_output(g, "probability", weir_div(g, shifted, weir_reduce(g, &over, shifted)));
}

weir_status cf_estimator_append_maps(const cf_estimator *e, int64_t batch, bool probabilities,
                                     weir_graph *g)
{
  const cf_segment_opts *const o = &e->is.model->segment;
  weir_value x;
  const weir_value y = append(e, batch, g, &x);

  if (y.node < 0) {
    return weir_graph_status(g);
  }
  put_classes(g, "classes", cf_segment_classes(g, y));
  if (truth_of(&e->is) == CF_TRUTH_NONE) {
    cf_segment_opts adjacent = *o;

    adjacent.channel += o->channel + 1 < e->is.info->lengths[3] ? 1 : -1;
    put_classes(g, "truth", cf_segment_truth(g, o, x));
    put_classes(g, "before", cf_segment_truth(g, &adjacent, x));
  }
  if (probabilities) {
    put_probability(g, y);
  }
  return weir_graph_status(g);
}
