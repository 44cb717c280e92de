/* backend_run.c - a run on a device: what is copied when, and launches. */
#include "exec/backend/device/backend.h"

#include <string.h>

#include "base/weir_clock.h"

/* Arrays of p->backend->moving that are copied before group i, to where it runs; after it, what it
 * wrote is there alone. */
static int32_t bring(const weir_plan *p, int32_t i)
{
  const struct exec_backend *b = p->backend;
  const exec_step *s = &b->steps[i];
  const bool up = p->groups[i].on_device;
  int32_t n = 0;

  for (int32_t k = 0; k < s->n_reads; k++) {
    exec_side *side = &b->sides[s->arrays[k]];

    if (up ? !side->on_device : !side->on_host) {
      b->moving[n++] = s->arrays[k];
      side->on_device = side->on_host = true;
    }
  }
  for (int32_t k = 0; k < s->n_writes; k++) {
    exec_side *side = &b->sides[s->arrays[s->n_reads + k]];

    side->on_device = up;
    side->on_host = !up;
  }
  return n;
}

/* Likewise at the end: results, and new values of stored arrays. */
static int32_t fetch(const weir_plan *p)
{
  const struct exec_backend *b = p->backend;
  int32_t n = 0;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);
    const bool update = array->kind == WEIR_ARRAY_STORED && array->update >= 0;
    const int32_t wanted[2] = {array->output != NULL ? a : -1, update ? array->update : -1};

    for (int k = 0; k < 2; k++) {
      if (wanted[k] >= 0 && !b->sides[wanted[k]].on_host) {
        b->moving[n++] = wanted[k];
        b->sides[wanted[k]].on_host = true;
      }
    }
  }
  return n;
}

void exec_backend_begin(weir_plan *p)
{
  struct exec_backend *b = p->backend;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array_kind kind = weir_graph_get_array(p->g, a)->kind;

    b->sides[a].on_host = kind != WEIR_ARRAY_TEMPORARY;
    /* Constants stay where they have been copied to. */
    b->sides[a].on_device = b->sides[a].on_device && kind == WEIR_ARRAY_CONSTANT;
  }
}

static int64_t bytes_of(const struct exec_backend *b, int32_t n)
{
  int64_t bytes = 0;

  for (int32_t k = 0; k < n; k++) {
    bytes += b->sides[b->moving[k]].bytes;
  }
  return bytes;
}

/* Of arrays that calls of the host made. */
static int64_t bytes_of_host(const weir_plan *p, int32_t n)
{
  int64_t bytes = 0;

  for (int32_t k = 0; k < n; k++) {
    const int32_t a = p->backend->moving[k];
    const bool made = weir_graph_get_array(p->g, a)->kind == WEIR_ARRAY_TEMPORARY;

    bytes += made ? p->backend->sides[a].bytes : 0;
  }
  return bytes;
}

void exec_backend_count(weir_plan *p)
{
  struct exec_backend *b = p->backend;

  exec_backend_begin(p);
  for (int32_t a = 0; a < p->n_arrays; a++) { /* of every run but the first */
    b->sides[a].on_device = weir_graph_get_array(p->g, a)->kind == WEIR_ARRAY_CONSTANT;
  }
  for (int32_t i = 0; i < p->n_groups; i++) {
    const int32_t n = bring(p, i);
    const int64_t host = bytes_of_host(p, n);

    b->counted.host_up += p->groups[i].on_device ? host : 0;
    b->counted.up += p->groups[i].on_device ? bytes_of(b, n) - host : 0;
    b->counted.host_down += p->groups[i].on_device ? 0 : bytes_of(b, n);
  }
  b->counted.down = bytes_of(b, fetch(p));
  for (int32_t a = 0; a < p->n_arrays; a++) {
    b->sides[a].on_device = false;
  }
}

/* The later work of a queue waits for what the other has been given. */
static weir_status follow(weir_device_queue *later, weir_device_event *event,
                          weir_device_queue *earlier)
{
  WEIR_TRY(weir_device_event_record(event, earlier));
  WEIR_TRY(weir_device_queue_wait(later, event));
  return WEIR_OK;
}

static weir_status follow_work(struct exec_backend *b)
{
  WEIR_TRY(follow(b->copies, b->worked, b->work));
  b->ahead = false;
  return WEIR_OK;
}

/* To the device: a slot of the arena may still be read by launches that were given before. */
static weir_status copy_up(weir_plan *p, int32_t n)
{
  struct exec_backend *b = p->backend;
  bool slots = false;

  for (int32_t k = 0; k < n; k++) {
    const int32_t a = b->moving[k];
    const exec_side *side = &b->sides[a];
    const void *from = p->arrays[a].view.data;

    if (side->bytes > 0 && from != side->staging) {
      memcpy(side->staging, from, (size_t)side->bytes);
    }
    slots = slots || p->schedule.offset[a] >= 0;
  }
  if (slots && b->ahead) {
    WEIR_TRY(follow_work(b));
  }
  for (int32_t k = 0; k < n; k++) {
    const exec_side *side = &b->sides[b->moving[k]];

    WEIR_TRY(weir_device_copy(b->copies, side->device, side->staging, side->bytes));
  }
  if (n > 0) {
    WEIR_TRY(follow(b->work, b->copied, b->copies));
  }
  return WEIR_OK;
}

