/* classifier.h - a network that tells atrial fibrillation from sinus rhythm in recordings of any
 * length, as a training task.
 *
 * Inputs, f32: x [windows, samples, 1] in mV; present [windows, 1, 1], 1 where the recording has
 * the window and 0 after its end; y [1], 1 of atrial fibrillation. Three convolutions over the
 * samples of each window by itself; the mean of their features over the samples of the windows that
 * the recording has; a hidden layer; a logit. What x is where `present` is 0 never matters, be it
 * NaN, and every recording counts as one, whatever its length. */
#ifndef PS_CLASSIFIER_H
#define PS_CLASSIFIER_H
#include "rhythm/recordings.h"
#include "train/weir_train.h"

enum { PS_CLASSIFIER_X, PS_CLASSIFIER_PRESENT, PS_CLASSIFIER_Y, PS_CLASSIFIER_INPUTS };

/* Not to be moved: the task points into it. */
typedef struct ps_classifier {
  int64_t filters, hidden;
  weir_params *params;
  weir_store *store;
  weir_train_input input[PS_CLASSIFIER_INPUTS];
  weir_train_task task; /* its context: the recordings */
} ps_classifier;

/* Returns the task for weir_train_suits: name, metrics, and the numbers of recordings. */
weir_train_task ps_classifier_task(const ps_rhythm_opts *o);
/* Declares the network for recordings of up to `windows` windows and initialises its weights. r is
 * borrowed. *out: for ps_classifier_close, also after a failure. Fails: as weir_train_prepare. */
weir_status ps_classifier_open(const ps_rhythm_opts *o, ps_recordings *r, int64_t windows,
                               int64_t seed, ps_classifier *out) WEIR_CHECKED;
void ps_classifier_close(ps_classifier *c);
/* Fills the inputs with recordings: weir_train_task.fetch, context: a ps_recordings. Padding is 0.
 */
weir_status ps_classifier_fetch(void *context, const weir_train_batch *want,
                                weir_tensor *const *tensor) WEIR_CHECKED;
#endif
