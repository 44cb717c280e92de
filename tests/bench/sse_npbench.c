/* sse_npbench.c - the kernel scattering_self_energies of npbench as one node of a graph, and what
 * the passes make of it, against NumPy: its loop as npbench describes it, and large products of
 * matrices; and against DaCe where it is installed.
 *
 * Every size is checked first: the sum of Sigma against the published one, each element against the
 * loop. With the argument `recipe` the program prints what every step changes: seconds, flops,
 * bytes predicted and counted, and memory. */
#include <string.h>

#include "base/weir_log.h"
#include "exec/weir_plan.h"
#include "model/scattering/papers/recipe.h"
#include "support/pass/self_energy_node.h"
#include "reference.h"
#include "weir_bench.h"

enum { LOOP_RUNS = 2, PEER_RUNS = 20 };

/* Outputs of the reference. */
enum { PEER_SIGMA, PEER_DH, PEER_G, PEER_D, PEER_NEIGHBOURS };

typedef struct size {
  const char *name;
  int64_t nk, ne, nq, nw, nd, na, nb, no;
  double re, im; /* sum of Sigma with numpy's default_rng(42), 0: not known */
} size;

static const size sizes[] = {
    {"S", 2, 4, 2, 2, 2, 6, 2, 3, -27075.867987890, -1302.583405794},
    {"M", 3, 5, 3, 2, 2, 10, 3, 4, -621305.398516823, -13568.102030263},
    {"L", 3, 10, 3, 3, 3, 12, 4, 4, -6678723.752816340, 47512.863749732},
    {"paper", 4, 10, 4, 3, 3, 20, 4, 4, -19634927.573901661, 388143.238383345},
};

/* Orbitals of a transport calculation; no sum is published. */
static const size orbitals[] = {
    {"10 orbitals", 2, 32, 2, 8, 3, 4, 4, 10, 0, 0},
    {"12 orbitals", 2, 32, 2, 8, 3, 4, 4, 12, 0, 0},
    {"24 orbitals", 2, 32, 2, 8, 3, 4, 4, 24, 0, 0},
};
/* More frequencies, of which each element of G serves as many sums: all atoms at once, or one pair,
 * whose arrays stay in cache. */
static const size frequencies[] = {
    {"10 orbitals 24 frequencies", 2, 64, 2, 24, 3, 4, 4, 10, 0, 0},
    {"one pair 10 orbitals 70 frequencies", 2, 256, 2, 70, 3, 1, 1, 10, 0, 0},
    {"one pair 12 orbitals 70 frequencies", 2, 256, 2, 70, 3, 1, 1, 12, 0, 0},
};
/* From so many orbitals on the goal is a share of the rate of zgemm. */
enum { LARGE = 24, ZGEMM = 256 };

/* A plan of the program's recipe, with the runs that are timed. */
typedef struct step {
  const char *name;
  qt_recipe_stage stage;
  int runs;
  self_energy_order order;
} step;

enum { STEPS = QT_RECIPE_STAGES, PRODUCTS = QT_RECIPE_STAGE_FUSED };
enum { RESTRUCTURED = QT_RECIPE_STAGE_REORDERED };

static step step_of(int stage)
{
  const int slow = 3, fast = 20;

  return (step){.name = qt_recipe_plans[stage].name,
                .stage = (qt_recipe_stage)stage,
                .runs = stage == QT_RECIPE_STAGE_WRITTEN   ? 1
                        : stage < QT_RECIPE_STAGE_WINDOWED ? slow
                                                           : fast,
                .order = SELF_ENERGY_PRODUCTS};
}

static step convolution(void)
{
  step s = step_of(PRODUCTS);

  s.name = "convolution form";
  s.order = SELF_ENERGY_CONVOLUTION;
  return s;
}

typedef struct problem {
  const size *of;
  weir_tensor dh, g, d, sigma;
  weir_plan *plan;
} problem;

