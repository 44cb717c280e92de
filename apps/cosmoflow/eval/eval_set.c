/* eval_set.c - see eval_set.h. */
#include "eval/eval_set.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"

const char *const cf_level_name[CF_LEVELS] = {"sample", "universe"};

const weir_opt cf_eval_set_options[] = {
    WEIR_OPT_STRING(cf_eval_set_opts, name, "", "of the set in tables and figures, such as 2lpt"),
    WEIR_OPT_PATH(cf_eval_set_opts, predictions, "",
                  "predictions.nc of cosmoflow predict; or classes.nc, in all sets"),
    WEIR_OPT_STRING_LIST(cf_eval_set_opts, truth, "",
                         "the samples that were predicted: files, folders, lists or synth://, for "
                         "the regressions on P(k); none: the network and the mean alone. Of "
                         "classes.nc: volumes with classes of their voxels"),
    WEIR_OPT_END,
};

/* ---- rows ---- */

typedef struct key {
  int64_t universe, sample, row;
} key;

static int by_key(const void *a, const void *b)
{
  const key *const x = a, *const y = b;

  return x->universe != y->universe ? (x->universe > y->universe) - (x->universe < y->universe)
                                    : (x->sample > y->sample) - (x->sample < y->sample);
}

/* Selects rows of a subset, ordered by universe and sample, into order[]. */
static int64_t take_subset(const cf_predictions *p, cf_subset subset, key *order)
{
  int64_t n = 0;

  for (int64_t i = 0; i < p->n; i++) {
    if (p->subset[i] == subset) {
      order[n++] = (key){p->universe[i], p->sample[i], i};
    }
  }
  qsort(order, (size_t)n, sizeof *order, by_key);
  return n;
}

static weir_status take_train(cf_eval_set *t, key *order)
{
  t->n_train = take_subset(t->p, CF_TRAIN, order);
  WEIR_TRY(weir_alloc(t->n_train, sizeof *t->train, (void **)&t->train));
  for (int64_t i = 0; i < t->n_train; i++) {
    t->train[i] = order[i].row;
  }
  return WEIR_OK;
}

static weir_status judge_subset(const cf_eval_set *t, cf_subset subset, const key *order, int64_t n)
{
  const char *const file = t->opts->predictions, *const name = cf_subset_name[subset];

  if (n == 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: has no row of the subset %s (eval.part)", file, name);
  }
  for (int64_t i = 0; i < n; i++) {
    if (!t->p->known[order[i].row]) {
      return weir_fail(
          WEIR_ERR_DATA,
          "%s: row %lld (sample %lld) of the subset %s has no prediction: predict that "
          "subset, or set eval.part",
          file, (long long)order[i].row + 1, (long long)order[i].sample, name);
    }
  }
  if (order[0].universe == order[n - 1].universe) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: all %lld rows of the subset %s are of universe %lld: one universe says "
                     "nothing of how scores vary, at least two are needed",
                     file, (long long)n, name, (long long)order[0].universe);
  }
  return WEIR_OK;
}

static weir_status alloc_predicted(cf_predicted *s, int64_t n, int64_t n_labels)
{
  s->n = n;
  WEIR_TRY(weir_alloc(n, sizeof *s->group, (void **)&s->group));
  return weir_alloc(n * n_labels, sizeof *s->truth, (void **)&s->truth);
}

static weir_status take_scored(cf_eval_set *t, cf_subset subset, key *order)
{
  const cf_predictions *const p = t->p;
  const int64_t n = take_subset(p, subset, order);
  cf_predicted *const all = &t->level[CF_BY_SAMPLE];

  WEIR_TRY(judge_subset(t, subset, order, n));
  WEIR_TRY(weir_alloc(n, sizeof *t->row, (void **)&t->row));
  WEIR_TRY(weir_alloc(n, sizeof *t->sample, (void **)&t->sample));
  WEIR_TRY(alloc_predicted(all, n, p->n_labels));
  for (int64_t i = 0; i < n; i++) {
    t->row[i] = order[i].row;
    t->sample[i] = order[i].sample;
    t->groups += i == 0 || order[i].universe != order[i - 1].universe;
    all->group[i] = t->groups - 1;
    for (int64_t k = 0; k < p->n_labels; k++) {
      all->truth[k * n + i] =
          cf_predictions_physical(p, k, (double)p->truth[t->row[i] * p->n_labels + k]);
    }
  }
  return WEIR_OK;
}

/* Means of [n_labels, n] over the samples of each universe, [n_labels, groups]. */
static void average(const cf_eval_set *t, const double *from, double *to)
{
  const cf_predicted *const all = &t->level[CF_BY_SAMPLE];

  for (int64_t k = 0; k < t->p->n_labels; k++) {
    for (int64_t first = 0, end = 0; first < all->n; first = end) {
      double sum = 0;

      for (end = first; end < all->n && all->group[end] == all->group[first]; end++) {
        sum += from[k * all->n + end];
      }
      to[k * t->groups + all->group[first]] = sum / (double)(end - first);
    }
  }
}

