/* cosmo_loader.c - a training step that is given samples of a slow source: how long it waits for
 * them, with a loader and without. The step computes for a fixed time on its processor; the source
 * sleeps for a fixed time and copies. Calls of read are counted before a row is printed. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "load/weir_load.h"
#include "weir_bench.h"

enum { SIDE = 64, CHANNELS = 4, SAMPLES = 20, MANY = 100 };
static const int64_t bytes = SIDE * SIDE * SIDE * CHANNELS * 2;
static const double step_s = 0.010, percent = 100;

typedef struct slow_source {
  weir_load_part part;
  double delay; /* seconds of a call */
  atomic_int reads[MANY];
  char *cube;
} slow_source;

static weir_status read_slowly(void *context, int64_t sample, const weir_load_part *part,
                               void *const *out)
{
  slow_source *const s = context;
  const struct timespec t = {.tv_nsec = (long)(s->delay * 1e9)};

  (void)part;
  atomic_fetch_add(&s->reads[sample], 1);
  (void)nanosleep(&t, NULL);
  memcpy(out[0], s->cube, (size_t)bytes);
  ((int16_t *)out[0])[0] = (int16_t)sample;
  return WEIR_OK;
}

static void compute(void)
{
  const double begin = weir_clock();

  while (weir_clock() - begin < step_s) {
  }
}

typedef struct outcome {
  double waited, seconds; /* of the steps that count, each */
  int most, all;          /* calls of read: of a sample, of all */
} outcome;

/* A row of how much of a step is waited; none at all counts as a hundredth of a percent. */
static void wait_row(const char *work, const outcome *r)
{
  bench_row(work, "limit", 5, fmax(percent * r->waited / step_s, 0.01), "%", 0, 1);
}

/* Visits all of `samples` in each epoch; those of the first `warm` epochs are not timed. */
static outcome run(slow_source *s, const weir_load_cfg *cfg, int64_t samples, int64_t warm,
                   int64_t epochs)
{
  const weir_order o = {.samples = samples, .batch = 1, .step = 1, .shuffle = true, .seed = 5};
  const weir_visits v = weir_visits_of(&o, 0, 1);
  const weir_load_source source = {
      .part = &s->part, .n_parts = 1, .read = read_slowly, .context = s, .key = "slow"};
  weir_load *l = NULL;
  weir_load_view view;
  double before = 0, begin = 0;
  outcome r = {.most = 0};

  memset(s->reads, 0, sizeof s->reads);
  bench_must(weir_load_open(cfg, &source, &v, epochs * v.each, &l));
  bench_must(weir_load_start(l, 0));
  for (int64_t k = 0; k < epochs * v.each; k++) {
    if (k == warm * v.each) {
      before = weir_load_counted(l).waited_s;
      begin = weir_clock();
    }
    bench_must(weir_load_next(l, &view));
    if (((const int16_t *)view.part[0])[0] != weir_visits_sample(&v, k)) {
      fprintf(stderr, "visit %lld has another sample\n", (long long)k);
      exit(1);
    }
    compute();
    weir_load_release(l);
  }
  const double steps = (double)((epochs - warm) * v.each);

  r.seconds = (weir_clock() - begin) / steps;
  r.waited = (weir_load_counted(l).waited_s - before) / steps;
  for (int64_t i = 0; i < samples; i++) {
    r.most = s->reads[i] > r.most ? s->reads[i] : r.most;
    r.all += s->reads[i];
  }
  weir_load_close(&l);
  return r;
}

static void must_read(const char *what, const outcome *r, int most, int all)
{
  if (r->most != most || r->all != all) {
    fprintf(stderr, "%s: %d reads, %d of one sample; %d and %d were expected\n", what, r->all,
            r->most, all, most);
    exit(1);
  }
}

int main(void)
{
  slow_source s = {.part = {WEIR_I16, {.rank = 4, .hi = {SIDE, SIDE, SIDE, CHANNELS}}}};
  weir_load_cfg cfg;

  weir_log_set_level(WEIR_LOG_WARN);
  bench_must(weir_alloc(bytes, 1, (void **)&s.cube));
  weir_opts_default(weir_load_opts, sizeof cfg, &cfg);
  cfg.staging.bytes = 16 * (bytes + 64);
  cfg.memory.bytes = 0;

  /* The mean rate allows it: a read takes 0.8 of a step. */
  s.delay = 0.8 * step_s;
  outcome r = run(&s, &cfg, MANY, 0, 1);

  must_read("staging", &r, 1, MANY);
  const double ahead = r.seconds;

  wait_row("loader: wait of a step at 0.8 steps a read", &r);
  cfg.staging.threads = 0;
  r = run(&s, &cfg, MANY, 0, 1);
  bench_row("loader: a step at 0.8 steps a read", "each when it is due", r.seconds * 1e3,
            ahead * 1e3, "ms", 0, 1.5);

  /* It does not, but samples stay: each is read once, and nothing is waited for from the second
   * epoch on. */
  s.delay = 3 * step_s;
  cfg.staging.threads = 1;
  cfg.memory.bytes = SAMPLES * (bytes + 64);
  r = run(&s, &cfg, SAMPLES, 1, 5);
  must_read("memory", &r, 1, SAMPLES);
  wait_row("loader: wait of a step at 3 steps a read (kept)", &r);
  weir_free(&s.cube);
  return 0;
}
