/* cmd_eval.c - scores of predictions of networks against the truth, compared with regressions on
 * P(k) and the mean; scores of predicted voxel classes against those of files. */
#include <math.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "eval/score_tables.h"
#include "eval/eval_maps.h"
#include "eval/eval_page.h"
#include "commands.h"

/* Emits the training and scored rows of each set, to check for leaks. */
static void tell_sets(const cf_evaluation *e)
{
  for (int64_t i = 0; i < e->n_sets; i++) {
    const cf_eval_set *const t = &e->set[i];

    weir_event("eval_set", WEIR_TEXT("set", t->opts->name), WEIR_TEXT("model", t->p->model),
               WEIR_TEXT("part", cf_subset_name[e->opts->part]),
               WEIR_INT("samples", t->level[CF_BY_SAMPLE].n), WEIR_INT("universes", t->groups),
               WEIR_INT("fitted", i == 0 ? t->n_train : 0));
  }
}

static void tell_normalised(const cf_evaluation *e)
{
  char names[CF_MAX_LABELS * (CF_MAX_NAME + 2)];

  cf_predictions_normalised(e->set[0].p, names, sizeof names);
  if (names[0] != 0) {
    weir_warn("eval",
              "%s: %s: normalised, ranges unknown: errors are in units of [-1, 1], not of the "
              "parameters",
              e->set[0].opts->predictions, names);
  }
}

static void tell_scores(const cf_evaluation *e, const cf_score_tables *t)
{
  for (int64_t k = 0; k < t->n_rows; k++) {
    const cf_score_row *const r = &t->row[k];

    weir_event("scores", WEIR_TEXT("set", e->set[r->set].opts->name),
               WEIR_TEXT("model", cf_evaluation_name(e, r->set, r->by)),
               WEIR_TEXT("of", cf_level_name[r->level]),
               WEIR_TEXT("parameter", r->label < 0 ? "all" : e->set[0].p->label[r->label]),
               WEIR_REAL("mae", r->score[CF_MAE].value / r->half),
               WEIR_REAL("rmse", r->score[CF_RMSE].value / r->half),
               WEIR_REAL("r2", r->label < 0 ? NAN : r->score[CF_R2].value),
               WEIR_REAL("skill", r->skill.value), WEIR_INT("samples", r->samples),
               WEIR_INT("universes", r->universes));
  }
}

static weir_status evaluate(const weir_job *j, const cf_evaluation *e)
{
  const weir_cli *const cli = j->cli;
  cf_score_tables t;
  weir_status status = WEIR_OK;

  WEIR_TRY(cf_score_tables_make(e, &t));
  tell_scores(e, &t);
  WEIR_TRY_GOTO(cf_score_tables_write(&t, cli->out), done);
  WEIR_TRY_GOTO(cf_eval_page_write(e, &t, cli->out), done);
  WEIR_TRY_GOTO(cf_write_provenance(j, false, "predictions", e->set[0].p->source), done);
done:
  cf_score_tables_fini(&t);
  return status;
}

static weir_status tell_all(weir_job *j, const cf_evaluation *e)
{
  WEIR_TRY(weir_run_dir_commit(&j->dir));
  tell_sets(e);
  tell_normalised(e);
  return evaluate(j, e);
}

static weir_status evaluate_all(weir_job *j, const cf_source_spec *spec)
{
  const cf_cfg *const cfg = j->cfg;
  cf_eval_opts opts = cfg->eval;
  cf_evaluation e = {0};
  weir_status status = WEIR_OK;

  opts.features.summaries = &cfg->summaries;
  WEIR_TRY(cf_evaluation_open(&opts, spec, (uint64_t)cfg->seed, j->comm, &e));
  status = weir_job_leads(j) ? tell_all(j, &e) : WEIR_OK;
  cf_evaluation_close(&e);
  return status;
}

static weir_status tell_maps(weir_job *j, const cf_map_scores *m, uint64_t seed)
{
  const cf_cfg *const cfg = j->cfg;

  WEIR_TRY(weir_run_dir_commit(&j->dir));
  WEIR_TRY(cf_eval_maps_write(m, (cf_subset)cfg->eval.part, seed, j->cli->out));
  return cf_write_provenance(j, false, "predictions", m->set[0].source);
}

static weir_status evaluate_maps(weir_job *j, const cf_source_spec *spec)
{
  const cf_cfg *const cfg = j->cfg;
  cf_map_scores m;

  WEIR_TRY(cf_map_scores_make(&cfg->eval, spec, j->comm, &m));
  const weir_status status = weir_job_leads(j) ? tell_maps(j, &m, spec->seed) : WEIR_OK;

  cf_map_scores_fini(&m);
  return status;
}

static weir_status score(weir_job *j)
{
  const cf_cfg *const cfg = j->cfg;
  const cf_source_spec spec = {.source = &cfg->source,
                               .files = &cfg->files,
                               .simulate = &cfg->simulate,
                               .seed = (uint64_t)cfg->seed};

  WEIR_TRY(weir_job_begin(j, "eval", false));
  return cf_eval_is_of_maps(&cfg->eval) ? evaluate_maps(j, &spec) : evaluate_all(j, &spec);
}

weir_status cf_cmd_eval(const weir_cli *cli)
{
  return weir_job_run_shared(cli, &cf_program, score);
}
