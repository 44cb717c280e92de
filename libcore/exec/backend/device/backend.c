/* backend.c - the device of a plan: which groups run there, and its memory. */
#include "exec/backend/device/backend.h"

#include <string.h>

#include "base/weir_alloc.h"
#include "graph/weir_kernel.h"

weir_status exec_backend_open(weir_plan *p)
{
  const weir_store_device *shared = NULL;
  void *memory = NULL;

  if (p->cfg.device == NULL || strcmp(p->cfg.device, "cpu") == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(1, sizeof *p->backend, &memory));
  p->backend = memory;
  struct exec_backend *b = p->backend;

  if (p->store == NULL) {
    WEIR_TRY(weir_store_create(&b->empty));
  }
  b->store = p->store != NULL ? p->store : b->empty;
  WEIR_TRY(weir_store_device_use(b->store, p->cfg.device, &shared));
  b->device = shared->device;
  b->enough_blocks = p->cfg.device_blocks;
  b->text_dir =
      p->cfg.kernel_dir != NULL && p->cfg.kernel_dir[0] != '\0' ? p->cfg.kernel_dir : NULL;
  b->text_only = p->sizes_only;
  b->work = shared->work;
  b->copies = shared->copies;
  WEIR_TRY(weir_device_event_create(b->device, &b->worked));
  WEIR_TRY(weir_device_event_create(b->device, &b->copied));
  return WEIR_OK;
}

void exec_backend_close(weir_plan *p)
{
  struct exec_backend *b = p->backend;

  if (b == NULL) {
    return;
  }
  exec_capture_free(&b->capture);
  weir_device_event_destroy(&b->worked);
  weir_device_event_destroy(&b->copied);
  for (int64_t k = 0; k < b->n_kernels; k++) {
    weir_device_kernel_destroy(&b->kernels[k].kernel);
    weir_free(&b->kernels[k].text);
  }
  weir_device_arena_destroy(&b->memory);
  weir_device_arena_destroy(&b->staging);
  if (b->device != NULL) {
    weir_store_device_release(b->store);
  }
  weir_store_destroy(&b->empty);
  for (int32_t i = 0; i < b->n_steps; i++) {
    weir_free(&b->steps[i].arrays);
  }
  weir_free(&b->kernels);
  weir_free(&b->launches);
  weir_free(&b->steps);
  weir_free(&b->sides);
  weir_free(&b->moving);
  weir_free(&p->backend);
}

/* ---- Which groups. ---- */

/* An index array that the host can look at before the group runs. */
static bool is_source(const weir_plan *p, int32_t array)
{
  return weir_graph_get_array(p->g, array)->kind != WEIR_ARRAY_TEMPORARY;
}

/* Complex arrays count twice: planar.h makes two of each. */
static bool fits(const weir_access *a)
{
  int in = 0, out = 0;

  for (int k = 0; k < a->n_in; k++) {
    in += weir_dtype_parts(a->in[k].dtype);
  }
  for (int k = 0; k < a->n_out; k++) {
    out += weir_dtype_parts(a->out[k].dtype);
  }
  return in <= WEIR_MAX_OPERANDS && out <= WEIR_MAX_OUTPUTS;
}

/* Time is parallel, all else is bounded, and no random bits follow from a position in all. */
static bool is_chunked(const exec_loop *loop)
{
  const weir_access *a = &loop->loop->access;
  bool yes = !weir_body_uses(&a->body, WEIR_CODE_RANDOM);

  for (int k = 0; k < a->n_dims; k++) {
    yes =
        yes && (k == loop->time ? a->dim[k].kind == WEIR_PARALLEL : a->dim[k].hi < WEIR_UNBOUNDED);
  }
  return yes;
}

static bool takes_loop(const weir_plan *p, const exec_loop *from)
{
  const weir_loop *loop = from->loop;
  const weir_access *a = &loop->access;
  native_form form;
  exec_layout layout;

  if (a->maker != WEIR_MADE_BY_BODY || a->n_states > 0 || !fits(a) ||
      (p->streaming && !is_chunked(from))) {
    return false;
  }
  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      const int by = a->in[k].index[d].gather;

      if (by > 0 && !is_source(p, loop->in[by - 1])) {
        return false;
      }
    }
  }
  if (native_form_of(a, &form) != WEIR_OK ||
      exec_layout_of(&form, p->streaming, &layout) != WEIR_OK) {
    weir_clear_failure();
    return false;
  }
  return true;
}

