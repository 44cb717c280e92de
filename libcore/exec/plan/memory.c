/* memory.c - what a plan allocates, once: windows of streams, tile-local buffers, one arena,
 * scratch. */
#include <string.h>
#include "plan_priv.h"
#include "base/weir_alloc.h"
#include "graph/weir_reach.h"
#include "graph/weir_store_device.h"

/* Positions tried: index divisions and strides make the need of a slot periodic. */
#define PHASES 64
#define PERIODS 64 /* different ones that are distinguished */

static weir_status round_up(int64_t bytes, int64_t *out)
{
  if (!weir_add_ok(bytes, (int64_t)63, out)) {
    return weir_fail(WEIR_ERR_SHAPE, "the size of an array overflows 64 bits");
  }
  *out &= ~(int64_t)63;
  return WEIR_OK;
}

/* Fronts of every array when the inputs hold `slots` slots, all streams unended (end false) or
 * ended there. */
static void fronts_at(weir_plan *p, const int64_t *input, bool end, int64_t *front)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const bool source = weir_graph_get_array(p->g, a)->kind == WEIR_ARRAY_INPUT;

    /* Of several writers the slowest one counts. */
    front[a] = p->arrays[a].time < 0 ? 0 : source ? input[a] : WEIR_UNBOUNDED;
    p->arrays[a].end = WEIR_UNBOUNDED;
    if (end && p->arrays[a].time >= 0 && source) {
      p->arrays[a].end = input[a];
    }
  }
  for (int32_t i = 0; i < p->n_groups; i++) {
    exec_group *group = &p->groups[i];

    for (int32_t k = 0; k < group->n_loops && end; k++) {
      for (int o = 0; o < group->loops[k].loop->access.n_out; o++) {
        exec_array *e = &p->arrays[group->loops[k].loop->out[o]];
        const int64_t here = exec_loop_end(p, &group->loops[k]);

        e->end = here < e->end ? here : e->end;
      }
    }
    group->front =
        end ? exec_loop_end(p, &group->loops[group->n_loops - 1]) : exec_limit(p, group, front);
    for (int32_t k = 0; k < group->n_loops; k++) {
      for (int o = 0; o < group->loops[k].loop->access.n_out; o++) {
        const int32_t a = group->loops[k].loop->out[o];

        front[a] = p->arrays[a].time < 0 ? 0 : group->front < front[a] ? group->front : front[a];
      }
    }
  }
}

/* Slots of every input when the fastest of those it goes with has had n, and one feed and `more`
 * slots more when `fed`: what has ended, or begun, by then. A stream that no access relates to
 * others stands anywhere. */
static void set_inputs(const weir_plan *p, int64_t n, bool fed, int64_t more, int64_t *input)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const int32_t base = p->rates[a].base;

    input[a] = weir_rate_slots(&p->rates[a], fed && base >= 0 ? n + p->feeds[base] + more : n, fed);
  }
}

/* Slots of the fastest input that one feed of any input it goes with stands for. */
static void find_feeds(weir_plan *p)
{
  weir_graph_rates(p->g, p->rates);
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_rate *r = &p->rates[a];

    if (r->base >= 0 && p->bounds[a] > 0) {
      const int64_t n = weir_rate_fastest(r, p->bounds[a]);
      int64_t *feed = &p->feeds[r->base];

      *feed = n > *feed ? n : *feed;
    }
  }
}

/* From one position to the next, so that PHASES of them span the period after which all streams
 * stand to one another as before; at most the sum of the different periods, since no stream waits
 * for longer than its own. */
static int64_t step_of_phases(const weir_plan *p)
{
  int64_t period[PERIODS], sum = 1;
  int n = 0;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    const int64_t down = p->rates[a].base < 0 ? 1 : p->rates[a].down;
    int i = 0;

    for (; i < n && period[i] != down; i++) {
    }
    if (i < n || n == PERIODS) {
      sum += i < n ? 0 : down;
      continue;
    }
    period[n++] = down;
    sum += down;
  }
  const int64_t even = (weir_plan_period(p) - 1) / PHASES + 1;

  return even < sum ? even : sum;
}

