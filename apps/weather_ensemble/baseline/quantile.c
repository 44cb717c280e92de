/* quantile.c - see quantile.h. */
#include "baseline/quantile.h"
#include <float.h>
#include <math.h>
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "eval/sort/sort.h"

const weir_opt wx_quantile_options[] = {
    WEIR_OPT_INT(wx_quantile_opts, levels, 100, 1, 100000, "1",
                 "quantiles that are kept of each cell; at most the dates of the fit"),
    WEIR_OPT_ENUM(wx_quantile_opts, tails, WX_TAILS_SHIFT, WX_TAILS_CHOICES,
                  "what lies beyond the outermost quantiles: moved as they are, or along the line "
                  "through the outermost tenth"),
    WEIR_OPT_END,
};

typedef struct fit {
  const wx_quantile_data *data;
  wx_quantile *out;
  double *lanes, *sorted; /* [threads, dates * members, WX_LANES], [threads, dates * members] */
} fit;

/* Position p n - 1/2 of n sorted values, between neighbours in proportion (Hyndman and Fan's
 * fifth): level k is the mean of what lies around it where there are as many values as levels. */
static void take_quantiles(const double *values, int64_t n, int64_t levels, float *out)
{
  for (int64_t k = 0; k < levels; k++) {
    const double position = ((double)k + 0.5) / (double)levels * (double)n - 0.5;
    const double at = fmin(fmax(position, 0), (double)(n - 1));
    const int64_t i = (int64_t)at, next = i + 1 < n ? i + 1 : i;
    const double fraction = at - (double)i;

    out[k] = n > 0 ? (float)((1 - fraction) * values[i] + fraction * values[next]) : NAN;
  }
}

/* Cells [WX_LANES item, WX_LANES (item + 1)) that there are. */
static void fit_block(void *context, int64_t item, int thread)
{
  const fit *const f = context;
  const int64_t cells = f->out->cells, levels = f->out->levels, cell = item * WX_LANES;
  const int64_t of_cell = f->data->dates * f->data->members;
  const int64_t n = cells - cell < WX_LANES ? cells - cell : WX_LANES;
  double *const lanes = f->lanes + thread * of_cell * WX_LANES;
  double *const sorted = f->sorted + thread * of_cell;
  const struct {
    const float *from;
    int64_t n;
    float *to;
  } side[] = {{f->data->forecast, of_cell, f->out->forecast},
              {f->data->truth, f->data->dates, f->out->truth}};

  for (int s = 0; s < 2; s++) {
    int64_t count[WX_LANES];

    wx_sort_fields(side[s].from + cell, side[s].n, cells, n, FLT_MAX, lanes, count);
    for (int64_t l = 0; l < n; l++) {
      wx_lane_copy(lanes, count[l], l, sorted);
      take_quantiles(sorted, count[l], levels, side[s].to + (cell + l) * levels);
    }
  }
}

weir_status wx_quantile_fit(const wx_quantile_opts *opts, const wx_quantile_data *data,
                            wx_quantile *out)
{
  const int64_t dates = data->dates, cells = data->cells;
  const int64_t levels = opts->levels < dates ? opts->levels : dates;
  const int64_t scratch = weir_threads_get() * dates * data->members;
  fit f = {.data = data, .out = out};
  weir_status status = WEIR_OK;

  *out = (wx_quantile){.levels = levels, .cells = cells, .tails = opts->tails};
  if (dates < 1) {
    return weir_fail(WEIR_ERR_DATA, "quantile mapping: there is no date to fit it to");
  }
  WEIR_TRY_GOTO(weir_alloc(cells * levels, sizeof(float), (void **)&out->forecast), done);
  WEIR_TRY_GOTO(weir_alloc(cells * levels, sizeof(float), (void **)&out->truth), done);
  WEIR_TRY_GOTO(weir_alloc(scratch, WX_LANES * sizeof *f.lanes, (void **)&f.lanes), done);
  WEIR_TRY_GOTO(weir_alloc(scratch, sizeof *f.sorted, (void **)&f.sorted), done);
  weir_parallel((cells + WX_LANES - 1) / WX_LANES, 0, fit_block, &f);
done:
  weir_free(&f.lanes);
  weir_free(&f.sorted);
  if (status != WEIR_OK) {
    wx_quantile_fini(out);
  }
  return status;
}

/* Beyond the outermost level `end`, where the tail's inner level is `in`. */
static double beyond(const wx_quantile *q, const float *from, const float *to, int64_t end,
                     int64_t in, double x)
{
  const double width = (double)from[end] - (double)from[in];
  double slope = 1;

  if (q->tails == WX_TAILS_LINEAR && width != 0) {
    slope = ((double)to[end] - (double)to[in]) / width;
  }
  return (double)to[end] + slope * (x - (double)from[end]);
}

float wx_quantile_of(const wx_quantile *q, int64_t cell, float x)
{
  const int64_t n = q->levels, tail = n / 10 > 0 ? n / 10 : n > 1;
  const float *const from = q->forecast + cell * n, *const to = q->truth + cell * n;
  int64_t lo = 0, hi = n - 1;

  if (!isfinite(x) || !isfinite(from[0]) || !isfinite(to[0])) {
    return x;
  }
  if (from[0] == from[n - 1]) {
    return (float)((double)x + (double)to[n / 2] - (double)from[n / 2]);
  }
  if (x < from[0]) {
    return (float)beyond(q, from, to, 0, tail, (double)x);
  }
  if (x > from[n - 1]) {
    return (float)beyond(q, from, to, n - 1, n - 1 - tail, (double)x);
  }
  while (hi - lo > 1) { /* from[lo] <= x; where several levels are x, the first and the last */
    const int64_t mid = (lo + hi) / 2;

    *(from[mid] <= x ? &lo : &hi) = mid;
  }
  int64_t first = from[hi] == x ? hi : lo;
  const int64_t last = first;

  if (from[first] == x) {
    while (first > 0 && from[first - 1] == x) {
      first--;
    }
    return (float)(((double)to[first] + (double)to[last]) / 2);
  }
  const double fraction = ((double)x - (double)from[lo]) / ((double)from[hi] - (double)from[lo]);

  return (float)((1 - fraction) * (double)to[lo] + fraction * (double)to[hi]);
}

void wx_quantile_apply(const wx_quantile *q, int64_t n, float *members)
{
  for (int64_t m = 0; m < n; m++) {
    for (int64_t c = 0; c < q->cells; c++) {
      members[m * q->cells + c] = wx_quantile_of(q, c, members[m * q->cells + c]);
    }
  }
}

void wx_quantile_fini(wx_quantile *q)
{
  weir_free(&q->forecast);
  weir_free(&q->truth);
}
