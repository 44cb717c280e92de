/* threads.c - what threads of a loader do: read visits into the staging buffer in their order, and
 * samples into their class in the order of first use. A sample that has a tier is read from the
 * source by one thread only; others that need it wait for that one. */
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "load/load_priv.h"

weir_status load_call(weir_load *l, int64_t sample, void *const *out)
{
  if (!l->source.parallel) {
    weir_lock_take(&l->one);
  }
  const weir_status status = l->source.read(l->source.context, sample, l->field, out);

  if (!l->source.parallel) {
    weir_lock_give(&l->one);
  }
  return status;
}

weir_status load_read(weir_load *l, int64_t sample, char *block)
{
  void *out[WEIR_LOAD_FIELDS];

  for (int k = 0; k < l->source.n_fields; k++) {
    out[k] = block + l->offset[k];
  }
  const weir_status status = load_call(l, sample, out);

  weir_lock_take(&l->lock);
  l->all.reads++;
  l->epoch.reads++;
  weir_lock_give(&l->lock);
  return status;
}

/* Caches the sample that was read; it continues without a tier where that fails. */
static void keep(weir_load *l, int64_t sample, weir_load_tier where, const char *block)
{
  const bool folder = where == WEIR_LOAD_DIRECTORY;
  const weir_status status = folder ? load_folder_put(&l->folder, sample, block) : WEIR_OK;

  weir_lock_take(&l->lock);
  const bool warned = l->warned;

  if (status != WEIR_OK) {
    l->plan.where[sample] = LOAD_CLASSES;
    l->warned = true;
    l->all.lost++;
    l->epoch.lost++;
  }
  l->state[sample] = status == WEIR_OK ? LOAD_CACHED : LOAD_ABSENT;
  weir_cond_broadcast(&l->changed);
  weir_lock_give(&l->lock);
  if (status != WEIR_OK && !warned) {
    weir_warn("load", "samples are read again instead of cached in %s: %s", l->cfg.directory.path,
              weir_last_message());
  }
}

static void give_up(weir_load *l, int64_t sample)
{
  weir_lock_take(&l->lock);
  l->state[sample] = LOAD_ABSENT;
  weir_cond_broadcast(&l->changed);
  weir_lock_give(&l->lock);
}

/* Where a sample of a class is read to. */
static char *target_of(const weir_load *l, int64_t sample, weir_load_tier where, char *buffer)
{
  return where == WEIR_LOAD_MEMORY ? l->memory + l->plan.slot[sample] * l->bytes : buffer;
}

/* Reads a sample that this thread has claimed (LOAD_COMING) and keeps it. */
static weir_status fetch(weir_load *l, int64_t sample, weir_load_tier where, char *target)
{
  const weir_status status = load_read(l, sample, target);

  if (status == WEIR_OK) {
    keep(l, sample, where, target);
  } else {
    give_up(l, sample);
  }
  return status;
}

/* Waits while another thread reads the sample; then returns its tier. This thread reads an absent
 * one. refused: how many files had been refused by then. */
static weir_load_tier claim(weir_load *l, int64_t sample, bool *cached, int64_t *refused)
{
  weir_lock_take(&l->lock);
  while (l->state[sample] == LOAD_COMING) {
    weir_cond_wait(&l->changed, &l->lock);
  }
  const weir_load_tier where = (weir_load_tier)l->plan.where[sample];

  *cached = l->state[sample] == LOAD_CACHED;
  *refused = l->all.damaged;
  if (!*cached && where < WEIR_LOAD_SOURCE) {
    l->state[sample] = LOAD_COMING;
  }
  weir_lock_give(&l->lock);
  return where;
}

/* A file that this thread refuses: whether it is to read the sample for it. Not where a file was
 * refused since it claimed the sample: it may have been this one, which another thread mends. */
static bool claim_damaged(weir_load *l, int64_t sample, int64_t refused)
{
  weir_lock_take(&l->lock);
  const bool mine = l->state[sample] == LOAD_CACHED && l->all.damaged == refused;

  if (mine) {
    l->state[sample] = LOAD_COMING;
    l->all.damaged++;
    l->epoch.damaged++;
  }
  weir_lock_give(&l->lock);
  return mine;
}

/* A sample into a slot. */
static weir_status bring(weir_load *l, int64_t sample, load_slot *s)
{
  for (;;) {
    bool cached = false;
    int64_t refused = 0;
    const weir_load_tier where = claim(l, sample, &cached, &refused);

    s->data = s->buffer;
    s->from = WEIR_LOAD_SOURCE;
    if (where == WEIR_LOAD_SOURCE) {
      return load_read(l, sample, s->buffer);
    }
    s->data = target_of(l, sample, where, s->buffer);
    if (cached && (where == WEIR_LOAD_MEMORY || load_folder_get(&l->folder, sample, s->buffer))) {
      s->from = where;
      return WEIR_OK;
    }
    if (!cached || claim_damaged(l, sample, refused)) {
      return fetch(l, sample, where, (char *)s->data);
    }
  }
}

