/* summary.c - see summary.h. */
#include "model/summary.h"
#include "report/weir_report.h"
#include <stdio.h>
#include <string.h>
#include "nn/weir_net.h"
#include "ops/elementwise/weir_elementwise.h"

/* ---- What a node is ---- */

static bool is(const weir_node *node, const char *op)
{
  return strcmp(node->op->name, op) == 0;
}

static bool is_product(const weir_node *node)
{
  return is(node, "conv") || is(node, "conv_transposed") || is(node, "contract");
}

/* The last operation of an activation of nn/. */
static bool is_activation(const weir_node *node)
{
  if (node->op != &weir_op_elementwise) {
    return false;
  }
  const weir_code code = ((const weir_elementwise_spec *)node->spec)->code;

  return code == WEIR_CODE_MAX || code == WEIR_CODE_TANH || code == WEIR_CODE_SELECT;
}

static double count_of(const weir_array_desc *d)
{
  double n = 1;

  for (int k = 0; k < d->rank; k++) {
    n *= (double)d->shape[k];
  }
  return n;
}

/* Counts a multiply-add for every iteration, borders in full, as in the literature (weir_flops
 * omits those outside the input, a twentieth); for a transposed convolution, for every pair of
 * input element and weight (its access also visits positions between elements). */
static double flops_of(const weir_graph *g, const weir_node *node)
{
  const weir_box all = weir_iterations(&node->access);

  if (is(node, "conv_transposed")) {
    const weir_array_desc *const x = &weir_graph_get_array(g, node->in[0])->desc;
    const weir_array_desc *const w = &weir_graph_get_array(g, node->in[1])->desc;

    return 2 * count_of(x) * count_of(w) / (double)x->shape[x->rank - 1];
  }
  return 2 * (double)weir_box_volume(&all);
}

/* ---- Layers ---- */

static bool below(const char *name, const char *scope)
{
  const size_t n = strlen(scope);

  return strncmp(name, scope, n) == 0 && name[n] == '/';
}

/* Parameters of the scope, and whether they are those of a normalisation. */
static int64_t count_params(const weir_params *p, const char *scope, bool *normalises)
{
  int64_t sum = 0;

  for (int64_t i = 0; i < weir_params_count(p); i++) {
    const weir_param_row *const row = weir_params_get(p, i);

    if (below(row->name, scope)) {
      sum += row->count;
      *normalises = *normalises || strcmp(row->name + strlen(scope), "/scale") == 0;
    }
  }
  return sum;
}

/* An array is kept once, whoever else writes into it. */
static bool is_kept(const weir_graph *g, const weir_node *node)
{
  int32_t first = -1;

  (void)weir_graph_writers(g, node->out[0], &first, 1);
  return (is_product(node) || is_activation(node) || is(node, "pool") || is(node, "concat")) &&
         weir_graph_node(g, first) == node;
}

/* Adds a node to the layer that is open. */
static void take(const weir_graph *g, const weir_node *node, cf_layer *l)
{
  const weir_array *const out = weir_graph_get_array(g, node->out[0]);

  if (is_product(node)) {
    l->flops += flops_of(g, node);
    l->first = l->first || weir_graph_get_array(g, node->in[0])->kind == WEIR_ARRAY_INPUT;
  }
  if (is_kept(g, node)) {
    l->outputs++;
    l->bytes += weir_desc_bytes(&out->desc);
  }
  l->rank = out->desc.rank;
  memcpy(l->shape, out->desc.shape, sizeof l->shape);
}

static void end(const weir_params *p, const char *label, cf_layer *l)
{
  bool normalises = false;

  (void)snprintf(l->name, sizeof l->name, "%s", label);
  l->params = count_params(p, label, &normalises);
  if (normalises) { /* of the size of the following activation */
    l->outputs *= 2;
    l->bytes *= 2;
  }
}

