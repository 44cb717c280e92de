/* split.h - the split of a set of samples into training, validation and test subsets.
 *
 * Whole universes are of one subset: samples of one universe share its parameters and its large
 * waves, and a split by samples would leak training data into the test set. */
#ifndef CF_SPLIT_H
#define CF_SPLIT_H
#include "conf/weir_opt.h"
#include "data/predictions.h"

typedef enum cf_split_order { CF_SPLIT_HASH, CF_SPLIT_LAST } cf_split_order;

typedef struct cf_split_opts {
  double valid, test;           /* below 1 shares of the universes, from 1 on how many */
  int order;                    /* cf_split_order */
  int64_t seed;                 /* of the order hash */
  int64_t samples_per_universe; /* samples in a row of one universe, where files do not say; 0:
                                   refused */
  bool quiet;                   /* no option: another rank warns of the same universes */
} cf_split_opts;
extern const weir_opt cf_split_options[];

typedef struct cf_split {
  int64_t count;                 /* samples of the set */
  int64_t *universe;             /* [count] of every sample, not negative */
  int64_t samples_per_universe;  /* by which positions number universes; 0: files say their own */
  uint8_t *subset;               /* [count] cf_subset */
  int64_t universes[CF_SUBSETS]; /* of each subset */
  int64_t n[CF_SUBSETS];         /* samples of each subset */
  int64_t *sample[CF_SUBSETS];   /* [n] their numbers, ascending */
  bool quiet;                    /* as in the options */
} cf_split;

/* Computes the number of universes of each subset, of n. Fails: WEIR_ERR_CONFIG (no universe is
 * left for training). */
weir_status cf_split_count(const cf_split_opts *opts, int64_t n,
                           int64_t universes[CF_SUBSETS]) WEIR_CHECKED;
/* Checks that `count` samples of unknown universes are whole universes of samples_per_universe
 * (above 0) consecutive ones. Fails: WEIR_ERR_CONFIG, naming the option. */
weir_status cf_split_check_count(int64_t samples_per_universe, int64_t count) WEIR_CHECKED;
/* Splits `count` samples of universe [count], -1: unknown. Warns, unless opts->quiet, where files
 * contradict opts->samples_per_universe, which is not used then. Fails: WEIR_ERR_CONFIG (no
 * universe is left for training; unknown universes without opts->samples_per_universe, or that are
 * not a multiple of it; known and unknown universes together), WEIR_ERR_MEMORY. */
weir_status cf_split_create(const cf_split_opts *opts, const int64_t *universe, int64_t count,
                            cf_split *out) WEIR_CHECKED;
/* Splits by lists of universes, as cf_split_text writes them: those of `train` and `valid`, all
 * others are test universes. Fails: WEIR_ERR_DATA (no such list), as cf_split_create. */
weir_status cf_split_of_lists(const char *train, const char *valid, int64_t samples_per_universe,
                              const int64_t *universe, int64_t count, cf_split *out) WEIR_CHECKED;
void cf_split_fini(cf_split *s);
/* Compares labels [count, n_labels] in [-1, 1] with the universes: samples of a universe share
 * theirs. Warns where universes share them with others, as cubes of one simulation do, unless
 * s->quiet. Fails: WEIR_ERR_DATA, naming two samples. */
weir_status cf_split_check_labels(const cf_split *s, int64_t n_labels,
                                  const float *label) WEIR_CHECKED;
/* Lists the universes of a subset, ascending: "0-3,7"; "" for none. The caller frees *text with
 * weir_free. */
weir_status cf_split_text(const cf_split *s, cf_subset subset, char **text) WEIR_CHECKED;
#endif
