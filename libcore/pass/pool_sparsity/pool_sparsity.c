/* pool_sparsity.c - sums of products with the gradient of a maximum over windows.
 *
 * That gradient, z[e] = (argmax[o] is e's position in window o) ? dy[o] : 0 with o = floor(e /
 * window), is 0 but for an element of every window. A sum that reads z is written over dy and
 * argmax themselves, products elsewhere being left out (0 times an infinity too, as in a
 * derivative's conditions); where a kernel takes that sooner than the sum over z, it stays so, and
 * where z has no reader left, z is not made. */
#include "graph/weir_window_argmax.h"
#include "pass/weir_pass.h"
#include "pass/weir_body_dce.h"

/* z: node, and its operands. */
typedef struct choice {
  const weir_node *node;
  int dy, argmax;
  int64_t window[WEIR_MAX_RANK];
} choice;

/* Operands are read alike, at floor(e / window). */
static bool reads_windows(choice *c)
{
  const weir_access *a = &c->node->access;
  const weir_operand *dy = &a->in[c->dy], *argmax = &a->in[c->argmax];

  if (dy->rank != a->n_dims || argmax->rank != a->n_dims) {
    return false;
  }
  for (int d = 0; d < dy->rank; d++) {
    const weir_index *x = &dy->index[d];
    weir_index undivided = *x;

    undivided.div = 1;
    c->window[d] = weir_index_divisor(x);
    if (weir_index_follows(&undivided, a->n_dims) != d || dy->extent[d] != argmax->extent[d] ||
        !weir_index_same(x, &argmax->index[d], a->n_dims) ||
        (x->border != WEIR_BORDER_NEVER && x->border != WEIR_BORDER_ABSENT)) {
      return false;
    }
  }
  return true;
}

/* True when the node says that it is the gradient of a maximum, and is it. */
static bool read_choice(const weir_node *node, choice *c)
{
  const weir_access *a = &node->access;

  *c = (choice){.node = node};
  if (node->derivation.of == NULL || a->maker != WEIR_MADE_BY_BODY || a->n_in != 2 ||
      a->n_out != 1 || a->n_values != 1 || a->n_states != 0 || a->combine != WEIR_COMBINE_NONE ||
      !weir_operand_is_identity(&a->out[0], a)) {
    return false;
  }
  c->argmax = node->derivation.in[0] == WEIR_DERIVED_ARGMAX ? 0 : 1;
  c->dy = 1 - c->argmax;
  if (node->derivation.in[c->argmax] != WEIR_DERIVED_ARGMAX || a->in[c->argmax].dtype != WEIR_U8 ||
      a->in[c->dy].dtype != a->out[0].dtype || !reads_windows(c)) {
    return false;
  }
  const int32_t chosen = weir_window_argmax(a, c->argmax, false, c->window, a->n_dims);

  return chosen >= 0 && a->body.exprs[chosen].code == WEIR_CODE_LOAD &&
         a->body.exprs[chosen].integer == c->dy;
}

/* Where argmax says so, the sum's value; 0 elsewhere. */
static void choose_value(weir_access *a, int argmax, const choice *c)
{
  weir_body *b = &a->body;
  int32_t position = weir_body_int(b, WEIR_I64, 0);
  int64_t weight = 1;

  for (int d = a->in[argmax].rank - 1; d >= 0; d--) {
    if (c->window[d] > 1) {
      const int32_t rest = weir_body_push(b, (weir_expr){.code = WEIR_CODE_REMAINDER,
                                                         .dtype = WEIR_I64,
                                                         .a = -1,
                                                         .b = -1,
                                                         .c = -1,
                                                         .integer = argmax * 16 + d});
      const int32_t term =
          weir_body_binary(b, WEIR_CODE_MUL, rest, weir_body_int(b, WEIR_I64, weight));

      position = weir_body_binary(b, WEIR_CODE_ADD, position, term);
      weight *= c->window[d];
    }
  }
  const int32_t load = weir_body_cast(b, WEIR_I64, weir_body_load(b, argmax, WEIR_U8));
  const weir_dtype dtype = b->exprs[a->value[0]].dtype;

  a->value[0] = weir_body_select(b, weir_body_binary(b, WEIR_CODE_EQ, load, position), a->value[0],
                                 weir_body_real(b, dtype, 0));
}

/* The access, a copy, with operand k read out of z's own. *done is false when it reads z in another
 * way. */
