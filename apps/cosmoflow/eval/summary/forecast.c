/* forecast.c - see forecast.h. */
#include "eval/summary/forecast.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "ops/eigen/weir_eigen.h"

enum { LABELS = CF_MAX_LABELS };

typedef struct universe {
  int64_t group, row;
} universe;

typedef struct work {
  const cf_ridge_rows *rows;
  int64_t n, m, t; /* universes, summaries, parameters */
  universe *of;    /* [rows->n], the first n are of different universes */
  double *mean;    /* [m] */
  double *slope;   /* [t, m] D' */
  double *rest;    /* [m] residual of a universe */
  double *scale;   /* [m] */
  double *matrix;  /* [m, m] C, then its correlations */
  double *value, *vector;
  double centre[LABELS];           /* mean p */
  double spread[LABELS * LABELS];  /* sum (p - mean p) (p - mean p)' */
  double inverse[LABELS * LABELS]; /* of spread */
} work;

static int by_group(const void *a, const void *b)
{
  const universe *const x = a, *const y = b;

  return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
                              : (x->row > y->row) - (x->row < y->row);
}

static const double *summaries(const work *w, int64_t i)
{
  return w->rows->x + w->of[i].row * w->rows->stride;
}

static const double *parameters(const work *w, int64_t i)
{
  return w->rows->y + w->of[i].row * w->t;
}

static void choose_rows(work *w)
{
  const cf_ridge_rows *const rows = w->rows;

  for (int64_t i = 0; i < rows->n; i++) {
    w->of[i] = (universe){rows->group[rows->row[i]], rows->row[i]};
  }
  if (rows->n > 0) { /* else of may be NULL, which qsort does not take */
    qsort(w->of, (size_t)rows->n, sizeof *w->of, by_group);
  }
  for (int64_t i = 0; i < rows->n; i++) {
    if (w->n == 0 || w->of[i].group != w->of[w->n - 1].group) {
      w->of[w->n++] = w->of[i];
    }
  }
}

/* Inverts a symmetric positive definite matrix by its Cholesky factor; false: it is not one. */
static bool invert(const double *a, int64_t n, double *out)
{
  double l[LABELS * LABELS] = {0};

  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j <= i; j++) {
      double sum = a[i * n + j];

      for (int64_t k = 0; k < j; k++) {
        sum -= l[i * n + k] * l[j * n + k];
      }
      if (i == j && !(sum > 1e-12 * a[i * n + i])) {
        return false;
      }
      l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
    }
  }
  for (int64_t c = 0; c < n; c++) {
    double x[LABELS];

    for (int64_t i = 0; i < n; i++) {
      x[i] = i == c ? 1 : 0;
      for (int64_t k = 0; k < i; k++) {
        x[i] -= l[i * n + k] * x[k];
      }
      x[i] /= l[i * n + i];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
      for (int64_t k = i + 1; k < n; k++) {
        x[i] -= l[k * n + i] * x[k];
      }
      x[i] /= l[i * n + i];
      out[i * n + c] = x[i];
    }
  }
  return true;
}

static weir_status take_means(work *w)
{
  for (int64_t i = 0; i < w->n; i++) {
    for (int64_t a = 0; a < w->m; a++) {
      w->mean[a] += summaries(w, i)[a] / (double)w->n;
    }
    for (int64_t k = 0; k < w->t; k++) {
      w->centre[k] += parameters(w, i)[k] / (double)w->n;
    }
  }
  for (int64_t a = 0; a < w->m; a++) {
    if (!isfinite(w->mean[a])) {
      return weir_fail(WEIR_ERR_NUMERIC, "forecast: summary %lld is not finite", (long long)a + 1);
    }
  }
  return WEIR_OK;
}

static weir_status take_slopes(work *w)
{
  const int64_t m = w->m, t = w->t;
  double along[LABELS];

  for (int64_t i = 0; i < w->n; i++) {
    for (int64_t k = 0; k < t; k++) {
      const double d = parameters(w, i)[k] - w->centre[k];

      for (int64_t j = 0; j < t; j++) {
        w->spread[k * t + j] += d * (parameters(w, i)[j] - w->centre[j]);
      }
      for (int64_t a = 0; a < m; a++) {
        w->slope[k * m + a] += d * (summaries(w, i)[a] - w->mean[a]);
      }
    }
  }
  if (!invert(w->spread, t, w->inverse)) {
    return weir_fail(WEIR_ERR_DATA,
                     "forecast: the parameters of the %lld training universes do not "
                     "vary independently",
                     (long long)w->n);
  }
  for (int64_t a = 0; a < m; a++) {
    for (int64_t k = 0; k < t; k++) {
      along[k] = w->slope[k * m + a];
    }
    for (int64_t k = 0; k < t; k++) {
      w->slope[k * m + a] = 0;
      for (int64_t j = 0; j < t; j++) {
        w->slope[k * m + a] += w->inverse[k * t + j] * along[j];
      }
    }
  }
  return WEIR_OK;
}

