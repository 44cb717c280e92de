/* run.c - the outer box of a group, tile by tile: boxes composed, views set, loops run. */
#include <limits.h>
#include <string.h>
#include "plan_priv.h"
#include "base/weir_clock.h"
#include "device/weir_copy.h"
#include "device/weir_parallel.h"
#include "exec/backend/device/backend.h"
#include "exec/ranks/ranks_priv.h"

/* Seconds of computing after which messages under way are polled again: long ones travel
 * in fragments that both ranks have to take from each other. */
#define POLL_INTERVAL_S 100e-6

/* What the tiles of one group run share. */
typedef struct tiling {
  weir_plan *p;
  exec_group *group;
  double tended; /* clock: when thread 0 last looked after messages */
  weir_box box;
  int64_t count[WEIR_MAX_DIMS]; /* tiles along each dimension of the anchor */
  int64_t total;
  bool last;
  weir_status status[64]; /* per thread: the first failure */
} tiling;

/* Moves messages on between the pieces of thread 0, the one that has started them. */
static void poll_messages(tiling *t, int thread)
{
  if (thread == 0 && t->p->ranks != NULL && t->status[0] == WEIR_OK) {
    const double now = weir_clock();

    if (now - t->tended >= POLL_INTERVAL_S) {
      t->status[0] = weir_requests_progress(t->p->ranks->comm);
      t->tended = now;
    }
  }
}

weir_view exec_local_view(const exec_local *local, const weir_loop *writer, int output,
                          const weir_box *box, char *scratch)
{
  const weir_operand *o = &writer->access.out[output];
  const weir_region r = weir_written(&writer->access, output, box);
  weir_view v = {.data = scratch + local->offset, .dtype = o->dtype, .rank = o->rank};
  int64_t stride = 1;

  for (int d = o->rank - 1; d >= 0; d--) {
    v.origin[d] = r.n[d] > 0 ? r.interval[d][0].lo : 0;
    WEIR_ASSERT(r.n[d] == 0 || r.interval[d][0].hi - r.interval[d][0].lo <= local->shape[d]);
    v.stride[d] = stride;
    v.extent[d] = o->extent[d];
    stride *= local->shape[d];
  }
  return v;
}

/* What a kernel is given: its arrays, those that are local to the group where `locals` has them. */
static weir_kernel_run kernel_run(const tiling *t, const exec_kernel *kernel,
                                  const weir_view *locals, weir_view *views)
{
  const exec_group *group = t->group;

  for (int i = 0; i < kernel->n_arrays; i++) {
    views[i] = t->p->arrays[kernel->arrays[i]].view;
    for (int32_t k = 0; k < group->n_locals && locals != NULL; k++) {
      views[i] = group->locals[k].array == kernel->arrays[i] ? locals[k] : views[i];
    }
  }
  return (weir_kernel_run){
      .box = group->n_loops == 1 ? t->box : kernel->all,
      .views = views,
      .n_views = kernel->n_arrays,
      .workspace = t->p->workspace != NULL ? t->p->workspace + kernel->workspace : NULL};
}

/* The stage of a kernel that is run in blocks. */
static void run_block(const tiling *t, const exec_kernel *kernel, const weir_box *block,
                      const weir_view *locals, char *scratch)
{
  weir_view views[WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS];
  weir_kernel_run run = kernel_run(t, kernel, locals, views);

  run.stage = kernel->claim->blocks.stage;
  run.piece = -1;
  run.block = *block;
  run.scratch = scratch;
  weir_kernel_use_run(kernel->use, &run);
}

/* A result that lies with the caller and would fill the caches. */
static bool is_past(const exec_array *e)
{
  return e->outside && e->capacity > WEIR_COPY_PAST_BYTES / (int64_t)weir_dtype_size(e->view.dtype);
}