static bool takes_group(const weir_plan *p, const exec_group *group)
{
  bool all = group->n_kernels == 0;

  for (int32_t k = 0; k < group->n_loops; k++) {
    all = all && takes_loop(p, &group->loops[k]);
  }
  return all;
}

/* Writes an array of which a group on the host writes boxes. */
static bool shares_with_host(const weir_plan *p, const exec_group *group, const bool *host)
{
  for (int32_t k = 0; k < group->n_loops; k++) {
    for (int o = 0; o < group->loops[k].loop->access.n_out; o++) {
      const int32_t a = group->loops[k].loop->out[o];

      if (group->loops[k].out_local[o] < 0 && p->arrays[a].shared && host[a]) {
        return true;
      }
    }
  }
  return false;
}

static void mark_host(const exec_group *group, bool *host)
{
  for (int32_t k = 0; k < group->n_loops; k++) {
    for (int o = 0; o < group->loops[k].loop->access.n_out; o++) {
      host[group->loops[k].loop->out[o]] = true;
    }
  }
}

weir_status exec_backend_claim(weir_plan *p)
{
  weir_status status = WEIR_OK;
  void *memory = NULL;
  bool changed = true;

  if (p->backend == NULL) {
    return WEIR_OK;
  }
  p->backend->boxed = p->streaming;
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof(bool), &memory));
  bool *host = memory; /* arrays that a group on the host writes */

  for (int32_t i = 0; i < p->n_groups; i++) {
    WEIR_TRY_GOTO(exec_backend_open_kernel(p, &p->groups[i]), failed);
    p->groups[i].on_device = p->groups[i].on_device || takes_group(p, &p->groups[i]);
    if (!p->groups[i].on_device) {
      mark_host(&p->groups[i], host);
    }
  }
  while (changed) { /* writers of one array run on one side */
    changed = false;
    for (int32_t i = 0; i < p->n_groups; i++) {
      if (p->groups[i].on_device && shares_with_host(p, &p->groups[i], host)) {
        p->groups[i].on_device = false;
        mark_host(&p->groups[i], host);
        changed = true;
      }
    }
  }
  weir_free(&host);
  for (int32_t i = 0; i < p->n_groups; i++) { /* whole: a loop is one launch */
    if (p->groups[i].on_device) {
      memset(p->groups[i].tile, 0, sizeof p->groups[i].tile);
    }
  }
  return WEIR_OK;
failed:
  weir_free(&host);
  return status;
}

/* ---- Steps: arrays that a group touches outside itself. ---- */

static void note(exec_step *s, int32_t *n, int32_t from, int32_t array)
{
  for (int32_t i = from; i < from + *n; i++) {
    if (s->arrays[i] == array) {
      return;
    }
  }
  s->arrays[from + (*n)++] = array;
}

/* A loop before loop n of the group writes the array. */
static bool makes(const exec_group *group, int32_t n, int32_t array)
{
  for (int32_t k = 0; k < n; k++) {
    for (int o = 0; o < group->loops[k].loop->access.n_out; o++) {
      if (group->loops[k].loop->out[o] == array) {
        return true;
      }
    }
  }
  return false;
}

static weir_status make_step(const exec_group *group, exec_step *s)
{
  int64_t max = 0;
  void *memory = NULL;

  for (int32_t k = 0; k < group->n_loops; k++) {
    const weir_access *a = &group->loops[k].loop->access;

    max += a->n_in + 2 * a->n_out;
  }
  WEIR_TRY(weir_alloc(max, sizeof *s->arrays, &memory));
  s->arrays = memory;
  for (int32_t k = 0; k < group->n_loops; k++) {
    const exec_loop *loop = &group->loops[k];

    for (int i = 0; i < loop->loop->access.n_in; i++) {
      if (loop->in_local[i] < 0 && !makes(group, k, loop->loop->in[i])) {
        note(s, &s->n_reads, 0, loop->loop->in[i]);
      }
    }
  }
  for (int32_t k = 0; k < group->n_loops; k++) {
    const exec_loop *loop = &group->loops[k];

    for (int o = 0; o < loop->loop->access.n_out; o++) {
      if (loop->out_local[o] < 0) {
        note(s, &s->n_writes, s->n_reads, loop->loop->out[o]);
      }
    }
  }
  return WEIR_OK;
}

