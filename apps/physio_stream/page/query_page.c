/* query_page.c - see query_page.h. */
#include "page/query_page.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "pipeline.h"
#include "stream/weir_flags.h"
#include "page/timeline.h"

enum { RESULT_COLUMNS = 11 };
static const char *const result_head[RESULT_COLUMNS] = {
    "stream", "unit", "rate (Hz)",     "slots",          "present",    "min",
    "mean",   "max",  "look-back (s)", "look-ahead (s)", "latency (s)"};

#define X(name, bit, text) [bit] = (text),
static const char *const flag_names[] = {WEIR_FLAG_LIST(X)};
#undef X
enum { FLAGS = sizeof flag_names / sizeof flag_names[0] };

static double rate_of(const weir_query_column *c)
{
  return (double)c->rate_num / (double)c->rate_den;
}

static double mean_of(const ps_column *c)
{
  return c->present > 0 ? c->sum / (double)c->present : NAN;
}

static double or_nan(const ps_column *c, double value)
{
  return c->present > 0 ? value : NAN;
}

const char *const ps_reach_head[PS_REACH_COLUMNS] = {
    "stream", "unit", "rate (Hz)", "latency (s)", "look-back (s)", "look-ahead (s)"};

void ps_query_reach(const ps_query_run *r, weir_table *cells)
{
  for (int64_t i = 0; i < r->query.n_columns; i++) {
    double back = 0, ahead = 0;

    weir_stream_reach(r->stream, (int)i, &back, &ahead);
    weir_table_add(cells, "%s", r->query.columns[i].name);
    weir_table_add(cells, "%s", r->query.columns[i].unit);
    weir_table_add(cells, "%.7g", rate_of(&r->query.columns[i]));
    weir_table_add(cells, "%.6g", weir_stream_window(r->stream) + ahead);
    weir_table_add(cells, "%.6g", back);
    weir_table_add(cells, "%.6g", ahead);
  }
}

static void add_rows(const ps_query_run *r, weir_table *cells)
{
  for (int64_t i = 0; i < r->query.n_columns; i++) {
    const ps_column *c = &r->columns[i];
    double back = 0, ahead = 0;

    weir_stream_reach(r->stream, (int)i, &back, &ahead);
    weir_table_add(cells, "%s", c->what->name);
    weir_table_add(cells, "%s", c->what->unit);
    weir_table_add(cells, "%.7g", rate_of(c->what));
    weir_table_add(cells, "%lld", (long long)c->slots);
    weir_table_add(cells, "%lld", (long long)c->present);
    weir_table_add_real(cells, or_nan(c, c->min));
    weir_table_add_real(cells, mean_of(c));
    weir_table_add_real(cells, or_nan(c, c->max));
    weir_table_add(cells, "%.6g", back);
    weir_table_add(cells, "%.6g", ahead);
    weir_table_add(cells, "%.6g", weir_stream_window(r->stream) + ahead);
  }
}

static void write_events(const ps_query_run *r)
{
  const weir_stream_report *report = &r->report;

  for (int64_t i = 0; i < r->query.n_columns; i++) {
    const ps_column *c = &r->columns[i];
    double back = 0, ahead = 0;

    weir_stream_reach(r->stream, (int)i, &back, &ahead);
    weir_event("result", WEIR_TEXT("record", r->facts->name), WEIR_TEXT("stream", c->what->name),
               WEIR_TEXT("unit", c->what->unit), WEIR_REAL("rate_hz", rate_of(c->what)),
               WEIR_INT("slots", c->slots), WEIR_INT("present", c->present),
               WEIR_REAL("min", or_nan(c, c->min)), WEIR_REAL("mean", mean_of(c)),
               WEIR_REAL("max", or_nan(c, c->max)), WEIR_INT("infinite", c->infinite.n),
               WEIR_INT("undefined", c->undefined.n), WEIR_REAL("look_back_s", back),
               WEIR_REAL("look_ahead_s", ahead));
  }
  weir_event("query_end", WEIR_TEXT("record", r->facts->name),
             WEIR_INT("results", r->query.n_columns), WEIR_INT("slots", report->slots),
             WEIR_INT("present", report->present), WEIR_REAL("window_s", report->window_s),
             WEIR_REAL("latency_s", report->latency_s),
             WEIR_INT("tier", weir_tier_number(report->tier)), WEIR_INT("stages", report->stages),
             WEIR_INT("chunks", report->computed), WEIR_INT("skipped", report->skipped),
             WEIR_INT("buffer_bytes", report->buffer_bytes), WEIR_REAL("seconds", report->seconds));
}

static weir_status add_table(weir_report *page, const char *id, weir_table *c, int columns,
                             const char *const *head)
{
  const weir_status status = weir_table_report(c, page, id, columns, head);

  weir_table_fini(c);
  return status;
}

static weir_status add_results(weir_report *page, const ps_query_run *r)
{
  weir_table c = {0};

  add_rows(r, &c);
  return add_table(page, "results", &c, RESULT_COLUMNS, result_head);
}

