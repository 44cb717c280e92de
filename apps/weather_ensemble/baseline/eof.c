/* eof.c - see eof.h. */
#include "baseline/eof.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "ops/eigen/weir_eigen.h"

const weir_opt wx_eof_options[] = {
    WEIR_OPT_INT(
        wx_eof_opts, count, 0, 0, 10000, "1",
        "leading EOFs of the mean field that its error is regressed on, such as 20; 0: none"),
    WEIR_OPT_END,
};

enum { LANES = 8, BLOCK = 256 /* cells */, LEAST = 4 /* dates */ };

typedef struct fit {
  const wx_cases *cases;
  wx_eof *out;
  float *apart;   /* [dates, cells] anomalies times the root of the weight */
  double *gram;   /* [dates, dates]          */
  double *u;      /* [count, dates], length 1 */
  double *value;  /* [count]                 */
  double *within; /* [dates] leverage         */
  double *column; /* [threads, dates]         */
  float *left_out;
} fit;

static double weight_of(const wx_cases *c, int64_t cell)
{
  return c->weight != NULL ? c->weight[cell] : 1;
}

static void take_anomalies(void *context, int64_t item, int thread)
{
  const fit *const f = context;
  const wx_cases *const c = f->cases;
  const int64_t end = (item + 1) * BLOCK < c->columns ? (item + 1) * BLOCK : c->columns;

  (void)thread;
  for (int64_t i = item * BLOCK; i < end; i++) {
    double sum = 0;

    for (int64_t t = 0; t < c->rows; t++) {
      sum += (double)c->mean[t * c->columns + i];
    }
    const double mean = sum / (double)c->rows; /* NaN where one is */

    f->out->mean[i] = isfinite(mean) ? (float)mean : NAN;
    for (int64_t t = 0; t < c->rows; t++) {
      const double a = (double)c->mean[t * c->columns + i] - mean;

      f->apart[t * c->columns + i] = isfinite(mean) ? (float)(a * sqrt(weight_of(c, i))) : 0;
    }
  }
}

static void take_products(void *context, int64_t item, int thread)
{
  const fit *const f = context;
  const int64_t cells = f->cases->columns, n = f->cases->rows;
  const float *const a = f->apart + item * cells;

  (void)thread;
  for (int64_t t = 0; t <= item; t++) {
    const float *const b = f->apart + t * cells;
    double lane[LANES] = {0}, sum = 0;
    int64_t i = 0;

    for (; i + LANES <= cells; i += LANES) {
      for (int k = 0; k < LANES; k++) {
        lane[k] += (double)a[i + k] * (double)b[i + k];
      }
    }
    for (; i < cells; i++) {
      sum += (double)a[i] * (double)b[i];
    }
    for (int k = 0; k < LANES; k++) {
      sum += lane[k];
    }
    f->gram[item * n + t] = sum;
    f->gram[t * n + item] = sum;
  }
}

static double along(const fit *f, int64_t k, const double *column)
{
  const int64_t n = f->cases->rows;
  double sum = 0;

  for (int64_t t = 0; t < n; t++) {
    sum += f->u[k * n + t] * column[t];
  }
  return sum;
}

/* Patterns that give u the variance 1: sum_t u_t a_t sqrt(n) / value. */
static void make_patterns(const fit *f, int64_t i, double *column)
{
  const wx_cases *const c = f->cases;
  const double weight = weight_of(c, i);

  for (int64_t t = 0; t < c->rows; t++) {
    column[t] = (double)f->apart[t * c->columns + i];
  }
  for (int64_t k = 0; k < f->out->count; k++) {
    const double sum = along(f, k, column);

    f->out->pattern[k * c->columns + i] =
        weight > 0 ? (float)(sum * sqrt((double)c->rows / weight) / f->value[k]) : 0;
  }
}

/* Least squares of the error on 1 and u, which are orthogonal; and the error of each date by the
 * others: its residual over 1 - leverage (Cook and Weisberg 1982). */
static void regress(const fit *f, int64_t i, double *column)
{
  const wx_cases *const c = f->cases;
  const int64_t n = c->rows, cells = c->columns;
  float *const slope = f->out->slope + i;
  double sum = 0, count = 0;

  for (int64_t t = 0; t < n; t++) {
    column[t] = (double)c->truth[t * cells + i] - (double)c->mean[t * cells + i];
    sum += isfinite(column[t]) ? column[t] : 0;
    count += isfinite(column[t]);
  }
  const double mean = count > 0 ? sum / count : 0;

  for (int64_t t = 0; t < n; t++) {
    column[t] = isfinite(column[t]) ? column[t] - mean : 0;
  }
  slope[0] = (float)mean;
  for (int64_t k = 0; k < f->out->count; k++) {
    slope[(1 + k) * cells] = (float)(along(f, k, column) / sqrt((double)n));
  }
  for (int64_t t = 0; t < n && f->left_out != NULL; t++) {
    double rest = column[t];

    for (int64_t k = 0; k < f->out->count; k++) {
      rest -= (double)slope[(1 + k) * cells] * sqrt((double)n) * f->u[k * n + t];
    }
    f->left_out[t * cells + i] =
        (float)((double)c->mean[t * cells + i] + mean + column[t] - rest / (1 - f->within[t]));
  }
}

