/* copies_check.h - bytes that a device is asked to copy between spaces, those of replays too. Tests
 * only. */
#ifndef COPIES_CHECK_H
#define COPIES_CHECK_H
#include "base/weir_check.h"
#include "device/device_priv.h"
#include "graph/weir_store_device.h"

enum { COPIES_CAPTURES = 32 };
typedef struct copies_bytes {
  int64_t up, down, inside;
} copies_bytes;

/* Bytes copied since copies_begin; inside: within the device. recorded: by the capture under way;
 * of: by those that have ended. */
static struct copies {
  const weir_device_ops *real;
  weir_device_ops ops;
  const weir_store_device *shared;
  weir_device *device;
  int64_t up, down, inside;
  copies_bytes recorded, of[COPIES_CAPTURES];
  const weir_device_capture *captures[COPIES_CAPTURES];
  int n;
} copies;

static inline void copies_add(copies_bytes b)
{
  copies.up += b.up;
  copies.down += b.down;
  copies.inside += b.inside;
}

static inline weir_status copies_enqueue(weir_device_queue *queue, const device_op *op)
{
  if (op->kind == DEVICE_COPY) {
    const bool to = op->uses[0].array->space == WEIR_SPACE_DEVICE;
    const bool from = op->uses[1].array->space == WEIR_SPACE_DEVICE;
    const int64_t bytes = op->uses[0].hi - op->uses[0].lo;

    const copies_bytes more = {to && !from ? bytes : 0, from && !to ? bytes : 0,
                               from && to ? bytes : 0};

    if (queue->device->capture == 0) {
      copies_add(more);
    } else {
      copies.recorded.up += more.up;
      copies.recorded.down += more.down;
      copies.recorded.inside += more.inside;
    }
  }
  return copies.real->enqueue(queue, op);
}

static inline weir_status copies_capture_end(weir_device_queue *queue, weir_device_capture *capture)
{
  assert_true(copies.n < COPIES_CAPTURES);
  copies.captures[copies.n] = capture;
  copies.of[copies.n++] = copies.recorded;
  copies.recorded = (copies_bytes){0, 0, 0};
  return copies.real->capture_end(queue, capture);
}

static inline weir_status copies_replay(weir_device_capture *capture, weir_device_queue *queue)
{
  int k = copies.n - 1; /* a later one may have the memory of one that is gone */

  while (k >= 0 && copies.captures[k] != capture) {
    k--;
  }
  assert_true(k >= 0);
  copies_add(copies.of[k]);
  return copies.real->replay(capture, queue);
}

/* Opens the store's device, and counts until copies_end. */
static inline void copies_begin(weir_store *s, const char *device)
{
  assert_ok(weir_store_device_use(s, device, &copies.shared));
  copies.device = copies.shared->device;
  copies.real = copies.device->ops;
  copies.ops = *copies.real;
  copies.ops.enqueue = copies_enqueue;
  copies.ops.capture_end = copies_capture_end;
  copies.ops.replay = copies_replay;
  copies.n = 0;
  copies.device->ops = &copies.ops;
  copies.up = copies.down = copies.inside = 0;
}

/* Bytes since the last call. */
static inline void copies_expect(int64_t up, int64_t down, int64_t inside)
{
  assert_int_equal(copies.up, up);
  assert_int_equal(copies.down, down);
  assert_int_equal(copies.inside, inside);
  copies.up = copies.down = copies.inside = 0;
}

static inline void copies_end(weir_store *s)
{
  copies.device->ops = copies.real;
  weir_store_device_release(s);
}
#endif
