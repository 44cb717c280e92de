/* window_widen.c - an array with margins. */
#include "ops/weir_builder.h"
#include "pass/window/window_priv.h"

static const weir_op_desc op_margin = {.name = "margin"};

/* The one node that writes the array for this reader alone, dimension d element by element of its
 * iteration dimension *k; -1: there is none. */
static int32_t own_writer(const weir_graph *g, int32_t array, int32_t reader, int d, int *k)
{
  const weir_array *a = weir_graph_get_array(g, array);
  const weir_node *node = weir_graph_node(g, reader);
  int32_t writer;
  int times = 0;

  for (int i = 0; i < node->n_in; i++) {
    times += node->in[i] == array;
  }
  if (a->kind != WEIR_ARRAY_TEMPORARY || a->output != NULL || times != 1 ||
      weir_graph_readers(g, array, NULL, 0) != 1 || weir_graph_writers(g, array, &writer, 1) != 1) {
    return -1;
  }
  for (int32_t i = 0; i < weir_graph_arrays(g); i++) {
    if (weir_graph_get_array(g, i)->update == array) {
      return -1;
    }
  }
  const weir_access *w = &weir_graph_node(g, writer)->access;
  const bool plain = w->maker == WEIR_MADE_BY_BODY && w->n_out == 1 && w->n_states == 0 &&
                     !weir_body_uses(&w->body, WEIR_CODE_RANDOM);

  *k = plain ? weir_operand_dim(&w->out[0], w, d) : -1;
  return *k >= 0 ? writer : -1;
}

/* Writes 0 to the elements [lo, hi) along dimension d of the array. */
static weir_status add_zeros(weir_graph *g, int32_t array, int d, int64_t lo, int64_t hi)
{
  weir_array_desc margin = weir_graph_get_array(g, array)->desc;
  const weir_array_desc whole = margin;
  weir_status status = WEIR_OK;
  weir_access a;

  margin.shape[d] = hi - lo;
  weir_access_init(&a);
  weir_map_dims(&a, &margin);
  WEIR_TRY_GOTO(weir_access_resize(&a, 0, 1, 0), out);
  weir_map_identity(&a.out[0], &whole);
  a.out[0].index[d].offset = lo;
  a.n_values = 1;
  a.value[0] = weir_body_real(&a.body, margin.dtype, 0);
  const weir_value v =
      weir_graph_add_access_into(g, &op_margin, &a, NULL, 0, &array, "pass/window");

  status = v.node < 0 ? weir_graph_status(g) : WEIR_OK;
out:
  weir_access_fini(&a);
  return status;
}

/* Makes the elements `of` what the writer makes again, at `to`: along dimension d of
 * its array, which iteration dimension k is. */
static weir_status repeat(weir_graph *g, int32_t writer, int d, int k, weir_interval of, int64_t to)
{
  const weir_node *w = weir_graph_node(g, writer);
  weir_value in[WEIR_MAX_OPERANDS];
  weir_status status = WEIR_OK;
  weir_access a;

  WEIR_TRY(weir_access_copy(&w->access, &a));
  weir_box box = weir_iterations(&a);

  box.hi[k] = box.lo[k] + of.hi;
  box.lo[k] += of.lo;
  WEIR_TRY_GOTO(weir_access_narrow(&a, &box), out);
  a.out[0].index[d].offset = to - a.dim[k].lo;
  for (int i = 0; i < w->n_in; i++) {
    in[i] = weir_array_value(g, w->in[i]);
  }
  status =
      weir_graph_add_like(g, w, &a, in, w->n_in, w->out).node < 0 ? weir_graph_status(g) : WEIR_OK;
out:
  weir_access_fini(&a);
  return status;
}

/* The writer's array grows; who fills its margins writes into it too. */
static weir_status widen_own(weir_graph *g, int32_t writer, int k, int32_t array,
                             const window_slide *s)
{
  weir_operand *o = &weir_graph_node_mut(g, writer)->access.out[0];
  weir_array *a = weir_graph_array_mut(g, array);
  const int64_t n = a->desc.shape[s->dim], all = n + s->below + s->above;

  a->desc.shape[s->dim] = o->extent[s->dim] = all;
  o->index[s->dim].offset += s->below;
  if (s->border == WEIR_BORDER_WRAP) {
    WEIR_TRY(s->below > 0 ? repeat(g, writer, s->dim, k, (weir_interval){n - s->below, n}, 0)
                          : WEIR_OK);
    WEIR_TRY(s->above > 0 ? repeat(g, writer, s->dim, k, (weir_interval){0, s->above}, s->below + n)
                          : WEIR_OK);
    return WEIR_OK;
  }
  WEIR_TRY(s->below > 0 ? add_zeros(g, array, s->dim, 0, s->below) : WEIR_OK);
  WEIR_TRY(s->above > 0 ? add_zeros(g, array, s->dim, s->below + n, all) : WEIR_OK);
  return WEIR_OK;
}

/* A copy of the array with its margins; *array becomes it. */
static weir_status widen_copy(weir_graph *g, const window_slide *s, int32_t *array)
{
  weir_array_desc d = weir_graph_get_array(g, *array)->desc;
  const weir_value x = weir_array_value(g, *array);
  weir_status status = WEIR_OK;
  weir_access a;

  weir_access_init(&a);
  WEIR_TRY_GOTO(weir_access_resize(&a, 1, 1, 0), out);
  weir_map_identity(&a.in[0], &d);
  a.in[0].index[s->dim].border = s->border;
  a.in[0].index[s->dim].offset = -s->below;
  d.shape[s->dim] += s->below + s->above;
  weir_map_dims(&a, &d);
  weir_map_identity(&a.out[0], &d);
  a.n_values = 1;
  a.value[0] = weir_body_load(&a.body, 0, d.dtype);
  const weir_value v = weir_graph_add_access(g, &op_margin, &a, &x, 1, "pass/window");

  status = v.node < 0 ? weir_graph_status(g) : WEIR_OK;
  *array = status == WEIR_OK ? weir_value_array(g, v) : *array;
out:
  weir_access_fini(&a);
  return status;
}

weir_status window_widen(weir_graph *g, int32_t number, const window_slide *s)
{
  int32_t array = weir_graph_node(g, number)->in[s->operand];
  int k;
  const int32_t writer = own_writer(g, array, number, s->dim, &k);

  if (writer >= 0) {
    WEIR_TRY(widen_own(g, writer, k, array, s));
  } else {
    WEIR_TRY(widen_copy(g, s, &array));
  }
  weir_node *node = weir_graph_node_mut(g, number);
  weir_index *x = &node->access.in[s->operand].index[s->dim];

  node->in[s->operand] = array;
  node->derivation = (weir_derivation){.of = NULL};
  node->access.in[s->operand].extent[s->dim] += s->below + s->above;
  x->offset += s->below;
  x->border = WEIR_BORDER_NEVER;
  return WEIR_OK;
}
