/* boosting.c - see boosting.h. Rows are sorted by each feature once, and stay so within the nodes
 * of a tree; a level is one pass over every feature. Targets and folds are independent of each
 * other: they are the items of threads. */
#include "eval/regression/boosting.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "base/weir_signal.h"
#include "device/weir_parallel.h"
#include "eval/regression/folds.h"

enum { DRAWS = 0x43464742 /* purpose of the random bits */, MAX_DEPTH = 8 };

const weir_opt cf_boosting_options[] = {
    WEIR_OPT_INT(cf_boosting_opts, rounds, 0, 0, 100000, "1",
                 "trees of a label at most; cross-validation chooses their number; 0: no boosting"),
    WEIR_OPT_INT(cf_boosting_opts, depth, 3, 1, MAX_DEPTH, "1", "levels of splits of a tree"),
    WEIR_OPT_INT(cf_boosting_opts, min_leaf, 5, 1, 1000000, "1", "samples in a leaf, at least"),
    WEIR_OPT_INT(cf_boosting_opts, folds, 5, 2, 1000, "1",
                 "folds of the training universes by which the number of rounds is chosen"),
    WEIR_OPT_REAL(cf_boosting_opts, shrinkage, 0.05, 1e-4, 1, "1",
                  "learning rate: factor of each tree"),
    WEIR_OPT_REAL(cf_boosting_opts, subsample, 0.5, 0.01, 1, "1",
                  "share of the samples that a tree is fitted to, drawn for each; 1: all"),
    WEIR_OPT_END,
};

typedef struct work {
  const cf_boosting_opts *opts;
  const cf_ridge_rows *rows;
  cf_boosting *out;
  uint64_t seed;
  int64_t n, p; /* rows, features */
  int64_t *fold;
  double *x;      /* [p, n] */
  int32_t *order; /* [p, n] rows by x */
  int32_t *drawn; /* [threads, p + 1, n] of item.drawn, and of item.right */
  double *error;  /* [items, max_rounds] sums of squares of a fold */
  struct item *item;
} work;

/* A model of a target without a fold, or of all rows (fold: that number), and its workspace. */
typedef struct item {
  int64_t target, fold;
  double *f, *residual; /* [n] */
  int32_t *node;        /* [n] of the tree that is made; -1: not fitted to */
  int32_t *drawn;      /* [p, n] rows that the tree is fitted to: by node, then by x of a feature */
  int32_t *right;      /* [n] scratch */
  int64_t *start;      /* [nodes of a level + 1] place of the first row of each in drawn */
  cf_tree_node *tree;  /* [tree_nodes] */
  struct split *split; /* [nodes of a level] */
} item;

/* Sums of a node of a level, and its best split so far. */
typedef struct split {
  double n, sum, square;  /* of the residuals; sum^2 / n */
  double best, threshold; /* reduction of the squared error */
  int64_t left;           /* rows that go to the left */
  int32_t feature;        /* -1: none */
} split;

void cf_boosting_fini(cf_boosting *b)
{
  weir_free(&b->tree);
}

/* ---- a tree ---- */

/* Lower than the upper value, though the middle of two neighbouring numbers may round to it. */
static double middle(double lower, double upper)
{
  const double m = lower / 2 + upper / 2;

  return m < upper ? m : lower;
}

/* Tries the thresholds of a feature between the rows of a node. Most reduce the error by far less
 * than the best so far, which products show without quotients: by more than rounding makes of
 * numbers that are all positive. */
static void try_node(const work *w, const item *t, int64_t feature, int64_t node)
{
  const int64_t n = t->start[node + 1] - t->start[node], least = w->opts->min_leaf;
  const int32_t *const rows = t->drawn + feature * w->n + t->start[node];
  const double *const x = w->x + feature * w->n;
  split *const s = &t->split[node];
  double sum = 0; /* of the residuals of the rows before one */

  for (int64_t i = 0; i < least && i < n; i++) {
    sum += t->residual[rows[i]];
  }
  for (int64_t i = least; i <= n - least; i++) {
    const double left_n = (double)i, right_n = (double)(n - i), rest = s->sum - sum;
    const double left = sum * sum, right = rest * rest, last = x[rows[i - 1]];
    const double needed = (s->best + s->square) * (1 - 1e-12) * (left_n * right_n);

    if (left * right_n + right * left_n >= needed && x[rows[i]] > last) {
      const double gain = left / left_n + right / right_n - s->square;

      if (gain > s->best) {
        s->best = gain;
        s->feature = (int32_t)feature;
        s->threshold = middle(last, x[rows[i]]);
      }
    }
    sum += t->residual[rows[i]];
  }
}

/* Moves the rows of each node of a level to those below it, where there are any, in the order of
 * each feature. */