/* Samples of a universe share their labels: their mean is the label of each. */
static weir_status judge_labels(const cf_eval_set *t)
{
  const cf_predicted *const all = &t->level[CF_BY_SAMPLE], *const mean = &t->level[CF_BY_UNIVERSE];

  for (int64_t k = 0; k < t->p->n_labels; k++) {
    for (int64_t i = 0; i < all->n; i++) {
      const double deviation =
          all->truth[k * all->n + i] - mean->truth[k * t->groups + all->group[i]];

      if (fabs(deviation) > 1e-5 * (t->p->hi[k] - t->p->lo[k])) {
        return weir_fail(WEIR_ERR_DATA,
                         "%s: row %lld: %s is %g, other samples of universe %lld have %g on "
                         "average: it is not one universe",
                         t->opts->predictions, (long long)t->row[i] + 1, t->p->label[k],
                         all->truth[k * all->n + i], (long long)t->p->universe[t->row[i]],
                         mean->truth[k * t->groups + all->group[i]]);
      }
    }
  }
  return WEIR_OK;
}

static weir_status take_network(cf_eval_set *t)
{
  const int64_t n = t->level[CF_BY_SAMPLE].n, labels = t->p->n_labels;
  double *unit = NULL;

  WEIR_TRY(weir_alloc(n * labels, sizeof *unit, (void **)&unit));
  for (int64_t i = 0; i < n * labels; i++) {
    unit[i] = (double)t->p->predicted[t->row[i / labels] * labels + i % labels];
  }
  const weir_status status = cf_eval_set_predict(t, CF_BY_NETWORK, unit);

  weir_free(&unit);
  return status;
}

/* ---- truth ---- */

static weir_status judge_source(const cf_eval_set *t)
{
  const cf_volume_info *const info = cf_source_info(t->source);
  const cf_predictions *const p = t->p;
  const char *const file = t->opts->predictions, *const truth = t->opts->truth.items[0];

  if (info->n_labels != p->n_labels) {
    return weir_fail(WEIR_ERR_DATA, "%s: samples have %lld labels, %s has %lld", truth,
                     (long long)info->n_labels, file, (long long)p->n_labels);
  }
  for (int64_t k = 0; k < p->n_labels; k++) {
    if (info->label[k][0] != 0 && strcmp(info->label[k], p->label[k]) != 0) {
      return weir_fail(WEIR_ERR_DATA, "%s: label %lld is '%s', in %s it is '%s'", truth,
                       (long long)k + 1, info->label[k], file, p->label[k]);
    }
    const double width = 1e-6 * (info->hi[k] - info->lo[k]);

    if (info->lo[k] < info->hi[k] && cf_predictions_ranged(p, k) &&
        (fabs(info->lo[k] - p->lo[k]) > width || fabs(info->hi[k] - p->hi[k]) > width)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: %s goes from %g to %g, in %s from %g to %g: labels in [-1, 1] do not "
                       "mean the same",
                       truth, p->label[k], info->lo[k], info->hi[k], file, p->lo[k], p->hi[k]);
    }
  }
  return WEIR_OK;
}

static weir_status open_source(cf_eval_set *t, const cf_source_spec *spec)
{
  cf_source_spec own = *spec;

  if (t->opts->truth.count == 0) {
    return cf_origin_judge(&t->p->origin, t->opts->predictions, NULL, "", true);
  }
  t->from = *spec->source;
  t->from.input = t->opts->truth;
  own.source = &t->from;
  WEIR_TRY(cf_source_open(&own, &t->source));
  WEIR_TRY(judge_source(t));
  return cf_origin_judge(&t->p->origin, t->opts->predictions, t->source, t->opts->truth.items[0],
                         true);
}

weir_status cf_eval_set_check(const cf_eval_set *t, int64_t row)
{
  const cf_predictions *const p = t->p;
  const int64_t sample = p->sample[row], count = cf_source_count(t->source);
  const char *const file = t->opts->predictions;
  char where[CF_MAX_LOCATION];
  float label[CF_MAX_LABELS];
  int64_t universe = -1;

  if (sample >= count) {
    return weir_fail(WEIR_ERR_DATA, "%s: row %lld is of sample %lld, %s has %lld", file,
                     (long long)row + 1, (long long)sample, t->opts->truth.items[0],
                     (long long)count);
  }
  WEIR_TRY(cf_source_universe(t->source, sample, &universe));
  WEIR_TRY(cf_source_labels(t->source, sample, label));
  cf_source_locate(t->source, sample, where, sizeof where);
  if (universe >= 0 && universe != p->universe[row]) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: row %lld is of universe %lld, %s is of universe %lld: these are not the "
                     "samples that were predicted, or they are in another order",
                     file, (long long)row + 1, (long long)p->universe[row], where,
                     (long long)universe);
  }
  for (int64_t k = 0; k < p->n_labels; k++) {
    const double deviation = (double)label[k] - (double)p->truth[row * p->n_labels + k];

    if (!(fabs(deviation) <= 1e-5)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: row %lld has the label %s = %g, %s has %g (in [-1, 1]): these are not "
                       "the samples that were predicted, or they are in another order, or "
                       "files.label_scale, files.range or files.labels are not those of predict",
                       file, (long long)row + 1, p->label[k],
                       (double)p->truth[row * p->n_labels + k], where, (double)label[k]);
    }
  }
  return WEIR_OK;
}

