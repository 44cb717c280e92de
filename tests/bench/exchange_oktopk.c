/* exchange_oktopk.c - one exchange of a gradient by oktopk, which sends 1 % of its elements, beside
 * the dense sum of allreduce, over links of 1 GB/s. Ranks are threads of this process; 2 have a
 * processor each, more share those. Everything that a policy does between a gradient and an update
 * counts, selection included; times are means over whole periods of thresholds and regions, since
 * some steps take longer than others. Gradients are normal, each element with a scale of its own
 * that is log-normal, as those of layers differ; they change from step to step.
 *
 *   exchange_oktopk [DENSITY]   fraction of the elements, 0.01 */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "comm/weir_inproc.h"
#include "conf/weir_opt.h"
#include "optim/weir_exchange.h"
#include "weir_bench.h"

enum { MOST_RANKS = 4, DRAWN = 4, STEPS = 64, WARM = 64, POLICIES = 2 };

#define LINK 1e9 /* bytes/s */
#define GOAL 1   /* oktopk beats allreduce */

typedef struct bench {
  const char *policy;
  double density;
  int ranks;
  int64_t count;
  double begun[MOST_RANKS], ended[MOST_RANKS];
  double step_s;        /* mean, from the first rank's begin to the last one's end */
  double payload_bytes; /* of rank 0, a step */
} bench;

/* Gradients of this rank, [DRAWN, count]. */
static void draw(const bench *b, int rank, float *drawn)
{
  for (int64_t i = 0; i < b->count; i++) {
    const double scale = exp(1.5 * weir_random_normal(1, 0, 0, (uint64_t)i));

    for (int d = 0; d < DRAWN; d++) {
      drawn[d * b->count + i] =
          (float)(scale * weir_random_normal(2, (uint32_t)rank, (uint32_t)d, (uint64_t)i));
    }
  }
}

/* Exchanges once; rank 0 adds the time of all ranks. */
static weir_status exchange(weir_comm *c, bench *b, weir_exchange *x, bool timed)
{
  const int rank = weir_comm_rank(c);

  WEIR_TRY(weir_comm_barrier(c));
  b->begun[rank] = weir_clock();
  WEIR_TRY(weir_exchange_run(x));
  b->ended[rank] = weir_clock();
  WEIR_TRY(weir_comm_barrier(c));
  if (rank == 0 && timed) {
    double begin = INFINITY, end = 0;

    for (int r = 0; r < b->ranks; r++) {
      begin = fmin(begin, b->begun[r]);
      end = fmax(end, b->ended[r]);
    }
    b->step_s += (end - begin) / STEPS;
  }
  return WEIR_OK;
}

static weir_status steps(weir_comm *c, bench *b, weir_exchange *x, const float *drawn,
                         float *gradient)
{
  weir_exchange_counts before = {0};

  for (int t = 0; t < WARM + STEPS; t++) {
    if (t == WARM) {
      before = weir_exchange_count(x);
    }
    memcpy(gradient, drawn + t % DRAWN * b->count, (size_t)b->count * sizeof *gradient);
    WEIR_TRY(exchange(c, b, x, t >= WARM));
  }
  if (weir_comm_rank(c) == 0) {
    const weir_exchange_counts after = weir_exchange_count(x);

    b->payload_bytes = (double)(after.payload_bytes - before.payload_bytes) / STEPS;
  }
  return WEIR_OK;
}

static weir_status open(weir_comm *c, const bench *b, const weir_grid *grid, float *gradient,
                        weir_exchange *x)
{
  const weir_exchange_part part = {gradient, WEIR_F32, b->count, 1};
  char density[64];
  const char *const sets[] = {density};
  const weir_exchange_desc *policy;
  weir_config *config = NULL;
  void *opts = NULL;
  weir_status status;

  (void)snprintf(density, sizeof density, "density=%g", b->density);
  WEIR_TRY(weir_exchange_find(b->policy, &policy));
  WEIR_TRY_GOTO(weir_alloc(1, policy->opts_size, &opts), done);
  WEIR_TRY_GOTO(weir_config_load(policy->opts, policy->opts_size, NULL, 0, sets,
                                 strcmp(b->policy, "oktopk") == 0 ? 1 : 0, opts, &config),
                done);
  WEIR_TRY_GOTO(
      weir_exchange_open(
          policy,
          &(weir_exchange_args){.opts = opts, .comm = c, .grid = grid, .part = &part, .n = 1}, x),
      done);
done:
  weir_config_destroy(&config);
  weir_free(&opts);
  return status;
}

static weir_status body(weir_comm *c, void *context)
{
  bench *b = context;
  const weir_grid grid = {1, {b->ranks}};
  weir_exchange x = {0};
  float *drawn = NULL, *gradient = NULL;
  weir_status status;

  WEIR_TRY_GOTO(weir_alloc(DRAWN * b->count, sizeof *drawn, (void **)&drawn), done);
  WEIR_TRY_GOTO(weir_alloc(b->count, sizeof *gradient, (void **)&gradient), done);
  draw(b, weir_comm_rank(c), drawn);
  WEIR_TRY_GOTO(open(c, b, &grid, gradient, &x), done);
  WEIR_TRY_GOTO(steps(c, b, &x, drawn, gradient), done);
done:
  weir_exchange_close(&x);
  weir_free(&drawn);
  weir_free(&gradient);
  return status;
}

static void compare(double density, int ranks, int64_t count, double goal)
{
  static const char *const policies[POLICIES] = {"allreduce", "oktopk"};
  const weir_inproc how = {
      .ranks = ranks, .concurrent = true, .fails_together = true, .link_bw = LINK};
  bench b[POLICIES];
  char work[96];

  for (int k = 0; k < POLICIES; k++) {
    b[k] = (bench){.policy = policies[k], .density = density, .ranks = ranks, .count = count};
    bench_must(weir_inproc_run(&how, body, &b[k]));
  }
  (void)snprintf(work, sizeof work,
                 "exchange of %.3g elements on %d ranks over 1 GB/s: oktopk at %g %%",
                 (double)count, ranks, 100 * density);
  bench_row(work, "allreduce", b[0].step_s * 1e3, b[1].step_s * 1e3, "ms", 0, goal);
  fprintf(
      stderr,
      "exchange_oktopk: %g elements, %d ranks: rank 0 sends %.3g MB a step, allreduce %.3g MB\n",
      (double)count, ranks, b[1].payload_bytes / 1e6, b[0].payload_bytes / 1e6);
}

int main(int argc, char **argv)
{
  static const int64_t counts[] = {250000, 1000000, 4000000};
  const double density = argc > 1 ? strtod(argv[1], NULL) : 0.01;

  weir_log_set_level(WEIR_LOG_WARN);
  for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
    compare(density, 2, counts[k], counts[k] >= 1000000 ? GOAL : 0);
  }
  compare(density, MOST_RANKS, counts[1], 0); /* processors are shared */
  return 0;
}
