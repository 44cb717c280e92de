/* train_busy.c - training steps on two threads against one thread, on an idle machine and next to a
 * process that occupies one processor. Goal in that case: two threads are not slower than one. The
 * processors must be idle otherwise: with other load, rows say something else.
 *
 *   train_busy [RUNS] */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "busy.h"
#include "support/exec/train_nets.h"
#include "exec/weir_plan.h"

enum { RUNS = 31, SIDE = 32 };

typedef struct training {
  train_net net;
  weir_plan *plan;
  weir_tensor x, target;
  int steps; /* of a run */
} training;

static weir_tensor input(const weir_graph *g, const char *name)
{
  weir_tensor t = {0};

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    if (array->kind == WEIR_ARRAY_INPUT && strcmp(array->name, name) == 0) {
      bench_must(weir_tensor_init(&t, WEIR_F32, array->desc.rank, array->desc.shape));
      for (int64_t i = 0; i < weir_tensor_numel(&t); i++) {
        ((float *)t.data)[i] = (float)(2 * weir_random_uniform(5, 0, 0, (uint64_t)i) - 1);
      }
    }
  }
  return t;
}

static void begin(training *t, const char *which, int64_t side, int64_t channels, int threads,
                  int steps)
{
  weir_exec_cfg cfg;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  const weir_plan_opts opts = {.exec = &cfg, .threads = threads};

  bench_must(strcmp(which, "unet") == 0 ? train_unet(&t->net, 1, side, channels)
                                        : train_cosmo(&t->net, 1, side, channels));
  bench_must(weir_plan_create(t->net.g, t->net.store, &opts, &t->plan));
  t->x = input(t->net.g, "x");
  t->target = input(t->net.g, "target");
  t->steps = steps;
}

static void run(void *context)
{
  const training *t = context;
  weir_binding bindings[] = {{"x", (weir_tensor *)&t->x}, {"target", (weir_tensor *)&t->target}};

  for (int i = 0; i < t->steps; i++) {
    bench_must(weir_plan_run(t->plan, bindings, 2));
  }
}

static void end(training *t)
{
  weir_tensor_fini(&t->x);
  weir_tensor_fini(&t->target);
  weir_plan_destroy(&t->plan);
  train_fini(&t->net);
}

static void measure(const char *which, int64_t side, int64_t channels, int steps, int runs)
{
  training t[2];
  double idle[2], busy[2];
  pid_t process;
  char work[96];

  for (int i = 0; i < 2; i++) {
    begin(&t[i], which, side, channels, i + 1, steps);
  }
  busy_median_pair(runs, run, &t[0], run, &t[1], idle);
  busy_start(1, &process);
  busy_median_pair(runs, run, &t[0], run, &t[1], busy);
  busy_stop(1, &process);
  snprintf(work, sizeof work, "%s %lld^3: a step on 2 threads", which, (long long)side);
  bench_row(work, "1 thread", idle[0] / steps, idle[1] / steps, "s", 0, 0);
  snprintf(work, sizeof work, "%s %lld^3: a step on 2 threads beside a busy process", which,
           (long long)side);
  bench_row(work, "1 thread beside it", busy[0] / steps, busy[1] / steps, "s", 0, 1);
  end(&t[0]);
  end(&t[1]);
}

int main(int argc, char **argv)
{
  const int64_t asked = argc > 1 ? strtoll(argv[1], NULL, 10) : RUNS;
  const int runs = asked > 0 && asked <= BUSY_MOST_RUNS ? (int)asked : RUNS;
  cpu_set_t allowed;

  weir_log_set_level(WEIR_LOG_WARN);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) {
    fprintf(stderr, "train_busy: one processor: there are no two threads\n");
    return 77;
  }
  measure("cosmo", SIDE, 16, 4, runs);
  measure("unet", SIDE, 8, 4, runs);
  measure("unet", 8, 8, 100, runs);
  return 0;
}
