/* weir_device.h - devices: memory, queues, events, copies, launches and captured replays.
 *
 * A
 * device is one row of a table, a folder under device/. Work is submitted to queues, which run it
 * in order and asynchronously: two queues are ordered by events only, and the host waits for a
 * queue or an event before it reads results. One thread at a time uses a device.
 *
 * All
 * memory arguments are in arrays of this device's arenas; accesses outside an array are refused
 * with WEIR_ERR_SHAPE before anything is started. */
#ifndef WEIR_DEVICE_H
#define WEIR_DEVICE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/weir_status.h"
#include "device/weir_constants.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_device weir_device;
typedef struct weir_device_arena weir_device_arena;
typedef struct weir_device_queue weir_device_queue;
typedef struct weir_device_event weir_device_event;
typedef struct weir_device_kernel weir_device_kernel;
typedef struct weir_device_capture weir_device_capture;
typedef struct weir_library_spec weir_library_spec; /* weir_library.h */

/* Properties of a device. */
typedef struct weir_device_info {
  char model[128];
  char architecture[16];  /* architecture of its code, such as sm_90; "" if there is only one */
  int64_t processors;     /* cores, or multiprocessors */
  int64_t memory_bytes;   /* 0: not known */
  int64_t cache_bytes;    /* last-level cache, including shared parts */
  int64_t shared_bytes;   /* shared memory per block */
  int64_t block_threads;  /* maximum threads per block */
  int64_t vector_threads; /* warp size; 1 without warps */
} weir_device_info;

typedef struct weir_device_options {
  int index;     /* index of the device in the row, from 0 */
  uint64_t seed; /* emulated: seed of the order of unordered work */
} weir_device_options;

/* One parameter of a kernel: its C type, its name, and sizeof the type. */
typedef struct weir_device_param {
  const char *type, *name;
  int64_t bytes;
} weir_device_param;

/* Source text of a kernel in the common subset of C11 and CUDA C++: threadIdx, blockIdx, blockDim,
 * gridDim (.x .y .z), __shared__ arrays, __syncthreads(), which all threads of a block reach or
 * none does. `helpers`: functions marked __device__ placed before the kernel, NULL: none. */
typedef struct weir_device_source {
  const char *name;
  const weir_device_param *params;
  int n_params;
  const char *helpers, *body;
} weir_device_source;
/* Writes the text of the kernel: head (such as a prelude), helpers, "qualifier void name(params) {
 * body }", as one string that the caller frees with weir_free. Fails: WEIR_ERR_MEMORY. */
weir_status weir_device_source_text(const weir_device_source *source, const char *head,
                                    const char *qualifier, char **out) WEIR_CHECKED;

/* Resources of the machine code of a kernel on a multiprocessor. */
typedef struct weir_device_usage {
  int registers;        /* per thread */
  int64_t stack_bytes;  /* per thread, in memory */
  int64_t spill_bytes;  /* spills: stored and loaded by a thread */
  int64_t shared_bytes; /* per block */
  int fused;            /* of PTX: multiply-adds that the text does not write */
  int approximate;      /* of PTX: operations that are not rounded correctly */
} weir_device_usage;

/* A row of the table. The build lists the folders; `libweir` has no other list of devices. */
typedef struct weir_device_row {
  const char *name;                         /* value of --device */
  const char *help;                         /* one line          */
  const weir_constants *(*constants)(void); /* weir_constants_get; needs no device */
  /* Fills device->ops, ->info and ->state. Fails: WEIR_ERR_UNSUPPORTED, naming the missing part. */
  weir_status (*open)(weir_device *device, const weir_device_options *options);
  /* weir_device_compile; NULL: kernels are compiled only where they run. */
  weir_status (*compile)(const char *architecture, const weir_device_source *source,
                         weir_device_usage *out);
  /* weir_library_plan; NULL: libraries tell only where they run. */
  weir_status (*plan)(const char *properties, const weir_library_spec *spec, int64_t *workspace);
} weir_device_row;

/* Returns row k, NULL after the last; ordered by name. */
const weir_device_row *weir_device_row_get(int k);
/* Opens a device of the row `name`; NULL options: index 0, seed 0. Fails: WEIR_ERR_CONFIG (unknown
 * row, naming the existing ones), WEIR_ERR_UNSUPPORTED (missing in the machine or the build). There
 * is no fallback to another device. */