weir_status load_hold(weir_load *l, int64_t sample)
{
  bool cached = false;
  int64_t refused = 0;
  const weir_load_tier where = claim(l, sample, &cached, &refused);

  if (cached) {
    return WEIR_OK;
  }
  weir_lock_take(&l->lock);
  l->all.ahead++;
  l->epoch.ahead++;
  weir_lock_give(&l->lock);
  return fetch(l, sample, where, target_of(l, sample, where, NULL));
}

/* For a sample from another rank, a slot states only its origin. */
static weir_status fill(weir_load *l, int64_t v, load_slot *s)
{
  if (!load_visit_comes(l, v, s->sample)) {
    return bring(l, s->sample, s);
  }
  s->data = NULL;
  s->from = WEIR_LOAD_REMOTE;
  return WEIR_OK;
}

void load_fill(weir_load *l, int64_t v)
{
  load_slot *const s = &l->slot[v % l->n_slots];

  s->sample = weir_access_stream_sample(&l->visits, v);
  s->status = fill(l, v, s);
  if (s->status != WEIR_OK) { /* the record of a failure is its thread's own */
    (void)snprintf(s->message, sizeof s->message, "%s", weir_last_message());
  }
  weir_lock_take(&l->lock);
  s->ready = v;
  weir_cond_broadcast(&l->changed);
  weir_lock_give(&l->lock);
}

/* Whether threads have space in the staging buffer for a visit that is to come. */
static bool hungry(const weir_load *l)
{
  return l->cfg.staging.threads > 0 && l->fill < l->end && l->fill < l->release + l->n_slots;
}

static weir_status serve_staging(void *worker)
{
  weir_load *const l = ((load_worker *)worker)->l;

  for (;;) {
    weir_lock_take(&l->lock);
    while (!l->leave && l->fill < l->end && !hungry(l)) {
      weir_cond_wait(&l->changed, &l->lock);
    }
    const bool go = !l->leave && l->fill < l->end;
    const int64_t v = go ? l->fill++ : -1;

    weir_lock_give(&l->lock);
    if (!go) {
      return WEIR_OK;
    }
    load_fill(l, v);
  }
}

/* The next sample of a class not yet read, claimed; -1: there is none, or it is time to
 * leave. Where read runs on one thread at a time, the staging buffer goes first. */
static int64_t claim_next(weir_load *l, int class)
{
  const load_plan *const p = &l->plan;
  int64_t *const at = &l->ahead[class], sample = -1;

  weir_lock_take(&l->lock);
  while (!l->leave && *at < p->n[class] && sample < 0) {
    const int64_t next = p->order[class][*at];

    if (l->state[next] != LOAD_ABSENT || p->where[next] != class) {
      *at += 1;
    } else if (!l->source.parallel && hungry(l)) {
      weir_cond_wait(&l->changed, &l->lock);
    } else {
      sample = next;
      *at += 1;
      l->state[sample] = LOAD_COMING;
      l->all.ahead++;
      l->epoch.ahead++;
    }
  }
  weir_lock_give(&l->lock);
  return sample;
}

/* A failure is left to the visit that meets it. */
static weir_status serve_class(void *worker)
{
  load_worker *const w = worker;
  const weir_load_tier where = (weir_load_tier)w->class;

  for (int64_t s = claim_next(w->l, w->class); s >= 0; s = claim_next(w->l, w->class)) {
    if (fetch(w->l, s, where, target_of(w->l, s, where, w->buffer)) != WEIR_OK) {
      weir_debug("load", "%s", weir_last_message());
    }
  }
  return WEIR_OK;
}

weir_status load_begin_threads(weir_load *l)
{
  const int64_t threads[LOAD_CLASSES + 1] = {
      l->plan.n[WEIR_LOAD_MEMORY] > 0 ? l->cfg.memory.threads : 0,
      l->plan.n[WEIR_LOAD_DIRECTORY] > 0 ? l->cfg.directory.threads : 0, l->cfg.staging.threads};

  WEIR_TRY(
      weir_alloc(threads[0] + threads[1] + threads[2], sizeof *l->worker, (void **)&l->worker));
  for (int class = LOAD_CLASSES; class >= 0; class --) {
    for (int64_t t = 0; t < threads[class]; t++) {
      load_worker *const w = &l->worker[l->n_workers];

      *w = (load_worker){.l = l, .class = class};
      if (class == WEIR_LOAD_DIRECTORY) {
        WEIR_TRY(weir_alloc(l->bytes, 1, (void **)&w->buffer));
      }
      l->n_workers++;
      WEIR_TRY(weir_worker_create(true, &w->worker));
    }
  }
  for (int64_t i = 0; i < l->n_workers; i++) {
    load_worker *const w = &l->worker[i];

    weir_worker_start(w->worker, w->class == LOAD_CLASSES ? serve_staging : serve_class, w);
  }
  return WEIR_OK;
}

void load_end_threads(weir_load *l)
{
  weir_lock_take(&l->lock);
  l->leave = true;
  weir_cond_broadcast(&l->changed);
  weir_lock_give(&l->lock);
  for (int64_t i = 0; i < l->n_workers; i++) {
    weir_worker_destroy(&l->worker[i].worker);
    weir_free(&l->worker[i].buffer);
  }
  weir_free(&l->worker);
  l->n_workers = 0;
}
