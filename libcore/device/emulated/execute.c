/* execute.c - one copy, call or launch. A launch or library call runs twice, threads in ascending
 * and in descending order, from different values in all that it should not read: the bits must
 * agree. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/host_kernel.h"
#include "device/host_library.h"
#include "device/emulated/emulated_priv.h"

void emulated_protect(emulated *e)
{
  const weir_device *d = e->device;

  for (int64_t i = 0; i < d->n_arrays; i++) {
    const device_array *array = d->arrays[i];
    page_access access = array->space == WEIR_SPACE_STAGING ? PAGES_WRITE : PAGES_NONE;

    for (int64_t k = 0; k < e->line.n && access != PAGES_NONE; k++) {
      const record *r = &e->line.records[k];
      if (r->array == array && r->time > e->line.host.at[r->slot]) {
        access = r->write ? PAGES_NONE : PAGES_READ;
      }
    }
    emulated_pages_allow(array, access);
  }
}

/* Opens what the operation names, as far as it says, and closes everything else. */
static void open_uses(const emulated *e, const device_op *op)
{
  for (int64_t i = 0; i < e->device->n_arrays; i++) {
    emulated_pages_allow(e->device->arrays[i], PAGES_NONE);
  }
  for (int k = 0; k < op->n_uses; k++) {
    emulated_pages_allow(op->uses[k].array, PAGES_READ);
  }
  for (int k = 0; k < op->n_uses; k++) {
    if ((op->uses[k].access & WEIR_DEVICE_WRITE) != 0) {
      emulated_pages_allow(op->uses[k].array, PAGES_WRITE);
    }
  }
}

static void run_copy(const device_op *op)
{
  const device_use *to = &op->uses[0], *from = &op->uses[1];

  memcpy(to->array->address + to->lo, from->array->address + from->lo, (size_t)(to->hi - to->lo));
}

/* ---- Launches. ---- */

/* An array that a launch writes: its pages before, after the first run, and which bytes may
 * change. */
typedef struct saved {
  const device_array *array;
  char *before, *first, *mask;
} saved;

typedef struct twice {
  const device_op *op;
  saved *arrays;
  int n;
} twice;

static weir_status save(const device_array *array, saved *s)
{
  const pages *p = array->state;
  void *memory = NULL;

  s->array = array;
  WEIR_TRY(weir_alloc(p->bytes, 1, &memory));
  s->before = memcpy(memory, p->pages, (size_t)p->bytes);
  WEIR_TRY(weir_alloc(p->bytes, 1, &memory));
  s->first = memory;
  WEIR_TRY(weir_alloc(p->bytes, 1, &memory));
  s->mask = memory;
  return WEIR_OK;
}

static saved *saved_of(twice *t, const device_array *array)
{
  for (int i = 0; i < t->n; i++) {
    if (t->arrays[i].array == array) {
      return &t->arrays[i];
    }
  }
  return NULL;
}

static weir_status save_written(twice *t)
{
  void *memory = NULL;

  WEIR_TRY(weir_alloc(t->op->n_uses, sizeof(saved), &memory));
  t->arrays = memory;
  for (int k = 0; k < t->op->n_uses; k++) {
    const device_use *use = &t->op->uses[k];

    if ((use->access & WEIR_DEVICE_WRITE) != 0) {
      const pages *p = use->array->state;
      if (saved_of(t, use->array) == NULL) {
        WEIR_TRY(save(use->array, &t->arrays[t->n++]));
      }
      memset(saved_of(t, use->array)->mask + (use->array->address - p->pages) + use->lo, 1,
             (size_t)(use->hi - use->lo));
    }
  }
  return WEIR_OK;
}

static void free_saved(twice *t)
{
  for (int i = 0; t->arrays != NULL && i < t->op->n_uses; i++) {
    weir_free(&t->arrays[i].before);
    weir_free(&t->arrays[i].first);
    weir_free(&t->arrays[i].mask);
  }
  weir_free(&t->arrays);
}

