/* backend_layout.c - how the iterations of a loop are laid out over the threads of a device. */
#include <inttypes.h>

#include "base/weir_alloc.h"
#include "exec/backend/device/backend.h"

enum { MAP_THREADS = 128, REDUCE_THREADS = 256, STRIP_OUTPUTS = 8, ENOUGH_BLOCKS = 1024 };
#define MAX_BLOCKS INT32_MAX

int64_t exec_extent(const weir_access *a, int k)
{
  return a->dim[k].hi - a->dim[k].lo > 0 ? a->dim[k].hi - a->dim[k].lo : 0;
}

static bool count(const weir_access *a, weir_dim_kind kind, int64_t *n)
{
  bool fits = true;

  *n = 1;
  for (int k = 0; k < a->n_dims; k++) {
    fits = fits && (a->dim[k].kind != kind || weir_mul_ok(*n, exec_extent(a, k), n));
  }
  return fits;
}

/* One worker for each iteration of the dimensions of a kind, row-major. */
static exec_mapping each_one(const weir_access *a, weir_dim_kind kind)
{
  int64_t extent[WEIR_MAX_DIMS];

  for (int k = 0; k < a->n_dims; k++) {
    extent[k] = a->dim[k].kind == kind && exec_extent(a, k) > 0 ? exec_extent(a, k) : 1;
  }
  return exec_spatial(a->n_dims, extent);
}

weir_status exec_layout_of(const native_form *f, bool boxed, exec_layout *l)
{
  const weir_access *a = f->access;

  *l = (exec_layout){.lanes = 1, .outputs = MAP_THREADS, .at_once = 1, .chunks = 1, .boxed = boxed};
  if (f->shape == NATIVE_SCAN || (!boxed && !count(a, WEIR_PARALLEL, &l->points)) ||
      !count(a, WEIR_REDUCED, &l->reduced)) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "plan: a scan, or a loop of more than 2^63 iterations");
  }
  if (f->shape != NATIVE_MAP) {
    while (l->lanes < f->lanes) {
      l->lanes *= 2;
    }
    l->reduce_blocks =
        l->reduced > WEIR_REDUCE_BLOCK ? (l->reduced - 1) / WEIR_REDUCE_BLOCK + 1 : 1;
    l->outputs = l->reduce_blocks == 1      ? REDUCE_THREADS / l->lanes
                 : f->shape == NATIVE_STRIP ? STRIP_OUTPUTS
                                            : 1;
    l->at_once = REDUCE_THREADS / (l->lanes * l->outputs);
  }
  l->parallel = each_one(a, WEIR_PARALLEL);
  l->sequence = each_one(a, WEIR_REDUCED);
  l->chunk_blocks = l->reduce_blocks;
  l->threads = l->lanes * l->outputs * l->at_once;
  WEIR_TRY(exec_layout_points(l, l->points));
  return WEIR_OK;
}

weir_status exec_layout_points(exec_layout *l, int64_t points)
{
  l->points = points;
  l->blocks = points / l->outputs + (points % l->outputs != 0);
  return l->blocks <= MAX_BLOCKS
             ? WEIR_OK
             : weir_fail(WEIR_ERR_UNSUPPORTED, "plan: a loop of %" PRId64 " points", points);
}

static int64_t divide_up(int64_t n, int64_t by)
{
  return n / by + (n % by != 0);
}

void exec_layout_divide(const native_form *f, exec_layout *l)
{
  int64_t chunk = l->at_once;

  if (f->shape == NATIVE_MAP || l->boxed || l->blocks == 0) {
    return;
  }
  while (chunk < l->reduce_blocks &&
         divide_up(l->reduce_blocks, chunk) > ENOUGH_BLOCKS / l->blocks) {
    chunk *= 2;
  }
  if (chunk < l->reduce_blocks) {
    l->chunk_blocks = chunk;
    l->chunks = divide_up(l->reduce_blocks, chunk);
    l->blocks *= l->chunks;
    l->parts = f->components;
  }
}

int64_t exec_layout_part(const native_form *f, const exec_layout *l, int c)
{
  const int64_t align = 16;
  int64_t at = 0;

  for (int k = 0; k < c; k++) {
    const int64_t bytes = l->points * l->chunks * (int64_t)weir_dtype_size(f->component[k]);

    at += divide_up(bytes, align) * align;
  }
  return at;
}
