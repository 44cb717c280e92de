/* precision.c - which products are made in bf16, and which arrays are kept in it.
 *
 * Operands of convolutions and contractions that a kernel multiplies sooner in bf16 are; sums are
 * made in f32, and so is all that is not such a product: statistics, norms, losses, updates. An
 * array that such operands are read from is bf16 itself where every operator about it can, so that
 * activations take half their bytes, and so is a result of which further operands are made, and
 * that of a sum between them which a kernel rounds, as of an interpolation; where an array stays
 * f32 (inputs, parameters, results of the graph) a copy is made. What is only moved, or chosen by
 * its size, before it gets there is bf16 on its way: to round does not change which of two numbers
 * is the larger; what is chosen among numbers of bf16 stays bf16. Products of f64 and c128:
 * precision_products.c. */
#include "pass/precision/precision_priv.h"

#include "base/weir_alloc.h"

/* Seconds that the best kernel says it takes for a node, below 0: none takes it. */
static double offered(const precision_plan *p, int32_t node)
{
  const weir_group alone = {.nodes = &node, .n_nodes = 1};
  double seconds;

  (void)weir_kernel_best(p->g, &alone, p->opts, &seconds);
  return seconds;
}

/* A sum of something made of two arrays of f32: what kernels multiply. */
static bool is_product(const weir_node *node)
{
  const weir_access *a = &node->access;

  return node->op != NULL && !node->dead && a->maker == WEIR_MADE_BY_BODY && a->n_in == 2 &&
         a->n_out == 1 && a->combine == WEIR_COMBINE_SUM && a->in[0].dtype == WEIR_F32 &&
         a->in[1].dtype == WEIR_F32 && a->out[0].dtype == WEIR_F32 && a->accumulator == WEIR_F32;
}

/* The same where the node had another access. */
static double offered_as(const precision_plan *p, int32_t number, const weir_access *access)
{
  weir_node *node = weir_graph_node_mut(p->g, number);
  const weir_access as_is = node->access;

  node->access = *access;
  const double seconds = offered(p, number);

  node->access = as_is;
  return seconds;
}

/* What the node's best kernel takes with the operands of `mask` in bf16, below 0: none takes it. */
static weir_status ask_widened(const precision_plan *p, int32_t number, uint32_t mask,
                               double *seconds)
{
  weir_access narrow;

  WEIR_TRY(weir_access_copy(&weir_graph_node(p->g, number)->access, &narrow));
  const weir_status status = precision_widen_loads(&narrow, mask);

  *seconds = status == WEIR_OK ? offered_as(p, number, &narrow) : -1;
  weir_access_fini(&narrow);
  return status;
}

/* Asks the kernels about the node as it is, with its result in bf16, and with operands of bf16, one
 * or both. */
static weir_status ask(precision_plan *p, int32_t number)
{
  const weir_node *node = weir_graph_node(p->g, number);
  const double whole = offered(p, number);
  weir_access narrow;
  double half[4] = {0};

  p->claimed[number] = whole >= 0;
  if (!is_product(node)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_access_copy(&node->access, &narrow));
  precision_round_output(&narrow, 0);
  p->rounds[number] = offered_as(p, number, &narrow) >= 0;
  weir_access_fini(&narrow);
  for (uint32_t mask = 1; mask < 4; mask++) {
    WEIR_TRY(ask_widened(p, number, mask, &half[mask]));
  }
  p->widens[2 * number] = half[1] >= 0;
  p->widens[2 * number + 1] = half[2] >= 0;
  p->heavy[number] = half[3] >= 0 && (whole < 0 || half[3] < whole);
  return WEIR_OK;
}

/* A value outside the array that bf16 does not hold would change. */
static bool fills_fit(const weir_operand *o)
{
  bool fit = o->role == WEIR_ROLE_DATA;

  for (int d = 0; d < o->rank; d++) {
    const weir_index *x = &o->index[d];

    fit = fit && (x->border != WEIR_BORDER_VALUE || x->fill != x->fill ||
                  weir_dtype_rounded(WEIR_BF16, x->fill) == x->fill);
  }
  return fit;
}

