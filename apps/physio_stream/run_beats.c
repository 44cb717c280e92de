/* run_beats.c - finds the beats of one signal: input -> stream -> annotations, tables, report. */
#include "run_beats.h"
#include <math.h>
#include <string.h>
#include "base/weir_log.h"
#include "io/weir_netcdf.h"
#include "live/page.h"
#include "out_features.h"
#include "page/run_page.h"
#include "page/run_quality.h"
#include "viewer/viewer.h"

/* Everything that one run holds. */
typedef struct run {
  const ps_one *one;
  const weir_cli *cli;
  const ps_cfg *cfg;
  ps_input *input;
  const ps_input_info *facts;
  ps_strip strip;
  ps_quality quality;
  ps_viewer *viewer;
  ps_live_page *page; /* signal 0: the only one */
  ps_out_beats beats;
  ps_out_features features;
  ps_pipeline pipeline;
  weir_stream_report report;
} run;

/* Possibly while beats of chunks before are taken. */
static weir_status read_slots(void *context, int64_t lo, int64_t hi, float *x, uint8_t *present)
{
  run *r = context;

  WEIR_TRY(ps_input_read(r->input, lo, hi - lo, x, present));
  ps_strip_take(&r->strip, lo, hi, x, present);
  ps_quality_take(&r->quality, lo, hi, x, present);
  ps_viewer_take(r->viewer, 0, lo, hi, x, present);
  WEIR_TRY(ps_live_page_take(r->page, 0, lo, hi, x, present));
  return ps_out_beats_present(&r->beats, lo, hi, present);
}

static weir_status next_run(void *context, int64_t at, int64_t *lo, int64_t *hi)
{
  return ps_input_next_run(((run *)context)->input, at, lo, hi);
}

static weir_status take_beats(void *context, const weir_view *view, int64_t lo, int64_t hi,
                              bool last)
{
  const int64_t *result = view->data, columns = view->extent[1];

  (void)lo;
  (void)hi;
  (void)last;
  for (int64_t i = 0; i < result[0]; i++) {
    ps_quality_beat(&((run *)context)->quality, result[1 + i]);
    ps_live_page_beat(((run *)context)->page, result[1 + i]);
  }
  return ps_out_beats_add(&((run *)context)->beats, result + 1, result + columns + 1,
                          result + 2 * columns + 1, result[0]);
}

static weir_status open_outputs(run *r)
{
  int number = 0;

  WEIR_TRY(ps_out_beats_init(r->facts, &r->beats));
  if (r->facts->live != NULL && r->cfg->output.follow) {
    WEIR_TRY(ps_out_beats_follow(&r->beats, stdout));
  }
  WEIR_TRY(ps_quality_init(r->facts, &r->quality));
  WEIR_TRY(ps_strip_init(r->cfg, r->facts, &r->strip));
  WEIR_TRY(ps_viewer_create(&r->cfg->output.viewer, &r->viewer));
  WEIR_TRY(ps_viewer_add_signal(r->viewer, r->facts->signal, r->facts->units, r->facts->fs_num,
                                r->facts->fs_den, r->facts->live != NULL ? -1 : r->facts->count));
  WEIR_TRY(ps_viewer_add_files(r->viewer, &r->cfg->input));
  WEIR_TRY(ps_live_page_open(&r->cfg->output.page, r->facts, &r->page));
  WEIR_TRY(ps_live_page_add(r->page, r->facts->signal, r->facts->units, r->facts->fs_num,
                            r->facts->fs_den, false, &number));
  if (r->cfg->output.features) {
    WEIR_TRY(ps_out_features_open(r->cli->out, r->facts, &r->features));
  }
  return WEIR_OK;
}

