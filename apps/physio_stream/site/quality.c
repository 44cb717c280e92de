/* quality.c - how much of an ECG can be used, as the steps of queries rate it. */
#include <math.h>
#include "base/weir_log.h"
#include "query/run.h"
#include "site/model.h"

/* Windows of 10 s that the step sqi (Zhao and Zhang 2018) does not call unacceptable. */
static const char *const query[] = {
    "streams=[{name: ecg, signal: 0}]",
    "steps=[{name: r, from: [ecg], do: detect}, "
    "{name: second, from: [ecg], do: {detect: {method: elgendi}}}, "
    "{name: rated, from: [ecg, r.beat, second.beat], do: sqi}, "
    "{name: usable, from: [rated.class], do: {select: {value: \"if(x < 2, 1, 0)\"}}}]",
    "outputs=[{stream: usable, format: csv}]"};

static weir_status run(const ps_query_job *job, double *share)
{
  ps_query_run r;

  WEIR_TRY(ps_query_open(job, &r));
  const weir_status status = ps_query_perform(&r);
  const ps_column *c = &r.columns[0];

  *share = status == WEIR_OK && c->present > 0 ? c->sum / (double)c->present : NAN;
  ps_query_close(&r);
  return status;
}

weir_status ps_quality_share(const char *record, double *share)
{
  ps_query_cfg cfg;
  ps_input_opts input;
  ps_synth_opts synth;
  weir_stream_cfg stream;
  weir_exec_cfg exec;
  weir_config *config = NULL;

  WEIR_TRY(weir_config_load(ps_query_options, sizeof cfg, NULL, 0, query, 3, &cfg, &config));
  weir_opts_default(ps_input_options, sizeof input, &input);
  weir_opts_default(ps_synth_options, sizeof synth, &synth);
  weir_opts_default(weir_stream_opts, sizeof stream, &stream);
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  input.record = record;
  exec.tier = WEIR_TIER_VECTOR; /* too little work to compile code for */
  const ps_query_job job = {.query = &cfg,
                            .config = config,
                            .input = &input,
                            .synth = &synth,
                            .stream = &stream,
                            .exec = &exec,
                            .threads = 1};
  const weir_log_level before = weir_log_set_thread_level(WEIR_LOG_WARN);
  const weir_status status = run(&job, share);

  (void)weir_log_set_thread_level(before);
  weir_config_destroy(&config);
  return status;
}
