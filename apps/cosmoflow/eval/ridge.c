/* ridge.c - see ridge.h. Sums of each fold are computed once: the training sums of a fold are those
 * of all others. */
#include "eval/ridge.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "eval/regression/folds.h"
#include "ops/eigen/weir_eigen.h"

const weir_opt cf_ridge_options[] = {
    WEIR_OPT_INT(cf_ridge_opts, folds, 10, 2, 1000, "1",
                 "folds of the training universes by which the penalty is chosen"),
    WEIR_OPT_REAL_LIST(
        cf_ridge_opts, penalties,
        "1e-7, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1", 0, 1e6, "1",
        "of the squares of weights of standardised features: each label has its own of these"),
    WEIR_OPT_END,
};

/* Sums over rows, of features and targets from the mean of all. */
typedef struct sums {
  double n;
  double *x, *y; /* [features], [targets] */
  double *xx;    /* [features, features], lower triangle */
  double *xy;    /* [targets, features] */
} sums;

typedef struct fit {
  const cf_ridge_opts *opts;
  const cf_ridge_rows *rows;
  cf_ridge *out;
  int64_t p, t;              /* features, targets */
  int64_t *fold;             /* [rows->n] */
  double *middle;            /* [features + targets] mean of all */
  sums *by_fold, all, train; /* by_fold: [folds] */
  double *buffer;            /* of all sums */
  double *matrix;            /* [features, features] correlations; as vectors: value, vector */
  double *value, *vector, *along;
  double *mean, *scale, *weight; /* of a model */
  double *error;                 /* [targets, penalties] */
} fit;

/* ---- sums ---- */

static const double *features(const fit *f, int64_t i)
{
  return f->rows->x + f->rows->row[i] * f->rows->stride;
}

static const double *targets(const fit *f, int64_t i)
{
  return f->rows->y + f->rows->row[i] * f->t;
}

static weir_status take_middle(fit *f)
{
  for (int64_t i = 0; i < f->rows->n; i++) {
    for (int64_t k = 0; k < f->p + f->t; k++) {
      const double value = k < f->p ? features(f, i)[k] : targets(f, i)[k - f->p];

      if (!isfinite(value)) {
        return weir_fail(WEIR_ERR_NUMERIC, "ridge: %s %lld of training row %lld is %g",
                         k < f->p ? "feature" : "target", (long long)(k < f->p ? k : k - f->p) + 1,
                         (long long)f->rows->row[i] + 1, value);
      }
      f->middle[k] += value / (double)f->rows->n;
    }
  }
  return WEIR_OK;
}

static void add_row(const fit *f, int64_t i, sums *s)
{
  const double *const x = features(f, i), *const y = targets(f, i);
  const double *const y_middle = f->middle + f->p;

  s->n += 1;
  for (int64_t a = 0; a < f->p; a++) {
    const double of_a = x[a] - f->middle[a];

    s->x[a] += of_a;
    for (int64_t b = 0; b <= a; b++) {
      s->xx[a * f->p + b] += of_a * (x[b] - f->middle[b]);
    }
    for (int64_t k = 0; k < f->t; k++) {
      s->xy[k * f->p + a] += of_a * (y[k] - y_middle[k]);
    }
  }
  for (int64_t k = 0; k < f->t; k++) {
    s->y[k] += y[k] - y_middle[k];
  }
}

static int64_t sums_size(const fit *f)
{
  return f->p + f->t + f->p * f->p + f->p * f->t;
}

static sums sums_at(const fit *f, int64_t at)
{
  double *const x = f->buffer + at * sums_size(f);

  return (sums){0, x, x + f->p, x + f->p + f->t, x + f->p + f->t + f->p * f->p};
}

/* to += times from */
static void add_sums(const fit *f, const sums *from, double times, sums *to)
{
  to->n += times * from->n;
  for (int64_t k = 0; k < sums_size(f); k++) {
    to->x[k] += times * from->x[k];
  }
}

/* ---- a model ---- */

