/* graph_build.c - the calls that build a graph, and their checks. */
#include "graph/graph_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"

weir_value weir_graph_fail(weir_graph *g, weir_status status)
{
  if (g->status == WEIR_OK && status != WEIR_OK) {
    g->status = status;
    snprintf(g->message, sizeof g->message, "%s", weir_last_message());
  }
  return WEIR_NO_VALUE;
}

bool weir_desc_equal(const weir_array_desc *a, const weir_array_desc *b)
{
  if (a->dtype != b->dtype || a->rank != b->rank || a->time != b->time) {
    return false;
  }
  for (int d = 0; d < a->rank; d++) {
    if (a->shape[d] != b->shape[d]) {
      return false;
    }
  }
  return true;
}

/* Extents are counts, `time` marks the one unbounded dimension, and the bounded ones have a size in
 * bytes. */
static weir_status check_desc(const weir_array_desc *desc)
{
  int64_t bytes;

  if ((unsigned)desc->dtype >= WEIR_DTYPE_COUNT) {
    return weir_fail(WEIR_ERR_SHAPE, "unknown dtype %d", (int)desc->dtype);
  }
  if (desc->rank < 0 || desc->rank > WEIR_MAX_RANK) {
    return weir_fail(WEIR_ERR_SHAPE, "rank %d is outside [0, %d]", desc->rank, WEIR_MAX_RANK);
  }
  if (desc->time < 0 || desc->time > desc->rank) {
    return weir_fail(WEIR_ERR_SHAPE, "time is dimension %d of an array of rank %d", desc->time - 1,
                     desc->rank);
  }
  bytes = (int64_t)weir_dtype_size(desc->dtype);
  for (int d = 0; d < desc->rank; d++) {
    const int64_t extent = desc->shape[d];
    if (d == desc->time - 1) {
      if (extent != WEIR_UNBOUNDED) {
        return weir_fail(WEIR_ERR_SHAPE, "dimension %d is time: its extent is WEIR_UNBOUNDED", d);
      }
      continue;
    }
    if (extent < 0 || extent >= WEIR_UNBOUNDED) {
      return weir_fail(WEIR_ERR_SHAPE, "extent %" PRId64 " of dimension %d is not a count", extent,
                       d);
    }
    if (extent > 0 && !weir_mul_ok(bytes, extent, &bytes)) {
      return weir_fail(WEIR_ERR_SHAPE, "the extents up to dimension %d overflow", d);
    }
  }
  return WEIR_OK;
}

static weir_status add_source(weir_graph *g, const weir_array_desc *desc, weir_array_kind kind,
                              const char *name, weir_value *out)
{
  const char *kept;
  weir_node *node;
  int32_t array;

  WEIR_TRY(weir_graph_intern(g, name, &kept));
  WEIR_TRY(weir_graph_push_array(g, desc, kind, &array));
  g->arrays[array]->name = kept;
  WEIR_TRY(weir_graph_push_node(g, &node));
  node->n_out = 1;
  node->out[0] = array;
  *out = (weir_value){g->n_nodes - 1, 0};
  return WEIR_OK;
}

/* The node that stands for a named source, -1 when there is none. */
static int32_t find_source(const weir_graph *g, weir_array_kind kind, const char *name)
{
  for (int32_t i = 0; i < g->n_nodes; i++) {
    const weir_node *node = g->nodes[i];
    if (node->op == NULL && g->arrays[node->out[0]]->kind == kind &&
        g->arrays[node->out[0]]->name != NULL && strcmp(g->arrays[node->out[0]]->name, name) == 0) {
      return i;
    }
  }
  return -1;
}

static weir_status try_input(weir_graph *g, const char *name, const weir_array_desc *desc,
                             weir_value *out)
{
  if (name == NULL || name[0] == 0) {
    return weir_fail(WEIR_ERR_SHAPE, "an input needs a name");
  }
  if (find_source(g, WEIR_ARRAY_INPUT, name) >= 0) {
    return weir_fail(WEIR_ERR_SHAPE, "there is already an input '%s'", name);
  }
  const weir_status status = check_desc(desc);
  if (status != WEIR_OK) {
    return weir_fail(status, "input '%s': %s", name, weir_last_message());
  }
  WEIR_TRY(add_source(g, desc, WEIR_ARRAY_INPUT, name, out));
  return WEIR_OK;
}

