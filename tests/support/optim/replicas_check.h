/* replicas_check.h - steps of replicas that are ranks on threads, with computations of scripted
 * length and an exchange policy. Numbers are whole, so that sums in any order are exact. Tests
 * only. */
#ifndef WEIR_REPLICAS_CHECK_H
#define WEIR_REPLICAS_CHECK_H
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "comm/weir_inproc.h"
#include "optim/weir_exchange.h"

enum { REPLICAS_MAX = 8, REPLICAS_COUNT = 40, REPLICAS_STEPS = 64 };

/* A run; what ranks report has an element for each, [rank]. */
typedef struct replicas {
  const weir_exchange_desc *policy;
  const void *opts;
  int ranks, steps, count;
  uint64_t seed;
  bool concurrent;
  weir_inproc_script *script;      /* of turns, or NULL */
  int script_step;                 /* in which it begins, once a rank is there */
  const weir_inproc_fault *faults; /* [n_faults] of messages */
  int n_faults;
  int settles_after; /* so many steps, too; 0: in the end alone */
  bool unsettled;    /* ends without settle: some ranks have died */
  /* Seconds that a step of a rank computes. */
  double (*computes_s)(const struct replicas *r, int rank, int step);
  /* Element of the buffer before the exchange of a step; was: after the last one. */
  int64_t (*element)(const struct replicas *r, int rank, int step, int i, int64_t was);
  int64_t before[REPLICAS_MAX][REPLICAS_STEPS + 1][REPLICAS_COUNT];
  int64_t after[REPLICAS_MAX][REPLICAS_STEPS + 1][REPLICAS_COUNT]; /* [steps]: of settle */
  /* What gradients update, by their negative; [steps]: by that of settle. */
  int64_t weights[REPLICAS_MAX][REPLICAS_STEPS + 1][REPLICAS_COUNT];
  double posted_s[REPLICAS_MAX][REPLICAS_STEPS], done_s[REPLICAS_MAX][REPLICAS_STEPS];
  weir_exchange_counts counts[REPLICAS_MAX][REPLICAS_STEPS + 1];
  weir_comm_count sent[REPLICAS_MAX]; /* in the steps */
} replicas;

static inline void replicas_update(replicas *r, int rank, const weir_exchange *x,
                                   const int64_t *gradient, int64_t *weights, int step)
{
  for (int i = 0; i < r->count && weir_exchange_due(x); i++) {
    weights[i] -= gradient[i];
  }
  memcpy(r->weights[rank][step], weights, (size_t)r->count * sizeof *weights);
}

static inline weir_status replicas_step(replicas *r, weir_comm *c, weir_exchange *x,
                                        int64_t *buffer, int64_t *weights, int step)
{
  const int rank = weir_comm_rank(c);

  WEIR_TRY(weir_inproc_sleep(c, r->computes_s(r, rank, step)));
  for (int i = 0; i < r->count; i++) {
    buffer[i] = r->element(r, rank, step, i, buffer[i]);
  }
  memcpy(r->before[rank][step], buffer, (size_t)r->count * sizeof *buffer);
  r->posted_s[rank][step] = weir_inproc_clock(c);
  WEIR_TRY(weir_exchange_run(x));
  r->done_s[rank][step] = weir_inproc_clock(c);
  memcpy(r->after[rank][step], buffer, (size_t)r->count * sizeof *buffer);
  replicas_update(r, rank, x, buffer, weights, step);
  r->counts[rank][step] = weir_exchange_count(x);
  return WEIR_OK;
}

static inline weir_status replicas_body(weir_comm *c, void *context)
{
  replicas *r = context;
  const int rank = weir_comm_rank(c);
  const weir_grid grid = {.dims = 1, .extent = {r->ranks}};
  int64_t buffer[REPLICAS_COUNT], weights[REPLICAS_COUNT] = {0};
  const weir_exchange_part parts[2] = {
      {buffer, WEIR_I64, r->count / 3, 1},
      {buffer + r->count / 3, WEIR_I64, r->count - r->count / 3, 1}};
  const weir_exchange_part state = {weights, WEIR_I64, r->count, 0};
  const weir_exchange_args args = {.opts = r->opts,
                                   .comm = c,
                                   .grid = &grid,
                                   .part = parts,
                                   .n = 2,
                                   .state = &state,
                                   .n_state = 1};
  weir_comm_cfg cfg;
  weir_status status = WEIR_OK;
  weir_exchange x;

  weir_opts_default(weir_comm_opts, sizeof cfg, &cfg);
  cfg.stall = WEIR_STALL_IGNORE; /* seconds are those of the script */
  weir_comm_configure(c, &cfg);
  for (int i = 0; i < r->count; i++) {
    buffer[i] = r->element(r, rank, -1, i, 0);
  }
  WEIR_TRY(weir_exchange_open(r->policy, &args, &x));
  const weir_comm_count before = weir_comm_counted(c, WEIR_COMM_REDUCE);
  for (int step = 0; step < r->steps; step++) {
    if (r->script != NULL && step == r->script_step) {
      r->script->begins = true;
    }
    WEIR_TRY_GOTO(replicas_step(r, c, &x, buffer, weights, step), done);
    if (step + 1 == r->settles_after) {
      WEIR_TRY_GOTO(weir_exchange_settle(&x), done);
      replicas_update(r, rank, &x, buffer, weights, step);
    }
  }
  r->sent[rank] = weir_comm_counted(c, WEIR_COMM_REDUCE);
  r->sent[rank].sent -= before.sent;
  r->sent[rank].sent_bytes -= before.sent_bytes;
  if (r->unsettled) {
    goto done;
  }
  WEIR_TRY_GOTO(weir_exchange_settle(&x), done);
  memcpy(r->after[rank][r->steps], buffer, (size_t)r->count * sizeof *buffer);
  replicas_update(r, rank, &x, buffer, weights, r->steps);
  r->counts[rank][r->steps] = weir_exchange_count(&x);
done:
  weir_exchange_close(&x);
  return status;
}

static inline void replicas_run(replicas *r)
{
  const weir_inproc run = {.ranks = r->ranks,
                           .concurrent = r->concurrent,
                           .seed = r->seed,
                           .faults = r->faults,
                           .n_faults = r->n_faults,
                           .script = r->script};

  assert_true(r->ranks <= REPLICAS_MAX && r->steps <= REPLICAS_STEPS && r->count <= REPLICAS_COUNT);
  assert_ok(weir_inproc_run(&run, replicas_body, r));
}

#endif
