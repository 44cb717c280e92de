/* load.c - a loader from its opening to its end, and its consumer. */
#include "load/weir_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "load/load_priv.h"

enum { ALIGN = 64, SMALL_HEX = 16 };

/* ---- opening ---- */

/* Parts one after the other, each on a cache line. */
static weir_status lay_out(weir_load *l)
{
  for (int k = 0; k < l->source.n_fields; k++) {
    const int64_t size = (int64_t)weir_dtype_size(l->field[k].dtype);
    int64_t end = 0;

    l->offset[k] = l->bytes;
    if (!weir_mul_ok(weir_box_volume(&l->field[k].box), size, &l->size[k]) ||
        !weir_add_ok(l->bytes + ALIGN, l->size[k], &end)) {
      return weir_fail(WEIR_ERR_SHAPE, "load: the size of a sample overflows");
    }
    l->bytes = (end - 1) / ALIGN * ALIGN;
  }
  return l->bytes > 0 ? WEIR_OK : weir_fail(WEIR_ERR_SHAPE, "load: a sample is empty");
}

/* What files of this rank hold: another source, other fields or boxes have another key. */
static uint64_t key_of(const weir_load *l)
{
  char text[8192], hex[65];
  size_t at = 0;

  weir_sha256(l->source.key, strlen(l->source.key), text);
  at = strlen(text);
  for (int k = 0; k < l->source.n_fields; k++) {
    const weir_load_field *const p = &l->field[k];

    at += (size_t)snprintf(text + at, sizeof text - at, " %s", weir_dtype_name(p->dtype));
    for (int d = 0; d < p->box.rank; d++) {
      at += (size_t)snprintf(text + at, sizeof text - at, " %" PRId64 ":%" PRId64, p->box.lo[d],
                             p->box.hi[d]);
    }
  }
  weir_sha256(text, at, hex);
  hex[SMALL_HEX] = '\0';
  return strtoull(hex, NULL, 16);
}

static weir_status prepare(weir_load *l)
{
  WEIR_TRY(lay_out(l));
  WEIR_TRY(weir_load_suits(&l->cfg, l->source.peers != NULL, l->bytes));
  const weir_load_cfg *const c = &l->cfg;
  const int64_t readers = l->source.readers > 0 ? l->source.readers : l->visits.of;

  l->used[WEIR_LOAD_MEMORY] = c->memory.bytes > 0 && load_pays(c, readers, &c->memory.speed);
  l->used[WEIR_LOAD_DIRECTORY] =
      c->directory.bytes > 0 && load_pays(c, readers, &c->directory.speed);
  l->remote.used = l->source.peers != NULL && l->cfg.remote != WEIR_LOAD_OFF &&
                   l->used[WEIR_LOAD_MEMORY] && l->cfg.memory.bytes >= l->bytes;
  if (l->cfg.remote == WEIR_LOAD_ON && !l->remote.used) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "load.remote is on, but no sample is cached in memory: load.memory.bytes is "
                     "smaller than a sample, or load.memory.speed says that memory is slower than "
                     "the source (load.source.speed)");
  }
  if (l->remote.used) {
    l->remote.peers = *l->source.peers;
  }
  if (!l->used[WEIR_LOAD_DIRECTORY]) {
    return WEIR_OK;
  }
  l->folder.bytes = l->bytes;
  l->folder.keep = l->cfg.directory.keep;
  return load_folder_open(&l->folder, l->cfg.directory.path, key_of(l), l->visits.at);
}

