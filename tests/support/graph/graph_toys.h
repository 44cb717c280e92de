/* graph_toys.h - two small operators that the tests of this module build graphs from. Tests only.
 */
#ifndef WEIR_GRAPH_TOYS_H
#define WEIR_GRAPH_TOYS_H
#include <string.h>

#include "graph/weir_graph.h"

/* A piece of a larger array: input i is written from `at` on along dimension 0. */
struct toy_slice {
  int64_t at, extent;
};

static weir_status toy_sum_infer(const weir_op_args *args, weir_array_desc *out)
{
  for (int k = 1; k < args->n_in; k++) {
    if (args->in[k].rank != args->in[0].rank || args->in[k].dtype != args->in[0].dtype ||
        memcmp(args->in[k].shape, args->in[0].shape, sizeof args->in[0].shape) != 0) {
      return weir_fail(WEIR_ERR_SHAPE, "input %d differs from input 0", k);
    }
  }
  out[0] = args->in[0];
  return WEIR_OK;
}

static void toy_identity(weir_operand *x, const weir_array_desc *desc)
{
  x->dtype = desc->dtype;
  x->rank = desc->rank;
  for (int d = 0; d < desc->rank; d++) {
    x->extent[d] = desc->shape[d];
    x->index[d].coef[d] = 1;
  }
}

static weir_status toy_sum_access(const weir_op_args *args, weir_access *a)
{
  a->n_dims = args->in[0].rank;
  for (int d = 0; d < a->n_dims; d++) {
    a->dim[d] = (weir_dim){WEIR_PARALLEL, 0, args->in[0].shape[d], args->in[0].time == d + 1};
  }
  toy_identity(&a->out[0], &args->out[0]);
  int32_t sum = -1;
  for (int k = 0; k < a->n_in; k++) {
    toy_identity(&a->in[k], &args->in[k]);
    const int32_t x = weir_body_load(&a->body, k, a->in[k].dtype);
    sum = k == 0 ? x : weir_body_binary(&a->body, WEIR_CODE_ADD, sum, x);
  }
  a->n_values = 1;
  a->value[0] = sum;
  return WEIR_OK;
}

static const weir_op_desc toy_sum = {
    .name = "toy_sum", .n_out = 1, .infer = toy_sum_infer, .access = toy_sum_access};

static weir_status toy_slice_infer(const weir_op_args *args, weir_array_desc *out)
{
  out[0] = args->in[0];
  out[0].shape[0] = ((const struct toy_slice *)args->spec)->extent;
  return WEIR_OK;
}

static weir_status toy_slice_access(const weir_op_args *args, weir_access *a)
{
  WEIR_TRY(toy_sum_access(args, a));
  a->out[0].index[0].offset = ((const struct toy_slice *)args->spec)->at;
  return WEIR_OK;
}

static const weir_op_desc toy_slice = {.name = "toy_slice",
                                       .spec_size = sizeof(struct toy_slice),
                                       .n_out = 1,
                                       .infer = toy_slice_infer,
                                       .access = toy_slice_access};

/* out[i] = sum over r < window of in[step * i + r + shift]; `extent` slots come out. */
struct toy_window {
  int64_t window, step, shift, extent;
  weir_border border;
};

static weir_status toy_window_infer(const weir_op_args *args, weir_array_desc *out)
{
  out[0] = args->in[0];
  out[0].shape[0] = ((const struct toy_window *)args->spec)->extent;
  return WEIR_OK;
}

static weir_status toy_window_access(const weir_op_args *args, weir_access *a)
{
  const struct toy_window *w = args->spec;

  a->n_dims = 2;
  a->dim[0] = (weir_dim){WEIR_PARALLEL, 0, args->out[0].shape[0], args->out[0].time == 1};
  a->dim[1] = (weir_dim){WEIR_REDUCED, 0, w->window, false};
  toy_identity(&a->in[0], &args->in[0]);
  toy_identity(&a->out[0], &args->out[0]);
  a->in[0].index[0] = (weir_index){.coef = {w->step, 1}, .offset = w->shift, .border = w->border};
  a->n_values = 1;
  a->value[0] = weir_body_load(&a->body, 0, a->in[0].dtype);
  a->combine = WEIR_COMBINE_SUM;
  a->accumulator = a->in[0].dtype;
  return WEIR_OK;
}

static const weir_op_desc toy_window = {.name = "toy_window",
                                        .spec_size = sizeof(struct toy_window),
                                        .n_out = 1,
                                        .infer = toy_window_infer,
                                        .access = toy_window_access};

static inline weir_value toy_add(weir_graph *g, weir_value a, weir_value b, const char *where)
{
  return weir_graph_add(g, &toy_sum, NULL, (weir_value[]){a, b}, 2, where);
}

static inline weir_value toy_write(weir_graph *g, weir_value x, int32_t array, int64_t at,
                                   const char *where)
{
  const weir_array_desc *desc = &weir_graph_get_array(g, array)->desc;
  const struct toy_slice slice = {at, desc->shape[0]};

  return weir_graph_add_into(g, &toy_slice, &slice, &x, 1, array, where);
}
#endif
