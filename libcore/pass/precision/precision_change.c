/* precision_change.c - arrays become bf16: rounded where they are written, widened where they are
 * read. Arithmetic stays in f32. */
#include "base/weir_alloc.h"

#include "ops/weir_builder.h"
#include "pass/precision/precision_priv.h"

/* Of the casts that are made for an array that keeps its dtype. */
static const weir_op_desc op_cast = {.name = "half", .cite = "graph/weir_body.h"};

static weir_status no_memory(void)
{
  return weir_fail(WEIR_ERR_MEMORY, "out of memory for the expressions of an operator in bf16");
}

weir_status precision_widen_loads(weir_access *a, uint32_t mask)
{
  const weir_body old = a->body;
  weir_body b = {.n = 0};
  weir_status status = WEIR_OK;
  void *memory = NULL;

  WEIR_TRY(weir_alloc(old.n + 1, sizeof(int32_t), &memory));
  int32_t *const now = memory;

  for (int32_t i = 0; i < old.n; i++) {
    weir_expr e = weir_expr_renumber(old.exprs[i], now);
    const bool load = e.code == WEIR_CODE_LOAD && (mask >> e.integer & 1) != 0;

    e.dtype = load ? WEIR_BF16 : e.dtype;
    now[i] = weir_body_push(&b, e);
    now[i] = load ? weir_body_cast(&b, WEIR_F32, now[i]) : now[i];
  }
  if (b.failed) {
    weir_body_fini(&b);
    status = no_memory();
    goto out;
  }
  weir_access_renumber(a, now);
  for (int k = 0; k < a->n_in; k++) {
    a->in[k].dtype = (mask >> k & 1) != 0 ? WEIR_BF16 : a->in[k].dtype;
  }
  a->body = b;
  weir_body_fini(&(weir_body){.exprs = old.exprs});
out:
  weir_free(&memory);
  return status;
}

void precision_round_output(weir_access *a, int k)
{
  int value = 0;

  a->out[k].dtype = WEIR_BF16;
  for (int o = 0; o < k; o++) {
    value += a->out[o].role == WEIR_ROLE_DATA;
  }
  if (a->combine == WEIR_COMBINE_NONE) { /* else the accumulator is cast when it is stored */
    a->value[value] = weir_body_cast(&a->body, WEIR_BF16, a->value[value]);
  }
}

/* A copy of the array in bf16. */
static weir_status make_copy(precision_plan *p, int32_t array, int32_t *made)
{
  const weir_array_desc *d = &weir_graph_get_array(p->g, array)->desc;
  const weir_value from = weir_array_value(p->g, array);
  weir_access a;

  WEIR_TRY(weir_map_pointwise(&a, d, 1));
  a.value[0] = weir_body_load(&a.body, 0, d->dtype);
  precision_round_output(&a, 0);
  if (a.body.failed) {
    weir_access_fini(&a);
    return no_memory();
  }
  const weir_value v =
      weir_graph_add_access(p->g, &op_cast, &a, &from, 1, weir_graph_node(p->g, from.node)->where);

  weir_access_fini(&a);
  WEIR_TRY(weir_graph_status(p->g));
  *made = weir_value_array(p->g, v);
  return WEIR_OK;
}

static weir_status change_node(precision_plan *p, int32_t number, const int32_t *copy)
{
  weir_node *node = weir_graph_node_mut(p->g, number);
  uint32_t mask = 0;

  if (node->op == NULL || node->dead) {
    return WEIR_OK;
  }
  for (int k = 0; k < node->n_in; k++) {
    const int32_t array = node->in[k];
    const bool other = p->heavy[number] && p->aside[array];

    mask |= other || p->half[array] ? 1u << k : 0;
    node->in[k] = other ? copy[array] : array;
  }
  for (int k = 0; k < node->n_out; k++) {
    if (p->half[node->out[k]]) {
      precision_round_output(&node->access, k);
    }
  }
  if (node->access.body.failed) {
    return no_memory();
  }
  return mask != 0 ? precision_widen_loads(&node->access, mask) : WEIR_OK;
}

weir_status precision_apply(precision_plan *p)
{
  weir_status status = WEIR_OK;
  void *memory = NULL;

  WEIR_TRY(weir_alloc(p->n_arrays, sizeof(int32_t), &memory));
  int32_t *const copy = memory;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    if (p->aside[a]) {
      WEIR_TRY_GOTO(make_copy(p, a, &copy[a]), out);
    }
  }
  for (int32_t i = 0; i < p->n_nodes; i++) { /* not those just made */
    WEIR_TRY_GOTO(change_node(p, i, copy), out);
  }
  for (int32_t a = 0; a < p->n_arrays; a++) {
    weir_array *array = weir_graph_array_mut(p->g, a);

    array->desc.dtype = p->half[a] ? WEIR_BF16 : array->desc.dtype;
  }
out:
  weir_free(&memory);
  return status;
}