static weir_status list(const weir_graph *g, const weir_params *p, cf_summary *s)
{
  cf_layer open = {.rank = 0};

  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *const node = weir_graph_node(g, i);

    if (node->op == NULL || node->dead) {
      continue;
    }
    take(g, node, &open);
    if (node->label == NULL) {
      continue;
    }
    if (s->n == CF_LAYERS) {
      return weir_fail(WEIR_ERR_SHAPE, "the network has more than %d layers", CF_LAYERS);
    }
    end(p, node->label, &open);
    s->layer[s->n++] = open;
    open = (cf_layer){.rank = 0};
  }
  return WEIR_OK;
}

static void add_up(const weir_params *p, const weir_array_desc *x, cf_summary *s)
{
  s->params = weir_params_elements(p);
  s->bytes = weir_desc_bytes(x);
  for (int i = 0; i < s->n; i++) {
    s->forward += s->layer[i].flops;
    s->training += s->layer[i].flops * (s->layer[i].first ? 2 : 3);
    s->bytes += s->layer[i].bytes;
  }
}

weir_status cf_summary_make(const cf_model_opts *o, const cf_shape *shape, cf_summary *out)
{
  const weir_array_desc x = {
      WEIR_F32, 5, {1, shape->map ? 1 : shape->side, shape->side, shape->side, shape->channels}, 0};
  weir_params *params = NULL;
  weir_graph *g = NULL;
  weir_status status = WEIR_OK;
  weir_net net;

  *out = (cf_summary){.shape = *shape};
  WEIR_TRY_GOTO(weir_params_create(WEIR_F32, &params), done);
  WEIR_TRY_GOTO(weir_graph_create(&g), done);
  weir_net_init(&net, g, params, false);
  const cf_made made = cf_model_apply(&net, o, shape->outputs, weir_input(g, "x", &x));

  if (cf_model_head(o) == CF_HEAD_FLOW) {
    const weir_array_desc y = {WEIR_F32, 2, {1, shape->outputs}, 0};

    (void)cf_flow_graph_log_density(g, &made.flow, made.y, weir_input(g, "y", &y));
  }
  status = weir_graph_status(g);
  weir_net_fini(&net);
  if (status == WEIR_OK) {
    status = list(g, params, out);
  }
  if (status == WEIR_OK) {
    add_up(params, &x, out);
  }
done:
  weir_graph_destroy(&g);
  weir_params_destroy(&params);
  return status;
}

void cf_summary_print(const cf_summary *s, FILE *out)
{
  char a[WEIR_AMOUNT_SIZE], b[WEIR_AMOUNT_SIZE], c[WEIR_AMOUNT_SIZE], d[WEIR_AMOUNT_SIZE];

  fprintf(out, "# %-16s %-28s %12s %14s %14s\n", "layer", "output", "parameters", "forward",
          "activations");
  for (int i = 0; i < s->n; i++) {
    const cf_layer *const l = &s->layer[i];
    char shape[96] = "";
    size_t at = 0;

    for (int k = 1; k < l->rank; k++) {
      at += (size_t)snprintf(shape + at, sizeof shape - at, "%s%lld", k > 1 ? " x " : "",
                             (long long)l->shape[k]);
    }
    fprintf(out, "# %-16s %-28s %12lld %14s %14s\n", l->name, shape, (long long)l->params,
            weir_amount(l->flops, "flop", a), weir_amount_bytes((double)l->bytes, b));
  }
  fprintf(out,
          "# a sample of %lld^%d x %lld: %lld parameters; forward %s, with gradients %s where all "
          "are dense; activations layer by layer %s, with their gradients %s\n",
          (long long)s->shape.side, s->shape.map ? 2 : 3, (long long)s->shape.channels,
          (long long)s->params, weir_amount(s->forward, "flop", a),
          weir_amount(s->training, "flop", b), weir_amount_bytes((double)s->bytes, c),
          weir_amount_bytes(2 * (double)s->bytes, d));
}
