/* print.c - a graph as text, for `describe`. */
#include "graph/graph_priv.h"
#include "graph/weir_kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"

static const char *const border_names[] = {"never", "absent",    "zero",   "value",
                                           "wrap",  "replicate", "reflect"};
static const char *const monoid_names[] = {"none",   "sum",     "prod",    "max",   "min",
                                           "argmax", "moments", "softmax", "first", "last"};
static const char *const kind_names[] = {"input", "stored", "constant", "array"};
static const char *const dim_names[] = {"parallel", "reduced", "forward", "backward"};

static void print_extent(int64_t extent, FILE *out)
{
  if (extent == WEIR_UNBOUNDED) {
    fputs("time", out);
  } else {
    fprintf(out, "%" PRId64, extent);
  }
}

/* as: numbers of arrays where they have no names, or NULL. */
static void print_array(const weir_graph *g, int32_t number, const int32_t *as, FILE *out)
{
  const weir_array *a = g->arrays[number];

  fprintf(out, "a%d", as != NULL ? as[number] : number);
  if (as == NULL && (a->name != NULL || a->output != NULL)) {
    fprintf(out, " '%s'", a->name != NULL ? a->name : a->output);
  }
  fprintf(out, " %s[", weir_dtype_name(a->desc.dtype));
  for (int d = 0; d < a->desc.rank; d++) {
    fputs(d > 0 ? ", " : "", out);
    print_extent(a->desc.shape[d], out);
  }
  fputs("]", out);
  for (int d = 0; d < a->desc.rank && a->reordered; d++) {
    fprintf(out, "%s%d", d > 0 ? " " : " (built as ", a->built_as[d]);
  }
  fputs(a->reordered ? ")" : "", out);
}

/* "2*i0 + i1 - 1", "floor((i0 + in2) / 4) (zero)". */
static void print_index(const weir_index *x, int n_dims, FILE *out)
{
  bool some = false;

  fputs(x->div > 1 ? "floor((" : "", out);
  for (int k = 0; k < n_dims; k++) {
    const int64_t c = x->coef[k];
    if (c == 0) {
      continue;
    }
    fputs(c < 0 ? (some ? " - " : "-") : (some ? " + " : ""), out);
    if (c != 1 && c != -1) {
      fprintf(out, "%" PRId64 "*", c < 0 ? -c : c);
    }
    fprintf(out, "i%d", k);
    some = true;
  }
  if (x->gather > 0) {
    fprintf(out, "%sin%d", some ? " + " : "", x->gather - 1);
    some = true;
  }
  if (x->offset != 0 || !some) {
    const char *sign = x->offset < 0 ? (some ? " - " : "-") : (some ? " + " : "");
    fprintf(out, "%s%" PRId64, sign, x->offset < 0 ? -x->offset : x->offset);
  }
  if (x->div > 1) {
    fprintf(out, ") / %" PRId64 ")", x->div);
  }
  if (x->border == WEIR_BORDER_VALUE) {
    fprintf(out, " (value %g)", x->fill);
  } else if (x->border != WEIR_BORDER_NEVER) {
    fprintf(out, " (%s)", border_names[x->border]);
  }
}

static void print_operand(const weir_graph *g, const weir_node *node, int number, bool input,
                          const int32_t *as, FILE *out)
{
  const weir_operand *x = input ? &node->access.in[number] : &node->access.out[number];

  fprintf(out, "    %s%d: ", input ? "in" : "out", number);
  print_array(g, input ? node->in[number] : node->out[number], as, out);
  fputs(x->role == WEIR_ROLE_STATE ? " state[" : " at [", out);
  for (int d = 0; d < x->rank; d++) {
    fputs(d > 0 ? ", " : "", out);
    if (d < weir_operand_first(x)) {
      fputs("slot", out);
    } else {
      print_index(&x->index[d], node->access.n_dims, out);
    }
  }
  fputs("]\n", out);
}

static bool is_leaf(weir_code code)
{
  return weir_code_args(code) == 0;
}

