/* timeline.c - see timeline.h. */
#include "data/archive/timeline.h"
#include <stdio.h>
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "data/date.h"

enum { DAY = 86400, MIN_MONTH = 28 * DAY };

const char *const wx_presence_name[] = {"complete", "incomplete", "missing"};

static int by_length(const void *one, const void *other)
{
  const wx_interval *const a = one, *const b = other;

  return (a->length > b->length) - (a->length < b->length);
}

static int by_count(const void *one, const void *other)
{
  const wx_interval *const a = one, *const b = other;

  return a->count != b->count ? (a->count < b->count) - (a->count > b->count) : by_length(a, b);
}

/* Time i as a number that grows by one each second or month. */
static int64_t slot(const wx_timeline *t, int64_t seconds)
{
  return t->months ? wx_date_month(seconds) : seconds;
}

/* Monthly, seasonal and yearly starts: intervals in days would differ. */
static bool counts_months(const int64_t *times, int64_t n)
{
  for (int64_t i = 1; i < n; i++) {
    const int64_t months = wx_date_month(times[i]) - wx_date_month(times[0]);

    if (times[i] - times[i - 1] < MIN_MONTH || wx_date_add_months(times[0], months) != times[i]) {
      return false;
    }
  }
  return n > 1;
}

/* Counts the different intervals. */
static weir_status take_intervals(wx_timeline *t, const int64_t *times, int64_t n)
{
  int64_t kept = 0;

  if (n < 2) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(n - 1, sizeof *t->interval, (void **)&t->interval));
  for (int64_t i = 1; i < n; i++) {
    t->interval[i - 1] = (wx_interval){slot(t, times[i]) - slot(t, times[i - 1]), 1};
  }
  qsort(t->interval, (size_t)(n - 1), sizeof *t->interval, by_length);
  for (int64_t i = 0; i < n - 1; i++) {
    if (kept > 0 && t->interval[kept - 1].length == t->interval[i].length) {
      t->interval[kept - 1].count++;
    } else {
      t->interval[kept++] = t->interval[i];
    }
  }
  qsort(t->interval, (size_t)kept, sizeof *t->interval, by_count);
  t->n_intervals = kept;
  t->step = t->interval[0].length;
  return WEIR_OK;
}

/* Adds n times to the last run, or begins one. */
static weir_status add(wx_timeline *t, const wx_time_run *run)
{
  wx_time_run *const last = t->n_runs > 0 ? &t->run[t->n_runs - 1] : NULL;

  if (last != NULL && last->is == run->is) {
    last->last = run->last;
    last->n += run->n;
    last->absent += run->absent;
    return WEIR_OK;
  }
  WEIR_TRY(weir_reserve(&t->run, &t->capacity, t->n_runs + 1, sizeof *t->run));
  t->run[t->n_runs++] = *run;
  return WEIR_OK;
}

static int64_t after(const wx_timeline *t, int64_t seconds, int64_t steps)
{
  return t->months ? wx_date_add_months(seconds, steps * t->step) : seconds + steps * t->step;
}

/* The times that an interval lacks. */
static weir_status add_missing(wx_timeline *t, int64_t from, int64_t to)
{
  const int64_t length = slot(t, to) - slot(t, from);

  if (length == t->step || length % t->step != 0) {
    return WEIR_OK;
  }
  const int64_t n = length / t->step - 1;

  t->missing += n;
  return add(t,
             &(wx_time_run){
                 .is = WX_MISSING, .first = after(t, from, 1), .last = after(t, from, n), .n = n});
}

static weir_status arrange(wx_timeline *t, const int64_t *times, int64_t n, const int64_t *absent)
{
  t->months = counts_months(times, n);
  WEIR_TRY(take_intervals(t, times, n));
  for (int64_t i = 0; i < n; i++) {
    if (i > 0) {
      WEIR_TRY(add_missing(t, times[i - 1], times[i]));
    }
    WEIR_TRY(add(t, &(wx_time_run){.is = absent[i] > 0 ? WX_INCOMPLETE : WX_COMPLETE,
                                   .first = times[i],
                                   .last = times[i],
                                   .n = 1,
                                   .absent = absent[i]}));
  }
  return WEIR_OK;
}

weir_status wx_timeline_create(const int64_t *times, int64_t n, const int64_t *absent,
                               wx_timeline *out)
{
  *out = (wx_timeline){.step = 0};
  const weir_status status = arrange(out, times, n, absent);

  if (status != WEIR_OK) {
    wx_timeline_fini(out);
  }
  return status;
}

void wx_timeline_fini(wx_timeline *t)
{
  weir_free(&t->interval);
  weir_free(&t->run);
  *t = (wx_timeline){.step = 0};
}

void wx_timeline_interval_text(const wx_timeline *t, int64_t length, char *text, size_t size)
{
  if (t->months) {
    (void)snprintf(text, size, "%lld month%s", (long long)length, length == 1 ? "" : "s");
  } else if (length % DAY == 0) {
    (void)snprintf(text, size, "%lld d", (long long)(length / DAY));
  } else {
    (void)snprintf(text, size, "%g h", (double)length / 3600);
  }
}
