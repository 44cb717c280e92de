/* standard_fit.c - statistics of the training samples: maps of moments, gathered over dates, then
 * over windows, depths or all. */
#include <math.h>
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "data/date.h"
#include "data/las.h"
#include "data/samples/standard.h"

/* Per value of a sample: how many were seen, their mean and the sum of squares around it (Welford
 * 1962). */
typedef struct moments {
  double *n, *mean, *m2;
} moments;

typedef struct fit {
  wx_standard *s;
  moments x, y;     /* of the channels of x, and of y less m */
  moments members;  /* of the raw mean, where y is counted from the climate */
  double *total[3]; /* [x channel, positions] of the years: means, standard deviations, how many */
  double *map[3];   /* scratch, [cells] */
} fit;

static weir_status take_moments(moments *m, int64_t count)
{
  WEIR_TRY(weir_alloc(count, sizeof *m->n, (void **)&m->n));
  WEIR_TRY(weir_alloc(count, sizeof *m->n, (void **)&m->mean));
  return weir_alloc(count, sizeof *m->n, (void **)&m->m2);
}

static void free_moments(moments *m)
{
  weir_free(&m->n);
  weir_free(&m->mean);
  weir_free(&m->m2);
}

/* Counts a value that is there. */
static void take(moments *m, int64_t i, double v)
{
  if (!isfinite(v)) {
    return;
  }
  const double d = v - m->mean[i];

  m->n[i]++;
  m->mean[i] += d / m->n[i];
  m->m2[i] += d * (v - m->mean[i]);
}

/* Moments of count values together, after Chan, Golub and LeVeque (1983). */
static void together(const moments *m, int64_t first, int64_t count, double *n, double *mean,
                     double *m2)
{
  *n = *mean = *m2 = 0;
  for (int64_t i = first; i < first + count; i++) {
    const double all = *n + m->n[i], apart = m->mean[i] - *mean;

    if (m->n[i] == 0) {
      continue;
    }
    *m2 += m->m2[i] + apart * apart * *n * m->n[i] / all;
    *mean += apart * m->n[i] / all;
    *n = all;
  }
}

static double deviation(double n, double mean, double m2)
{
  const double sd = n > 0 ? sqrt(m2 / n) : 0;

  return sd > 1e-12 * fabs(mean) && sd > 0 ? sd : 1;
}

/* The totals of a plane of positions. */
static wx_las_total total_of(const fit *f, int64_t first)
{
  return (wx_las_total){f->total[0] + first, f->total[1] + first, f->total[2] + first};
}

/* The windows of a channel at a depth go into its totals. */
static weir_status add_windows(fit *f, int64_t first)
{
  const wx_map_shape *shape = &f->s->map;
  const int64_t plane = shape->n_lat * shape->n_lon;
  const wx_las_total total = total_of(f, first);
  double n, middle, m2;

  together(&f->x, first, plane, &n, &middle, &m2); /* so that squares do not cancel */
  for (int64_t i = 0; i < plane; i++) {
    const double d = f->x.mean[first + i] - middle;

    f->map[0][i] = f->x.n[first + i];
    f->map[1][i] = f->x.n[first + i] * d;
    f->map[2][i] = f->x.m2[first + i] + f->x.n[first + i] * d * d;
  }
  return wx_las_add(shape, f->s->opts->window,
                    &(wx_las_sums){f->map[0], f->map[1], f->map[2], middle}, &total);
}

/* What was gathered of a year, or of all dates, goes into the sums; then all is 0 again. */
static weir_status close_year(fit *f)
{
  const wx_info *facts = f->s->facts;
  const int64_t plane = f->s->map.n_lat * f->s->map.n_lon;
  const int64_t all = facts->n_channels[WX_X] * facts->cells;

  for (int64_t first = 0; first < all; first += plane) {
    if (f->s->opts->inputs == WX_WHERE_GLOBAL) {
      double n, mean, m2;

      together(&f->x, first, plane, &n, &mean, &m2);
      f->total[0][first / plane] += mean;
      f->total[1][first / plane] += deviation(n, mean, m2);
      f->total[2][first / plane]++;
    } else {
      WEIR_TRY(add_windows(f, first));
    }
  }
  for (int64_t i = 0; i < all; i++) {
    f->x.n[i] = f->x.mean[i] = f->x.m2[i] = 0;
  }
  return WEIR_OK;
}

