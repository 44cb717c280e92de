/* start.c - how the commands of the program start (app/weir_job.h), and their provenance. */
#include <stdio.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "check.h"
#include "data/date.h"
#include "device/weir_parallel.h"
#include "commands.h"

/* Names in the configuration are spared as they stand; patterns are not. */
static weir_status spare_inputs(const wx_cfg *cfg)
{
  const char *const *const weights = &cfg->train.initial_weights;
  const wx_lineage read = {.others = weights, .n_others = weights[0][0] != 0};
  wx_file_names inputs;
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_find_inputs(cfg, &read, &inputs));
  for (int64_t i = 0; i < inputs.n && status == WEIR_OK; i++) {
    status = weir_writer_spare(
        inputs.path[i], "an input of this run, which would replace it: choose another --out");
  }
  wx_file_names_fini(&inputs);
  return status;
}

static weir_status complete(weir_job *j)
{
  wx_cfg *const cfg = j->cfg;

  j->seed = cfg->seed;
  cfg->data.grib.names = &cfg->data.names;
  cfg->data.each_member = wx_model_takes_members(&cfg->model);
  cfg->data.whole_ensemble = cfg->model.coupling == WX_COUPLING_ATTENTION;
  if (weir_cli_is(j->cli, "predict") && cfg->predict.watch.directory[0] != 0) {
    cfg->data.forecast.count = 0; /* of a training, perhaps: files of the folder take its place */
  }
  WEIR_TRY(wx_check(j->cli, cfg));
  WEIR_TRY(spare_inputs(cfg));
  return weir_cpu_load(cfg->exec.machine);
}

const weir_program wx_program = {.complete = complete};

weir_status wx_write_provenance(const weir_cli *cli, const wx_cfg *cfg, const char *const *inputs,
                                int n)
{
  return weir_job_provenance(cli, cfg->seed, &(weir_provenance){.inputs = inputs, .n_inputs = n});
}

/* "2000-01-01 00:00 to 2000-05-01 00:00, 60 samples" */
static void subset_text(const wx_split *s, int p, char *text, size_t size)
{
  char first[32], last[32];

  (void)snprintf(text, size, "none");
  if (s->n[p] > 0) {
    wx_date_text(s->first[p], first, sizeof first);
    wx_date_text(s->last[p], last, sizeof last);
    (void)snprintf(text, size, "%s to %s, %lld samples", first, last, (long long)s->n[p]);
  }
}

weir_status wx_find_inputs(const wx_cfg *cfg, const wx_lineage *of, wx_file_names *out)
{
  const weir_string_list *const list[] = {&cfg->data.forecast, &cfg->data.truth,
                                          &cfg->data.invariants};
  enum { LISTS = sizeof list / sizeof list[0] };
  int64_t n = 0, at = 0;
  const char **names = NULL;

  for (int k = 0; k < LISTS; k++) {
    n += list[k]->count;
  }
  WEIR_TRY(weir_alloc(n + of->n_others, sizeof *names, (void **)&names));
  for (int k = 0; k < LISTS; k++) {
    for (int64_t i = 0; i < list[k]->count; i++) {
      names[at++] = list[k]->items[i];
    }
  }
  for (int64_t i = 0; i < of->n_others; i++) {
    names[at++] = of->others[i];
  }
  const weir_status status = wx_file_names_find(names, n + of->n_others, out);

  weir_free(&names);
  return status;
}

/* With the digests of the archives and of the other files that were read, and where the subsets of
 * the samples lie; scored: the subset that scores are of, or NULL. */
static weir_status write_scope(const weir_cli *cli, const wx_cfg *cfg, const char *scored,
                               const wx_lineage *of)
{
  char text[WX_SUBSETS][128], none[64], gap[32];
  weir_provenance_line line[WX_SUBSETS + 4];
  wx_file_names inputs = {.n = 0};
  int lines = 0;

  WEIR_TRY(wx_find_inputs(cfg, of, &inputs));
  if (scored != NULL) {
    line[lines++] = (weir_provenance_line){"scored", scored};
  }
  for (int p = 0; p < WX_SUBSETS; p++) {
    subset_text(of->split, p, text[p], sizeof text[p]);
    line[lines++] = (weir_provenance_line){wx_subset_name[p], text[p]};
  }
  (void)snprintf(none, sizeof none, "%lld samples", (long long)of->split->left_out);
  line[lines++] = (weir_provenance_line){"no_part", none};
  (void)snprintf(gap, sizeof gap, "%g d", cfg->data.split.gap);
  line[lines++] = (weir_provenance_line){"gap", gap};
  if (of->trained != NULL) {
    line[lines++] = (weir_provenance_line){"weights_dates", of->trained};
  }
  const weir_status status =
      weir_job_provenance(cli, cfg->seed,
                          &(weir_provenance){.inputs = (const char *const *)inputs.path,
                                             .n_inputs = (int)inputs.n,
                                             .lines = line,
                                             .n_lines = lines});

  wx_file_names_fini(&inputs);
  return status;
}

weir_status wx_write_origin(const weir_cli *cli, const wx_experiment *e, const wx_lineage *of)
{
  return write_scope(cli, e->cfg, NULL, of);
}

weir_status wx_write_scored(const weir_cli *cli, const wx_cfg *cfg, const wx_split *split,
                            const char *const *read, int64_t n)
{
  const int subset = cfg->eval.part;

  return write_scope(cli, cfg,
                     subset == WX_SUBSETS ? "all initialisation times" : wx_subset_name[subset],
                     &(wx_lineage){.split = split, .others = read, .n_others = n});
}