static void measure_windows(weir_plan *p, int64_t *scratch)
{
  int64_t *input = scratch, *before = input + p->n_arrays, *after = before + p->n_arrays;
  int64_t *keep = after + p->n_arrays;

  find_feeds(p);
  const int64_t step = step_of_phases(p);

  for (int64_t phase = 0; phase < PHASES; phase++) {
    set_inputs(p, EXEC_FAR + phase * step, false, 0, input);
    fronts_at(p, input, false, before);
    memcpy(keep, before, (size_t)p->n_arrays * sizeof(*keep));
    for (int32_t i = 0; i < p->n_groups; i++) {
      exec_retain(&p->groups[i], p->groups[i].front, keep);
    }
    /* Between two positions nothing is kept for longer, nor reaches further, than this. */
    set_inputs(p, EXEC_FAR + phase * step, true, step - 1, input);
    fronts_at(p, input, true, after);
    for (int32_t a = 0; a < p->n_arrays; a++) {
      const int64_t slots = after[a] - (keep[a] < before[a] ? keep[a] : before[a] - 1) + 2;

      if (p->arrays[a].time >= 0 && slots > p->arrays[a].capacity) {
        p->arrays[a].capacity = slots;
      }
    }
  }
  for (int32_t a = 0; a < p->n_arrays; a++) {
    p->arrays[a].end = WEIR_UNBOUNDED;
    p->arrays[a].capacity = (p->arrays[a].capacity + 15) & ~(int64_t)15;
  }
  for (int32_t i = 0; i < p->n_groups; i++) {
    p->groups[i].front = 0;
  }
}

static weir_status check_bounds(const weir_plan *p)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);
    int32_t reader;

    if (array->kind == WEIR_ARRAY_INPUT && array->desc.time > 0 && p->bounds[a] < 1 &&
        (weir_graph_readers(p->g, a, &reader, 1) > 0 || array->output != NULL)) {
      return weir_fail(WEIR_ERR_CONFIG, "plan: the stream input '%s' has no maximum chunk length",
                       array->name);
    }
  }
  return WEIR_OK;
}

static weir_status size_arrays(weir_plan *p)
{
  if (p->streaming) {
    WEIR_TRY(check_bounds(p));
    measure_windows(p, p->slots);
  }
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);
    exec_array *e = &p->arrays[a];
    int64_t stride = 1;
    bool fits = true;

    e->view = (weir_view){.dtype = array->desc.dtype, .rank = array->desc.rank};
    e->rows = 1;
    for (int d = array->desc.rank - 1; d >= 0; d--) {
      const int64_t extent = d == e->time ? e->capacity : array->desc.shape[d];

      e->view.stride[d] = stride;
      e->view.extent[d] = array->desc.shape[d];
      fits = fits && weir_mul_ok(stride, extent, &stride);
      e->rows = d == e->time ? e->rows : e->rows * array->desc.shape[d];
    }
    if (!fits || !weir_mul_ok(stride, (int64_t)weir_dtype_size(array->desc.dtype), &e->bytes)) {
      return weir_fail(WEIR_ERR_SHAPE, "plan: the size of an array of the graph overflows 64 bits");
    }
    WEIR_TRY(round_up(e->bytes, &e->bytes));
  }
  return WEIR_OK;
}

static void shape_local(const exec_group *group, exec_local *l, const weir_reach *loops,
                        int64_t slots)
{
  const weir_loop *writer = group->loops[l->writer].loop;

  for (int o = 0; o < writer->access.n_out; o++) {
    const weir_operand *operand = &writer->access.out[o];
    weir_reach elements;

    if (writer->out[o] != l->array) {
      continue;
    }
    weir_reach_elements(operand, &writer->access, &loops[l->writer], &elements);
    for (int d = 0; d < operand->rank; d++) {
      const bool open = operand->extent[d] >= WEIR_UNBOUNDED;

      l->shape[d] =
          weir_reach_length(&elements, d, open && elements.whole[d] ? slots : operand->extent[d]);
    }
  }
}

