/* run_page.c - see run_page.h. */
#include "page/run_page.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "page/run_rhythm.h"

enum { MAX_STRIP = 1000000 };

weir_status ps_strip_init(const ps_cfg *cfg, const ps_input_info *facts, ps_strip *out)
{
  const double rate = (double)facts->fs_num / (double)facts->fs_den;
  const double lo = floor(cfg->output.start * rate), n = floor(cfg->output.strip * rate);

  *out = (ps_strip){0};
  if (n > MAX_STRIP) {
    return weir_fail(WEIR_ERR_CONFIG, "output.strip: %g s are %.0f samples, at most %d are drawn",
                     cfg->output.strip, n, MAX_STRIP);
  }
  if (lo > 0 && lo >= (double)facts->count) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "output.start: %.6g s is past the end of %s, which is %.6g s long",
                     cfg->output.start, facts->name, (double)facts->count / rate);
  }
  out->count = facts->count;
  out->follows = cfg->output.start == 0;
  if (lo < (double)facts->count) {
    out->lo = (int64_t)lo;
    out->hi = out->lo + (int64_t)n < facts->count ? out->lo + (int64_t)n : facts->count;
  }
  WEIR_TRY(weir_alloc(out->hi - out->lo, sizeof *out->value, (void **)&out->value));
  for (int64_t i = 0; i < out->hi - out->lo; i++) {
    out->value[i] = NAN;
  }
  return WEIR_OK;
}

void ps_strip_fini(ps_strip *s)
{
  weir_free(&s->value);
}

/* Moves the strip to the first sample of slots [lo, hi) that is present, if one is. */
static void begin_strip(ps_strip *s, int64_t lo, int64_t hi, const uint8_t *present)
{
  const int64_t n = s->hi - s->lo;

  for (int64_t t = lo; t < hi; t++) {
    if (present[t - lo]) {
      s->moved = t > 0;
      s->lo = t;
      s->hi = n < s->count - t ? t + n : s->count;
      s->follows = false;
      return;
    }
  }
}

void ps_strip_take(ps_strip *s, int64_t lo, int64_t hi, const float *x, const uint8_t *present)
{
  if (s->follows) {
    begin_strip(s, lo, hi, present);
  }
  const int64_t first = lo > s->lo ? lo : s->lo, end = hi < s->hi ? hi : s->hi;

  for (int64_t t = first; t < end; t++) {
    if (present[t - lo]) {
      s->value[t - s->lo] = (double)x[t - lo];
    }
  }
}

void ps_strip_end(ps_strip *s, int64_t count)
{
  s->count = count;
  s->hi = s->hi < count ? s->hi : count;
  s->lo = s->lo < s->hi ? s->lo : s->hi;
}

/* What the page says of the run; each is also a field of the event `run_end`. */
typedef struct summary {
  const ps_cfg *cfg;
  const ps_quality *quality;
  const ps_input_info *facts;
  const weir_stream_report *report;
  const ps_out_beats *beats;
  double rr_mean, rr_std, rr_median, rr_iqr, rr_odd_percent, rate, per_second, decision_s;
} summary;

static void write_event(const summary *s)
{
  weir_event(
      "run_end", WEIR_TEXT("record", s->facts->name), WEIR_TEXT("signal", s->facts->signal),
      WEIR_REAL("rate_hz", s->rate), WEIR_INT("samples", s->facts->count),
      WEIR_INT("absent", s->facts->count - s->report->present),
      WEIR_INT("missing_segments", s->facts->missing_segments), WEIR_INT("beats", s->beats->n),
      WEIR_REAL("rr_mean_s", s->rr_mean), WEIR_REAL("rr_std_s", s->rr_std),
      WEIR_REAL("rr_median_s", s->rr_median), WEIR_REAL("rr_iqr_s", s->rr_iqr),
      WEIR_REAL("rr_odd_percent", s->rr_odd_percent), WEIR_REAL("window_s", s->report->window_s),
      WEIR_REAL("latency_s", s->report->latency_s), WEIR_REAL("decision_s", s->decision_s),
      WEIR_INT("tier", weir_tier_number(s->report->tier)), WEIR_INT("stages", s->report->stages),
      WEIR_INT("chunks", s->report->computed), WEIR_INT("skipped", s->report->skipped),
      WEIR_INT("buffer_bytes", s->report->buffer_bytes), WEIR_REAL("seconds", s->report->seconds),
      WEIR_REAL("samples_per_s", s->per_second));
}