/* Whether all readers and writers of the array support bf16. */
static bool may_be_half(const precision_plan *p, int32_t array)
{
  const weir_array *a = weir_graph_get_array(p->g, array);
  bool may = a->kind == WEIR_ARRAY_TEMPORARY && a->output == NULL && a->desc.dtype == WEIR_F32;

  for (int32_t s = 0; s < p->n_arrays && may; s++) {
    may = weir_graph_get_array(p->g, s)->update != array;
  }
  for (int32_t i = 0; i < p->n_nodes && may; i++) {
    const weir_node *node = weir_graph_node(p->g, i);
    bool reads = false, reads_f32 = false, writes = false;

    if (node->op == NULL || node->dead) {
      continue;
    }
    for (int k = 0; k < node->n_in; k++) {
      reads = reads || node->in[k] == array;
      reads_f32 = reads_f32 || (node->in[k] == array && !(k < 2 && p->widens[2 * i + k]));
      may = may && (node->in[k] != array || node->access.maker != WEIR_MADE_BY_BODY ||
                    fills_fit(&node->access.in[k]));
    }
    for (int k = 0; k < node->n_out; k++) {
      writes = writes || node->out[k] == array;
      may = may && (node->out[k] != array || node->access.out[k].role == WEIR_ROLE_DATA);
    }
    const bool keeps = p->claimed[i] && !p->heavy[i];

    may = may && !((reads || writes) && node->access.maker != WEIR_MADE_BY_BODY) &&
          !(keeps && (reads_f32 || (writes && !p->rounds[i])));
  }
  return may;
}

/* Input operand of which the node only moves elements, or chooses among them by their size; -1: it
 * does more. */
static int moved_operand(const weir_node *node)
{
  const weir_access *a = &node->access;
  const bool chooses = a->combine == WEIR_COMBINE_NONE || a->combine == WEIR_COMBINE_MAX ||
                       a->combine == WEIR_COMBINE_MIN || a->combine == WEIR_COMBINE_ARGMAX;

  if (node->op == NULL || node->dead || a->maker != WEIR_MADE_BY_BODY || !chooses ||
      a->n_values != 1 || a->body.exprs[a->value[0]].code != WEIR_CODE_LOAD) {
    return -1;
  }
  return (int)a->body.exprs[a->value[0]].integer;
}

/* From arrays that are bf16 back to those that are moved into them, until there are no more. */
static void propagate(precision_plan *p)
{
  bool more = true;

  while (more) {
    more = false;
    for (int32_t i = 0; i < p->n_nodes; i++) {
      const weir_node *node = weir_graph_node(p->g, i);
      const int k = moved_operand(node);

      if (k >= 0 && p->half[node->out[0]] && !p->half[node->in[k]] && !p->aside[node->in[k]] &&
          may_be_half(p, node->in[k])) {
        p->half[node->in[k]] = more = true;
      }
    }
  }
}

/* Whether an expression is one of numbers that bf16 has: of arrays in bf16, or constants; *loads:
 * of an array. */
static bool is_chosen(const precision_plan *p, const weir_node *node, int32_t number, bool *loads)
{
  const weir_expr *e = &node->access.body.exprs[number];

  switch (e->code) {
  case WEIR_CODE_LOAD:
    *loads = true;
    return p->half[node->in[e->integer]];
  case WEIR_CODE_CONST:
    return weir_dtype_rounded(WEIR_BF16, e->real) == e->real;
  case WEIR_CODE_NEG:
  case WEIR_CODE_ABS:
    return is_chosen(p, node, e->a, loads);
  case WEIR_CODE_MIN:
  case WEIR_CODE_MAX:
    return is_chosen(p, node, e->a, loads) && is_chosen(p, node, e->b, loads);
  case WEIR_CODE_SELECT:
    return is_chosen(p, node, e->b, loads) && is_chosen(p, node, e->c, loads);
  default:
    return false;
  }
}

/* From arrays that are bf16 on to what is chosen among their numbers and constants, as the gradient
 * of a ReLU is: such results lose nothing. */
static void carry(precision_plan *p)
{
  for (int32_t i = 0; i < p->n_nodes; i++) {
    const weir_node *node = weir_graph_node(p->g, i);
    const weir_access *a = &node->access;
    bool loads = false;

    if (node->op == NULL || node->dead || a->maker != WEIR_MADE_BY_BODY || a->n_out != 1 ||
        a->combine != WEIR_COMBINE_NONE || a->n_values != 1 || p->half[node->out[0]] ||
        p->aside[node->out[0]]) {
      continue;
    }
    if (is_chosen(p, node, a->value[0], &loads) && loads && may_be_half(p, node->out[0])) {
      p->half[node->out[0]] = true;
    }
  }
}

