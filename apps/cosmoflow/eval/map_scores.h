/* map_scores.h - confusion matrices of predicted classes of voxels against those of the files, of
 * every set. */
#ifndef CF_MAP_SCORES_H
#define CF_MAP_SCORES_H
#include "eval/evaluation.h"

/* Models: the network; the class of most of the scored voxels. */
typedef enum cf_map_predictor {
  CF_MAP_NETWORK,
  CF_MAP_MAJORITY,
  CF_MAP_PREDICTORS
} cf_map_predictor;
extern const char *const cf_map_predictor_name[CF_MAP_PREDICTORS];

typedef struct cf_map_set {
  const cf_eval_set_opts *opts;
  int64_t samples;                   /* that are scored */
  int64_t *count[CF_MAP_PREDICTORS]; /* as confusion.h has it */
  char source[CF_MAX_SOURCE];        /* of the predictions, as text */
} cf_map_set;

typedef struct cf_map_scores {
  int64_t classes, n_sets;
  cf_map_set *set; /* [n_sets] */
} cf_map_scores;

/* Reads rows of eval.part of all sets and their truth, a few planes at a time. Opts and spec are
 * borrowed; spec->source is that of each set but for `cache_bytes`. The ranks of comm (NULL: one)
 * share the rows; the counts are those of rank 0. Collective. Fails: WEIR_ERR_CONFIG (a set
 * without truth, or two of one name), WEIR_ERR_DATA (truth without classes, other samples than were
 * predicted, an invalid class, no row of the subset), WEIR_ERR_STOPPED, as cf_class_maps_open and
 * cf_source_open. */
weir_status cf_map_scores_make(const cf_eval_opts *opts, const cf_source_spec *spec,
                               weir_comm *comm, cf_map_scores *out) WEIR_CHECKED;
void cf_map_scores_fini(cf_map_scores *m);
#endif