static void part_nodes(const work *w, item *t, int64_t first, int64_t nodes, int64_t *next)
{
  next[0] = 0;
  for (int64_t k = 0; k < nodes; k++) {
    const split *const s = &t->split[k];
    const bool parted = s->feature >= 0;

    next[2 * k + 1] = next[2 * k] + (parted ? s->left : 0);
    next[2 * k + 2] = next[2 * k + 1] + (parted ? (int64_t)s->n - s->left : 0);
  }
  for (int64_t feature = 0; feature < w->p; feature++) {
    int32_t *const rows = t->drawn + feature * w->n;

    for (int64_t k = 0; k < nodes; k++) {
      const int32_t left_node = (int32_t)(2 * (first + k) + 1);
      int64_t left = next[2 * k], right = 0;

      for (int64_t i = t->start[k]; i < t->start[k + 1] && t->split[k].feature >= 0; i++) {
        const int32_t row = rows[i];

        rows[left] = row; /* never behind i: without a branch that nobody could predict */
        t->right[right] = row;
        left += t->node[row] == left_node;
        right += t->node[row] != left_node;
      }
      memcpy(rows + left, t->right, (size_t)right * sizeof *rows);
    }
  }
  memcpy(t->start, next, (size_t)(2 * nodes + 1) * sizeof *next);
}

/* Splits the nodes of a level; returns whether there is one that was. */
static bool split_level(const work *w, item *t, int64_t first, int64_t nodes)
{
  bool any = false;

  memset(t->split, 0, (size_t)nodes * sizeof *t->split);
  for (int64_t i = 0; i < w->n; i++) {
    const int64_t k = (int64_t)t->node[i] - first;

    if (k >= 0) {
      t->split[k].n += 1;
      t->split[k].sum += t->residual[i];
      t->split[k].best += t->residual[i] * t->residual[i]; /* its size, of which rounding is */
    }
  }
  for (int64_t k = 0; k < nodes; k++) {
    t->split[k].square = t->split[k].sum * t->split[k].sum / t->split[k].n;
    t->split[k].best *= 1e-13;
    t->split[k].feature = -1;
  }
  for (int64_t feature = 0; feature < w->p; feature++) {
    for (int64_t k = 0; k < nodes; k++) {
      try_node(w, t, feature, k);
    }
  }
  for (int64_t k = 0; k < nodes; k++) {
    const split *const s = &t->split[k];

    t->tree[first + k] = (cf_tree_node){s->feature, s->threshold, s->n > 0 ? s->sum / s->n : 0};
    any = any || s->feature >= 0;
  }
  for (int64_t i = 0; i < w->n; i++) {
    const int64_t k = (int64_t)t->node[i] - first;

    if (k >= 0 && t->split[k].feature >= 0) {
      split *const s = &t->split[k];
      const bool left = w->x[s->feature * w->n + i] <= s->threshold;

      t->node[i] = (int32_t)(2 * (first + k) + (left ? 1 : 2));
      s->left += left;
    }
  }
  return any;
}

/* Sets the leaves of the last level. */
static void end_tree(const work *w, item *t, int64_t first, int64_t nodes)
{
  memset(t->split, 0, (size_t)nodes * sizeof *t->split);
  for (int64_t i = 0; i < w->n; i++) {
    const int64_t k = (int64_t)t->node[i] - first;

    if (k >= 0) {
      t->split[k].n += 1;
      t->split[k].sum += t->residual[i];
    }
  }
  for (int64_t k = 0; k < nodes; k++) {
    const split *const s = &t->split[k];

    t->tree[first + k] = (cf_tree_node){-1, 0, s->n > 0 ? s->sum / s->n : 0};
  }
}

static void grow(const work *w, item *t)
{
  int64_t next[(1 << MAX_DEPTH) + 1];

  for (int64_t i = 0; i < w->out->tree_nodes; i++) {
    t->tree[i].feature = -1;
  }
  int64_t first = 0, nodes = 1;

  for (int64_t level = 0; level < w->opts->depth; level++) {
    if (!split_level(w, t, first, nodes)) {
      return;
    }
    if (level + 1 < w->opts->depth) {
      part_nodes(w, t, first, nodes, next);
    }
    first = 2 * first + 1;
    nodes *= 2;
  }
  end_tree(w, t, first, nodes);
}

/* Value of a tree for x[feature * stride]. */
static double value_of(const cf_tree_node *tree, const double *x, int64_t stride)
{
  int64_t at = 0;

  while (tree[at].feature >= 0) {
    at = 2 * at + (x[tree[at].feature * stride] <= tree[at].threshold ? 1 : 2);
  }
  return tree[at].value;
}

/* ---- rounds ---- */