/* Mean and scale of the features, and the eigenvectors of their correlations. */
static weir_status decompose(fit *f, const sums *s)
{
  const int64_t p = f->p;

  for (int64_t a = 0; a < p; a++) {
    const double mean = s->x[a] / s->n, square = s->xx[a * p + a] / s->n;
    const double variance = square - mean * mean, size = f->middle[a] * f->middle[a] + square;

    f->mean[a] = mean + f->middle[a];
    f->scale[a] = variance > 1e-20 * size ? sqrt(variance) : 0;
  }
  for (int64_t a = 0; a < p; a++) {
    for (int64_t b = 0; b <= a; b++) {
      const double scale = f->scale[a] * f->scale[b];
      const double both = s->xx[a * p + b] / s->n - s->x[a] / s->n * (s->x[b] / s->n);

      f->matrix[a * p + b] = f->matrix[b * p + a] = scale > 0 ? both / scale : 0;
    }
  }
  return weir_eigen_leading(f->matrix, p, p, f->value, f->vector);
}

/* Products of the eigenvectors with r of a target. */
static void project(const fit *f, const sums *s, int64_t target)
{
  const int64_t p = f->p;

  memset(f->along, 0, (size_t)p * sizeof *f->along);
  for (int64_t a = 0; a < p; a++) {
    const double both = s->xy[target * p + a] / s->n - s->x[a] / s->n * (s->y[target] / s->n);
    const double r = f->scale[a] > 0 ? both / f->scale[a] : 0;

    for (int64_t k = 0; k < p; k++) {
      f->along[k] += f->vector[k * p + a] * r;
    }
  }
}

/* Directions that the features lack, but for rounding, get no weight whatever the penalty. */
static void weigh(const fit *f, double penalty, double *weight)
{
  const double min_value = 1e-12 * f->value[0];

  memset(weight, 0, (size_t)f->p * sizeof *weight);
  for (int64_t k = 0; k < f->p && f->value[k] > min_value; k++) {
    const double by = f->along[k] / (f->value[k] + penalty);

    for (int64_t a = 0; a < f->p; a++) {
      weight[a] += by * f->vector[k * f->p + a];
    }
  }
}

static double apply(int64_t p, const double *mean, const double *scale, const double *weight,
                    const double *x)
{
  double sum = 0;

  for (int64_t a = 0; a < p; a++) {
    sum += scale[a] > 0 ? weight[a] * ((x[a] - mean[a]) / scale[a]) : 0;
  }
  return sum;
}

static double offset_of(const fit *f, const sums *s, int64_t target)
{
  return f->middle[f->p + target] + s->y[target] / s->n;
}

/* Adds the square errors of a fold, by a model of the others, for every target and penalty. */
static weir_status validate(fit *f, int64_t fold)
{
  const weir_real_list *const penalty = &f->opts->penalties;

  memset(f->train.x, 0, (size_t)sums_size(f) * sizeof *f->train.x);
  f->train.n = 0;
  for (int64_t k = 0; k < f->out->folds; k++) {
    if (k != fold) {
      add_sums(f, &f->by_fold[k], 1, &f->train);
    }
  }
  WEIR_TRY(decompose(f, &f->train));
  for (int64_t t = 0; t < f->t; t++) {
    const double offset = offset_of(f, &f->train, t);

    project(f, &f->train, t);
    for (int64_t k = 0; k < penalty->count; k++) {
      weigh(f, penalty->items[k], f->weight);
      for (int64_t i = 0; i < f->rows->n; i++) {
        if (f->fold[i] == fold) {
          const double e =
              offset + apply(f->p, f->mean, f->scale, f->weight, features(f, i)) - targets(f, i)[t];

          f->error[t * penalty->count + k] += e * e / (double)f->rows->n;
        }
      }
    }
  }
  return WEIR_OK;
}

/* Of penalties that are as good the largest. */
static void choose(const fit *f, int64_t target)
{
  const weir_real_list *const penalty = &f->opts->penalties;
  const double *const error = f->error + target * penalty->count;
  int64_t best = 0;

  for (int64_t k = 1; k < penalty->count; k++) {
    if (error[k] < error[best] ||
        (error[k] == error[best] && penalty->items[k] > penalty->items[best])) {
      best = k;
    }
  }
  f->out->penalty[target] = penalty->items[best];
  f->out->error[target] = error[best];
}

