/* rank_times.c - see weir_rank_times.h. The trace: Trace Event Format of the Chromium project,
 * complete events ("ph": "X"). */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "app/weir_rank_times.h"
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "report/weir_run_log.h"

enum { PATH_SIZE = 4096, NAME = 32, ROWS = 32 };

/* Events of the last training: [first, log.count). */
typedef struct times {
  weir_run_log log;
  int64_t first, ranks, activities;
} times;

static bool is(const weir_run_event *e, const char *name)
{
  return strcmp(e->name, name) == 0;
}

static int64_t rank_of(const weir_run_event *e)
{
  return (int64_t)weir_run_event_real(e, "rank", -1);
}

static weir_status read_times(const char *dir, times *out)
{
  char path[PATH_SIZE];

  WEIR_TRY(weir_path_join(dir, "run.jsonl", path, sizeof path));
  WEIR_TRY(weir_run_log_read(path, &out->log));
  for (int64_t i = 0; i < out->log.count; i++) {
    const weir_run_event *const e = &out->log.events[i];

    if (is(e, "train_begin")) {
      out->first = i;
      out->ranks = out->activities = 0;
    }
    out->ranks += is(e, "rank");
    out->activities += is(e, "activity");
  }
  return WEIR_OK;
}

/* ---- The table ---- */

static weir_status add_table(const times *t, weir_report *r)
{
  static const char *const head[] = {"rank",          "making plans (s)", "loading (s)",
                                     "computing (s)", "waiting (s)",      "checkpoints (s)",
                                     "messages sent", "MiB sent",         "in time (%)"};
  enum { COLUMNS = sizeof head / sizeof head[0] };
  weir_table c = {0};

  for (int64_t i = t->first; i < t->log.count; i++) {
    const weir_run_event *const e = &t->log.events[i];

    if (!is(e, "rank")) {
      continue;
    }
    const double waiting = weir_run_event_real(e, "plan_waiting_s", NAN) +
                           weir_run_event_real(e, "exchange_s", NAN) +
                           weir_run_event_real(e, "meeting_s", NAN);
    const double versions = weir_run_event_real(e, "versions", NAN);

    weir_table_add(&c, "%lld", (long long)rank_of(e));
    weir_table_add_real(&c, weir_run_event_real(e, "planning_s", NAN));
    weir_table_add_real(&c, weir_run_event_real(e, "loading_s", NAN));
    weir_table_add_real(&c, weir_run_event_real(e, "computing_s", NAN));
    weir_table_add_real(&c, waiting);
    weir_table_add_real(&c, weir_run_event_real(e, "checkpoint_s", NAN));
    weir_table_add_real(&c, weir_run_event_real(e, "messages", NAN));
    weir_table_add_real(&c, weir_run_event_real(e, "sent_bytes", NAN) / 0x1p20);
    weir_table_add_number(&c, "%.1f", 100 * weir_run_event_real(e, "fresh", NAN) / versions, "-");
  }
  const weir_status status = weir_table_report(&c, r, "ranks", COLUMNS, head);

  weir_table_fini(&c);
  return status;
}

/* ---- The figure ---- */

/* Intervals of one rank. */
typedef struct row {
  char name[NAME];
  int64_t n;
  double *lo, *hi, *share;
} row;

/* The share of an activity in which the rank does its own work. */
static double own_share(const weir_run_event *e)
{
  const double seconds =
      weir_run_event_real(e, "end_s", NAN) - weir_run_event_real(e, "begin_s", NAN);
  const weir_field *const what = weir_run_event_field(e, "what");
  const char *const name = what != NULL && what->kind == 's' ? what->text : "";
  const double waited = weir_run_event_real(e, "waited_s", 0);

  if (strcmp(name, "computing") == 0) {
    return seconds > 0 && waited < seconds ? 1 - waited / seconds : 1;
  }
  return strcmp(name, "exchange") == 0 || strcmp(name, "meeting") == 0 ? 0.15 : 0.5;
}

static void fill_rows(const times *t, int64_t n, row *rows)
{
  for (int64_t i = t->first; i < t->log.count; i++) {
    const weir_run_event *const e = &t->log.events[i];
    const int64_t rank = is(e, "activity") ? rank_of(e) : -1;

    if (rank >= 0 && rank < n) {
      row *const one = &rows[rank];

      one->lo[one->n] = weir_run_event_real(e, "begin_s", NAN);
      one->hi[one->n] = weir_run_event_real(e, "end_s", NAN);
      one->share[one->n] = own_share(e);
      one->n++;
    }
  }
}