/* ---- all of it ---- */

weir_status cf_eval_set_open(const cf_eval_set_opts *opts, const cf_source_spec *spec,
                             cf_subset subset, cf_eval_set *out)
{
  key *order = NULL;
  weir_status status = WEIR_OK;

  *out = (cf_eval_set){.opts = opts};
  WEIR_TRY_GOTO(cf_predictions_read(opts->predictions, &out->p), done);
  if (out->p->unlabelled) {
    status = weir_fail(WEIR_ERR_DATA,
                       "%s: its samples have no labels (no variable unitPar), so that their "
                       "predictions have no error: predict samples with labels to score the "
                       "network",
                       opts->predictions);
    goto done;
  }
  WEIR_TRY_GOTO(weir_alloc(out->p->n, sizeof *order, (void **)&order), done);
  WEIR_TRY_GOTO(take_train(out, order), done);
  WEIR_TRY_GOTO(take_scored(out, subset, order), done);
  WEIR_TRY_GOTO(alloc_predicted(&out->level[CF_BY_UNIVERSE], out->groups, out->p->n_labels), done);
  for (int64_t g = 0; g < out->groups; g++) {
    out->level[CF_BY_UNIVERSE].group[g] = g;
  }
  average(out, out->level[CF_BY_SAMPLE].truth, out->level[CF_BY_UNIVERSE].truth);
  WEIR_TRY_GOTO(judge_labels(out), done);
  WEIR_TRY_GOTO(take_network(out), done);
  WEIR_TRY_GOTO(open_source(out, spec), done);
done:
  weir_free(&order);
  if (status != WEIR_OK) {
    cf_eval_set_close(out);
  }
  return status;
}

void cf_eval_set_close(cf_eval_set *t)
{
  for (int l = 0; l < CF_LEVELS; l++) {
    weir_free(&t->level[l].group);
    weir_free(&t->level[l].truth);
    for (int by = 0; by < CF_PREDICTORS; by++) {
      weir_free(&t->level[l].predicted[by]);
    }
  }
  weir_free(&t->row);
  weir_free(&t->sample);
  weir_free(&t->train);
  cf_source_close(&t->source);
  cf_predictions_destroy(&t->p);
}

weir_status cf_eval_set_predict(cf_eval_set *t, cf_predictor by, const double *unit)
{
  cf_predicted *const all = &t->level[CF_BY_SAMPLE], *const mean = &t->level[CF_BY_UNIVERSE];
  const int64_t labels = t->p->n_labels;

  WEIR_ASSERT(all->predicted[by] == NULL && mean->predicted[by] == NULL);
  WEIR_TRY(weir_alloc(all->n * labels, sizeof(double), (void **)&all->predicted[by]));
  WEIR_TRY(weir_alloc(mean->n * labels, sizeof(double), (void **)&mean->predicted[by]));
  for (int64_t i = 0; i < all->n; i++) {
    for (int64_t k = 0; k < labels; k++) {
      all->predicted[by][k * all->n + i] = cf_predictions_physical(t->p, k, unit[i * labels + k]);
    }
  }
  average(t, all->predicted[by], mean->predicted[by]);
  return WEIR_OK;
}

weir_status cf_eval_set_known(const cf_eval_set *a, const cf_eval_set *b, int64_t *n)
{
  const int64_t labels = a->p->n_labels;
  key *order = NULL;
  int64_t seen = -1;

  *n = 0;
  WEIR_TRY(weir_alloc(a->p->n, sizeof *order, (void **)&order));
  const int64_t count = take_subset(a->p, CF_TRAIN, order);

  for (int64_t i = 0; i < b->level[CF_BY_SAMPLE].n; i++) {
    const int64_t row = b->row[i], universe = b->p->universe[row];
    int64_t lo = 0, hi = count;
    bool same = universe != seen;

    seen = universe;
    while (lo < hi) { /* the first of that universe */
      const int64_t middle = (lo + hi) / 2;

      *(order[middle].universe < universe ? &lo : &hi) =
          order[middle].universe < universe ? middle + 1 : middle;
    }
    same = same && lo < count && order[lo].universe == universe;
    for (int64_t k = 0; same && k < labels; k++) {
      same = fabs((double)a->p->truth[order[lo].row * labels + k] -
                  (double)b->p->truth[row * labels + k]) <= 1e-5;
    }
    *n += same;
  }
  weir_free(&order);
  return WEIR_OK;
}