weir_status weir_load_open(const weir_load_cfg *cfg, const weir_load_source *source,
                           const weir_access_stream *v, int64_t end, weir_load **out)
{
  weir_load *l = NULL;

  *out = NULL;
  if (source->n_fields < 1 || source->n_fields > WEIR_LOAD_FIELDS) {
    return weir_fail(WEIR_ERR_CONFIG, "load: a sample has 1 to %d fields, not %d", WEIR_LOAD_FIELDS,
                     source->n_fields);
  }
  WEIR_TRY(weir_alloc(1, sizeof *l, (void **)&l));
  l->cfg = *cfg;
  l->source = *source;
  memcpy(l->field, source->field, (size_t)source->n_fields * sizeof *l->field);
  l->visits = *v;
  l->end = end;
  l->lock = l->one = (weir_lock)WEIR_LOCK_INIT;
  l->changed = (weir_cond)WEIR_COND_INIT;
  const weir_status status = prepare(l);

  if (status != WEIR_OK) {
    weir_load_close(&l);
    return status;
  }
  *out = l;
  return WEIR_OK;
}

static void tell_plan(const weir_load *l, int64_t first)
{
  int64_t kept = 0;

  for (int64_t i = 0; l->remote.used && i < l->plan.samples; i++) {
    kept += l->remote.owners.by[i] >= 0;
  }
  weir_event("load_begin", WEIR_INT("visit", first), WEIR_INT("end", l->end),
             WEIR_INT("sample_bytes", l->bytes), WEIR_INT("staged", l->n_slots),
             WEIR_INT("memory", l->plan.n[WEIR_LOAD_MEMORY]),
             WEIR_INT("directory", l->plan.n[WEIR_LOAD_DIRECTORY]),
             WEIR_INT("copies", l->remote.copies.n),
             WEIR_INT("memory_of_all", l->remote.used ? kept : l->plan.n[WEIR_LOAD_MEMORY]));
}

/* Figures as an event; epoch 0: of all. */
static void tell(const weir_load *l, int64_t epoch, const weir_load_count *c, double seconds)
{
  const double each = (double)l->bytes;

  weir_event(epoch > 0 ? "load_epoch" : "load_end", WEIR_INT("epoch", epoch),
             WEIR_INT("visits", c->visits), WEIR_INT("memory", c->from[WEIR_LOAD_MEMORY]),
             WEIR_INT("directory", c->from[WEIR_LOAD_DIRECTORY]),
             WEIR_INT("remote", c->from[WEIR_LOAD_REMOTE]),
             WEIR_INT("source", c->from[WEIR_LOAD_SOURCE]), WEIR_INT("reads", c->reads),
             WEIR_INT("ahead", c->ahead), WEIR_INT("beside", c->uncached),
             WEIR_INT("sent", c->sent), WEIR_REAL("bytes", (double)c->visits * each),
             WEIR_REAL("memory_bytes", (double)c->from[WEIR_LOAD_MEMORY] * each),
             WEIR_REAL("directory_bytes", (double)c->from[WEIR_LOAD_DIRECTORY] * each),
             WEIR_REAL("remote_bytes", (double)c->from[WEIR_LOAD_REMOTE] * each),
             WEIR_REAL("source_bytes", (double)c->reads * each), WEIR_INT("waits", c->waits),
             WEIR_REAL("waited_s", c->waited_s), WEIR_REAL("seconds", seconds),
             WEIR_INT("damaged", c->damaged), WEIR_INT("lost", c->lost));
}

static void remove_files(weir_load *l)
{
  const load_plan *const p = &l->plan;

  for (int64_t i = 0; l->state && !l->folder.keep && i < p->n[WEIR_LOAD_DIRECTORY]; i++) {
    load_folder_remove(&l->folder, p->order[WEIR_LOAD_DIRECTORY][i]);
  }
}

void weir_load_close(weir_load **load)
{
  weir_load *const l = *load;

  if (l == NULL) {
    return;
  }
  load_end_threads(l);
  load_remote_close(l);
  if (l->all.visits > 0) {
    tell(l, 0, &l->all, weir_clock() - l->began);
  }
  remove_files(l);
  for (int64_t i = 0; l->slot && i < l->n_slots; i++) {
    weir_free(&l->slot[i].buffer);
  }
  weir_free(&l->slot);
  weir_free(&l->state);
  weir_free(&l->memory);
  weir_free(&l->aside);
  load_plan_fini(&l->plan);
  weir_free(load);
}

