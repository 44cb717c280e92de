/* cmd_robustness.c - networks on sets of samples that were simulated differently, and regressions
 * fitted on the same universes: predictions-NETWORK-SET.nc, robustness.csv, report.html. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "eval/robustness/robustness.h"
#include "predict/predict.h"
#include "commands.h"

/* The universes that a network has seen, as its weights list them. */
typedef struct seen {
  char *train, *valid;
} seen;

typedef struct test {
  weir_job *job;
  const cf_cfg *cfg;
  const cf_robustness_opts *opts;
  int64_t network; /* in turn */
  int64_t *set;    /* [sets] of the evaluation, the one it is trained on first */
  char (*path)[CF_PATH];
  cf_eval_set_opts *scored;
  seen *seen; /* [networks] */
  cf_robustness result;
} test;

static const cf_robustness_network_opts *network_of(const test *t)
{
  return (const cf_robustness_network_opts *)t->opts->networks.items + t->network;
}

static const cf_robustness_set_opts *set_of(const test *t, int64_t k)
{
  return (const cf_robustness_set_opts *)t->opts->sets.items + t->set[k];
}

/* ---- Predictions ---- */

static weir_status judge_network(const cf_predict *w)
{
  return cf_model_net(&w->weights.model)->target == CF_ESTIMATE
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "%s: segments, and robustness is of networks that estimate parameters",
                         w->cfg->predict.weights);
}

/* Opens weights and samples. */
static weir_status open_prediction(cf_predict *w)
{
  WEIR_TRY(cf_predict_open(w));
  WEIR_TRY(judge_network(w));
  WEIR_TRY(cf_predict_rows(w));
  WEIR_TRY(cf_predict_posteriors_check(w));
  return !w->out->unlabelled
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: the samples have no labels to compare predictions with",
                         w->cfg->source.input.items[0]);
}

static weir_status write_predictions(cf_predict *w, const char *name, const char *path)
{
  int64_t done = 0;

  (void)snprintf(w->out->model, sizeof w->out->model, "%s", name);
  WEIR_TRY(cf_predict_all(w, &done));
  WEIR_TRY(cf_predict_origin(w, &w->out->origin));
  return cf_predictions_write(w->out, path);
}

/* The set that a network is said to be trained on is that of its weights. */
static weir_status judge_own_set(const test *t, const cf_predict *w)
{
  const char *const trained = w->weights.text[CF_NOTE_simulation], *const is = w->info.simulation;
  char differences[512] = "none of the universes is one that it was trained on";

  if (trained[0] != 0 && is[0] != 0 && strcmp(trained, is) != 0) {
    cf_universe_text_compare(trained, is, differences, sizeof differences);
  } else if (w->split.n[CF_TRAIN] > 0) {
    return WEIR_OK;
  }
  return weir_fail(WEIR_ERR_CONFIG,
                   "robustness.networks: '%s' is trained_on '%s', whose samples are not those that "
                   "%s was trained on (%s): name the set of its training",
                   network_of(t)->name, set_of(t, 0)->name, w->cfg->predict.weights, differences);
}

/* Networks of one set share its regressions, and are compared with them on the same universes. */
static weir_status judge_split(test *t, const cf_predict *w)
{
  const cf_robustness_network_opts *const network = t->opts->networks.items;
  seen *const own = &t->seen[t->network];

  WEIR_TRY(weir_strdup(w->weights.text[CF_NOTE_universes_train], &own->train));
  WEIR_TRY(weir_strdup(w->weights.text[CF_NOTE_universes_valid], &own->valid));
  for (int64_t i = 0; i < t->network; i++) {
    if (cf_robustness_own(t->opts, i) == t->set[0] &&
        (strcmp(t->seen[i].train, own->train) != 0 || strcmp(t->seen[i].valid, own->valid) != 0)) {
      return weir_fail(
          WEIR_ERR_CONFIG,
          "robustness.networks: '%s' and '%s' are trained on different universes of '%s' "
          "(data.split), and its regressions are fitted on those of one: name the "
          "samples as a second set, for the other network",
          network[i].name, network_of(t)->name, set_of(t, 0)->name);
    }
  }
  return WEIR_OK;
}

/* Predicts set k of the evaluation, or only opens it. The set of the training has its universes by
 * their numbers. */
static weir_status predict_set(test *t, int64_t k, bool only_open)
{
  cf_cfg cfg = *t->cfg;
  cf_predict w = {.job = t->job, .cli = t->job->cli, .leads = true, .others = true, .cfg = &cfg};

  cfg.predict.weights = network_of(t)->weights;
  cfg.predict.part = t->cfg->eval.part;
  cfg.predict.external_universes = k > 0 && t->cfg->predict.external_universes;
  cfg.source.input = set_of(t, k)->samples;
  weir_status status = open_prediction(&w);

  if (status == WEIR_OK && only_open && k == 0) {
    status = judge_own_set(t, &w);
    status = status == WEIR_OK ? judge_split(t, &w) : status;
  }
  if (status == WEIR_OK && !only_open) {
    weir_info("robustness", "%s on %s", network_of(t)->name, set_of(t, k)->name);
    status = write_predictions(&w, network_of(t)->name, t->path[k]);
  }
  cf_predict_close(&w);
  return status;
}

