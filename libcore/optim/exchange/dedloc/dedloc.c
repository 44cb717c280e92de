/* dedloc.c - distributed training in open collaborations, Diskin et al., "Distributed deep learning
 * in open collaborations" (NeurIPS 2021, arXiv:2106.10207).
 *
 * Ranks accumulate gradients, each at its own pace, and tell one another how many they have. Once
 * these are as many as the target, all take their mean and update the weights: the batch of an
 * update is the target, however many ranks there are and however fast, and so hyper-parameters stay
 * valid. A rank whose next gradient is expected after that, by the pace of the others, waits for
 * them. A contribution is the gradient of a rank in one step, of its share of the samples; the
 * mean counts each once, whoever has made it. A rank that is silent is left out
 * (exchange_butterfly.h). One that has missed an update takes part in the next ones without
 * gradients until it has the weights and the state of the optimiser of another rank. */
#include "optim/exchange/dedloc/dedloc_priv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "optim/exchange_buffer.h"
#include "optim/exchange_butterfly.h"

static const weir_opt options[] = {
    WEIR_OPT_INT(struct dedloc_opts, target, 0, 0, 1e9, "1",
                 "gradients that make an update, each of one rank in one step; 0: as many as there "
                 "are ranks, which is a batch of train.batch samples"),
    WEIR_OPT_REAL(struct dedloc_opts, timeout, 5, 1e-3, 1e6, "s",
                  "time after which a silent rank is left out of an update; the mean of a share of "
                  "the gradient is waited for twice as long"),
    WEIR_OPT_REAL_LIST(struct dedloc_opts, bandwidth, "", 0, 1e12, "1",
                       "bandwidth of each rank relative to others, by which they share the "
                       "reduction; 0: the rank reduces nothing; empty: all the same"),
    WEIR_OPT_END,
};

typedef struct dedloc {
  exchange_buffer b;
  int64_t target;
  exchange_butterfly *mean;
  dedloc_reports *reports;
  void *sum, *result;           /* [count] gradients that no update has; mean of an update */
  int64_t contributions, first; /* gradients in `sum`; step of the first one */
  int64_t *counts;              /* [ranks] elements that each rank reduces */
  weir_request *rest, *n_rest;  /* sums over all ranks of `sum` and `contributions` */
  weir_request *settles;        /* is done once all ranks settle */
  int64_t all_settle;           /* what it sums up, without meaning */
  int64_t steps, version;       /* version: updates so far, of the rank with most of them */
  double timeout, step_s; /* step_s: of a contribution of this rank, smoothed; 0: none so far */
  double ended, begun;    /* when the last step ended, and the version began */
  bool due, has_state;
  bool valid; /* the state of this rank has all updates before `version` */
  bool doubt; /* since the last settle, an update was not the same on all ranks, perhaps */
  weir_exchange_counts counted;
} dedloc;

static void close_dedloc(void **state)
{
  dedloc *x = *state;

  if (x != NULL) {
    exchange_butterfly_destroy(&x->mean);
    dedloc_reports_destroy(&x->reports);
    weir_request_destroy(&x->rest);
    weir_request_destroy(&x->n_rest);
    weir_request_destroy(&x->settles);
    weir_free(&x->sum);
    weir_free(&x->result);
    weir_free(&x->counts);
    exchange_buffer_close(&x->b);
  }
  weir_free(state);
}

/* How many elements each rank reduces. */
static weir_status choose_shares(dedloc *x, const weir_real_list *bandwidth)
{
  const int ranks = weir_comm_size(x->b.group);
  double *share = NULL, total = 0;
  weir_status status = weir_alloc(ranks, sizeof *share, (void **)&share);

  for (int64_t i = 0; i < bandwidth->count; i++) {
    total += bandwidth->items[i];
  }
  if (status == WEIR_OK) {
    status = weir_alloc(ranks, sizeof *x->counts, (void **)&x->counts);
  }
  if (status == WEIR_OK && (bandwidth->count != ranks || total == 0)) {
    status = weir_fail(WEIR_ERR_CONFIG,
                       "optim.exchange.bandwidth: %" PRId64 " numbers with a sum of %g: list one "
                       "for each of the %d replicas, at least one of them above 0",
                       bandwidth->count, total, ranks);
  }
  if (status == WEIR_OK) {
    (void)dedloc_shares(bandwidth->items, ranks, share);
    dedloc_split(share, ranks, x->b.count, x->counts);
  }
  weir_free(&share);
  return status;
}

