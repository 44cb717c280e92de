/* cmd_scaling.c - predicted time of a training step on many ranks, under every exchange policy; on
 * several ranks, what these need for it. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "comm/weir_request.h"
#include "described.h"
#include "place/measure/weir_network_measure.h"
#include "page/scaling_page.h"
#include "commands.h"

/* The command at work. */
typedef struct study {
  weir_job *job;
  const cf_cfg *cfg;
  weir_comm *comm;
  bool leads; /* writes files and prints */
  weir_int_list ranks;
  int64_t own_ranks;
  cf_scaling result;
} study;

/* ---- What is exchanged, and how long a rank computes ---- */

/* Rank 0 finds it, for all. */
static weir_status share_work(study *s)
{
  weir_scaling_cfg *const c = &s->result.cfg;
  weir_request *r = NULL;
  double work[] = {0, 0};

  weir_status status = WEIR_OK;

  if (s->leads) {
    status = cf_described_step(s->job->cfg, s->job->cli->threads, &c->bytes, &c->compute_s);
  }
  WEIR_TRY(weir_comm_agree(s->comm, status));
  if (s->leads) {
    work[0] = (double)c->bytes;
    work[1] = c->compute_s;
  }
  WEIR_TRY(weir_allreduce_create(s->comm, "work", weir_reducer_of(WEIR_REDUCE_MAX, WEIR_F64), work,
                                 2, &r));
  WEIR_TRY(weir_request_run_once(&r));
  c->bytes = work[0] < 4 ? 4 : (int64_t)work[0] / 4 * 4; /* of numbers in f32 */
  c->compute_s = work[1];
  return WEIR_OK;
}

/* ---- The network ---- */

/* As a configuration that may be given to this command elsewhere. */
static weir_status write_network(const weir_network *n, const char *dir)
{
  char path[CF_PATH];
  weir_writer *w = NULL;

  WEIR_TRY(weir_path_join(dir, "network.yaml", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &w));
  const weir_status status = weir_writer_printf(
      w,
      "# measured between ranks 0 and 1 by cosmoflow scaling\n"
      "scaling:\n  network:\n    latency: %.4g\n    overhead: %.4g\n    gap: %.4g\n"
      "    link_bw: %.4g\n    overhead_per_byte: %.4g\n    eager_max_bytes: %.4g\n"
      "    reduce_bw: %.4g\n",
      n->latency, n->overhead, n->gap, n->link_bw, n->overhead_per_byte, n->eager_max_bytes,
      n->reduce_bw);

  if (status != WEIR_OK) {
    weir_writer_destroy(&w);
    return status;
  }
  return weir_writer_commit(&w);
}

static weir_status find_network(study *s)
{
  cf_scaling *const r = &s->result;

  r->network = r->measured ? "measured" : "given";
  if (r->measured) {
    WEIR_TRY(weir_network_measure(s->comm, &r->cfg.network));
    weir_info("scaling", "measured network: latency %.3g s, %.3g bytes/s", r->cfg.network.latency,
              r->cfg.network.link_bw);
  }
  return WEIR_OK;
}

/* ---- Policies ---- */

/* Before anything is computed. */
static weir_status check(const weir_scaling_cfg *c)
{
  const weir_string_list *const names = &c->policies;

  for (int64_t i = 1; i < c->ranks.count; i++) {
    if (c->ranks.items[i] <= c->ranks.items[i - 1]) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "scaling.ranks: %lld stands after %lld: list them in ascending order",
                       (long long)c->ranks.items[i], (long long)c->ranks.items[i - 1]);
    }
  }
  for (int64_t i = 0; i < names->count; i++) {
    const weir_exchange_desc *policy = NULL;

    WEIR_TRY(weir_exchange_find(names->items[i], &policy));
    WEIR_TRY(weir_scaling_check(policy));
  }
  return WEIR_OK;
}

