/* apply.h - the network of beats in a stream: a call that runs it on the window of each beat. */
#ifndef PS_BEATS_APPLY_H
#define PS_BEATS_APPLY_H
#include "beats/network.h"
#include "stream/weir_series.h"

/* What the call is given. Without `features` (NULL) the last streams after the leads are those that
 * the network takes, in its order; of a network without features, one that is present at beats. */
typedef struct ps_beat_streams {
  const weir_series *leads;    /* [n_leads], ECG in mV, of one rate */
  const weir_series *features; /* [PS_FEATURES] of that rate, present at beats */
  const char *const *name;     /* of the leads; NULL where features are given */
  int n_leads;
} ps_beat_streams;

/* Appends the call with the network of the file `path`. out: the logits of the classes of each
 * beat whose window has no gap. Memory: the window of the beat, and the plan of the network. Fails:
 * as ps_beat_classifier_open and ps_beat_onnx_open; WEIR_ERR_CONFIG for another number of leads or
 * features than the network has, a feature in the place of another, rates that differ or another
 * unit than mV. */
weir_status ps_beat_apply(const weir_series_use *use, const char *path, const ps_beat_streams *in,
                          weir_series out[PS_CLASSES]) WEIR_CHECKED;
/* Makes probabilities of logits: exp(l - m) over their sum, m the largest. */
void ps_beat_probabilities(weir_graph *g, const weir_series *logit, weir_series out[PS_CLASSES]);
/* Makes of PS_CLASSES streams of scores the number of the class with the largest, 1 to PS_CLASSES;
 * the first of equal ones. */
weir_series ps_beat_best(weir_graph *g, const weir_series *score);
#endif
