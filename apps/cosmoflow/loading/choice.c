/* choice.c - see choice.h. */
#include "loading/choice.h"
#include <math.h>
#include <stdio.h>
#include "base/weir_log.h"
#include "data/split.h"
#include "experiment.h"
#include "load/weir_load_measure.h"
#include "loading/loading.h"

/* Samples that run trains on. */
static weir_status count_samples(const cf_cfg *cfg, cf_source *s, int64_t *n)
{
  cf_split_opts opts = cfg->data.split;
  cf_surveyed has;
  cf_split split;

  opts.quiet = true;
  WEIR_TRY(cf_survey(s, cfg, CF_TRUTH_NONE, NULL, &has));
  const weir_status status = cf_split_create(&opts, has.universe, cf_source_count(s), &split);

  cf_surveyed_fini(&has);
  WEIR_TRY(status);
  *n = split.n[CF_TRAIN];
  cf_split_fini(&split);
  return WEIR_OK;
}

weir_status cf_choice_prepare(cf_cfg *cfg, cf_source *s, int ranks, int threads, cf_choice *out)
{
  weir_load_simulation *const o = &out->of;

  *out = (cf_choice){.load = cfg->load, .of = cfg->loading, .given_s = (double)NAN};
  out->workers = cfg->tune.workers > 0 ? cfg->tune.workers : ranks;
  o->sample_bytes = cf_loading_bytes(cf_source_info(s));
  o->batch = (cfg->train.batch - 1) / out->workers + 1;
  if (o->samples == 0) {
    WEIR_TRY(count_samples(cfg, s, &o->samples));
  }
  return cf_loading_compute(cfg, threads, o);
}

static weir_status set_limits(const cf_cfg *cfg, int ranks, cf_choice *c)
{
  weir_load_limits *const l = &c->limits;

  l->threads = cfg->tune.threads;
  l->memory_bytes = cfg->tune.max_memory_bytes > 0 ? cfg->tune.max_memory_bytes
                                                   : weir_load_free_memory() / 2 / ranks;
  if (cfg->load.directory.path[0] != 0) {
    l->directory_bytes = cfg->tune.max_directory_bytes > 0
                             ? cfg->tune.max_directory_bytes
                             : weir_load_free_space(cfg->load.directory.path) / 2 / ranks;
  }
  return l->memory_bytes >= c->of.sample_bytes
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "tune.max_memory_bytes: %lld bytes do not hold a sample of %lld: state "
                         "more",
                         (long long)l->memory_bytes, (long long)c->of.sample_bytes);
}

/* Of the same policy with the options that were given. */
static weir_status simulate_given(cf_choice *c)
{
  int64_t workers[] = {c->workers};
  weir_load_simulation s = c->of;
  weir_load_simulated r;

  s.workers = (weir_int_list){workers, 1};
  weir_status status = weir_load_simulation_check(&c->load, &s);

  if (status == WEIR_OK) {
    status = weir_load_simulate(&c->load, &s, weir_load_policy("weir"), c->workers, &r);
  }
  if (status == WEIR_ERR_CONFIG) { /* it suits other samples, or needs a network */
    weir_clear_failure();
    return WEIR_OK;
  }
  WEIR_TRY(status);
  c->given_s = r.seconds;
  return WEIR_OK;
}

weir_status cf_choice_make(const cf_cfg *cfg, int ranks, const weir_real_list *memory,
                           const weir_real_list *directory, const weir_real_list *source,
                           cf_choice *out)
{
  WEIR_TRY(set_limits(cfg, ranks, out));
  out->load.memory.speed = *memory;
  out->load.directory.speed = *directory;
  out->load.source.speed = *source;
  WEIR_TRY(simulate_given(out));
  WEIR_TRY(weir_load_choose(&out->load, &out->of, out->workers, &out->limits, &out->made));
  out->load = weir_load_cfg_of(&out->load, &out->made.best);
  if (out->workers > 1 && out->of.network_speed == 0) {
    weir_warn("tune", "load.remote: off was the only choice, since loading.network_speed is 0: "
                      "state the MB/s between two workers");
  }
  return WEIR_OK;
}

/* ---- What was chosen ---- */

static double stalled_of(const weir_load_simulated *r)
{
  return 100 * r->stalled_s / r->seconds;
}