static bool is_chosen(const weir_string_list *names, const weir_exchange_desc *policy)
{
  for (int64_t i = 0; i < names->count; i++) {
    if (strcmp(names->items[i], policy->name) == 0) {
      return true;
    }
  }
  return names->count == 0 && policy->scales;
}

static weir_scaling steps_of(const study *s, const weir_exchange_desc *policy, int64_t run)
{
  const weir_one_of *own = &s->cfg->train.optim.exchange;
  const weir_scaling_cfg *const c = &s->result.cfg;
  const bool configured = own->name != NULL && strcmp(own->name, policy->name) == 0;

  return (weir_scaling){.policy = policy,
                        .opts = configured ? own->opts : NULL,
                        .bytes = c->bytes,
                        .steps = c->steps,
                        .compute_s = c->compute_s,
                        .imbalance = c->imbalance,
                        .run = run,
                        .comm = s->cfg->comm};
}

static void add_result(const weir_scaling_result *one, int64_t runs, cf_scaling_row *r)
{
  const double n = (double)runs;

  r->lo = fmin(r->lo, one->step_s);
  r->hi = fmax(r->hi, one->step_s);
  r->mean.step_s += one->step_s / n;
  r->mean.slowest_s += one->slowest_s / n;
  r->mean.waited_s += one->waited_s / n;
  r->mean.sent += one->sent / n;
  r->mean.sent_bytes += one->sent_bytes / n;
  r->mean.fresh += one->fresh / n;
}

static weir_status check_stop(const cf_scaling_row *row)
{
  return weir_stop_requested()
             ? weir_fail(WEIR_ERR_STOPPED,
                         "stopped by signal %d at %s on %d ranks; nothing is written",
                         weir_stop_signal(), row->policy->name, row->ranks)
             : WEIR_OK;
}

/* By rank 0. */
static weir_status simulate(const study *s, cf_scaling_row *row)
{
  const weir_scaling_cfg *const c = &s->result.cfg;

  row->lo = INFINITY;
  for (int64_t run = 0; run < c->runs; run++) {
    const weir_scaling steps = steps_of(s, row->policy, run);
    weir_scaling_result one;

    WEIR_TRY(check_stop(row));
    const weir_status status = weir_scaling_simulate(&steps, &c->network, row->ranks, &one);

    WEIR_TRY(status == WEIR_ERR_STOPPED ? check_stop(row) : status);
    add_result(&one, c->runs, row);
  }
  return WEIR_OK;
}

/* By all ranks, after the prediction. */
static weir_status measure(const study *s, cf_scaling_row *row)
{
  const int64_t runs = s->result.cfg.runs;
  double sum = 0;

  for (int64_t run = 0; run < runs && s->result.measured; run++) {
    const weir_scaling steps = steps_of(s, row->policy, run);
    weir_scaling_result one;

    WEIR_TRY(weir_scaling_measure(&steps, s->comm, &one));
    sum += one.step_s;
  }
  row->measured = s->result.measured ? sum / (double)runs : (double)NAN;
  return WEIR_OK;
}

static void tell(const cf_scaling_row *r)
{
  weir_event("scaling", WEIR_TEXT("policy", r->policy->name), WEIR_INT("ranks", r->ranks),
             WEIR_REAL("step_s", r->mean.step_s), WEIR_REAL("lo_s", r->lo),
             WEIR_REAL("hi_s", r->hi), WEIR_REAL("slowest_s", r->mean.slowest_s),
             WEIR_REAL("waited_s", r->mean.waited_s), WEIR_REAL("sent_bytes", r->mean.sent_bytes),
             WEIR_REAL("fresh", r->mean.fresh), WEIR_REAL("measured_s", r->measured));
  weir_info("scaling", "%s on %d ranks: %.4g s a step", r->policy->name, r->ranks, r->mean.step_s);
}

