/* order.c - vector clocks: an operation may use memory when every earlier use that it conflicts
 * with happens before it, by the order of one queue, by events, or because the host has waited. The
 * order in which work happens to run does not matter. */
#include <inttypes.h>
#include <stdio.h>

#include "base/weir_alloc.h"
#include "device/emulated/emulated_priv.h"

void emulated_clocks_join(clocks *c, const clocks *other)
{
  for (int k = 0; k < SLOTS; k++) {
    c->at[k] = c->at[k] > other->at[k] ? c->at[k] : other->at[k];
  }
}

bool emulated_clocks_reach(const int64_t done[SLOTS], const clocks *needed)
{
  for (int k = 0; k < SLOTS; k++) {
    if (done[k] < needed->at[k]) {
      return false;
    }
  }
  return true;
}

void emulated_describe(const device_op *op, char text[48])
{
  if (op->kind == DEVICE_COPY) {
    (void)snprintf(text, 48, "a copy");
  } else if (op->kind == DEVICE_CALL) {
    (void)snprintf(text, 48, "a host call");
  } else if (op->kind == DEVICE_LIBRARY) {
    (void)snprintf(text, 48, "a library call");
  } else {
    (void)snprintf(text, 48, "launch of %.36s", op->kernel->name);
  }
}

static bool conflicts(const record *r, const device_use *use)
{
  return r->array == use->array && r->lo < use->hi && use->lo < r->hi &&
         (r->write || (use->access & WEIR_DEVICE_WRITE) != 0);
}

weir_status emulated_timeline_check(timeline *t, int slot, const device_op *op)
{
  clocks *c = &t->queue[slot];

  emulated_clocks_join(c, &t->host);
  for (int k = 0; k < op->n_uses; k++) {
    const device_use *use = &op->uses[k];

    for (int64_t i = 0; i < t->n; i++) {
      const record *r = &t->records[i];

      if (conflicts(r, use) && c->at[r->slot] < r->time) {
        char what[48];
        emulated_describe(op, what);
        return weir_fail(WEIR_ERR_EXTERNAL,
                         "device emulated: %s on queue %d %s bytes [%" PRId64 ", %" PRId64
                         ") of array %" PRId64
                         ", which %s on queue %d %s without an ordering between the two: let queue "
                         "%d wait for an event recorded after %s",
                         what, slot, (use->access & WEIR_DEVICE_WRITE) != 0 ? "writes" : "reads",
                         use->lo, use->hi, use->array->number, r->what, r->slot,
                         r->write ? "writes" : "reads", slot, r->what);
      }
    }
  }
  return WEIR_OK;
}

/* Uses that a later, ordered write covers cannot conflict with anything that the write does not. */
static void drop_covered(timeline *t, const device_use *use)
{
  int64_t kept = 0;

  for (int64_t i = 0; i < t->n; i++) {
    const record *r = &t->records[i];
    if (r->array != use->array || r->lo < use->lo || r->hi > use->hi) {
      t->records[kept++] = *r;
    }
  }
  t->n = kept;
}

weir_status emulated_timeline_note(timeline *t, int slot, const device_op *op)
{
  const int64_t time = t->queue[slot].at[slot] + 1;

  WEIR_TRY(weir_reserve(&t->records, &t->capacity, t->n + op->n_uses, sizeof(record)));
  for (int k = 0; k < op->n_uses; k++) {
    if ((op->uses[k].access & WEIR_DEVICE_WRITE) != 0) {
      drop_covered(t, &op->uses[k]);
    }
  }
  for (int k = 0; k < op->n_uses; k++) {
    const device_use *use = &op->uses[k];
    record *r = &t->records[t->n++];

    *r = (record){.array = use->array,
                  .lo = use->lo,
                  .hi = use->hi,
                  .slot = slot,
                  .time = time,
                  .write = (use->access & WEIR_DEVICE_WRITE) != 0};
    emulated_describe(op, r->what);
  }
  return WEIR_OK;
}

void emulated_timeline_seen(timeline *t, const clocks *done)
{
  int64_t kept = 0;

  emulated_clocks_join(&t->host, done);
  for (int64_t i = 0; i < t->n; i++) {
    if (t->records[i].time > t->host.at[t->records[i].slot]) {
      t->records[kept++] = t->records[i];
    }
  }
  t->n = kept;
}

void emulated_timeline_forget(timeline *t, const weir_device_arena *arena)
{
  int64_t kept = 0;

  for (int64_t i = 0; i < t->n; i++) {
    if (t->records[i].array->arena != arena) {
      t->records[kept++] = t->records[i];
    }
  }
  t->n = kept;
}
