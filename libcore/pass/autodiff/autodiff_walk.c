/* autodiff_walk.c - from the loss back to what it is derived by, node by node. */
#include "pass/autodiff/weir_gradients.h"

#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "ops/broadcast/weir_broadcast.h"
#include "ops/elementwise/weir_elementwise.h"
#include "pass/autodiff/autodiff_priv.h"
#include "pass/weir_body_dce.h"

static const weir_op_desc op_adjoint = {
    .name = "adjoint",
    .cite = "Griewank and Walther, Evaluating Derivatives, 2nd ed., 2008",
};

void derive_contribute(derive_walk *w, int32_t array, weir_value v)
{
  w->adjoint[array] = w->adjoint[array].node < 0 ? v : weir_add(w->g, w->adjoint[array], v);
}

/* Inputs of the adjoint: those of the node, then what is needed in addition to its outputs. is: in
 * the node's derivation. */
typedef struct inputs {
  int32_t array[WEIR_MAX_OPERANDS];
  int8_t is[WEIR_MAX_OPERANDS];
} inputs;

/* Operands that no expression loads and no gather needs go. */
static void prune(const derive_adjoint *of, inputs *in)
{
  weir_access *a = of->to;
  bool used[WEIR_MAX_OPERANDS] = {false};
  int number[WEIR_MAX_OPERANDS], kept = 0;

  for (int32_t i = 0; i < a->body.n; i++) {
    if (a->body.exprs[i].code == WEIR_CODE_LOAD) {
      used[a->body.exprs[i].integer] = true;
    }
  }
  for (int k = 0; k < a->n_in; k++) {
    /* What leaves its array takes the node's iteration with it, loaded or not. */
    for (int d = 0; d < a->in[k].rank && k < of->from->n_in && k != of->operand; d++) {
      used[k] = used[k] || of->from->in[k].index[d].border == WEIR_BORDER_ABSENT;
    }
    for (int d = 0; d < a->in[k].rank && used[k]; d++) {
      if (a->in[k].index[d].gather > 0) {
        used[a->in[k].index[d].gather - 1] = true;
      }
    }
  }
  for (int k = 0; k < a->n_in; k++) {
    number[k] = kept;
    if (used[k]) {
      a->in[kept] = a->in[k];
      in->is[kept] = in->is[k];
      in->array[kept++] = in->array[k];
    }
  }
  a->n_in = kept;
  for (int k = 0; k < kept; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      weir_index *x = &a->in[k].index[d];

      x->gather = x->gather > 0 ? number[x->gather - 1] + 1 : 0;
    }
  }
  for (int32_t i = 0; i < a->body.n; i++) {
    if (a->body.exprs[i].code == WEIR_CODE_LOAD) {
      a->body.exprs[i].integer = number[a->body.exprs[i].integer];
    }
  }
}

weir_status derive_add(derive_walk *w, const weir_access *a, const int32_t *array,
                       const char *where, int32_t *node)
{
  weir_value in[WEIR_MAX_OPERANDS];

  for (int k = 0; k < a->n_in; k++) {
    in[k] = weir_array_value(w->g, array[k]);
  }
  *node = weir_graph_add_access(w->g, &op_adjoint, a, in, a->n_in, where).node;
  return weir_graph_status(w->g);
}

/* What the rule of the node's monoid needs in addition to its outputs. */
static weir_status find_aux(derive_walk *w, const derive_site *site, derive_aux_arrays *aux)
{
  int32_t *const array[] = {&aux->best, &aux->zeros, &aux->others};
  weir_status status = WEIR_OK;

  for (int k = 0; k < 3 && status == WEIR_OK; k++) {
    weir_access a;
    int output = 0;
    bool asks = false;

    *array[k] = -1;
    WEIR_TRY(weir_access_copy(site->access, &a));
    if (k == 0) {
      status = derive_find_best(&a, &asks, &output);
    } else {
      asks = derive_find_product(&a, k == 1);
    }
    if (status == WEIR_OK && asks) {
      int32_t node = -1;

      status = derive_add(w, &a, site->in, site->where, &node);
      *array[k] = weir_value_array(w->g, (weir_value){node, output});
    }
    weir_access_fini(&a);
  }
  aux->argmax_dtype = WEIR_I64;
  if (site->access->combine == WEIR_COMBINE_ARGMAX) {
    const int32_t byte = derive_byte_of(w->g, site->made[1]);

    aux->argmax_dtype = byte >= 0 ? WEIR_U8 : WEIR_I64;
    aux->best = byte >= 0 ? byte : site->made[1];
  }
  return status;
}