/* A row, or none where the policy refuses the number of ranks. */
static weir_status add_row(study *s, const weir_exchange_desc *policy, int ranks)
{
  cf_scaling_row *const row = &s->result.row[s->result.n];

  *row = (cf_scaling_row){.policy = policy, .ranks = ranks, .speedup = (double)NAN};
  const weir_status status = s->leads ? simulate(s, row) : check_stop(row);
  const weir_status all = weir_comm_agree(s->comm, status);

  if (all == WEIR_ERR_CONFIG) {
    weir_warn("scaling", "%s on %d ranks: %s", policy->name, ranks, weir_last_message());
    weir_clear_failure();
    return WEIR_OK;
  }
  WEIR_TRY(all);
  WEIR_TRY(measure(s, row));
  s->result.n++;
  if (s->leads) {
    tell(row);
  }
  return WEIR_OK;
}

static void compare(cf_scaling *s)
{
  for (int i = 0; i < s->n; i++) {
    for (int k = 0; k < s->n; k++) {
      if (strcmp(s->row[k].policy->name, "allreduce") == 0 && s->row[k].ranks == s->row[i].ranks) {
        s->row[i].speedup = s->row[k].mean.step_s / s->row[i].mean.step_s;
      }
    }
  }
}

static weir_status add_rows(study *s)
{
  const weir_string_list *names = &s->result.cfg.policies;
  int policies = 0;

  while (weir_exchange_table[policies] != NULL) {
    policies++;
  }
  WEIR_TRY(weir_comm_agree(s->comm, weir_alloc(policies * s->ranks.count, sizeof *s->result.row,
                                               (void **)&s->result.row)));
  for (int k = 0; k < policies; k++) {
    const weir_exchange_desc *policy = weir_exchange_table[k];

    for (int64_t i = 0; i < s->ranks.count && is_chosen(names, policy); i++) {
      WEIR_TRY(add_row(s, policy, (int)s->ranks.items[i]));
    }
  }
  compare(&s->result);
  return WEIR_OK;
}

/* ---- The command ---- */

/* All that the command writes: one that is stopped leaves earlier results as they are. */
static weir_status finish(study *s)
{
  char text[64];

  if (!s->leads) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_run_dir_commit(&s->job->dir));
  WEIR_TRY(s->result.measured ? write_network(&s->result.cfg.network, s->job->cli->out) : WEIR_OK);
  cf_scaling_print(&s->result, stdout);
  WEIR_TRY(cf_scaling_write(&s->result, s->job->cli->out));
  (void)snprintf(text, sizeof text, "%lld bytes, %.6g s", (long long)s->result.cfg.bytes,
                 s->result.cfg.compute_s);
  return cf_write_provenance(s->job, false, "step", text);
}

static weir_status perform(weir_job *j)
{
  study s = {
      .job = j, .cfg = j->cfg, .comm = j->comm, .result = {.cfg = ((cf_cfg *)j->cfg)->scaling}};
  weir_status status = WEIR_OK;

  WEIR_TRY(check(&s.result.cfg));
  weir_comm_configure(s.comm, &s.cfg->comm);
  s.leads = weir_comm_rank(s.comm) == 0;
  s.own_ranks = weir_comm_size(s.comm);
  s.result.measured = s.own_ranks > 1;
  s.ranks = s.result.measured ? (weir_int_list){&s.own_ranks, 1} : s.result.cfg.ranks;
  WEIR_TRY_GOTO(weir_comm_agree(s.comm, s.leads ? weir_job_begin(j, "scaling", false) : WEIR_OK),
                done);
  WEIR_TRY_GOTO(share_work(&s), done);
  WEIR_TRY_GOTO(find_network(&s), done);
  WEIR_TRY_GOTO(add_rows(&s), done);
  WEIR_TRY_GOTO(weir_comm_agree(s.comm, finish(&s)), done);
done:
  weir_free(&s.result.row);
  return status;
}

weir_status cf_cmd_scaling(const weir_cli *cli)
{
  return weir_job_run_on_ranks(cli, &cf_program, perform);
}
