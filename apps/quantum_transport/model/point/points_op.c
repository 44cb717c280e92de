/* points_op.c - see point.h: the operator points. */
#include "model/point/point.h"
#include "ops/linear/weir_linear.h"
#include "ops/weir_batch.h"

static int outputs(const weir_op_args *args)
{
  int n = 0;

  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    n += qt_point_count(args->spec, (qt_point_array)i) > 0;
  }
  return n;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_array_desc *k = &args->in[0], *energy = &args->in[1];

  WEIR_TRY(weir_need_count("points", args, 2, 2));
  if (k->dtype != WEIR_F64 || k->rank != 2 || k->shape[1] != 2) {
    return weir_fail(WEIR_ERR_SHAPE, "points: input 0, wave vectors, is no f64 [points, 2]");
  }
  if (energy->dtype != WEIR_F64 || energy->rank != 1 || energy->shape[0] != k->shape[0]) {
    return weir_fail(WEIR_ERR_SHAPE, "points: input 1, energies, is no f64 [%lld]",
                     (long long)k->shape[0]);
  }
  for (int i = 0, o = 0; i < QT_POINT_ARRAYS; i++) {
    const int64_t count = qt_point_count(args->spec, (qt_point_array)i);

    if (count > 0) {
      out[o++] = (weir_array_desc){WEIR_F64, 2, {k->shape[0], count}, 0};
    }
  }
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  (void)weir_map_dim(a, WEIR_PARALLEL, args->in[1].shape[0]);
  const int yz = weir_map_dim(a, WEIR_REDUCED, 2);

  a->maker = WEIR_MADE_BY_LIBRARY;
  a->point_flops = qt_point_flops(args->spec);
  weir_batch_map(a, &a->in[0], &args->in[0], 1, &yz);
  weir_batch_map(a, &a->in[1], &args->in[1], 0, NULL);
  for (int o = 0; o < args->n_out; o++) {
    const int element = weir_map_dim(a, WEIR_REDUCED, args->out[o].shape[1]);

    weir_batch_map(a, &a->out[o], &args->out[o], 1, &element);
  }
  return WEIR_OK;
}

/* Of a point, then its arrays. */
static int64_t scratch(const void *spec, const weir_access *a)
{
  int64_t elements = 0;

  for (int o = 0; o < a->n_out; o++) {
    elements += a->out[o].extent[1];
  }
  return qt_point_scratch(spec) + elements * (int64_t)sizeof(double);
}

static double element_at(const weir_view *v, int64_t row, int64_t column)
{
  return *(const double *)weir_view_at(v, (const int64_t[]){row, column});
}

static void run_point(const weir_op_run *r, const int64_t *at, qt_point_leads *leads)
{
  const qt_point_spec *spec = r->spec;
  const weir_access *a = r->access;
  const int64_t row = weir_index_raw(&a->in[0].index[0], a->n_dims, at, 0);
  const double k[2] = {element_at(&r->in[0], row, 0), element_at(&r->in[0], row, 1)};
  const double energy =
      element_at(&r->in[1], weir_index_raw(&a->in[1].index[0], a->n_dims, at, 0), 0);
  double *memory = (double *)(void *)((char *)r->scratch + qt_point_scratch(spec));
  double *out[QT_POINT_ARRAYS];

  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    const int64_t count = qt_point_count(spec, (qt_point_array)i);

    out[i] = count > 0 ? memory : NULL;
    memory += count;
  }
  weir_status status = qt_point_leads_set(spec->system, k, leads);

  if (status == WEIR_OK) {
    status = qt_point_solve(spec, leads, energy, r->scratch, out);
  }
  if (status != WEIR_OK) { /* who reads it computes the point again, and learns why */
    qt_point_fail(spec, status, out);
    weir_clear_failure();
  }
  for (int i = 0, o = 0; i < QT_POINT_ARRAYS; i++) {
    if (out[i] != NULL) {
      const weir_matrix m = weir_batch_matrix(&a->out[o], a->n_dims, &r->out[o], at, 1);

      weir_matrix_store(&m, WEIR_F64, out[i]);
      o++;
    }
  }
}

static weir_status run(const weir_op_run *r)
{
  const int64_t points = weir_batch_count(r->access, &r->box);
  qt_point_leads leads = {.same = false};
  int64_t at[WEIR_MAX_DIMS];

  weir_linear_start();
  for (int64_t p = 0; p < points; p++) {
    weir_batch_point(r->access, &r->box, p, at);
    run_point(r, at, &leads);
  }
  qt_point_leads_fini(&leads);
  return WEIR_OK;
}

const weir_op_desc qt_op_points = {
    .name = "points",
    .cite = "Fisher and Lee 1981, doi 10.1103/PhysRevB.23.6851",
    .spec_size = sizeof(qt_point_spec),
    .outputs = outputs,
    .infer = infer,
    .access = access,
    .run = run,
    .scratch = scratch,
};

weir_value qt_points_at(weir_graph *g, weir_value k, weir_value energy, const qt_point_spec *spec,
                        const char *where)
{
  return weir_graph_add(g, &qt_op_points, spec, (weir_value[]){k, energy}, 2, where);
}