static weir_status create_sums(dedloc *x)
{
  weir_comm *const c = x->b.group;

  WEIR_TRY(weir_allreduce_create(c, "last gradient", x->b.sum, x->sum, x->b.count, &x->rest));
  WEIR_TRY(weir_allreduce_create(c, "last contributions",
                                 weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), &x->contributions, 1,
                                 &x->n_rest));
  return weir_allreduce_create(c, "end of steps", weir_reducer_of(WEIR_REDUCE_MAX, WEIR_I64),
                               &x->all_settle, 1, &x->settles);
}

static weir_status open_dedloc(const weir_exchange_args *a, void **state)
{
  const struct dedloc_opts *opts = a->opts;
  dedloc *x = NULL;
  weir_status status = weir_alloc(1, sizeof *x, (void **)&x);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  x->steps = a->step;
  x->has_state = a->n_state > 0;
  x->valid = true;
  x->timeout = opts->timeout;
  x->ended = x->begun = weir_comm_clock(a->comm);
  WEIR_TRY_GOTO(exchange_buffer_open(a, "dedloc", &x->b), failed);
  x->target = opts->target > 0 ? opts->target : weir_comm_size(x->b.group);
  status = exchange_buffer_alloc(&x->b, &x->sum);
  if (status == WEIR_OK) {
    status = exchange_buffer_alloc(&x->b, &x->result);
  }
  if (status == WEIR_OK && opts->bandwidth.count > 0) {
    status = choose_shares(x, &opts->bandwidth);
  }
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  const exchange_butterfly_spec spec = {.comm = x->b.group,
                                        .dtype = x->b.dtype,
                                        .count = x->b.count,
                                        .shares = x->counts,
                                        .timeout_s = opts->timeout};

  WEIR_TRY_GOTO(weir_comm_agree(a->comm, exchange_butterfly_create(&spec, &x->mean)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(
                    a->comm, dedloc_reports_create(x->b.group, a->state, a->n_state, &x->reports)),
                failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_sums(x)), failed);
  *state = x;
  return WEIR_OK;
failed:
  close_dedloc((void **)&x);
  return status;
}

static void forget(dedloc *x)
{
  memset(x->sum, 0, (size_t)x->b.count * x->b.sum->size);
  x->contributions = 0;
}

/* Seconds of a contribution are smoothed as in the published program. */
static void add_gradient(dedloc *x)
{
  const double passed = fmax(weir_comm_clock(x->b.group) - x->ended, 1e-9);

  x->step_s = x->step_s > 0 ? x->step_s + 0.1 * (passed - x->step_s) : passed;
  x->first = x->contributions == 0 ? x->steps : x->first;
  exchange_buffer_add(&x->b, x->sum);
  x->contributions++;
}

/* Takes the state of another rank if it is the one that is needed. */
static weir_status adopt(dedloc *x)
{
  bool adopted = false;

  WEIR_TRY(dedloc_reports_adopt(x->reports, x->version, &adopted));
  x->valid = x->valid || adopted;
  return WEIR_OK;
}

/* Goes on with the newest version. Gradients of a state that lacks an update are dropped. */
static weir_status catch_up(dedloc *x)
{
  WEIR_TRY(dedloc_reports_look(x->reports));
  const int64_t newest = dedloc_reports_newest(x->reports);

  if (newest > x->version) {
    x->version = newest;
    x->begun = weir_comm_clock(x->b.group);
    x->valid = !x->has_state;
    x->doubt = true;
    forget(x);
  }
  if (!x->valid) {
    forget(x);
    WEIR_TRY(adopt(x));
    WEIR_TRY(x->valid ? WEIR_OK : dedloc_reports_ask(x->reports, x->version));
  }
  return WEIR_OK;
}

