/* weir_device.h - devices: memory, queues, events, copies, launches and captured replays.
 *
 * A device is one row of a table, a folder under device/. Work is given to queues, which run it in
 * their own order and at their own time: two queues are ordered by events alone, and the host waits
 * for a queue or an event before it reads what was computed. One thread at a time uses a device.
 *
 * Every call that names memory names arrays of this device's arenas; what lies outside an array is
 * refused with WEIR_ERR_SHAPE before anything is started. */
#ifndef WEIR_DEVICE_H
#define WEIR_DEVICE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_device weir_device;
typedef struct weir_device_arena weir_device_arena;
typedef struct weir_device_queue weir_device_queue;
typedef struct weir_device_event weir_device_event;
typedef struct weir_device_kernel weir_device_kernel;
typedef struct weir_device_capture weir_device_capture;

/* What one device of a row is. */
typedef struct weir_device_info {
  char model[128];
  char architecture[16];  /* of the code that it runs, such as sm_90; "" where there is one only */
  int64_t processors;     /* cores, or multiprocessors */
  int64_t memory_bytes;   /* 0: not known */
  int64_t cache_bytes;    /* last level, as far as it is shared */
  int64_t shared_bytes;   /* memory that the threads of one block share */
  int64_t block_threads;  /* threads of one block, at most */
  int64_t vector_threads; /* threads that run in step: a warp; 1 where there are none */
} weir_device_info;

typedef struct weir_device_options {
  int index;     /* which device of the row, from 0 */
  uint64_t seed; /* emulated: of the order in which unordered work runs */
} weir_device_options;

/* One parameter of a kernel: its C type, its name, and sizeof the type. */
typedef struct weir_device_param {
  const char *type, *name;
  int64_t bytes;
} weir_device_param;

/* A kernel as text, in what C11 and CUDA C++ have in common: threadIdx, blockIdx, blockDim, gridDim
 * (.x .y .z), __shared__ arrays, __syncthreads(), which all threads of a block reach or none does.
 * `helpers` stands before the kernel (functions marked __device__), NULL: nothing. */
typedef struct weir_device_source {
  const char *name;
  const weir_device_param *params;
  int n_params;
  const char *helpers, *body;
} weir_device_source;

/* What the machine code of a kernel takes of a multiprocessor. */
typedef struct weir_device_usage {
  int registers;        /* of a thread */
  int64_t stack_bytes;  /* of a thread, in memory */
  int64_t spill_bytes;  /* stored and loaded by a thread where registers do not suffice */
  int64_t shared_bytes; /* of a block */
} weir_device_usage;

/* A row of the table. The build lists the folders; `libweir` holds no other list of devices. */
typedef struct weir_device_row {
  const char *name; /* value of --device */
  const char *help; /* one line          */
  /* Fills device->ops, ->info and ->state. Fails: WEIR_ERR_UNSUPPORTED, saying what is missing. */
  weir_status (*open)(weir_device *device, const weir_device_options *options);
  /* weir_device_compile; NULL: kernels are compiled where they run, only. */
  weir_status (*compile)(const char *architecture, const weir_device_source *source,
                         weir_device_usage *out);
} weir_device_row;

/* Row k, NULL after the last; ordered by name. */
const weir_device_row *weir_device_row_get(int k);
/* Opens a device of the row `name`; NULL options: index 0, seed 0. Fails: WEIR_ERR_CONFIG (no such
 * row, naming those there are), WEIR_ERR_UNSUPPORTED (what the machine or the build lacks). Nothing
 * ever falls back to another device. */
weir_status weir_device_open(const char *name, const weir_device_options *options,
                             weir_device **out) WEIR_CHECKED;
/* Waits for all queues, then closes. Arenas, queues, events, kernels and captures must have been
 * destroyed. */
void weir_device_close(weir_device **device);
const char *weir_device_name(const weir_device *device);
const weir_device_info *weir_device_info_get(const weir_device *device);
/* A line for each row: what there is, or what is missing for it. Fails: WEIR_ERR_DATA (`out` takes
 * no more). */
weir_status weir_device_print(FILE *out) WEIR_CHECKED;

/* Whether a program that computes on the cpu alone can do what --device says. Fails:
 * WEIR_ERR_UNSUPPORTED for other devices, saying what the machine lacks for it, or that the program
 * does not use it. */
weir_status weir_device_accept(const char *name, const char *program) WEIR_CHECKED;

/* ---- Memory. ---- */

/* DEVICE: for launches and copies; the host must not touch it. STAGING: the host reads and writes
 * it whenever no work that names it is under way, and copies take it as either side. */
typedef enum weir_device_space { WEIR_SPACE_DEVICE, WEIR_SPACE_STAGING } weir_device_space;
enum { WEIR_DEVICE_ALIGN = 256 };

/* One allocation that holds n arrays of bytes[i] bytes, each aligned to WEIR_DEVICE_ALIGN;
 * address[i] is NULL where bytes[i] is 0. Contents are undefined. Fails: WEIR_ERR_MEMORY. */
weir_status weir_device_arena_create(weir_device *device, weir_device_space space, int64_t n,
                                     const int64_t *bytes, void **address,
                                     weir_device_arena **out) WEIR_CHECKED;
/* Waits for all work of the device first. */
void weir_device_arena_destroy(weir_device_arena **arena);

/* ---- Queues and events. ---- */