static weir_status make_slots(weir_load *l)
{
  const int64_t left = l->end - l->release, fit = l->cfg.staging.bytes / l->bytes;

  l->n_slots = fit < left ? fit : left > 0 ? left : 1;
  WEIR_TRY(weir_alloc(l->n_slots, sizeof *l->slot, (void **)&l->slot));
  for (int64_t i = 0; i < l->n_slots; i++) {
    l->slot[i].ready = -1;
    WEIR_TRY(weir_alloc(l->bytes, 1, (void **)&l->slot[i].buffer));
  }
  return WEIR_OK;
}

/* Files that an earlier run kept are as good as read. */
static weir_status take_files(weir_load *l)
{
  bool *found = NULL;

  WEIR_TRY(weir_alloc(l->plan.samples, sizeof *found, (void **)&found));
  load_folder_look(&l->folder, &l->plan, WEIR_LOAD_DIRECTORY, found);
  for (int64_t i = 0; i < l->plan.samples; i++) {
    l->state[i] = found[i] ? LOAD_CACHED : LOAD_ABSENT;
  }
  weir_free(&found);
  return WEIR_OK;
}

weir_status load_begin(weir_load *l, int64_t first)
{
  const int64_t bytes[LOAD_CLASSES] = {l->cfg.memory.bytes, l->cfg.directory.bytes};
  int64_t capacity[LOAD_CLASSES];

  WEIR_ASSERT(!l->started && first >= 0);
  l->fill = l->lend = l->release = first;
  for (int c = 0; c < LOAD_CLASSES; c++) {
    capacity[c] = l->used[c] ? bytes[c] / l->bytes : 0;
  }
  WEIR_TRY(load_plan_make(&l->visits, first, l->end, capacity,
                          l->remote.used ? &l->remote.owners : NULL, &l->plan));
  WEIR_TRY(weir_alloc(l->plan.samples, 1, (void **)&l->state));
  if (l->used[WEIR_LOAD_DIRECTORY]) {
    WEIR_TRY(take_files(l));
  }
  WEIR_TRY(weir_alloc(l->plan.n[WEIR_LOAD_MEMORY], (size_t)l->bytes, (void **)&l->memory));
  WEIR_TRY(make_slots(l));
  l->started = true;
  l->began = l->epoch_began = weir_clock();
  tell_plan(l, first);
  return load_begin_threads(l);
}

weir_status weir_load_start(weir_load *l, int64_t first)
{
  WEIR_ASSERT(!l->remote.used);
  WEIR_TRY(load_begin(l, first));
  return WEIR_OK;
}

/* ---- consuming ---- */

/* Behind the last visit of an epoch. */
static void end_epoch(weir_load *l, int64_t visit)
{
  weir_lock_take(&l->lock);
  const weir_load_count c = l->epoch;

  l->epoch = (weir_load_count){.visits = 0};
  weir_lock_give(&l->lock);
  const double now = weir_clock();

  tell(l, visit / l->visits.each + 1, &c, now - l->epoch_began);
  l->epoch_began = now;
}

static void count_visit(weir_load_count *c, weir_load_tier from, double waited)
{
  c->visits++;
  c->from[from]++;
  c->waits += waited > 0;
  c->waited_s += waited;
}

/* Until visit v is in its slot; the seconds that this took, 0 where it was there. */
static double wait_for(weir_load *l, int64_t v)
{
  const load_slot *const s = &l->slot[v % l->n_slots];
  const double begin = weir_clock();

  if (l->cfg.staging.threads == 0) {
    if (s->ready == v) {
      return 0; /* it failed before */
    }
    load_fill(l, v);
    return weir_clock() - begin;
  }
  weir_lock_take(&l->lock);
  const bool there = s->ready == v;

  while (s->ready != v) {
    weir_cond_wait(&l->changed, &l->lock);
  }
  weir_lock_give(&l->lock);
  return there ? 0 : weir_clock() - begin;
}