static weir_status write_over(weir_access *a, int k, const choice *c, bool *done)
{
  const weir_operand *dy = &c->node->access.in[c->dy], *argmax = &c->node->access.in[c->argmax];
  const int at = a->n_in;

  *done = false;
  for (int d = 0; d < a->in[k].rank; d++) {
    weir_index *x = &a->in[k].index[d];

    if (weir_index_divisor(x) != 1 || x->gather != 0 ||
        (x->border != WEIR_BORDER_NEVER && x->border != WEIR_BORDER_ABSENT)) {
      return WEIR_OK;
    }
    /* What no window holds is read by no separate iteration. */
    const int dim = weir_index_follows(x, a->n_dims);

    if (dim >= 0 && a->dim[dim].kind == WEIR_REDUCED && a->dim[dim].lo == 0 &&
        a->dim[dim].hi > c->window[d] * dy->extent[d]) {
      a->dim[dim].hi = c->window[d] * dy->extent[d];
    }
    x->div = c->window[d];
    x->border = WEIR_BORDER_ABSENT;
    a->in[k].extent[d] = dy->extent[d];
  }
  WEIR_TRY(weir_access_resize(a, at + 1, a->n_out, 0));
  a->in[at] = a->in[k];
  a->in[at].dtype = argmax->dtype;
  choose_value(a, at, c);
  if (a->body.failed != WEIR_OK) {
    return weir_fail(a->body.failed, "pick: out of memory for the expressions of a sum");
  }
  WEIR_TRY(weir_body_dce(a));
  *done = weir_access_check(a) == WEIR_OK;
  return WEIR_OK;
}

/* Predicted seconds of the best kernel, below 0: none. */
static double offered(const weir_graph *g, int32_t node, const weir_pass_opts *opts)
{
  const weir_group alone = {.nodes = &node, .n_nodes = 1};
  double seconds;

  (void)weir_kernel_best(g, &alone, opts, &seconds);
  return seconds;
}

/* Tries the sum with operand k over the operands of z. */
static weir_status try_sum(weir_graph *g, int32_t number, int k, const choice *c,
                           const weir_pass_opts *opts)
{
  weir_node *node = weir_graph_node_mut(g, number);
  const double before = offered(g, number, opts);
  const int32_t z = node->in[k];
  const weir_derivation derivation = node->derivation;
  weir_access now;
  bool done;

  WEIR_TRY(weir_access_copy(&node->access, &now));
  const weir_status status = write_over(&now, k, c, &done);

  if (status == WEIR_OK && done) {
    const weir_access old = node->access;

    node->access = now;
    node->derivation = weir_node_derivation(node);
    node->derivation.in[node->n_in] = WEIR_DERIVED_ARGMAX;
    node->in[node->n_in] = c->node->in[c->argmax];
    node->in[k] = c->node->in[c->dy];
    node->n_in++;
    const double after = offered(g, number, opts);

    if (after >= 0 && (before < 0 || after < before)) {
      now = old;
    } else {
      node->access = old;
      node->derivation = derivation;
      node->in[k] = z;
      node->n_in--;
    }
  }
  weir_access_fini(&now);
  return status;
}

static bool is_wanted(const weir_graph *g, int32_t array)
{
  bool wanted =
      weir_graph_get_array(g, array)->output != NULL || weir_graph_readers(g, array, NULL, 0) > 0;

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    wanted = wanted || weir_graph_get_array(g, a)->update == array;
  }
  return wanted;
}

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    if (node->op == NULL || node->dead || node->access.maker != WEIR_MADE_BY_BODY ||
        node->access.n_in != 2 || node->access.combine != WEIR_COMBINE_SUM ||
        node->access.n_values != 1) {
      continue;
    }
    for (int k = 0; k < 2 && node->access.n_in == 2; k++) {
      const weir_array *z = weir_graph_get_array(g, node->in[k]);
      int32_t maker;
      choice c;

      if (z->kind == WEIR_ARRAY_TEMPORARY && weir_graph_writers(g, node->in[k], &maker, 1) == 1 &&
          read_choice(weir_graph_node(g, maker), &c)) {
        WEIR_TRY(try_sum(g, i, k, &c, opts));
        if (!is_wanted(g, c.node->out[0])) {
          weir_graph_node_mut(g, maker)->dead = true;
        }
      }
    }
  }
  return WEIR_OK;
}

const weir_pass weir_pass_pool_sparsity = {
    .name = "pool_sparsity",
    .former = "pick",
    .cite = "sparsify max-pool gradients: one non-zero element per window, one eighth of the "
            "products for 2 x 2 x 2",
    .order = 4,
    .rounding = 1e-6, /* sums of fewer terms */
    .run = run,
};
