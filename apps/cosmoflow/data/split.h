/* split.h - the parts of a set of samples: trained on, validated on, kept for tests.
 *
 * Whole universes are of one part: samples of one universe share its parameters and its large
 * waves, so that a split by samples would test what was learnt by heart. */
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
} cf_split_opts;
extern const weir_opt cf_split_options[];

typedef struct cf_split {
  int64_t count;                 /* samples of the set */
  int64_t *universe;             /* [count] of every sample, not negative */
  int64_t samples_per_universe;  /* by which positions number universes; 0: files say their own */
  uint8_t *subset;               /* [count] cf_subset */
  int64_t universes[CF_SUBSETS]; /* of each part */
  int64_t n[CF_SUBSETS];         /* samples of each part */
  int64_t *sample[CF_SUBSETS];   /* [n] their numbers, ascending */
} cf_split;

/* How many of n universes are of each part. Fails: WEIR_ERR_CONFIG (nothing is left to train on).
 */
weir_status cf_split_count(const cf_split_opts *opts, int64_t n,
                           int64_t universes[CF_SUBSETS]) WEIR_CHECKED;
/* universe: [count], -1 where it is not known. Fails: WEIR_ERR_CONFIG (nothing is left to train on;
 * universes that are not known, without opts->samples_per_universe; some that are beside some that
 * are not), WEIR_ERR_MEMORY. */
weir_status cf_split_create(const cf_split_opts *opts, const int64_t *universe, int64_t count,
                            cf_split *out) WEIR_CHECKED;
/* The parts by lists of universes, as cf_split_text makes them: those of `train` and `valid` are of
 * these parts, all others of the tests. Fails: WEIR_ERR_DATA (no such list), as cf_split_create. */
weir_status cf_split_of_lists(const char *train, const char *valid, int64_t samples_per_universe,
                              const int64_t *universe, int64_t count, cf_split *out) WEIR_CHECKED;
void cf_split_fini(cf_split *s);
/* The universes of a part, ascending: "0-3,7"; "" for none. The caller frees *text with weir_free.
 */
weir_status cf_split_text(const cf_split *s, cf_subset subset, char **text) WEIR_CHECKED;
#endif