static void run(void *context)
{
  problem *p = context;

  bench_must(weir_plan_run(
      p->plan, (weir_binding[]){{"dH", &p->dh}, {"G", &p->g}, {"D", &p->d}, {"Sigma", &p->sigma}},
      4));
}

static void plan_make(problem *p, const step *s, bool explain, const reference_result *reference)
{
  const size *z = p->of;
  const int64_t extent[SELF_ENERGY_DIMS] = {z->nk, z->ne, z->na, z->no, z->no, z->nq,
                                            z->nw, z->nb, z->nd, z->nd, z->no, z->no};
  const weir_tensor t =
      weir_tensor_wrap(reference->data[PEER_NEIGHBOURS], WEIR_I32, 2, (int64_t[]){z->na, z->nb});
  weir_exec_cfg cfg;
  weir_graph *g;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  qt_recipe_configure(&qt_recipe_plans[s->stage], &cfg);
  cfg.explain = explain;
  bench_must(weir_graph_create(&g));
  (void)self_energy_add(g, extent, s->order, weir_constant(g, &t), "Sigma");
  bench_must(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &p->plan));
  weir_graph_destroy(&g);
}

/* The arrays of the reference; Sigma of the program is its own. */
static problem problem_of(const size *z, reference_result *reference)
{
  problem p = {.of = z};

  p.dh = weir_tensor_wrap(reference->data[PEER_DH], WEIR_C128, 5,
                          (int64_t[]){z->na, z->nb, z->nd, z->no, z->no});
  p.g = weir_tensor_wrap(reference->data[PEER_G], WEIR_C128, 5,
                         (int64_t[]){z->nk, z->ne, z->na, z->no, z->no});
  p.d = weir_tensor_wrap(reference->data[PEER_D], WEIR_C128, 6,
                         (int64_t[]){z->nq, z->nw, z->na, z->nb, z->nd, z->nd});
  bench_must(weir_tensor_init(&p.sigma, WEIR_C128, 5, p.g.shape));
  return p;
}

/* Ends the program unless Sigma is the reference's, and its sum the published one. */
static void must_agree(const problem *p, const step *s, const reference_result *reference)
{
  const int64_t n = weir_tensor_numel(&p->sigma);
  const weir_c128 *own = p->sigma.data;
  double re = 0, im = 0, worst = 0, most = 0;

  for (int64_t i = 0; i < n; i++) {
    const weir_c128 x = ((const weir_c128 *)reference->data[PEER_SIGMA])[i];

    re += own[i].re;
    im += own[i].im;
    worst = fmax(worst, hypot(own[i].re - x.re, own[i].im - x.im));
    most = fmax(most, hypot(x.re, x.im));
  }
  const double whole = hypot(p->of->re, p->of->im);
  const double off = whole > 0 ? hypot(re - p->of->re, im - p->of->im) / whole : 0;

  if (!(off <= 1e-12 && worst <= 1e-12 * most)) {
    fprintf(stderr,
            "sse_npbench: size %s, %s: sum %.12g %+.12g i, %.3g off; worst element %.3g of %.3g\n",
            p->of->name, s->name, re, im, off, worst, most);
    exit(6);
  }
}

static reference_result reference_of(const size *z, const char *script, const char *function,
                                     int runs)
{
  char arguments[160];

  (void)snprintf(arguments, sizeof arguments,
                 "nk=%lld ne=%lld nq=%lld nw=%lld nd=%lld na=%lld nb=%lld no=%lld",
                 (long long)z->nk, (long long)z->ne, (long long)z->nq, (long long)z->nw,
                 (long long)z->nd, (long long)z->na, (long long)z->nb, (long long)z->no);
  return reference_run(script, function, arguments, runs, 1, NULL, 0);
}

static reference_result numpy(const size *z, const char *function, int runs)
{
  return reference_of(z, "sse_npbench.py", function, runs);
}

