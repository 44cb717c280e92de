/* weir_plan.h - execution
 * plan of a graph on this machine: passes, memory layout, prepared loops.
 *
 * Making a plan may be slow; running it allocates nothing. A graph with time dimensions is fed
 * chunk by chunk (weir_plan_feed); one without is run whole (weir_plan_run). */
#ifndef WEIR_PLAN_H
#define WEIR_PLAN_H
#include "comm/weir_grid.h"
#include "conf/weir_opt.h"
#include "exec/weir_tier.h"
#include "graph/weir_graph.h"
#include "graph/weir_path.h"
#include "pass/partition/weir_partition.h"
#include "pass/weir_pass.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_plan weir_plan;

/* Kernels that transform what they multiply: none, those of operands in f32, all. */
typedef enum weir_winograd {
  WEIR_WINOGRAD_FALSE,
  WEIR_WINOGRAD_F32,
  WEIR_WINOGRAD_TRUE
} weir_winograd;

/* The section `exec:` of every app's configuration; rows in weir_exec_opts. */
typedef struct weir_exec_cfg {
  int tier;     /* auto|reference|vector|native: weir_tier */
  bool explain; /* measure and report the time of each group */
  int verify;   /* off|pass: re-run the reference interpreter after every pass */
  bool fusion;
  int precision; /* f32|bf16 */
  bool tf32;     /* libraries of a GPU may round factors of f32 to 10 bits */
  int products;  /* f64|f32|bf16|f16: weir_products */
  bool scale_products;
  int overlap;      /* off|auto|on: weir_overlap */
  int fission;      /* off|products|hoist|reassociate: weir_fission */
  bool window;      /* sums over offsets read margins instead of borders */
  int winograd;     /* false|f32|true: weir_winograd */
  const char *skip; /* passes to skip, comma-separated */
  const char *kernel;
  const char *compiler;
  const char *cache_dir;
  int64_t cache_bytes;      /* 0: a quarter of L2 */
  int64_t memory;           /* maximum bytes of the arena, 0: no limit */
  int64_t min_layout_bytes; /* minimum bytes of arrays whose memory layout may change */
  double spin;              /* seconds: weir_threads_spin_set */
  const char *device;       /* a row of the device table: weir_device_row */
  bool capture;             /* runs on a device are recorded and replayed */
  const char *kernel_dir;   /* folder for the texts of the device's kernels, "": none */
  int64_t device_blocks;    /* of a launch whose threads take several elements */
  const char *machine;      /* file of machine constants, for weir_cpu_load, "": as detected */
  const char *predict;      /* file of constants of a device to predict times on, "": none */
  const char *predict_from; /* the same of the device that the plan runs on; "": exec.machine's */
} weir_exec_cfg;
extern const weir_opt weir_exec_opts[];
/* Returns the pass options of a plan with that section, without micro-batches. */
weir_pass_opts weir_exec_passes(const weir_exec_cfg *cfg);
/* Returns whether plans with that section (NULL: defaults) multiply numbers of bf16 by tiles of the
 * CPU (AMX): what layers do to have fewer products may not pay then (weir_net.tiles). */
bool weir_exec_has_tiles(const weir_exec_cfg *cfg);

/* Maximum number of new slots per feed, by name of the time input. */
typedef struct weir_chunk_bound {
  const char *input;
  int64_t slots;
} weir_chunk_bound;

/* A graph run jointly by all ranks of comm, each on its own boxes. comm outlives the plan; grid: of
 * all its ranks; shards: which arrays are sharded and where, by their numbers in the graph, the
 * same on all ranks (weir_partition.h derives the sharding of the others). */
typedef struct weir_dist {
  weir_comm *comm;
  weir_grid grid;
  const weir_shard *shards;
  int n_shards;
} weir_dist;

