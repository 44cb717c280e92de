/* simulation_policies.c - policies of loading: where a sample is when it is due. Plans, owners and
 * copies of ours are those that the loader makes. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "load/simulation_priv.h"

/* ---- From the source alone ---- */

static int from_source(load_simulation *l, int64_t batch, int64_t i, int64_t *sample)
{
  (void)l, (void)batch, (void)i, (void)sample;
  return WEIR_LOAD_SOURCE;
}

/* ---- First touch: LBANN's data store, and locality-aware loading ---- */

/* Each worker keeps what it reads first, up to so many samples. */
static weir_status own_first(load_simulation *l, int64_t capacity)
{
  return load_owners_make(&l->order, l->workers, 0, l->batches, capacity, &l->owners);
}

static weir_status lbann_prepare(load_simulation *l)
{
  if (l->capacity[WEIR_LOAD_MEMORY] < (l->order.samples - 1) / l->workers + 1) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "lbann: its store holds samples in memory alone, and %lld workers with "
                     "load.memory.bytes of %lld samples each do not hold %lld",
                     (long long)l->workers, (long long)l->capacity[WEIR_LOAD_MEMORY],
                     (long long)l->order.samples);
  }
  return own_first(l, l->capacity[WEIR_LOAD_MEMORY]);
}

static int lbann_origin(load_simulation *l, int64_t batch, int64_t i, int64_t *sample)
{
  const int32_t by = l->owners.by[*sample];

  if (by < 0 || batch <= l->owners.since[*sample]) {
    return WEIR_LOAD_SOURCE;
  }
  return by == i ? WEIR_LOAD_MEMORY : WEIR_LOAD_REMOTE;
}

/* state: the tier in which the owner has each sample; memory is filled before the directory. */
static weir_status locality_prepare(load_simulation *l)
{
  WEIR_TRY(own_first(l, l->capacity[WEIR_LOAD_MEMORY] + l->capacity[WEIR_LOAD_DIRECTORY]));
  WEIR_TRY(weir_alloc(l->order.samples, 1, (void **)&l->state));
  WEIR_TRY(weir_alloc(2 * l->workers, sizeof *l->count, (void **)&l->count));
  for (int64_t t = 0; t < l->batches && t < load_batches(&l->order); t++) {
    const load_batch b = load_batch_of(&l->order, t);

    weir_sampler_take(&l->order, b.epoch, b.at, b.n, l->scratch);
    for (int64_t k = 0; k < b.n; k++) {
      const int32_t by = l->owners.by[l->scratch[k]];

      if (by >= 0) {
        l->state[l->scratch[k]] =
            l->count[by]++ < l->capacity[WEIR_LOAD_MEMORY] ? WEIR_LOAD_MEMORY : WEIR_LOAD_DIRECTORY;
      }
    }
  }
  return WEIR_OK;
}

/* Each sample goes to the worker that has it while that has a place left in the batch; the others
 * fill the places in order (Yang and Cong, HiPC 2019). */
static void locality_share(load_simulation *l, int64_t batch, int64_t n, int64_t *sample)
{
  int64_t *const next = l->count, *const end = l->count + l->workers, left = 0, g = 0;

  for (int64_t i = 0; i < l->workers; i++) {
    weir_sampler_share(n, i, l->workers, &next[i], &end[i]);
  }
  for (int64_t k = 0; k < n; k++) {
    const int32_t by = l->owners.by[sample[k]];
    const bool there = by >= 0 && batch > l->owners.since[sample[k]] && next[by] < end[by];

    if (there) {
      l->scratch[next[by]++] = sample[k];
    } else {
      sample[left++] = sample[k];
    }
  }
  for (int64_t k = 0; k < left; k++) {
    while (next[g] == end[g]) {
      g++;
    }
    l->scratch[next[g]++] = sample[k];
  }
  memcpy(sample, l->scratch, (size_t)n * sizeof *sample);
}

static int locality_origin(load_simulation *l, int64_t batch, int64_t i, int64_t *sample)
{
  const int32_t by = l->owners.by[*sample];
  const int tier = l->state[*sample];

  if (by < 0 || batch <= l->owners.since[*sample]) {
    return WEIR_LOAD_SOURCE;
  }
  if (by == i) {
    return tier;
  }
  return tier == WEIR_LOAD_MEMORY ? WEIR_LOAD_REMOTE : LOAD_FAR_DIRECTORY;
}

/* ---- Shards ---- */

