/* train_models.c - K models that train as one graph (pass/models, horizontal fusion) against K runs
 * one after the other, each on all threads: seconds of a step of all of them, K = 1, 2, 4, 8. The
 * weights of every model after the last step are compared, to the bit, with its own run's before a
 * row is printed. In comments also what K runs on one thread each would take if as many ran at a
 * time as there are threads and none disturbed another, and the groups of a step.
 *
 *   train_models [cosmo16] [cosmo32] [tiny] [lite] [alone] [K]
 *
 * alone: on one thread, where threads that wait for one another have no part in the times. K, the
 * last word: that number of models only. */
#include <string.h>
#include "train_jobs.h"
#include "weir_bench.h"

enum { MIN_ROUNDS = 2, MAX_ROUNDS = 25, MOST = 8, NAME = 96 };

/* Seconds that one side is measured for, about, in a round: a machine that others use is at times
 * undisturbed for that long. */
#define ROUND_SECONDS 0.04
/* Of all rounds, about. */
#define ALL_SECONDS 4.0

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
  fprintf(stderr, "%s: %d models: %d groups, %d by kernels; alone %d, %d\n", s->name, k,
          (int)weir_plan_groups(plans[1]), claimed[1], (int)weir_plan_groups(plans[0]), claimed[0]);
}

/* The least seconds of a step of all, apart and fused, of rounds that alternate. */
static void time_both(learner *own, learner *fused, int k, double best[2], int64_t *steps_of_round)
{
  double loss;
  const double start = weir_clock();

  bench_must(learner_step(&own[0], &loss));
  const double one = weir_clock() - start;
  const int64_t n = (int64_t)(ROUND_SECONDS / (one * k)) + 1;
  const int rounds =
      (int)fmax(MIN_ROUNDS, fmin(MAX_ROUNDS, ALL_SECONDS / (2 * one * k * (double)n)));

  for (int i = 1; i < k; i++) {
    steps(&own[i], 1);
  }
  steps(fused, 1);
  best[0] = best[1] = INFINITY;
  for (int round = 0; round < rounds; round++) {
    best[0] = fmin(best[0], seconds_of(own, k, n) / (double)n);
    best[1] = fmin(best[1], seconds_of(fused, 1, n) / (double)n);
  }
  *steps_of_round = n;
}

static double alone_on_one_thread(const subject *s, int64_t n)
{
  learner_job job = s->job;
  double best = INFINITY;
  learner t;

  job.threads = 1;
  bench_must(learner_open(&job, &t));
  steps(&t, 1);
  for (int round = 0; round < MIN_ROUNDS; round++) {
    best = fmin(best, seconds_of(&t, 1, n) / (double)n);
  }
  learner_close(&t);
  return best;
}

static void measure(const subject *s, int k, int threads)
{
  learner own[MOST], fused;
  learner_job job = s->job;
  double seconds[2];
  char name[NAME];
  int64_t n = 0;

  job.threads = threads;
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
  time_both(own, &fused, k, seconds, &n);
  for (int i = 0; i < k; i++) {
    compare(s->name, &fused, &own[i], i);
    learner_close(&own[i]);
  }
  learner_close(&fused);
  (void)snprintf(name, sizeof name, "%s: a step of %d models as one graph%s", s->name, k,
                 threads == 1 ? " on 1 thread" : "");
  bench_row(name, "one after the other", seconds[0] * 1e3, seconds[1] * 1e3, "ms", 0, 0);
  fprintf(stderr, "%s: on one thread each, %d at a time and undisturbed: %.6g ms\n", name, threads,
          1e3 * alone_on_one_thread(s, n) * k / threads);
}

static bool is_given(int argc, char **argv, const char *word)
{
  bool is = false;

  for (int a = 1; a < argc; a++) {
    is = is || strcmp(argv[a], word) == 0;
  }
  return is;
}

int main(int argc, char **argv)
{
  static cf_mlperf_opts small, middle;
  static weir_unet_opts tiny, lite;
  subject subjects[] = {
      {"cosmo16", "CosmoFlow 16^3 x 2", train_job_cosmoflow(&small, 16)},
      {"cosmo32", "CosmoFlow 32^3 x 2", train_job_cosmoflow(&middle, 32)},
      {"tiny", "U-Net tiny 16x32 x 4", train_job_unet(&tiny)},
      {"lite", "U-Net lite 8x64x128 x 2", train_job_unet(&lite)},
  };
  const int n = sizeof subjects / sizeof subjects[0];

  tiny.preset = WEIR_UNET_TINY;
  /* As configs/weather_ensemble/tiny.yaml. */
  subjects[2].job.x = (weir_array_desc){WEIR_F32, 4, {4, 16, 32, 2}, 0};
  subjects[2].job.y = (weir_array_desc){WEIR_F32, 4, {4, 16, 32, TRAIN_JOB_UNET_OUTPUTS}, 0};
  const bool alone = is_given(argc, argv, "alone");
  const int only = argc > 1 ? atoi(argv[argc - 1]) : 0; /* 0: all */

  for (int i = 0; i < n; i++) {
    /* Eight U-Nets lite take minutes and much memory: where they are asked for. */
    const bool wanted = argc < 2 + alone + (only > 0) ? subjects[i].job.opts != &lite
                                                      : is_given(argc, argv, subjects[i].key);

    for (int k = 1; wanted && k <= MOST; k *= 2) {
      if (only > 0 && k != only) {
        continue;
      }
      measure(&subjects[i], k, alone ? 1 : 2);
    }
  }
  return 0;
}
