/* devices_call.c - calls of the host in the order of a queue, and in captured replays. */
#include <string.h>
#include "devices.h"

enum { WORDS = 333, ROUNDS = 4 };

/* What the host adds, between a copy from the device and one back. */
typedef struct sums {
  uint32_t *words;
  uint32_t calls, total;
} sums;

static void add_up(void *context)
{
  sums *s = context;

  s->calls++;
  for (uint32_t i = 0; i < WORDS; i++) {
    s->total += s->words[i];
    s->words[i] = s->words[i] * 3 + s->calls;
  }
}

typedef struct bed {
  weir_device_queue *queue;
  weir_device_arena *arena, *staging;
  uint32_t *device, *host, *room;
  sums sums;
} bed;

static weir_status one_round(bed *b)
{
  const weir_device_range range = {b->room, 4 * WORDS, WEIR_DEVICE_UPDATE};

  WEIR_TRY(weir_device_copy(b->queue, b->room, b->device, 4 * WORDS));
  WEIR_TRY(weir_device_call(b->queue, add_up, &b->sums, &range, 1));
  WEIR_TRY(weir_device_copy(b->queue, b->device, b->room, 4 * WORDS));
  return WEIR_OK;
}

static void run_rounds(bed *b)
{
  weir_device_capture *capture = NULL;

  for (int k = 0; k < ROUNDS; k++) {
    assert_ok(one_round(b));
  }
  assert_ok(weir_device_capture_begin(b->queue));
  assert_ok(one_round(b));
  assert_ok(weir_device_capture_end(b->queue, &capture));
  for (int k = 0; k < ROUNDS; k++) {
    assert_ok(weir_device_replay(capture, b->queue));
  }
  assert_ok(weir_device_copy(b->queue, b->host, b->device, 4 * WORDS));
  assert_ok(weir_device_queue_sync(b->queue));
  weir_device_capture_destroy(&capture);
}

static void check_calls(weir_device *device, uint64_t seed)
{
  const int64_t bytes[] = {4 * WORDS, 4 * WORDS};
  uint32_t expected[WORDS];
  void *hosts[2];
  bed b = {.queue = NULL};
  sums model = {.words = expected};

  assert_ok(weir_device_queue_create(device, &b.queue));
  b.device = devices_array(device, WEIR_SPACE_DEVICE, 4 * WORDS, &b.arena);
  assert_ok(weir_device_arena_create(device, WEIR_SPACE_STAGING, 2, bytes, hosts, &b.staging));
  b.host = hosts[0];
  b.room = b.sums.words = hosts[1];
  for (uint32_t i = 0; i < WORDS; i++) {
    b.host[i] = expected[i] = (uint32_t)weir_random_bits(seed, 8, 0, i);
  }
  assert_int_equal(weir_device_call(b.queue, add_up, &b.sums,
                                    &(weir_device_range){b.device, 4, WEIR_DEVICE_READ}, 1),
                   WEIR_ERR_SHAPE); /* the host cannot reach it */
  assert_ok(weir_device_copy(b.queue, b.device, b.host, 4 * WORDS));
  run_rounds(&b);
  while (model.calls < 2 * ROUNDS) {
    add_up(&model);
  }
  assert_int_equal(b.sums.calls, model.calls);
  assert_int_equal(b.sums.total, model.total);
  assert_memory_equal(b.host, expected, sizeof expected);
  weir_device_arena_destroy(&b.staging);
  weir_device_arena_destroy(&b.arena);
  weir_device_queue_destroy(&b.queue);
}

void devices_host_calls(void **state)
{
  devices_each(check_calls);
}
