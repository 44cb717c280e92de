/* verb_run.c - runs the query, or, where there is none, finds the beats of one signal: input ->
 * stream
 * -> annotations, tables, report. */
#include <string.h>
#include "base/weir_log.h"
#include "io/weir_netcdf.h"
#include "out_features.h"
#include "query/files.h"
#include "query_verbs.h"
#include "run_page.h"
#include "verbs.h"

/* Everything that one run holds. */
typedef struct run {
  const weir_cli *cli;
  const ps_cfg *cfg;
  ps_input *input;
  const ps_input_facts *facts;
  ps_strip strip;
  ps_out_beats beats;
  ps_out_features features;
  ps_pipeline pipeline;
  weir_stream_report report;
} run;

static weir_status read_slots(void *context, int64_t lo, int64_t hi, float *x, uint8_t *present)
{
  run *r = context;

  WEIR_TRY(ps_input_read(r->input, lo, hi - lo, x, present));
  ps_strip_take(&r->strip, lo, hi, x, present);
  /* It may have begun only now; beats come after their samples. */
  r->beats.strip_lo = r->strip.lo;
  r->beats.strip_hi = r->strip.hi;
  return WEIR_OK;
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
  return ps_out_beats_add(&((run *)context)->beats, result + 1, result + columns + 1, result[0]);
}

static weir_status open_outputs(run *r)
{
  WEIR_TRY(ps_out_beats_init(r->facts, &r->beats));
  if (r->facts->live != NULL && r->cfg->output.follow) {
    WEIR_TRY(ps_out_beats_follow(&r->beats, stdout));
  }
  WEIR_TRY(ps_strip_init(r->cfg, r->facts, &r->strip));
  if (r->cfg->output.features) {
    WEIR_TRY(ps_out_features_open(r->cli->out, r->facts, &r->features));
  }
  return WEIR_OK;
}

static weir_status plan(run *r)
{
  const weir_stream_source source = {.rate_num = r->facts->fs_num,
                                     .rate_den = r->facts->fs_den,
                                     .count = r->facts->count,
                                     .read = read_slots,
                                     .next_run = next_run,
                                     .context = r};
  weir_stream_sink sinks[1 + PS_FEATURES] = {{PS_RESULT_BEATS, take_beats, r}};
  int n = 1;

  for (int k = 0; r->cfg->output.features && k < PS_FEATURES; k++) {
    sinks[n++] =
        (weir_stream_sink){ps_feature_names[k], ps_out_features_take, &r->features.feature[k]};
  }
  return ps_pipeline_create(r->cfg, source, ps_input_live(r->input), r->cfg->output.features, sinks,
                            n, r->cli->threads, &r->pipeline);
}

/* Everything has been computed: files appear, the report last. */
static weir_status write_outputs(run *r)
{
  const char *inputs[2];
  const int n_inputs = ps_input_files(r->input, inputs);

  if (r->cfg->output.features) {
    WEIR_TRY(ps_out_features_commit(&r->features));
  }
  WEIR_TRY(ps_out_beats_write(&r->beats, r->cli->out));
  WEIR_TRY(ps_write_provenance(r->cli, r->cfg, inputs, n_inputs));
  WEIR_TRY(ps_run_page_write(r->cli->out, &r->strip, &r->beats, &r->pipeline, &r->report));
  if (r->beats.n == 0) {
    weir_warn("run",
              "no beat was found in %s: %lld of %lld samples are present; see the strip of "
              "report.html, and check that input.signal (here %s) is an ECG with the right rate "
              "(%.6g Hz)",
              r->facts->name, (long long)r->report.present, (long long)r->facts->count,
              r->facts->signal, (double)r->facts->fs_num / (double)r->facts->fs_den);
  }
  weir_info("run", "%lld beats in %lld samples of %s, signal %s; wrote %s/%s.qrs and report.html",
            (long long)r->beats.n, (long long)r->facts->count, r->facts->name, r->facts->signal,
            r->cli->out, r->facts->name);
  return WEIR_OK;
}

static weir_status perform(run *r)
{
  if (r->cfg->output.features && !weir_netcdf_available()) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "output.features: this build has no NetCDF, so features.nc cannot be written");
  }
  WEIR_TRY(ps_input_open(&r->cfg->input, &r->cfg->ecgsyn, (uint64_t)r->cfg->seed, &r->input));
  r->facts = ps_input_get(r->input);
  WEIR_TRY(open_outputs(r));
  WEIR_TRY(plan(r));
  WEIR_TRY(weir_stream_run(r->pipeline.stream, &r->report));
  if (r->facts->live != NULL) {
    ps_strip_end(&r->strip, r->facts->count);
    ps_input_report(r->input);
  }
  weir_debug("run", "chunks of %.4g s: a beat is known at most %.4g s + %.4g s after its time",
             r->report.window_s, r->report.latency_s, ps_graph_latency(&r->pipeline.graph));
  return write_outputs(r);
}

static weir_status run_beats(const weir_cli *cli, const ps_cfg *cfg)
{
  run r = {.cli = cli, .cfg = cfg};
  const weir_status status = perform(&r);

  ps_pipeline_destroy(&r.pipeline);
  ps_out_features_close(&r.features);
  ps_out_beats_fini(&r.beats);
  ps_strip_fini(&r.strip);
  ps_input_close(&r.input);
  return status;
}

/* What a run may have written, and what the query of this one will write. */
enum { MOST_OUTPUTS = 16 + 2 * WEIR_QUERY_COLUMNS };
typedef struct written {
  const char *pattern[MOST_OUTPUTS];
  char own[2 * WEIR_QUERY_COLUMNS][4 * WEIR_QUERY_NAME];
} written;

static void list_outputs(const ps_query_cfg *query, written *w)
{
  static const char *const always[] = {"*.qrs",       "beats.csv",      "beats.nc",
                                       "features.nc", "results.nc",     "report.html",
                                       "records.csv", "figures/?*.svg", "figures/?*.csv"};
  const ps_query_output *outputs = query->outputs.items;
  int n = 0, own = 0;

  for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
    w->pattern[n++] = always[i];
  }
  for (int64_t i = 0; i < query->outputs.count; i++) {
    char *name = w->own[own++];

    ps_query_file_name(&outputs[i], "*", name, sizeof w->own[0]);
    w->pattern[n++] = name;
    if (outputs[i].format == PS_QUERY_WFDB) {
      char *data = w->own[own++];

      memcpy(data, name, sizeof w->own[0]);
      memcpy(data + strcspn(data, "."), ".dat", sizeof ".dat");
      w->pattern[n++] = data;
    }
  }
  w->pattern[n] = NULL;
}

static weir_status run_any(const weir_cli *cli, const ps_cfg *cfg, const weir_config *config)
{
  written outputs;

  list_outputs(&cfg->query, &outputs);
  WEIR_TRY(ps_begin(cli, outputs.pattern, cfg, config));
  return ps_query_is_set(&cfg->query) ? ps_query_verb_run(cli, cfg, config) : run_beats(cli, cfg);
}

weir_status ps_verb_run(const weir_cli *cli)
{
  weir_config *config = NULL;
  ps_cfg cfg;

  WEIR_TRY(ps_configure(cli, &cfg, &config));
  const weir_status status = run_any(cli, &cfg, config);

  weir_config_destroy(&config);
  return status;
}