weir_value weir_input(weir_graph *g, const char *name, const weir_array_desc *desc)
{
  weir_value v = WEIR_NO_VALUE;
  const weir_status status = try_input(g, name, desc, &v);

  return status == WEIR_OK ? v : weir_graph_fail(g, status);
}

static weir_array_desc desc_of(const weir_tensor *t)
{
  weir_array_desc desc = {.dtype = t->dtype, .rank = t->rank};

  memcpy(desc.shape, t->shape, sizeof desc.shape);
  return desc;
}

static weir_status try_stored(weir_graph *g, const weir_store *store, const char *name,
                              weir_value *out)
{
  const weir_tensor *t = weir_store_find(store, name);

  if (t == NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "the store has no array '%s'", name);
  }
  const weir_array_desc desc = desc_of(t);
  const int32_t known = find_source(g, WEIR_ARRAY_STORED, name);
  if (known >= 0) {
    if (!weir_desc_equal(&desc, &g->arrays[g->nodes[known]->out[0]]->desc)) {
      return weir_fail(WEIR_ERR_SHAPE, "stored '%s': dtype or shape differ from an earlier use",
                       name);
    }
    *out = (weir_value){known, 0};
    return WEIR_OK;
  }
  WEIR_TRY(add_source(g, &desc, WEIR_ARRAY_STORED, name, out));
  return WEIR_OK;
}

weir_value weir_stored(weir_graph *g, const weir_store *store, const char *name)
{
  weir_value v = WEIR_NO_VALUE;
  const weir_status status = try_stored(g, store, name, &v);

  return status == WEIR_OK ? v : weir_graph_fail(g, status);
}

static weir_status try_constant(weir_graph *g, const weir_tensor *t, weir_value *out)
{
  const weir_array_desc desc = desc_of(t);
  weir_tensor copy;
  weir_status status;

  WEIR_TRY(check_desc(&desc));
  WEIR_TRY(weir_tensor_init(&copy, t->dtype, t->rank, t->shape));
  WEIR_TRY_GOTO(weir_tensor_copy(t, &copy), failed);
  WEIR_TRY_GOTO(add_source(g, &desc, WEIR_ARRAY_CONSTANT, NULL, out), failed);
  WEIR_TRY_GOTO(weir_array_make_constant(g->arrays[weir_value_array(g, *out)], &copy), failed);
  return WEIR_OK;
failed:
  weir_tensor_fini(&copy);
  return status;
}

weir_value weir_constant(weir_graph *g, const weir_tensor *t)
{
  weir_value v = WEIR_NO_VALUE;
  const weir_status status = try_constant(g, t, &v);

  return status == WEIR_OK ? v : weir_graph_fail(g, status);
}

weir_value weir_scalar(weir_graph *g, weir_dtype dtype, double value)
{
  weir_c128 cell = {0, 0}; /* space for the widest dtype */

  if ((unsigned)dtype >= WEIR_DTYPE_COUNT) {
    return weir_graph_fail(g, weir_fail(WEIR_ERR_SHAPE, "scalar: unknown dtype %d", (int)dtype));
  }
  weir_dtype_store_real(dtype, &cell, 0, value);
  const weir_tensor t = weir_tensor_wrap(&cell, dtype, 0, NULL);
  return weir_constant(g, &t);
}

weir_status weir_node_match(const weir_graph *g, const weir_node *node)
{
  const weir_access *a = &node->access;

  if (a->n_in != node->n_in || a->n_out != node->n_out) {
    return weir_fail(WEIR_ERR_SHAPE, "the access has %d inputs and %d outputs, the node %d and %d",
                     a->n_in, a->n_out, node->n_in, node->n_out);
  }
  for (int k = 0; k < a->n_in + a->n_out; k++) {
    const bool input = k < a->n_in;
    const int number = input ? k : k - a->n_in;
    const int32_t array = input ? node->in[number] : node->out[number];
    const weir_operand *x = input ? &a->in[number] : &a->out[number];
    const char *word = input ? "input" : "output";
    if (array < 0 || array >= g->n_arrays) {
      return weir_fail(WEIR_ERR_SHAPE, "%s %d is not an array of the graph", word, number);
    }
    const weir_array_desc *desc = &g->arrays[array]->desc;
    if (x->dtype != desc->dtype || x->rank != desc->rank) {
      return weir_fail(WEIR_ERR_SHAPE, "%s %d is %s of rank %d, the access says %s of rank %d",
                       word, number, weir_dtype_name(desc->dtype), desc->rank,
                       weir_dtype_name(x->dtype), x->rank);
    }
    for (int d = 0; d < x->rank; d++) {
      if (x->extent[d] != desc->shape[d]) {
        return weir_fail(WEIR_ERR_SHAPE,
                         "%s %d: extent of dimension %d is %" PRId64 ", the access says %" PRId64,
                         word, number, d, desc->shape[d], x->extent[d]);
      }
    }
  }
  return WEIR_OK;
}