/* Samples that worker i can hold of its shard. */
static int64_t shard_of(const load_simulation *l, int64_t i, int64_t *first)
{
  const int64_t most = l->capacity[WEIR_LOAD_MEMORY] + l->capacity[WEIR_LOAD_DIRECTORY];
  int64_t end;

  weir_sampler_share(l->order.samples, i, l->workers, first, &end);
  return end - *first < most ? end - *first : most;
}

static weir_status sharding_prepare(load_simulation *l)
{
  const double threads = l->load->staging.threads > 0 ? (double)l->load->staging.threads : 1;
  int64_t most = 0, first;

  for (int64_t i = 0; i < l->workers; i++) {
    const int64_t n = shard_of(l, i, &first);

    if (n == 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "sharding: worker %lld of %lld has no shard, or load.memory.bytes and "
                       "load.directory.bytes hold no sample of it",
                       (long long)i + 1, (long long)l->workers);
    }
    most = n > most ? n : most;
  }
  l->staged_s = (double)most * load_source_s(l, l->workers) / threads;
  return weir_alloc(l->workers, sizeof *l->count, (void **)&l->count);
}

/* Its own samples, in an order of their own in each pass. */
static int sharding_origin(load_simulation *l, int64_t batch, int64_t i, int64_t *sample)
{
  int64_t first;
  const int64_t n = shard_of(l, i, &first), k = l->count[i]++;
  const weir_shuffle s = weir_shuffle_of(n, l->order.seed + (uint64_t)i + 1, k / n);
  const int64_t own = weir_shuffle_at(&s, k % n);

  (void)batch;
  *sample = first + own;
  return own < l->capacity[WEIR_LOAD_MEMORY] ? WEIR_LOAD_MEMORY : WEIR_LOAD_DIRECTORY;
}

/* ---- Plans by frequency: NoPFS, and tiers of ours ---- */

/* The tiers of each worker as the loader plans them. */
static weir_status plan_all(load_simulation *l, const load_owners *owners)
{
  const int64_t n = l->order.samples;

  WEIR_TRY(weir_alloc(l->workers * n, 1, (void **)&l->state));
  for (int64_t i = 0; i < l->workers; i++) {
    const weir_access_stream v = weir_access_stream_of(&l->order, i, l->workers);
    load_plan p;

    WEIR_TRY(load_plan_make(&v, 0, l->s->epochs * v.each, l->capacity, owners, &p));
    memcpy(l->state + i * n, p.where, (size_t)n);
    load_plan_fini(&p);
  }
  return WEIR_OK;
}

/* As the paper has it: also samples that come once. */
static void plan_by_frequency(load_simulation *l, int64_t i, load_use *uses)
{
  const weir_access_stream v = weir_access_stream_of(&l->order, i, l->workers);
  const int64_t n = l->order.samples;
  uint8_t *const state = l->state + i * n;
  int64_t at = 0;

  load_uses_count(&v, 0, l->s->epochs * v.each, uses);
  const int64_t some = load_uses_frequent(uses, n, 1);

  memset(state, LOAD_CLASSES, (size_t)n);
  for (int c = 0; c < LOAD_CLASSES; c++) {
    for (int64_t k = 0; k < l->capacity[c] && at < some; k++) {
      state[uses[at++].sample] = (uint8_t)c;
    }
  }
}

static weir_status nopfs_prepare(load_simulation *l)
{
  const int64_t n = l->order.samples;
  load_use *uses = NULL;

  for (int c = 0; c < LOAD_CLASSES; c++) {
    WEIR_TRY(weir_alloc(n, sizeof *l->held[c], (void **)&l->held[c]));
  }
  WEIR_TRY(weir_alloc(l->workers * n, 1, (void **)&l->state));
  WEIR_TRY(weir_alloc(n, sizeof *uses, (void **)&uses));
  for (int64_t i = 0; i < l->workers; i++) {
    plan_by_frequency(l, i, uses);
  }
  weir_free(&uses);
  return WEIR_OK;
}

/* The fastest of a local tier, another worker's, the source; of equal ones the first of these. */
static int nopfs_origin(load_simulation *l, int64_t batch, int64_t i, int64_t *sample)
{
  uint8_t *const has = &l->state[i * l->order.samples + *sample];
  const int tier = *has & LOAD_HAS_TIER;
  const bool there = (*has & LOAD_HAS) != 0;
  int best = WEIR_LOAD_SOURCE;

  (void)batch;
  for (int c = LOAD_CLASSES - 1; c >= 0; c--) {
    const int far = c == WEIR_LOAD_MEMORY ? WEIR_LOAD_REMOTE : LOAD_FAR_DIRECTORY;
    const bool others = l->held[c][*sample] > (there && tier == c);

    best = others && l->fetch_s[far] <= l->fetch_s[best] ? far : best;
  }
  if (there) {
    return l->fetch_s[tier] <= l->fetch_s[best] ? tier : best;
  }
  if (tier < LOAD_CLASSES) {
    *has |= LOAD_HAS;
    l->held[tier][*sample]++;
  }
  return best;
}