typedef struct weir_plan_opts {
  const weir_exec_cfg *exec; /* NULL: defaults */
  int threads;               /* 0: weir_threads_get() */
  const weir_chunk_bound *bounds;
  int n_bounds;
  bool terse;      /* keep no graph after each pass for weir_plan_print: it takes time and memory */
  bool sizes_only; /* allocate no arrays: the plan can be inspected and printed, not run */
  bool unreported; /* log no times of groups (exec.explain) when the plan is destroyed */
  const weir_dist *dist; /* NULL: this rank runs the graph alone */
  /* Stored arrays of that name, and its slices "name.0", "name.1", ..: while the plan runs they
   * take their new value piece by piece, each once its elements are written and their old values
   * are read; a node that works for them alone runs as soon as it can. After a run that fails they
   * may be updated in part. Arrays for which that cannot be (also results, or the new value of
   * others; plans of devices) are updated at the end, as all others are. NULL: none. */
  const char *early;
} weir_plan_opts;

/* Copies the graph; binds to the store, which must outlive the plan. Fails: the graph's first
 * builder error; WEIR_ERR_UNSUPPORTED
 * when exec.tier selects an unavailable engine (no compiler).
 *
 * With several ranks, create, run and destroy are collective, and create fails on all ranks alike:
 * also WEIR_ERR_CONFIG (an
 * invalid grid or sharding) and WEIR_ERR_UNSUPPORTED (arrays that cannot be sharded; time). The
 * graph is the global one; bound tensors, results and stored arrays are this rank's own boxes
 * (weir_plan_owned). Replicated arrays are bitwise identical on all ranks, and all results are in
 * every run. A run that fails on one rank ends them all (weir_comm_abort). */
weir_status weir_plan_create(const weir_graph *g, weir_store *store, const weir_plan_opts *opts,
                             weir_plan **out) WEIR_CHECKED;
/* Destroys the plan. With exec.explain or exec.predict it first logs mean seconds by kernel class,
 * also as events `kernel_class` (weir_predict.h). */
void weir_plan_destroy(weir_plan **p);

typedef struct weir_binding {
  const char *name; /* of an input or of a result */
  weir_tensor *tensor;
} weir_binding;
/* Runs a graph without time. Every input must be bound in every run, with its dtype and shape,
 * contiguous; read unbound results with weir_plan_result. The tensors are not used after the run.
 * Fails: WEIR_ERR_SHAPE; WEIR_ERR_DATA (an index array out of its declared range);
 * WEIR_ERR_NUMERIC; as call nodes. */
weir_status weir_plan_run(weir_plan *p, const weir_binding *bindings, int n) WEIR_CHECKED;
/* Elements [lo, hi) of an early array (weir_plan_opts), flat, have their new values: the run
 * touches them no more. A failure ends the run. */
typedef weir_status weir_plan_updated(void *context, const char *name, int64_t lo, int64_t hi);
/* Has `updated` called between groups, by the thread that runs the plan, for every piece of every
 * early array in each run from now on; NULL: no more. */
void weir_plan_on_update(weir_plan *p, weir_plan_updated *updated, void *context);

/* New slots [lo, hi) of a time input, [other dims..., hi - lo] contiguous. lo must be the end of
 * the previous feed, or later: then the slots between are skipped as absent (allowed where every
 * reader is exact under skipping; see weir_plan_skippable). A bounded input is fed completely, lo =
 * hi = 0, and its data is read until it is fed again or the stream ends. */
typedef struct weir_feed {
  const char *input;
  const void *data;
  int64_t lo, hi;
} weir_feed;
/* Feeds all inputs and computes all results that have become computable. last: the streams end at
 * hi. */
weir_status weir_plan_feed(weir_plan *p, const weir_feed *feeds, int n, bool last) WEIR_CHECKED;
/* Declares, before the first feed, that the slots of a one-dimensional time input are at `data`,
 * slot 0 first: its feeds have no data, and nothing is copied. Slots before a feed's hi must remain
 * until the stream ends. Fails: WEIR_ERR_CONFIG for another name or after a feed. */
