/* depend.c - the order of nodes that data asks for. */
#include "pass/weir_depend.h"

#include "base/weir_alloc.h"

/* Edges in the order found, sorted by `to` at the end. */
typedef struct edges {
  const weir_graph *g;
  int32_t (*pair)[2]; /* from, to */
  int64_t n, capacity;
} edges;

static bool live(const weir_node *node)
{
  return node->op != NULL && !node->dead;
}

static weir_status add(edges *e, int32_t from, int32_t to)
{
  WEIR_TRY(weir_reserve(&e->pair, &e->capacity, e->n + 1, sizeof *e->pair));
  e->pair[e->n][0] = from;
  e->pair[e->n++][1] = to;
  return WEIR_OK;
}

static weir_status add_data(edges *e)
{
  void *memory = NULL;
  weir_status status = WEIR_OK;
  int32_t *writers = NULL;
  const int32_t n = weir_graph_nodes(e->g);

  WEIR_TRY(weir_alloc(n, sizeof *writers, &memory));
  writers = memory;
  for (int32_t i = 0; i < n; i++) {
    const weir_node *node = weir_graph_node(e->g, i);

    for (int k = 0; k < node->n_in && live(node); k++) {
      const int32_t m = weir_graph_writers(e->g, node->in[k], writers, n);

      for (int32_t w = 0; w < m; w++) {
        WEIR_TRY_GOTO(add(e, writers[w], i), out);
      }
    }
  }
out:
  weir_free(&writers);
  return status;
}

static weir_status sort(const edges *e, weir_depend *out)
{
  const int32_t n = weir_graph_nodes(e->g);
  void *memory = NULL;

  WEIR_TRY(weir_alloc(n + 2, sizeof *out->first, &memory));
  out->first = memory;
  WEIR_TRY(weir_alloc(e->n, sizeof *out->before, &memory));
  out->before = memory;
  out->n = n;
  /* Counted one place further up: filling then moves every start to where it belongs. */
  for (int64_t i = 0; i < e->n; i++) {
    out->first[e->pair[i][1] + 2]++;
  }
  for (int32_t i = 0; i < n; i++) {
    out->first[i + 2] += out->first[i + 1];
  }
  for (int64_t i = 0; i < e->n; i++) {
    out->before[out->first[e->pair[i][1] + 1]++] = e->pair[i][0];
  }
  return WEIR_OK;
}

weir_status weir_depend_make(const weir_graph *g, weir_depend *out)
{
  weir_status status = WEIR_OK;
  edges e = {.g = g};
  weir_depend d = {.n = 0};

  WEIR_TRY_GOTO(add_data(&e), out);
  WEIR_TRY_GOTO(sort(&e, &d), out);
  *out = d;
  d = (weir_depend){.n = 0};
out:
  weir_free(&e.pair);
  weir_depend_fini(&d);
  return status;
}

void weir_depend_fini(weir_depend *d)
{
  weir_free(&d->first);
  weir_free(&d->before);
  d->n = 0;
}