static weir_status run_loop(const tiling *t, const exec_loop *loop, const weir_box *box,
                            weir_view *locals, void *scratch)
{
  const weir_loop *l = loop->loop;
  weir_view in[WEIR_MAX_OPERANDS], out[WEIR_MAX_OUTPUTS];
  uint32_t past = 0;

  for (int i = 0; i < l->access.n_in; i++) {
    in[i] = loop->in_local[i] >= 0 ? locals[loop->in_local[i]] : t->p->arrays[l->in[i]].view;
  }
  for (int o = 0; o < l->access.n_out; o++) {
    out[o] = loop->out_local[o] >= 0 ? locals[loop->out_local[o]] : t->p->arrays[l->out[o]].view;
    past |= (uint32_t)(loop->out_local[o] < 0 && is_past(&t->p->arrays[l->out[o]])) << o;
  }
  if (loop->engine != NULL) {
    const weir_loop_run run = {
        .box = *box, .in = in, .out = out, .state = (weir_state_table *)&loop->cells, .past = past};

    loop->engine->run(loop->context, &run);
    return WEIR_OK;
  }
  const weir_node *node = weir_graph_node(t->p->g, l->node);
  const weir_op_run run = {.spec = node->spec,
                           .access = &node->access,
                           .box = *box,
                           .n_in = l->access.n_in,
                           .n_out = l->access.n_out,
                           .in = in,
                           .out = out,
                           .scratch = scratch,
                           .last = t->last};

  WEIR_TRY(node->op->run(&run));
  return WEIR_OK;
}

/* The elements of `view` in the region are indices that x takes. */
static weir_status check_indices(const weir_index *x, const weir_view *view, const weir_region *r)
{
  const weir_box box = weir_region_hull(r);
  const int64_t count = weir_region_empty(r) ? 0 : weir_box_volume(&box);
  int64_t at[WEIR_MAX_RANK] = {0};

  memcpy(at, box.lo, (size_t)box.rank * sizeof(*at));
  for (int64_t k = 0; k < count; k++) {
    const int64_t v = weir_dtype_load_int(view->dtype, weir_view_at(view, at), 0);

    if (v < x->gather_lo || v >= x->gather_hi) {
      return weir_fail(
          WEIR_ERR_DATA,
          "gather: index %lld at position %lld is outside the declared range [%lld, %lld)",
          (long long)v, (long long)k, (long long)x->gather_lo, (long long)x->gather_hi);
    }
    for (int d = box.rank - 1; d >= 0 && ++at[d] == box.hi[d]; d--) {
      at[d] = box.lo[d];
    }
  }
  return WEIR_OK;
}

/* Fails for an index outside the range that the access declares, so that kernels cannot. locals:
 * looks at the indices made in the tile; NULL: at all others. */
static weir_status check_gathers(const weir_plan *p, const exec_loop *loop, const weir_box *box,
                                 const weir_view *locals)
{
  const weir_access *a = &loop->loop->access;

  for (int i = 0; i < a->n_in; i++) {
    for (int d = 0; d < a->in[i].rank; d++) {
      const weir_index *x = &a->in[i].index[d];
      const int64_t local = x->gather > 0 ? loop->in_local[x->gather - 1] : -1;

      if (x->gather == 0 || (local >= 0) != (locals != NULL)) {
        continue;
      }
      const weir_region r = weir_needed(a, x->gather - 1, box);
      const weir_view *view =
          local >= 0 ? &locals[local] : &p->arrays[loop->loop->in[x->gather - 1]].view;

      WEIR_TRY(check_indices(x, view, &r));
    }
  }
  return WEIR_OK;
}

/* A stage of a kernel: its pieces are shared among threads. */
typedef struct stage {
  tiling *tiling;
  const weir_kernel_use *kernel;
  weir_kernel_run run;
  char *scratch;
  int64_t scratch_bytes;
} stage;

static void kernel_item(void *context, int64_t item, int thread)
{
  const stage *s = context;
  weir_kernel_run run = s->run;

  run.piece = item;
  run.scratch = s->scratch + thread * s->scratch_bytes;
  weir_kernel_use_run(s->kernel, &run);
  poll_messages(s->tiling, thread);
}