/* Of a plane: standard deviations are not too small, and a position that is never known does not
 * change: it is met as missing. */
static void finish_plane(const wx_standard *s, int64_t first)
{
  const int64_t plane = s->map.n_lat * s->map.n_lon;
  double sum = 0, n = 0;

  for (int64_t i = first; i < first + plane; i++) {
    sum += isnan(s->x_sd[i]) ? 0 : s->x_sd[i];
    n += !isnan(s->x_sd[i]);
  }
  const double min_sd = n > 0 ? s->opts->min_sd * sum / n : 0;

  for (int64_t i = first; i < first + plane; i++) {
    const double sd = s->x_sd[i] > min_sd ? s->x_sd[i] : min_sd;

    s->x_mean[i] = isnan(s->x_mean[i]) ? 0 : s->x_mean[i];
    s->x_sd[i] = sd > 1e-12 * fabs(s->x_mean[i]) && sd > 0 ? sd : 1;
  }
}

/* Means and standard deviations of x of the totals. */
static weir_status finish_x(fit *f)
{
  wx_standard *s = f->s;
  const int64_t plane = s->map.n_lat * s->map.n_lon,
                n = s->facts->n_channels[WX_X] * s->n_positions;
  const bool local = s->opts->inputs == WX_WHERE_LOCAL;

  for (int64_t first = 0; first < n && local; first += plane) {
    const wx_las_total total = total_of(f, first);

    WEIR_TRY(wx_las_finish(&s->map, s->opts->smoothing_sigma, &total));
  }
  for (int64_t i = 0; i < n; i++) {
    s->x_mean[i] = f->total[0][i] / (local ? 1 : f->total[2][i]);
    s->x_sd[i] = f->total[1][i] / (local ? 1 : f->total[2][i]);
  }
  for (int64_t first = 0; first < n && local; first += plane) {
    finish_plane(s, first);
  }
  return WEIR_OK;
}

/* What is taken off channel c of y, as normalization.bias says: [cells] of map. */
static weir_status finish_map(const wx_standard *s, const moments *of, int64_t c, double *map)
{
  const int64_t cells = s->facts->cells, plane = s->map.n_lat * s->map.n_lon;
  const int kind = s->base == WX_BASE_ZERO ? WX_BIAS_NONE : s->opts->bias;
  double n, mean, m2;

  together(of, c * cells, cells, &n, &mean, &m2);
  for (int64_t i = 0; i < cells; i++) {
    const double own = of->n[c * cells + i] > 0 ? of->mean[c * cells + i] : mean;

    map[c * cells + i] = kind == WX_BIAS_LOCAL ? own : kind == WX_BIAS_GLOBAL ? mean : 0;
  }
  for (int64_t first = 0; first < cells && kind == WX_BIAS_LOCAL; first += plane) {
    WEIR_TRY(wx_map_smooth(&s->map, s->opts->bias_smooth, map + c * cells + first));
  }
  return WEIR_OK;
}

