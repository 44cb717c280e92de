/* cmd_describe.c - what a run would give, the resolved configuration, the graph and its plan for
 * the input that is configured; nothing is computed. */
#include "pipeline.h"
#include "query_commands.h"
#include "commands.h"

/* Not called: a plan needs rates and counts alone. */
static weir_status take_nothing(void *context, const weir_view *view, int64_t lo, int64_t hi,
                                bool last)
{
  (void)context;
  (void)view;
  (void)lo;
  (void)hi;
  (void)last;
  return weir_fail(WEIR_ERR_UNSUPPORTED, "describe computes nothing");
}

static weir_status print_plan(const weir_cli *cli, const ps_cfg *cfg, const weir_config *config,
                              ps_input *input)
{
  const ps_input_info *facts = ps_input_get(input);
  const weir_stream_sink sink = {.result = PS_RESULT_BEATS, .take = take_nothing};
  weir_status status = WEIR_OK;
  ps_pipeline p;

  printf("# input: %s, signal %s (%s), %lld samples, %lld/%lld per second\n", facts->name,
         facts->signal, facts->units, (long long)facts->count, (long long)facts->fs_num,
         (long long)facts->fs_den);
  WEIR_TRY(
      ps_pipeline_create(cfg, ps_input_source(input), NULL, false, &sink, 1, cli->threads, &p));
  printf("# latency of a beat: at most %.6g s (chunk) + %.6g s (decision); of live input with "
         "stream.live_window as chunk, and input.lateness more\n\n",
         weir_stream_window(p.stream), ps_graph_latency(&p.graph));
  WEIR_TRY_GOTO(weir_cli_print_config(cli, config, stdout), done);
  if (cli->all) {
    WEIR_TRY_GOTO(ps_stream_print(p.stream, stdout), done);
  }
done:
  ps_pipeline_destroy(&p);
  return status;
}

static weir_status describe(weir_job *j)
{
  const ps_cfg *const cfg = j->cfg;
  ps_input *input = NULL;

  if (cfg->input.live[0] != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "input.live: rates are known once samples come, so describe a file instead");
  }
  if (cfg->input.records.count > 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "input.records: a plan is that of one recording: describe one with "
                     "input.record");
  }
  if (ps_query_is_set(&cfg->query)) {
    return ps_query_cmd_describe(j->cli, cfg, j->config);
  }
  WEIR_TRY(ps_input_open(&cfg->input, &cfg->ecgsyn, (uint64_t)cfg->seed, &input));
  const weir_status status = print_plan(j->cli, cfg, j->config, input);

  ps_input_close(&input);
  return status;
}

weir_status ps_cmd_describe(const weir_cli *cli)
{
  ps_cfg cfg;

  return weir_job_run(cli, &ps_program, &cfg, describe);
}
