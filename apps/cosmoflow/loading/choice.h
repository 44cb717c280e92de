/* choice.h - settings of section load that tune chooses for the training of a configuration. */
#ifndef CF_CHOICE_H
#define CF_CHOICE_H
#include "base/weir_file.h"
#include "data/source.h"
#include "load/weir_load_tuning.h"
#include "options.h"

typedef struct cf_choice {
  weir_load_cfg load;      /* measured speeds and path; before: the options as given */
  weir_load_simulation of; /* the training that is simulated */
  int64_t workers;
  weir_load_limits limits;
  weir_load_choice made;
  double given_s; /* time with the section load as given; NaN: it does not suit the samples */
} cf_choice;

/* Describes the training for which settings are chosen: samples of the training subset (or
 * loading.samples), train.batch divided among the workers, loading.epochs, the speeds of section
 * loading. ranks: of tune. Fails: as cf_survey, cf_split_create, cf_loading_compute. */
weir_status cf_choice_prepare(cf_cfg *cfg, cf_source *s, int ranks, int threads,
                              cf_choice *out) WEIR_CHECKED;
/* Chooses for measured speeds, which `out` borrows. Limits that are not given are half of what is
 * free for each of the ranks. Fails: WEIR_ERR_CONFIG (limits below a sample), as weir_load_choose.
 */
weir_status cf_choice_make(const cf_cfg *cfg, int ranks, const weir_real_list *memory,
                           const weir_real_list *directory, const weir_real_list *source,
                           cf_choice *out) WEIR_CHECKED;
/* Writes what was chosen and predicted: as comments of load.yaml; as an event and lines on stdout.
 */
weir_status cf_choice_comment(const cf_choice *c, weir_writer *w) WEIR_CHECKED;
void cf_choice_tell(const cf_choice *c);
/* Writes the section loading of the simulated training. */
weir_status cf_choice_training(const cf_choice *c, weir_writer *w) WEIR_CHECKED;
#endif
