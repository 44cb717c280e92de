/* recompute_blocks.c - what the gradient reads of the chosen blocks is made again for it.
 *
 * Every reader in the gradient of a result of such a block reads a copy, whose node reads copies of
 * what the block, and other chosen blocks, made before it, and what the others left. The copies
 * have the accesses of the nodes they stand for, random bits included, so that they have the same
 * values. The schedule runs them as late as it can (weir_node.late). */
#include <string.h>

#include "base/weir_alloc.h"
#include "pass/recompute_blocks/weir_recompute_blocks.h"
#include "pass/weir_depend.h"

#define MIN_BYTES 4096 /* smaller results, such as statistics, are kept */

typedef struct copying {
  weir_graph *g;
  const weir_block_choice *choice;
  int32_t n_nodes, n_arrays; /* before anything was copied */
  int32_t *order, n_order;
  bool *backward; /* [nodes]  */
  int8_t *block;  /* [nodes]  */
  int32_t *copy;  /* [arrays] the copy, -1: none yet */
  bool *updates;  /* [arrays] new values of stored ones */
  bool *copied;   /* [nodes]  */
  weir_users users;
  int32_t derived; /* of the gradient */
} copying;

weir_status weir_blocks_backward(const weir_graph *g, bool *backward, bool *any)
{
  weir_status status = WEIR_OK;
  weir_depend depend = {.n = 0};
  void *order = NULL;
  int32_t n = 0, last = 0;

  WEIR_TRY_GOTO(weir_alloc(weir_graph_nodes(g), sizeof(int32_t), &order), out);
  WEIR_TRY_GOTO(weir_graph_order(g, order, &n), out);
  WEIR_TRY_GOTO(weir_depend_make(g, &depend), out);
  memset(backward, 0, (size_t)weir_graph_nodes(g) * sizeof *backward);
  for (int32_t i = 0; i < n; i++) {
    const int32_t derived = weir_graph_node(g, ((int32_t *)order)[i])->derived;

    last = derived > last ? derived : last;
  }
  for (int32_t i = 0; i < n; i++) {
    const int32_t node = ((int32_t *)order)[i];

    backward[node] = last > 0 && weir_graph_node(g, node)->derived == last;
    for (int32_t k = depend.first[node]; k < depend.first[node + 1]; k++) {
      backward[node] = backward[node] || backward[depend.before[k]];
    }
  }
  *any = last > 0;
out:
  weir_depend_fini(&depend);
  weir_free(&order);
  return status;
}

/* The block of a node that was given none: the last of those it reads from. */
static void find_blocks(const copying *c)
{
  for (int32_t i = 0; i < c->n_order; i++) {
    const int32_t number = c->order[i];
    const weir_node *node = weir_graph_node(c->g, number);
    int8_t block = number < c->choice->n_nodes ? c->choice->block[number] : -1;

    for (int k = 0; k < node->n_in && block < 0; k++) {
      const int32_t *first = &c->users.first_writer[node->in[k]];

      for (int32_t w = first[0]; w < first[1]; w++) {
        const int8_t from = c->block[c->users.writers[w]];

        c->block[number] = from > c->block[number] ? from : c->block[number];
      }
    }
    c->block[number] = block >= 0 ? block : c->block[number];
  }
}

/* True when the array's readers in the gradient read a copy. */
static bool is_dropped(const copying *c, int32_t array)
{
  const weir_array *x = weir_graph_get_array(c->g, array);
  const int32_t *first = &c->users.first_writer[array];
  bool yes = array < c->n_arrays && x->kind == WEIR_ARRAY_TEMPORARY && x->output == NULL &&
             !c->updates[array] && weir_desc_bytes(&x->desc) >= MIN_BYTES && first[1] > first[0];

  for (int32_t w = first[0]; w < first[1] && yes; w++) {
    const int32_t node = c->users.writers[w];
    const weir_access *a = &weir_graph_node(c->g, node)->access;

    yes = !c->backward[node] && c->block[node] >= 0 && a->maker != WEIR_MADE_BY_CALL &&
          a->n_states == 0 && (c->choice->again >> c->block[node] & 1) != 0;
  }
  return yes;
}

static weir_status copy_array(const copying *c, int32_t array);

/* What a copy reads for the array. */
static weir_status read_instead(const copying *c, int32_t array, int32_t *out)
{
  *out = array;
  if (is_dropped(c, array)) {
    WEIR_TRY(copy_array(c, array));
    *out = c->copy[array];
  }
  return WEIR_OK;
}

