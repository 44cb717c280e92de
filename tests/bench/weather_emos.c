/* weather_emos.c - EMOS coefficients point by point, one core, against scipy: Nelder and Mead's
 * search, as IMPROVER has it, and BFGS with the gradient. Compared is the mean CRPS that is
 * reached; then a grid of the simulator on all cores against the goal. */
#include <string.h>
#include "base/weir_random.h"
#include "baseline/emos.h"
#include "device/weir_parallel.h"
#include "reference.h"
#include "weir_bench.h"

enum { DATES = 500, POINTS = 64, LAT = 64, LON = 128, RUNS = 5, REFERENCE_RUNS = 1 };

typedef struct bench {
  wx_emos_opts opts;
  wx_cases cases; /* [dates, points] */
  wx_emos_grid grid;
  wx_emos *at;
} bench;

static float *array(int64_t count)
{
  float *a = calloc((size_t)count, sizeof *a);

  if (a == NULL) {
    fprintf(stderr, "weather_emos: out of memory\n");
    exit(5);
  }
  return a;
}

/* Temperatures, each point with a bias, a slope and a standard deviation of its own. */
static void make(bench *b, int64_t n_lat, int64_t n_lon)
{
  const int64_t points = n_lat * n_lon, n = DATES * points;
  float *const x = array(n), *const v = array(n), *const y = array(n);

  for (int64_t i = 0; i < n; i++) {
    const uint64_t k = (uint64_t)i, point = (uint64_t)(i % points);
    const double bias = weir_random_normal(2, 0, 0, point);
    const double slope = 0.8 + 0.3 * weir_random_uniform(2, 0, 1, point);
    const double m = 8 * weir_random_normal(1, 0, 0, k);
    const double s2 = 0.2 + 2 * weir_random_uniform(1, 0, 1, k);

    x[i] = (float)m;
    v[i] = (float)s2;
    y[i] = (float)(bias + slope * m + sqrt(0.3 + 1.4 * s2) * weir_random_normal(1, 0, 2, k));
  }
  weir_opts_default(wx_emos_options, sizeof b->opts, &b->opts);
  b->opts.pool = WX_EMOS_POINT;
  b->cases = (wx_cases){.rows = DATES, .columns = points, .mean = x, .variance = v, .truth = y};
  b->grid = (wx_emos_grid){.n_lat = n_lat, .n_lon = n_lon};
  b->at = calloc((size_t)points, sizeof *b->at);
}

static void drop(bench *b)
{
  free((void *)(uintptr_t)b->cases.mean);
  free((void *)(uintptr_t)b->cases.variance);
  free((void *)(uintptr_t)b->cases.truth);
  free(b->at);
}

static void run(void *context)
{
  bench *const b = context;
  int64_t few = 0;

  bench_must(wx_emos_fit_grid(&b->opts, &b->cases, &b->grid, b->at, &few));
}

static float *turned(const float *a)
{
  float *const out = array(DATES * POINTS);

  for (int64_t i = 0; i < DATES * POINTS; i++) {
    out[i % POINTS * DATES + i / POINTS] = a[i];
  }
  return out;
}

static void measure_references(void)
{
  static const struct {
    const char *function, *name;
    double tolerance, goal;
  } reference[] = {{"nelder_mead", "SciPy Nelder-Mead", 1e-3, 50},
                   {"bfgs", "SciPy BFGS", 1e-4, 10}};
  float reached[POINTS];
  bench b;

  make(&b, 1, POINTS);
  float *const x = turned(b.cases.mean), *const v = turned(b.cases.variance),
               *const y = turned(b.cases.truth);
  const double seconds = bench_best(RUNS, run, &b);

  for (int64_t p = 0; p < POINTS; p++) {
    const wx_cases one = {.rows = 1,
                          .columns = DATES,
                          .mean = x + p * DATES,
                          .variance = v + p * DATES,
                          .truth = y + p * DATES};

    reached[p] = (float)wx_emos_crps(&b.at[p], &one, NULL);
  }
  const reference_input in[] = {{"mean", "f4", x, DATES * POINTS},
                                {"variance", "f4", v, DATES * POINTS},
                                {"truth", "f4", y, DATES * POINTS}};

  for (int k = 0; k < 2; k++) {
    reference_result r = reference_run("weather_emos.py", reference[k].function, "points=64",
                                       REFERENCE_RUNS, 1, in, 3);

    reference_same_f32("EMOS by point", &r, 0, reached, POINTS, reference[k].tolerance);
    for (int64_t p = 0; p < POINTS; p++) {
      if (reached[p] > ((const float *)r.data[0])[p] + 1e-6f) {
        fprintf(stderr, "weather_emos: point %lld: %s found less\n", (long long)p,
                reference[k].name);
        exit(6);
      }
    }
    reference_row("EMOS by point: fits of 500 dates", reference[k].name, &r, POINTS, seconds,
                  reference[k].goal);
    reference_free(&r);
  }
  free(x);
  free(v);
  free(y);
  drop(&b);
}

int main(void)
{
  cpu_set_t allowed = bench_pin();
  bench b;

  if (!reference_ready("scipy")) {
    return REFERENCE_SKIP;
  }
  weir_threads_set(1);
  measure_references();
  weir_threads_set(bench_unpin(&allowed));
  make(&b, LAT, LON);
  bench_row("EMOS by point: 64x128 of 500 dates", "limit", 3, bench_best(RUNS, run, &b), "s", 0, 1);
  drop(&b);
  return 0;
}
