/* scaling.c - see weir_scaling.h. */
#include "place/weir_scaling.h"

#include "base/weir_alloc.h"
#include "base/weir_signal.h"
#include "comm/weir_request.h"
#include "place/rank_clock.h"

/* Elements of a simulated buffer: as many as ranks, so that each can have a share of it, and so
 * many that shares of ranks differ by little. */
enum { MIN_ELEMENTS = 1024 };

const weir_opt weir_scaling_opts[] = {
    WEIR_OPT_INT_LIST(weir_scaling_cfg, ranks, "4, 16, 64, 256, 1024", 1, 4096, "ranks",
                      "numbers of ranks that are simulated"),
    WEIR_OPT_STRING_LIST(
        weir_scaling_cfg, policies, "",
        "exchange policies; that of train.optim.exchange has the options it has "
        "there, the others their defaults; empty: all whose messages do not depend "
        "on the gradients"),
    WEIR_OPT_INT(weir_scaling_cfg, steps, 50, 1, 1000000, "steps", "steps of a run"),
    WEIR_OPT_INT(weir_scaling_cfg, runs, 5, 1, 10000, "1",
                 "runs that differ in which ranks are late, for the range of the results"),
    WEIR_OPT_INT(weir_scaling_cfg, bytes, 0, 0, 1e15, "bytes",
                 "size of the gradient or the weights; 0: of the network"),
    WEIR_OPT_REAL(weir_scaling_cfg, compute_s, 0, 0, 1e9, "s",
                  "time that a rank computes in a step without delay; 0: predicted for train.batch "
                  "samples on one rank"),
    WEIR_OPT_TABLE(weir_scaling_cfg, imbalance, weir_imbalance_opts, "ranks that are late"),
    WEIR_OPT_TABLE(weir_scaling_cfg, network, weir_network_opts,
                   "network between the ranks, by the LogGOPS model; measured where the command "
                   "runs on several ranks"),
    WEIR_OPT_END,
};

/* What a rank adds up. */
typedef struct tally {
  double seconds, waited_s, sent, sent_bytes, fresh;
} tally;
enum { TALLY = sizeof(tally) / sizeof(double) };

typedef struct bench {
  const weir_scaling *s;
  bool simulated;
  int64_t count;
  double scale; /* bytes that each byte of the buffer stands for */
  tally *of;    /* [ranks] of a simulation; [1] of this rank */
} bench;

/* A signal ends the sleep. Ranks that are measured wait for one another: the first one that is
 * asked to stop ends all. */
static weir_status compute(const bench *b, weir_comm *c, int64_t step)
{
  const weir_scaling *s = b->s;
  const double seconds =
      s->compute_s + weir_imbalance_delay(&s->imbalance, s->run, s->compute_s, weir_comm_rank(c),
                                          weir_comm_size(c), step);

  WEIR_TRY(place_sleep(c, b->simulated, seconds));
  return b->simulated || !weir_stop_requested()
             ? WEIR_OK
             : weir_comm_abort(c, weir_fail(WEIR_ERR_STOPPED,
                                            "stopped by signal %d during the measurement of %s",
                                            weir_stop_signal(), s->policy->name));
}

static weir_comm_count count_sent(const weir_comm *c)
{
  static const weir_comm_use uses[] = {WEIR_COMM_EXCHANGE, WEIR_COMM_REDUCE, WEIR_COMM_ALLGATHER};
  weir_comm_count sum = {.sent = 0};

  for (int k = 0; k < 3; k++) {
    const weir_comm_count one = weir_comm_counted(c, uses[k]);

    sum.sent += one.sent;
    sum.sent_bytes += one.sent_bytes;
  }
  return sum;
}

static weir_status run_steps(const bench *b, weir_comm *c, weir_exchange *x, tally *t)
{
  WEIR_TRY(weir_comm_barrier(c));
  const weir_comm_count before = count_sent(c);
  const double begin = place_clock(c, b->simulated);

  for (int64_t step = 0; step < b->s->steps; step++) {
    WEIR_TRY(compute(b, c, step));
    const double ready = place_clock(c, b->simulated);

    WEIR_TRY(weir_exchange_run(x));
    t->waited_s += place_clock(c, b->simulated) - ready;
  }
  t->seconds = place_clock(c, b->simulated) - begin;
  const weir_comm_count after = count_sent(c);
  const weir_exchange_counts counts = weir_exchange_count(x);

  t->sent = (double)(after.sent - before.sent);
  t->sent_bytes = (double)(after.sent_bytes - before.sent_bytes) * b->scale;
  t->fresh = counts.versions > 0 ? (double)counts.fresh / (double)counts.versions : 1;
  return WEIR_OK;
}

