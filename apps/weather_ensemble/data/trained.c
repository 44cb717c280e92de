/* trained.c - see trained.h. */
#include "data/trained.h"
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
  int part; /* wx_part, or WX_PARTS: none */
  double from, to;
} run;

static const char *name_of(int part)
{
  return part == WX_PARTS ? "none" : wx_part_name[part];
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

/* The run at *at, which then stands behind it. False: there is no run. */
static bool next_run(const char **at, run *out)
{
  static const char to[] = " to ";
  const char *const text = *at;
  const size_t n = strcspn(text, ";");
  const size_t name = strcspn(text, ":");
  const char *const middle = strstr(text, to);

  *out = (run){.part = -1};
  for (int p = 0; p <= WX_PARTS; p++) {
    const char *const known = name_of(p);

    out->part = name == strlen(known) && strncmp(text, known, name) == 0 ? p : out->part;
  }
  if (out->part < 0 || name + 2 >= n || middle == NULL || middle >= text + n ||
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
  return weir_fail(WEIR_ERR_DATA, "'%.80s' are no parts such as train: DATE to DATE; valid: ...",
                   text);
}

static bool same_date(double a, double b)
{
  return (isnan(a) && isnan(b)) || fabs(a - b) < 2 * slack;
}

weir_status wx_trained_parts(const wx_split *split, const wx_times *times, const char *dates,
                             int *part)
{
  run seen[WX_TEST] = {{.from = NAN, .to = NAN}, {.from = NAN, .to = NAN}};
  bool same = true;

  for (const char *at = dates; *at != 0;) {
    run r;

    if (!next_run(&at, &r) || r.part >= WX_TEST) {
      return refuse(dates);
    }
    seen[r.part] = r;
  }
  for (int64_t i = 0; i < times->n; i++) {
    part[i] = WX_PARTS;
  }
  for (int p = 0; p < WX_PARTS; p++) {
    same = same && (p == WX_TEST || (same_date(seen[p].from, split->first[p]) &&
                                     same_date(seen[p].to, split->last[p])));
    for (int64_t i = 0; i < split->n[p]; i++) {
      part[split->sample[p][i]] = p;
    }
  }
  for (int64_t i = 0; i < times->n && !same; i++) {
    int p = 0;

    while (p < WX_TEST &&
           !(times->start[i] >= seen[p].from - slack && times->end[i] <= seen[p].to + slack)) {
      p++;
    }
    part[i] = p < WX_TEST ? p : part[i] == WX_TEST ? WX_TEST : WX_PARTS;
  }
  return WEIR_OK;
}

/* A sample by its start, then by its part. */
typedef struct known {
  double start;
  int part;
} known;

static int by_start(const void *a, const void *b)
{
  const known *const x = a, *const y = b;

  return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                              : (x->part > y->part) - (x->part < y->part);
}

static void put_run(const known *first, const known *last, char *text, size_t size, size_t *at)
{
  char from[DATE], to[DATE];

  wx_date_text(first->start, from, sizeof from);
  wx_date_text(last->start, to, sizeof to);
  *at += (size_t)snprintf(text + *at, size - *at, "%s%s: %s to %s", *at > 0 ? "; " : "",
                          name_of(first->part), from, to);
}

weir_status wx_trained_text(const wx_times *times, const int *part, const int64_t *sample,
                            int64_t n, char **text)
{
  known *k = NULL;
  void *memory = NULL;
  int64_t m = 0, runs = 1;
  size_t at = 0;
  weir_status status = WEIR_OK;

  *text = NULL;
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *k, (void **)&k), done);
  for (int64_t i = 0; i < n; i++) {
    k[i] = (known){times->start[sample[i]], part[sample[i]]};
  }
  qsort(k, (size_t)n, sizeof *k, by_start);
  for (int64_t i = 0; i < n; i++) { /* each start once */
    if (m == 0 || k[i].start > k[m - 1].start) {
      k[m++] = k[i];
      runs += m > 1 && k[m - 1].part != k[m - 2].part;
    }
  }
  const size_t size = (size_t)runs * RUN;

  WEIR_TRY_GOTO(weir_alloc((int64_t)size, 1, &memory), done);
  *text = memory;
  for (int64_t i = 0, first = 0; i < m; i++) {
    if (i + 1 == m || k[i + 1].part != k[first].part) {
      put_run(&k[first], &k[i], *text, size, &at);
      first = i + 1;
    }
  }
done:
  weir_free(&k);
  return status;
}

weir_status wx_trained_find(const char *text, double start, int *part)
{
  *part = WX_PARTS;
  for (const char *at = text; *at != 0;) {
    run r;

    if (!next_run(&at, &r)) {
      return refuse(text);
    }
    if (start >= r.from - slack && start <= r.to + slack) {
      *part = r.part;
    }
  }
  return WEIR_OK;
}
