/* verb_run.c - computes the query of the configuration or, where there is none, finds beats: on one
 * recording or on several. */
#include <stdio.h>
#include <string.h>
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "query/files.h"
#include "query_verbs.h"
#include "run_beats.h"
#include "verbs.h"

/* What a run may have written, and what the query of this one will write. */
enum { MOST_OUTPUTS = 16 + 2 * WEIR_QUERY_COLUMNS };
typedef struct written {
  const char *pattern[MOST_OUTPUTS];
  char own[2 * WEIR_QUERY_COLUMNS][4 * WEIR_QUERY_NAME];
} written;

static void list_outputs(const ps_query_cfg *query, written *w)
{
  static const char *const always[] = {
      "*.qrs",       "beats.csv",   "beats.nc",       "features.nc",    "results.nc",
      "report.html", "records.csv", "figures/?*.svg", "figures/?*.csv", "run-rank?*.jsonl"};
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

/* Rank 0 makes the folder and its log; the others log beside it, in run-rankN.jsonl. */
static weir_status begin(const ps_one *one, const char *const *outputs)
{
  const int rank = weir_comm_rank(one->comm);
  char name[64], path[PS_PATH];

  const weir_status first =
      rank == 0 ? ps_begin(one->cli, outputs, one->cfg, one->config) : WEIR_OK;
  WEIR_TRY(weir_comm_agree(one->comm, first));
  if (rank > 0) {
    (void)snprintf(name, sizeof name, "run-rank%d.jsonl", rank);
    WEIR_TRY(weir_path_join(one->cli->out, name, path, sizeof path));
    WEIR_TRY(weir_events_open(path));
  }
  return WEIR_OK;
}

static weir_status run_any(const ps_one *one)
{
  const ps_cfg *cfg = one->cfg;
  const bool query = ps_query_is_set(&cfg->query);
  written outputs;

  if (cfg->input.records.count > 0 && cfg->output.features && !query) {
    return weir_fail(WEIR_ERR_CONFIG, "output.features is for one recording at a time");
  }
  if (cfg->input.records.count == 0 && weir_comm_size(one->comm) > 1) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%d ranks divide the recordings of input.records, and this run has one",
                     weir_comm_size(one->comm));
  }
  list_outputs(&cfg->query, &outputs);
  WEIR_TRY(weir_comm_agree(one->comm, begin(one, outputs.pattern)));
  if (cfg->input.records.count > 0) {
    return ps_records_run(one, outputs.pattern, query ? ps_query_run_one : ps_beats_run);
  }
  return query ? ps_query_run_one(one) : ps_beats_run(one);
}

static weir_status run_on(weir_comm *comm, const weir_cli *cli)
{
  weir_config *config = NULL;
  weir_status status = WEIR_OK;
  ps_cfg cfg;

  if (weir_comm_rank(comm) > 0 && cli->log == WEIR_LOG_INFO) {
    weir_log_set_level(WEIR_LOG_WARN);
  }
  status = ps_configure(cli, &cfg, &config);
  WEIR_TRY_GOTO(weir_comm_agree(comm, status), done);
  const ps_one one = {.cli = cli, .cfg = &cfg, .config = config, .comm = comm};

  WEIR_TRY_GOTO(run_any(&one), done);
done:
  weir_config_destroy(&config);
  return status;
}

weir_status ps_verb_run(const weir_cli *cli)
{
  weir_comm *comm = NULL;

  WEIR_TRY(weir_comm_open(&comm));
  const weir_status status = run_on(comm, cli);

  weir_comm_close(&comm);
  return status;
}