/* Completes the access: its value, its monoid, and no more than what it needs. */
static weir_status finish(derive_adjoint *d, int32_t value, inputs *in)
{
  weir_access *to = d->to;
  const weir_dtype made = to->out[0].dtype, computed = weir_dtype_compute_type(made);
  bool reduced = false;

  if (d->condition >= 0) {
    value =
        weir_body_select(&to->body, d->condition, value, weir_body_real(&to->body, computed, 0));
  }
  for (int k = 0; k < to->n_dims; k++) {
    reduced = reduced || to->dim[k].kind == WEIR_REDUCED;
  }
  to->n_values = 1;
  to->value[0] = reduced ? value : weir_body_cast(&to->body, made, value);
  to->combine = reduced ? WEIR_COMBINE_SUM : WEIR_COMBINE_NONE;
  to->accumulator = computed;
  if (to->body.failed) {
    return weir_fail(WEIR_ERR_MEMORY, "out of memory for the expressions of a derivative");
  }
  WEIR_TRY(weir_body_dce(to));
  prune(d, in);
  return WEIR_OK;
}

/* What an operand in addition to the node's outputs is. */
static int8_t is_aux(const derive_site *site, const derive_aux_arrays *aux, int32_t array)
{
  for (int o = 0; o < site->access->n_out; o++) {
    if ((site->seeded >> o & 1) != 0 && array == site->adjoint[o]) {
      return (int8_t)(site->derivation.made + o);
    }
  }
  return array == aux->best ? WEIR_DERIVED_ARGMAX : WEIR_DERIVED_OTHER;
}

/* The dimension of the adjoint that dimension j of the node is, and nothing else; or -1. */
static int same_dim(const derive_adjoint *d, int j)
{
  const derive_form *f = &d->dim[j];
  int found = -1;

  for (int k = 0; k < d->to->n_dims; k++) {
    if (f->coef[k] != 0) {
      if (f->coef[k] != 1 || found >= 0) {
        return -1;
      }
      found = k;
    }
  }
  return f->den == 1 && f->offset == 0 ? found : -1;
}

/* Of the adjoint; its operands are not pruned yet. */
static weir_derivation derivation_of(const derive_site *site, const derive_adjoint *d,
                                     const derive_aux_arrays *aux, inputs *in)
{
  const int rank = d->from->in[d->operand].rank;
  weir_derivation t = {.made = site->derivation.in[d->operand]};

  t.of = t.made >= 0 && t.made < WEIR_DERIVED_ARGMAX ? site->derivation.of : NULL;

  for (int k = 0; k < d->to->n_in; k++) {
    in->is[k] = k < d->from->n_in ? site->derivation.in[k] : is_aux(site, aux, in->array[k]);
  }
  for (int k = 0; k < WEIR_MAX_DIMS; k++) {
    t.dim[k] = k < rank ? (weir_derived_dim){t.made, (int8_t)k}
                        : (weir_derived_dim){WEIR_DERIVED_OTHER, WEIR_DERIVED_OTHER};
  }
  for (int j = 0; j < d->from->n_dims; j++) {
    const int k = same_dim(d, j);

    if (k >= rank) {
      t.dim[k] = site->derivation.dim[j];
    }
  }
  return t;
}

/* Reports call the adjoint of conv "conv'". */
static void name_adjoint(weir_graph *g, int32_t node, const char *of)
{
  char text[96];

  snprintf(text, sizeof text, "%s'", of);
  (void)weir_label(g, (weir_value){node, 0}, text);
}

