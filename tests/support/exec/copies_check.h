/* copies_check.h - bytes that a device is asked to copy between spaces. Tests only. */
#ifndef COPIES_CHECK_H
#define COPIES_CHECK_H
#include "base/weir_check.h"
#include "device/device_priv.h"
#include "graph/weir_store_device.h"

/* Bytes copied since copies_begin; inside: within the device. */
static struct copies {
  const weir_device_ops *real;
  weir_device_ops ops;
  const weir_store_device *shared;
  weir_device *device;
  int64_t up, down, inside;
} copies;

static inline weir_status copies_enqueue(weir_device_queue *queue, const device_op *op)
{
  if (op->kind == DEVICE_COPY) {
    const bool to = op->uses[0].array->space == WEIR_SPACE_DEVICE;
    const bool from = op->uses[1].array->space == WEIR_SPACE_DEVICE;
    const int64_t bytes = op->uses[0].hi - op->uses[0].lo;

    copies.up += to && !from ? bytes : 0;
    copies.down += from && !to ? bytes : 0;
    copies.inside += from && to ? bytes : 0;
  }
  return copies.real->enqueue(queue, op);
}

/* Opens the store's device, and counts until copies_end. */
static inline void copies_begin(weir_store *s, const char *device)
{
  assert_ok(weir_store_device_use(s, device, &copies.shared));
  copies.device = copies.shared->device;
  copies.real = copies.device->ops;
  copies.ops = *copies.real;
  copies.ops.enqueue = copies_enqueue;
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
