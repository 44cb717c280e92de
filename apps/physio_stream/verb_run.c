/* verb_run.c - computes the query of the configuration or, where there is none, finds beats: on one
 * recording or on several. */
#include <stdio.h>
#include <string.h>
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

  const ps_one one = {.cli = cli, .cfg = cfg, .config = config};
  const bool query = ps_query_is_set(&cfg->query);

  if (cfg->input.records.count > 0 && cfg->output.features && !query) {
    return weir_fail(WEIR_ERR_CONFIG, "output.features is for one recording at a time");
  }
  list_outputs(&cfg->query, &outputs);
  WEIR_TRY(ps_begin(cli, outputs.pattern, cfg, config));
  if (cfg->input.records.count > 0) {
    return ps_records_run(&one, outputs.pattern, query ? ps_query_run_one : ps_beats_run);
  }
  return query ? ps_query_run_one(&one) : ps_beats_run(&one);
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