/* Offsets of the locals, each alive from its writer to its last reader. */
static void assign_locals(exec_group *group)
{
  weir_life lives[EXEC_MAX_LOOPS];

  for (int32_t i = 0; i < group->n_locals; i++) {
    exec_local *l = &group->locals[i];

    lives[i] = (weir_life){l->array, l->writer, l->last_reader, l->bytes, 0};
    lives[i].offset = weir_life_offset(lives, i, &lives[i], group->kernel_scratch);
    l->offset = lives[i].offset;
    group->scratch = l->offset + l->bytes > group->scratch ? l->offset + l->bytes : group->scratch;
  }
}

/* Most slots that one run of the group makes: what the windows of its results hold. */
static int64_t max_slots(const weir_plan *p, const exec_group *group)
{
  const weir_loop *anchor = group->loops[group->n_loops - 1].loop;
  int64_t slots = 1;

  for (int o = 0; o < anchor->access.n_out; o++) {
    const exec_array *e = &p->arrays[anchor->out[o]];

    slots = e->time >= 0 && e->capacity > slots ? e->capacity : slots;
  }
  return slots;
}

weir_status exec_locals_size(const weir_plan *p, exec_group *group)
{
  weir_reach loops[EXEC_MAX_LOOPS];
  const int64_t slots = max_slots(p, group);

  weir_reach_compose(group->member, group->n_loops, group->tile, slots, loops);
  for (int32_t i = 0; i < group->n_locals; i++) {
    exec_local *l = &group->locals[i];
    const weir_array_desc *d = &weir_graph_get_array(p->g, l->array)->desc;
    int64_t count = 1;

    shape_local(group, l, loops, slots);
    for (int k = 0; k < d->rank; k++) {
      if (!weir_mul_ok(count, l->shape[k], &count) || count > (int64_t)1 << 40) {
        return weir_fail(WEIR_ERR_MEMORY,
                         "plan: a tile-local buffer of group '%s' would have more than 2^40 "
                         "elements: its tile is too large",
                         group->members);
      }
    }
    WEIR_TRY(round_up(count * (int64_t)weir_dtype_size(d->dtype) + 64, &l->bytes));
  }
  return WEIR_OK;
}

weir_status exec_memory_hold(const weir_plan *p, int64_t bytes, void **out)
{
  *out = NULL;
  return p->sizes_only ? WEIR_OK : weir_alloc(bytes, 1, out);
}

static weir_status make_cells(const weir_plan *p, exec_group *group)
{
  for (int32_t k = 0; k < group->n_loops; k++) {
    exec_loop *loop = &group->loops[k];
    const weir_access *a = &loop->loop->access;
    int64_t points = 1, bytes = 0;
    void *memory = NULL;

    if (a->n_states == 0) {
      continue;
    }
    if (loop->time >= 0 && a->dim[loop->time].kind == WEIR_PARALLEL) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "plan: group '%s' scans along a dimension other than time, but has a time "
                       "dimension: its states would grow without limit",
                       group->members);
    }
    for (int d = 0; d < a->n_dims; d++) {
      if (a->dim[d].kind == WEIR_PARALLEL &&
          !weir_mul_ok(points, a->dim[d].hi - a->dim[d].lo, &points)) {
        return weir_fail(WEIR_ERR_SHAPE,
                         "plan: the size of the states of a scan overflows 64 bits");
      }
    }
    if (!weir_mul_ok(points, weir_table_before(a, a->n_states) * (int64_t)sizeof(uint64_t),
                     &bytes)) {
      return weir_fail(WEIR_ERR_SHAPE, "plan: the size of the states of a scan overflows 64 bits");
    }
    loop->cells.points = points;
    WEIR_TRY(exec_memory_hold(p, bytes, &memory));
    loop->cells.cells = memory;
  }
  return WEIR_OK;
}