/* ---- The loader of this library (docs/decisions/0017-loading.md) ---- */

/* Copies that worker i keeps of samples of others. */
static weir_status mark_copies(load_simulation *l, int64_t i)
{
  const weir_access_stream v = weir_access_stream_of(&l->order, i, l->workers);
  const int64_t n = l->order.samples;
  load_copies c = {.n = 0};
  const weir_status status = load_copies_choose(&v, 0, &l->owners, l->s->epochs * v.each,
                                                l->capacity[WEIR_LOAD_MEMORY], &c);

  for (int64_t k = 0; status == WEIR_OK && k < n; k++) {
    l->state[i * n + k] |= c.index[k] >= 0 ? LOAD_WANTS_COPY : 0;
  }
  load_copies_fini(&c);
  return status;
}

static weir_status weir_prepare(load_simulation *l)
{
  const weir_load_cfg *const c = l->load;
  const weir_real_list *const speed[LOAD_CLASSES] = {&c->memory.speed, &c->directory.speed};
  const int64_t n = l->order.samples;

  for (int k = 0; k < LOAD_CLASSES; k++) {
    l->capacity[k] = load_pays(c, l->workers, speed[k]) ? l->capacity[k] : 0;
  }
  l->remote = l->workers > 1 && c->remote != WEIR_LOAD_OFF && l->capacity[WEIR_LOAD_MEMORY] > 0;
  if (!l->remote) {
    return plan_all(l, NULL);
  }
  if (isinf(l->fetch_s[WEIR_LOAD_REMOTE])) {
    return weir_fail(WEIR_ERR_CONFIG, "weir: samples come from other workers, but "
                                      "loading.network_speed is 0: state it, or load.remote=off");
  }
  WEIR_TRY(own_first(l, l->capacity[WEIR_LOAD_MEMORY]));
  WEIR_TRY(plan_all(l, &l->owners));
  for (int64_t i = 0; i < l->workers && l->workers * l->capacity[WEIR_LOAD_MEMORY] > n; i++) {
    WEIR_TRY(mark_copies(l, i));
  }
  return WEIR_OK;
}

static int weir_origin_of(load_simulation *l, int64_t batch, int64_t i, int64_t *sample)
{
  uint8_t *const has = &l->state[i * l->order.samples + *sample];
  const int tier = *has & LOAD_HAS_TIER;

  if (l->remote && load_comes(&l->owners, i, batch, *sample)) {
    const int from = (*has & LOAD_HAS_COPY) != 0 ? WEIR_LOAD_MEMORY : WEIR_LOAD_REMOTE;

    *has |= (*has & LOAD_WANTS_COPY) != 0 ? LOAD_HAS_COPY : 0;
    return from;
  }
  if (tier < LOAD_CLASSES && (*has & LOAD_HAS) != 0) {
    return tier;
  }
  *has |= LOAD_HAS;
  return WEIR_LOAD_SOURCE;
}

const load_policy load_policies[] = {
    {"naive", "each sample is read from the source when it is due, by one thread", true, NULL, NULL,
     from_source},
    {"double_buffering",
     "the staging buffer is filled from the source in the order of the steps (PyTorch, tf.data)",
     false, NULL, NULL, from_source},
    {"lbann", "each sample stays in the memory of the worker that reads it first (LBANN)", false,
     lbann_prepare, NULL, lbann_origin},
    {"sharding",
     "each worker trains on its own shard, read before the first step, as much as it can store",
     false, sharding_prepare, NULL, sharding_origin},
    {"locality_aware",
     "as lbann, in all tiers; samples of a batch go to the workers that have them (Yang and Cong)",
     false, locality_prepare, locality_share, locality_origin},
    {"nopfs",
     "each worker keeps its most frequent samples, fast tiers first; the nearest copy is fetched "
     "(Dryden et al.)",
     false, nopfs_prepare, NULL, nopfs_origin},
    {"weir",
     "the loader of this program: owners in memory that send to others, frequent copies, a "
     "directory for the rest",
     false, weir_prepare, NULL, weir_origin_of},
    {NULL, NULL, false, NULL, NULL, NULL},
};