/* Bias and unit of channel c of y: the unit is what is left without the bias. */
static weir_status finish_y(fit *f, int64_t c)
{
  wx_standard *s = f->s;
  const int64_t cells = s->facts->cells;
  double n, mean, m2, square = 0;

  together(&f->y, c * cells, cells, &n, &mean, &m2);
  if (n == 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: no training sample has a value of %s", s->facts->name,
                     s->facts->channel[WX_Y][c].name);
  }
  WEIR_TRY(finish_map(s, &f->y, c, s->bias));
  if (s->members != NULL) {
    WEIR_TRY(finish_map(s, &f->members, c, s->members));
  }
  for (int64_t i = c * cells; i < (c + 1) * cells; i++) {
    const double d = f->y.mean[i] - s->bias[i];

    square += f->y.m2[i] + (f->y.n[i] > 0 ? f->y.n[i] * d * d : 0);
  }
  s->unit[c] = square > 0 ? sqrt(square / n) : 1;
  return WEIR_OK;
}

static void take_sample(fit *f, const wx_sample *v, const float *m)
{
  const wx_info *facts = f->s->facts;

  for (int64_t i = 0; i < facts->n_channels[WX_X] * facts->cells; i++) {
    take(&f->x, i, (double)v->x[i]);
  }
  for (int64_t i = 0; i < facts->n_channels[WX_Y] * facts->cells; i++) {
    take(&f->y, i, (double)v->y[i] - (f->s->base == WX_BASE_RAW ? (double)m[i] : 0));
    if (f->s->members != NULL) {
      take(&f->members, i, (double)v->m[i]);
    }
  }
}

/* The year of a time, to tell years apart. */
static int year_of(double days)
{
  char text[32];

  wx_date_text(days, text, sizeof text);
  return atoi(text);
}

static weir_status take_samples(fit *f, wx_samples *samples, const int64_t *sample, int64_t n,
                                const float *mean)
{
  const wx_info *facts = f->s->facts;
  const int64_t of_y = facts->n_channels[WX_Y] * facts->cells;
  const bool yearly = f->s->opts->by_year && f->s->opts->inputs == WX_WHERE_LOCAL;

  for (int64_t i = 0; i < n; i++) {
    wx_sample v;

    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "stopped at sample %lld of %lld, before the training",
                       (long long)i, (long long)n);
    }
    WEIR_TRY(wx_samples_read(samples, sample[i], &v));
    take_sample(f, &v, mean != NULL ? mean + sample[i] * of_y : v.m);
    if (i == n - 1 ||
        (yearly && year_of(facts->start[sample[i]]) != year_of(facts->start[sample[i + 1]]))) {
      WEIR_TRY(close_year(f));
    }
    weir_progress("statistics", i + 1, n, "samples");
  }
  return WEIR_OK;
}

static weir_status open_fit(fit *f, wx_standard *s)
{
  const wx_info *facts = s->facts;

  WEIR_TRY(take_moments(&f->x, facts->n_channels[WX_X] * facts->cells));
  WEIR_TRY(take_moments(&f->y, facts->n_channels[WX_Y] * facts->cells));
  if (s->members != NULL) {
    WEIR_TRY(take_moments(&f->members, facts->n_channels[WX_Y] * facts->cells));
  }
  for (int k = 0; k < 3; k++) {
    WEIR_TRY(weir_alloc(facts->n_channels[WX_X] * s->n_positions, sizeof(double),
                        (void **)&f->total[k]));
    WEIR_TRY(weir_alloc(facts->cells, sizeof **f->map, (void **)&f->map[k]));
  }
  return WEIR_OK;
}

weir_status wx_standard_fit(wx_standard *s, wx_samples *samples, const int64_t *sample, int64_t n,
                            const float *mean)
{
  fit f = {.s = s};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(open_fit(&f, s), done);
  WEIR_TRY_GOTO(take_samples(&f, samples, sample, n, mean), done);
  WEIR_TRY_GOTO(finish_x(&f), done);
  for (int64_t c = 0; c < s->facts->n_channels[WX_Y]; c++) {
    WEIR_TRY_GOTO(finish_y(&f, c), done);
  }
done:
  free_moments(&f.x);
  free_moments(&f.y);
  free_moments(&f.members);
  for (int k = 0; k < 3; k++) {
    weir_free(&f.total[k]);
    weir_free(&f.map[k]);
  }
  return status;
}