static weir_status build(derive_walk *w, const derive_site *site, derive_adjoint *d,
                         const derive_aux_arrays *known, int32_t *expr, int32_t *seed)
{
  const int32_t n = d->from->body.n;
  bool nothing = false;
  inputs in = {.array = {0}, .is = {0}};
  derive_aux_arrays aux = *known;
  int32_t node = -1;

  aux.made = site->made;
  aux.adjoint = site->adjoint;
  aux.array = in.array;
  memcpy(in.array, site->in, sizeof in.array);
  memset(seed, -1, (size_t)n * sizeof *seed);
  WEIR_TRY(derive_solve(d, &nothing));
  if (nothing) {
    return WEIR_OK;
  }
  WEIR_TRY(derive_forward(d, expr));
  derive_read_result(d, &aux, expr);
  WEIR_TRY(derive_seed(d, &aux, expr, seed));
  const int32_t value = derive_backward(d, expr, seed);

  if (value < 0 && d->to->body.failed == WEIR_OK) {
    return WEIR_OK;
  }
  weir_derivation derivation = derivation_of(site, d, &aux, &in);

  WEIR_TRY(finish(d, value, &in));
  WEIR_TRY(derive_add(w, d->to, in.array, site->where, &node));
  memcpy(derivation.in, in.is, sizeof derivation.in);
  weir_graph_node_mut(w->g, node)->derivation = derivation;
  name_adjoint(w->g, node, site->name);
  derive_contribute(w, site->in[d->operand], (weir_value){node, 0});
  return WEIR_OK;
}

/* Array dimensions along which some index of the operand is reflected. */
static unsigned mirrors_of(const weir_access *a, const weir_operand *x)
{
  const weir_box whole = weir_iterations(a);
  unsigned mask = 0;

  for (int k = 0; k < x->rank && !weir_box_empty(&whole); k++) {
    mask |= x->index[k].border == WEIR_BORDER_REFLECT && x->extent[k] > 1 &&
                    (x->index[k].gather > 0 || weir_index_turns(&x->index[k], x->extent[k], &whole))
                ? 1u << k
                : 0;
  }
  return mask;
}

weir_status derive_input(derive_walk *w, const derive_site *site, int operand)
{
  const unsigned mirrors = mirrors_of(site->access, &site->access->in[operand]);
  const int32_t n = site->access->body.n;
  weir_status status = WEIR_OK;
  weir_access to;
  void *expr = NULL, *seed = NULL;
  derive_aux_arrays aux = {.best = -1};

  weir_access_init(&to);
  WEIR_TRY_GOTO(weir_alloc(n + 1, sizeof(int32_t), &expr), out);
  WEIR_TRY_GOTO(weir_alloc(n + 1, sizeof(int32_t), &seed), out);
  WEIR_TRY_GOTO(find_aux(w, site, &aux), out);
  /* A node for every set of mirrored dimensions. */
  for (unsigned mask = 0; mask <= mirrors; mask++) {
    derive_adjoint d = {.from = site->access,
                        .operand = operand,
                        .mirror = mask,
                        .seeded = site->seeded,
                        .to = &to};

    if ((mask & mirrors) == mask) {
      weir_access_fini(&to);
      weir_access_init(&to);
      WEIR_TRY_GOTO(build(w, site, &d, &aux, expr, seed), out);
    }
  }
out:
  weir_access_fini(&to);
  weir_free(&expr);
  weir_free(&seed);
  return status;
}