static weir_status add_strip(weir_report *page, const ps_column *c, int number)
{
  char label[2 * WEIR_QUERY_NAME + WEIR_SERIES_UNIT], title[4 * WEIR_QUERY_NAME], name[32];
  ps_column_drawn d;

  WEIR_TRY(ps_column_draw(c, &d));
  (void)snprintf(label, sizeof label, "%s (%s)", c->what->part,
                 c->what->unit[0] != 0 ? c->what->unit : "unit not stated");
  (void)snprintf(title, sizeof title, "%s from %.6g s", c->what->name, d.n > 0 ? d.time[0] : 0.0);
  (void)snprintf(name, sizeof name, "stream_%d", number);
  const weir_figure_series series = {.kind = d.points ? WEIR_FIGURE_POINTS : WEIR_FIGURE_LINE,
                                     .n = d.n,
                                     .x = d.time,
                                     .y = d.value};
  const weir_figure figure = {.title = title,
                              .x_label = "time (s)",
                              .y_label = label,
                              .series = &series,
                              .n_series = 1,
                              .empty = "nothing is present here",
                              .ecg_paper = strcmp(c->what->unit, "mV") == 0};
  const weir_status status = weir_report_figure(page, name, &figure);

  ps_column_drawn_fini(&d);
  return status;
}

/* Bits of weir_flags.h that a stream of flags has anywhere, and their share of each window. */
static weir_status add_flags(weir_report *page, const ps_column *c, int number)
{
  const char *names[PS_TIMELINE_ROWS] = {NULL};
  char title[4 * WEIR_QUERY_NAME], name[32];
  ps_column_reader reader;
  ps_timeline t = {0};
  weir_status status = WEIR_OK;

  WEIR_TRY(ps_timeline_init(FLAGS, rate_of(c->what), &t));
  WEIR_TRY_GOTO(ps_column_open(c, &reader), done);
  while (reader.slot != INT64_MAX) {
    const unsigned bits =
        reader.value > 0 && reader.value < 1 << FLAGS ? (unsigned)reader.value : 0;

    for (int k = 0; k < FLAGS; k++) {
      if ((bits >> k & 1) != 0) {
        ps_timeline_add(&t, k, reader.slot, reader.slot + 1);
        names[k] = flag_names[k];
      }
    }
    WEIR_TRY_GOTO(ps_column_next(&reader), done);
  }
  ps_timeline_end(&t, c->slots);
  (void)snprintf(title, sizeof title, "%s: flags over time", c->what->name);
  (void)snprintf(name, sizeof name, "flags_%d", number);
  WEIR_TRY_GOTO(ps_timeline_figure(&t, page, name, title, names, "no flag is set"), done);
done:
  ps_timeline_fini(&t);
  return status;
}

static weir_status add_groups(weir_report *page, const ps_query_run *r)
{
  weir_table c = {0};

  ps_stream_groups(r->stream, PS_GROUP_COLUMNS, &c);
  return add_table(page, "groups", &c, PS_GROUP_COLUMNS, ps_group_head);
}

static weir_status add_throughput(weir_report *page, const ps_query_run *r)
{
  const weir_stream_report *report = &r->report;
  weir_table c = {0};

  weir_table_add_count_pair(&c, "slots read", report->slots);
  weir_table_add_count_pair(&c, "present", report->present);
  weir_table_add_pair(&c, "engine", "%s", weir_tier_name(report->tier));
  weir_table_add_count_pair(&c, "stages", report->stages);
  weir_table_add_real_pair(&c, "chunk (s)", report->window_s);
  weir_table_add_real_pair(&c, "latency (s)", report->latency_s);
  weir_table_add_real_pair(&c, "period of all clocks (s)",
                           (double)r->query.period_num / (double)r->query.period_den);
  weir_table_add_count_pair(&c, "chunks", report->computed);
  weir_table_add_count_pair(&c, "chunks skipped", report->skipped);
  weir_table_add_count_pair(&c, "buffers (bytes)", report->buffer_bytes);
  weir_table_add_real_pair(&c, "time (s)", report->seconds);
  weir_table_add_real_pair(&c, "slots per second",
                           report->seconds > 0 ? (double)report->slots / report->seconds : NAN);
  return weir_table_report_pairs(&c, page, "throughput");
}

static weir_status fill(weir_report *page, const ps_query_run *r)
{
  WEIR_TRY(add_results(page, r));
  for (int64_t i = 0; i < r->query.n_columns; i++) {
    if (r->columns[i].strip.hi > r->columns[i].strip.lo) {
      WEIR_TRY(add_strip(page, &r->columns[i], (int)i + 1));
    }
  }
  if (r->viewer != NULL) {
    WEIR_TRY(weir_report_link(page, "viewer.html", PS_VIEWER_LINK));
  }
  for (int64_t i = 0; i < r->query.n_columns; i++) {
    if (strcmp(r->columns[i].what->unit, WEIR_FLAG_UNIT) == 0) {
      WEIR_TRY(add_flags(page, &r->columns[i], (int)i + 1));
    }
  }
  WEIR_TRY(weir_report_heading(page, "Data movement"));
  WEIR_TRY(weir_report_text(
      page,
      "Each row is a group of fused steps, run on chunks of %.4g s. Values are means per chunk, "
      "except calls. moved: distinct elements read and written, predicted from the rates of the "
      "streams; saved: traffic that fusion avoids; predicted time: from the peak rates of the "
      "machine; counted and measured: in this run, with exec.explain=true.",
      r->report.window_s));
  WEIR_TRY(add_groups(page, r));
  WEIR_TRY(weir_report_heading(page, "Throughput"));
  WEIR_TRY(weir_report_text(page, "From reading the input to the last result, writing left out. "
                                  "latency: chunk and the longest look-ahead of a result."));
  return add_throughput(page, r);
}

weir_status ps_query_page_write(const ps_query_run *r, const char *dir)
{
  weir_report *page = NULL;
  char title[256];

  (void)snprintf(title, sizeof title, "physio_stream: query on %s", r->facts->name);
  WEIR_TRY(weir_report_open(dir, title, &page));
  WEIR_TRY(weir_report_commit(&page, fill(page, r)));
  write_events(r);
  return WEIR_OK;
}
