/* fine_tuning.c - see fine_tuning.h. */
#include "fine_tuning.h"
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"

static weir_status check_network(const cf_fine_tuning *is, const char *path, const cf_weights *w)
{
  char *network = NULL;

  WEIR_TRY(cf_note_present(w->text[CF_NOTE_network], &network));
  const bool same = strcmp(network, is->network) == 0;

  weir_free(&network);
  if (!same) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train.initial_weights: %s has weights of another network (section model): "
                     "take that of its run, RUN/resolved.yaml",
                     path);
  }
  if (w->scale != is->scale) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train.initial_weights: %s was trained with data.scale %s, not %s", path,
                     cf_scale_name[w->scale], cf_scale_name[is->scale]);
  }
  return cf_weights_fit(w, path, is->info);
}

static weir_status check_universes(const cf_fine_tuning *is, const char *path, const cf_weights *w)
{
  const char *const truth = w->text[CF_NOTE_truth_digest];
  const bool known = truth[0] != 0 && is->truth[0] != 0;

  if (!known && is->leads) {
    weir_warn("run",
              "train.initial_weights: whether %s was trained on these samples is not known: scores "
              "of validation and test are of new universes only if it was not",
              path);
  }
  if (known && strcmp(truth, is->truth) != 0 &&
      strstr(w->text[CF_NOTE_initial_truths], is->truth) != NULL) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "train.initial_weights: %s was itself fine-tuned from weights that were trained "
        "on these samples, with a split that it does not state: train on others",
        path);
  }
  const bool same = strcmp(w->text[CF_NOTE_universes_train], is->trained) == 0 &&
                    strcmp(w->text[CF_NOTE_universes_valid], is->validated) == 0;

  return !known || strcmp(truth, is->truth) != 0 || same
             ? WEIR_OK
             : weir_fail(
                   WEIR_ERR_CONFIG,
                   "train.initial_weights: %s was trained on these samples with another "
                   "split: some that are to validate or test it, it has seen; take data.split "
                   "and the seed of its run",
                   path);
}

weir_status cf_fine_tuning_check(const cf_fine_tuning *is, const char *path, char *samples,
                                 char **truths)
{
  cf_weights w;
  void *memory = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(cf_weights_read(path, &w));
  WEIR_TRY_GOTO(check_network(is, path, &w), done);
  WEIR_TRY_GOTO(check_universes(is, path, &w), done);
  const char *const truth = w.text[CF_NOTE_truth_digest];
  const char *const before = w.text[CF_NOTE_initial_truths];
  const size_t size = strlen(truth) + strlen(before) + 2;

  (void)snprintf(samples, CF_NOTE_LINE, "%s", w.text[CF_NOTE_samples]);
  WEIR_TRY_GOTO(weir_alloc((int64_t)size, 1, &memory), done);
  (void)snprintf(memory, size, "%s%s%s", truth, truth[0] != 0 && before[0] != 0 ? " " : "", before);
  *truths = memory;
done:
  cf_weights_fini(&w);
  return status;
}
