/* graph.c - the graph as a container: nodes, arrays, names, groups, copies. */
#include "graph/graph_priv.h"

#include <stdatomic.h>
#include <string.h>

#include "base/weir_alloc.h"

int64_t weir_desc_bytes(const weir_array_desc *d)
{
  int64_t bytes = (int64_t)weir_dtype_size(d->dtype);

  for (int k = 0; k < d->rank; k++) {
    bytes = weir_saturating_mul(bytes, d->shape[k]);
  }
  return bytes;
}

weir_status weir_graph_create(weir_graph **out)
{
  void *g;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(weir_graph), &g));
  *out = g;
  return WEIR_OK;
}

void weir_node_destroy(weir_node **node)
{
  if (*node == NULL) {
    return;
  }
  weir_access_fini(&(*node)->access);
  weir_free(&(*node)->spec);
  weir_free(node);
}

/* ---- Constants, which never change: graphs in several threads may share one ---- */

struct weir_constant_memory {
  weir_tensor tensor;
  atomic_int users;
};

weir_status weir_array_make_constant(weir_array *array, weir_tensor *t)
{
  struct weir_constant_memory *memory = NULL;

  WEIR_TRY(weir_alloc(1, sizeof *memory, (void **)&memory));
  memory->tensor = *t;
  atomic_init(&memory->users, 1);
  *t = weir_tensor_wrap(t->data, t->dtype, t->rank, t->shape);
  array->kind = WEIR_ARRAY_CONSTANT;
  array->constant = *t;
  array->memory = memory;
  return WEIR_OK;
}

static void share_constant(const weir_array *from, weir_array *to)
{
  to->constant = from->constant;
  to->memory = from->memory;
  if (to->memory != NULL) {
    atomic_fetch_add(&to->memory->users, 1);
  }
}

static void drop_constant(struct weir_constant_memory **memory)
{
  if (*memory != NULL && atomic_fetch_sub(&(*memory)->users, 1) == 1) {
    weir_tensor_fini(&(*memory)->tensor);
    weir_free(memory);
  }
  *memory = NULL;
}

void weir_graph_destroy(weir_graph **g)
{
  if (g == NULL || *g == NULL) {
    return;
  }
  weir_graph *const x = *g;
  weir_graph_clear_groups(x);
  weir_free(&x->groups);
  for (int32_t i = 0; i < x->n_nodes; i++) {
    weir_node_destroy(&x->nodes[i]);
  }
  weir_free(&x->nodes);
  for (int32_t i = 0; i < x->n_arrays; i++) {
    drop_constant(&x->arrays[i]->memory);
    weir_free(&x->arrays[i]);
  }
  weir_free(&x->arrays);
  for (int64_t i = 0; i < x->n_strings; i++) {
    weir_free(&x->strings[i]);
  }
  weir_free(&x->strings);
  weir_free(g);
}

weir_status weir_graph_intern(weir_graph *g, const char *text, const char **out)
{
  *out = NULL;
  if (text == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_reserve(&g->strings, &g->string_capacity, g->n_strings + 1, sizeof *g->strings));
  WEIR_TRY(weir_strdup(text, &g->strings[g->n_strings]));
  *out = g->strings[g->n_strings++];
  return WEIR_OK;
}

weir_status weir_graph_take_node(weir_graph *g, weir_node **node)
{
  if (g->n_nodes == INT32_MAX) {
    return weir_fail(WEIR_ERR_SHAPE, "a graph has at most %d nodes", INT32_MAX);
  }
  WEIR_TRY(weir_reserve(&g->nodes, &g->node_capacity, (int64_t)g->n_nodes + 1, sizeof *g->nodes));
  g->nodes[g->n_nodes++] = *node;
  *node = NULL;
  return WEIR_OK;
}

weir_status weir_graph_push_node(weir_graph *g, weir_node **out)
{
  void *memory;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(weir_node), &memory));
  weir_node *node = memory;
  const weir_status status = weir_graph_take_node(g, &node);
  if (status != WEIR_OK) {
    weir_free(&node);
    return status;
  }
  *out = memory;
  return WEIR_OK;
}

weir_status weir_graph_push_array(weir_graph *g, const weir_array_desc *desc, weir_array_kind kind,
                                  int32_t *out)
{
  void *memory;

  *out = -1;
  if (g->n_arrays == INT32_MAX) {
    return weir_fail(WEIR_ERR_SHAPE, "a graph has at most %d arrays", INT32_MAX);
  }
  WEIR_TRY(
      weir_reserve(&g->arrays, &g->array_capacity, (int64_t)g->n_arrays + 1, sizeof *g->arrays));
  WEIR_TRY(weir_alloc(1, sizeof(weir_array), &memory));
  weir_array *const array = memory;
  array->desc = *desc;
  array->kind = kind;
  array->update = -1;
  g->arrays[g->n_arrays] = array;
  *out = g->n_arrays++;
  return WEIR_OK;
}