/* Stages [from, to), up to the last one, of a kernel. */
static void run_stages(tiling *t, exec_kernel *k, int from, int to)
{
  const weir_plan *p = t->p;
  weir_view views[WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS];
  stage s = {.tiling = t,
             .kernel = k->use,
             .run = kernel_run(t, k, NULL, views),
             .scratch = p->scratch,
             .scratch_bytes = p->scratch_bytes};

  for (s.run.stage = from; s.run.stage < to; s.run.stage++) {
    const int64_t n = weir_kernel_use_pieces(k->use, s.run.stage);

    if (n == 0) {
      return;
    }
    weir_parallel_timed(n, p->threads, kernel_item, &s,
                        s.run.stage < EXEC_TIMED_STAGES ? &k->seconds[s.run.stage] : NULL);
  }
}

/* The stages of kernels before the tiles, which are all without other loops, or after them. */
static void run_kernels(tiling *t, bool after)
{
  for (int i = 0; i < t->group->n_kernels; i++) {
    exec_kernel *k = &t->group->kernels[i];
    const weir_kernel_blocks *blocks = &k->claim->blocks;

    if (after && blocks->of_input) {
      run_stages(t, k, blocks->stage + 1, INT_MAX);
    } else if (!after && (t->group->n_loops == 1 || !blocks->of_input)) {
      run_stages(t, k, 0, t->group->n_loops == 1 ? INT_MAX : blocks->stage);
    }
  }
}

/* Number of the kernel that computes the loop, -1: none. */
static int kernel_of(const exec_group *group, int32_t loop)
{
  for (int i = 0; i < group->n_kernels; i++) {
    if (group->kernels[i].loop == loop) {
      return i;
    }
  }
  return -1;
}

static weir_status run_composed(const tiling *t, const exec_tile *tile, char *scratch)
{
  const exec_group *group = t->group;

  for (int32_t k = 0; k < group->n_loops; k++) {
    const exec_loop *loop = &group->loops[k];
    const int kernel = kernel_of(group, k);

    if (!exec_has_points(&loop->loop->access, &tile->boxes[k])) {
      continue;
    }
    if (loop->gathers) {
      WEIR_TRY(check_gathers(t->p, loop, &tile->boxes[k], tile->locals));
    }
    if (kernel >= 0) {
      run_block(t, &group->kernels[kernel], &tile->blocks[kernel], tile->locals, scratch);
    } else {
      WEIR_TRY(run_loop(t, loop, &tile->boxes[k], tile->locals, scratch));
    }
  }
  return WEIR_OK;
}

static weir_status run_tile(const tiling *t, int64_t number, char *scratch)
{
  const exec_group *group = t->group;
  weir_view locals[EXEC_MAX_LOOPS];

  if (group->n_kept > 0) {
    exec_tile tile = exec_tile_kept(group, number);

    for (int32_t l = 0; l < group->n_locals; l++) {
      locals[l] = tile.locals[l];
      locals[l].data = scratch + ((char *)locals[l].data - t->p->scratch);
    }
    tile.locals = locals;
    WEIR_TRY(run_composed(t, &tile, scratch));
    return WEIR_OK;
  }
  weir_box boxes[EXEC_MAX_LOOPS], blocks[WEIR_MAX_CLAIMS];
  exec_tile tile = {boxes, blocks, locals, scratch};
  const weir_box box = exec_tile_box(group, &t->box, t->count, number);

  exec_tile_compose(group, &box, &tile);
  WEIR_TRY(run_composed(t, &tile, scratch));
  return WEIR_OK;
}

/* Before the tiles: what they all read from outside the group. */
weir_status exec_check_gathers(const weir_plan *p, const exec_group *group, const weir_box *box)
{
  weir_box boxes[EXEC_MAX_LOOPS];
  bool any = false;

  for (int32_t k = 0; k < group->n_loops; k++) {
    any = any || group->loops[k].gathers;
  }
  if (!any) {
    return WEIR_OK;
  }
  boxes[group->n_loops - 1] = *box;
  weir_members_compose(group->member, group->n_loops, boxes);
  for (int32_t k = 0; k < group->n_loops; k++) {
    if (group->loops[k].gathers && exec_has_points(&group->loops[k].loop->access, &boxes[k])) {
      WEIR_TRY(check_gathers(p, &group->loops[k], &boxes[k], NULL));
    }
  }
  return WEIR_OK;
}