weir_status weir_device_open(const char *name, const weir_device_options *options,
                             weir_device **out) WEIR_CHECKED;
/* Waits for all queues, then closes. Arenas, queues, events, kernels and captures must have been
 * destroyed. */
void weir_device_close(weir_device **device);
const char *weir_device_name(const weir_device *device);
const weir_device_info *weir_device_info_get(const weir_device *device);
/* Prints a line for each row: the devices found, or the reason why there is none. Fails:
 * WEIR_ERR_DATA (`out` cannot be written). */
weir_status weir_device_print(FILE *out) WEIR_CHECKED;

/* Checks the value of --device (NULL: not given). Fails: WEIR_ERR_UNSUPPORTED, stating why this
 * machine lacks the device, or which devices there are. */
weir_status weir_device_check(const char *name) WEIR_CHECKED;

/* ---- Memory. ---- */

/* DEVICE: for launches and copies; the host must not access it. STAGING: the host may access it
 * whenever no submitted work uses it, and copies accept it on either side. */
typedef enum weir_device_space { WEIR_SPACE_DEVICE, WEIR_SPACE_STAGING } weir_device_space;
enum { WEIR_DEVICE_ALIGN = 256 };

/* Allocates n arrays of bytes[i] bytes at once, each aligned to WEIR_DEVICE_ALIGN; address[i] is
 * NULL where bytes[i] is 0. Contents are undefined. Fails: WEIR_ERR_MEMORY. */
weir_status weir_device_arena_create(weir_device *device, weir_device_space space, int64_t n,
                                     const int64_t *bytes, void **address,
                                     weir_device_arena **out) WEIR_CHECKED;
/* Destroys the arena; waits for all work of the device first. */
void weir_device_arena_destroy(weir_device_arena **arena);

/* Fills memory of the host that has gone out of date with NaNs, so that reading it shows, where the
 * device checks accesses: emulated. Returns whether it does. */
bool weir_device_poison(const weir_device *device, void *memory, int64_t bytes);

/* ---- Queues and events. ---- */

/* Creates a queue. Fails: WEIR_ERR_CONFIG (more than WEIR_DEVICE_QUEUES at a time),
 * WEIR_ERR_EXTERNAL. */
enum { WEIR_DEVICE_QUEUES = 32 };
weir_status weir_device_queue_create(weir_device *device, weir_device_queue **out) WEIR_CHECKED;
/* Destroys the queue; waits for it first. */
void weir_device_queue_destroy(weir_device_queue **queue);
/* Waits on the host for all work submitted to the queue so far. Fails as that work. */
weir_status weir_device_queue_sync(weir_device_queue *queue) WEIR_CHECKED;

/* Creates an event that is not recorded yet. Fails: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status weir_device_event_create(weir_device *device, weir_device_event **out) WEIR_CHECKED;
/* Destroys the event; work that waits for it still waits for the recorded work. */
void weir_device_event_destroy(weir_device_event **event);
/* Records all work submitted to the queue so far in the event, replacing an earlier record. */
weir_status weir_device_event_record(weir_device_event *event,
                                     weir_device_queue *queue) WEIR_CHECKED;
/* Makes later work of the queue wait for the event as recorded now. Fails: WEIR_ERR_EXTERNAL (an
 * event that was never recorded, or in another capture). */
weir_status weir_device_queue_wait(weir_device_queue *queue, weir_device_event *event) WEIR_CHECKED;
/* Waits on the host for the event. */
weir_status weir_device_event_sync(weir_device_event *event) WEIR_CHECKED;

/* ---- Copies and launches. ---- */

/* Copies `bytes` from `from` to `to`, each inside one array of the device, of either space; the
 * ranges must not overlap. */
weir_status weir_device_copy(weir_device_queue *queue, void *to, const void *from,
                             int64_t bytes) WEIR_CHECKED;

/* Compiles a kernel: NVRTC on cuda, the C compiler `cc` on cpu and emulated; products and sums are
 * not contracted. Fails: WEIR_ERR_UNSUPPORTED, with the compiler output; on cuda and emulated also
 * where the __shared__ arrays exceed info->shared_bytes. */
