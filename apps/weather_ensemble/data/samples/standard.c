/* standard.c - see standard.h; standard_fit.c fills the arrays. */
#include "data/samples/standard.h"
#include <math.h>

const weir_opt wx_standard_options[] = {
    WEIR_OPT_ENUM(wx_standard_opts, inputs, WX_WHERE_GLOBAL, WX_WHERE_CHOICES,
                  "mean and standard deviation of a channel of x are one number, or a map (with a "
                  "window and smoothing: LAS of arXiv:2005.08748)",
                  .alias = "x"),
    WEIR_OPT_INT(wx_standard_opts, window, 1, 1, 1001, "1",
                 "local: cells on a side of the square that is taken together; odd (LAS: 7)"),
    WEIR_OPT_REAL(wx_standard_opts, smoothing_sigma, 0, 0, 1000, "cells",
                  "local: standard deviation of the Gaussian that smooths the maps (LAS: 10)",
                  .alias = "smooth"),
    WEIR_OPT_BOOL(wx_standard_opts, by_year, false,
                  "local: means and standard deviations of the years are averaged (LAS), else all "
                  "dates are taken together"),
    WEIR_OPT_REAL(wx_standard_opts, min_sd, 0.1, 0, 10, "1",
                  "local: minimum standard deviation, as a share of the channel's mean one",
                  .alias = "floor"),
    WEIR_OPT_ENUM(wx_standard_opts, bias, WX_BIAS_GLOBAL, WX_BIAS_CHOICES,
                  "mean difference of the training samples that is taken off before the network: "
                  "one number, or a map"),
    WEIR_OPT_REAL(wx_standard_opts, bias_smooth, 0, 0, 1000, "cells",
                  "local bias: standard deviation of the Gaussian that smooths its map"),
    WEIR_OPT_END,
};

weir_status wx_standard_check(const wx_standard_opts *opts)
{
  return opts->window % 2 != 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "normalization.window: %lld is even: a window has a middle",
                         (long long)opts->window);
}

weir_status wx_standard_open(const wx_standard_opts *opts, const wx_info *facts, bool wraps,
                             bool from_zero, weir_store *store, wx_standard *out)
{
  const int64_t n_x = facts->n_channels[WX_X], n_y = facts->n_channels[WX_Y];

  *out = (wx_standard){
      .opts = opts,
      .facts = facts,
      .counts_from_zero = from_zero,
      .map = {facts->axis[facts->rank - 2].length, facts->axis[facts->rank - 1].length, wraps},
      .n_positions = opts->inputs == WX_WHERE_LOCAL ? facts->cells : facts->depth};
  const struct {
    const char *name;
    int64_t shape[2];
    double **at;
  } array[] = {{"standard.x_mean", {n_x, out->n_positions}, &out->x_mean},
               {"standard.x_sd", {n_x, out->n_positions}, &out->x_sd},
               {"standard.bias", {n_y, facts->cells}, &out->bias},
               {"standard.unit", {n_y, 1}, &out->unit}};

  const bool local = opts->inputs == WX_WHERE_LOCAL;

  WEIR_TRY(wx_standard_check(opts));
  if (facts->sites && ((local && (opts->window > 1 || opts->smoothing_sigma > 0)) ||
                       (opts->bias == WX_BIAS_LOCAL && opts->bias_smooth > 0))) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "normalization: window, smoothing_sigma and bias_smooth are of neighbouring "
                     "cells, and the stations of %s are none: leave them at their defaults",
                     facts->name);
  }
  for (size_t i = 0; i < sizeof array / sizeof array[0]; i++) {
    weir_tensor *t = NULL;

    WEIR_TRY(weir_store_add(store, array[i].name, WEIR_F64, 2, array[i].shape));
    WEIR_TRY(weir_store_pin(store, array[i].name, &t));
    *array[i].at = t->data;
  }
  return WEIR_OK;
}

void wx_standard_x(const wx_standard *s, const float *x, float *out)
{
  const int64_t n = s->facts->n_channels[WX_X], cells = s->facts->cells;
  const int64_t share = cells / s->n_positions;

  for (int64_t c = 0; c < n; c++) {
    const bool plain = s->facts->channel[WX_X][c].plain;

    for (int64_t i = 0; i < cells; i++) {
      const int64_t p = c * s->n_positions + i / share;
      const double v = (double)x[c * cells + i];
      const double to = plain ? v : (v - s->x_mean[p]) / s->x_sd[p];

      out[i * n + c] = isfinite(to) ? (float)to : 0;
    }
  }
}

/* y' of a value at a cell of a channel. */
static float standard_of(const wx_standard *s, int64_t c, int64_t at, double y, double m)
{
  const double base = s->counts_from_zero ? 0 : m;
  const double d = (y - base - s->bias[at]) / s->unit[c];

  return isfinite(d) ? (float)d : 0;
}

void wx_standard_y(const wx_standard *s, const float *y, const float *m, const float *sd,
                   float *out_y, float *out_s)
{
  const int64_t n = s->facts->n_channels[WX_Y], cells = s->facts->cells;

  for (int64_t c = 0; c < n; c++) {
    for (int64_t i = 0; i < cells; i++) {
      const int64_t at = c * cells + i;
      const double spread = (double)sd[at] / s->unit[c];

      out_s[i * n + c] = isfinite(spread) ? (float)spread : 0;
      if (y != NULL) {
        out_y[i * n + c] = standard_of(s, c, at, (double)y[at], (double)m[at]);
      }
    }
  }
}

void wx_standard_bound(const wx_standard *s, int64_t c, double lower, const float *m, float *out_y)
{
  const int64_t n = s->facts->n_channels[WX_Y], cells = s->facts->cells;

  for (int64_t i = 0; i < cells; i++) {
    out_y[i * n + c] = standard_of(s, c, c * cells + i, lower, (double)m[c * cells + i]);
  }
}

void wx_standard_field(const wx_standard *s, const float *m, const float *mean, float *out)
{
  const int64_t n = s->facts->n_channels[WX_Y], cells = s->facts->cells;

  for (int64_t c = 0; c < n; c++) {
    for (int64_t i = 0; i < cells; i++) {
      const int64_t at = c * cells + i;
      const double base = s->counts_from_zero ? 0 : (double)m[at];

      out[at] = (float)(base + s->bias[at] + s->unit[c] * (double)mean[i * n + c]);
    }
  }
}

void wx_standard_spread(const wx_standard *s, const float *spread, float *out)
{
  const int64_t n = s->facts->n_channels[WX_Y], cells = s->facts->cells;

  for (int64_t c = 0; c < n; c++) {
    for (int64_t i = 0; i < cells; i++) {
      out[c * cells + i] = (float)(s->unit[c] * (double)spread[i * n + c]);
    }
  }
}
