/* interpolate_rows.c - sums of a few rows times coefficients, f32, by the vector code of this
 * processor: interpolation, and its derivative by what is interpolated. Rows and sums may be of
 * bf16. */
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "graph/weir_kernel.h"
#include "ops/interpolate/rows.h"

static const weir_access *access_of(const weir_graph *g, const weir_group *group)
{
  return &weir_graph_node(g, group->nodes[group->n_nodes - 1])->access;
}

static bool form_of(const weir_graph *g, const weir_group *group, rows_form *f)
{
  return group->n_nodes == 1 && rows_form_of(access_of(g, group), f);
}

/* Elements of a row from which on it pays to call for each. */
enum { MIN_ROW = 8 };
/* Of the copies that memory and caches make in a second, and calls for a row. */
static const double share = 0.8, per_row = 2e-8;

static double match(const weir_graph *g, const weir_group *group)
{
  const weir_constants *m = &weir_cpu_get()->constants;
  rows_form f;

  if (!form_of(g, group, &f)) {
    return -1;
  }
  const weir_access *a = access_of(g, group);
  const int64_t row = a->out[0].extent[f.rank - 1];
  double x = (double)weir_dtype_size(f.of), out = (double)weir_dtype_size(f.out);

  if (row < MIN_ROW) {
    return -1;
  }
  for (int d = 0; d < f.rank; d++) {
    out *= (double)a->out[0].extent[d];
  }
  for (int d = 0; d < a->in[f.x].rank; d++) {
    x *= (double)a->in[f.x].extent[d];
  }
  return (x + out) / (share * m->bandwidth) + out * (double)f.terms / (share * m->cache_bandwidth) +
         out / (double)(4 * row) * per_row;
}

static int arrays(const weir_graph *g, const weir_group *group, int32_t *list, int n)
{
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  rows_form f;
  const bool is_form = form_of(g, group, &f);

  WEIR_ASSERT(n >= 3 && is_form);
  (void)is_form;
  list[0] = node->in[f.x];
  list[1] = node->in[f.table];
  list[2] = node->out[0];
  return 3;
}

static void release(void *context)
{
  if (context != NULL) {
    rows_plan_fini(context);
  }
  weir_free(&context);
}

static weir_status prepare(const weir_graph *g, const weir_group *group, void **context)
{
  void *memory;

  *context = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(rows_plan), &memory));
  const weir_status status = rows_plan_make(access_of(g, group), memory);

  if (status != WEIR_OK) {
    weir_free(&memory);
    return status;
  }
  *context = memory;
  return WEIR_OK;
}

/* Stage 0 lists offsets and coefficients, stage 1 adds. */
static int64_t pieces(const void *context, int stage)
{
  return stage == 0 ? 1 : stage == 1 ? rows_pieces(context) : 0;
}

static int64_t workspace(const void *context)
{
  return rows_workspace(context);
}

static bool blocks(const weir_graph *g, const weir_group *group, weir_kernel_blocks *b)
{
  rows_form f;

  if (!form_of(g, group, &f)) {
    return false;
  }
  *b = (weir_kernel_blocks){.stage = 1};
  for (int d = 0; d < f.rank - 1; d++) {
    b->block_size[d] = 1;
  }
  return true;
}

static void run(const weir_kernel_run *r)
{
  const weir_view *x = &r->views[0], *table = &r->views[1], *out = &r->views[2];

  if (r->stage == 0) {
    rows_fill(r->context, x, table, r->workspace);
  } else if (r->piece >= 0) {
    rows_piece(r->context, x, out, r->workspace, r->piece);
  } else {
    rows_box(r->context, x, out, r->workspace, r->block.lo, r->block.hi);
  }
}

const weir_kernel weir_kernel_interpolate_rows = {
    .name = "interpolate.rows",
    .device = WEIR_KERNEL_CPU,
    .match = match,
    .arrays = arrays,
    .prepare = prepare,
    .release = release,
    .pieces = pieces,
    .workspace = workspace,
    .blocks = blocks,
    .run = run,
};