weir_status weir_device_kernel_create(weir_device *device, const weir_device_source *source,
                                      weir_device_kernel **out) WEIR_CHECKED;
/* Destroys the kernel; waits for all work of the device first. */
void weir_device_kernel_destroy(weir_device_kernel **kernel);

/* Compiles a kernel for an architecture that this machine need not have: to check GPU code without
 * a GPU. On cuda, "sm_90" reports the resources of machine code, "compute_90" the instructions of
 * PTX. A warning counts as a failure. Fails:
 * WEIR_ERR_CONFIG (no such row), WEIR_ERR_UNSUPPORTED (no compiler for it, or the compiler output).
 */
weir_status weir_device_compile(const char *name, const char *architecture,
                                const weir_device_source *source,
                                weir_device_usage *out) WEIR_CHECKED;

/* Access of a launch to a range of bytes. WRITE: every byte is written and none is read; UPDATE:
 * bytes may be read and written. */
typedef enum weir_device_access {
  WEIR_DEVICE_READ = 1,
  WEIR_DEVICE_WRITE = 2,
  WEIR_DEVICE_UPDATE = 3,
} weir_device_access;
typedef struct weir_device_range {
  const void *address;
  int64_t bytes;
  weir_device_access access;
} weir_device_range;

typedef struct weir_device_launch_spec {
  const weir_device_kernel *kernel;
  int grid[3], block[3];           /* blocks (y, z: at most 65535), threads of a block (z: 64) */
  const void *const *args;         /* one pointer to a value per parameter; copied by the call */
  const weir_device_range *ranges; /* all ranges that the kernel reads or writes */
  int n_ranges;
} weir_device_launch_spec;
/* Launches a kernel. Fails: WEIR_ERR_SHAPE (grid, block or ranges), WEIR_ERR_EXTERNAL. */
weir_status weir_device_launch(weir_device_queue *queue,
                               const weir_device_launch_spec *spec) WEIR_CHECKED;

/* Calls body(context) on the host, in the order of the queue, on any thread. It accesses only
 * staging arrays, as stated in `ranges`, and calls nothing of the device. The context must live
 * until the work is done, or as long as a capture with the call. Fails: WEIR_ERR_SHAPE (ranges of
 * other memory), WEIR_ERR_EXTERNAL. */
weir_status weir_device_call(weir_device_queue *queue, void (*body)(void *context), void *context,
                             const weir_device_range *ranges, int n_ranges) WEIR_CHECKED;

/* ---- Captured replays. ---- */

/* Begins a capture: until weir_device_capture_end nothing runs; work submitted to the queue is
 * recorded, and that of other queues once they wait for an event recorded by a captured queue. One
 * capture of a device at a time, and the host must not wait meanwhile. */
weir_status weir_device_capture_begin(weir_device_queue *queue) WEIR_CHECKED;
/* Ends the capture. All captured queues must have been joined: `queue` waits for the last work of
 * each. The capture also ends on failure: WEIR_ERR_EXTERNAL, naming a queue that has not been
 * joined. */
weir_status weir_device_capture_end(weir_device_queue *queue,
                                    weir_device_capture **out) WEIR_CHECKED;
/* Replays the recorded work as one item of the queue. Its arenas, kernels and contexts must still
 * exist. */
weir_status weir_device_replay(weir_device_capture *capture, weir_device_queue *queue) WEIR_CHECKED;
/* Destroys the capture; waits for all work of the device first. */
void weir_device_capture_destroy(weir_device_capture **capture);

/* ---- Costs. ---- */

/* Measured costs of the device; bandwidths in bytes/s (of copies inside the device: bytes read plus
 * bytes written), times in seconds. */
typedef struct weir_device_costs {
  double copy, upload, download; /* device to device, staging to device, device to staging */
  double both;                   /* upload and download at once, on two queues: their sum */
  double map;    /* a launch that scales f32, 16 bytes per thread: counted as `copy` */
  double launch; /* one of many empty launches in a queue */
  double replay; /* the same inside a captured replay      */
  double event;  /* record on one queue, wait on another  */
  double sync;   /* an empty launch, including the wait of the host */
} weir_device_costs;
/* Measures the costs; takes about a second with copies of `bytes` each. */
weir_status weir_device_measure(weir_device *device, int64_t bytes,
                                weir_device_costs *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
