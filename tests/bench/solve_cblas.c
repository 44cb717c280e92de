/* solve_cblas.c - stacks of small complex systems as a plan solves them, with partial pivoting:
 * their flops in a second against those of a large zgemm of OpenBLAS on the same threads, and
 * against the same plan by LAPACKE's zgesv. */
#include <cblas.h>
#include <stdio.h>
#include <time.h>

#include "base/weir_log.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "exec/weir_plan.h"
#include "ops/inverse/weir_inverse.h"
#include "ops/solve/weir_solve.h"
#include "weir_bench.h"

/* `stack` systems of n rows and k right sides; inverses where k is 0. */
typedef struct systems {
  int64_t n, k, stack;
  int threads;
  weir_tensor a, b, x;
  weir_plan *plan;
} systems;

/* C = A B of large matrices. */
typedef struct product {
  int64_t n;
  int threads;
  weir_tensor a, b, c;
} product;

static void multiply(void *context)
{
  const product *p = context;
  const weir_c128 one = {1, 0}, none = {0, 0};
  const int n = (int)p->n;

  openblas_set_num_threads(p->threads);
  cblas_zgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, &one, p->a.data, n, p->b.data, n,
              &none, p->c.data, n);
  openblas_set_num_threads(1); /* pieces of a plan are on one thread each */
}

static void run(void *context)
{
  systems *s = context;
  const weir_binding inverse[] = {{"a", &s->a}, {"x", &s->x}};
  const weir_binding solve[] = {{"a", &s->a}, {"b", &s->b}, {"x", &s->x}};

  bench_must(weir_plan_run(s->plan, s->k > 0 ? solve : inverse, s->k > 0 ? 3 : 2));
}

static void make(weir_tensor *t, int rank, const int64_t *shape, uint32_t purpose)
{
  bench_must(weir_tensor_init(t, WEIR_C128, rank, shape));
  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    ((weir_c128 *)t->data)[i] = (weir_c128){weir_random_uniform(1, purpose, 0, (uint64_t)i) - 0.5,
                                            weir_random_uniform(1, purpose, 1, (uint64_t)i) - 0.5};
  }
}

static systems systems_of(int64_t n, int64_t k, int64_t stack, int threads, const char *kernel)
{
  systems s = {.n = n, .k = k, .stack = stack, .threads = threads};
  const int64_t columns = k > 0 ? k : n;
  const weir_array_desc a = {.dtype = WEIR_C128, .rank = 3, .shape = {stack, n, n}};
  const weir_array_desc b = {.dtype = WEIR_C128, .rank = 3, .shape = {stack, n, columns}};
  weir_exec_cfg cfg;
  weir_graph *g = NULL;

  make(&s.a, 3, a.shape, 1);
  make(&s.b, 3, b.shape, 2);
  make(&s.x, 3, b.shape, 3);
  bench_must(weir_graph_create(&g));
  const weir_value in = weir_input(g, "a", &a);

  weir_output(g, "x",
              k > 0 ? weir_solve(g, in, weir_input(g, "b", &b), NULL) : weir_inverse(g, in));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.kernel = kernel;
  bench_must(
      weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = threads}, &s.plan));
  weir_graph_destroy(&g);
  return s;
}

static void end(systems *s)
{
  weir_plan_destroy(&s->plan);
  weir_tensor_fini(&s->a);
  weir_tensor_fini(&s->b);
  weir_tensor_fini(&s->x);
}

/* Of elimination and of both substitutions; of inverses 2 n^3 complex flops. */
static double gigaflops(const systems *s)
{
  const double n = (double)s->n, k = (double)s->k;

  return 4e-9 * (double)s->stack * n * n * (s->k > 0 ? 2. / 3 * n + 2 * k : 2 * n);
}

/* The library's threads look for work for a while after a product, and would hold up those of a
 * plan: each side has its rounds alone. */
static double best(int runs, void (*body)(void *), void *context)
{
  const struct timespec rest = {.tv_nsec = 50000000};

  (void)nanosleep(&rest, NULL);
  return bench_best(runs, body, context);
}

static void compare(product *large, int64_t n, int64_t k, int64_t stack, double goal)
{
  enum { ROUNDS = 3, RUNS = 12 };
  systems own = systems_of(n, k, stack, large->threads, "auto");
  systems reference =
      systems_of(n, k, stack, large->threads, k > 0 ? "solve.lapacke" : "inverse.lapacke");
  double seconds[] = {INFINITY, INFINITY, INFINITY};
  char work[96], sides[48], version[32];

  for (int round = 0; round < ROUNDS; round++) {
    seconds[0] = fmin(seconds[0], best(RUNS, multiply, large));
    seconds[1] = fmin(seconds[1], best(RUNS, run, &own));
    seconds[2] = fmin(seconds[2], best(RUNS, run, &reference));
  }
  const double rate = 8e-9 * (double)(large->n * large->n * large->n) / seconds[0];

  (void)snprintf(sides, sizeof sides, k > 0 ? "by %lld" : "inverted", (long long)k);
  (void)snprintf(work, sizeof work, "solve c128 %lld of %lld^2 %s on %d thread%s", (long long)stack,
                 (long long)n, sides, large->threads, large->threads > 1 ? "s" : "");
  bench_word(openblas_get_config(), 1, version);
  bench_row_of(work, "zgemm of OpenBLAS at 256^2", version, rate, gigaflops(&own) / seconds[1],
               "Gflop/s", 1, goal);
  bench_row_of(work, k > 0 ? "zgesv of LAPACKE" : "zgetri of LAPACKE", version,
               gigaflops(&own) / seconds[2], gigaflops(&own) / seconds[1], "Gflop/s", 1, 1);
  end(&own);
  end(&reference);
}

int main(void)
{
  const int all = weir_threads_get();
  const int64_t shape[] = {256, 256};

  weir_log_set_level(WEIR_LOG_WARN);
  for (int threads = 1; threads <= all; threads += all > 1 ? all - 1 : 1) {
    product large = {.n = shape[0], .threads = threads};

    make(&large.a, 2, shape, 4);
    make(&large.b, 2, shape, 5);
    make(&large.c, 2, shape, 6);
    compare(&large, 32, 1, 500, 0.25);
    compare(&large, 32, 32, 300, 0.25);
    compare(&large, 12, 1, 3000, 0);
    compare(&large, 100, 100, 20, 0.25);
    compare(&large, 32, 0, 300, 0.25);
    weir_tensor_fini(&large.a);
    weir_tensor_fini(&large.b);
    weir_tensor_fini(&large.c);
  }
  return 0;
}
