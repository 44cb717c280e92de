/* order_test.c - vector clocks against the definition: in random programs, every pair of uses that
 * conflict must be joined by a path of queue order, events and waiting of the host. */
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "device/weir_device.h"

enum {
  PROGRAMS = 400,
  STEPS = 60,
  QUEUES = 4,
  EVENTS = 3,
  ARRAYS = 3,
  BYTES = 64,
  NODES = 3 * STEPS
};

/* The definition: nodes in the order in which they are given, and which of them come before each.
 */
typedef struct node {
  int lo[2], hi[2], array[2]; /* what a copy writes, and reads; array -1: no copy */
  bool before[NODES];
} node;

typedef struct model {
  node nodes[NODES];
  int n;
  int last[QUEUES], event[EVENTS], host; /* nodes, -1: none */
} model;

static void follow(model *m, int later, int earlier)
{
  if (earlier >= 0) {
    m->nodes[later].before[earlier] = true;
    for (int k = 0; k < earlier; k++) {
      m->nodes[later].before[k] |= m->nodes[earlier].before[k];
    }
  }
}

static int add_node(model *m)
{
  m->nodes[m->n] = (node){.array = {-1, -1}};
  return m->n++;
}

static bool conflict(const node *a, const node *b)
{
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 2; k++) {
      if (a->array[i] >= 0 && a->array[i] == b->array[k] && a->lo[i] < b->hi[k] &&
          b->lo[k] < a->hi[i] && (i == 0 || k == 0)) {
        return true;
      }
    }
  }
  return false;
}

typedef struct run {
  weir_device *device;
  weir_device_queue *queues[QUEUES];
  weir_device_event *events[EVENTS];
  weir_device_arena *arena, *staging;
  char *arrays[ARRAYS];
  uint64_t seed, count;
  model m;
  int accepted, refused;
} run;

static int draw(run *r, int below)
{
  return (int)(weir_random_bits(r->seed, 7, 0, r->count++) % (uint64_t)below);
}

static void copy(run *r)
{
  const int queue = draw(r, QUEUES), to = draw(r, ARRAYS),
            from = (to + 1 + draw(r, ARRAYS - 1)) % ARRAYS, n = 1 + draw(r, BYTES / 2),
            p = draw(r, BYTES - n), q = draw(r, BYTES - n);
  model *m = &r->m;
  const int k = add_node(m);
  node *here = &m->nodes[k];
  bool ordered = true;

  *here = (node){.lo = {p, q}, .hi = {p + n, q + n}, .array = {to, from}};
  follow(m, k, m->last[queue]);
  follow(m, k, m->host);
  for (int i = 0; i < k; i++) {
    ordered = ordered && (here->before[i] || !conflict(here, &m->nodes[i]));
  }
  const weir_status status =
      weir_device_copy(r->queues[queue], r->arrays[to] + p, r->arrays[from] + q, n);
  assert_int_equal(status, ordered ? WEIR_OK : WEIR_ERR_EXTERNAL);
  if (ordered) {
    m->last[queue] = k;
    r->accepted++;
  } else {
    here->array[0] = here->array[1] = -1; /* it was not given */
    r->refused++;
  }
}

static void record(run *r)
{
  const int queue = draw(r, QUEUES), event = draw(r, EVENTS), k = add_node(&r->m);

  follow(&r->m, k, r->m.last[queue]);
  r->m.event[event] = k;
  assert_ok(weir_device_event_record(r->events[event], r->queues[queue]));
}

static void wait_event(run *r)
{
  const int queue = draw(r, QUEUES), event = draw(r, EVENTS);

  if (r->m.event[event] < 0) {
    assert_int_equal(weir_device_queue_wait(r->queues[queue], r->events[event]), WEIR_ERR_EXTERNAL);
    return;
  }
  const int k = add_node(&r->m);
  follow(&r->m, k, r->m.last[queue]);
  follow(&r->m, k, r->m.event[event]);
  r->m.last[queue] = k;
  assert_ok(weir_device_queue_wait(r->queues[queue], r->events[event]));
}

static void wait_host(run *r)
{
  const int queue = draw(r, QUEUES), k = add_node(&r->m);

  follow(&r->m, k, r->m.host);
  follow(&r->m, k, r->m.last[queue]);
  r->m.host = k;
  assert_ok(weir_device_queue_sync(r->queues[queue]));
}

static void begin(run *r, uint64_t seed)
{
  const int64_t bytes[] = {BYTES, BYTES, BYTES};
  void *arrays[ARRAYS], *host = NULL;

  memset(r, 0, sizeof *r);
  r->seed = seed;
  memset(r->m.last, -1, sizeof r->m.last);
  memset(r->m.event, -1, sizeof r->m.event);
  r->m.host = -1;
  assert_ok(weir_device_open("emulated", &(weir_device_options){.seed = seed}, &r->device));
  for (int i = 0; i < QUEUES; i++) {
    assert_ok(weir_device_queue_create(r->device, &r->queues[i]));
  }
  for (int i = 0; i < EVENTS; i++) {
    assert_ok(weir_device_event_create(r->device, &r->events[i]));
  }
  assert_ok(
      weir_device_arena_create(r->device, WEIR_SPACE_DEVICE, ARRAYS, bytes, arrays, &r->arena));
  assert_ok(weir_device_arena_create(r->device, WEIR_SPACE_STAGING, 1, bytes, &host, &r->staging));
  memset(host, 1, BYTES);
  for (int i = 0; i < ARRAYS; i++) { /* all bytes are set before the program */
    r->arrays[i] = arrays[i];
    assert_ok(weir_device_copy(r->queues[0], arrays[i], host, BYTES));
  }
  assert_ok(weir_device_queue_sync(r->queues[0]));
}

static void end(run *r)
{
  weir_device_arena_destroy(&r->staging);
  weir_device_arena_destroy(&r->arena);
  for (int i = 0; i < EVENTS; i++) {
    weir_device_event_destroy(&r->events[i]);
  }
  for (int i = 0; i < QUEUES; i++) {
    weir_device_queue_destroy(&r->queues[i]);
  }
  weir_device_close(&r->device);
}

static void conflicts_are_those_of_the_definition(void **state)
{
  int accepted = 0, refused = 0;
  static run r;

  for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
    begin(&r, seed);
    for (int k = 0; k < STEPS; k++) {
      const int which = draw(&r, 10);
      if (which < 5) {
        copy(&r);
      } else if (which < 7) {
        record(&r);
      } else if (which < 9) {
        wait_event(&r);
      } else {
        wait_host(&r);
      }
    }
    accepted += r.accepted;
    refused += r.refused;
    end(&r);
  }
  assert_true(accepted > 10 * PROGRAMS && refused > PROGRAMS); /* the programs tell them apart */
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(conflicts_are_those_of_the_definition)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
