/* start.c - how the commands of the program start (app/weir_job.h), and their provenance. */
#include "base/weir_log.h"
#include "check.h"
#include "device/weir_parallel.h"
#include "estimator.h"
#include "commands.h"

/* Metrics are names of the task, not choices of the table: a former one is replaced here. */
static void rename_target(cf_cfg *cfg)
{
  const char **const metric = &cfg->train.target.metric;
  const char *const present = cf_metric_present_name(*metric);

  if (present != *metric) {
    weir_warn("conf", "the value %s of train.target.metric was renamed to %s", *metric, present);
    *metric = present;
  }
}

static weir_status complete(weir_job *j)
{
  const weir_cli *const cli = j->cli;
  cf_cfg *const cfg = j->cfg;

  j->seed = cfg->seed;
  rename_target(cfg);
  if (cli->n_args > 0) {
    cfg->source.input = (weir_string_list){(const char **)cli->args, cli->n_args};
  }
  WEIR_TRY(cf_check(cli, cfg));
  return weir_cpu_load(cfg->exec.machine);
}

const weir_program cf_program = {.complete = complete};

weir_status cf_refuse_own_input(const char *out, const char *own)
{
  return own == NULL ? WEIR_OK
                     : weir_fail(WEIR_ERR_CONFIG,
                                 "--out %s: it holds the input %s, which would be lost: choose "
                                 "another folder",
                                 out, own);
}

weir_status cf_begin_resumed(weir_job *j, const char *owner)
{
  const weir_cli *const cli = j->cli;
  const bool goes_on = cli->out != NULL && !cli->overwrite && weir_dir_has_entries(cli->out);

  if (!weir_job_leads(j)) {
    return WEIR_OK;
  }
  if (!goes_on) {
    return weir_job_begin(j, owner, false);
  }
  WEIR_TRY(weir_run_dir_resume(cli, j->config, owner, &j->dir));
  weir_job_tell_start(cli, j->seed);
  return WEIR_OK;
}

/* Predictions and weights are among the files that the configuration names. */
static weir_status find_inputs(const weir_job *job, bool samples, weir_inputs *out)
{
  const cf_cfg *const cfg = job->cfg;
  const cf_eval_set_opts *const set = cfg->eval.sets.items;
  const cf_robustness_set_opts *const tested = cfg->robustness.sets.items;
  const bool scores = weir_cli_is(job->cli, "eval"), tests = weir_cli_is(job->cli, "robustness");

  WEIR_TRY(weir_config_files(job->config, weir_inputs_add, out));
  for (int64_t i = 0; scores && i < cfg->eval.sets.count; i++) {
    WEIR_TRY(cf_source_list(&set[i].truth, weir_inputs_add, out));
  }
  for (int64_t i = 0; tests && i < cfg->robustness.sets.count; i++) {
    WEIR_TRY(cf_source_list(&tested[i].samples, weir_inputs_add, out));
  }
  if (weir_cli_is(job->cli, "run")) {
    WEIR_TRY(cf_source_list(&cfg->adapt.samples, weir_inputs_add, out));
  }
  return samples ? cf_source_list(&cfg->source.input, weir_inputs_add, out) : WEIR_OK;
}

weir_status cf_write_provenance(const weir_job *job, bool samples, const char *key,
                                const char *text)
{
  const cf_cfg *const cfg = job->cfg;
  const weir_provenance_line line = {key, text};
  weir_inputs read = {.n = 0};
  weir_status status = find_inputs(job, samples, &read);

  weir_inputs_sort(&read);
  status = status == WEIR_OK
               ? weir_job_provenance(job->cli, job->seed,
                                     &(weir_provenance){.inputs = (const char *const *)read.path,
                                                        .n_inputs = (int)read.n,
                                                        .digest_bytes = cfg->source.digest_bytes,
                                                        .lines = &line,
                                                        .n_lines = 1})
               : status;
  weir_inputs_fini(&read);
  return status;
}