static double seconds_of(problem *p, const step *s, const reference_result *reference)
{
  plan_make(p, s, false, reference);
  memset(p->sigma.data, 0, (size_t)weir_tensor_numel(&p->sigma) * sizeof(weir_c128));
  const double seconds = bench_best(s->runs, run, p);

  must_agree(p, s, reference);
  weir_plan_destroy(&p->plan);
  return seconds;
}

/* What a plan's reports say of a run, of all groups. */
typedef struct account {
  double flops, predicted, counted, arena;
} account;

static account account_of(problem *p, const step *s, const reference_result *reference)
{
  account sum = {.flops = 0};

  plan_make(p, s, true, reference);
  run(p);
  for (int32_t k = 0; k < weir_plan_groups(p->plan); k++) {
    const weir_group_report r = weir_plan_group(p->plan, k);

    sum.flops += r.flops;
    sum.predicted += r.bytes;
    sum.counted += r.counted_bytes;
  }
  sum.arena = (double)weir_plan_arena_bytes(p->plan);
  weir_plan_destroy(&p->plan);
  return sum;
}

static void print_step(problem *p, const step *s, const reference_result *reference)
{
  const double seconds = seconds_of(p, s, reference);
  const account sum = account_of(p, s, reference);

  printf("%-26s %10.3f ms %10.2f Mflop %8.2f Gflop/s %10.3f MB predicted %10.3f MB counted "
         "%8.3f MB arena\n",
         s->name, seconds * 1e3, sum.flops * 1e-6, sum.flops / seconds * 1e-9, sum.predicted * 1e-6,
         sum.counted * 1e-6, sum.arena * 1e-6);
}

static void print_recipe(const size *z)
{
  reference_result reference = numpy(z, "loop", 1);
  problem p = problem_of(z, &reference);

  for (int k = 0; k < STEPS; k++) {
    const step s = step_of(k);

    print_step(&p, &s, &reference);
  }
  weir_tensor_fini(&p.sigma);
  reference_free(&reference);
}

/* All steps agree with the loop at a size. */
static void check(const size *z)
{
  reference_result reference = numpy(z, "loop", 1);
  problem p = problem_of(z, &reference);

  for (int k = 0; k < STEPS; k++) {
    const step s = step_of(k);

    plan_make(&p, &s, false, &reference);
    run(&p);
    must_agree(&p, &s, &reference);
    weir_plan_destroy(&p.plan);
  }
  weir_tensor_fini(&p.sigma);
  reference_free(&reference);
}

/* The rate of a self-energy in flops a second, against that of NumPy's product of two complex
 * matrices. */
static void against_zgemm(const char *work, double rate)
{
  char arguments[32];

  (void)snprintf(arguments, sizeof arguments, "n=%d", ZGEMM);
  reference_result r = reference_run("sse_npbench.py", "product", arguments, PEER_RUNS, 1, NULL, 0);
  const double theirs = 8.0 * ZGEMM * ZGEMM * ZGEMM / r.seconds;

  bench_row_of(work, "NumPy's zgemm of 256", r.version, theirs * 1e-9, rate * 1e-9, "Gflop/s", 1,
               0.6);
  reference_free(&r);
}

/* The convolution form against the products as written. */
static void compare_forms(const size *z)
{
  reference_result large = numpy(z, "restructured", 1);
  problem p = problem_of(z, &large);
  const step products = step_of(PRODUCTS), convolved = convolution();
  const double product = seconds_of(&p, &products, &large);
  const double seconds = seconds_of(&p, &convolved, &large);
  char work[64];

  (void)snprintf(work, sizeof work, "self-energy of %s: convolution", z->name);
  bench_row(work, "same products", product * 1e3, seconds * 1e3, "ms", 0, 2);
  weir_tensor_fini(&p.sigma);
  reference_free(&large);
}

