/* split.c - see split.h. */
#include "data/samples/split.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_sort.h"
#include "data/date.h"

const char *const wx_subset_name[WX_SUBSETS] = {"train", "valid", "test"};

static const weir_opt range_options[] = {
    WEIR_OPT_STRING(wx_range, from, "", "first time, as 2001-02-03 or 2001-02-03 12:00 (UTC)"),
    WEIR_OPT_STRING(wx_range, to, "", "time from which on samples are none of them"),
    WEIR_OPT_END,
};

const weir_opt wx_split_options[] = {
    WEIR_OPT_TABLE(
        wx_split_opts, train, range_options,
        "initialisation times of what is trained on; no limits: all that the others leave"),
    WEIR_OPT_TABLE(wx_split_opts, valid, range_options,
                   "of what chooses the best weights; no limits: nothing"),
    WEIR_OPT_TABLE(wx_split_opts, test, range_options,
                   "of what training never sees; no limits: nothing"),
    WEIR_OPT_REAL(wx_split_opts, gap, 5, 0, 36500, "d",
                  "minimum time between the last valid time of one subset and the first "
                  "initialisation time of the "
                  "next: what weather remembers. Samples of train, then of valid, that are nearer "
                  "are left out"),
    WEIR_OPT_END,
};

enum { DATE = 32 };

/* Limits of a range in days; false: it has none. */
static weir_status limits(const char *subset, const wx_range *r, double *lo, double *hi)
{
  *lo = -INFINITY;
  *hi = INFINITY;
  if (r->from[0] != 0 && !wx_date_parse(r->from, lo)) {
    return weir_fail(WEIR_ERR_CONFIG, "data.split.%s.from: '%s' is no date such as 2001-02-03",
                     subset, r->from);
  }
  if (r->to[0] != 0 && !wx_date_parse(r->to, hi)) {
    return weir_fail(WEIR_ERR_CONFIG, "data.split.%s.to: '%s' is no date such as 2001-02-03",
                     subset, r->to);
  }
  if (*lo >= *hi) {
    return weir_fail(WEIR_ERR_CONFIG, "data.split.%s: it ends ('%s') before it begins ('%s')",
                     subset, r->to, r->from);
  }
  return WEIR_OK;
}

static bool is_open(double lo, double hi)
{
  return isinf(lo) && isinf(hi);
}

/* The subset of a time, WX_SUBSETS: none. */
static int subset_of(double time, const double *lo, const double *hi)
{
  for (int p = WX_TEST; p >= WX_TRAIN; p--) {
    if ((p == WX_TRAIN || !is_open(lo[p], hi[p])) && time >= lo[p] && time < hi[p]) {
      return p;
    }
  }
  return WX_SUBSETS;
}

/* A time interval with its gap, so that neighbours are found without comparing all with all. */
typedef struct span {
  double from, to;
} span;

static int by_begin(const void *a, const void *b)
{
  const span *x = a, *y = b;

  return (x->from > y->from) - (x->from < y->from);
}

/* Spans of the samples of subsets above p that touch are merged: then a search finds who is near.
 */
static int64_t merge_spans(span *s, int64_t n)
{
  int64_t m = 0;

  qsort(s, (size_t)n, sizeof *s, by_begin);
  for (int64_t i = 0; i < n; i++) {
    if (m > 0 && s[i].from <= s[m - 1].to) {
      s[m - 1].to = fmax(s[m - 1].to, s[i].to);
    } else {
      s[m++] = s[i];
    }
  }
  return m;
}

/* Whether (from, to) meets none of m spans that are in order and apart. */
static bool is_clear(const span *s, int64_t m, double from, double to)
{
  int64_t lo = 0, hi = m;

  while (lo < hi) {
    const int64_t mid = lo + (hi - lo) / 2;

    lo = s[mid].to <= from ? mid + 1 : lo;
    hi = s[mid].to <= from ? hi : mid;
  }
  return lo == m || s[lo].from >= to;
}