/* What one call of weir_graph_add or weir_graph_add_into brings. */
struct request {
  const weir_op_desc *op;
  const void *spec;
  const weir_value *in;
  int n_in;
  const int32_t *into; /* [outputs] arrays that the node writes, -1: a new one; NULL: all new */
  const weir_access *access; /* given, or NULL: the operator states it */
};

static weir_status read_inputs(const weir_graph *g, const struct request *r, weir_node *node,
                               weir_array_desc *in)
{
  if (r->n_in < 0 || r->n_in > WEIR_MAX_OPERANDS) {
    return weir_fail(WEIR_ERR_SHAPE, "%d inputs; a node has at most %d", r->n_in,
                     WEIR_MAX_OPERANDS);
  }
  for (int k = 0; k < r->n_in; k++) {
    const int32_t array = weir_value_array(g, r->in[k]);
    if (array < 0) {
      return weir_fail(WEIR_ERR_SHAPE, "input %d is not a value of the graph", k);
    }
    node->in[k] = array;
    in[k] = g->arrays[array]->desc;
  }
  node->n_in = r->n_in;
  return WEIR_OK;
}

static weir_status infer(const weir_graph *g, const struct request *r, weir_op_args *args,
                         weir_array_desc *out)
{
  const weir_op_desc *op = r->op;

  args->n_out = op->n_out > 0 || op->outputs == NULL ? op->n_out : op->outputs(args);
  if (args->n_out < 0 || args->n_out > WEIR_MAX_OUTPUTS) {
    return weir_fail(WEIR_ERR_SHAPE, "%d outputs; a node has at most %d", args->n_out,
                     WEIR_MAX_OUTPUTS);
  }
  WEIR_TRY(op->infer(args, out));
  for (int k = 0; k < args->n_out; k++) {
    const weir_status status = check_desc(&out[k]);
    if (status != WEIR_OK) {
      return weir_fail(status, "output %d: %s", k, weir_last_message());
    }
  }
  if (r->into != NULL &&
      (args->n_out != 1 || !weir_desc_equal(&out[0], &g->arrays[*r->into]->desc))) {
    return weir_fail(WEIR_ERR_SHAPE, "the output has another dtype or shape than array %d",
                     *r->into);
  }
  return WEIR_OK;
}

static weir_status take_spec(const struct request *r, weir_node *node)
{
  if (r->op->spec_size > 0) {
    if (r->spec == NULL) {
      return weir_fail(WEIR_ERR_SHAPE, "the operator needs a spec");
    }
    WEIR_TRY(weir_alloc(1, r->op->spec_size, &node->spec));
    memcpy(node->spec, r->spec, r->op->spec_size);
  }
  return WEIR_OK;
}

/* Copies an access that is given; outputs have its extents. */
static weir_status take_access(const struct request *r, weir_node *node, weir_array_desc *out)
{
  const weir_access *a = r->access;

  if (a->maker != WEIR_MADE_BY_BODY) {
    WEIR_TRY(take_spec(r, node));
  }
  node->op = r->op;
  node->n_out = a->n_out;
  for (int k = 0; k < a->n_out; k++) {
    out[k] = (weir_array_desc){.dtype = a->out[k].dtype, .rank = a->out[k].rank};
    memcpy(out[k].shape, a->out[k].extent, sizeof out[k].shape);
    WEIR_TRY(check_desc(&out[k]));
  }
  WEIR_TRY(weir_access_copy(a, &node->access));
  return weir_access_check(&node->access);
}

