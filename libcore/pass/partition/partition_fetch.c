/* partition_fetch.c - what ranks fetch is fetched once more for derivatives: a forward pass and its
 * adjoint read the same weights long after one another. */
#include "base/weir_alloc.h"
#include "pass/partition/partition_priv.h"

enum { MAX_COPIES = 8 }; /* one after the other; what is copied more often is not fetched again */

typedef struct fetching {
  weir_graph *g;
  int32_t n_arrays; /* that there were at first */
  bool *fetched;    /* [n_arrays] */
  int32_t *copied;  /* [n_arrays] the one node that makes it, by copying; -1: none */
  int32_t *again;   /* [n_arrays] its second copy, -1: there is none yet */
  int32_t *derived; /* [n_arrays] the weir_gradients that the second copy is for */
} fetching;

/* Whether the node moves elements of one array to another, and no more. */
static bool is_copy(const weir_node *node)
{
  const weir_access *a = &node->access;

  return a->maker == WEIR_MADE_BY_BODY && a->n_in == 1 && a->n_out == 1 && a->n_values == 1 &&
         a->n_states == 0 && a->combine == WEIR_COMBINE_NONE &&
         a->body.exprs[a->value[0]].code == WEIR_CODE_LOAD;
}

/* Adds the node again, over another array. */
static weir_status clone(weir_graph *g, const weir_node *node, int32_t from, int32_t derived,
                         int32_t *made)
{
  const weir_value in = weir_array_value(g, from);
  weir_access a;

  WEIR_TRY(weir_access_copy(&node->access, &a));
  const weir_value v = weir_graph_add_like(g, node, &a, &in, 1, NULL);

  weir_access_fini(&a);
  (void)weir_label(g, v, node->label);
  WEIR_TRY(weir_graph_status(g));
  weir_graph_node_mut(g, v.node)->derived = derived;
  weir_graph_node_mut(g, v.node)->microbatch = node->microbatch;
  *made = weir_value_array(g, v);
  return WEIR_OK;
}

/* The array that nodes of that weir_gradients read in place of `array`; the same one where it is
 * not copied from what is fetched. */
static weir_status copy_for(const fetching *s, int32_t array, int32_t derived, int32_t *out)
{
  int32_t chain[MAX_COPIES], from = array;
  int n = 0;

  *out = array;
  while (from < s->n_arrays && !s->fetched[from]) { /* backwards along copies */
    const int32_t writer = s->copied[from];

    if (n == MAX_COPIES || writer < 0 || weir_graph_node(s->g, writer)->derived == derived) {
      return WEIR_OK;
    }
    chain[n++] = writer;
    from = weir_graph_node(s->g, writer)->in[0];
  }
  if (from >= s->n_arrays) { /* a second copy itself */
    return WEIR_OK;
  }
  for (int i = n - 1; i >= 0; i--) {
    const weir_node *node = weir_graph_node(s->g, chain[i]);
    const int32_t made = node->out[0];

    if (s->again[made] < 0 || s->derived[made] != derived) {
      WEIR_TRY(clone(s->g, node, from, derived, &s->again[made]));
      s->derived[made] = derived;
    }
    from = s->again[made];
  }
  *out = n > 0 ? from : array;
  return WEIR_OK;
}

/* Which arrays are made by one node, that copies. */
static void find_copies(const fetching *s)
{
  enum { SEVERAL = -2 };

  for (int32_t a = 0; a < s->n_arrays; a++) {
    s->copied[a] = s->again[a] = -1;
  }
  for (int32_t i = 0; i < weir_graph_nodes(s->g); i++) {
    const weir_node *node = weir_graph_node(s->g, i);

    for (int o = 0; o < node->n_out && node->op != NULL && !node->dead; o++) {
      int32_t *by = &s->copied[node->out[o]];

      *by = *by == -1 && is_copy(node) ? i : SEVERAL;
    }
  }
}

static weir_status fetch_again(const fetching *s)
{
  const int32_t nodes = weir_graph_nodes(s->g);

  find_copies(s);

  for (int32_t i = 0; i < nodes; i++) {
    const weir_node *node = weir_graph_node(s->g, i);

    for (int k = 0; k < node->n_in && node->op != NULL && !node->dead && node->derived > 0; k++) {
      int32_t in = -1;

      WEIR_TRY(copy_for(s, node->in[k], node->derived, &in));
      weir_graph_node_mut(s->g, i)->in[k] = in;
    }
  }
  return WEIR_OK;
}

weir_status weir_partition_fetch_again(weir_graph *g, const weir_shard *shards, int n)
{
  fetching s = {.g = g, .n_arrays = weir_graph_arrays(g)};
  weir_status status = WEIR_OK;
  bool any = false;

  WEIR_TRY_GOTO(weir_alloc(s.n_arrays, sizeof *s.fetched, (void **)&s.fetched), done);
  WEIR_TRY_GOTO(weir_alloc(s.n_arrays, sizeof *s.copied, (void **)&s.copied), done);
  WEIR_TRY_GOTO(weir_alloc(s.n_arrays, sizeof *s.again, (void **)&s.again), done);
  WEIR_TRY_GOTO(weir_alloc(s.n_arrays, sizeof *s.derived, (void **)&s.derived), done);
  for (int i = 0; i < n; i++) {
    const bool here = shards[i].fetched && shards[i].array >= 0 && shards[i].array < s.n_arrays;

    any = any || here;
    if (here) {
      s.fetched[shards[i].array] = true;
    }
  }
  status = any ? fetch_again(&s) : WEIR_OK;
done:
  weir_free(&s.fetched);
  weir_free(&s.copied);
  weir_free(&s.again);
  weir_free(&s.derived);
  return status;
}
