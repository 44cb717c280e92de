/* cmd_compare.c - trains the network under exchange policies on simulated ranks, of which some are
 * late: the validation loss over simulated time. */
#include <stdio.h>
#include "app/weir_compare.h"
#include "base/weir_file.h"
#include "described.h"
#include "experiment.h"
#include "ranks.h"
#include "commands.h"

/* The command at work. */
typedef struct study {
  weir_job *job;
  cf_cfg *cfg;
  char folder[CF_PATH];    /* of trainings, while they go on */
  char universes[CF_PATH]; /* in it, where source.input names no samples */
  weir_compared result;
} study;

/* ---- A rank ---- */

/* The task of the experiment with steps that take their time. */
typedef struct late_task {
  const weir_scaling_cfg *cfg;
  weir_compare_rank *rank;
  weir_train_task inner;
  int64_t step;
} late_task;

static weir_status batch(void *context, const weir_train_batch *want)
{
  late_task *const l = context;
  const weir_scaling_cfg *const c = l->cfg;
  weir_comm *const comm = l->rank->comm;
  const double late = weir_imbalance_delay(&c->imbalance, l->rank->run, c->compute_s,
                                           weir_comm_rank(comm), weir_comm_size(comm), l->step++);

  WEIR_TRY(l->inner.batch(l->inner.context, want));
  return weir_compare_compute(l->rank, c->compute_s + late);
}

static weir_status fetch(void *context, const weir_train_batch *want, weir_tensor *const *tensor)
{
  const late_task *l = context;

  return l->inner.fetch(l->inner.context, want, tensor);
}

static void begin_epoch(void *context, int64_t epoch)
{
  const late_task *l = context;

  l->inner.epoch(l->inner.context, epoch);
}

static void validated(void *context, int64_t step, const double *moment)
{
  const late_task *l = context;

  l->inner.validated(l->inner.context, step, moment);
}

static weir_status train(const study *s, weir_compare_rank *rank, cf_ranks *r, cf_experiment *e)
{
  const weir_plan_opts exec = {.exec = &s->cfg->exec, .threads = 1, .dist = &r->dist};
  late_task l = {.cfg = &s->cfg->scaling, .rank = rank};
  weir_train_task *const task = &e->estimator.task;
  weir_train_result result;

  WEIR_TRY(cf_agree(r, cf_experiment_open(e->cfg, s->universes, r->dist.comm, e)));
  WEIR_TRY(cf_agree(r, cf_experiment_network(e, s->job->config)));
  l.inner = *task;
  task->batch = batch;
  task->fetch = fetch;
  task->epoch = begin_epoch;
  task->validated = validated;
  task->context = &l;
  return cf_experiment_train(e, rank->dir, &exec, &result);
}

static weir_status train_on_rank(weir_compare_rank *rank, void *context)
{
  const study *const s = context;
  cf_cfg cfg = *s->cfg;
  cf_experiment e = {.cfg = NULL};
  cf_ranks r;
  weir_status status = WEIR_OK;

  cfg.train.optim.exchange = rank->exchange;
  cfg.train.seed += rank->run;
  cfg.load.remote = WEIR_LOAD_OFF; /* samples are not part of what is compared */
  WEIR_TRY(cf_ranks_open(rank->comm, &cfg, &r));
  e.cfg = &cfg;
  WEIR_TRY_GOTO(train(s, rank, &r, &e), done);
done:
  cf_experiment_close(&e);
  return status;
}

/* ---- The command ---- */

static weir_status prepare(void *context)
{
  const study *const s = context;

  return cf_experiment_prepare(s->cfg, s->universes);
}

/* Weights and universes are not kept: one that is stopped leaves earlier results as they are. */
static weir_status train_all(study *s)
{
  const weir_compare_spec spec = {.cfg = &s->cfg->scaling,
                                  .exchange = &s->cfg->train.optim.exchange,
                                  .target = s->cfg->compare.target,
                                  .prepare = prepare,
                                  .train = train_on_rank,
                                  .context = s,
                                  .folder = s->folder};

  WEIR_TRY(cf_described_step(s->cfg, s->job->cli->threads, NULL, &s->cfg->scaling.compute_s));
  return weir_compare_run(&spec, &s->result);
}

static weir_status finish(study *s)
{
  const weir_cli *const cli = s->job->cli;
  char step[64], text[64];

  WEIR_TRY(weir_run_dir_commit(&s->job->dir));
  weir_compared_print(&s->result, stdout);
  (void)snprintf(step, sizeof step, "takes each of them %.4g s and its delay",
                 s->cfg->scaling.compute_s);
  WEIR_TRY(weir_compared_write(&s->result, "cosmoflow: trainings under exchange policies", step,
                               cli->out));
  (void)snprintf(text, sizeof text, "%.6g s", s->cfg->scaling.compute_s);
  return cf_write_provenance(s->job, true, "step", text);
}

static weir_status perform(weir_job *j)
{
  study s = {.job = j, .cfg = j->cfg};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_compare_check(&s.cfg->scaling));
  if (s.cfg->train.initial_weights[0] != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train.initial_weights: the trainings that are compared start from random "
                     "weights: leave it empty");
  }
  WEIR_TRY(weir_path_join(j->cli->out, "trainings", s.folder, sizeof s.folder));
  WEIR_TRY(weir_path_join(s.folder, "universes", s.universes, sizeof s.universes));
  WEIR_TRY(weir_job_begin(j, "compare", false));
  WEIR_TRY_GOTO(train_all(&s), done);
  WEIR_TRY_GOTO(finish(&s), done);
done:
  weir_compared_fini(&s.result);
  return status;
}

weir_status cf_cmd_compare(const weir_cli *cli)
{
  cf_cfg cfg;

  return weir_job_run(cli, &cf_program, &cfg, perform);
}
