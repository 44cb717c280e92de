/* cmd_eval.c - forecasts of models side by side, scored against the truth. */
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "comm/weir_items.h"
#include "eval/lead_scores.h"
#include "eval/score/score_maps.h"
#include "eval/score/score_tables.h"
#include "eval/strata.h"
#include "page/eval_page.h"
#include "io/weir_netcdf.h"
#include "commands.h"

/* What is evaluated, and what comes of it. */
typedef struct work {
  const weir_cli *cli;
  const wx_cfg *cfg;
  weir_comm *comm; /* ranks that share quantities and leads */
  bool leads;      /* this rank writes */
  wx_archive *forecast, *truth;
  wx_eval_data data;
  wx_split split;
  int64_t *all; /* every start */
  wx_verify verify;
  wx_remarks remarks; /* of all quantities and leads */
  wx_score_tables tables;
  wx_strata strata;
  wx_score_maps *maps;
  wx_eval_page *page;
} work;

static weir_status open_archives(work *w)
{
  const weir_string_list *const f = &w->cfg->data.forecast, *const t = &w->cfg->data.truth;

  WEIR_TRY(wx_archive_open_as(f->items, (int)f->count, &w->cfg->data.grib, &w->forecast));
  WEIR_TRY(wx_archive_open_truth(t->items, (int)t->count, &w->cfg->data.grib, &w->truth));
  WEIR_TRY(wx_eval_data_open(w->forecast, w->truth, &w->data));
  w->data.seed = (uint64_t)w->cfg->seed;
  return WEIR_OK;
}

/* Initialisation times by the subsets of data.split. */
static weir_status split_init_times(work *w)
{
  const wx_archive_info *const f = w->data.facts;

  WEIR_TRY(weir_alloc(f->n_init_times, sizeof *w->all, (void **)&w->all));
  for (int64_t i = 0; i < f->n_init_times; i++) {
    w->all[i] = i;
  }
  WEIR_TRY(wx_split_init_times(&w->cfg->data.split, f, &w->split));
  w->data.fit = w->split.sample[WX_TRAIN];
  w->data.n_fit = w->cfg->eval.part == WX_SUBSETS ? 0 : w->split.n[WX_TRAIN];
  return WEIR_OK;
}

/* Which initialisation times are fitted on and which are scored, in days since 1970, for whoever
 * looks for a leak.
 */
static void log_init_times(const work *w)
{
  enum { DAY = 86400 };
  const int64_t *const start = w->data.facts->start;
  const wx_verify *const v = &w->verify;
  const int64_t n = v->n_candidates, m = w->data.n_fit;

  weir_event("eval_starts", WEIR_INT("scored", n),
             WEIR_REAL("scored_first", (double)start[v->candidate[0]] / DAY),
             WEIR_REAL("scored_last", (double)start[v->candidate[n - 1]] / DAY),
             WEIR_INT("fitted", m),
             WEIR_REAL("fitted_first", m > 0 ? (double)start[w->data.fit[0]] / DAY : NAN),
             WEIR_REAL("fitted_last", m > 0 ? (double)start[w->data.fit[m - 1]] / DAY : NAN));
}

static weir_status open_work(work *w)
{
  const int subset = w->cfg->eval.part;

  WEIR_TRY(open_archives(w));
  WEIR_TRY(split_init_times(w));
  w->data.scored = subset == WX_SUBSETS ? w->all : w->split.sample[subset];
  w->data.n_scored = subset == WX_SUBSETS ? w->data.facts->n_init_times : w->split.n[subset];
  return wx_verify_open(&w->cfg->eval, &w->data, (uint64_t)w->cfg->seed, w->data.scored,
                        w->data.n_scored, &w->verify);
}

