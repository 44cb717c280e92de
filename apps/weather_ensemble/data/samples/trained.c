/* trained.c - see trained.h. */
#include "data/samples/trained.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/date.h"

enum { DATE = 32, RUN = 96 /* bytes of a run in a text */ };

/* Dates are written to the minute. */
static const double slack = 0.5 / 1440;

/* "train: 2000-01-01 00:00 to 2000-01-18 00:00": from, to NaN where it says none. */
typedef struct run {
  int subset; /* wx_subset, or WX_SUBSETS: none */
  double from, to;
} run;

static const char *name_of(int subset)
{
  return subset == WX_SUBSETS ? "none" : wx_subset_name[subset];
}

/* n bytes of text as days; "none" is NaN. */
static bool take_date(const char *text, size_t n, double *days)
{
  char date[DATE];

  *days = NAN;
  if (n >= sizeof date) {
    return false;
  }
  memcpy(date, text, n);
  date[n] = 0;
  return strcmp(date, "none") == 0 || wx_date_parse(date, days);
}

/* The run at *at, which is then advanced past it. False: there is no run. */
static bool next_run(const char **at, run *out)
{
  static const char to[] = " to ";
  const char *const text = *at;
  const size_t n = strcspn(text, ";");
  const size_t name = strcspn(text, ":");
  const char *const middle = strstr(text, to);

  *out = (run){.subset = -1};
  for (int p = 0; p <= WX_SUBSETS; p++) {
    const char *const known = name_of(p);

    out->subset = name == strlen(known) && strncmp(text, known, name) == 0 ? p : out->subset;
  }
  if (out->subset < 0 || name + 2 >= n || middle == NULL || middle >= text + n ||
      middle < text + name + 2) {
    return false;
  }
  const char *const first = text + name + 2, *const last = middle + sizeof to - 1;

  *at = text + n + (text[n] == ';') + (text[n] == ';' && text[n + 1] == ' ');
  return take_date(first, (size_t)(middle - first), &out->from) &&
         take_date(last, (size_t)(text + n - last), &out->to);
}

static weir_status refuse(const char *text)
{
  return weir_fail(WEIR_ERR_DATA, "'%.80s' are no subsets such as train: DATE to DATE; valid: ...",
                   text);
}

/* A sample by its start, then by its subset. */
typedef struct known {
  double start, end;
  int subset;
} known;

static int by_start(const void *a, const void *b)
{
  const known *const x = a, *const y = b;

  return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                              : (x->subset > y->subset) - (x->subset < y->subset);
}

/* Bytes of n runs as text. */
static weir_status allocate(int64_t n, size_t *size, char **text)
{
  void *memory = NULL;

  *size = (size_t)(n > 0 ? n : 1) * RUN;
  WEIR_TRY(weir_alloc((int64_t)*size, 1, &memory));
  *text = memory;
  return WEIR_OK;
}

static void put_run(int subset, double from, double to, char *text, size_t size, size_t *at)
{
  char first[DATE], last[DATE];

  wx_date_text(from, first, sizeof first);
  wx_date_text(to, last, sizeof last);
  *at += (size_t)snprintf(text + *at, size - *at, "%s%s: %s to %s", *at > 0 ? "; " : "",
                          name_of(subset), first, last);
}

/* All samples by start, each with its subset. */
static weir_status by_time(const wx_split *split, const wx_times *times, known **out)
{
  void *memory = NULL;

  WEIR_TRY(weir_alloc(times->n, sizeof **out, &memory));
  known *const k = memory;

  for (int64_t i = 0; i < times->n; i++) {
    k[i] = (known){times->start[i], times->end[i], WX_SUBSETS};
  }
  for (int p = 0; p < WX_SUBSETS; p++) {
    for (int64_t i = 0; i < split->n[p]; i++) {
      k[split->sample[p][i]].subset = p;
    }
  }
  qsort(k, (size_t)times->n, sizeof *k, by_start);
  *out = k;
  return WEIR_OK;
}

