/* fine_tuning.h - a training that starts from the weights of an earlier one. */
#ifndef CF_FINE_TUNING_H
#define CF_FINE_TUNING_H
#include "estimator.h"

/* A training. All borrowed. */
typedef struct cf_fine_tuning {
  const char *network; /* as cf_note_model writes it */
  int scale;           /* cf_scale */
  const cf_volume_info *info;
  const char *truth;               /* digest as of cf_survey; "": not known */
  const char *trained, *validated; /* lists of universes as of cf_split_text */
  bool leads;                      /* the rank that warns */
} cf_fine_tuning;

/* Checks that the weights of a file can be what the training starts from: of the same network, on
 * samples of the same kind; where they were trained on the same samples, with the same universes to
 * train on and to validate with, since others would be scored as unseen although the file has seen
 * them. samples: [CF_NOTE_LINE], what the file was trained on; *truths: digests of the truth of
 * these samples and of those that the file itself was fine-tuned from, with spaces between; the
 * caller frees it. Fails: WEIR_ERR_CONFIG, as cf_weights_read, as cf_weights_fit. */
weir_status cf_fine_tuning_check(const cf_fine_tuning *is, const char *path, char *samples,
                                 char **truths) WEIR_CHECKED;
#endif
