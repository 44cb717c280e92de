/* split.c - see split.h. */
#include "data/split.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "data/date.h"

const char *const wx_part_name[WX_PARTS] = {"train", "valid", "test"};

static const weir_opt range_options[] = {
    WEIR_OPT_STRING(wx_range, from, "", "first time, as 2001-02-03 or 2001-02-03 12:00 (UTC)"),
    WEIR_OPT_STRING(wx_range, to, "", "time from which on samples are none of them"),
    WEIR_OPT_END,
};

const weir_opt wx_split_options[] = {
    WEIR_OPT_TABLE(wx_split_opts, train, range_options,
                   "valid times of what is trained on; no limits: all that the others leave"),
    WEIR_OPT_TABLE(wx_split_opts, valid, range_options,
                   "of what chooses the best weights; no limits: nothing"),
    WEIR_OPT_TABLE(wx_split_opts, test, range_options,
                   "of what training never sees; no limits: nothing"),
    WEIR_OPT_REAL(wx_split_opts, gap, 5, 0, 36500, "d",
                  "least time between samples of two parts; those of train, then of valid, that "
                  "are nearer are left out. At least the lead time and what weather remembers"),
    WEIR_OPT_END,
};

enum { DATE = 32 };

/* Limits of a range in days; false: it has none. */
static weir_status limits(const char *part, const wx_range *r, double *lo, double *hi)
{
  *lo = -INFINITY;
  *hi = INFINITY;
  if (r->from[0] != 0 && !wx_date_parse(r->from, lo)) {
    return weir_fail(WEIR_ERR_CONFIG, "data.split.%s.from: '%s' is no date such as 2001-02-03",
                     part, r->from);
  }
  if (r->to[0] != 0 && !wx_date_parse(r->to, hi)) {
    return weir_fail(WEIR_ERR_CONFIG, "data.split.%s.to: '%s' is no date such as 2001-02-03", part,
                     r->to);
  }
  if (*lo >= *hi) {
    return weir_fail(WEIR_ERR_CONFIG, "data.split.%s: it ends ('%s') before it begins ('%s')", part,
                     r->to, r->from);
  }
  return WEIR_OK;
}

static bool is_open(double lo, double hi)
{
  return isinf(lo) && isinf(hi);
}

