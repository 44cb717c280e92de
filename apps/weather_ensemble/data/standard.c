/* standard.c - see standard.h. */
#include "data/standard.h"
#include <math.h>
#include "base/weir_log.h"
#include "base/weir_signal.h"

/* Mean and sum of squares around it of what was seen, after Chan, Golub and LeVeque (1983). */
typedef struct moments {
  double n, mean, m2;
} moments;

static void take(moments *m, const float *a, const float *minus, int64_t n)
{
  double mean = 0, m2 = 0;

  for (int64_t i = 0; i < n; i++) {
    mean += (double)a[i] - (minus != NULL ? (double)minus[i] : 0);
  }
  mean /= (double)n;
  for (int64_t i = 0; i < n; i++) {
    const double d = (double)a[i] - (minus != NULL ? (double)minus[i] : 0) - mean;

    m2 += d * d;
  }
  const double all = m->n + (double)n, apart = mean - m->mean;

  m->m2 += m2 + apart * apart * m->n * (double)n / all;
  m->mean += apart * (double)n / all;
  m->n = all;
}

static double deviation(const moments *m)
{
  const double sd = sqrt(m->m2 / m->n);

  return sd > 1e-12 * fabs(m->mean) && sd > 0 ? sd : 1;
}

weir_status wx_standard_open(const wx_facts *facts, wx_target target, weir_store *store,
                             wx_standard *out)
{
  const int64_t n[WX_SIDES] = {facts->n_channels[WX_X], facts->n_channels[WX_Y]};
  const struct {
    const char *name;
    wx_side side;
    double **at;
  } array[] = {{"standard.x_mean", WX_X, &out->x_mean},
               {"standard.x_sd", WX_X, &out->x_sd},
               {"standard.y_mean", WX_Y, &out->y_mean},
               {"standard.y_sd", WX_Y, &out->y_sd},
               {"standard.bias", WX_Y, &out->bias}};

  *out = (wx_standard){.target = target, .n_x = n[WX_X], .n_y = n[WX_Y], .cells = facts->cells};
  for (int64_t c = 0; c < n[WX_Y]; c++) {
    WEIR_TRY(wx_samples_pair(facts, c, &out->pair[c]));
    if (out->pair[c] < 0 && target == WX_TARGET_DIFFERENCE) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "model.target: the channel %s of y is not in x of %s, so there is no "
                       "difference: set model.target to field",
                       facts->channel[WX_Y][c].name, facts->name);
    }
  }
  for (size_t i = 0; i < sizeof array / sizeof array[0]; i++) {
    WEIR_TRY(weir_store_add(store, array[i].name, WEIR_F64, 1, &n[array[i].side]));
    *array[i].at = weir_store_get(store, array[i].name)->data;
  }
  return WEIR_OK;
}

weir_status wx_standard_fit(wx_standard *s, wx_samples *samples, const int64_t *sample, int64_t n,
                            float *x, float *y)
{
  moments of_x[WX_CHANNELS] = {{.n = 0}}, of_y[WX_CHANNELS] = {{.n = 0}},
          between[WX_CHANNELS] = {{.n = 0}};
  const bool difference = s->target == WX_TARGET_DIFFERENCE;

  for (int64_t i = 0; i < n; i++) {
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "stopped at sample %lld of %lld, before the training",
                       (long long)i, (long long)n);
    }
    WEIR_TRY(wx_samples_read(samples, WX_X, sample[i], x));
    WEIR_TRY(wx_samples_read(samples, WX_Y, sample[i], y));
    for (int64_t c = 0; c < s->n_x; c++) {
      take(&of_x[c], x + c * s->cells, NULL, s->cells);
    }
    for (int64_t c = 0; c < s->n_y; c++) {
      const float *const truth = y + c * s->cells;

      take(&of_y[c], truth, NULL, s->cells);
      if (s->pair[c] >= 0) {
        take(&between[c], truth, x + s->pair[c] * s->cells, s->cells);
      }
    }
    weir_progress("statistics", i + 1, n, "samples");
  }
  for (int64_t c = 0; c < s->n_x; c++) {
    s->x_mean[c] = of_x[c].mean;
    s->x_sd[c] = deviation(&of_x[c]);
  }
  for (int64_t c = 0; c < s->n_y; c++) {
    const moments *const m = difference ? &between[c] : &of_y[c];

    s->y_mean[c] = m->mean;
    s->y_sd[c] = deviation(m);
    s->bias[c] = between[c].mean; /* 0 where x has no such channel */
  }
  return WEIR_OK;
}

void wx_standard_x(const wx_standard *s, const float *x, float *out)
{
  for (int64_t c = 0; c < s->n_x; c++) {
    for (int64_t i = 0; i < s->cells; i++) {
      out[i * s->n_x + c] = (float)(((double)x[c * s->cells + i] - s->x_mean[c]) / s->x_sd[c]);
    }
  }
}

/* What truth is counted from. */
static double base(const wx_standard *s, const float *x, int64_t c, int64_t i)
{
  return s->y_mean[c] +
         (s->target == WX_TARGET_DIFFERENCE ? (double)x[s->pair[c] * s->cells + i] : 0);
}

void wx_standard_y(const wx_standard *s, const float *x, const float *y, float *out)
{
  for (int64_t c = 0; c < s->n_y; c++) {
    for (int64_t i = 0; i < s->cells; i++) {
      out[i * s->n_y + c] = (float)(((double)y[c * s->cells + i] - base(s, x, c, i)) / s->y_sd[c]);
    }
  }
}

void wx_standard_field(const wx_standard *s, const float *x, const float *mean, float *out)
{
  for (int64_t c = 0; c < s->n_y; c++) {
    for (int64_t i = 0; i < s->cells; i++) {
      out[c * s->cells + i] = (float)(base(s, x, c, i) + s->y_sd[c] * (double)mean[i * s->n_y + c]);
    }
  }
}

void wx_standard_spread(const wx_standard *s, const float *spread, float *out)
{
  for (int64_t c = 0; c < s->n_y; c++) {
    for (int64_t i = 0; i < s->cells; i++) {
      out[c * s->cells + i] = (float)(s->y_sd[c] * (double)spread[i * s->n_y + c]);
    }
  }
}