weir_status weir_load_next(weir_load *l, weir_load_view *out)
{
  const int64_t v = l->lend;

  WEIR_ASSERT(l->started);
  if (v >= l->end || v - l->release >= l->n_slots) {
    return weir_fail(WEIR_ERR_CONFIG,
                     v >= l->end ? "load: all %lld accesses are consumed"
                                 : "load.staging.bytes hold %lld samples, and more were requested "
                                   "before one was returned: increase it",
                     (long long)(v >= l->end ? l->end : l->n_slots));
  }
  const load_slot *const s = &l->slot[v % l->n_slots];
  const double waited = wait_for(l, v);

  if (s->status != WEIR_OK) {
    return weir_fail(s->status, "%s", s->message);
  }
  const bool comes = s->from == WEIR_LOAD_REMOTE;
  weir_load_tier from = s->from;
  const char *const data = comes ? load_arrived(l, v, s->sample, &from) : s->data;

  if (data == NULL) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "load: access %lld takes its sample from another rank, but its batch was not requested",
        (long long)v);
  }
  out->visit = v;
  out->sample = s->sample;
  for (int k = 0; k < l->source.n_fields; k++) {
    out->field[k] = data + l->offset[k];
  }
  weir_lock_take(&l->lock);
  count_visit(&l->all, from, comes ? 0 : waited);
  count_visit(&l->epoch, from, comes ? 0 : waited);
  l->lend++;
  weir_lock_give(&l->lock);
  if ((v + 1) % l->visits.each == 0 || v + 1 == l->end) {
    end_epoch(l, v);
  }
  return WEIR_OK;
}

void weir_load_release(weir_load *l)
{
  weir_lock_take(&l->lock);
  WEIR_ASSERT(l->release < l->lend);
  l->release++;
  weir_cond_broadcast(&l->changed);
  weir_lock_give(&l->lock);
}

weir_status weir_load_uncached(weir_load *l, int64_t sample, void *const *out)
{
  const weir_status status = load_call(l, sample, out);

  weir_lock_take(&l->lock);
  l->all.uncached++;
  l->epoch.uncached++;
  weir_lock_give(&l->lock);
  return status;
}

static weir_status get_next(weir_load *l, int64_t sample, weir_load_view *out)
{
  WEIR_TRY(weir_load_next(l, out));
  l->lent = true;
  return out->sample == sample
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "load: sample %lld requested at access %lld, where sample %lld is "
                         "expected: the training uses another sample order",
                         (long long)sample, (long long)out->visit, (long long)out->sample);
}

static weir_status get_aside(weir_load *l, int64_t sample, weir_load_view *out)
{
  void *to[WEIR_LOAD_FIELDS];

  if (l->aside == NULL) {
    WEIR_TRY(weir_alloc(l->bytes, 1, (void **)&l->aside));
  }
  *out = (weir_load_view){.visit = -1, .sample = sample};
  for (int k = 0; k < l->source.n_fields; k++) {
    out->field[k] = to[k] = l->aside + l->offset[k];
  }
  return weir_load_uncached(l, sample, to);
}

weir_status weir_load_get(weir_load *l, int64_t epoch, int64_t position, int64_t i, int64_t sample,
                          weir_load_view *out)
{
  const int64_t visit = weir_access_stream_from(&l->visits, epoch, position) + i;

  if (!l->started && l->remote.used) {
    return weir_fail(WEIR_ERR_CONFIG, "load: a sample was requested before any batch");
  }
  if (!l->started) {
    WEIR_TRY(weir_load_start(l, visit));
  }
  if (l->lent) {
    l->lent = false;
    weir_load_release(l);
  }
  return visit == l->lend && visit < l->end ? get_next(l, sample, out) : get_aside(l, sample, out);
}

/* ---- figures ---- */

weir_load_count weir_load_counted(weir_load *l)
{
  weir_lock_take(&l->lock);
  const weir_load_count c = l->all;

  weir_lock_give(&l->lock);
  return c;
}

int64_t load_n_assigned(const weir_load *l, weir_load_tier tier)
{
  return tier < WEIR_LOAD_SOURCE ? l->plan.n[tier] : 0;
}
