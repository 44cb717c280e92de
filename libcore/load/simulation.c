/* simulation.c - see weir_load_simulation.h. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_signal.h"
#include "load/simulation_priv.h"

#define MB 1e6

const weir_opt weir_load_simulation_opts[] = {
    WEIR_OPT_INT_LIST(weir_load_simulation, workers, "4", 1, 65536, "workers",
                      "numbers of workers (groups of ranks that read for themselves), ascending"),
    WEIR_OPT_STRING_LIST(weir_load_simulation, policies, "",
                         "naive, double_buffering, lbann, sharding, locality_aware, nopfs, weir; "
                         "empty: all of them"),
    WEIR_OPT_INT(weir_load_simulation, samples, 0, 0, 1e12, "1",
                 "samples that are trained on; 0: those of source.input or simulate"),
    WEIR_OPT_INT(weir_load_simulation, sample_bytes, 0, 0, 1e15, "B",
                 "bytes of a sample as the loader keeps it; 0: those of source.input or simulate"),
    WEIR_OPT_INT(weir_load_simulation, batch, 1, 1, 1e9, "samples",
                 "samples that a worker computes at once"),
    WEIR_OPT_INT(weir_load_simulation, epochs, 10, 1, 1e6, "1", "epochs that are simulated"),
    WEIR_OPT_INT(weir_load_simulation, seed, 0, 0, 0x1p52, "1", "seed of the order of samples"),
    WEIR_OPT_REAL(weir_load_simulation, compute_speed, 0, 0, 1e12, "MB/s",
                  "samples that a worker computes (c); 0: by the predicted step of the network"),
    WEIR_OPT_REAL(weir_load_simulation, preprocess_speed, 0, 0, 1e12, "MB/s",
                  "samples that a thread decodes and converts (beta); 0: no time, or in the speed "
                  "of the source as tune measures it"),
    WEIR_OPT_REAL(weir_load_simulation, network_speed, 0, 0, 1e12, "MB/s",
                  "samples between two workers (b_c); 0: none are sent"),
    WEIR_OPT_BOOL(weir_load_simulation, source_per_thread, false,
                  "each staging thread has the speed of a whole reader of load.source.speed, as in "
                  "the paper; false: the threads of a worker share it"),
    WEIR_OPT_END,
};

/* ---- The machine ---- */

static double threads_of(const load_simulation *l)
{
  return l->load->staging.threads > 0 ? (double)l->load->staging.threads : 1;
}

/* Seconds of a sample by one of the threads of a tier. */
static double tier_s(const load_simulation *l, const weir_real_list *speed, int64_t threads)
{
  const double n = threads > 0 ? (double)threads : threads_of(l);

  return (double)l->s->sample_bytes / MB / (load_speed(speed, n) / n);
}

double load_source_s(const load_simulation *l, int64_t readers)
{
  const double g = (double)(readers > 0 ? readers : 1);
  const double each = load_speed(&l->load->source.speed, g) / g;

  return (double)l->s->sample_bytes / MB / each * (l->s->source_per_thread ? 1 : threads_of(l));
}

static void set_machine(load_simulation *l)
{
  const weir_load_cfg *const c = l->load;
  const double network = l->s->network_speed, size = (double)l->s->sample_bytes;
  const double sent = network > 0 && l->workers > 1 ? size / MB / network : (double)INFINITY;
  const int64_t bytes[LOAD_CLASSES] = {c->memory.bytes, c->directory.bytes};

  for (int k = 0; k < LOAD_CLASSES; k++) {
    l->capacity[k] = bytes[k] / l->s->sample_bytes;
  }
  l->fetch_s[WEIR_LOAD_MEMORY] = tier_s(l, &c->memory.speed, c->memory.threads);
  l->fetch_s[WEIR_LOAD_DIRECTORY] = l->capacity[WEIR_LOAD_DIRECTORY] > 0
                                        ? tier_s(l, &c->directory.speed, c->directory.threads)
                                        : (double)INFINITY;
  l->fetch_s[WEIR_LOAD_SOURCE] = load_source_s(l, l->workers);
  l->fetch_s[WEIR_LOAD_REMOTE] = fmax(sent, l->fetch_s[WEIR_LOAD_MEMORY]);
  l->fetch_s[LOAD_FAR_DIRECTORY] = fmax(sent, l->fetch_s[WEIR_LOAD_DIRECTORY]);
}

static weir_status refuse(const char *key, const char *why)
{
  return weir_fail(WEIR_ERR_CONFIG, "%s: %s", key, why);
}

