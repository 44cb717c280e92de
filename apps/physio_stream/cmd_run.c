/* cmd_run.c - computes the query of the configuration or, where there is none, finds beats: on one
 * recording or on several. */
#include <stdio.h>
#include <string.h>
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "query_commands.h"
#include "run_beats.h"
#include "commands.h"

/* Rank 0 makes the folder and its log; the others log next to it, in run-rankN.jsonl. Recordings
 * side by side accept the folder here, one alone when it has results. */
static weir_status begin_first(weir_job *j, const ps_one *one, ps_one_fn check)
{
  WEIR_TRY(weir_job_begin(j, "run", false));
  return one->cfg->input.records.count > 0 ? ps_records_accept(one, check) : WEIR_OK;
}

static weir_status begin(weir_job *j, const ps_one *one, ps_one_fn check)
{
  const int rank = weir_comm_rank(one->comm);
  const weir_status first = rank == 0 ? begin_first(j, one, check) : WEIR_OK;

  WEIR_TRY(weir_comm_agree(one->comm, first));
  return rank == 0 ? WEIR_OK : weir_run_dir_join(one->cli, j->config, "run", rank);
}

static weir_status run_any(weir_job *j, const ps_one *one)
{
  const ps_cfg *cfg = one->cfg;
  const bool query = ps_query_is_set(&cfg->query);

  if (cfg->input.records.count == 0 && weir_comm_size(one->comm) > 1) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%d ranks divide the recordings of input.records, and this run has one",
                     weir_comm_size(one->comm));
  }
  if (ps_input_is_built_in(&cfg->input)) {
    weir_info("run", "no recording is named: the built-in one, which is synthetic, is read");
  }
  WEIR_TRY(weir_comm_agree(one->comm, begin(j, one, query ? ps_query_check : ps_beats_check)));
  if (cfg->input.records.count > 0) {
    return ps_records_run(one, query ? ps_query_run_one : ps_beats_run);
  }
  return query ? ps_query_run_one(one) : ps_beats_run(one);
}

/* A stop before the first result is reported in one line. */
static weir_status tell_kept(const ps_one *one, weir_status status)
{
  char why[1024];

  if (status == WEIR_ERR_STOPPED && one->cfg->input.records.count == 0) {
    (void)snprintf(why, sizeof why, "%s", weir_last_message());
    return weir_fail(status, "stopped by the user (%s): %s; the same command may be run again", why,
                     weir_run_dir_rollback(one->dir) ? "the earlier results are kept"
                                                     : "no result was written");
  }
  return status;
}

static weir_status perform(weir_job *j)
{
  const ps_one one = {
      .cli = j->cli, .cfg = j->cfg, .config = j->config, .comm = j->comm, .dir = &j->dir};

  return tell_kept(&one, run_any(j, &one));
}

weir_status ps_cmd_run(const weir_cli *cli)
{
  return weir_job_run_on_ranks(cli, &ps_program, perform);
}
