/* backend.h - a plan whose loops run on a device of the device table, other than cpu.
 *
 * Arrays have two sides. A group runs on the device when all its loops are maps or reductions that
 * the emitter writes for it; every other group is a call of the host, and what it reads is fetched
 * first. The memory plan's arena, tile-local arrays and copies of inputs, stored and constant
 * arrays lie in the device's memory; exec_array.view is the host's side: the caller's tensor, the
 * store, or staging memory. Launches go to one queue, copies to another, ordered by events. */
#ifndef EXEC_BACKEND_H
#define EXEC_BACKEND_H
#include "device/weir_device.h"
#include "exec/backend/native/native_priv.h"
#include "exec/plan/plan_state.h"

/* The two sides of an array of the plan. */
typedef struct exec_side {
  char *device;  /* NULL: no launch uses it */
  char *staging; /* NULL: it is never copied */
  int64_t bytes;
  bool on_device, on_host; /* whether the side has the newest content */
} exec_side;

/* What a group reads and writes outside itself, each array once. */
typedef struct exec_step {
  int32_t *arrays; /* reads, then writes */
  int32_t n_reads, n_writes;
} exec_step;

/* Bytes copied by one run. */
typedef struct exec_copied {
  int64_t up, down;           /* for launches: to the device; results, and news for the store */
  int64_t host_up, host_down; /* what calls of the host wrote, and what they read */
} exec_copied;

/* Code that several loops may share. */
typedef struct exec_device_kernel {
  char *text;
  weir_device_kernel *kernel;
} exec_device_kernel;

struct exec_backend {
  weir_device *device;
  weir_device_queue *work, *copies;
  weir_device_event *worked, *copied;
  weir_device_arena *memory, *staging;
  char *scratch; /* tile-local arrays of the group that runs */
  int64_t scratch_bytes, memory_bytes, staging_bytes;
  exec_side *sides; /* [n_arrays] */
  exec_step *steps; /* [n_groups], in the order they run */
  int32_t *moving;  /* [n_arrays] what is copied next */
  exec_device_kernel *kernels;
  int64_t n_kernels, kernels_capacity;
  const struct weir_kernel **own; /* kernels of the table for this device, NULL at the end */
  exec_copied counted;            /* by every run */
  bool ahead;                     /* launches were given that no copy has waited for */
  weir_status failed;             /* of a launch: engines cannot fail */
  int32_t n_steps;
};

/* Opens the device of p->cfg.device: p->backend; nothing for cpu. Fails: as weir_device_open;
 * WEIR_ERR_UNSUPPORTED for a plan over ranks. */
weir_status exec_backend_open(weir_plan *p);
void exec_backend_close(weir_plan *p);
/* Which groups run there. Fails: WEIR_ERR_UNSUPPORTED for a graph with time. */
weir_status exec_backend_claim(weir_plan *p);
/* Memory of both sides, after the memory plan; then the code of all loops that run there, and what
 * a run copies. */
weir_status exec_backend_memory(weir_plan *p);
weir_status exec_backend_prepare(weir_plan *p);
void exec_backend_count(weir_plan *p);
/* What is on which side at the beginning of a run. */
void exec_backend_begin(weir_plan *p);
/* Before group i: copies what it reads to its side. */
weir_status exec_backend_bring(weir_plan *p, const exec_group *group);
weir_status exec_backend_run(weir_plan *p, exec_group *group);
/* Copies results and what the store takes to the host, and waits for all. */
weir_status exec_backend_end(weir_plan *p);
/* Waits for what a failed run has left under way. */
void exec_backend_drain(weir_plan *p);
/* The host's memory of a temporary array that no caller's tensor takes. */
void *exec_backend_home(const weir_plan *p, int32_t array);
void exec_backend_print(const weir_plan *p, FILE *out);

/* backend_emit.c: how the iterations of a loop are laid out over threads. */
typedef struct exec_layout {
  int64_t points, reduced, reduce_blocks; /* reduced: iterations of one point */
  int lanes, outputs, at_once; /* of a thread block: threads of a reduction block, points, reduction
                                  blocks at a time */
  int threads;
  int64_t blocks;
} exec_layout;
/* A map or a reduction, of real numbers. Fails: WEIR_ERR_UNSUPPORTED. */
weir_status exec_layout_of(const native_form *f, exec_layout *out);
/* Helpers and body of the kernel, whose one parameter is `struct addresses p`: an array `word` of
 * exec_addresses_words, which exec_addresses_fill writes. */
void exec_emit(const native_form *f, const exec_layout *l, native_text *helpers, native_text *body);
int exec_addresses_words(const weir_access *a);
void exec_addresses_fill(const weir_access *a, const weir_loop_run *run, int64_t *words);

/* backend_loop.c: loops of any numbers, launched; opts->backend: the exec_backend. */
extern const weir_engine exec_backend_engine;
#endif
