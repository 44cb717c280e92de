/* depend.c - who writes and reads an array, and the order of nodes that data asks for. */
#include "pass/weir_depend.h"

#include "base/weir_alloc.h"

static bool live(const weir_node *node)
{
  return node->op != NULL && !node->dead;
}

/* True when arrays[k] stands before index k already. */
static bool repeats(const int32_t *arrays, int k)
{
  for (int j = 0; j < k; j++) {
    if (arrays[j] == arrays[k]) {
      return true;
    }
  }
  return false;
}

/* Lists by array, from a table of counts: first[a] .. first[a + 1] - 1 of `list` are those of a. */
static weir_status collect(const weir_graph *g, bool write, int32_t **first, int32_t **list)
{
  const int32_t n = weir_graph_nodes(g), n_arrays = weir_graph_arrays(g);
  void *memory = NULL;

  WEIR_TRY(weir_alloc(n_arrays + 2, sizeof **first, &memory));
  int32_t *at = *first = memory;
  /* Counted one index further up: filling then moves every start to where it belongs. */
  for (int round = 0; round < 2; round++) {
    for (int32_t i = 0; i < n; i++) {
      const weir_node *node = weir_graph_node(g, i);
      const int32_t *arrays = write ? node->out : node->in;

      for (int k = 0; live(node) && k < (write ? node->n_out : node->n_in); k++) {
        if (repeats(arrays, k)) {
          continue;
        }
        if (round == 0) {
          at[arrays[k] + 2]++;
        } else {
          (*list)[at[arrays[k] + 1]++] = i;
        }
      }
    }
    for (int32_t a = 0; a < n_arrays && round == 0; a++) {
      at[a + 2] += at[a + 1];
    }
    if (round == 0) {
      WEIR_TRY(weir_alloc(at[n_arrays + 1], sizeof **list, &memory));
      *list = memory;
    }
  }
  return WEIR_OK;
}

weir_status weir_users_make(const weir_graph *g, weir_users *out)
{
  weir_users u = {.first_writer = NULL};
  weir_status status;

  WEIR_TRY_GOTO(collect(g, true, &u.first_writer, &u.writers), failed);
  WEIR_TRY_GOTO(collect(g, false, &u.first_reader, &u.readers), failed);
  *out = u;
  return WEIR_OK;
failed:
  weir_users_fini(&u);
  return status;
}

void weir_users_fini(weir_users *u)
{
  weir_free(&u->first_writer);
  weir_free(&u->writers);
  weir_free(&u->first_reader);
  weir_free(&u->readers);
}

/* Edges in the order found, sorted by `to` at the end. */
typedef struct edges {
  const weir_graph *g;
  int32_t (*pair)[2]; /* from, to */
  int64_t n, capacity;
} edges;

static weir_status add(edges *e, int32_t from, int32_t to)
{
  WEIR_TRY(weir_reserve(&e->pair, &e->capacity, e->n + 1, sizeof *e->pair));
  e->pair[e->n][0] = from;
  e->pair[e->n++][1] = to;
  return WEIR_OK;
}

static weir_status add_data(edges *e)
{
  int32_t *first = NULL, *writers = NULL;
  weir_status status;

  WEIR_TRY_GOTO(collect(e->g, true, &first, &writers), out);
  for (int32_t i = 0; i < weir_graph_nodes(e->g); i++) {
    const weir_node *node = weir_graph_node(e->g, i);

    for (int k = 0; k < node->n_in && live(node); k++) {
      const int32_t array = node->in[k];

      for (int32_t w = first[array]; w < first[array + 1]; w++) {
        WEIR_TRY_GOTO(add(e, writers[w], i), out);
      }
    }
  }
out:
  weir_free(&first);
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
  /* Counted one index further up: filling then moves every start to where it belongs. */
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