/* Marks the arrays from which operands of products in bf16 are made: activations, and gradients by
 * them. What becomes of other products, gradients by parameters, is added up. */
static void find_sources(const precision_plan *p, bool *source)
{
  bool more = true;

  while (more) {
    more = false;
    for (int32_t i = p->n_nodes - 1; i >= 0; i--) {
      const weir_node *node = weir_graph_node(p->g, i);
      bool leads = p->heavy[i];

      if (node->op == NULL || node->dead) {
        continue;
      }
      for (int k = 0; k < node->n_out; k++) {
        leads = leads || source[node->out[k]];
      }
      for (int k = 0; k < node->n_in && leads; k++) {
        more = more || !source[node->in[k]];
        source[node->in[k]] = true;
      }
    }
  }
}

/* Results of products that lead to others, and of sums between them that a kernel rounds. */
static weir_status choose_results(precision_plan *p)
{
  void *memory = NULL;

  WEIR_TRY(weir_alloc(p->n_arrays, sizeof(bool), &memory));
  find_sources(p, memory);
  for (int32_t i = 0; i < p->n_nodes; i++) {
    const bool makes = p->heavy[i] || (p->claimed[i] && p->rounds[i]);
    const int32_t made = makes ? weir_graph_node(p->g, i)->out[0] : 0;

    if (makes && ((bool *)memory)[made] && !p->aside[made] && may_be_half(p, made)) {
      p->half[made] = true;
    }
  }
  weir_free(&memory);
  return WEIR_OK;
}

static void choose_arrays(precision_plan *p)
{
  for (int32_t i = 0; i < p->n_nodes; i++) {
    const weir_node *node = weir_graph_node(p->g, i);

    for (int k = 0; k < node->n_in && p->heavy[i]; k++) {
      const int32_t array = node->in[k];

      if (!p->half[array] && !p->aside[array]) {
        const bool may = may_be_half(p, array);

        p->half[array] = may;
        p->aside[array] = !may;
      }
    }
  }
}

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  precision_plan p = {
      .g = g, .opts = opts, .n_nodes = weir_graph_nodes(g), .n_arrays = weir_graph_arrays(g)};
  weir_status status = WEIR_OK;
  void *memory = NULL;

  if (opts->products != WEIR_PRODUCTS_F64) {
    WEIR_TRY(precision_round_products(g, opts));
    p.n_nodes = weir_graph_nodes(g);
    p.n_arrays = weir_graph_arrays(g);
  }
  if (opts->precision == WEIR_PRECISION_F32) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(5 * (int64_t)p.n_nodes + 2 * (int64_t)p.n_arrays, sizeof(bool), &memory));
  p.heavy = memory;
  p.claimed = p.heavy + p.n_nodes;
  p.rounds = p.claimed + p.n_nodes;
  p.widens = p.rounds + p.n_nodes;
  p.half = p.widens + 2 * (int64_t)p.n_nodes;
  p.aside = p.half + p.n_arrays;
  for (int32_t i = 0; i < p.n_nodes; i++) {
    const weir_node *node = weir_graph_node(g, i);

    if (node->op != NULL && !node->dead && node->access.maker == WEIR_MADE_BY_BODY) {
      WEIR_TRY_GOTO(ask(&p, i), out);
    }
  }
  choose_arrays(&p);
  WEIR_TRY_GOTO(choose_results(&p), out);
  carry(&p);
  propagate(&p);
  status = precision_apply(&p);
out:
  weir_free(&memory);
  return status;
}

const weir_pass weir_pass_precision = {
    .name = "precision",
    .cite = "Micikevicius et al., Mixed precision training, ICLR 2018 (arXiv:1710.03740); "
            "Kalamkar et al., A study of bfloat16 for deep learning training, 2019 "
            "(arXiv:1905.12322)",
    .order = 5,
    .rounding = 0.0625, /* 16 steps of 2^-8: of operands, through a network of as many products */
    .run = run,
};
