/* task.h - the network of beats as a training task: beats with their windows, features and classes.
 *
 * Inputs of a beat: x [samples, leads], f [features], y (its class), and class_weight, f32. The
 * loss is the cross entropy of the classes, a mean weighted with class_weight, the metric
 * `accuracy` that of the class found, weighted alike. */
#ifndef PS_BEATS_TASK_H
#define PS_BEATS_TASK_H
#include "beats/network.h"
#include "beats/options.h"
#include "eval/classes.h"
#include "train/weir_train.h"

/* Makes of the options what a network takes; no class is learnt yet. Fails: WEIR_ERR_CONFIG, naming
 * the option. */
weir_status ps_beat_network_of(const ps_beat_network_opts *o, ps_beat_network *out) WEIR_CHECKED;

/* Beats and their windows, [n, samples, leads]. Borrowed. */
typedef struct ps_beat_set {
  const ps_labelled *beat;
  const float *window;
} ps_beat_set;

/* The beats of a training, by number: those learnt from, then those of the validation. Borrowed. */
typedef struct ps_beat_split {
  const int64_t *beat;
  int64_t n_train, n_valid;
} ps_beat_split;

enum { PS_BEAT_X, PS_BEAT_F, PS_BEAT_Y, PS_BEAT_WEIGHT, PS_BEAT_INPUTS };

enum { PS_BEAT_DIGEST = 64 };
/* Not to be moved: the task points into it. */
typedef struct ps_beat_training {
  ps_beat_network is;
  ps_beat_set set;
  ps_beat_split split;
  int64_t beats[PS_CLASSES];       /* learnt from */
  double class_weight[PS_CLASSES]; /* n / (K n_c) of n beats of K classes, or 1; 0: not learnt */
  weir_params *params;
  weir_store *store;
  char digest[PS_BEAT_DIGEST + 1]; /* SHA-256 of the beats and their windows */
  weir_train_input input[PS_BEAT_INPUTS];
  weir_train_task task;
} ps_beat_training;

/* Returns the task for weir_train_suits: name and metrics; numbers of beats are not known. */
weir_train_task ps_beat_task(void);
/* Declares the network of the options for these beats and initialises it; a class with fewer than
 * min_beats beats to learn from is not learnt. *out: for ps_beat_training_close, also after a
 * failure. Fails: WEIR_ERR_DATA with fewer than two such classes; as ps_beat_network_of,
 * weir_train_prepare. */
weir_status ps_beat_training_open(const ps_beat_network_opts *o, const ps_beat_set *set,
                                  const ps_beat_split *split, int64_t min_beats, int64_t seed,
                                  ps_beat_training *out) WEIR_CHECKED;
/* Checks that what a run has resumed from was trained on these beats; fetch does so too. Fails:
 * WEIR_ERR_CONFIG. */
weir_status ps_beat_training_check(const ps_beat_training *t) WEIR_CHECKED;
void ps_beat_training_close(ps_beat_training *t);
#endif