/* Contributions of all ranks to this version, as far as they have told. */
static int64_t count_all(dedloc *x)
{
  const int ranks = weir_comm_size(x->b.group);
  int64_t n = x->contributions;

  for (int r = 0; r < ranks; r++) {
    n += dedloc_reports_of(x->reports, r, x->version);
    if (dedloc_reports_is_at(x->reports, r, x->version)) {
      exchange_butterfly_expect(x->mean, r);
    }
  }
  return n;
}

/* What of this rank is in the mean is done with; shares without a mean are kept for the next one. A
 * rank that others have left out does not know whether they wait for the share that it reduces: it
 * takes its state from them. */
static void take_result(dedloc *x)
{
  int n = 0;
  const exchange_share *const share = exchange_butterfly_shares(x->mean, &n);
  const int64_t age = x->steps - x->first;
  bool any = false, left_out = false, all = true;

  for (int i = 0; i < n; i++) {
    const exchange_share *s = &share[i];

    if (s->outcome == EXCHANGE_TAKEN) {
      exchange_share_clear(s, x->b.sum->size, x->sum);
    }
    any = any || s->outcome != EXCHANGE_FAILED;
    left_out = left_out || s->outcome == EXCHANGE_LEFT_OUT;
    all = all && s->outcome == EXCHANGE_TAKEN;
  }
  if (x->contributions > 0 && all && age > x->counted.max_age) {
    x->counted.max_age = age;
  }
  x->counted.versions++;
  x->counted.fresh += all && x->contributions > 0;
  x->contributions = 0;
  x->doubt = x->doubt || !all;
  if (left_out && x->has_state) {
    x->valid = false;
    forget(x);
  }
  x->due = any && x->valid;
}

static weir_status update(dedloc *x)
{
  memset(x->result, 0, (size_t)x->b.count * x->b.sum->size);
  WEIR_TRY(
      exchange_butterfly_run(x->mean, x->version, x->sum, (double)x->contributions, x->result));
  WEIR_TRY(x->valid ? WEIR_OK : adopt(x)); /* the state before this update may have come */
  take_result(x);
  /* gradients are summands, of as many ranks, of that of a batch */
  exchange_buffer_multiply(&x->b, x->result, weir_comm_size(x->b.group));
  x->version++;
  x->begun = weir_comm_clock(x->b.group);
  return WEIR_OK;
}

/* *begun: the update has begun on another rank. Meanwhile others may ask for the state. */
static weir_status look(dedloc *x, bool *begun)
{
  int64_t newest = -1;

  WEIR_TRY(dedloc_reports_look(x->reports));
  WEIR_TRY(x->valid ? dedloc_reports_serve(x->reports, x->version) : WEIR_OK);
  WEIR_TRY(exchange_butterfly_look(x->mean, &newest));
  *begun = newest >= x->version;
  return WEIR_OK;
}

/* Whether the update has begun, or all that it needs is there. */
static weir_status is_reached(dedloc *x, bool *reached)
{
  WEIR_TRY(look(x, reached));
  *reached = count_all(x) >= x->target || *reached;
  return WEIR_OK;
}

/* Whether others are expected to reach the target before this rank has another gradient. */
static bool is_close(const dedloc *x)
{
  const double at = weir_comm_clock(x->b.group) + x->step_s;
  int64_t n = x->contributions;

  for (int r = 0; r < weir_comm_size(x->b.group); r++) {
    n += dedloc_reports_expected(x->reports, r, x->version, x->begun, at);
  }
  return n >= x->target;
}

/* Waits where it is close, for as long as two more gradients would take. */
static weir_status await_target(dedloc *x, bool *reached)
{
  const double until = weir_comm_clock(x->b.group) + fmin(2 * x->step_s, x->timeout);

  WEIR_TRY(is_reached(x, reached));
  while (!*reached && is_close(x) && weir_comm_clock(x->b.group) < until) {
    WEIR_TRY(weir_requests_pause(x->b.group, until));
    WEIR_TRY(is_reached(x, reached));
  }
  return WEIR_OK;
}