int weir_load_policy(const char *name)
{
  for (int k = 0; load_policies[k].name; k++) {
    if (strcmp(load_policies[k].name, name) == 0) {
      return k;
    }
  }
  return -1;
}

static weir_status check_policies(const weir_string_list *names)
{
  for (int64_t i = 0; i < names->count; i++) {
    if (weir_load_policy(names->items[i]) < 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "loading.policies: there is no policy '%s'; there are naive, "
                       "double_buffering, lbann, sharding, locality_aware, nopfs and weir",
                       names->items[i]);
    }
  }
  return WEIR_OK;
}

weir_status weir_load_simulation_check(const weir_load_cfg *load, const weir_load_simulation *s)
{
  static const char *const measure = "is empty: state pairs, or let tune measure them";

  if (s->workers.count == 0) {
    return refuse("loading.workers", "is empty: state numbers of workers");
  }
  WEIR_TRY(weir_load_suits(load, s->workers.items[s->workers.count - 1] > 1, s->sample_bytes));
  WEIR_TRY(check_policies(&s->policies));
  for (int64_t i = 1; i < s->workers.count; i++) {
    if (s->workers.items[i] <= s->workers.items[i - 1]) {
      return refuse("loading.workers", "list them in ascending order");
    }
  }
  if (load->source.speed.count == 0) {
    return refuse("load.source.speed", measure);
  }
  if (load->memory.speed.count == 0) { /* that of the staging buffer, too */
    return refuse("load.memory.speed", measure);
  }
  if (load->directory.bytes >= s->sample_bytes && load->directory.speed.count == 0) {
    return refuse("load.directory.speed", measure);
  }
  return s->samples > 0 && s->sample_bytes > 0 && s->compute_speed > 0
             ? WEIR_OK
             : refuse("loading", "samples, sample_bytes and compute_speed have to be above 0");
}

const char *weir_load_policy_name(int k)
{
  return load_policies[k].name;
}

const char *weir_load_policy_help(int k)
{
  return load_policies[k].help;
}

/* ---- The training ---- */

/* A worker at work. */
typedef struct worker {
  double ready, end; /* latest sample in the staging buffer; end of its computation */
  double stalled;
  int64_t n; /* accesses */
} worker;

typedef struct run {
  load_simulation l;
  const load_policy *policy;
  double write_s, compute_s;
  int64_t slots;
  worker *worker;   /* [workers] */
  double *released; /* [workers, slots] end of the access that had a slot */
  uint8_t *touched; /* [workers, samples] bits */
  int64_t *sample;  /* [batch] */
  uint8_t *from;    /* [batch] */
} run;

static weir_status reserve(run *r)
{
  load_simulation *const l = &r->l;
  const int64_t n = l->workers, whole = l->order.batch;
  const int64_t fit = l->load->staging.bytes / l->s->sample_bytes;
  const int64_t most = l->s->epochs * ((weir_sampler_epoch(&l->order) - 1) / n + 1);

  r->slots = fit < most ? fit : most;
  WEIR_TRY(weir_alloc(n, sizeof *r->worker, (void **)&r->worker));
  WEIR_TRY(weir_alloc(n * r->slots, sizeof *r->released, (void **)&r->released));
  WEIR_TRY(weir_alloc(n, (size_t)(l->order.samples + 7) / 8, (void **)&r->touched));
  WEIR_TRY(weir_alloc(whole, sizeof *r->sample, (void **)&r->sample));
  WEIR_TRY(weir_alloc(whole, sizeof *r->from, (void **)&r->from));
  return weir_alloc(whole, sizeof *l->scratch, (void **)&l->scratch);
}

static void finish(run *r)
{
  load_simulation *const l = &r->l;

  for (int c = 0; c < LOAD_CLASSES; c++) {
    weir_free(&l->held[c]);
  }
  load_owners_fini(&l->owners);
  weir_free(&l->state);
  weir_free(&l->count);
  weir_free(&l->scratch);
  weir_free(&r->worker);
  weir_free(&r->released);
  weir_free(&r->touched);
  weir_free(&r->sample);
  weir_free(&r->from);
}

/* An access of a sample that is fetched in so many seconds of a thread. */
static void step(run *r, int64_t i, double fetch_s)
{
  worker *const w = &r->worker[i];
  double *const released = &r->released[i * r->slots + w->n % r->slots];
  const double threads = r->policy->waits ? 1 : threads_of(&r->l);
  const double read = (fetch_s + r->write_s) / threads;
  const double begin = r->policy->waits ? w->end : fmax(w->ready, *released);

  w->ready = begin + read;
  const double start = fmax(w->ready, w->end);

  w->stalled += start - w->end;
  w->end = start + r->compute_s;
  *released = w->end;
  w->n++;
}

