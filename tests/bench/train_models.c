/* train_models.c - K models that train as one graph (pass/models, horizontal fusion) against K runs
 * one after the other, each on all threads: seconds of a step of all of them, K = 1, 2, 4, 8. The
 * weights of every model after the last step are compared, to the bit, with its own run's before a
 * row is printed. In comments also what K runs on one thread each would take if as many ran at a
 * time as there are threads and none disturbed another, and the groups of a step.
 *
 *   train_models [cosmo16] [cosmo32] [tiny] [lite] */
#include <string.h>
#include "train_jobs.h"
#include "weir_bench.h"

enum { THREADS = 2, ROUNDS = 3, MOST = 8, NAME = 96 };

/* Seconds that one side is measured for, about, in a round. */
#define ROUND_SECONDS 0.5

typedef struct subject {
  const char *key, *name;
  learner_job job;
} subject;

static void steps(learner *t, int64_t n)
{
  double loss;

  for (int64_t i = 0; i < n; i++) {
    bench_must(learner_step(t, &loss));
  }
}

/* Seconds of n steps of each of k learners, one learner after the other. */
static double seconds_of(learner *t, int k, int64_t n)
{
  const double start = weir_clock();

  for (int i = 0; i < k; i++) {
    steps(&t[i], n);
  }
  return weir_clock() - start;
}

static void compare(const char *name, const learner *fused, const learner *own, int k)
{
  const size_t bytes = weir_tensor_bytes(&own->bank);

  if (memcmp((const char *)fused->bank.data + (size_t)k * bytes, own->bank.data, bytes) != 0) {
    fprintf(stderr, "%s: the weights of model %d are not those of its own run\n", name, k);
    exit(1);
  }
}

static void tell_groups(const subject *s, int k, const learner *fused, const learner *own)
{
  int claimed[2] = {0, 0};
  const weir_plan *plans[] = {own->plan, fused->plan};

  for (int p = 0; p < 2; p++) {
    for (int32_t i = 0; i < weir_plan_groups(plans[p]); i++) {
      claimed[p] += weir_plan_group(plans[p], i).kernel_class == WEIR_CLASS_LIBRARY;
    }
  }
  printf("# %s, %d models: %d groups, %d by kernels; alone %d, %d\n", s->name, k,
         (int)weir_plan_groups(plans[1]), claimed[1], (int)weir_plan_groups(plans[0]), claimed[0]);
}

/* The least seconds of a step of all, apart and fused, of rounds that alternate. */
static void time_both(learner *own, learner *fused, int k, double best[2], int64_t *done)
{
  double loss;
  const double start = weir_clock();

  bench_must(learner_step(&own[0], &loss));
  const double one = weir_clock() - start;
  const int64_t n = (int64_t)(ROUND_SECONDS / (one * k)) + 1;

  for (int i = 1; i < k; i++) {
    steps(&own[i], 1);
  }
  steps(fused, 1);
  best[0] = best[1] = INFINITY;
  for (int round = 0; round < ROUNDS; round++) {
    best[0] = fmin(best[0], seconds_of(own, k, n) / (double)n);
    best[1] = fmin(best[1], seconds_of(fused, 1, n) / (double)n);
  }
  *done = 1 + ROUNDS * n;
}

static double alone_on_one_thread(const subject *s, int64_t n)
{
  learner_job job = s->job;
  double best = INFINITY;
  learner t;

  job.threads = 1;
  bench_must(learner_open(&job, &t));
  steps(&t, 1);
  for (int round = 0; round < ROUNDS; round++) {
    best = fmin(best, seconds_of(&t, 1, n) / (double)n);
  }
  learner_close(&t);
  return best;
}

static void measure(const subject *s, int k)
{
  learner own[MOST], fused;
  learner_job job = s->job;
  double seconds[2];
  char name[NAME];
  int64_t done = 0;

  job.threads = THREADS;
  for (int i = 0; i < k; i++) {
    job.seed = s->job.seed + (uint64_t)i;
    bench_must(learner_open(&job, &own[i]));
    if (i > 0) { /* all models see the samples of the first */
      memcpy(own[i].x.data, own[0].x.data, weir_tensor_bytes(&own[0].x));
      memcpy(own[i].y.data, own[0].y.data, weir_tensor_bytes(&own[0].y));
    }
  }
  job.seed = s->job.seed;
  job.models = k;
  bench_must(learner_open(&job, &fused));
  tell_groups(s, k, &fused, &own[0]);
  time_both(own, &fused, k, seconds, &done);
  for (int i = 0; i < k; i++) {
    compare(s->name, &fused, &own[i], i);
    learner_close(&own[i]);
  }
  learner_close(&fused);
  (void)snprintf(name, sizeof name, "%s: a step of %d models as one graph", s->name, k);
  bench_row(name, "one after the other", seconds[0] * 1e3, seconds[1] * 1e3, "ms", 0, 0);
  printf("# %s: on one thread each, %d at a time and undisturbed: %.6g ms\n", name, THREADS,
         1e3 * alone_on_one_thread(s, done / ROUNDS) * k / THREADS);
}

int main(int argc, char **argv)
{
  static cf_mlperf_opts small, middle;
  static weir_unet_opts tiny, lite;
  subject subjects[] = {
      {"cosmo16", "CosmoFlow 16^3 x 2", train_job_cosmoflow(&small, 16)},
      {"cosmo32", "CosmoFlow 32^3 x 2", train_job_cosmoflow(&middle, 32)},
      {"tiny", "U-Net tiny 4x16x32 x 2", train_job_unet(&tiny)},
      {"lite", "U-Net lite 8x64x128 x 2", train_job_unet(&lite)},
  };
  const int n = sizeof subjects / sizeof subjects[0];

  tiny.preset = WEIR_UNET_TINY;
  subjects[2].job.x = (weir_array_desc){WEIR_F32, 5, {2, 4, 16, 32, 2}, 0};
  subjects[2].job.y = (weir_array_desc){WEIR_F32, 5, {2, 4, 16, 32, TRAIN_JOB_UNET_OUTPUTS}, 0};
  for (int i = 0; i < n; i++) {
    bool wanted = argc < 2;

    for (int a = 1; a < argc; a++) {
      wanted = wanted || strcmp(argv[a], subjects[i].key) == 0;
    }
    for (int k = 1; wanted && k <= MOST; k *= 2) {
      measure(&subjects[i], k);
    }
  }
  return 0;
}