static weir_status work(fit *f, uint64_t seed)
{
  cf_ridge *const r = f->out;

  WEIR_TRY(cf_folds_make(f->rows, f->opts->folds, seed, "ridge", f->fold, &r->folds, &r->groups));
  WEIR_TRY(take_middle(f));
  WEIR_TRY(weir_alloc(r->folds, sizeof *f->by_fold, (void **)&f->by_fold));
  WEIR_TRY(weir_alloc((r->folds + 2) * sums_size(f), sizeof *f->buffer, (void **)&f->buffer));
  for (int64_t k = 0; k < r->folds; k++) {
    f->by_fold[k] = sums_at(f, k);
  }
  f->all = sums_at(f, r->folds);
  f->train = sums_at(f, r->folds + 1);
  for (int64_t i = 0; i < f->rows->n; i++) {
    add_row(f, i, &f->by_fold[f->fold[i]]);
  }
  for (int64_t k = 0; k < r->folds; k++) {
    WEIR_TRY(validate(f, k));
    add_sums(f, &f->by_fold[k], 1, &f->all);
  }
  WEIR_TRY(decompose(f, &f->all));
  memcpy(r->mean, f->mean, (size_t)f->p * sizeof *r->mean);
  memcpy(r->scale, f->scale, (size_t)f->p * sizeof *r->scale);
  for (int64_t t = 0; t < f->t; t++) {
    choose(f, t);
    project(f, &f->all, t);
    weigh(f, r->penalty[t], r->weight + t * f->p);
    r->offset[t] = offset_of(f, &f->all, t);
  }
  return WEIR_OK;
}

static weir_status alloc_buffers(fit *f)
{
  const int64_t p = f->p, t = f->t;
  const struct {
    double **to;
    int64_t n;
  } buffers[] = {
      {&f->middle, p + t}, {&f->matrix, p * p}, {&f->value, p},
      {&f->vector, p * p}, {&f->along, p},      {&f->mean, p},
      {&f->scale, p},      {&f->weight, p},     {&f->error, t * f->opts->penalties.count},
      {&f->out->mean, p},  {&f->out->scale, p}, {&f->out->weight, p * t},
  };

  for (size_t k = 0; k < sizeof buffers / sizeof buffers[0]; k++) {
    WEIR_TRY(weir_alloc(buffers[k].n, sizeof(double), (void **)buffers[k].to));
  }
  return weir_alloc(f->rows->n, sizeof *f->fold, (void **)&f->fold);
}

static void free_buffers(fit *f)
{
  double **const buffers[] = {&f->middle, &f->matrix, &f->value,  &f->vector, &f->along,
                              &f->mean,   &f->scale,  &f->weight, &f->error,  &f->buffer};

  for (size_t k = 0; k < sizeof buffers / sizeof buffers[0]; k++) {
    weir_free(buffers[k]);
  }
  weir_free(&f->fold);
  weir_free(&f->by_fold);
}

weir_status cf_ridge_check(const cf_ridge_opts *opts)
{
  return opts->penalties.count > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "ridge: penalties is empty: list at least one");
}

weir_status cf_ridge_fit(const cf_ridge_opts *opts, uint64_t seed, const cf_ridge_rows *rows,
                         cf_ridge *out)
{
  fit f = {.opts = opts, .rows = rows, .out = out, .p = rows->n_features, .t = rows->n_targets};
  weir_status status = WEIR_OK;

  *out = (cf_ridge){.n_features = f.p, .n_targets = f.t};
  WEIR_ASSERT(f.t <= CF_MAX_LABELS);
  WEIR_TRY(cf_ridge_check(opts));
  WEIR_TRY_GOTO(alloc_buffers(&f), done);
  WEIR_TRY_GOTO(work(&f, seed), done);
done:
  free_buffers(&f);
  if (status != WEIR_OK) {
    cf_ridge_fini(out);
  }
  return status;
}

void cf_ridge_fini(cf_ridge *r)
{
  weir_free(&r->mean);
  weir_free(&r->scale);
  weir_free(&r->weight);
}

void cf_ridge_predict(const cf_ridge *r, const double *x, double *out)
{
  for (int64_t t = 0; t < r->n_targets; t++) {
    out[t] =
        r->offset[t] + apply(r->n_features, r->mean, r->scale, r->weight + t * r->n_features, x);
  }
}