/* The part of a time, WX_PARTS: none. */
static int part_of(double time, const double *lo, const double *hi)
{
  for (int p = WX_TEST; p >= WX_TRAIN; p--) {
    if ((p == WX_TRAIN || !is_open(lo[p], hi[p])) && time >= lo[p] && time < hi[p]) {
      return p;
    }
  }
  return WX_PARTS;
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* The distance of `time` to the nearest of n ascending times. */
static double distance(double time, const double *times, int64_t n)
{
  int64_t lo = 0, hi = n;

  while (lo < hi) {
    const int64_t mid = lo + (hi - lo) / 2;

    lo = times[mid] < time ? mid + 1 : lo;
    hi = times[mid] < time ? hi : mid;
  }
  const double after = lo < n ? times[lo] - time : INFINITY;
  const double before = lo > 0 ? time - times[lo - 1] : INFINITY;

  return fmin(before, after);
}

/* Samples of part p that keep the gap to those of the parts behind it. part: [facts->n]. */
static weir_status keep_gap(const wx_facts *f, int p, double gap, int *part)
{
  double *times = NULL;
  int64_t n = 0;

  WEIR_TRY(weir_alloc(f->n, sizeof *times, (void **)&times));
  for (int64_t i = 0; i < f->n; i++) {
    if (part[i] > p && part[i] < WX_PARTS) {
      times[n++] = f->time[i];
    }
  }
  if (n > 0) {
    qsort(times, (size_t)n, sizeof *times, ascending);
  }
  for (int64_t i = 0; i < f->n; i++) {
    if (part[i] == p && distance(f->time[i], times, n) < gap) {
      part[i] = WX_PARTS;
    }
  }
  weir_free(&times);
  return WEIR_OK;
}

static weir_status fill(const wx_facts *f, const int *part, wx_split *s)
{
  for (int p = 0; p < WX_PARTS; p++) {
    s->first[p] = s->last[p] = NAN;
    WEIR_TRY(weir_alloc(f->n, sizeof *s->sample[p], (void **)&s->sample[p]));
  }
  for (int64_t i = 0; i < f->n; i++) {
    const int p = part[i];

    if (p == WX_PARTS) {
      s->left_out++;
      continue;
    }
    s->sample[p][s->n[p]++] = i;
    s->first[p] = fmin(s->first[p], f->time[i]); /* of NaN and a number it is the number */
    s->last[p] = fmax(s->last[p], f->time[i]);
  }
  return WEIR_OK;
}

static weir_status check_apart(const double *lo, const double *hi)
{
  for (int p = 0; p < WX_PARTS; p++) {
    for (int q = p + 1; q < WX_PARTS; q++) {
      if (!is_open(lo[p], hi[p]) && !is_open(lo[q], hi[q]) && lo[p] < hi[q] && lo[q] < hi[p]) {
        return weir_fail(WEIR_ERR_CONFIG, "data.split: %s and %s share times", wx_part_name[p],
                         wx_part_name[q]);
      }
    }
  }
  return WEIR_OK;
}

weir_status wx_split_create(const wx_split_opts *opts, const wx_facts *facts, wx_split *out)
{
  const wx_range *const range[WX_PARTS] = {&opts->train, &opts->valid, &opts->test};
  double lo[WX_PARTS], hi[WX_PARTS];
  int *part = NULL;
  weir_status status;

  *out = (wx_split){.left_out = 0};
  for (int p = 0; p < WX_PARTS; p++) {
    WEIR_TRY(limits(wx_part_name[p], range[p], &lo[p], &hi[p]));
  }
  WEIR_TRY(check_apart(lo, hi));
  WEIR_TRY(weir_alloc(facts->n, sizeof *part, (void **)&part));
  for (int64_t i = 0; i < facts->n; i++) {
    part[i] = part_of(facts->time[i], lo, hi);
  }
  WEIR_TRY_GOTO(keep_gap(facts, WX_VALID, opts->gap, part), done);
  WEIR_TRY_GOTO(keep_gap(facts, WX_TRAIN, opts->gap, part), done);
  WEIR_TRY_GOTO(fill(facts, part, out), done);
done:
  weir_free(&part);
  if (status != WEIR_OK) {
    wx_split_fini(out);
  }
  return status;
}

void wx_split_fini(wx_split *s)
{
  for (int p = 0; p < WX_PARTS; p++) {
    weir_free(&s->sample[p]);
  }
}

void wx_split_report(const wx_split *s)
{
  weir_event(
      "samples", WEIR_INT("train", s->n[WX_TRAIN]), WEIR_INT("valid", s->n[WX_VALID]),
      WEIR_INT("test", s->n[WX_TEST]), WEIR_INT("left_out", s->left_out),
      WEIR_REAL("train_first", s->first[WX_TRAIN]), WEIR_REAL("train_last", s->last[WX_TRAIN]),
      WEIR_REAL("valid_first", s->first[WX_VALID]), WEIR_REAL("valid_last", s->last[WX_VALID]),
      WEIR_REAL("test_first", s->first[WX_TEST]), WEIR_REAL("test_last", s->last[WX_TEST]));
  for (int p = 0; p < WX_PARTS; p++) {
    char first[DATE] = "", last[DATE] = "";

    if (s->n[p] > 0) {
      wx_date_text(s->first[p], first, sizeof first);
      wx_date_text(s->last[p], last, sizeof last);
      weir_info("data", "%s: %lld samples, %s to %s", wx_part_name[p], (long long)s->n[p], first,
                last);
    }
  }
}