static weir_status make_steps(weir_plan *p)
{
  struct exec_backend *b = p->backend;
  void *memory = NULL;

  WEIR_TRY(weir_alloc(p->n_groups, sizeof *b->steps, &memory));
  b->steps = memory;
  for (; b->n_steps < p->n_groups; b->n_steps++) {
    WEIR_TRY(make_step(&p->groups[b->n_steps], &b->steps[b->n_steps]));
  }
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof *b->moving, &memory));
  b->moving = memory;
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof *b->sides, &memory));
  b->sides = memory;
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);

    b->sides[a].bytes = p->arrays[a].rows * (int64_t)weir_dtype_size(p->arrays[a].view.dtype);
    b->sides[a].stored =
        array->kind == WEIR_ARRAY_STORED ? weir_store_sides_of(p->store, array->name) : NULL;
  }
  exec_backend_windows_size(p);
  return WEIR_OK;
}

/* ---- Memory. ---- */

/* Tile-local arrays are whole: a loop is one launch. */
static weir_status size_locals(exec_group *group)
{
  for (int32_t i = 0; i < group->n_locals; i++) {
    exec_local *l = &group->locals[i];
    const weir_access *a = &group->loops[l->writer].loop->access;
    int64_t count = 1;

    for (int o = 0; o < a->n_out; o++) {
      for (int d = 0; group->loops[l->writer].loop->out[o] == l->array && d < a->out[o].rank; d++) {
        l->shape[d] = a->out[o].extent[d];
        if (!weir_mul_ok(count, l->shape[d], &count) || count > (int64_t)1 << 40) {
          return weir_fail(WEIR_ERR_MEMORY, "plan: a local array of group '%s' is too large",
                           group->members);
        }
      }
      if (group->loops[l->writer].loop->out[o] == l->array) {
        l->bytes = count * (int64_t)weir_dtype_size(a->out[o].dtype);
      }
    }
  }
  return WEIR_OK;
}

/* Parts of chunks of a loop: those of the largest one have space. Loops of complex numbers, whose
 * parts are others, have none. */
static weir_status size_parts(struct exec_backend *b, const exec_group *group)
{
  for (int32_t k = 0; k < group->n_loops && !b->boxed && group->n_kernels == 0; k++) {
    const weir_access *a = &group->loops[k].loop->access;
    native_form form;
    exec_layout layout;

    WEIR_TRY(native_form_of(a, &form));
    WEIR_TRY(exec_layout_of(&form, false, &layout));
    exec_layout_divide(&form, &layout);
    const int64_t unit = WEIR_DEVICE_ALIGN;
    const int64_t used = layout.chunks > 1 ? exec_layout_part(&form, &layout, layout.parts) : 0;
    const int64_t bytes = (used + unit - 1) / unit * unit;

    b->parts_bytes = bytes > b->parts_bytes ? bytes : b->parts_bytes;
  }
  return WEIR_OK;
}

static weir_status assign_locals(const weir_plan *p, exec_group *group)
{
  struct exec_backend *b = p->backend;
  weir_life lives[EXEC_MAX_LOOPS];

  WEIR_TRY(p->streaming ? exec_locals_size(p, group) : size_locals(group));
  for (int32_t i = 0; i < group->n_locals; i++) {
    exec_local *l = &group->locals[i];
    const int64_t rounded = (l->bytes + WEIR_DEVICE_ALIGN - 1) & ~(int64_t)(WEIR_DEVICE_ALIGN - 1);

    lives[i] = (weir_life){l->array, l->writer, l->last_reader, rounded, 0};
    lives[i].offset = l->offset = weir_life_offset(lives, i, &lives[i], 0);
    b->scratch_bytes =
        l->offset + rounded > b->scratch_bytes ? l->offset + rounded : b->scratch_bytes;
  }
  return WEIR_OK;
}