weir_status wx_trained_dates(const wx_split *split, const wx_times *times, char **text)
{
  known *k = NULL;
  size_t size, at = 0;
  int64_t runs = 1;
  weir_status status = WEIR_OK;

  *text = NULL;
  WEIR_TRY(by_time(split, times, &k));
  for (int64_t i = 1; i < times->n; i++) {
    runs += k[i].subset != k[i - 1].subset;
  }
  WEIR_TRY_GOTO(allocate(runs, &size, text), done);
  for (int64_t i = 0, end; i < times->n; i = end) {
    double last = k[i].end;

    for (end = i + 1; end < times->n && k[end].subset == k[i].subset; end++) {
      last = fmax(last, k[end].end);
    }
    if (k[i].subset < WX_TEST) {
      put_run(k[i].subset, k[i].start, last, *text, size, &at);
    }
  }
done:
  weir_free(&k);
  return status;
}

/* Of a sample, from runs in a text that is known to be one: the first of training, validation. */
static int subset_in(const char *dates, double start, double end, int otherwise)
{
  int subset = otherwise;
  run r;

  for (const char *at = dates; *at != 0 && next_run(&at, &r);) {
    if (start < r.to - slack && end > r.from + slack &&
        (subset > r.subset || subset == otherwise)) {
      subset = r.subset;
    }
  }
  return subset;
}

weir_status wx_trained_subsets(const wx_split *split, const wx_times *times, const char *dates,
                               int *subset)
{
  char *own = NULL;

  for (const char *at = dates; *at != 0;) {
    run r;

    if (!next_run(&at, &r) || r.subset >= WX_TEST) {
      return refuse(dates);
    }
  }
  WEIR_TRY(wx_trained_dates(split, times, &own));
  const bool same = strcmp(own, dates) == 0;

  weir_free(&own);
  for (int64_t i = 0; i < times->n; i++) {
    subset[i] = WX_SUBSETS;
  }
  for (int p = 0; p < WX_SUBSETS; p++) {
    for (int64_t i = 0; i < split->n[p]; i++) {
      subset[split->sample[p][i]] = p;
    }
  }
  for (int64_t i = 0; i < times->n && !same; i++) {
    subset[i] = subset_in(dates, times->start[i], times->end[i],
                          subset[i] == WX_TEST ? WX_TEST : WX_SUBSETS);
  }
  return WEIR_OK;
}

weir_status wx_trained_text(const wx_times *times, const int *subset, const int64_t *sample,
                            int64_t n, char **text)
{
  known *k = NULL;
  int64_t m = 0, runs = 1;
  size_t size, at = 0;
  weir_status status = WEIR_OK;

  *text = NULL;
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *k, (void **)&k), done);
  for (int64_t i = 0; i < n; i++) {
    k[i] = (known){times->start[sample[i]], times->end[sample[i]], subset[sample[i]]};
  }
  qsort(k, (size_t)n, sizeof *k, by_start);
  for (int64_t i = 0; i < n; i++) { /* each start once */
    if (m == 0 || k[i].start > k[m - 1].start) {
      k[m++] = k[i];
      runs += m > 1 && k[m - 1].subset != k[m - 2].subset;
    }
  }
  WEIR_TRY_GOTO(allocate(runs, &size, text), done);
  for (int64_t i = 0, first = 0; i < m; i++) {
    if (i + 1 == m || k[i + 1].subset != k[first].subset) {
      put_run(k[first].subset, k[first].start, k[i].start, *text, size, &at);
      first = i + 1;
    }
  }
done:
  weir_free(&k);
  return status;
}

weir_status wx_trained_find(const char *text, double start, int *subset)
{
  *subset = WX_SUBSETS;
  for (const char *at = text; *at != 0;) {
    run r;

    if (!next_run(&at, &r)) {
      return refuse(text);
    }
    if (start >= r.from - slack && start <= r.to + slack) {
      *subset = r.subset;
    }
  }
  return WEIR_OK;
}
