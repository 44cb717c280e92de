/* plan_priv.h - the steps of making a plan and of running it. */
#ifndef WEIR_PLAN_PRIV_H
#define WEIR_PLAN_PRIV_H
#include "exec/exec_priv.h"
#include "exec/plan/plan_state.h"

/* compose.c: whole iteration box of the anchor with time limited to [lo, hi). */
weir_box exec_anchor_box(const exec_group *group, int64_t lo, int64_t hi);
/* Fills loop->lag. */
void exec_find_lags(exec_loop *loop);
/* First time iteration of the anchor that cannot be computed when array a holds slots [0,
 * front[a]). */
int64_t exec_limit(const weir_plan *p, const exec_group *group, const int64_t *front);
/* Length of the stream that a loop makes, from the ends of the arrays it reads. */
int64_t exec_loop_end(const weir_plan *p, const exec_loop *loop);
/* Earliest slot of each array that the group's iterations from `front` on read (minimum into keep).
 */
void exec_retain(const exec_group *group, int64_t front, int64_t *keep);

/* First slot that the writers of an array have not made yet: of the slowest one, and of
 * the one ahead. */
void exec_written(const weir_plan *p, int32_t array, int64_t *min, int64_t *max);
/* memory.c: capacities of windows, shapes of locals, arena, scratch. */
weir_status exec_memory_make(weir_plan *p);
/* Zeroed memory of a plan that runs; NULL for one of sizes alone. */
weir_status exec_memory_hold(const weir_plan *p, int64_t bytes, void **out);
/* budget.c: makes p->g, within exec.memory where it has no time; whether the arena, once laid out,
 * keeps to it; what was chosen. Fail: WEIR_ERR_CONFIG, with the least that can be kept. */
weir_status exec_budget_keep(weir_plan *p);
weir_status exec_budget_check(const weir_plan *p);
void exec_budget_print(const weir_plan *p, FILE *out);

/* Fails where an array has indices outside the range that an access of the group declares. */
weir_status exec_check_gathers(const weir_plan *p, const exec_group *group,
                               const weir_box *box) WEIR_CHECKED;
/* tiles.c: tiles along each dimension of the anchor's box; returns their number. */
int64_t exec_tile_count(const exec_group *group, const weir_box *box, int64_t *count);
weir_box exec_tile_box(const exec_group *group, const weir_box *box, const int64_t *count,
                       int64_t number);
/* What the loops and kernels of a group run in one tile. scratch: where `locals` lie. */
typedef struct exec_tile {
  weir_box *boxes;   /* [n_loops]                                                              */
  weir_box *blocks;  /* [n_kernels], of groups with other loops: of the result, or of the input */
  weir_view *locals; /* [n_locals]                                                             */
  char *scratch;
} exec_tile;
/* Fills what `out` points to. */
void exec_tile_compose(const exec_group *group, const weir_box *tile, exec_tile *out);
/* Composes the tiles of groups that run the same box each time. Fails: WEIR_ERR_MEMORY. */
weir_status exec_tiles_keep(weir_plan *p) WEIR_CHECKED;
/* Tile `number` of those kept, with locals in p->scratch. */
exec_tile exec_tile_kept(const exec_group *group, int64_t number);
/* run.c: the anchor's iterations of `box`, tile by tile. */
weir_status exec_group_run(weir_plan *p, exec_group *group, const weir_box *box, bool last);
/* counted.c: distinct bytes that the group reads and writes outside itself for `box` of the anchor.
 */
double exec_counted_bytes(const weir_plan *p, const exec_group *group, const weir_box *box);
/* engines.c: prepares the kernels of groups, and asks library operators for their scratch, before
 * memory is laid out. */
weir_status exec_prepare_kernels(weir_plan *p);
/* Prepares the loops that no kernel makes for the engine of exec.tier. Fails: WEIR_ERR_UNSUPPORTED
 * where no engine of this build can. */
weir_status exec_choose_engine(weir_plan *p);
/* Allocates the workspace of the kernels. */
weir_status exec_bind_kernels(weir_plan *p);
/* plan.c: the options of the passes; the passes on p->g; what follows them. */
weir_pass_opts exec_pass_opts(const weir_plan *p);
weir_status exec_plan_passes(weir_plan *p);
weir_status exec_plan_finish(weir_plan *p, const weir_plan_opts *opts);
/* describe.c: keeps the dump of the graph after a pass, and verifies it when asked (context: the
 * plan). */
weir_status exec_watch(void *plan, const weir_pass *pass, const weir_graph *g);
/* Keeps what descriptions say of the graph, whose nodes are then let go. */
weir_status exec_summarise(weir_plan *p);
/* predict.c: reads the devices of exec.predict. Fails: WEIR_ERR_CONFIG. */
weir_status exec_predict_open(weir_plan *p) WEIR_CHECKED;
weir_kernel_class exec_class_of(const exec_group *group);
weir_dtype exec_dtype_of(const exec_group *group);
/* plan_timing.c: what was done since the last phase took that long; begin: the first one. What is
 * not named within EXEC_MAX_PHASES is left out. */
void exec_phases_begin(weir_plan *p);
void exec_phase_end(weir_plan *p, const char *name);
/* The event `plan_made`, and the table of weir_plan_print. */
void exec_phases_report(const weir_plan *p);
void exec_phases_print(const weir_plan *p, FILE *out);
/* Logs what the groups took, by kernel class; nothing where none was timed. */
void exec_times_report(const weir_plan *p);
/* early.c: finds the stored arrays of weir_plan_opts.early whose update may begin before the end of
 * a run, and has what their new values are made of run as soon as it can. After the passes, before
 * the order of the groups. Fails: WEIR_ERR_MEMORY. */
weir_status exec_early_find(weir_plan *p, const char *name) WEIR_CHECKED;
/* Finds the pieces, and the groups after which they are final, once groups are ordered. Fails:
 * WEIR_ERR_MEMORY. */
weir_status exec_early_divide(weir_plan *p) WEIR_CHECKED;
void exec_early_free(weir_plan *p);
/* Before the first group of a run. */
void exec_early_begin(weir_plan *p);
/* After a group: updates what is final by then, and calls the hook. Fails: as the hook. */
weir_status exec_early_update(weir_plan *p, int32_t group) WEIR_CHECKED;
/* Whether an array is updated so, and not at the end. */
bool exec_is_early(const weir_plan *p, int32_t array);
void exec_early_print(const weir_plan *p, FILE *out);
/* verify.c: oracle on the graph after `pass` against the graph as built, or as the last pass that
 * rounds left it. Fails: WEIR_ERR_NUMERIC.
 */
weir_status exec_verify(weir_plan *p, const weir_pass *pass, const weir_graph *g);

#endif