static weir_status describe_training(const cf_choice *c, weir_writer *w)
{
  return weir_writer_printf(
      w,
      "# chosen for a training of %lld epochs of %lld samples on %lld workers, %lld samples of a "
      "batch each, %.5g MB/s of computation,\n# within %lld bytes of memory and %lld bytes of the "
      "directory of a worker: of %lld settings in the order of\n# memory, directory and threads, "
      "of which %lld were simulated, the first within %g %% of the %s\n",
      (long long)c->of.epochs, (long long)c->of.samples, (long long)c->workers,
      (long long)c->of.batch, c->of.compute_speed, (long long)c->limits.memory_bytes,
      (long long)c->limits.directory_bytes, (long long)c->made.settings,
      (long long)c->made.simulated, 100 * WEIR_LOAD_TIE,
      c->made.unstalled ? "time without stalls" : "fastest");
}

weir_status cf_choice_comment(const cf_choice *c, weir_writer *w)
{
  const weir_load_simulated *const r = &c->made.best.predicted;
  const weir_load_setting *const less = &c->made.smaller;

  WEIR_TRY(describe_training(c, w));
  WEIR_TRY(weir_writer_printf(
      w,
      "# predicted: %.6g s, %.4f times that without stalls, stalled %.3g %% of the time; accesses "
      "from memory %lld, directory %lld,\n#   other workers %lld, source %lld\n",
      r->seconds, r->seconds / r->bound_s, stalled_of(r), (long long)r->from[WEIR_LOAD_MEMORY],
      (long long)r->from[WEIR_LOAD_DIRECTORY], (long long)r->from[WEIR_LOAD_REMOTE],
      (long long)r->from[WEIR_LOAD_SOURCE]));
  if (c->made.before == 0) {
    WEIR_TRY(weir_writer_printf(w, "# no setting requires less\n"));
  } else {
    WEIR_TRY(weir_writer_printf(
        w,
        "# next best, which requires less: %.6g s with staging %lld bytes and %lld threads, memory "
        "%lld, directory %lld, remote %s\n",
        less->predicted.seconds, (long long)less->staging_bytes, (long long)less->threads,
        (long long)less->memory_bytes, (long long)less->directory_bytes,
        less->remote ? "auto" : "off"));
  }
  return isnan(c->given_s)
             ? WEIR_OK
             : weir_writer_printf(w, "# with section load as it was given: %.6g s\n", c->given_s);
}

void cf_choice_tell(const cf_choice *c)
{
  const weir_load_setting *const b = &c->made.best;
  const weir_load_simulated *const r = &b->predicted;

  weir_event("tuned", WEIR_INT("workers", c->workers), WEIR_INT("staging_bytes", b->staging_bytes),
             WEIR_INT("staging_threads", b->threads), WEIR_INT("memory_bytes", b->memory_bytes),
             WEIR_INT("directory_bytes", b->directory_bytes),
             WEIR_TEXT("remote", b->remote ? "auto" : "off"), WEIR_REAL("seconds", r->seconds),
             WEIR_REAL("bound_s", r->bound_s), WEIR_REAL("given_s", c->given_s),
             WEIR_INT("settings", c->made.settings), WEIR_INT("simulated", c->made.simulated));
  printf("chosen for %lld workers: staging buffer of %lld bytes and %lld threads, memory %lld "
         "bytes, directory %lld bytes, remote %s\n",
         (long long)c->workers, (long long)b->staging_bytes, (long long)b->threads,
         (long long)b->memory_bytes, (long long)b->directory_bytes, b->remote ? "auto" : "off");
  printf("predicted time of %lld epochs: %.4g s, %.4f times that without stalls",
         (long long)c->of.epochs, r->seconds, r->seconds / r->bound_s);
  if (!isnan(c->given_s)) {
    printf("; with section load as it was given: %.4g s", c->given_s);
  }
  printf("\n");
}

weir_status cf_choice_training(const cf_choice *c, weir_writer *w)
{
  const weir_load_simulation *const o = &c->of;

  return weir_writer_printf(
      w,
      "# the simulated training: the policy weir of loading predicts the same time\nloading:\n"
      "  workers: [%lld]\n  samples: %lld\n  sample_bytes: %lld\n  batch: %lld\n  epochs: %lld\n"
      "  seed: %lld\n  compute_speed: %.17g\n  preprocess_speed: %.17g\n  network_speed: %.17g\n"
      "  source_per_thread: %s\n",
      (long long)c->workers, (long long)o->samples, (long long)o->sample_bytes, (long long)o->batch,
      (long long)o->epochs, (long long)o->seed, o->compute_speed, o->preprocess_speed,
      o->network_speed, o->source_per_thread ? "true" : "false");
}
