/* cosmo_loader.c - a training step that is given samples of a slow source: how long it waits for
 * them, with a loader and without. The step computes for a fixed time on its processor; the source
 * sleeps for a fixed time and copies. Calls of read are counted before a row is printed. Started on
 * several ranks, by mpiexec, it shows what they save by having samples from each other. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "comm/weir_request.h"
#include "load/weir_load.h"
#include "weir_bench.h"

enum { SIDE = 64, CHANNELS = 4, SAMPLES = 20, MANY = 100 };
static const int64_t bytes = SIDE * SIDE * SIDE * CHANNELS * 2;
static const double step_s = 0.010, percent = 100;

typedef struct slow_source {
  weir_load_field field;
  double delay; /* seconds of a call */
  atomic_int reads[MANY];
  char *cube;
} slow_source;

static weir_status read_slowly(void *context, int64_t sample, const weir_load_field *field,
                               void *const *out)
{
  slow_source *const s = context;
  const struct timespec t = {.tv_nsec = (long)(s->delay * 1e9)};

  (void)field;
  atomic_fetch_add(&s->reads[sample], 1);
  (void)nanosleep(&t, NULL);
  memcpy(out[0], s->cube, (size_t)bytes);
  ((int16_t *)out[0])[0] = (int16_t)sample;
  return WEIR_OK;
}

/* c: ranks whose messages move on meanwhile, as those of a step's pieces do; or NULL. */
static void compute(weir_comm *c)
{
  const double begin = weir_clock();

  while (weir_clock() - begin < step_s) {
    if (c != NULL) {
      bench_must(weir_requests_progress(c));
    }
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
  const weir_sampler o = {.samples = samples, .batch = 1, .step = 1, .shuffle = true, .seed = 5};
  const weir_access_stream v = weir_access_stream_of(&o, 0, 1);
  const weir_load_source source = {
      .field = &s->field, .n_fields = 1, .read = read_slowly, .context = s, .key = "slow"};
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
    if (((const int16_t *)view.field[0])[0] != weir_access_stream_sample(&v, k)) {
      fprintf(stderr, "visit %lld has another sample\n", (long long)k);
      exit(1);
    }
    compute(NULL);
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

/* Reads of this rank, and seconds of a sample and of waiting for it, in epochs from the
 * second on. Each rank visits a share of every batch of 2 samples a rank. */
static outcome run_ranks(slow_source *s, const weir_load_cfg *cfg, weir_comm *c, int64_t epochs)
{
  const int ranks = weir_comm_size(c);
  const weir_sampler o = {
      .samples = SAMPLES, .batch = 2 * ranks, .step = 2 * ranks, .shuffle = true, .seed = 5};
  const weir_access_stream v = weir_access_stream_of(&o, weir_comm_rank(c), ranks);
  const weir_load_peers references = {.comm = c, .epoch = epochs};
  const weir_load_source source = {.field = &s->field,
                                   .n_fields = 1,
                                   .read = read_slowly,
                                   .context = s,
                                   .key = "slow",
                                   .peers = &references};
  outcome r = {.most = 0};
  double before = 0, begin = 0;
  weir_load *l = NULL;
  weir_load_view view;

  bench_must(weir_load_open(cfg, &source, &v, epochs * v.each, &l));
  for (int64_t e = 0; e < epochs; e++) {
    before = e == 1 ? weir_load_counted(l).waited_s : before;
    begin = e == 1 ? weir_clock() : begin;
    for (int64_t at = 0; at < o.samples; at += o.batch) {
      int64_t sample[MANY], lo, hi;

      bench_must(weir_load_batch(l, e, at));
      weir_sampler_take(&o, e, at, o.samples - at < o.batch ? o.samples - at : o.batch, sample);
      weir_sampler_share(o.samples - at < o.batch ? o.samples - at : o.batch, v.at, ranks, &lo,
                         &hi);
      for (int64_t i = 0; i < hi - lo; i++) {
        bench_must(weir_load_get(l, e, at, i, sample[lo + i], &view));
        compute(c);
      }
      bench_must(weir_comm_barrier(c)); /* as gradients are summed */
    }
  }
  r.waited = (weir_load_counted(l).waited_s - before) / (double)((epochs - 1) * v.each);
  r.seconds = (weir_clock() - begin) / (double)((epochs - 1) * v.each);
  r.all = (int)weir_load_counted(l).reads;
  weir_load_close(&l);
  return r;
}

static void sum_of_ranks(weir_comm *c, outcome *r)
{
  void *all = NULL;
  int64_t given = 0;

  bench_must(weir_comm_gather(c, r, sizeof *r, &all, &given));
  for (int k = 1; all != NULL && k < weir_comm_size(c); k++) {
    r->all += ((const outcome *)all)[k].all;
    r->seconds = fmax(r->seconds, ((const outcome *)all)[k].seconds);
    r->waited = fmax(r->waited, ((const outcome *)all)[k].waited);
  }
  weir_free(&all);
}

static void on_ranks(slow_source *s, weir_load_cfg *cfg, weir_comm *c)
{
  outcome r[2];

  s->delay = 3 * step_s;
  cfg->memory.bytes = SAMPLES * (bytes + 64);
  for (int on = 0; on < 2; on++) {
    cfg->remote = on ? WEIR_LOAD_ON : WEIR_LOAD_OFF;
    r[on] = run_ranks(s, cfg, c, 4);
    sum_of_ranks(c, &r[on]);
  }
  if (weir_comm_rank(c) == 0) {
    bench_count("loader: reads of all ranks", "each for itself", r[0].all, r[1].all, "reads", 0);
    bench_row("loader: wait of a sample (from other ranks)", "each for itself",
              fmax(r[0].waited * 1e3, 1e-3), fmax(r[1].waited * 1e3, 1e-3), "ms", 0, 0);
    bench_row("loader: a sample (from other ranks)", "each for itself", r[0].seconds * 1e3,
              r[1].seconds * 1e3, "ms", 0, 1);
  }
}

int main(void)
{
  weir_comm *c = NULL;
  slow_source s = {.field = {WEIR_I16, {.rank = 4, .hi = {SIDE, SIDE, SIDE, CHANNELS}}}};
  weir_load_cfg cfg;

  weir_log_set_level(WEIR_LOG_WARN);
  bench_must(weir_alloc(bytes, 1, (void **)&s.cube));
  weir_opts_default(weir_load_opts, sizeof cfg, &cfg);
  cfg.staging.bytes = 16 * (bytes + 64);
  cfg.memory.bytes = 0;
  bench_must(weir_comm_open(&c));
  const bool alone = weir_comm_size(c) == 1;

  if (!alone) {
    on_ranks(&s, &cfg, c);
  }
  weir_comm_close(&c);
  if (!alone) {
    weir_free(&s.cube);
    return 0;
  }

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