static void print_expr(const weir_body *b, int32_t i, FILE *out)
{
  const weir_expr *e = &b->exprs[i];
  const int32_t args[3] = {e->a, e->b, e->c};

  switch (e->code) {
  case WEIR_CODE_LOAD:
    fprintf(out, "in%" PRId64, e->integer);
    return;
  case WEIR_CODE_CONST:
    if (weir_dtype_is_real(e->dtype)) {
      fprintf(out, "%.9g", e->real);
    } else {
      fprintf(out, "%" PRId64, e->integer);
    }
    return;
  case WEIR_CODE_INDEX:
    fprintf(out, "i%" PRId64, e->integer);
    return;
  case WEIR_CODE_REMAINDER:
    fprintf(out, "remainder(in%" PRId64 ", %" PRId64 ")", e->integer / 16, e->integer % 16);
    return;
  case WEIR_CODE_STATE:
    fprintf(out, "s%" PRId64, e->integer);
    return;
  default:
    fprintf(out, "%s%s%s(", weir_code_name(e->code), e->code == WEIR_CODE_CAST ? " " : "",
            e->code == WEIR_CODE_CAST ? weir_dtype_name(e->dtype) : "");
    for (int k = 0; k < weir_code_args(e->code); k++) {
      fputs(k > 0 ? ", " : "", out);
      if (is_leaf(b->exprs[args[k]].code)) {
        print_expr(b, args[k], out); /* a leaf: one level */
      } else {
        fprintf(out, "t%d", args[k]);
      }
    }
    fputs(")", out);
  }
}

static void print_result(const weir_body *b, const char *what, int number, int32_t i, FILE *out)
{
  fprintf(out, "%s%d = ", what, number);
  if (is_leaf(b->exprs[i].code)) {
    print_expr(b, i, out);
  } else {
    fprintf(out, "t%d", i);
  }
  fputs("; ", out);
}

static void print_body(const weir_access *a, FILE *out)
{
  const weir_body *b = &a->body;

  if (a->maker != WEIR_MADE_BY_BODY) {
    fputs(a->maker == WEIR_MADE_BY_CALL ? "    a call\n" : "    a library operator\n", out);
    return;
  }
  fputs("    body: ", out);
  for (int32_t i = 0; i < b->n; i++) {
    if (!is_leaf(b->exprs[i].code)) {
      fprintf(out, "t%d = ", i);
      print_expr(b, i, out);
      fputs("; ", out);
    }
  }
  for (int k = 0; k < a->n_states; k++) {
    print_result(b, "s", k, a->state[k].next, out);
  }
  for (int k = 0; k < a->n_values; k++) {
    print_result(b, a->combine == WEIR_COMBINE_NONE ? "out" : "v", k, a->value[k], out);
  }
  if (a->combine != WEIR_COMBINE_NONE) {
    fprintf(out, "%s in %s", monoid_names[a->combine], weir_dtype_name(a->accumulator));
  }
  fputs("\n", out);
}

static void print_traffic(weir_traffic t, FILE *out)
{
  fprintf(out,
          "    flops %.6g, read %" PRId64 " B, written %" PRId64 " B, without a cache %" PRId64
          " B\n",
          t.flops, t.read_bytes, t.write_bytes, t.volume_bytes);
}

/* What a node computes; of a source: what it is. */
static void print_accesses(const weir_graph *g, const weir_node *node, const int32_t *as, FILE *out)
{
  const weir_access *a = &node->access;

  fputs("    iterations:", out);
  for (int k = 0; k < a->n_dims; k++) {
    fprintf(out, " i%d %s [%" PRId64 ", ", k, dim_names[a->dim[k].kind], a->dim[k].lo);
    print_extent(a->dim[k].hi, out);
    fputs(")", out);
  }
  fputs("\n", out);
  for (int k = 0; k < node->n_in; k++) {
    print_operand(g, node, k, true, as, out);
  }
  for (int k = 0; k < node->n_out; k++) {
    print_operand(g, node, k, false, as, out);
  }
  print_body(a, out);
}

static void print_source(const weir_graph *g, const weir_node *node, int32_t number, FILE *out)
{
  fprintf(out, "node %d: %s ", number, kind_names[g->arrays[node->out[0]]->kind]);
  print_array(g, node->out[0], NULL, out);
  fputs("\n", out);
}

static void print_node(const weir_graph *g, int32_t number, int64_t slots, const weir_rate *rates,
                       FILE *out)
{
  const weir_node *node = g->nodes[number];

  if (node->op == NULL) {
    print_source(g, node, number, out);
    return;
  }
  fprintf(out, "node %d: %s", number, node->op->name);
  if (node->label != NULL) {
    fprintf(out, " '%s'", node->label);
  }
  fprintf(out, " (%s)\n", node->where != NULL ? node->where : "location unknown");
  print_accesses(g, node, NULL, out);
  print_traffic(weir_node_traffic(g, number, slots, rates), out);
}

