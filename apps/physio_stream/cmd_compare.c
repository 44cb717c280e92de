/* cmd_compare.c - trains the classifier of recordings of different length under exchange policies
 * on simulated ranks: the validation loss over simulated time. A rank computes as long as the
 * recordings that it has in a step are. */
#include <stdio.h>
#include "app/weir_compare.h"
#include "base/weir_file.h"
#include "check.h"
#include "rhythm/classifier.h"
#include "commands.h"

/* The command at work. */
typedef struct study {
  weir_job *job;
  const ps_cfg *cfg;
  ps_recordings recordings;
  char folder[PS_PATH]; /* of trainings, while they go on */
  weir_compared result;
} study;

/* ---- A rank ---- */

/* Context of the task: recordings, and the time that they take. */
typedef struct timed {
  ps_recordings *recordings;
  weir_compare_rank *rank;
  double compute_s; /* of a second of recording */
} timed;

static weir_status batch(void *context, const weir_train_batch *want)
{
  const timed *const t = context;
  double recorded_s = 0;

  for (int64_t i = 0; i < want->n; i++) {
    recorded_s += ps_recordings_length(t->recordings, want->sample[i]);
  }
  return weir_compare_compute(t->rank, t->compute_s * recorded_s);
}

static weir_status fetch(void *context, const weir_train_batch *want, weir_tensor *const *tensor)
{
  const timed *const t = context;

  return ps_classifier_fetch(t->recordings, want, tensor);
}

static weir_status train_on_rank(weir_compare_rank *rank, void *context)
{
  study *const s = context;
  const weir_dist dist = {.comm = rank->comm,
                          .grid = {.dims = 1, .extent = {weir_comm_size(rank->comm)}}};
  const weir_plan_opts exec = {.exec = &s->cfg->exec, .threads = 1, .dist = &dist};
  timed t = {.recordings = &s->recordings, .rank = rank, .compute_s = s->cfg->compare.compute_s};
  weir_train_cfg train = s->cfg->train;
  ps_classifier c;
  weir_train_result result;
  weir_status status = WEIR_OK;

  train.optim.exchange = rank->exchange;
  train.seed += s->cfg->seed + rank->run;
  WEIR_TRY_GOTO(ps_classifier_open(&s->cfg->rhythm, &s->recordings, s->recordings.max_windows,
                                   train.seed, &c),
                done);
  c.task.batch = batch;
  c.task.fetch = fetch;
  c.task.context = &t;
  WEIR_TRY_GOTO(weir_train_run(&c.task, &train, &exec, c.params, c.store, rank->dir, &result),
                done);
done:
  ps_classifier_close(&c);
  return status;
}

/* ---- The command ---- */

static weir_status train_all(study *s)
{
  const weir_compare_spec spec = {.cfg = &s->cfg->scaling,
                                  .exchange = &s->cfg->train.optim.exchange,
                                  .target = s->cfg->compare.target,
                                  .train = train_on_rank,
                                  .context = s,
                                  .folder = s->folder};

  WEIR_TRY(
      ps_recordings_make(&s->cfg->rhythm, &s->cfg->ecgsyn, (uint64_t)s->cfg->seed, &s->recordings));
  return weir_compare_run(&spec, &s->result);
}

static weir_status finish(study *s)
{
  const weir_cli *const cli = s->job->cli;
  char step[128];

  WEIR_TRY(weir_run_dir_commit(&s->job->dir));
  weir_compared_print(&s->result, stdout);
  (void)snprintf(step, sizeof step,
                 "takes each of them %.4g s for every second of the recordings that it has",
                 s->cfg->compare.compute_s);
  WEIR_TRY(weir_compared_write(&s->result, "physio_stream: trainings under exchange policies", step,
                               cli->out));
  WEIR_TRY(ps_recordings_write(&s->recordings, cli->out));
  return ps_write_provenance(cli, s->cfg, NULL, 0);
}

static weir_status perform(weir_job *j)
{
  study s = {.job = j, .cfg = j->cfg};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(j->cli->out, "trainings", s.folder, sizeof s.folder));
  WEIR_TRY(weir_job_begin(j, "compare", false));
  WEIR_TRY_GOTO(train_all(&s), done);
  WEIR_TRY_GOTO(finish(&s), done);
done:
  weir_compared_fini(&s.result);
  ps_recordings_fini(&s.recordings);
  return status;
}

weir_status ps_compare_check(const ps_cfg *cfg)
{
  const weir_train_task task = ps_classifier_task(&cfg->rhythm);

  WEIR_TRY(ps_recordings_check(&cfg->rhythm, &cfg->ecgsyn));
  if (cfg->train.initial_weights[0] != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train.initial_weights: the trainings that are compared start from random "
                     "weights: leave it empty");
  }
  WEIR_TRY(weir_train_suits(&task, &cfg->train));
  return weir_compare_check(&cfg->scaling);
}

weir_status ps_cmd_compare(const weir_cli *cli)
{
  ps_cfg cfg;

  return weir_job_run(cli, &ps_program, &cfg, perform);
}