/* Samples of subset p that keep the gap to those of the subsets after it. subset: [t->n]. */
static weir_status keep_gap(const wx_times *t, int p, double gap, int *subset)
{
  span *spans = NULL;
  int64_t n = 0;

  WEIR_TRY(weir_alloc(t->n, sizeof *spans, (void **)&spans));
  for (int64_t i = 0; i < t->n; i++) {
    if (subset[i] > p && subset[i] < WX_SUBSETS) {
      spans[n++] = (span){t->start[i] - gap, t->end[i] + gap};
    }
  }
  n = n > 0 ? merge_spans(spans, n) : 0;
  for (int64_t i = 0; i < t->n; i++) {
    if (subset[i] == p && !is_clear(spans, n, t->start[i], t->end[i])) {
      subset[i] = WX_SUBSETS;
    }
  }
  weir_free(&spans);
  return WEIR_OK;
}

static weir_status fill(const wx_times *t, const int *subset, wx_split *s)
{
  for (int p = 0; p < WX_SUBSETS; p++) {
    s->first[p] = s->last[p] = NAN;
    WEIR_TRY(weir_alloc(t->n, sizeof *s->sample[p], (void **)&s->sample[p]));
  }
  for (int64_t i = 0; i < t->n; i++) {
    const int p = subset[i];

    if (p == WX_SUBSETS) {
      s->left_out++;
      continue;
    }
    s->sample[p][s->n[p]++] = i;
    s->first[p] = fmin(s->first[p], t->start[i]); /* of NaN and a number it is the number */
    s->last[p] = fmax(s->last[p], t->end[i]);
  }
  return WEIR_OK;
}

weir_status wx_split_of_subsets(const wx_times *times, const int *subset, wx_split *out)
{
  *out = (wx_split){.left_out = 0};
  const weir_status status = fill(times, subset, out);

  if (status != WEIR_OK) {
    wx_split_fini(out);
  }
  return status;
}

static weir_status check_apart(const double *lo, const double *hi)
{
  for (int p = 0; p < WX_SUBSETS; p++) {
    for (int q = p + 1; q < WX_SUBSETS; q++) {
      if (!is_open(lo[p], hi[p]) && !is_open(lo[q], hi[q]) && lo[p] < hi[q] && lo[q] < hi[p]) {
        return weir_fail(WEIR_ERR_CONFIG, "data.split: %s and %s share times", wx_subset_name[p],
                         wx_subset_name[q]);
      }
    }
  }
  return WEIR_OK;
}

/* subset: [times->n], freed by the caller. */
static weir_status take_subsets(const wx_split_opts *opts, const wx_times *times, int *subset,
                                wx_split *out)
{
  WEIR_TRY(keep_gap(times, WX_VALID, opts->gap, subset));
  WEIR_TRY(keep_gap(times, WX_TRAIN, opts->gap, subset));
  return fill(times, subset, out);
}

/* Limits of all subsets in days. */
static weir_status ranges(const wx_split_opts *opts, double lo[WX_SUBSETS], double hi[WX_SUBSETS])
{
  const wx_range *const range[WX_SUBSETS] = {&opts->train, &opts->valid, &opts->test};

  for (int p = 0; p < WX_SUBSETS; p++) {
    WEIR_TRY(limits(wx_subset_name[p], range[p], &lo[p], &hi[p]));
  }
  return check_apart(lo, hi);
}

weir_status wx_split_check(const wx_split_opts *opts, bool *validates)
{
  double lo[WX_SUBSETS], hi[WX_SUBSETS];

  WEIR_TRY(ranges(opts, lo, hi));
  *validates = !is_open(lo[WX_VALID], hi[WX_VALID]);
  return WEIR_OK;
}

weir_status wx_split_create(const wx_split_opts *opts, const wx_times *times, wx_split *out)
{
  double lo[WX_SUBSETS], hi[WX_SUBSETS];
  int *subset = NULL;

  *out = (wx_split){.left_out = 0};
  WEIR_TRY(ranges(opts, lo, hi));
  WEIR_TRY(weir_alloc(times->n, sizeof *subset, (void **)&subset));
  for (int64_t i = 0; i < times->n; i++) {
    subset[i] = subset_of(times->start[i], lo, hi);
  }
  const weir_status status = take_subsets(opts, times, subset, out);

  weir_free(&subset);
  if (status != WEIR_OK) {
    wx_split_fini(out);
  }
  return status;
}

