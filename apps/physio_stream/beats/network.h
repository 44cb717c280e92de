/* network.h - a small network that gives the class of a beat from the signal around it and its
 * intervals, and its file of weights.
 *
 * Three convolutions (kernels of 7, 5 and 5 samples; `filters`, twice and twice as many channels;
 * ReLU), each followed by the maximum of pairs of samples; the result and the features of the beat,
 * standardised by mean and standard deviation of those trained on, enter a hidden layer (ReLU),
 * then a logit for each class. The file says what the network is for: its array `beat_network` has
 * the numbers of ps_beat_network. */
#ifndef PS_BEATS_NETWORK_H
#define PS_BEATS_NETWORK_H
#include "beats/window.h"
#include "exec/weir_plan.h"
#include "model/beat_features.h"
#include "nn/weir_net.h"

#define PS_BEAT_NETWORK_ARRAY "beat_network"
/* The logit of a class that is not learnt: finite, so that a weight of 0 makes a loss of 0. */
#define PS_BEAT_NEVER (-1e9F)
/* Most leads, and fewest and most samples of a window. */
enum { PS_BEAT_LEADS = 12, PS_BEAT_SAMPLES_MIN = 16, PS_BEAT_SAMPLES_MAX = 4096 };

/* What a network takes, and its size. The first `features` of ps_beat_feature: the three intervals,
 * or all. */
typedef struct ps_beat_network {
  ps_beat_window window;
  int64_t leads, features;
  int64_t filters, hidden;
  double dropout;          /* of the hidden layer, while it is trained */
  bool learnt[PS_CLASSES]; /* no beat is of another class */
} ps_beat_network;

/* Appends the network: logits [n, PS_CLASSES] of x [n, samples, leads] and the features f [n,
 * features]. A class that is not learnt has the logit -1e9. */
weir_value ps_beat_network_build(weir_net *net, const ps_beat_network *n, weir_value x,
                                 weir_value f);
/* Writes mean and standard deviation of the features into the store of a network's arrays. Fails:
 * WEIR_ERR_CONFIG where it has none. */
weir_status ps_beat_network_standardise(weir_store *store, const ps_beat_network *n,
                                        const double *mean, const double *sd) WEIR_CHECKED;
/* Adds the array that says what the network is for. Fails: as weir_store_add. */
weir_status ps_beat_network_add_header(weir_store *store, const ps_beat_network *n) WEIR_CHECKED;

/* A network of a file, with a plan for one beat. That of an ONNX file may have any layers: filters,
 * hidden and dropout of `is` are 0 then, and it may have no features. */
typedef struct ps_beat_classifier {
  ps_beat_network is;
  int feature[PS_FEATURES]; /* ps_beat_feature of each of is.features */
  weir_params *params;      /* NULL of an ONNX file, as the store */
  weir_store *store;
  weir_graph *graph;
  weir_plan *plan;
  weir_tensor x, f, logits; /* [1, samples, leads], [1, features], [1, PS_CLASSES] */
} ps_beat_classifier;

/* Returns whether `path` is a file of weights of this suite, by its suffix; else it is ONNX. */
bool ps_beat_is_weights(const char *path);
/* Opens the weights of `path`; an ONNX file: ps_beat_onnx_open. *out: for ps_beat_classifier_close,
 * also after a failure. Fails: WEIR_ERR_DATA for a file that is not there or damaged,
 * WEIR_ERR_SHAPE for weights of another network, WEIR_ERR_UNSUPPORTED, WEIR_ERR_MEMORY. */
weir_status ps_beat_classifier_open(const char *path, ps_beat_classifier *out) WEIR_CHECKED;
/* Makes memory and plan of the network that c->graph computes, by c->is. Fails: as
 * weir_plan_create. */
weir_status ps_beat_classifier_plan(ps_beat_classifier *c) WEIR_CHECKED;
void ps_beat_classifier_close(ps_beat_classifier *c);
/* Computes the logits of the beat that is in c->x and c->f. Fails: as weir_plan_run. */
weir_status ps_beat_classifier_run(const ps_beat_classifier *c) WEIR_CHECKED;
/* Returns the class with the largest of the logits, a ps_beat_class; the first of equal ones. */
int ps_beat_classifier_class(const ps_beat_classifier *c);
#endif