/* By the operator's own rule. */
static weir_status derive_by_rule(derive_walk *w, int32_t number)
{
  const weir_node *node = weir_graph_node(w->g, number);
  const int n_in = node->n_in;
  weir_value dout[WEIR_MAX_OUTPUTS], din[WEIR_MAX_OPERANDS];
  int32_t in[WEIR_MAX_OPERANDS];

  memcpy(in, node->in, sizeof in);
  for (int o = 0; o < node->n_out; o++) {
    dout[o] = w->adjoint[node->out[o]];
  }
  for (int k = 0; k < n_in; k++) {
    din[k] = WEIR_NO_VALUE;
  }
  node->op->derive(w->g, number, dout, din);
  for (int k = 0; k < n_in; k++) {
    if (din[k].node >= 0 && w->wanted[in[k]]) {
      derive_contribute(w, in[k], din[k]);
    }
  }
  return weir_graph_status(w->g);
}

/* Every input in its turn, or a scan as a whole. */
static weir_status derive_site_of(derive_walk *w, const derive_site *site)
{
  const weir_access *a = site->access;

  if (a->maker != WEIR_MADE_BY_BODY) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "no derivative is defined for it");
  }
  for (int32_t i = 0; i < a->body.n; i++) {
    if (weir_dtype_is_complex(a->body.exprs[i].dtype)) {
      return weir_fail(WEIR_ERR_UNSUPPORTED, "no derivative is defined for complex numbers");
    }
  }
  if (a->n_states > 0) {
    return derive_scan(w, site);
  }
  for (int k = 0; k < a->n_in; k++) {
    if (w->wanted[site->in[k]] && weir_dtype_is_real(a->in[k].dtype)) {
      WEIR_TRY(derive_input(w, site, k));
    }
  }
  return WEIR_OK;
}

/* True when an input of floats, or of complex numbers, is wanted. */
static bool is_wanted(const derive_walk *w, const weir_node *node)
{
  bool yes = false;

  for (int k = 0; k < node->n_in; k++) {
    yes = yes || (w->wanted[node->in[k]] && !weir_dtype_is_whole(node->access.in[k].dtype));
  }
  return yes;
}

static weir_status derive_node(derive_walk *w, int32_t number)
{
  const weir_node *node = weir_graph_node(w->g, number);
  derive_site site = {.where = node->where,
                      .name = node->label != NULL ? node->label : node->op->name,
                      .derivation = weir_node_derivation(node)};
  weir_access access;
  char text[512];

  memcpy(site.in, node->in, sizeof site.in);
  memcpy(site.made, node->out, sizeof site.made);
  for (int o = 0; o < node->n_out; o++) {
    site.adjoint[o] = weir_value_array(w->g, w->adjoint[node->out[o]]);
    site.seeded |= site.adjoint[o] >= 0 ? 1u << o : 0;
  }
  if (site.seeded == 0 || !is_wanted(w, node)) {
    return WEIR_OK;
  }
  if (node->op->derive != NULL) {
    return derive_by_rule(w, number);
  }
  WEIR_TRY(weir_access_copy(&node->access, &access));
  site.access = &access;
  const weir_status status = derive_site_of(w, &site);

  weir_access_fini(&access);
  if (status == WEIR_OK) {
    return WEIR_OK;
  }
  node = weir_graph_node(w->g, number);
  snprintf(text, sizeof text, "%s", weir_last_message());
  return weir_fail(status, "derivative of node %d, %s%s%s%s (%s): %s", (int)number, node->op->name,
                   node->label != NULL ? " '" : "", node->label != NULL ? node->label : "",
                   node->label != NULL ? "'" : "",
                   node->where != NULL ? node->where : "location unknown", text);
}

/* Arrays that `wrt` reaches: the order is that of execution. */
static void mark_wanted(derive_walk *w, const weir_value *wrt, int n, const int32_t *order,
                        int32_t count)
{
  for (int i = 0; i < n; i++) {
    w->wanted[weir_value_array(w->g, wrt[i])] = true;
  }
  for (int32_t i = 0; i < count; i++) {
    const weir_node *node = weir_graph_node(w->g, order[i]);
    bool any = false;

    for (int k = 0; k < node->n_in; k++) {
      any = any || w->wanted[node->in[k]];
    }
    for (int o = 0; o < node->n_out; o++) {
      w->wanted[node->out[o]] = w->wanted[node->out[o]] || any;
    }
  }
}

