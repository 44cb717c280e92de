/* hrv_figures.c - see hrv_figures.h. */
#include "page/hrv_figures.h"
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"

enum { BANDS = 3, NAME = 64 };
static const char *const band_names[BANDS] = {"below LF (0.04 Hz)", "LF to 0.15 Hz",
                                              "HF to 0.4 Hz"};
static const double band_ends[BANDS] = {0.04, 0.15, 0.4};

/* Values of one series; owned. */
typedef struct points {
  int64_t n;
  double *x, *y, *lo, *hi;
} points;

static weir_status points_init(int64_t n, points *p)
{
  WEIR_TRY(weir_alloc(n, sizeof *p->x, (void **)&p->x));
  WEIR_TRY(weir_alloc(n, sizeof *p->y, (void **)&p->y));
  WEIR_TRY(weir_alloc(n, sizeof *p->lo, (void **)&p->lo));
  return weir_alloc(n, sizeof *p->hi, (void **)&p->hi);
}

static void points_fini(points *p)
{
  weir_free(&p->x);
  weir_free(&p->y);
  weir_free(&p->lo);
  weir_free(&p->hi);
}

static void append(points *p, double x, double y, double lo, double hi)
{
  p->x[p->n] = x;
  p->y[p->n] = y;
  p->lo[p->n] = lo;
  p->hi[p->n++] = hi;
}

/* So many neighbours are one point. */
static int64_t step_of(int64_t n)
{
  return n > PS_RHYTHM_POINTS ? (n + PS_RHYTHM_POINTS - 1) / PS_RHYTHM_POINTS : 1;
}

/* Intervals over the time of their ends, s; a line is broken before one that follows a gap. */
static void fill_tachogram(const ps_rhythm *rhythm, points *p)
{
  const int64_t step = step_of(rhythm->n);

  for (int64_t i = 0; i < rhythm->n; i += step) {
    const int64_t end = i + step < rhythm->n ? i + step : rhythm->n;
    double x = 0, y = 0, lo = INFINITY, hi = -INFINITY;

    for (int64_t k = i; k < end; k++) {
      const double length = rhythm->v[k].length / rhythm->rate;

      x += rhythm->v[k].end / rhythm->rate;
      y += length;
      lo = fmin(lo, length);
      hi = fmax(hi, length);
    }
    if (i > 0 && !rhythm->v[i].joined) {
      append(p, NAN, NAN, NAN, NAN);
    }
    append(p, x / (double)(end - i), y / (double)(end - i), lo, hi);
  }
}

static bool is_pair(const ps_rhythm *rhythm, int64_t i)
{
  return rhythm->v[i].joined && rhythm->v[i].counts && rhythm->v[i - 1].counts;
}

/* NN intervals that meet: the later over the earlier, s. */
static void fill_poincare(const ps_rhythm *rhythm, points *p)
{
  int64_t pairs = 0, number = 0;

  for (int64_t i = 1; i < rhythm->n; i++) {
    pairs += is_pair(rhythm, i);
  }
  const int64_t step = step_of(pairs);

  for (int64_t i = 1; i < rhythm->n; i++) {
    if (is_pair(rhythm, i) && number++ % step == 0) {
      append(p, rhythm->v[i - 1].length / rhythm->rate, rhythm->v[i].length / rhythm->rate, NAN,
             NAN);
    }
  }
}

static weir_status put_figure(weir_report *r, const char *name, const char *suffix,
                              weir_figure *figure)
{
  char full[NAME];

  (void)snprintf(full, sizeof full, "%s%s", name, suffix);
  return weir_report_figure(r, full, figure);
}

/* The intervals of all rhythms as one figure over time, or as one of pairs. */
static weir_status add_intervals(weir_report *r, const char *title, const char *suffix,
                                 const ps_rhythm *rhythms, int count, bool pairs)
{
  weir_figure_series series[PS_RHYTHMS] = {{.n = 0}};
  points p[PS_RHYTHMS] = {{.n = 0}};
  weir_figure figure = {.series = series, .n_series = count, .empty = "no intervals"};
  char text[256];
  weir_status status = WEIR_OK;

  for (int k = 0; k < count; k++) {
    WEIR_TRY_GOTO(points_init(2 * PS_RHYTHM_POINTS, &p[k]), done);
    (pairs ? fill_poincare : fill_tachogram)(&rhythms[k], &p[k]);
    const bool band = !pairs && rhythms[k].n > PS_RHYTHM_POINTS;

    series[k] = (weir_figure_series){.kind = pairs ? WEIR_FIGURE_POINTS : WEIR_FIGURE_LINE,
                                     .name = rhythms[k].name,
                                     .n = p[k].n,
                                     .x = p[k].x,
                                     .y = p[k].y,
                                     .lo = band ? p[k].lo : NULL,
                                     .hi = band ? p[k].hi : NULL};
  }
  (void)snprintf(text, sizeof text, "%s: %s", title,
                 pairs ? "successive intervals (Poincaré plot)" : "intervals between beats");
  figure.title = text;
  figure.x_label = pairs ? "interval i (s)" : "time (s)";
  figure.y_label = pairs ? "interval i + 1 (s)" : "interval (s)";
  figure.equal_axes = pairs;
  WEIR_TRY_GOTO(put_figure(r, pairs ? "poincare" : "tachogram", suffix, &figure), done);
done:
  for (int k = 0; k < count; k++) {
    points_fini(&p[k]);
  }
  return status;
}