static void fit_cells(void *context, int64_t item, int thread)
{
  const fit *const f = context;
  const int64_t cells = f->cases->columns;
  const int64_t end = (item + 1) * BLOCK < cells ? (item + 1) * BLOCK : cells;
  double *const column = f->column + (int64_t)thread * f->cases->rows;

  for (int64_t i = item * BLOCK; i < end; i++) {
    make_patterns(f, i, column);
    regress(f, i, column);
  }
}

/* EOFs that no variance is left for are none. */
static weir_status find_eofs(fit *f)
{
  const int64_t n = f->cases->rows;
  wx_eof *const out = f->out;
  double all = 0;

  if (out->count > 0) {
    WEIR_TRY(weir_eigen_leading(f->gram, n, out->count, f->value, f->u));
  }
  for (int64_t t = 0; t < n; t++) {
    all += f->gram[t * (n + 1)];
  }
  while (out->count > 0 && !(f->value[out->count - 1] > 1e-12 * all)) {
    out->count--;
  }
  for (int64_t k = 0; k < out->count; k++) {
    out->share[k] = f->value[k] / all;
  }
  for (int64_t t = 0; t < n; t++) {
    f->within[t] = 1 / (double)n;
    for (int64_t k = 0; k < out->count; k++) {
      f->within[t] += f->u[k * n + t] * f->u[k * n + t];
    }
    f->within[t] = fmin(f->within[t], 1 - 1e-6);
  }
  return WEIR_OK;
}

static weir_status work(fit *f)
{
  const int64_t n = f->cases->rows, cells = f->cases->columns, blocks = (cells + BLOCK - 1) / BLOCK;
  const int64_t count = f->out->count;
  wx_eof *const out = f->out;

  WEIR_TRY(weir_alloc(cells, sizeof *out->mean, (void **)&out->mean));
  WEIR_TRY(weir_alloc(count * cells, sizeof *out->pattern, (void **)&out->pattern));
  WEIR_TRY(weir_alloc((1 + count) * cells, sizeof *out->slope, (void **)&out->slope));
  WEIR_TRY(weir_alloc(count, sizeof *out->share, (void **)&out->share));
  WEIR_TRY(weir_alloc(n * cells, sizeof *f->apart, (void **)&f->apart));
  WEIR_TRY(weir_alloc(n * n, sizeof *f->gram, (void **)&f->gram));
  WEIR_TRY(weir_alloc(count * n, sizeof *f->u, (void **)&f->u));
  WEIR_TRY(weir_alloc(count, sizeof *f->value, (void **)&f->value));
  WEIR_TRY(weir_alloc(n, sizeof *f->within, (void **)&f->within));
  WEIR_TRY(weir_alloc(weir_threads_get() * n, sizeof *f->column, (void **)&f->column));
  weir_parallel(blocks, 0, take_anomalies, f);
  weir_parallel(n, 0, take_products, f);
  WEIR_TRY(find_eofs(f));
  weir_parallel(blocks, 0, fit_cells, f);
  return WEIR_OK;
}

weir_status wx_eof_fit(const wx_eof_opts *opts, const wx_cases *cases, wx_eof *out, float *left_out)
{
  fit f = {.cases = cases, .out = out, .left_out = left_out};

  if (cases->rows < LEAST) {
    return weir_fail(WEIR_ERR_DATA,
                     "EOFs: %lld dates to fit them to, at least %d are needed: widen "
                     "data.split.train",
                     (long long)cases->rows, LEAST);
  }
  *out = (wx_eof){.count = opts->count < cases->rows - 2 ? opts->count : cases->rows - 2,
                  .cells = cases->columns};
  const weir_status status = work(&f);

  if (status != WEIR_OK) {
    wx_eof_fini(out);
  }
  weir_free(&f.apart);
  weir_free(&f.gram);
  weir_free(&f.u);
  weir_free(&f.value);
  weir_free(&f.within);
  weir_free(&f.column);
  return status;
}

void wx_eof_apply(const wx_eof *eof, const double *weight, const float *mean, float *corrected)
{
  for (int64_t i = 0; i < eof->cells; i++) {
    corrected[i] = mean[i] + eof->slope[i];
  }
  for (int64_t k = 0; k < eof->count; k++) {
    const float *const pattern = eof->pattern + k * eof->cells;
    const float *const slope = eof->slope + (1 + k) * eof->cells;
    double u = 0;

    for (int64_t i = 0; i < eof->cells; i++) {
      const double a = (double)mean[i] - (double)eof->mean[i];

      u += isfinite(a) ? (weight != NULL ? weight[i] : 1) * a * (double)pattern[i] : 0;
    }
    for (int64_t i = 0; i < eof->cells; i++) {
      corrected[i] += (float)u * slope[i];
    }
  }
}

void wx_eof_fini(wx_eof *eof)
{
  weir_free(&eof->mean);
  weir_free(&eof->pattern);
  weir_free(&eof->slope);
  weir_free(&eof->share);
}