weir_status wx_split_init_times(const wx_split_opts *opts, const wx_archive_info *facts,
                                wx_split *out)
{
  const int64_t n = facts->n_init_times;
  double *days = NULL; /* initialisation times, then ends */

  *out = (wx_split){.left_out = 0};
  WEIR_TRY(weir_alloc(2 * n, sizeof *days, (void **)&days));
  for (int64_t i = 0; i < n; i++) {
    days[i] = (double)facts->start[i] / 86400;
    days[n + i] = days[i] + facts->lead[facts->n_leads - 1] / 24;
  }
  const weir_status status =
      wx_split_create(opts, &(wx_times){facts->name, n, days, days + n}, out);

  weir_free(&days);
  return status;
}

/* The initialisation times that begin fold k and the one after it. scratch: [s->n[WX_TRAIN]]. */
static void fold_range(const wx_times *t, const wx_split *s, int64_t k, int64_t n, double *scratch,
                       double *from, double *to)
{
  const int64_t m = s->n[WX_TRAIN];

  for (int64_t i = 0; i < m; i++) {
    scratch[i] = t->start[s->sample[WX_TRAIN][i]];
  }
  if (m > 0) {
    qsort(scratch, (size_t)m, sizeof *scratch, weir_compare_f64);
  }
  *from = k == 0 || m == 0 ? -INFINITY : scratch[k * m / n];
  *to = k == n - 1 || m == 0 ? INFINITY : scratch[(k + 1) * m / n];
}

weir_status wx_split_fold(const wx_split_opts *opts, const wx_times *times, const wx_split *s,
                          int64_t k, int64_t n, wx_split *out)
{
  double *scratch = NULL, from, to;
  int *subset = NULL;
  weir_status status = WEIR_OK;

  *out = (wx_split){.left_out = 0};
  WEIR_TRY_GOTO(weir_alloc(times->n, sizeof *subset, (void **)&subset), done);
  WEIR_TRY_GOTO(weir_alloc(times->n, sizeof *scratch, (void **)&scratch), done);
  fold_range(times, s, k, n, scratch, &from, &to);
  for (int64_t i = 0; i < times->n; i++) {
    subset[i] = WX_SUBSETS;
  }
  for (int64_t i = 0; i < s->n[WX_TRAIN]; i++) {
    const double at = times->start[s->sample[WX_TRAIN][i]];

    subset[s->sample[WX_TRAIN][i]] = at >= from && at < to ? WX_TEST : WX_TRAIN;
  }
  WEIR_TRY_GOTO(keep_gap(times, WX_TRAIN, opts->gap, subset), done);
  for (int64_t i = 0; i < s->n[WX_VALID]; i++) {
    subset[s->sample[WX_VALID][i]] = WX_VALID;
  }
  WEIR_TRY_GOTO(fill(times, subset, out), done);
  if (out->n[WX_TRAIN] == 0 || out->n[WX_TEST] == 0) {
    status = weir_fail(WEIR_ERR_CONFIG,
                       "bias.folds: fold %lld of %lld has %lld samples to train on and %lld of its "
                       "own, with a gap of %g days: take fewer folds",
                       (long long)k + 1, (long long)n, (long long)out->n[WX_TRAIN],
                       (long long)out->n[WX_TEST], opts->gap);
  }
done:
  weir_free(&subset);
  weir_free(&scratch);
  if (status != WEIR_OK) {
    wx_split_fini(out);
  }
  return status;
}

void wx_split_fini(wx_split *s)
{
  for (int p = 0; p < WX_SUBSETS; p++) {
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
  for (int p = 0; p < WX_SUBSETS; p++) {
    char first[DATE] = "", last[DATE] = "";

    if (s->n[p] > 0) {
      wx_date_text(s->first[p], first, sizeof first);
      wx_date_text(s->last[p], last, sizeof last);
      weir_info("data", "%s: %lld samples, %s to %s", wx_subset_name[p], (long long)s->n[p], first,
                last);
    }
  }
}
