/* backend.h - a plan whose loops run on a device of the device table, other than cpu.
 *
 * Arrays have two sides. A group runs on the device when all its loops are maps or reductions that
 * the emitter writes for it; every other group is a call of the host, and what it reads is fetched
 * first. The memory plan's arena, tile-local arrays and copies of inputs, stored and constant
 * arrays lie in the device's memory; exec_array.view is the host's side: the caller's tensor, the
 * store, or staging memory. The store has both sides of stored arrays, for all plans over it, with
 * a version each (weir_store_device.h): they are copied to a side where it is the older one.
 * Launches go to one queue, copies to another, ordered by events.
 *
 * The window of an array with time has both sides too, the device's of twice the slots, so that it
 * slides only once in many feeds; slots that one side lacks are copied from the other. What a plan
 * over ranks sends and receives goes through the host's side: moves are calls. */
#ifndef EXEC_BACKEND_H
#define EXEC_BACKEND_H
#include "device/weir_device.h"
#include "exec/backend/device/mapping.h"
#include "exec/backend/native/native_priv.h"
#include "exec/plan/plan_state.h"
#include "graph/weir_kernel.h"
#include "graph/weir_store_device.h"

/* The two sides of an array of the plan. */
typedef struct exec_side {
  char *device;                   /* NULL: no launch uses it */
  char *staging;                  /* NULL: it is never copied */
  int64_t bytes;                  /* of the array; of a window, of the slots that a chunk adds */
  bool on_device, on_host;        /* whether the side has the newest content */
  bool kept;                      /* stored, with memory on the device in the store */
  const weir_store_sides *stored; /* NULL: not a stored array */
  /* Of a window: slots that the device's memory has, the first of them, the first after all that
   * were written there, and the first that is still wanted. */
  int64_t capacity, origin, end, keep;
  int64_t device_front, host_front; /* first slot that a side that is not the newest lacks */
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
enum { EXEC_TEXT_NAME = 64 };
typedef struct exec_device_kernel {
  char *text;
  char file[EXEC_TEXT_NAME]; /* in the folder of texts, "": it has none */
  weir_device_kernel *kernel;
} exec_device_kernel;

/* A launch of every run, or of every chunk of a stream. */
typedef struct exec_launch {
  int32_t group; /* in the order they run */
  int threads;   /* of a block */
  int64_t kernel, blocks;
  int64_t bytes; /* of its loads and stores */
} exec_launch;

/* On which sides an array is, and where these are. */
typedef struct exec_where {
  bool on_device, on_host, pinned;
  const char *device, *staging;
} exec_where;

/* A run that is recorded and replayed: runs that begin as it did. */
typedef struct exec_capture {
  weir_device_capture *replay; /* NULL: none yet */
  exec_where *begin, *end;     /* [n_arrays] sides at its begin and end */
  int32_t *up, *down;          /* arrays that it copies, in the order of copies */
  int32_t n_up, n_down;
  bool seen, recording, failed; /* begin is filled; now; the device cannot */
} exec_capture;

struct exec_backend {
  weir_store *store;   /* the plan's, or: */
  weir_store *empty;   /* one for a plan without a store */
  weir_device *device; /* the store's, as the queues */
  weir_device_queue *work, *copies;
  weir_device_event *worked, *copied;
  weir_device_arena *memory, *staging;
  char *arena;     /* of the memory plan */
  char *scratch;   /* tile-local arrays of the group that runs */
  char *parts;     /* of chunks of the loop that runs */
  char *workspace; /* of the library's call that runs */
  int64_t parts_bytes, workspace_bytes;
  int64_t scratch_bytes, memory_bytes, staging_bytes;
  int64_t stored_bytes; /* of either side of stored arrays, in the store */
  exec_side *sides;     /* [n_arrays] */
  exec_step *steps;     /* [n_groups], in the order they run */
  int32_t *moving;      /* [n_arrays] what is copied next */
  exec_device_kernel *kernels;
  int64_t n_kernels, kernels_capacity;
  exec_launch *launches;
  int64_t n_launches, launches_capacity;
  int32_t preparing;      /* the group that launches are noted for */
  int64_t chunk_points;   /* of the loop that is prepared, if boxed: in a chunk of the bounds */
  exec_copied counted;    /* by every run */
  bool ahead;             /* launches were given that no copy has waited for */
  bool boxed;             /* loops run over boxes known at run time: of a stream */
  int64_t enough_blocks;  /* exec_layout_spread; of the plan's options */
  const char *text_dir;   /* folder for texts of kernels, NULL: none; of the plan's options */
  bool text_only;         /* a plan that does not run: kernels are not compiled */
  const weir_loop *whole; /* the loop that is prepared, not one of complex numbers' parts */
  weir_status failed;     /* of a launch: engines cannot fail */
  exec_capture capture;
  int32_t n_steps;
};

/* Opens the device of p->cfg.device: p->backend; nothing for cpu. Local. Fails: as
 * weir_device_open. */
weir_status exec_backend_open(weir_plan *p);
void exec_backend_close(weir_plan *p);
/* Which groups run there. */
weir_status exec_backend_claim(weir_plan *p);
/* backend_kernel.c: makes the group's kernel for devices, if it has one: group->on_device; where
 * the device lacks it, the group has the kernel of the CPU, or none. Logs an event then. */
weir_status exec_backend_open_kernel(weir_plan *p, exec_group *group);
weir_status exec_backend_run_kernel(weir_plan *p, exec_group *group);
/* Memory of both sides, after the memory plan; then the code of all loops that run there, and what
 * a run copies. */
weir_status exec_backend_memory(weir_plan *p);
weir_status exec_backend_prepare(weir_plan *p);
void exec_backend_count(weir_plan *p);
/* What is on which side at the beginning of a run, or of a feed. Fails: as weir_store_sides_begin.
 */
weir_status exec_backend_begin(weir_plan *p);
/* Before group i: copies what it reads to its side. */
weir_status exec_backend_bring(weir_plan *p, const exec_group *group);
/* Launches the group's loops, those of a stream over the anchor's iterations of `box`. */
weir_status exec_backend_run(weir_plan *p, exec_group *group, const weir_box *box);
/* Copies results, and new values of stored arrays that the host takes, to the host; those that the
 * device takes, in its memory. Waits for all. */
weir_status exec_backend_end(weir_plan *p);
/* Whether the device takes the new value of the stored array, at the end of a run. */
bool exec_backend_updates(const weir_plan *p, int32_t array);
/* backend_capture.c: runs all groups by `groups`, and the end of the run; or replays both. */
weir_status exec_backend_whole(weir_plan *p, weir_status (*groups)(weir_plan *));
void exec_capture_free(exec_capture *c);
/* Tells the store which sides are the newest, after a run. */
void exec_backend_stored(weir_plan *p);
/* Waits for what a failed run has left under way. */
void exec_backend_drain(weir_plan *p);
/* The host's memory of a temporary array that no caller's tensor takes. */
void *exec_backend_home(const weir_plan *p, int32_t array);
void exec_backend_print(const weir_plan *p, FILE *out);

/* backend_run.c: later copies wait for all launches that were given. */
weir_status exec_backend_follow(struct exec_backend *b);
/* Copies the n arrays of b->moving to the host, and waits. */
weir_status exec_backend_fetch(weir_plan *p, int32_t n);
/* The copies of the end of a run, which no one waits for, and by which queue `work` ends last. */
weir_status exec_backend_finish(weir_plan *p);
/* Copies an array without time from the host's memory to staging, or back. */
void exec_backend_stage(const weir_plan *p, int32_t array);
void exec_backend_unstage(const weir_plan *p, int32_t array);

/* backend_window.c: sizes of the sides of windows, once the memory plan is made. */
void exec_backend_windows_size(weir_plan *p);
/* Both sides of all windows are empty. */
void exec_backend_windows_reset(weir_plan *p);
/* The caller has fed the input: the host's side is newer. */
void exec_backend_fed(weir_plan *p, int32_t array);
/* No group reads slots of the window before `slot` any more. */
void exec_backend_window_keep(weir_plan *p, int32_t array, int64_t slot);
/* Before a gap is skipped: copies to the host what it lacks of the windows. */
weir_status exec_backend_windows_fetch(weir_plan *p);
/* The host's window was moved past a gap, and begins with slot `keep`: the device has none. */
void exec_backend_window_skip(weir_plan *p, int32_t array, int64_t keep);
/* Memory on the device for slots up to `to`, which are about to be written there. Fails:
 * WEIR_ERR_CONFIG when earlier slots that are still wanted leave none. */
weir_status exec_backend_window_extend(weir_plan *p, int32_t array, int64_t to);
/* Copies the slots that one side lacks from the other. */
weir_status exec_backend_window_up(weir_plan *p, int32_t array);
weir_status exec_backend_window_down(weir_plan *p, int32_t array);
/* The device's side of an array. */
weir_view exec_backend_view(const weir_plan *p, int32_t array);

enum { EXEC_MERGE_THREADS = 128 }; /* of a block that merges chunks, each of a point */

/* A thread has n successive iterations of a dimension. */
typedef struct exec_repeated {
  int dim, n;
} exec_repeated;

/* backend_layout.c: how the iterations of a loop are laid out over threads. */
typedef struct exec_layout {
  int64_t points, reduced, reduce_blocks; /* reduced: iterations of one point */
  int lanes, outputs, at_once; /* of a thread block: threads of a reduction block, points, reduction
                                  blocks at a time */
  int threads;
  int64_t blocks;
  int64_t chunks, chunk_blocks; /* 1, or more that share the reduction blocks of a point, each of
                                   that many; a second kernel merges what they give */
  int parts;                    /* components of it; 0: one chunk */
  int n_repeats;                /* of a map: loops over iterations of a thread, outermost first */
  exec_repeated repeat[2];
  int wide; /* iterations of the last one, elements of one access; 1: it is no such loop */
  exec_mapping parallel, sequence; /* iterations of a kind, of a number of theirs; not if boxed */
  bool unrolled; /* of a reduction: a thread has all iterations of its points (backend_unroll.c) */
  bool boxed;    /* points and blocks are those of a run: exec_layout_points */
  bool dense;    /* strides are those of row-major arrays, and constants of the kernel */
} exec_layout;
/* A map or a reduction, of real numbers. Fails: WEIR_ERR_UNSUPPORTED. */
weir_status exec_layout_of(const native_form *f, bool boxed, exec_layout *out);
weir_status exec_layout_points(exec_layout *l, int64_t points);
/* Divides a reduction of few points into chunks. */
void exec_layout_divide(const native_form *f, exec_layout *l);
/* Where the components c of the parts begin, [points, chunks], in bytes; c = components: all. */
int64_t exec_layout_part(const native_form *f, const exec_layout *l, int c);
/* backend_spread.c: gives the threads of a map several iterations each, where that takes fewer
 * accesses to memory and leaves at least `enough` thread blocks. */
void exec_layout_spread(const native_form *f, int64_t enough, exec_layout *l);
/* Bytes that a thread of a map loads or stores of an operand in that place. */
int64_t exec_thread_bytes(const exec_layout *l, const weir_operand *x, const native_place *p);
/* Iterations along dimension k. */
int64_t exec_extent(const weir_access *a, int k);

/* backend_place.c: the one parameter of a kernel, words: of every operand its address and, where
 * they are not those of a dense array, strides and unbounded extents; of a loop that runs box by
 * box, from `bounds` on, lower bound and extent of every parallel dimension, and the points;
 * addresses of the parts of chunks. */
typedef struct exec_places {
  native_place in[WEIR_MAX_OPERANDS], out[WEIR_MAX_OUTPUTS];
  int n_words, bounds, points, parts;
} exec_places;
void exec_places_of(const weir_access *a, const exec_layout *l, exec_places *out);
/* Bytes of one access to `wide` elements; a vector of more takes several. */
int exec_access_bytes(weir_dtype dtype, int wide);
/* Writes the words of a run but those of parts. */
void exec_places_fill(const exec_places *s, const weir_access *a, const exec_layout *l,
                      const weir_loop_run *run, int64_t *words);

/* backend_unroll.c: gives the threads of a reduction of few iterations whole points, several where
 * that takes fewer accesses, if at least `enough` thread blocks are left; what a thread of it loads
 * and stores; its text. */
void exec_layout_unroll(const native_form *f, int64_t enough, exec_layout *l);
int64_t exec_unrolled_bytes(const weir_access *a, const exec_layout *l, const exec_places *s);
void exec_emit_unrolled(const native_writer *w, const exec_layout *l);

/* backend_map.c: types of vectors; the body of a map's kernel, of arrays that are dense; stores of
 * an iteration's values, to w<k>.e[x] where the output is stored wide. */
void exec_emit_vectors(const native_writer *w, const exec_layout *l);
void exec_emit_map(const native_writer *w, const exec_layout *l);
void exec_emit_stores(const native_writer *w);
/* Types and functions of backend_emit.c for it: of the number of one of n threads; i<k>. */
const char *exec_number_type(int64_t n);
void exec_emit_first(const weir_access *a, weir_dim_kind kind, const exec_mapping *m,
                     const char *number, native_text *t);

/* backend_emit.c: helpers and body of the kernel, or of the one that merges chunks; their parameter
 * is `addresses p`, a struct with the array `word`. */
void exec_emit(const native_form *f, const exec_layout *l, const exec_places *s, bool merges,
               native_text *helpers, native_text *body);

/* backend_loop.c: the kernel of that text, compiled where no group before had it; NULL where the
 * plan does not run. launch: one of every run, noted for b->preparing. */
weir_status exec_backend_kernel(struct exec_backend *b, const weir_device_source *source,
                                const weir_kernel_grid *launch, const weir_device_kernel **out);

/* backend_launches.c: notes a launch of kernel `number`. Fails: WEIR_ERR_MEMORY. */
weir_status exec_launch_add(struct exec_backend *b, int64_t number, const weir_kernel_grid *launch);
/* The launch of a loop's kernel, or of the one that merges its chunks; points: of a run. */
weir_kernel_grid exec_launch_of(const native_form *f, const exec_layout *l, const exec_places *s,
                                int64_t points, bool merges);
/* Points of a loop in a chunk of the bounds. */
int64_t exec_chunk_points(const weir_plan *p, const exec_loop *loop);

/* backend_text.c: writes the text of a kernel of blocks of `threads` threads to b->text_dir, named
 * by its content: file[EXEC_TEXT_NAME]. "" without a folder. Fails: WEIR_ERR_DATA, WEIR_ERR_SPACE,
 * WEIR_ERR_CONFIG (a path that is too long), WEIR_ERR_MEMORY. */
weir_status exec_text_save(const struct exec_backend *b, const weir_device_source *source,
                           int threads, char *file);

/* Likewise of a library's call, as it lies in memory: for programs of the same build. */
weir_status exec_call_save(const struct exec_backend *b, const weir_library_spec *spec);

/* backend_loop.c: loops of any numbers, launched; opts->backend: the exec_backend. */
extern const weir_engine exec_backend_engine;
#endif