static weir_status assign_arrays(weir_plan *p)
{
  weir_status status = WEIR_OK;
  int64_t *bytes = NULL;
  bool *keep = NULL;
  void *memory = NULL, *flags = NULL;

  WEIR_TRY(weir_alloc(p->n_arrays, sizeof(int64_t), &memory));
  bytes = memory;
  WEIR_TRY_GOTO(weir_alloc(p->n_arrays, sizeof(bool), &flags), out);
  keep = flags;
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);

    /* Windows on a device are in memory of their own: backend_window.c. */
    bytes[a] = p->backend != NULL && p->arrays[a].time >= 0 ? 0 : p->arrays[a].bytes;
    keep[a] = p->arrays[a].time >= 0 || (p->streaming && array->output != NULL);
  }
  WEIR_TRY_GOTO(weir_schedule_make(p->g, bytes, keep, &p->schedule), out);
  if (p->backend == NULL) { /* else it is the device's */
    WEIR_TRY_GOTO(exec_memory_hold(p, p->schedule.arena_bytes + 64, &memory), out);
    p->arena = memory;
  }
  for (int32_t a = 0; a < p->n_arrays && p->arena != NULL; a++) {
    if (p->schedule.offset[a] >= 0) {
      p->arrays[a].view.data = p->arena + p->schedule.offset[a];
    }
  }
out:
  weir_free(&bytes);
  weir_free(&keep);
  return status;
}

/* Over ranks the store has this rank's box. */
static weir_status check_stored(const weir_array *array, const weir_tensor *t)
{
  bool same = t->dtype == array->desc.dtype && t->rank == array->desc.rank;

  for (int d = 0; d < t->rank && same; d++) {
    same = t->shape[d] == array->desc.shape[d];
  }
  return same ? WEIR_OK
              : weir_fail(
                    WEIR_ERR_SHAPE,
                    "plan: '%s' of the store differs in dtype or shape from its box in the plan",
                    array->name);
}

/* Inputs with time have separate windows; stored and constant arrays are where they are. */
static weir_status bind_sources(weir_plan *p)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    weir_array *array = weir_graph_array_mut(p->g, a);
    void *memory = NULL;

    if (array->kind == WEIR_ARRAY_CONSTANT) {
      p->arrays[a].view = weir_view_of(&array->constant);
    } else if (array->kind == WEIR_ARRAY_STORED) {
      const weir_store_sides *sides = weir_store_sides_of(p->store, array->name);

      if (sides == NULL) {
        return weir_fail(WEIR_ERR_CONFIG, "plan: the store has no array '%s'", array->name);
      }
      WEIR_TRY(check_stored(array, sides->host));
      p->arrays[a].view = weir_view_of(sides->host);
    } else if (array->kind == WEIR_ARRAY_INPUT && p->arrays[a].time >= 0) {
      WEIR_TRY(exec_memory_hold(p, p->arrays[a].bytes, &memory));
      p->arrays[a].view.data = p->arrays[a].window = memory;
    }
  }
  return WEIR_OK;
}

/* Room for stored arrays that are updated and are the new value of others. */
static weir_status keep_aside(const weir_plan *p)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const int32_t from = weir_graph_get_array(p->g, a)->update;

    if (from >= 0 && weir_graph_get_array(p->g, from)->update >= 0 &&
        p->arrays[from].aside == NULL) {
      WEIR_TRY(exec_memory_hold(p, p->arrays[from].bytes, &p->arrays[from].aside));
    }
  }
  return WEIR_OK;
}

weir_status exec_memory_make(weir_plan *p)
{
  void *memory = NULL;

  WEIR_TRY(size_arrays(p));
  WEIR_TRY(assign_arrays(p));
  WEIR_TRY(bind_sources(p));
  WEIR_TRY(keep_aside(p));
  for (int32_t i = 0; i < p->n_groups; i++) {
    if (!p->groups[i].on_device) {
      WEIR_TRY(exec_locals_size(p, &p->groups[i]));
      assign_locals(&p->groups[i]);
    }
    WEIR_TRY(make_cells(p, &p->groups[i]));
    p->scratch_bytes =
        p->groups[i].scratch > p->scratch_bytes ? p->groups[i].scratch : p->scratch_bytes;
  }
  p->scratch_bytes = (p->scratch_bytes + 63) & ~(int64_t)63;
  WEIR_TRY(exec_memory_hold(p, p->scratch_bytes * p->threads + 64, &memory));
  p->scratch = memory;
  return WEIR_OK;
}