static void tile_item(void *context, int64_t item, int thread)
{
  tiling *t = context;

  if (t->status[thread] == WEIR_OK) {
    t->status[thread] = run_tile(t, item, t->p->scratch + thread * t->p->scratch_bytes);
    poll_messages(t, thread);
  }
}

/* What state `s` is before the first iteration where no array says it. */
static void start_state(const weir_state *s, uint64_t *cell, int64_t points)
{
  const weir_dtype part = weir_dtype_part(s->dtype);

  *cell = 0;
  if (weir_dtype_is_whole(s->dtype)) {
    weir_dtype_store_int(s->dtype, cell, 0, (int64_t)s->initial);
  } else {
    weir_dtype_store_real(part, cell, 0, s->initial);
  }
  if (weir_dtype_is_complex(s->dtype)) {
    cell[points] = 0;
  }
}

/* States between the cells and their arrays: before the first iteration (load) and after the last.
 */
static void move_states(const weir_plan *p, exec_loop *loop, bool load)
{
  const weir_access *a = &loop->loop->access;
  const int64_t points = loop->cells.points;

  for (int s = 0; s < a->n_states; s++) {
    const int operand = load ? a->state[s].init - 1 : a->state[s].final - 1;
    const size_t size = weir_dtype_size(weir_dtype_part(a->state[s].dtype));
    const int parts = weir_dtype_parts(a->state[s].dtype);
    uint64_t *cell = &loop->cells.cells[weir_table_before(a, s) * points];

    if (!load && operand < 0) {
      continue;
    }
    for (int64_t point = 0; point < points; point++, cell++) {
      if (operand < 0) {
        start_state(&a->state[s], cell, points);
        continue;
      }
      const int32_t array = load ? loop->loop->in[operand] : loop->loop->out[operand];
      char *at = (char *)p->arrays[array].view.data +
                 (int64_t)size * parts * (a->state[s].slot * points + point);

      for (int part = 0; part < parts; part++, at += size) {
        uint64_t *state = cell + part * points;

        memcpy(load ? (void *)state : (void *)at, load ? (void *)at : (void *)state, size);
      }
    }
  }
}

weir_status exec_group_run(weir_plan *p, exec_group *group, const weir_box *box, bool last)
{
  tiling t = {.p = p,
              .group = group,
              .tended = p->ranks != NULL ? weir_clock() : 0,
              .box = *box,
              .last = last};
  const bool tiled = group->n_kernels == 0 || group->n_loops > 1;
  const double start = p->cfg.explain ? weir_clock() : 0;
  weir_status status = WEIR_OK;

  if (p->backend != NULL) {
    WEIR_TRY(exec_backend_bring(p, group));
  }
  WEIR_TRY(exec_check_gathers(p, group, box));
  if (group->on_device) {
    return exec_backend_run(p, group, box);
  }
  t.total = exec_tile_count(group, box, t.count);
  for (int32_t k = 0; k < group->n_loops; k++) {
    if (group->loops[k].cells.cells != NULL && !(p->streaming && group->front > 0)) {
      move_states(p, &group->loops[k], true);
    }
  }
  run_kernels(&t, false);
  if (tiled) {
    weir_parallel_timed(t.total, group->sequential ? 1 : p->threads, tile_item, &t,
                        &group->tile_seconds);
    run_kernels(&t, true);
  }
  for (int i = 0; i < 64 && status == WEIR_OK; i++) {
    status = t.status[i];
  }
  for (int32_t k = 0; k < group->n_loops; k++) {
    if (group->loops[k].cells.cells != NULL) {
      move_states(p, &group->loops[k], false);
    }
  }
  if (p->cfg.explain) {
    group->seconds += weir_clock() - start;
    group->counted_bytes += exec_counted_bytes(p, group, box);
  }
  group->calls++;
  group->blocks = !tiled ? 0 : group->sequential ? 1 : t.total;
  return status;
}