static weir_status plan(run *r)
{
  weir_stream_source source = ps_input_source(r->input);
  weir_stream_sink sinks[1 + PS_FEATURES] = {{PS_RESULT_BEATS, take_beats, r}};
  int n = 1;

  source.read = read_slots; /* what is read is also drawn and counted */
  source.next_run = next_run;
  source.context = r;
  for (int k = 0; r->cfg->output.features && k < PS_FEATURES; k++) {
    sinks[n++] =
        (weir_stream_sink){ps_feature_names[k], ps_out_features_take, &r->features.feature[k]};
  }
  return ps_pipeline_create(r->cfg, source, ps_input_live(r->input), r->cfg->output.features, sinks,
                            n, r->cli->threads, &r->pipeline);
}

/* Beats below which there is no rhythm that a result could be checked by: levels are learnt from as
 * many (detect.learn_least). A signal without any gives one where the filters meet its beginning: a
 * ramp or a step is a bump to them, and the only one that the levels are learnt from. */
enum { FEW_BEATS = 4 };

static void warn_of_few(const run *r)
{
  if (r->beats.n == 0) {
    weir_warn("run",
              "no beat was found in %s: %lld of %lld samples are present; see the strip of "
              "report.html, and check that input.signal (here %s) is an ECG with the right rate "
              "(%.6g Hz)",
              r->facts->name, (long long)r->report.present, (long long)r->facts->count,
              r->facts->signal, (double)r->facts->fs_num / (double)r->facts->fs_den);
  } else if (r->beats.n < FEW_BEATS) {
    weir_warn("run",
              "%lld beats in %.6g s of %s, signal %s: fewer than %d say nothing, for a signal "
              "without beats gives one where it begins; see the strip of report.html",
              (long long)r->beats.n,
              (double)r->facts->count * (double)r->facts->fs_den / (double)r->facts->fs_num,
              r->facts->name, r->facts->signal, FEW_BEATS);
  }
}

/* The beats are shown as they were written. */
static weir_status show_beats(run *r)
{
  char name[512], path[PS_PATH];
  ps_marks beats;

  (void)snprintf(name, sizeof name, "%s.qrs", r->facts->name);
  if (!ps_viewer_takes_marks(r->viewer, name, r->beats.n + 2 * r->beats.n_gaps)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_path_join(r->cli->out, name, path, sizeof path));
  WEIR_TRY(ps_marks_read(path, r->facts->fs_num, r->facts->fs_den, &beats));
  ps_viewer_add_marks(r->viewer, &beats);
  return WEIR_OK;
}

static weir_status write_viewer(run *r)
{
  WEIR_TRY(show_beats(r));
  if (ps_input_rereads(&r->cfg->input)) {
    WEIR_TRY(ps_viewer_read_samples(r->viewer, 0, r->input));
  }
  return ps_viewer_write(r->viewer, r->facts, r->cli->out);
}

/* Everything has been computed: files appear, the report last. */
static weir_status write_outputs(run *r)
{
  const char *inputs[2];
  const int n_inputs = ps_input_files(r->input, inputs);

  WEIR_TRY(weir_run_dir_commit(r->one->dir));
  if (r->cfg->output.features) {
    WEIR_TRY(ps_out_features_commit(&r->features));
  }
  r->beats.strip_lo = r->strip.lo;
  r->beats.strip_hi = r->strip.hi;
  WEIR_TRY(ps_out_beats_write(&r->beats, r->cli->out));
  WEIR_TRY(ps_write_provenance(r->cli, r->cfg, inputs, n_inputs));
  WEIR_TRY(write_viewer(r));
  WEIR_TRY(ps_run_page_write(r->cli->out, r->cfg, &r->strip, &r->quality, &r->beats, &r->pipeline,
                             &r->report));
  warn_of_few(r);
  weir_info("run", "%lld beats in %lld samples of %s, signal %s; wrote %s/%s.qrs and report.html",
            (long long)r->beats.n, (long long)r->facts->count, r->facts->name, r->facts->signal,
            r->cli->out, r->facts->name);
  return WEIR_OK;
}

