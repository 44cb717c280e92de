/* timeline.c - see timeline.h. */
#include "page/timeline.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"

weir_status ps_timeline_init(int rows, double rate, ps_timeline *t)
{
  *t = (ps_timeline){.rate = rate, .rows = rows};
  t->size = (int64_t)fmax(1, ceil(PS_TIMELINE_WINDOW * rate));
  return weir_alloc((int64_t)rows * PS_TIMELINE_WINDOWS, sizeof *t->count, (void **)&t->count);
}

void ps_timeline_fini(ps_timeline *t)
{
  weir_free(&t->count);
  *t = (ps_timeline){0};
}

static void merge(ps_timeline *t)
{
  const int half = PS_TIMELINE_WINDOWS / 2;

  for (int row = 0; row < t->rows; row++) {
    int64_t *count = t->count + (int64_t)row * PS_TIMELINE_WINDOWS;

    for (int i = 0; i < half; i++) {
      count[i] = count[2 * i] + count[2 * i + 1];
    }
    memset(count + half, 0, (size_t)half * sizeof *count);
  }
  t->size *= 2;
}

/* Widens windows until they cover the first `slots` slots. */
static void coarsen(ps_timeline *t, int64_t slots)
{
  while (slots > 0 && (slots - 1) / t->size >= PS_TIMELINE_WINDOWS) {
    merge(t);
  }
}

void ps_timeline_add(ps_timeline *t, int row, int64_t lo, int64_t hi)
{
  if (hi > lo) {
    coarsen(t, hi);
  }
  while (lo < hi) {
    const int64_t window = lo / t->size, next = (window + 1) * t->size;
    const int64_t end = next < hi ? next : hi;

    t->count[(int64_t)row * PS_TIMELINE_WINDOWS + window] += end - lo;
    lo = end;
  }
}

void ps_timeline_end(ps_timeline *t, int64_t slots)
{
  coarsen(t, slots);
  t->slots = slots;
}

int64_t ps_timeline_windows(const ps_timeline *t)
{
  return (t->slots + t->size - 1) / t->size;
}

double ps_timeline_share(const ps_timeline *t, int row, int64_t window)
{
  const int64_t left = t->slots - window * t->size, size = left < t->size ? left : t->size;

  return (double)t->count[(int64_t)row * PS_TIMELINE_WINDOWS + window] / (double)size;
}

/* Spans of one row. */
typedef struct spans {
  double y[PS_TIMELINE_WINDOWS], lo[PS_TIMELINE_WINDOWS], hi[PS_TIMELINE_WINDOWS];
} spans;

static weir_figure_series fill(const ps_timeline *t, int row, const char *name, spans *s)
{
  const int64_t n = ps_timeline_windows(t);

  for (int64_t i = 0; i < n; i++) {
    const int64_t end = (i + 1) * t->size < t->slots ? (i + 1) * t->size : t->slots;

    s->y[i] = ps_timeline_share(t, row, i);
    s->lo[i] = (double)(i * t->size) / t->rate;
    s->hi[i] = (double)end / t->rate;
  }
  return (weir_figure_series){
      .kind = WEIR_FIGURE_SPANS, .name = name, .n = n, .y = s->y, .lo = s->lo, .hi = s->hi};
}

weir_status ps_timeline_figure(const ps_timeline *t, weir_report *r, const char *name,
                               const char *title, const char *const *names, const char *empty)
{
  weir_figure_series series[PS_TIMELINE_ROWS];
  char label[96];
  spans *s = NULL;
  int n = 0;

  WEIR_TRY(weir_alloc(t->rows, sizeof *s, (void **)&s));
  for (int row = 0; row < t->rows && n < PS_TIMELINE_ROWS; row++) {
    if (names[row] != NULL) {
      series[n++] = fill(t, row, names[row], &s[row]);
    }
  }
  (void)snprintf(label, sizeof label, "time (s); the darker, the more of a window of %.4g s",
                 (double)t->size / t->rate);
  const weir_figure figure = {
      .title = title, .x_label = label, .series = series, .n_series = n, .empty = empty};
  const weir_status status = weir_report_figure(r, name, &figure);

  weir_free(&s);
  return status;
}