/* The life of a rank. Gradients of zeros: what is sent does not depend on them
 * (weir_scaling_check). */
static weir_status replicate(weir_comm *c, void *context)
{
  const bench *b = context;
  const weir_grid grid = {.dims = 1, .extent = {weir_comm_size(c)}};
  weir_comm_cfg comm = b->s->comm;
  float *data = NULL;
  weir_exchange x = {.policy = NULL};
  weir_status status = weir_alloc(b->count, sizeof *data, (void **)&data);

  comm.tree_max_bytes = (int64_t)((double)comm.tree_max_bytes / b->scale);
  weir_comm_configure(c, &comm);
  WEIR_TRY_GOTO(weir_comm_agree(c, status), done);
  const weir_exchange_part part = {data, WEIR_F32, b->count, 1};
  const weir_exchange_args args = {
      .opts = b->s->opts, .comm = c, .grid = &grid, .part = &part, .n = 1};

  WEIR_TRY_GOTO(weir_exchange_open(b->s->policy, &args, &x), done);
  WEIR_TRY_GOTO(run_steps(b, c, &x, &b->of[b->simulated ? weir_comm_rank(c) : 0]), done);
  WEIR_TRY_GOTO(weir_exchange_settle(&x), done);
done:
  weir_exchange_close(&x);
  weir_free(&data);
  return status;
}

static void take_means(const weir_scaling *s, const tally *sum, double slowest, int ranks,
                       weir_scaling_result *out)
{
  const double n = (double)s->steps * ranks;

  *out = (weir_scaling_result){.step_s = sum->seconds / n,
                               .slowest_s = slowest / (double)s->steps,
                               .waited_s = sum->waited_s / n,
                               .sent = sum->sent / n,
                               .sent_bytes = sum->sent_bytes / n,
                               .fresh = sum->fresh / ranks};
}

weir_status weir_scaling_check(const weir_exchange_desc *policy)
{
  return policy->scales
             ? WEIR_OK
             : weir_fail(
                   WEIR_ERR_UNSUPPORTED,
                   "exchange policy '%s': its messages depend on the gradients, or are not in "
                   "proportion to them, and ranks that only sleep have none: train with it "
                   "instead, and see the event `exchange`",
                   policy->name);
}

weir_status weir_scaling_simulate(const weir_scaling *s, const weir_network *network, int ranks,
                                  weir_scaling_result *out)
{
  bench b = {.s = s, .simulated = true, .count = ranks > MIN_ELEMENTS ? ranks : MIN_ELEMENTS};
  tally sum = {.seconds = 0};
  double slowest = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_scaling_check(s->policy));
  b.scale = (double)s->bytes / (double)(b.count * (int64_t)sizeof(float));
  WEIR_TRY(weir_alloc(ranks, sizeof *b.of, (void **)&b.of));
  const weir_inproc run = {.ranks = ranks, .network = network, .scale = b.scale};

  WEIR_TRY_GOTO(weir_inproc_run(&run, replicate, &b), done);
  for (int r = 0; r < ranks; r++) {
    sum.seconds += b.of[r].seconds;
    sum.waited_s += b.of[r].waited_s;
    sum.sent += b.of[r].sent;
    sum.sent_bytes += b.of[r].sent_bytes;
    sum.fresh += b.of[r].fresh;
    slowest = b.of[r].seconds > slowest ? b.of[r].seconds : slowest;
  }
  take_means(s, &sum, slowest, ranks, out);
done:
  weir_free(&b.of);
  return status;
}

static weir_status combine(weir_comm *c, weir_reduce_op op, void *data, int64_t count)
{
  weir_request *r = NULL;

  WEIR_TRY(weir_allreduce_create(c, "result", weir_reducer_of(op, WEIR_F64), data, count, &r));
  WEIR_TRY(weir_request_run_once(&r));
  return WEIR_OK;
}

weir_status weir_scaling_measure(const weir_scaling *s, weir_comm *c, weir_scaling_result *out)
{
  tally own = {.seconds = 0};
  bench b = {.s = s, .count = s->bytes / (int64_t)sizeof(float), .scale = 1, .of = &own};

  WEIR_TRY(weir_scaling_check(s->policy));
  WEIR_TRY(replicate(c, &b));
  double slowest = own.seconds;

  WEIR_TRY(combine(c, WEIR_REDUCE_MAX, &slowest, 1));
  WEIR_TRY(combine(c, WEIR_REDUCE_SUM, &own, TALLY));
  take_means(s, &own, slowest, weir_comm_size(c), out);
  return WEIR_OK;
}