static weir_status check(const weir_graph *g, weir_value loss, const weir_value *wrt, int n)
{
  const weir_array_desc *d = weir_value_desc(g, loss);

  if (d == NULL || d->rank != 0 || !weir_dtype_is_real(d->dtype)) {
    return weir_fail(WEIR_ERR_SHAPE, "derivative: the loss must be a scalar of a float type");
  }
  for (int i = 0; i < n; i++) {
    d = weir_value_desc(g, wrt[i]);
    if (d == NULL || !weir_dtype_is_real(d->dtype) || d->time > 0) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "derivative: value %d to differentiate by must be an array of floats", i);
    }
  }
  return WEIR_OK;
}

static weir_value zeros(weir_graph *g, const weir_array_desc *d)
{
  weir_broadcast_spec spec = {.rank = d->rank};

  memcpy(spec.shape, d->shape, sizeof spec.shape);
  return weir_broadcast(g, weir_scalar(g, d->dtype, 0), &spec);
}

static weir_status run(derive_walk *w, weir_value loss, const weir_value *wrt, int n,
                       int32_t *order, weir_value *grads)
{
  int32_t count = 0;

  WEIR_TRY(weir_graph_order(w->g, order, &count));
  mark_wanted(w, wrt, n, order, count);
  w->adjoint[weir_value_array(w->g, loss)] =
      weir_scalar(w->g, weir_value_desc(w->g, loss)->dtype, 1);
  for (int32_t i = count - 1; i >= 0; i--) {
    WEIR_TRY(derive_node(w, order[i]));
  }
  for (int i = 0; i < n; i++) {
    const weir_value v = w->adjoint[weir_value_array(w->g, wrt[i])];

    grads[i] = v.node >= 0 ? v : zeros(w->g, weir_value_desc(w->g, wrt[i]));
  }
  return weir_graph_status(w->g);
}

/* Nodes from `first` on are those of one more call. */
static void mark_derived(weir_graph *g, int32_t first)
{
  int32_t calls = 0;

  for (int32_t i = 0; i < first; i++) {
    calls = weir_graph_node(g, i)->derived > calls ? weir_graph_node(g, i)->derived : calls;
  }
  for (int32_t i = first; i < weir_graph_nodes(g); i++) {
    weir_graph_node_mut(g, i)->derived = calls + 1;
  }
}

weir_status weir_gradients(weir_graph *g, weir_value loss, const weir_value *wrt, int n,
                           weir_value *grads)
{
  derive_walk w = {.g = g};
  int32_t nodes = 0;
  weir_status status = WEIR_OK;
  void *adjoint = NULL, *wanted = NULL, *order = NULL;

  for (int i = 0; i < n; i++) {
    grads[i] = WEIR_NO_VALUE;
  }
  WEIR_TRY(weir_graph_status(g));
  WEIR_TRY_GOTO(check(g, loss, wrt, n), out);
  WEIR_TRY_GOTO(derive_maxima(g, wrt, n), out);
  WEIR_TRY_GOTO(derive_bytes(g), out);
  w.n_arrays = weir_graph_arrays(g);
  nodes = weir_graph_nodes(g);
  WEIR_TRY_GOTO(weir_alloc(w.n_arrays, sizeof(weir_value), &adjoint), out);
  WEIR_TRY_GOTO(weir_alloc(w.n_arrays, sizeof(bool), &wanted), out);
  WEIR_TRY_GOTO(weir_alloc(weir_graph_nodes(g), sizeof(int32_t), &order), out);
  w.adjoint = adjoint;
  w.wanted = wanted;
  for (int32_t a = 0; a < w.n_arrays; a++) {
    w.adjoint[a] = WEIR_NO_VALUE;
  }
  status = run(&w, loss, wrt, n, order, grads);
  mark_derived(g, nodes);
out:
  weir_free(&adjoint);
  weir_free(&wanted);
  weir_free(&order);
  if (status != WEIR_OK) {
    (void)weir_graph_fail(g, status);
  }
  return status;
}