/* The node again; into arrays that others write too, or its own. */
static weir_status copy_node(const copying *c, int32_t number)
{
  const weir_node *node = weir_graph_node(c->g, number);
  weir_value in[WEIR_MAX_OPERANDS];
  int32_t into[WEIR_MAX_OUTPUTS];
  weir_access a;

  c->copied[number] = true;
  for (int k = 0; k < node->n_in; k++) {
    int32_t from;

    WEIR_TRY(read_instead(c, node->in[k], &from));
    node = weir_graph_node(c->g, number);
    in[k] = weir_array_value(c->g, from);
  }
  for (int o = 0; o < node->n_out; o++) {
    const int32_t array = node->out[o];

    if (c->copy[array] < 0) {
      const weir_array_desc d = weir_graph_get_array(c->g, array)->desc;

      c->copy[array] = weir_graph_array(c->g, &d);
    }
    into[o] = c->copy[array];
  }
  WEIR_TRY(weir_graph_status(c->g));
  WEIR_TRY(weir_access_copy(&node->access, &a));
  const weir_derivation derivation = weir_node_derivation(node);
  const int8_t late = c->choice->late[c->block[number]];
  const char *label = node->label;
  const weir_value v = weir_graph_add_like(c->g, node, &a, in, node->n_in, into);

  weir_access_fini(&a);
  WEIR_TRY(weir_graph_status(c->g));
  weir_node *made = weir_graph_node_mut(c->g, v.node);

  made->derived = c->derived;
  made->label = label;
  made->derivation = derivation;
  made->late = late;
  return WEIR_OK;
}

/* All writers of the array again. */
static weir_status copy_array(const copying *c, int32_t array)
{
  const int32_t *first = &c->users.first_writer[array];

  for (int32_t w = first[0]; w < first[1]; w++) {
    if (!c->copied[c->users.writers[w]]) {
      WEIR_TRY(copy_node(c, c->users.writers[w]));
    }
  }
  return WEIR_OK;
}

/* Nodes that nothing reads any more, because their readers were all in the gradient. */
static void drop_unread(const copying *c)
{
  for (int32_t i = c->n_order - 1; i >= 0; i--) {
    weir_node *node = weir_graph_node_mut(c->g, c->order[i]);
    bool unread = !c->backward[c->order[i]] && node->access.maker != WEIR_MADE_BY_CALL;

    for (int o = 0; o < node->n_out && unread; o++) {
      const int32_t array = node->out[o];

      unread = array < c->n_arrays && weir_graph_get_array(c->g, array)->output == NULL &&
               !c->updates[array] && weir_graph_readers(c->g, array, NULL, 0) == 0;
    }
    node->dead = node->dead || unread;
  }
}

static weir_status copy_blocks(const copying *c)
{
  for (int32_t i = 0; i < c->n_order; i++) {
    const int32_t number = c->order[i];

    for (int k = 0; k < weir_graph_node(c->g, number)->n_in && c->backward[number]; k++) {
      int32_t from;

      WEIR_TRY(read_instead(c, weir_graph_node(c->g, number)->in[k], &from));
      weir_graph_node_mut(c->g, number)->in[k] = from;
    }
  }
  drop_unread(c);
  return WEIR_OK;
}

static weir_status prepare(copying *c, bool *any)
{
  for (int32_t a = 0; a < c->n_arrays; a++) {
    const int32_t from = weir_graph_get_array(c->g, a)->update;

    c->copy[a] = -1;
    if (from >= 0) {
      c->updates[from] = true;
    }
  }
  memset(c->block, -1, (size_t)c->n_nodes);
  WEIR_TRY(weir_graph_order(c->g, c->order, &c->n_order));
  WEIR_TRY(weir_users_make(c->g, &c->users));
  WEIR_TRY(weir_blocks_backward(c->g, c->backward, any));
  for (int32_t i = 0; i < c->n_order; i++) {
    const int32_t derived = weir_graph_node(c->g, c->order[i])->derived;

    c->derived = derived > c->derived ? derived : c->derived;
  }
  find_blocks(c);
  return WEIR_OK;
}

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  enum { BUFFERS = 6 };
  weir_status status = WEIR_OK;
  copying c = {.g = g,
               .choice = opts->blocks,
               .n_nodes = weir_graph_nodes(g),
               .n_arrays = weir_graph_arrays(g)};
  const int64_t count[BUFFERS] = {c.n_nodes,  c.n_nodes,  c.n_nodes,
                                  c.n_arrays, c.n_arrays, c.n_nodes};
  const size_t size[BUFFERS] = {sizeof(int32_t), sizeof(bool), 1,
                                sizeof(int32_t), sizeof(bool), sizeof(bool)};
  void *memory[BUFFERS] = {NULL};
  bool any = false;

  if (opts->blocks == NULL || opts->blocks->again == 0) {
    return WEIR_OK;
  }
  for (int i = 0; i < BUFFERS; i++) {
    WEIR_TRY_GOTO(weir_alloc(count[i], size[i], &memory[i]), out);
  }
  c.order = memory[0];
  c.backward = memory[1];
  c.block = memory[2];
  c.copy = memory[3];
  c.updates = memory[4];
  c.copied = memory[5];
  WEIR_TRY_GOTO(prepare(&c, &any), out);
  if (any) {
    WEIR_TRY_GOTO(copy_blocks(&c), out);
  }
out:
  weir_users_fini(&c.users);
  for (int i = 0; i < BUFFERS; i++) {
    weir_free(&memory[i]);
  }
  return status;
}

const weir_pass weir_pass_recompute_blocks = {
    .name = "recompute_blocks",
    .cite = "Wahib et al., KARMA, SC 2020 (arXiv:2008.11421)",
    .order = 11,
    .run = run,
};
