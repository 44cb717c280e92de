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
                             wx_base base, weir_store *store, wx_standard *out)
{
  const int64_t n_x = facts->n_channels[WX_X], n_y = facts->n_channels[WX_Y];

  *out = (wx_standard){
      .opts = opts,
      .facts = facts,
      .base = base,
      .map = {facts->axis[facts->rank - 2].length, facts->axis[facts->rank - 1].length, wraps},
      .n_positions = opts->inputs == WX_WHERE_LOCAL ? facts->cells : facts->depth};
  const struct {
    const char *name;
    int64_t shape[2];
    double **at;
  } array[] = {{"standard.x_mean", {n_x, out->n_positions}, &out->x_mean},
               {"standard.x_sd", {n_x, out->n_positions}, &out->x_sd},
               {"standard.bias", {n_y, facts->cells}, &out->bias},
               {"standard.unit", {n_y, 1}, &out->unit},
               {"standard.members", {n_y, facts->cells}, &out->members}};
  const size_t n = sizeof array / sizeof array[0] - (base != WX_BASE_CLIMATE);

  const bool local = opts->inputs == WX_WHERE_LOCAL;

  WEIR_TRY(wx_standard_check(opts));
  if (facts->sites && ((local && (opts->window > 1 || opts->smoothing_sigma > 0)) ||
                       (opts->bias == WX_BIAS_LOCAL && opts->bias_smooth > 0))) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "normalization: window, smoothing_sigma and bias_smooth are of neighbouring "
                     "cells, and the stations of %s are none: leave them at their defaults",
                     facts->name);
  }
  for (size_t i = 0; i < n; i++) {
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

static double base_of(const wx_standard *s, double m)
{
  return s->base == WX_BASE_RAW ? m : 0;
}

/* y' of a value at a cell of a channel. */
static float standard_of(const wx_standard *s, int64_t c, int64_t at, double y, double m)
{
  const double d = (y - base_of(s, m) - s->bias[at]) / s->unit[c];

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

void wx_standard_width(const wx_standard *s, int64_t c, double difference, float *out_y)
{
  const int64_t n = s->facts->n_channels[WX_Y];

  for (int64_t i = 0; i < s->facts->cells; i++) {
    out_y[i * n + c] = (float)(difference / s->unit[c]);
  }
}

void wx_standard_field(const wx_standard *s, const float *m, const float *mean, float *out)
{
  const int64_t n = s->facts->n_channels[WX_Y], cells = s->facts->cells;

  for (int64_t c = 0; c < n; c++) {
    for (int64_t i = 0; i < cells; i++) {
      const int64_t at = c * cells + i;
      out[at] =
          (float)(base_of(s, (double)m[at]) + s->bias[at] + s->unit[c] * (double)mean[i * n + c]);
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

/* Where member k of a point (of y channels and cells) is in [y channel, depth, member, plane]. */
static int64_t member_at(const wx_info *f, int64_t point, int64_t k)
{
  const int64_t plane = f->cells / f->depth;

  return (point / plane * f->members + k) * plane + point % plane;
}

void wx_standard_members(const wx_standard *s, const float *e, const float *m, float *out)
{
  const wx_info *const f = s->facts;
  const int64_t n = f->n_channels[WX_Y];

  for (int64_t k = 0; k < f->members; k++) {
    for (int64_t c = 0; c < n; c++) {
      for (int64_t i = 0; i < f->cells; i++) {
        const int64_t at = c * f->cells + i;
        const double from = s->base == WX_BASE_CLIMATE ? s->members[at] : (double)m[at];
        const double d = ((double)e[member_at(f, at, k)] - from) / s->unit[c];

        out[(k * f->cells + i) * n + c] = isfinite(d) ? (float)d : 0;
      }
    }
  }
}

void wx_standard_members_field(const wx_standard *s, const float *m, const float *members, float *e)
{
  const wx_info *const f = s->facts;
  const int64_t n = f->n_channels[WX_Y];

  for (int64_t k = 0; k < f->members; k++) {
    for (int64_t c = 0; c < n; c++) {
      for (int64_t i = 0; i < f->cells; i++) {
        const int64_t at = c * f->cells + i;
        float *const to = &e[member_at(f, at, k)];
        const double d = s->unit[c] * (double)members[(k * f->cells + i) * n + c];

        *to = isfinite(*to) ? (float)(base_of(s, (double)m[at]) + s->bias[at] + d) : NAN;
      }
    }
  }
}
