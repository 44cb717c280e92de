/* contract_cblas.c - products of complex matrices as a plan makes them, against zgemm of the same
 * library on the same threads, NumPy and PyTorch; with a conjugate, and in stacks of small
 * matrices. */
#include <cblas.h>
#include <stdio.h>
#include <time.h>

#include "base/weir_log.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "exec/weir_plan.h"
#include "ops/contract/weir_contract.h"
#include "reference.h"
#include "weir_bench.h"

/* C = A B, or A conj(B), for `stack` matrices of n x n. */
typedef struct product {
  int64_t n, stack;
  bool conj;
  int threads;
  weir_tensor a, b, c;
  weir_plan *plan;
} product;

/* As BLAS users have it: conj(B) by the extension that OpenBLAS has for it. */
static void multiply(void *context)
{
  const product *p = context;
  const weir_c128 one = {1, 0}, none = {0, 0};
  const int n = (int)p->n;

  openblas_set_num_threads(p->threads);
  for (int64_t i = 0; i < p->stack; i++) {
    const int64_t from = i * p->n * p->n;

    cblas_zgemm(CblasRowMajor, CblasNoTrans, p->conj ? CblasConjNoTrans : CblasNoTrans, n, n, n,
                &one, (weir_c128 *)p->a.data + from, n, (weir_c128 *)p->b.data + from, n, &none,
                (weir_c128 *)p->c.data + from, n);
  }
  openblas_set_num_threads(1); /* pieces of a plan are on one thread each */
}

static void run(void *context)
{
  product *p = context;

  bench_must(weir_plan_run(p->plan, (weir_binding[]){{"a", &p->a}, {"b", &p->b}, {"c", &p->c}}, 3));
}

static void fill(weir_tensor *t, uint32_t purpose)
{
  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    ((weir_c128 *)t->data)[i] = (weir_c128){weir_random_uniform(1, purpose, 0, (uint64_t)i) - 0.5,
                                            weir_random_uniform(1, purpose, 1, (uint64_t)i) - 0.5};
  }
}

static void make(product *p)
{
  const int64_t shape[] = {p->stack, p->n, p->n};
  const weir_array_desc d = {.dtype = WEIR_C128, .rank = 3, .shape = {shape[0], p->n, p->n}};
  weir_contract_spec s = {.labels = "bik,bkj->bij", .conjugate = p->conj ? 2 : 0};
  weir_graph *g = NULL;

  bench_must(weir_tensor_init(&p->a, WEIR_C128, 3, shape));
  bench_must(weir_tensor_init(&p->b, WEIR_C128, 3, shape));
  bench_must(weir_tensor_init(&p->c, WEIR_C128, 3, shape));
  fill(&p->a, 1);
  fill(&p->b, 2);
  bench_must(weir_graph_create(&g));
  const weir_value in[] = {weir_input(g, "a", &d), weir_input(g, "b", &d)};

  weir_output(g, "c", weir_contract_n(g, &s, in, 2));
  bench_must(weir_plan_create(g, NULL, &(weir_plan_opts){.threads = p->threads}, &p->plan));
  weir_graph_destroy(&g);
}

static product product_of(int64_t n, int64_t stack, bool conj, int threads)
{
  product p = {.n = n, .stack = stack, .conj = conj, .threads = threads};

  make(&p);
  return p;
}

static void end(product *p)
{
  weir_plan_destroy(&p->plan);
  weir_tensor_fini(&p->a);
  weir_tensor_fini(&p->b);
  weir_tensor_fini(&p->c);
}

static double gigaflops(const product *p)
{
  return 8e-9 * (double)p->n * (double)p->n * (double)p->n * (double)p->stack;
}

/* The library's threads look for work for a while after a product, and would hold up those of a
 * plan: each side has its rounds alone. */
static void best_apart(int runs, product *reference, product *own, double seconds[2])
{
  enum { ROUNDS = 3 };
  const struct timespec rest = {.tv_nsec = 100000000};

  seconds[0] = seconds[1] = INFINITY;
  for (int round = 0; round < ROUNDS; round++) {
    seconds[0] = fmin(seconds[0], bench_best(runs, multiply, reference));
    (void)nanosleep(&rest, NULL);
    seconds[1] = fmin(seconds[1], bench_best(runs, run, own));
  }
}

static void name_work(const product *p, char work[96])
{
  (void)snprintf(work, 96, "contract c128 %lld of %lld^2%s on %d thread%s", (long long)p->stack,
                 (long long)p->n, p->conj ? " by a conjugate" : "", p->threads,
                 p->threads > 1 ? "s" : "");
}

/* `reference` by the library, `own` by its plan. */
static void compare(product *reference, const char *name, product *own, double goal)
{
  const int runs = gigaflops(own) > 1 ? 9 : 40;
  double seconds[2];
  char work[96], version[32];

  if (own->threads > 1) {
    best_apart(runs, reference, own, seconds);
  } else {
    bench_best_pair(runs, multiply, reference, run, own, seconds);
  }
  name_work(own, work);
  bench_word(openblas_get_config(), 1, version);
  bench_row_of(work, name, version, gigaflops(reference) / seconds[0], gigaflops(own) / seconds[1],
               "Gflop/s", 1, goal);
}

/* `function` of contract_cblas.py on the same matrices: small ones often enough that the threads of
 * both are awake. */
static void compare_python(product *p, const char *name, const char *function)
{
  const int runs = gigaflops(p) > 1 ? 9 : 400;
  const int64_t count = 2 * weir_tensor_numel(&p->c);
  const reference_input in[] = {{"a", "f8", p->a.data, count}, {"b", "f8", p->b.data, count}};
  char arguments[32], work[96];
  float *own = malloc((size_t)count * sizeof *own);

  if (own == NULL) {
    exit(5);
  }
  (void)snprintf(arguments, sizeof arguments, "n=%lld", (long long)p->n);
  name_work(p, work);
  reference_result r =
      reference_run("contract_cblas.py", function, arguments, runs, p->threads, in, 2);
  const double seconds = bench_best(runs, run, p);

  for (int64_t i = 0; i < count; i++) {
    own[i] = (float)((const double *)p->c.data)[i];
  }
  reference_same_f32(work, &r, 0, own, count, 1e-6);
  bench_row_of(work, name, r.version, gigaflops(p) / r.seconds, gigaflops(p) / seconds, "Gflop/s",
               1, 0.9);
  reference_free(&r);
  free(own);
}

static void compare_same(int64_t n, int64_t stack, bool conj, int threads)
{
  product p = product_of(n, stack, conj, threads);

  compare(&p, "zgemm of OpenBLAS", &p, 0.9);
  if (!conj && reference_ready("numpy")) {
    compare_python(&p, "NumPy", "numpy_product");
  }
  if (!conj && reference_ready("torch")) {
    compare_python(&p, "PyTorch", "torch_product");
  }
  end(&p);
}

/* Many small products against the rate of a large one. */
static void compare_small(int threads)
{
  product small = product_of(32, 1000, false, threads), large = product_of(256, 1, false, threads);

  compare(&large, "zgemm of OpenBLAS at 256^2", &small, 0.4);
  end(&small);
  end(&large);
}

int main(void)
{
  const int all = weir_threads_get();

  weir_log_set_level(WEIR_LOG_WARN);
  for (int threads = 1; threads <= all; threads += all > 1 ? all - 1 : 1) {
    compare_same(128, 1, false, threads);
    compare_same(128, 1, true, threads);
    compare_same(512, 1, false, threads);
    compare_same(1024, 1, false, threads);
    compare_same(128, 16, false, threads);
    compare_small(threads);
  }
  return 0;
}