static weir_status add_summary(weir_report *r, const summary *s)
{
  weir_table c = {0};

  const int64_t whole = (int64_t)((double)s->facts->count / s->rate + 0.5);

  weir_table_add_pair(&c, "record", "%s", s->facts->name);
  weir_table_add_pair(&c, "signal", "%s", s->facts->signal);
  weir_table_add_pair(&c, "sampling rate (Hz)", "%.7g", s->rate);
  weir_table_add_pair(&c, "duration (h:mm:ss)", "%lld:%02d:%02d", (long long)(whole / 3600),
                      (int)(whole / 60 % 60), (int)(whole % 60));
  weir_table_add_count_pair(&c, "samples", s->facts->count);
  weir_table_add_count_pair(&c, "absent", s->facts->count - s->report->present);
  weir_table_add_count_pair(&c, "missing segments", s->facts->missing_segments);
  if (s->facts->damaged) {
    weir_table_add_pair(&c, "checksum", "%s", "WRONG: not that of the header");
  }
  weir_table_add_count_pair(&c, "beats", s->beats->n);
  weir_table_add_real_pair(&c, "heart rate (beats/min)", 60 / s->rr_mean);
  weir_table_add_real_pair(&c, "RR mean (s)", s->rr_mean);
  weir_table_add_real_pair(&c, "RR standard deviation (s)", s->rr_std);
  weir_table_add_real_pair(&c, "RR median (s)", s->rr_median);
  weir_table_add_real_pair(&c, "RR interquartile range (s)", s->rr_iqr);
  weir_table_add_real_pair(&c, "RR below 0.3 s or above 2 s, implausible (%)", s->rr_odd_percent);
  return weir_table_report_pairs(&c, r, "summary");
}

static weir_status add_throughput(weir_report *r, const summary *s)
{
  weir_table c = {0};

  weir_table_add_pair(&c, "engine", "%s", weir_tier_name(s->report->tier));
  weir_table_add_count_pair(&c, "stages", s->report->stages);
  weir_table_add_real_pair(&c, "chunk (s)", s->report->window_s);
  weir_table_add_real_pair(&c, "latency (s)", s->report->latency_s);
  weir_table_add_real_pair(&c, "decision (s)", s->decision_s);
  if (s->facts->live != NULL) {
    weir_table_add_real_pair(&c, "latency with decision and input.lateness (s)",
                             s->report->latency_s + s->decision_s + s->cfg->input.lateness);
  }
  weir_table_add_count_pair(&c, "chunks", s->report->computed);
  weir_table_add_count_pair(&c, "chunks skipped", s->report->skipped);
  weir_table_add_count_pair(&c, "buffers (bytes)", s->report->buffer_bytes);
  weir_table_add_real_pair(&c, "time (s)", s->report->seconds);
  if (s->facts->live != NULL) {
    weir_table_add_real_pair(&c, "time from complete chunk to results, median (s)",
                             s->report->chunk_p50_s);
    weir_table_add_real_pair(&c, "time from complete chunk to results, 99th percentile (s)",
                             s->report->chunk_p99_s);
    weir_table_add_real_pair(&c, "time from complete chunk to results, maximum (s)",
                             s->report->chunk_max_s);
  }
  weir_table_add_real_pair(&c, "samples per second", s->per_second);
  return weir_table_report_pairs(&c, r, "throughput");
}

/* What became of the lines of live input. */
static weir_status add_live(weir_report *r, const weir_live_counts *l)
{
  weir_table c = {0};

  WEIR_TRY(weir_report_heading(r, "Live input"));
  weir_table_add_count_pair(&c, "lines", l->lines);
  weir_table_add_count_pair(&c, "samples", l->samples);
  weir_table_add_count_pair(&c, "kept", l->kept);
  weir_table_add_count_pair(&c, "kept, stated as absent", l->absent);
  weir_table_add_count_pair(&c, "kept, snapped to the grid", l->snapped);
  weir_table_add_count_pair(&c, "dropped: later than the bound", l->late);
  weir_table_add_count_pair(&c, "dropped: duplicate", l->duplicate);
  weir_table_add_count_pair(&c, "dropped: off the grid", l->off_grid);
  weir_table_add_count_pair(&c, "dropped: too far ahead", l->ahead);
  weir_table_add_count_pair(&c, "of streams not read", l->unused);
  weir_table_add_count_pair(&c, "malformed lines", l->malformed);
  weir_table_add_count_pair(&c, "out of order", l->backward);
  return weir_table_report_pairs(&c, r, "live");
}

static weir_status add_strip(weir_report *r, const summary *s, const ps_strip *strip)
{
  const int64_t n = strip->hi - strip->lo, n_beats = s->beats->n_strip;
  double *x = NULL, *bx = NULL, *by = NULL;
  char label[128], title[128];
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(n, sizeof *x, (void **)&x), done);
  WEIR_TRY_GOTO(weir_alloc(n_beats, sizeof *bx, (void **)&bx), done);
  WEIR_TRY_GOTO(weir_alloc(n_beats, sizeof *by, (void **)&by), done);
  for (int64_t i = 0; i < n; i++) {
    x[i] = (double)(strip->lo + i) / s->rate;
  }
  for (int64_t i = 0; i < n_beats; i++) {
    bx[i] = (double)s->beats->strip[i] / s->rate;
    by[i] = strip->value[s->beats->strip[i] - strip->lo];
  }
  (void)snprintf(label, sizeof label, "%s (%s)", s->facts->signal, s->facts->units);
  (void)snprintf(title, sizeof title, "signal and beats from %.6g s%s", (double)strip->lo / s->rate,
                 strip->moved ? ", where the signal begins" : "");
  const weir_figure_series series[] = {
      {.kind = WEIR_FIGURE_LINE, .name = "signal", .n = n, .x = x, .y = strip->value},
      {.kind = WEIR_FIGURE_POINTS, .name = "beats", .n = n_beats, .x = bx, .y = by}};
  const weir_figure figure = {.title = title,
                              .x_label = "time (s)",
                              .y_label = label,
                              .series = series,
                              .n_series = 2,
                              .empty = "no signal here",
                              .ecg_paper = strcmp(s->facts->units, "mV") == 0};

  WEIR_TRY_GOTO(weir_report_figure(r, "strip", &figure), done);