/* Fills what is written and not read. */
static void fill_written(const device_op *op, int which)
{
  for (int k = 0; k < op->n_uses; k++) {
    const device_use *use = &op->uses[k];
    if (use->access == WEIR_DEVICE_WRITE) {
      emulated_pages_fill(use->array->address + use->lo, use->hi - use->lo, which);
    }
  }
}

/* Names the array that a launch must not touch as it did. */
static weir_status explain_fault(const emulated *e, const device_op *op, const void *fault)
{
  const char *at = fault;

  for (int64_t i = 0; i < e->device->n_arrays; i++) {
    const device_array *array = e->device->arrays[i];
    const pages *p = array->state;

    if (at >= p->map && at < p->map + p->map_bytes) {
      return weir_fail(WEIR_ERR_EXTERNAL,
                       "device emulated: launch of %s touches byte %" PRId64 " of array %" PRId64
                       " (%" PRId64 " bytes), which its ranges do not allow",
                       op->kernel->name, (int64_t)(at - array->address), array->number,
                       array->bytes);
    }
  }
  return WEIR_ERR_EXTERNAL; /* with the message there is */
}

static weir_status run_once(const emulated *e, const device_op *op, int which)
{
  const void *fault = NULL;
  const host_run run = {.op = op, .descending = which == 1, .poison = which == 1 ? 0xA5 : 0x5A};

  fill_written(op, which);
  if (op->kind == DEVICE_LIBRARY) {
    WEIR_TRY(host_library_run(&op->call->spec, op->operand));
    return WEIR_OK;
  }
  const weir_status status = host_kernel_run(op->kernel->state, &run, true, &fault);
  if (fault != NULL) {
    return explain_fault(e, op, fault);
  }
  WEIR_TRY(status);
  return WEIR_OK;
}

static weir_status compare(const device_op *op, const saved *s)
{
  const pages *p = s->array->state;
  char what[48];

  emulated_describe(op, what);
  for (int64_t i = 0; i < p->bytes; i++) {
    const int64_t byte = p->pages + i - s->array->address;

    if (s->mask[i] != 0 && p->pages[i] != s->first[i]) {
      return weir_fail(WEIR_ERR_EXTERNAL,
                       "device emulated: %s: byte %" PRId64 " of array %" PRId64
                       " depends on the order of threads or on uninitialised memory, or is not "
                       "written: look for a missing barrier or bound",
                       what, byte, s->array->number);
    }
    if (s->mask[i] == 0 && (p->pages[i] != s->before[i] || s->first[i] != s->before[i])) {
      return weir_fail(WEIR_ERR_EXTERNAL,
                       "device emulated: %s writes byte %" PRId64 " of array %" PRId64 " (%" PRId64
                       " bytes), which is in none of the ranges that it writes",
                       what, byte, s->array->number, s->array->bytes);
    }
  }
  return WEIR_OK;
}

static weir_status run_launch(const emulated *e, const device_op *op)
{
  weir_status status = WEIR_OK;
  twice t = {.op = op};

  WEIR_TRY_GOTO(save_written(&t), done);
  WEIR_TRY_GOTO(run_once(e, op, 0), done);
  for (int i = 0; i < t.n; i++) {
    const pages *p = t.arrays[i].array->state;
    memcpy(t.arrays[i].first, p->pages, (size_t)p->bytes);
    memcpy(p->pages, t.arrays[i].before, (size_t)p->bytes);
  }
  WEIR_TRY_GOTO(run_once(e, op, 1), done);
  for (int i = 0; i < t.n; i++) {
    WEIR_TRY_GOTO(compare(op, &t.arrays[i]), done);
  }
done:
  free_saved(&t);
  return status;
}

weir_status emulated_execute(emulated *e, const device_op *op)
{
  weir_status status = WEIR_OK;

  open_uses(e, op);
  if (op->kind == DEVICE_COPY) {
    run_copy(op);
  } else if (op->kind == DEVICE_CALL) {
    op->body(op->context);
  } else {
    status = run_launch(e, op);
  }
  emulated_protect(e);
  return status == WEIR_OK ? WEIR_OK : weir_trace_at(status, __FILE__, __LINE__, __func__);
}