weir_status weir_plan_bind(weir_plan *p, const char *input, const void *data) WEIR_CHECKED;
/* Has a one-dimensional result with time written to data[slots], slot 0 first, from now on: nothing
 * is copied, and skipped slots are left as they are. Borrows data. Before the first feed. A feed
 * that makes more slots fails: WEIR_ERR_CONFIG. Returns false, and changes nothing, for a result
 * that other operators read, that several write, or that a device makes: read those with
 * weir_plan_result. */
bool weir_plan_bind_result(weir_plan *p, const char *result, void *data, int64_t slots);
/* Returns a result of the last feed or run: a view of the new slots [*lo, *hi), valid until the
 * next one. A result without time has [0, 1) when that feed or run computed it, else [0, 0). Slots
 * skipped since the previous feed precede *lo. Fails: WEIR_ERR_CONFIG for an unknown result. */
weir_status weir_plan_result(const weir_plan *p, const char *name, weir_view *view, int64_t *lo,
                             int64_t *hi) WEIR_CHECKED;
/* An input or a result with time, and its path from a stream. */
typedef struct weir_plan_end {
  const char *name;
  weir_path path;
} weir_plan_end;
/* Requirements of a plan on an input stream, in slots of that stream. settle: so many absent slots
 * are fed after the last present one; all slots after them, up to the next present one, may then be
 * skipped (weir_plan_feed) without changing a result: every state has settled, and everything
 * pending has been computed. -1: no slot may be skipped. margin: no result or state depends on
 * slots of the stream further away than this, before or after it, if scans and calls settle in gaps
 * as declared (weir_access.settle). */
typedef struct weir_plan_need {
  int64_t settle, margin;
} weir_plan_need;
/* Follows a stream through the plan, from the n inputs with known paths to the results. A stream
 * without such an input never settles. */
weir_plan_need weir_plan_follow(const weir_plan *p, const weir_plan_end *from, int n,
                                weir_plan_end *to, int n_to);
/* Value of a result where some inputs are absent. */
typedef enum weir_absence {
  WEIR_IDLE_NOT,   /* not known                                                              */
  WEIR_IDLE_FIXED, /* the same value in all slots, such as NaN; or without time: the previous one */
  WEIR_IDLE_ZERO,
} weir_absence;
/* Computes idle[i]: the value of result i wherever the n inputs `absent` are absent, whatever the
 * other inputs; returns whether every scan and call with a state sees absent slots then. Valid
 * beyond the margin (weir_plan_need) from present slots. */
bool weir_plan_absence(const weir_plan *p, const char *const *absent, int n,
                       const char *const *results, int n_results, weir_absence *idle);
/* Returns the number of slots of the fastest input after which all streams related to it have the
 * same phase again: a multiple of every window; INT64_MAX: beyond 64 bits. */
int64_t weir_plan_period(const weir_plan *p);
/* Return the maximum number of new slots of a result per feed (1 without time), and the total
 * memory of the plan, with the constants of its graph, which plans of the same graph share. */
int64_t weir_plan_bound(const weir_plan *p, const char *result);
int64_t weir_plan_memory_bytes(const weir_plan *p);
/* Returns the memory of the plan itself, in addition to that: its graph and its loops, whatever the
 * size of arrays. */
int64_t weir_plan_own_bytes(const weir_plan *p);
/* Resets every stream to its start (windows, frontiers); stored arrays are the caller's. */
void weir_plan_rewind(weir_plan *p);

/* Returns the box of this rank of the input, stored array or result of that name, in global
 * indices: the whole array without sharding. rank -1: there is none. */
weir_box weir_plan_owned(const weir_plan *p, const char *name);

/* What runs a group: a kernel of a library or of Weir, also a library operator; a generated loop
 * without reduced dimensions, with them, with states along a dimension; a call of the program, on
 * one thread. Last: time of a run outside all groups. */