/* As the table of several recordings counts it: a value for each interval. */
static weir_status add_to_pool(const run *r)
{
  const double mean = ps_out_beats_rr_mean(&r->beats);
  const ps_pool_row row = {.stream = "rr",
                           .unit = "s",
                           .rate = (double)r->facts->fs_num / (double)r->facts->fs_den,
                           .slots = r->facts->count,
                           .present = r->beats.n_rr,
                           .min = NAN,
                           .max = NAN,
                           .sum = r->beats.n_rr > 0 ? mean * (double)r->beats.n_rr : 0};

  return ps_one_add(r->one, &row);
}

/* When beats of live input come. */
static void tell_latency(const run *r)
{
  const double lateness = r->cfg->input.lateness, chunk = weir_stream_window(r->pipeline.stream);
  const double decision = ps_graph_latency(&r->pipeline.graph);

  if (r->facts->live != NULL) {
    weir_info(
        "run",
        "latency of a beat: at most %.6g s = %.6g s (input.lateness) + %.6g s (chunk) + %.6g s "
        "(decision)",
        lateness + chunk + decision, lateness, chunk, decision);
  }
}

static weir_status perform(run *r)
{
  if (r->cfg->output.features && !weir_netcdf_available()) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "output.features: this build has no NetCDF, so features.nc cannot be written");
  }
  WEIR_TRY(ps_input_open(&r->cfg->input, &r->cfg->ecgsyn, (uint64_t)r->cfg->seed, &r->input));
  r->facts = ps_input_get(r->input);
  WEIR_TRY(ps_input_need_millivolts(r->input));
  WEIR_TRY(open_outputs(r));
  WEIR_TRY(plan(r));
  tell_latency(r);
  WEIR_TRY(weir_stream_run(r->pipeline.stream, &r->report));
  ps_amplitude_warn(ps_input_amplitude(r->input), r->facts->signal, r->facts->name);
  if (r->facts->live != NULL) {
    ps_strip_end(&r->strip, r->facts->count);
    ps_input_report(r->input);
  }
  WEIR_TRY(ps_input_verify(r->input));
  ps_quality_end(&r->quality, r->facts->count);
  ps_viewer_end(r->viewer, 0, r->facts->count);
  WEIR_TRY(ps_out_beats_end(&r->beats, r->facts->count));
  weir_debug("run", "chunks of %.4g s: a beat is known at most %.4g s + %.4g s after its time",
             r->report.window_s, r->report.latency_s, ps_graph_latency(&r->pipeline.graph));
  WEIR_TRY(write_outputs(r));
  return add_to_pool(r);
}

weir_status ps_beats_check(const ps_one *one)
{
  ps_input *input = NULL;
  weir_status status =
      ps_input_open(&one->cfg->input, &one->cfg->ecgsyn, (uint64_t)one->cfg->seed, &input);

  status = status == WEIR_OK ? ps_input_need_millivolts(input) : status;
  ps_input_close(&input);
  return status;
}

weir_status ps_beats_foresee(const ps_one *one)
{
  run r = {.one = one, .cli = one->cli, .cfg = one->cfg};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(ps_input_open(&r.cfg->input, &r.cfg->ecgsyn, (uint64_t)r.cfg->seed, &r.input),
                done);
  r.facts = ps_input_get(r.input);
  WEIR_TRY_GOTO(ps_input_need_millivolts(r.input), done);
  WEIR_TRY_GOTO(ps_strip_init(r.cfg, r.facts, &r.strip), done);
  WEIR_TRY_GOTO(plan(&r), done);
done:
  ps_pipeline_destroy(&r.pipeline);
  ps_strip_fini(&r.strip);
  ps_input_close(&r.input);
  return status;
}

weir_status ps_beats_run(const ps_one *one)
{
  run r = {.one = one, .cli = one->cli, .cfg = one->cfg};
  const weir_status status = perform(&r);

  ps_pipeline_destroy(&r.pipeline);
  ps_out_features_close(&r.features);
  ps_out_beats_fini(&r.beats);
  ps_strip_fini(&r.strip);
  ps_quality_fini(&r.quality);
  ps_viewer_destroy(&r.viewer);
  ps_live_page_close(&r.page);
  ps_input_close(&r.input);
  return status;
}