static weir_status put_rows(int64_t n, const row *rows, weir_report *r)
{
  weir_figure_series series[ROWS];

  for (int64_t k = 0; k < n; k++) {
    series[k] = (weir_figure_series){.kind = WEIR_FIGURE_SPANS,
                                     .name = rows[k].name,
                                     .n = rows[k].n,
                                     .y = rows[k].share,
                                     .lo = rows[k].lo,
                                     .hi = rows[k].hi,
                                     .color = 1};
  }
  const weir_figure figure = {.title = "Activity of the ranks in the last steps",
                              .x_label = "time since the begin of the training (s)",
                              .y_label = "",
                              .series = series,
                              .n_series = (int)n};

  return weir_report_figure(r, "ranks", &figure);
}

static weir_status add_figure(const times *t, weir_report *r)
{
  const int64_t n = t->ranks < ROWS ? t->ranks : ROWS;
  row rows[ROWS] = {{.n = 0}};
  weir_status status = WEIR_OK;

  for (int64_t k = 0; k < n; k++) {
    (void)snprintf(rows[k].name, NAME, "rank %lld", (long long)k);
    WEIR_TRY_GOTO(weir_alloc(t->activities, sizeof(double), (void **)&rows[k].lo), done);
    WEIR_TRY_GOTO(weir_alloc(t->activities, sizeof(double), (void **)&rows[k].hi), done);
    WEIR_TRY_GOTO(weir_alloc(t->activities, sizeof(double), (void **)&rows[k].share), done);
  }
  fill_rows(t, n, rows);
  WEIR_TRY_GOTO(put_rows(n, rows, r), done);
  WEIR_TRY_GOTO(
      weir_report_text(
          r,
          "Dark: the rank computes; the lighter, the larger the share of waiting within. Medium: "
          "it makes plans, loads samples or writes a checkpoint. Light: it waits in an exchange or "
          "a meeting. %s"
          "The same in trace.json, for chrome://tracing or Perfetto.",
          n < t->ranks ? "The first 32 ranks. " : ""),
      done);
done:
  for (int64_t k = 0; k < n; k++) {
    weir_free(&rows[k].lo);
    weir_free(&rows[k].hi);
    weir_free(&rows[k].share);
  }
  return status;
}

/* ---- The trace ---- */

/* A name for the thread of a rank, or an activity; *n: how many were written. */
static weir_status put_event(weir_writer *w, const weir_run_event *e, int64_t *n)
{
  const char *const comma = *n > 0 ? ",\n" : "\n";
  const double begin = weir_run_event_real(e, "begin_s", 0);
  char what[NAME];

  if (is(e, "rank")) {
    (*n)++;
    return weir_writer_printf(w,
                              "%s{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 0, \"tid\": "
                              "%lld, \"args\": {\"name\": \"rank %lld\"}}",
                              comma, (long long)rank_of(e), (long long)rank_of(e));
  }
  if (!is(e, "activity")) {
    return WEIR_OK;
  }
  (*n)++;
  return weir_writer_printf(
      w,
      "%s{\"name\": \"%s\", \"cat\": \"train\", \"ph\": \"X\", \"pid\": 0, \"tid\": %lld, \"ts\": "
      "%.3f, \"dur\": %.3f, \"args\": {\"step\": %lld, \"waited_us\": %.3f}}",
      comma, weir_run_event_text(e, "what", what, sizeof what), (long long)rank_of(e), begin * 1e6,
      (weir_run_event_real(e, "end_s", begin) - begin) * 1e6,
      (long long)weir_run_event_real(e, "step", 0), weir_run_event_real(e, "waited_s", 0) * 1e6);
}

static weir_status write_trace(const times *t, const char *dir)
{
  char path[PATH_SIZE];
  weir_writer *w = NULL;
  int64_t n = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(dir, "trace.json", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &w));
  WEIR_TRY_GOTO(weir_writer_printf(w, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": ["), done);
  for (int64_t i = t->first; i < t->log.count; i++) {
    WEIR_TRY_GOTO(put_event(w, &t->log.events[i], &n), done);
  }
  WEIR_TRY_GOTO(weir_writer_printf(w, "\n]}\n"), done);
  WEIR_TRY_GOTO(weir_writer_commit(&w), done);
done:
  weir_writer_destroy(&w);
  return status;
}

static weir_status add_all(const times *t, const char *dir, weir_report *r)
{
  if (t->ranks < 2) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_report_heading(r, "Ranks"));
  WEIR_TRY(add_table(t, r));
  WEIR_TRY(weir_report_text(
      r, "Waiting: for messages within a step, in the exchange, and where ranks meet. In time: "
         "contributions to exchanges of the same step, of those that the policy counts."));
  if (t->activities == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(add_figure(t, r));
  return write_trace(t, dir);
}

weir_status weir_rank_times_report(const char *dir, weir_report *r)
{
  times t = {.first = 0};

  WEIR_TRY(read_times(dir, &t));
  const weir_status status = add_all(&t, dir, r);

  weir_run_log_fini(&t.log);
  return status;
}