/* Everything that may refuse the node, before the graph changes. */
static weir_status fill_node(const weir_graph *g, const struct request *r, weir_node *node,
                             weir_array_desc *out)
{
  weir_array_desc in[WEIR_MAX_OPERANDS];

  WEIR_TRY(read_inputs(g, r, node, in));
  if (r->access != NULL) {
    return take_access(r, node, out);
  }
  WEIR_TRY(take_spec(r, node));
  weir_op_args args = {
      .spec = node->spec, .n_in = r->n_in, .in = in, .out = out, .random_id = g->next_random};
  WEIR_TRY(infer(g, r, &args, out));
  node->op = r->op;
  node->n_out = args.n_out;
  node->random_id = g->next_random;
  WEIR_TRY(weir_access_resize(&node->access, args.n_in, args.n_out, 0));
  WEIR_TRY(r->op->access(&args, &node->access));
  WEIR_TRY(weir_access_check(&node->access));
  return WEIR_OK;
}

/* Takes the node. */
static weir_status append(weir_graph *g, const struct request *r, weir_node **made,
                          const weir_array_desc *out)
{
  weir_node *node = *made;

  for (int k = 0; k < node->n_out; k++) {
    if (r->into != NULL && r->into[k] >= 0) {
      node->out[k] = r->into[k];
    } else {
      WEIR_TRY(weir_graph_push_array(g, &out[k], WEIR_ARRAY_TEMPORARY, &node->out[k]));
    }
  }
  WEIR_TRY(weir_node_match(g, node));
  WEIR_TRY(weir_graph_take_node(g, made));
  g->next_random += weir_body_uses(&node->access.body, WEIR_CODE_RANDOM);
  return WEIR_OK;
}

static weir_value add(weir_graph *g, const struct request *r, const char *where)
{
  weir_array_desc out[WEIR_MAX_OUTPUTS] = {0};
  void *memory;
  const int32_t arrays = g->n_arrays;
  weir_status status = weir_alloc(1, sizeof(weir_node), &memory);
  weir_node *node = memory;

  if (g->status != WEIR_OK || status != WEIR_OK) {
    weir_free(&memory);
    return weir_graph_fail(g, status);
  }
  node->where = where;
  status = fill_node(g, r, node, out);
  if (status == WEIR_OK) {
    status = append(g, r, &node, out);
  }
  if (status == WEIR_OK) {
    return (weir_value){g->n_nodes - 1, 0};
  }
  status = weir_fail(status, "node %d, %s (%s): %s", g->n_nodes, r->op->name,
                     where != NULL ? where : "location unknown", weir_last_message());
  while (g->n_arrays > arrays) {
    weir_free(&g->arrays[--g->n_arrays]);
  }
  weir_node_destroy(&node);
  return weir_graph_fail(g, status);
}

weir_value weir_graph_add(weir_graph *g, const weir_op_desc *op, const void *spec,
                          const weir_value *in, int n_in, const char *where)
{
  return add(g, &(struct request){op, spec, in, n_in, NULL, NULL}, where);
}

weir_value weir_graph_add_access(weir_graph *g, const weir_op_desc *op, const weir_access *access,
                                 const weir_value *in, int n_in, const char *where)
{
  return add(g, &(struct request){op, NULL, in, n_in, NULL, access}, where);
}

weir_value weir_graph_add_access_into(weir_graph *g, const weir_op_desc *op,
                                      const weir_access *access, const weir_value *in, int n_in,
                                      const int32_t *arrays, const char *where)
{
  return add(g, &(struct request){op, NULL, in, n_in, arrays, access}, where);
}

weir_value weir_graph_add_like(weir_graph *g, const weir_node *like, const weir_access *access,
                               const weir_value *in, int n_in, const int32_t *arrays)
{
  return add(g, &(struct request){like->op, like->spec, in, n_in, arrays, access}, like->where);
}

int32_t weir_graph_array(weir_graph *g, const weir_array_desc *desc)
{
  int32_t array = -1;
  weir_status status = check_desc(desc);

  if (status != WEIR_OK) {
    status = weir_fail(status, "array with several writers: %s", weir_last_message());
  } else {
    status = weir_graph_push_array(g, desc, WEIR_ARRAY_TEMPORARY, &array);
  }
  weir_graph_fail(g, status);
  return array;
}

weir_value weir_graph_add_into(weir_graph *g, const weir_op_desc *op, const void *spec,
                               const weir_value *in, int n_in, int32_t array, const char *where)
{
  if (array < 0 || array >= g->n_arrays || g->arrays[array]->kind != WEIR_ARRAY_TEMPORARY) {
    return weir_graph_fail(g,
                           weir_fail(WEIR_ERR_SHAPE, "%s (%s): array %d cannot be written by nodes",
                                     op->name, where != NULL ? where : "location unknown", array));
  }
  return add(g, &(struct request){op, spec, in, n_in, &array, NULL}, where);
}

