/* devices.h - what the parts of conform_devices share. */
#ifndef DEVICES_H
#define DEVICES_H
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "device/weir_device.h"

enum { DEVICES_SEEDS = 3 };

/* Calls body for every row that opens, with several seeds. */
static inline void devices_each(void (*body)(weir_device *device, uint64_t seed))
{
  int opened = 0;

  for (int k = 0; weir_device_row_get(k) != NULL; k++) {
    const char *name = weir_device_row_get(k)->name;

    for (uint64_t seed = 0; seed < DEVICES_SEEDS; seed++) {
      weir_device *device = NULL;
      const weir_status status =
          weir_device_open(name, &(weir_device_options){.seed = seed}, &device);

      if (status != WEIR_OK) {
        assert_int_equal(status, WEIR_ERR_UNSUPPORTED);
        assert_null(device);
        break;
      }
      body(device, seed);
      weir_device_close(&device);
      assert_null(device);
      opened++;
    }
  }
  assert_true(opened >= 2 * DEVICES_SEEDS); /* cpu and emulated are on every machine */
}

static inline uint64_t devices_draw(uint64_t seed, uint64_t *count, uint64_t below)
{
  return weir_random_bits(seed, 1, 0, (*count)++) % below;
}

/* One array in an arena of its own. */
static inline void *devices_array(weir_device *device, weir_device_space space, int64_t bytes,
                                  weir_device_arena **arena)
{
  void *address = NULL;

  assert_ok(weir_device_arena_create(device, space, 1, &bytes, &address, arena));
  return address;
}

/* devices_call.c */
void devices_host_calls(void **state);
/* devices_refused.c */
void devices_refuse_misuse(void **state);
void devices_refuse_kernels(void **state);
void devices_bound_shared_memory(void **state);
/* devices_scalar.c */
void devices_scalar_operations(void **state);
void devices_scalars_compile_for_gpus_cuda(void **state);
#endif
