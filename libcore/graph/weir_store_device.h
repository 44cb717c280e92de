/* weir_store_device.h - the device's side of stored arrays: for back ends of plans. */
#ifndef WEIR_STORE_DEVICE_H
#define WEIR_STORE_DEVICE_H
#include "device/weir_device.h"
#include "graph/weir_store.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The device of a store with its queues, which the plans over the store share: a run leaves both
 * queues idle. */
typedef struct weir_store_device {
  weir_device *device;
  weir_device_queue *work, *copies; /* launches, and copies inside the device; other copies */
} weir_store_device;

/* The sides of an array. Memory is NULL until weir_store_sides_create. */
typedef struct weir_store_sides {
  const weir_tensor *host;
  char *device, *staging;               /* [bytes] memory on the device, and for copies to it */
  int64_t bytes;                        /* of the elements */
  int64_t device_version, host_version; /* that of the last change each side has */
  bool pinned;                          /* the host may change it at any time between runs */
} weir_store_sides;

/* Opens the device `name` for one more user, or lends the open one. With another device open, which
 * has no user any more, first brings the host's side of all arrays up to date. Fails:
 * WEIR_ERR_CONFIG (plans use another device), and as weir_device_open. */
weir_status weir_store_device_use(weir_store *s, const char *name,
                                  const weir_store_device **out) WEIR_CHECKED;
/* Ends a use. The device stays open, with the arrays, until the store is destroyed. */
void weir_store_device_release(weir_store *s);

/* Whether a device is open: otherwise the host's side of every array is up to date. */
bool weir_store_has_device(const weir_store *s);

/* The sides of the array, borrowed as long as the store; NULL when there is none. */
const weir_store_sides *weir_store_sides_of(const weir_store *s, const char *name);
/* Adds memory on the device, out of date, where the array has none. Fails: WEIR_ERR_MEMORY. */
weir_status weir_store_sides_create(weir_store *s, const char *name) WEIR_CHECKED;
/* Checks before a run that the host's side has not been changed without weir_store_write, where the
 * device checks accesses (weir_device_poison). Makes the host's side of a pinned array the newer
 * one. Fails: WEIR_ERR_CONFIG, naming the array. */
weir_status weir_store_sides_begin(weir_store *s, const char *name) WEIR_CHECKED;

typedef enum weir_store_newest {
  WEIR_STORE_BOTH,  /* they agree: a copy has been made */
  WEIR_STORE_HOST,  /* a new value is on the host only */
  WEIR_STORE_DEVICE /* a new value is on the device only */
} weir_store_newest;
/* Records after a run which sides have the newest elements. */
void weir_store_sides_end(weir_store *s, const char *name, weir_store_newest newest);

#ifdef __cplusplus
}
#endif
#endif