static weir_status run(void *state)
{
  dedloc *x = state;
  bool reached = false;

  x->steps++;
  x->due = false;
  add_gradient(x);
  WEIR_TRY(catch_up(x));
  WEIR_TRY(dedloc_reports_send(x->reports, x->version, x->valid, x->contributions, x->step_s));
  WEIR_TRY(await_target(x, &reached));
  if (reached) {
    WEIR_TRY(update(x));
  } else {
    memset(x->result, 0, (size_t)x->b.count * x->b.sum->size);
  }
  exchange_buffer_put(&x->b, x->result);
  x->ended = weir_comm_clock(x->b.group);
  return WEIR_OK;
}

static bool due(const void *state)
{
  return ((const dedloc *)state)->due;
}

/* Waits until all ranks settle. Where others make updates meanwhile it reduces its share, and gives
 * what it has; their result is in the state that it takes from them in the end. Who is silent for
 * long is waited for as by any call of all ranks. */
static weir_status await_all(dedloc *x)
{
  double heard = weir_comm_clock(x->b.group);

  x->all_settle = 1;
  WEIR_TRY(weir_request_start(x->settles));
  while (!weir_request_is_done(x->settles)) {
    bool begun = false;

    WEIR_TRY(weir_requests_pause(x->b.group, heard + 2 * x->timeout));
    WEIR_TRY(look(x, &begun));
    if (begun) {
      WEIR_TRY(update(x));
      x->valid = !x->has_state; /* its result is not applied here */
      heard = weir_comm_clock(x->b.group);
    } else if (weir_comm_clock(x->b.group) >= heard + 2 * x->timeout) {
      return weir_request_wait(x->settles);
    }
  }
  return WEIR_OK;
}

/* All have the newest state; that of rank 0 where each has been left out by another one. What no
 * update has had is the gradient of one more, of fewer contributions. Versions go on above those of
 * all updates that were begun, also of those whose result nobody has. */
static weir_status settle(void *state)
{
  dedloc *x = state;
  int64_t last = -1, has = x->valid ? x->version : -1; /* updates in the state of this rank */

  WEIR_TRY(await_all(x));
  WEIR_TRY(exchange_butterfly_drain(x->mean, &last));
  WEIR_TRY(dedloc_reports_settle(x->reports, x->doubt, &has));
  if (!x->valid || has > x->version) {
    forget(x);
  }
  if (has < 0 && weir_comm_rank(x->b.group) == 0) {
    weir_warn("exchange", "dedloc: each replica was left out of an update by another one, as "
                          "after a suspension of all: they go on with the weights of rank 0");
  }
  x->version = has > last + 1 ? has : last + 1;
  x->valid = true;
  x->doubt = false;
  WEIR_TRY(weir_request_run(x->rest));
  WEIR_TRY(weir_request_run(x->n_rest));
  if (x->contributions > 0) {
    exchange_buffer_divide(&x->b, x->sum, (double)x->contributions);
    exchange_buffer_multiply(&x->b, x->sum, weir_comm_size(x->b.group));
  }
  exchange_buffer_put(&x->b, x->sum);
  x->due = x->contributions > 0;
  x->version++; /* reports that are under way are of an earlier one */
  x->ended = x->begun = weir_comm_clock(x->b.group);
  forget(x);
  return WEIR_OK;
}

static void count(const void *state, weir_exchange_counts *counts)
{
  *counts = ((const dedloc *)state)->counted;
}

const weir_exchange_desc weir_exchange_dedloc = {
    .name = "dedloc",
    .cite = "Diskin et al. 2021",
    .help = "mean of as many gradients as make the target batch, of unequal ranks each at its own "
            "pace, without silent ranks",
    .opts = options,
    .opts_size = sizeof(struct dedloc_opts),
    .what = WEIR_EXCHANGE_GRADIENTS,
    .invariant = WEIR_REPLICAS_DIFFER,
    .open = open_dedloc,
    .run = run,
    .due = due,
    .settle = settle,
    .count = count,
    .close = close_dedloc,
};