/* The rows that were added last. */
static void tell_scores(const work *w, int64_t first)
{
  const wx_archive_info *const f = w->data.facts;

  for (int64_t k = first; k < w->tables.n_rows; k++) {
    const wx_score_row *const r = &w->tables.row[k];

    weir_event(
        "scores", WEIR_TEXT("quantity", f->quantity[r->quantity].name),
        WEIR_REAL("lead_h", f->lead[r->lead]), WEIR_TEXT("model", w->verify.model[r->model].name),
        WEIR_REAL("crps", r->score[WX_CRPS].value),
        WEIR_REAL("crps_fair", r->score[WX_CRPS_FAIR].value),
        WEIR_REAL("crps_gauss", r->score[WX_CRPS_GAUSS].value),
        WEIR_REAL("rmse", r->score[WX_RMSE].value), WEIR_REAL("spread", r->score[WX_SPREAD].value),
        WEIR_REAL("ssr", r->score[WX_SSR].value), WEIR_INT("starts", r->n),
        WEIR_REAL("n_eff", r->n_eff));
  }
}

/* Warns of what was not warned of before: ranks leave the same initialisation times out. */
static weir_status tell_remarks(work *w)
{
  for (int64_t k = 0; k < w->verify.remarks.n; k++) {
    const int64_t before = w->remarks.n;

    WEIR_TRY(wx_remarks_add(&w->remarks, w->verify.remarks.text[k]));
    if (w->remarks.n > before) {
      weir_warn("eval", "%s", w->verify.remarks.text[k]);
    }
  }
  return WEIR_OK;
}

static void tell_joint(const work *w, int64_t first)
{
  for (int64_t k = first; k < w->tables.n_joint; k++) {
    const wx_joint_score_row *const r = &w->tables.joint[k];
    char scales[WX_SCALES_TEXT];

    wx_verify_joint_scales(&w->verify, r->scale, scales, sizeof scales);
    weir_event("joint_scores", WEIR_TEXT("quantities", w->verify.joint.name),
               WEIR_REAL("lead_h", w->data.facts->lead[r->lead]),
               WEIR_TEXT("model", w->verify.model[r->model].name),
               WEIR_REAL("energy_score", r->energy.value),
               WEIR_REAL("energy_score_fair", r->energy_fair.value),
               WEIR_REAL("variogram_score", r->variogram.value), WEIR_TEXT("scales", scales),
               WEIR_INT("starts", r->n), WEIR_REAL("n_eff", r->n_eff));
  }
}

/* Scores number i of all quantities and leads, and then of the leads of quantities together. */
static weir_status make_scores(void *context, int64_t i, weir_bytes *out)
{
  work *const w = context;
  wx_verify *const v = &w->verify;
  wx_case_study study = {.truth = NULL};
  weir_status status = WEIR_OK;

  status = i < v->n_quantities * v->n_leads
               ? wx_verify_lead(v, v->quantity[i / v->n_leads], v->lead[i % v->n_leads])
               : wx_verify_joint(v, v->lead[i % v->n_leads]);
  if (status != WEIR_OK) {
    return tell_remarks(w) == WEIR_OK ? status : WEIR_ERR_MEMORY;
  }
  if (v->at_quantity != WX_JOINT && v->at_lead == wx_eval_figure_lead(v)) {
    WEIR_TRY_GOTO(wx_case_study_create(v, &study), done);
  }
  WEIR_TRY_GOTO(wx_lead_scores_put(v, &study, out), done);
done:
  wx_case_study_fini(&study);
  return status;
}

static weir_status take_scores(void *context, int64_t i, const char *data, int64_t n)
{
  work *const w = context;
  wx_verify *const v = &w->verify;
  const int64_t rows = w->tables.n_rows, joint = w->tables.n_joint;
  wx_case_study study;
  weir_status status = WEIR_OK;

  (void)i;
  WEIR_TRY(wx_lead_scores_get(data, n, v, &study));
  WEIR_TRY_GOTO(tell_remarks(w), done);
  WEIR_TRY_GOTO(wx_score_tables_add(&w->tables, v), done);
  if (v->at_quantity == WX_JOINT) {
    tell_joint(w, joint);
    goto done;
  }
  WEIR_TRY_GOTO(wx_strata_add(&w->strata, v), done);
  tell_scores(w, rows);
  if (w->maps != NULL) {
    WEIR_TRY_GOTO(wx_score_maps_add(w->maps), done);
  }
  if (study.truth != NULL) {
    WEIR_TRY_GOTO(wx_eval_page_add(w->page, &study), done);
  }
done:
  wx_case_study_fini(&study);
  return status;
}

