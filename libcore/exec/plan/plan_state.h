/* plan_state.h - the inside of a plan: loops of every group, memory of every array, time frontiers.
 */
#ifndef WEIR_PLAN_STATE_H
#define WEIR_PLAN_STATE_H
#include "exec/weir_engine.h"
#include "exec/weir_plan.h"
#include "graph/kernel/weir_kernel_use.h"
#include "graph/weir_members.h"
#include "pass/microbatch/weir_microbatch.h"
#include "pass/recompute_blocks/weir_recompute_blocks.h"
#include "pass/schedule/weir_schedule.h"
#include "pass/weir_pass.h"

#define EXEC_MAX_ARRAYS 4096 /* arrays of a stream graph whose reach is asked for */
/* Far from both ends of a stream, where no border acts. */
#define EXEC_FAR ((int64_t)1 << 40)
#define EXEC_MAX_LOOPS 64 /* loops of one group; larger groups are refused */

/* Memory and, with a time dimension, the window of one array. Slots [origin, front) of a window are
 * valid; the last feed made [fresh, front). */
typedef struct exec_array {
  weir_view view;
  int64_t bytes;        /* of its memory; 0: local to a group                          */
  int time;             /* dimension, or -1                                            */
  int64_t rows;         /* product of the other extents                                */
  int64_t capacity;     /* slots of the window                                         */
  int64_t front, fresh; /* first slot not yet computed, now and before the last feed   */
  int64_t end;          /* length of the stream once known, else WEIR_UNBOUNDED        */
  bool bound;           /* run: the caller gave a tensor                               */
  bool shared;          /* has several writers                                         */
  void *aside;          /* stored, updated, and the new value of another: memory for it  */
  void *window;         /* input with time: separate memory                          */
  bool outside;         /* its slots lie in the caller's memory, slot 0 first          */
} exec_array;

/* Tile-local memory of one array of a group: a row-major block of `shape` in the thread's scratch.
 */
typedef struct exec_local {
  int32_t array;
  int32_t writer, last_reader; /* loops */
  int64_t shape[WEIR_MAX_RANK];
  int64_t offset, bytes;
} exec_local;

typedef struct exec_loop {
  weir_loop *loop;
  const weir_engine *engine; /* NULL: weir_op_desc.run */
  void *context;
  weir_state_table cells;
  int time;     /* iteration dimension that is time, or -1 */
  bool gathers; /* reads at indices that an array holds    */
  /* Inputs of one dimension, time, without a gather: down * index - up * iteration is at most
   * lag[i] (weir_operand_lag), and reaches that again and again; INT64_MAX for others. */
  int64_t lag[WEIR_MAX_OPERANDS];
  int64_t in_local[WEIR_MAX_OPERANDS], out_local[WEIR_MAX_OUTPUTS]; /* local, or -1 */
} exec_loop;

/* A kernel of a group. */
enum { EXEC_TIMED_STAGES = 4 };

typedef struct exec_kernel {
  const weir_claim *claim;                              /* the graph's */
  void *context;                                        /* of a kernel on a device */
  weir_kernel_use *use;                                 /* of a kernel on the CPU */
  int32_t loop;                                         /* that it computes */
  int32_t arrays[WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS]; /* in the order it wants */
  int n_arrays;
  int64_t workspace;                 /* offset of its own in the plan's */
  weir_box all;                      /* the iterations of its loop */
  double seconds[EXEC_TIMED_STAGES]; /* of weir_parallel_timed, by stage */
} exec_kernel;

