/* transmission_op.c - see rgf.h: the operator transmission. */
#include <math.h>

#include "model/rgf/rgf_op_priv.h"
#include "ops/linear/weir_linear.h"

static int outputs(const weir_op_args *args)
{
  return 1 + (((const qt_transmission_spec *)args->spec)->dos != 0);
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const qt_layout *l = ((const qt_transmission_spec *)args->spec)->layout;

  WEIR_TRY(weir_need_count("transmission", args, 3, 3));
  WEIR_TRY(weir_batch_shape("transmission", args->in, (const int[]){1, 2, 2}, 3, out));
  WEIR_TRY(rgf_need_bank("transmission", args, 0, l->count));
  for (int i = 1; i < 3; i++) {
    const weir_array_desc *d = &args->in[i];
    const int64_t rows = qt_layout_rows(l, i == 1 ? 0 : l->n_blocks - 1);

    WEIR_TRY(rgf_need_bank("transmission", args, i, rows));
    if (d->shape[d->rank - 2] != rows) {
      return weir_fail(WEIR_ERR_SHAPE, "transmission: input %d has %lld rows, its block %lld", i,
                       (long long)d->shape[d->rank - 2], (long long)rows);
    }
  }
  if (out->rank + 1 > WEIR_MAX_RANK) {
    return weir_fail(WEIR_ERR_SHAPE, "transmission: the batch has rank %d", out->rank);
  }
  out->dtype = WEIR_F64;
  if (args->n_out > 1) {
    out[1] = out[0];
    out[1].shape[out[1].rank++] = l->n;
  }
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const qt_layout *l = ((const qt_transmission_spec *)args->spec)->layout;

  weir_map_dims(a, &args->out[0]);
  const int all = weir_map_dim(a, WEIR_REDUCED, l->count);
  const int orbital = weir_map_dim(a, WEIR_REDUCED, l->n);

  weir_batch_map(a, &a->in[0], &args->in[0], 1, &all);
  for (int i = 1; i < 3; i++) {
    const int64_t rows = qt_layout_rows(l, i == 1 ? 0 : l->n_blocks - 1);
    const int row = weir_map_dim(a, WEIR_REDUCED, rows);
    const int column = weir_map_dim(a, WEIR_REDUCED, rows);

    weir_batch_map(a, &a->in[i], &args->in[i], 2, (const int[]){row, column});
  }
  a->maker = WEIR_MADE_BY_LIBRARY;
  a->point_flops = args->n_out > 1 ? qt_rgf_flops(l, false, false) : qt_rgf_corner_flops(l);
  weir_batch_map(a, &a->out[0], &args->out[0], 0, NULL);
  if (args->n_out > 1) {
    weir_batch_map(a, &a->out[1], &args->out[1], 1, &orbital);
  }
  return WEIR_OK;
}

/* Rows of the first and the last block, and elements of a bank, which is kept for the DOS alone. */
static void sizes(const weir_access *a, int64_t *first, int64_t *last, int64_t *kept)
{
  *first = a->in[1].extent[a->in[1].rank - 1];
  *last = a->in[2].extent[a->in[2].rank - 1];
  *kept = a->n_out > 1 ? a->in[0].extent[a->in[0].rank - 1] : 0;
}

static int64_t scratch(const void *spec, const weir_access *a)
{
  const qt_layout *l = ((const qt_transmission_spec *)spec)->layout;
  int64_t first, last, kept;

  sizes(a, &first, &last, &kept);
  return qt_rgf_scratch(l->max, false) +
         (kept + first * first + last * last + 3 * first * last) * (int64_t)sizeof(weir_c128);
}

static void store_dos(const qt_layout *l, const weir_c128 *g, const weir_matrix *to)
{
  for (int64_t b = 0; b < l->n_blocks; b++) {
    const int64_t rows = qt_layout_rows(l, b);

    for (int64_t i = 0; i < rows; i++) {
      weir_dtype_store_real(to->dtype, to->data, (l->block[b] + i) * to->down,
                            -g[l->offset[b] + i * (rows + 1)].im / M_PI);
    }
  }
}

static void run_point(const weir_op_run *r, const int64_t *at)
{
  const qt_layout *l = ((const qt_transmission_spec *)r->spec)->layout;
  const weir_access *a = r->access;
  const rgf_source source = {l, rgf_bank_of(&a->in[0], a->n_dims, &r->in[0], at), false};
  const weir_matrix gamma_l = weir_batch_matrix(&a->in[1], a->n_dims, &r->in[1], at, 2);
  const weir_matrix gamma_r = weir_batch_matrix(&a->in[2], a->n_dims, &r->in[2], at, 2);
  int64_t first, last, kept;

  sizes(a, &first, &last, &kept);
  weir_c128 *bank = r->scratch, *left = bank + kept, *right = left + first * first;
  weir_c128 *corner = right + last * last, *memory = corner + first * last;
  void *rest = memory + 2 * first * last;
  const qt_blocks blocks = {rgf_source_read, &source};

  weir_matrix_load(&gamma_l, WEIR_C128, left);
  weir_matrix_load(&gamma_r, WEIR_C128, right);
  if (kept > 0) {
    const qt_rgf_job job = {.layout = l, .a = blocks, .g = {bank, 1}, .corner = corner};
    const weir_matrix dos = weir_batch_matrix(&a->out[1], a->n_dims, &r->out[1], at, 1);

    (void)qt_rgf_solve(&job, rest);
    store_dos(l, bank, &dos);
  } else {
    (void)qt_rgf_corner(l, &blocks, corner, rest);
  }
  int64_t place[WEIR_MAX_RANK] = {0};

  for (int d = 0; d < a->out[0].rank; d++) {
    place[d] = weir_index_raw(&a->out[0].index[d], a->n_dims, at, 0);
  }
  *(double *)weir_view_at(&r->out[0], place) =
      qt_rgf_trace(first, last, left, corner, right, memory);
}

static weir_status run(const weir_op_run *r)
{
  const int64_t points = weir_batch_count(r->access, &r->box);
  int64_t at[WEIR_MAX_DIMS];

  weir_linear_start();
  for (int64_t p = 0; p < points; p++) {
    weir_batch_point(r->access, &r->box, p, at);
    run_point(r, at);
  }
  return WEIR_OK;
}

const weir_op_desc qt_op_transmission = {
    .name = "transmission",
    .cite = "Fisher and Lee 1981, doi 10.1103/PhysRevB.23.6851",
    .spec_size = sizeof(qt_transmission_spec),
    .outputs = outputs,
    .infer = infer,
    .access = access,
    .run = run,
    .scratch = scratch,
};

weir_value qt_transmission_at(weir_graph *g, weir_value a, weir_value gamma_l, weir_value gamma_r,
                              const qt_transmission_spec *spec, const char *where)
{
  return weir_graph_add(g, &qt_op_transmission, spec, (weir_value[]){a, gamma_l, gamma_r}, 3,
                        where);
}
