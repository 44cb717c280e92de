/* boosting.h - gradient boosting of regression trees with the squared error (Friedman, Annals of
 * Statistics 29 (2001) 1189, algorithm 3; with subsampling: Computational Statistics and Data
 * Analysis 38 (2002) 367), its number of rounds chosen by cross-validation over universes.
 *
 * F_0 = mean y; of every round a tree is fitted to the residuals y - F of the rows that are drawn,
 * and F += shrinkage tree(x). A tree is split to `depth` levels at the threshold of a feature that
 * reduces the squared error most, with min_leaf rows on both sides: thresholds are the middles
 * between neighbouring values (Breiman et al. 1984), all of them are tried, of equal ones the first
 * feature and the smallest threshold is taken. A leaf is the mean of its residuals.
 *
 * Each target has its own trees. Draws depend on seed, target and round alone: the same bits on any
 * number of threads. */
#ifndef CF_BOOSTING_H
#define CF_BOOSTING_H
#include "eval/ridge.h"

typedef struct cf_boosting_opts {
  int64_t rounds; /* at most; 0: no boosting is wanted */
  int64_t depth, min_leaf, folds;
  double shrinkage, subsample; /* share of the rows of a round */
} cf_boosting_opts;
extern const weir_opt cf_boosting_options[];

/* Node i of a tree has children 2 i + 1, of x <= threshold, and 2 i + 2. */
typedef struct cf_tree_node {
  int32_t feature; /* -1: a leaf */
  double threshold, value;
} cf_tree_node;

typedef struct cf_boosting {
  int64_t n_features, n_targets, folds, groups; /* folds that were used, universes fitted on */
  int64_t max_rounds, tree_nodes;               /* 2^(depth + 1) - 1 */
  int64_t rounds[CF_MAX_LABELS];                /* chosen for each target */
  double error[CF_MAX_LABELS];                  /* mean square error of the folds with it */
  double start[CF_MAX_LABELS], shrinkage;       /* F_0 */
  cf_tree_node *tree;                           /* [n_targets, max_rounds, tree_nodes] */
} cf_boosting;

/* Fits a model; folds as in ridge.h. Fails: WEIR_ERR_DATA (fewer than two universes),
 * WEIR_ERR_NUMERIC (non-finite features or targets), WEIR_ERR_STOPPED, WEIR_ERR_MEMORY. */
weir_status cf_boosting_fit(const cf_boosting_opts *opts, uint64_t seed, const cf_ridge_rows *rows,
                            cf_boosting *out) WEIR_CHECKED;
void cf_boosting_fini(cf_boosting *b);
/* Predicts out[n_targets] from x[n_features]. */
void cf_boosting_predict(const cf_boosting *b, const double *x, double *out);
#endif