const char *weir_group_kernels(const weir_group *group, char *text, size_t size)
{
  size_t used = 0;

  text[0] = 0;
  for (int i = 0; i < group->n_claims; i++) {
    bool named = false;

    for (int k = 0; k < i; k++) {
      named = named || group->claims[k].kernel == group->claims[i].kernel;
    }
    if (!named && used < size) {
      const int n = snprintf(text + used, size - used, "%s%s", used > 0 ? " + " : "",
                             group->claims[i].kernel->name);

      used += n > 0 ? (size_t)n : 0;
    }
  }
  return text;
}

static const char *kernels_or_generated(const weir_group *group, char *text, size_t size)
{
  return group->n_claims > 0 ? weir_group_kernels(group, text, size) : "generated";
}

static void print_group(const weir_graph *g, int32_t number, int64_t slots, const weir_rate *rates,
                        FILE *out)
{
  const weir_group *group = &g->groups[number];
  const weir_node *anchor = g->nodes[group->nodes[group->n_nodes - 1]];
  char kernels[128];

  fprintf(out, "group %d: nodes", number);
  for (int64_t m = 0; m < group->n_nodes; m++) {
    fprintf(out, " %d", group->nodes[m]);
  }
  fputs(", tile [", out);
  for (int k = 0; k < anchor->access.n_dims; k++) {
    fputs(k > 0 ? ", " : "", out);
    if (group->tile[k] > 0) {
      fprintf(out, "%" PRId64, group->tile[k]);
    } else {
      fputs("whole", out);
    }
  }
  fprintf(out, "], %s, saved %.6g B\n", kernels_or_generated(group, kernels, sizeof kernels),
          group->saved_bytes);
  print_traffic(weir_group_traffic(g, group, slots, rates), out);
}

static void print_results(const weir_graph *g, FILE *out)
{
  for (int32_t i = 0; i < g->n_arrays; i++) {
    const weir_array *a = g->arrays[i];
    if (a->output != NULL) {
      fprintf(out, "result '%s': a%d\n", a->output, i);
    }
    if (a->update >= 0) {
      fprintf(out, "update '%s': a%d\n", a->name, a->update);
    }
    if (a->in_place) {
      fprintf(out, "in place: '%s'\n", a->name);
    }
  }
}

void weir_graph_print(const weir_graph *g, int64_t slots, FILE *out)
{
  void *memory = NULL; /* without memory for rates, all streams count as equally fast */
  const weir_rate *rates = NULL;

  if (g->status != WEIR_OK) {
    fprintf(out, "graph with an error: %s\n", g->message);
  }
  if (weir_alloc(g->n_arrays, sizeof(weir_rate), &memory) == WEIR_OK) {
    weir_graph_rates(g, memory);
    rates = memory;
  }
  for (int32_t i = 0; i < g->n_nodes; i++) {
    if (!g->nodes[i]->dead) {
      print_node(g, i, slots, rates, out);
    }
  }
  print_results(g, out);
  for (int32_t k = 0; k < g->n_groups; k++) {
    print_group(g, k, slots, rates, out);
  }
  weir_free(&memory);
}

/* What print_operand rounds or leaves out: what stands for elements beyond the border, bounds of
 * positions that are read. */
static void print_operand_bits(const weir_operand *o, FILE *out)
{
  for (int d = 0; d < o->rank; d++) {
    const weir_index *x = &o->index[d];

    if (x->border == WEIR_BORDER_VALUE) {
      fprintf(out, " fill %a", x->fill);
    }
    if (x->gather > 0) {
      fprintf(out, " in %" PRId64 " %" PRId64, x->gather_lo, x->gather_hi);
    }
  }
}

static void print_states(const weir_access *a, FILE *out)
{
  for (int i = 0; i < a->n_states; i++) {
    const weir_state *s = &a->state[i];

    fprintf(out, " state %d %d %d %d %a %d", (int)s->dtype, s->init, s->final, s->slot, s->initial,
            s->next);
  }
  fprintf(out, " presence %d %" PRId64, a->presence, a->settle);
}

/* A library operator does what its spec says, a plain struct without pointers. */
static void print_spec(const weir_node *node, FILE *out)
{
  const unsigned char *bytes = node->spec;

  for (size_t i = 0; node->access.maker == WEIR_MADE_BY_LIBRARY && i < node->op->spec_size; i++) {
    fprintf(out, "%02x", bytes[i]);
  }
}