/* Fails: WEIR_ERR_CONFIG (more than WEIR_DEVICE_QUEUES at a time), WEIR_ERR_EXTERNAL. */
enum { WEIR_DEVICE_QUEUES = 32 };
weir_status weir_device_queue_create(weir_device *device, weir_device_queue **out) WEIR_CHECKED;
/* Waits for the queue first. */
void weir_device_queue_destroy(weir_device_queue **queue);
/* The host waits for all work given to the queue so far. Fails with what that work failed with. */
weir_status weir_device_queue_sync(weir_device_queue *queue) WEIR_CHECKED;

/* An event that stands for nothing yet. Fails: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status weir_device_event_create(weir_device *device, weir_device_event **out) WEIR_CHECKED;
/* Work that waits for it keeps waiting for what it stood for. */
void weir_device_event_destroy(weir_device_event **event);
/* The event stands for all work given to the queue so far; an earlier record is replaced. */
weir_status weir_device_event_record(weir_device_event *event,
                                     weir_device_queue *queue) WEIR_CHECKED;
/* Later work of the queue waits for the event as it is recorded now. Fails: WEIR_ERR_EXTERNAL (an
 * event that was never recorded, or in another capture). */
weir_status weir_device_queue_wait(weir_device_queue *queue, weir_device_event *event) WEIR_CHECKED;
/* The host waits for the event. */
weir_status weir_device_event_sync(weir_device_event *event) WEIR_CHECKED;

/* ---- Copies and launches. ---- */

/* Copies `bytes` from `from` to `to`, each inside one array of the device, of either space; the
 * ranges must not overlap. */
weir_status weir_device_copy(weir_device_queue *queue, void *to, const void *from,
                             int64_t bytes) WEIR_CHECKED;

/* Compiles: NVRTC on cuda, the C compiler `cc` on cpu and emulated; products and sums are not
 * contracted. Fails: WEIR_ERR_UNSUPPORTED, with what the compiler said; on cuda and emulated also
 * where the __shared__ arrays take more than info->shared_bytes. */
weir_status weir_device_kernel_create(weir_device *device, const weir_device_source *source,
                                      weir_device_kernel **out) WEIR_CHECKED;
/* Waits for all work of the device first. */
void weir_device_kernel_destroy(weir_device_kernel **kernel);

/* Compiles a kernel for an architecture ("sm_90" of cuda) that this machine need not have, and says
 * what it takes: how code for GPUs is checked where there is none. A warning counts as a failure.
 * Fails: WEIR_ERR_CONFIG (no such row), WEIR_ERR_UNSUPPORTED (no compiler for it, or what it said).
 */
weir_status weir_device_compile(const char *name, const char *architecture,
                                const weir_device_source *source,
                                weir_device_usage *out) WEIR_CHECKED;

/* What a launch does to a range of bytes. WRITE: every byte is written and none is read; UPDATE:
 * what is read may be written. */
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
  const void *const *args;         /* one pointer to a value a parameter; copied by the call */
  const weir_device_range *ranges; /* all that the kernel reads or writes */
  int n_ranges;
} weir_device_launch_spec;
/* Fails: WEIR_ERR_SHAPE (grid, block or ranges), WEIR_ERR_EXTERNAL. */
weir_status weir_device_launch(weir_device_queue *queue,
                               const weir_device_launch_spec *spec) WEIR_CHECKED;

/* The host calls body(context) in the order of the queue, on any thread. It reads and writes
 * staging arrays alone, as `ranges` say, and calls nothing of the device. The context lives until
 * the work is done, or as long as a capture that holds the call. Fails: WEIR_ERR_SHAPE (ranges of
 * other memory), WEIR_ERR_EXTERNAL. */
weir_status weir_device_call(weir_device_queue *queue, void (*body)(void *context), void *context,
                             const weir_device_range *ranges, int n_ranges) WEIR_CHECKED;

/* ---- Captured replays. ---- */

/* From here to weir_device_capture_end nothing runs: what the queue is given is recorded, and what
 * other queues are given from when they wait for an event that a captured queue has recorded. One
 * capture of a device at a time, and no waiting of the host within. */
weir_status weir_device_capture_begin(weir_device_queue *queue) WEIR_CHECKED;
/* All captured queues must have been joined: `queue` waits for the last work of each. The capture
 * is over also where this fails: WEIR_ERR_EXTERNAL, naming a queue that has not been joined. */
weir_status weir_device_capture_end(weir_device_queue *queue,
                                    weir_device_capture **out) WEIR_CHECKED;
/* Runs what was recorded, as one piece of work of the queue. Its arenas, kernels and contexts must
 * still be. */
weir_status weir_device_replay(weir_device_capture *capture, weir_device_queue *queue) WEIR_CHECKED;
/* Waits for all work of the device first. */
void weir_device_capture_destroy(weir_device_capture **capture);

/* ---- Costs. ---- */

/* Measured on the device; bandwidths in bytes/s (of copies inside the device: bytes read plus bytes
 * written), times in seconds. */
typedef struct weir_device_costs {
  double copy, upload, download; /* device to device, staging to device, device to staging */
  double both;                   /* upload and download at once, on two queues: their sum */
  double map;                    /* a launch that scales f32, 16 bytes a thread: as `copy` */
  double launch;                 /* one of many empty launches in a queue */
  double replay;                 /* the same inside a captured replay      */
  double event;                  /* record on one queue, wait on another  */
  double sync;                   /* an empty launch that the host waits for */
} weir_device_costs;
/* Takes about a second with copies of `bytes` each. */
weir_status weir_device_measure(weir_device *device, int64_t bytes,
                                weir_device_costs *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