/* What of the arrays is on which side, and what is copied: sets `crosses`. */
static void find_sides(weir_plan *p, bool *launched, bool *crosses)
{
  struct exec_backend *b = p->backend;

  for (int32_t i = 0; i < p->n_groups; i++) {
    const exec_step *s = &b->steps[i];

    for (int32_t k = 0; k < s->n_reads + s->n_writes; k++) {
      const int32_t a = s->arrays[k];

      launched[a] = launched[a] || p->groups[i].on_device;
      crosses[a] = crosses[a] || !p->groups[i].on_device;
    }
  }
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);

    crosses[a] = crosses[a] || array->output != NULL || array->kind != WEIR_ARRAY_TEMPORARY ||
                 (launched[a] && p->arrays[a].time >= 0);
    if (array->kind == WEIR_ARRAY_STORED) {
      const bool new = array->update >= 0 && launched[array->update];

      b->sides[a].kept = launched[a] || new;
      b->stored_bytes += b->sides[a].kept ? b->sides[a].bytes : 0;
      if (array->update >= 0) {
        crosses[array->update] = true;
      }
    }
  }
}

static weir_status create(struct exec_backend *b, weir_device_space space, int64_t n,
                          const int64_t *bytes, void **address, weir_device_arena **out,
                          int64_t *total)
{
  for (int64_t k = 0; k < n; k++) {
    *total += bytes[k];
  }
  WEIR_TRY(weir_device_arena_create(b->device, space, n, bytes, address, out));
  return WEIR_OK;
}

/* Bytes of the host's side of an array, or of the device's. */
static int64_t bytes_of(const weir_plan *p, int32_t a, bool device)
{
  const exec_array *e = &p->arrays[a];
  const exec_side *side = &p->backend->sides[a];
  const int64_t row = (int64_t)weir_dtype_size(e->view.dtype) * e->rows;

  return e->time < 0 ? side->bytes : row * (device ? side->capacity : e->capacity);
}

/* Windows are none of the arena's slots. */
static bool has_slot(const weir_plan *p, int32_t a)
{
  return p->schedule.offset[a] >= 0 && p->arrays[a].time < 0;
}

/* Arrays 0 and 1 of the device's arena are the memory plan's arena and the local arrays. */
static weir_status allocate(weir_plan *p, const bool *launched, const bool *crosses, int64_t *bytes,
                            void **address)
{
  struct exec_backend *b = p->backend;
  const int64_t n = p->n_arrays;

  for (int32_t a = 0; a < n; a++) {
    bytes[a] = crosses[a] && b->sides[a].stored == NULL ? bytes_of(p, a, false) : 0;
  }
  WEIR_TRY(create(b, WEIR_SPACE_STAGING, n, bytes, address, &b->staging, &b->staging_bytes));
  for (int32_t a = 0; a < n; a++) {
    b->sides[a].staging = address[a];
    bytes[2 + a] =
        launched[a] && !has_slot(p, a) && b->sides[a].stored == NULL ? bytes_of(p, a, true) : 0;
  }
  bytes[0] = p->schedule.arena_bytes;
  bytes[1] = b->scratch_bytes + b->parts_bytes + b->workspace_bytes;
  WEIR_TRY(create(b, WEIR_SPACE_DEVICE, n + 2, bytes, address, &b->memory, &b->memory_bytes));
  b->arena = address[0];
  b->scratch = address[1];
  b->parts = b->scratch + b->scratch_bytes;
  b->workspace = b->parts + b->parts_bytes;
  for (int32_t a = 0; a < n; a++) {
    const bool slot = launched[a] && has_slot(p, a);

    b->sides[a].device = slot ? (char *)address[0] + p->schedule.offset[a] : address[2 + a];
    if (weir_graph_get_array(p->g, a)->kind == WEIR_ARRAY_TEMPORARY) {
      p->arrays[a].view.data = b->sides[a].staging;
    }
    if (b->sides[a].kept) {
      WEIR_TRY(weir_store_sides_create(p->store, weir_graph_get_array(p->g, a)->name));
    }
  }
  return WEIR_OK;
}

/* Zeros, for what is not written whole by one launch: such a launch updates it. */
static weir_status clear(struct exec_backend *b, char *to, int64_t bytes)
{
  enum { CHUNK = 65536 };
  const int64_t chunk = bytes < CHUNK ? bytes : CHUNK;
  weir_device_arena *arena = NULL;
  weir_status status = WEIR_OK, waited;
  void *zeros = NULL;

  if (bytes == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_device_arena_create(b->device, WEIR_SPACE_STAGING, 1, &chunk, &zeros, &arena));
  memset(zeros, 0, (size_t)chunk);
  for (int64_t at = 0; at < bytes; at += chunk) {
    WEIR_TRY_GOTO(
        weir_device_copy(b->work, to + at, zeros, bytes - at < chunk ? bytes - at : chunk), done);
  }
done: /* copies that were begun read the zeros, also where a later one failed */
  waited = weir_device_queue_sync(b->work);
  weir_device_arena_destroy(&arena);
  return status != WEIR_OK ? status : waited;
}