static double target_of(const work *w, int64_t i, int64_t target)
{
  return w->rows->y[w->rows->row[i] * w->rows->n_targets + target];
}

/* Chooses the rows of a round: of those outside the fold a share, the same ones whatever the fold
 * is, but for its own. */
static void choose_rows(const work *w, item *t, int64_t round)
{
  const uint64_t stream = weir_random_bits(w->seed, DRAWS, (uint32_t)t->target, (uint64_t)round);

  for (int64_t i = 0; i < w->n; i++) {
    const bool drawn = w->opts->subsample >= 1 ||
                       weir_random_uniform(stream, DRAWS, 0, (uint64_t)i) < w->opts->subsample;

    t->node[i] = w->fold[i] != t->fold && drawn ? 0 : -1;
  }
  t->start[0] = t->start[1] = 0;
  for (int64_t feature = 0; feature < w->p; feature++) {
    const int32_t *const order = w->order + feature * w->n;
    int32_t *const out = t->drawn + feature * w->n;

    int64_t n = 0;

    for (int64_t i = 0; i < w->n; i++) { /* as in part_nodes */
      out[n] = order[i];
      n += t->node[order[i]] == 0;
    }
    t->start[1] = n;
  }
}

static void boost(void *context, int64_t number, int thread)
{
  const work *const w = context;
  item *const t = &w->item[number];
  const bool all = t->fold == w->out->folds;
  cf_tree_node *const kept = w->out->tree + t->target * w->out->max_rounds * w->out->tree_nodes;
  double sum = 0, count = 0;

  t->drawn = w->drawn + thread * (w->p + 1) * w->n;
  t->right = t->drawn + w->p * w->n;
  for (int64_t i = 0; i < w->n; i++) {
    sum += w->fold[i] != t->fold ? target_of(w, i, t->target) : 0;
    count += w->fold[i] != t->fold;
  }
  for (int64_t i = 0; i < w->n; i++) {
    t->f[i] = sum / count;
  }
  for (int64_t round = 0; round < w->out->max_rounds && !weir_stop_requested(); round++) {
    double *const error = w->error + number * w->out->max_rounds + round;

    for (int64_t i = 0; i < w->n; i++) {
      t->residual[i] = target_of(w, i, t->target) - t->f[i];
    }
    choose_rows(w, t, round);
    grow(w, t);
    for (int64_t i = 0; i < w->n; i++) {
      t->f[i] += w->opts->shrinkage * value_of(t->tree, w->x + i, w->n);
      if (w->fold[i] == t->fold) {
        *error += pow(target_of(w, i, t->target) - t->f[i], 2);
      }
    }
    if (all) {
      memcpy(kept + round * w->out->tree_nodes, t->tree,
             (size_t)w->out->tree_nodes * sizeof *t->tree);
    }
  }
  if (all) {
    w->out->start[t->target] = sum / count;
  }
}

/* Of numbers of rounds that are as good the smallest. */
static void choose(const work *w, int64_t target)
{
  const int64_t folds = w->out->folds, rounds = w->out->max_rounds;

  w->out->error[target] = INFINITY;
  for (int64_t round = 0; round < rounds; round++) {
    double sum = 0;

    for (int64_t fold = 0; fold < folds; fold++) {
      sum += w->error[(target * (folds + 1) + fold) * rounds + round];
    }
    if (sum / (double)w->n < w->out->error[target]) {
      w->out->error[target] = sum / (double)w->n;
      w->out->rounds[target] = round + 1;
    }
  }
}

/* ---- all ---- */

typedef struct keyed {
  double x;
  int32_t row;
} keyed;

static int by_value(const void *a, const void *b)
{
  const keyed *const x = a, *const y = b;

  return x->x != y->x ? (x->x > y->x) - (x->x < y->x) : (x->row > y->row) - (x->row < y->row);
}

static weir_status take_rows(work *w)
{
  const cf_ridge_rows *const rows = w->rows;
  keyed *key = NULL;

  for (int64_t i = 0; i < w->n; i++) {
    for (int64_t k = 0; k < w->p + rows->n_targets; k++) {
      const double value =
          k < w->p ? rows->x[rows->row[i] * rows->stride + k] : target_of(w, i, k - w->p);

      if (!isfinite(value)) {
        return weir_fail(WEIR_ERR_NUMERIC, "boosting: %s %lld of training row %lld is %g",
                         k < w->p ? "feature" : "target", (long long)(k < w->p ? k : k - w->p) + 1,
                         (long long)rows->row[i] + 1, value);
      }
      if (k < w->p) {
        w->x[k * w->n + i] = value;
      }
    }
  }
  WEIR_TRY(weir_alloc(w->n, sizeof *key, (void **)&key));
  for (int64_t k = 0; k < w->p; k++) {
    for (int64_t i = 0; i < w->n; i++) {
      key[i] = (keyed){w->x[k * w->n + i], (int32_t)i};
    }
    qsort(key, (size_t)w->n, sizeof *key, by_value);
    for (int64_t i = 0; i < w->n; i++) {
      w->order[k * w->n + i] = key[i].row;
    }
  }
  weir_free(&key);
  return WEIR_OK;
}