/* Density of a rhythm at multiples of PS_HRV_STEP; false where it is too short for one. */
static weir_status density_of(const ps_hrv_opts *opts, const ps_rhythm *rhythm,
                              double density[PS_HRV_BINS], bool *has)
{
  const double seconds = ps_hrv_span(rhythm->v, rhythm->n, rhythm->rate);
  ps_hrv_opts welch = *opts;
  double *scratch = NULL;

  welch.definitions = PS_HRV_TASK_FORCE;
  welch.spectrum = PS_HRV_WELCH;
  WEIR_TRY(weir_alloc((int64_t)ps_hrv_scratch(&welch, rhythm->n, seconds), sizeof *scratch,
                      (void **)&scratch));
  *has = ps_hrv_density(&welch, rhythm->v, rhythm->n, rhythm->rate, scratch, density);
  weir_free(&scratch);
  return WEIR_OK;
}

/* Bins of each band as boxes of their own colour. */
static weir_status put_bands(weir_report *r, const char *suffix, const double *density,
                             weir_figure *figure)
{
  weir_figure_series series[BANDS] = {{.n = 0}};
  double edge[PS_HRV_BINS + 1];
  int from = 0;

  for (int k = 0; k <= PS_HRV_BINS; k++) {
    edge[k] = (k + 0.5) * PS_HRV_STEP;
  }
  for (int b = 0; b < BANDS; b++) {
    int end = from;

    while (end < PS_HRV_BINS && (end + 1) * PS_HRV_STEP < band_ends[b]) {
      end++;
    }
    series[b] = (weir_figure_series){.kind = WEIR_FIGURE_HISTOGRAM,
                                     .name = band_names[b],
                                     .n = density == NULL ? 0 : end - from,
                                     .x = edge + from,
                                     .y = density == NULL ? NULL : density + from};
    from = end;
  }
  figure->series = series;
  figure->n_series = BANDS;
  return put_figure(r, "spectrum", suffix, figure);
}

static weir_status add_spectrum(weir_report *r, const char *title, const char *suffix,
                                const ps_hrv_opts *opts, const ps_rhythm *rhythms, int count)
{
  weir_figure_series series[PS_RHYTHMS] = {{.n = 0}};
  double x[PS_HRV_BINS], density[PS_RHYTHMS][PS_HRV_BINS];
  bool has[PS_RHYTHMS] = {false};
  char text[256];

  for (int k = 0; k < PS_HRV_BINS; k++) {
    x[k] = (k + 1) * PS_HRV_STEP;
  }
  for (int k = 0; k < count; k++) {
    WEIR_TRY(density_of(opts, &rhythms[k], density[k], &has[k]));
    series[k] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                     .name = rhythms[k].name,
                                     .n = has[k] ? PS_HRV_BINS : 0,
                                     .x = x,
                                     .y = density[k]};
  }
  (void)snprintf(text, sizeof text, "%s: spectrum of the intervals (Welch)", title);
  weir_figure figure = {.title = text,
                        .x_label = "frequency (Hz); LF begins at 0.04, HF at 0.15 and ends at 0.4",
                        .y_label = "density (ms²/Hz)",
                        .series = series,
                        .n_series = count,
                        .empty = "no stretch of 64 s to take a spectrum of"};

  if (count == 1) {
    return put_bands(r, suffix, has[0] ? density[0] : NULL, &figure);
  }
  return put_figure(r, "spectrum", suffix, &figure);
}

weir_status ps_hrv_figures(weir_report *r, const char *title, const char *suffix,
                           const ps_hrv_opts *opts, const ps_rhythm *rhythms, int count)
{
  WEIR_TRY(add_intervals(r, title, suffix, rhythms, count, false));
  WEIR_TRY(add_intervals(r, title, suffix, rhythms, count, true));
  return add_spectrum(r, title, suffix, opts, rhythms, count);
}