/* What print_node rounds or leaves out: bits of constants, of which numbers are drawn. */
static void print_bits(const weir_graph *g, const weir_node *node, FILE *out)
{
  const weir_body *b = &node->access.body;

  for (int32_t i = 0; i < b->n; i++) {
    fprintf(out, " %a %" PRId64, b->exprs[i].real, b->exprs[i].integer);
  }
  for (int k = 0; k < node->access.n_in; k++) {
    print_operand_bits(&node->access.in[k], out);
  }
  for (int k = 0; k < node->access.n_out; k++) {
    print_operand_bits(&node->access.out[k], out);
  }
  print_states(&node->access, out);
  print_spec(node, out);
  for (int k = 0; node->op == NULL && k < node->n_out; k++) {
    const weir_array *a = g->arrays[node->out[k]];
    char hex[65] = "";

    if (a->kind == WEIR_ARRAY_CONSTANT && weir_tensor_numel(&a->constant) > 0) {
      weir_sha256(a->constant.data, weir_tensor_bytes(&a->constant), hex);
    }
    fprintf(out, " %s", hex);
  }
  fprintf(out, " random %d\n", node->random_id);
}

/* Of what was written to the stream of memory, NULL where there was none; closes it. */
static weir_status digest_text(FILE *out, char **text, const size_t *size, char hex[65])
{
  const bool written = out != NULL && ferror(out) == 0;
  weir_status status = WEIR_OK;

  if (out == NULL || fclose(out) != 0 || !written) {
    status = weir_fail(WEIR_ERR_MEMORY, "graph: no memory for its text");
  } else {
    weir_sha256(*text, *size, hex);
  }
  free(*text); /* libc's own memory */
  return status;
}

weir_status weir_graph_digest(const weir_graph *g, char hex[65])
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  for (int32_t i = 0; out != NULL && i < g->n_nodes; i++) {
    const weir_node *node = g->nodes[i];

    if (!node->dead && node->op == NULL) {
      print_source(g, node, i, out);
    } else if (!node->dead) {
      fprintf(out, "node %d: %s\n", i, node->op->name);
      print_accesses(g, node, NULL, out);
    }
    if (!node->dead) {
      print_bits(g, node, out);
    }
  }
  if (out != NULL) {
    print_results(g, out);
  }
  WEIR_TRY(digest_text(out, &text, &size, hex));
  return WEIR_OK;
}

/* ---- What a group computes, wherever it stands ---- */

/* Arrays in the order in which members name them. */
static void number_arrays(const weir_graph *g, const weir_group *group, int32_t *as)
{
  int32_t n = 0;

  for (int32_t a = 0; a < g->n_arrays; a++) {
    as[a] = -1;
  }
  for (int64_t m = 0; m < group->n_nodes; m++) {
    const weir_node *node = g->nodes[group->nodes[m]];

    for (int k = 0; k < node->n_in + node->n_out; k++) {
      int32_t *at = &as[k < node->n_in ? node->in[k] : node->out[k - node->n_in]];

      *at = *at < 0 ? n++ : *at;
    }
  }
}

static void print_members(const weir_graph *g, const weir_group *group, const int32_t *as,
                          FILE *out)
{
  char kernels[128];

  for (int64_t m = 0; m < group->n_nodes; m++) {
    const weir_node *node = g->nodes[group->nodes[m]];

    fprintf(out, "%s%s\n", node->op->name,
            weir_group_claim(group, group->nodes[m]) != NULL ? ", claimed" : "");
    print_accesses(g, node, as, out);
    print_spec(node, out);
    for (int k = 0; k < node->n_out; k++) {
      fprintf(out, " %d", weir_group_is_local(g, group, node->out[k]));
    }
  }
  const int dims = g->nodes[group->nodes[group->n_nodes - 1]]->access.n_dims;

  for (int k = 0; k < dims; k++) {
    fprintf(out, " %" PRId64, group->tile[k]);
  }
  fprintf(out, " %s\n", kernels_or_generated(group, kernels, sizeof kernels));
}

weir_status weir_group_digest(const weir_graph *g, const weir_group *group, char hex[65])
{
  char *text = NULL;
  size_t size = 0;
  void *as = NULL;

  WEIR_TRY(weir_alloc(g->n_arrays, sizeof(int32_t), &as));
  FILE *out = open_memstream(&text, &size);

  if (out != NULL) {
    number_arrays(g, group, as);
    print_members(g, group, as, out);
  }
  weir_free(&as);
  WEIR_TRY(digest_text(out, &text, &size, hex));
  return WEIR_OK;
}