static weir_status open_items(work *w, int64_t items)
{
  const int64_t level = (int64_t)1 << w->opts->depth;

  WEIR_TRY(weir_alloc(items, sizeof *w->item, (void **)&w->item));
  for (int64_t k = 0; k < items; k++) {
    item *const t = &w->item[k];

    t->target = k / (w->out->folds + 1);
    t->fold = k % (w->out->folds + 1);
    WEIR_TRY(weir_alloc(w->n, sizeof *t->f, (void **)&t->f));
    WEIR_TRY(weir_alloc(w->n, sizeof *t->residual, (void **)&t->residual));
    WEIR_TRY(weir_alloc(w->n, sizeof *t->node, (void **)&t->node));
    WEIR_TRY(weir_alloc(w->out->tree_nodes, sizeof *t->tree, (void **)&t->tree));
    WEIR_TRY(weir_alloc(level, sizeof *t->split, (void **)&t->split));
    WEIR_TRY(weir_alloc(level + 1, sizeof *t->start, (void **)&t->start));
  }
  return WEIR_OK;
}

static void close_items(work *w, int64_t items)
{
  for (int64_t k = 0; w->item != NULL && k < items; k++) {
    weir_free(&w->item[k].f);
    weir_free(&w->item[k].residual);
    weir_free(&w->item[k].node);
    weir_free(&w->item[k].tree);
    weir_free(&w->item[k].split);
    weir_free(&w->item[k].start);
  }
  weir_free(&w->item);
}

static weir_status fit(work *w)
{
  cf_boosting *const out = w->out;

  WEIR_TRY(weir_alloc(w->n, sizeof *w->fold, (void **)&w->fold));
  WEIR_TRY(cf_folds_make(w->rows, w->opts->folds, w->seed, "boosting", w->fold, &out->folds,
                         &out->groups));
  const int64_t items = out->n_targets * (out->folds + 1);
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(w->p * w->n, sizeof *w->x, (void **)&w->x));
  WEIR_TRY(weir_alloc(w->p * w->n, sizeof *w->order, (void **)&w->order));
  WEIR_TRY(
      weir_alloc(weir_threads_get() * (w->p + 1) * w->n, sizeof *w->drawn, (void **)&w->drawn));
  WEIR_TRY(weir_alloc(items * out->max_rounds, sizeof *w->error, (void **)&w->error));
  WEIR_TRY(take_rows(w));
  WEIR_TRY(weir_alloc(out->n_targets * out->max_rounds * out->tree_nodes, sizeof *out->tree,
                      (void **)&out->tree));
  WEIR_TRY_GOTO(open_items(w, items), done);
  weir_parallel(items, 0, boost, w);
  if (weir_stop_requested()) {
    WEIR_TRY_GOTO(weir_fail(WEIR_ERR_STOPPED, "boosting: stopped before all trees were fitted"),
                  done);
  }
  for (int64_t k = 0; k < out->n_targets; k++) {
    choose(w, k);
  }
done:
  close_items(w, items);
  return status;
}

weir_status cf_boosting_fit(const cf_boosting_opts *opts, uint64_t seed, const cf_ridge_rows *rows,
                            cf_boosting *out)
{
  work w = {
      .opts = opts, .rows = rows, .out = out, .seed = seed, .n = rows->n, .p = rows->n_features};

  *out = (cf_boosting){.n_features = rows->n_features,
                       .n_targets = rows->n_targets,
                       .max_rounds = opts->rounds,
                       .tree_nodes = ((int64_t)2 << opts->depth) - 1,
                       .shrinkage = opts->shrinkage};
  const weir_status status = fit(&w);

  weir_free(&w.fold);
  weir_free(&w.x);
  weir_free(&w.order);
  weir_free(&w.drawn);
  weir_free(&w.error);
  if (status != WEIR_OK) {
    cf_boosting_fini(out);
  }
  return status;
}

void cf_boosting_predict(const cf_boosting *b, const double *x, double *out)
{
  for (int64_t k = 0; k < b->n_targets; k++) {
    const cf_tree_node *const tree = b->tree + k * b->max_rounds * b->tree_nodes;

    out[k] = b->start[k];
    for (int64_t round = 0; round < b->rounds[k]; round++) {
      out[k] += b->shrinkage * value_of(tree + round * b->tree_nodes, x, 1);
    }
  }
}
