/* autodiff_saved.c - what is kept from where it is made until a derivative reads it. */
#include "pass/autodiff/autodiff_priv.h"
#include "pass/autodiff/weir_gradients.h"

#include "base/weir_alloc.h"

/* The number of the last call of weir_gradients; 0: none. */
static int32_t last_call(const weir_graph *g)
{
  int32_t last = 0;

  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    last = !node->dead && node->derived > last ? node->derived : last;
  }
  return last;
}

/* True when only the group of its writer knows the array. */
static bool is_local(const weir_graph *g, int32_t array)
{
  int32_t writer = -1;

  (void)weir_graph_writers(g, array, &writer, 1);
  for (int32_t i = 0; i < weir_graph_groups(g); i++) {
    const weir_group *group = weir_graph_group(g, i);

    for (int64_t k = 0; k < group->n_nodes; k++) {
      if (group->nodes[k] == writer) {
        return weir_group_is_local(g, group, array);
      }
    }
  }
  return false;
}

/* Marks arrays by who knows them: 1: made before the last call, 2: read by what it added. */
static void mark_arrays(const weir_graph *g, int32_t last, uint8_t *mark)
{
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    for (int k = 0; k < node->n_out && !node->dead && node->op != NULL; k++) {
      mark[node->out[k]] |= node->derived < last ? 1 : 0;
    }
    for (int k = 0; k < node->n_in && !node->dead && node->op != NULL; k++) {
      mark[node->in[k]] |= node->derived == last ? 2 : 0;
    }
  }
}

weir_status derive_find_saved(const weir_graph *g, derive_saved **list, int32_t *n)
{
  weir_status status = WEIR_OK;
  const int32_t last = last_call(g);
  void *mark = NULL;
  int64_t capacity = 0;
  derive_saved *found = NULL;
  int32_t count = 0;

  *list = NULL;
  *n = 0;
  WEIR_TRY(weir_alloc(weir_graph_arrays(g), 1, &mark));
  if (last > 0) {
    mark_arrays(g, last, mark);
  }
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);
    int32_t maker = -1;

    if (((const uint8_t *)mark)[a] != 3 || array->kind != WEIR_ARRAY_TEMPORARY || is_local(g, a)) {
      continue;
    }
    (void)weir_graph_writers(g, a, &maker, 1);
    const derive_saved here = {.array = a, .maker = maker, .bytes = weir_desc_bytes(&array->desc)};
    int32_t at = count;

    WEIR_TRY_GOTO(weir_reserve(&found, &capacity, count + 1, sizeof *found), out);
    for (count++; at > 0 && found[at - 1].bytes < here.bytes; at--) {
      found[at] = found[at - 1];
    }
    found[at] = here;
  }
  *list = found;
  *n = count;
  found = NULL;
out:
  weir_free(&mark);
  weir_free(&found);
  return status;
}

weir_status weir_saved_print(const weir_graph *g, FILE *out)
{
  derive_saved *list;
  int64_t bytes = 0;
  int32_t n;

  WEIR_TRY(derive_find_saved(g, &list, &n));
  for (int32_t i = 0; i < n; i++) {
    bytes += list[i].bytes;
  }
  if (n > 0) {
    fprintf(out, "== saved for the derivative: %lld arrays, %lld bytes\n", (long long)n,
            (long long)bytes);
  }
  for (int32_t i = 0; i < n; i++) {
    const weir_node *node = weir_graph_node(g, list[i].maker);

    fprintf(out, "  array %lld, %lld bytes: %s (%s)\n", (long long)list[i].array,
            (long long)list[i].bytes, node->label != NULL ? node->label : node->op->name,
            node->where != NULL ? node->where : "location unknown");
  }
  weir_free(&list);
  return WEIR_OK;
}
