/* check.c - see check.h. */
#include "check.h"
#include "base/weir_log.h"
#include "model/graph.h"
#include "model/hrv_nonlinear.h"
#include "query_commands.h"
#include "run_beats.h"

/* ---- What is read ---- */

/* The built-in recording is read where it is asked for: results of it are no results of a user's.
 */
static weir_status check_built_in(const ps_cfg *cfg, const weir_config *config)
{
  if (weir_config_states(config, &cfg->ecgsyn, sizeof cfg->ecgsyn)) {
    return WEIR_OK;
  }
  return weir_fail(WEIR_ERR_CONFIG,
                   "no recording is named: give --input PATH (input.record, input.csv, input.live) "
                   "or input.records; for the built-in one, which is synthetic, state one of its "
                   "options, such as --set ecgsyn.duration=1800");
}

/* opens: the recording is read, by default the built-in one. What is said of a file that another
 * command is given is for that one to judge. */
static weir_status check_input(const ps_input_opts *o, bool opens)
{
  WEIR_TRY(ps_input_range_check(o));
  if (o->records.count > 0 && (o->record[0] != 0 || o->csv[0] != 0 || o->live[0] != 0)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "input.records lists recordings, and input names another one too: only one of "
                     "them can be read");
  }
  if (o->records.count > 0 || (ps_input_is_built_in(o) && !opens)) {
    return WEIR_OK;
  }
  return ps_input_check(o);
}

static weir_status check_file(const weir_cli *cli, const ps_cfg *cfg)
{
  const bool record = cfg->input.record[0] != 0, csv = cfg->input.csv[0] != 0;

  if (cfg->input.from > 0 || cfg->input.to > 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "input.from and input.to are for run, describe and eval: %s "
                     "takes whole recordings",
                     cli->command);
  }
  if (weir_cli_is(cli, "replay") && csv == record) {
    return weir_fail(WEIR_ERR_CONFIG, "replay: input.record or input.csv has to name a recording "
                                      "(prepare writes the built-in one)");
  }
  if (weir_cli_is(cli, "convert") && !csv && !record && cfg->input.records.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "convert: set input.record, input.csv or input.records");
  }
  if (weir_cli_is(cli, "convert") && cfg->input.records.count > 0 &&
      (cfg->convert.name[0] != 0 || cfg->convert.annotations[0] != 0)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "convert.%s is of one record, and input.records names several: leave it out, "
                     "or convert them one by one with input.record",
                     cfg->convert.name[0] != 0 ? "name" : "annotations");
  }
  return weir_cli_is(cli, "convert") && cfg->convert.name[0] != 0
             ? ps_convert_name_check(cfg->convert.name)
             : WEIR_OK;
}

/* ---- What is computed ---- */

/* The names of a query, whatever the rates of its streams. */
static weir_status check_names(const ps_cfg *cfg, const weir_config *config)
{
  ps_query_text text;

  WEIR_TRY(ps_query_read(&cfg->query, config, &text));
  const weir_status status = weir_query_check(&text.spec);

  ps_query_text_fini(&text);
  return status;
}

static weir_status check_results(const weir_cli *cli, const ps_cfg *cfg, const weir_config *config)
{
  const ps_one one = {.cli = cli, .cfg = cfg, .config = config};
  const ps_input_opts *const in = &cfg->input;
  const bool query = ps_query_is_set(&cfg->query);

  if (in->records.count > 0 && cfg->output.features && !query) {
    return weir_fail(WEIR_ERR_CONFIG, "output.features is for one recording at a time");
  }
  if (in->records.count > 0 && cfg->output.viewer.annotations.count > 0) {
    return weir_fail(WEIR_ERR_CONFIG, "output.viewer.annotations is for one recording at a time: "
                                      "the files would be shown with all of input.records");
  }
  if (cfg->output.page.listen[0] != 0 && in->live[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "output.page.listen: the page is of live input (--input -, "
                                      "tcp:PORT or unix:PATH), and this is none");
  }
  WEIR_TRY(query ? check_names(cfg, config) : ps_front_check(&cfg->detect.front));
  if (!ps_input_is_built_in(in)) {
    return WEIR_OK;
  }
  WEIR_TRY(check_built_in(cfg, config));
  weir_log_set_level(WEIR_LOG_ERROR); /* the command itself warns */
  const weir_status status = query ? ps_query_check(&one) : ps_beats_foresee(&one);

  weir_log_set_level(cli->log);
  return status;
}