typedef enum weir_kernel_class {
  WEIR_CLASS_LIBRARY,
  WEIR_CLASS_MAP,
  WEIR_CLASS_REDUCTION,
  WEIR_CLASS_SCAN,
  WEIR_CLASS_CALL,
  WEIR_CLASS_OUTSIDE,
  WEIR_CLASSES
} weir_kernel_class;

/* Report of a group. */
typedef struct weir_group_report {
  const char *members;            /* "mul, add, clamp" */
  const char *digest;             /* weir_spmd_graph_digest; "": a call, or not explain */
  const char *kernel;             /* kernel or engine  */
  double flops, bytes;            /* per chunk of the bounds, or per run */
  double predicted_s, measured_s; /* measured: mean over chunks or runs; 0 without exec.explain */
  double counted_bytes;           /* measured, of the boxes that were run */
  double waited_s;                /* of it, for other ranks */
  double elsewhere_s;             /* predicted on the device of exec.predict; 0 without */
  weir_kernel_class kernel_class;
  weir_dtype dtype; /* f64, f32 or, of products in half precision, that: whose peak counts */
  int64_t blocks;   /* tiles of the last run, 1: sequential; 0: not known, or not yet run */
  bool on_host;     /* in a plan of a device: runs on the host all the same */
  int64_t calls;
  double saved_bytes;
} weir_group_report;
/* A communication operation of a run: data sent to other ranks or reduced with theirs; none in a
 * plan of one rank. bytes: sent or reduced by this rank. waited_s: exposed communication time of
 * all runs so far, between the first use of the result and its arrival; overlap_s: overlapped
 * compute, from the start of the transfer to that use; ready: runs in which everything had arrived
 * by then. */
typedef struct weir_comm_op_report {
  const char *name; /* name of the array: borrowed */
  bool merge;
  int64_t bytes, runs, ready;
  double waited_s, overlap_s;
} weir_comm_op_report;
int32_t weir_plan_moves(const weir_plan *p);
weir_comm_op_report weir_plan_move(const weir_plan *p, int32_t move);
/* Return the number of groups, in execution order; the report of one, with borrowed text; the bytes
 * of the arena and the lower bound by liveness; the engine. */
int32_t weir_plan_groups(const weir_plan *p);
weir_group_report weir_plan_group(const weir_plan *p, int32_t group);
/* A kernel that every run of a plan launches on its device, or every chunk of a stream. */
typedef struct weir_launch_report {
  int32_t group;    /* of weir_plan_group; several launches may be of one group */
  const char *file; /* its text in the folder exec.kernel_dir, "": there is none. Borrowed */
  int64_t blocks;   /* of a stream: for a chunk of the bounds */
  int threads;      /* of a block */
  int64_t bytes;    /* that its threads load and store, as if no border left any out; what several
                       threads load, or one loads again, counts as often */
} weir_launch_report;
/* Return the number of these launches, with those that groups of library kernels need besides the
 * library's call, and one of them. None in a plan of the cpu, or with sizes_only where
 * exec.kernel_dir names no folder. */
int64_t weir_plan_launches(const weir_plan *p);
weir_launch_report weir_plan_launch(const weir_plan *p, int64_t launch);
int64_t weir_plan_arena_bytes(const weir_plan *p);
int64_t weir_plan_arena_bound(const weir_plan *p);
/* Returns the micro-batches into which exec.memory splits a run; 1: none. */
int64_t weir_plan_microbatches(const weir_plan *p);
/* Returns true where exec.memory has element-wise results recomputed for the gradient. */
bool weir_plan_recomputes_elementwise(const weir_plan *p);
/* Returns the blocks of the forward pass that exec.memory has recomputed for the gradient. */
int weir_plan_blocks_again(const weir_plan *p);
weir_tier weir_plan_tier(const weir_plan *p);
/* Prints groups, communication, memory plan, predicted flops, bytes and time, the seconds of every
 * phase of making the plan (also in the event `plan_made`), and the graph after each pass. */
void weir_plan_print(const weir_plan *p, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
