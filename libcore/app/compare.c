/* compare.c - see weir_compare.h. */
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "app/compare_rows.h"
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"

enum { PATH_SIZE = 4096 };

/* The trainings at work. */
typedef struct study {
  const weir_compare_spec *spec;
  weir_compared *result;
} study;

/* A training, and what its rank 0 tells of it. */
typedef struct training {
  const study *s;
  weir_compared_row *row;
  weir_one_of exchange;
  int64_t run;
  char dir[PATH_SIZE];
  weir_comm *comm;           /* of rank 0, while it trains */
  int64_t step, validations; /* step: of the last validation */
  double in_time;            /* fraction of contributions; 1 where the policy counts none */
  int64_t sent_bytes;        /* by all ranks */
  weir_compared_rank *rank;  /* [row->ranks] */
  weir_status kept;          /* of the points */
} training;

/* ---- A rank ---- */

weir_status weir_compare_compute(weir_compare_rank *rank, double seconds)
{
  rank->computed_s += seconds;
  return weir_inproc_sleep(rank->comm, seconds);
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
  const int rank = weir_comm_rank(c);
  weir_compare_rank own = {.comm = c, .exchange = t->exchange, .run = t->run, .dir = t->dir};

  if (rank == 0) {
    t->comm = c;
  }
  WEIR_TRY(t->s->spec->train(&own, t->s->spec->context));
  count_sent(c, &t->sent_bytes);
  t->rank[rank] = (weir_compared_rank){.row = (int)(t->row - t->s->result->row),
                                       .run = (int)t->run,
                                       .rank = rank,
                                       .computed_s = own.computed_s,
                                       .seconds = weir_inproc_clock(c)};
  return WEIR_OK;
}

/* ---- What it tells ---- */

static void keep_point(training *t, int64_t step, double loss)
{
  weir_compared *const c = t->s->result;

  t->kept = weir_reserve(&c->point, &c->point_capacity, c->n_points + 1, sizeof *c->point);
  if (t->kept == WEIR_OK) {
    c->point[c->n_points++] = (weir_compared_point){.row = (int)(t->row - c->row),
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

static weir_status train_once(const study *s, weir_compared_row *row, const weir_one_of *exchange,
                              int64_t run)
{
  const weir_inproc how = {
      .ranks = row->ranks, .network = &s->spec->cfg->network, .fails_together = true};
  training t = {.s = s, .row = row, .exchange = *exchange, .run = run, .in_time = 1};
  const double runs = (double)s->spec->cfg->runs;
  weir_compared *const c = s->result;
  char name[128];

  (void)snprintf(name, sizeof name, "%s-%d-%lld", row->policy->name, row->ranks, (long long)run);
  WEIR_TRY(weir_path_join(s->spec->folder, name, t.dir, sizeof t.dir));
  WEIR_TRY(weir_dir_create(t.dir));
  WEIR_TRY(weir_reserve(&c->rank, &c->rank_capacity, c->n_ranks + row->ranks, sizeof *c->rank));
  t.rank = c->rank + c->n_ranks;
  weir_event("training", WEIR_TEXT("policy", row->policy->name), WEIR_INT("ranks", row->ranks),
             WEIR_INT("run", run));
  weir_events_subscribe(listen, &t);
  const weir_status status = weir_inproc_run(&how, train_on_rank, &t);

  weir_events_subscribe(NULL, NULL);
  WEIR_TRY(status);
  WEIR_TRY(t.kept);
  if (t.validations == 0) {
    return weir_fail(WEIR_ERR_DATA, "there was no validation: there have to be validation samples, "
                                    "and train.validate_every is to be no more than the epochs");
  }
  c->n_ranks += row->ranks;
  row->in_time += t.in_time / runs;
  row->sent_bytes += (double)t.sent_bytes / (double)t.step / row->ranks / runs;
  return WEIR_OK;
}

/* A row, or none where the policy refuses the number of ranks. */
static weir_status add_row(const study *s, const weir_exchange_desc *policy,
                           const weir_one_of *exchange, int ranks)
{
  weir_compared *const c = s->result;
  weir_compared_row *const row = &c->row[c->n];

  *row = (weir_compared_row){.policy = policy, .ranks = ranks};
  for (int64_t run = 0; run < c->runs; run++) {
    const weir_status status = train_once(s, row, exchange, run);

    if (status == WEIR_ERR_CONFIG && run == 0) {
      weir_warn("compare", "%s on %d ranks: %s", policy->name, ranks, weir_last_message());
      weir_clear_failure();
      return WEIR_OK;
    }
    WEIR_TRY(status);
    const weir_compared_point *const last = &c->point[c->n_points - 1];

    weir_info("compare", "%s on %d ranks, run %lld: validation loss %.4g after %.4g s",
              policy->name, ranks, (long long)run, last->loss, last->seconds);
  }
  c->n++;
  return WEIR_OK;
}

/* On all numbers of ranks, with the options that train.optim.exchange has where it is that. */
static weir_status add_policy(const study *s, const weir_exchange_desc *policy)
{
  const weir_one_of *own = s->spec->exchange;
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
  for (int64_t i = 0; i < s->spec->cfg->ranks.count; i++) {
    WEIR_TRY_GOTO(add_row(s, policy, &exchange, (int)s->spec->cfg->ranks.items[i]), done);
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

static weir_status add_rows(const study *s)
{
  weir_compared *const c = s->result;
  int policies = 0;

  while (weir_exchange_table[policies] != NULL) {
    policies++;
  }
  WEIR_TRY(weir_alloc(policies * c->ranks.count, sizeof *c->row, (void **)&c->row));
  for (int k = 0; k < policies; k++) {
    if (is_chosen(&s->spec->cfg->policies, weir_exchange_table[k])) {
      WEIR_TRY(add_policy(s, weir_exchange_table[k]));
    }
  }
  app_compare_summarize(c);
  return c->n > 0 ? WEIR_OK
                  : weir_fail(WEIR_ERR_CONFIG, "no policy trains on so many ranks: the warnings "
                                               "say why; see scaling.ranks and scaling.policies");
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

weir_status weir_compare_check(const weir_scaling_cfg *cfg)
{
  const weir_exchange_desc *policy = NULL;

  for (int64_t i = 0; i < cfg->policies.count; i++) {
    WEIR_TRY(weir_exchange_find(cfg->policies.items[i], &policy));
  }
  return WEIR_OK;
}

weir_status weir_compare_run(const weir_compare_spec *spec, weir_compared *out)
{
  const study s = {.spec = spec, .result = out};
  weir_status status = WEIR_OK;

  *out =
      (weir_compared){.ranks = spec->cfg->ranks, .runs = spec->cfg->runs, .target = spec->target};
  remove_folder(spec->folder); /* of a killed one */
  WEIR_TRY(weir_dir_create(spec->folder));
  if (spec->prepare != NULL) {
    WEIR_TRY_GOTO(spec->prepare(spec->context), done);
  }
  WEIR_TRY_GOTO(add_rows(&s), done);
done:
  remove_folder(spec->folder);
  return status;
}

void weir_compared_fini(weir_compared *c)
{
  weir_free(&c->row);
  weir_free(&c->point);
  weir_free(&c->rank);
}