static void touch(run *r, int64_t i, int64_t sample)
{
  const int64_t row = (r->l.order.samples + 7) / 8;

  r->touched[i * row + sample / 8] |= (uint8_t)(1U << sample % 8);
}

/* Where the samples of a batch come from, then what that takes with as many workers at the source
 * as the batch has there. */
static void do_batch(run *r, int64_t number, weir_load_simulated *out)
{
  load_simulation *const l = &r->l;
  const load_batch b = load_batch_of(&l->order, number);
  int64_t readers = 0, lo, hi;

  weir_sampler_take(&l->order, b.epoch, b.at, b.n, r->sample);
  if (r->policy->share) {
    r->policy->share(l, number, b.n, r->sample);
  }
  for (int64_t i = 0; i < l->workers; i++) {
    bool reads = false;

    weir_sampler_share(b.n, i, l->workers, &lo, &hi);
    for (int64_t k = lo; k < hi; k++) {
      const int from = r->policy->origin(l, number, i, &r->sample[k]);

      r->from[k] = (uint8_t)from;
      reads = reads || from == WEIR_LOAD_SOURCE;
      out->from[from == LOAD_FAR_DIRECTORY ? WEIR_LOAD_REMOTE : from]++;
      touch(r, i, r->sample[k]);
    }
    readers += reads;
  }
  const double threads = r->policy->waits && !l->s->source_per_thread ? threads_of(l) : 1;
  const double source = load_source_s(l, readers) / threads; /* one thread has it all */

  for (int64_t i = 0; i < l->workers; i++) {
    weir_sampler_share(b.n, i, l->workers, &lo, &hi);
    for (int64_t k = lo; k < hi; k++) {
      step(r, i, r->from[k] == WEIR_LOAD_SOURCE ? source : l->fetch_s[r->from[k]]);
    }
  }
}

static void sum_up(const run *r, weir_load_simulated *out)
{
  const load_simulation *const l = &r->l;
  const int64_t row = (l->order.samples + 7) / 8;
  int64_t own = 0, any = 0;

  for (int64_t i = 0; i < l->workers; i++) {
    const worker *const w = &r->worker[i];

    out->seconds = fmax(out->seconds, l->staged_s + w->end);
    out->bound_s = fmax(out->bound_s, (double)w->n * r->compute_s);
    out->stalled_s += w->stalled / (double)l->workers;
  }
  out->staged_s = l->staged_s;
  for (int64_t k = 0; k < row; k++) {
    unsigned all = 0;

    for (int64_t i = 0; i < l->workers; i++) {
      all |= r->touched[i * row + k];
      own += __builtin_popcount(r->touched[i * row + k]);
    }
    any += __builtin_popcount(all);
  }
  out->touched = (double)own / (double)l->workers / (double)l->order.samples;
  out->reached = (double)any / (double)l->order.samples;
}

weir_status weir_load_simulate(const weir_load_cfg *load, const weir_load_simulation *s, int k,
                               int64_t workers, weir_load_simulated *out)
{
  const int64_t batch = workers * s->batch;
  run r = {.policy = &load_policies[k],
           .l = {.load = load,
                 .s = s,
                 .workers = workers,
                 .order = {.samples = s->samples,
                           .batch = batch,
                           .step = batch,
                           .shuffle = true,
                           .seed = (uint64_t)s->seed}}};
  weir_status status = WEIR_OK;

  *out = (weir_load_simulated){.seconds = 0};
  r.l.batches = s->epochs * load_batches(&r.l.order);
  r.compute_s = (double)s->sample_bytes / MB / s->compute_speed;
  set_machine(&r.l);
  r.write_s = tier_s(&r.l, &load->memory.speed, r.policy->waits ? 1 : load->staging.threads);
  if (s->preprocess_speed > 0) {
    r.write_s = fmax(r.write_s, (double)s->sample_bytes / MB / s->preprocess_speed);
  }
  WEIR_TRY_GOTO(reserve(&r), done);
  if (r.policy->prepare) {
    WEIR_TRY_GOTO(r.policy->prepare(&r.l), done);
  }
  for (int64_t t = 0; t < r.l.batches; t++) {
    if (weir_stop_requested()) {
      status = weir_fail(WEIR_ERR_STOPPED, "stopped by signal %d", weir_stop_signal());
      goto done;
    }
    do_batch(&r, t, out);
  }
  sum_up(&r, out);
done:
  finish(&r);
  return status;
}