done:
  weir_free(&x);
  weir_free(&bx);
  weir_free(&by);
  return status;
}

static weir_status add_intervals(weir_report *r, const summary *s)
{
  double edge[PS_RR_BINS + 1];

  for (int i = 0; i <= PS_RR_BINS; i++) {
    edge[i] = PS_RR_BIN * i;
  }
  const weir_figure_series series = {.kind = WEIR_FIGURE_HISTOGRAM,
                                     .name = "intervals",
                                     .n = PS_RR_BINS,
                                     .x = edge,
                                     .y = s->beats->rr_count};
  const weir_figure figure = {.title = "RR intervals",
                              .x_label = "interval (s); last bin: this length and longer",
                              .y_label = "number of intervals",
                              .series = &series,
                              .n_series = 1,
                              .empty = "no intervals"};

  return weir_report_figure(r, "rr_histogram", &figure);
}

static weir_status add_groups(weir_report *r, const ps_pipeline *pipeline)
{
  weir_table c = {0};

  ps_stream_groups(pipeline->stream, PS_GROUP_COLUMNS, &c);
  const weir_status status = weir_table_report(&c, r, "groups", PS_GROUP_COLUMNS, ps_group_head);

  weir_table_fini(&c);
  return status;
}

static weir_status fill(weir_report *r, const summary *s, const ps_strip *strip,
                        const ps_pipeline *pipeline)
{
  WEIR_TRY(add_summary(r, s));
  if (strip->hi > strip->lo) {
    WEIR_TRY(add_strip(r, s, strip));
  }
  if (s->cfg->output.viewer.size > 0) {
    WEIR_TRY(weir_report_link(r, "viewer.html", PS_VIEWER_LINK));
  }
  WEIR_TRY(add_intervals(r, s));
  WEIR_TRY(ps_quality_page(s->quality, r));
  WEIR_TRY(ps_run_rhythm(r, &s->cfg->output.nn, s->beats));
  if (s->facts->live != NULL) {
    WEIR_TRY(add_live(r, s->facts->live));
  }
  WEIR_TRY(weir_report_heading(r, "Data movement"));
  WEIR_TRY(weir_report_text(
      r,
      "Each row is a group of fused steps, run on chunks of %.4g s. Values are means per chunk, "
      "except calls. moved: distinct elements read and written, predicted from the rates of the "
      "streams; saved: traffic that fusion avoids; predicted time: from the peak rates of the "
      "machine; counted and measured: in this run, with exec.explain=true.",
      s->report->window_s));
  WEIR_TRY(add_groups(r, pipeline));
  WEIR_TRY(weir_report_heading(r, "Throughput"));
  WEIR_TRY(weir_report_text(
      r, "From reading the input to the last beat, writing left out. latency: chunk and look-ahead "
         "of the graph; decision: longest delay of a decision about a beat, after learning."));
  return add_throughput(r, s);
}

weir_status ps_run_page_write(const char *dir, const ps_cfg *cfg, const ps_strip *strip,
                              const ps_quality *quality, const ps_out_beats *beats,
                              const ps_pipeline *pipeline, const weir_stream_report *report)
{
  const ps_input_info *facts = beats->facts;
  const summary s = {
      .cfg = cfg,
      .quality = quality,
      .facts = facts,
      .report = report,
      .beats = beats,
      .rr_mean = ps_out_beats_rr_mean(beats),
      .rr_std = ps_out_beats_rr_std(beats),
      .rr_median = ps_out_beats_rr_quantile(beats, 0.5),
      .rr_iqr = ps_out_beats_rr_quantile(beats, 0.75) - ps_out_beats_rr_quantile(beats, 0.25),
      .rr_odd_percent = beats->n_rr > 0 ? 100.0 * (double)beats->rr_odd / (double)beats->n_rr : NAN,
      .rate = (double)facts->fs_num / (double)facts->fs_den,
      .decision_s = ps_graph_latency(&pipeline->graph),
      .per_second = report->seconds > 0 ? (double)facts->count / report->seconds : NAN};
  weir_report *r = NULL;
  char title[256];

  (void)snprintf(title, sizeof title, "physio_stream: beats of %s", facts->name);
  WEIR_TRY(weir_report_open(dir, title, &r));
  weir_report_fact(r, "seed", "%lld", (long long)cfg->seed);
  weir_report_fact(r, "signal", "%s", facts->signal);
  WEIR_TRY(weir_report_commit(&r, fill(r, &s, strip, pipeline)));
  write_event(&s);
  return WEIR_OK;
}