static weir_status copy_node(const weir_node *from, weir_graph *to)
{
  weir_node *node;

  WEIR_TRY(weir_graph_push_node(to, &node));
  WEIR_TRY(weir_access_copy(&from->access, &node->access));
  if (from->spec != NULL) {
    WEIR_TRY(weir_alloc(1, from->op->spec_size, &node->spec));
    memcpy(node->spec, from->spec, from->op->spec_size);
  }
  node->op = from->op;
  node->n_in = from->n_in;
  node->n_out = from->n_out;
  memcpy(node->in, from->in, sizeof node->in);
  memcpy(node->out, from->out, sizeof node->out);
  WEIR_TRY(weir_graph_intern(to, from->label, &node->label));
  node->where = from->where;
  node->random_id = from->random_id;
  node->derived = from->derived;
  node->microbatch = from->microbatch;
  node->priority = from->priority;
  node->late = from->late;
  node->dead = from->dead;
  node->derivation = from->derivation;
  return WEIR_OK;
}

weir_derivation weir_node_derivation(const weir_node *node)
{
  weir_derivation d = node->derivation;

  if (d.of != NULL || node->op == NULL) {
    return d;
  }
  d.of = node->op;
  d.made = (int8_t)node->n_in;
  for (int k = 0; k < node->n_in; k++) {
    d.in[k] = (int8_t)k;
  }
  for (int j = 0; j < WEIR_MAX_DIMS; j++) {
    d.dim[j] = (weir_derived_dim){WEIR_DERIVED_OTHER, (int8_t)j};
  }
  return d;
}

static weir_status copy_array(const weir_array *from, weir_graph *to)
{
  int32_t number;

  WEIR_TRY(weir_graph_push_array(to, &from->desc, from->kind, &number));
  weir_array *const array = to->arrays[number];
  WEIR_TRY(weir_graph_intern(to, from->name, &array->name));
  WEIR_TRY(weir_graph_intern(to, from->output, &array->output));
  array->update = from->update;
  array->in_place = from->in_place;
  array->reordered = from->reordered;
  memcpy(array->built_as, from->built_as, sizeof array->built_as);
  share_constant(from, array);
  return WEIR_OK;
}

weir_status weir_graph_copy(const weir_graph *g, weir_graph **out)
{
  weir_graph *copy;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_graph_create(&copy));
  for (int32_t i = 0; i < g->n_nodes; i++) {
    WEIR_TRY_GOTO(copy_node(g->nodes[i], copy), failed);
  }
  for (int32_t i = 0; i < g->n_arrays; i++) {
    WEIR_TRY_GOTO(copy_array(g->arrays[i], copy), failed);
  }
  for (int32_t i = 0; i < g->n_groups; i++) {
    const weir_group *from = &g->groups[i];
    WEIR_TRY_GOTO(weir_graph_add_group(copy, from->nodes, from->n_nodes), failed);
    weir_group *to = &copy->groups[i];
    memcpy(to->tile, from->tile, sizeof to->tile);
    memcpy(to->claims, from->claims, sizeof to->claims);
    to->n_claims = from->n_claims;
    to->saved_bytes = from->saved_bytes;
  }
  copy->next_random = g->next_random;
  copy->status = g->status;
  memcpy(copy->message, g->message, sizeof copy->message);
  *out = copy;
  return WEIR_OK;
failed:
  weir_graph_destroy(&copy);
  return status;
}

weir_status weir_graph_status(const weir_graph *g)
{
  return g->status == WEIR_OK ? WEIR_OK : weir_fail(g->status, "%s", g->message);
}

int32_t weir_graph_nodes(const weir_graph *g)
{
  return g->n_nodes;
}

int32_t weir_graph_arrays(const weir_graph *g)
{
  return g->n_arrays;
}

const weir_node *weir_graph_node(const weir_graph *g, int32_t node)
{
  WEIR_ASSERT(node >= 0 && node < g->n_nodes);
  return g->nodes[node];
}

weir_node *weir_graph_node_mut(weir_graph *g, int32_t node)
{
  WEIR_ASSERT(node >= 0 && node < g->n_nodes);
  return g->nodes[node];
}

const weir_array *weir_graph_get_array(const weir_graph *g, int32_t array)
{
  WEIR_ASSERT(array >= 0 && array < g->n_arrays);
  return g->arrays[array];
}

weir_array *weir_graph_array_mut(weir_graph *g, int32_t array)
{
  WEIR_ASSERT(array >= 0 && array < g->n_arrays);
  return g->arrays[array];
}

int32_t weir_value_array(const weir_graph *g, weir_value v)
{
  if (v.node < 0 || v.node >= g->n_nodes || v.output < 0 || v.output >= g->nodes[v.node]->n_out) {
    return -1;
  }
  return g->nodes[v.node]->out[v.output];
}

weir_value weir_array_value(const weir_graph *g, int32_t array)
{
  for (int32_t i = g->n_nodes - 1; i >= 0; i--) {
    for (int o = 0; o < g->nodes[i]->n_out && !g->nodes[i]->dead; o++) {
      if (g->nodes[i]->out[o] == array) {
        return (weir_value){i, o};
      }
    }
  }
  return WEIR_NO_VALUE;
}

