/* graph_order.c - dependences between nodes: topological order. */
#include "graph/graph_priv.h"

#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"

void weir_node_describe(const weir_graph *g, int32_t node, char *text, size_t size)
{
  const weir_node *n = g->nodes[node];
  const char *name = n->op != NULL ? n->op->name : "source";

  snprintf(text, size, "node %d%s%s%s, %s (%s)", node, n->label != NULL ? " '" : "",
           n->label != NULL ? n->label : "", n->label != NULL ? "'" : "", name,
           n->where != NULL ? n->where : "location unknown");
}

/* Live operators that write and read each array, as lists linked through (node, output) and (node,
 * operand) slots. */
struct links {
  int32_t *first;  /* [arrays] slot of the last writer found, or -1                     */
  int32_t *next;   /* [nodes * WEIR_MAX_OUTPUTS]                                          */
  int32_t *reader; /* [arrays] slot of the last reader found, or -1                     */
  int32_t *more;   /* [nodes * WEIR_MAX_OPERANDS]                                         */
  int32_t *wait;   /* [nodes] writer slots this node still waits for; -1: not to be ordered */
};

static void fini(struct links *w)
{
  weir_free(&w->first);
  weir_free(&w->next);
  weir_free(&w->reader);
  weir_free(&w->more);
  weir_free(&w->wait);
}

static bool is_alive(const weir_node *node)
{
  return node->op != NULL && !node->dead;
}

static weir_status numbers(int64_t count, int32_t **out)
{
  void *memory;

  WEIR_TRY(weir_alloc(count, sizeof **out, &memory));
  *out = memory;
  return WEIR_OK;
}

static weir_status init(const weir_graph *g, struct links *w)
{
  weir_status status;

  *w = (struct links){0};
  WEIR_TRY_GOTO(numbers(g->n_arrays, &w->first), failed);
  WEIR_TRY_GOTO(numbers((int64_t)g->n_nodes * WEIR_MAX_OUTPUTS, &w->next), failed);
  WEIR_TRY_GOTO(numbers(g->n_arrays, &w->reader), failed);
  WEIR_TRY_GOTO(numbers((int64_t)g->n_nodes * WEIR_MAX_OPERANDS, &w->more), failed);
  WEIR_TRY_GOTO(numbers(g->n_nodes, &w->wait), failed);
  for (int32_t i = 0; i < g->n_arrays; i++) {
    w->first[i] = w->reader[i] = -1;
  }
  for (int32_t i = 0; i < g->n_nodes; i++) {
    const weir_node *node = g->nodes[i];
    for (int k = 0; is_alive(node) && k < node->n_out; k++) {
      const int32_t slot = i * WEIR_MAX_OUTPUTS + k;
      w->next[slot] = w->first[node->out[k]];
      w->first[node->out[k]] = slot;
    }
  }
  for (int32_t i = 0; i < g->n_nodes; i++) {
    const weir_node *node = g->nodes[i];
    w->wait[i] = is_alive(node) ? 0 : -1;
    for (int k = 0; is_alive(node) && k < node->n_in; k++) {
      const int32_t slot = i * WEIR_MAX_OPERANDS + k;
      w->more[slot] = w->reader[node->in[k]];
      w->reader[node->in[k]] = slot;
      for (int32_t s = w->first[node->in[k]]; s >= 0; s = w->next[s]) {
        w->wait[i]++;
      }
    }
  }
  return WEIR_OK;
failed:
  fini(w);
  return status;
}

/* Takes what `done` wrote off the counts of its readers, and returns the lowest node that became
 * ready, or `lowest`. */
static int32_t release(const weir_graph *g, struct links *w, int32_t done, int32_t lowest)
{
  const weir_node *from = g->nodes[done];

  for (int o = 0; o < from->n_out; o++) {
    for (int32_t slot = w->reader[from->out[o]]; slot >= 0; slot = w->more[slot]) {
      const int32_t i = slot / WEIR_MAX_OPERANDS;

      if (w->wait[i] > 0 && --w->wait[i] == 0 && i < lowest) {
        lowest = i;
      }
    }
  }
  return lowest;
}

weir_status weir_graph_order(const weir_graph *g, int32_t *order, int32_t *n)
{
  struct links w;
  char text[256];
  int32_t count = 0;

  WEIR_TRY(init(g, &w));
  for (int32_t at = 0; at < g->n_nodes;) {
    if (w.wait[at] != 0) {
      at++;
      continue;
    }
    order[count++] = at;
    w.wait[at] = -1;
    at = release(g, &w, at, at + 1);
  }
  weir_status status = WEIR_OK;
  for (int32_t i = 0; i < g->n_nodes && status == WEIR_OK; i++) {
    if (w.wait[i] > 0) {
      weir_node_describe(g, i, text, sizeof text);
      status = weir_fail(WEIR_ERR_SHAPE, "%s depends on itself: the graph has a cycle", text);
    }
  }
  fini(&w);
  if (status == WEIR_OK) {
    *n = count;
  }
  return status;
}
