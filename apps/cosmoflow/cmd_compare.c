/* cmd_compare.c - trains the network under exchange policies on simulated ranks, of which some are
 * late: the validation loss over simulated time. */
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "page/compare_page.h"
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
  cf_compared result;
} study;

/* A training, and what its rank that leads tells of it. */
typedef struct training {
  study *s;
  cf_compared_row *row;
  weir_one_of exchange;
  int64_t run;
  char dir[CF_PATH];
  weir_comm *comm;           /* of the rank that leads, while it trains */
  int64_t step, validations; /* step: of the last validation */
  double in_time;            /* fraction of contributions; 1 where the policy counts none */
  int64_t sent_bytes;        /* by all ranks */
  weir_status kept;          /* of the points */
} training;

/* ---- A rank ---- */

/* The task of the experiment with steps that take their time. */
typedef struct late_task {
  const training *t;
  weir_comm *comm;
  weir_train_task inner;
  int64_t step;
} late_task;

static weir_status batch(void *context, const weir_train_batch *want)
{
  late_task *const l = context;
  const weir_scaling_cfg *const c = &l->t->s->result.cfg;
  const double late =
      weir_imbalance_delay(&c->imbalance, l->t->run, c->compute_s, weir_comm_rank(l->comm),
                           weir_comm_size(l->comm), l->step++);

  WEIR_TRY(l->inner.batch(l->inner.context, want));
  return weir_inproc_sleep(l->comm, c->compute_s + late);
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

static weir_status train(training *t, cf_ranks *r, cf_experiment *e)
{
  const cf_cfg *const cfg = t->s->cfg;
  const weir_plan_opts exec = {.exec = &cfg->exec, .threads = 1, .dist = &r->dist};
  late_task l = {.t = t, .comm = r->dist.comm};
  weir_train_task *const task = &e->estimator.task;
  weir_train_result result;

  WEIR_TRY(cf_agree(r, cf_experiment_open(e->cfg, t->s->universes, r->dist.comm, e)));
  WEIR_TRY(cf_agree(r, cf_experiment_network(e, t->s->job->config)));
  l.inner = *task;
  task->batch = batch;
  task->fetch = fetch;
  task->epoch = begin_epoch;
  task->validated = validated;
  task->context = &l;
  return cf_experiment_train(e, t->dir, &exec, &result);
}

/* Adds what this rank has sent of gradients and weights. One rank of a network runs at a time. */
static void count_sent(const weir_comm *c, int64_t *bytes)
{
  static const weir_comm_use uses[] = {WEIR_COMM_EXCHANGE, WEIR_COMM_REDUCE, WEIR_COMM_ALLGATHER,
                                       WEIR_COMM_VARYING};

  for (size_t k = 0; k < sizeof uses / sizeof uses[0]; k++) {
    *bytes += weir_comm_counted(c, uses[k]).sent_bytes;
  }
}

static weir_status train_on_rank(weir_comm *c, void *context)
{
  training *const t = context;
  cf_cfg cfg = *t->s->cfg;
  cf_experiment e = {.cfg = NULL};
  cf_ranks r;
  weir_status status = WEIR_OK;

  cfg.train.optim.exchange = t->exchange;
  cfg.train.seed += t->run;
  cfg.load.remote = WEIR_LOAD_OFF; /* samples are not part of what is compared */
  WEIR_TRY(cf_ranks_open(c, &cfg, &r));
  if (r.leads) {
    t->comm = c;
  }
  e.cfg = &cfg;
  WEIR_TRY_GOTO(train(t, &r, &e), done);
  count_sent(c, &t->sent_bytes);
done:
  cf_experiment_close(&e);
  return status;
}

/* ---- What it tells ---- */

static void keep_point(training *t, int64_t step, double loss)
{
  cf_compared *const c = &t->s->result;

  t->kept = weir_reserve(&c->point, &c->capacity, c->n_points + 1, sizeof *c->point);
  if (t->kept == WEIR_OK) {
    c->point[c->n_points++] = (cf_compared_point){.row = (int)(t->row - c->row),
                                                  .run = (int)t->run,
                                                  .step = step,
                                                  .index = t->validations++,
                                                  .seconds = weir_inproc_clock(t->comm),
                                                  .loss = loss};
    t->step = step;
  }
}

static const weir_field *find(const weir_field *fields, int n, const char *key)
{
  for (int i = 0; i < n; i++) {
    if (strcmp(fields[i].key, key) == 0) {
      return &fields[i];
    }
  }
  return NULL;
}

static void listen(void *context, const char *name, const weir_field *fields, int n)
{
  training *const t = context;
  const weir_field *const step = find(fields, n, "step"),
                          *const loss = find(fields, n, "valid_loss"),
                          *const in_time = find(fields, n, "in_time");

  if (step != NULL && loss != NULL && step->integer > t->step && t->kept == WEIR_OK) {
    keep_point(t, step->integer, loss->real);
  }
  if (strcmp(name, "exchange") == 0 && in_time != NULL && isfinite(in_time->real)) {
    t->in_time = in_time->real;
  }
}

/* ---- All trainings ---- */

static weir_status train_once(study *s, cf_compared_row *row, const weir_one_of *exchange,
                              int64_t run)
{
  const weir_inproc how = {
      .ranks = row->ranks, .network = &s->result.cfg.network, .fails_together = true};
  training t = {.s = s, .row = row, .exchange = *exchange, .run = run, .in_time = 1};
  const double runs = (double)s->result.cfg.runs;
  char name[128];

  (void)snprintf(name, sizeof name, "%s-%d-%lld", row->policy->name, row->ranks, (long long)run);
  WEIR_TRY(weir_path_join(s->folder, name, t.dir, sizeof t.dir));
  WEIR_TRY(weir_dir_create(t.dir));
  weir_event("training", WEIR_TEXT("policy", row->policy->name), WEIR_INT("ranks", row->ranks),
             WEIR_INT("run", run));
  weir_events_subscribe(listen, &t);
  const weir_status status = weir_inproc_run(&how, train_on_rank, &t);

  weir_events_subscribe(NULL, NULL);
  WEIR_TRY(status);
  WEIR_TRY(t.kept);
  if (t.validations == 0) {
    return weir_fail(WEIR_ERR_DATA, "there was no validation: data.split.valid has to be above 0, "
                                    "and train.validate_every no more than the epochs");
  }
  row->in_time += t.in_time / runs;
  row->sent_bytes += (double)t.sent_bytes / (double)t.step / row->ranks / runs;
  return WEIR_OK;
}

/* A row, or none where the policy refuses the number of ranks. */
static weir_status add_row(study *s, const weir_exchange_desc *policy, const weir_one_of *exchange,
                           int ranks)
{
  cf_compared *const c = &s->result;
  cf_compared_row *const row = &c->row[c->n];

  *row = (cf_compared_row){.policy = policy, .ranks = ranks};
  for (int64_t run = 0; run < c->cfg.runs; run++) {
    const weir_status status = train_once(s, row, exchange, run);

    if (status == WEIR_ERR_CONFIG && run == 0) {
      weir_warn("compare", "%s on %d ranks: %s", policy->name, ranks, weir_last_message());
      weir_clear_failure();
      return WEIR_OK;
    }
    WEIR_TRY(status);
    const cf_compared_point *const last = &c->point[c->n_points - 1];

    weir_info("compare", "%s on %d ranks, run %lld: validation loss %.4g after %.4g s",
              policy->name, ranks, (long long)run, last->loss, last->seconds);
  }
  c->n++;
  return WEIR_OK;
}

/* On all numbers of ranks, with the options that train.optim.exchange has where it is that. */
static weir_status add_policy(study *s, const weir_exchange_desc *policy)
{
  const weir_one_of *own = &s->cfg->train.optim.exchange;
  weir_one_of exchange = {.name = policy->name};
  weir_config *config = NULL;
  void *opts = NULL;
  weir_status status = WEIR_OK;

  if (own->name != NULL && strcmp(own->name, policy->name) == 0) {
    exchange = *own;
  } else if (policy->opts != NULL) {
    WEIR_TRY_GOTO(weir_alloc(1, policy->opts_size, &opts), done);
    WEIR_TRY_GOTO(
        weir_config_load(policy->opts, policy->opts_size, NULL, 0, NULL, 0, opts, &config), done);
    exchange.opts = opts;
  }
  for (int64_t i = 0; i < s->result.cfg.ranks.count; i++) {
    WEIR_TRY_GOTO(add_row(s, policy, &exchange, (int)s->result.cfg.ranks.items[i]), done);
  }
done:
  weir_config_destroy(&config);
  weir_free(&opts);
  return status;
}

static bool is_chosen(const weir_string_list *names, const weir_exchange_desc *policy)
{
  bool is = names->count == 0;

  for (int64_t i = 0; i < names->count; i++) {
    is = is || strcmp(names->items[i], policy->name) == 0;
  }
  return is;
}

static weir_status add_rows(study *s)
{
  cf_compared *const c = &s->result;
  int policies = 0;

  while (weir_exchange_table[policies] != NULL) {
    policies++;
  }
  WEIR_TRY(weir_alloc(policies * c->cfg.ranks.count, sizeof *c->row, (void **)&c->row));
  for (int k = 0; k < policies; k++) {
    if (is_chosen(&c->cfg.policies, weir_exchange_table[k])) {
      WEIR_TRY(add_policy(s, weir_exchange_table[k]));
    }
  }
  cf_compared_summarize(c);
  return c->n > 0 ? WEIR_OK
                  : weir_fail(WEIR_ERR_CONFIG, "no policy trains on so many ranks: the warnings "
                                               "say why; see scaling.ranks and scaling.policies");
}

/* ---- The command ---- */

static weir_status check(const weir_scaling_cfg *c)
{
  const weir_exchange_desc *policy = NULL;

  for (int64_t i = 0; i < c->policies.count; i++) {
    WEIR_TRY(weir_exchange_find(c->policies.items[i], &policy));
  }
  return WEIR_OK;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
  (void)info;
  (void)kind;
  (void)at;
  return remove(path);
}

/* What is not there, or cannot be removed, is left. */
static void remove_folder(const char *path)
{
  (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Weights and universes are not kept: one that is stopped leaves earlier results as they are. */
static weir_status train_all(study *s)
{
  weir_status status = WEIR_OK;

  remove_folder(s->folder); /* of a killed one */
  WEIR_TRY(weir_dir_create(s->folder));
  WEIR_TRY_GOTO(cf_described_step(s->cfg, s->job->cli->threads, NULL, &s->result.cfg.compute_s),
                done);
  WEIR_TRY_GOTO(cf_experiment_prepare(s->cfg, s->universes), done);
  WEIR_TRY_GOTO(add_rows(s), done);
done:
  remove_folder(s->folder);
  return status;
}

static weir_status finish(study *s)
{
  const weir_cli *const cli = s->job->cli;
  char text[64];

  WEIR_TRY(weir_run_dir_commit(&s->job->dir));
  cf_compared_print(&s->result, stdout);
  WEIR_TRY(cf_compared_write(&s->result, cli->out));
  (void)snprintf(text, sizeof text, "%.6g s", s->result.cfg.compute_s);
  return cf_write_provenance(cli, s->cfg, "step", text);
}

static weir_status perform(weir_job *j)
{
  study s = {.job = j, .cfg = j->cfg, .result = {.cfg = ((cf_cfg *)j->cfg)->scaling}};
  weir_status status = WEIR_OK;

  s.result.target = s.cfg->compare.target;
  WEIR_TRY(check(&s.result.cfg));
  WEIR_TRY(weir_path_join(j->cli->out, "trainings", s.folder, sizeof s.folder));
  WEIR_TRY(weir_path_join(s.folder, "universes", s.universes, sizeof s.universes));
  WEIR_TRY(weir_job_begin(j, "compare", false));
  WEIR_TRY_GOTO(train_all(&s), done);
  WEIR_TRY_GOTO(finish(&s), done);
done:
  weir_free(&s.result.row);
  weir_free(&s.result.point);
  return status;
}

weir_status cf_cmd_compare(const weir_cli *cli)
{
  cf_cfg cfg;

  return weir_job_run(cli, &cf_program, &cfg, perform);
}