static weir_status try_output(weir_graph *g, const char *name, weir_value v)
{
  const int32_t array = weir_value_array(g, v);

  if (array < 0) {
    return weir_fail(WEIR_ERR_SHAPE, "result '%s' is not a value of the graph", name);
  }
  for (int32_t i = 0; i < g->n_arrays; i++) {
    if (g->arrays[i]->output != NULL && strcmp(g->arrays[i]->output, name) == 0) {
      return weir_fail(WEIR_ERR_SHAPE, "there is already a result '%s'", name);
    }
  }
  if (g->arrays[array]->output != NULL) {
    return weir_fail(WEIR_ERR_SHAPE, "result '%s': the value is already the result '%s'", name,
                     g->arrays[array]->output);
  }
  WEIR_TRY(weir_graph_intern(g, name, &g->arrays[array]->output));
  return WEIR_OK;
}

void weir_output(weir_graph *g, const char *name, weir_value v)
{
  weir_graph_fail(g, try_output(g, name, v));
}

/* The stored array of a value, or NULL. */
static weir_array *stored_array(weir_graph *g, weir_value v)
{
  const int32_t array = weir_value_array(g, v);

  return array >= 0 && g->arrays[array]->kind == WEIR_ARRAY_STORED ? g->arrays[array] : NULL;
}

static weir_status try_update(weir_graph *g, weir_value stored, weir_value v)
{
  weir_array *target = stored_array(g, stored);
  const int32_t array = weir_value_array(g, v);

  if (target == NULL) {
    return weir_fail(WEIR_ERR_SHAPE, "update: the target is not a stored array");
  }
  if (array < 0) {
    return weir_fail(WEIR_ERR_SHAPE, "update of '%s': it is not a value of the graph",
                     target->name);
  }
  if (!weir_desc_equal(&target->desc, &g->arrays[array]->desc)) {
    return weir_fail(WEIR_ERR_SHAPE, "update of '%s': the value has another dtype or shape",
                     target->name);
  }
  if (target->update >= 0 || target->in_place) {
    return weir_fail(WEIR_ERR_SHAPE, "update of '%s': the array is already written", target->name);
  }
  target->update = array;
  return WEIR_OK;
}

void weir_update(weir_graph *g, weir_value stored, weir_value v)
{
  weir_graph_fail(g, try_update(g, stored, v));
}

void weir_in_place(weir_graph *g, weir_value stored)
{
  weir_array *target = stored_array(g, stored);

  if (target == NULL) {
    weir_graph_fail(g, weir_fail(WEIR_ERR_SHAPE, "in place: the value is not a stored array"));
  } else if (target->update >= 0) {
    weir_graph_fail(g,
                    weir_fail(WEIR_ERR_SHAPE, "in place: '%s' is already updated", target->name));
  } else {
    target->in_place = true;
  }
}

weir_value weir_label(weir_graph *g, weir_value v, const char *label)
{
  if (weir_value_array(g, v) >= 0) {
    weir_graph_fail(g, weir_graph_intern(g, label, &g->nodes[v.node]->label));
  }
  return v;
}

void weir_label_from(weir_graph *g, int32_t first, const char *label)
{
  const char *kept = NULL;

  weir_graph_fail(g, weir_graph_intern(g, label, &kept));
  for (int32_t i = first; i < g->n_nodes; i++) {
    if (g->nodes[i]->label == NULL) {
      g->nodes[i]->label = kept;
    }
  }
}

weir_status weir_graph_make_input(weir_graph *g, int32_t array, const char *name)
{
  int32_t writer;
  const char *kept;

  if (weir_graph_writers(g, array, &writer, 1) > 0) {
    return weir_fail(WEIR_ERR_SHAPE, "array %d cannot become input '%s': node %d writes it", array,
                     name, writer);
  }
  WEIR_TRY(weir_graph_intern(g, name, &kept));
  g->arrays[array]->kind = WEIR_ARRAY_INPUT;
  g->arrays[array]->name = kept;
  g->arrays[array]->output = NULL;
  return WEIR_OK;
}