/* A launch of a stream writes a box of all that it writes to. */
static weir_status clear_windows(weir_plan *p)
{
  struct exec_backend *b = p->backend;

  WEIR_TRY(clear(b, b->arena, p->schedule.arena_bytes));
  WEIR_TRY(clear(b, b->scratch, b->scratch_bytes));
  for (int32_t a = 0; a < p->n_arrays; a++) {
    if (p->arrays[a].time >= 0 && b->sides[a].device != NULL) {
      WEIR_TRY(clear(b, b->sides[a].device, bytes_of(p, a, true)));
    }
  }
  return WEIR_OK;
}

/* Arrays with several writers, and complex ones, whose parts are. */
static weir_status clear_boxes(weir_plan *p)
{
  struct exec_backend *b = p->backend;

  for (int32_t i = 0; i < p->n_groups; i++) {
    const exec_group *group = &p->groups[i];

    for (int32_t k = 0; k < group->n_loops && group->on_device; k++) {
      const weir_loop *loop = group->loops[k].loop;

      for (int o = 0; o < loop->access.n_out; o++) {
        const int64_t local = group->loops[k].out_local[o];
        const int32_t a = loop->out[o];
        const bool boxes = p->arrays[a].shared || weir_dtype_is_complex(loop->access.out[o].dtype);
        char *at = local >= 0 ? b->scratch + group->locals[local].offset : b->sides[a].device;
        const int64_t bytes = local >= 0 ? group->locals[local].bytes : b->sides[a].bytes;

        if (boxes && bytes > 0) {
          WEIR_TRY(clear(b, at, bytes));
        }
      }
    }
  }
  return WEIR_OK;
}

weir_status exec_backend_memory(weir_plan *p)
{
  weir_status status = WEIR_OK;
  void *flags = NULL, *bytes = NULL, *address = NULL;
  struct exec_backend *b = p->backend;

  if (b == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(make_steps(p));
  for (int32_t i = 0; i < p->n_groups; i++) {
    if (p->groups[i].on_device) {
      WEIR_TRY(assign_locals(p, &p->groups[i]));
      WEIR_TRY(size_parts(b, &p->groups[i]));
    }
  }
  WEIR_TRY_GOTO(weir_alloc(2 * (int64_t)p->n_arrays, sizeof(bool), &flags), done);
  WEIR_TRY_GOTO(weir_alloc((int64_t)p->n_arrays + 2, sizeof(int64_t), &bytes), done);
  WEIR_TRY_GOTO(weir_alloc((int64_t)p->n_arrays + 2, sizeof(void *), &address), done);
  bool *launched = flags, *crosses = launched + p->n_arrays;

  find_sides(p, launched, crosses);
  if (!p->sizes_only) {
    WEIR_TRY_GOTO(allocate(p, launched, crosses, bytes, address), done);
    WEIR_TRY_GOTO(p->streaming ? clear_windows(p) : clear_boxes(p), done);
  }
done:
  weir_free(&flags);
  weir_free(&bytes);
  weir_free(&address);
  return status;
}

void *exec_backend_home(const weir_plan *p, int32_t array)
{
  return p->backend->sides[array].staging;
}

weir_status exec_backend_prepare(weir_plan *p)
{
  const weir_engine_opts opts = {.threads = 1, .backend = p->backend};

  if (p->backend == NULL || (p->backend->text_only && p->backend->text_dir == NULL)) {
    return WEIR_OK;
  }
  for (int32_t i = 0; i < p->n_groups; i++) {
    exec_group *group = &p->groups[i];

    for (int32_t k = 0; group->on_device && group->n_kernels == 0 && k < group->n_loops; k++) {
      const weir_loop *const loop = group->loops[k].loop;

      p->backend->whole = loop;
      p->backend->preparing = i;
      p->backend->chunk_points = p->streaming ? exec_chunk_points(p, &group->loops[k]) : 0;
      WEIR_TRY(exec_backend_engine.prepare(&loop, 1, &opts, &group->loops[k].context));
      group->loops[k].engine = &exec_backend_engine;
    }
  }
  return WEIR_OK;
}
