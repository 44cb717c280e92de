/* figure_range.c - axes: the range of the data and round numbers for its ticks. */
#include <math.h>
#include <stdbool.h>
#include "report/report_priv.h"

static void widen(report_axis *a, double value)
{
  if (a->log) {
    value = value > 0 ? log10(value) : NAN;
  }
  if (!isfinite(value)) {
    return;
  }
  if (!(a->lo <= a->hi)) {
    a->lo = a->hi = value;
  }
  a->lo = value < a->lo ? value : a->lo;
  a->hi = value > a->hi ? value : a->hi;
}

void report_round(report_axis *a, int wanted, bool whole)
{
  if (!(a->lo <= a->hi)) {
    a->lo = 0;
    a->hi = 1;
  }
  /* A range that no tick can divide, or that overflows when it is taken. */
  const double min_extent = 1e-9 * fmax(fabs(a->lo), fabs(a->hi));
  if (!(a->hi - a->lo > min_extent)) {
    const double half = a->lo == 0 ? 0.5 : 0.05 * fabs(a->lo);

    a->lo -= half;
    a->hi += half;
  }
  a->lo = fmax(a->lo, -1e300);
  a->hi = fmin(a->hi, 1e300);
  const double raw = (a->hi / wanted - a->lo / wanted);
  const double power = pow(10, floor(log10(raw)));
  const double share = raw / power;

  a->step = power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
  if (whole) {
    a->lo = floor(a->lo / a->step + 1e-9) * a->step;
    a->hi = ceil(a->hi / a->step - 1e-9) * a->step;
  }
}

int report_tick_power(const report_axis *a)
{
  const double size = fmax(fabs(a->lo), fabs(a->hi));
  const int power = size > 0 ? 3 * (int)floor(log10(size) / 3) : 0;

  return size >= 1e5 || size < 2e-3 ? power : 0;
}

void report_tick_text(const report_axis *a, double k, int power, char *text, size_t size)
{
  const double scale = pow(10, power), value = k * a->step / scale;

  /* The rounding error of a difference is not shown. */
  (void)snprintf(text, size, "%.6g", fabs(value) < 1e-9 * a->step / scale ? 0.0 : value);
}

static void widen_series(const weir_figure_series *s, report_axis *x, report_axis *y)
{
  const bool counts = s->kind == WEIR_FIGURE_BARS || s->kind == WEIR_FIGURE_HISTOGRAM;

  if (counts) {
    widen(y, 0);
  }
  for (int64_t i = 0; i < s->n && s->kind == WEIR_FIGURE_SPANS; i++) {
    widen(x, s->lo[i]);
    widen(x, s->hi[i]);
  }
  for (int64_t i = 0; i < s->n && s->kind != WEIR_FIGURE_SPANS; i++) {
    widen(y, s->y[i]);
    widen(x, s->kind == WEIR_FIGURE_BARS ? REPORT_BAR_AT(i) - 0.5 : s->x[i]);
    if (counts) {
      widen(x, s->kind == WEIR_FIGURE_BARS ? REPORT_BAR_AT(i) + 0.5 : s->x[i + 1]);
    }
    if (s->lo != NULL && s->kind == WEIR_FIGURE_LINE) {
      widen(y, s->lo[i]);
      widen(y, s->hi[i]);
    }
  }
}

/* A range that ends a little before the next tick ends there: the tick is then labelled. */
static void reach_tick(report_axis *a)
{
  const double next = ceil(a->hi / a->step - 1e-9) * a->step;

  if (next > a->hi && next - a->hi < 0.05 * a->step) {
    a->hi = next;
  }
}

static bool counts_nothing(const weir_figure *figure, const report_axis *y)
{
  return y->lo == 0 && y->hi == 0 && figure->series[0].kind == WEIR_FIGURE_HISTOGRAM;
}

bool report_range(const weir_figure *figure, report_axis *x, report_axis *y)
{
  *x = (report_axis){.lo = INFINITY, .hi = -INFINITY, .log = figure->log_x};
  *y = (report_axis){.lo = INFINITY, .hi = -INFINITY, .log = figure->log_y};
  for (int k = 0; k < figure->n_series; k++) {
    widen_series(&figure->series[k], x, y);
  }
  return x->lo <= x->hi && y->lo <= y->hi;
}

void report_axes(const weir_figure *figure, report_axis *x, report_axis *y)
{
  (void)report_range(figure, x, y);
  if (counts_nothing(figure, y)) {
    y->hi = 1;
  }
  if (figure->equal_axes) {
    widen(x, y->lo);
    widen(x, y->hi);
    report_round(x, 6, true);
    *y = *x;
    return;
  }
  report_round(x, figure->width > 0 ? 1 + figure->width / 100 : 8, false);
  reach_tick(x);
  if (figure->y_lo < figure->y_hi) {
    *y = (report_axis){.lo = figure->y_lo, .hi = figure->y_hi};
  }
  report_round(y, 5, !(figure->y_lo < figure->y_hi));
}
