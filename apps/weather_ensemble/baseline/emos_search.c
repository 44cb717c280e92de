/* emos_search.c - see emos_priv.h: the mean CRPS with its derivatives, and damped Newton steps. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "baseline/emos_priv.h"
#include "device/weir_parallel.h"

enum { CHUNK = 4096 }; /* cases that are summed in one go */

/* A Newton step changes the location of no case at one standard deviation of the mean by more than
 * so many scales, and the variance by no more than the square of it: a longer step may end where
 * the CRPS of values at bounds is flat, far from the minimum. */
static const double max_step = 4;

/* ---- CRPS and its derivatives ---- */

static void take_crps(const emos_search *s, double w, double x, double y, double v, double *sum)
{
  const double u = fmax(s->at[EMOS_C] + s->at[EMOS_D] * v, 1e-200),
               sigma = sqrt(u); /* 0: |y - mu| */
  const double q = 0.5 / sigma; /* dsigma/du   */
  const wx_distribution d = {.family = s->family,
                             .location = s->at[EMOS_A] + s->at[EMOS_B] * x,
                             .scale = sigma,
                             .lower = (s->lower - s->y0) / s->scale,
                             .shift = s->shift / s->scale,
                             .width = s->width / s->scale};
  const wx_crps_slopes c = wx_distribution_crps_slopes(&d, y);
  const double f_m = w * c.m, f_u = w * c.s * q;
  const double f_mm = w * c.mm, f_mu = w * c.ms * q, g_uu = w * fabs(c.ss) * q * q;
  const double f_uu = w * c.ss * q * q - f_u * 0.5 / u;

  sum[EMOS_F] += w * c.crps;
  sum[EMOS_F_M] += f_m;
  sum[EMOS_F_M_X] += f_m * x;
  sum[EMOS_F_U] += f_u;
  sum[EMOS_F_U_V] += f_u * v;
  sum[EMOS_F_MM] += f_mm;
  sum[EMOS_F_MM_X] += f_mm * x;
  sum[EMOS_F_MM_XX] += f_mm * x * x;
  sum[EMOS_F_MU] += f_mu;
  sum[EMOS_F_MU_X] += f_mu * x;
  sum[EMOS_F_MU_V] += f_mu * v;
  sum[EMOS_F_MU_XV] += f_mu * x * v;
  sum[EMOS_F_UU] += f_uu;
  sum[EMOS_F_UU_V] += f_uu * v;
  sum[EMOS_F_UU_VV] += f_uu * v * v;
  sum[EMOS_G_UU] += g_uu;
  sum[EMOS_G_UU_VV] += g_uu * v * v;
}

static int64_t chunks_of_row(const wx_cases *c)
{
  return (c->columns + CHUNK - 1) / CHUNK;
}

int64_t wx_emos_workspace(const wx_cases *cases)
{
  return cases->rows * chunks_of_row(cases) * EMOS_SUMS;
}

static void sum_chunk(const emos_search *s, int64_t chunk, double *sum)
{
  const wx_cases *const c = s->cases;
  const int64_t row = chunk / chunks_of_row(c), from = chunk % chunks_of_row(c) * CHUNK;
  const int64_t to = from + CHUNK < c->columns ? from + CHUNK : c->columns;
  const int64_t base = row * c->columns;

  emos_pass *const pass = s->pass != NULL ? s->pass : take_crps;

  if (s->pass == NULL && s->family == WX_NORMAL) {
    const emos_chunk normal = {.mean = c->mean + base + from,
                               .truth = c->truth + base + from,
                               .variance = c->variance + base + from,
                               .weight = c->weight != NULL ? c->weight + from : NULL,
                               .n = to - from,
                               .x0 = s->x0,
                               .y0 = s->y0,
                               .v0 = s->v0,
                               .scale = s->scale,
                               .at = s->at};

    s->normal(&normal, sum);
    return;
  }
  memset(sum, 0, EMOS_SUMS * sizeof *sum);
  for (int64_t i = from; i < to; i++) {
    const double x = (double)c->mean[base + i], y = (double)c->truth[base + i],
                 v = (double)c->variance[base + i], w = c->weight != NULL ? c->weight[i] : 1;

    if (isfinite(x) && isfinite(y) && isfinite(v) && v >= 0 && w > 0) {
      sum[EMOS_WEIGHT] += w;
      sum[EMOS_COUNT]++;
      pass(s, w, (x - s->x0) / s->scale, (y - s->y0) / s->scale,
           (v - s->v0) / (s->scale * s->scale), sum);
    }
  }
}

static void body(void *context, int64_t item, int thread)
{
  const emos_search *const s = context;

  (void)thread;
  sum_chunk(s, item, s->scratch + item * EMOS_SUMS);
}

/* In the order of the chunks, whoever summed them. */
void emos_sum_all(emos_search *s, double *total)
{
  const int64_t n = s->cases->rows * chunks_of_row(s->cases);
  double partial[EMOS_SUMS];

  memset(total, 0, EMOS_SUMS * sizeof *total);
  if (s->scratch != NULL) {
    weir_parallel(n, 0, body, s);
  }
  for (int64_t i = 0; i < n; i++) {
    const double *const add = s->scratch != NULL ? s->scratch + i * EMOS_SUMS : partial;

    if (s->scratch == NULL) {
      sum_chunk(s, i, partial);
    }
    for (int k = 0; k < EMOS_SUMS; k++) {
      total[k] += add[k];
    }
  }
}

double emos_value(emos_search *s)
{
  double sum[EMOS_SUMS];

  emos_sum_all(s, sum);
  return sum[EMOS_F] / sum[EMOS_WEIGHT];
}

/* ---- Steps ---- */