/* Of bench: the detector on the built-in recording. */
static weir_status check_bench(const ps_cfg *cfg)
{
  int64_t num = 0, den = 1;
  ps_synth *synth = NULL;
  ps_graph g = {0};

  WEIR_TRY(ps_synth_create(&cfg->ecgsyn, (uint64_t)cfg->seed, &synth));
  ps_synth_rate(synth, &num, &den);
  ps_synth_destroy(&synth);
  const weir_status status = ps_graph_create(&cfg->detect, num, den, num / den, false, &g);

  ps_graph_destroy(&g);
  return status;
}

/* ---- What is scored ---- */

/* Rates are counted in millionths of a hertz. */
static weir_status check_rate(const ps_cfg *cfg)
{
  return cfg->eval.fs == 0 || cfg->eval.fs >= 1e-3
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "eval.fs: %g units of time per second: give at least 0.001, or 0 for "
                         "the frames of the record",
                         cfg->eval.fs);
}

static weir_status check_eval(const ps_cfg *cfg)
{
  const bool some = cfg->eval.reference[0] != 0 || cfg->eval.test[0] != 0;
  const ps_pair *const pair = cfg->eval.pairs.items;
  const bool suffixes = cfg->eval.annotators.reference[0] != 0 && cfg->eval.annotators.test[0] != 0;

  if (cfg->eval.records.count > 0) {
    return some || cfg->eval.pairs.count > 0
               ? weir_fail(WEIR_ERR_CONFIG, "eval.records names what is scored, and "
                                            "eval.reference, eval.test or eval.pairs do too: only "
                                            "one of them can be scored")
           : !suffixes ? weir_fail(WEIR_ERR_CONFIG, "eval.annotators: neither suffix can be empty")
                       : WEIR_OK;
  }
  if ((some || cfg->eval.pairs.count == 0) &&
      (cfg->eval.reference[0] == 0 || cfg->eval.test[0] == 0)) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "eval.%s names no annotation file: give one with its suffix (RECORD.atr), or a whole "
        "database by eval.records",
        cfg->eval.reference[0] == 0 ? "reference" : "test");
  }
  for (int64_t i = 0; i < cfg->eval.pairs.count; i++) {
    if (pair[i].reference[0] == 0 || pair[i].test[0] == 0) {
      return weir_fail(WEIR_ERR_CONFIG, "eval.pairs[%lld]: reference and test are both needed",
                       (long long)i);
    }
  }
  return WEIR_OK;
}

weir_status ps_check(const weir_cli *cli, const ps_cfg *cfg, const weir_config *config)
{
  const bool opens = weir_cli_is(cli, "run") || weir_cli_is(cli, "describe");

  WEIR_TRY(check_input(&cfg->input, opens));
  WEIR_TRY(check_rate(cfg));
  WEIR_TRY(ps_hrv_check("output.nn", &cfg->output.nn));
  WEIR_TRY(ps_hrv_check("eval.nn", &cfg->eval.nn));
  if (opens) {
    return check_results(cli, cfg, config);
  }
  return weir_cli_is(cli, "prepare")   ? ps_prepare_check(cfg)
         : weir_cli_is(cli, "compare") ? ps_compare_check(cfg)
         : weir_cli_is(cli, "bench")   ? check_bench(cfg)
         : weir_cli_is(cli, "eval")    ? check_eval(cfg)
                                       : check_file(cli, cfg);
}