const weir_array_desc *weir_value_desc(const weir_graph *g, weir_value v)
{
  const int32_t array = weir_value_array(g, v);

  return array < 0 ? NULL : &g->arrays[array]->desc;
}

static bool among(int32_t x, const int32_t *list, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    if (list[i] == x) {
      return true;
    }
  }
  return false;
}

static int32_t users(const weir_graph *g, int32_t array, bool write, int32_t *nodes, int32_t n)
{
  int32_t count = 0;

  for (int32_t i = 0; i < g->n_nodes; i++) {
    const weir_node *node = g->nodes[i];
    if (node->op == NULL || node->dead ||
        !(write ? among(array, node->out, node->n_out) : among(array, node->in, node->n_in))) {
      continue;
    }
    if (count < n) {
      nodes[count] = i;
    }
    count++;
  }
  return count;
}

int32_t weir_graph_readers(const weir_graph *g, int32_t array, int32_t *nodes, int32_t n)
{
  return users(g, array, false, nodes, n);
}

int32_t weir_graph_writers(const weir_graph *g, int32_t array, int32_t *nodes, int32_t n)
{
  return users(g, array, true, nodes, n);
}

int32_t weir_graph_groups(const weir_graph *g)
{
  return g->n_groups;
}

weir_group *weir_graph_group_mut(weir_graph *g, int32_t group)
{
  WEIR_ASSERT(group >= 0 && group < g->n_groups);
  return &g->groups[group];
}

const weir_group *weir_graph_group(const weir_graph *g, int32_t group)
{
  WEIR_ASSERT(group >= 0 && group < g->n_groups);
  return &g->groups[group];
}

void weir_graph_shed(weir_graph *g)
{
  for (int32_t i = 0; i < g->n_nodes; i++) {
    if (g->nodes[i]->access.maker == WEIR_MADE_BY_BODY) {
      weir_node_destroy(&g->nodes[i]);
    }
  }
}

weir_status weir_graph_add_group(weir_graph *g, const int32_t *nodes, int64_t n)
{
  void *list;

  if (n < 1) {
    return weir_fail(WEIR_ERR_SHAPE, "a group has at least one member");
  }
  for (int64_t i = 0; i < n; i++) {
    if (nodes[i] < 0 || nodes[i] >= g->n_nodes || g->nodes[nodes[i]]->op == NULL ||
        g->nodes[nodes[i]]->dead) {
      return weir_fail(WEIR_ERR_SHAPE, "group %d: member %d is not a live operator", g->n_groups,
                       nodes[i]);
    }
  }
  WEIR_TRY(
      weir_reserve(&g->groups, &g->group_capacity, (int64_t)g->n_groups + 1, sizeof *g->groups));
  WEIR_TRY(weir_alloc(n, sizeof *nodes, &list));
  memcpy(list, nodes, (size_t)n * sizeof *nodes);
  g->groups[g->n_groups++] = (weir_group){.nodes = list, .n_nodes = n};
  return WEIR_OK;
}

void weir_graph_clear_groups(weir_graph *g)
{
  for (int32_t i = 0; i < g->n_groups; i++) {
    weir_free(&g->groups[i].nodes);
  }
  g->n_groups = 0;
}

/* False when no member writes the array or none reads it, as of most arrays of a graph. */
static bool is_inside(const weir_graph *g, const weir_group *group, int32_t array)
{
  bool written = false, read = false;

  for (int64_t i = 0; i < group->n_nodes && !(written && read); i++) {
    const weir_node *node = g->nodes[group->nodes[i]];

    written = written || among(array, node->out, node->n_out);
    read = read || among(array, node->in, node->n_in);
  }
  return written && read;
}

const weir_claim *weir_group_claim(const weir_group *group, int32_t node)
{
  for (int i = 0; i < group->n_claims; i++) {
    if (group->claims[i].node == node) {
      return &group->claims[i];
    }
  }
  return NULL;
}

bool weir_group_is_local(const weir_graph *g, const weir_group *group, int32_t array)
{
  const weir_array *a = weir_graph_get_array(g, array);
  int32_t writers = 0;
  bool read = false;

  if (a->kind != WEIR_ARRAY_TEMPORARY || a->output != NULL || !is_inside(g, group, array)) {
    return false;
  }
  for (int32_t i = 0; i < g->n_arrays; i++) {
    if (g->arrays[i]->update == array) {
      return false;
    }
  }
  for (int32_t i = 0; i < g->n_nodes; i++) {
    const weir_node *node = g->nodes[i];
    if (node->op == NULL || node->dead) {
      continue;
    }
    const bool writes = among(array, node->out, node->n_out);
    const bool reads = among(array, node->in, node->n_in);
    if ((writes || reads) && !among(i, group->nodes, group->n_nodes)) {
      return false;
    }
    writers += writes;
    read = read || reads;
  }
  return writers == 1 && read; /* boxes of several writers meet in memory */
}