/* Correlations of the residuals, in units of w->scale; those without scatter are 0. */
static void take_correlations(work *w, int64_t freedom)
{
  const int64_t m = w->m;

  for (int64_t i = 0; i < w->n; i++) {
    for (int64_t a = 0; a < m; a++) {
      w->rest[a] = summaries(w, i)[a] - w->mean[a];
      for (int64_t k = 0; k < w->t; k++) {
        w->rest[a] -= w->slope[k * m + a] * (parameters(w, i)[k] - w->centre[k]);
      }
    }
    for (int64_t a = 0; a < m; a++) {
      for (int64_t b = 0; b <= a; b++) {
        w->matrix[a * m + b] += w->rest[a] * w->rest[b] / (double)freedom;
      }
    }
  }
  for (int64_t a = 0; a < m; a++) {
    const double variance = w->matrix[a * m + a];

    w->scale[a] = variance > 1e-20 * w->mean[a] * w->mean[a] ? sqrt(variance) : 0;
  }
  for (int64_t a = 0; a < m; a++) {
    for (int64_t b = 0; b <= a; b++) {
      const double scale = w->scale[a] * w->scale[b];

      w->matrix[a * m + b] = scale > 0 ? w->matrix[a * m + b] / scale : 0;
      w->matrix[b * m + a] = w->matrix[a * m + b];
    }
  }
}

static weir_status too_few(const work *w, int64_t needed)
{
  return weir_fail(WEIR_ERR_DATA,
                   "eval.forecast: the covariance of %lld summaries needs %lld training universes, "
                   "and there are %lld: more of them, or fewer bins",
                   (long long)(needed - w->t - 3), (long long)needed, (long long)w->n);
}

/* Adds D' C^-1 D, by the eigenvectors of the correlations. */
static void add_information(const work *w, int64_t rank, double factor, double *fisher)
{
  const int64_t m = w->m, t = w->t;
  double along[LABELS];

  for (int64_t i = 0; i < rank; i++) {
    for (int64_t k = 0; k < t; k++) {
      along[k] = 0;
      for (int64_t a = 0; a < m; a++) {
        along[k] += w->scale[a] > 0 ? w->vector[i * m + a] * w->slope[k * m + a] / w->scale[a] : 0;
      }
    }
    for (int64_t k = 0; k < t; k++) {
      for (int64_t j = 0; j < t; j++) {
        fisher[k * t + j] += factor * along[k] * along[j] / w->value[i];
      }
    }
  }
}

static weir_status take_sigmas(const work *w, double *fisher, cf_forecast *out)
{
  const int64_t t = w->t;
  double inverse[LABELS * LABELS];
  const bool alone = invert(fisher, t, inverse);

  for (int64_t k = 0; k < t; k++) {
    out->alone[k] = alone ? sqrt(inverse[k * t + k]) : (double)NAN;
    fisher[k * t + k] += 3;
  }
  if (!invert(fisher, t, inverse)) {
    return weir_fail(WEIR_ERR_DATA,
                     "eval.forecast: %lld training universes are too few for %lld summaries: the "
                     "noise of their derivatives exceeds what they know",
                     (long long)w->n, (long long)out->rank);
  }
  for (int64_t k = 0; k < t; k++) {
    out->sigma[k] = sqrt(inverse[k * t + k]);
  }
  return WEIR_OK;
}

static weir_status forecast(work *w, cf_forecast *out)
{
  const int64_t freedom = w->n - w->t - 1;
  double fisher[LABELS * LABELS] = {0};

  if (freedom < 3) {
    return too_few(w, w->t + 4);
  }
  WEIR_TRY(take_means(w));
  WEIR_TRY(take_slopes(w));
  take_correlations(w, freedom);
  WEIR_TRY(weir_eigen_leading(w->matrix, w->m, w->m, w->value, w->vector));
  while (out->rank < w->m && w->value[out->rank] > 1e-8 * w->value[0]) {
    out->rank++;
  }
  if (out->rank + 2 > freedom) { /* also where the rank is what the universes allow */
    int64_t varied = 0;

    for (int64_t a = 0; a < w->m; a++) {
      varied += w->scale[a] > 0;
    }
    return too_few(w, varied + w->t + 3);
  }
  out->universes = w->n;
  out->factor = (double)(freedom - out->rank - 1) / (double)freedom;
  add_information(w, out->rank, out->factor, fisher);
  for (int64_t k = 0; k < w->t * w->t; k++) {
    fisher[k] -= (double)out->rank * w->inverse[k];
  }
  return take_sigmas(w, fisher, out);
}

weir_status cf_forecast_make(const cf_ridge_rows *rows, cf_forecast *out)
{
  work w = {.rows = rows, .m = rows->n_features, .t = rows->n_targets};
  const int64_t m = w.m;
  double *buffer = NULL;
  weir_status status = WEIR_OK;

  *out = (cf_forecast){.universes = 0};
  WEIR_ASSERT(w.t <= LABELS);
  WEIR_TRY_GOTO(weir_alloc(rows->n, sizeof *w.of, (void **)&w.of), done);
  WEIR_TRY_GOTO(weir_alloc(m * (4 + w.t + 2 * m), sizeof *buffer, (void **)&buffer), done);
  w.mean = buffer;
  w.rest = w.mean + m;
  w.scale = w.rest + m;
  w.value = w.scale + m;
  w.slope = w.value + m;
  w.matrix = w.slope + w.t * m;
  w.vector = w.matrix + m * m;
  choose_rows(&w);
  WEIR_TRY_GOTO(forecast(&w, out), done);
done:
  weir_free(&w.of);
  weir_free(&buffer);
  return status;
}
