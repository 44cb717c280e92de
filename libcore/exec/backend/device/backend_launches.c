/* backend_launches.c - the launches of a run, and the bytes that their threads load and store. */
#include <string.h>

#include "base/weir_alloc.h"
#include "exec/backend/device/backend.h"

/* Elements of all operands, or of the results alone, each once. */
static int64_t bytes_of(const weir_access *a, bool results)
{
  int64_t bytes = 0;

  for (int k = 0; k < (results ? a->n_out : a->n_in); k++) {
    bytes += (int64_t)weir_dtype_size(results ? a->out[k].dtype : a->in[k].dtype);
  }
  return bytes;
}

static int64_t map_bytes(const native_form *f, const exec_layout *l, const exec_places *s,
                         int64_t points)
{
  const weir_access *a = f->access;
  int64_t bytes = 0;

  if (l->boxed) { /* an iteration a thread */
    return points * (bytes_of(a, false) + bytes_of(a, true));
  }
  for (int k = 0; k < a->n_in; k++) {
    bytes += exec_thread_bytes(l, &a->in[k], &s->in[k]);
  }
  for (int k = 0; k < a->n_out; k++) {
    bytes += exec_thread_bytes(l, &a->out[k], &s->out[k]);
  }
  return exec_mapping_workers(&l->parallel) * bytes;
}

/* Of the parts of chunks, which one kernel stores and the other one loads. */
static int64_t part_bytes(const native_form *f, const exec_layout *l, int64_t points)
{
  int64_t bytes = 0;

  for (int c = 0; c < l->parts; c++) {
    bytes += (int64_t)weir_dtype_size(f->component[c]);
  }
  return points * l->chunks * bytes;
}

weir_kernel_grid exec_launch_of(const native_form *f, const exec_layout *l, const exec_places *s,
                                int64_t points, bool merges)
{
  const weir_access *a = f->access;
  const int64_t of_results = points * bytes_of(a, true);
  const int per_block = merges ? EXEC_MERGE_THREADS : l->outputs;
  weir_kernel_grid g = {.blocks = merges || l->boxed ? (points - 1) / per_block + 1 : l->blocks,
                        .threads = merges ? EXEC_MERGE_THREADS : l->threads};

  if (f->shape == NATIVE_MAP) {
    g.bytes = map_bytes(f, l, s, points);
  } else if (l->unrolled) {
    g.bytes = exec_mapping_workers(&l->parallel) * exec_unrolled_bytes(a, l, s);
  } else if (merges) {
    g.bytes = part_bytes(f, l, points) + of_results;
  } else {
    g.bytes = points * l->reduced * bytes_of(a, false) +
              (l->chunks > 1 ? part_bytes(f, l, points) : of_results);
  }
  return g;
}

/* Slots of an array in a chunk of the bounds. */
static int64_t chunk_slots(const weir_plan *p, int32_t array)
{
  const weir_rate *r = &p->rates[array];

  return r->base < 0 ? 1 : weir_rate_slots(r, p->feeds[r->base], false);
}

int64_t exec_chunk_points(const weir_plan *p, const exec_loop *loop)
{
  const weir_access *a = &loop->loop->access;
  int64_t points = 1;

  for (int k = 0; k < a->n_dims; k++) {
    points *= a->dim[k].kind != WEIR_PARALLEL ? 1
              : k == loop->time               ? chunk_slots(p, loop->loop->out[0])
                                              : exec_extent(a, k);
  }
  return points;
}

weir_status exec_launch_add(struct exec_backend *b, int64_t number, const weir_kernel_grid *launch)
{
  WEIR_TRY(
      weir_reserve(&b->launches, &b->launches_capacity, b->n_launches + 1, sizeof *b->launches));
  b->launches[b->n_launches++] = (exec_launch){.group = b->preparing,
                                               .kernel = number,
                                               .blocks = launch->blocks,
                                               .threads = launch->threads,
                                               .bytes = launch->bytes};
  return WEIR_OK;
}

int64_t weir_plan_launches(const weir_plan *p)
{
  const struct exec_backend *b = p->backend;

  return b == NULL || (b->text_only && b->text_dir == NULL) ? 0 : b->n_launches;
}

weir_launch_report weir_plan_launch(const weir_plan *p, int64_t launch)
{
  const exec_launch *l = &p->backend->launches[launch];

  return (weir_launch_report){.group = l->group,
                              .file = p->backend->kernels[l->kernel].file,
                              .blocks = l->blocks,
                              .threads = l->threads,
                              .bytes = l->bytes};
}