/* ---- Scores ---- */

/* The options of section eval, of the sets of a network. */
static cf_eval_opts eval_opts(const test *t)
{
  cf_eval_opts opts = t->cfg->eval;

  opts.sets = (weir_struct_list){t->scored, t->opts->sets.count};
  opts.features.summaries = &t->cfg->summaries;
  return opts;
}

static weir_status score_network(test *t)
{
  const cf_cfg *const cfg = t->cfg;
  const cf_source_spec spec = {.source = &cfg->source,
                               .files = &cfg->files,
                               .simulate = &cfg->simulate,
                               .seed = (uint64_t)cfg->seed};
  const cf_eval_opts opts = eval_opts(t);
  cf_evaluation e = {0};
  cf_score_tables tables = {0};
  weir_status status = WEIR_OK;

  WEIR_TRY(cf_evaluation_open(&opts, &spec, (uint64_t)cfg->seed, NULL, &e));
  WEIR_TRY_GOTO(cf_score_tables_make(&e, &tables), done);
  WEIR_TRY_GOTO(cf_robustness_add(t->opts, &e, &tables, t->set, &t->result), done);
done:
  cf_score_tables_fini(&tables);
  cf_evaluation_close(&e);
  return status;
}

/* Orders the sets: the one that the network is trained on comes first. */
static weir_status order_sets(test *t)
{
  const int64_t own = cf_robustness_own(t->opts, t->network), sets = t->opts->sets.count;

  t->set[0] = own;
  for (int64_t s = 0, n = 1; s < sets; s++) {
    if (s != own) {
      t->set[n++] = s;
    }
  }
  for (int64_t k = 0; k < sets; k++) {
    WEIR_TRY(cf_robustness_path(t->opts, t->job->cli->out, t->network, t->set[k], t->path[k],
                                sizeof t->path[k]));
    t->scored[k] = (cf_eval_set_opts){
        .name = set_of(t, k)->name, .predictions = t->path[k], .truth = set_of(t, k)->samples};
  }
  return WEIR_OK;
}

static weir_status test_network(test *t, bool only_open)
{
  WEIR_TRY(order_sets(t));
  const cf_eval_opts opts = eval_opts(t);

  WEIR_TRY(cf_eval_check(&opts));
  for (int64_t k = 0; k < t->opts->sets.count; k++) {
    WEIR_TRY(predict_set(t, k, only_open));
  }
  return only_open ? WEIR_OK : score_network(t);
}

/* All weights and samples are opened before anything of earlier results is removed. */
static weir_status test_all(test *t)
{
  const cf_cfg *const cfg = t->cfg;

  WEIR_TRY(weir_alloc(t->opts->sets.count, sizeof *t->set, (void **)&t->set));
  WEIR_TRY(weir_alloc(t->opts->sets.count, sizeof *t->path, (void **)&t->path));
  WEIR_TRY(weir_alloc(t->opts->sets.count, sizeof *t->scored, (void **)&t->scored));
  WEIR_TRY(weir_alloc(t->opts->networks.count, sizeof *t->seen, (void **)&t->seen));
  for (t->network = 0; t->network < t->opts->networks.count; t->network++) {
    WEIR_TRY(test_network(t, true));
  }
  WEIR_TRY(weir_run_dir_commit(&t->job->dir));
  for (t->network = 0; t->network < t->opts->networks.count; t->network++) {
    WEIR_TRY(test_network(t, false));
  }
  WEIR_TRY(cf_robustness_write(&t->result, &cfg->eval, (uint64_t)cfg->seed, t->job->cli->out));
  return cf_write_provenance(t->job, false, "robustness", "networks on sets of samples");
}

static weir_status run(weir_job *j)
{
  const cf_cfg *const cfg = j->cfg;
  test t = {.job = j, .cfg = cfg, .opts = &cfg->robustness};

  WEIR_TRY(weir_job_begin(j, "robustness", false));
  const weir_status status = test_all(&t);

  cf_robustness_fini(&t.result);
  for (int64_t i = 0; t.seen != NULL && i < t.opts->networks.count; i++) {
    weir_free(&t.seen[i].train);
    weir_free(&t.seen[i].valid);
  }
  weir_free(&t.seen);
  weir_free(&t.set);
  weir_free(&t.path);
  weir_free(&t.scored);
  return status;
}

weir_status cf_cmd_robustness(const weir_cli *cli)
{
  cf_cfg cfg;

  return weir_job_run(cli, &cf_program, &cfg, run);
}
