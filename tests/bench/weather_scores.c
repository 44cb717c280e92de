/* weather_scores.c - CRPS of ensembles and of normal distributions, f32 in, one core, against
 * scoringrules. */
#include <string.h>
#include "base/weir_random.h"
#include "baseline/emos.h"
#include "device/weir_parallel.h"
#include "eval/score/crps.h"
#include "eval/sort/sort.h"
#include "reference.h"
#include "weir_bench.h"

enum { CASES = 200000, MAX_MEMBERS = 50, NORMAL_CASES = 4000000, RUNS = 5 };

typedef struct bench {
  int64_t members;
  float *x, *v, *y; /* members [CASES, members], or means; variances; truth */
  float *score;
  wx_emos at;
  double mean;
} bench;

static float *array(int64_t count)
{
  float *a = calloc((size_t)count, sizeof *a);

  if (a == NULL) {
    fprintf(stderr, "weather_scores: out of memory\n");
    exit(5);
  }
  return a;
}

static void score_ensembles(void *context)
{
  bench *const b = context;
  const int64_t m = b->members;
  double x[MAX_MEMBERS * WX_LANES], y[WX_LANES];
  wx_crps_decomposition terms[WX_LANES];

  _Static_assert(CASES % WX_LANES == 0, "no lane is empty");
  for (int64_t i = 0; i < CASES; i += WX_LANES) {
    for (int64_t k = 0; k < m; k++) {
      for (int64_t l = 0; l < WX_LANES; l++) {
        x[k * WX_LANES + l] = (double)b->x[(i + l) * m + k];
      }
    }
    for (int64_t l = 0; l < WX_LANES; l++) {
      y[l] = (double)b->y[i + l];
    }
    wx_sort_lanes(x, m);
    wx_crps_sorted_lanes(x, m, y, terms);
    for (int64_t l = 0; l < WX_LANES; l++) {
      b->score[i + l] = (float)wx_crps_fair(&terms[l]);
    }
  }
}

static void score_normals(void *context)
{
  bench *const b = context;
  const wx_cases cases = {
      .rows = 1, .columns = NORMAL_CASES, .mean = b->x, .variance = b->v, .truth = b->y};

  b->mean = wx_emos_crps(&b->at, &cases, NULL);
}

static void measure_ensembles(int64_t members)
{
  const int64_t values = CASES * members;
  bench b = {.members = members, .x = array(values), .y = array(CASES), .score = array(CASES)};
  char work[64], arguments[64];

  (void)snprintf(work, sizeof work, "fair CRPS of %lld members", (long long)members);
  (void)snprintf(arguments, sizeof arguments, "members=%lld", (long long)members);
  for (int64_t i = 0; i < values; i++) {
    b.x[i] = (float)(8 * weir_random_normal(1, 0, 0, (uint64_t)i));
  }
  for (int64_t i = 0; i < CASES; i++) {
    b.y[i] = (float)(9 * weir_random_normal(1, 0, 1, (uint64_t)i));
  }
  const reference_input in[] = {{"x", "f4", b.x, values}, {"y", "f4", b.y, CASES}};
  reference_result r = reference_run("weather_scores.py", "fair", arguments, RUNS, 1, in, 2);
  const double seconds = bench_best(RUNS, score_ensembles, &b);

  reference_same_f32("fair CRPS", &r, 0, b.score, CASES, 1e-4);
  reference_row(work, "scoringrules", &r, CASES, seconds, 1);
  reference_free(&r);
  free(b.x);
  free(b.y);
  free(b.score);
}

static void measure_normals(void)
{
  bench b = {.x = array(NORMAL_CASES),
             .v = array(NORMAL_CASES),
             .y = array(NORMAL_CASES),
             .at = {.alpha = 0.5, .beta = 0.9, .gamma = 0.6, .delta = 1.1}};
  char arguments[128];

  for (int64_t i = 0; i < NORMAL_CASES; i++) {
    b.x[i] = (float)(8 * weir_random_normal(2, 0, 0, (uint64_t)i));
    b.v[i] = (float)(0.2 + 2 * weir_random_uniform(2, 0, 1, (uint64_t)i));
    b.y[i] = b.x[i] + (float)(1.5 * weir_random_normal(2, 0, 2, (uint64_t)i));
  }
  (void)snprintf(arguments, sizeof arguments, "alpha=%g beta=%g gamma=%g delta=%g", b.at.alpha,
                 b.at.beta, b.at.gamma, b.at.delta);
  const reference_input in[] = {{"mean", "f4", b.x, NORMAL_CASES},
                                {"variance", "f4", b.v, NORMAL_CASES},
                                {"truth", "f4", b.y, NORMAL_CASES}};
  reference_result r = reference_run("weather_scores.py", "normal", arguments, RUNS, 1, in, 3);
  const double seconds = bench_best(RUNS, score_normals, &b);
  const float mean = (float)b.mean;

  reference_same_f32("mean CRPS", &r, 0, &mean, 1, 1e-4);
  reference_row("mean CRPS of normal distributions", "scoringrules", &r, NORMAL_CASES, seconds, 1);
  reference_free(&r);
  free(b.x);
  free(b.v);
  free(b.y);
}

int main(void)
{
  if (!reference_ready("scoringrules")) {
    return REFERENCE_SKIP;
  }
  (void)bench_pin();
  weir_threads_set(1);
  measure_ensembles(MAX_MEMBERS);
  measure_ensembles(10);
  measure_normals();
  return 0;
}