typedef struct exec_group {
  int32_t number;   /* in the graph */
  exec_loop *loops; /* the last one is the anchor's */
  weir_loop *lowered;
  weir_member *member; /* [n_loops] their accesses and arrays */
  int32_t n_loops;
  weir_box all; /* iterations of the anchor */
  exec_local *locals;
  int32_t n_locals;
  int64_t scratch;        /* bytes per thread: of the kernels, then local arrays */
  int64_t kernel_scratch; /* most that a kernel wants */
  double tile_seconds;    /* of weir_parallel_timed */
  bool on_device;         /* p->backend runs it, whole */
  bool sequential;        /* tiles run in row-major order on one thread */
  int64_t tile[WEIR_MAX_DIMS];
  exec_kernel kernels[WEIR_MAX_CLAIMS]; /* with other loops they run block by block */
  int n_kernels;
  weir_box *kept_boxes;               /* [n_kept] tiles: boxes of loops, then blocks of kernels */
  weir_view *kept_locals;             /* [n_kept] tiles */
  int64_t n_kept;                     /* 0: tiles are composed in each run */
  int64_t front;                      /* time iterations of the anchor done so far */
  double flops, bytes, counted_bytes; /* counted: in all runs, where exec.explain asks for it */
  double seconds;
  const double *waited_s; /* of them, for other ranks; NULL: it never waits */
  int64_t calls;
  int64_t blocks; /* tiles of the last run that may run at a time; 0: not known */
  weir_kernel_class kernel_class;
  weir_dtype dtype; /* whose peak limits it */
  char members[160], kernel_names[64], digest[65];
} exec_group;

/* What became of exec.memory. whole: without micro-batches and what is made again. */
typedef struct exec_memory {
  int64_t microbatches, whole_bytes;
  bool elementwise;                                  /* as weir_pass_opts.recompute_elementwise */
  weir_blocks blocks;                                /* n 0: none was looked for */
  weir_block_choice choice;                          /* of them */
  double whole_flops, flops, whole_seconds, seconds; /* predicted */
  char refused[WEIR_MICROBATCH_TEXT];                /* why there are no micro-batches */
} exec_memory;

/* Seconds that one pass took, all its runs together, or one of the other steps of making a plan. */
typedef struct exec_phase {
  const char *name;
  double seconds;
  int64_t runs;
} exec_phase;
#define EXEC_MAX_PHASES 32

struct weir_plan {
  weir_graph *g;
  const weir_graph *built; /* the caller's graph, while the plan is made */
  weir_graph *rounded;     /* likewise, after a pass that rounds results; NULL: none did */
  weir_store *store;
  struct exec_ranks *ranks;     /* NULL: not over ranks */
  struct exec_backend *backend; /* NULL: the cpu */
  weir_exec_cfg cfg;
  int threads;
  weir_tier tier;
  exec_memory memory;
  weir_schedule schedule;
  exec_array *arrays;
  int32_t n_arrays;
  exec_group *groups; /* in the order they run */
  int32_t n_groups;
  char *arena, *scratch, *workspace;
  int64_t scratch_bytes;   /* per thread */
  int64_t workspace_bytes; /* most that the kernels of a group want: groups run one by one */
  int64_t *slots;          /* [5 * n_arrays] scratch for slides and feeds */
  int64_t *bounds;         /* [n_arrays] most new slots of one feed */
  weir_rate *rates;        /* [n_arrays] */
  int64_t *feeds;          /* [n_arrays] of a fastest input: most of its slots in one feed */
  double runs;    /* so far; of a stream: chunks of the bounds, by the slots that were fed */
  double seconds; /* of these runs, where exec.explain asks for it */
  bool predicts, unreported;
  weir_constants here, there; /* predicts: of the processors in use, of exec.predict */
  char target[256];           /* exec.predict */
  char results[64];           /* names of results */
  bool streaming, ended;
  const weir_constants *constants; /* of the device */
  bool terse, sizes_only;
  char *dump;  /* the graph after each pass */
  char *saved; /* what the derivative keeps */
  exec_phase phases[EXEC_MAX_PHASES];
  int n_phases;
  double began, phase_end;  /* clock: at the beginning, and at the end of the last phase */
  struct exec_early *early; /* [n_early] stored arrays that are updated while the plan runs */
  int32_t n_early;
  weir_plan_updated *updated; /* NULL: nobody is told */
  void *updated_context;
};
typedef struct exec_early exec_early;

/* memory.c: shapes and bytes of the group's locals, for tiles of group->tile. */
weir_status exec_locals_size(const weir_plan *p, exec_group *group);
/* run.c: the view of a local array in memory from `scratch` on, of what its writer's iterations of
 * `box` write. */
weir_view exec_local_view(const exec_local *local, const weir_loop *writer, int output,
                          const weir_box *box, char *scratch);

#endif