/* To the host, which waits. */
static weir_status copy_down(weir_plan *p, int32_t n)
{
  struct exec_backend *b = p->backend;

  if (n == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(follow_work(b));
  for (int32_t k = 0; k < n; k++) {
    const exec_side *side = &b->sides[b->moving[k]];

    WEIR_TRY(weir_device_copy(b->copies, side->staging, side->device, side->bytes));
  }
  WEIR_TRY(weir_device_queue_sync(b->copies));
  for (int32_t k = 0; k < n; k++) {
    const exec_side *side = &b->sides[b->moving[k]];
    void *to = p->arrays[b->moving[k]].view.data;

    if (side->bytes > 0 && to != side->staging) {
      memcpy(to, side->staging, (size_t)side->bytes);
    }
  }
  return WEIR_OK;
}

weir_status exec_backend_bring(weir_plan *p, const exec_group *group)
{
  const int32_t i = (int32_t)(group - p->groups), n = bring(p, i);

  WEIR_TRY(group->on_device ? copy_up(p, n) : copy_down(p, n));
  return WEIR_OK;
}

static weir_view view_of(const weir_plan *p, const exec_group *group, int64_t local, int32_t array)
{
  weir_view v = p->arrays[array].view;

  v.data = p->backend->sides[array].device;
  if (local >= 0) {
    v.data = p->backend->scratch + group->locals[local].offset;
  }
  return v;
}

weir_status exec_backend_run(weir_plan *p, exec_group *group)
{
  struct exec_backend *b = p->backend;
  weir_view in[WEIR_MAX_OPERANDS], out[WEIR_MAX_OUTPUTS];

  if (p->cfg.explain) { /* only then are launches, and copies before them, waited for */
    WEIR_TRY(weir_device_queue_sync(b->work));
  }
  const double start = p->cfg.explain ? weir_clock() : 0;

  for (int32_t k = 0; k < group->n_loops; k++) {
    const exec_loop *loop = &group->loops[k];
    const weir_loop_run run = {.box = weir_iterations(&loop->loop->access), .in = in, .out = out};

    for (int i = 0; i < loop->loop->access.n_in; i++) {
      in[i] = view_of(p, group, loop->in_local[i], loop->loop->in[i]);
    }
    for (int o = 0; o < loop->loop->access.n_out; o++) {
      out[o] = view_of(p, group, loop->out_local[o], loop->loop->out[o]);
    }
    b->failed = WEIR_OK;
    b->ahead = true;
    loop->engine->run(loop->context, &run);
    WEIR_TRY(b->failed);
  }
  if (p->cfg.explain) {
    WEIR_TRY(weir_device_queue_sync(b->work));
    group->seconds += weir_clock() - start;
  }
  group->calls++;
  return WEIR_OK;
}

weir_status exec_backend_end(weir_plan *p)
{
  struct exec_backend *b = p->backend;

  WEIR_TRY(copy_down(p, fetch(p)));
  WEIR_TRY(weir_device_queue_sync(b->work)); /* inputs and staging are the host's again */
  return WEIR_OK;
}

void exec_backend_drain(weir_plan *p)
{
  struct exec_backend *b = p->backend;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    b->sides[a].on_device = false; /* constants may not have come */
  }
  if (weir_device_queue_sync(b->work) == WEIR_OK) {
    weir_status status = weir_device_queue_sync(b->copies);

    (void)status; /* the run has failed already */
  }
}

void exec_backend_print(const weir_plan *p, FILE *out)
{
  const struct exec_backend *b = p->backend;
  int32_t launched = 0;

  for (int32_t i = 0; i < p->n_groups; i++) {
    launched += p->groups[i].on_device;
  }
  fprintf(out,
          "== device %s: %s\ngroups on the device: %d of %d; the others are host calls\nmemory: "
          "%lld bytes on the device, %lld bytes of staging\ncopied per run: %lld bytes to the "
          "device for launches, %lld bytes of results back; for host calls %lld bytes to the host, "
          "%lld bytes to the device\n",
          weir_device_name(b->device), weir_device_info_get(b->device)->model, (int)launched,
          (int)p->n_groups, (long long)b->memory_bytes, (long long)b->staging_bytes,
          (long long)b->counted.up, (long long)b->counted.down, (long long)b->counted.host_down,
          (long long)b->counted.host_up);
}