/* Files and pages, which rank 0 writes. */
static weir_status create_outputs(work *w)
{
  char path[WX_PATH];

  WEIR_TRY(weir_path_join(w->cli->out, "maps.nc", path, sizeof path));
  if (weir_netcdf_available()) {
    WEIR_TRY(wx_score_maps_create(path, &w->verify, &w->maps));
  }
  return wx_eval_page_create(&w->verify, &w->tables, &w->strata, &w->remarks, &w->page);
}

static weir_status score(work *w)
{
  const weir_items items = {.comm = w->comm,
                            .what = "eval",
                            .unit = "quantities and leads",
                            .n = (w->verify.n_quantities + (w->verify.joint.n > 0)) *
                                 w->verify.n_leads,
                            .make = make_scores,
                            .take = take_scores};

  WEIR_TRY(w->leads ? create_outputs(w) : WEIR_OK);
  return weir_items_run(&items, w);
}

/* With every file that was read: a climate, and of models predictions and coefficients. */
static weir_status write_provenance(const work *w)
{
  const wx_verify *const v = &w->verify;
  const char **read = NULL;
  int64_t n = w->data.climate != NULL;

  for (int64_t k = 0; k < v->n_models; k++) {
    n += v->model[k].n_files;
  }
  WEIR_TRY(weir_alloc(n, sizeof *read, (void **)&read));
  n = 0;
  if (w->data.climate != NULL) {
    read[n++] = w->data.climate;
  }
  for (int64_t k = 0; k < v->n_models; k++) {
    for (int64_t i = 0; i < v->model[k].n_files; i++) {
      read[n++] = v->model[k].file[i];
    }
  }
  const weir_status status = wx_write_scored(w->cli, w->cfg, &w->split, read, n);

  weir_free(&read);
  return status;
}

static weir_status write_all(work *w)
{
  WEIR_TRY(wx_score_tables_write(&w->tables, w->cli->out));
  WEIR_TRY(wx_strata_write(&w->strata, &w->verify, w->cli->out));
  if (w->maps != NULL) {
    WEIR_TRY(wx_score_maps_commit(&w->maps));
  }
  WEIR_TRY(wx_eval_page_write(w->page, w->cli->out));
  return write_provenance(w);
}

static void close_work(work *w)
{
  wx_eval_page_destroy(&w->page);
  wx_score_maps_abandon(&w->maps);
  wx_score_tables_fini(&w->tables);
  wx_strata_fini(&w->strata);
  wx_remarks_clear(&w->remarks);
  wx_verify_close(&w->verify);
  wx_split_fini(&w->split);
  weir_free(&w->all);
  wx_eval_data_fini(&w->data);
  wx_archive_close(&w->truth);
  wx_archive_close(&w->forecast);
}

static weir_status eval(weir_job *j)
{
  work *w = NULL; /* too large for the stack of a thread */
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(1, sizeof *w, (void **)&w));
  w->cli = j->cli;
  w->cfg = j->cfg;
  w->comm = j->comm;
  w->leads = weir_job_leads(j);
  WEIR_TRY_GOTO(weir_job_begin(j, "eval", false), done);
  WEIR_TRY_GOTO(open_work(w), done);
  WEIR_TRY_GOTO(weir_run_dir_commit(&j->dir), done);
  log_init_times(w);
  WEIR_TRY_GOTO(score(w), done);
  WEIR_TRY_GOTO(w->leads ? write_all(w) : WEIR_OK, done);
done:
  close_work(w);
  weir_free(&w);
  return status;
}

weir_status wx_cmd_eval(const weir_cli *cli)
{
  return weir_job_run_shared(cli, &wx_program, eval);
}