/* The rate of the products as written, at as many orbitals as atoms have. */
static void compare_rate(const size *z)
{
  reference_result large = numpy(z, "restructured", 3);
  problem p = problem_of(z, &large);
  const step products = step_of(PRODUCTS);
  const double seconds = seconds_of(&p, &products, &large);
  const account sum = account_of(&p, &products, &large);
  char work[64];

  (void)snprintf(work, sizeof work, "self-energy of %s: same products", z->name);
  if (z->no < LARGE) {
    bench_row(work, "limit", 25, sum.flops / seconds * 1e-9, "Gflop/s", 1, 1);
  } else {
    against_zgemm(work, sum.flops / seconds);
  }
  reference_row_ms(work, "NumPy restructured", &large, 1, seconds, 0);
  weir_tensor_fini(&p.sigma);
  reference_free(&large);
}

/* What every step gains on the one before; the bytes that its plan predicts, against those of the
 * boxes that it ran. seconds: [STEPS], of a run. */
static void compare_steps(problem *p, const reference_result *reference, double *seconds)
{
  for (int k = 0; k < STEPS; k++) {
    const step s = step_of(k);
    const account sum = account_of(p, &s, reference);
    const double least = fmin(sum.predicted, sum.counted), most = fmax(sum.predicted, sum.counted);
    char work[64];

    seconds[k] = seconds_of(p, &s, reference);
    (void)snprintf(work, sizeof work, "recipe: %s", s.name);
    bench_count(work, "limit", 1 / 0.95, most / least, "of predicted and counted bytes", 1);
    if (k > 0) {
      bench_row(work, "step before", seconds[k - 1] * 1e3, seconds[k] * 1e3, "ms", 0, 0);
    }
  }
}

/* npbench's formulation, optimised by DaCe; its result is compared with that of the loop. */
static void compare_dace(const problem *p, const double *seconds)
{
  if (!reference_has_dace()) {
    fprintf(stderr, "sse_npbench: no rows against DaCe: run workflows/setup.sh bench\n");
    return;
  }
  const step restructured = step_of(RESTRUCTURED);
  reference_result dace = reference_of(p->of, "sse_dace.py", "optimised", LOOP_RUNS);

  must_agree(p, &restructured, &dace);
  reference_row_ms("npbench self-energy: same products", "DaCe", &dace, 1, seconds[PRODUCTS], 1.2);
  reference_row_ms("npbench self-energy: restructured", "DaCe", &dace, 1, seconds[RESTRUCTURED],
                   1.2);
  reference_free(&dace);
}

static void compare(const size *z)
{
  reference_result loop = numpy(z, "loop", LOOP_RUNS), large = numpy(z, "restructured", PEER_RUNS);
  problem p = problem_of(z, &loop);
  double seconds[STEPS];

  compare_steps(&p, &loop, seconds);
  reference_row_ms("npbench self-energy: same products", "NumPy loop", &loop, 1, seconds[PRODUCTS],
                   60);
  reference_row_ms("npbench self-energy: restructured", "NumPy restructured", &large, 1,
                   seconds[RESTRUCTURED], 5);
  reference_row_ms("npbench self-energy: restructured", "NumPy loop", &loop, 1,
                   seconds[RESTRUCTURED], 500);
  compare_dace(&p, seconds);
  weir_tensor_fini(&p.sigma);
  reference_free(&loop);
  reference_free(&large);
}

int main(int argc, char **argv)
{
  const int n = sizeof sizes / sizeof sizes[0];

  weir_log_set_level(WEIR_LOG_WARN);
  if (!reference_ready("numpy")) {
    return REFERENCE_SKIP;
  }
  (void)bench_pin();
  if (argc > 1 && strcmp(argv[1], "recipe") == 0) {
    print_recipe(&sizes[n - 1]);
    return 0;
  }
  for (int k = 0; k < n - 1; k++) {
    check(&sizes[k]);
  }
  compare(&sizes[n - 1]);
  for (size_t k = 0; k < sizeof orbitals / sizeof orbitals[0]; k++) {
    compare_rate(&orbitals[k]);
  }
  for (size_t k = 0; k < sizeof frequencies / sizeof frequencies[0]; k++) {
    compare_forms(&frequencies[k]);
  }
  return 0;
}