/* Solves (h + lambda damp) p = -g for the unknowns that are free; false: not positive. */
static bool solve(const double *sum, double lambda, const bool *free, double *p)
{
  const double h[EMOS_UNKNOWNS][EMOS_UNKNOWNS] = {
      {sum[EMOS_F_MM], sum[EMOS_F_MM_X], sum[EMOS_F_MU], sum[EMOS_F_MU_V]},
      {sum[EMOS_F_MM_X], sum[EMOS_F_MM_XX], sum[EMOS_F_MU_X], sum[EMOS_F_MU_XV]},
      {sum[EMOS_F_MU], sum[EMOS_F_MU_X], sum[EMOS_F_UU], sum[EMOS_F_UU_V]},
      {sum[EMOS_F_MU_V], sum[EMOS_F_MU_XV], sum[EMOS_F_UU_V], sum[EMOS_F_UU_VV]},
  };
  const double g[EMOS_UNKNOWNS] = {sum[EMOS_F_M], sum[EMOS_F_M_X], sum[EMOS_F_U], sum[EMOS_F_U_V]};
  const double damp[EMOS_UNKNOWNS] = {fabs(sum[EMOS_F_MM]), fabs(sum[EMOS_F_MM_XX]), sum[EMOS_G_UU],
                                      sum[EMOS_G_UU_VV]};
  double l[EMOS_UNKNOWNS][EMOS_UNKNOWNS] = {{0}};

  for (int i = 0; i < EMOS_UNKNOWNS; i++) {
    double at = free[i] ? h[i][i] + lambda * (damp[i] + 1e-12 * sum[EMOS_WEIGHT]) : 1;

    for (int j = 0; j < i; j++) {
      double v = free[i] && free[j] ? h[i][j] : 0;

      for (int k = 0; k < j; k++) {
        v -= l[i][k] * l[j][k];
      }
      l[i][j] = v / l[j][j];
      at -= l[i][j] * l[i][j];
    }
    if (free[i] && !(at > 1e-14 * fabs(h[i][i]))) {
      return false;
    }
    l[i][i] = sqrt(at);
    p[i] = free[i] ? -g[i] : 0;
    for (int j = 0; j < i; j++) {
      p[i] -= l[i][j] * p[j];
    }
    p[i] /= l[i][i];
  }
  for (int i = EMOS_UNKNOWNS - 1; i >= 0; i--) {
    for (int j = i + 1; j < EMOS_UNKNOWNS; j++) {
      p[i] -= l[j][i] * p[j];
    }
    p[i] /= l[i][i];
  }
  return true;
}

/* Returns the share of step p that `max_step` allows. */
static double share_of_step(const emos_search *s, const double *from, const double *p)
{
  const double u = fmax(1, from[EMOS_C] + from[EMOS_D] * s->v_mean);
  const double location = fmax(fabs(p[EMOS_A]), fabs(p[EMOS_B]) * s->sd_x);
  const double variance = fmax(fabs(p[EMOS_C]), fabs(p[EMOS_D]) * s->v_mean);

  return 1 / fmax(1, fmax(location / (max_step * sqrt(u)), variance / (max_step * max_step * u)));
}

/* The next unknowns, better than those of `sum`, with theirs; false: there are none. Raises and
 * lowers lambda (Levenberg and Marquardt); variances stay at a limit that they are pressed against
 * (Bertsekas 1982). */
static bool step(emos_search *s, double *sum, double *lambda)
{
  const double g[EMOS_UNKNOWNS] = {sum[EMOS_F_M], sum[EMOS_F_M_X], sum[EMOS_F_U], sum[EMOS_F_U_V]};
  double from[EMOS_UNKNOWNS], p[EMOS_UNKNOWNS], next[EMOS_SUMS];
  bool free[EMOS_UNKNOWNS];

  memcpy(from, s->at, sizeof from);
  for (int i = 0; i < EMOS_UNKNOWNS; i++) {
    free[i] = !s->fixed[i] && !(from[i] <= s->low[i] && g[i] >= 0) &&
              !(from[i] >= s->high[i] && g[i] <= 0);
  }
  for (; *lambda < 1e12; *lambda *= 10) {
    if (!solve(sum, *lambda, free, p)) {
      continue;
    }
    const double share = share_of_step(s, from, p);

    for (int i = 0; i < EMOS_UNKNOWNS; i++) {
      /* Between two bounds a scale that falls at once ends in a sharp minimum. */
      const double least =
          s->width > 0 && i == EMOS_C ? from[i] / (max_step * max_step) : -INFINITY;

      s->at[i] = fmin(s->high[i], fmax(fmax(s->low[i], least), from[i] + share * p[i]));
    }
    emos_sum_all(s, next);
    if (next[EMOS_F] < sum[EMOS_F]) {
      memcpy(sum, next, sizeof next);
      *lambda = fmax(*lambda * 0.1, 1e-12);
      return true;
    }
  }
  memcpy(s->at, from, sizeof from);
  return false;
}

double emos_descend(emos_search *s, const emos_stop *stop, int64_t *steps)
{
  double sum[EMOS_SUMS], lambda = 1e-3;

  *steps = 0;
  emos_sum_all(s, sum);
  const double rounding = DBL_EPSILON * sum[EMOS_WEIGHT]; /* of a CRPS of one scale */

  while (!s->settled && *steps < stop->max_iter) {
    const double before = sum[EMOS_F];

    if (!step(s, sum, &lambda)) {
      break;
    }
    ++*steps;
    if (before - sum[EMOS_F] <= fmax(stop->tolerance * before, rounding) && lambda < 1) {
      break;
    }
  }
  return sum[EMOS_F] / sum[EMOS_WEIGHT];
}
